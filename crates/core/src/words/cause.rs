//! Causes: why a run ended, in one sentence.

use super::Reason;
use crate::id::TaskName;
use crate::outcome::{StopReason, exit};
use crate::text;
use crate::time::Millis;
use std::fmt;

/// Why a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// All iterations are used up.
    Iterations(u32),
    /// The wall time is used up.
    WallTime(Millis),
    /// A budget is used up.
    Budget(Budget),
    /// Somebody stopped it in this step.
    Interrupted {
        /// `iteration` or `start`.
        step: &'static str,
        /// Its number.
        number: u32,
    },
    /// Somebody cancelled it in this step.
    Cancelled {
        /// `iteration` or `start`.
        step: &'static str,
        /// Its number.
        number: u32,
    },
    /// The files that must not change cannot be read.
    PinsUnreadable {
        /// Why.
        why: String,
        /// The machine is to blame, and not what was asked for.
        fault: bool,
    },
    /// The task folder cannot be used.
    TaskFolder(String),
    /// The prompt cannot be made, in the words of whoever read its parts.
    NoPrompt(String),
    /// Something else than a file stands where a marker should be.
    NotAFile {
        /// Where.
        path: String,
        /// What it is.
        kind: String,
    },
    /// The agent cannot run, in the words of its dialect.
    Agent {
        /// What failed, and what to do about it.
        message: String,
        /// The exit code that fits it.
        code: u8,
    },
    /// The agent failed so often in a row.
    AgentInRow {
        /// How often, as a number with its word.
        times: u32,
        /// How it failed last.
        why: String,
    },
    /// The network or the provider failed so often in a row.
    Transient {
        /// The agent.
        agent: String,
        /// How often.
        times: u32,
        /// How it failed last.
        why: String,
    },
    /// A limit is not waited for.
    NotWaited(String),
    /// A check could not be started on this machine.
    CheckNotStarted {
        /// Its command.
        command: String,
        /// Why.
        why: String,
        /// The exit code that fits it.
        code: u8,
    },
    /// It is complete.
    Complete {
        /// After so many iterations.
        iterations: u32,
        /// Why it is not verified; `None` if it is.
        unverified: Option<String>,
    },
    /// It is complete, but its version control failed.
    Uncommitted {
        /// As it would have ended.
        work: Box<Cause>,
        /// Everything was committed, and only something else failed.
        committed: bool,
        /// What failed.
        failure: String,
    },
    /// The agent needs a person.
    Blocked(Reason),
    /// A single pass did not earn completion.
    SinglePass {
        /// Why not.
        reasons: Vec<Reason>,
        /// Nothing failed.
        fine: bool,
    },
    /// The iterations led nowhere.
    Stalled {
        /// How many in a row.
        iterations: u32,
        /// They left the files alone, instead of changing them back and forth.
        untouched: bool,
        /// What still fails; empty if nothing does.
        failing: String,
    },
    /// The same failure, whatever was changed.
    SameFailure {
        /// How many in a row.
        iterations: u32,
        /// Which.
        failing: String,
    },
    /// The restarts of a supervised agent are used up.
    Restarts {
        /// How many starts there were.
        starts: u32,
        /// A DONE was there that did not count.
        refused: bool,
    },
    /// A supervised agent asked to wait, and how.
    Waits(String),
    /// A supervised agent could not be started.
    Fatal {
        /// Why.
        why: String,
        /// The exit code that fits it.
        code: u8,
    },
    /// A supervised agent fails as soon as it is started.
    AtOnce(String),
    /// DONE was there so often without an acknowledgement.
    DoneRefused(u32),
    /// A supervised agent's task is complete.
    Done(String),
}

/// A budget that is used up.
#[derive(Debug, Clone, PartialEq)]
pub enum Budget {
    /// Money of the run.
    Cost {
        /// The budget.
        limit: f64,
        /// What was spent.
        spent: f64,
    },
    /// Tokens of the run.
    Tokens {
        /// The budget.
        limit: u64,
        /// What was spent.
        spent: u64,
    },
    /// Money of all runs of the task.
    TaskCost {
        /// The task.
        task: TaskName,
        /// The budget.
        limit: f64,
        /// What was spent.
        spent: f64,
    },
    /// Tokens of all runs of the task.
    TaskTokens {
        /// The task.
        task: TaskName,
        /// The budget.
        limit: u64,
        /// What was spent.
        spent: u64,
    },
    /// By the agent's own count while it ran.
    Unsaid,
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
            Cause::PinsUnreadable { .. } | Cause::TaskFolder(_) | Cause::NoPrompt(_) | Cause::NotAFile { .. } => {
                (StopReason::Error, exit::USAGE)
            }
            Cause::Agent { code, .. } | Cause::CheckNotStarted { code, .. } | Cause::Fatal { code, .. } => {
                (StopReason::Error, *code)
            }
            Cause::AgentInRow { .. } | Cause::Transient { .. } | Cause::NotWaited(_) | Cause::AtOnce(_) => {
                (StopReason::Error, exit::AGENT)
            }
            Cause::Complete { .. } | Cause::Done(_) => (StopReason::Complete, exit::OK),
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

