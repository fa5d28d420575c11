//! The `ralph` program: wires the rooms together, reads the environment, prints, and exits.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod cli;
mod commands;
mod error;
mod hook;
mod judging;
mod live;
mod missing;
mod plan_folder;
mod project;
mod runs;
mod session;
mod settings;
mod terminal;

use hook::Hook;
use ralph_host::process::{KEEPER_ARGUMENT, keeper_main, watch_main};
use ralph_host::snapshot::{SNAPSHOT_ARGUMENT, snapshot_main};
use ralph_host::watching::WATCH_ARGUMENT;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let first = args.next();
    // Calls that must cost nothing: the keeper of every run, what stands between it and a check, and the version.
    if first.as_ref().is_some_and(|first| first == KEEPER_ARGUMENT) {
        return keeper_main(args).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    if first.as_ref().is_some_and(|first| first == SNAPSHOT_ARGUMENT) {
        return ExitCode::from(snapshot_main(args));
    }
    if first.as_ref().is_some_and(|first| first == WATCH_ARGUMENT) {
        return watch_main(args).map_or_else(not_started, ExitCode::from);
    }
    if first.as_ref().is_some_and(|first| first == hook::ARGUMENT) {
        // Anything but the bare call is for people, who get help and messages.
        let mut rest = std::env::args_os().skip(2);
        if let (Some(hook), None) = (rest.next().and_then(|name| Hook::named(&name)), rest.next()) {
            hook::main(hook);
            return ExitCode::SUCCESS;
        }
    }
    if args.next().is_none() && first.is_some_and(|first| first == "--version" || first == "-v") {
        return ExitCode::from(cli::version());
    }
    session::on_panic();
    ExitCode::from(cli::main())
}

/// A command that did not start, as a shell says it.
fn not_started(why: String) -> ExitCode {
    eprintln!("ralph: {why}");
    ExitCode::from(127)
}
