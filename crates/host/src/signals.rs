//! Signals to ralph itself, as values.

use crate::identity::Identity;
use crate::process::unblock_signals;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// SIGINT or SIGTERM, or SIGHUP: finish what runs, then stop; a second one: stop now.
    Interrupt,
    /// SIGUSR2: somebody left a request in the store.
    LookForRequests,
    /// SIGTSTP: the terminal suspends us.
    Suspend,
    /// SIGWINCH: the terminal has another size.
    Resized,
}

#[derive(Debug)]
pub struct Signals {
    int: Signal,
    term: Signal,
    hup: Option<Signal>,
    usr2: Signal,
    tstp: Signal,
    winch: Signal,
    /// A file as large as the shell allows is an error to be told, and no reason to die.
    _file_size: Signal,
}

impl Signals {
    /// Begins to listen. A SIGHUP that the parent ignores (nohup) stays ignored; blocked signals are unblocked.
    pub fn listen() -> io::Result<Signals> {
        unblock_signals();
        Ok(Signals {
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
            hup: if hangup_is_ignored() { None } else { Some(signal(SignalKind::hangup())?) },
            usr2: signal(SignalKind::user_defined2())?,
            tstp: signal(SignalKind::from_raw(libc::SIGTSTP))?,
            winch: signal(SignalKind::window_change())?,
            _file_size: signal(SignalKind::from_raw(libc::SIGXFSZ))?,
        })
    }

    pub async fn next(&mut self) -> Sign {
        let hup = async {
            match &mut self.hup {
                Some(hup) => hup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.int.recv() => Sign::Interrupt,
            _ = self.term.recv() => Sign::Interrupt,
            _ = hup => Sign::Interrupt,
            _ = self.usr2.recv() => Sign::LookForRequests,
            _ = self.tstp.recv() => Sign::Suspend,
            _ = self.winch.recv() => Sign::Resized,
        }
    }
}

/// Whether ralph was started with SIGHUP ignored, as nohup does.
fn hangup_is_ignored() -> bool {
    has_signal("self", "SigIgn:", libc::SIGHUP).unwrap_or(false)
}

/// Whether a process has a signal in one of the sets that /proc tells; `None` if nobody tells.
fn has_signal(process: &str, set: &str, signal: i32) -> Option<bool> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix(set))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask >> (signal - 1) & 1 != 0)
}

/// Stops this very process until somebody continues it, as the terminal asked.
pub fn suspend_self() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
}

/// Tells another ralph to look for requests; false if it does not listen yet: the signal would kill it.
pub fn nudge(pid: i32) -> bool {
    has_signal(&pid.to_string(), "SigCgt:", libc::SIGUSR2).unwrap_or(true)
        && rustix::process::Pid::from_raw(pid)
            .is_some_and(|pid| rustix::process::kill_process(pid, rustix::process::Signal::USR2).is_ok())
}

/// Asks that very process to stop, as a person at its terminal would.
pub fn interrupt(who: &Identity) {
    if let Some(pid) = rustix::process::Pid::from_raw(who.pid).filter(|_| who.is_alive()) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}
