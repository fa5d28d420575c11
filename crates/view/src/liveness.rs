//! Whether a run lives: its state, and the heartbeat of one that runs. Which processes live and when they last printed
//! are facts that somebody else looks up.

use crate::Paint;
use crate::words::{age, between};
use ralph_core::outcome::{StopReason, Verification};
use ralph_core::policy::LoopKind;
use ralph_core::run::RunRow;
use ralph_core::time::{Millis, WallTime};
use serde_json::{Value, json};

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

    pub fn words(self, row: &RunRow) -> &'static str {
        match self {
            State::Running => "running",
            State::Crashed => "crashed",
            State::Ended(StopReason::Complete) if !is_as_good_as_promised(row) => "complete, unverified",
            State::Ended(reason) => reason.as_str(),
        }
    }

    /// The state with its standing.
    pub fn standing(self, row: &RunRow) -> String {
        match (self, row.kind) {
            (State::Ended(StopReason::Complete), LoopKind::Supervise) => "complete · DONE".to_owned(),
            (State::Ended(StopReason::Complete), LoopKind::Prompt | LoopKind::Plan) => {
                format!("complete · {}", row.verification.unwrap_or(Verification::Claimed).standing())
            }
            (State::Ended(StopReason::Error), LoopKind::Prompt | LoopKind::Plan) if row.verified() => {
                "error · verified, version control failed".to_owned()
            }
            _ => self.words(row).to_owned(),
        }
    }

    pub fn heading(self, row: &RunRow, paint: Paint) -> String {
        self.painted(row, paint, &self.standing(row))
    }

    pub fn painted(self, row: &RunRow, paint: Paint, text: &str) -> String {
        match self {
            State::Running => paint.cyan(text),
            State::Ended(StopReason::Complete) if is_as_good_as_promised(row) => paint.green(text),
            State::Ended(StopReason::Complete | StopReason::Waiting | StopReason::SinglePass) => paint.yellow(text),
            State::Ended(_) | State::Crashed => paint.red(text),
        }
    }
}

/// Whether a complete run did all that it promises: a supervised run does not promise verification.
fn is_as_good_as_promised(row: &RunRow) -> bool {
    row.verified() || row.kind == LoopKind::Supervise
}

/// Agents think for some seconds without a word.
const QUIET_AFTER: Millis = Millis::from_secs(10);
/// Hardly a tool takes longer without a word, and a person would begin to wonder.
const STALE_AFTER: Millis = Millis::from_secs(300);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    Live,
    /// It says nothing, as agents do.
    Quiet,
    /// So long that something may be wrong.
    Stale,
    /// It waits on purpose, and for this long.
    Waits(Millis),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    pub age: Millis,
    pub beat: Beat,
}

impl Heartbeat {
    /// The heartbeat of a running run. `printed` is when its agent last printed anything.
    pub fn of(row: &RunRow, printed: Option<WallTime>, now: WallTime) -> Heartbeat {
        let journal = between(row.updated_at, now);
        if let Some(until) = row.waits_until.filter(|until| *until > now) {
            return Heartbeat { age: journal, beat: Beat::Waits(between(now, until)) };
        }
        // Between two entries of the journal, an agent that prints is not silent.
        let printed = printed.map(|at| between(at, now));
        Heartbeat::after(printed.map_or(journal, |printed| printed.min(journal)), row.idle)
    }

    fn after(age: Millis, idle: Millis) -> Heartbeat {
        // Half of the time after which the agent is ended anyway is time to look.
        let stale_after = if idle.is_off() { STALE_AFTER } else { STALE_AFTER.min(Millis(idle.0 / 2)) };
        let beat = match age {
            age if age >= stale_after => Beat::Stale,
            age if age >= QUIET_AFTER => Beat::Quiet,
            _ => Beat::Live,
        };
        Heartbeat { age, beat }
    }

    /// `live`, `quiet 45s`, `stale 12m`, `waits 3h`.
    pub fn words(self) -> String {
        match self.beat {
            Beat::Live => self.beat.word().to_owned(),
            Beat::Quiet | Beat::Stale => format!("{} {}", self.beat.word(), age(self.age)),
            Beat::Waits(left) => format!("{} {}", self.beat.word(), age(left)),
        }
    }

    pub fn json(self) -> Value {
        json!({ "state": self.beat.word(), "age_ms": self.age.0 })
    }
}

impl Beat {
    pub fn word(self) -> &'static str {
        match self {
            Beat::Live => "live",
            Beat::Quiet => "quiet",
            Beat::Stale => "stale",
            Beat::Waits(_) => "waits",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn whoever_waits_on_purpose_is_not_silent() {
        let row = RunRow { waits_until: Some(WallTime(7_572_000)), ..sample::row("aaaa", None) };
        for (now, expected) in [(373_000, "waits 1h"), (7_571_000, "waits 1s"), (7_572_000, "stale 2h")] {
            assert_eq!(Heartbeat::of(&row, None, WallTime(now)).words(), expected);
        }
        let printed = Heartbeat::of(&row, Some(WallTime(7_600_000)), WallTime(7_612_000));
        assert_eq!(printed.words(), "quiet 12s", "an agent that prints is not silent");
    }

    #[test]
    fn silence_is_judged_by_its_length_and_by_what_the_run_allows() {
        let off = Millis::ZERO;
        for (age_s, idle, expected) in [
            (0, off, "live"),
            (9, off, "live"),
            (10, off, "quiet 10s"),
            (299, off, "quiet 4m"),
            (300, off, "stale 5m"),
            (300, Millis::from_secs(7200), "stale 5m"),
            (29, Millis::from_secs(60), "quiet 29s"),
            (30, Millis::from_secs(60), "stale 30s"),
            (4, Millis::from_secs(8), "stale 4s"),
        ] {
            let heartbeat = Heartbeat::after(Millis::from_secs(age_s), idle);
            assert_eq!(heartbeat.words(), expected, "{age_s} s of {idle}");
        }
        assert_eq!(Heartbeat::after(Millis(45_000), off).json(), json!({ "state": "quiet", "age_ms": 45_000 }));
    }
}
