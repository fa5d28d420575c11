//! Codex.

use super::{Stage, openai_is_overloaded, openai_limits, openai_refuses_the_key, trials};
use ralph_testkit::model_server::{Refusal, Reply};
use serde_json::json;

fn codex(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("codex", replies)?;
    let url = stage.model.url();
    // Five retries by default, of each kind. Without what cannot be reached from here: at its end codex waits for seconds to send its metrics, and
    // to look after plugins.
    let config = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\nenv_key = \"SCRIPTED_KEY\"\n\
         wire_api = \"responses\"\nrequest_max_retries = 1\nstream_max_retries = 1\n\n[features]\nplugins = false\napps = false\n\n\
         [analytics]\nenabled = false\n"
    );
    stage.env.write(stage.env.home().join(".codex/config.toml"), &config);
    Some(stage.with("SCRIPTED_KEY", "dummy"))
}

fn limits_until(reset: i64) -> Refusal {
    let message = "The usage limit has been reached";
    let error = json!({ "type": "usage_limit_reached", "message": message, "plan_type": "plus", "resets_at": reset });
    Reply::refusal(429, json!({ "error": error }))
}

common_trials_of!(codex);

trials_of! {
    codex:
    a_tool_that_fails,
    tokens_are_counted,
    an_empty_answer("empty"),
    a_refused_key(openai_refuses_the_key()),
    a_usage_limit(limits_until),
    a_limit_without_a_reset(openai_limits()),
    an_overloaded_provider(openai_is_overloaded()),
}
