//! Processes: the only place that starts one.
//!
//! # Theory of operation
//!
//! Agents run their tools in sessions of their own, daemonise, and ignore signals, so a process
//! group is not enough to find what they started. And ralph itself may be killed at any moment.
//! Both are answered by a third process, the *keeper*: a small re-exec of the ralph binary that
//! stands between ralph and everything it starts.
//!
//! ```text
//! ralph ──socket── keeper ─┬─ agent (own session)
//!   (subreaper)  (subreaper)└─ whatever lost its parent
//! ```
//!
//! * The keeper is the parent of every agent and check, and a subreaper: a process below it that
//!   loses its parent becomes the keeper's child. So "no child left" means "no descendant left",
//!   and one `waitpid` answers it without a helper process or a look at `/proc`.
//! * A process costs one request and one answer: that it has ended, and whether it left anything. That it did not
//!   start is an answer too, so nobody waits for a start.
//! * If ralph dies, the socket ends, and the keeper ends the whole tree and itself.
//! * If the keeper dies, everything below it becomes ralph's own (ralph is a subreaper too); ralph
//!   ends it and starts another keeper.
//! * If both die at once, what is left carries the run's id in its environment and lies in the
//!   run's cgroup where there is one; the next resume ends it before anything else.
//!
//! * A run that was started inside this one is no leftover. Its processes hang below the keeper, and
//!   its ralph carries this run's id in its environment; but it has registered (see [`crate::child_runs`]),
//!   which the kernel confirms, and is spared with everything below it by all of the above, each of which reads the
//!   records itself: ralph may be dead by then. Only an agent has child runs: a check, git and a hook have none. What lives on is told in the facts, and loses its parent when
//!   the keeper ends.
//!
//! `ralph` talks to the keeper through [`Keeper`]; one process's life is [`drive::drive`].

mod cgroup;
pub mod drive;
mod find;
pub mod isolation;
mod keeper;
mod protocol;
mod quick;
mod spared;
mod sys;
mod talk;
mod tree;
mod watched;
mod work;

pub use find::find_program;
pub use keeper::keeper_main;
pub(crate) use protocol::path;
pub use quick::ask_quickly;
pub(crate) use spared::Spared;
pub(crate) use sys::{is_open_elsewhere, unblock_signals};
#[cfg(target_os = "linux")]
pub(crate) use sys::{memory, unshare_mounts, watch};
pub use talk::talk;
#[cfg(target_os = "linux")]
pub(crate) use tree::parent_of;
pub(crate) use tree::{is_keeper, signal as signal_process};
pub use watched::watch_main;

use crate::child_runs::{self, Child};
use protocol::{Answer, Decoder, Reply, Request};
use ralph_core::id::RunId;
use ralph_core::observation::{Leaked, StartFault};
use rustix::process::Signal;
use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{SignalKind, signal};

/// Living processes whose program's name begins like this and whose folder is `here`, or cannot be told.
pub(crate) fn working_in(here: &dyn Fn(&Path) -> bool, name: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let works_here = |pid: &i32| {
        let folder = Path::new("/proc").join(pid.to_string());
        let is_it = std::fs::read_to_string(folder.join("comm")).is_ok_and(|comm| comm.starts_with(name));
        // A process that has just ended has no folder; one of another user does not tell.
        is_it
            && match std::fs::read_link(folder.join("cwd")) {
                Ok(cwd) => here(&cwd),
                Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
            }
    };
    pids.filter(works_here).collect()
}

/// The members of a run's control groups, whoever their keeper was.
pub(crate) fn in_groups_of(run: &RunId) -> Vec<i32> {
    cgroup::folders(run).iter().flat_map(|folder| cgroup::members(folder)).collect()
}

/// Removes the control groups of a run in which nobody is left.
pub(crate) fn remove_empty_groups_of(run: &RunId) {
    for folder in cgroup::folders(run) {
        // One that is not empty cannot be removed.
        let _ = std::fs::remove_dir(folder);
    }
}

/// Whether this process is in the control group of a run.
pub(crate) fn is_in_group_of_a_run() -> bool {
    cgroup::is_inside_one()
}

/// Leaves the control group of the run inside which this process was started.
pub(crate) fn leave_group_of_run() {
    cgroup::leave_foreign();
}

/// The hidden first argument that makes the binary a keeper.
pub const KEEPER_ARGUMENT: &str = "__keeper";

/// The running binary, even if its file was replaced meanwhile.
const SELF: &str = "/proc/self/exe";

pub(crate) fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from(SELF)) } else { std::env::current_exe() }
}

/// How long the keeper may take to end what is left of a run.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program, by name or path.
    pub program: OsString,
    pub args: Vec<OsString>,
    pub folder: PathBuf,
    /// Variables to set, beyond what ralph itself was started with.
    pub set: Vec<(OsString, OsString)>,
    pub remove: Vec<OsString>,
    /// Whether runs that it starts are child runs, which may outlive it.
    pub starts_runs: bool,
}

