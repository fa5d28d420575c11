//! The runs of a project at one moment: which of them are listed, and what to type about them.

use crate::Style;
use crate::json::{self, VERSION, extend};
use crate::liveness::{Heartbeat, State};
use crate::missing::Missing;
use crate::table::{self, Line, Seen};
use crate::tree::grow;
use ralph_core::id::RunId;
use ralph_core::outcome::StopReason;
use ralph_core::run::RunRow;
use ralph_core::text;
use ralph_core::time::WallTime;
use serde_json::{Value, json};
use std::collections::HashMap;

/// How many of the newest runs fit on a screen.
pub const SHOWN: usize = 20;
/// Runs that get a line of advice, of those that crashed and of those whose parent is gone; older ones are history.
const ADVISED: usize = 3;

pub struct Runs {
    runs: Vec<(RunRow, Seen)>,
    missing: Missing,
    older: usize,
    now: WallTime,
}

impl Runs {
    /// Runs, newest first, what is missing of them, and how many others there are.
    pub fn new(mut runs: Vec<(RunRow, Seen)>, missing: Missing, older: usize, now: WallTime) -> Runs {
        // Whoever waits on purpose has left its children alone, not lost.
        let waits = |row: &RunRow| row.stop_reason == Some(StopReason::Waiting);
        let waiting: Vec<RunId> = runs.iter().filter(|(row, _)| waits(row)).map(|(row, _)| row.run.clone()).collect();
        for (row, seen) in &mut runs {
            seen.orphan &= !row.parent.as_ref().is_some_and(|parent| waiting.contains(parent));
        }
        Runs { runs, missing, older, now }
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub fn json(&self) -> Value {
        self.objects(Heartbeat::json, |_| self.now)
    }

    /// Everything but how old it is.
    pub fn without_age(&self) -> Value {
        self.objects(|heartbeat| json!(heartbeat.beat.word()), |row| row.updated_at)
    }

    fn objects(&self, tell: fn(Heartbeat) -> Value, now: impl Fn(&RunRow) -> WallTime) -> Value {
        let runs = self.runs.iter().map(|(row, seen)| {
            let mut object = json::run(row, seen.state, seen.state.worked(row, now(row)));
            extend(&mut object, json!({ "heartbeat": seen.heartbeat.map(tell), "orphan": seen.orphan }));
            object
        });
        let mut object = json!({ "v": VERSION, "runs": runs.collect::<Vec<_>>() });
        extend(&mut object, self.missing.json());
        object
    }

    pub fn table(&self, style: &Style, width: Option<usize>) -> String {
        if self.runs.is_empty() {
            return String::new();
        }
        let seen: HashMap<&RunId, &Seen> = self.runs.iter().map(|(row, seen)| (&row.run, seen)).collect();
        let rows: Vec<&RunRow> = self.runs.iter().map(|(row, _)| row).collect();
        let grown = grow(&rows, style.paint.marks).into_iter();
        let lines = grown.filter_map(|run| Some(Line { seen: seen.get(&run.row.run)?, run }));
        table::table(&lines.collect::<Vec<_>>(), self.now, style, width)
    }

    /// What to type about what the table shows. `namesakes` tell of other projects that this one may have been.
    pub fn advice(&self, root: &str, namesakes: Vec<String>) -> Vec<String> {
        let missing = self.missing.lines().into_iter();
        if self.runs.is_empty() {
            let begin = format!("no runs in {root} yet; begin one: ralph run -p 'make the tests pass'");
            return missing.chain(namesakes).chain([begin]).collect();
        }
        let orphans = self.runs.iter().filter(|(_, seen)| seen.orphan).take(ADVISED);
        let orphans =
            orphans.map(|(row, _)| format!("run {0} has lost its parent, end it with: ralph cancel {0}", row.run));
        let crashed = self.runs.iter().filter(|(_, seen)| seen.state == State::Crashed).take(ADVISED);
        let crashed = crashed.map(|(row, _)| format!("run {0} crashed, resume with: ralph resume {0}", row.run));
        let older = || format!("{}: ralph status --all", text::count(self.older as u64, "older run"));
        let older = (self.older > 0).then(older);
        missing.chain(orphans).chain(crashed).chain(older).collect()
    }
}
