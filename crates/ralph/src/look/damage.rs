//! What the journal does not say any more: runs that are damaged in it, and runs that left more in the state
//! folder than it knows. SQLite takes a log that was cut off for a shorter one and says nothing, but the logs
//! of an agent are begun only after its iteration is in the journal, so a log of a later one tells of the loss.

use super::live::Live;
use super::page;
use super::runs::Listing;
use crate::error::REPAIR;
use crate::project::Project;
use ralph_core::id::RunId;
use ralph_core::run::RunRow;
use ralph_core::stream::StreamId;
use ralph_host::{child_runs, raw_log};
use ralph_store::{DamagedRow, Store, StoreError};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The newest runs, whose logs are compared with the journal; older ones are history.
pub const COMPARED: usize = 20;

/// What is missing.
#[derive(Debug, Default)]
pub struct Missing {
    damaged: Vec<DamagedRow>,
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
    /// Compares the newest runs and what was carried lately.
    pub fn look(
        project: &Project,
        live: &Live<'_>,
        store: Option<&Store>,
        newest: &Listing,
    ) -> Result<Missing, StoreError> {
        Missing::compare(project, live, store, newest, child_runs::carried(&project.state))
    }

    /// Compares the newest runs and everything that ever left a folder.
    pub fn look_thoroughly(
        project: &Project,
        live: &Live<'_>,
        store: Option<&Store>,
        newest: &Listing,
    ) -> Result<Missing, StoreError> {
        let all = child_runs::run_folders(&project.state).into_iter().map(|(run, _)| run).collect();
        Missing::compare(project, live, store, newest, all)
    }

    fn compare(
        project: &Project,
        live: &Live<'_>,
        store: Option<&Store>,
        newest: &Listing,
        left: Vec<RunId>,
    ) -> Result<Missing, StoreError> {
        let known = store.map(|store| store.known(&left)).transpose()?.unwrap_or_default();
        let named = newest.damaged.iter().filter_map(|damaged| damaged.stream.as_ref()?.run());
        let known: HashSet<RunId> = known.into_iter().chain(named).collect();
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
            // A run may have left many thousand logs, and only the next one is of interest at first.
            let is_behind = raw_log::is_logged(&folder, row.iteration + 1) && live.process(&row.run).is_none();
            let logged = is_behind.then(|| raw_log::last_logged(&folder)).flatten()?;
            Some(Lost { run: row.run.clone(), logged, known: Some(row.iteration) })
        };
        lost.extend(newest.runs.iter().take(COMPARED).filter_map(behind));
        Ok(Missing { lost, damaged: newest.damaged.clone() })
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
            let damaged = self
                .damaged
                .iter()
                .map(|run| json!({ "run": run.stream.as_ref().map(StreamId::id), "why": run.why, "next": REPAIR }));
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
