//! Files in the task folder that say something by existing: DONE, and the wish to wait. The agent writes there, so
//! nothing is opened: a named pipe cannot block, a link leads nowhere, and what is no plain file is named as what it
//! is.

use crate::plain_file;
use ralph_core::observation::{Marker, Markers};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Stat};
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// The work is done.
pub const DONE: &str = "DONE";
/// A supervised agent must not be started again until somebody says so.
pub const WAIT: &str = "WAIT_WITHOUT_RESTART";

pub fn look_at_all(task_folder: &Path) -> Markers {
    let done = |folder| rustix::fs::statat(folder, DONE, AtFlags::SYMLINK_NOFOLLOW);
    let done_stamp =
        plain_file::open_folder(CWD, task_folder).and_then(done).map_or(String::new(), |stat| stamp(&stat));
    Markers { done: look(task_folder, DONE), done_stamp, wait: look(task_folder, WAIT) }
}

/// What stands at `name`. A task folder that is gone, or that became a link, holds no marker.
pub fn look(task_folder: &Path, name: &str) -> Marker {
    plain_file::open_folder(CWD, task_folder).map_or(Marker::Absent, |folder| look_in(&folder, name))
}

/// The same in a task folder that is open.
pub(crate) fn look_in(task_folder: &OwnedFd, name: &str) -> Marker {
    match rustix::fs::statat(task_folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Marker::Present,
            other => Marker::WrongKind(plain_file::kind(other).to_owned()),
        },
        Err(_) => Marker::Absent,
    }
}

/// Differs when the file is written or made anew.
fn stamp(stat: &Stat) -> String {
    format!("{} {} {}.{}", stat.st_dev, stat.st_ino, stat.st_mtime, stat.st_mtime_nsec)
}

/// Removes a plain file or a link of that name; says whether there was one. Anything else stays and
/// is an error, because it was not put there as a claim and may hold something.
pub fn remove(task_folder: &Path, name: &str) -> io::Result<bool> {
    match plain_file::open_folder(CWD, task_folder) {
        Ok(folder) => remove_in(&folder, task_folder, name),
        Err(errno) => no_marker(errno, task_folder, name),
    }
}

/// The same in a task folder that is open; its path is for messages.
pub(crate) fn remove_in(folder: &OwnedFd, path: &Path, name: &str) -> io::Result<bool> {
    let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(errno) => return no_marker(errno, path, name),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile | FileType::Symlink => match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(explained(path, name, &format!("cannot be removed: {errno}"))),
        },
        other => {
            Err(explained(path, name, &format!("is a {}, not a file: remove it by hand", plain_file::kind(other))))
        }
    }
}

/// What cannot be found is no marker; what cannot be looked at may be one.
fn no_marker(errno: Errno, path: &Path, name: &str) -> io::Result<bool> {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Ok(false),
        errno => Err(explained(path, name, &format!("cannot be looked at: {errno}"))),
    }
}

fn explained(path: &Path, name: &str, why: &str) -> io::Error {
    io::Error::other(format!("{} {why}", path.join(name).display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn wrong(kind: &str) -> Marker {
        Marker::WrongKind(kind.to_owned())
    }

    #[test]
    fn c09_a_plain_file_is_a_claim_until_it_is_removed() {
        let task = tempfile::tempdir().unwrap();
        assert_eq!(look(task.path(), DONE), Marker::Absent);
        assert!(!remove(task.path(), DONE).unwrap());
        std::fs::write(task.path().join(DONE), "").unwrap();
        assert_eq!(look(task.path(), DONE), Marker::Present);
        assert!(remove(task.path(), DONE).unwrap());
        assert_eq!(look(task.path(), DONE), Marker::Absent);
    }

    #[test]
    fn c08_a_file_without_permissions_is_present() {
        use std::os::unix::fs::PermissionsExt as _;
        let task = tempfile::tempdir().unwrap();
        let done = task.path().join(DONE);
        std::fs::write(&done, "").unwrap();
        std::fs::set_permissions(&done, std::fs::Permissions::from_mode(0o000)).unwrap();
        assert_eq!(look(task.path(), DONE), Marker::Present);
    }

    #[test]
    fn c08_a_directory_is_named_and_left() {
        let task = tempfile::tempdir().unwrap();
        std::fs::create_dir(task.path().join(DONE)).unwrap();
        assert_eq!(look(task.path(), DONE), wrong("directory"));
        let error = remove(task.path(), DONE).unwrap_err().to_string();
        assert!(error.contains("DONE is a directory"), "{error}");
        assert!(task.path().join(DONE).is_dir());
    }

    #[test]
    fn c08_a_link_is_not_followed_even_to_a_file() {
        let task = tempfile::tempdir().unwrap();
        for target in ["/etc/passwd", "nowhere"] {
            symlink(target, task.path().join(DONE)).unwrap();
            assert_eq!(look(task.path(), DONE), wrong("symbolic link"));
            assert!(remove(task.path(), DONE).unwrap());
        }
        assert!(Path::new("/etc/passwd").exists());
    }

    #[test]
    fn c08_a_pipe_a_socket_and_a_device_do_not_block() {
        let task = tempfile::tempdir().unwrap();
        let done = task.path().join(DONE);
        plain_file::make_pipe(&done);
        assert_eq!(look(task.path(), DONE), wrong("named pipe"));
        assert!(remove(task.path(), DONE).is_err());
        std::fs::remove_file(&done).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(&done).unwrap();
        assert_eq!(look(task.path(), DONE), wrong("socket"));
        std::fs::remove_file(&done).unwrap();
        // Only root may make a device.
        #[cfg(target_os = "linux")]
        if rustix::fs::mknodat(CWD, &done, FileType::CharacterDevice, rustix::fs::Mode::from_raw_mode(0o600), 0x103)
            .is_ok()
        {
            assert_eq!(look(task.path(), DONE), wrong("device"));
        }
    }

    #[test]
    fn m05_a_task_folder_that_became_a_link_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (real, task) = (place.path().join("real"), place.path().join("task"));
        std::fs::create_dir(&real).unwrap();
        std::fs::write(real.join(DONE), "").unwrap();
        symlink(&real, &task).unwrap();
        assert_eq!(look(&task, DONE), Marker::Absent);
        assert!(!remove(&task, DONE).unwrap());
        assert!(real.join(DONE).exists());
    }
}
