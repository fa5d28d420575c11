//! `ralph cancel`: stops a run at once, and for good.

use crate::carry::Claimed;
use crate::cli::Global;
use crate::error::CommandError;
use crate::look::live::Live;
use crate::look::state::State;
use crate::look::story::{InFlight, Story};
use crate::look::words;
use crate::look::{json, page, pick};
use crate::place::Place;
use clap::Args;
use ralph_core::check::{CheckEnding, CheckReport};
use ralph_core::effect::Effect;
use ralph_core::event::Event;
use ralph_core::observation::{Ending, Failure, FailureClass, Observation};
use ralph_core::outcome::exit;
use ralph_core::run::RunRow;
use ralph_core::scm::ScmReport;
use ralph_core::time::Millis;
use ralph_host::clock::Clock;
use ralph_host::identity::{self, Identity};
use ralph_host::signals;
use ralph_host::views::Folder;
use ralph_store::Store;
use std::time::Duration;

/// Stop a run at once.
///
/// The running agent or check is ended with everything that it started, and the run ends as
/// cancelled. A run that crashed is marked, so that it stays cancelled. `ralph resume` can still go
/// on with it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ralph cancel              the run that is running here\n  ralph cancel 7f3a9k2m")]
pub struct CancelArgs {
    /// The run by its id or the beginning of it; the running one if left out
    run: Option<String>,
}

/// How long the run may take to end: the stop ladder needs 5 s before it kills, a drain two more.
const PATIENCE: Millis = Millis::from_secs(15);
/// How long a run may take from its lock to its first entry; it takes milliseconds.
const FIRST_ENTRY: Millis = Millis::from_secs(2);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);
/// How long what a crashed run left alive may take to be ended.
const END_OLD_TREE: Duration = Duration::from_secs(10);

/// Runs the command.
pub fn run(global: &Global, args: &CancelArgs) -> Result<u8, CommandError> {
    let place = Place::find(global.directory.as_deref())?;
    let store = pick::store(&place)?;
    let live = Live::look(&place);
    let row = wanted(&store, args, &live, &place)?;
    let ended = match (live.process(&row.run), row.stop_reason) {
        (Some(process), _) => stop(global, &place, row, &process)?,
        (None, None) => mark(&place, &row)?,
        (None, Some(reason)) => {
            page::narrate(global, &format!("run {} already ended: {}; nothing to do", row.run, reason.as_str()));
            row
        }
    };
    tell(global, &ended)?;
    Ok(exit::OK)
}

fn wanted(store: &Store, args: &CancelArgs, live: &Live<'_>, place: &Place) -> Result<RunRow, CommandError> {
    if let Some(typed) = &args.run {
        return pick::run(store, Some(typed), place);
    }
    let Some((owner, run)) = live.owner().and_then(|owner| Some((owner, owner.run.as_ref()?))) else {
        return Err(CommandError::usage("no run is running here")
            .hint("list them: ralph status")
            .hint("then: ralph cancel RUN"));
    };
    let clock = Clock::start();
    // Between taking the lock and its first entry a run is known to nobody else.
    while clock.elapsed() < FIRST_ENTRY {
        if let Some(row) = store.run(run)? {
            return Ok(row);
        }
        page::pause(LOOK);
    }
    Err(CommandError::usage(format!("what runs in this work tree is no run of this project: {owner}"))
        .hint("give the folder in which it was started: ralph -C DIR cancel"))
}

/// Asks the living process, and waits until the run has ended.
fn stop(global: &Global, place: &Place, before: RunRow, process: &Identity) -> Result<RunRow, CommandError> {
    let clock = Clock::start();
    let run = &before.run;
    let mut store = Store::open(&place.state)?;
    page::narrate(global, &format!("cancelling run {run}"));
    let mut told = false;
    loop {
        // A run that is just being resumed forgets earlier wishes, and does not listen yet.
        if !store.cancel_requested(run)? {
            store.request_cancel(run, clock.now())?;
            told = false;
        }
        // The number alone is not enough: it may belong to somebody else by now.
        if !told && process.is_alive() {
            told = signals::nudge(process.pid);
        }
        // Looked at first: whatever a process that is gone by now has written is in the row.
        let gone = !process.is_alive();
        let row = store.run(run)?.unwrap_or_else(|| before.clone());
        if row.stop_reason.is_some() && row.updated_at != before.updated_at {
            return Ok(row);
        }
        if gone {
            return if row.stop_reason.is_some() { Ok(row) } else { mark(place, &row) };
        }
        if clock.elapsed() > PATIENCE {
            return Err(CommandError::new(
                exit::LOCKED,
                format!("run {run} was told to stop, but has not ended after {PATIENCE}: process {}", process.pid),
            )
            .hint(format!("if it is suspended, let it go on: kill -CONT {}", process.pid))
            .hint(format!("if it hangs: kill -KILL {} && ralph cancel {run}", process.pid)));
        }
        page::pause(LOOK);
    }
}

/// Ends a run that nobody carries: its journal gets the end that it never came to.
fn mark(place: &Place, row: &RunRow) -> Result<RunRow, CommandError> {
    let store = Store::open(&place.state)?;
    let policy = pick::machine(&store, &row.run)?.policy().clone();
    let mut claimed = Claimed::take(place, &row.run, &policy)?;
    identity::end_marked(&row.run, &place.run_folder(&row.run), END_OLD_TREE);
    let entries = claimed.store().entries(&row.run)?;
    let story = Story::of(&entries, None).map_err(|error| pick::unreadable(&row.run, &error))?;
    let mut machine = story.machine.clone();
    if machine.outcome().is_some() {
        return Ok(machine.row());
    }
    let mut events = vec![Event::Cancelled];
    events.extend(answer(story.in_flight));
    let effects = claimed.append(&mut machine, events)?;
    // The readable files are worth less than the end itself, which is in the journal.
    if let Ok(mut folder) = Folder::prepare(&place.root, &row.task) {
        for effect in effects {
            if let Effect::WriteViews(views) = effect {
                let _ = folder.write_views(&views);
            }
        }
    }
    Ok(machine.row())
}

/// What an activity answers that was ended: the machine waits for it before it ends the run.
fn answer(in_flight: Option<InFlight>) -> Option<Event> {
    match in_flight? {
        InFlight::Agent => {
            let failure = Failure::new(FailureClass::Other, "its ralph ended before it did");
            Some(Event::AgentEnded(Box::new(Observation::not_started(failure, Ending::Stopped))))
        }
        InFlight::Check(spec) => {
            let log = format!(".ralph/{}", spec.log_name);
            Some(Event::CheckEnded(Box::new(CheckReport::silent(spec, CheckEnding::Stopped, log))))
        }
        InFlight::Scm(spec) => {
            let (ending, duration, output) = (CheckEnding::Stopped, Millis::ZERO, String::new());
            Some(Event::ScmEnded(Box::new(ScmReport { spec, ending, duration, output })))
        }
        InFlight::Prompt
        | InFlight::Tree
        | InFlight::Wait(_)
        | InFlight::Rest
        | InFlight::Children
        | InFlight::Fact => None,
    }
}

fn tell(global: &Global, row: &RunRow) -> Result<(), CommandError> {
    let state = State::of(row, false);
    if global.json {
        return page::print_json(&json::run(row, state));
    }
    let paint = page::paint(global);
    let word = state.painted(row.verified, paint, state.words(row.verified));
    page::print(&format!("run {} · {word} · {}\n", row.run, words::one_line(&row.message)))
}
