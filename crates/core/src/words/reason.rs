//! Reasons: why an iteration was not accepted, or how a start of a supervised agent went.

use super::named;
use crate::evidence::Criterion;
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
            Reason::CheckFailed { command, problem, .. } => format!("{command} {problem}"),
            Reason::Evidence { criterion, .. } => criterion.as_str().to_owned(),
            Reason::RequestOpen { id, .. } => format!("request {id}"),
            Reason::TreeChanging { .. } => "changing tree".to_owned(),
            Reason::Blocked { .. }
            | Reason::MoreRequestsOpen(_)
            | Reason::NotClaimed
            | Reason::Start { .. }
            | Reason::Stderr(_) => return None,
        })
    }
}
