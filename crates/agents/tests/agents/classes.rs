//! What providers say, in the shape in which each program passes it on, and the class that it has.
//!
//! What is stated decides. Words about logins, keys and bills stand in ordinary rate limits, so they count only where
//! nothing is stated; spent credit alone overrides a status, because providers give it that of a rate limit or of a
//! wrong request.

use crate::{Heard, hear};
use ralph_core::observation::FailureClass::{self, CannotRun, Limited, Other, Transient};
use ralph_core::observation::{Ending, StartFault};
use serde_json::json;

const NOW: i64 = 1_790_000_000;

/// What a provider answers.
struct Answer {
    status: Option<u16>,
    /// Its word for the kind of error.
    kind: &'static str,
    sentence: &'static str,
    class: FailureClass,
    /// In how many seconds a limit ends.
    resets_in: Option<i64>,
    /// A piece of the next step.
    advice: &'static str,
}

const fn answer(
    status: u16,
    kind: &'static str,
    sentence: &'static str,
    class: FailureClass,
    advice: &'static str,
) -> Answer {
    Answer { status: Some(status), kind, sentence, class, resets_in: None, advice }
}

const fn limit(status: u16, kind: &'static str, sentence: &'static str, resets_in: Option<i64>) -> Answer {
    Answer { status: Some(status), kind, sentence, class: Limited, resets_in, advice: "" }
}

const LOGIN: &str = "; to log in: ";
const CREDIT: &str = "; add credit at the provider";
const MODEL: &str = "; choose another model with --model";

const ANSWERS: &[Answer] = &[
    // Ordinary limits, with words that belong to other causes.
    limit(
        429,
        "rate_limit_error",
        "Check your API key, plan and billing details, or login with another auth method",
        None,
    ),
    limit(
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details. Please retry in 41.5s.",
        Some(42),
    ),
    limit(
        429,
        "rate_limit_exceeded",
        "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 2m30s. Add a payment method at https://x/account/billing",
        Some(150),
    ),
    limit(429, "", "You exceeded your current quota, please check your plan and billing details.", None),
    limit(429, "requests", "Please retry in 1h2m3.5s", Some(3724)),
    limit(429, "", "Too many login attempts with this API key. Retry-After: 120", Some(120)),
    limit(403, "rate_limit_exceeded", "You have exceeded a secondary rate limit", None),
    // Spent credit, whatever its status.
    answer(
        429,
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
        CannotRun,
        CREDIT,
    ),
    answer(429, "", "error code insufficient_quota", CannotRun, CREDIT),
    answer(429, "billing_hard_limit_reached", "Billing hard limit has been reached", CannotRun, CREDIT),
    answer(
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the API. Go to Plans & Billing",
        CannotRun,
        CREDIT,
    ),
    answer(402, "", "This request requires more credits", CannotRun, CREDIT),
    // Refused for good: 403 says who may not, whatever words about rates stand beside it.
    answer(401, "authentication_error", "invalid x-api-key", CannotRun, LOGIN),
    answer(401, "", "OAuth token has expired. Rate limit: none. Please obtain a new token", CannotRun, LOGIN),
    answer(403, "", "rate limit exceeded for this country", CannotRun, "; check what this account may use"),
    answer(404, "model_not_found", "The model `nope` does not exist or you do not have access to it", CannotRun, MODEL),
    answer(404, "not_found_error", "model: nope-1 not found", CannotRun, MODEL),
    // Neither a wait nor a person helps by itself: another iteration may.
    answer(404, "", "no such conversation", Other, ""),
    answer(400, "invalid_request_error", "api key field unknown, login, billing, rate limit", Other, ""),
    answer(413, "request_too_large", "Request exceeds the maximum size", Other, ""),
    answer(400, "context_length_exceeded", "This model's maximum context length is 128000 tokens", Other, ""),
    // The provider is in trouble.
    answer(408, "", "request timed out", Transient, ""),
    answer(500, "api_error", "Internal server error, check your API key and billing", Transient, ""),
    answer(502, "", "Bad gateway", Transient, ""),
    answer(503, "UNAVAILABLE", "The model is overloaded. Please log in later", Transient, ""),
    answer(504, "", "upstream timeout", Transient, ""),
    answer(529, "overloaded_error", "Overloaded: rate limit", Transient, ""),
];

