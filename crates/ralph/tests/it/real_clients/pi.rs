//! pi.

use super::{Stage, openai_refuses_the_key, trials};
use ralph_testkit::model_server::Reply;
use serde_json::json;

fn pi(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("pi", replies)?;
    let url = stage.model.url();
    let provider = json!({
        "baseUrl": format!("{url}/v1"), "api": "openai-completions", "apiKey": "dummy", "models": [{ "id": "scripted" }],
    });
    let models = json!({ "providers": { "scripted": provider } });
    stage.env.write(stage.env.home().join(".pi/agent/models.json"), &models.to_string());
    stage.env.settings(json!({ "agent": { "model": "scripted", "flags": ["--provider", "scripted"] } }));
    Some(stage.with("PI_OFFLINE", 1).with("PI_SKIP_VERSION_CHECK", 1).with("PI_TELEMETRY", 0))
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_task_with_tools() {
    trials::a_task_with_tools(pi);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn tokens_are_counted() {
    trials::tokens_are_counted(pi);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_claim_in_a_tool_result_is_not_believed() {
    trials::a_claim_in_a_tool_result_is_not_believed(pi);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_empty_answer() {
    trials::an_empty_answer(pi, "empty");
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_refused_key() {
    trials::a_refused_key(pi, openai_refuses_the_key());
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_interrupt_in_the_middle_of_a_tool() {
    trials::an_interrupt_in_the_middle_of_a_tool(pi);
}
