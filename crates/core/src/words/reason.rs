//! Reasons: why an iteration was not accepted, or how a start of a supervised agent went.

use super::named;
use crate::protect::PinnedChange;
use crate::text;
use std::fmt;

/// Why an iteration was judged as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The agent failed, in the words of its dialect.
    AgentFailed {
        /// What failed, and what to do about it.
        message: String,
    },
    /// The agent says that it needs a person.
    Blocked {
        /// What for; `None` if it did not say.
        reason: Option<String>,
    },
    /// A pinned file is not as it was.
    Changed(PinnedChange),
    /// Not everything is committed, or the commit cannot be judged.
    Uncommitted {
        /// What, as the beginning of a sentence.
        what: String,
    },
    /// A required check did not pass.
    CheckFailed {
        /// Its command.
        command: String,
        /// How it failed.
        problem: String,
        /// Its log; empty if there is none.
        log: String,
        /// Whether it passed before the first iteration, if that is known.
        before: Option<bool>,
    },
    /// The agent's own tool runs speak against the claim.
    Evidence {
        /// The criterion's name.
        criterion: &'static str,
        /// What speaks against it.
        text: String,
    },
    /// A person's request is not acknowledged.
    RequestOpen {
        /// Its id.
        id: String,
        /// The request in a few words.
        name: String,
    },
    /// So many more are not.
    MoreRequestsOpen(u64),
    /// Files kept changing while the checks ran.
    TreeChanging {
        /// Some of them.
        files: Vec<String>,
    },
    /// Nothing speaks against it, and nobody claimed that it is done.
    NotClaimed,
    /// How a start of a supervised agent went, in the seed's words.
    Start {
        /// Its number.
        number: u32,
        /// What happened.
        line: String,
    },
    /// The last line that it wrote to standard error.
    Stderr(String),
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
            Reason::Evidence { criterion, .. } => (*criterion).to_owned(),
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

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::AgentFailed { message } => f.write_str(message),
            Reason::Blocked { reason: None } => f.write_str("the agent is blocked and gave no reason"),
            Reason::Blocked { reason: Some(reason) } => write!(f, "the agent is blocked: {reason}"),
            Reason::Changed(change) => {
                write!(f, "{}; it must be as it was at the start: put it back, and leave it alone", change.words())
            }
            Reason::Uncommitted { what } => write!(f, "{what}: only what is committed is checked"),
            Reason::CheckFailed { command, problem, log, before } => {
                let log = if log.is_empty() { String::new() } else { format!(" (see {log})") };
                let before = match before {
                    Some(true) => "; it passed before the first iteration, so this run broke it",
                    Some(false) => "; it failed before the first iteration too",
                    None => "",
                };
                write!(f, "guardrail \"{command}\" {problem}{log}{before}")
            }
            Reason::Evidence { text, .. } => f.write_str(text),
            Reason::RequestOpen { name, .. } => write!(f, "request {name} is not acknowledged"),
            Reason::MoreRequestsOpen(more) => write!(f, "{} not acknowledged", text::count(*more, "further request")),
            Reason::TreeChanging { files } => write!(
                f,
                "files kept changing while the checks ran, so no check speaks for them{}; if a check writes them, or \
                 ralph's own output goes there, let git ignore them",
                named(files)
            ),
            Reason::NotClaimed => f.write_str("completion was not claimed"),
            Reason::Start { number, line } => write!(f, "Attempt {number}: {line}"),
            Reason::Stderr(words) => write!(f, "stderr: {words}"),
        }
    }
}
