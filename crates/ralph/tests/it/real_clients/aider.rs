//! aider. It has no tools: it edits the files that the model names in its words.

use super::{Stage, trials};
use crate::process::{lines, only};
use ralph_testkit::model_server::Reply;
use serde_json::json;

fn aider(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("aider", replies)?;
    let url = stage.model.url();
    stage.model.every_request_counts();
    stage.env.settings(json!({ "agent": { "model": "openai/scripted" } }));
    let stage = stage.with("OPENAI_API_KEY", "dummy").with("OPENAI_API_BASE", format!("{url}/v1"));
    Some(stage.with("AIDER_ANALYTICS", false))
}

const EDIT: &str = "I write it.\n\nbuilt\n```\nhello\n```\n\n<response>DONE</response>";

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_task_with_tools() {
    let Some(stage) = aider(vec![Reply::text(EDIT), Reply::text("feat: build it")]) else { return };
    stage.env.guardrail("grep hello built");
    let run = stage.json(&["run", "-p", "build the thing"]).run();
    let end = only(&run, "run.finished");
    assert_eq!((&end["stop_reason"], &end["verified"]), (&json!("complete"), &json!(true)));
    let turns = stage.model.turns();
    assert!(turns[0].has("build the thing") && turns[0].has("## Completion protocol"), "the prompt is given");
    let tools = lines(&run, "agent.event").into_iter().map(|line| line["event"].clone());
    let writes: Vec<_> =
        tools.filter(|event| event["kind"] == "tool_start").map(|event| event["writes"].clone()).collect();
    assert_eq!(writes, [json!("built")]);
    stage.nobody_is_left();
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn tokens_are_counted() {
    let Some(stage) = aider(vec![Reply::text("Done.\n<response>DONE</response>")]) else { return };
    let tokens = only(&stage.json(&["run", "-p", "x"]).run(), "run.finished")["tokens"].clone();
    assert_eq!((&tokens["input"], &tokens["output"]), (&json!(1200), &json!(40)), "{tokens}");
}

/// A whole answer of the scripted model cannot stop in the middle.
fn streaming(replies: Vec<Reply>) -> Option<Stage> {
    let stage = aider(replies)?;
    stage.env.settings(json!({ "agent": { "model": "openai/scripted", "flags": ["--stream"] } }));
    Some(stage)
}

trials_of! {
    slow aider:
    an_empty_answer("empty"),
}

trials_of! {
    slow streaming:
    a_provider_that_falls_silent,
}

refusals_by_openai_of!(slow aider);
