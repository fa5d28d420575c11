//! What the next prompt is made of: the base text, memory, and words about the last iteration.

use crate::event::Gathered;
use crate::guardrail::GuardrailFailure;
use crate::inbox::Requests;
use crate::memory::{Memory, Past, StateView, Views};
use crate::policy::{MemoryPolicy, Policy, PromptSource};
use crate::prompt::{self, Ingredients};
use serde::{Deserialize, Serialize};

/// What the next prompt is made of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Brief {
    memory: Memory,
    /// The memory in words, made anew whenever it or the base text changes: a prompt and the views show the same.
    summary: String,
    /// The base text of the last prompt.
    base: String,
    /// What people wrote, as the last prompt carried it.
    human: String,
    /// ralph's words about the last iteration.
    feedback: String,
    failures: Vec<GuardrailFailure>,
    messages: Vec<String>,
    /// What was undone in this iteration, for the agent.
    undone: Option<String>,
    last: LastJudged,
}

/// What the state file says about the iteration that was judged last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct LastJudged {
    claimed: bool,
    errors: Vec<String>,
}

/// What is to be told about an iteration that was judged.
pub(super) struct Lesson<'a> {
    pub(super) past: Past<'a>,
    /// `complete`, `blocked` or `continue`.
    pub(super) candidate: &'static str,
    pub(super) reasons: Vec<String>,
    pub(super) failures: Vec<GuardrailFailure>,
    pub(super) feedback: String,
    pub(super) claimed: bool,
    /// Whether it is remembered, and not only gone through again.
    pub(super) counts: bool,
}

impl Brief {
    pub(super) fn of(policy: &Policy) -> Brief {
        let mut brief = Brief::default();
        if let PromptSource::Text(text) = &policy.prompt {
            brief.base.clone_from(text);
        }
        brief.sum_up(policy);
        brief
    }

    /// Takes what was read for a prompt; what an earlier run left counts for the first one only.
    pub(super) fn gather(&mut self, policy: &Policy, gathered: &Gathered, first: bool) {
        let base = gathered.base.as_ref().and_then(|base| base.as_ref().ok());
        let inherits = first && !gathered.summary.is_empty();
        if let Some(base) = base {
            self.base.clone_from(base);
        }
        if inherits {
            self.memory.inherit(&gathered.summary);
        }
        if inherits || base.is_some() {
            self.sum_up(policy);
        }
        self.human.clone_from(&gathered.human);
    }

    fn sum_up(&mut self, policy: &Policy) {
        if policy.memory.enabled {
            self.summary = self.memory.summary(&self.base, policy.memory.max_chars);
        }
    }

    pub(super) fn human(&self) -> &str {
        &self.human
    }

    /// What people wrote is used up with the iteration that carried it.
    pub(super) fn use_up_human(&mut self) {
        self.human.clear();
    }

    pub(super) fn undo(&mut self, what: String) {
        self.undone = Some(what);
    }

    pub(super) fn keep_errors(&mut self, errors: Vec<String>) {
        self.last.errors = errors;
    }

    /// Takes what an iteration taught.
    pub(super) fn learn(&mut self, policy: &Policy, lesson: Lesson<'_>) {
        self.failures = lesson.failures;
        self.messages.clone_from(&lesson.past.seen.messages);
        self.feedback = lesson.feedback;
        if let Some(undone) = self.undone.take() {
            self.feedback += &format!("\n\nPut back as it was at the start: {undone}. Leave it alone.");
        }
        if lesson.counts {
            self.memory.record(lesson.past, lesson.candidate, &lesson.reasons);
        }
        self.sum_up(policy);
        self.last = LastJudged { claimed: lesson.claimed, errors: lesson.past.seen.all_errors() };
    }

    /// The exact prompt.
    pub(super) fn prompt(&self, policy: &Policy, iteration: u32, requests: &Requests) -> String {
        let remembers = policy.memory.enabled;
        prompt::compose(
            policy,
            &Ingredients {
                iteration,
                base: &self.base,
                failures: &self.failures,
                summary: if remembers && !self.memory.is_empty() { &self.summary } else { "" },
                feedback: if remembers { &self.feedback } else { "" },
                human: &self.human,
                messages: &self.messages,
                requests,
            },
        )
    }

    /// The readable views; `state` lacks only what is known here.
    pub(super) fn views(&self, policy: &Policy, seen_human: String, mut state: StateView<'_>) -> Views {
        state.completion_promise_matched = self.last.claimed;
        let state = StateView { errors: &self.last.errors, ..state };
        let MemoryPolicy { summary_file, feedback_file, state_file, .. } = &policy.memory;
        Views {
            summary: (summary_file.clone(), self.summary.clone()),
            feedback: (feedback_file.clone(), self.feedback.clone()),
            seen_human,
            state: (state_file.clone(), serde_json::to_string_pretty(&state).unwrap_or_default() + "\n"),
        }
    }
}
