//! The readable files in `.ralph/`: prompts, logs, and the memory of a task.
//!
//! They are views. What counts is in the journal, so nothing here is synced to the disk, and an
//! agent that deletes or edits them confuses no one but a reader. But the agent writes in the same
//! place, so every name is opened relative to a folder that was checked, no link is followed, and
//! what stands in the way is replaced and never written through.

mod settings_file;

pub use settings_file::write_settings;

use crate::marker;
use crate::plain_file::{self, Links, inode};
use crate::process::is_open_elsewhere;
use ralph_core::activity::PromptFile;
use ralph_core::id::TaskName;
use ralph_core::memory::{self, Views};
use ralph_core::observation::Marker;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Memory is prose: more than this is not read into a prompt.
const LARGEST_VIEW: u64 = 1 << 20;
/// No model takes a longer prompt.
const LARGEST_PROMPT: u64 = 16 << 20;
/// How long one look counts at most: what follows an agent's end takes a millisecond, unless somebody keeps the
/// database locked.
const SEEN: Duration = Duration::from_millis(100);
/// What temporary files begin with; a number of the process and one of the file follow.
const TEMPORARY: &str = ".ralph-tmp-";
/// What git is told about the folder: only the settings are the project's.
const GITIGNORE: &str = "# Made by ralph: everything here is its own, but for the settings.\n*\n!settings.json\n";

/// `.ralph/` of one project, with the folder of one task in it.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    own: Held,
    task: Held,
    written: HashMap<String, String>,
    /// The file that stood under each name before, to be filled with what comes next.
    spares: HashMap<String, Spare>,
    notes: Vec<String>,
    /// When both folders were seen in their places for all that follows at once.
    seen_at: Option<Instant>,
    /// The feedback file as it stood or was written since then.
    feedback: Option<(String, String)>,
}

/// A file that was taken out of its place. Making and deleting a file for every iteration grows
/// expensive: ext4 passes over inodes that were deleted in the last minutes, one by one.
#[derive(Debug)]
struct Spare {
    name: String,
    inode: (u64, u64),
}

/// A folder that is open, and known again at its path.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    open: OwnedFd,
    inode: (u64, u64),
}

#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error("{} is a {kind}, not a directory: move it away", .path.display())]
    NotAFolder { path: PathBuf, kind: &'static str },
    /// A name that could lead elsewhere.
    #[error("`{name}` is not a plain file name: it may hold no slash and not be `.` or `..`")]
    NotAName { name: String },
    #[error("{} cannot be written: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Whether a file's content must be on the disk before its name is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Derived,
    /// A person wrote part of it and no journal has that yet.
    Irreplaceable,
}

impl Folder {
    /// Makes what is missing of `.ralph/` and of the task's folder in it.
    pub fn prepare(root: &Path, task: &TaskName) -> Result<Folder, ViewError> {
        let (own, task) = make_folders(root, task.as_str())?;
        remove_leftovers(&task.open);
        Ok(Folder::of(root, own, task))
    }

    /// The same with the task's folder somewhere else, made if only itself is missing.
    pub fn with_task_folder(root: &Path, task: &Path) -> Result<Folder, ViewError> {
        Ok(Folder::of(root, make_own_folder(root)?, make_task_folder(task)?))
    }

    /// Makes the task's folder again if somebody deleted it, and says why it cannot be used any more.
    pub fn keep_task_folder(&mut self) -> Result<(), ViewError> {
        let there = self.task.is_in_place();
        let task = make_task_folder(&self.task.path)?;
        if !there {
            self.notes.push(format!("{} was deleted or replaced; it was made again", self.task.path.display()));
            self.task = task;
        }
        Ok(())
    }

    fn of(root: &Path, own: Held, task: Held) -> Folder {
        let root = root.to_owned();
        Folder {
            root,
            own,
            task,
            written: HashMap::new(),
            spares: HashMap::new(),
            notes: Vec::new(),
            seen_at: None,
            feedback: None,
        }
    }

    pub fn task_folder(&self) -> &Path {
        &self.task.path
    }

    /// Looks after both folders once for all that follows at once. Whatever can move or delete them ends that: see
    /// [`Folder::doubt`].
    pub fn look(&mut self) -> Result<(), ViewError> {
        self.doubt();
        self.make_again_if_gone()?;
        self.seen_at = Some(Instant::now());
        Ok(())
    }

