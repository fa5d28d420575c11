//! Kimi Code.

use super::{Stage, trials};
use ralph_testkit::model_server::Reply;

fn kimi(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("kimi", replies)?;
    let url = stage.model.url();
    // Ten by default, over minutes.
    let stage = stage.with("KIMI_LOOP_MAX_ATTEMPTS_PER_STEP", 2);
    let stage = stage.with("KIMI_MODEL_NAME", "scripted").with("KIMI_MODEL_API_KEY", "dummy");
    Some(stage.with("KIMI_MODEL_PROVIDER_TYPE", "openai").with("KIMI_MODEL_BASE_URL", format!("{url}/v1")))
}

common_trials_of!(slow kimi);
refusals_by_openai_of!(slow kimi);

trials_of! {
    slow kimi:
    a_tool_that_fails,
    an_empty_answer("empty"),
}
