//! Gemini CLI.

use super::{Stage, trials};
use ralph_testkit::model_server::Reply;
use serde_json::json;

fn gemini(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("gemini", replies)?;
    let settings = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
    stage.env.write(stage.env.home().join(".gemini/settings.json"), &settings.to_string());
    stage.env.settings(json!({ "agent": { "model": "gemini-2.5-flash" } }));
    let url = stage.model.url();
    let stage = stage.with("GEMINI_API_KEY", "dummy").with("GOOGLE_GEMINI_BASE_URL", url);
    Some(stage.with("GEMINI_TELEMETRY_ENABLED", false))
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_task_with_tools() {
    trials::a_task_with_tools(gemini);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn tokens_are_counted() {
    trials::tokens_are_counted(gemini);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_claim_in_a_tool_result_is_not_believed() {
    trials::a_claim_in_a_tool_result_is_not_believed(gemini);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_empty_answer() {
    trials::an_empty_answer(gemini, "empty");
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_refused_key() {
    let error = json!({ "code": 401, "message": "API key not valid.", "status": "UNAUTHENTICATED" });
    trials::a_refused_key(gemini, Reply::refusal(401, json!({ "error": error })));
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_interrupt_in_the_middle_of_a_tool() {
    trials::an_interrupt_in_the_middle_of_a_tool(gemini);
}
