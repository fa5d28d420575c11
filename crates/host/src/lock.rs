//! One loop per work tree.
//!
//! The lock is the kernel's (`flock`): it ends with the process that holds it, so that nothing left
//! behind by a crash is ever in the way, and the text in the file is for people only. Two things are
//! locked, a file and a folder beside it: whoever deletes one of them while the lock is held still
//! lets nobody in, and the holder notices and puts it back.
//!
//! A lock of this kind belongs to the open file, and a forked child shares that. Both descriptors
//! close on exec, so a child can keep the lock only between its fork and its exec. If ralph is killed
//! within that instant, the next one finds a lock whose owner is dead, and tries again for a time
//! that is far longer before it believes that.
//!
//! A child run works in the tree of its ancestor as a *guest*, without a lock. When the ancestor is
//! gone, whichever of its guests looks first owns the tree in its place, and the others stay guests:
//! a newcomer is still refused, though the family may have several who work there.

use crate::clock::Clock;
use crate::identity::Identity;
use crate::plain_file::{self, Links};
use ralph_core::id::RunId;
use ralph_core::text;
use ralph_core::time::{Millis, WallTime};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a lock without a living owner is tried again: its text is not written yet, or a dying
/// child still shares it. Refusing takes no longer than twice this.
pub(crate) const PATIENCE: Millis = Millis(100);
pub(crate) const POLL: Duration = Duration::from_millis(5);
/// Far more than an owner's text needs.
const LARGEST_TEXT: u64 = 64 << 10;

/// A work tree that this process may work in until the value is dropped: its own, or an ancestor's.
#[derive(Debug)]
pub struct WorkTreeLock {
    places: Places,
    owner: Owner,
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    file: Part,
    folder: Part,
}

/// One of the two that are locked, and known again at its path: what is open stays what it is.
#[derive(Debug)]
struct Part {
    open: File,
    inode: Option<(u64, u64)>,
}

impl Part {
    fn of(open: File) -> Part {
        Part { inode: open.metadata().ok().map(|meta| (meta.dev(), meta.ino())), open }
    }

    fn is_at(&self, path: &Path) -> bool {
        self.inode.is_some() && path.symlink_metadata().ok().map(|found| (found.dev(), found.ino())) == self.inode
    }
}

/// Who owns a work tree, as far as people want to know; by default a lock whose text says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Owner {
    #[serde(flatten)]
    pub identity: Identity,
    pub host: String,
    pub run: Option<RunId>,
    pub since: WallTime,
    pub command: String,
    /// The run as whose guest it worked here, if it did: it owns the tree in that run's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heir_of: Option<RunId>,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another ralph owns this work tree: {0}")]
    Held(Box<Owner>),
    #[error("{} cannot be locked ({source}): set RALPH_STATE_DIR to a folder on a local disk", .path.display())]
    Unsupported { path: PathBuf, source: io::Error },
    #[error("{} cannot be opened for locking: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// What the holder finds when it looks at its own lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Firm,
    /// Its ancestor is gone, and the tree is its own now.
    Inherited,
    /// Its ancestor is gone, and somebody else was quicker.
    Taken(Box<Owner>),
    /// A part was deleted. The other part kept everybody out, and the deleted one is back.
    Mended,
    /// Both parts were deleted: another ralph may have come in, so this one must stop.
    Lost,
}

impl WorkTreeLock {
    /// Takes the work tree, or says at once who has it.
    pub fn take(locks_folder: &Path, work_tree: &Path, owner: &Owner) -> Result<WorkTreeLock, LockError> {
        let places = Places::of(locks_folder, work_tree)?;
        let waiting = Clock::start();
        loop {
            if let Some(held) = places.try_take()? {
                let lock = WorkTreeLock { places, owner: owner.clone(), held: Some(held) };
                lock.write_text();
                return Ok(lock);
            }
            let holder = places.read_owner();
            let alive = holder.as_ref().is_some_and(|owner| owner.identity.is_alive());
            if alive || waiting.elapsed() >= PATIENCE {
                return Err(LockError::Held(Box::new(holder.unwrap_or_default())));
            }
            std::thread::sleep(POLL);
        }
    }

