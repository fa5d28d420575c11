//! An error in a client's own words, and what it means for the run.
//!
//! Such a sentence is taken only from places where the model cannot write: the field of an error, an error's result,
//! standard error of a program that printed nothing. What is stated in a field decides: an HTTP status, a provider's
//! word for the kind of error, an exit code that is a status. Against a status only words about spent credit count,
//! because providers give that the status of a wrong request or of a rate limit. Other words are looked at where
//! nothing is stated.

use crate::advice::{Cause, Help};
use crate::dialect::{End, Told};
use crate::json::{Cursor, List, Loose, Raw, Value, fields};
use crate::reset::{self, Reset};
use ralph_core::agent_event::AgentEvent;
use ralph_core::observation::{Failure, FailureClass};
use ralph_core::text;

/// Characters of a client's sentence that a failure repeats.
const QUOTED: usize = 500;
/// Bytes of a sentence that are looked at: some clients pass on whole responses.
const LOOKED_AT: usize = 1 << 14;
/// Responses that stand in the message of another one are read this deep.
const NESTED: u8 = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) status: Option<u16>,
    pub(crate) message: String,
    /// Words for the kind of error, from the most precise to the least.
    kinds: Vec<String>,
    /// What the sentence says, for want of a field.
    by_words: Cause,
    /// What in the sentence counts whatever the fields say.
    marks: Marks,
    reset: Option<Reset>,
}

/// What a sentence is about, in words that providers use for nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Marks {
    spent_credit: bool,
    bad_key: bool,
    no_model: bool,
}

fields! {
    /// The body of a provider's error, which some clients pass on as it came.
    struct Body<'a> {
        error: Loose<Box<Body<'a>>>,
        kind = "type", message, code, status,
        details: List<Detail<'a>>,
        retry_after, resets_at, resets_in_seconds,
    }

    struct Detail<'a> {
        reason, retry_delay = "retryDelay",
    }

    /// An error in an object of its own, as far as most clients state it.
    pub(crate) struct ErrorObject<'a> {
        message, kind = "type", code, status, name,
    }
}

impl ErrorObject<'_> {
    pub(crate) fn complaint(&self) -> Option<Complaint> {
        let sentence = self.message.text_within(LOOKED_AT);
        let complaint = Complaint::new(&sentence)
            .with_kind(&self.name.text_within(100))
            .with_kind(&self.kind.text_within(100))
            .with_kind(&self.code.text_within(100))
            .with_kind(&self.status.text_within(100))
            .with_status(status_of(self.status).or_else(|| status_of(self.code)));
        (!sentence.is_empty()).then_some(complaint)
    }
}

impl Complaint {
    /// The error of that sentence, or of the body of a response that stands in it.
    pub(crate) fn new(sentence: &str) -> Complaint {
        let plain = text::prefix(sentence.trim(), LOOKED_AT);
        let inner = plain.strip_prefix("[API Error: ").unwrap_or(plain);
        let mut complaint = Complaint::stated(status_in(inner), Vec::new(), plain);
        complaint.by_words = words(plain, complaint.reset.is_some());
        complaint.read_body(inner, NESTED);
        complaint
    }

    /// The error that these fields state; of the sentence beside them counts only what counts against fields, too.
    pub(crate) fn stated(status: Option<u16>, kinds: Vec<String>, sentence: &str) -> Complaint {
        let sentence = text::prefix(sentence, LOOKED_AT);
        let (message, reset) = (quoted(sentence), reset::stated(sentence));
        Complaint { status, message, kinds, by_words: Cause::Other, marks: Marks::of(sentence), reset }
    }

