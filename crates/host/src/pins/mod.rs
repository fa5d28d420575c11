//! Files whose state at the start counts: finding them, keeping what they held, seeing whether they are
//! still as they were, and putting them back.
//!
//! What they held is kept outside of the work tree, where the agent's tools have no business. Every path of the
//! project is walked folder by folder without passing through a link, as the fingerprint of the tree does it; where a
//! path leads through a link, both the link and what stands behind it are pinned.

mod folders;
mod globs;
mod premises;
mod restore;

pub(crate) use folders::{Stamp, stamp};
pub(crate) use globs::files_below;
pub use globs::{judge_glob, matching, unmatched};
pub use premises::Machine;

use crate::aside::Stop;
use crate::look::is_fault_of_the_machine;
use crate::plain_file::{self, Links};
use crate::tree::{self, Walk};
use folders::Folders;
use ralph_core::judges::{Judge, Known, Part, Subject, Why, counted};
use ralph_core::protect::{self, Change, PinFailure, Pinned, PinnedChange, PinnedState};
use ralph_core::text;
use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, FileType};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The folder of a run in which contents are kept.
pub const KEPT: &str = "pinned";
/// More files than this are no longer a rule but a whole project, and looking at them takes too long.
const MOST_FILES: usize = 20_000;
/// The largest file that is pinned; tests and scripts are far smaller, and fixtures mostly.
const LARGEST: u64 = 64 << 20;

/// Where pinned files are and where their first content is kept.
#[derive(Debug, Clone)]
pub struct PinnedFiles {
    root: PathBuf,
    kept: PathBuf,
    folders: Folders,
    /// Paths that count if a glob means them, whether something stands there or not.
    expected: Vec<String>,
}

/// What stands at a path, as far as it counts.
enum Standing {
    File { executable: bool, content: Vec<u8> },
    Link(Vec<u8>),
    Folder(String),
    Other(&'static str),
    Nothing,
}

/// Something to be pinned.
struct Wanted {
    path: String,
    part: Part,
    why: Why,
    of: Vec<ralph_core::id::CheckId>,
    /// Whether its executable bit counts.
    mode: bool,
    /// It is a link on the way to something else, and only where it leads counts of it.
    is_way: bool,
}

impl PinnedFiles {
    /// For the project at `root`; contents are kept in `kept`, which is made when it is needed.
    pub fn new(root: &Path, kept: &Path) -> PinnedFiles {
        PinnedFiles { root: root.to_owned(), kept: kept.to_owned(), folders: Folders::default(), expected: Vec::new() }
    }

    /// Looks for these paths too, where a glob means them: what an agent of an earlier run deleted is not forgotten.
    pub fn expecting(&self, expected: Vec<String>) -> PinnedFiles {
        PinnedFiles { expected, ..self.clone() }
    }

    /// The same files in another place.
    pub fn at(&self, root: &Path) -> PinnedFiles {
        PinnedFiles { root: root.to_owned(), ..self.clone() }
    }

    /// Looks at everything that matches a glob, at what people declared for these checks, and at every judge that is
    /// known. Blocks while it walks through the project, and gives up when told to stop.
    pub fn pin(
        &self,
        globs: &[String],
        subjects: &[Subject],
        known: &Known,
        stop: &Stop,
    ) -> Result<Vec<Pinned>, PinFailure> {
        let asked = |why| PinFailure { why, fault: false };
        let failed = |why, error: &io::Error| PinFailure { why, fault: is_fault_of_the_machine(error) };
        let mut wanted = Vec::new();
        let declared = subjects.iter().map(|subject| (&subject.judges, Why::Declared, vec![subject.id.clone()]));
        for (globs, why, of) in std::iter::once((&globs.to_vec(), Why::Protected, Vec::new())).chain(declared) {
            if globs.is_empty() {
                continue;
            }
            let set = globs::set_of(globs).map_err(asked)?;
            let found = globs::find(&self.root, globs, &set, stop).map_err(asked)?;
            let expected = self.expected.iter().filter(|path| set.is_match(path)).cloned();
            let file =
                |path| Wanted { path, part: Part::Whole, why: why.clone(), of: of.clone(), mode: true, is_way: false };
            wanted.extend(found.into_iter().chain(expected).map(file));
        }
        wanted.extend(known.judges.iter().map(Wanted::judge));
        let mut pinned: Vec<Pinned> = Vec::with_capacity(wanted.len());
        let mut at: HashMap<String, Vec<usize>> = HashMap::new();
        // Grows by what stands behind links.
        while let Some(next) = wanted.pop() {
            if !next.is_way {
                wanted.extend(self.behind_links(&next));
            }
            let indexes = at.entry(next.path.clone()).or_default();
            let is_same = |index: &&usize| pinned.get(**index).is_some_and(|pin: &Pinned| pin.part == next.part);
            let same = indexes.iter().find(is_same).copied();
            indexes.extend(same.is_none().then_some(pinned.len()));
            if let Some(same) = same.and_then(|index| pinned.get_mut(index)) {
                let new = next.of.into_iter().filter(|id| !same.of.contains(id)).collect::<Vec<_>>();
                same.of.extend(new);
                continue;
            }
            if pinned.len() >= MOST_FILES || stop.is_set() {
                return Err(asked(format!("more than {MOST_FILES} files match, and no more can be kept an eye on")));
            }
            let standing = self.look(&next.path, &next.part);
            let standing = standing.map_err(|error| failed(format!("{}: {error}", next.path), &error))?;
            let state = standing.state(&next.part, next.mode);
            let file = Pinned { path: next.path, part: next.part, state, why: next.why, accepted: None, of: next.of };
            let kept = self.keep(&file, &standing);
            kept.map_err(|error| failed(format!("{} cannot be kept: {error}", file.path), &error))?;
            pinned.push(file);
        }
        pinned.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(pinned)
    }

