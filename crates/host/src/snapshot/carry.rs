//! What is carried from a snapshot into the live tree: a check's changes to tracked files, if it is there to make them,
//! and the contents of folders that people want to keep.
//!
//! Everything is read from the overlay's upper folder, which holds what differs from the lower one: a file as it is now,
//! a character device 0/0 for what was removed, a folder that is marked as opaque for one that was made anew, and one
//! with a redirection for one that was renamed.

use super::order::Layer;
use super::rooted::{self, New, Parents, Rooted};
use super::{Snapshot, changed_at, is_own, not_below, plain};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, Stat};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Folders in each other that are looked into.
const DEEPEST: usize = 200;
/// Problems that are told.
const TOLD: usize = 5;

/// What is wanted back.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// Files that are tracked, below the root of the tree.
    pub(crate) tracked: BTreeSet<PathBuf>,
    /// Whether changes to tracked files are carried.
    pub(crate) writes: bool,
    /// Folders below the project whose contents are carried.
    pub(crate) keep: Vec<String>,
}

/// What was carried.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    /// Tracked files, as people name them.
    pub(crate) files: Vec<String>,
    /// What could not be, and why.
    pub(crate) problems: Vec<String>,
}

impl Wanted {
    /// Takes the files that git listed, each with a zero at its end.
    pub(crate) fn track(&mut self, listing: &[u8]) {
        let names = listing.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        self.tracked = names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
    }
}

impl Snapshot {
    /// Carries what is wanted into the live tree.
    pub(crate) fn carry(&self, wanted: &Wanted) -> Carried {
        let mut carried = Carried::default();
        match Rooted::open(&self.tree) {
            Ok(live) => {
                let mut porter = Porter { snapshot: self, wanted, live, carried: &mut carried };
                for layer in self.layers.iter().filter(|layer| layer.at.starts_with(&self.tree)) {
                    porter.carry(layer);
                }
            }
            Err(error) => carried.problems.push(format!("the project cannot be opened: {error}")),
        }
        carried.files.sort_unstable();
        carried.files.dedup();
        let more = carried.problems.len().saturating_sub(TOLD);
        carried.problems.truncate(TOLD);
        if more > 0 {
            carried.problems.push(format!("and {more} more"));
        }
        carried
    }
}

struct Porter<'a> {
    snapshot: &'a Snapshot,
    wanted: &'a Wanted,
    live: Rooted,
    carried: &'a mut Carried,
}

/// What stands in an upper folder.
enum Standing {
    Folder {
        opaque: bool,
    },
    /// It came from elsewhere in the lower folder, and what lies in it is not here.
    Renamed,
    Removed,
    File,
    Link,
    Other,
}

impl Standing {
    fn of(stat: &Stat, folder: Option<&OwnedFd>) -> Standing {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if folder.is_some_and(|folder| has_mark(folder, "redirect")) => Standing::Renamed,
            FileType::Directory => Standing::Folder { opaque: folder.is_some_and(|folder| has_mark(folder, "opaque")) },
            FileType::CharacterDevice if stat.st_rdev == 0 => Standing::Removed,
            FileType::RegularFile => Standing::File,
            FileType::Symlink => Standing::Link,
            _ => Standing::Other,
        }
    }
}

/// Whether an overlay's mark is on a file; an administrator's overlay writes other marks than an ordinary user's.
fn has_mark(file: impl AsFd, mark: &str) -> bool {
    let mut value = [0; 1];
    ["trusted", "user"].iter().any(|whose| {
        let read = rustix::fs::fgetxattr(&file, format!("{whose}.overlay.{mark}"), &mut value[..]);
        matches!(read, Ok(_) | Err(rustix::io::Errno::RANGE))
    })
}

/// Whether a file carries a mark by which an overlay does not show it: whoever put that on a file of the live tree
/// hides it from checks. Setting one changes the file's time of change.
pub fn hides_from_checks(file: impl AsFd) -> bool {
    ["metacopy", "whiteout"].iter().any(|mark| has_mark(&file, mark))
}

