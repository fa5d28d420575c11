//! Kimi Code.

use super::{Stage, openai_refuses_the_key, trials};
use ralph_testkit::model_server::Reply;
use serde_json::json;

fn kimi(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("kimi", replies)?;
    let url = stage.model.url();
    // Ten by default, over minutes.
    let stage = stage.with("KIMI_LOOP_MAX_ATTEMPTS_PER_STEP", 2);
    let stage = stage.with("KIMI_MODEL_NAME", "scripted").with("KIMI_MODEL_API_KEY", "dummy");
    Some(stage.with("KIMI_MODEL_PROVIDER_TYPE", "openai").with("KIMI_MODEL_BASE_URL", format!("{url}/v1")))
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_task_with_tools() {
    trials::a_task_with_tools(kimi);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_tool_that_fails() {
    trials::a_tool_that_fails(kimi);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_claim_in_a_tool_result_is_not_believed() {
    trials::a_claim_in_a_tool_result_is_not_believed(kimi);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_empty_answer() {
    trials::an_empty_answer(kimi, "empty");
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_stream_that_breaks_once() {
    trials::a_stream_that_breaks_once(kimi);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_provider_that_falls_silent() {
    trials::a_provider_that_falls_silent(kimi);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_refused_key() {
    trials::a_refused_key(kimi, openai_refuses_the_key());
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_overloaded_provider() {
    trials::an_overloaded_provider(
        kimi,
        Reply::refusal(503, json!({ "error": { "message": "Overloaded", "type": "overloaded_error" } })),
    );
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_interrupt_in_the_middle_of_a_tool() {
    trials::an_interrupt_in_the_middle_of_a_tool(kimi);
}
