//! The keeper: the parent of every agent and check. One thread, no memory to speak of, and no wait
//! without an end.

use super::find::find_program;
use super::protocol::{self, Answer, Decoder, Reply, Request};
use super::{Command, Ended, Spared, cgroup, sys, tree};
use crate::{identity, look};
use ralph_core::id::RunId;
use ralph_core::observation::StartFault;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, WaitStatus};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, NulError, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tree::Reaped;

/// How long the tree may tidy up when ralph itself is gone. Everything must be over within two
/// seconds then.
const GRACE_WITHOUT_RALPH: Duration = Duration::from_millis(300);
/// How often a tree that does not die is told again: a process may fork between look and signal.
const AGAIN: Duration = Duration::from_millis(5);
/// How often children are looked after where the system cannot announce their end on a descriptor, and
/// how often a late one is asked to end.
const NOW_AND_THEN: Duration = Duration::from_millis(20);

/// When the run's group is made, counted from the first process. While the kernel takes a process into a group, for
/// some milliseconds nothing on the machine can be started, and a process that has just begun starts others.
const GROUP_AFTER: Duration = Duration::from_millis(100);
/// How often what was forked while others entered the run's group is taken in: once is nearly always enough.
const ROUNDS: usize = 5;

/// The keeper's whole life. Standard input is the socket to ralph, the arguments name the run and,
/// unless it can have no child runs, its folder.
pub fn keeper_main(mut args: impl Iterator<Item = OsString>) -> io::Result<()> {
    let (run, folder) = (args.next(), args.next());
    sys::close_inherited();
    let socket = UnixStream::from(rustix::stdio::stdin().try_clone_to_owned()?);
    // The terminal's signals are for ralph; it tells the keeper what they mean.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(c"keeper");
    // Whatever it starts is the first to go when memory runs out, and is far larger than itself.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    tree::become_subreaper();
    // An agent may have stopped it; then the end of ralph makes it go on, to end everything.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::CONT));
    let children = sys::block_signals_and_watch_children()?;
    let environment = Environment::of_this_process(run.as_deref().unwrap_or_default());
    let run = run.and_then(|run| RunId::parse(run.to_str()?));
    let spared = Spared::of(folder.map(PathBuf::from));
    let mut keeper = Keeper {
        socket,
        children,
        ungrouped: run,
        group_at: None,
        group: None,
        spared,
        dismissed: false,
        leader: None,
        exit: None,
        answers: 0,
        spawns: 0,
        decoder: Decoder::default(),
        environment,
    };
    keeper.serve()
}

struct Keeper {
    socket: UnixStream,
    children: OwnedFd,
    /// The run whose group is still to be made.
    ungrouped: Option<RunId>,
    group_at: Option<Instant>,
    group: Option<PathBuf>,
    spared: Spared,
    /// ralph lives, and removes the group itself.
    dismissed: bool,
    /// The process that ralph asked for last, while it lives.
    leader: Option<i32>,
    exit: Option<WaitStatus>,
    /// How many answers were sent.
    answers: u64,
    /// How many processes were asked for.
    spawns: u64,
    decoder: Decoder,
    environment: Environment,
}

/// What woke the keeper.
enum Wake {
    Request(Request<'static>),
    RalphIsGone,
    Children,
}

impl Keeper {
    fn serve(&mut self) -> io::Result<()> {
        loop {
            let until_group = self.group_at.map(|at| at.saturating_duration_since(Instant::now()));
            if until_group.is_some_and(|left| left.is_zero()) {
                self.group_at = None;
                self.enter_group();
                continue;
            }
            match self.wait(until_group)? {
                Wake::Children => {
                    let leftovers = !self.reap_all();
                    self.tell_exit(leftovers);
                }
                Wake::Request(Request::Spawn(command)) => {
                    self.spawns += 1;
                    self.spared.begin(command.starts_runs);
                    if let Err(reply) = self.spawn(&command) {
                        self.tell(reply);
                    }
                    if self.ungrouped.is_some() {
                        self.group_at.get_or_insert_with(|| Instant::now() + GROUP_AFTER);
                    }
                }
                Wake::Request(Request::End { grace_ms }) => self.end(Duration::from_millis(grace_ms)),
                Wake::Request(Request::Work) => self.tell(Reply::Work(tree::Table::read().work_below_self())),
                Wake::Request(Request::Freeze) => signal_all(&self.victims(), Signal::STOP),
                Wake::Request(Request::Farewell) => self.dismissed = true,
                Wake::Request(Request::Ping) => self.tell(Reply::Here),
                Wake::Request(Request::Thaw) => signal_all(&tree::Table::read().below_self(), Signal::CONT),
                Wake::RalphIsGone => {
                    self.end_tree(GRACE_WITHOUT_RALPH);
                    // Leaving a group takes the kernel longer than all the rest of an end.
                    self.group.take().filter(|_| !self.dismissed).inspect(|group| cgroup::leave(group));
                    return Ok(());
                }
            }
        }
    }