/// Why nothing could be started.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The keeper itself did not start.
    #[error("the keeper process could not be started")]
    NoKeeper(#[source] io::Error),
    /// The keeper is gone, or does not answer.
    #[error("the keeper process was killed or does not answer")]
    KeeperLost,
    /// The program did not start.
    #[error("{reason}")]
    NotStarted { reason: String, fault: StartFault },
}

/// What is known when a process tree has been ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Ended {
    count: u32,
    leaked: Vec<Leaked>,
}

/// Whose processes a keeper watches over.
#[derive(Debug, Clone)]
struct Charge {
    /// The binary that becomes the keeper.
    program: PathBuf,
    run: RunId,
    /// The run's folder, where its child runs register; `None` for what can have none.
    folder: Option<PathBuf>,
}

/// ralph's end of the socket to the keeper; restarts it if it was lost.
#[derive(Debug)]
pub struct Keeper {
    charge: Charge,
    spared: Spared,
    alive: Option<Alive>,
    /// Those of the next process that has three.
    pipes: Option<drive::Fresh>,
}

#[derive(Debug)]
struct Alive {
    socket: AsyncFd<UnixStream>,
    decoder: Decoder,
    process: std::process::Child,
    /// The number of the next answer.
    next_answer: u64,
    /// How many processes it was asked to start.
    spawns: u64,
    /// Tells when the keeper is stopped.
    child_signals: tokio::signal::unix::Signal,
}

impl Keeper {
    /// Starts the keeper of a run, which spares the child runs that register in the run's folder.
    pub fn start(run: &RunId, run_folder: &Path) -> Result<Keeper, ProcessError> {
        Keeper::start_for(Charge {
            program: own_program().map_err(ProcessError::NoKeeper)?,
            run: run.clone(),
            folder: Some(run_folder.to_owned()),
        })
    }

    /// Starts the keeper of something that is no run; it spares nobody.
    pub fn start_alone(name: &RunId) -> Result<Keeper, ProcessError> {
        Keeper::start_for(Charge {
            program: own_program().map_err(ProcessError::NoKeeper)?,
            run: name.clone(),
            folder: None,
        })
    }

    /// The same for a process that is not ralph itself, as a test is: `program` is. It has other children, so that
    /// orphans must not become its own.
    pub fn start_from(program: &Path, name: &RunId) -> Result<Keeper, ProcessError> {
        let charge = Charge { program: program.to_owned(), run: name.clone(), folder: None };
        let alive = Alive::start(&charge).map_err(ProcessError::NoKeeper)?;
        Ok(Keeper { charge, spared: Spared::default(), alive: Some(alive), pipes: None })
    }

    /// None at all, for tests: a keeper is the binary, which they are not.
    #[cfg(test)]
    pub(crate) fn absent() -> Keeper {
        let charge = Charge { program: PathBuf::new(), run: RunId::from_random(0), folder: None };
        Keeper { charge, spared: Spared::default(), alive: None, pipes: None }
    }

    #[cfg(test)]
    pub(crate) fn is_absent(&self) -> bool {
        self.alive.is_none()
    }

    fn start_for(charge: Charge) -> Result<Keeper, ProcessError> {
        // Orphans of a lost keeper must become ours, or nobody could find them.
        tree::become_subreaper();
        let alive = Alive::start(&charge).map_err(ProcessError::NoKeeper)?;
        Ok(Keeper { spared: Spared::of(charge.folder.clone()), charge, alive: Some(alive), pipes: None })
    }

    /// The runs that were started inside this one and live now, the nearest ones.
    pub fn child_runs(&self) -> Vec<Child> {
        self.charge.folder.as_deref().map(child_runs::live_inside).unwrap_or_default()
    }

    /// Asks for a process. That it did not start, or that it has ended, is told by [`Keeper::reply`].
    fn spawn(&mut self, command: &Command, ends: [OwnedFd; 3]) -> Result<(), ProcessError> {
        let alive = match &mut self.alive {
            Some(alive) => alive,
            lost => lost.insert(Alive::start(&self.charge).map_err(ProcessError::NoKeeper)?),
        };
        alive.spawns += 1;
        self.spared.begin(command.starts_runs);
        match alive.send(&Request::Spawn(Cow::Borrowed(command)), &[ends[0].as_fd(), ends[1].as_fd(), ends[2].as_fd()])
        {
            Ok(()) => Ok(()),
            Err(_) => Err(self.lose()),
        }
    }

    /// Asks the keeper for something; the answer comes by [`Keeper::reply`].
    fn ask(&mut self, request: &Request<'_>) -> Result<(), ProcessError> {
        match &mut self.alive {
            Some(alive) if alive.send(request, &[]).is_ok() => Ok(()),
            _ => Err(self.lose()),
        }
    }