    /// Something is about to run that may move or delete the folders, so that every call looks for itself again.
    pub fn doubt(&mut self) {
        self.seen_at = None;
        self.feedback = None;
    }

    /// Whether both folders were seen in their places just now.
    fn is_sure(&self) -> bool {
        self.seen_at.is_some_and(|at| at.elapsed() < SEEN)
    }

    /// What stands at a marker's name in the task's folder.
    pub fn marker(&mut self, name: &str) -> Marker {
        match self.make_again_if_gone() {
            Ok(()) => marker::look_in(&self.task.open, name),
            Err(_) => Marker::Absent,
        }
    }

    /// Removes a marker; says whether there was one. See [`marker::remove`].
    pub fn remove_marker(&mut self, name: &str) -> io::Result<bool> {
        match self.make_again_if_gone() {
            Ok(()) => marker::remove_in(&self.task.open, &self.task.path, name),
            Err(_) => Ok(false),
        }
    }

    /// Where a log of this name is, relative to the project: what people and prompts are told.
    pub fn log_path(&self, name: &str) -> String {
        format!(".ralph/{name}")
    }

    /// What was found out of place since the last call: folders that were made again, files that could not be read.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Keeps the exact prompt of an iteration, and says where. It takes the file of the oldest prompt that is kept.
    pub fn write_prompt(&mut self, file: &PromptFile, text: &str) -> Result<PathBuf, ViewError> {
        let PromptFile { name, instead_of } = file;
        let path = self.own.path.join(name);
        self.make_again_if_gone()?;
        let folder = self.own.open.as_fd();
        let refilled = instead_of.as_ref().is_some_and(|oldest| {
            fill(folder, oldest, text.as_bytes(), |_| true).is_ok() && move_to(folder, oldest, name).is_ok()
        });
        if refilled {
            return Ok(path);
        }
        let mut file = create_fresh(folder, name).map(File::from).map_err(failed(&path))?;
        file.write_all(text.as_bytes()).map_err(|source| {
            // Half a prompt would be taken for the prompt.
            _ = rustix::fs::unlinkat(folder, name.as_str(), AtFlags::empty());
            failed(&path)(source)
        })?;
        Ok(path)
    }

    /// A new, empty log; one of the same name from an iteration that is repeated is replaced.
    pub fn create_log(&mut self, name: &str) -> Result<File, ViewError> {
        self.make_again_if_gone()?;
        let path = self.own.path.join(plain(name)?);
        create_fresh(self.own.open.as_fd(), name).map(File::from).map_err(failed(&path))
    }

    /// Writes summary, feedback and state, each whole or not at all. What people wrote into the
    /// feedback and no prompt has carried yet stays there. One failure does not keep the others.
    pub fn write_views(&mut self, views: &Views) -> Result<(), ViewError> {
        self.make_again_if_gone()?;
        let summary = self.replace(&views.summary.0, &views.summary.1, Content::Derived);
        let feedback = self.write_feedback(views);
        let state = self.replace(&views.state.0, &views.state.1, Content::Derived);
        summary.and(feedback).and(state)
    }

    /// The summary that this or an earlier run left; empty, with a note, if it is no file of a sensible size.
    pub fn read_summary(&mut self, name: &str) -> String {
        self.read_if_there(name)
    }

    /// The feedback file with what people wrote; read like the summary, unless it was just written.
    pub fn read_feedback(&mut self, name: &str) -> String {
        match self.feedback.take() {
            Some((written, text)) if written == name && self.is_sure() => text,
            _ => self.read_if_there(name),
        }
    }

    fn read_if_there(&mut self, name: &str) -> String {
        if let Err(error) = self.make_again_if_gone() {
            self.notes.push(error.to_string());
            return String::new();
        }
        self.read(name).0
    }

    fn write_feedback(&mut self, views: &Views) -> Result<(), ViewError> {
        let (name, part) = &views.feedback;
        self.feedback = None;
        let (now, complete) = self.read(name);
        // Writing what was not read whole would throw a person's text away.
        if !complete {
            return Ok(());
        }
        let text = memory::merge_feedback(&now, &views.seen_human, part);
        if text != now {
            let unseen = !memory::human_feedback(&text).is_empty();
            self.replace(name, &text, if unseen { Content::Irreplaceable } else { Content::Derived })?;
        }
        self.feedback = Some((name.clone(), text));
        Ok(())
    }

