//! Who works here now, and what was left behind.

use crate::error::store_code;
use crate::live::Live;
use crate::missing::{self, Beside};
use crate::project::Project;
use crate::runs::{self, Listing};
use ralph_core::outcome::{StopReason, exit};
use ralph_core::run::RunRow;
use ralph_core::text;
use ralph_store::{Class, Damage, Store, StoreError, Which};
use ralph_view::findings::Finding;
use ralph_view::liveness::State;
use ralph_view::missing::REPAIR;
use std::error::Error as _;

/// Runs that are named; older ones are history.
const NAMED: usize = 3;

pub(super) fn findings(project: &Project) -> Vec<Finding> {
    let live = Live::look(project);
    let (journal, listing) = journal(project, &live);
    let runs = listing.map(|listing| unfinished(&live, &listing.runs));
    [lock(project, &live), journal].into_iter().chain(runs).collect()
}

fn lock(project: &Project, live: &Live<'_>) -> Finding {
    match live.owner() {
        None => Finding::ok("lock", "no other ralph works here"),
        Some(owner) if owner.run.as_ref().is_some_and(|run| project.is_inside(run)) => {
            Finding::ok("lock", format!("this is inside the run that owns the work tree: {owner}"))
        }
        Some(owner) => {
            let run = owner.run.as_ref().map_or(String::new(), |run| format!(" {run}"));
            let detail = format!("another ralph owns {}: {owner}", project.work_tree().display());
            Finding::problem("lock", detail, exit::LOCKED).fix(format!("ralph cancel{run}"))
        }
    }
}

/// What the journal holds, and whether all of it can be read.
fn journal(project: &Project, live: &Live<'_>) -> (Finding, Option<Listing>) {
    let read = || {
        let Some(store) = Store::open_existing(&project.state)? else {
            let nothing = Listing::default();
            let missing = missing::look(project, live, None, &nothing, Beside::Everything)?;
            return Ok((Damage::default(), nothing, missing));
        };
        let (damage, listing) = (runs::damage(&store)?, Listing::newest(&store, Which::All, usize::MAX)?);
        let missing = missing::look(project, live, Some(&store), &listing, Beside::Everything)?;
        Ok((damage, listing, missing))
    };
    let (damage, listing, missing) = match read() {
        Ok(read) => read,
        Err(error) => return (unusable(project, &error), None),
    };
    if let Some(first) = damage.structure.first() {
        let detail = format!("{} is damaged: {first}", project.state.join("ralph.db").display());
        return (Finding::problem("journal", detail, exit::IO).fix(REPAIR), Some(listing));
    }
    let lost = missing.unknown().map(|lost| lost.line());
    let told: Vec<String> = damage.streams.into_iter().chain(lost).take(NAMED).collect();
    let finding = if told.is_empty() {
        Finding::ok("journal", format!("{} can be read", text::count(listing.runs.len() as u64, "run")))
    } else {
        Finding::note("journal", told.join("\n")).fix(REPAIR)
    };
    (finding, Some(listing))
}

fn unusable(project: &Project, error: &StoreError) -> Finding {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    let finding = Finding::problem("journal", format!("{error}{cause}"), store_code(error));
    match error.class() {
        Class::Damage | Class::Newer => finding.fix(REPAIR),
        // Whose it is, who may read it, and how full its disk is.
        Class::Machine | Class::Internal => finding.fix(format!("ls -la '{0}'; df -h '{0}'", project.state.display())),
    }
}

fn unfinished(live: &Live<'_>, rows: &[RunRow]) -> Finding {
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
