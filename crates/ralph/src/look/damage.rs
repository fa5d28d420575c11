//! What the journal does not say any more: runs that are damaged in it, and runs that left more in the state
//! folder than it knows. SQLite takes a log that was cut off for a shorter one and says nothing, but the logs
//! of an agent are begun only after its iteration is in the journal, so a log of a later one tells of the loss.

use super::live::Live;
use super::page;
use crate::error::REPAIR;
use crate::project::Project;
use ralph_core::id::RunId;
use ralph_core::run::RunRow;
use ralph_host::{child_runs, raw_log};
use ralph_store::{DamagedRun, Listing, is_stand_in};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Runs whose logs are compared with the journal, of those that it knows; older ones are history.
const COMPARED: usize = 20;

/// What is missing.
#[derive(Debug, Default)]
pub struct Missing {
    damaged: Vec<DamagedRun>,
    lost: Vec<Lost>,
}

/// A run of which the journal knows less than its folder.
#[derive(Debug, PartialEq, Eq)]
pub struct Lost {
    /// The run.
    pub run: RunId,
    /// The last iteration in its folder.
    pub logged: u32,
    /// The last iteration in the journal; `None` if the run is not there at all.
    pub known: Option<u32>,
}

impl Missing {
    /// Compares.
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
            if live.process(&row.run).is_some() {
                return None;
            }
            Some(Lost { run: row.run.clone(), logged, known: Some(row.iteration) })
        };
        let rows = listing.runs.iter().filter(|row| !is_stand_in(row));
        let behind = rows.take(COMPARED).filter_map(behind);
        Missing { lost: unknown.chain(behind).collect(), damaged: listing.damaged.clone() }
    }

    /// Adds a run whose row stands in for a damaged one, and whose journal is damaged as well.
    pub fn add(&mut self, run: &RunId, why: String) {
        self.damaged.push(DamagedRun { run: Some(run.clone()), no: 0, why });
    }

    /// Runs of which the journal knows nothing any more.
    pub fn unknown(&self) -> impl Iterator<Item = &Lost> {
        self.lost.iter().filter(|lost| lost.known.is_none())
    }

    /// One line for each, with what to type.
    pub fn lines(&self) -> Vec<String> {
        let damaged = self.damaged.iter();
        let damaged = damaged
            .map(|run| format!("run {} is damaged ({}), keep what is left of it: {REPAIR}", run.name(), run.why));
        damaged.chain(self.lost.iter().map(Lost::line)).collect()
    }

    /// Says the lines on standard error.
    pub fn tell(&self, project: &Project) {
        self.lines().iter().for_each(|line| page::say(&format!("note: {}", project.suggest().line(line))));
    }

    /// For programs: a field for each kind of which there is any.
    pub fn json(&self) -> Value {
        let mut fields = Map::new();
        if !self.damaged.is_empty() {
            let damaged = self.damaged.iter().map(|run| json!({ "run": run.run, "why": run.why, "next": REPAIR }));
            fields.insert("damaged".to_owned(), damaged.collect());
        }
        if !self.lost.is_empty() {
            let lost = self.lost.iter().map(|lost| {
                let next = if lost.known.is_some() { format!("ralph resume {}", lost.run) } else { REPAIR.to_owned() };
                json!({ "run": lost.run, "logged_iteration": lost.logged, "known_iteration": lost.known, "next": next })
            });
            fields.insert("lost".to_owned(), lost.collect());
        }
        Value::Object(fields)
    }
}

impl Lost {
    /// What happened, and what to type.
    pub fn line(&self) -> String {
        let Lost { run, logged, known } = self;
        match known {
            None => format!(
                "run {run} left logs up to iteration {logged}, but the journal does not know it: the end of the database \
                 was lost; see what is left: {REPAIR}"
            ),
            Some(known) => format!(
                "the journal of run {run} ends in iteration {known}, but it left logs of iteration {logged}: the end of \
                 the database was lost; repeat what is missing: ralph resume {run}"
            ),
        }
    }
}
