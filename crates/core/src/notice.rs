//! What faces are told. Terminal, JSON lines and every later face show the same notices.
//!
//! Notices come out of the machine as it folds entries, so replaying a journal tells the same story
//! again: `show`, `explain` and `status` need no second source.

use crate::check::{CheckKind, CheckReport};
use crate::claim::Claim;
use crate::id::RunId;
use crate::observation::{LineCounts, Tokens};
use crate::outcome::Outcome;
use crate::plan::choice::Budget;
use crate::plan::{Decision, Mode, StoryId};
use crate::policy::Policy;
use crate::time::{Millis, WallTime};
use crate::words::{Note, Reason};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One thing worth telling.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// A run began or goes on.
    RunStarted { run: RunId, policy: Arc<Policy>, resumed: Option<ResumeKind> },
    /// What judges is pinned: so many files that are there, and programs.
    Pinned { files: usize, programs: usize },
    /// A plan was read: what is left to do, and how many iterations are allowed.
    PlanStarted { budget: Budget, allowed: u32 },
    /// An iteration begins.
    IterationStarted {
        iteration: u32,
        /// Repeats of the same number after a limit or a crash, from 1.
        attempt: u32,
        /// The agent's program.
        agent: String,
        prompt: String,
        /// What it is for, in a plan.
        turn: Option<Box<PlanTurn>>,
    },
    /// The agent's process is gone.
    AgentEnded {
        iteration: u32,
        how: String,
        /// Whether it ended well.
        well: bool,
        /// What the lines of its stream were worth.
        lines: LineCounts,
        duration: Millis,
    },
    /// A check begins.
    CheckStarted { iteration: u32, name: String },
    /// A check ended.
    CheckFinished {
        iteration: u32,
        kind: CheckKind,
        name: String,
        passed: bool,
        problem: String,
        exit_code: Option<i32>,
        duration: Millis,
        log: Option<String>,
        /// What its failure does to the next prompt, where that applies.
        fail_action: Option<&'static str>,
        /// The beginning of its output if it failed.
        output: String,
    },
    /// A task of version control begins, or the question that it needs.
    ScmStarted { iteration: u32, task: String },
    /// A task of version control ended.
    ScmFinished {
        iteration: u32,
        task: String,
        /// Whether it went well.
        passed: bool,
        /// Why not, or what there is to know.
        detail: String,
        exit_code: Option<i32>,
        duration: Millis,
    },
    /// An iteration was judged.
    IterationFinished {
        iteration: u32,
        claim: Claim,
        verdict: VerdictWord,
        reasons: Vec<Reason>,
        /// Money of this iteration, where stated.
        cost_usd: Option<f64>,
        tokens: Tokens,
        /// Processes that outlived the agent and were ended.
        leaked: u32,
        /// How long the iteration took, checks included.
        duration: Millis,
    },
    /// What an iteration made of its plan.
    PlanJudged {
        iteration: u32,
        turn: Box<PlanTurn>,
        decision: Decision,
        /// What was undone, one sentence each.
        undone: Vec<String>,
        /// Where the plan stands now.
        budget: Budget,
    },
    /// The run waits.
    Waiting {
        /// The iteration that will be repeated.
        iteration: u32,
        until: WallTime,
        why: String,
    },
    /// Somebody asked for the run to stop.
    Stopping {
        /// Whether the running process is being ended or may finish.
        now: bool,
    },
    /// Something worth a line.
    Note(Note),
    /// The run ended.
    RunFinished {
        outcome: Outcome,
        /// The time that it was worked on, before and after every resume.
        elapsed: Millis,
    },
}

impl Notice {
    /// A condition was looked at, and nothing executed; without a problem it holds.
    pub fn looked_at(iteration: u32, kind: CheckKind, name: &str, problem: String) -> Notice {
        Notice::CheckFinished {
            iteration,
            kind,
            name: name.to_owned(),
            passed: problem.is_empty(),
            problem,
            exit_code: None,
            duration: Millis::ZERO,
            log: None,
            fail_action: None,
            output: String::new(),
        }
    }

    /// A check was executed. Its output is worth telling where something is done about a failure; before the first
    /// iteration nothing is.
    pub fn executed(iteration: u32, report: &CheckReport) -> Notice {
        let passed = report.passed();
        let acts = report.refutes() && iteration > 0;
        Notice::CheckFinished {
            iteration,
            kind: report.spec.source,
            name: report.spec.name().to_owned(),
            passed,
            problem: if passed { String::new() } else { report.problem() },
            exit_code: report.ending.code(),
            duration: report.duration,
            log: Some(report.log.clone()).filter(|log| !log.is_empty()),
            fail_action: acts.then(|| report.spec.fail_action.as_str()),
            output: if acts { report.output_head.clone() } else { String::new() },
        }
    }
}

/// What an iteration of a plan is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanTurn {
    /// `None` for the iteration that only commits what is left.
    pub mode: Option<Mode>,
    pub story: StoryId,
    pub title: String,
    /// Reviews of the story before it.
    pub reviews: u32,
    pub cap: u32,
}

/// What follows an iteration. The words are a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictWord {
    /// The next iteration.
    Continue,
    /// The same iteration again.
    Retry,
    /// The same iteration again, after a wait.
    Wait,
    /// The end of the run.
    Stop,
}

impl VerdictWord {
    /// The word as it stands in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            VerdictWord::Continue => "continue",
            VerdictWord::Retry => "retry",
            VerdictWord::Wait => "wait",
            VerdictWord::Stop => "stop",
        }
    }
}

/// How a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeKind {
    NextIteration(u32),
    /// With an iteration that was in flight, from its beginning.
    SameIteration(u32),
    /// With the checks of an iteration whose agent had ended.
    Checks(u32),
    /// Not at all: the limits leave nothing to do.
    AtALimit,
}

impl ResumeKind {
    /// The iteration with which it goes on; 0 if with none.
    pub const fn iteration(self) -> u32 {
        match self {
            ResumeKind::NextIteration(n) | ResumeKind::SameIteration(n) | ResumeKind::Checks(n) => n,
            ResumeKind::AtALimit => 0,
        }
    }
}
