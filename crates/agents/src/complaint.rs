//! An error in a client's own words, and what it means for the run.
//!
//! Such a sentence is taken only from places where the model cannot write: the field of an error, an
//! error's result, standard error of a program that printed nothing. A stated HTTP status decides;
//! sentences are looked at only where there is none.

use crate::dialect::Told;
use crate::json::{Loose, Raw, fields, read};
use ralph_core::agent_event::AgentEvent;
use ralph_core::observation::{Failure, FailureClass};
use ralph_core::text;

/// Characters of a client's sentence that a failure repeats.
const QUOTED: usize = 500;

/// An error that a client reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// The HTTP status, where stated.
    pub(crate) status: Option<u16>,
    /// The sentence.
    pub(crate) message: String,
    /// The provider's word for the kind of error.
    kind: String,
}

fields! {
    /// The body of a provider's error, which some clients pass on as it came.
    struct Body<'a> {
        error: Loose<Box<Body<'a>>>,
        kind = "type", message,
    }

    /// An error in an object of its own, as far as most clients state it.
    pub(crate) struct ErrorObject<'a> {
        message,
    }
}

impl Complaint {
    /// The error of that sentence, or of the body of a response that stands in its place.
    pub(crate) fn new(sentence: &str) -> Complaint {
        let plain = sentence.trim();
        let inner = plain.strip_prefix("[API Error: ").map_or(plain, |rest| rest.strip_suffix(']').unwrap_or(rest));
        let Loose(body): Loose<Body<'_>> = read(inner).unwrap_or_default();
        let body = body.map(|body| body.error.0.map_or(Body { error: Loose(None), ..body }, |error| *error));
        let stated = body.map(|body| (body.message.text(), body.kind.text_within(100)));
        let (message, kind) = match stated {
            Some((message, kind)) if !message.is_empty() => (message, kind),
            _ => (plain.to_owned(), String::new()),
        };
        let message = text::cut(&text::without_controls(&message), QUOTED, "...");
        Complaint { status: status_in(inner), message, kind }
    }

    /// The same with the status that the client states beside it.
    pub(crate) fn with_status(self, status: Option<u16>) -> Complaint {
        Complaint { status: status.or(self.status), ..self }
    }

    /// The same with the client's word for the kind of error.
    pub(crate) fn with_kind(self, kind: String) -> Complaint {
        Complaint { kind, ..self }
    }

    /// The failure that this amounts to.
    pub(crate) fn failure(&self, hint: &str) -> Failure {
        let class = self.class();
        let message = match class {
            FailureClass::CannotRun => format!("{}; {hint}", self.message),
            _ => self.message.clone(),
        };
        Failure::new(class, message)
    }

    /// Tells of it, and of the limit if it is one.
    pub(crate) fn tell(&self, out: &mut Told) {
        if self.class() == FailureClass::Limited {
            let scope = if self.kind.is_empty() { "usage".to_owned() } else { self.kind.clone() };
            out.push(AgentEvent::Limit { scope, rejected: true, resets_at: None });
        }
        out.push(AgentEvent::Error { message: self.message.clone() });
    }

    /// What kind of failure it is.
    pub(crate) fn class(&self) -> FailureClass {
        let by_status = self.status.map_or(FailureClass::Other, class_of_status);
        match by_status {
            FailureClass::CannotRun | FailureClass::Transient => by_status,
            // A spent balance has the status of a wrong request or of a rate limit.
            FailureClass::Limited | FailureClass::Other => match self.class_by_words() {
                FailureClass::Other => by_status,
                by_words if by_status == FailureClass::Other || by_words == FailureClass::CannotRun => by_words,
                _ => by_status,
            },
        }
    }

