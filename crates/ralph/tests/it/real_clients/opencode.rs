//! opencode.

use super::{Stage, trials};
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

common_trials_of!(slow opencode);
refusals_by_openai_of!(slow opencode);

trials_of! {
    slow opencode:
    a_tool_that_fails,
    tokens_are_counted,
    an_empty_answer("empty"),
}
