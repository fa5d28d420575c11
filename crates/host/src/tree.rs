//! The fingerprint of a work tree: what is accepted is exactly what was checked.
//!
//! git says which paths count (tracked, and untracked but not ignored by the rules of the start) and what is staged, of
//! every repository inside as well; contents are read here and not believed from git's own cache, which flags like
//! `assume-unchanged` can make lie. A content is read once and then known by size, inode and times. The time of change
//! (ctime) is the kernel's and cannot be set back, so an edit with a forged date is still seen.
//!
//! A file that was written between two looks and holds the same again is told too, by the same state; and so is a
//! folder in which something was made, removed or renamed meanwhile. Whoever looks around checks learns by that whether
//! they may have seen another tree. On a file system that keeps no times of change (FAT) this cannot be told.
//!
//! A link counts with what it leads to, wherever that is. What it leads to may be removed with the run, and what stands
//! in the place of a file may be a pipe: such a tree is looked at like any other, and told as a change.
//!
//! There is no limit on files or bytes: the listing and what is known of it are read side by side and kept in files,
//! so memory does not grow with the tree, and a look can be stopped at any file.
//!
//! This room spawns nothing: whoever runs git with [`LISTING`] hands its output in.

mod cache;
mod head;
mod links;
mod repository;
pub(crate) mod rules;
mod walk;

pub(crate) use head::folders as git_folders;
pub use head::{git_root, head};
pub(crate) use links::way_of;
pub(crate) use repository::{blocking, blocking_anywhere, identity, leading};
pub use repository::{damage, parts};
pub(crate) use repository::{part, shown_in};

use crate::aside::Stop;
use crate::clock::Clock;
use crate::plain_file::{self, Links};
use crate::spool::Spool;
use crate::{own_output, snapshot};
use cache::{Cache, Damaged, Entry, Merge};
use ralph_core::check::TreePrint;
use ralph_core::protect::{Change, PinnedChange};
use ralph_core::text;
use ralph_core::time::WallTime;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Stat};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufRead as _, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
pub(crate) use walk::Walk;

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

/// A change within the same tick of the kernel's clock (at most 10 ms) leaves no trace in the times,
/// so what changed this shortly before a look is read again at the next.
const SETTLED_MILLIS: i64 = 20;
/// Changed files that are named: a person wants examples, and the next prompt a few more.
const CHANGED_NAMED: usize = 20;
/// Bytes read at once: large enough that the calls do not count.
const CHUNK: usize = 128 << 10;
/// Changes of one look that are named.
const TOLD: usize = 20;
/// Files behind links to folders that are looked at; a link to more of them counts by where it leads.
const MOST_BEHIND_LINKS: u64 = 100_000;
/// Bytes behind links to folders that are read; beyond them a file is known by its state, which changes with its content.
const MOST_BYTES_BEHIND_LINKS: u64 = 1 << 30;
/// Folders inside each other, where git does not list them.
const DEEPEST: usize = 128;

/// Takes fingerprints of one work tree and remembers contents between them.
#[derive(Debug)]
pub struct Fingerprinter {
    /// ralph's own folder, which is no part of the work.
    own: Vec<u8>,
    /// Files into which ralph's own words go, by device and inode: they grow while it looks.
    outputs: Vec<(u64, u64)>,
    cache: Cache,
    look: u64,
    chunk: Vec<u8>,
    changed: Vec<String>,
    /// Files that were written since the look before and hold the same, and folders, each with a slash at its end.
    stirred: Vec<String>,
    /// The last change that the last look saw too shortly before it.
    unsettled: Option<WallTime>,
    /// The last look came to an end, so that the next one can be compared with it.
    whole: bool,
    /// The last look was compared with a whole one before it.
    compared: bool,
    /// Why what was learned could not be kept for the next process, until somebody asks.
    problem: Option<String>,
}

type Hash = [u8; 32];

/// What cannot stay the same when a content changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

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

/// One look at the whole tree.
struct Look<'a> {
    /// Without links.
    root: &'a Path,
    /// What changed before this moment has settled.
    settled: WallTime,
    stop: &'a Stop,
    own: &'a [PathBuf],
}

