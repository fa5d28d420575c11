//! opencode.

use super::{Stage, openai_is_overloaded, openai_limits, openai_limits_until, openai_refuses_the_key, trials};
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

trials_of! {
    slow opencode:
    a_task_with_tools,
    a_tool_that_fails,
    tokens_are_counted,
    a_claim_in_a_tool_result_is_not_believed,
    an_empty_answer("empty"),
    a_stream_that_breaks_once,
    a_provider_that_falls_silent,
    a_refused_key(openai_refuses_the_key()),
    a_usage_limit(openai_limits_until),
    a_limit_without_a_reset(openai_limits()),
    an_overloaded_provider(openai_is_overloaded()),
    an_interrupt_in_the_middle_of_a_tool,
}
