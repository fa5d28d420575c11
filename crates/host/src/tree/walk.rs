//! The way to a listed path, folder by folder, without ever passing through a link: a tracked
//! `a/b` whose `a` became a link to elsewhere is not there any more, as it is not for git.

use crate::plain_file;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Only a place for calls relative to it: needs no permission to read where the system has such a thing.
#[cfg(target_os = "linux")]
const PLACE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PLACE: OFlags = OFlags::RDONLY;

/// The folders from the root to the last path. Listings are sorted, so most stay for the next path.
pub(crate) struct Walk {
    root: OwnedFd,
    below: Vec<Step>,
}

struct Step {
    name: Vec<u8>,
    /// Nothing where no real folder of that name is.
    folder: Option<OwnedFd>,
}

impl Walk {
    /// The root itself may be reached by a link: a person named it.
    pub(crate) fn from(root: &Path) -> Result<Walk, Errno> {
        let root = rustix::fs::openat(CWD, root, PLACE | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Walk { root, below: Vec::new() })
    }

    /// The folder that holds `path`, and the name in it; `None` if there is no such folder.
    pub(crate) fn parent_of<'a>(&'a mut self, path: &'a [u8]) -> Result<Option<super::Place<'a>>, Errno> {
        // git lists no such names; a listing that does is not followed out of the tree.
        if path.split(|byte| *byte == b'/').any(|name| matches!(name, b"" | b"." | b"..")) {
            return Ok(None);
        }
        let mut names = path.split(|byte| *byte == b'/');
        let Some(last) = names.next_back() else { return Ok(None) };
        let same = self.below.iter().zip(names.clone()).take_while(|(step, name)| step.name == *name).count();
        self.below.truncate(same);
        for name in names.skip(same) {
            let folder = match self.deepest() {
                Some(parent) => open(parent, name)?,
                None => None,
            };
            self.below.push(Step { name: name.to_vec(), folder });
        }
        Ok(self.deepest().map(|folder| (folder, OsStr::from_bytes(last))))
    }

    fn deepest(&self) -> Option<BorrowedFd<'_>> {
        match self.below.last() {
            Some(step) => step.folder.as_ref().map(|folder| folder.as_fd()),
            None => Some(self.root.as_fd()),
        }
    }
}

fn open(parent: BorrowedFd<'_>, name: &[u8]) -> Result<Option<OwnedFd>, Errno> {
    let flags = PLACE | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(parent, OsStr::from_bytes(name), flags, Mode::empty()) {
        Ok(folder) => Ok(Some(folder)),
        // Too many open files says nothing about the tree.
        Err(errno) if plain_file::is_fault(&errno.into()) => Err(errno),
        Err(_) => Ok(None),
    }
}
