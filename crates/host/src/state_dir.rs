//! Where trusted state lives: one folder per project, outside the project, private to its owner. The journal decides
//! what counts as done, so a folder that somebody else could have prepared is refused and not repaired.

use crate::child_runs;
use crate::look;
use crate::plain_file::{self, Links};
use ralph_core::text;
use std::ffi::OsString;
use std::fs::{DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Only the owner may look inside.
const PRIVATE: u32 = 0o700;
/// Characters of the project's name in the folder's name: enough to be recognised, far below 255.
const NAME_CHARS: usize = 40;
/// Digits of the path's hash: 48 bits tell more projects apart than one person has.
const HASH_DIGITS: usize = 12;

#[derive(Debug, thiserror::Error)]
pub enum StateDirError {
    #[error("the state folder {} is a {kind}: remove it, or set RALPH_STATE_DIR to another folder", .path.display())]
    NotAFolder { path: PathBuf, kind: &'static str },
    #[error("the state folder {} belongs to user {owner}, not to you: set RALPH_STATE_DIR to a folder of your own", .path.display())]
    Foreign { path: PathBuf, owner: u32 },
    /// Anybody could have written into it.
    #[error("the state folder {} can be written by everybody: look at what is in it, then `chmod 700` it", .path.display())]
    WorldWritable { path: PathBuf },
    /// The agent would work next to the evidence about its work.
    #[error("the state folder {} is inside the project {}: set RALPH_STATE_DIR to a folder outside it", .path.display(), .root.display())]
    InsideProject { path: PathBuf, root: PathBuf },
    #[error("the state folder {} cannot be used: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// The folder of one project below `state_root`: the same project always finds the same one.
pub fn project_folder(state_root: &Path, root: &Path) -> PathBuf {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let name = root.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let slug: String = name.chars().map(plain).take(NAME_CHARS).collect();
    let slug = slug.trim_matches(['-', '.']);
    let hash = text::hash(root.as_os_str().as_encoded_bytes());
    let hash = text::prefix(&hash, HASH_DIGITS);
    state_root.join(if slug.is_empty() { format!("project-{hash}") } else { format!("{slug}-{hash}") })
}

/// Creates the folder if it is missing; refuses one that others could have written or that is in the project.
pub fn prepare(folder: &Path, root: &Path) -> Result<(), StateDirError> {
    let failed = |source| StateDirError::Io { path: folder.to_owned(), source };
    outside(folder, root)?;
    DirBuilder::new().recursive(true).mode(PRIVATE).create(folder).or_else(|error| {
        // A link or file in this place is named below as what it is.
        if folder.symlink_metadata().is_ok() { Ok(()) } else { Err(failed(error)) }
    })?;
    let found = judge(folder)?;
    if found.mode() & 0o7777 != PRIVATE {
        std::fs::set_permissions(folder, Permissions::from_mode(PRIVATE)).map_err(failed)?;
    }
    Ok(())
}

/// Keeps in mind which project a state folder belongs to, so that it is found again when the project was moved.
pub fn remember(folder: &Path, root: &Path) -> io::Result<()> {
    let Some(home) = Home::of(root) else { return Ok(()) };
    if home_of(folder).as_ref() == Some(&home) {
        return Ok(());
    }
    let beside = folder.join(format!("{HOME}.{}.new", std::process::id()));
    let mut text = format!("{} {} {}\n", home.device, home.inode, home.born).into_bytes();
    text.extend_from_slice(home.root.as_os_str().as_bytes());
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, folder.join(HOME))
}

/// The file that says which project a state folder belongs to.
const HOME: &str = "project";
/// Three numbers and a path.
const LARGEST_HOME: u64 = 16 << 10;

/// Where a project was, and by what its folder is known wherever it is: a number that no other folder has at
/// the same time, and the time of its birth, because numbers are given again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    pub root: PathBuf,
    device: u64,
    inode: u64,
    /// Nanoseconds since 1970; zero where the file system does not say.
    born: u128,
}

impl Home {
    fn of(root: &Path) -> Option<Home> {
        let found = root.metadata().ok()?;
        let born = found.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or(0, |since| since.as_nanos());
        Some(Home { root: root.to_owned(), device: found.dev(), inode: found.ino(), born })
    }

    /// Whether it is this very folder, under whatever name.
    fn is(&self, other: &Home) -> bool {
        self.born != 0 && (self.device, self.inode, self.born) == (other.device, other.inode, other.born)
    }
}

/// The project that a state folder belongs to, if it was kept in mind.
fn home_of(folder: &Path) -> Option<Home> {
    let contents = plain_file::read(rustix::fs::CWD, folder.join(HOME), Links::Refuse, LARGEST_HOME).ok()?;
    let line = memchr::memchr(b'\n', &contents.bytes)?;
    let (numbers, root) = contents.bytes.split_at_checked(line)?;
    let mut numbers = std::str::from_utf8(numbers).ok()?.split(' ');
    let root = PathBuf::from(OsString::from_vec(root.get(1..)?.to_vec()));
    Some(Home {
        root,
        device: numbers.next()?.parse().ok()?,
        inode: numbers.next()?.parse().ok()?,
        born: numbers.next()?.parse().ok()?,
    })
}

/// State folders of projects that are gone from where they were: one that is still there was only copied.
pub fn homeless(state_root: &Path) -> Vec<(PathBuf, Home)> {
    let folders = std::fs::read_dir(state_root).into_iter().flatten().flatten().map(|entry| entry.path());
    let homes = folders.filter_map(|folder| Some((folder.clone(), home_of(&folder)?)));
    let is_gone = |root: &Path| root.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let mut gone: Vec<(PathBuf, Home)> = homes.filter(|(_, home)| is_gone(&home.root)).collect();
    gone.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    gone
}

/// The state folder of the project that is at `root` now and was elsewhere: known by the folder itself, never by
/// anything that an agent could have written into it.
pub fn moved_to(state_root: &Path, root: &Path) -> Option<(PathBuf, Home)> {
    let here = Home::of(root)?;
    homeless(state_root).into_iter().find(|(_, home)| home.is(&here))
}

/// Makes a state folder that of the project at `root`, unless that has one or a run in it goes on.
pub fn adopt(from: &Path, to: &Path, root: &Path) -> io::Result<()> {
    if child_runs::run_folders(from).iter().any(|(_, folder)| child_runs::process_of(folder).is_some()) {
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, "a run in it goes on"));
    }
    // Only an empty folder is replaced.
    std::fs::rename(from, to)?;
    remember(to, root)
}