    /// What is not as it was; or why the machine did not let that be seen.
    pub fn changes(&self, pinned: &[Pinned]) -> Result<Vec<PinnedChange>, String> {
        let changed = |file: &Pinned| {
            let standing = match self.look(&file.path, &file.part) {
                Ok(standing) => standing,
                Err(error) if plain_file::is_fault(&error) => {
                    return Some(Err(format!("{} cannot be read: {error}", file.path)));
                }
                Err(error) => Standing::unreadable(&error),
            };
            let mode = !matches!(file.state, PinnedState::File { executable: None, .. });
            let state = standing.state(&file.part, mode);
            if state == file.state {
                return None;
            }
            let how = match (&file.state, &standing) {
                _ if file.accepted.as_ref().is_some_and(|accepted| *accepted == state.print()) => Change::PutBack,
                (_, Standing::Nothing) => Change::Deleted,
                (PinnedState::Nothing, _) => Change::Added,
                (PinnedState::Folder { .. }, Standing::Folder(_)) => Change::Content { losses: String::new() },
                (_, Standing::Folder(_)) => Change::Replaced { by: "directory".to_owned() },
                (_, Standing::Other(kind)) => Change::Replaced { by: (*kind).to_owned() },
                (_, Standing::Link(_)) => Change::Replaced { by: "symbolic link".to_owned() },
                (PinnedState::File { hash, .. }, Standing::File { content, .. }) => self.compared(file, hash, content),
                (_, Standing::File { .. }) => Change::Content { losses: String::new() },
            };
            Some(Ok(PinnedChange { path: file.path.clone(), how }))
        };
        let mut changes: Vec<PinnedChange> = pinned.iter().filter_map(changed).collect::<Result<_, _>>()?;
        // Two parts of one file are one change; that each of them is put back is counted.
        changes.dedup_by(|one, other| one == other && one.how != Change::PutBack);
        Ok(changes)
    }

    /// Where the path of something leads through links: each of them but the path itself, and what stands at the end,
    /// or that nothing does.
    fn behind_links(&self, wanted: &Wanted) -> Vec<Wanted> {
        // The root may be reached through a link of its own.
        let real_root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let also = |path: &Path, part: &Part, is_way: bool| {
            let path = path.strip_prefix(&real_root).unwrap_or(path).to_str()?.to_owned();
            let (part, why) = (part.clone(), wanted.why.clone());
            let is_new = !path.is_empty() && path != wanted.path;
            is_new.then(|| Wanted { path, part, why, of: wanted.of.clone(), mode: wanted.mode, is_way })
        };
        if Path::new(&wanted.path).is_absolute() {
            return Vec::new();
        }
        let (end, links) = tree::way_of(&real_root, Path::new(&wanted.path));
        if links.is_empty() {
            return Vec::new();
        }
        let links = links.iter().filter_map(|link| also(link, &Part::Whole, true));
        links.chain(also(&end, &wanted.part, false)).collect()
    }