type PassOn = fn(&Answer) -> String;

/// The programs, and how each passes on what a provider answers.
const PASSED_ON: &[(&str, PassOn)] = &[
    ("claude", |answer| {
        let (kind, status) = (answer.kind, answer.status);
        let result = json!({"type": "result", "subtype": "success", "is_error": true, "result": format!("API Error: {}", answer.sentence),
            "api_error_status": status, "api_error_type": (!kind.is_empty()).then_some(kind)});
        result.to_string()
    }),
    // As a response of the provider, and as the client's own sentence about one.
    ("codex", |answer| failed_turn(&body(answer))),
    ("codex", |answer| {
        let kind = if answer.kind.is_empty() { String::new() } else { format!(" {}", body(answer)) };
        failed_turn(&format!(
            "unexpected status {} X: {}{kind}, url: http://x/v1",
            answer.status.unwrap(),
            answer.sentence
        ))
    }),
    ("gemini", |answer| gemini(&format!("[API Error: {}]", body(answer)))),
    ("qwen", |answer| qwen(&format!("[API Error: {} {}]", answer.status.unwrap(), body(answer)))),
    ("amp", |answer| {
        let sentence = format!("{} {}", answer.status.unwrap(), body(answer));
        json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "error": sentence}).to_string()
    }),
    ("opencode", |answer| {
        let data = json!({"message": answer.sentence, "statusCode": answer.status, "responseBody": body(answer)});
        json!({"type": "error", "error": {"name": "APIError", "data": data}}).to_string()
    }),
    ("copilot", |answer| {
        let kind = if answer.kind.is_empty() { "query" } else { answer.kind };
        let data = json!({"errorType": kind, "message": answer.sentence, "statusCode": answer.status});
        format!("{}\n{}", json!({"type": "session.error", "data": data}), json!({"type": "result", "exitCode": 1}))
    }),
    ("pi", |answer| {
        let sentence = format!("{} {}", answer.status.unwrap(), body(answer));
        let message = json!({"role": "assistant", "content": [], "stopReason": "error", "errorMessage": sentence});
        format!("{}\n{}", json!({"type": "message_end", "message": message}), json!({"type": "agent_end"}))
    }),
];

/// The body of a response, as most providers write it.
fn body(answer: &Answer) -> String {
    let status = answer.status;
    match answer.kind {
        "" => json!({"error": {"code": status, "message": answer.sentence}}),
        kind if kind.chars().all(|c| !c.is_lowercase()) => {
            json!({"error": {"code": status, "message": answer.sentence, "status": kind, "details": [{"reason": "X"}]}})
        }
        kind => json!({"type": "error", "error": {"type": kind, "message": answer.sentence}, "status": status}),
    }
    .to_string()
}

fn failed_turn(message: &str) -> String {
    json!({"type": "turn.failed", "error": {"message": message}}).to_string()
}

fn gemini(message: &str) -> String {
    json!({"type": "result", "status": "error", "error": {"type": "unknown", "message": message}}).to_string()
}

fn qwen(message: &str) -> String {
    json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "error": {"message": message}})
        .to_string()
}

fn exit(heard: &Heard, code: i32) -> ralph_core::observation::Failure {
    heard.failure(&Ending::Exited { code }, "").unwrap()
}

#[test]
fn i06_i07_i08_what_is_stated_decides_the_class_in_every_dialect() {
    for answer in ANSWERS {
        for (agent, pass_on) in PASSED_ON {
            let stream = pass_on(answer);
            let heard = hear(agent, "", stream.as_bytes());
            // Gemini CLI exits with what eight bits hold of the status.
            let code = if *agent == "gemini" { i32::from(answer.status.unwrap() % 256) } else { 1 };
            let failure = exit(&heard, code);
            assert_eq!(failure.class, answer.class, "{agent}: {stream}\n{failure:?}");
            assert_eq!(failure.resets_at, answer.resets_in.map(|span| NOW + span), "{agent}: {stream}");
            assert!(failure.message.contains(answer.advice), "{agent}: {}", failure.message);
            assert!(!failure.message.contains("npm install"), "{agent}: {}", failure.message);
        }
    }
}

