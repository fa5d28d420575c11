//! `ralph status`: the runs of this project as trees, newest first.

mod watch;

use super::pick;
use crate::cli::Global;
use crate::error::CommandError;
use crate::live::{self, Live};
use crate::missing;
use crate::project::Project;
use crate::terminal::page;
use clap::Args;
use ralph_core::id::RunId;
use ralph_core::outcome::exit;
use ralph_core::run::Run;
use ralph_core::time::Millis;
use ralph_host::child_runs;
use ralph_host::clock::Clock;
use ralph_host::identity::Identity;
use ralph_store::{Listing, Store, StoreError};
use ralph_view::Suggest;
use ralph_view::liveness::{Heartbeat, State};
use ralph_view::missing::Damaged;
use ralph_view::status::Runs;
use ralph_view::table::Seen;
use std::collections::HashMap;
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

/// Runs the command.
pub fn run(global: &Global, args: &StatusArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let mut pulse = Pulse::default();
    if args.watch {
        return watch::watch(global, &project, || take(args, &project, &mut pulse));
    }
    let runs = take(args, &project, &mut pulse)?;
    if global.json {
        page::print_json(&runs.json())?;
        return Ok(exit::OK);
    }
    page::print(&table(&runs, global))?;
    advice(&runs, &project).iter().for_each(|line| page::narrate(global, line));
    Ok(exit::OK)
}

/// Looks at the runs of a project.
fn take(args: &StatusArgs, project: &Project, pulse: &mut Pulse) -> Result<Runs, CommandError> {
    let (live, now) = (Live::look(project), Clock::start().now());
    let Some(store) = Store::open_existing(&project.state)? else {
        return Ok(Runs::new(Vec::new(), missing::look(project, &live, &Listing::default()), args.all, now));
    };
    let listing = store.runs()?;
    let mut missing = missing::look(project, &live, &listing);
    let mut runs = Vec::new();
    for row in listing.runs {
        let row = match pick::mended(&store, row.clone()) {
            Err(error) if error.is_about_one_run() => {
                let (run, name) = (Some(row.run.clone()), row.run.to_string());
                missing.damaged.push(Damaged { run, name, why: error.to_string() });
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
    Ok(Runs::new(runs, missing, args.all, now))
}

/// The table for people; nothing if there are no runs.
fn table(runs: &Runs, global: &Global) -> String {
    runs.table(&page::style(global, Suggest::default()), screen().map(|(columns, _)| columns))
}

/// What to type about what the table shows.
fn advice(runs: &Runs, project: &Project) -> Vec<String> {
    let namesakes = if runs.is_empty() { pick::namesakes(project) } else { Vec::new() };
    let suggest = project.suggest();
    runs.advice(&project.root.display().to_string(), namesakes).iter().map(|line| suggest.line(line)).collect()
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
