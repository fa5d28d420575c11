//! What the journal lacks: runs that are damaged in it, and runs that left more in the state folder.

use ralph_core::id::RunId;
use serde_json::{Map, Value, json};

/// What is typed where something stored is damaged.
pub const REPAIR: &str = "ralph doctor --repair";

#[derive(Debug, Default)]
pub struct Missing {
    pub damaged: Vec<Damaged>,
    /// Runs of which the journal knows less than their folders.
    pub lost: Vec<Lost>,
}

#[derive(Debug)]
pub struct Damaged {
    pub run: Option<RunId>,
    pub name: String,
    pub why: String,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Lost {
    pub run: RunId,
    pub logged: u32,
    /// The last iteration in the journal; `None` if the run is not there at all.
    pub known: Option<u32>,
}

impl Missing {
    /// Runs of which the journal knows nothing any more.
    pub fn unknown(&self) -> impl Iterator<Item = &Lost> {
        self.lost.iter().filter(|lost| lost.known.is_none())
    }

    pub fn lines(&self) -> Vec<String> {
        let damaged = self.damaged.iter();
        let damaged =
            damaged.map(|run| format!("run {} is damaged ({}), keep what is left of it: {REPAIR}", run.name, run.why));
        damaged.chain(self.lost.iter().map(Lost::line)).collect()
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
