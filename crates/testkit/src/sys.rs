//! The system calls that std lacks: signals by pid, sessions, terminals.
//!
//! All the `unsafe` of this library is in this file; each call works on integers or on memory that
//! the caller owns.
#![allow(unsafe_code)] // system calls by their C interface: see above

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What a child does between fork and exec.
#[derive(Debug, Clone, Copy)]
pub enum Preparation {
    /// A session of its own without a terminal, no descriptor but the standard streams, no signal ignored:
    /// whatever the shell or CI runner that started the tests left open or set, ralph does not see it.
    CleanStart,
    /// Its stdin becomes the terminal that controls its session.
    ControllingTerminal,
    /// The signal is ignored.
    Ignore(c_int),
    /// The signal is blocked.
    Block(c_int),
    /// At most so many open files.
    OpenFiles(u64),
}

/// Adds the preparations to a command, to be done in their order.
pub fn prepare(command: &mut Command, steps: Vec<Preparation>) {
    // SAFETY: between fork and exec only async-signal-safe calls are made and nothing is allocated.
    unsafe {
        command.pre_exec(move || steps.iter().try_for_each(|step| perform(*step)));
    }
}

fn perform(step: Preparation) -> io::Result<()> {
    // SAFETY: plain system calls; the structures are complete and live on this stack.
    unsafe {
        match step {
            Preparation::CleanStart => {
                // Closed by the exec and not before: std reports a failing exec through one of them.
                check(libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) as c_int)?;
                // Refused for KILL, STOP and what the C library keeps for itself.
                (1..=64).for_each(|signal| _ = libc::signal(signal, libc::SIG_DFL));
                check(libc::setsid())
            }
            Preparation::ControllingTerminal => check(libc::ioctl(0, libc::TIOCSCTTY as _, 0)),
            Preparation::Ignore(signal) => {
                libc::signal(signal, libc::SIG_IGN);
                Ok(())
            }
            Preparation::Block(signal) => {
                let mut set: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&mut set);
                libc::sigaddset(&mut set, signal);
                check(libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()))
            }
            Preparation::OpenFiles(number) => {
                let limit = libc::rlimit { rlim_cur: number as _, rlim_max: number as _ };
                check(libc::setrlimit(libc::RLIMIT_NOFILE, &limit))
            }
        }
    }
}

/// Sends a signal to one process; false if there is none.
pub fn signal(pid: u32, signal: c_int) -> bool {
    // SAFETY: always sound. A pid beyond the range of pid_t names nobody.
    c_int::try_from(pid).is_ok_and(|pid| unsafe { libc::kill(pid, signal) } == 0)
}

/// Sends a signal to a whole process group.
pub fn signal_group(leader: u32, signal: c_int) {
    if let Ok(leader) = c_int::try_from(leader) {
        // SAFETY: always sound.
        unsafe { libc::kill(-leader, signal) };
    }
}

/// Waits until a child has ended and leaves it to be reaped, so that its pid still means it.
pub fn wait_without_reaping(pid: u32) {
    loop {
        // SAFETY: the structure is complete and lives on this stack.
        let result = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, libc::WEXITED | libc::WNOWAIT)
        };
        if result == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

/// A new terminal: the master, which is the screen and the keyboard, and the slave for a program.
pub fn open_terminal(columns: u16, rows: u16) -> io::Result<(OwnedFd, OwnedFd)> {
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: plain system calls; nobody else owns the new descriptors. They are born with close-on-exec: a
    // copy of the master in the child of another test would keep this terminal alive after its end.
    unsafe {
        let master = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
        check(master)?;
        let master = OwnedFd::from_raw_fd(master);
        check(libc::unlockpt(master.as_raw_fd()))?;
        let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
        let slave = libc::ioctl(master.as_raw_fd(), libc::TIOCGPTPEER as _, flags);
        check(slave)?;
        check(libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ as _, &size))?;
        Ok((master, OwnedFd::from_raw_fd(slave)))
    }
}

/// Gives a terminal another size; its programs get SIGWINCH.
pub fn resize_terminal(master: BorrowedFd<'_>, columns: u16, rows: u16) -> io::Result<()> {
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the structure is complete and lives on this stack.
    check(unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ as _, &size) })
}

/// Waits until the first descriptor has something to read (true) or the second has ended (false).
pub fn readable_before(data: BorrowedFd<'_>, end: BorrowedFd<'_>) -> bool {
    let watch = |fd: BorrowedFd<'_>| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut both = [watch(data), watch(end)];
    loop {
        // SAFETY: the array has the length that is given.
        let ready = unsafe { libc::poll(both.as_mut_ptr(), 2, -1) };
        let [data, end] = &both;
        match ready {
            1.. if end.revents != 0 => return false,
            1.. => return data.revents != 0,
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return false,
        }
    }
}

fn check(result: c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
