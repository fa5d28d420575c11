//! How a run ends: one machine-readable reason, one exit code, one sentence.

use crate::observation::Tokens;
use crate::tests_changed::TestsChanged;
use serde::{Deserialize, Serialize};

/// Why a run stopped. The words are a contract: they stand in JSON, SQL and the end block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The claim was judged and stands.
    Complete,
    /// The agent says that it needs a person.
    Blocked,
    /// All iterations are used up.
    MaxIterations,
    /// All restarts of a supervised agent are used up.
    MaxRestarts,
    /// The wall time is used up.
    MaxWallTime,
    /// The money or the tokens are used up.
    Budget,
    /// Something else ended it; the message says what.
    Error,
    /// The agent asked to wait.
    Waiting,
    /// Several iterations in a row changed nothing.
    Stalled,
    /// Somebody cancelled the run.
    Cancelled,
    /// A signal ended it.
    Interrupted,
    /// A single pass ended without earning `complete`.
    SinglePass,
}

impl StopReason {
    /// The word as it stands in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            StopReason::Complete => "complete",
            StopReason::Blocked => "blocked",
            StopReason::MaxIterations => "max-iterations",
            StopReason::MaxRestarts => "max-restarts",
            StopReason::MaxWallTime => "max-wall-time",
            StopReason::Budget => "budget",
            StopReason::Error => "error",
            StopReason::Waiting => "waiting",
            StopReason::Stalled => "stalled",
            StopReason::Cancelled => "cancelled",
            StopReason::Interrupted => "interrupted",
            StopReason::SinglePass => "single-pass",
        }
    }
}

/// How well it is proven that a task is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verification {
    /// A check that ralph itself executed, and whose judges are known and unchanged, passed on the accepted tree, and
    /// none failed.
    Verified,
    /// Checks passed, and of each of them something is unknown that it is made of.
    Unpinned,
    /// Checks passed, and an earlier run's agent changed something that judges, or the journal with the rules is not
    /// believed.
    Untrusted,
    /// Checks passed, and the machine could not show the tree.
    Unseen,
    /// No check speaks for it, only the agents' word; but every story of its plan was reviewed.
    Reviewed,
    /// No check speaks for it, only the agent's word.
    Claimed,
}

impl Verification {
    /// The word as it stands in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verification::Verified => "verified",
            Verification::Unpinned => "unpinned",
            Verification::Untrusted => "untrusted",
            Verification::Unseen => "unseen",
            Verification::Reviewed => "reviewed",
            Verification::Claimed => "claimed",
        }
    }

    /// What stands behind `complete` for people.
    pub const fn standing(self) -> &'static str {
        match self {
            Verification::Verified => "verified",
            Verification::Unpinned => "checks passed, but ralph does not know what they are made of",
            Verification::Untrusted => "checks passed, but no person stands behind what they are made of",
            Verification::Reviewed => "reviewed, not verified",
            Verification::Unseen | Verification::Claimed => "claimed, not verified",
        }
    }
}

impl Outcome {
    /// Whether completion was verified.
    pub fn verified(&self) -> bool {
        self.verification == Some(Verification::Verified)
    }
}

/// The exit codes of every command, in one place.
pub mod exit {
    /// Complete, or done as asked.
    pub const OK: u8 = 0;
    /// Iterations or restarts used up without completion.
    pub const USED_UP: u8 = 1;
    /// Usage, configuration or validation error.
    pub const USAGE: u8 = 2;
    /// The agent needs a person.
    pub const BLOCKED: u8 = 3;
    /// Wall time or budget reached.
    pub const LIMIT: u8 = 4;
    /// The agent cannot run, or fails every time.
    pub const AGENT: u8 = 5;
    /// The agent asked to wait.
    pub const WAITING: u8 = 6;
    /// No progress.
    pub const STALLED: u8 = 7;
    /// A fault in ralph itself.
    pub const INTERNAL: u8 = 70;
    /// Disk or other input/output error.
    pub const IO: u8 = 74;
    /// Another ralph owns this work tree.
    pub const LOCKED: u8 = 75;
    /// Interrupted by SIGINT or SIGTERM, or cancelled.
    pub const INTERRUPTED: u8 = 130;
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The machine-readable reason.
    pub reason: StopReason,
    pub message: String,
    /// How well a complete task is proven; `None` if it is not complete.
    pub verification: Option<Verification>,
    /// How many iterations were counted.
    pub iterations: u32,
    /// The exit code of the process.
    pub exit_code: u8,
    /// Money, where the agent states it.
    pub cost_usd: Option<f64>,
    /// Tokens over the whole run.
    pub tokens: Tokens,
    /// Commands to type next, most useful first.
    pub next: Vec<String>,
    /// Tests that were there when it began and that it changed; `None` if nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_changed: Option<TestsChanged>,
}
