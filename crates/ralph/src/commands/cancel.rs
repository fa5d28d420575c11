//! `ralph cancel`: stops a run and the runs below it at once, and for good.

use super::pick;
use crate::cli::Global;
use crate::error::CommandError;
use crate::live::Live;
use crate::project::{self, Project};
use crate::runs::{self, Listing};
use crate::session::Claimed;
use crate::terminal::page;
use clap::Args;
use ralph_core::activity::Act;
use ralph_core::event::Event;
use ralph_core::id::RunId;
use ralph_core::outcome::exit;
use ralph_core::request::Request;
use ralph_core::run::RunRow;
use ralph_core::time::Millis;
use ralph_host::child_runs::{self, Child};
use ralph_host::clock::Clock;
use ralph_host::identity::{self, Identity};
use ralph_host::signals;
use ralph_host::temp::RunTemp;
use ralph_host::views::Folder;
use ralph_store::{Store, Which};
use ralph_view::json::{self, VERSION, extend};
use ralph_view::liveness::State;
use ralph_view::words;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Stop a run at once, with the runs that were started inside it.
///
/// Child runs are stopped first, also those in other projects. The running agent or check is ended
/// with everything that it started, and the run ends as cancelled. A run that crashed is marked, so
/// that it stays cancelled. `ralph resume` can still go on with it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ralph cancel              the run that is running here\n  ralph cancel 7f3a9k2m")]
pub struct CancelArgs {
    /// The run by its id or the beginning of it; the one that is running here, with all inside it, if left out
    run: Option<String>,
}

/// How long the run may take to end: the stop ladder needs 5 s before it kills, a drain two more.
const PATIENCE: Millis = Millis::from_secs(15);
/// How long a run may take from its start to its first entry; it takes milliseconds.
const FIRST_ENTRY: Millis = Millis::from_secs(2);
const LOOK: Duration = Duration::from_millis(50);
/// How long what a crashed run left alive may take to be ended.
const END_OLD_TREE: Duration = Duration::from_secs(10);
/// How long a process may take to go when its run has ended: someone may not read what it prints.
const GOING: Millis = Millis::from_secs(2);
/// How often the runs below are looked for again: one may have started another until it was ended itself.
const ROUNDS: usize = 10;

pub fn run(global: &Global, args: &CancelArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let store = pick::store(&project)?;
    let live = Live::look(&project);
    let row = wanted(&store, args, &live, &project)?;
    let folder = project.run_folder(&row.run);
    let mut below = end_below(global, &project, &folder)?;
    let ended = match (live.process(&row.run), row.stop_reason) {
        (Some(process), _) => stop(global, &project, row, &process)?,
        (None, None) => mark(&project, &row)?,
        (None, Some(reason)) => {
            let rest = if below.is_empty() { "; nothing to do" } else { "" };
            page::narrate(global, &format!("run {} already ended: {}{rest}", row.run, reason.as_str()));
            row
        }
    };
    // While its children were being ended, its agent may have started others.
    for _ in 0..ROUNDS {
        match end_below(global, &project, &folder)? {
            more if more.is_empty() => break,
            more => below.extend(more),
        }
    }
    tell(global, &below, &ended)?;
    Ok(exit::OK)
}

fn wanted(store: &Store, args: &CancelArgs, live: &Live<'_>, project: &Project) -> Result<RunRow, CommandError> {
    if let Some(typed) = &args.run {
        return pick::run(store, Some(typed), project);
    }
    if let Some(top) = only_top(store, live)? {
        return Ok(top);
    }
    let Some((owner, run)) = live.owner().and_then(|owner| Some((owner, owner.run.as_ref()?))) else {
        return Err(CommandError::usage("no run is running here")
            .hint("list them: ralph status")
            .hint("then: ralph cancel RUN"));
    };
    // Between taking the lock and its first entry a run is known to nobody else.
    first_entry(store, run, &owner.identity)?.ok_or_else(|| {
        CommandError::usage(format!("what runs in this work tree is no run of this project: {owner}"))
            .hint("give the folder in which it was started: ralph -C DIR cancel")
    })
}

/// The only living run that is not inside another; `None` if none lives that the store knows.
fn only_top(store: &Store, live: &Live<'_>) -> Result<Option<RunRow>, CommandError> {
    let living = live.runs();
    let mut running = Listing::newest(store, Which::Named(&living), living.len())?.runs;
    let parents: Vec<RunId> = running.iter().map(|row| row.run.clone()).collect();
    running.retain(|row| row.parent.as_ref().is_none_or(|parent| !parents.contains(parent)));
    match (running.pop(), running.is_empty()) {
        (only, true) => Ok(only),
        (None, false) => Ok(None),
        (Some(one), false) => {
            let all: Vec<String> = running.iter().chain([&one]).map(|row| row.run.to_string()).collect();
            Err(CommandError::usage(format!("several runs are running here: {}", all.join(", ")))
                .hint("say which: ralph cancel RUN"))
        }
    }
}

/// The row of a run that lives: it stands in the store with its first entry.
fn first_entry(store: &Store, run: &RunId, process: &Identity) -> Result<Option<RunRow>, CommandError> {
    let clock = Clock::start();
    loop {
        let alive = process.is_alive();
        match runs::row(store, run)? {
            Some(row) => return Ok(Some(row)),
            None if !alive || clock.elapsed() > FIRST_ENTRY => return Ok(None),
            None => drop(page::pause(LOOK)),
        }
    }
}

