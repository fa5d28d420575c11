//! Cline.

use super::{Stage, trials};
use ralph_testkit::model_server::{Answer, Close, Reply};
use serde_json::json;

fn cline(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("cline", replies)?;
    let provider = "openai-compatible";
    let base_url = format!("{}/v1", stage.model.url());
    let settings = json!({ "provider": provider, "apiKey": "dummy", "model": "scripted", "baseUrl": base_url });
    let entry = json!({ "settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual" });
    let providers =
        json!({ "version": 1, "lastUsedProvider": provider, "modes": {}, "providers": { provider: entry } });
    stage.env.write(stage.env.home().join(".cline/data/settings/providers.json"), &providers.to_string());
    Some(stage)
}

/// It outlives the first signal to end and goes on with the model, so in the middle of a tool the model has to say no more.
fn before_a_silent_model(mut replies: Vec<Reply>) -> Option<Stage> {
    let silence = Answer { text: "I was about to".to_owned(), close: Close::Stall, ..Answer::default() };
    replies.truncate(1);
    replies.push(Reply::Answer(silence));
    cline(replies)
}

trials_of! {
    slow cline:
    a_task_with_tools,
    a_claim_in_a_tool_result_is_not_believed,
    a_stream_that_breaks_once,
    a_provider_that_falls_silent,
    a_tool_that_fails,
    tokens_are_counted,
    an_empty_answer("empty"),
}

trials_of! {
    slow before_a_silent_model:
    an_interrupt_in_the_middle_of_a_tool,
}

refusals_by_openai_of!(slow cline);
