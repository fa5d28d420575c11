//! Looks at files and folders without touching them.

use crate::plain_file::{self, Links};
use rustix::fs::{Access, CWD};
use std::fs::File;
use std::io;
use std::path::Path;

/// Project files that tell how a project is tested have a few kilobytes.
const LARGEST: u64 = 1 << 20;

/// The text of a project's file; `None` if it is missing, no plain file, too large, or no text.
pub fn text(path: &Path) -> Option<String> {
    let contents = plain_file::read(CWD, path, Links::Follow, LARGEST).ok().filter(|contents| contents.complete)?;
    String::from_utf8(contents.bytes).ok()
}

/// Opens a plain file to read it; a pipe or a device in its place is an error at once. A link is followed.
pub fn open(path: &Path) -> io::Result<File> {
    plain_file::open(CWD, path, Links::Follow)
}

/// The same where an agent may have put a link.
pub fn open_unlinked(path: &Path) -> io::Result<File> {
    plain_file::open(CWD, path, Links::Refuse)
}

/// Whether a plain file with something in it is there. It is not read.
pub fn is_filled(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.len() > 0)
}

/// Whether a failure says that the machine has nothing left to give, or fails itself: room, memory, processes,
/// descriptors, a disk that cannot be written. Everything else is about what was asked for.
pub fn is_fault_of_the_machine(error: &io::Error) -> bool {
    use io::ErrorKind::{OutOfMemory, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    use rustix::io::Errno;
    let of_the_system = matches!(
        Errno::from_io_error(error),
        Some(Errno::NOSPC | Errno::DQUOT | Errno::ROFS | Errno::IO | Errno::MFILE | Errno::NFILE)
            | Some(Errno::NOMEM | Errno::AGAIN | Errno::NOBUFS | Errno::NOLCK)
    );
    of_the_system || matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem | OutOfMemory)
}

/// Whether files can be made in a folder, as far as its mode and its file system say.
pub fn may_write(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Whether a file can be opened. What is no plain file is not tried: a pipe would wait for its writer.
pub fn may_read(path: &Path) -> io::Result<()> {
    if path.metadata()?.is_file() { std::fs::File::open(path).map(drop) } else { Ok(()) }
}

pub fn may_execute(file: &Path) -> io::Result<()> {
    if file.metadata()?.is_file() {
        Ok(rustix::fs::access(file, Access::EXEC_OK)?)
    } else {
        Err(io::Error::new(io::ErrorKind::IsADirectory, "it is not a file"))
    }
}

/// The kind of what stands at a path, links not followed; `None` if nothing does.
pub fn kind(path: &Path) -> Option<&'static str> {
    plain_file::kind_at(path)
}

/// Bytes that this user may still write at a path that is there.
pub fn room(path: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disk {
    /// As far as can be told, one of this machine's disks.
    Local,
    /// Memory: everything is gone after a restart.
    Memory,
    /// Another machine's, where locks and syncs may be promises only.
    Network,
}

#[cfg(target_os = "linux")]
#[allow(clippy::unnecessary_cast, reason = "the field's width differs between systems")]
pub fn disk(path: &Path) -> Disk {
    // Magic numbers of tmpfs and ramfs; and of NFS, SMB and its successors, AFS, Ceph, 9p and FUSE.
    match rustix::fs::statfs(path).map_or(0, |disk| disk.f_type as u32) {
        0x0102_1994 | 0x8584_58f6 => Disk::Memory,
        0x6969 | 0x517b | 0xff53_4d42 | 0xfe53_4d42 | 0x5346_414f | 0x00c3_6400 | 0x0102_1997 | 0x6573_5546 => {
            Disk::Network
        }
        _ => Disk::Local,
    }
}

/// What kind of file system a path is on, which nobody tells in the same way elsewhere.
/// Elsewhere systems do not tell it alike.
#[cfg(not(target_os = "linux"))]
pub fn disk(_: &Path) -> Disk {
    Disk::Local
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_text_of_a_sensible_size_is_read() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("text"), "ä").unwrap();
        std::fs::write(at("bytes"), b"\xff").unwrap();
        std::fs::write(at("large"), vec![b' '; 1 + LARGEST as usize]).unwrap();
        std::fs::write(at("empty"), "").unwrap();
        plain_file::make_pipe(&at("pipe"));
        assert_eq!(text(&at("text")).as_deref(), Some("ä"));
        for name in ["bytes", "large", "pipe", "missing", "."] {
            assert_eq!(text(&at(name)), None, "{name}");
        }
        assert!(is_filled(&at("text")) && is_filled(&at("large")));
        for name in ["empty", "pipe", "missing", "."] {
            assert!(!is_filled(&at(name)), "{name}");
        }
    }

    #[test]
    fn a_folder_says_whether_and_how_much_can_be_written() {
        let place = tempfile::tempdir().unwrap();
        may_write(place.path()).unwrap();
        assert!(room(place.path()).unwrap() > 0);
        assert!(may_write(&place.path().join("missing")).is_err() && room(&place.path().join("missing")).is_err());
        #[cfg(target_os = "linux")]
        assert_eq!(disk(Path::new("/dev/shm")), Disk::Memory);
    }
}
