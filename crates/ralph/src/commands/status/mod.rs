//! `ralph status`: the runs of this project as trees, newest first.

mod watch;

use super::live::{self, Live};
use super::{missing, pick};
use crate::cli::Global;
use crate::error::CommandError;
use crate::project::{self, Project};
use crate::terminal::page;
use clap::Args;
use ralph_core::id::RunId;
use ralph_core::outcome::{StopReason, exit};
use ralph_core::run::{Run, RunRow};
use ralph_core::text;
use ralph_core::time::{Millis, WallTime};
use ralph_host::child_runs;
use ralph_host::clock::Clock;
use ralph_host::identity::Identity;
use ralph_store::{Listing, Store, StoreError};
use ralph_view::json::{self, VERSION, extend};
use ralph_view::liveness::{Heartbeat, State};
use ralph_view::missing::{Damaged, Missing};
use ralph_view::table::{Line, Seen, table};
use ralph_view::tree::{Branches, grow};
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
    let mut pulse = Pulse::default();
    if args.watch {
        return watch::watch(global, || Sight::take(args, &project, &mut pulse));
    }
    let sight = Sight::take(args, &project, &mut pulse)?;
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
    /// Newest first.
    runs: Vec<(RunRow, Seen)>,
    missing: Missing,
    all: bool,
    now: WallTime,
}

impl<'p> Sight<'p> {
    fn take(args: &StatusArgs, project: &'p Project, pulse: &mut Pulse) -> Result<Sight<'p>, CommandError> {
        let (live, now) = (Live::look(project), Clock::start().now());
        let mut runs = Vec::new();
        let mut missing;
        if let Some(store) = Store::open_existing(&project.state)? {
            let listing = store.runs()?;
            missing = missing::look(project, &live, &listing);
            for row in listing.runs {
                let row = match pick::mended(&store, row.clone()) {
                    Err(error) if error.is_about_one_run() => {
                        missing.damaged.push(Damaged {
                            run: Some(row.run.clone()),
                            name: row.run.to_string(),
                            why: error.to_string(),
                        });
                        row
                    }
                    mended => mended?,
                };
                let process = live.process(&row.run);
                let state = State::of(&row, process.is_some());
                let idle = process.map(|process| pulse.idle(&store, &row.run, process)).transpose()?;
                let heartbeat = idle.map(|idle| Heartbeat::of(&row, live::last_output(project, &row), idle, now));
                let orphan = state == State::Running && child_runs::is_orphan(&project.run_folder(&row.run));
                runs.push((row, Seen { state, heartbeat, orphan }));
            }
        } else {
            missing = missing::look(project, &live, &Listing::default());
        }
        // Whoever waits on purpose has left its children alone, not lost.
        let waits = |row: &RunRow| row.stop_reason == Some(StopReason::Waiting);
        let waiting: Vec<RunId> = runs.iter().filter(|(row, _)| waits(row)).map(|(row, _)| row.run.clone()).collect();
        for (row, seen) in &mut runs {
            seen.orphan &= !row.parent.as_ref().is_some_and(|parent| waiting.contains(parent));
        }
        Ok(Sight { project, runs, missing, all: args.all, now })
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

    /// The newest runs, and of the others those that still run, with their parents.
    fn shown(&self) -> Vec<&RunRow> {
        let parents: HashMap<&RunId, &RunId> =
            self.runs.iter().filter_map(|(row, _)| Some((&row.run, row.parent.as_ref()?))).collect();
        let mut wanted = HashSet::new();
        for (row, _) in self.runs.iter().filter(|(_, seen)| seen.state == State::Running) {
            let mut next = Some(&row.run);
            while let Some(run) = next.filter(|run| wanted.insert(*run)) {
                next = parents.get(run).copied();
            }
        }
        let newest = if self.all { self.runs.len() } else { SHOWN };
        let rows = self.runs.iter().map(|(row, _)| row).enumerate();
        rows.filter(|(at, row)| *at < newest || wanted.contains(&row.run)).map(|(_, row)| row).collect()
    }

    /// For people; nothing if there are no runs.
    fn table(&self, global: &Global) -> String {
        if self.runs.is_empty() {
            return String::new();
        }
        let lines = !global.plain && project::shows_unicode();
        let grown = grow(&self.shown(), if lines { Branches::Lines } else { Branches::Ascii });
        let seen: HashMap<&RunId, &Seen> = self.runs.iter().map(|(row, seen)| (&row.run, seen)).collect();
        let lines = grown.into_iter().filter_map(|run| Some(Line { seen: seen.get(&run.row.run)?, run }));
        table(
            &lines.collect::<Vec<_>>(),
            self.now,
            &page::style(global, self.project),
            screen().map(|(columns, _)| columns),
        )
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
        let shown: HashSet<&RunId> = self.shown().into_iter().map(|row| &row.run).collect();
        let runs = || self.runs.iter().filter(|(row, _)| shown.contains(&row.run));
        let orphans = runs().filter(|(_, seen)| seen.orphan).take(ADVISED);
        let orphans =
            orphans.map(|(row, _)| format!("run {0} has lost its parent, end it with: ralph cancel {0}", row.run));
        let crashed = runs().filter(|(_, seen)| seen.state == State::Crashed).take(ADVISED);
        let crashed = crashed.map(|(row, _)| format!("run {0} crashed, resume with: ralph resume {0}", row.run));
        let older = self.runs.len() - shown.len();
        let older = (older > 0).then(|| format!("{}: ralph status --all", text::count(older as u64, "older run")));
        missing.chain(orphans).chain(crashed).chain(older).map(|line| suggest.line(&line)).collect()
    }
}

/// How long the agents of running runs may be silent. It cannot change while a process carries the run.
#[derive(Default)]
struct Pulse {
    idle: HashMap<(RunId, i32), Millis>,
}

impl Pulse {
    fn idle(&mut self, store: &Store, run: &RunId, process: Identity) -> Result<Millis, StoreError> {
        let key = (run.clone(), process.pid);
        if let Some(idle) = self.idle.get(&key) {
            return Ok(*idle);
        }
        // A journal that cannot be read back is told by the commands that need it.
        let entries = match store.entries(run) {
            Err(error) if error.is_about_one_run() => Vec::new(),
            entries => entries?,
        };
        let machine = Run::replay(&entries, |_, _| {});
        let idle = machine.map_or(Millis::ZERO, |machine| machine.policy().limits.idle);
        self.idle.insert(key, idle);
        Ok(idle)
    }
}

/// The columns and lines of the terminal that the table goes to.
fn screen() -> Option<(usize, usize)> {
    let stdout = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&stdout).ok().filter(|_| stdout.is_terminal())?;
    Some((usize::from(size.ws_col), usize::from(size.ws_row))).filter(|(columns, lines)| *columns > 0 && *lines > 0)
}
