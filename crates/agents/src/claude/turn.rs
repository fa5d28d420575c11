//! How the current turn of a process stands: refused, in trouble, answered, failed.
//!
//! Only a result ends a turn well, and only the last turn counts: a process can wake up after its
//! result and begin another one.

use super::HINT;
use super::line::{LimitInfo, Line};
use super::trouble::Trouble;
use crate::ending::{ended_badly, ended_from_outside, first_line};
use ralph_core::observation::{Ending, Failure, FailureClass};
use std::borrow::Cow;

/// What is known about the last turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Whether the process printed anything at all.
    printed: bool,
    /// The last error that the client wrote in the model's place, until the model speaks again.
    trouble: Option<Trouble>,
    /// The provider's last refusal.
    refusal: Option<Refusal>,
    /// How the turn ended; `None` while it is going on.
    outcome: Option<Outcome>,
}

#[derive(Debug)]
struct Refusal {
    resets_at: Option<i64>,
    /// The model has not answered since.
    stands: bool,
}

#[derive(Debug)]
enum Outcome {
    Answered,
    /// A result without a word.
    Empty,
    Failed(Failure),
}

impl Turn {
    /// The process printed something.
    pub(super) fn printed(&mut self) {
        self.printed = true;
    }

    /// A turn begins: its result is still to come.
    pub(super) fn begins(&mut self) {
        self.outcome = None;
    }

    /// The model speaks, so whatever the client complained about is over.
    pub(super) fn model_speaks(&mut self) {
        self.trouble = None;
        if let Some(refusal) = &mut self.refusal {
            // The client does not repeat the event of a limit, so the time of its reset is kept.
            refusal.stands = false;
        }
    }

    /// The client states an error in the model's place.
    pub(super) fn client_complains(&mut self, line: &Line<'_>, sentence: String) {
        self.trouble = Some(Trouble::of(line, sentence));
        if let Some(info) = line.api_error_params.0.as_ref().and_then(|params| params.rate_limit_info.0.as_ref()) {
            self.limit_stated(info);
        }
    }

    /// The provider's word on a limit; says whether work is refused, and until when.
    pub(super) fn limit_stated(&mut self, info: &LimitInfo<'_>) -> (bool, Option<i64>) {
        let refused = info.status.is("rejected") && !info.is_using_overage.is_true();
        let resets_at = info.resets_at.number().and_then(epoch_seconds);
        self.refusal = refused.then_some(Refusal { resets_at, stands: true });
        (refused, resets_at)
    }

    /// The turn ends with a result of this text; returns the error, if it is one.
    pub(super) fn ends(&mut self, line: &Line<'_>, text: &str) -> Option<String> {
        // `subtype` says "success" of many errors, and some lines have nothing else.
        if line.is_error.is_true() || line.subtype.word().starts_with("error") {
            let trouble = Trouble::of(line, error_sentence(line, text)).or(self.trouble.as_ref());
            self.outcome = Some(Outcome::Failed(trouble.failure(self.resets_at())));
            return Some(trouble.message);
        }
        self.outcome = Some(if text.trim().is_empty() { Outcome::Empty } else { Outcome::Answered });
        None
    }

    /// Whether there is a result and no later turn.
    pub(super) fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// Why the process failed: the result, the exit code and the words must all agree that it did not.
    pub(super) fn failure(&self, ending: &Ending, stderr_tail: &str, done_marker: bool) -> Option<Failure> {
        let other = |message| Some(Failure::new(FailureClass::Other, message));
        ended_from_outside(ending, HINT).or_else(|| match (&self.outcome, ended_badly(ending, stderr_tail)) {
            (Some(Outcome::Failed(failure)), _) => Some(failure.clone()),
            (Some(_), Some(failure)) => Some(failure),
            (Some(Outcome::Empty), None) if !done_marker => other("empty answer"),
            (Some(_), None) => None,
            (None, failure) => self
                .stated_cause()
                .or_else(|| self.refused_to_start(ending, stderr_tail))
                .or(failure)
                .or_else(|| other("the agent ended without a result")),
        })
    }

    /// Why there is no result, if the stream said so before it broke off.
    fn stated_cause(&self) -> Option<Failure> {
        if let Some(trouble) = &self.trouble {
            return Some(trouble.failure(self.resets_at()));
        }
        let refusal = self.refusal.as_ref().filter(|refusal| refusal.stands)?;
        let mut failure = Failure::new(FailureClass::Limited, "the provider refuses work until its limit is reset");
        failure.resets_at = refusal.resets_at;
        Some(failure)
    }

    /// A wrong flag, root without a sandbox, a session inside a session: the client says so on
    /// standard error and exits with 1 before it prints anything, and would do so every time.
    fn refused_to_start(&self, ending: &Ending, stderr_tail: &str) -> Option<Failure> {
        let refused = !self.printed && *ending == (Ending::Exited { code: 1 });
        let reason = first_line(stderr_tail).filter(|_| refused)?;
        Some(Failure::new(FailureClass::CannotRun, format!("the agent refused to start: {reason}")))
    }

    fn resets_at(&self) -> Option<i64> {
        self.refusal.as_ref().and_then(|refusal| refusal.resets_at)
    }
}

fn error_sentence(line: &Line<'_>, text: &str) -> String {
    if !text.trim().is_empty() {
        return text.to_owned();
    }
    let errors: Vec<Cow<'_, str>> = serde_json::from_str(line.errors.json()).unwrap_or_default();
    if errors.is_empty() { format!("the agent reports {}", line.subtype.text_within(100)) } else { errors.join("; ") }
}

/// Seconds since the epoch. Milliseconds, which other fields of the stream use, are recognised by
/// their size: as seconds they would be some thirty thousand years away.
fn epoch_seconds(number: f64) -> Option<i64> {
    let seconds = if number > 1e12 { number / 1000.0 } else { number };
    (0.0..1e12).contains(&seconds).then_some(seconds as i64)
}
