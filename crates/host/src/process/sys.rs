//! The few system calls that neither std nor rustix offers, each behind a safe function. The only
//! `unsafe` code of this crate.
#![allow(unsafe_code, reason = "fork-time calls and signal descriptors have no safe interface")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Makes a command start in a state that does not depend on how ralph was started: own session, no
/// ignored or blocked signals, ended by the kernel if its parent dies, first in line when memory
/// runs out.
pub(super) fn start_clean(command: &mut std::process::Command) {
    // SAFETY: between fork and exec only async-signal-safe calls are made, nothing is allocated, and
    // the keeper that forks has one thread.
    unsafe {
        command.pre_exec(|| {
            if libc::setsid() == -1 {
                return Err(io::Error::last_os_error());
            }
            for signal in 1..=64 {
                libc::signal(signal, libc::SIG_DFL);
            }
            #[cfg(target_os = "linux")]
            {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
                if file >= 0 {
                    libc::write(file, c"500".as_ptr().cast(), 3);
                    libc::close(file);
                }
            }
            Ok(())
        });
    }
}

/// Blocks every signal and returns a descriptor that becomes readable when a child changes state.
#[cfg(target_os = "linux")]
pub(super) fn block_signals_and_watch_children() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised by sigfillset before it is read, and the descriptor is new.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut()) == -1 {
            return Err(io::Error::last_os_error());
        }
        // A parent that ignores SIGCHLD hands that down, and the kernel would reap for us.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let mut child = std::mem::zeroed();
        libc::sigemptyset(&raw mut child);
        libc::sigaddset(&raw mut child, libc::SIGCHLD);
        let descriptor = libc::signalfd(-1, &raw const child, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if descriptor == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// Elsewhere children are looked after by a short poll.
#[cfg(not(target_os = "linux"))]
pub(super) fn block_signals_and_watch_children() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised by sigfillset before it is read.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
    // A pipe whose other end is gone at once would always be ready; one kept open never is.
    let (read, write) = rustix::pipe::pipe()?;
    std::mem::forget(write);
    Ok(read)
}

/// Closes everything but standard input, output and error, so that nothing a shell left open
/// reaches an agent.
pub(super) fn close_inherited() {
    #[cfg(target_os = "linux")]
    // SAFETY: the keeper has just begun and owns no descriptor beyond the first three.
    unsafe {
        libc::close_range(3, libc::c_uint::MAX, 0);
    }
}

/// Watches a descriptor for readiness.
pub(super) fn watch<T: AsFd + AsRawFd>(end: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    // SAFETY: `T` owns its descriptor (an `OwnedFd` or a socket), keeps it for its whole life and
    // always names the same one; nothing here closes or replaces it while it is watched.
    unsafe { AsyncFd::register_with_interest(end, interest) }.map_err(|refused| refused.into_parts().1)
}
