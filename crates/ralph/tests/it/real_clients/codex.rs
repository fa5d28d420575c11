//! Codex.

use super::{Stage, openai_refuses_the_key, trials};
use ralph_testkit::model_server::Reply;
use serde_json::json;

fn codex(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("codex", replies)?;
    let url = stage.model.url();
    // Without what cannot be reached from here: at its end codex waits for seconds to send its metrics, and
    // to look after plugins.
    let config = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\nenv_key = \"SCRIPTED_KEY\"\n\
         wire_api = \"responses\"\n\n[features]\nplugins = false\napps = false\n\n\
         [analytics]\nenabled = false\n"
    );
    stage.env.write(stage.env.home().join(".codex/config.toml"), &config);
    Some(stage.with("SCRIPTED_KEY", "dummy"))
}

#[test]
fn a_task_with_tools() {
    trials::a_task_with_tools(codex);
}

#[test]
fn a_tool_that_fails() {
    trials::a_tool_that_fails(codex);
}

#[test]
fn tokens_are_counted() {
    trials::tokens_are_counted(codex);
}

#[test]
fn a_claim_in_a_tool_result_is_not_believed() {
    trials::a_claim_in_a_tool_result_is_not_believed(codex);
}

#[test]
fn an_empty_answer() {
    trials::an_empty_answer(codex, "empty");
}

#[test]
fn a_stream_that_breaks_once() {
    trials::a_stream_that_breaks_once(codex);
}

#[test]
fn a_provider_that_falls_silent() {
    trials::a_provider_that_falls_silent(codex);
}

#[test]
fn a_refused_key() {
    trials::a_refused_key(codex, openai_refuses_the_key());
}

#[test]
fn a_usage_limit() {
    trials::a_usage_limit(codex, |reset| {
        let message = "The usage limit has been reached";
        let error =
            json!({ "type": "usage_limit_reached", "message": message, "plan_type": "plus", "resets_at": reset });
        Reply::refusal(429, json!({ "error": error }))
    });
}

#[test]
fn an_interrupt_in_the_middle_of_a_tool() {
    trials::an_interrupt_in_the_middle_of_a_tool(codex);
}