#[test]
fn i06_i07_i08_a_status_decides_where_a_program_passes_on_nothing_but_the_sentence() {
    type Said = fn(&str) -> (String, String);
    let programs: [(&str, Said); 3] = [
        ("grok", |said| {
            let error = json!({"message": format!("API error (status {said})")});
            let errors = [format!("Internal error: {error}")];
            let result =
                json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "errors": errors});
            (result.to_string(), String::new())
        }),
        ("kimi", |said| {
            (String::new(), format!("error: failed to run prompt: provider.api_error: {said}\nSee log: x\n"))
        }),
        ("cn", |said| (String::new(), json!({"status": "error", "message": said}).to_string())),
    ];
    for answer in ANSWERS.iter().filter(|answer| answer.kind.is_empty()) {
        for (agent, said) in programs {
            let (stdout, stderr) = said(&format!("{} {}", answer.status.unwrap(), answer.sentence));
            let failure = hear(agent, "", stdout.as_bytes()).failure(&Ending::Exited { code: 1 }, &stderr).unwrap();
            assert_eq!(failure.class, answer.class, "{agent}: {stdout}{stderr}\n{failure:?}");
            assert_eq!(failure.resets_at, answer.resets_in.map(|span| NOW + span), "{agent}: {stdout}{stderr}");
            assert!(failure.message.contains(answer.advice), "{agent}: {}", failure.message);
        }
    }
}

#[test]
fn i07_without_a_status_words_stand_in() {
    for (sentence, class) in [
        ("connect ECONNREFUSED 127.0.0.1:443", Transient),
        ("getaddrinfo ENOTFOUND api.example.com", Transient),
        ("could not refresh the login: getaddrinfo EAI_AGAIN x", Transient),
        ("unable to get local issuer certificate", Transient),
        ("TLS handshake failed", Transient),
        ("The operation timed out", Transient),
        ("socket hang up", Transient),
        ("You have exhausted your daily quota on this model.\nPlease wait, or switch to another /auth method", Limited),
        ("rate limit reached, check your API key and billing", Limited),
        ("Not logged in. Please log in", CannotRun),
        ("Your credit balance is too low", CannotRun),
        ("Quota exceeded. Check your plan and billing details.", CannotRun),
        ("Your refresh token has expired. Please log out and sign in again.", CannotRun),
        ("stream disconnected before completion: Rate limit reached. Please try again in 1.9s.", Limited),
        ("something odd happened", Other),
    ] {
        for (agent, stream) in [
            ("codex", failed_turn(sentence)),
            ("gemini", gemini(sentence)),
            ("qwen", qwen(sentence)),
            (
                "pi",
                format!(
                    "{}\n{}",
                    json!({"type": "message_end", "message": {"role": "assistant", "stopReason": "error", "errorMessage": sentence}}),
                    json!({"type": "agent_end"})
                ),
            ),
            (
                "opencode",
                json!({"type": "error", "error": {"name": "UnknownError", "data": {"message": sentence}}}).to_string(),
            ),
            (
                "copilot",
                json!({"type": "session.error", "data": {"errorType": "query", "message": sentence}}).to_string(),
            ),
        ] {
            let failure = exit(&hear(agent, "", stream.as_bytes()), 1);
            assert_eq!(failure.class, class, "{agent}: {stream}\n{failure:?}");
        }
    }
}