    /// Takes over what the body of a response says that stands in the text.
    fn read_body(&mut self, text: &str, deeper: u8) {
        let Some(at) = text.find('{').filter(|_| deeper > 0) else { return };
        let mut body = Loose::<Body<'_>>::default();
        if body.take(&mut Cursor::new(text.get(at..).unwrap_or_default().as_bytes())).is_none() {
            return;
        }
        let Some(whole) = body.0 else { return };
        let around = status_of(whole.code).or_else(|| status_of(whole.status));
        let body = whole.error.0.map_or(Body { error: Loose(None), ..whole }, |error| *error);
        let message = body.message.text();
        if message.is_empty() {
            return;
        }
        self.status = status_of(body.code).or_else(|| status_of(body.status)).or(around).or(self.status);
        let details = &body.details.items;
        let words = [body.code, body.kind, body.status].into_iter().chain(details.iter().map(|detail| detail.reason));
        words.for_each(|word| self.add_kind(&word.text_within(100)));
        let delays = details.iter().filter_map(|detail| reset::header(&detail.retry_delay.text_within(40)));
        let spans = [body.resets_in_seconds, body.retry_after].into_iter().filter_map(Raw::number);
        let at = body.resets_at.number().and_then(reset::epoch);
        let reset = at.or_else(|| delays.chain(spans.filter_map(reset::from_now)).next());
        self.reset = reset.or_else(|| reset::stated(&message)).or(self.reset);
        self.message = quoted(&message);
        self.by_words = self::words(&message, self.reset.is_some());
        self.read_body(&message, deeper - 1);
    }

    pub(crate) fn with_status(self, status: Option<u16>) -> Complaint {
        Complaint { status: status.or(self.status), ..self }
    }

    pub(crate) fn with_kind(mut self, kind: &str) -> Complaint {
        self.add_kind(kind);
        self
    }

    /// The same with the provider's whole response, whose message the client has told already.
    pub(crate) fn with_body(mut self, body: &str) -> Complaint {
        let (message, told, body) = (self.message.clone(), self.marks, text::prefix(body, LOOKED_AT));
        let marks = Marks::of(body);
        self.marks = Marks {
            spent_credit: told.spent_credit || marks.spent_credit,
            bad_key: told.bad_key || marks.bad_key,
            no_model: told.no_model || marks.no_model,
        };
        self.read_body(body, NESTED);
        if !message.is_empty() {
            self.message = message;
        }
        self
    }

    /// The same with the value of a header that says when to ask again.
    pub(crate) fn with_retry_after(mut self, value: &str) -> Complaint {
        self.reset = reset::header(value).or(self.reset);
        self
    }

    /// The same without a look at words: they may be anybody's.
    pub(crate) fn by_fields(self) -> Complaint {
        Complaint { by_words: Cause::Other, ..self }
    }

    pub(crate) fn says_when(&self) -> bool {
        self.reset.is_some()
    }

    pub(crate) fn says_why(&self) -> bool {
        self.status.is_some() || !self.kinds.is_empty()
    }

    fn add_kind(&mut self, kind: &str) {
        if !kind.is_empty() && !kind.bytes().all(|byte| byte.is_ascii_digit()) {
            self.kinds.push(kind.to_owned());
        }
    }

    pub(crate) fn failure(&self, help: Help, end: &End<'_>) -> Failure {
        self.failure_of(&self.message, help, end)
    }

    pub(crate) fn failure_of(&self, sentence: &str, help: Help, end: &End<'_>) -> Failure {
        let cause = self.cause();
        let resets_at = self.reset.filter(|_| cause == Cause::Limit).and_then(|reset| reset.seconds(end));
        Failure { resets_at, ..Failure::new(cause.class(), cause.advise(sentence, help)) }
    }

    pub(crate) fn tell(&self, out: &mut Told) {
        if self.class() == FailureClass::Limited {
            let kind = self.kinds.iter().find(|kind| cause_of_kind(kind) == Some(Cause::Limit));
            let scope = kind.map_or("usage", String::as_str).to_owned();
            let resets_at = if let Some(Reset::At(at)) = self.reset { Some(at) } else { None };
            out.push(AgentEvent::Limit { scope, rejected: true, resets_at });
        }
        out.push(AgentEvent::Error { message: self.message.clone() });
    }

