//! GitHub Copilot CLI. It does not tell how many tokens it used.

use super::{Stage, trials};
use ralph_testkit::model_server::Reply;

/// With a provider of its own instead of a login.
fn copilot(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("copilot", replies)?;
    let url = stage.model.url();
    let stage = stage.with("COPILOT_PROVIDER_TYPE", "openai").with("COPILOT_PROVIDER_API_KEY", "dummy");
    let stage = stage.with("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")).with("COPILOT_MODEL", "scripted");
    Some(stage.with("COPILOT_OFFLINE", true).with("COPILOT_AUTO_UPDATE", false))
}

common_trials_of!(slow copilot);
refusals_by_openai_of!(slow copilot);

trials_of! {
    slow copilot:
    a_tool_that_fails,
    an_empty_answer("No response was returned"),
}