impl Porter<'_> {
    fn carry(&mut self, layer: &Layer) {
        let below = layer.at.strip_prefix(&self.snapshot.tree).unwrap_or(Path::new("")).to_owned();
        let upper = match Rooted::open(&layer.upper()) {
            Ok(upper) => Upper { files: upper, at: below },
            Err(error) => return self.problem(&below, &error),
        };
        if self.wanted.writes {
            self.tracked_in(&upper, Path::new(""), 0);
        }
        for name in &self.wanted.keep {
            match plain(Path::new(name)) {
                Some(path) => {
                    let inside = self.snapshot.project.strip_prefix(&self.snapshot.tree).unwrap_or(Path::new(""));
                    let path = inside.join(path);
                    if let Ok(path) = path.strip_prefix(&upper.at) {
                        let hidden = path.ancestors().skip(1).any(|above| upper.is_opaque(above));
                        self.kept(&upper, path, hidden, 0);
                    } else if upper.at.starts_with(&path) {
                        self.kept(&upper, Path::new(""), false, 0);
                    }
                }
                None => self.carried.problems.push(not_below("keep", Path::new(name)).to_string()),
            }
        }
    }

    fn problem(&mut self, path: &Path, error: &dyn std::fmt::Display) {
        self.carried.problems.push(format!("{} was not carried over: {error}", self.shown(path)));
    }

    /// A path of the tree as people name it: from the project, if it is inside.
    fn shown(&self, path: &Path) -> String {
        let whole = self.snapshot.tree.join(path);
        whole.strip_prefix(&self.snapshot.project).unwrap_or(path).display().to_string()
    }

    /// What is tracked at or below a path.
    fn tracked_below(&self, path: &Path) -> Vec<PathBuf> {
        let from = self.wanted.tracked.range(path.to_owned()..);
        from.take_while(|file| file.starts_with(path)).cloned().collect()
    }

    fn tracks_below(&self, path: &Path) -> bool {
        self.wanted.tracked.range(path.to_owned()..).next().is_some_and(|file| file.starts_with(path))
    }

    /// Goes through a folder of the upper layer, as far as tracked files lie below it.
    fn tracked_in(&mut self, upper: &Upper, folder: &Path, depth: usize) {
        let names = upper.names(folder);
        for name in names.unwrap_or_else(|error| {
            self.problem(&upper.at.join(folder), &error);
            Vec::new()
        }) {
            let (inner, path) = (folder.join(&name), upper.at.join(folder).join(&name));
            if is_own(&name) || !self.tracks_below(&path) {
                continue;
            }
            match upper.look(&inner) {
                Err(error) => self.problem(&path, &error),
                Ok(None) => {}
                Ok(Some(Standing::Renamed)) => self.problem(&path, &"its folder was renamed"),
                Ok(Some(Standing::Folder { .. })) if depth == DEEPEST => self.problem(&path, &"it lies too deep"),
                Ok(Some(Standing::Folder { opaque })) => {
                    if opaque {
                        for file in self.tracked_below(&path) {
                            let inner = file.strip_prefix(&upper.at).unwrap_or(&file);
                            if matches!(upper.look(inner), Ok(None)) {
                                self.write(upper, &file, None);
                            }
                        }
                    }
                    self.tracked_in(upper, &inner, depth + 1);
                }
                Ok(Some(standing)) => {
                    for file in self.tracked_below(&path) {
                        let now = (file == path && !matches!(standing, Standing::Removed)).then_some(&standing);
                        self.write(upper, &file, now);
                    }
                }
            }
        }
    }

    /// Makes a tracked file of the live tree what the check made it.
    fn write(&mut self, upper: &Upper, path: &Path, now: Option<&Standing>) {
        if self.snapshot.put.iter().any(|put| put == path) {
            return;
        }
        match self.try_write(upper, path, now) {
            Ok(true) => {
                let shown = self.shown(path);
                self.carried.files.push(shown);
            }
            Ok(false) => {}
            Err(error) => self.problem(path, &error),
        }
    }

    fn try_write(&self, upper: &Upper, path: &Path, now: Option<&Standing>) -> io::Result<bool> {
        let Some(live) = self.live.stat(path)? else {
            // Removed twice is removed; written here and removed there is somebody else's decision.
            return if now.is_none() { Ok(false) } else { Err(io::Error::other("it was removed meanwhile")) };
        };
        let inner = path.strip_prefix(&upper.at).unwrap_or(path);
        let is_link = FileType::from_raw_mode(live.st_mode) == FileType::Symlink;
        let is_file = FileType::from_raw_mode(live.st_mode) == FileType::RegularFile;
        if !is_link && !is_file {
            return Err(io::Error::other("it is neither a file nor a link in the project"));
        }
        match now {
            None => {
                self.is_as_checked(path, is_link)?;
                self.live.remove(path)?;
            }
            Some(Standing::Link) => {
                let target = upper.files.link(inner)?;
                if is_link && self.live.link(path)? == target {
                    return Ok(false);
                }
                self.is_as_checked(path, is_link)?;
                self.live.replace(path, Parents::Needed, New::Link(&target))?;
            }
            Some(Standing::File) => {
                let from = upper.files.file(inner)?;
                let mode = mode_of(&rustix::fs::fstat(&from)?);
                if is_file && mode == mode_of(&live) && is_equal(&from, &self.live.file(path)?)? {
                    return Ok(false);
                }
                self.is_as_checked(path, is_link)?;
                self.live.replace(path, Parents::Needed, New::File(upper.files.file(inner)?, mode))?;
            }
            Some(_) => return Err(io::Error::other("it is no longer a file")),
        }
        Ok(true)
    }

    /// Makes sure that a file of the live tree is what the check began with.
    fn is_as_checked(&self, path: &Path, is_link: bool) -> io::Result<()> {
        let same = match &self.snapshot.checkout {
            Some(checkout) => {
                let checkout = Rooted::open(checkout)?;
                if is_link {
                    checkout.link(path)? == self.live.link(path)?
                } else {
                    is_equal(&checkout.file(path)?, &self.live.file(path)?)?
                }
            }
            None => {
                let now = self.snapshot.tree.join(path).symlink_metadata()?;
                changed_at(&now) <= self.snapshot.began
            }
        };
        if same { Ok(()) } else { Err(io::Error::other("it changed while the check ran")) }
    }

    /// Makes a kept file or folder of the live tree what it is in the upper layer; `hidden` if what the live tree has
    /// in this place was removed with a folder above.
    fn kept(&mut self, upper: &Upper, inner: &Path, hidden: bool, depth: usize) {
        let path = upper.at.join(inner);
        if path.file_name().is_some_and(is_own) {
            return;
        }
        if let Err(error) = self.try_keep(upper, inner, hidden, depth) {
            self.problem(&path, &error);
        }
    }

    fn try_keep(&mut self, upper: &Upper, inner: &Path, hidden: bool, depth: usize) -> io::Result<()> {
        let path = &upper.at.join(inner);
        match upper.look(inner)? {
            None => {}
            Some(Standing::Folder { .. }) if depth == DEEPEST => return Err(io::Error::other("it lies too deep")),
            Some(Standing::Folder { opaque }) => {
                let names = upper.names(inner)?;
                let folder = self.live.folder(path, Parents::Made)?;
                let hidden = hidden || opaque;
                if hidden {
                    for name in rooted::names(folder.as_fd())?.iter().filter(|name| !names.contains(name)) {
                        self.discard(&path.join(name));
                    }
                }
                for name in names {
                    self.kept(upper, &inner.join(name), hidden, depth + 1);
                }
            }
            Some(Standing::Removed) => self.discard(path),
            // A tracked file is work: it changes by `writes`, or not at all.
            Some(_) if self.tracks_below(path) => {}
            Some(Standing::File) => {
                let from = upper.files.file(inner)?;
                let mode = mode_of(&rustix::fs::fstat(&from)?);
                // Whoever looks at the tree afterwards must not see ralph's own writing where nothing changed.
                let is_there = match self.live.stat(path) {
                    Ok(Some(live)) if FileType::from_raw_mode(live.st_mode) == FileType::RegularFile => {
                        mode == mode_of(&live) && is_equal(&from, &self.live.file(path)?)?
                    }
                    _ => false,
                };
                if !is_there {
                    self.live.replace(path, Parents::Made, New::File(upper.files.file(inner)?, mode))?;
                }
            }
            Some(Standing::Link) => return Err(io::Error::other("links are not carried")),
            Some(Standing::Renamed) => return Err(io::Error::other("its folder was renamed")),
            Some(Standing::Other) => return Err(io::Error::other("it is neither a file nor a folder")),
        }
        Ok(())
    }

    /// Removes from a kept folder what the check removed there, unless something tracked goes with it.
    fn discard(&mut self, path: &Path) {
        let own = path.file_name().is_none_or(is_own);
        if own || self.tracks_below(path) {
            return;
        }
        match self.live.remove(path) {
            Err(error) if !rooted::is_absence(&error) => self.problem(path, &error),
            _ => {}
        }
    }
}