    /// Enters the run's group with all that was started so far; what that forks meanwhile stays outside and is taken in
    /// as well.
    fn enter_group(&mut self) {
        let Some(run) = self.ungrouped.take() else { return };
        self.group = cgroup::enter(&run);
        let Some(group) = &self.group else { return };
        for _ in 0..ROUNDS {
            let (mut outside, members) = (self.victims(), self.strays());
            outside.retain(|pid| !members.contains(pid));
            if outside.is_empty() {
                break;
            }
            outside.iter().for_each(|pid| cgroup::take_in(group, *pid));
        }
    }

    /// Waits until something happens or the time is over.
    fn wait(&mut self, limit: Option<Duration>) -> io::Result<Wake> {
        // Without a descriptor for children (see `sys`) they are asked after now and then.
        let limit =
            if cfg!(target_os = "linux") { limit } else { Some(limit.unwrap_or(NOW_AND_THEN).min(NOW_AND_THEN)) };
        let timeout =
            limit.map(|limit| Timespec { tv_sec: limit.as_secs().cast_signed(), tv_nsec: limit.subsec_nanos().into() });
        loop {
            if let Some(request) = self.decoder.message()? {
                return Ok(Wake::Request(request));
            }
            let mut ready = [PollFd::new(&self.socket, PollFlags::IN), PollFd::new(&self.children, PollFlags::IN)];
            match poll(&mut ready, timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [socket, children] = ready.map(|fd| !fd.revents().is_empty());
            if children {
                // The content is of no interest, only that there was some.
                let mut drained = [0u8; 1024];
                let _ = rustix::io::read(&self.children, &mut drained);
            }
            if children || !socket {
                return Ok(Wake::Children);
            }
            if !matches!(self.decoder.fill(&self.socket), Ok(1..)) {
                return Ok(Wake::RalphIsGone);
            }
        }
    }

    fn tell(&mut self, reply: Reply) {
        // If ralph is gone, the next wait says so.
        let _ = protocol::send(&self.socket, &Answer { number: self.answers, spawns: self.spawns, reply }, &[]);
        self.answers += 1;
    }

    /// Starts a process, or says why that is not possible.
    fn spawn(&mut self, command: &Command) -> Result<(), Reply> {
        let ends = <[OwnedFd; 3]>::try_from(self.decoder.descriptors()).map_err(|_| {
            // The kernel drops descriptors where a process may not have more of them.
            let reason = "no file descriptors are left for its standard streams".to_owned();
            Reply::NotSpawned { reason, fault: StartFault::Machine }
        })?;
        self.exit = None;
        self.leader = Some(start(command, &self.environment, ends).map_err(|error| {
            let (fault, reason) = explain(command, &self.environment, &error);
            Reply::NotSpawned { reason, fault }
        })?);
        Ok(())
    }

    /// Reaps all that ended; true once no child, and so no descendant, is left.
    fn reap_all(&mut self) -> bool {
        loop {
            match tree::reap() {
                Reaped::One(pid, status) if self.leader == Some(pid) => {
                    self.leader = None;
                    self.exit = Some(status);
                }
                Reaped::One(..) => {}
                Reaped::AllAlive => return false,
                Reaped::NoneLeft => return true,
            }
        }
    }

    fn tell_exit(&mut self, leftovers: bool) {
        if let Some(status) = self.exit.take() {
            self.tell(Reply::Exited { code: status.exit_status(), signal: status.terminating_signal(), leftovers });
        }
    }

    fn end(&mut self, grace: Duration) {
        let ended = self.end_tree(grace);
        let leftovers = !self.reap_all();
        self.tell_exit(leftovers);
        self.tell(Reply::Ended { count: ended.count, leaked: ended.leaked });
    }

    /// The ladder: SIGTERM and SIGCONT to all, and after the grace SIGKILL until nobody is left.
    /// What still lived when the leader was gone is reported: it would have outlived the iteration.
    fn end_tree(&mut self, grace: Duration) -> Ended {
        let mut ended = Ended::default();
        if self.is_over() {
            return ended;
        }
        let told = self.victims();
        let leader = self.leader;
        let mut kill_at = Instant::now() + grace;
        if leader.is_none() {
            ended = Ended { count: u32::try_from(told.len()).unwrap_or(u32::MAX), leaked: tree::name(&told) };
        }
        ask_all(&told);
        let mut killed = leader.is_none();
        loop {
            if self.is_over() {
                return ended;
            }
            let now = Instant::now();
            if now < kill_at {
                // Whoever was forked between the look and the signal has not heard it, and may not hear it before
                // it executes its program. What a process starts to tidy up still has its parent, and is left to it.
                let mut late = self.victims();
                late.retain(|pid| !told.contains(pid) && tree::is_own_child(*pid));
                ask_all(&late);
                let patience = if late.is_empty() { grace } else { NOW_AND_THEN };
                match self.wait(Some(patience.min(kill_at - now))) {
                    Ok(Wake::Request(Request::End { grace_ms })) => {
                        kill_at = kill_at.min(Instant::now() + Duration::from_millis(grace_ms))
                    }
                    Ok(Wake::RalphIsGone) => kill_at = kill_at.min(Instant::now() + GRACE_WITHOUT_RALPH),
                    Ok(_) => {}
                    Err(_) => kill_at = now,
                }
                continue;
            }
            let victims = self.victims();
            if !killed {
                killed = true;
                let stubborn: Vec<i32> = victims.iter().copied().filter(|pid| Some(*pid) != leader).collect();
                ended =
                    Ended { count: u32::try_from(stubborn.len()).unwrap_or(u32::MAX), leaked: tree::name(&stubborn) };
            }
            signal_all(&victims, Signal::KILL);
            if !self.reap_all() {
                std::thread::sleep(AGAIN);
            }
        }
    }

    /// Whether nobody is left but child runs. Without them `waitpid` answers it for certain; with them
    /// two looks do, because a process that forks away during the first is found by the second.
    fn is_over(&mut self) -> bool {
        if self.reap_all() && self.strays().is_empty() {
            return true;
        }
        let has_child_runs = !self.spared.pids().is_empty();
        has_child_runs && self.victims().is_empty() && self.victims().is_empty()
    }

    /// Everything that must not outlive the iteration.
    fn victims(&self) -> Vec<i32> {
        let strays = self.strays();
        let table = tree::Table::read();
        let mut victims = table.below_self();
        victims.extend(strays.into_iter().filter(|pid| !victims.contains(pid)).collect::<Vec<_>>());
        let spared = self.spared.among(&table);
        victims.retain(|pid| !spared.contains(pid));
        victims
    }

    /// Members of the run's group, wherever they hang in the tree.
    fn strays(&self) -> Vec<i32> {
        self.group.as_deref().map(cgroup::members).unwrap_or_default()
    }
}

/// A stopped process takes its signals only when it goes on.
fn ask_all(pids: &[i32]) {
    signal_all(pids, Signal::TERM);
    signal_all(pids, Signal::CONT);
}

fn signal_all(pids: &[i32], signal: Signal) {
    for &pid in pids {
        tree::signal(pid, signal);
    }
}

fn start(command: &Command, environment: &Environment, ends: [OwnedFd; 3]) -> io::Result<i32> {
    let program = find_program(&command.program, &command.folder, environment.path(command))?;
    let args = std::iter::once(&command.program).chain(&command.args).map(|arg| CString::new(arg.as_bytes()));
    sys::start(&sys::Start {
        program: &program,
        args: args.collect::<Result<_, _>>()?,
        environment: environment.of(command)?,
        folder: &command.folder,
        ends,
    })
}

/// The environment that ralph itself was started with, which each command changes as it asks.
struct Environment {
    inherited: Vec<(OsString, CString)>,
    path: Option<OsString>,
    /// Whatever is started for a run is found by this after a crash: agents, checks, version control.
    mark: CString,
}

impl Environment {
    #[allow(clippy::disallowed_methods, reason = "the keeper hands on what it was given and reads nothing in it")]
    fn of_this_process(run: &OsStr) -> Environment {
        let mark = OsStr::new(identity::MARK_VARIABLE);
        let inherited = std::env::vars_os().filter(|(name, _)| name != mark);
        Environment {
            inherited: inherited
                .filter_map(|(name, value)| entry(&name, &value).ok().map(|entry| (name, entry)))
                .collect(),
            path: std::env::var_os("PATH"),
            mark: entry(mark, run).unwrap_or_default(),
        }
    }

