//! The family of a run: who carries it, and which runs were started inside it.
//!
//! A ralph that an agent starts is no leftover of an iteration but a run of its own, a *child run*.
//! It may outlive the iteration, its parent, and whoever asks about it, so nobody is asked: each run
//! writes its process into its own folder, and into its parent's folder a record of itself.
//!
//! ```text
//! <state>/runs/<run>/process           who carries the run, and the parent's folder
//! <state>/runs/<run>/children/<child>  who carries the child, and the child's folder
//! <state>/runs/<run>/started/<run>     the same about a run that calls another one its parent
//! <state>/carried/<run>                empty: the run was carried lately
//! ```
//!
//! All hold a process's identity, so that one that crashed is known to be gone without having said
//! so, even if its number lives again. The child's folder may be another project's.
//!
//! Anybody can write such a record, so none is believed: the process must hold the lock of the run's folder, and
//! whoever is spared because of it must execute the same ralph and carry the mark of the run that it is recorded in.

mod proof;

use crate::clock::Clock;
use crate::identity::{self, Identity};
use crate::lock;
use crate::plain_file::{self, Links};
use crate::process;
use ralph_core::id::RunId;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The variable that tells an agent's processes the folder of the run that they belong to.
pub const FOLDER_VARIABLE: &str = "RALPH_RUN_DIR";
/// The variable that tells an agent, and its hooks, the root of the project in which it works.
pub const PROJECT_VARIABLE: &str = "RALPH_PROJECT_DIR";

/// The variable that names another run as the parent of what is started.
pub const PARENT_VARIABLE: &str = "RALPH_PARENT_RUN_ID";

const PROCESS: &str = "process";
const CHILDREN: &str = "children";
const STARTED: &str = "started";
const CARRIED: &str = "carried";
/// An identity and a path.
const LARGEST_RECORD: u64 = 16 << 10;
/// More generations than anybody starts; a ring of forged records must end somewhere.
const GENERATIONS: usize = 64;

/// A run that this process carries, until the value is dropped.
#[derive(Debug)]
pub struct Registration {
    folder: PathBuf,
    elsewhere: Vec<PathBuf>,
    // The kernel's lock on the folder: it ends with the process, whatever the files say.
    _lock: File,
}

/// Why a run cannot be carried.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// Another process carries it.
    #[error("another ralph carries this run: process {pid}")]
    Carried {
        /// The number of that process; 0 if it left none.
        pid: i32,
    },
    /// The run's folder cannot be locked.
    #[error(transparent)]
    Lock(#[from] lock::LockError),
    /// The run's folder or its parent's cannot be used.
    #[error("{} cannot be written: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// A living run that was started inside another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    pub run: RunId,
    pub identity: Identity,
    /// Its folder in the state directory, perhaps another project's.
    pub folder: PathBuf,
}

/// Where a run comes from, by the folders of other runs. One whose folder is not there knows of no
/// children, and nobody asks it.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    pub parent: Option<PathBuf>,
    /// The run whose agent started it. It is the parent, unless somebody said otherwise.
    pub started_in: Option<PathBuf>,
}

/// Makes this process the one that carries the run of this folder, and a child of its parent.
pub fn register(run_folder: &Path, origin: &Origin) -> Result<Registration, RegisterError> {
    make_folder(run_folder)?;
    let lock = take(run_folder)?;
    let mut registration = Registration { folder: run_folder.to_owned(), elsewhere: Vec::new(), _lock: lock };
    // A run that goes on from inside itself is not its own child.
    let known = |folder: &Option<PathBuf>| folder.clone().filter(|folder| folder != run_folder && folder.is_dir());
    let (parent, started_in) = (known(&origin.parent), known(&origin.started_in));
    let identity = Identity::of_self();
    if let Some((signs, sign)) = sign_of(run_folder) {
        make_folder(&signs)?;
        std::fs::write(&sign, "").map_err(|source| RegisterError::Io { path: sign, source })?;
    }
    Record { identity: identity.clone(), folder: parent.clone() }.put(&run_folder.join(PROCESS))?;
    forget_the_dead(run_folder);
    let started_in = started_in.filter(|folder| Some(folder) != parent.as_ref());
    let folders = [parent.map(|parent| parent.join(CHILDREN)), started_in.map(|folder| folder.join(STARTED))];
    for folder in folders.into_iter().flatten() {
        make_folder(&folder)?;
        let path = folder.join(run_folder.file_name().unwrap_or_default());
        Record { identity: identity.clone(), folder: Some(run_folder.to_owned()) }.put(&path)?;
        registration.elsewhere.push(path);
    }
    if !registration.elsewhere.is_empty() {
        process::leave_group_of_run();
    }
    Ok(registration)
}

fn make_folder(path: &Path) -> Result<(), RegisterError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| RegisterError::Io { path: path.to_owned(), source })
}