/// What a look has come to so far.
struct Fold {
    merge: Merge,
    all: Sha256,
    record: Vec<u8>,
    /// Where the paths of the listing begin: the listing itself, then what is looked at beside it.
    round: u8,
    /// The repository inside, or the folder behind a link, that the paths are relative to.
    section: Vec<u8>,
    /// Folders that links lead to.
    linked: BTreeSet<PathBuf>,
    changes: Vec<PinnedChange>,
    /// The states of what is being looked at: of a link, also of where it leads.
    stamp: DefaultHasher,
    /// Files in folders behind links so far, and their bytes.
    behind: u64,
    bytes_behind: u64,
}

/// Stands behind the path of a folder in its key: it comes before the files in it, and is in no path.
const FOLDER_MARK: &[u8] = b"\0";

/// Rounds of a look.
const LISTED: u8 = 0;
const LISTED_ANYWAY: u8 = 1;
const BEHIND_LINKS: u8 = 2;

impl Fold {
    /// The place of a file in the order of a look.
    fn key(&self, listed: &Listed<'_>) -> Vec<u8> {
        let mut key = self.key_of(!listed.staged.is_empty(), listed.path);
        // The slash behind a repository counts in git's order.
        key.extend(listed.nested.then_some(b'/'));
        key
    }

    /// The place of a path in the order of a look.
    fn key_of(&self, tracked: bool, path: &[u8]) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.section.len() + path.len() + 4);
        key.push(self.round);
        key.extend_from_slice(&self.section);
        // git lists what it does not track first, each part sorted.
        key.extend([0, u8::from(tracked)]);
        key.extend_from_slice(path);
        key
    }

    /// What people call the file of a key.
    fn name(key: &[u8]) -> Vec<u8> {
        let Some((section, path)) = key.get(1..).and_then(|rest| {
            let end = memchr::memchr(0, rest)?;
            Some((rest.get(..end)?, rest.get(end + 2..)?))
        }) else {
            return Vec::new();
        };
        joined(section, path)
    }

    fn tell(&mut self, path: &[u8], how: Change) {
        if self.changes.len() < TOLD {
            self.changes.push(PinnedChange { path: shown(path).into_owned(), how });
        }
    }
}

/// A path below a folder, which may be the root.
pub(crate) fn joined(folder: &[u8], path: &[u8]) -> Vec<u8> {
    match folder {
        b"" => path.to_vec(),
        folder => [folder, b"/", path].concat(),
    }
}

/// Why a look came to no end.
enum Trouble {
    /// The machine.
    Fault(String),
    /// Nobody waits for it any more.
    Stopped,
    /// What earlier looks left cannot be believed.
    Damaged,
}

impl From<Damaged> for Trouble {
    fn from(_: Damaged) -> Trouble {
        Trouble::Damaged
    }
}

/// A name in an open folder.
pub(crate) type Place<'a> = (BorrowedFd<'a>, &'a OsStr);

/// What tells a file from every other one, whatever its name.
pub(crate) fn file_of(stat: &Stat) -> (u64, u64) {
    let state = FileState::of(stat);
    (state.device, state.inode)
}

/// What stands at a path: a letter for the kind, and bytes that differ when it differs.
struct Seen {
    kind: u8,
    content: Vec<u8>,
}

impl Default for Fingerprinter {
    /// For a project that is the root of its work tree.
    fn default() -> Fingerprinter {
        Fingerprinter::ignoring(Path::new(".ralph"))
    }
}

impl Fingerprinter {
    /// For a project below the root: `own` is its `.ralph`, relative to the root.
    pub fn ignoring(own: &Path) -> Fingerprinter {
        Fingerprinter {
            own: own.as_os_str().as_bytes().to_vec(),
            outputs: Vec::new(),
            cache: Cache::default(),
            look: 0,
            chunk: Vec::new(),
            changed: Vec::new(),
            stirred: Vec::new(),
            unsettled: None,
            whole: false,
            compared: false,
            problem: None,
        }
    }

    /// Keeps what it learns in this file, and begins with what another process left there. The file must be where
    /// no agent has any business.
    #[must_use]
    pub fn keeping(self, file: &Path) -> Fingerprinter {
        Fingerprinter { cache: Cache::at(file), ..self }
    }

