//! Claude Code.

use super::{Stage, trials};
use ralph_testkit::model_server::{Refusal, Reply};
use serde_json::json;

/// Claude with a key of its own.
fn claude(replies: Vec<Reply>) -> Option<Stage> {
    Some(without_key(replies)?.with("ANTHROPIC_API_KEY", "dummy"))
}

/// Claude with a subscription, which alone has usage limits with a reset.
fn subscribed(replies: Vec<Reply>) -> Option<Stage> {
    Some(without_key(replies)?.with("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-dummy"))
}

fn without_key(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("claude", replies)?;
    let url = stage.model.url();
    let stage = stage.with("ANTHROPIC_BASE_URL", url).with("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", 1);
    // Ten by default, over minutes.
    Some(stage.with("CLAUDE_CODE_MAX_RETRIES", 1))
}

fn refusal(status: u16, kind: &str, message: &str) -> Refusal {
    let error = json!({ "type": kind, "message": message });
    Reply::refusal(status, json!({ "type": "error", "error": error }))
}

fn limits_until(reset: i64) -> Refusal {
    let five_hours = "anthropic-ratelimit-unified-5h";
    refusal(429, "rate_limit_error", "This request would exceed your account's rate limit.")
        .header("anthropic-ratelimit-unified-status", "rejected")
        .header("anthropic-ratelimit-unified-reset", reset)
        .header("anthropic-ratelimit-unified-representative-claim", "five_hour")
        .header("anthropic-ratelimit-unified-overage-status", "rejected")
        .header(&format!("{five_hours}-status"), "rejected")
        .header(&format!("{five_hours}-reset"), reset)
        .header(&format!("{five_hours}-utilization"), "1.0")
}

common_trials_of!(claude);

trials_of! {
    claude:
    a_tool_that_fails,
    tokens_are_counted,
    an_empty_answer("empty"),
    a_refused_key(refusal(401, "authentication_error", "invalid x-api-key")),
    a_limit_without_a_reset(refusal(429, "rate_limit_error", "This request would exceed your organization's rate limit.")),
    an_overloaded_provider(refusal(529, "overloaded_error", "Overloaded")),
}

trials_of! {
    subscribed:
    a_usage_limit(limits_until),
}

/// A run's rules reach the model through the plugin's hooks, and nobody but the run speaks.
#[test]
fn the_exported_plugin_is_loaded_and_its_hooks_speak() {
    let replies = vec![Reply::shell("echo hello"), Reply::text("All finished.\n<response>DONE</response>")];
    let Some(stage) = claude(replies) else { return };
    let plugin = stage.env.root().join("plugin").display().to_string();
    stage.env.ralph(["plugin", "export", &plugin, "-q"]).stdout_has("wrote ").run();
    // Whatever the client writes into its transcript is far more than that.
    let agent = json!({ "flags": ["--plugin-dir", plugin], "env": { "CLAUDE_CONTEXT_WINDOW": "100" } });
    stage.env.settings(json!({ "agent": agent }));
    stage.json(&["run", "-p", "say hello", "--once"]).run();
    let turns = stage.model.turns();
    assert_eq!(turns.len(), 2, "no hook kept the agent from stopping");
    assert!(turns[1].has("CRITICAL: Context window is at ~"), "the hook's words reach the model");
    assert!(turns.iter().any(|turn| turn.has("ralph-plan")), "the skill is offered");
    stage.nobody_is_left();
}