/// Locks the run's folder, or says who has it. See [`lock`] for why one without a living owner is
/// tried again.
fn take(run_folder: &Path) -> Result<File, RegisterError> {
    let waiting = Clock::start();
    loop {
        if let Some(lock) = lock::lock(lock::open_folder(run_folder), run_folder)? {
            return Ok(lock);
        }
        let holder = process_of(run_folder);
        if holder.is_some() || waiting.elapsed() >= lock::PATIENCE {
            return Err(RegisterError::Carried { pid: holder.map_or(0, |identity| identity.pid) });
        }
        std::thread::sleep(lock::POLL);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let nobody_below = self.elsewhere.is_empty() || started_below(&self.folder).is_empty();
        for record in &self.elsewhere {
            let _ = if nobody_below {
                std::fs::remove_file(record)
            } else {
                // Whoever lives below is found through it, though nobody carries this run any more.
                Record { identity: Identity::nobody(), folder: Some(self.folder.clone()) }.write(record)
            };
        }
        let _ = std::fs::remove_file(self.folder.join(PROCESS));
        // Only what nobody wrote to is removed: that of a run that never began.
        for folder in [CHILDREN, STARTED] {
            let _ = std::fs::remove_dir(self.folder.join(folder));
        }
        if std::fs::remove_dir(&self.folder).is_ok() {
            let _ = sign_of(&self.folder).map(|(_, sign)| std::fs::remove_file(sign));
        }
    }
}

/// By what a run is found that was carried lately: a folder, and a file in it.
fn sign_of(run_folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let signs = run_folder.ancestors().nth(2)?.join(CARRIED);
    Some((signs.clone(), signs.join(run_folder.file_name()?)))
}

/// The runs of a project that were carried lately and not forgotten since: every one that lives is among them, so
/// that nobody has to look through the folders of all runs that there ever were.
pub fn carried(state: &Path) -> Vec<RunId> {
    let signs = std::fs::read_dir(state.join(CARRIED)).into_iter().flatten().flatten();
    let mut found: Vec<RunId> = signs.filter_map(|sign| run_of(&sign.path())).collect();
    found.sort_unstable();
    found
}

/// Leaves out those of these runs that live no more, but for the first of them.
pub fn forget_dead(state: &Path, runs: &[RunId], kept: usize) {
    let dead = runs.iter().filter(|run| process_of(&state.join("runs").join(run.as_str())).is_none());
    dead.skip(kept).for_each(|run| forget(state, run));
}

/// Leaves a run out of those that were carried lately.
pub fn forget(state: &Path, run: &RunId) {
    // One that stays is only looked at once more.
    let _ = std::fs::remove_file(state.join(CARRIED).join(run.as_str()));
}

/// The runs that have a folder in a project's state folder, whatever the journal knows of them, in the order
/// of their names.
pub fn run_folders(state: &Path) -> Vec<(RunId, PathBuf)> {
    let folders = std::fs::read_dir(state.join("runs")).into_iter().flatten().flatten();
    let mut found: Vec<(RunId, PathBuf)> =
        folders.map(|folder| folder.path()).filter_map(|path| Some((run_of(&path)?, path))).collect();
    found.sort_unstable();
    found
}

/// The living process that carries the run of this folder.
pub fn process_of(run_folder: &Path) -> Option<Identity> {
    Record::read(&run_folder.join(PROCESS)).map(|record| record.identity).filter(Identity::is_alive)
}

/// Whether the run of this folder lives though the run inside which it was started is gone.
pub fn is_orphan(run_folder: &Path) -> bool {
    let own = Record::read(&run_folder.join(PROCESS)).filter(|record| record.identity.is_alive());
    own.and_then(|record| record.folder).is_some_and(|parent| process_of(&parent).is_none())
}

/// The nearest living runs below the run of this folder: where a child is gone before its own
/// children, they stand in its place.
pub fn live_children(run_folder: &Path) -> Vec<Child> {
    living_below(run_folder, Depth::Nearest)
}

/// The same, whomever they call their parent.
pub fn live_inside(run_folder: &Path) -> Vec<Child> {
    living_below(run_folder, Depth::NearestStarted)
}

/// All living runs below the run of this folder, each behind those that were started inside it.
pub fn live_descendants(run_folder: &Path) -> Vec<Child> {
    living_below(run_folder, Depth::All)
}

/// All runs that are spared where everything below the run of this folder is ended.
pub(crate) fn spared_below(run_folder: &Path) -> Vec<Child> {
    living_below(run_folder, Depth::Spared)
}

/// All living runs that were started inside the run of this folder, whomever they call their parent.
fn started_below(run_folder: &Path) -> Vec<Child> {
    living_below(run_folder, Depth::Started)
}