    /// One of the same tree that has not looked yet.
    #[must_use]
    pub fn anew(&self) -> Fingerprinter {
        let own = Path::new(OsStr::from_bytes(&self.own));
        Fingerprinter { cache: self.cache.anew(), ..Fingerprinter::ignoring(own) }
    }

    /// Whether there is a look to compare the next one with.
    pub fn has_looked(&self) -> bool {
        self.whole
    }

    /// Some of the files that differ between the last two looks; `None` if one of them failed or there was
    /// only one.
    pub fn changed(&self) -> Option<&[String]> {
        self.compared.then_some(&self.changed)
    }

    /// Some of the files that were written between the last two looks and hold the same as before, and of the folders,
    /// each with a slash at its end, in which something was made, removed or renamed; `None` as for
    /// [`Fingerprinter::changed`].
    pub fn stirred(&self) -> Option<&[String]> {
        self.compared.then_some(&self.stirred)
    }

    /// From when on every further change leaves a trace that the next look sees.
    pub fn settles_at(&self) -> Option<WallTime> {
        self.unsettled.map(|last| WallTime(last.0 + SETTLED_MILLIS))
    }

    /// Why what was learned could not be kept for the next process, if that is so and was not asked before.
    pub fn take_problem(&mut self) -> Option<String> {
        self.problem.take()
    }

    /// The fingerprint of a tree. Blocks while it reads, and gives up when told to stop; what was read until then
    /// is known to the next look.
    pub fn print(&mut self, listing: &mut Listing, stop: &Stop) -> TreePrint {
        self.look += 1;
        if self.look == 1 {
            // Not earlier: a shell may start whoever keeps ralph's words after ralph.
            self.outputs = own_output::files();
            self.cache.load();
        }
        let mut folded = self.fold(listing, stop);
        if let Err(Trouble::Damaged | Trouble::Fault(_)) = folded {
            if matches!(folded, Err(Trouble::Damaged)) {
                self.cache.forget();
            }
            // What failed by chance does not fail twice.
            folded = self.fold(listing, stop);
        }
        self.compared = self.whole && folded.is_ok();
        self.whole = folded.is_ok();
        match folded {
            Ok(tree) => TreePrint::Seen { tree, head: listing.head.clone() },
            Err(Trouble::Fault(why)) => TreePrint::fault(why),
            Err(Trouble::Stopped) => TreePrint::fault("the look at the files was stopped"),
            Err(Trouble::Damaged) => TreePrint::fault("what was known of the files is damaged"),
        }
    }

    fn fold(&mut self, listing: &mut Listing, stop: &Stop) -> Result<String, Trouble> {
        self.changed.clear();
        self.stirred.clear();
        self.unsettled = None;
        let mut fold = Fold {
            merge: self.cache.merge(),
            all: Sha256::new(),
            record: Vec::new(),
            round: LISTED,
            section: Vec::new(),
            linked: BTreeSet::new(),
            changes: Vec::new(),
            stamp: DefaultHasher::new(),
            behind: 0,
            bytes_behind: 0,
        };
        let all = self.fold_all(listing, &mut fold, stop);
        let Fold { mut merge, all: sum, changes, .. } = fold;
        if let Err(Trouble::Damaged) = all {
            return Err(Trouble::Damaged);
        }
        if all.is_err() {
            merge.keep_rest()?;
        }
        if let Err(error) = self.cache.finish(merge)? {
            self.problem = Some(format!("what is known of the files could not be kept for the next run: {error}"));
        }
        all?;
        listing.changes.extend(changes);
        Ok(text::hex(&sum.finalize()))
    }

    fn fold_all(&mut self, listing: &mut Listing, fold: &mut Fold, stop: &Stop) -> Result<(), Trouble> {
        let unopened =
            |error: &dyn std::fmt::Display, root: &Path| fault(format!("{} cannot be opened: {error}", root.display()));
        let root = listing.root.canonicalize().map_err(|error| unopened(&error, &listing.root))?;
        let mut own: Vec<PathBuf> = listing.own.iter().map(|own| own.canonicalize().unwrap_or(own.clone())).collect();
        own.retain(|own| !root.starts_with(own));
        let settled = WallTime(Clock::start().now().0 - SETTLED_MILLIS);
        let look = Look { root: &root, settled, stop, own: &own };
        let mut walk = Walk::noting_pipes(&root).map_err(|errno| unopened(&errno, &root))?;
        self.fold_listing(&look, listing, &mut walk, fold)?;
        for pipe in walk.pipes() {
            fold.tell(&pipe.0, Change::Blocks { what: pipe.1.to_owned() });
        }
        self.fold_behind_links(&look, listing, fold)
    }

