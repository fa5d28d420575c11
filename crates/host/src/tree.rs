//! The fingerprint of a work tree: what is accepted is exactly what was checked.
//!
//! git says which paths count (tracked, and untracked but not ignored) and what is staged; contents
//! are read here and not believed from git's own cache, which flags like `assume-unchanged` can make
//! lie. A content is read once and then known by size, inode and times. The time of change (ctime)
//! is the kernel's and cannot be set back, so an edit with a forged date is still seen.
//!
//! There is no limit on files or bytes: the listing and what is known of it are read side by side and kept in files,
//! so memory does not grow with the tree, and a look can be stopped at any file.
//!
//! This room spawns nothing: whoever runs git with [`LISTING`] hands its output in.

mod cache;
mod head;
mod repository;
mod walk;

pub(crate) use head::folders as git_folders;
pub use head::{git_root, head};
pub use repository::{damage, parts};

use crate::aside::Stop;
use crate::clock::Clock;
use crate::own_output;
use crate::plain_file::{self, Links};
use crate::spool::Spool;
use cache::{Cache, Damaged, Entry, Merge};
use ralph_core::check::TreePrint;
use ralph_core::text;
use ralph_core::time::WallTime;
use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, FileType, Stat};
use sha2::{Digest as _, Sha256};
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
    "--others", "--exclude-standard", "--full-name",
];

/// A change within the same tick of the kernel's clock (at most 10 ms) leaves no trace in the times,
/// so what changed this shortly before a look is read again at the next.
const SETTLED_MILLIS: i64 = 20;
/// Changed files that are named: a person wants examples, and the next prompt a few more.
const CHANGED_NAMED: usize = 20;
/// Bytes read at once: large enough that the calls do not count.
const CHUNK: usize = 128 << 10;

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
}

/// One look at the whole tree.
struct Look<'a> {
    root: &'a Path,
    /// What changed before this moment has settled.
    settled: WallTime,
    stop: &'a Stop,
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
        let mut merge = self.cache.merge();
        let all = self.fold_files(listing, &mut merge, stop);
        if let Err(Trouble::Damaged) = all {
            return all;
        }
        if all.is_err() {
            merge.keep_rest()?;
        }
        if let Err(error) = self.cache.finish(merge)? {
            self.problem = Some(format!("what is known of the files could not be kept for the next run: {error}"));
        }
        all
    }

    fn fold_files(&mut self, listing: &mut Listing, merge: &mut Merge, stop: &Stop) -> Result<String, Trouble> {
        let fault = |why: &str, error: &dyn std::fmt::Display| Trouble::Fault(format!("{why}: {error}"));
        let unkept = |error: io::Error| fault("git's list of the files could not be kept", &error);
        let root = listing.root.clone();
        let look = Look { root: &root, settled: WallTime(Clock::start().now().0 - SETTLED_MILLIS), stop };
        let mut walk =
            Walk::from(&root).map_err(|errno| fault(&format!("{} cannot be opened", root.display()), &errno))?;
        let mut all = Sha256::new();
        let (mut line, mut record) = (Vec::new(), Vec::new());
        let mut lines = listing.files.read().map_err(unkept)?;
        loop {
            line.clear();
            if lines.read_until(0, &mut line).map_err(unkept)? == 0 {
                return Ok(text::hex(&all.finalize()));
            }
            if stop.is_set() {
                return Err(Trouble::Stopped);
            }
            let cut = || Trouble::Fault("git's list of the files was cut off".to_owned());
            let listed = line.strip_suffix(&[0]).ok_or_else(cut)?;
            let listed = Listed::parse(listed)
                .ok_or_else(|| Trouble::Fault("git's list of the files could not be read".to_owned()))?;
            if self.is_own(listed.path) {
                continue;
            }
            let names = self.look > 1;
            let changed = &mut self.changed;
            let key = listed.key();
            let found = merge.find(&key, |gone| note(changed, names, gone.key.get(1..).unwrap_or_default()))?;
            let known = found.as_ref().and_then(|entry| entry.known.as_ref());
            let (seen, known) = match walk.parent_of(listed.path) {
                Ok(Some(place)) => self.see(&look, &listed, place, known)?,
                Ok(None) => (Seen::nothing(), None),
                Err(errno) => return Err(fault(&format!("{} cannot be opened", shown(listed.path)), &errno)),
            };
            record.clear();
            for field in [listed.path, listed.staged, &[seen.kind], &seen.content] {
                // Lengths keep one field from running into the next.
                record.extend_from_slice(&(field.len() as u64).to_le_bytes());
                record.extend_from_slice(field);
            }
            all.update(&record);
            let mut print = DefaultHasher::new();
            record.hash(&mut print);
            let entry = Entry { key, print: print.finish(), known };
            if found.as_ref().is_none_or(|before| before.print != entry.print) {
                note(&mut self.changed, names, listed.path);
            }
            merge.keep(found.as_ref(), &entry);
        }
    }

    fn is_own(&self, path: &[u8]) -> bool {
        path.strip_prefix(self.own.as_slice()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    /// What stands at a listed path, and what is to be remembered of it.
    fn see(
        &mut self,
        look: &Look<'_>,
        listed: &Listed<'_>,
        place: Place<'_>,
        known: Option<&(FileState, Hash)>,
    ) -> Result<(Seen, Option<(FileState, Hash)>), Trouble> {
        let (folder, name) = place;
        let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(errno) => return absent(listed.path, errno.into()),
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        let seen = match kind {
            FileType::RegularFile if self.outputs.contains(&file_of(&stat)) => Seen { kind: b'o', content: Vec::new() },
            FileType::RegularFile => {
                let kind = if stat.st_mode & 0o111 != 0 { b'x' } else { b'f' };
                let state = FileState::of(&stat);
                let (content, known) = match known.filter(|(before, _)| *before == state) {
                    Some((_, content)) => (*content, known.copied()),
                    None => self.content(look, listed.path, place, state)?,
                };
                return Ok((Seen { kind, content: content.to_vec() }, known));
            }
            FileType::Symlink => match rustix::fs::readlinkat(folder, name, Vec::new()) {
                Ok(target) => Seen { kind: b'l', content: target.into_bytes() },
                Err(errno) => return absent(listed.path, errno.into()),
            },
            // Of a repository inside, the commit counts: its files are its own matter, as they are for git.
            FileType::Directory if listed.is_repository() => {
                Seen { kind: b'r', content: head::fingerprint(&look.root.join(OsStr::from_bytes(listed.path))) }
            }
            other => Seen { kind: b'?', content: plain_file::kind(other).as_bytes().to_vec() },
        };
        Ok((seen, None))
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
            Ok((state, self.hash(file, look.stop)?))
        });
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
            Err(_) => Ok((Sha256::digest(format!("{state:?}")).into(), None)),
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

/// Names a changed file, unless enough are named or there was nothing to compare with.
fn note(changed: &mut Vec<String>, names: bool, path: &[u8]) {
    let name = shown(path.strip_suffix(b"/").unwrap_or(path));
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

    /// Its place in the order of a listing: git lists what it does not track first, each part sorted.
    fn key(&self) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.path.len() + 2);
        key.push(u8::from(!self.staged.is_empty()));
        key.extend_from_slice(self.path);
        // The slash behind a repository counts in git's order.
        key.extend(self.nested.then_some(b'/'));
        key
    }

    fn is_repository(&self) -> bool {
        self.nested || self.staged.starts_with(b"160000 ")
    }
}

fn shown(path: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(path)
}

#[cfg(test)]
mod tests;