    fn read(&mut self, name: &str) -> (String, bool) {
        let path = self.task.path.join(name);
        let read = match plain(name) {
            Ok(name) => plain_file::read(&self.task.open, name, Links::Refuse, LARGEST_VIEW),
            Err(error) => Err(io::Error::other(error)),
        };
        match read {
            Ok(contents) => {
                if !contents.complete {
                    self.notes.push(format!("{} is larger than 1 MiB: the rest was not read", path.display()));
                }
                (String::from_utf8_lossy(&contents.bytes).into_owned(), contents.complete)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => (String::new(), true),
            Err(error) => {
                self.notes.push(format!("{} was taken as empty: {error}", path.display()));
                (String::new(), true)
            }
        }
    }

    fn replace(&mut self, name: &str, text: &str, content: Content) -> Result<(), ViewError> {
        let folder = self.task.open.as_fd();
        let path = self.task.path.join(plain(name)?);
        let stands = || plain_file::read(folder, name, Links::Refuse, LARGEST_VIEW);
        if self.written.get(name).is_some_and(|last| last == text)
            && stands().is_ok_and(|at| at.bytes == text.as_bytes())
        {
            return Ok(());
        }
        self.written.remove(name);
        let spare = self.spares.remove(name).filter(|spare| spare.fill(folder, text.as_bytes()).is_ok());
        let temporary = match spare {
            Some(spare) => spare.name,
            None => write_temporary(folder, text.as_bytes()).map_err(failed(&path))?,
        };
        match put(folder, &temporary, name, content) {
            Ok(spare) => self.spares.extend(spare.map(|spare| (name.to_owned(), spare))),
            Err(errno) => {
                _ = rustix::fs::unlinkat(folder, temporary.as_str(), AtFlags::empty());
                return Err(failed(&path)(errno.into()));
            }
        }
        self.written.insert(name.to_owned(), text.to_owned());
        Ok(())
    }

    /// Two calls tell whether both folders are still where they were; an agent may have deleted them.
    fn make_again_if_gone(&mut self) -> Result<(), ViewError> {
        if self.is_sure() || self.own.is_in_place() && self.task.is_in_place() {
            return Ok(());
        }
        let task = self.task.path.file_name().unwrap_or_default().to_owned();
        let gone = if self.own.is_in_place() { &self.task.path } else { &self.own.path };
        let note = format!("{} was deleted or replaced; it was made again", gone.display());
        let (own, task) = make_folders(&self.root, &task.to_string_lossy())?;
        (self.own, self.task) = (own, task);
        self.spares.clear();
        self.notes.push(note);
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for spare in self.spares.values() {
            _ = rustix::fs::unlinkat(&self.task.open, spare.name.as_str(), AtFlags::empty());
        }
    }
}

impl Spare {
    /// The file of this temporary name, if it is a plain one that stands nowhere else.
    fn at(folder: BorrowedFd<'_>, name: &str) -> Option<Spare> {
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        is_alone(&stat).then(|| Spare { name: name.to_owned(), inode: inode(&stat) })
    }

    /// Writes into it, if it is still the same: an agent may have put something else there.
    fn fill(&self, folder: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
        fill(folder, &self.name, bytes, |found| found == self.inode)
    }
}

/// Writes into a file that is no more needed as it is, if it is the one that is meant and nobody has it under another
/// name or open: somebody may still read what it held. What cannot be used is in nobody's way, and is removed.
fn fill(folder: BorrowedFd<'_>, name: &str, bytes: &[u8], is_meant: impl Fn((u64, u64)) -> bool) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let filled = rustix::fs::openat(folder, name, flags, Mode::empty()).and_then(|open| {
        let stat = rustix::fs::fstat(&open)?;
        if !is_meant(inode(&stat)) || !is_alone(&stat) || is_open_elsewhere(&open) {
            return Err(Errno::EXIST);
        }
        let mut file = File::from(open);
        file.write_all(bytes).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let length = bytes.len() as u64;
        if stat.st_size.cast_unsigned() > length { rustix::fs::ftruncate(&file, length) } else { Ok(()) }
    });
    filled.inspect_err(|_| _ = rustix::fs::unlinkat(folder, name, AtFlags::empty()))?;
    Ok(())
}

