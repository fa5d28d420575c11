//! The heartbeat of a running run: how long ago it gave a sign of life, and what to think of that.

use super::words;
use crate::project::Project;
use ralph_core::run::RunRow;
use ralph_core::time::{Millis, WallTime};
use serde_json::{Value, json};
use std::time::UNIX_EPOCH;

/// Agents think for some seconds without a word.
const QUIET_AFTER: Millis = Millis::from_secs(10);
/// Hardly a tool takes longer without a word, and a person would begin to wonder.
const STALE_AFTER: Millis = Millis::from_secs(300);

/// What to think of a silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// There was a sign a moment ago.
    Live,
    /// It says nothing, as agents do.
    Quiet,
    /// So long that something may be wrong.
    Stale,
    /// It waits on purpose, and for this long.
    Waits(Millis),
}

/// The newest sign of life of a running run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    /// How long ago it was.
    pub age: Millis,
    /// What to think of it.
    pub beat: Beat,
}

impl Heartbeat {
    /// Takes the pulse of a running run.
    pub fn of(row: &RunRow, project: &Project, now: WallTime) -> Heartbeat {
        let journal = words::between(row.updated_at, now);
        if let Some(until) = row.waits_until.filter(|until| *until > now) {
            return Heartbeat { age: journal, beat: Beat::Waits(words::between(now, until)) };
        }
        // Between two entries of the journal, an agent that prints is not silent.
        let printed = last_output(project, row).map(|at| words::between(at, now));
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
            Beat::Quiet | Beat::Stale => format!("{} {}", self.beat.word(), words::age(self.age)),
            Beat::Waits(left) => format!("{} {}", self.beat.word(), words::age(left)),
        }
    }

    /// The same for programs.
    pub fn json(self) -> Value {
        json!({ "state": self.beat.word(), "age_ms": self.age.0 })
    }
}

impl Beat {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Beat::Live => "live",
            Beat::Quiet => "quiet",
            Beat::Stale => "stale",
            Beat::Waits(_) => "waits",
        }
    }
}

/// How long the agent of a run that crashed went on printing after the last entry of the journal: who crashes often
/// enough would else outrun every limit of time.
pub fn unseen(row: &RunRow, project: &Project) -> Millis {
    last_output(project, row).map_or(Millis::ZERO, |at| words::between(row.updated_at, at))
}

/// When the agent last printed anything, by its raw logs.
fn last_output(project: &Project, row: &RunRow) -> Option<WallTime> {
    let folder = project.run_folder(&row.run);
    let written = |stream: &str| {
        let log = std::fs::metadata(folder.join(format!("{:03}.{stream}.log", row.iteration))).ok()?;
        let written = log.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(written.as_millis()).ok().map(WallTime)
    };
    ["stdout", "stderr", "commit.stdout", "commit.stderr"].into_iter().filter_map(written).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::sample;
    use std::path::PathBuf;

    #[test]
    fn whoever_waits_on_purpose_is_not_silent() {
        let nowhere = PathBuf::from("nowhere");
        let [cwd, root, state, locks] = [(); 4].map(|()| nowhere.clone());
        let project = Project { cwd, root, git_root: None, state, locks };
        let row = RunRow { waits_until: Some(WallTime(7_572_000)), ..sample::row("aaaa", None) };
        for (now, expected) in [(373_000, "waits 1h"), (7_571_000, "waits 1s"), (7_572_000, "stale 2h")] {
            assert_eq!(Heartbeat::of(&row, &project, WallTime(now)).words(), expected);
        }
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
