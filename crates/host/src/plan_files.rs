//! The files of a plan: read whatever stands in their place, and written whole or not at all. An agent writes in the
//! same folder, so no link is followed and nothing waits for a pipe.

use crate::plain_file::{self, Links};
use crate::views::put_durably;
use ralph_core::activity::PlanRead;
use ralph_core::plan::{Content, MOST_BYTES, PRD, PROGRESS, PlanSeen, Seen, Sight, TASKS, TEMPLATE};
use rustix::fs::{CWD, FileType};
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;

/// What stands where a file of a plan should stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stands {
    Bytes(Vec<u8>),
    Gone,
    Link,
    Directory,
    /// Larger than [`MOST_BYTES`]: it was not read.
    TooLarge(u64),
    /// In the words of the system, or what it is.
    Unreadable(String),
}

impl Stands {
    /// As the rules of plans take it.
    pub fn seen(&self) -> Seen<'_> {
        match self {
            Stands::Bytes(bytes) => Seen::Bytes(bytes),
            Stands::Gone => Seen::Gone,
            Stands::Link => Seen::Link,
            Stands::Directory => Seen::Directory,
            Stands::TooLarge(bytes) => Seen::TooLarge(*bytes),
            Stands::Unreadable(why) => Seen::Unreadable(why),
        }
    }
}

impl Stands {
    /// As a machine is told it, which knows a file by the hash of what it held.
    fn sight(self, known: Option<&String>) -> Sight {
        match self {
            Stands::Bytes(bytes) => {
                let content = Content::new(bytes);
                if known == Some(&content.print()) { Sight::Same } else { Sight::Holds(content) }
            }
            Stands::Gone => Sight::Gone,
            Stands::Link => Sight::Link,
            Stands::Directory => Sight::Directory,
            Stands::TooLarge(bytes) => Sight::TooLarge(bytes),
            Stands::Unreadable(why) => Sight::Unreadable(why),
        }
    }
}

/// The files of a plan in a project; nothing is said of the repository around them.
pub fn look(root: &Path, wanted: &PlanRead) -> PlanSeen {
    let folder = root.join(&wanted.dir);
    let sight = |name: &str, known: &Option<String>| read(&folder.join(name)).sight(known.as_ref());
    PlanSeen {
        tasks: sight(TASKS, &wanted.tasks),
        prd: sight(PRD, &wanted.prd),
        template: sight(TEMPLATE, &wanted.template),
        progress: sight(PROGRESS, &wanted.progress),
        git: None,
        problem: String::new(),
    }
}

/// Reads a file of a plan.
pub fn read(path: &Path) -> Stands {
    match rustix::fs::lstat(path).map(|stat| (FileType::from_raw_mode(stat.st_mode), stat.st_size.cast_unsigned())) {
        Ok((FileType::Symlink, _)) => return Stands::Link,
        Ok((FileType::Directory, _)) => return Stands::Directory,
        Ok((FileType::RegularFile, size)) if size > MOST_BYTES => return Stands::TooLarge(size),
        Err(rustix::io::Errno::NOENT) => return Stands::Gone,
        // Anything else says by itself why it cannot be read.
        Ok(_) | Err(_) => {}
    }
    match plain_file::read(CWD, path, Links::Refuse, MOST_BYTES) {
        Ok(contents) if contents.complete => Stands::Bytes(contents.bytes),
        // It grew after it was looked at.
        Ok(contents) => Stands::TooLarge(contents.bytes.len() as u64 + 1),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Stands::Gone,
        Err(error) => Stands::Unreadable(error.to_string()),
    }
}

/// Writes a file of a plan: it is on the disk before its name is, and a reader finds the old text or the new one. A link
/// in its place is replaced, and not written through.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().and_then(|name| name.to_str());
    let (Some(folder), Some(name)) = (path.parent(), name) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it has no plain file name"));
    };
    let folder = plain_file::open_place(folder)?;
    put_durably(folder.as_fd(), name, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn whatever_stands_there_is_named_and_nothing_blocks() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("text"), "{}").unwrap();
        std::os::unix::fs::symlink(at("text"), at("link")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        plain_file::make_pipe(&at("pipe"));
        std::fs::File::create(at("huge")).unwrap().set_len(MOST_BYTES + 1).unwrap();
        assert_eq!(read(&at("text")), Stands::Bytes(b"{}".to_vec()));
        assert_eq!(read(&at("gone")), Stands::Gone);
        assert_eq!(read(&at("link")), Stands::Link);
        assert_eq!(read(&at("folder")), Stands::Directory);
        assert_eq!(read(&at("huge")), Stands::TooLarge(MOST_BYTES + 1));
        assert!(matches!(read(&at("pipe")), Stands::Unreadable(why) if why.contains("named pipe")));
        assert!(matches!(read(&at("text/x")), Stands::Unreadable(_)));
    }

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_mode() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("tasks.json");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(read(&path), Stands::Bytes(b"new".to_vec()));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let other = place.path().join("other");
        std::os::unix::fs::symlink(&path, &other).unwrap();
        write(&other, b"own").unwrap();
        assert_eq!((read(&path), read(&other)), (Stands::Bytes(b"new".to_vec()), Stands::Bytes(b"own".to_vec())));
        std::fs::create_dir(place.path().join("folder")).unwrap();
        assert!(write(&place.path().join("folder"), b"x").is_err());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 3, "nothing is left behind");
    }
}
