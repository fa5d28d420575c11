//! Reasons: why an iteration was not accepted, or how a start of a supervised agent went.

use super::named;
use crate::evidence::Criterion;
use crate::plan::Violation;
use crate::protect::PinnedChange;
use crate::text;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Reason {
    /// In the words of the agent's dialect.
    #[error("{message}")]
    AgentFailed { message: String },
    #[error("the agent is blocked{}", .reason.as_ref().map_or(" and gave no reason".to_owned(), |why| format!(": {why}")))]
    Blocked { reason: Option<String> },
    #[error("{}; it must be as it was at the start: put it back, and leave it alone", .0.words())]
    Changed(PinnedChange),
    #[error("{what}: only what is committed is checked")]
    Uncommitted { what: String },
    #[error("guardrail \"{command}\" {problem}{}{}", see(.log), compared(*.before))]
    CheckFailed { command: String, problem: String, log: String, before: Option<bool> },
    /// A verify command of a plan.
    #[error("verify command \"{command}\" {problem}{}", see(.log))]
    VerifyFailed { command: String, problem: String, log: String },
    /// An edit of a plan that was undone.
    #[error("{}", .0.words())]
    PlanEdit(Violation),
    /// A file of a plan that must stay as it is, and was put back.
    #[error("{path} {how}; it was put back")]
    PlanFile { path: String, how: String },
    #[error("a review changes no code; put back{}", named(.files))]
    ReviewEdits { files: Vec<String> },
    #[error("the review of story {story} decided nothing")]
    Undecided { story: String },
    /// `claimed`: the agent said that all is done.
    #[error("{}{} of {stories} {} open{}", if *.claimed { "completion was claimed, but " } else { "" }, .open.len(), if .open.len() == 1 { "stories is" } else { "stories are" }, named(.open))]
    StoriesOpen { open: Vec<String>, stories: usize, claimed: bool },
    #[error("story {story} was approved by its last review, but {why}")]
    RedAtCap { story: String, why: String },
    #[error("every story is done, but files are not committed{}", named(.files))]
    PlanUncommitted { files: Vec<String> },
    #[error("no story can be begun: {}", .waits.join("; "))]
    PlanStuck { waits: Vec<String> },
    #[error("{text}")]
    Evidence { criterion: Criterion, text: String },
    #[error("request {name} is not acknowledged")]
    RequestOpen { id: String, name: String },
    #[error("{} not acknowledged", text::count(*.0, "further request"))]
    MoreRequestsOpen(u64),
    #[error(
        "files kept changing while the checks ran, so no check speaks for them{}; if a check writes them, or ralph's \
         own output goes there, let git ignore them", named(.files)
    )]
    TreeChanging { files: Vec<String> },
    #[error("completion was not claimed")]
    NotClaimed,
    /// How a start of a supervised agent went, in the seed's words.
    #[error("Attempt {number}: {line}")]
    Start { number: u32, line: String },
    #[error("stderr: {0}")]
    Stderr(String),
}

fn see(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!(" (see {log})") }
}

/// How a failed check went before anybody had worked.
const fn compared(before: Option<bool>) -> &'static str {
    match before {
        Some(true) => "; it passed before the first iteration, so this run broke it",
        Some(false) => "; it failed before the first iteration too",
        None => "",
    }
}

impl Reason {
    /// The word for programs, as it stands in JSON.
    pub const fn code(&self) -> &'static str {
        match self {
            Reason::AgentFailed { .. } => "agent-failed",
            Reason::Blocked { .. } => "blocked",
            Reason::Changed(_) => "protected-changed",
            Reason::Uncommitted { .. } => "not-committed",
            Reason::CheckFailed { .. } => "check-failed",
            Reason::VerifyFailed { .. } => "verify-failed",
            Reason::PlanEdit(_) => "plan-edit",
            Reason::PlanFile { .. } => "plan-file",
            Reason::ReviewEdits { .. } => "review-edits",
            Reason::Undecided { .. } => "undecided",
            Reason::StoriesOpen { .. } => "stories-open",
            Reason::RedAtCap { .. } => "red-at-cap",
            Reason::PlanUncommitted { .. } => "plan-uncommitted",
            Reason::PlanStuck { .. } => "plan-stuck",
            Reason::Evidence { .. } => "evidence",
            Reason::RequestOpen { .. } | Reason::MoreRequestsOpen(_) => "request-open",
            Reason::TreeChanging { .. } => "tree-changing",
            Reason::NotClaimed => "not-claimed",
            Reason::Start { .. } => "start",
            Reason::Stderr(_) => "stderr",
        }
    }

    /// What failed, so that two iterations that fail alike can be told from others; `None` if nothing did.
    pub fn failing(&self) -> Option<String> {
        Some(match self {
            Reason::AgentFailed { .. } => "agent".to_owned(),
            Reason::Changed(change) => change.words(),
            Reason::Uncommitted { .. } => "clean tree".to_owned(),
            Reason::CheckFailed { command, problem, .. } | Reason::VerifyFailed { command, problem, .. } => {
                format!("{command} {problem}")
            }
            Reason::PlanEdit(violation) => violation.words(),
            Reason::PlanFile { path, how } => format!("{path} {how}"),
            Reason::ReviewEdits { .. } => "code changed by a review".to_owned(),
            Reason::Undecided { story } => format!("undecided review of {story}"),
            Reason::StoriesOpen { claimed: true, .. } => "false claim".to_owned(),
            Reason::PlanUncommitted { .. } => "not committed".to_owned(),
            Reason::Evidence { criterion, .. } => criterion.as_str().to_owned(),
            Reason::RequestOpen { id, .. } => format!("request {id}"),
            Reason::TreeChanging { .. } => "changing tree".to_owned(),
            Reason::Blocked { .. }
            | Reason::MoreRequestsOpen(_)
            | Reason::NotClaimed
            | Reason::StoriesOpen { .. }
            | Reason::RedAtCap { .. }
            | Reason::PlanStuck { .. }
            | Reason::Start { .. }
            | Reason::Stderr(_) => return None,
        })
    }
}
