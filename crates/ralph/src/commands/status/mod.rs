//! `ralph status`: the runs of this project as trees, newest first.

mod watch;

use super::pick;
use crate::cli::Global;
use crate::error::CommandError;
use crate::live::{self, Live};
use crate::missing::{self, Beside};
use crate::project::Project;
use crate::runs::{self, Listing};
use crate::terminal::page;
use clap::Args;
use ralph_core::id::RunId;
use ralph_core::outcome::exit;
use ralph_core::run::RunRow;
use ralph_core::stream::StreamKind;
use ralph_host::child_runs;
use ralph_host::clock::Clock;
use ralph_store::{Store, StoreError, Which};
use ralph_view::Suggest;
use ralph_view::liveness::{Heartbeat, State};
use ralph_view::status::{Runs, SHOWN};
use ralph_view::table::Seen;
use std::collections::HashSet;
use std::io::IsTerminal;

/// List the runs of this project, newest first, child runs below their parents.
///
/// A run counts as running only while a living process carries it, and shows how long ago it gave a
/// sign of life: live, quiet or stale, or how much longer it waits. One that neither runs nor ended
/// has crashed, and can be resumed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph status\n  ralph status --watch\n  ralph status --all\n  ralph status --json | jq -r '.runs[] | select(.state == \"running\") | .run'"
)]
pub struct StatusArgs {
    /// Also the runs beyond the newest twenty
    #[arg(long)]
    all: bool,
    /// Go on showing them until interrupted: in place on a terminal, elsewhere again after each change
    #[arg(long)]
    watch: bool,
}

pub fn run(global: &Global, args: &StatusArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    if args.watch {
        return watch::watch(global, &project, || take(global, args, &project));
    }
    let runs = take(global, args, &project)?;
    if global.json {
        page::print_json(&runs.json())?;
        return Ok(exit::OK);
    }
    page::print(&table(&runs, global))?;
    advice(&runs, &project).iter().for_each(|line| page::narrate(global, line));
    Ok(exit::OK)
}

/// Looks at the runs of a project. Programs get all of them; people those that fit on a screen, and those that still
/// run, with their parents.
fn take(global: &Global, args: &StatusArgs, project: &Project) -> Result<Runs, CommandError> {
    let (live, now) = (Live::look(project), Clock::start().now());
    let store = Store::open_existing(&project.state)?;
    let (living, mut listing, mut older) = (live.runs(), Listing::default(), 0);
    if let Some(store) = &store {
        let most = if global.json || args.all { usize::MAX } else { SHOWN };
        listing = Listing::newest(store, Which::All, most)?;
        add_living(&mut listing.runs, &living, store)?;
        older = store.count(StreamKind::Run)?.saturating_sub(listing.runs.len() + listing.damaged.len());
    }
    let missing = missing::look(project, &live, store.as_ref(), &listing, Beside::Carried)?;
    let living: HashSet<RunId> = living.into_iter().collect();
    let seen = |row: &RunRow| {
        let lives = living.contains(&row.run);
        Seen {
            state: State::of(row, lives),
            heartbeat: lives.then(|| Heartbeat::of(row, live::last_output(project, row), now)),
            orphan: lives && child_runs::is_orphan(&project.run_folder(&row.run)),
        }
    };
    let seen: Vec<Seen> = listing.runs.iter().map(seen).collect();
    Ok(Runs::new(listing.runs.into_iter().zip(seen).collect(), missing, older, now))
}

fn table(runs: &Runs, global: &Global) -> String {
    runs.table(&page::style(global, Suggest::default()), screen().map(|(columns, _)| columns))
}

fn advice(runs: &Runs, project: &Project) -> Vec<String> {
    let namesakes = if runs.is_empty() { pick::namesakes(project) } else { Vec::new() };
    let suggest = project.suggest();
    runs.advice(&project.root.display().to_string(), namesakes).iter().map(|line| suggest.line(line)).collect()
}

/// Adds the runs that still run, and their parents, to the newest; all of them are older than those.
fn add_living(newest: &mut Vec<RunRow>, living: &[RunId], store: &Store) -> Result<(), StoreError> {
    let mut shown: HashSet<RunId> = newest.iter().map(|row| row.run.clone()).collect();
    let mut above: Vec<RunId> =
        newest.iter().filter(|row| living.contains(&row.run)).filter_map(|row| row.parent.clone()).collect();
    above.extend_from_slice(living);
    let mut added = Vec::new();
    while let Some(run) = above.pop() {
        if shown.insert(run.clone()) {
            above.extend(runs::indexed(store, &run)?.and_then(|row| row.parent));
            added.push(run);
        }
    }
    newest.extend(Listing::newest(store, Which::Named(&added), usize::MAX)?.runs);
    Ok(())
}

/// The columns and lines of the terminal that the table goes to.
fn screen() -> Option<(usize, usize)> {
    let stdout = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&stdout).ok().filter(|_| stdout.is_terminal())?;
    Some((usize::from(size.ws_col), usize::from(size.ws_row))).filter(|(columns, lines)| *columns > 0 && *lines > 0)
}
