//! `ralph hook`, for whoever types it: the call itself is dispatched before any of this.

use crate::error::CommandError;
use crate::hook::{self, Hook};
use clap::Args;
use ralph_core::outcome::exit;

/// Answer the hook of an agent's program, inside a run.
///
/// Agents' programs call this while the agent works; ralph tells Claude Code to for the length of a run, and `ralph
/// plugin export` writes a plugin that does. The client's JSON comes on standard input. Outside of a run it says
/// nothing and ends with 0.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph hook stop < payload.json\n  ralph hook context < payload.json\n\nExit code: always 0. What a hook says is a hint to the agent; ralph judges the iteration afterwards."
)]
pub struct HookArgs {
    /// Which hook
    #[arg(value_enum)]
    hook: Hook,
}

pub fn run(args: &HookArgs) -> Result<u8, CommandError> {
    hook::main(args.hook);
    Ok(exit::OK)
}
