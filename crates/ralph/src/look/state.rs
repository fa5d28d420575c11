//! Whether a run goes on, in the words and colours in which that is told.

use crate::face::paint::Paint;
use ralph_core::outcome::StopReason;
use ralph_core::run::RunRow;

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

    /// The state in one or two words.
    pub fn words(self, verified: bool) -> &'static str {
        match self {
            State::Running => "running",
            State::Crashed => "crashed",
            State::Ended(StopReason::Complete) if !verified => "complete, unverified",
            State::Ended(reason) => reason.as_str(),
        }
    }

    /// The state with its standing.
    pub fn standing(self, verified: bool) -> &'static str {
        match (self, verified) {
            (State::Ended(StopReason::Complete), true) => "complete · verified",
            (State::Ended(StopReason::Complete), false) => "complete · claimed, not verified",
            _ => self.words(verified),
        }
    }

    /// The state with its standing, for a heading.
    pub fn heading(self, verified: bool, paint: Paint) -> String {
        self.painted(verified, paint, self.standing(verified))
    }

    /// Text in the colour of the state.
    pub fn painted(self, verified: bool, paint: Paint, text: &str) -> String {
        match self {
            State::Running => paint.cyan(text),
            State::Ended(StopReason::Complete) if verified => paint.green(text),
            State::Ended(StopReason::Complete | StopReason::Waiting | StopReason::SinglePass) => paint.yellow(text),
            State::Ended(_) | State::Crashed => paint.red(text),
        }
    }
}
