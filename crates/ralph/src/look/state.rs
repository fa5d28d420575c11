//! Whether a run goes on, in the words and colours in which that is told.

use super::words::between;
use crate::face::paint::Paint;
use ralph_core::outcome::StopReason;
use ralph_core::policy::LoopKind;
use ralph_core::run::RunRow;
use ralph_core::time::{Millis, WallTime};

/// Whether a run goes on, has ended, or was left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A living process carries it.
    Running,
    /// It ended under ralph's control.
    Ended(StopReason),
    /// Nobody carries it, and it never came to an end.
    Crashed,
}

impl State {
    /// The state of a run.
    pub fn of(row: &RunRow, running: bool) -> State {
        match (running, row.stop_reason) {
            (true, _) => State::Running,
            (false, Some(reason)) => State::Ended(reason),
            (false, None) => State::Crashed,
        }
    }

    /// Time that the run was worked on, without the pauses between an end and a resume. The journal of a
    /// running one says nothing about the last while; until its first new step the last entry is that end.
    pub fn worked(self, row: &RunRow, now: WallTime) -> Millis {
        let kept = row.elapsed.unwrap_or_else(|| between(row.started_at, row.updated_at));
        let goes_on = self == State::Running && row.stop_reason.is_none();
        if goes_on { kept.plus(between(row.updated_at, now)) } else { kept }
    }

    /// The state in one or two words.
    pub fn words(self, row: &RunRow) -> &'static str {
        match self {
            State::Running => "running",
            State::Crashed => "crashed",
            State::Ended(StopReason::Complete) if !is_as_good_as_promised(row) => "complete, unverified",
            State::Ended(reason) => reason.as_str(),
        }
    }

    /// The state with its standing.
    pub fn standing(self, row: &RunRow) -> &'static str {
        match (self, row.kind) {
            (State::Ended(StopReason::Complete), LoopKind::Supervise) => "complete · DONE",
            (State::Ended(StopReason::Complete), LoopKind::Prompt) if row.verified => "complete · verified",
            (State::Ended(StopReason::Complete), LoopKind::Prompt) => "complete · claimed, not verified",
            (State::Ended(StopReason::Error), LoopKind::Prompt) if row.verified => {
                "error · verified, version control failed"
            }
            _ => self.words(row),
        }
    }

    /// The state with its standing, for a heading.
    pub fn heading(self, row: &RunRow, paint: Paint) -> String {
        self.painted(row, paint, self.standing(row))
    }

    /// Text in the colour of the state.
    pub fn painted(self, row: &RunRow, paint: Paint, text: &str) -> String {
        match self {
            State::Running => paint.cyan(text),
            State::Ended(StopReason::Complete) if is_as_good_as_promised(row) => paint.green(text),
            State::Ended(StopReason::Complete | StopReason::Waiting | StopReason::SinglePass) => paint.yellow(text),
            State::Ended(_) | State::Crashed => paint.red(text),
        }
    }
}

/// Whether a complete run is all that somebody asked for. Nobody asked a supervisor to check anything.
fn is_as_good_as_promised(row: &RunRow) -> bool {
    row.verified || row.kind == LoopKind::Supervise
}