/// Whether [`prepare`] would succeed, without making or changing anything.
pub fn inspect(folder: &Path, root: &Path) -> Result<(), StateDirError> {
    outside(folder, root)?;
    let mut nearest = folder;
    if folder.symlink_metadata().is_ok() {
        judge(folder)?;
    } else {
        // Whatever is missing will be made in the nearest folder that there is.
        nearest = folder.ancestors().find(|part| part.symlink_metadata().is_ok()).unwrap_or(folder);
    }
    if nearest.is_dir() {
        look::may_write(nearest).map_err(|source| StateDirError::Io { path: nearest.to_owned(), source })
    } else {
        let kind = crate::plain_file::kind_at(nearest).unwrap_or("file");
        Err(StateDirError::NotAFolder { path: nearest.to_owned(), kind })
    }
}

/// Makes sure that a folder which is there is its owner's alone.
fn judge(folder: &Path) -> Result<Metadata, StateDirError> {
    let failed = |source| StateDirError::Io { path: folder.to_owned(), source };
    let found = folder.symlink_metadata().map_err(failed)?;
    if !found.is_dir() {
        let kind = crate::plain_file::kind_at(folder).unwrap_or("file");
        return Err(StateDirError::NotAFolder { path: folder.to_owned(), kind });
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(StateDirError::Foreign { path: folder.to_owned(), owner: found.uid() });
    }
    let world_writable = |mode: u32| mode & 0o002 != 0;
    if world_writable(found.mode()) {
        return Err(StateDirError::WorldWritable { path: folder.to_owned() });
    }
    // In a parent without the sticky bit, anybody could put another folder in this one's place.
    if let Some(parent) = folder.parent() {
        let mode = parent.metadata().map_err(failed)?.mode();
        if world_writable(mode) && mode & 0o1000 == 0 {
            return Err(StateDirError::WorldWritable { path: parent.to_owned() });
        }
    }
    Ok(found)
}