    pub(crate) fn class(&self) -> FailureClass {
        self.cause().class()
    }

    pub(crate) fn cause(&self) -> Cause {
        let kind = self.kinds.iter().find_map(|kind| cause_of_kind(kind));
        let spent = self.marks.spent_credit;
        let not_found = || self.kinds.iter().any(|kind| squashed(kind) == "notfounderror").then_some(404);
        match (self.status.or_else(not_found), kind) {
            (_, Some(Cause::Credit)) | (Some(402), _) => Cause::Credit,
            (Some(401), _) => Cause::Login,
            (Some(408 | 500..), Some(Cause::Limit)) => Cause::Limit,
            (Some(408 | 500..), _) => Cause::Transient,
            // A provider's word for the kind is more precise than the status of a wrong or refused request.
            (Some(400 | 403 | 429) | None, _) if spent && kind != Some(Cause::Login) => Cause::Credit,
            (Some(429), _) => Cause::Limit,
            (Some(403), Some(cause @ (Cause::Limit | Cause::Model | Cause::Login))) => cause,
            (Some(403), _) => Cause::Forbidden,
            (Some(404), _) if self.marks.no_model => Cause::Model,
            (Some(_), Some(cause @ (Cause::Login | Cause::Forbidden | Cause::Model | Cause::Limit))) => cause,
            // Google calls a key that it does not know a wrong request.
            (Some(400), _) if self.marks.bad_key => Cause::Login,
            (Some(_), _) => Cause::Other,
            (None, Some(cause)) => cause,
            (None, None) => self.by_words,
        }
    }
}

fn quoted(sentence: &str) -> String {
    text::cut(&text::without_controls(sentence), QUOTED, "...")
}

impl Marks {
    fn of(sentence: &str) -> Marks {
        const SPENT: &[&str] = &[
            "insufficient_quota", "insufficient quota", "insufficient_credit", "insufficient credit",
            "insufficient_balance", "insufficient balance", "insufficient funds", "credit balance",
            "billing hard limit", "billing_hard_limit", "billing_not_active", "not active, please check your billing",
            "out of credits", "out of credit ", "run out of credit", "ran out of credit", "no credits left",
            "no remaining credits", "not enough credits", "requires more credits", "payment required",
        ];
        const NO_MODEL: &[&str] =
            &["not found", "not exist", "not available", "not supported", "unknown", "no access", "model:"];
        let said = sentence.to_lowercase();
        Marks {
            spent_credit: holds(&said, SPENT),
            bad_key: holds(&said, &["api key not valid", "api_key_invalid", "api key expired"]),
            no_model: said.contains("model") && holds(&said, NO_MODEL),
        }
    }
}

fn holds(said: &str, words: &[&str]) -> bool {
    words.iter().any(|word| said.contains(word))
}

/// What sentences say of each cause; the first cause that fits is it.
const WORDS: &[(Cause, &[&str])] = &[
    (Cause::Variable, &["missing environment variable", "environment variable is not set"]),
    (
        Cause::Limit,
        &["usage limit", "usage_limit", "rate limit", "rate_limit", "rate-limit", "too many requests", "quota"],
    ),
    (
        Cause::Transient,
        &["econn", "enotfound", "eai_again", "etimedout", "ehostunreach", "enetunreach", "epipe", "lookup address"],
    ),
    (
        Cause::Login,
        &[
            "not logged in", "log in", "login", "logged out", "sign in", "api key", "api_key", "apikey", "x-api-key",
            "authenticat", "unauthorized", "auth method", "auth type", "credentials", "token has expired",
            "expired token", "token expired", "session expired", "session has expired",
        ],
    ),
    (Cause::Credit, &["billing"]),
    (Cause::Model, &["model_not_found", "model not found", "unknown model", "model does not exist"]),
    (
        Cause::Transient,
        &[
            "high demand", "overloaded", "at capacity", "stream disconnected", "stream closed", "premature close",
            "unexpected eof", "invalid eof", "incomplete chunked", "error decoding response body", "other side closed",
            "und_err_", "server had an error", "connection", "connect to", "unable to connect", "socket hang up",
            "getaddrinfo", "name resolution", "network is unreachable", "fetch failed", "network error",
            "error sending request", "tls", "ssl", "certificate", "timed out", "timeout", "internal server error",
            "bad gateway", "service unavailable", "temporarily unavailable",
        ],
    ),
];

