//! GitHub Copilot CLI. It does not tell how many tokens it used.

use super::{Stage, openai_refuses_the_key, trials};
use ralph_testkit::model_server::Reply;

/// With a provider of its own instead of a login.
fn copilot(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("copilot", replies)?;
    let url = stage.model.url();
    let stage = stage.with("COPILOT_PROVIDER_TYPE", "openai").with("COPILOT_PROVIDER_API_KEY", "dummy");
    let stage = stage.with("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")).with("COPILOT_MODEL", "scripted");
    Some(stage.with("COPILOT_OFFLINE", true).with("COPILOT_AUTO_UPDATE", false))
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_task_with_tools() {
    trials::a_task_with_tools(copilot);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_claim_in_a_tool_result_is_not_believed() {
    trials::a_claim_in_a_tool_result_is_not_believed(copilot);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_empty_answer() {
    trials::an_empty_answer(copilot, "No response was returned");
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_refused_key() {
    trials::a_refused_key(copilot, openai_refuses_the_key());
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_interrupt_in_the_middle_of_a_tool() {
    trials::an_interrupt_in_the_middle_of_a_tool(copilot);
}
