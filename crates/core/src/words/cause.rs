//! Causes: why a run ended, in one sentence.

use super::Reason;
use crate::id::TaskName;
use crate::outcome::{StopReason, Verification, exit};
use crate::text::{count, money};
use crate::time::Millis;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Cause {
    #[error("{} used up, and the task is not complete", count((*.0).into(), "iteration"))]
    Iterations(u32),
    #[error("the wall time of {0} is used up")]
    WallTime(Millis),
    #[error("{0}")]
    Budget(Budget),
    /// `step` is `iteration` or `start`.
    #[error("interrupted in {step} {number}; nothing is lost")]
    Interrupted { step: &'static str, number: u32 },
    #[error("cancelled in {step} {number}")]
    Cancelled { step: &'static str, number: u32 },
    /// `fault`: the machine is to blame, and not what was asked for.
    #[error("the files that must not change cannot be read: {why}")]
    PinsUnreadable { why: String, fault: bool },
    #[error("the task folder cannot be used: {0}")]
    TaskFolder(String),
    /// In the words of whoever read its parts.
    #[error("{0}")]
    NoPrompt(String),
    #[error("{path} is a {kind}, not a file; remove it and resume")]
    NotAFile { path: String, kind: String },
    /// In the words of the agent's dialect.
    #[error("{message}")]
    Agent { message: String, code: u8 },
    #[error("the agent failed {} in a row: {why}", count((*.times).into(), "time"))]
    AgentInRow { times: u32, why: String },
    #[error("{agent} failed {times} times in a row: {why}")]
    Transient { agent: String, times: u32, why: String },
    #[error("{0}; not waited for, as --no-wait or limits.waitForReset says")]
    NotWaited(String),
    #[error("guardrail \"{command}\" could not be started: {why}")]
    CheckNotStarted { command: String, why: String, code: u8 },
    /// `why` says what is missing for `verified`.
    #[error("{} after {}{}", in_words(*.verification), count((*.iterations).into(), "iteration"), colon(.why))]
    Completed { iterations: u32, verification: Verification, why: String },
    #[error("the work is {work}, but {}: {failure}", if *.committed { "not all of version control was done" } else { "not committed" })]
    Uncommitted { work: Box<Cause>, committed: bool, failure: String },
    #[error("{0}")]
    Blocked(Reason),
    /// `fine`: nothing failed.
    #[error("single pass: {}", joined(.reasons))]
    SinglePass { reasons: Vec<Reason>, fine: bool },
    /// `untouched`: the iterations left the files alone, instead of changing them back and forth.
    #[error("{} in {}{}", if *.untouched { "nothing changed" } else { "nothing new came up" }, count((*.iterations).into(), "iteration"), still(.failing))]
    Stalled { iterations: u32, untouched: bool, failing: String },
    #[error("the same failure in {} in a row, whatever was changed: {failing}", count((*.iterations).into(), "iteration"))]
    SameFailure { iterations: u32, failing: String },
    /// `refused`: a DONE was there that did not count.
    #[error("max restarts exceeded: {} without {}", count((*.starts).into(), "start"), if *.refused { "an accepted DONE" } else { "DONE" })]
    Restarts { starts: u32, refused: bool },
    #[error("the agent asked to wait ({0}), so it is not started again")]
    Waits(String),
    #[error("Fatal error: {why}")]
    Fatal { why: String, code: u8 },
    /// A supervised agent fails as soon as it is started.
    #[error("{0}")]
    AtOnce(String),
    #[error("the agent was DONE {} in a row without acknowledging what people want", count((*.0).into(), "time"))]
    DoneRefused(u32),
    #[error("{0}")]
    Done(String),
    /// In the words of whoever reads plans.
    #[error("{dir} is no plan that can be run: {}; see ralph plan check", .problems.join("; "))]
    PlanBroken { dir: String, problems: Vec<String> },
    #[error("the branch of the plan cannot be worked on: {0}")]
    Branch(String),
    /// An agent that says and does nothing.
    #[error("the agent ended {} in a row without a word and without an edit", count((*.0).into(), "time"))]
    EmptyAnswers(u32),
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Budget {
    #[error("the budget of ${} is used up (${} spent)", money(*.limit), money(*.spent))]
    Cost { limit: f64, spent: f64 },
    #[error("the budget of {limit} tokens is used up ({spent} spent)")]
    Tokens { limit: u64, spent: u64 },
    #[error("the budget of ${} for task {task} is used up (${} spent by all its runs)", money(*.limit), money(*.spent))]
    TaskCost { task: TaskName, limit: f64, spent: f64 },
    #[error("the budget of {limit} tokens for task {task} is used up ({spent} spent by all its runs)")]
    TaskTokens { task: TaskName, limit: u64, spent: u64 },
    /// By the agent's own count while it ran.
    #[error("the budget is used up")]
    Unsaid,
}

fn joined(reasons: &[Reason]) -> String {
    reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

const fn in_words(verification: Verification) -> &'static str {
    match verification {
        Verification::Verified => "complete and verified",
        Verification::Unpinned | Verification::Untrusted => "complete, and the checks passed, but not verified,",
        Verification::Reviewed => "complete, reviewed, not verified,",
        Verification::Unseen | Verification::Claimed => "claimed, not verified,",
    }
}

fn colon(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

fn still(failing: &str) -> String {
    if failing.is_empty() { String::new() } else { format!("; still failing: {failing}") }
}

impl Cause {
    /// The machine-readable reason and the exit code that go with it.
    pub const fn ends_as(&self) -> (StopReason, u8) {
        match self {
            Cause::Iterations(_) => (StopReason::MaxIterations, exit::USED_UP),
            Cause::WallTime(_) => (StopReason::MaxWallTime, exit::LIMIT),
            Cause::Budget(_) => (StopReason::Budget, exit::LIMIT),
            Cause::Interrupted { .. } => (StopReason::Interrupted, exit::INTERRUPTED),
            Cause::Cancelled { .. } => (StopReason::Cancelled, exit::INTERRUPTED),
            Cause::PinsUnreadable { fault: true, .. } => (StopReason::Error, exit::IO),
            Cause::PinsUnreadable { .. }
            | Cause::TaskFolder(_)
            | Cause::NoPrompt(_)
            | Cause::NotAFile { .. }
            | Cause::PlanBroken { .. }
            | Cause::Branch(_) => (StopReason::Error, exit::USAGE),
            Cause::Agent { code, .. } | Cause::CheckNotStarted { code, .. } | Cause::Fatal { code, .. } => {
                (StopReason::Error, *code)
            }
            Cause::AgentInRow { .. }
            | Cause::Transient { .. }
            | Cause::NotWaited(_)
            | Cause::AtOnce(_)
            | Cause::EmptyAnswers(_) => (StopReason::Error, exit::AGENT),
            Cause::Completed { .. } | Cause::Done(_) => (StopReason::Complete, exit::OK),
            Cause::Uncommitted { .. } => (StopReason::Error, exit::USED_UP),
            Cause::Blocked(_) => (StopReason::Blocked, exit::BLOCKED),
            Cause::SinglePass { fine, .. } => (StopReason::SinglePass, if *fine { exit::OK } else { exit::USED_UP }),
            Cause::Stalled { .. } | Cause::SameFailure { .. } | Cause::DoneRefused(_) => {
                (StopReason::Stalled, exit::STALLED)
            }
            Cause::Restarts { .. } => (StopReason::MaxRestarts, exit::USED_UP),
            Cause::Waits(_) => (StopReason::Waiting, exit::WAITING),
        }
    }

    /// How well completion is proven; `None` if the work is not complete.
    pub fn verification(&self) -> Option<Verification> {
        match self {
            Cause::Completed { verification, .. } => Some(*verification),
            Cause::Uncommitted { work, .. } => work.verification(),
            _ => None,
        }
    }
}
