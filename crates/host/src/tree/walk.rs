//! The way to a listed path, folder by folder, without ever passing through a link: a tracked
//! `a/b` whose `a` became a link to elsewhere is not there any more, as it is not for git.

use super::links;
use crate::plain_file;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
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
    /// What stands where git reads a file in every folder, and would not come back from it.
    pipes: Option<Vec<(Vec<u8>, &'static str)>>,
}

/// Files that git reads in every folder that it goes through.
const READ_BY_GIT: [&str; 3] = [".gitattributes", ".gitignore", ".gitmodules"];

/// Whether git reads a file of this name in every folder.
pub(super) fn is_read_by_git(name: &OsStr) -> bool {
    READ_BY_GIT.iter().any(|read| name == *read)
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
        Ok(Walk { root, below: Vec::new(), pipes: None })
    }

    /// The same, with an eye on what git would open on its way.
    pub(super) fn noting_pipes(root: &Path) -> Result<Walk, Errno> {
        let mut walk = Walk { pipes: Some(Vec::new()), ..Walk::from(root)? };
        walk.note_pipes();
        Ok(walk)
    }

    /// What was noted on the way.
    pub(super) fn pipes(&mut self) -> Vec<(Vec<u8>, &'static str)> {
        self.pipes.take().unwrap_or_default()
    }

    fn note_pipes(&mut self) {
        let Some(folder) = self.deepest().filter(|_| self.pipes.is_some()) else { return };
        // Of modules it reads only in the root.
        let names = READ_BY_GIT.get(..if self.below.is_empty() { 3 } else { 2 }).unwrap_or_default();
        let blocking = |name: &&str| {
            let stat = rustix::fs::statat(folder, *name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            let kind = FileType::from_raw_mode(stat.st_mode);
            let path: Vec<&[u8]> =
                self.below.iter().map(|step| step.name.as_slice()).chain([name.as_bytes()]).collect();
            links::blocks(kind).then(|| (path.join(&b'/'), plain_file::kind(kind)))
        };
        let found: Vec<_> = names.iter().filter_map(blocking).collect();
        // A folder may be gone through more than once.
        if let Some(pipes) = &mut self.pipes {
            found.into_iter().for_each(|pipe| {
                if !pipes.contains(&pipe) {
                    pipes.push(pipe)
                }
            });
        }
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
            self.note_pipes();
        }
        Ok(self.deepest().map(|folder| (folder, OsStr::from_bytes(last))))
    }

    /// The folders on the way to the last path, from that of a repository on, each by its path in there; but not those
    /// that are also on the way to a file in the folder `known`. One that is not there is left out.
    pub(super) fn folders(&self, repository: &[u8], known: Option<&[u8]>) -> Vec<(Vec<u8>, Stat)> {
        let names = |path: &[u8]| path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).count();
        let inside = self.below.get(names(repository)..).unwrap_or_default();
        // The repository's own folder has no name in it.
        let mut folders = vec![(Vec::new(), self.below.get(..names(repository)).and_then(<[Step]>::last))];
        let mut path = Vec::new();
        for step in inside {
            path = super::joined(&path, &step.name);
            folders.push((path.clone(), Some(step)));
        }
        let is_known = |path: &[u8]| {
            known.is_some_and(|known| {
                path.is_empty()
                    || known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
            })
        };
        folders.retain(|(path, _)| !is_known(path));
        let stat = |(path, step): (Vec<u8>, Option<&Step>)| {
            let folder = match step {
                Some(step) => step.folder.as_ref()?.as_fd(),
                None => self.root.as_fd(),
            };
            Some((path, rustix::fs::fstat(folder).ok()?))
        };
        folders.into_iter().filter_map(stat).collect()
    }

    fn deepest(&self) -> Option<BorrowedFd<'_>> {
        match self.below.last() {
            Some(step) => step.folder.as_ref().map(|folder| folder.as_fd()),
            None => Some(self.root.as_fd()),
        }
    }
}

/// The folder of a path; empty for that of the root.
pub(super) fn folder_of(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).and_then(|end| path.get(..end)).unwrap_or_default()
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

/// What is in a folder, the first in the order of paths last, and whether it is a folder itself.
pub(super) fn entries(folder: &OwnedFd) -> Result<Vec<(Vec<u8>, bool)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not say.
            FileType::Unknown => rustix::fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            kind => kind,
        };
        found.push((name.to_vec(), kind == FileType::Directory));
    }
    // A folder's name stands with a slash in every path through it.
    let order = |(name, is_folder): &(Vec<u8>, bool)| {
        let mut name = name.clone();
        name.extend(is_folder.then_some(b'/'));
        name
    };
    found.sort_by_cached_key(order);
    found.reverse();
    Ok(found)
}
