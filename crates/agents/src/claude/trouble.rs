//! Why Claude Code, or a program like it, gave up, from the fields in which it says so.
//!
//! The client writes the provider's error as a sentence where the model's words would stand, and
//! beside it states the cause in fields. The fields decide. A sentence is looked at only in the
//! place of an error result, where the model cannot have written it, and only for clients that
//! state no cause.

use super::flavour::Flavour;
use super::line::Line;
use super::turn::epoch_seconds;
use crate::complaint::{class_of_status, status_of};
use ralph_core::observation::{Failure, FailureClass};
use ralph_core::text;

/// Characters of the client's sentence that a failure repeats.
const QUOTED: usize = 500;

/// An error that the client reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The class of the API error: `rate_limit`, `authentication_failed`, `billing_error`.
    error: String,
    /// The client's own word for it: `usage_limit_reached`, `connection_failed`.
    api_error: String,
    /// The HTTP status.
    status: Option<u16>,
    /// The sentence.
    pub(super) message: String,
}

impl Trouble {
    /// The error that a line states in its fields, with a sentence that stands beside them.
    pub(super) fn of(line: &Line<'_>, message: String) -> Trouble {
        // Where a client states no class, the sentence itself stands in its place.
        let error = Some(line.error.text_within(100)).filter(|error| !error.contains(' '));
        Trouble {
            error: error.unwrap_or_default(),
            api_error: line.api_error.text_within(100),
            status: status_of(line.api_error_status),
            message: text::cut(&text::without_controls(&message), QUOTED, "..."),
        }
    }

    /// Takes over what an earlier line of the same turn stated more precisely.
    pub(super) fn or(self, earlier: Option<&Trouble>) -> Trouble {
        let Some(earlier) = earlier else { return self };
        let either = |this: String, that: &String| if this.is_empty() { that.clone() } else { this };
        Trouble {
            error: either(self.error, &earlier.error),
            api_error: either(self.api_error, &earlier.api_error),
            status: self.status.or(earlier.status),
            message: either(self.message, &earlier.message),
        }
    }

    /// The failure that this amounts to; `resets_at` is when the provider said that a limit ends.
    pub(super) fn failure(&self, flavour: &Flavour, resets_at: Option<i64>) -> Failure {
        let class = self.class(flavour);
        let message = match class {
            FailureClass::CannotRun if self.is_a_matter_of_login() => format!("{}; {}", self.message, flavour.hint),
            _ => self.message.clone(),
        };
        let resets_at = resets_at.or_else(|| reset_behind(&self.message)).filter(|_| class == FailureClass::Limited);
        Failure { class, message, resets_at }
    }

    fn class(&self, flavour: &Flavour) -> FailureClass {
        // From the most precise word to the least. A refused payment can have the status of a rate limit.
        match (self.api_error.as_str(), self.error.as_str(), self.status) {
            ("usage_limit_reached", ..) => FailureClass::Limited,
            ("connection_failed", ..) => FailureClass::Transient,
            (_, "authentication_failed" | "billing_error" | "model_not_found", _) => FailureClass::CannotRun,
            (_, "rate_limit", _) => FailureClass::Limited,
            (_, "server_error" | "overloaded", _) => FailureClass::Transient,
            (_, _, Some(status)) => class_of_status(status),
            (_, "", None) => (flavour.class_of_sentence)(&self.message),
            _ => FailureClass::Other,
        }
    }

    fn is_a_matter_of_login(&self) -> bool {
        self.error == "authentication_failed"
            || self.status == Some(401)
            || [
                "Not logged in",
                "Not signed in",
                "Invalid API key",
                "[API Error: 401",
                "No auth type",
                "Internal error: \"Unauthorized (401)",
            ]
            .iter()
            .any(|sentence| self.message.starts_with(sentence))
    }
}

/// The sentence of older versions, with the end of the limit behind it in seconds since the epoch.
const LIMIT_REACHED: &str = "Claude AI usage limit reached";

fn reset_behind(message: &str) -> Option<i64> {
    message.strip_prefix(LIMIT_REACHED)?.strip_prefix('|')?.trim().parse().ok().and_then(epoch_seconds)
}

/// The class of the sentences that Claude Code prints without any field.
pub(super) fn known_sentence(message: &str) -> FailureClass {
    const SENTENCES: &[(&str, FailureClass)] = &[
        ("Not logged in", FailureClass::CannotRun),
        ("Invalid API key", FailureClass::CannotRun),
        ("Credit balance is too low", FailureClass::CannotRun),
        (LIMIT_REACHED, FailureClass::Limited),
    ];
    let said = SENTENCES.iter().find(|(sentence, _)| message.starts_with(sentence));
    said.map_or(FailureClass::Other, |&(_, class)| class)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let trouble = Trouble {
                error: error.to_owned(),
                api_error: api_error.to_owned(),
                status,
                message: message.to_owned(),
            };
            let failure = trouble.failure(&crate::claude::FLAVOUR, Some(7));
            assert_eq!(failure.class, class, "{trouble:?}");
            assert_eq!(failure.resets_at, (class == FailureClass::Limited).then_some(7));
        }
    }

    #[test]
    fn i02_a_reset_behind_the_sentence_is_one() {
        for (behind, resets_at) in [("|1799999999", Some(1_799_999_999)), ("", None), ("|soon", None), ("|", None)] {
            let trouble = Trouble { message: format!("{LIMIT_REACHED}{behind}"), ..Trouble::default() };
            assert_eq!(trouble.failure(&crate::claude::FLAVOUR, None).resets_at, resets_at, "{behind}");
        }
    }
}
