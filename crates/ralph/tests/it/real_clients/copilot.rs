//! GitHub Copilot CLI. It does not tell how many tokens it used.

use super::{Stage, openai_is_overloaded, openai_limits, openai_limits_until, openai_refuses_the_key, trials};
use ralph_testkit::model_server::Reply;

/// With a provider of its own instead of a login.
fn copilot(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("copilot", replies)?;
    let url = stage.model.url();
    let stage = stage.with("COPILOT_PROVIDER_TYPE", "openai").with("COPILOT_PROVIDER_API_KEY", "dummy");
    let stage = stage.with("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")).with("COPILOT_MODEL", "scripted");
    Some(stage.with("COPILOT_OFFLINE", true).with("COPILOT_AUTO_UPDATE", false))
}

trials_of! {
    slow copilot:
    a_task_with_tools,
    a_tool_that_fails,
    a_claim_in_a_tool_result_is_not_believed,
    an_empty_answer("No response was returned"),
    a_stream_that_breaks_once,
    a_provider_that_falls_silent,
    a_refused_key(openai_refuses_the_key()),
    a_usage_limit(openai_limits_until),
    a_limit_without_a_reset(openai_limits()),
    an_overloaded_provider(openai_is_overloaded()),
    an_interrupt_in_the_middle_of_a_tool,
}
