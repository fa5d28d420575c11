//! `ralph status`: the runs of this project as trees, newest first.

mod watch;

use crate::cli::Global;
use crate::error::CommandError;
use crate::face::json_lines::{VERSION, extend};
use crate::look::damage::Missing;
use crate::look::forest::{Branches, grow};
use crate::look::heartbeat::Heartbeat;
use crate::look::live::Live;
use crate::look::runs::Listing;
use crate::look::state::State;
use crate::look::table::{Line, Seen, table};
use crate::look::{json, page, pick};
use crate::project::{self, Project};
use clap::Args;
use ralph_core::id::RunId;
use ralph_core::outcome::{StopReason, exit};
use ralph_core::run::RunRow;
use ralph_core::stream::StreamKind;
use ralph_core::text;
use ralph_core::time::WallTime;
use ralph_host::child_runs;
use ralph_host::clock::Clock;
use ralph_store::{Store, StoreError, Which};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
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

/// What fits on a screen. Programs get all of them.
const SHOWN: usize = 20;
/// Runs that get a line of advice, of those that crashed and of those whose parent is gone; older ones are history.
const ADVISED: usize = 3;

/// Runs the command.
pub fn run(global: &Global, args: &StatusArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    if args.watch {
        return watch::watch(global, || Sight::take(global, args, &project));
    }
    let sight = Sight::take(global, args, &project)?;
    if global.json {
        page::print_json(&sight.json())?;
        return Ok(exit::OK);
    }
    page::print(&sight.table(global))?;
    sight.advice().iter().for_each(|line| page::narrate(global, line));
    Ok(exit::OK)
}

/// The runs of a project at one moment.
struct Sight<'p> {
    project: &'p Project,
    /// Newest first: all of them, or those that fit on a screen and those that still run, with their parents.
    runs: Vec<(RunRow, Seen)>,
    missing: Missing,
    /// How many there are beside these.
    older: usize,
    now: WallTime,
}

impl<'p> Sight<'p> {
    /// Looks. Programs get all runs.
    fn take(global: &Global, args: &StatusArgs, project: &'p Project) -> Result<Sight<'p>, CommandError> {
        let (live, now) = (Live::look(project), Clock::start().now());
        let store = Store::open_existing(&project.state)?;
        let mut listing = Listing::default();
        let (living, mut older) = (live.runs(), 0);
        if let Some(store) = &store {
            let most = if global.json || args.all { usize::MAX } else { SHOWN };
            listing = Listing::newest(store, Which::All, most)?;
            add_living(&mut listing.runs, &living, store)?;
            older = store.count(StreamKind::Run)?.saturating_sub(listing.runs.len() + listing.damaged.len());
        }
        let missing = Missing::look(project, &live, store.as_ref(), &listing)?;
        let living: HashSet<RunId> = living.into_iter().collect();
        // Whoever waits on purpose has left its children alone, not lost.
        let waits = |row: &&RunRow| row.stop_reason == Some(StopReason::Waiting);
        let waiting: HashSet<RunId> = listing.runs.iter().filter(waits).map(|row| row.run.clone()).collect();
        let seen = |row: &RunRow| {
            let is_alive = living.contains(&row.run);
            let is_lost = || child_runs::is_orphan(&project.run_folder(&row.run));
            Seen {
                state: State::of(row, is_alive),
                heartbeat: is_alive.then(|| Heartbeat::of(row, project, now)),
                orphan: is_alive && !row.parent.as_ref().is_some_and(|parent| waiting.contains(parent)) && is_lost(),
            }
        };
        let seen: Vec<Seen> = listing.runs.iter().map(seen).collect();
        let runs = listing.runs.into_iter().zip(seen).collect();
        Ok(Sight { project, runs, missing, older, now })
    }

    /// For programs.
    fn json(&self) -> Value {
        self.objects(Heartbeat::json, |_| self.now)
    }

    /// Everything but how old it is.
    fn without_age(&self) -> Value {
        self.objects(|heartbeat| json!(heartbeat.beat.word()), |row| row.updated_at)
    }

    fn objects(&self, tell: fn(Heartbeat) -> Value, now: impl Fn(&RunRow) -> WallTime) -> Value {
        let runs = self.runs.iter().map(|(row, seen)| {
            let mut object = json::run(row, seen.state, seen.state.worked(row, now(row)));
            extend(&mut object, json!({ "heartbeat": seen.heartbeat.map(tell), "orphan": seen.orphan }));
            object
        });
        let mut object = json!({ "v": VERSION, "runs": runs.collect::<Vec<_>>() });
        extend(&mut object, self.missing.json());
        object
    }

    /// For people; nothing if there are no runs.
    fn table(&self, global: &Global) -> String {
        if self.runs.is_empty() {
            return String::new();
        }
        let lines = !global.plain && project::shows_unicode();
        let rows: Vec<&RunRow> = self.runs.iter().map(|(row, _)| row).collect();
        let grown = grow(&rows, if lines { Branches::Lines } else { Branches::Ascii });
        let seen: HashMap<&RunId, &Seen> = self.runs.iter().map(|(row, seen)| (&row.run, seen)).collect();
        let lines = grown.into_iter().filter_map(|run| Some(Line { seen: seen.get(&run.row.run)?, run }));
        table(&lines.collect::<Vec<_>>(), self.now, page::paint(global), screen().map(|(columns, _)| columns))
    }

    /// What to type about what the table shows.
    fn advice(&self) -> Vec<String> {
        let suggest = self.project.suggest();
        let missing = self.missing.lines().into_iter();
        if self.runs.is_empty() {
            let root = self.project.root.display();
            let begin = format!("no runs in {root} yet; begin one: ralph run -p 'make the tests pass'");
            return missing
                .chain(pick::namesakes(self.project))
                .chain([begin])
                .map(|line| suggest.line(&line))
                .collect();
        }
        let orphans = self.runs.iter().filter(|(_, seen)| seen.orphan).take(ADVISED);
        let orphans =
            orphans.map(|(row, _)| format!("run {0} has lost its parent, end it with: ralph cancel {0}", row.run));
        let crashed = self.runs.iter().filter(|(_, seen)| seen.state == State::Crashed).take(ADVISED);
        let crashed = crashed.map(|(row, _)| format!("run {0} crashed, resume with: ralph resume {0}", row.run));
        let count = |older| format!("{}: ralph status --all", text::count(older as u64, "older run"));
        let older = (self.older > 0).then(|| count(self.older));
        missing.chain(orphans).chain(crashed).chain(older).map(|line| suggest.line(&line)).collect()
    }
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
            // The parent may be a run of another project, for which the whole table must not be searched.
            let row = Listing::newest(store, Which::Named(std::slice::from_ref(&run)), 1)?.runs.pop();
            above.extend(row.and_then(|row| row.parent));
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