/// What a sentence says for which no field says anything. A limit comes before a login: clients tell what else could
/// be done about a limit, such as another login, and a wait too many harms nobody.
fn words(sentence: &str, says_when: bool) -> Cause {
    let said = sentence.to_lowercase();
    // What OpenAI says of spent credit, and Google of a limit, with the time of its end.
    if said.contains("quota") && said.contains("plan and billing") && !says_when {
        return Cause::Credit;
    }
    // All that Node's fetch says of a stream that broke off; anywhere else the word may be about something else.
    if said.trim_start_matches("[api error: ").starts_with("terminated") {
        return Cause::Transient;
    }
    let is_about = |word: &str| {
        let mut places = said.match_indices(word).map(|(at, _)| said.get(at + word.len()..).unwrap_or_default());
        places.any(|behind| !is_in_a_file_name(behind)) && !(word == "quota" && said.contains("disk quota"))
    };
    let found = WORDS.iter().find(|(_, words)| words.iter().any(|word| is_about(word)));
    found.map_or(Cause::Other, |&(cause, _)| cause)
}

/// Whether a word goes on as the name of a file: `login.rs`, `connection_pool.py`, `login/mod.rs`.
fn is_in_a_file_name(behind: &str) -> bool {
    let end = behind.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/')).unwrap_or(behind.len());
    let rest = behind.get(end..).unwrap_or_default();
    rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric()))
}

/// Words for the kind of an error, without what differs between the ways to write them.
const KINDS: &[(Cause, &[&str])] = &[
    (
        Cause::Credit,
        &[
            "insufficientquota", "insufficientcredits", "insufficientcredit", "insufficientbalance",
            "insufficientfunds", "billingerror", "billinghardlimitreached", "billingnotactive", "billinglimitreached",
            "paymentrequired", "paymentrequirederror", "creditbalancetoolow", "creditsexhausted", "outofcredits",
            "usagenotincluded", "budgetexceedederror",
        ],
    ),
    (
        Cause::Login,
        &[
            "authentication", "authenticationerror", "authenticationfailed", "authenticationrequired", "autherror",
            "providerautherror", "fatalauthenticationerror", "unauthorized", "unauthenticated", "invalidapikey",
            "apikeyinvalid", "apikeyexpired", "invalidauthentication", "invalidauthenticationerror", "tokenexpired",
            "expiredtoken", "expiredtokenexception", "invalidtoken", "tokeninvalidated", "notloggedin",
        ],
    ),
    (
        Cause::Forbidden,
        &["forbidden", "authorization", "permissiondenied", "permissiondeniederror", "permissionerror", "accessdenied"],
    ),
    (
        Cause::Model,
        &["modelnotfound", "modelnotfounderror", "providermodelnotfounderror", "unknownmodel", "modelnotsupported"],
    ),
    (
        Cause::Limit,
        &[
            "usagelimitreached", "usagelimit", "quota", "quotaexceeded", "quotaexceedederror", "terminalquotaerror",
            "retryablequotaerror", "resourceexhausted", "toomanyrequests", "toomanyrequestserror",
            "throttlingexception", "throttled", "tokens", "requests",
        ],
    ),
    (
        Cause::Transient,
        &[
            "overloaded", "overloadederror", "engineoverloaded", "apierror", "servererror", "internalserver",
            "internalservererror", "internalerror", "internal", "serviceunavailable", "serviceunavailableerror",
            "unavailable", "badgateway", "badgatewayerror", "gatewaytimeout", "deadlineexceeded", "timeout",
            "timeouterror", "apitimeouterror", "requesttimeout", "connectionfailed", "connectionerror",
            "apiconnectionerror", "connecterror", "connecttimeout", "readtimeout", "networkerror",
        ],
    ),
];