/// Ends the living runs below the run of this folder, each after those that were started inside it.
fn end_below(global: &Global, project: &Project, run_folder: &Path) -> Result<Vec<RunRow>, CommandError> {
    let mut ended = Vec::new();
    for child in child_runs::live_descendants(run_folder) {
        let Some((home, row)) = find(project, &child)? else { continue };
        ended.push(stop(global, &home, row, &child.identity)?);
    }
    Ok(ended)
}

/// A child run as its own project knows it; `None` if it ended before it began.
fn find(project: &Project, child: &Child) -> Result<Option<(Project, RunRow)>, CommandError> {
    let state = child.folder.ancestors().nth(2).unwrap_or(&project.state);
    let silent = || {
        let pid = child.identity.pid;
        CommandError::new(exit::LOCKED, format!("the child run {} (process {pid}) does not begin", child.run))
            .hint(format!("end it: kill {pid}"))
    };
    let Some(store) = Store::open_existing(state)? else {
        return if child.identity.is_alive() { Err(silent()) } else { Ok(None) };
    };
    let Some(row) = first_entry(&store, &child.run, &child.identity)? else {
        return if child.identity.is_alive() { Err(silent()) } else { Ok(None) };
    };
    if state == project.state {
        return Ok(Some((project.clone(), row)));
    }
    let started = pick::started(&store, &child.run)?;
    let home = Project::find(Some(Path::new(&started.root)))?;
    Ok(Some((Project { state: state.to_owned(), ..home }, row)))
}

/// Asks the living process, and waits until it has ended the run and itself.
fn stop(global: &Global, project: &Project, before: RunRow, process: &Identity) -> Result<RunRow, CommandError> {
    let clock = Clock::start();
    let run = &before.run;
    let mut store = Store::open(&project.state)?;
    page::narrate(global, &format!("cancelling run {run}"));
    let (mut told, mut gone_by) = (false, None);
    loop {
        // Looked at first: whatever a process that is gone by now has written is in the row.
        let gone = !process.is_alive();
        let row = runs::row(&store, run)?.unwrap_or_else(|| before.clone());
        let ended = row.stop_reason.is_some() && row.updated_at != before.updated_at;
        if ended && clock.elapsed() > *gone_by.get_or_insert(Millis(clock.elapsed().0 + GOING.0)) {
            return Ok(row);
        }
        if gone {
            return if row.stop_reason.is_some() { Ok(row) } else { mark(project, &row) };
        }
        // A run that is just being resumed forgets earlier wishes, and does not listen yet.
        if !ended && !store.asked(run)?.iter().any(|asked| asked.request == Request::Cancel) {
            store.ask(run, Request::Cancel, clock.now())?;
            told = false;
        }
        // The number alone is not enough: it may belong to somebody else by now.
        if !ended && !told && process.is_alive() {
            told = signals::nudge(process.pid);
        }
        if clock.elapsed() > PATIENCE {
            let pid = process.pid;
            let problem = format!("run {run} was told to stop, but has not ended after {PATIENCE}: process {pid}");
            return Err(CommandError::new(exit::LOCKED, problem)
                .hint(format!("if it is suspended, let it go on: kill -CONT {pid}"))
                .hint(format!("if it hangs: kill -KILL {pid} && ralph cancel {run}")));
        }
        let _ = page::pause(LOOK);
    }
}

/// Ends a run that nobody carries: its journal gets the end that it never came to.
fn mark(project: &Project, row: &RunRow) -> Result<RunRow, CommandError> {
    let mut claimed = Claimed::take_journal(project, &row.run)?;
    identity::end_marked(&row.run, &project.run_folder(&row.run), END_OLD_TREE);
    RunTemp::remove(&project::temp_folder(), &row.run);
    let mut machine = pick::machine(claimed.store(), &row.run)?;
    if machine.outcome().is_some() {
        return Ok(machine.row());
    }
    let step = claimed.append(&mut machine, Event::CancelledUncarried)?;
    // The readable files are worth less than the end itself, which is in the journal, and those of
    // somebody who works in the tree are worth more.
    if claimed.has_tree()
        && let Ok(mut folder) = Folder::prepare(&project.root, &row.task)
    {
        for act in step.acts {
            if let Act::WriteViews(views) = act {
                let _ = folder.write_views(&views);
            }
        }
    }
    Ok(machine.row())
}

fn tell(global: &Global, below: &[RunRow], row: &RunRow) -> Result<(), CommandError> {
    let stopped = |row: &RunRow| State::of(row, false);
    if global.json {
        let told = |row: &RunRow| json::run(row, stopped(row), stopped(row).worked(row, row.updated_at));
        let mut object = told(row);
        let children: Vec<_> = below.iter().map(told).collect();
        extend(&mut object, json!({ "v": VERSION, "children": children }));
        return page::print_json(&object);
    }
    let paint = page::paint(global);
    below.iter().chain([row]).try_for_each(|row| {
        let state = stopped(row);
        let word = state.painted(row, paint, state.words(row));
        page::print(&format!("run {} · {word} · {}\n", row.run, words::one_line(&row.message)))
    })
}
