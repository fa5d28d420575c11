//! Qwen Code.

use super::{Stage, openai_is_overloaded, openai_limits, openai_limits_until, openai_refuses_the_key, trials};
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

trials_of! {
    slow qwen:
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
