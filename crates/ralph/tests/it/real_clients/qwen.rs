//! Qwen Code.

use super::{Stage, openai_refuses_the_key, trials};
use ralph_testkit::model_server::Reply;
use serde_json::json;

fn qwen(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("qwen", replies)?;
    let url = stage.model.url();
    stage.env.settings(json!({ "agent": { "flags": ["--auth-type", "openai"] } }));
    let stage = stage.with("OPENAI_API_KEY", "dummy").with("OPENAI_BASE_URL", format!("{url}/v1"));
    Some(stage.with("OPENAI_MODEL", "scripted"))
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_task_with_tools() {
    trials::a_task_with_tools(qwen);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn tokens_are_counted() {
    trials::tokens_are_counted(qwen);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_claim_in_a_tool_result_is_not_believed() {
    trials::a_claim_in_a_tool_result_is_not_believed(qwen);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_empty_answer() {
    trials::an_empty_answer(qwen, "empty");
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_refused_key() {
    trials::a_refused_key(qwen, openai_refuses_the_key());
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_interrupt_in_the_middle_of_a_tool() {
    trials::an_interrupt_in_the_middle_of_a_tool(qwen);
}