#[test]
fn i02_a_limit_far_behind_a_long_sentence_is_dated() {
    let long = "* Quota exceeded for metric: generate_content_free_tier_requests, limit: 250\n".repeat(20);
    let sentence = format!(
        "You exceeded your current quota, please check your plan and billing details. {long}Please retry in 41.5s."
    );
    let failure = exit(&hear("gemini", "", gemini(&sentence).as_bytes()), 173);
    assert_eq!((failure.class, failure.resets_at), (Limited, Some(NOW + 42)));
    assert!(failure.message.len() < 600, "{}", failure.message);
    let in_words = json!({"type": "result", "status": "error", "error": "429 slow down, retry in 41s"}).to_string();
    assert_eq!(exit(&hear("gemini", "", in_words.as_bytes()), 1).resets_at, Some(NOW + 41));
    let delay = json!({"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "41s"}]}});
    let failure = exit(&hear("gemini", "", gemini(&format!("[API Error: {delay}]")).as_bytes()), 1);
    assert_eq!((failure.class, failure.resets_at), (Limited, Some(NOW + 41)));
}

#[test]
fn a16_an_exit_code_that_is_a_status_decides_where_the_stream_broke_off() {
    let begun = json!({"type": "init", "session_id": "x"}).to_string();
    for (code, class) in [(145, CannotRun), (173, Limited), (247, Transient), (1, Other)] {
        assert_eq!(exit(&hear("gemini", "", begun.as_bytes()), code).class, class, "{code}");
    }
}

#[test]
fn i07_a_client_that_repeats_a_refused_request_until_its_time_is_up_failed_for_that_reason() {
    let retry = |status: u16, error: &str| {
        json!({"type": "system", "subtype": "api_retry", "attempt": 3, "max_retries": 10, "error_status": status, "error": error}).to_string()
    };
    let idle = Ending::Idle { limit: ralph_core::time::Millis::from_secs(90) };
    for (status, error, class) in
        [(429, "rate_limit", Limited), (529, "overloaded", Transient), (500, "server_error", Transient)]
    {
        let failure = hear("claude", "", retry(status, error).as_bytes()).failure(&idle, "").unwrap();
        assert_eq!(failure.class, class, "{failure:?}");
        let said = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "on it"}]}});
        let went_on = hear("claude", "", format!("{}\n{said}", retry(status, error)).as_bytes());
        assert_eq!(went_on.failure(&idle, "").unwrap().class, Other);
    }
}

#[test]
fn i07_a_program_that_tells_of_refusals_on_standard_error_only_failed_for_that_reason() {
    let gemini = "Attempt 3 failed with status 429. Retrying with backoff... ApiError: {\"error\":{\"message\":\"slow\"}}\n    at async retryWithBackoff (file:///x.js:308039:23) {\n  status: 429\n}\n";
    let opencode = "timestamp=2026-11-15T01:10:03Z level=ERROR message=\"stream error\" error.error=\"AI_APICallError: Internal server error\"\n";
    let idle = Ending::Idle { limit: ralph_core::time::Millis::from_secs(90) };
    let begun = json!({"type": "init", "session_id": "x"}).to_string();
    let worked = format!("{begun}\n{}", json!({"type": "tool_use", "tool_id": "t", "tool_name": "read_file"}));
    for (agent, stdout, stderr, class) in [
        ("gemini", begun.as_str(), gemini, Limited),
        ("opencode", "", opencode, Transient),
        // It went on, so that is over; and what is no refusal explains nothing.
        ("gemini", &worked, gemini, Other),
        ("gemini", &begun, "Warning: 401 lines, no login\n  status: 400\n", Other),
        ("gemini", &begun, "", Other),
    ] {
        let failure = hear(agent, "", stdout.as_bytes()).failure(&idle, stderr).unwrap();
        assert_eq!(failure.class, class, "{agent}: {failure:?}");
    }
    let ended = hear("gemini", "", begun.as_bytes()).failure(&Ending::Stopped, gemini).unwrap();
    assert_eq!(ended.class, Other, "ralph ended it");
}

#[test]
fn i03_a_number_or_a_word_in_a_sentence_is_no_status_and_no_cause() {
    for message in [
        "500 lines of patch could not be applied",
        "Error: 401 files changed, aborting",
        "failed to parse login.rs",
        "apply_patch failed: connection.rs not found",
        "the command ended with exit status 503",
    ] {
        let failure = exit(&hear("codex", "", failed_turn(message).as_bytes()), 1);
        assert_eq!(failure.class, Other, "{message}: {failure:?}");
    }
}

#[test]
fn a15_a_crash_before_the_first_event_counts_as_a_failure_like_any_other() {
    for agent in ralph_agents::names().filter(|name| *name != "generic") {
        for stderr in [
            "Segmentation fault (core dumped)\n",
            "file:///x.js:1\nTypeError: x is undefined\n    at y (z.js:1:2)\n\nNode.js v22.1.0\n",
            "Error: ENOSPC: no space left on device, write\n",
        ] {
            let failure = hear(agent, "", b"").failure(&Ending::Exited { code: 1 }, stderr).unwrap();
            assert_eq!(failure.class, Other, "{agent}: {failure:?}");
        }
    }
}

