//! What git tells of the files of a work tree: what it is asked, and its answer line by line.

use super::{Trouble, fault, joined};
use crate::spool::Spool;
use ralph_core::protect::PinnedChange;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io::{self, BufRead as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What git is asked, in the root of the work tree: every path that counts, with its staged id, NUL
/// between them. One process answers both questions. The repository's configuration cannot start a
/// program (`core.fsmonitor`) or point elsewhere (`core.worktree`), and nothing is written.
pub const LISTING: &[&str] = &[
    "--no-optional-locks", "--work-tree=.", "-c", "core.fsmonitor=false", "ls-files", "-z", "-t", "--stage",
    "--others", "--full-name",
];
/// The rules by which the files that are not tracked are listed, as they are now.
pub const LIVE_RULES: &str = "--exclude-standard";

/// Marks in a listing, each before a path: the listing of the repository there follows; the folder there is one that
/// git cannot list.
pub(crate) const REPOSITORY: &[u8] = b"/ ";
pub(crate) const FOLDER: &[u8] = b"= ";
/// The files that follow count whatever git says of them.
pub(crate) const ANYWAY: &[u8] = b"+ ";

/// A work tree that is looked at, as git told of it.
#[derive(Debug)]
pub struct Listing {
    pub root: PathBuf,
    /// The commit that HEAD names; empty before the first one.
    pub head: String,
    /// What git printed for [`LISTING`].
    pub files: Spool,
    /// Folders of ralph, into which nothing of the tree may lead.
    pub own: Vec<PathBuf>,
    /// What makes this no acceptable tree. A look adds what it finds.
    pub changes: Vec<PinnedChange>,
}

/// One line of the listing: `? path`, or `H 100644 <id> 0<TAB>path`.
pub(super) struct Listed<'a> {
    /// Mode, id and stage; empty for what is not tracked.
    pub(super) staged: &'a [u8],
    pub(super) path: &'a [u8],
    pub(super) nested: bool,
}

impl<'a> Listed<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Option<Listed<'a>> {
        let (tag, rest) = line.split_at_checked(2)?;
        let (staged, path) = match tag {
            b"? " => (&[][..], rest),
            [_, b' '] => {
                let tab = memchr::memchr(b'\t', rest)?;
                (rest.get(..tab)?, rest.get(tab + 1..)?)
            }
            _ => return None,
        };
        // A repository that is not tracked is listed as one path with a slash behind it.
        let nested = path.ends_with(b"/");
        let path = path.strip_suffix(b"/").unwrap_or(path);
        (!path.is_empty()).then_some(Listed { staged, path, nested })
    }

    pub(super) fn is_repository(&self) -> bool {
        self.nested || self.staged.starts_with(b"160000 ")
    }
}

/// A line of a listing.
pub(super) enum Line<'a> {
    File(Listed<'a>),
    /// The repository inside whose listing follows.
    Repository(&'a [u8]),
    /// A folder that git cannot list.
    Folder(&'a [u8]),
    /// What follows counts whatever git says of it.
    Anyway,
}

/// Goes through a listing.
pub(super) struct Lines<'a> {
    reader: Box<dyn io::BufRead + 'a>,
    line: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(listing: &'a mut Listing) -> Result<Lines<'a>, Trouble> {
        Ok(Lines { reader: listing.files.read().map_err(unkept)?, line: Vec::new() })
    }

    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>, Trouble> {
        self.line.clear();
        if self.reader.read_until(0, &mut self.line).map_err(unkept)? == 0 {
            return Ok(None);
        }
        let cut = || fault("git's list of the files was cut off".to_owned());
        let line = self.line.strip_suffix(&[0]).ok_or_else(cut)?;
        let unread = || fault("git's list of the files could not be read".to_owned());
        Ok(Some(match line.split_at_checked(2) {
            Some((REPOSITORY, path)) => Line::Repository(path),
            Some((FOLDER, path)) => Line::Folder(path),
            Some((ANYWAY, _)) => Line::Anyway,
            _ => Line::File(Listed::parse(line).ok_or_else(unread)?),
        }))
    }
}

/// The repositories inside the one that this is a listing of, as they are listed.
pub(crate) fn repositories_in(files: &mut Spool) -> io::Result<Vec<Vec<u8>>> {
    paths_in(files, |listed| listed.is_repository())
}

/// The files of ignore rules in a listing.
pub(crate) fn rules_in(files: &mut Spool) -> io::Result<Vec<Vec<u8>>> {
    paths_in(files, |listed| listed.path.rsplit(|byte| *byte == b'/').next() == Some(b".gitignore"))
}

fn paths_in(files: &mut Spool, wanted: impl Fn(&Listed<'_>) -> bool) -> io::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    let (mut reader, mut line) = (files.read()?, Vec::new());
    while reader.read_until(0, &mut line)? > 0 {
        let listed = line.strip_suffix(&[0]).and_then(Listed::parse);
        found.extend(listed.filter(&wanted).map(|listed| listed.path.to_vec()));
        line.clear();
    }
    found.sort_unstable();
    // One that is in conflict is listed once for each side.
    found.dedup();
    Ok(found)
}

/// Those of these folders in which files are listed: the listing shows what of them counts.
pub(super) fn covered(
    root: &Path,
    folders: &BTreeSet<PathBuf>,
    listing: &mut Listing,
) -> Result<Vec<PathBuf>, Trouble> {
    let inside = |folder: &PathBuf| Some(folder.strip_prefix(root).ok()?.as_os_str().as_bytes().to_vec());
    let mut open: HashSet<Vec<u8>> = folders.iter().filter_map(inside).collect();
    let mut found = Vec::new();
    let mut section = Vec::new();
    let mut lines = if open.is_empty() { return Ok(found) } else { Lines::of(listing)? };
    while let Some(line) = lines.next()?
        && !open.is_empty()
    {
        let path = match line {
            Line::Repository(path) => {
                section = path.to_vec();
                continue;
            }
            Line::Folder(path) => path.to_vec(),
            Line::Anyway => break,
            Line::File(listed) => joined(&section, listed.path),
        };
        for end in memchr::memchr_iter(b'/', &path) {
            if let Some(folder) = path.get(..end).and_then(|folder| open.take(folder)) {
                found.push(root.join(OsStr::from_bytes(&folder)));
            }
        }
    }
    Ok(found)
}

fn unkept(error: io::Error) -> Trouble {
    fault(format!("git's list of the files could not be kept: {error}"))
}
