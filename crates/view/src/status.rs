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
use std::collections::{HashMap, HashSet};

/// What fits on a screen. Programs get all of them.
const SHOWN: usize = 20;
/// Runs that get a line of advice, of those that crashed and of those whose parent is gone; older ones are history.
const ADVISED: usize = 3;

/// The runs of a project.
pub struct Runs {
    /// Newest first.
    runs: Vec<(RunRow, Seen)>,
    missing: Missing,
    all: bool,
    now: WallTime,
}

impl Runs {
    /// Runs, newest first, and what is missing of them. Unless `all` are wanted, people see the newest.
    pub fn new(mut runs: Vec<(RunRow, Seen)>, missing: Missing, all: bool, now: WallTime) -> Runs {
        // Whoever waits on purpose has left its children alone, not lost.
        let waits = |row: &RunRow| row.stop_reason == Some(StopReason::Waiting);
        let waiting: Vec<RunId> = runs.iter().filter(|(row, _)| waits(row)).map(|(row, _)| row.run.clone()).collect();
        for (row, seen) in &mut runs {
            seen.orphan &= !row.parent.as_ref().is_some_and(|parent| waiting.contains(parent));
        }
        Runs { runs, missing, all, now }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The object for programs.
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

    /// The newest runs, and of the others those that still run, with their parents.
    fn shown(&self) -> Vec<&RunRow> {
        let parents: HashMap<&RunId, &RunId> =
            self.runs.iter().filter_map(|(row, _)| Some((&row.run, row.parent.as_ref()?))).collect();
        let mut wanted = HashSet::new();
        for (row, _) in self.runs.iter().filter(|(_, seen)| seen.state == State::Running) {
            let mut next = Some(&row.run);
            while let Some(run) = next.filter(|run| wanted.insert(*run)) {
                next = parents.get(run).copied();
            }
        }
        let newest = if self.all { self.runs.len() } else { SHOWN };
        let rows = self.runs.iter().map(|(row, _)| row).enumerate();
        rows.filter(|(at, row)| *at < newest || wanted.contains(&row.run)).map(|(_, row)| row).collect()
    }

    /// The table for people; nothing if there are no runs.
    pub fn table(&self, style: &Style, width: Option<usize>) -> String {
        if self.runs.is_empty() {
            return String::new();
        }
        let seen: HashMap<&RunId, &Seen> = self.runs.iter().map(|(row, seen)| (&row.run, seen)).collect();
        let grown = grow(&self.shown(), style.paint.marks).into_iter();
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
        let shown: HashSet<&RunId> = self.shown().into_iter().map(|row| &row.run).collect();
        let runs = || self.runs.iter().filter(|(row, _)| shown.contains(&row.run));
        let orphans = runs().filter(|(_, seen)| seen.orphan).take(ADVISED);
        let orphans =
            orphans.map(|(row, _)| format!("run {0} has lost its parent, end it with: ralph cancel {0}", row.run));
        let crashed = runs().filter(|(_, seen)| seen.state == State::Crashed).take(ADVISED);
        let crashed = crashed.map(|(row, _)| format!("run {0} crashed, resume with: ralph resume {0}", row.run));
        let older = self.runs.len() - shown.len();
        let older = (older > 0).then(|| format!("{}: ralph status --all", text::count(older as u64, "older run")));
        missing.chain(orphans).chain(crashed).chain(older).collect()
    }
}
