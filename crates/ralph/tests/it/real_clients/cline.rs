//! Cline.

use super::{Stage, openai_refuses_the_key, trials};
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

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_task_with_tools() {
    trials::a_task_with_tools(cline);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_tool_that_fails() {
    trials::a_tool_that_fails(cline);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn tokens_are_counted() {
    trials::tokens_are_counted(cline);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_claim_in_a_tool_result_is_not_believed() {
    trials::a_claim_in_a_tool_result_is_not_believed(cline);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_empty_answer() {
    trials::an_empty_answer(cline, "empty");
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_stream_that_breaks_once() {
    trials::a_stream_that_breaks_once(cline);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_provider_that_falls_silent() {
    trials::a_provider_that_falls_silent(cline);
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_refused_key() {
    trials::a_refused_key(cline, openai_refuses_the_key());
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_overloaded_provider() {
    trials::an_overloaded_provider(
        cline,
        Reply::refusal(503, json!({ "error": { "message": "Overloaded", "type": "overloaded_error" } })),
    );
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn an_interrupt_in_the_middle_of_a_tool() {
    // It outlives the first signal to end and goes on with the model, so the model has to say no more.
    trials::an_interrupt_in_the_middle_of_a_tool(|mut replies| {
        let silence = Answer { text: "I was about to".to_owned(), close: Close::Stall, ..Answer::default() };
        replies.truncate(1);
        replies.push(Reply::Answer(silence));
        cline(replies)
    });
}
