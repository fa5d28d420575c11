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
mod existing_tests;
mod head;
mod links;
mod listing;
mod repository;
pub(crate) mod rules;
mod seen;
mod walk;

pub use existing_tests::ExistingTests;
pub use head::folders as git_folders;
pub use head::{git_root, head};
pub(crate) use links::way_of;
pub(crate) use listing::{ANYWAY, FOLDER, REPOSITORY, repositories_in, rules_in};
pub use listing::{LISTING, LIVE_RULES, Listing};
pub(crate) use repository::{blocking, blocking_anywhere, identity, leading};
pub use repository::{damage, parts};
pub(crate) use repository::{part, shown_in};
pub(crate) use seen::{Place, file_of, hash_file};
pub(crate) use walk::Walk;

use crate::aside::Stop;
use crate::clock::Clock;
use crate::{own_output, plain_file};
use cache::{Cache, Damaged, Entry, Merge};
use listing::{Line, Lines, Listed, covered};
use ralph_core::check::TreePrint;
use ralph_core::protect::{Change, PinnedChange};
use ralph_core::text;
use ralph_core::time::WallTime;
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{FileType, Stat};
use seen::{FileState, Seen};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// A change within the same tick of the kernel's clock (at most 10 ms) leaves no trace in the times,
/// so what changed this shortly before a look is read again at the next.
const SETTLED_MILLIS: i64 = 20;
/// Changed files that are named: a person wants examples, and the next prompt a few more.
const CHANGED_NAMED: usize = 20;
/// Changes of one look that are named.
const TOLD: usize = 20;
/// Files behind links to folders that are looked at; a link to more of them counts by where it leads.
const MOST_BEHIND_LINKS: u64 = 100_000;
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

impl Look<'_> {
    /// Whether a path without links lies in a folder of ralph.
    fn is_own(&self, path: &Path) -> bool {
        self.own.iter().any(|own| path.starts_with(own))
    }

    fn go_on(&self) -> Result<(), Trouble> {
        if self.stop.is_set() { Err(Trouble::Stopped) } else { Ok(()) }
    }
}

fn inode_of(path: &Path) -> Option<(u64, u64)> {
    rustix::fs::stat(path).ok().map(|stat| plain_file::inode(&stat))
}

fn fault(why: String) -> Trouble {
    Trouble::Fault(why)
}

fn shown(path: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(path)
}

#[cfg(test)]
mod tests;
