//! Qwen Code.

use super::{Stage, trials};
use ralph_testkit::model_server::Reply;
use serde_json::json;

fn qwen(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("qwen", replies)?;
    let url = stage.model.url();
    // By default it waits for minutes until it tries again after a limit.
    let settings = json!({ "model": { "generationConfig": { "maxRetries": 0 } } });
    stage.env.write(stage.env.home().join(".qwen/settings.json"), &settings.to_string());
    stage.env.settings(json!({ "agent": { "flags": ["--auth-type", "openai"] } }));
    let stage = stage.with("OPENAI_API_KEY", "dummy").with("OPENAI_BASE_URL", format!("{url}/v1"));
    Some(stage.with("OPENAI_MODEL", "scripted"))
}

common_trials_of!(slow qwen);
refusals_by_openai_of!(slow qwen);

trials_of! {
    slow qwen:
    a_tool_that_fails,
    tokens_are_counted,
    an_empty_answer("empty"),
}
