//! Files whose state at the start counts: finding them, keeping what they held, seeing whether they are
//! still as they were, and putting them back.
//!
//! What they held is kept outside of the work tree, where the agent's tools have no business. Every path
//! is walked folder by folder without passing through a link, as the fingerprint of the tree does it.

mod globs;
mod restore;

pub use globs::{judge_glob, unmatched};

use crate::aside::Stop;
use crate::look::is_fault_of_the_machine;
use crate::plain_file::{self, Links};
use crate::tree::Walk;
use ralph_core::id::CheckId;
use ralph_core::protect::{self, Change, PinFailure, Pinned, PinnedChange, PinnedState};
use ralph_core::text;
use rustix::fs::{AtFlags, FileType};
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// More files than this are no longer a rule but a whole project, and looking at them takes too long.
const MOST_FILES: usize = 20_000;
/// The largest file that is pinned; tests and scripts are far smaller, and fixtures mostly.
const LARGEST: u64 = 64 << 20;

/// Where pinned files are and where their first content is kept.
#[derive(Debug, Clone)]
pub struct PinnedFiles {
    root: PathBuf,
    kept: PathBuf,
}

/// What stands at a path, as far as it counts.
enum Standing {
    File { executable: bool, content: Vec<u8> },
    Link(Vec<u8>),
    Other(&'static str),
    Nothing,
}

impl PinnedFiles {
    /// For the project at `root`; contents are kept in `kept`, which is made when it is needed.
    pub fn new(root: &Path, kept: &Path) -> PinnedFiles {
        PinnedFiles { root: root.to_owned(), kept: kept.to_owned() }
    }

    /// The same files in another place.
    pub fn at(&self, root: &Path) -> PinnedFiles {
        PinnedFiles { root: root.to_owned(), kept: self.kept.clone() }
    }

    /// Looks at everything that matches a glob, and at those candidates that are files of the project. Blocks while
    /// it walks through the project, and gives up when told to stop.
    pub fn pin(
        &self,
        globs: &[String],
        candidates: &[(String, Vec<CheckId>)],
        stop: &Stop,
    ) -> Result<Vec<Pinned>, PinFailure> {
        let asked = |why| PinFailure { why, fault: false };
        let failed = |why, error: &io::Error| PinFailure { why, fault: is_fault_of_the_machine(error) };
        let mut found: BTreeMap<String, Vec<CheckId>> = BTreeMap::new();
        if !globs.is_empty() {
            let matching = globs::find(&self.root, &globs::set_of(globs).map_err(asked)?, stop).map_err(asked)?;
            found.extend(matching.into_iter().map(|path| (path, Vec::new())));
        }
        for (name, scripts_of) in candidates {
            let is_file = |name: &str| matches!(self.look(name), Ok(Standing::File { .. }));
            // Only what the project itself holds can be changed by an agent that works in it; of what it does
            // not hold, only what would take the place of something that it does.
            if is_file(name) || protect::hidden_by(name).iter().any(|hidden| is_file(hidden)) {
                found.entry(name.clone()).or_default().extend(scripts_of.iter().cloned());
            } else if let Some(real) = self.behind_links(name) {
                // Both where it leads and that it leads there.
                found.entry(real).or_default().extend(scripts_of.iter().cloned());
                if matches!(self.look(name), Ok(Standing::Link(_))) {
                    found.entry(name.clone()).or_default().extend(scripts_of.iter().cloned());
                }
            }
        }
        if found.len() > MOST_FILES {
            return Err(asked(format!("{} files match, and at most {MOST_FILES} can be kept an eye on", found.len())));
        }
        let mut pinned = Vec::with_capacity(found.len());
        for (path, scripts_of) in found {
            let standing = self.look(&path).map_err(|error| failed(format!("{path}: {error}"), &error))?;
            let file = Pinned { state: standing.state(&path, &scripts_of), path, scripts_of };
            let kept = self.keep(&file, &standing);
            kept.map_err(|error| failed(format!("{} cannot be kept: {error}", file.path), &error))?;
            pinned.push(file);
        }
        Ok(pinned)
    }

    /// What is not as it was; or why the machine did not let that be seen.
    pub fn changes(&self, pinned: &[Pinned]) -> Result<Vec<PinnedChange>, String> {
        let changed = |file: &Pinned| {
            let standing = match self.look(&file.path) {
                Ok(standing) => standing,
                Err(error) if plain_file::is_fault(&error) => {
                    return Some(Err(format!("{} cannot be read: {error}", file.path)));
                }
                Err(error) => Standing::unreadable(&error),
            };
            if standing.state(&file.path, &file.scripts_of) == file.state {
                return None;
            }
            let how = match (&file.state, &standing) {
                (_, Standing::Nothing) => Change::Deleted,
                (PinnedState::Nothing, _) => Change::Added,
                (_, Standing::Other(kind)) => Change::Replaced { by: (*kind).to_owned() },
                (_, Standing::Link(_)) => Change::Replaced { by: "symbolic link".to_owned() },
                (PinnedState::File { hash, .. }, Standing::File { content, .. }) => {
                    self.compared(&file.path, hash, content)
                }
                (_, Standing::File { .. }) => Change::Content { losses: String::new() },
            };
            Some(Ok(PinnedChange { path: file.path.clone(), how }))
        };
        pinned.iter().filter_map(changed).collect()
    }

    /// The file of the project that a path with links in it leads to.
    fn behind_links(&self, path: &str) -> Option<String> {
        let (root, real) = (self.root.canonicalize().ok()?, self.root.join(path).canonicalize().ok()?);
        let inside = real.strip_prefix(root).ok().filter(|_| real.is_file())?;
        inside.to_str().map(str::to_owned)
    }

    fn look(&self, path: &str) -> io::Result<Standing> {
        let mut walk = Walk::from(&self.root)?;
        let Some((folder, name)) = walk.parent_of(path.as_bytes())? else { return Ok(Standing::Nothing) };
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

    fn place(&self, path: &str, hash: &str) -> PathBuf {
        self.kept.join(text::hash(format!("{path}\n{hash}").as_bytes()))
    }

    /// How a content differs: by its tests, where it is source with tests in it.
    fn compared(&self, path: &str, hash: &str, now: &[u8]) -> Change {
        let before = std::fs::read(self.place(path, hash)).unwrap_or_default();
        if before == now {
            return Change::Mode;
        }
        let losses = protect::test_losses(&String::from_utf8_lossy(&before), &String::from_utf8_lossy(now));
        Change::Content { losses }
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
    fn state(&self, path: &str, scripts_of: &[CheckId]) -> PinnedState {
        match self {
            Standing::File { executable, content } => {
                let content = protect::pinned_content(path, !scripts_of.is_empty(), content);
                PinnedState::File { executable: *executable, hash: text::hash(&content) }
            }
            Standing::Link(target) => PinnedState::Link { target: text::hex(target) },
            Standing::Other(kind) => PinnedState::Other { name: (*kind).to_owned() },
            Standing::Nothing => PinnedState::Nothing,
        }
    }
}

#[cfg(test)]
mod tests;
