//! How the current turn stands. Only a result ends a turn well, and only the last turn counts: a process can wake up
//! after its result and begin another one.

use super::flavour::Flavour;
use super::line::{LimitInfo, Line};
use super::trouble::Trouble;
use crate::advice::Help;
use crate::complaint::ErrorObject;
use crate::dialect::End;
use crate::json::{Loose, read};
use crate::reset::{self, Reset};
use crate::stream::Outcome;
use crate::tool::given;
use ralph_core::observation::{Failure, FailureClass};

#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The last error that the client wrote in the model's place, until the model speaks again.
    trouble: Option<Trouble>,
    /// Why the client last asked its provider again, until the model speaks: a result knows better.
    retry: Option<Trouble>,
    refusal: Option<Refusal>,
    ended: Option<Ended>,
}

#[derive(Debug)]
enum Ended {
    Answered,
    Empty,
    Failed(Trouble),
}

#[derive(Debug)]
struct Refusal {
    resets_at: Option<i64>,
    /// The model has not answered since.
    stands: bool,
}

impl Turn {
    pub(super) fn begins(&mut self) {
        self.ended = None;
    }

    /// The model speaks: complaints of the client are over, and a turn goes on even if nobody said that it began.
    pub(super) fn model_speaks(&mut self) {
        (self.trouble, self.retry) = (None, None);
        self.ended = None;
        if let Some(refusal) = &mut self.refusal {
            // The client does not repeat the event of a limit, so the time of its reset is kept.
            refusal.stands = false;
        }
    }

    pub(super) fn client_complains(&mut self, line: &Line<'_>, sentence: String) {
        self.trouble = Some(Trouble::of(line, sentence));
        if let Some(info) = line.api_error_params.0.as_ref().and_then(|params| params.rate_limit_info.0.as_ref()) {
            self.limit_stated(info);
        }
    }

    /// The client asks its provider again. What made it do so is over as soon as the model speaks.
    pub(super) fn client_retries(&mut self, line: &Line<'_>) {
        self.retry = Some(Trouble::of_retry(line));
    }

    /// The provider's word on a limit; says whether work is refused, and until when.
    pub(super) fn limit_stated(&mut self, info: &LimitInfo<'_>) -> (bool, Option<i64>) {
        let refused = info.status.is("rejected") && !info.is_using_overage.is_true();
        let resets_at = info.resets_at.number().and_then(epoch_seconds);
        self.refusal = refused.then_some(Refusal { resets_at, stands: true });
        (refused, resets_at)
    }

    /// The turn ends with a result of this text; returns the error, if it is one.
    pub(super) fn ends(&mut self, flavour: &Flavour, line: &Line<'_>, text: &str) -> Option<String> {
        // `subtype` says "success" of many errors, and some lines have nothing else.
        if line.is_error.is_true() || line.subtype.word().starts_with("error") {
            let trouble = Trouble::of(line, error_sentence(line, text)).or(self.trouble.as_ref());
            let message = trouble.complaint(flavour).message;
            self.ended = Some(Ended::Failed(trouble));
            return Some(message);
        }
        self.ended = Some(if text.trim().is_empty() { Ended::Empty } else { Ended::Answered });
        None
    }

    pub(super) fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    pub(super) fn outcome(&self, flavour: &Flavour, end: &End<'_>, help: Help) -> Outcome {
        match &self.ended {
            Some(Ended::Answered) => Outcome::Answered,
            Some(Ended::Empty) => Outcome::Empty,
            Some(Ended::Failed(trouble)) => Outcome::Failed(trouble.failure(flavour, self.resets_at(), end, help)),
            None => Outcome::Unfinished(self.stated_cause(flavour, end, help)),
        }
    }

    /// Why there is no result, if the stream said so before it broke off.
    fn stated_cause(&self, flavour: &Flavour, end: &End<'_>, help: Help) -> Option<Failure> {
        if let Some(trouble) = self.trouble.as_ref().or(self.retry.as_ref()) {
            return Some(trouble.failure(flavour, self.resets_at(), end, help));
        }
        let refusal = self.refusal.as_ref().filter(|refusal| refusal.stands)?;
        let mut failure = Failure::new(FailureClass::Limited, "the provider refuses work until its limit is reset");
        failure.resets_at = refusal.resets_at;
        Some(failure)
    }

    fn resets_at(&self) -> Option<i64> {
        self.refusal.as_ref().and_then(|refusal| refusal.resets_at)
    }
}

fn error_sentence(line: &Line<'_>, text: &str) -> String {
    if !text.trim().is_empty() {
        return text.to_owned();
    }
    let errors: Vec<String> = line.errors.iter().filter_map(|&error| given(error)).collect();
    let Loose(object): Loose<ErrorObject<'_>> = read(line.error.json()).unwrap_or_default();
    [errors.join("; "), object.map(|error| error.message.text()).unwrap_or_default(), line.error.text()]
        .into_iter()
        .find(|sentence| !sentence.trim().is_empty())
        .unwrap_or_else(|| format!("the agent reports {}", line.subtype.text_within(100)))
}

pub(super) fn epoch_seconds(number: f64) -> Option<i64> {
    if let Some(Reset::At(at)) = reset::epoch(number) { Some(at) } else { None }
}