/// Compares real paths: of the folder, the part that exists already.
fn outside(folder: &Path, root: &Path) -> Result<(), StateDirError> {
    let Ok(root) = root.canonicalize() else { return Ok(()) };
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    match folder.ancestors().find_map(|part| part.canonicalize().ok()) {
        Some(real) if real.starts_with(&root) => Err(StateDirError::InsideProject { path: folder, root }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        _guard: tempfile::TempDir,
        state: PathBuf,
        project: PathBuf,
    }

    fn place() -> Place {
        let guard = tempfile::tempdir().unwrap();
        let (state, project) = (guard.path().join("state"), guard.path().join("my project"));
        std::fs::create_dir(&project).unwrap();
        Place { _guard: guard, state, project }
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o7777
    }

    #[test]
    fn m14_a_new_folder_is_private_whatever_the_umask() {
        let place = place();
        let folder = project_folder(&place.state, &place.project);
        prepare(&folder, &place.project).unwrap();
        assert_eq!((mode(&folder), mode(&place.state)), (PRIVATE, PRIVATE));
        std::fs::set_permissions(&folder, Permissions::from_mode(0o750)).unwrap();
        prepare(&folder, &place.project).unwrap();
        assert_eq!(mode(&folder), PRIVATE);
    }

    #[test]
    fn l05_every_project_has_one_readable_folder_name() {
        let place = place();
        let name = |root: &Path| project_folder(&place.state, root).file_name().unwrap().to_str().unwrap().to_owned();
        let first = name(&place.project);
        assert!(first.starts_with("my-project-") && first.len() == "my-project-".len() + HASH_DIGITS, "{first}");
        assert_eq!(name(&place.project.join("..").join("my project")), first);
        let odd = place.project.join(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
        std::fs::create_dir(&odd).unwrap();
        assert_ne!(name(&odd), first);
        assert!(name(Path::new("/")).starts_with("project-"));
        assert!(name(&place.project.join("x".repeat(200))).len() < 80);
    }

    #[test]
    fn c15_a_folder_that_others_could_have_prepared_is_refused() {
        let place = place();
        let folder = project_folder(&place.state, &place.project);
        prepare(&folder, &place.project).unwrap();
        std::fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        let error = prepare(&folder, &place.project).unwrap_err();
        assert!(matches!(error, StateDirError::WorldWritable { .. }), "{error}");
        std::fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        std::fs::set_permissions(&place.state, Permissions::from_mode(0o777)).unwrap();
        let error = prepare(&folder, &place.project).unwrap_err();
        assert!(error.to_string().contains(place.state.to_str().unwrap()), "{error}");
        // A sticky parent like /tmp is fine: others cannot rename what is not theirs.
        std::fs::set_permissions(&place.state, Permissions::from_mode(0o1777)).unwrap();
        prepare(&folder, &place.project).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&folder, Some(12345), None).unwrap();
            let error = prepare(&folder, &place.project).unwrap_err();
            assert!(matches!(error, StateDirError::Foreign { owner: 12345, .. }), "{error}");
        }
    }

    #[test]
    fn c14_a_link_or_file_is_no_state_folder() {
        let place = place();
        let folder = project_folder(&place.state, &place.project);
        std::fs::create_dir_all(&place.state).unwrap();
        std::os::unix::fs::symlink(place.state.join("elsewhere"), &folder).unwrap();
        for kind in ["symbolic link", "symbolic link", "file"] {
            let error = prepare(&folder, &place.project).unwrap_err().to_string();
            assert!(error.contains(kind) && error.contains(folder.to_str().unwrap()), "{error}");
            let elsewhere = place.state.join("elsewhere");
            if !elsewhere.exists() {
                std::fs::create_dir(elsewhere).unwrap();
            } else if kind == "symbolic link" {
                std::fs::remove_file(&folder).unwrap();
                std::fs::write(&folder, "").unwrap();
            }
        }
    }

    #[test]
    fn looking_makes_nothing_and_says_what_preparing_would() {
        let place = place();
        let folder = project_folder(&place.state, &place.project);
        inspect(&folder, &place.project).unwrap();
        assert!(!place.state.exists());
        prepare(&folder, &place.project).unwrap();
        inspect(&folder, &place.project).unwrap();
        std::fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(inspect(&folder, &place.project), Err(StateDirError::WorldWritable { .. })));
        let inside = place.project.join("state");
        assert!(matches!(inspect(&inside, &place.project), Err(StateDirError::InsideProject { .. })));
        std::fs::write(place.state.with_file_name("file"), "").unwrap();
        let below = place.state.with_file_name("file").join("state");
        assert!(matches!(inspect(&below, &place.project), Err(StateDirError::NotAFolder { .. })));
    }

    #[test]
    fn a_project_that_was_moved_is_known_by_its_folder_and_a_copy_is_not() {
        let place = place();
        let folder = project_folder(&place.state, &place.project);
        prepare(&folder, &place.project).unwrap();
        remember(&folder, &place.project).unwrap();
        let (copy, moved) = (place.project.with_file_name("copy"), place.project.with_file_name("moved"));
        std::fs::create_dir(&copy).unwrap();
        assert_eq!(moved_to(&place.state, &copy), None, "the original is still there");
        std::fs::rename(&place.project, &moved).unwrap();
        assert_eq!(moved_to(&place.state, &copy), None, "another folder");
        let (found, home) = moved_to(&place.state, &moved).unwrap();
        assert_eq!((&found, &home.root), (&folder, &place.project));
        let new = project_folder(&place.state, &moved);
        adopt(&found, &new, &moved).unwrap();
        assert!(!folder.exists() && homeless(&place.state).is_empty());
        // Whoever comes to the old place finds nothing there, and the project never loses its own.
        std::fs::create_dir(&place.project).unwrap();
        assert_eq!(moved_to(&place.state, &place.project), None);
    }

    #[test]
    fn a_folder_inside_the_project_is_refused_before_it_is_made() {
        let place = place();
        let inside = place.project.join("deep/state");
        std::os::unix::fs::symlink(&place.project, place.state.with_file_name("alias")).unwrap();
        for folder in [inside.clone(), place.state.with_file_name("alias").join("deep/state")] {
            let error = prepare(&folder, &place.project).unwrap_err();
            assert!(matches!(error, StateDirError::InsideProject { .. }), "{error}");
            assert!(error.to_string().contains("RALPH_STATE_DIR"), "{error}");
        }
        assert!(!inside.exists());
        // A neighbour whose name merely begins alike is outside.
        prepare(&place.project.with_file_name("my project state"), &place.project).unwrap();
    }
}