/// Gives a file another name; what stands there, left by another run, goes.
fn move_to(folder: BorrowedFd<'_>, from: &str, to: &str) -> Result<(), Errno> {
    let remove = || rustix::fs::unlinkat(folder, from, AtFlags::empty());
    let moved = rename_new(folder, from, to).or_else(|errno| match errno {
        Errno::EXIST => exchange(folder, from, to).and_then(|()| remove()),
        other => Err(other),
    });
    // Under its old name it would be taken for the old prompt.
    moved.inspect_err(|_| _ = remove())
}

impl Held {
    fn is_in_place(&self) -> bool {
        rustix::fs::lstat(&self.path).is_ok_and(|stat| inode(&stat) == self.inode)
    }

    /// Opens the folder `name` in `parent`, making it first if it is missing.
    fn make(parent: BorrowedFd<'_>, name: &str, path: PathBuf) -> Result<Held, ViewError> {
        let open = plain_file::open_folder(parent, name).or_else(|errno| match errno {
            Errno::NOENT => match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => plain_file::open_folder(parent, name),
                Err(errno) => Err(errno),
            },
            other => Err(other),
        });
        match open {
            Ok(open) => {
                let inode = rustix::fs::fstat(&open).map(|stat| inode(&stat)).unwrap_or_default();
                Ok(Held { path, open, inode })
            }
            Err(Errno::LOOP | Errno::NOTDIR) => {
                let kind = plain_file::kind_at(&path).unwrap_or("file");
                Err(ViewError::NotAFolder { path, kind })
            }
            Err(errno) => Err(failed(&path)(errno.into())),
        }
    }
}

/// Reads the prompt file that a person named, following links; every fault is a sentence.
pub fn read_prompt_file(path: &Path) -> Result<String, String> {
    let refuse = |why: &str| format!("the prompt file {} {why}", path.display());
    let contents = plain_file::read(CWD, path, Links::Follow, LARGEST_PROMPT).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => refuse("does not exist"),
        _ => refuse(&format!("cannot be read: {error}")),
    })?;
    if !contents.complete {
        return Err(refuse("is larger than 16 MiB"));
    }
    let text = String::from_utf8(contents.bytes)
        .map_err(|error| refuse(&format!("is not UTF-8: look at byte {}", error.utf8_error().valid_up_to() + 1)))?;
    if text.trim_start_matches('\u{feff}').trim().is_empty() { Err(refuse("is empty")) } else { Ok(text) }
}

/// Makes what is missing of `.ralph/`, and of a task's folder in it. The caller need not own the work tree.
pub fn make_folder(root: &Path, task: Option<&TaskName>) -> Result<(), ViewError> {
    match task {
        Some(task) => make_folders(root, task.as_str()).map(drop),
        None => make_own_folder(root).map(drop),
    }
}

fn make_folders(root: &Path, task: &str) -> Result<(Held, Held), ViewError> {
    let own = make_own_folder(root)?;
    let tasks = Held::make(own.open.as_fd(), "tasks", own.path.join("tasks"))?;
    let task = Held::make(tasks.open.as_fd(), plain(task)?, tasks.path.join(task))?;
    Ok((own, task))
}

/// A task's folder in which files can be made; only itself is made if it is missing.
fn make_task_folder(path: &Path) -> Result<Held, ViewError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let open = rustix::fs::open(parent, flags, Mode::empty()).map_err(|errno| failed(parent)(errno.into()))?;
    let task = Held::make(open.as_fd(), plain(name)?, path.to_owned())?;
    rustix::fs::accessat(&task.open, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
        .map_err(|errno| failed(&task.path)(errno.into()))?;
    Ok(task)
}

/// `.ralph/` with its rules for git.
fn make_own_folder(root: &Path) -> Result<Held, ViewError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root_open = rustix::fs::open(root, flags, Mode::empty()).map_err(|errno| failed(root)(errno.into()))?;
    let own = Held::make(root_open.as_fd(), ".ralph", root.join(".ralph"))?;
    // A project that has its own rules keeps them.
    if let Err(Errno::NOENT) = rustix::fs::statat(&own.open, ".gitignore", AtFlags::SYMLINK_NOFOLLOW) {
        let path = own.path.join(".gitignore");
        let written = create_fresh(own.open.as_fd(), ".gitignore").map(File::from);
        written.and_then(|mut file| file.write_all(GITIGNORE.as_bytes())).map_err(failed(&path))?;
    }
    Ok(own)
}

