//! The fingerprint of a work tree: what is accepted is exactly what was checked.
//!
//! git says which paths count (tracked, and untracked but not ignored) and what is staged; contents
//! are read here and not believed from git's own cache, which flags like `assume-unchanged` can make
//! lie. A content is read once and then known by size, inode and times. The time of change (ctime)
//! is the kernel's and cannot be set back, so an edit with a forged date is still seen.
//!
//! This room spawns nothing: whoever runs git with [`LISTING`] hands its output in.

mod head;
mod walk;

pub use head::{git_root, head};

use crate::audience;
use crate::clock::Clock;
use crate::plain_file::{self, Links};
use ralph_core::check::TreePrint;
use ralph_core::text;
use ralph_core::time::WallTime;
use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, FileType, Stat};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
pub(crate) use walk::Walk;

/// What git is asked, in the root of the work tree: every path that counts, with its staged id, NUL
/// between them. One process answers both questions. The repository's configuration cannot start a
/// program (`core.fsmonitor`) or point elsewhere (`core.worktree`), and nothing is written.
pub const LISTING: &[&str] = &[
    "--no-optional-locks",
    "--work-tree=.",
    "-c",
    "core.fsmonitor=false",
    "ls-files",
    "-z",
    "-t",
    "--stage",
    "--others",
    "--exclude-standard",
    "--full-name",
];

/// A listing longer than this is refused, so that whoever captures it may cut it there and nothing
/// is guessed from a part. At 300 bytes a path it is the most that would be looked at.
pub const LARGEST_LISTING: usize = MOST_PATHS * 300;
/// Beyond this a look takes longer than it is worth, and the tree counts as not seen.
const MOST_PATHS: usize = 200_000;
/// Likewise for bytes; the first look reads all of them.
const MOST_CONTENT: u64 = 4 << 30;
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
    known: HashMap<Vec<u8>, Known>,
    look: u64,
    chunk: Vec<u8>,
    /// Digests of names and contents of the look before and of this one, to name what changed.
    before: HashMap<u64, u64>,
    now: HashMap<u64, u64>,
    changed: Vec<String>,
    /// The last look was compared with a whole one before it.
    compared: bool,
}

type Hash = [u8; 32];

#[derive(Debug)]
struct Known {
    state: FileState,
    content: Hash,
    look: u64,
}