    pub fn join(
        locks_folder: &Path,
        work_tree: &Path,
        owner: Owner,
        ancestor: RunId,
    ) -> Result<WorkTreeLock, LockError> {
        let places = Places::of(locks_folder, work_tree)?;
        Ok(WorkTreeLock { places, owner: Owner { heir_of: Some(ancestor), ..owner }, held: None })
    }

    /// Whether it works in a tree that an ancestor owns.
    pub fn is_guest(&self) -> bool {
        self.held.is_none()
    }

    /// Looks whether both parts, or a guest's ancestor, are still there, and puts a deleted part back.
    pub fn check(&mut self) -> Standing {
        let Some(held) = &mut self.held else { return self.check_as_guest() };
        match (held.file.is_at(&self.places.file), held.folder.is_at(&self.places.folder)) {
            (true, true) => return Standing::Firm,
            (false, false) => return Standing::Lost,
            // A contender may hold the new part for an instant; then it is taken at the next look.
            (false, true) => {
                if let Ok(Some(file)) = lock(open_file(&self.places.file), &self.places.file) {
                    held.file = Part::of(file);
                }
            }
            (true, false) => {
                if let Ok(Some(folder)) = lock(open_folder(&self.places.folder), &self.places.folder) {
                    held.folder = Part::of(folder);
                }
            }
        }
        self.write_text();
        Standing::Mended
    }

    fn check_as_guest(&mut self) -> Standing {
        // A disk that refuses now is asked again at the next look.
        if let Ok(Some(held)) = self.places.try_take() {
            self.held = Some(held);
            self.write_text();
            return Standing::Inherited;
        }
        let stranger = |holder: &Owner| ![&holder.run, &holder.heir_of].contains(&&self.owner.heir_of);
        match self.places.read_owner().filter(|holder| holder.identity.is_alive()) {
            Some(holder) if stranger(&holder) => Standing::Taken(Box::new(holder)),
            _ => Standing::Firm,
        }
    }

    /// The text is information: a full disk must not keep anybody from working.
    fn write_text(&self) {
        let Some(held) = &self.held else { return };
        let text = serde_json::to_vec(&self.owner).unwrap_or_default();
        let write = |mut file: &File| {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(&text)
        };
        _ = write(&held.file.open);
        // The copy in the folder names the owner to whoever finds the lock file deleted.
        _ = open_file(&self.places.copy()).and_then(|copy| write(&copy));
    }
}

impl Drop for WorkTreeLock {
    /// Only the text goes. Deleting a lock file would let two others lock two different files.
    fn drop(&mut self) {
        let Some(held) = &self.held else { return };
        if held.folder.is_at(&self.places.folder) {
            _ = std::fs::remove_file(self.places.copy());
        }
        _ = held.file.open.set_len(0);
    }
}

/// Who works in this tree now, without touching the lock: for showing, not for deciding.
pub fn owner(locks_folder: &Path, work_tree: &Path) -> Option<Owner> {
    let places = Places::of(locks_folder, work_tree).ok()?;
    places.read_owner().filter(|owner| owner.identity.is_alive())
}

