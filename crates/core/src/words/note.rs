//! Notes: what is worth a line for people and changes nothing.

use super::{listed, named};
use crate::check::Blindness;
use crate::id::RunId;
use crate::time::Millis;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// In host's own words: something that the machine did or refused.
    #[error("{text}")]
    Machine { text: String },
    #[error(
        "ralph does not know {what}, so a check that needs it cannot verify this run: name it in guardrails[].judges, or \
         in guardrails[].work if it is the work; see ralph judges"
    )]
    Unpinned { what: String },
    #[error("checks run on the live tree, not on snapshots of it: {why}")]
    LiveTree { why: String },
    #[error("\"{check}\" is watched once, to learn what it is made of")]
    Watching { check: String },
    #[error("{what}: no run is verified by it until a person looks at it and says so: ralph trust")]
    Untrusted { what: String },
    #[error("{what}: this run is not verified by its checks; begin a new one")]
    RulesDoubted { what: String },
    #[error("{file} was edited; this run keeps the settings it began with")]
    SettingsEdited { file: String },
    #[error("which existing tests this run changes cannot be told: {why}")]
    TestsUnseen { why: String },
    #[error("before the first iteration {failed} of {checks} checks failed")]
    Baseline { failed: usize, checks: usize },
    #[error("protect.paths: `{glob}` matches no file")]
    GlobWithoutFiles { glob: String },
    #[error("{agent} goes on meanwhile")]
    AgentTakesOver { agent: String },
    #[error("{agent} may work again and goes on")]
    AgentReturns { agent: String },
    #[error(
        "the wall time of {wall} will end this run before the wait is over; to let it go on: interrupt it, then ralph \
         resume {run} --max-wall-time {enough}"
    )]
    WallTimeBeforeReset { wall: Millis, run: RunId, enough: String },
    #[error("the agent left {} behind, ended now: {}", processes(*.count), .commands.join("; "))]
    Leaked { count: u32, commands: Vec<String> },
    #[error("guardrail \"{command}\" left processes behind, ended now: {count}")]
    CheckLeaked { command: String, count: u32 },
    #[error("{agent} states {}", .states.and_so())]
    BudgetUnkept { agent: String, states: Unstated },
    #[error("waiting for child runs, {span} at most: {}", listed(.runs))]
    ChildrenAwaited { span: Millis, runs: Vec<RunId> },
    #[error("child runs live on: {}", listed(.runs))]
    ChildrenLiveOn { runs: Vec<RunId> },
    #[error("child runs took too long and were interrupted: {}", listed(.runs))]
    ChildrenInterrupted { runs: Vec<RunId> },
    #[error("how child runs ended cannot be read: {why}")]
    ChildrenUnknown { why: String },
    #[error("files changed while the checks ran; checking again{}", named(.files))]
    FilesMoved { files: Vec<String> },
    #[error("files changed while the agent was asked for a commit message; checking again{}", named(.files))]
    FilesMovedByAnswer { files: Vec<String> },
    #[error("{}: {why}", match .cause {
        Blindness::NoRepository => "changes during the checks cannot be seen",
        Blindness::Fault => "the tree could not be looked at, so what is claimed on it is not verified",
    })]
    TreeUnseen { why: String, cause: Blindness },
    #[error("a fault of this machine, not of the work: {why}")]
    CheckoutFailed { why: String },
    #[error("put back as it was at the start: {changes}")]
    PutBack { changes: String },
    #[error("protected, and allowed to change: {changes}")]
    ChangeAllowed { changes: String },
    #[error("if such a file is the work itself, name it in guardrails[].work and begin a run")]
    WayOutOfProtection,
    #[error(
        "if {} is the work itself, say so in the guardrail, \"work\": [{}], and begin a new run",
        .files.join(", "), .files.iter().map(|file| format!("{file:?}")).collect::<Vec<_>>().join(", ")
    )]
    DeclareWork { files: Vec<String> },
    #[error(
        "new files are not part of the commit, so it is not all that was checked{}; put `add -A` before `commit` in \
         scm.tasks", named(.files)
    )]
    NewFilesLeftOut { files: Vec<String> },
    #[error("made or changed during this run, and able to tell checks what to do{}; checking once more without", named(.files))]
    TriedWithout { files: Vec<String> },
    #[error("new files are not part of the commit; checking once more without them{}", named(.files))]
    CheckedWithout { files: Vec<String> },
    #[error("request {words}")]
    Request { words: String },
    #[error("the agent acknowledged request {words}")]
    RequestAcknowledged { words: String },
    #[error("the bus cannot be heard: {error}")]
    BusUnheard { error: String },
    #[error("the prompt could not be written to .ralph: {error}")]
    PromptUnwritten { error: String },
    #[error("{log} could not be written: {error}")]
    LogUnwritten { log: String, error: String },
    #[error("a DONE file left from earlier was removed: only this iteration's own counts")]
    OldDoneRemoved,
    #[error("a DONE from earlier could not be removed: {error}")]
    OldDoneStays { error: String },
    #[error("DONE is there; the agent has {linger} to end by itself")]
    DoneSeen { linger: Millis },
    #[error("DONE does not count and is removed: not acknowledged: {requests}")]
    DoneTooEarly { requests: String },
    #[error("DONE was taken away while child runs were waited for")]
    DoneTakenBack,
    #[error("the completion fact could not be posted: {problem}")]
    FactUnposted { problem: String },
    #[error("Attempt {start}: Max restarts exceeded, stopping")]
    RestartsUsedUp { start: u32 },
    #[error("a part of the work tree's lock was deleted and is back")]
    LockMended,
    #[error("the run in whose work tree this one works has ended; the tree is this run's now")]
    TreeInherited,
    #[error("no temporary folder for the run ({error}); agents use the usual one")]
    TempMissing { error: String },
    #[error("{}, but HEAD is {}: git switch {expected}, or set plan.branch", branch_of(.expected), head_of(.actual))]
    PlanBranch { expected: String, actual: String },
    #[error("edited by a person since the last iteration, and taken as it is: {}", .changes.join("; "))]
    PlanEdited { changes: Vec<String> },
    /// In the words of whoever reads plans.
    #[error("{problem}")]
    PlanDoubt { problem: String },
    #[error("{dir}/prompt.md: {problem}")]
    PlanTemplate { dir: String, problem: String },
    #[error("from now on: {}", .changes.join(", "))]
    PlanRules { changes: Vec<String> },
    #[error("files that a review changes cannot be put back: {why}")]
    ReviewUnkept { why: String },
    #[error("the plan's repository cannot be asked: {why}")]
    PlanGit { why: String },
    #[error("undone: {what}")]
    PlanUndone { what: String },
    #[error("{}: {why}", if *.reviewed { format!("the approval of story {story} is withdrawn") } else { format!("story {story} does not pass") })]
    Withdrawn { story: String, why: String, reviewed: bool },
    #[error("story {story} is approved because review {reviews} is its last")]
    ApprovedAtCap { story: String, reviews: u32 },
    #[error("the agent said nothing and changed nothing ({times} in a row); the same iteration again")]
    EmptyAnswer { times: u32 },
    #[error("every story is done, but files are not committed{}; one more iteration asks for that", named(.files))]
    ClosingIteration { files: Vec<String> },
    #[error("{path} is locked by another process; waiting for it")]
    DatabaseLocked { path: String },
    #[error("the database is free again")]
    DatabaseFree,
    /// An event came that does not fit where the run stands: a fault in ralph, which changed nothing.
    #[error("a fault in ralph: `{event}` came while {phase}, and nothing was done with it; please report it")]
    Unexpected { event: String, phase: String },
}

/// What an agent does not state that a budget needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unstated {
    Price,
    Tokens,
    Both,
}

impl Unstated {
    const fn and_so(self) -> &'static str {
        match self {
            Unstated::Price => "no price, so the budget of money cannot end this run; --max-tokens can",
            Unstated::Tokens => "no tokens, so the budget of tokens cannot end this run; --max-wall-time can",
            Unstated::Both => "neither price nor tokens, so no budget can end this run; --max-wall-time can",
        }
    }
}

impl Note {
    /// The word for programs, as it stands in JSON.
    pub fn code(&self) -> String {
        // The journal's own word, in the shape of the other words of JSON lines.
        let word = serde_json::to_value(self).ok().and_then(|value| Some(value.get("note")?.as_str()?.to_owned()));
        word.unwrap_or_default().replace('_', "-")
    }
}

fn branch_of(expected: &str) -> String {
    format!("the plan belongs to branch {expected}")
}

fn head_of(actual: &str) -> String {
    if actual.is_empty() { "no branch".to_owned() } else { actual.to_owned() }
}

fn processes(count: u32) -> String {
    if count == 1 { "a process".to_owned() } else { format!("{count} processes") }
}
