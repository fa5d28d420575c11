//! How a command is watched on Linux: the kernel asks by a seccomp filter, or the command is traced.

use super::Helper;
use crate::process::sys::seccomp::{self, Listener};
use crate::process::sys::{self, trace};
use crate::process::tree::{self, Reaped};
use crate::watching::{Answer, Eyes};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Resource, Rlimit, Signal, WaitOptions, WaitStatus};
use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::sync::mpsc;

/// Why a command cannot be watched in one way.
type Unable = io::Error;

impl Helper {
    pub(super) fn run(&self) -> io::Result<u8> {
        // It goes on after SIGTERM, as long as the command does.
        let signals = sys::block_signals_and_watch(&[libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP])?;
        // A process that loses its parent stays below this one, and may be looked into.
        tree::become_subreaper();
        let no_filter = match self.run_asked(&signals)? {
            Ok(end) => return Ok(pass_on(end)),
            Err(why) => why,
        };
        // Whoever traces cannot let a file not be found, and is in the way of a check that traces its own processes.
        if self.order.is_some() {
            return self.run_unwatched(format!("the check cannot be watched (seccomp: {no_filter})"));
        }
        match self.run_traced(&signals)? {
            Ok(end) => Ok(pass_on(end)),
            Err(no_trace) => {
                self.run_unwatched(format!("the check cannot be watched (seccomp: {no_filter}; ptrace: {no_trace})"))
            }
        }
    }

    /// Runs the command below a thread that is under a filter. This thread answers what the kernel asks, from the first
    /// program on.
    fn run_asked(&self, signals: &OwnedFd) -> io::Result<Result<WaitStatus, Unable>> {
        let mut command = self.command()?;
        command.process_group(0);
        sys::unblock_signals_of(&mut command);
        let (tell_filter, filter) = mpsc::channel();
        let (tell_start, start) = mpsc::channel();
        let (is_started, starting) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let thread = std::thread::Builder::new().spawn(move || {
            // Whoever listens has gone only if this whole process ends.
            let installed = seccomp::ask_before_calls();
            let is_filtered = installed.is_ok();
            let _ = tell_filter.send(installed);
            if is_filtered {
                let _ = tell_start.send(command.spawn().map(|child| child.id().cast_signed()));
            }
            drop(starting);
        });
        if let Err(why) = thread {
            return Ok(Err(why));
        }
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        let (listener, is_weakened) = match filter.recv().map_err(gone)? {
            Ok(installed) => installed,
            Err(why) => return Ok(Err(why)),
        };
        let mut eyes = Eyes::new(is_weakened, self.order.as_ref());
        let mut main = None;
        let mut unable = None;
        loop {
            // The pipe stays at its end, once it is there.
            let third = if main.is_some() { signals } else { &is_started };
            let [asked, signalled, started] = wait([listener.as_fd(), signals.as_fd(), third.as_fd()])?;
            if asked {
                unable = unable.or(answer(&listener, &mut eyes)?);
            }
            if signalled {
                self.heed(signals, &mut eyes)?;
            }
            if started && main.is_none() {
                main = match (start.recv().map_err(gone)?, unable.take()) {
                    (Err(_), Some(why)) => return Ok(Err(why)),
                    (started, _) => Some(started?),
                };
            }
            let Some(main) = main else { continue };
            while let Reaped::One(pid, status) = tree::reap() {
                if pid == main {
                    if status.exit_status() != Some(0) {
                        eyes.note_failure();
                    }
                    self.report(&eyes.watched());
                    return Ok(Ok(status));
                }
            }
        }
    }

    /// Runs the command with every call of every process stopping it twice.
    fn run_traced(&self, signals: &OwnedFd) -> io::Result<Result<WaitStatus, Unable>> {
        let mut command = self.command()?;
        command.process_group(0);
        sys::unblock_signals_of(&mut command);
        trace::trace(&mut command);
        let main = match command.spawn() {
            Ok(child) => child.id().cast_signed(),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => return Ok(Err(error)),
            Err(error) => return Err(error),
        };
        let is_root = rustix::process::geteuid().is_root();
        let mut tracer = Tracer { main, eyes: Eyes::new(!is_root, None), known: HashSet::new() };
        let args = std::iter::once(&self.name).chain(&self.args).map(|arg| arg.to_string_lossy().into_owned());
        tracer.eyes.keep_start(main, Path::new(command.get_program()), args.collect());
        loop {
            while let Some((pid, status)) = rustix::process::wait(WaitOptions::NOHANG | ALL_KINDS)? {
                let pid = pid.as_raw_nonzero().get();
                if status.stopped() {
                    tracer.go_on(pid, status);
                    continue;
                }
                tracer.known.remove(&pid);
                if pid == main {
                    self.report(&tracer.eyes.watched());
                    return Ok(Ok(status));
                }
            }
            wait([signals.as_fd()])?;
            self.heed(signals, &mut tracer.eyes)?;
        }
    }

