//! pi.

use super::{Stage, openai_is_overloaded, openai_limits, openai_limits_until, openai_refuses_the_key, trials};
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

trials_of! {
    slow pi:
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
