//! Files below a folder, reached without following a link: what lies in a tree may have been put there by an agent.

use crate::plain_file::{self, Links};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

/// A folder that everything is reached from.
#[derive(Debug)]
pub(super) struct Rooted(OwnedFd);

/// What is done about the folders above a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parents {
    /// They must be there.
    Needed,
    /// Missing ones are made.
    Made,
    /// Missing ones are made, in place of links and files too.
    Forced,
}

/// What replaces a file.
pub(super) enum New<'a> {
    /// The rest of this file, with these permissions.
    File(File, Mode),
    /// These bytes, with these permissions.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only there judges are put into a copy"))]
    Bytes(&'a [u8], Mode),
    Link(&'a OsStr),
}

impl Rooted {
    /// The folder itself may be named by a link.
    pub(super) fn open(folder: &Path) -> io::Result<Rooted> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Rooted(rustix::fs::open(folder, flags, Mode::empty())?))
    }

    /// The folder above a path, and the path's last part.
    fn parent<'p>(&self, path: &'p Path, parents: Parents) -> io::Result<(OwnedFd, &'p OsStr)> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        Ok((self.folder(path.parent().unwrap_or(Path::new("")), parents)?, name))
    }

    /// Opens a folder below this one.
    pub(super) fn folder(&self, path: &Path, parents: Parents) -> io::Result<OwnedFd> {
        let mut folder = plain_file::open_folder(&self.0, ".")?;
        for part in path.components() {
            let Component::Normal(part) = part else { return Err(Errno::INVAL.into()) };
            folder = match plain_file::open_folder(&folder, part) {
                Err(Errno::NOENT) if parents != Parents::Needed => made(&folder, part)?,
                Err(Errno::NOTDIR | Errno::LOOP) if parents == Parents::Forced => {
                    rustix::fs::unlinkat(&folder, part, AtFlags::empty())?;
                    made(&folder, part)?
                }
                found => found?,
            };
        }
        Ok(folder)
    }

    /// What stands at a path; `None` if nothing does, or if the path leads through a link or a file.
    pub(super) fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        let found = self
            .parent(path, Parents::Needed)
            .and_then(|(folder, name)| Ok(rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?));
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A plain file as a place for mounts; `None` if none stands there.
    #[cfg(target_os = "linux")]
    pub(super) fn place(&self, path: &Path) -> io::Result<Option<OwnedFd>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = self
            .parent(path, Parents::Needed)
            .and_then(|(folder, name)| Ok(rustix::fs::openat(&folder, name, flags, Mode::empty())?));
        let file = match opened {
            Ok(file) => file,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let is_plain = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) == FileType::RegularFile;
        Ok(is_plain.then_some(file))
    }

    /// Opens a plain file for reading.
    pub(super) fn file(&self, path: &Path) -> io::Result<File> {
        let (folder, name) = self.parent(path, Parents::Needed)?;
        plain_file::open(&folder, name, Links::Refuse)
    }

    pub(super) fn link(&self, path: &Path) -> io::Result<OsString> {
        let (folder, name) = self.parent(path, Parents::Needed)?;
        let target = rustix::fs::readlinkat(&folder, name, Vec::new())?;
        Ok(OsStr::from_bytes(target.as_bytes()).to_owned())
    }

    /// Puts something in the place of what stands at a path. It is made beside its place and renamed, so that nobody
    /// sees half of it and nothing is written through what stands there.
    pub(super) fn replace(&self, path: &Path, parents: Parents, new: New<'_>) -> io::Result<()> {
        let (folder, name) = self.parent(path, parents)?;
        let beside = format!(".ralph-new-{}", std::process::id());
        let _ = rustix::fs::unlinkat(&folder, &beside, AtFlags::empty());
        let create = |mode: Mode| -> io::Result<File> {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&folder, &beside, flags, Mode::RUSR | Mode::WUSR)?;
            // The umask takes nothing away from what was asked for.
            rustix::fs::fchmod(&file, mode)?;
            Ok(File::from(file))
        };
        let made = match new {
            New::File(mut from, mode) => create(mode).and_then(|mut to| io::copy(&mut from, &mut to).map(drop)),
            New::Bytes(bytes, mode) => create(mode).and_then(|mut to| io::Write::write_all(&mut to, bytes)),
            New::Link(target) => Ok(rustix::fs::symlinkat(target, &folder, &beside)?),
        };
        let renamed = made.and_then(|()| match rustix::fs::renameat(&folder, &beside, &folder, name) {
            Err(Errno::ISDIR) if parents == Parents::Forced => {
                remove(folder.as_fd(), name)?;
                Ok(rustix::fs::renameat(&folder, &beside, &folder, name)?)
            }
            renamed => Ok(renamed?),
        });
        renamed.inspect_err(|_| {
            let _ = rustix::fs::unlinkat(&folder, &beside, AtFlags::empty());
        })
    }

    /// Removes what stands at a path, a folder with everything in it.
    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        let (folder, name) = self.parent(path, Parents::Needed)?;
        remove(folder.as_fd(), name)
    }
}

fn made(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    rustix::fs::mkdirat(folder, name, Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH)?;
    plain_file::open_folder(folder, name)
}

/// Whether an error says that nothing stands at a path.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

/// The names in a folder.
pub(super) fn names(folder: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Folders in each other that are removed by one call each: a check may have made thousands, and neither the stack nor
/// the descriptors of a process are made for that.
const DEEPEST: usize = 50;

/// Removes a file, or a folder with everything in it, whatever its permissions.
pub(super) fn remove(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let mut lifted = vec![name.to_owned()];
    while let Some(name) = lifted.pop() {
        remove_below(folder, &name, &mut Lifting { top: folder, lifted: &mut lifted, depth: 0 })?;
    }
    Ok(())
}

/// What lies too deep is moved up to the top and removed from there.
struct Lifting<'a> {
    top: BorrowedFd<'a>,
    lifted: &'a mut Vec<OsString>,
    depth: usize,
}

fn remove_below(folder: BorrowedFd<'_>, name: &OsStr, lifting: &mut Lifting<'_>) -> io::Result<()> {
    let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(()),
        stat => stat?,
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?);
    }
    // A folder may refuse its owner: an overlay's own ones do, and so do those of some package caches. That it is no
    // link was just seen, and nobody else is at work here.
    if stat.st_mode & 0o700 != 0o700 {
        rustix::fs::chmodat(folder, name, Mode::RWXU, AtFlags::empty())?;
    }
    if lifting.depth == DEEPEST {
        let place = OsString::from(format!(".ralph-old-{}-{}", std::process::id(), stat.st_ino));
        rustix::fs::renameat(folder, name, lifting.top, &place)?;
        lifting.lifted.push(place);
        return Ok(());
    }
    let inner = plain_file::open_folder(folder, name)?;
    lifting.depth += 1;
    for name in names(inner.as_fd())? {
        remove_below(inner.as_fd(), &name, lifting)?;
    }
    lifting.depth -= 1;
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}

/// The same for a path that nobody else changes.
pub(crate) fn remove_path(path: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL.into()) };
    match Rooted::open(folder) {
        Ok(folder) => remove(folder.0.as_fd(), name),
        Err(error) if is_absence(&error) => Ok(()),
        Err(error) => Err(error),
    }
}