/// The runs inside which the run of this folder was started, the nearest first, as far as they live.
pub fn ancestors(run_folder: &Path) -> Vec<RunId> {
    let parent =
        |folder: &PathBuf| Record::read(&folder.join(PROCESS)).filter(|record| record.identity.is_alive())?.folder;
    let folders = std::iter::successors(parent(&run_folder.to_owned()), parent).take(GENERATIONS);
    folders.filter_map(|folder| run_of(&folder)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Nearest,
    /// The nearest, and those that call another run their parent.
    NearestStarted,
    All,
    /// All, and those that call another run their parent.
    Started,
    /// The same, as far as a process of the run itself started them.
    Spared,
}

impl Depth {
    /// Whether this process is what a record in the folder of a run says.
    fn proves(self, child: &Identity, folder: &Path, recorded_in: &Path) -> bool {
        // Only who spares itself the ending of a process must know that it is this very ralph: those who ask for all
        // may be a newer one.
        let program = self == Depth::All || proof::is_this_program(child);
        // A ralph above the run is no child of it, though it is one and everything hangs below it.
        let inside = || run_of(recorded_in).is_some_and(|run| identity::carries_mark(child.pid, &run));
        program && proof::holds_lock(child, folder) && (self != Depth::Spared || inside())
    }
}

fn living_below(run_folder: &Path, depth: Depth) -> Vec<Child> {
    fn visit(run_folder: &Path, depth: Depth, seen: &mut HashSet<(u64, u64)>, found: &mut Vec<Child>) {
        let by_anybody = !matches!(depth, Depth::Nearest | Depth::All);
        let mut all = records(run_folder, CHILDREN);
        all.extend(by_anybody.then(|| records(run_folder, STARTED)).into_iter().flatten());
        if all.is_empty() {
            return;
        }
        seen.extend(inode_of(run_folder));
        for (run, record) in all {
            // By its inode: one folder has many paths.
            let is_new = |folder: &PathBuf| inode_of(folder).is_some_and(|inode| seen.insert(inode));
            let Some(folder) = record.folder.filter(is_new) else { continue };
            // One that crashed and went on elsewhere has another process now.
            let identity = Some(record.identity).filter(Identity::is_alive).or_else(|| process_of(&folder));
            let identity = identity.filter(|identity| depth.proves(identity, &folder, run_folder));
            if identity.is_none() || !matches!(depth, Depth::Nearest | Depth::NearestStarted) {
                visit(&folder, depth, seen, found);
            }
            found.extend(identity.map(|identity| Child { run, identity, folder }));
        }
    }
    let mut found = Vec::new();
    visit(run_folder, depth, &mut HashSet::new(), &mut found);
    found
}

fn inode_of(folder: &Path) -> Option<(u64, u64)> {
    rustix::fs::stat(folder).ok().map(|stat| plain_file::inode(&stat))
}

/// Removes the records of runs that are gone and below which nobody lives. Only the run itself does
/// it, when it begins: whoever else looks may look at a record that is just being written.
fn forget_the_dead(run_folder: &Path) {
    for kind in [CHILDREN, STARTED] {
        for (run, record) in records(run_folder, kind) {
            let lives = |folder: &PathBuf| process_of(folder).is_some() || !started_below(folder).is_empty();
            if !record.identity.is_alive() && !record.folder.as_ref().is_some_and(lives) {
                let _ = std::fs::remove_file(run_folder.join(kind).join(run.as_str()));
            }
        }
    }
}

/// What is recorded about runs that were started inside a run, dead or alive, in the order of their names.
fn records(run_folder: &Path, kind: &str) -> Vec<(RunId, Record)> {
    let entries = std::fs::read_dir(run_folder.join(kind)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_unstable();
    paths.iter().filter_map(|path| Some((run_of(path)?, Record::read(path)?))).collect()
}

/// The run that a folder or a record is named after.
fn run_of(path: &Path) -> Option<RunId> {
    path.file_name()?.to_str().and_then(RunId::parse)
}

/// A process, and a folder that goes with it: a line of JSON, and the path byte for byte.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    identity: Identity,
    folder: Option<PathBuf>,
}

impl Record {
    fn put(&self, path: &Path) -> Result<(), RegisterError> {
        self.write(path).map_err(|source| RegisterError::Io { path: path.to_owned(), source })
    }

    /// Whoever reads finds all of it or nothing.
    fn write(&self, path: &Path) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(&self.identity)?;
        bytes.push(b'\n');
        bytes.extend_from_slice(self.folder.as_deref().unwrap_or(Path::new("")).as_os_str().as_bytes());
        // No run has a name with a dot, so nobody takes it for a record.
        let beside = path.with_extension(format!("{}.new", self.identity.pid));
        std::fs::write(&beside, bytes)
            .and_then(|()| std::fs::rename(&beside, path))
            .inspect_err(|_| drop(std::fs::remove_file(&beside)))
    }

    fn read(path: &Path) -> Option<Record> {
        let contents = plain_file::read(rustix::fs::CWD, path, Links::Refuse, LARGEST_RECORD).ok()?;
        let line = memchr::memchr(b'\n', &contents.bytes)?;
        let (identity, folder) = contents.bytes.split_at_checked(line)?;
        let folder = PathBuf::from(OsString::from_vec(folder.get(1..)?.to_vec()));
        let identity = serde_json::from_slice(identity).ok()?;
        Some(Record { identity, folder: Some(folder).filter(|folder| folder.is_absolute()) })
    }
}

#[cfg(test)]
mod tests;