    fn fold_listing(
        &mut self,
        look: &Look<'_>,
        listing: &mut Listing,
        walk: &mut Walk,
        fold: &mut Fold,
    ) -> Result<(), Trouble> {
        let mut lines = Lines::of(listing)?;
        // The folder of the last file; those on the way to it have been looked at. git lists what it tracks apart.
        let mut last: Option<(bool, Vec<u8>)> = None;
        while let Some(line) = lines.next()? {
            look.go_on()?;
            if !matches!(line, Line::File(_)) {
                last = None;
            }
            let listed = match line {
                Line::Repository(path) => {
                    fold.section = path.to_vec();
                    continue;
                }
                Line::Anyway => {
                    (fold.round, fold.section) = (LISTED_ANYWAY, Vec::new());
                    continue;
                }
                Line::Folder(path) => {
                    fold.section = path.to_vec();
                    let folder = look.root.join(OsStr::from_bytes(path));
                    self.fold_folder(look, &folder, fold, None)?;
                    continue;
                }
                Line::File(listed) => listed,
            };
            let path = joined(&fold.section, listed.path);
            if self.is_own(&path) {
                continue;
            }
            let unopened = |errno| fault(format!("{} cannot be opened: {errno}", shown(&path)));
            let tracked = !listed.staged.is_empty();
            let folder = walk::folder_of(listed.path);
            if last.as_ref().is_none_or(|(before, at)| *before != tracked || at != folder) {
                let known = last.as_ref().filter(|(before, _)| *before == tracked).map(|(_, at)| at.as_slice());
                walk.parent_of(&path).map_err(unopened)?;
                for (below, stat) in walk.folders(&fold.section, known) {
                    self.take_folder(look, fold, tracked, &below, &stat)?;
                }
                last = Some((tracked, folder.to_vec()));
            }
            let place = walk.parent_of(&path).map_err(unopened)?;
            self.take(look, fold, &listed, place, &look.root.join(OsStr::from_bytes(&path)))?;
        }
        Ok(())
    }

    /// Adds one file, which stands at `at`.
    fn take(
        &mut self,
        look: &Look<'_>,
        fold: &mut Fold,
        listed: &Listed<'_>,
        place: Option<Place<'_>>,
        at: &Path,
    ) -> Result<(), Trouble> {
        let key = fold.key(listed);
        let found = self.find(fold, &key)?;
        let known = found.as_ref().and_then(|entry| entry.known.as_ref());
        fold.stamp = DefaultHasher::new();
        let (seen, known) = match place {
            Some(place) => self.see(look, fold, listed, place, at, known)?,
            None => (Seen::nothing(), None),
        };
        fold.record.clear();
        for field in [key.as_slice(), listed.staged, &[seen.kind], &seen.content] {
            // Lengths keep one field from running into the next.
            fold.record.extend_from_slice(&(field.len() as u64).to_le_bytes());
            fold.record.extend_from_slice(field);
        }
        fold.all.update(&fold.record);
        let mut print = DefaultHasher::new();
        fold.record.hash(&mut print);
        self.keep(fold, found.as_ref(), &Entry { key, print: print.finish(), stamp: fold.stamp.finish(), known });
        Ok(())
    }

    /// Adds a folder in which something is listed. It is no part of the print: only that something happened in it counts.
    fn take_folder(
        &mut self,
        look: &Look<'_>,
        fold: &mut Fold,
        tracked: bool,
        path: &[u8],
        stat: &Stat,
    ) -> Result<(), Trouble> {
        let slash: &[u8] = if path.is_empty() { b"" } else { b"/" };
        let key = fold.key_of(tracked, &[path, slash, FOLDER_MARK].concat());
        let found = self.find(fold, &key)?;
        fold.stamp = DefaultHasher::new();
        self.stamp(look, fold, stat);
        self.keep(fold, found.as_ref(), &Entry { key, print: 0, stamp: fold.stamp.finish(), known: None });
        Ok(())
    }