    /// The next answer.
    async fn reply(&mut self) -> Result<Reply, ProcessError> {
        let Some(alive) = &mut self.alive else { return Err(ProcessError::KeeperLost) };
        match alive.receive().await {
            Ok(reply) => Ok(reply),
            Err(_) => Err(self.lose()),
        }
    }

    /// The keeper is gone: everything it watched over is now below ralph and is ended here.
    fn lose(&mut self) -> ProcessError {
        if let Some(mut alive) = self.alive.take() {
            let _ = alive.process.kill();
            let _ = alive.process.wait();
            tree::end_own_children(&self.spared, Duration::from_secs(2));
            self.remove_groups();
        }
        ProcessError::KeeperLost
    }

    /// Ends the keeper, and with it whatever it still watches over.
    pub fn close(mut self) {
        if let Some(alive) = self.alive.take() {
            // A keeper that does not hear it leaves the group by itself.
            let _ = alive.send(&Request::Farewell, &[]);
            let Alive { socket, mut process, .. } = alive;
            drop(socket);
            // Nobody listens any more for the news that an agent stopped it.
            tree::signal(process.id().cast_signed(), Signal::CONT);
            // It ends what is left and then itself; a process that the kernel cannot end must not hold ralph.
            let deadline = Instant::now() + CLOSE_PATIENCE;
            while matches!(process.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
            self.remove_groups();
        }
    }

    fn remove_groups(&self) {
        cgroup::remove(&self.charge.run, || self.spared.pids());
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(alive) = self.alive.take() {
            // The end of the socket is the order; a panic must not wait for its execution.
            drop(alive.socket);
        }
    }
}

impl Alive {
    fn start(charge: &Charge) -> io::Result<Alive> {
        let (ours, theirs) = UnixStream::pair()?;
        let child_signals = signal(SignalKind::child())?;
        let process = start_keeper(charge, theirs.into())?;
        ours.set_nonblocking(true)?;
        Ok(Alive {
            socket: sys::watch(ours, Interest::READABLE)?,
            decoder: Decoder::default(),
            process,
            next_answer: 0,
            spawns: 0,
            child_signals,
        })
    }

    fn send(&self, request: &Request<'_>, ends: &[std::os::fd::BorrowedFd<'_>]) -> io::Result<()> {
        protocol::send(self.socket.get_ref(), request, ends)
    }

    /// Waits for an answer; may be dropped and called again without losing a byte.
    async fn receive(&mut self) -> io::Result<Reply> {
        loop {
            if let Some(Answer { number, spawns, reply }) = self.decoder.message()? {
                if number != self.next_answer {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "an answer of the keeper was lost"));
                }
                self.next_answer += 1;
                // A late answer about the process before: it ended while it was asked about.
                if spawns == self.spawns {
                    return Ok(reply);
                }
                continue;
            }
            let mut ready = tokio::select! {
                biased;
                ready = self.socket.readable() => ready?,
                // The keeper itself was stopped: an agent did that, and nobody else would let it go on.
                _ = self.child_signals.recv() => {
                    tree::signal(self.process.id().cast_signed(), Signal::CONT);
                    continue;
                }
            };
            match ready.try_io(|socket| self.decoder.fill(socket.get_ref())) {
                Ok(Ok(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                // That was all: the next wait is a real one.
                Ok(Ok(read)) if read < protocol::READ_SIZE => ready.clear_ready(),
                Ok(Ok(_)) | Err(_) => {}
                Ok(Err(error)) => return Err(error),
            }
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "host/process is the place that spawns")]
fn start_keeper(charge: &Charge, socket: OwnedFd) -> io::Result<std::process::Child> {
    std::process::Command::new(&charge.program)
        .arg(KEEPER_ARGUMENT)
        .arg(charge.run.as_str())
        .args(charge.folder.as_deref())
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

impl Command {
    /// The keeper's own binary with these arguments, begun in this folder; only Linux can say it like this.
    pub(crate) fn of_own_binary(args: Vec<OsString>, folder: &Path) -> Command {
        let (folder, set, remove) = (folder.to_owned(), Vec::new(), Vec::new());
        Command { program: SELF.into(), args, folder, set, remove, starts_runs: false }
    }
}

/// Becomes another program, found by `PATH`; returns only if that fails. Nothing that Rust's runtime changed about
/// signals is left.
#[cfg(target_os = "linux")]
#[allow(clippy::disallowed_methods, reason = "host/process is the place that spawns")]
pub(crate) fn become_program(program: &std::ffi::OsStr, args: &[OsString]) -> io::Error {
    std::os::unix::process::CommandExt::exec(std::process::Command::new(program).args(args))
}
