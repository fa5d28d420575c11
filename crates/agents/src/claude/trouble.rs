//! Why Claude Code, or a program like it, gave up. The fields in which it says so decide; its sentence is looked at
//! only in place of an error result, where the model cannot have written it, and only for clients that state no cause.

use super::flavour::Flavour;
use super::line::Line;
use super::turn::epoch_seconds;
use crate::advice::Help;
use crate::complaint::{Complaint, status_of};
use crate::dialect::End;
use crate::json::Raw;
use ralph_core::observation::{Failure, FailureClass};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trouble {
    /// Words for the cause, from the most precise to the least: the client's own (`usage_limit_reached`,
    /// `connection_failed`), the class of the error (`rate_limit`, `billing_error`), the provider's.
    kinds: Vec<String>,
    status: Option<u16>,
    message: String,
}

impl Trouble {
    /// The error that a line states in its fields, with a sentence that stands beside them.
    pub(super) fn of(line: &Line<'_>, message: String) -> Trouble {
        Trouble {
            kinds: kinds([line.api_error, line.error, line.api_error_type]),
            status: status_of(line.api_error_status),
            message,
        }
    }

    /// The error because of which the client asks its provider again.
    pub(super) fn of_retry(line: &Line<'_>) -> Trouble {
        let message = format!("the provider refused: {}", line.error.text_within(100));
        Trouble { kinds: kinds([line.error]), status: status_of(line.error_status), message }
    }

    /// Takes over what an earlier line of the same turn stated more precisely.
    pub(super) fn or(self, earlier: Option<&Trouble>) -> Trouble {
        let Some(earlier) = earlier else { return self };
        let message = if self.message.is_empty() { earlier.message.clone() } else { self.message };
        Trouble { kinds: [self.kinds, earlier.kinds.clone()].concat(), status: self.status.or(earlier.status), message }
    }

    pub(super) fn failure(&self, flavour: &Flavour, resets_at: Option<i64>, end: &End<'_>, help: Help) -> Failure {
        let failure = self.complaint(flavour).failure(help, end);
        let stated =
            resets_at.or_else(|| reset_behind(&self.message)).filter(|_| failure.class == FailureClass::Limited);
        Failure { resets_at: stated.or(failure.resets_at), ..failure }
    }

    pub(super) fn complaint(&self, flavour: &Flavour) -> Complaint {
        if self.kinds.is_empty() && self.status.is_none() {
            return (flavour.sentence)(&self.message);
        }
        Complaint::stated(self.status, self.kinds.clone(), &self.message)
    }
}

/// The words of fields. Where a client states no class, the sentence itself stands in its place.
fn kinds<const N: usize>(fields: [Raw<'_>; N]) -> Vec<String> {
    fields
        .map(|field| field.text_within(100))
        .into_iter()
        .filter(|word| !word.is_empty() && !word.contains(' '))
        .collect()
}

/// The sentence of older versions, with the end of the limit behind it in seconds since the epoch.
const LIMIT_REACHED: &str = "Claude AI usage limit reached";

fn reset_behind(message: &str) -> Option<i64> {
    message.strip_prefix(LIMIT_REACHED)?.strip_prefix('|')?.trim().parse().ok().and_then(epoch_seconds)
}

/// The sentences that Claude Code prints without any field.
pub(super) fn known_sentence(message: &str) -> Complaint {
    const SENTENCES: &[(&str, &str)] = &[
        ("Not logged in", "authentication_failed"),
        ("Invalid API key", "authentication_failed"),
        ("Credit balance is too low", "billing_error"),
        (LIMIT_REACHED, "usage_limit_reached"),
    ];
    let said = SENTENCES.iter().find(|(sentence, _)| message.starts_with(sentence));
    // As it quotes the provider where it states nothing else.
    if let Some(quoted) = message.strip_prefix("API Error: ").filter(|_| said.is_none()) {
        return Complaint::new(quoted).by_fields();
    }
    Complaint::stated(None, said.map(|(_, kind)| (*kind).to_owned()).into_iter().collect(), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::end_of;
    use ralph_core::observation::Ending;

    fn failure(trouble: &Trouble, resets_at: Option<i64>) -> Failure {
        let (flavour, help) = (&crate::claude::FLAVOUR, crate::claude::DIALECT.help);
        trouble.failure(flavour, resets_at, &end_of(&Ending::Exited { code: 1 }, ""), help)
    }

    #[test]
    fn i06_i07_i08_fields_decide_the_class() {
        for (error, api_error, status, message, class) in [
            ("authentication_failed", "", None, "", FailureClass::CannotRun),
            ("billing_error", "", Some(429), "", FailureClass::CannotRun),
            ("billing_error", "", Some(400), "Credit balance is too low", FailureClass::CannotRun),
            ("model_not_found", "", Some(404), "", FailureClass::CannotRun),
            ("", "", Some(401), "", FailureClass::CannotRun),
            ("", "", Some(402), "", FailureClass::CannotRun),
            ("", "", Some(403), "", FailureClass::CannotRun),
            ("rate_limit", "usage_limit_reached", Some(429), "", FailureClass::Limited),
            ("rate_limit", "", Some(429), "Check your API key, login and billing", FailureClass::Limited),
            ("", "", Some(429), "", FailureClass::Limited),
            ("server_error", "connection_failed", None, "", FailureClass::Transient),
            ("", "", Some(500), "", FailureClass::Transient),
            ("", "", Some(529), "", FailureClass::Transient),
            ("invalid_request", "", Some(400), "Not logged in", FailureClass::Other),
            ("unknown", "", None, "Not logged in", FailureClass::Other),
            ("", "", None, "Not logged in · Please run /login", FailureClass::CannotRun),
            ("", "", None, "Claude AI usage limit reached|1799999999", FailureClass::Limited),
            ("", "", None, "The server said 429 rate limit, 401, overloaded", FailureClass::Other),
        ] {
            let kinds =
                [api_error, error].iter().filter(|kind| !kind.is_empty()).map(|kind| (*kind).to_owned()).collect();
            let trouble = Trouble { kinds, status, message: message.to_owned() };
            let failure = failure(&trouble, Some(7));
            assert_eq!(failure.class, class, "{trouble:?}");
            assert_eq!(failure.resets_at, (class == FailureClass::Limited).then_some(7));
        }
    }

    #[test]
    fn i02_a_reset_behind_the_sentence_is_one() {
        for (behind, resets_at) in [("|1799999999", Some(1_799_999_999)), ("", None), ("|soon", None), ("|", None)] {
            let trouble = Trouble { message: format!("{LIMIT_REACHED}{behind}"), ..Trouble::default() };
            assert_eq!(failure(&trouble, None).resets_at, resets_at, "{behind}");
        }
    }
}