    fn class_by_words(&self) -> FailureClass {
        const WORDS: &[(FailureClass, &[&str])] = &[
            (
                FailureClass::CannotRun,
                &[
                    "not logged in",
                    "log in",
                    "login",
                    "api key",
                    "api_key",
                    "x-api-key",
                    "authentication",
                    "unauthorized",
                    "auth method",
                    "auth type",
                    "missing environment variable",
                    "credit balance",
                    "insufficient_quota",
                    "insufficient credit",
                    "insufficient balance",
                    "billing",
                    "model_not_found",
                    "model not found",
                    "unknown model",
                ],
            ),
            (
                FailureClass::Limited,
                &["usage limit", "usage_limit", "rate limit", "rate_limit", "too many requests", "quota"],
            ),
            (
                FailureClass::Transient,
                &[
                    "high demand",
                    "overloaded",
                    "stream disconnected",
                    "stream closed",
                    "connection",
                    "connect to",
                    "lookup address",
                    "econn",
                    "enotfound",
                    "eai_again",
                    "etimedout",
                    "fetch failed",
                    "network error",
                    "error sending request",
                    "timed out",
                    "internal server error",
                    "server had an error",
                    "bad gateway",
                    "service unavailable",
                ],
            ),
        ];
        let said = format!("{} {}", self.kind, self.message).to_lowercase();
        let found = WORDS.iter().find(|(_, words)| words.iter().any(|word| said.contains(word)));
        found.map_or(FailureClass::Other, |&(class, _)| class)
    }
}

/// The class of an HTTP status.
pub(crate) fn class_of_status(status: u16) -> FailureClass {
    match status {
        401..=403 => FailureClass::CannotRun,
        429 => FailureClass::Limited,
        408 | 500.. => FailureClass::Transient,
        _ => FailureClass::Other,
    }
}

/// An HTTP status from a number that a client states.
pub(crate) fn status_of(number: Raw<'_>) -> Option<u16> {
    number.number().filter(|status| (100.0..1000.0).contains(status)).map(|status| status as u16)
}

/// The status that a sentence begins with, or names as one: `401 invalid key`, `unexpected status 529`.
fn status_in(sentence: &str) -> Option<u16> {
    let named =
        ["status: ", "status ", "(HTTP "].iter().find_map(|word| sentence.split_once(word)).map(|(_, rest)| rest);
    [Some(sentence), named].into_iter().flatten().find_map(|text| {
        let digits = text.get(..3)?;
        let ends = !text.get(3..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
        digits.parse().ok().filter(|status| ends && (400..600).contains(status))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i06_i07_i08_a_status_decides_and_words_stand_in_for_it() {
        use FailureClass::{CannotRun, Limited, Other, Transient};
        for (sentence, status, class, message) in [
            ("401 invalid x-api-key", Some(401), CannotRun, "401 invalid x-api-key"),
            ("[API Error: 429 slow down]", Some(429), Limited, "[API Error: 429 slow down]"),
            ("unexpected status 529 <unknown status code>: Overloaded", Some(529), Transient, ""),
            ("exceeded retry limit, last status: 429 Too Many Requests", Some(429), Limited, ""),
            (
                r#"{"error":{"type":"x","message":"Your credit balance is too low"}}"#,
                None,
                CannotRun,
                "Your credit balance is too low",
            ),
            (r#"[API Error: {"error":{"type":"authentication_error","message":"no"}}]"#, None, CannotRun, "no"),
            (r#"{"message":"prompt is too long: 250000 tokens"}"#, None, Other, "prompt is too long: 250000 tokens"),
            ("You exceeded your current quota, please check your plan and billing details", None, CannotRun, ""),
            ("We\u{2019}re currently experiencing high demand", None, Transient, ""),
            ("Missing environment variable: `KEY`.", None, CannotRun, ""),
            ("connect ECONNREFUSED 127.0.0.1:1", None, Transient, ""),
            ("Error: Couldn't connect to the server at http://127.0.0.1:9.", None, Transient, ""),
            ("failed to lookup address information: Try again", None, Transient, ""),
            ("503 the API key service is down", Some(503), Transient, ""),
            ("4290 things went wrong", None, Other, ""),
            ("404", Some(404), Other, "404"),
            ("", None, Other, ""),
        ] {
            let complaint = Complaint::new(sentence);
            assert_eq!((complaint.status, complaint.class()), (status, class), "{sentence}");
            assert_eq!(complaint.message, if message.is_empty() { sentence } else { message });
            let hinted = complaint.failure("install it").message.ends_with("; install it");
            assert_eq!(hinted, class == CannotRun, "{sentence}");
        }
        assert_eq!(Complaint::new("broken").with_status(Some(500)).class(), Transient);
    }
}
