//! `ralph status`: the runs of this project, newest first.

use crate::cli::Global;
use crate::error::CommandError;
use crate::look::live::Live;
use crate::look::state::State;
use crate::look::table::{Seen, table};
use crate::look::{json, page, pick};
use crate::place::Place;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_core::run::RunRow;
use ralph_core::text;
use ralph_host::clock::Clock;
use ralph_store::Store;
use serde_json::json;
use std::io::IsTerminal;

/// List the runs of this project, newest first.
///
/// A run counts as running only while a living ralph holds the work tree's lock for it. One that
/// neither runs nor ended has crashed, and can be resumed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph status\n  ralph status --all\n  ralph status --json | jq -r '.runs[] | select(.state == \"running\") | .run'"
)]
pub struct StatusArgs {
    /// Also the runs beyond the newest twenty
    #[arg(long)]
    all: bool,
}

/// What fits on a screen. Programs get all of them.
const SHOWN: usize = 20;
/// Crashed runs that get a line of advice; older ones are history.
const ADVISED: usize = 3;

/// Runs the command.
pub fn run(global: &Global, args: &StatusArgs) -> Result<u8, CommandError> {
    let place = Place::find(global.directory.as_deref())?;
    let rows = match Store::open_existing(&place.state)? {
        Some(store) => {
            let rows = store.runs()?.into_iter().map(|row| pick::mended(&store, row));
            rows.collect::<Result<Vec<RunRow>, _>>()?
        }
        None => Vec::new(),
    };
    let live = Live::look(&place);
    if global.json {
        let runs: Vec<_> = rows.iter().map(|row| json::run(row, live.state(row))).collect();
        page::print_json(&json!({ "runs": runs }))?;
        return Ok(exit::OK);
    }
    if rows.is_empty() {
        page::narrate(
            global,
            &format!("no runs in {} yet; begin one: ralph run -p 'make the tests pass'", place.root.display()),
        );
        return Ok(exit::OK);
    }
    let shown = if args.all { rows.len() } else { rows.len().min(SHOWN) };
    let now = Clock::start().now();
    let seen: Vec<Seen<'_>> = rows.iter().take(shown).map(|row| Seen::of(row, &live, &place, now)).collect();
    page::print(&table(&seen, page::paint(global), width()))?;
    advise(global, &seen, rows.len() - shown);
    Ok(exit::OK)
}

/// What to type about what the table shows.
fn advise(global: &Global, seen: &[Seen<'_>], older: usize) {
    let crashed = seen.iter().filter(|seen| seen.state == State::Crashed);
    for Seen { row, .. } in crashed.take(ADVISED) {
        page::narrate(global, &format!("run {0} crashed, resume with: ralph resume {0}", row.run));
    }
    if older > 0 {
        page::narrate(global, &format!("{}: ralph status --all", text::count(older as u64, "older run")));
    }
}

/// The width of the terminal that the table goes to.
fn width() -> Option<usize> {
    let stdout = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&stdout).ok().filter(|_| stdout.is_terminal())?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}