/// Removes temporary files of dead processes: the caller owns the work tree, so nobody else writes here.
fn remove_leftovers(folder: &OwnedFd) {
    let own = format!("{TEMPORARY}{}-", std::process::id());
    let Ok(entries) = rustix::fs::Dir::read_from(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_bytes();
        if name.starts_with(TEMPORARY.as_bytes()) && !name.starts_with(own.as_bytes()) {
            _ = rustix::fs::unlinkat(folder, entry.file_name(), AtFlags::empty());
        }
    }
}

/// Creates a file that was not there: a link, pipe or hard link of that name is removed, not used.
fn create_fresh(folder: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let create = || rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o644));
    Ok(create().or_else(|errno| match errno {
        Errno::EXIST => rustix::fs::unlinkat(folder, name, AtFlags::empty()).and_then(|()| create()),
        other => Err(other),
    })?)
}

/// Writes a file under a name that nobody else uses.
fn write_temporary(folder: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<String> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // A number is used once per process, and what a dead process of the same number left is replaced.
    let name = format!("{TEMPORARY}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let mut file = File::from(create_fresh(folder, &name)?);
    file.write_all(bytes).inspect_err(|_| _ = rustix::fs::unlinkat(folder, name.as_str(), AtFlags::empty()))?;
    Ok(name)
}

/// Replaces a file that nobody has another copy of: what it holds is on the disk before its name is. It keeps the mode
/// of the one that stood there.
pub(crate) fn put_durably(folder: BorrowedFd<'_>, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mode = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        // A folder under this name is somebody's mistake, and not ours to throw away.
        Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_dir() => return Err(Errno::ISDIR.into()),
        Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_file() => Some(Mode::from_raw_mode(stat.st_mode)),
        Ok(_) | Err(_) => None,
    };
    let temporary = write_temporary(folder, bytes)?;
    let put = || -> io::Result<()> {
        let written = plain_file::open(folder, temporary.as_str(), Links::Refuse)?;
        mode.map(|mode| rustix::fs::fchmod(&written, mode)).transpose()?;
        written.sync_all()?;
        Ok(rustix::fs::renameat(folder, temporary.as_str(), folder, name)?)
    };
    put().inspect_err(|_| _ = rustix::fs::unlinkat(folder, temporary.as_str(), AtFlags::empty()))
}

/// Puts the temporary file in its place, and returns the one that stood there if it can be used again: ext4 writes
/// content out at once when a rename replaces a file, which takes a millisecond, but not when two are exchanged.
fn put(folder: BorrowedFd<'_>, temporary: &str, name: &str, content: Content) -> Result<Option<Spare>, Errno> {
    if content == Content::Derived && exchange(folder, temporary, name).is_ok() {
        if let Some(spare) = Spare::at(folder, temporary) {
            return Ok(Some(spare));
        }
        return rustix::fs::unlinkat(folder, temporary, AtFlags::empty()).map(|()| None).inspect_err(|_| {
            // Only a folder cannot be removed like this: it goes back.
            _ = exchange(folder, temporary, name);
        });
    }
    rustix::fs::renameat(folder, temporary, folder, name).map(|()| None)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_new(folder: BorrowedFd<'_>, from: &str, to: &str) -> Result<(), Errno> {
    rustix::fs::renameat_with(folder, from, folder, to, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_new(_: BorrowedFd<'_>, _: &str, _: &str) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(folder: BorrowedFd<'_>, temporary: &str, name: &str) -> Result<(), Errno> {
    rustix::fs::renameat_with(folder, temporary, folder, name, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_: BorrowedFd<'_>, _: &str, _: &str) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// One name in one folder.
fn plain(name: &str) -> Result<&str, ViewError> {
    let leads_elsewhere = matches!(name, "" | "." | "..") || name.contains(['/', '\0']);
    if leads_elsewhere { Err(ViewError::NotAName { name: name.to_owned() }) } else { Ok(name) }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> ViewError {
    |source| ViewError::Io { path: path.to_owned(), source }
}

fn is_alone(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode).is_file() && stat.st_nlink == 1
}

#[cfg(test)]
mod tests;
