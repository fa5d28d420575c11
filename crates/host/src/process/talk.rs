//! A program on a person's terminal: it gets ralph's own standard streams, and ralph waits. No keeper stands between
//! them, because whoever talks to it also ends it.

use super::Command;
use std::io;
use std::process::ExitStatus;
use tokio::signal::unix::{SignalKind, signal};

/// Starts the program and waits until it ends. Keys that interrupt are meant for it, and not for ralph beside it.
#[allow(clippy::disallowed_methods, reason = "host/process is the place that spawns")]
pub async fn talk(command: &Command) -> io::Result<ExitStatus> {
    // Once somebody listens, the system's own answer to these, which is the end of ralph, does not come any more.
    let _heard = [signal(SignalKind::interrupt())?, signal(SignalKind::quit())?];
    let mut program = std::process::Command::new(&command.program);
    program.args(&command.args).current_dir(&command.folder);
    command.remove.iter().for_each(|name| _ = program.env_remove(name));
    program.envs(command.set.iter().map(|(name, value)| (name, value)));
    program.spawn()?.wait()
}
