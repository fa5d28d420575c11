//! Notes: what is worth a line for people and changes nothing.

use super::{listed, named};
use crate::check::Blindness;
use crate::id::RunId;
use crate::time::Millis;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something worth a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
#[allow(missing_docs, reason = "each variant's sentence stands below and says what its fields are")]
pub enum Note {
    /// In host's own words: something that the machine did or refused.
    Machine {
        text: String,
    },
    Inherited {
        what: String,
        run: RunId,
    },
    SettingsEdited {
        file: String,
    },
    Baseline {
        failed: usize,
        checks: usize,
    },
    GlobWithoutFiles {
        glob: String,
    },
    AgentTakesOver {
        agent: String,
    },
    AgentReturns {
        agent: String,
    },
    WallTimeBeforeReset {
        wall: Millis,
        run: RunId,
        enough: String,
    },
    Leaked {
        count: u32,
        commands: Vec<String>,
    },
    CheckLeaked {
        command: String,
        count: u32,
    },
    BudgetUnkept {
        agent: String,
        states: Unstated,
    },
    ChildrenAwaited {
        span: Millis,
        runs: Vec<RunId>,
    },
    ChildrenLiveOn {
        runs: Vec<RunId>,
    },
    ChildrenInterrupted {
        runs: Vec<RunId>,
    },
    ChildrenUnknown {
        why: String,
    },
    FilesMoved {
        during_message: bool,
        files: Vec<String>,
    },
    TreeUnseen {
        why: String,
        cause: Blindness,
    },
    CheckoutFailed {
        why: String,
    },
    PutBack {
        changes: String,
    },
    ChangeAllowed {
        changes: String,
    },
    WayOutOfProtection,
    NewFilesLeftOut,
    Request {
        words: String,
    },
    RequestAcknowledged {
        words: String,
    },
    BusUnheard {
        error: String,
    },
    PromptUnwritten {
        error: String,
    },
    LogUnwritten {
        log: String,
        error: String,
    },
    OldDoneRemoved,
    OldDoneStays {
        error: String,
    },
    DoneSeen {
        linger: Millis,
    },
    DoneTooEarly {
        requests: String,
    },
    DoneTakenBack,
    FactUnposted {
        problem: String,
    },
    RestartsUsedUp {
        start: u32,
    },
    LockMended,
    TreeInherited,
    TempMissing {
        error: String,
    },
    DatabaseLocked {
        path: String,
    },
    DatabaseFree,
    /// An event came that does not fit where the run stands: a fault in ralph, which changed nothing.
    Unexpected {
        event: String,
        phase: String,
    },
}

/// What an agent does not state that a budget needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unstated {
    /// No price, but tokens.
    Price,
    /// No tokens.
    Tokens,
    /// Neither.
    Both,
}

impl Note {
    /// The word for programs, as it stands in JSON.
    pub fn code(&self) -> String {
        // The journal's own word, in the shape of the other words of JSON lines.
        let word = serde_json::to_value(self).ok().and_then(|value| Some(value.get("note")?.as_str()?.to_owned()));
        word.unwrap_or_default().replace('_', "-")
    }
}

