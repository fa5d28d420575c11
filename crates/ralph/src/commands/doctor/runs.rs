//! Who works here now, and what was left behind.

use super::finding::Finding;
use crate::look::live::Live;
use crate::look::state::State;
use crate::place::Place;
use ralph_core::outcome::{StopReason, exit};
use ralph_core::run::RunRow;
use ralph_store::{Store, StoreError};

/// Runs that are named; older ones are history.
const NAMED: usize = 3;

/// Looks at the lock and the journal.
pub(super) fn findings(place: &Place) -> Vec<Finding> {
    let live = Live::look(place);
    vec![lock(place, &live), runs(place, &live)]
}

fn lock(place: &Place, live: &Live<'_>) -> Finding {
    match live.owner() {
        None => Finding::ok("lock", "no other ralph works here"),
        Some(owner) if owner.run.as_ref().is_some_and(|run| place.is_inside(run)) => {
            Finding::ok("lock", format!("this is inside the run that owns the work tree: {owner}"))
        }
        Some(owner) => {
            let run = owner.run.as_ref().map_or(String::new(), |run| format!(" {run}"));
            let detail = format!("another ralph owns {}: {owner}", place.work_tree().display());
            Finding::problem("lock", detail, exit::LOCKED).fix(format!("ralph cancel{run}"))
        }
    }
}

fn runs(place: &Place, live: &Live<'_>) -> Finding {
    let rows = match rows(place) {
        Ok(rows) => rows,
        Err(error) => {
            let code = if error.is_io() { exit::IO } else { exit::USAGE };
            return Finding::problem("runs", format!("the journal cannot be used: {error}"), code).fix("ralph status");
        }
    };
    let left = |(newest, row): &(usize, &RunRow)| match live.state(row) {
        State::Crashed => true,
        // Of the runs that ended early, only the newest is one that somebody may still care for.
        State::Ended(reason) => *newest == 0 && !matches!(reason, StopReason::Complete | StopReason::SinglePass),
        State::Running => false,
    };
    let left: Vec<&RunRow> = rows.iter().enumerate().filter(left).map(|(_, row)| row).take(NAMED).collect();
    let Some(newest) = left.first() else { return Finding::ok("runs", "none was left unfinished") };
    let told = left.iter().map(|row| format!("{} ({})", row.run, live.state(row).words(row)));
    let told: Vec<String> = told.collect();
    Finding::note("runs", format!("unfinished: {}", told.join(", "))).fix(format!("ralph resume {}", newest.run))
}

/// Newest first.
fn rows(place: &Place) -> Result<Vec<RunRow>, StoreError> {
    Store::open_existing(&place.state)?.map_or(Ok(Vec::new()), |store| store.runs())
}
