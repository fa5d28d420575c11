//! Grok Build.

use super::{Stage, trials};
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

common_trials_of!(slow grok);
refusals_by_openai_of!(slow grok);

trials_of! {
    slow grok:
    a_tool_that_fails,
    tokens_are_counted,
    an_empty_answer("empty"),
}