    /// Every entry for a command; of a variable that it sets twice, the last value counts.
    fn of<'e>(&'e self, command: &Command) -> io::Result<Vec<Cow<'e, CStr>>> {
        let set: BTreeMap<&OsStr, &OsStr> =
            command.set.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())).collect();
        let is_kept = |name: &OsString| !set.contains_key(name.as_os_str()) && !command.remove.contains(name);
        let kept = self.inherited.iter().filter(|(name, _)| is_kept(name));
        let kept = kept.map(|(_, entry)| Ok(Cow::Borrowed(entry.as_c_str())));
        let set = set.iter().filter(|(name, _)| **name != identity::MARK_VARIABLE);
        let set = set.map(|(name, value)| Ok(Cow::Owned(entry(name, value)?)));
        kept.chain(set).chain([Ok(Cow::Borrowed(self.mark.as_c_str()))]).collect()
    }

    /// Where a command's program is looked for.
    fn path<'e>(&'e self, command: &'e Command) -> Option<&'e OsStr> {
        let set = command.set.iter().rev().find(|(name, _)| name == "PATH").map(|(_, path)| path);
        let inherited = || self.path.as_ref().filter(|_| !command.remove.iter().any(|name| name == "PATH"));
        set.or_else(inherited).map(OsString::as_os_str)
    }
}

