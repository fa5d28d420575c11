//! pi.

use super::{Stage, trials};
use ralph_testkit::model_server::Reply;
use serde_json::json;

fn pi(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("pi", replies)?;
    let url = stage.model.url();
    let provider = json!({
        "baseUrl": format!("{url}/v1"), "api": "openai-completions", "apiKey": "dummy", "models": [{ "id": "scripted" }],
    });
    let models = json!({ "providers": { "scripted": provider } });
    stage.env.write(stage.env.home().join(".pi/agent/models.json"), &models.to_string());
    // By default its retries take seconds.
    let retry = json!({ "maxRetries": 1, "baseDelayMs": 10, "provider": { "maxRetries": 0 } });
    stage.env.write(stage.env.home().join(".pi/agent/settings.json"), &json!({ "retry": retry }).to_string());
    stage.env.settings(json!({ "agent": { "model": "scripted", "flags": ["--provider", "scripted"] } }));
    Some(stage.with("PI_OFFLINE", 1).with("PI_SKIP_VERSION_CHECK", 1).with("PI_TELEMETRY", 0))
}

common_trials_of!(slow pi);
refusals_by_openai_of!(slow pi);

trials_of! {
    slow pi:
    a_tool_that_fails,
    tokens_are_counted,
    an_empty_answer("empty"),
}