/// What a provider's or a library's word for the kind of an error means, whatever way it is written: `rate_limit_error`,
/// `RateLimitError`, `litellm.RateLimitError`. `None` for words that say nothing about the cause.
fn cause_of_kind(kind: &str) -> Option<Cause> {
    let squashed = squashed(kind);
    // Providers name the window behind it: `user_global_rate_limited:pro`.
    if squashed.contains("ratelimit") {
        return Some(Cause::Limit);
    }
    KINDS.iter().find(|(_, words)| words.contains(&squashed.as_str())).map(|&(cause, _)| cause)
}

/// The last part of a name, without what differs between the ways to write it.
fn squashed(kind: &str) -> String {
    let last = kind.rsplit('.').next().unwrap_or_default();
    last.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// An HTTP status from a number that a client states, also in a string.
pub(crate) fn status_of(number: Raw<'_>) -> Option<u16> {
    let number = number.number().or_else(|| number.word().parse().ok());
    number.filter(|status| (100.0..600.0).contains(status)).map(|status| status as u16)
}

/// The status that a sentence begins with or names as one: `401 invalid key`, `unexpected status 529`,
/// `HTTP 429`, `Request rejected (429)`, `503 Service Unavailable`.
pub(crate) fn status_in(sentence: &str) -> Option<u16> {
    const BEFORE: [&str; 11] = [
        "status: ", "status ", "status=", "status code ", "status code: ", "http ", "http error ", "http/1.1 ",
        "http/2 ", "error code: ", "error code ",
    ];
    let said = text::prefix(sentence.trim_start(), 4000).to_ascii_lowercase();
    let is_apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    said.match_indices(['4', '5']).find_map(|(at, _)| {
        let (before, rest) = said.split_at_checked(at)?;
        let (digits, after) = rest.split_at_checked(3)?;
        let status: u16 = digits.parse().ok().filter(|status| (400..600).contains(status))?;
        if !is_apart(before.chars().next_back()) || !is_apart(after.chars().next()) {
            return None;
        }
        let in_brackets =
            before.ends_with('(') && after.starts_with(')') || before.ends_with('[') && after.starts_with([']', ' ']);
        let is_named =
            in_brackets || BEFORE.iter().any(|words| before.ends_with(words)) && !before.ends_with("exit status ");
        // Behind nothing but the word for an error any number may stand: `Error: 401 files were changed`.
        let is_headed = before.is_empty() || before.ends_with("error ") || before.ends_with("error: ");
        let is_stated = is_named || reason_phrase(status, after).is_some() || is_headed && tells_of_a_request(after);
        is_stated.then_some(status)
    })
}

/// Whether what stands behind a number is what providers say, and not what was counted.
fn tells_of_a_request(after: &str) -> bool {
    const WORDS: [&str; 37] = [
        "key", "token", "auth", "api", "rate", "limit", "quota", "request", "credit", "billing", "payment", "model",
        "overload", "server", "unavailable", "prompt", "invalid", "incorrect", "too many", "slow", "account", "access",
        "permission", "gateway", "timeout", "timed out", "retry", "try again", "exhausted", "internal", "login",
        "expired", "upstream", "forbidden", "denied", "conversation", "capacity",
    ];
    let after = after.trim();
    after.is_empty() || after.starts_with(['{', '<']) || WORDS.iter().any(|word| after.contains(word))
}

/// What stands behind the name that HTTP has for a status, if that name stands behind the status.
pub(crate) fn reason_phrase(status: u16, after: &str) -> Option<&str> {
    let names: &[&str] = match status {
        400 => &["bad request"],
        401 => &["unauthorized"],
        402 => &["payment required"],
        403 => &["forbidden"],
        404 => &["not found"],
        408 => &["request timeout"],
        413 => &["payload too large", "content too large", "request entity too large"],
        422 => &["unprocessable"],
        429 => &["too many requests"],
        500 => &["internal server error"],
        502 => &["bad gateway"],
        503 => &["service unavailable"],
        504 => &["gateway timeout", "gateway time-out"],
        529 => &["overloaded", "site is overloaded"],
        _ => &[],
    };
    let after = after.strip_prefix(' ')?;
    names.iter().find_map(|name| {
        let head = after.get(..name.len())?;
        head.eq_ignore_ascii_case(name).then(|| after.get(name.len()..)).flatten()
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
            ("API Error: Request rejected (429) · slow down", Some(429), Limited, ""),
            (
                "Error fetching from https://x/v1: [503 Service Unavailable] The model is overloaded",
                Some(503),
                Transient,
                "",
            ),
            (
                r#"{"error":{"type":"x","message":"Your credit balance is too low"}}"#,
                None,
                CannotRun,
                "Your credit balance is too low",
            ),
            (r#"[API Error: {"error":{"type":"authentication_error","message":"no"}}]"#, None, CannotRun, "no"),
            (
                r#"got status: 429. {"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}"#,
                Some(429),
                Limited,
                "slow",
            ),
            (
                r#"{"error":{"message":"{\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}"}}"#,
                Some(503),
                Transient,
                "busy",
            ),
            (r#"{"message":"prompt is too long: 250000 tokens"}"#, None, Other, "prompt is too long: 250000 tokens"),
            ("You exceeded your current quota, please check your plan and billing details", None, CannotRun, ""),
            ("We\u{2019}re currently experiencing high demand", None, Transient, ""),
            ("Missing environment variable: `KEY`.", None, CannotRun, ""),
            ("connect ECONNREFUSED 127.0.0.1:1", None, Transient, ""),
            ("could not refresh the login: getaddrinfo EAI_AGAIN x", None, Transient, ""),
            ("Error: Couldn't connect to the server at http://127.0.0.1:9.", None, Transient, ""),
            ("failed to lookup address information: Try again", None, Transient, ""),
            ("503 the API key service is down", Some(503), Transient, ""),
            ("write failed: Disk quota exceeded", None, Other, ""),
            ("Daily quota used up. Wait, or switch to another /auth method or API key", None, Limited, ""),
            ("4290 things went wrong", None, Other, ""),
            ("it took 500 ms and 404 files", None, Other, ""),
            ("404", Some(404), Other, "404"),
            ("", None, Other, ""),
        ] {
            let complaint = Complaint::new(sentence);
            assert_eq!((complaint.status, complaint.class()), (status, class), "{sentence}");
            assert_eq!(complaint.message, if message.is_empty() { sentence } else { message });
        }
        assert_eq!(Complaint::new("broken").with_status(Some(500)).class(), Transient);
    }

    #[test]
    fn kinds_mean_the_same_however_they_are_written() {
        for (cause, kinds) in [
            (
                Some(Cause::Limit),
                &["rate_limit_error", "RateLimitError", "litellm.RateLimitError", "user_global_rate_limited:pro"][..],
            ),
            (Some(Cause::Login), &["authentication_error", "openai.AuthenticationError", "UNAUTHENTICATED"]),
            (Some(Cause::Transient), &["overloaded_error", "api_error", "INTERNAL", "anthropic.InternalServerError"]),
            (Some(Cause::Credit), &["insufficient_quota", "billing_error"]),
            (None, &["invalid_request_error", "unknown", "query", "", "error"]),
        ] {
            for kind in kinds {
                assert_eq!(cause_of_kind(kind), cause, "{kind}");
            }
        }
    }
}