    /// What the look before saw at this place.
    fn find(&mut self, fold: &mut Fold, key: &[u8]) -> Result<Option<Entry>, Damaged> {
        let (changed, names) = (&mut self.changed, self.look > 1);
        fold.merge.find(key, |gone| {
            // What was in a folder that is gone is named itself.
            if !gone.key.ends_with(FOLDER_MARK) {
                note(changed, names, without_slash(&Fold::name(&gone.key)));
            }
        })
    }

    fn keep(&mut self, fold: &mut Fold, found: Option<&Entry>, now: &Entry) {
        let (names, name) = (self.look > 1, Fold::name(&now.key));
        let is_same = found.is_some_and(|before| before.print == now.print);
        match name.strip_suffix(FOLDER_MARK) {
            // A folder that is new holds something new.
            None if !is_same => note(&mut self.changed, names, without_slash(&name)),
            _ if found.is_none_or(|before| before.stamp == now.stamp) => {}
            None => note(&mut self.stirred, names, &name),
            Some([]) => note(&mut self.stirred, names, b"./"),
            Some(folder) => note(&mut self.stirred, names, folder),
        }
        fold.merge.keep(found, now);
    }

    /// Adds the state of a file to the stamp of what is being looked at.
    fn stamp(&mut self, look: &Look<'_>, fold: &mut Fold, stat: &Stat) {
        let state = FileState::of(stat);
        // Of a folder its size says nothing, and differs from disk to disk.
        let size = if FileType::from_raw_mode(stat.st_mode) == FileType::Directory { 0 } else { state.size };
        (state.device, state.inode, size, state.modified, state.changed).hash(&mut fold.stamp);
        let changed = state.changed_millis();
        if changed >= look.settled.0 {
            self.unsettled = self.unsettled.max(Some(WallTime(changed)));
        }
    }

    /// Adds what is in folders that links lead to, and in those that links in them lead to in turn.
    fn fold_behind_links(&mut self, look: &Look<'_>, listing: &mut Listing, fold: &mut Fold) -> Result<(), Trouble> {
        // Nothing is looked at twice; and what is ignored in the tree is not looked at because something leads to all of it.
        let mut seen: HashSet<(u64, u64)> = inode_of(look.root).into_iter().collect();
        fold.round = BEHIND_LINKS;
        while !fold.linked.is_empty() && fold.behind < MOST_BEHIND_LINKS {
            let mut folders = std::mem::take(&mut fold.linked);
            covered(look.root, &folders, listing)?.iter().for_each(|folder| _ = folders.remove(folder));
            // As bytes: paths are ordered by their parts.
            let mut folders: Vec<PathBuf> = folders.into_iter().collect();
            folders.sort_by(|one, other| one.as_os_str().as_bytes().cmp(other.as_os_str().as_bytes()));
            for folder in folders {
                fold.section = folder.as_os_str().as_bytes().to_vec();
                self.fold_folder(look, &folder, fold, Some(&mut seen))?;
            }
            // A chain of folders that lead to ever more of them ends somewhere.
            let Some(next) = fold.round.checked_add(1) else { break };
            fold.round = next;
        }
        Ok(())
    }

