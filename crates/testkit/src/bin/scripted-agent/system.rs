//! The calls that std does not offer: fork, sessions, signals, raw descriptors.
//!
//! All the `unsafe` of this program is in this file, but for the name of its entry point. The program has
//! one thread, so that a forked child may do anything its parent might; every other call here is a
//! plain system call on integers or on memory owned by the caller.
#![allow(unsafe_code)] // system calls by their C interface: see above

use std::ffi::{CString, c_int};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use crate::actions::Stop;

/// What "forever" means: far beyond the time limit of any test, and yet a test that loses a process
/// does not leave it on the machine for good.
pub const FOREVER: Duration = Duration::from_secs(600);

const SIGNALS: [(&str, c_int); 18] = [
    ("HUP", libc::SIGHUP),
    ("INT", libc::SIGINT),
    ("QUIT", libc::SIGQUIT),
    ("ILL", libc::SIGILL),
    ("ABRT", libc::SIGABRT),
    ("BUS", libc::SIGBUS),
    ("FPE", libc::SIGFPE),
    ("KILL", libc::SIGKILL),
    ("USR1", libc::SIGUSR1),
    ("SEGV", libc::SIGSEGV),
    ("USR2", libc::SIGUSR2),
    ("PIPE", libc::SIGPIPE),
    ("ALRM", libc::SIGALRM),
    ("TERM", libc::SIGTERM),
    ("CHLD", libc::SIGCHLD),
    ("CONT", libc::SIGCONT),
    ("STOP", libc::SIGSTOP),
    ("TSTP", libc::SIGTSTP),
];

/// A signal by its name, with or without `SIG`.
pub fn signal(name: &str) -> Result<c_int, Stop> {
    let name = name.trim();
    let short = name.strip_prefix("SIG").unwrap_or(name);
    let found = SIGNALS.iter().find(|(known, _)| *known == short);
    found.map(|(_, number)| *number).ok_or_else(|| Stop::Wrong(format!("unknown signal {name:?}")))
}

/// The name of a signal, or its number where it has none here.
pub fn signal_name(number: c_int) -> String {
    SIGNALS
        .iter()
        .find(|(_, known)| *known == number)
        .map_or_else(|| number.to_string(), |(name, _)| (*name).to_owned())
}

/// Writes everything; unlike std's stdout it does not take a closed descriptor for success.
pub fn write_all(fd: c_int, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the pointer and length are those of a live slice.
        let written = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(_) => retry_if_interrupted()?,
        }
    }
    Ok(())
}

/// Reads to the end without taking the descriptor over.
pub fn read_to_end(fd: c_int) -> io::Result<Vec<u8>> {
    // SAFETY: the descriptor is only borrowed: `ManuallyDrop` keeps it open.
    let mut file = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(fd) });
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Sleeps and gives the exit code of a process that was never ended.
pub fn sleep_forever() -> c_int {
    std::thread::sleep(FOREVER);
    96
}

/// `None` in the child, the child's pid in the parent.
pub fn fork() -> io::Result<Option<c_int>> {
    // SAFETY: this program has one thread.
    match check(unsafe { libc::fork() })? {
        0 => Ok(None),
        child => Ok(Some(child)),
    }
}

/// Waits for a child that is about to end.
pub fn reap(child: c_int) {
    // SAFETY: a null status is allowed.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
}

/// Ends the process without returning through its parent's stack.
pub fn exit_now(code: c_int) -> ! {
    // SAFETY: always sound.
    unsafe { libc::_exit(code) }
}

/// Leaves the session, the group and the terminal.
pub fn new_session() {
    // SAFETY: always sound; a forked child is no group leader, so it cannot fail.
    unsafe { libc::setsid() };
}

/// Lets go of the three standard streams, as a daemon does.
pub fn redirect_to_null() {
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        for fd in 0..=2 {
            // SAFETY: both are valid descriptor numbers.
            unsafe { libc::dup2(null.as_raw_fd(), fd) };
        }
    }
}

/// A pipe whose end of file tells a parent that its child is in place.
pub struct ReadyPipe {
    reader: OwnedFd,
    writer: OwnedFd,
}

/// Opens one; both ends close with an exec.
pub fn ready_pipe() -> io::Result<ReadyPipe> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for the two descriptors, which nobody else owns.
    unsafe {
        check(libc::pipe(ends.as_mut_ptr()))?;
        for end in ends {
            check(libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC))?;
        }
        let [reader, writer] = ends;
        Ok(ReadyPipe { reader: OwnedFd::from_raw_fd(reader), writer: OwnedFd::from_raw_fd(writer) })
    }
}

impl ReadyPipe {
    /// Waits until every other holder of the writing end has let go of it.
    pub fn wait(self) -> io::Result<()> {
        drop(self.writer);
        read_to_end(self.reader.as_raw_fd()).map(drop)
    }
}

/// Sends a signal; 0 is the own group.
pub fn kill(pid: c_int, signal: c_int) -> io::Result<()> {
    // SAFETY: always sound.
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

/// The own process id.
pub fn own_pid() -> c_int {
    // SAFETY: always sound.
    unsafe { libc::getpid() }
}

/// The parent's process id.
pub fn parent_pid() -> c_int {
    // SAFETY: always sound.
    unsafe { libc::getppid() }
}

/// `pid=… parent=… group=… session=…`.
pub fn ids() -> String {
    // SAFETY: always sound.
    let (group, session) = unsafe { (libc::getpgrp(), libc::getsid(0)) };
    format!("pid={} parent={} group={group} session={session}", own_pid(), parent_pid())
}

/// Ignores a signal, here and in every program started from here.
pub fn ignore(signal: c_int) {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

static EXIT_CODE: [AtomicI32; 65] = [const { AtomicI32::new(0) }; 65];

/// Ends with this code when the signal comes, as agents do that catch it.
pub fn exit_on(signal: c_int, code: c_int) {
    extern "C" fn leave(signal: c_int) {
        let code = usize::try_from(signal).ok().and_then(|at| EXIT_CODE.get(at));
        exit_now(code.map_or(97, |code| code.load(Ordering::Relaxed)))
    }
    if let Some(slot) = usize::try_from(signal).ok().and_then(|at| EXIT_CODE.get(at)) {
        slot.store(code, Ordering::Relaxed);
        // SAFETY: the handler only loads an atomic and ends the process: both are safe in a handler.
        unsafe { libc::signal(signal, leave as extern "C" fn(c_int) as libc::sighandler_t) };
    }
}

/// Closes stdout and stderr and goes on.
pub fn close_output() {
    // SAFETY: nothing in this program holds these descriptors as an object.
    unsafe {
        libc::close(1);
        libc::close(2);
    }
}

/// Whether a descriptor is open.
pub fn is_open(fd: u32) -> bool {
    // SAFETY: asking is always sound.
    c_int::try_from(fd).is_ok_and(|fd| unsafe { libc::fcntl(fd, libc::F_GETFD) } != -1)
}

/// Makes a FIFO that everybody may use.
pub fn make_fifo(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the string is valid and ends in NUL.
    check(unsafe { libc::mkfifo(path.as_ptr(), 0o666) }).map(drop)
}

fn check(result: c_int) -> io::Result<c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn retry_if_interrupted() -> io::Result<()> {
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}
