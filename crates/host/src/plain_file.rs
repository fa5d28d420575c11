//! Opens a plain file and nothing else. An agent may have put a pipe, a link or a device in its place: every read of
//! such a place goes through here, so that it can neither block nor leave the place.

use rustix::buffer::spare_capacity;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Whether a link in the last place of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// For paths that a person gave.
    Follow,
    /// For names in places that an agent can write to.
    Refuse,
}

/// Opens a regular file for reading; anything else is an error that names what it is.
pub(crate) fn open(dir: impl AsFd, path: impl rustix::path::Arg, links: Links) -> io::Result<File> {
    open_sized(dir, path, links).map(|(file, _)| file)
}

fn open_sized(dir: impl AsFd, path: impl rustix::path::Arg, links: Links) -> io::Result<(File, u64)> {
    // Without NONBLOCK, opening a pipe waits for its writer; for regular files it changes nothing.
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    let file = rustix::fs::openat(dir, path, flags, Mode::empty()).map_err(|errno| match errno {
        rustix::io::Errno::LOOP if links == Links::Refuse => is_a("symbolic link"),
        // Only sockets, and devices without a driver, answer like this.
        rustix::io::Errno::NXIO => is_a("socket"),
        other => other.into(),
    })?;
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok((File::from(file), stat.st_size.cast_unsigned())),
        other => Err(is_a(kind(other))),
    }
}

/// The first `limit` bytes of a regular file, and whether there were more.
pub(crate) fn read(dir: impl AsFd, path: impl rustix::path::Arg, links: Links, limit: u64) -> io::Result<Contents> {
    /// Room beyond the file's end, in which it is seen without growing that it is the end.
    const SPARE: usize = 64;
    let (mut file, size) = open_sized(dir, path, links)?;
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(limit)).unwrap_or(0).saturating_add(SPARE));
    rustix::io::retry_on_intr(|| rustix::io::read(&file, spare_capacity(&mut bytes)))?;
    // All that it should hold, and room behind it, is the whole file; one that the kernel makes up has no size.
    if size == 0 || (bytes.len() as u64) < size || bytes.len() == bytes.capacity() {
        file.by_ref().take(limit.saturating_add(1).saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes)?;
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let complete = bytes.len() <= limit;
    bytes.truncate(limit);
    Ok(Contents { bytes, complete })
}

#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) bytes: Vec<u8>,
    pub(crate) complete: bool,
}

/// Opens a folder that is no link, as the place for calls relative to it.
pub(crate) fn open_folder(dir: impl AsFd, path: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, path, flags, Mode::empty())
}

/// Opens a folder that a person named, links followed, as the place for calls relative to it.
pub(crate) fn open_place(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(rustix::fs::CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Whether an error speaks of the machine and not of the file: nothing was learned about the file by it.
pub(crate) fn is_fault(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        Errno::from_io_error(error),
        Some(Errno::IO | Errno::NOMEM | Errno::MFILE | Errno::NFILE | Errno::STALE | Errno::TIMEDOUT | Errno::NODEV)
            | Some(Errno::NOBUFS)
    )
}

/// By which a file is known again: its device and its number there.
#[allow(clippy::unnecessary_cast, reason = "the fields' widths differ between systems")]
pub(crate) fn inode(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

pub(crate) fn kind(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "file",
        FileType::Directory => "directory",
        FileType::Symlink => "symbolic link",
        FileType::Fifo => "named pipe",
        FileType::Socket => "socket",
        _ => "device",
    }
}

/// The kind of what stands at a path, links not followed.
pub(crate) fn kind_at(path: &Path) -> Option<&'static str> {
    let stat = rustix::fs::lstat(path).ok()?;
    Some(kind(FileType::from_raw_mode(stat.st_mode)))
}

fn is_a(kind: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is a {kind}, not a file"))
}

/// Makes a named pipe. Not every system offers the call, but each has the program.
#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test may start programs")]
pub(crate) fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::CWD;

    #[test]
    fn c08_a_pipe_does_not_block_and_a_link_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("plain"), "text").unwrap();
        std::os::unix::fs::symlink(at("plain"), at("link")).unwrap();
        make_pipe(&at("pipe"));
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (name, word) in [("link", "symbolic link"), ("pipe", "named pipe"), ("socket", "socket"), ("", "directory")]
        {
            let error = open(CWD, at(name), Links::Refuse).unwrap_err().to_string();
            assert!(error.contains(word), "{name}: {error}");
        }
        assert_eq!(read(CWD, at("link"), Links::Follow, 10).unwrap().bytes, b"text");
        let cut = read(CWD, at("plain"), Links::Refuse, 3).unwrap();
        assert_eq!((cut.bytes.as_slice(), cut.complete), (b"tex".as_slice(), false));
        assert!(read(CWD, at("plain"), Links::Refuse, 4).unwrap().complete);
    }
}