    /// Adds every file in a folder, in the order of their paths. With `seen`, it lies behind a link.
    fn fold_folder(
        &mut self,
        look: &Look<'_>,
        folder: &Path,
        fold: &mut Fold,
        mut seen: Option<&mut HashSet<(u64, u64)>>,
    ) -> Result<(), Trouble> {
        let mut is_new = |folder: &OwnedFd| match (&mut seen, rustix::fs::fstat(folder)) {
            (Some(seen), Ok(stat)) => seen.insert(plain_file::inode(&stat)),
            (None, _) => true,
            (Some(_), Err(_)) => false,
        };
        let is_linked = fold.round >= BEHIND_LINKS;
        let opened = |folder: io::Result<OwnedFd>, path: &Path| match folder {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if plain_file::is_fault(&error) => {
                Err(fault(format!("{} cannot be opened: {error}", path.display())))
            }
            // What may not be read cannot be read by a check either.
            Err(_) => Ok(None),
        };
        let Some(first) = opened(plain_file::open_folder(rustix::fs::CWD, folder).map_err(Into::into), folder)? else {
            return Ok(());
        };
        if !is_new(&first) {
            return Ok(());
        }
        let entries =
            walk::entries(&first).map_err(|error| fault(format!("{} cannot be read: {error}", folder.display())))?;
        let stat = |folder: &OwnedFd, path: &Path| {
            rustix::fs::fstat(folder).map_err(|error| fault(format!("{} cannot be looked at: {error}", path.display())))
        };
        self.take_folder(look, fold, false, b"", &stat(&first, folder)?)?;
        let mut open = vec![(first, Vec::new(), entries)];
        while let Some((inside, prefix, left)) = open.last_mut() {
            look.go_on()?;
            let Some((name, is_folder)) = left.pop() else {
                open.pop();
                continue;
            };
            let path = joined(prefix, &name);
            let at = folder.join(OsStr::from_bytes(&path));
            let is_nobodys = look.is_own(&at) || links::is_of_the_kernel(&at);
            if name == b".git" || is_nobodys || self.is_own(&joined(&fold.section, &path)) {
                continue;
            }
            if is_linked {
                fold.behind += 1;
                if fold.behind > MOST_BEHIND_LINKS {
                    return Ok(());
                }
            }
            if is_folder {
                let below = plain_file::open_folder(&*inside, OsStr::from_bytes(&name));
                if open.len() < DEEPEST
                    && let Some(below) = opened(below.map_err(Into::into), &at)?
                    && is_new(&below)
                {
                    let entries = walk::entries(&below)
                        .map_err(|error| fault(format!("{} cannot be read: {error}", at.display())))?;
                    self.take_folder(look, fold, false, &path, &stat(&below, &at)?)?;
                    open.push((below, path, entries));
                }
                continue;
            }
            let listed = Listed { staged: &[], path: &path, nested: false };
            let place = (inside.as_fd(), OsStr::from_bytes(&name));
            self.take(look, fold, &listed, Some(place), &at)?;
        }
        Ok(())
    }