/// What cannot stay the same when a content changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// One look at the whole tree.
struct Look<'a> {
    root: &'a Path,
    /// What changed before this moment has settled.
    settled: WallTime,
    /// Content so far.
    bytes: u64,
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
        let own = own.as_os_str().as_bytes().to_vec();
        Fingerprinter {
            own,
            outputs: Vec::new(),
            known: HashMap::new(),
            look: 0,
            chunk: Vec::new(),
            before: HashMap::new(),
            now: HashMap::new(),
            changed: Vec::new(),
            compared: false,
        }
    }

    /// Whether there is a look to compare the next one with.
    pub fn has_looked(&self) -> bool {
        self.look > 0
    }

    /// Some of the files that differ between the last two looks; `None` if one of them failed or there was
    /// only one.
    pub fn changed(&self) -> Option<&[String]> {
        self.compared.then_some(&self.changed)
    }

    /// Notes a file as this look found it, and whether the look before found it otherwise.
    fn compare(&mut self, path: &[u8], record: &[u8]) {
        let digest = |bytes: &[u8]| {
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            hasher.finish()
        };
        let (name, content) = (digest(path), digest(record));
        self.now.insert(name, content);
        if self.look > 1 && self.before.get(&name) != Some(&content) && self.changed.len() < CHANGED_NAMED {
            self.changed.push(shown(path).into_owned());
        }
    }

    /// The fingerprint of the tree at `root`, of which git printed `listing`. Blocks while it reads.
    pub fn print(&mut self, root: &Path, listing: &[u8]) -> TreePrint {
        match head(root) {
            Some(head) => self.print_at(root, listing, head),
            None => TreePrint::Unknown { why: format!("the HEAD of {} cannot be read", root.display()) },
        }
    }

    /// Likewise, where git had to be asked for the commit because [`head`] could not tell.
    pub fn print_at(&mut self, root: &Path, listing: &[u8], head: String) -> TreePrint {
        let had_looked = self.has_looked();
        match self.fold(root, listing) {
            Ok(tree) => {
                self.compared = had_looked;
                TreePrint::Seen { tree, head }
            }
            Err(why) => {
                // What it saw of the tree is nothing to compare with.
                (self.look, self.compared) = (0, false);
                TreePrint::Unknown { why }
            }
        }
    }

    fn fold(&mut self, root: &Path, listing: &[u8]) -> Result<String, String> {
        if listing.len() > LARGEST_LISTING {
            return Err(format!("git's listing is longer than {} MB", LARGEST_LISTING / 1_000_000));
        }
        if listing.last().is_some_and(|last| *last != 0) {
            return Err("git's listing was cut off".to_owned());
        }
        self.look += 1;
        if self.look == 1 {
            // Not earlier: a shell may start whoever keeps ralph's words after ralph.
            self.outputs = audience::files();
        }
        self.changed.clear();
        self.before = std::mem::take(&mut self.now);
        let mut look = Look { root, settled: WallTime(Clock::start().now().0 - SETTLED_MILLIS), bytes: 0 };
        let mut walk = Walk::from(root).map_err(|errno| format!("{} cannot be opened: {errno}", root.display()))?;
        let mut all = Sha256::new();
        let mut record = Vec::new();
        let mut files = 0;
        for (number, line) in listing.split(|byte| *byte == 0).filter(|line| !line.is_empty()).enumerate() {
            if number == MOST_PATHS {
                return Err(format!("the tree has more than {MOST_PATHS} files"));
            }
            let listed = Listed::parse(line).ok_or("git's listing could not be read")?;
            if self.is_own(listed.path) {
                continue;
            }
            let seen = match walk.parent_of(listed.path) {
                Ok(Some(place)) => self.see(&mut look, &listed, place)?,
                Ok(None) => Seen::nothing(),
                Err(errno) => return Err(format!("{} cannot be opened: {errno}", shown(listed.path))),
            };
            files += 1;
            record.clear();
            for field in [listed.path, listed.staged, &[seen.kind], &seen.content] {
                // Lengths keep one field from running into the next.
                record.extend_from_slice(&(field.len() as u64).to_le_bytes());
                record.extend_from_slice(field);
            }
            all.update(&record);
            self.compare(listed.path, &record);
        }
        if self.known.len() > files {
            self.known.retain(|_, known| known.look == self.look);
        }
        Ok(text::hex(&all.finalize()))
    }

    fn is_own(&self, path: &[u8]) -> bool {
        path.strip_prefix(self.own.as_slice()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    fn see(&mut self, look: &mut Look<'_>, listed: &Listed<'_>, place: Place<'_>) -> Result<Seen, String> {
        let (folder, name) = place;
        let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return Ok(Seen::nothing()) };
        let kind = FileType::from_raw_mode(stat.st_mode);
        Ok(match kind {
            FileType::RegularFile if self.outputs.contains(&file_of(&stat)) => Seen { kind: b'o', content: Vec::new() },
            FileType::RegularFile => {
                let executable = stat.st_mode & 0o111 != 0;
                let content = self.content(look, listed.path, place, FileState::of(&stat))?.to_vec();
                Seen { kind: if executable { b'x' } else { b'f' }, content }
            }
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(folder, name, Vec::new());
                Seen { kind: b'l', content: target.map(|target| target.into_bytes()).unwrap_or_default() }
            }
            // Of a repository inside, the commit counts: its files are its own matter, as they are for git.
            FileType::Directory if listed.is_repository() => {
                Seen { kind: b'r', content: head::fingerprint(&look.root.join(OsStr::from_bytes(listed.path))) }
            }
            other => Seen { kind: b'?', content: plain_file::kind(other).as_bytes().to_vec() },
        })
    }

    fn content(
        &mut self,
        look: &mut Look<'_>,
        path: &[u8],
        (folder, name): Place<'_>,
        state: FileState,
    ) -> Result<Hash, String> {
        look.bytes = look.bytes.saturating_add(state.size);
        if look.bytes > MOST_CONTENT {
            return Err(format!("the tree has more than {} GiB of content", MOST_CONTENT >> 30));
        }
        if let Some(known) = self.known.get_mut(path)
            && known.state == state
        {
            known.look = self.look;
            return Ok(known.content);
        }
        let read = plain_file::open(folder, name, Links::Refuse).and_then(|file| {
            // The state from before the reading: a change meanwhile makes the next look read again.
            let state = FileState::of(&rustix::fs::fstat(&file)?);
            Ok((state, self.hash(file)?))
        });
        let Ok((state, content)) = read else {
            // What may not be read is known by its state, which changes with its content.
            self.known.remove(path);
            return Ok(Sha256::digest(format!("{state:?}")).into());
        };
        if state.changed_millis() < look.settled.0 {
            let known = Known { state, content, look: self.look };
            self.known.insert(path.to_vec(), known);
        } else {
            self.known.remove(path);
        }
        Ok(content)
    }

    fn hash(&mut self, mut file: File) -> std::io::Result<Hash> {
        self.chunk.resize(CHUNK, 0);
        let mut hasher = Sha256::new();
        loop {
            match file.read(&mut self.chunk) {
                Ok(0) => return Ok(hasher.finalize().into()),
                Ok(count) => hasher.update(self.chunk.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
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

    fn is_repository(&self) -> bool {
        self.nested || self.staged.starts_with(b"160000 ")
    }
}

fn shown(path: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(path)
}

#[cfg(test)]
mod tests;
