//! Looks for what the journal does not say any more. SQLite takes a log that was cut off for a shorter one and says
//! nothing, but the logs of an agent are begun only after its iteration is in the journal, so a log of a later one tells
//! of the loss.

use crate::live::Live;
use crate::project::Project;
use crate::runs::Listing;
use crate::terminal::page;
use ralph_core::id::RunId;
use ralph_core::run::RunRow;
use ralph_host::{child_runs, raw_log};
use ralph_store::{DamagedRow, Store, StoreError, Which};
use ralph_view::missing::{Damaged, Lost, Missing};
use std::collections::HashSet;

/// The newest runs, whose logs are compared with the journal; older ones are history.
const COMPARED: usize = 20;

/// The newest runs: as many as are compared with what they left.
pub fn newest(store: &Store) -> Result<Listing, StoreError> {
    Listing::newest(store, Which::All, COMPARED)
}

#[derive(Clone, Copy)]
pub enum Beside {
    /// What was carried lately.
    Carried,
    /// Everything that ever left a folder.
    Everything,
}

/// Compares the newest runs, and what else is looked for, with what they left.
pub fn look(
    project: &Project,
    live: &Live<'_>,
    store: Option<&Store>,
    newest: &Listing,
    beside: Beside,
) -> Result<Missing, StoreError> {
    let left: Vec<RunId> = match beside {
        Beside::Carried => child_runs::carried(&project.state),
        Beside::Everything => child_runs::run_folders(&project.state).into_iter().map(|(run, _)| run).collect(),
    };
    let known = store.map(|store| store.known(&left)).transpose()?.unwrap_or_default();
    let known: HashSet<RunId> = known.into_iter().chain(newest.damaged.iter().filter_map(DamagedRow::run)).collect();
    let mut lost = Vec::new();
    for run in left.into_iter().filter(|run| !known.contains(run)) {
        // One that lives has not come to its first entry yet.
        let logged = raw_log::last_logged(&project.run_folder(&run)).filter(|_| live.process(&run).is_none());
        let Some(logged) = logged else { continue };
        // What the index does not know, the table may.
        if store.map(|store| store.row::<RunRow>(&run)).transpose()?.flatten().is_none() {
            lost.push(Lost { run, logged, known: None });
        }
    }
    let behind = |row: &RunRow| {
        let folder = project.run_folder(&row.run);
        let logged = raw_log::last_logged(&folder).filter(|logged| *logged > row.iteration)?;
        live.process(&row.run).is_none().then(|| Lost { run: row.run.clone(), logged, known: Some(row.iteration) })
    };
    lost.extend(newest.runs.iter().take(COMPARED).filter_map(behind));
    let damaged = newest.damaged.iter();
    let damaged = damaged.map(|row| Damaged { run: row.run(), name: row.name(), why: row.why.clone() });
    Ok(Missing { lost, damaged: damaged.collect() })
}

/// Says on standard error what is missing of the newest runs and of what was carried lately.
pub fn tell(project: &Project, live: &Live<'_>, store: &Store, newest: &Listing) -> Result<(), StoreError> {
    let missing = look(project, live, Some(store), newest, Beside::Carried)?;
    missing.lines().iter().for_each(|line| page::say(&format!("note: {}", project.suggest().line(line))));
    Ok(())
}
