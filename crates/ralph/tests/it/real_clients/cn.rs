//! Continue's `cn`. It prints nothing about its tools.

use super::{Stage, trials};
use crate::process::only;
use ralph_testkit::model_server::Reply;
use serde_json::json;

fn cn(replies: Vec<Reply>) -> Option<Stage> {
    let stage = Stage::new("cn", replies)?;
    let url = stage.model.url();
    let model =
        format!("provider: openai\n    model: scripted\n    apiBase: {url}/v1\n    apiKey: dummy\n    roles: [chat]");
    let config = format!("name: scripted\nversion: 0.0.1\nschema: v1\nmodels:\n  - name: scripted\n    {model}\n");
    stage.env.write(stage.env.home().join(".continue/config.yaml"), &config);
    Some(stage.with("CONTINUE_TELEMETRY_ENABLED", 0))
}

#[test]
#[ignore = "slow: cargo xtask clients"]
fn a_task_with_tools() {
    let command = "echo hello from the tool > built; cat built";
    let done = "All finished.\n<response>DONE</response>";
    let Some(stage) = cn(vec![Reply::shell(command), Reply::text(done)]) else { return };
    stage.env.guardrail("grep hello built");
    let end = only(&stage.json(&["run", "-p", "build the thing"]).run(), "run.finished");
    assert_eq!((&end["stop_reason"], &end["verified"]), (&json!("complete"), &json!(true)));
    let turns = stage.model.turns();
    assert_eq!(turns.len(), 2);
    assert!(turns[0].has("build the thing") && turns[0].has("## Completion protocol"), "the prompt is given");
    assert!(turns[1].has("hello from the tool"), "the tool's output goes back");
    stage.nobody_is_left();
}

trials_of! {
    slow cn:
    a_claim_in_a_tool_result_is_not_believed,
    a_stream_that_breaks_once,
    a_provider_that_falls_silent,
    an_interrupt_in_the_middle_of_a_tool,
    an_empty_answer("empty"),
}

refusals_by_openai_of!(slow cn);