    fn look(&self, path: &str, part: &Part) -> io::Result<Standing> {
        if let Part::Ending { ending } = part {
            return self.folders.with_ending(&self.root.join(path), part, ending).map(Standing::Folder);
        }
        if let Part::Announced { file, text } = part {
            return self.folders.announced(&self.root.join(path), file, text).map(Standing::Folder);
        }
        if *part == Part::Output {
            return output(&self.root.join(path));
        }
        if path.starts_with('/') {
            let path = Path::new(path);
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(Standing::Nothing) };
            // Outside of the project links on the way are nobody's business.
            return match plain_file::open_place(folder) {
                Ok(place) => self.look_at(rustix::fd::AsFd::as_fd(&place), name, path),
                Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(Standing::Nothing),
                Err(errno) => Err(errno.into()),
            };
        }
        let mut walk = Walk::from(&self.root)?;
        let Some((folder, name)) = walk.parent_of(path.as_bytes())? else { return Ok(Standing::Nothing) };
        self.look_at(folder, name, &self.root.join(path))
    }

    fn look_at(&self, folder: BorrowedFd<'_>, name: &OsStr, path: &Path) -> io::Result<Standing> {
        let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(rustix::io::Errno::NOENT) => return Ok(Standing::Nothing),
            Err(errno) => return Err(errno.into()),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let mut content = Vec::new();
                plain_file::open(folder, name, Links::Refuse)?.take(LARGEST + 1).read_to_end(&mut content)?;
                if content.len() as u64 > LARGEST {
                    return Err(io::Error::other("it is larger than 64 MiB"));
                }
                Ok(Standing::File { executable: stat.st_mode & 0o111 != 0, content })
            }
            FileType::Symlink => Ok(Standing::Link(rustix::fs::readlinkat(folder, name, Vec::new())?.into_bytes())),
            FileType::Directory => self.folders.whole(path).map(Standing::Folder),
            other => Ok(Standing::Other(plain_file::kind(other))),
        }
    }

    fn keep(&self, file: &Pinned, standing: &Standing) -> io::Result<()> {
        let (PinnedState::File { hash, .. }, Standing::File { content, .. }) = (&file.state, standing) else {
            return Ok(());
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.kept)?;
        let place = self.place(&file.path, hash);
        // A run that goes on has kept it already.
        if place.exists() { Ok(()) } else { std::fs::write(place, content) }
    }

    /// What a pinned file held, where that was kept.
    pub fn content(&self, file: &Pinned) -> Option<Vec<u8>> {
        let PinnedState::File { hash, .. } = &file.state else { return None };
        std::fs::read(self.place(&file.path, hash)).ok()
    }

    fn place(&self, path: &str, hash: &str) -> PathBuf {
        self.kept.join(text::hash(format!("{path}\n{hash}").as_bytes()))
    }

    /// How a content differs: by its tests, where it is source with tests in it.
    fn compared(&self, file: &Pinned, hash: &str, now: &[u8]) -> Change {
        if text::hash(&counted(&file.part, now)) == hash {
            return Change::Mode;
        }
        let before = std::fs::read(self.place(&file.path, hash)).unwrap_or_default();
        let losses = protect::test_losses(&String::from_utf8_lossy(&before), &String::from_utf8_lossy(now));
        Change::Content { losses }
    }
}

/// What stands where a check writes its output: a plain file that can be written is as good as none.
fn output(path: &Path) -> io::Result<Standing> {
    let now = match std::fs::symlink_metadata(path) {
        Ok(now) => now,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Standing::Nothing);
        }
        Err(error) => return Err(error),
    };
    Ok(match now.file_type() {
        kind if kind.is_symlink() => Standing::Link(std::fs::read_link(path)?.into_os_string().into_encoded_bytes()),
        kind if kind.is_dir() => Standing::Other("directory"),
        kind if !kind.is_file() => Standing::Other("thing that is no file"),
        _ if now.permissions().mode() & 0o200 == 0 => Standing::Other("file that cannot be written"),
        _ => Standing::Nothing,
    })
}

impl Wanted {
    fn judge(judge: &Judge) -> Wanted {
        let Judge { path, part, why, of, executed } = judge.clone();
        Wanted { path, part, why, of, mode: executed, is_way: false }
    }
}

impl Standing {
    fn unreadable(error: &io::Error) -> Standing {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Standing::Other("file that cannot be read"),
            _ => Standing::Other("thing that cannot be read"),
        }
    }

    /// As far as it counts.
    fn state(&self, part: &Part, mode: bool) -> PinnedState {
        match self {
            Standing::File { executable, content } => {
                PinnedState::File { executable: mode.then_some(*executable), hash: text::hash(&counted(part, content)) }
            }
            Standing::Link(target) => PinnedState::Link { target: text::hex(target) },
            Standing::Folder(hash) => PinnedState::Folder { hash: hash.clone() },
            Standing::Other(kind) => PinnedState::Other { name: (*kind).to_owned() },
            Standing::Nothing => PinnedState::Nothing,
        }
    }
}

#[cfg(test)]
mod tests;