impl fmt::Display for Note {
    #[allow(clippy::too_many_lines, reason = "one sentence for each note")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Machine { text } => f.write_str(text),
            Note::Inherited { what, run } => {
                write!(f, "{what} during run {run}, and counts as it stands now: ralph explain {run}")
            }
            Note::SettingsEdited { file } => write!(f, "{file} was edited; this run keeps the settings it began with"),
            Note::Baseline { failed, checks } => {
                write!(f, "before the first iteration {failed} of {checks} checks failed")
            }
            Note::GlobWithoutFiles { glob } => write!(f, "protect.paths: `{glob}` matches no file"),
            Note::AgentTakesOver { agent } => write!(f, "{agent} goes on meanwhile"),
            Note::AgentReturns { agent } => write!(f, "{agent} may work again and goes on"),
            Note::WallTimeBeforeReset { wall, run, enough } => write!(
                f,
                "the wall time of {wall} will end this run before the wait is over; to let it go on: interrupt it, \
                 then ralph resume {run} --max-wall-time {enough}"
            ),
            Note::Leaked { count, commands } => {
                let count = if *count == 1 { "a process".to_owned() } else { format!("{count} processes") };
                write!(f, "the agent left {count} behind, ended now: {}", commands.join("; "))
            }
            Note::CheckLeaked { command, count } => {
                write!(f, "guardrail \"{command}\" left processes behind, ended now: {count}")
            }
            Note::BudgetUnkept { agent, states } => {
                let what = match states {
                    Unstated::Price => "no price, so the budget of money cannot end this run; --max-tokens can",
                    Unstated::Tokens => "no tokens, so the budget of tokens cannot end this run; --max-wall-time can",
                    Unstated::Both => "neither price nor tokens, so no budget can end this run; --max-wall-time can",
                };
                write!(f, "{agent} states {what}")
            }
            Note::ChildrenAwaited { span, runs } => {
                write!(f, "waiting for child runs, {span} at most: {}", listed(runs))
            }
            Note::ChildrenLiveOn { runs } => write!(f, "child runs live on: {}", listed(runs)),
            Note::ChildrenInterrupted { runs } => {
                write!(f, "child runs took too long and were interrupted: {}", listed(runs))
            }
            Note::ChildrenUnknown { why } => write!(f, "how child runs ended cannot be read: {why}"),
            Note::FilesMoved { during_message, files } => {
                let when = if *during_message { "the agent was asked for a commit message" } else { "the checks ran" };
                write!(f, "files changed while {when}; checking again{}", named(files))
            }
            Note::TreeUnseen { why, cause: Blindness::NoRepository } => {
                write!(f, "changes during the checks cannot be seen: {why}")
            }
            Note::TreeUnseen { why, cause: Blindness::Fault } => {
                write!(f, "the tree could not be looked at, so what is claimed on it is not verified: {why}")
            }
            Note::CheckoutFailed { why } => write!(f, "a fault of this machine, not of the work: {why}"),
            Note::PutBack { changes } => write!(f, "put back as it was at the start: {changes}"),
            Note::ChangeAllowed { changes } => write!(f, "protected, and allowed to change: {changes}"),
            Note::WayOutOfProtection => f.write_str(
                "if such a file is the work itself, begin a run with protect.scripts false, or protect.onChange \
                 restore or allow",
            ),
            Note::NewFilesLeftOut => f.write_str(
                "new files are not part of the commit, so it is not all that was checked; put `add -A` before \
                 `commit` in scm.tasks",
            ),
            Note::Request { words } => write!(f, "request {words}"),
            Note::RequestAcknowledged { words } => write!(f, "the agent acknowledged request {words}"),
            Note::BusUnheard { error } => write!(f, "the bus cannot be heard: {error}"),
            Note::PromptUnwritten { error } => write!(f, "the prompt could not be written to .ralph: {error}"),
            Note::LogUnwritten { log, error } => write!(f, "{log} could not be written: {error}"),
            Note::OldDoneRemoved => {
                f.write_str("a DONE file left from earlier was removed: only this iteration's own counts")
            }
            Note::OldDoneStays { error } => write!(f, "a DONE from earlier could not be removed: {error}"),
            Note::DoneSeen { linger } => write!(f, "DONE is there; the agent has {linger} to end by itself"),
            Note::DoneTooEarly { requests } => {
                write!(f, "DONE does not count and is removed: not acknowledged: {requests}")
            }
            Note::DoneTakenBack => f.write_str("DONE was taken away while child runs were waited for"),
            Note::FactUnposted { problem } => write!(f, "the completion fact could not be posted: {problem}"),
            Note::RestartsUsedUp { start } => write!(f, "Attempt {start}: Max restarts exceeded, stopping"),
            Note::LockMended => f.write_str("a part of the work tree's lock was deleted and is back"),
            Note::TreeInherited => {
                f.write_str("the run in whose work tree this one works has ended; the tree is this run's now")
            }
            Note::TempMissing { error } => {
                write!(f, "no temporary folder for the run ({error}); agents use the usual one")
            }
            Note::DatabaseLocked { path } => write!(f, "{path} is locked by another process; waiting for it"),
            Note::DatabaseFree => f.write_str("the database is free again"),
            Note::Unexpected { event, phase } => write!(
                f,
                "a fault in ralph: `{event}` came while {phase}, and nothing was done with it; please report it"
            ),
        }
    }
}