fn entry(name: &OsStr, value: &OsStr) -> Result<CString, NulError> {
    CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())
}

/// Says why a program did not start, which one, and what has to be mended.
fn explain(command: &Command, environment: &Environment, error: &io::Error) -> (StartFault, String) {
    let program = command.program.to_string_lossy();
    if !command.folder.is_dir() {
        let reason = format!("the folder {} is gone: it was deleted or moved", command.folder.display());
        return (StartFault::Folder, reason);
    }
    if look::is_fault_of_the_machine(error) {
        let lacking = match error.raw_os_error() {
            Some(libc::EAGAIN) => "no more processes may be started",
            Some(libc::ENOMEM) => "no memory is left",
            Some(libc::EMFILE | libc::ENFILE) => "no file descriptors are left",
            _ => "the machine refused",
        };
        return (StartFault::Machine, format!("{lacking} for {program}: {error}"));
    }
    match error.kind() {
        io::ErrorKind::NotFound => (StartFault::Program, missing(command, environment, &program)),
        io::ErrorKind::PermissionDenied => (StartFault::NotExecutable, format!("{program} is not executable")),
        io::ErrorKind::ArgumentListTooLong => (
            StartFault::Arguments,
            format!(
                "the prompt is too long for an argument of {program}; shorten it, or set agent.promptVia to stdin or file \
                 if the program reads it from there"
            ),
        ),
        _ if error.raw_os_error() == Some(libc::ENOEXEC) => {
            (StartFault::Program, format!("{program} is not a program that this machine can execute"))
        }
        _ => (StartFault::Program, format!("{program} could not be started: {error}")),
    }
}