    /// Whether the work was verified.
    pub fn is_verified(&self) -> bool {
        match self {
            Cause::Complete { unverified, .. } => unverified.is_none(),
            Cause::Uncommitted { work, .. } => work.is_verified(),
            _ => false,
        }
    }
}

impl fmt::Display for Cause {
    #[allow(clippy::too_many_lines, reason = "one sentence for each cause")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Iterations(most) => {
                write!(f, "{} used up, and the task is not complete", text::count((*most).into(), "iteration"))
            }
            Cause::WallTime(wall) => write!(f, "the wall time of {wall} is used up"),
            Cause::Budget(budget) => budget.fmt(f),
            Cause::Interrupted { step, number } => write!(f, "interrupted in {step} {number}; nothing is lost"),
            Cause::Cancelled { step, number } => write!(f, "cancelled in {step} {number}"),
            Cause::PinsUnreadable { why, .. } => write!(f, "the files that must not change cannot be read: {why}"),
            Cause::TaskFolder(problem) => write!(f, "the task folder cannot be used: {problem}"),
            Cause::NotAFile { path, kind } => write!(f, "{path} is a {kind}, not a file; remove it and resume"),
            Cause::NoPrompt(said) | Cause::Agent { message: said, .. } | Cause::Done(said) => f.write_str(said),
            Cause::AgentInRow { times, why } => {
                write!(f, "the agent failed {} in a row: {why}", text::count((*times).into(), "time"))
            }
            Cause::Transient { agent, times, why } => write!(f, "{agent} failed {times} times in a row: {why}"),
            Cause::NotWaited(why) => write!(f, "{why}; not waited for, as --no-wait or limits.waitForReset says"),
            Cause::CheckNotStarted { command, why, .. } => {
                write!(f, "guardrail \"{command}\" could not be started: {why}")
            }
            Cause::Complete { iterations, unverified } => {
                let after = text::count((*iterations).into(), "iteration");
                match unverified {
                    None => write!(f, "complete and verified after {after}"),
                    Some(why) => write!(f, "claimed, not verified, after {after}: {why}"),
                }
            }
            Cause::Uncommitted { work, committed, failure } => {
                let but = if *committed { "not all of version control was done" } else { "not committed" };
                write!(f, "the work is {work}, but {but}: {failure}")
            }
            Cause::Blocked(reason) => reason.fmt(f),
            Cause::SinglePass { reasons, .. } => write!(f, "single pass: {}", joined(reasons, "; ")),
            Cause::Stalled { iterations, untouched, failing } => {
                let what = if *untouched { "nothing changed" } else { "nothing new came up" };
                let still = if failing.is_empty() { String::new() } else { format!("; still failing: {failing}") };
                write!(f, "{what} in {}{still}", text::count((*iterations).into(), "iteration"))
            }
            Cause::SameFailure { iterations, failing } => {
                let times = text::count((*iterations).into(), "iteration");
                write!(f, "the same failure in {times} in a row, whatever was changed: {failing}")
            }
            Cause::Restarts { starts, refused } => {
                let without = if *refused { "an accepted DONE" } else { "DONE" };
                write!(f, "max restarts exceeded: {} without {without}", text::count((*starts).into(), "start"))
            }
            Cause::Waits(asked) => write!(f, "the agent asked to wait ({asked}), so it is not started again"),
            Cause::Fatal { why, .. } => write!(f, "Fatal error: {why}"),
            Cause::AtOnce(said) => f.write_str(said),
            Cause::DoneRefused(times) => {
                let times = text::count((*times).into(), "time");
                write!(f, "the agent was DONE {times} in a row without acknowledging what people want")
            }
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let money = |amount: &f64| text::money(*amount);
        match self {
            Budget::Cost { limit, spent } => {
                write!(f, "the budget of ${} is used up (${} spent)", money(limit), money(spent))
            }
            Budget::Tokens { limit, spent } => write!(f, "the budget of {limit} tokens is used up ({spent} spent)"),
            Budget::TaskCost { task, limit, spent } => write!(
                f,
                "the budget of ${} for task {task} is used up (${} spent by all its runs)",
                money(limit),
                money(spent)
            ),
            Budget::TaskTokens { task, limit, spent } => {
                write!(f, "the budget of {limit} tokens for task {task} is used up ({spent} spent by all its runs)")
            }
            Budget::Unsaid => f.write_str("the budget is used up"),
        }
    }
}

/// Sentences side by side.
fn joined(reasons: &[Reason], between: &str) -> String {
    reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}