    /// Takes note of signals. One that asks this process to end goes to the whole check, whose end is awaited; SIGKILL may
    /// come before, so what was seen is written now.
    fn heed(&self, signals: &OwnedFd, eyes: &mut Eyes) -> io::Result<()> {
        let mut information = [0_u8; 8 * SIGNAL_INFORMATION];
        let read = match rustix::io::read(signals, &mut information) {
            Ok(read) => read,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => 0,
            Err(error) => return Err(error.into()),
        };
        let read = information.get(..read).unwrap_or_default();
        let child = u32::try_from(libc::SIGCHLD).unwrap_or_default().to_ne_bytes();
        if read.chunks(SIGNAL_INFORMATION).any(|signal| !signal.starts_with(&child)) {
            eyes.record().gap("the check was ended before it was over".to_owned());
            self.report(&eyes.watched());
        }
        Ok(())
    }
}

/// The size of what the kernel tells about one signal; it begins with the signal's number.
const SIGNAL_INFORMATION: usize = size_of::<libc::signalfd_siginfo>();
/// Also threads and other children that do not announce their end by SIGCHLD.
const ALL_KINDS: WaitOptions = WaitOptions::from_bits_retain(libc::__WALL as u32);

/// Waits until one of these can be read or is at its end.
fn wait<const N: usize>(ends: [BorrowedFd<'_>; N]) -> io::Result<[bool; N]> {
    let mut ready = ends.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN));
    match poll(&mut ready, None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(ready.map(|end| !end.revents().is_empty())),
        Err(error) => Err(error.into()),
    }
}

/// Answers one question of the kernel; says why if it does not take the answer.
fn answer(listener: &Listener, eyes: &mut Eyes) -> io::Result<Option<Unable>> {
    let Some(question) = listener.question()? else { return Ok(None) };
    let (seen, answer) = eyes.look(&question.call);
    match listener.answer(&question, answer) {
        // A process that was killed, or interrupted and asks again, has not done it.
        Ok(has_gone_on) => {
            if has_gone_on {
                eyes.keep(seen);
            }
            Ok(None)
        }
        // Before Linux 5.5 a call cannot go on.
        Err(why) => listener.answer(&question, Answer::NoSuchCall).map(|_| Some(why)),
    }
}

/// A command that is traced.
struct Tracer {
    main: i32,
    eyes: Eyes,
    /// Processes and threads that have stopped before.
    known: HashSet<i32>,
}

impl Tracer {
    /// Looks at what a process stopped for, and lets it go on. One that was killed meanwhile needs neither.
    fn go_on(&mut self, pid: i32, status: WaitStatus) {
        /// The mark of a stop at a call.
        const AT_CALL: i32 = libc::SIGTRAP | 0x80;
        let is_new = self.known.insert(pid);
        if is_new
            && pid == self.main
            && let Err(error) = trace::set_options(pid)
        {
            self.eyes.record().gap(format!("what the check starts cannot be traced: {error}"));
        }
        let is_event = status.as_raw() >> 16 != 0;
        let signal = match status.stopping_signal() {
            // A new process begins with a stop of its own.
            Some(_) if is_new || is_event => 0,
            Some(AT_CALL) => {
                self.look(pid);
                0
            }
            signal => signal.unwrap_or_default(),
        };
        let _ = trace::go_on(pid, signal);
    }

    fn look(&mut self, pid: i32) {
        match trace::call(pid) {
            Ok(Some(call)) => {
                let (seen, answer) = self.eyes.look(&call);
                self.eyes.keep(seen);
                if answer == Answer::NoSuchCall {
                    let program = self.eyes.program_of(pid);
                    self.eyes.record().gap(format!("{program} uses io_uring, through which it may open files unseen"));
                }
            }
            Ok(None) => {}
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) => self.eyes.record().gap(format!("calls of the check cannot be read: {error}")),
        }
    }
}

/// The exit code of a command that has ended; after a signal, this process ends by the same one.
fn pass_on(status: WaitStatus) -> u8 {
    if let Some(code) = status.exit_status() {
        return u8::try_from(code & 0xff).unwrap_or(u8::MAX);
    }
    let number = status.terminating_signal().unwrap_or_default();
    if let Some(signal) = Signal::from_named_raw(number) {
        // The command has left its own core where that is wanted.
        let _ = rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        sys::unblock_signals();
        tree::signal(rustix::process::getpid().as_raw_nonzero().get(), signal);
    }
    u8::try_from(128 + number).unwrap_or(u8::MAX)
}