    fn is_own(&self, path: &[u8]) -> bool {
        path.strip_prefix(self.own.as_slice()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    /// What stands at a listed path, and what is to be remembered of it.
    fn see(
        &mut self,
        look: &Look<'_>,
        fold: &mut Fold,
        listed: &Listed<'_>,
        place: Place<'_>,
        at: &Path,
        known: Option<&(FileState, Hash)>,
    ) -> Result<(Seen, Option<(FileState, Hash)>), Trouble> {
        let (folder, name) = place;
        let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(errno) => return absent(listed.path, errno.into()),
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        // A folder stands here for the repository in it, and is looked at with what is in it.
        if kind != FileType::Directory && !self.outputs.contains(&file_of(&stat)) {
            self.stamp(look, fold, &stat);
        }
        let seen = match kind {
            FileType::RegularFile => {
                if fold.round >= BEHIND_LINKS {
                    fold.bytes_behind = fold.bytes_behind.saturating_add(FileState::of(&stat).size);
                }
                if fold.bytes_behind > MOST_BYTES_BEHIND_LINKS {
                    return Ok((Seen { kind: b's', content: FileState::of(&stat).hash().to_vec() }, None));
                }
                return self.see_file(look, listed.path, place, &stat, known);
            }
            FileType::Symlink => match rustix::fs::readlinkat(folder, name, Vec::new()) {
                Ok(target) => return self.see_link(look, fold, listed, target.as_bytes(), at, known),
                Err(errno) => return absent(listed.path, errno.into()),
            },
            // Its files follow in a listing of their own.
            FileType::Directory if listed.is_repository() => Seen { kind: b'r', content: head::fingerprint(at) },
            other => {
                if links::blocks(other) && !listed.staged.is_empty() {
                    let how = Change::Blocks { what: plain_file::kind(other).to_owned() };
                    fold.tell(&joined(&fold.section, listed.path), how);
                }
                Seen { kind: b'?', content: plain_file::kind(other).as_bytes().to_vec() }
            }
        };
        Ok((seen, None))
    }

    fn see_file(
        &mut self,
        look: &Look<'_>,
        path: &[u8],
        place: Place<'_>,
        stat: &Stat,
        known: Option<&(FileState, Hash)>,
    ) -> Result<(Seen, Option<(FileState, Hash)>), Trouble> {
        if self.outputs.contains(&file_of(stat)) {
            return Ok((Seen { kind: b'o', content: Vec::new() }, None));
        }
        let kind = if stat.st_mode & 0o111 != 0 { b'x' } else { b'f' };
        let state = FileState::of(stat);
        let (content, known) = match known.filter(|(before, _)| *before == state) {
            Some((_, content)) => (*content, known.copied()),
            None => self.content(look, path, place, state)?,
        };
        Ok((Seen { kind, content: content.to_vec() }, known))
    }

    /// A link, with the file that it leads to; a folder is looked at later.
    fn see_link(
        &mut self,
        look: &Look<'_>,
        fold: &mut Fold,
        listed: &Listed<'_>,
        target: &[u8],
        at: &Path,
        known: Option<&(FileState, Hash)>,
    ) -> Result<(Seen, Option<(FileState, Hash)>), Trouble> {
        let end = links::end_of(at.parent().unwrap_or(look.root), Path::new(OsStr::from_bytes(target)));
        let mut link = Seen { kind: b'l', content: target.to_vec() };
        let inside = end.path.strip_prefix(look.root).map_or(&[][..], |path| path.as_os_str().as_bytes());
        // The settings are the only files of people in that folder.
        let is_of_ralph = self.is_own(inside);
        let is_settings = inside.ends_with(b"/settings.json") || inside.ends_with(b"/settings.local.json");
        if look.is_own(&end.path) || (is_of_ralph && !is_settings) {
            // What lies behind a link is nothing that the tree could do without.
            if fold.round < BEHIND_LINKS {
                fold.tell(&joined(&fold.section, listed.path), Change::Leads { to: end.path.display().to_string() });
            }
            return Ok((link, None));
        }
        let is_nobodys = is_of_ralph || links::is_of_the_kernel(&end.path);
        let Some(stat) = end.stat.filter(|_| !is_nobodys) else { return Ok((link, None)) };
        let kind = FileType::from_raw_mode(stat.st_mode);
        let (behind, known) = match kind {
            FileType::RegularFile => {
                if !self.outputs.contains(&file_of(&stat)) {
                    self.stamp(look, fold, &stat);
                }
                self.see_file(look, listed.path, (rustix::fs::CWD, end.path.as_os_str()), &stat, known)?
            }
            other => {
                if other == FileType::Directory {
                    fold.linked.insert(end.path);
                }
                (Seen { kind: b'?', content: plain_file::kind(other).as_bytes().to_vec() }, None)
            }
        };
        link.content.extend([0, behind.kind]);
        link.content.extend(behind.content);
        Ok((link, known))
    }

    /// Reads a file. Its content is remembered if its state will tell whether it changes.
    fn content(
        &mut self,
        look: &Look<'_>,
        path: &[u8],
        (folder, name): Place<'_>,
        state: FileState,
    ) -> Result<(Hash, Option<(FileState, Hash)>), Trouble> {
        let read = plain_file::open(folder, name, Links::Refuse).and_then(|file| {
            // The state from before the reading: a change meanwhile makes the next look read again.
            let state = FileState::of(&rustix::fs::fstat(&file)?);
            Ok((state, snapshot::hides_from_checks(&file), self.hash(file, look.stop)?))
        });
        let read = match read {
            Ok((_, true, _)) => {
                let path = shown(path);
                return Err(Trouble::Fault(format!(
                    "{path} carries a mark (overlay.metacopy or overlay.whiteout) that hides it from checks; remove it \
                     with setfattr -x"
                )));
            }
            Ok((state, false, content)) => Ok((state, content)),
            Err(error) => Err(error),
        };
        match read {
            Ok((_, None)) => Err(Trouble::Stopped),
            Ok((state, Some(content))) => {
                let settled = state.changed_millis() < look.settled.0;
                Ok((content, settled.then_some((state, content))))
            }
            Err(error) if plain_file::is_fault(&error) => {
                Err(Trouble::Fault(format!("{} cannot be read: {error}", shown(path))))
            }
            // What may not be read is known by its state, which changes with its content.
            Err(_) => Ok((state.hash(), None)),
        }
    }

    /// The hash of a file's content; nothing if it was told to stop.
    fn hash(&mut self, mut file: File, stop: &Stop) -> io::Result<Option<Hash>> {
        self.chunk.resize(CHUNK, 0);
        let mut hasher = Sha256::new();
        while !stop.is_set() {
            match file.read(&mut self.chunk) {
                Ok(0) => return Ok(Some(hasher.finalize().into())),
                Ok(count) => hasher.update(self.chunk.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// A repository inside is named without the slash that git puts behind it.
fn without_slash(path: &[u8]) -> &[u8] {
    path.strip_suffix(b"/").unwrap_or(path)
}

/// Names a changed file, unless enough are named or there was nothing to compare with.
fn note(changed: &mut Vec<String>, names: bool, path: &[u8]) {
    let name = shown(path);
    if names && changed.len() < CHANGED_NAMED && !changed.iter().any(|other| *other == name) {
        changed.push(name.into_owned());
    }
}

/// What could not be looked at is not there, unless the machine is why.
fn absent(path: &[u8], error: io::Error) -> Result<(Seen, Option<(FileState, Hash)>), Trouble> {
    if plain_file::is_fault(&error) {
        return Err(Trouble::Fault(format!("{} cannot be looked at: {error}", shown(path))));
    }
    Ok((Seen::nothing(), None))
}

impl Seen {
    fn nothing() -> Seen {
        Seen { kind: b'-', content: Vec::new() }
    }
}

impl Look<'_> {
    /// Whether a path without links lies in a folder of ralph.
    fn is_own(&self, path: &Path) -> bool {
        self.own.iter().any(|own| path.starts_with(own))
    }

    fn go_on(&self) -> Result<(), Trouble> {
        if self.stop.is_set() { Err(Trouble::Stopped) } else { Ok(()) }
    }
}

impl FileState {
    #[allow(clippy::unnecessary_cast, reason = "the fields' widths differ between systems")]
    fn of(stat: &Stat) -> FileState {
        FileState {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// For what is not read.
    fn hash(&self) -> Hash {
        Sha256::digest(format!("{self:?}")).into()
    }

    fn changed_millis(&self) -> i64 {
        self.changed.0.saturating_mul(1000).saturating_add(self.changed.1 / 1_000_000)
    }
}

/// One line of the listing: `? path`, or `H 100644 <id> 0<TAB>path`.
struct Listed<'a> {
    /// Mode, id and stage; empty for what is not tracked.
    staged: &'a [u8],
    path: &'a [u8],
    nested: bool,
}

impl<'a> Listed<'a> {
    fn parse(line: &'a [u8]) -> Option<Listed<'a>> {
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

    fn is_repository(&self) -> bool {
        self.nested || self.staged.starts_with(b"160000 ")
    }
}

/// A line of a listing.
enum Line<'a> {
    File(Listed<'a>),
    /// The repository inside whose listing follows.
    Repository(&'a [u8]),
    /// A folder that git cannot list.
    Folder(&'a [u8]),
    /// What follows counts whatever git says of it.
    Anyway,
}

/// Goes through a listing.
struct Lines<'a> {
    reader: Box<dyn io::BufRead + 'a>,
    line: Vec<u8>,
}

impl<'a> Lines<'a> {
    fn of(listing: &'a mut Listing) -> Result<Lines<'a>, Trouble> {
        Ok(Lines { reader: listing.files.read().map_err(unkept)?, line: Vec::new() })
    }

    fn next(&mut self) -> Result<Option<Line<'_>>, Trouble> {
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
fn covered(root: &Path, folders: &BTreeSet<PathBuf>, listing: &mut Listing) -> Result<Vec<PathBuf>, Trouble> {
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

fn inode_of(path: &Path) -> Option<(u64, u64)> {
    rustix::fs::stat(path).ok().map(|stat| plain_file::inode(&stat))
}

fn fault(why: String) -> Trouble {
    Trouble::Fault(why)
}

fn unkept(error: io::Error) -> Trouble {
    fault(format!("git's list of the files could not be kept: {error}"))
}

fn shown(path: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(path)
}

#[cfg(test)]
mod tests;