/// The upper folder of an overlay, and where in the tree it stands.
struct Upper {
    files: Rooted,
    at: PathBuf,
}

impl Upper {
    fn names(&self, folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
        rooted::names(self.files.folder(folder, Parents::Needed)?.as_fd())
    }

    fn is_opaque(&self, path: &Path) -> bool {
        matches!(self.look(path), Ok(Some(Standing::Folder { opaque: true })))
    }

    fn look(&self, path: &Path) -> io::Result<Option<Standing>> {
        if path.as_os_str() == OsStr::new("") {
            return Ok(Some(Standing::Folder { opaque: false }));
        }
        let Some(stat) = self.files.stat(path)? else { return Ok(None) };
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let folder = if is_folder { Some(self.files.folder(path, Parents::Needed)?) } else { None };
        Ok(Some(Standing::of(&stat, folder.as_ref())))
    }
}

/// Permissions, without those that change who a program runs as.
fn mode_of(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode & 0o777)
}

fn is_equal(one: &std::fs::File, other: &std::fs::File) -> io::Result<bool> {
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (io::BufReader::new(one), io::BufReader::new(other));
    let (mut left, mut right) = ([0; 8192], [0; 8192]);
    loop {
        let read = one.read(&mut left)?;
        let (Some(left), Some(right)) = (left.get(..read), right.get_mut(..read)) else { return Ok(false) };
        if read == 0 {
            return Ok(true);
        }
        match other.read_exact(right) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            read => read?,
        }
        if left != right {
            return Ok(false);
        }
    }
}