#[test]
fn i06_i07_a_sentence_in_which_claude_quotes_the_provider_is_read() {
    for (sentence, class) in [
        ("API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"x\"}}", Limited),
        ("API Error: 529 Overloaded", Transient),
        ("API Error: 401 Invalid authentication credentials", CannotRun),
        ("API Error: the login page is wrong", Other),
    ] {
        let result = json!({"type": "result", "subtype": "success", "is_error": true, "result": sentence});
        let failure = exit(&hear("claude", "", result.to_string().as_bytes()), 1);
        assert_eq!(failure.class, class, "{sentence}: {failure:?}");
    }
}

#[test]
fn a_program_that_cannot_start_is_told_its_own_next_step() {
    for agent in ralph_agents::names().filter(|name| *name != "generic") {
        for (code, stderr, piece) in [
            (127, "sh: 1: x: not found", "; install it with `"),
            (126, "sh: 1: x: Permission denied", "; make it executable with `chmod +x`"),
            (2, "error: unexpected argument '--x' found", "; take the flag out of `agent.flags`"),
            (1, "Error: this program requires Node.js 22 or newer", "; update what is too old"),
            (1, "Error: Invalid API key", "; to log in: "),
            (1, "Error: 401 Unauthorized", "; to log in: "),
            (1, "Error: Your credit balance is too low", "; add credit at the provider"),
            (1, "Error: unknown model: nope", "; choose another model with --model"),
        ] {
            let failure = hear(agent, "", b"").failure(&Ending::Exited { code }, stderr).unwrap();
            assert_eq!(failure.class, CannotRun, "{agent}: {failure:?}");
            assert!(failure.message.contains(piece), "{agent}: {}", failure.message);
        }
        let missing = hear(agent, "", b"")
            .failure(
                &Ending::NotStarted { reason: "x was not found in PATH".to_owned(), fault: StartFault::Program },
                "",
            )
            .unwrap();
        assert!(missing.message.ends_with(ralph_agents::by_name(agent).unwrap().help.install), "{}", missing.message);
    }
}

#[test]
fn i01_i06_i07_an_agent_in_plain_text_is_classified_by_what_it_states() {
    for (stdout, stderr, code, class, piece) in [
        (
            "",
            "litellm.AuthenticationError: OpenAIException - Incorrect API key provided",
            1,
            Some(CannotRun),
            "; to log in: ",
        ),
        ("looking\n", "Error: 429 Too Many Requests, please retry in 30s\n", 1, Some(Limited), "exited with code 1: "),
        ("looking\n", "HTTP 503\n", 1, Some(Transient), ""),
        ("looking\n", "Error: no such file\n", 1, Some(Other), "exited with code 1: Error: no such file"),
        ("I fixed the 401 handling\n", "", 1, Some(Other), ""),
        ("litellm.AuthenticationError: No key\n", "", 0, Some(CannotRun), "; to log in: "),
        ("", "openai.RateLimitError: Slow down\n", 0, Some(Limited), ""),
        ("I fixed the 401 handling\n", "openai.RateLimitError: Slow down\n", 0, None, ""),
        ("I fixed the 401 handling\n", "", 0, None, ""),
        ("It said:\nlitellm.AuthenticationError: No key\nwhich I fixed.\n<response>DONE</response>\n", "", 0, None, ""),
    ] {
        let failure = hear("generic", "", stdout.as_bytes()).failure(&Ending::Exited { code }, stderr);
        assert_eq!(failure.as_ref().map(|failure| failure.class), class, "{stdout} {stderr}: {failure:?}");
        assert!(failure.is_none_or(|failure| failure.message.contains(piece)), "{stdout} {stderr}");
    }
    let idle = Ending::Idle { limit: ralph_core::time::Millis::from_secs(90) };
    let retries = "litellm.RateLimitError: Slow down\nRetrying in 60 seconds\n";
    assert_eq!(hear("generic", "", retries.as_bytes()).failure(&idle, "").unwrap().class, Limited);
    assert_eq!(hear("generic", "", b"at work\n").failure(&idle, "").unwrap().class, Other);
    let limited =
        hear("generic", "", b"x\n").failure(&Ending::Exited { code: 1 }, "Error: 429, try again in 30s").unwrap();
    assert_eq!(limited.resets_at, Some(NOW + 30));
}
