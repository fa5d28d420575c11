//! A child process whose pid can be trusted: it is reaped under the same lock under which it is
//! signalled, so that a signal never reaches a stranger who got its number.

use std::io;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use crate::sys;

/// A started process.
pub struct Child {
    pid: u32,
    status: Arc<(Mutex<Option<ExitStatus>>, Condvar)>,
}

impl Child {
    /// Starts the command; the pipes of the std child are given back beside it.
    pub fn start(command: &mut Command) -> io::Result<(Child, Pipes)> {
        let mut child = command.spawn()?;
        let pid = child.id();
        let pipes = Pipes { stdin: child.stdin.take(), stdout: child.stdout.take(), stderr: child.stderr.take() };
        let status = Arc::new((Mutex::new(None), Condvar::new()));
        let shared = Arc::clone(&status);
        std::thread::spawn(move || {
            sys::wait_without_reaping(pid);
            let mut status = shared.0.lock().unwrap();
            *status = child.wait().ok();
            shared.1.notify_all();
        });
        Ok((Child { pid, status }, pipes))
    }

    /// Its process id, which is also its group and its session.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends a signal to it alone; false if it has ended.
    pub fn signal(&self, signal: i32) -> bool {
        let status = self.status.0.lock().unwrap();
        status.is_none() && sys::signal(self.pid, signal)
    }

    /// Kills its whole group, unless it has ended: then the number may be somebody else's.
    pub fn kill_group(&self) {
        let status = self.status.0.lock().unwrap();
        if status.is_none() {
            sys::signal_group(self.pid, libc::SIGKILL);
        }
    }

    /// Waits for the end; `None` if time ran out.
    pub fn wait(&self, deadline: Instant) -> Option<ExitStatus> {
        let (status, changed) = &*self.status;
        let left = deadline.saturating_duration_since(Instant::now());
        *changed.wait_timeout_while(status.lock().unwrap(), left, |status| status.is_none()).unwrap().0
    }
}

/// The parent's ends of the child's streams.
pub struct Pipes {
    /// To write its stdin.
    pub stdin: Option<std::process::ChildStdin>,
    /// To read its stdout.
    pub stdout: Option<std::process::ChildStdout>,
    /// To read its stderr.
    pub stderr: Option<std::process::ChildStderr>,
}
