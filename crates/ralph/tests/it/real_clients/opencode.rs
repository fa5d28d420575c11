//! opencode.

use super::{Stage, openai_refuses_the_key, trials};
use ralph_testkit::model_server::Reply;
use serde_json::json;

fn opencode(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("opencode", replies)?;
    let options = json!({ "baseURL": format!("{}/v1", stage.model.url()), "apiKey": "dummy" });
    let provider = json!({ "npm": "@ai-sdk/openai-compatible", "options": options, "models": { "scripted": {} } });
    let config = json!({ "model": "scripted/scripted", "provider": { "scripted": provider } });
    let file = stage.env.home().join("opencode.json");
    stage.env.write(&file, &config.to_string());
    let stage = stage.with("OPENCODE_CONFIG", file.display()).with("OPENCODE_DISABLE_MODELS_FETCH", 1);
    Some(stage.with("OPENCODE_DISABLE_LSP_DOWNLOAD", 1).with("OPENCODE_DISABLE_DEFAULT_PLUGINS", 1))
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_task_with_tools() {
    trials::a_task_with_tools(opencode);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn tokens_are_counted() {
    trials::tokens_are_counted(opencode);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_claim_in_a_tool_result_is_not_believed() {
    trials::a_claim_in_a_tool_result_is_not_believed(opencode);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_empty_answer() {
    trials::an_empty_answer(opencode, "empty");
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_refused_key() {
    trials::a_refused_key(opencode, openai_refuses_the_key());
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_interrupt_in_the_middle_of_a_tool() {
    trials::an_interrupt_in_the_middle_of_a_tool(opencode);
}
