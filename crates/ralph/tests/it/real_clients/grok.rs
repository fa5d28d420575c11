//! Grok Build.

use super::{Stage, openai_refuses_the_key, trials};
use ralph_testkit::model_server::Reply;
use serde_json::json;

fn grok(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("grok", replies)?;
    let url = stage.model.url();
    // Retries take minutes by default.
    let config = format!(
        "[model.scripted]\nmodel = \"scripted\"\nbase_url = \"{url}/v1\"\napi_key = \"dummy\"\n\n[models]\nmax_retries = 1\n"
    );
    stage.env.write(stage.env.home().join(".grok/config.toml"), &config);
    stage.env.settings(json!({ "agent": { "model": "scripted" } }));
    Some(stage.with("GROK_TELEMETRY_ENABLED", false))
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_task_with_tools() {
    trials::a_task_with_tools(grok);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_tool_that_fails() {
    trials::a_tool_that_fails(grok);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn tokens_are_counted() {
    trials::tokens_are_counted(grok);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_claim_in_a_tool_result_is_not_believed() {
    trials::a_claim_in_a_tool_result_is_not_believed(grok);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_empty_answer() {
    trials::an_empty_answer(grok, "empty");
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_stream_that_breaks_once() {
    trials::a_stream_that_breaks_once(grok);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_provider_that_falls_silent() {
    trials::a_provider_that_falls_silent(grok);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_refused_key() {
    trials::a_refused_key(grok, openai_refuses_the_key());
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_overloaded_provider() {
    trials::an_overloaded_provider(
        grok,
        Reply::refusal(503, json!({ "error": { "message": "Overloaded", "type": "overloaded_error" } })),
    );
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_interrupt_in_the_middle_of_a_tool() {
    trials::an_interrupt_in_the_middle_of_a_tool(grok);
}
