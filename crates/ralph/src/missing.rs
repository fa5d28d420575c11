//! Looks for what the journal does not say any more. SQLite takes a log that was cut off for a shorter one and says
//! nothing, but the logs of an agent are begun only after its iteration is in the journal, so a log of a later one tells
//! of the loss.

use crate::live::Live;
use crate::project::Project;
use crate::terminal::page;
use ralph_core::id::RunId;
use ralph_core::run::RunRow;
use ralph_host::{child_runs, raw_log};
use ralph_store::{Listing, is_stand_in};
use ralph_view::missing::{Damaged, Lost, Missing};
use std::collections::HashSet;

/// Runs whose logs are compared with the journal, of those that it knows; older ones are history.
const COMPARED: usize = 20;

/// Compares the journal's listing with the folders of the runs.
pub fn look(project: &Project, live: &Live<'_>, listing: &Listing) -> Missing {
    let known: HashSet<&RunId> = listing.runs.iter().map(|row| &row.run).collect();
    let named: HashSet<&RunId> = listing.damaged.iter().filter_map(|run| run.run.as_ref()).collect();
    let folders = child_runs::run_folders(&project.state).into_iter();
    let unknown = folders.filter(|(run, _)| !known.contains(run) && !named.contains(run));
    let unknown = unknown.filter_map(|(run, folder)| {
        // One that lives has not come to its first entry yet.
        let logged = raw_log::last_logged(&folder).filter(|_| live.process(&run).is_none())?;
        Some(Lost { run, logged, known: None })
    });
    let behind = |row: &RunRow| {
        let folder = project.run_folder(&row.run);
        let logged = raw_log::last_logged(&folder).filter(|logged| *logged > row.iteration)?;
        live.process(&row.run).is_none().then(|| Lost { run: row.run.clone(), logged, known: Some(row.iteration) })
    };
    let rows = listing.runs.iter().filter(|row| !is_stand_in(row));
    let behind = rows.take(COMPARED).filter_map(behind);
    let damaged = listing.damaged.iter();
    let damaged = damaged.map(|run| Damaged { run: run.run.clone(), name: run.name(), why: run.why.clone() });
    Missing { lost: unknown.chain(behind).collect(), damaged: damaged.collect() }
}

/// Says on standard error what is missing.
pub fn tell(project: &Project, listing: &Listing) {
    let missing = look(project, &Live::look(project), listing);
    missing.lines().iter().for_each(|line| page::say(&format!("note: {}", project.suggest().line(line))));
}