/// A lock that somebody holds although the process that it names cannot be seen here, as from within a namespace of
/// processes of its own.
pub(crate) fn held_by_nobody_here(locks_folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(locks_folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut locks = entries.filter(|path| path.extension().is_some_and(|ending| ending == "lock"));
    locks.find(|path| {
        let waiting = Clock::start();
        loop {
            let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
            let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
            // Shared, so that whoever takes it meanwhile finds it held for an instant at most.
            let held = opened.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
            let places = Places { file: path.clone(), folder: path.with_extension("d") };
            if !held || places.read_owner().is_some_and(|owner| owner.identity.is_alive()) {
                return false;
            }
            if waiting.elapsed() >= PATIENCE {
                return true;
            }
            std::thread::sleep(POLL);
        }
    })
}

impl Owner {
    pub fn this_process(run: Option<RunId>, since: WallTime, command: String) -> Owner {
        Owner { identity: Identity::of_self(), host: host_name(), run, since, command, heir_of: None }
    }
}

/// `process 12 on host (run ab12): ralph run -p x`, with the unknown parts left out.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.identity.pid == 0 {
            return f.write_str("its owner left no name");
        }
        write!(f, "process {}", self.identity.pid)?;
        if !self.host.is_empty() {
            write!(f, " on {}", text::for_terminal(&self.host))?;
        }
        if let Some(run) = &self.run {
            write!(f, " (run {run})")?;
        }
        if !self.command.is_empty() {
            write!(f, ": {}", text::for_terminal(&self.command))?;
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Places {
    file: PathBuf,
    folder: PathBuf,
}

impl Places {
    /// Named by the real path, so that every way to the same tree meets the same lock.
    fn of(locks_folder: &Path, work_tree: &Path) -> Result<Places, LockError> {
        let failed = |source| LockError::Io { path: work_tree.to_owned(), source };
        let real = work_tree.canonicalize().map_err(failed)?;
        let hash = text::hash(real.as_os_str().as_encoded_bytes());
        let name = text::prefix(&hash, 32);
        Ok(Places { file: locks_folder.join(format!("{name}.lock")), folder: locks_folder.join(format!("{name}.d")) })
    }

    fn copy(&self) -> PathBuf {
        self.folder.join("owner.json")
    }

    fn try_take(&self) -> Result<Option<Held>, LockError> {
        if let Some(locks_folder) = self.file.parent() {
            let failed = |source| LockError::Io { path: locks_folder.to_owned(), source };
            DirBuilder::new().recursive(true).mode(0o700).create(locks_folder).map_err(failed)?;
        }
        let Some(file) = lock(open_file(&self.file), &self.file)?.map(Part::of) else { return Ok(None) };
        Ok(lock(open_folder(&self.folder), &self.folder)?.map(|folder| Held { file, folder: Part::of(folder) }))
    }

    fn read_owner(&self) -> Option<Owner> {
        [self.file.clone(), self.copy()].iter().find_map(|path| {
            let contents = plain_file::read(rustix::fs::CWD, path, Links::Refuse, LARGEST_TEXT).ok()?;
            let mut owner: Owner = serde_json::from_slice(&contents.bytes).ok()?;
            owner.run = owner.run.and_then(|run| RunId::parse(run.as_str()));
            owner.heir_of = owner.heir_of.and_then(|run| RunId::parse(run.as_str()));
            Some(owner)
        })
    }
}

fn open_file(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(path)
}

/// Opens a folder that is no link, to be locked; makes it if it is missing.
pub(crate) fn open_folder(path: &Path) -> io::Result<File> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_DIRECTORY).open(path),
    }
}

/// Locks a folder itself, for those who look for its lock elsewhere; `None` if somebody else has it.
pub fn hold(folder: &Path) -> Result<Option<File>, LockError> {
    lock(open_folder(folder), folder)
}

/// Locks what was opened; `None` if somebody else has it or it was deleted meanwhile.
pub(crate) fn lock(opened: io::Result<File>, path: &Path) -> Result<Option<File>, LockError> {
    let file = opened.map_err(|source| LockError::Io { path: path.to_owned(), source })?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Part::of(file)).filter(|part| part.is_at(path)).map(|part| part.open)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(LockError::Unsupported { path: path.to_owned(), source }),
    }
}

fn host_name() -> String {
    let name =
        ["/proc/sys/kernel/hostname", "/etc/hostname"].iter().find_map(|path| std::fs::read_to_string(path).ok());
    name.unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests;