/// A file that is there and yet not found names an interpreter that is not.
fn missing(command: &Command, environment: &Environment, program: &str) -> String {
    match find_program(&command.program, &command.folder, environment.path(command)) {
        Err(_) => format!("{program} was not found in PATH"),
        Ok(file) if !file.exists() => format!("{program} does not exist"),
        Ok(file) => {
            let mut head = [0; 256];
            let read =
                std::fs::File::open(&file).and_then(|mut file| io::Read::read(&mut file, &mut head)).unwrap_or(0);
            let line = head.get(..read).unwrap_or_default().split(|byte| *byte == b'\n').next().unwrap_or_default();
            let named = String::from_utf8_lossy(line.strip_prefix(b"#!").unwrap_or_default()).into_owned();
            match named.split_whitespace().next() {
                Some(interpreter) => format!("{program} needs {interpreter}, which does not exist: see its first line"),
                None => format!("{program} needs a loader that does not exist here: it was made for another system"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_lacks_is_not_blamed_on_the_program_and_a_missing_folder_on_neither() {
        let here = tempfile::tempdir().unwrap();
        let environment = Environment::of_this_process(OsStr::new("run"));
        let command = |folder: PathBuf| Command {
            program: "agent".into(),
            args: Vec::new(),
            folder,
            set: Vec::new(),
            remove: Vec::new(),
            starts_runs: false,
        };
        for (errno, fault, told) in [
            (libc::EAGAIN, StartFault::Machine, "no more processes may be started"),
            (libc::EMFILE, StartFault::Machine, "no file descriptors are left"),
            (libc::ENFILE, StartFault::Machine, "no file descriptors are left"),
            (libc::ENOMEM, StartFault::Machine, "no memory is left"),
            (libc::ENOENT, StartFault::Program, "agent was not found in PATH"),
            (libc::EACCES, StartFault::NotExecutable, "agent is not executable"),
            (libc::E2BIG, StartFault::Arguments, "the prompt is too long"),
        ] {
            let error = io::Error::from_raw_os_error(errno);
            let (found, reason) = explain(&command(here.path().to_owned()), &environment, &error);
            assert!(found == fault && reason.contains(told), "{error}: {found:?} {reason}");
            let (found, reason) = explain(&command(here.path().join("gone")), &environment, &error);
            assert!(found == StartFault::Folder && reason.contains("deleted or moved"), "{error}: {reason}");
        }
    }

    #[test]
    fn a_command_changes_the_environment_as_it_asks_and_never_the_mark_of_its_run() {
        let variable = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let inherited =
            [variable("KEPT", "a=b"), variable("GONE", "x"), variable("SET", "old"), variable("PATH", "/p")];
        let environment = Environment {
            inherited: inherited
                .into_iter()
                .map(|(name, value)| (name.clone(), entry(&name, &value).unwrap()))
                .collect(),
            path: Some("/p".into()),
            mark: entry(OsStr::new(identity::MARK_VARIABLE), OsStr::new("run")).unwrap(),
        };
        let mut command = Command {
            program: "agent".into(),
            args: Vec::new(),
            folder: "/".into(),
            set: vec![
                variable("SET", "first"),
                variable("SET", "last"),
                variable("GONE", "back"),
                variable(identity::MARK_VARIABLE, "another"),
            ],
            remove: vec!["GONE".into(), "PATH".into()],
            starts_runs: false,
        };
        let all = environment.of(&command).unwrap();
        let all: Vec<&str> = all.iter().map(|entry| entry.to_str().unwrap()).collect();
        assert_eq!(all, ["KEPT=a=b", "GONE=back", "SET=last", &format!("{}=run", identity::MARK_VARIABLE)]);
        assert_eq!(environment.path(&command), None);
        command.set.push(variable("PATH", "/q"));
        assert_eq!(environment.path(&command), Some(OsStr::new("/q")));
        command.set.push(variable("BAD", "nul\0byte"));
        assert!(environment.of(&command).is_err());
    }
}
