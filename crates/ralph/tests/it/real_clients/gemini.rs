//! Gemini CLI.

use super::{Stage, trials};
use jiff::Timestamp;
use ralph_testkit::model_server::{Refusal, Reply};
use serde_json::{Value, json};

fn gemini(replies: Vec<Reply>) -> Option<Stage> {
    with_attempts(10, replies)
}

/// By default it asks ten times, over minutes.
fn impatient(replies: Vec<Reply>) -> Option<Stage> {
    with_attempts(1, replies)
}

fn with_attempts(attempts: u8, replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("gemini", replies)?;
    let general = json!({ "maxAttempts": attempts });
    let settings = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } }, "general": general });
    stage.env.write(stage.env.home().join(".gemini/settings.json"), &settings.to_string());
    stage.env.settings(json!({ "agent": { "model": "gemini-2.5-flash" } }));
    let url = stage.model.url();
    let stage = stage.with("GEMINI_API_KEY", "dummy").with("GOOGLE_GEMINI_BASE_URL", url);
    Some(stage.with("GEMINI_TELEMETRY_ENABLED", false))
}

fn google(code: u16, status: &str, message: &str, details: Value) -> Refusal {
    let error = json!({ "code": code, "message": message, "status": status, "details": details });
    Reply::refusal(code, json!({ "error": error }))
}

/// In Google's words, which say how long and name things that have nothing to do with it.
fn limits_until(reset: i64) -> Refusal {
    let delay = format!("{}s", reset - Timestamp::now().as_second());
    let message = "You exceeded your current quota, please check your plan and billing details. Please retry in ";
    let quota = json!({ "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier" });
    let details = json!([
        { "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [quota] },
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay },
    ]);
    google(429, "RESOURCE_EXHAUSTED", &format!("{message}{delay}."), details)
}

common_trials_of!(slow gemini);

trials_of! {
    slow gemini:
    tokens_are_counted,
    an_empty_answer("empty"),
    a_refused_key(google(401, "UNAUTHENTICATED", "API key not valid.", json!([]))),
}

trials_of! {
    slow impatient:
    a_usage_limit(limits_until),
    a_limit_without_a_reset(google(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", json!([]))),
    an_overloaded_provider(google(503, "UNAVAILABLE", "The model is overloaded. Please try again later.", json!([]))),
}

/// It calls every command that it could run a success, and its exit code is nowhere.
#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_tool_that_fails() {
    trials::a_tool_that_fails_unseen(gemini);
}
