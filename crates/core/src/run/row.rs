//! One line about a run: what lists of runs show, kept beside the journal and derived from it.

use super::{Pause, Phase, Run};
use crate::id::{RunId, TaskName};
use crate::observation::Tokens;
use crate::outcome::{StopReason, Verification};
use crate::plan::{Mode, StoryId};
use crate::policy::LoopKind;
use crate::tests_changed::TestsChanged;
use crate::time::{Millis, WallTime};
use serde::{Deserialize, Serialize};

/// A run at a glance. Always equal to what folding the run's journal gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    pub run: RunId,
    /// The run inside which it was started.
    pub parent: Option<RunId>,
    pub kind: LoopKind,
    pub task: TaskName,
    /// The agent's program.
    pub agent: String,
    /// Why it stopped; `None` while it runs (or since it crashed).
    pub stop_reason: Option<StopReason>,
    pub message: String,
    /// How well completion is proven; `None` if it is not complete.
    pub verification: Option<Verification>,
    /// The exit code, once it stopped.
    pub exit_code: Option<u8>,
    /// The iteration that it is in or ended with; 0 before the first.
    pub iteration: u32,
    /// How many there may be.
    pub max_iterations: u32,
    pub started_at: WallTime,
    /// When it last did anything.
    pub updated_at: WallTime,
    /// Time that it had been worked on by then; `None` in a row that was stored before this was kept.
    pub elapsed: Option<Millis>,
    /// Until when it waits for a limit or a failure to be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_until: Option<WallTime>,
    /// The last check that was told, of any kind, and whether it passed.
    pub last_check: Option<(String, bool)>,
    /// Money so far, where stated.
    pub cost_usd: Option<f64>,
    /// Tokens so far.
    pub tokens: Tokens,
    /// How long its agent may be silent; zero for no limit.
    pub idle: Millis,
    /// As in its outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_changed: Option<TestsChanged>,
    /// Where its plan stands, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanRow>,
}

/// A plan at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRow {
    pub stories: usize,
    pub done: usize,
    /// The mode and the story of the iteration that runs, or was last; no mode if it only commits what is left.
    pub turn: Option<(Option<Mode>, StoryId)>,
}

impl RunRow {
    /// Whether completion was verified.
    pub fn verified(&self) -> bool {
        self.verification == Some(Verification::Verified)
    }
}

impl Run {
    /// The run at a glance.
    pub fn row(&self) -> RunRow {
        let outcome = self.outcome();
        RunRow {
            run: self.about.id.clone(),
            parent: self.about.parent.clone(),
            kind: self.policy.kind.name(),
            task: self.policy.task.clone(),
            agent: self.policy.agent.command.clone(),
            stop_reason: outcome.map(|outcome| outcome.reason),
            message: outcome.map(|outcome| outcome.message.clone()).unwrap_or_default(),
            verification: outcome.and_then(|outcome| outcome.verification),
            exit_code: outcome.map(|outcome| outcome.exit_code),
            iteration: self.count.iteration(),
            max_iterations: self.policy.last_iteration(self.count.iteration()),
            started_at: self.about.started_at,
            updated_at: self.now.at,
            elapsed: Some(self.now.elapsed),
            waits_until: match self.phase {
                Phase::Waiting(Pause::Until(until)) => Some(until),
                _ => None,
            },
            last_check: self.last.check().cloned(),
            cost_usd: self.spend.cost_usd(),
            tokens: self.spend.tokens(),
            idle: self.policy.limits.idle,
            tests_changed: outcome.and_then(|outcome| outcome.tests_changed.clone()),
            plan: self.plan_row(),
        }
    }
}
