//! Where a symbolic link leads in the end.

use rustix::fs::{FileType, Stat};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows.
const LONGEST_CHAIN: usize = 40;

/// The end of a chain of links.
pub(super) struct End {
    /// Without any link in it, as far as it exists.
    pub(super) path: PathBuf,
    /// What stands there; `None` for nothing, or for what may not be looked at.
    pub(super) stat: Option<Stat>,
}

/// Follows a path from a folder that is named without links. What is not there is followed by its name.
pub(super) fn end_of(folder: &Path, target: &Path) -> End {
    let (path, links) = way_of(folder, target);
    // One that goes in circles ends nowhere.
    let stat = (links.len() <= LONGEST_CHAIN).then(|| rustix::fs::lstat(&path).ok()).flatten();
    End { stat, path }
}

/// The same with every link on the way, each named without links.
pub(crate) fn way_of(folder: &Path, target: &Path) -> (PathBuf, Vec<PathBuf>) {
    let mut at = folder.to_owned();
    let mut left: Vec<PathBuf> = parts(target);
    let mut links = Vec::new();
    while let Some(part) = left.pop() {
        if part == Path::new("/") {
            at = part;
            continue;
        }
        if part == Path::new("..") {
            at.pop();
            continue;
        }
        at.push(&part);
        if let Ok(next) = std::fs::read_link(&at) {
            links.push(at.clone());
            if links.len() > LONGEST_CHAIN {
                break;
            }
            at.pop();
            left.extend(parts(&next));
        }
    }
    (at, links)
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<PathBuf> {
    let kept = path.components().filter(|part| !matches!(part, Component::CurDir));
    kept.map(|part| PathBuf::from(part.as_os_str())).rev().collect()
}

/// Whether the kernel makes up what stands there: it is no work, may be endless, and is another at every look.
pub(super) fn is_of_the_kernel(path: &Path) -> bool {
    ["/proc", "/sys", "/dev"].iter().any(|place| path.starts_with(place)) && !path.starts_with("/dev/shm")
}

/// Whether whoever opens this waits, or gets something else every time.
pub(super) fn blocks(kind: FileType) -> bool {
    !matches!(kind, FileType::RegularFile | FileType::Directory | FileType::Symlink)
}

/// The same for an entry of a folder, which most file systems tell without a look at the file.
pub(super) fn entry_blocks(kind: std::fs::FileType) -> Option<&'static str> {
    match () {
        () if kind.is_fifo() => Some("named pipe"),
        () if kind.is_socket() => Some("socket"),
        () if kind.is_char_device() || kind.is_block_device() => Some("device"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_to_their_end_and_beyond_what_exists() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        symlink("a/b", root.join("one")).unwrap();
        symlink("one/../file", root.join("two")).unwrap();
        symlink(root.join("two"), root.join("three")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let end = |target: &str| end_of(&root, Path::new(target));
        assert_eq!(end("three").path, root.join("a/file"));
        assert!(end("./three").stat.is_some() && end("one").stat.is_some());
        assert_eq!(end("one/missing/x").path, root.join("a/b/missing/x"));
        assert!(end("one/missing").stat.is_none() && end("loop").stat.is_none());
        assert_eq!(end("/../..").path, Path::new("/"));
    }
}
