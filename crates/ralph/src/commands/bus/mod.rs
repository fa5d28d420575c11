//! `ralph bus`: messages between people, agents and runs.

pub mod post;
mod read;
mod which;

use crate::cli::Global;
use crate::error::CommandError;
use clap::Subcommand;
use ralph_core::outcome::exit;
use ralph_host::bus::BusError;

/// Post and read messages between people, agents and runs.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  ralph bus post --type USER_REQUEST --task checkout 'use the new price list'\n  ralph bus read --task checkout\n  ralph bus tail -f\n\nWhich bus: --bus FILE, else that of --task, else with --project the project's, else $MESSAGE_BUS, else\nthat in $RALPH_TASK_DIR, else the nearest TASK-MESSAGE-BUS.md upward, else the project's,\nwhich is .ralph/PROJECT-MESSAGE-BUS.md."
)]
pub enum BusCommand {
    /// Post a message and print its id
    Post(post::PostArgs),
    /// Print the last messages
    Read(read::ReadArgs),
    /// Print the last messages, and with -f those that come
    Tail(read::TailArgs),
}

pub fn run(global: &Global, command: BusCommand) -> Result<u8, CommandError> {
    match command {
        BusCommand::Post(args) => post::run(global, args),
        BusCommand::Read(args) => read::run(global, &args),
        BusCommand::Tail(args) => read::tail(global, &args),
    }
}

impl From<BusError> for CommandError {
    fn from(error: BusError) -> CommandError {
        let code = match &error {
            BusError::Locked { .. } => exit::LOCKED,
            error if error.is_io() => exit::IO,
            _ => exit::USAGE,
        };
        CommandError::new(code, error.to_string())
    }
}
