//! Limits of providers and of budgets: other agents meanwhile, no waiting, and what a task may cost.

use crate::env;
use crate::story::{iterations, story};
use ralph_testkit::TestEnv;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

fn in_seconds(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    i64::try_from(now).unwrap() + seconds
}

/// The first agent is Claude Code at its limit; `other` stands beside it.
fn limited(seconds: i64, other: &str) -> TestEnv {
    let env = env();
    let script =
        format!("claude-limit {}\nclaude-result You've hit your limit error status=429\nexit 1\n", in_seconds(seconds));
    env.agent_as("claude").script(&script).guardrail("true");
    env.program("other", other);
    env
}

fn notes(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter(|line| line["type"] == "note").filter_map(|line| line["text"].as_str()).collect()
}

const FINISHES: &str = "#!/bin/sh\ncat >/dev/null\necho '<response>DONE</response>'\n";

#[test]
fn another_agent_goes_on_under_the_same_number_while_the_first_is_limited() {
    for fallback in [json!(["other"]), json!([{ "command": "other", "env": { "TOKEN": "secret" } }])] {
        let env = limited(600, FINISHES);
        env.settings(json!({ "agents": { "fallback": fallback } }));
        let lines = env.ralph(["run", "-p", "x", "--json"]).run().json_lines();
        assert!(notes(&lines).contains(&"other goes on meanwhile"), "{lines:?}");
        let started: Vec<(u64, bool)> = lines
            .iter()
            .filter(|line| line["type"] == "iteration.started")
            .map(|line| (line["iteration"].as_u64().unwrap(), line["agent"] == "other"))
            .collect();
        assert_eq!(started, [(1, false), (1, true)]);
        let last = lines.last().unwrap();
        assert_eq!((&last["stop_reason"], &last["iterations"]), (&json!("complete"), &json!(1)));
        assert_eq!(iterations(&story(&env))[1]["program"], "other");
        let shown = env.ralph(["show", "--json"]).run().stdout;
        assert!(!shown.contains("secret"), "{shown}");
    }
}

/// How a limit is told.
const LIMIT: &str = "✗ agent: You've hit your limit";

#[test]
fn i06_a_fallback_that_cannot_run_is_passed_over_and_the_limit_is_waited_for() {
    let env = limited(600, FINISHES);
    env.settings(json!({ "agents": { "fallback": ["no-such-agent"] } }));
    let run = env.ralph(["run", "-p", "x"]).ends("interrupted").stderr_has("Received signal").code(130);
    let run = run.stderr_has(LIMIT).stderr_has("✗ agent: the agent could not be started: no-such-agent ");
    let run = run.stderr_has("will be repeated, not counted").spawn();
    run.wait_for_stderr("no-such-agent goes on meanwhile");
    run.wait_for_stderr("waiting until ");
    run.signal(2);
    run.finish();
}

#[test]
fn fallbacks_are_judged_like_the_agent() {
    let env = env();
    for (fallback, complaint) in [
        (json!("codex"), "agents.fallback: expected a list"),
        (json!([""]), "agents.fallback[0]: expected"),
        (json!([{ "flags": [] }]), "agents.fallback[0].command: is missing"),
        (json!([{ "command": "x", "dialect": "klingon" }]), "agents.fallback[0].dialect"),
        (json!([7]), "agents.fallback[0]: expected"),
    ] {
        env.settings(json!({ "agents": { "fallback": fallback } }));
        env.ralph(["run", "-p", "x"]).stderr_has(complaint).code(2).run();
    }
}

#[test]
fn i02_a_limit_stops_the_run_where_nobody_wants_to_wait() {
    let env = limited(600, FINISHES);
    env.settings(json!({ "limits": { "waitForReset": false } }));
    let said = "not waited for, as --no-wait or limits.waitForReset says";
    env.ralph(["run", "-p", "x"]).stdout_has(said).stderr_has(LIMIT).code(5).run();
    env.settings(json!({ "limits": { "waitForReset": true } }));
    let lines = env.ralph(["run", "-p", "x", "--json", "--no-wait"]).code(5).run().json_lines();
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["stop_reason"], &last["iterations"], &last["exit_code"]),
        (&json!("error"), &json!(0), &json!(5))
    );
    let message = last["message"].as_str().unwrap();
    assert!(message.contains("You've hit your limit") && message.ends_with(said), "{message}");
    env.ralph(["explain"]).stdout_has("begins iteration 1 again: its agent failed: [..]You've hit your limit").run();
    // Later it goes on with the same iteration.
    env.script("claude-init\nclaude-text all fine\nclaude-result <response>DONE</response>\n");
    env.ralph(["resume"]).stdout_has("complete · verified").stderr_has("continuing with iteration 1").run();
}

#[test]
fn p12_a_limit_behind_the_wall_time_is_told_and_ends_with_it() {
    let env = limited(7200, FINISHES);
    env.ralph(["run", "-p", "x", "--max-wall-time", "1s"])
        .ends("max-wall-time")
        .stderr_has(LIMIT)
        .stderr_has("will be repeated, not counted")
        .stderr_has("waiting until ")
        .stderr_has("note: the wall time of 1.0s will end this run before the wait is over; to let it go on: ")
        .code(4)
        .run();
}

#[test]
fn a_task_has_a_budget_over_all_its_runs() {
    let env = env();
    env.agent_as("claude").settings(json!({ "limits": { "taskMaxCostUsd": 0.5 } }));
    env.script("claude-init\nclaude-text half\nclaude-result half cost=0.2 in=100 out=10\n");
    env.ralph(["run", "-p", "x", "--once"]).ends("single-pass").run();
    env.ralph(["run", "-p", "x", "--once"]).ends("single-pass").run();
    env.ralph(["run", "-p", "x"])
        .stdout_has("budget")
        .stdout_has("the budget of $0.50 for task prompt-")
        .stdout_has("is used up ($0.60 spent by all its runs)")
        .code(4)
        .run();
    env.ralph(["run", "-p", "another task", "--once"]).ends("single-pass").run();
}

#[test]
fn a_client_without_a_price_says_so() {
    let env = env();
    env.agent_as("codex").script(concat!(
        "raw {\"type\":\"thread.started\",\"thread_id\":\"t\"}\nraw {\"type\":\"turn.started\"}\n",
        "raw {\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"<response>DONE</response>\"}}\n",
        "raw {\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1200,\"cached_input_tokens\":0,\"output_tokens\":30}}\n",
    ));
    env.ralph(["run", "-p", "x", "--max-cost", "1"])
        .stdout_has(" · no price stated · tokens: 1K in / 30 out")
        .stdout_lacks("$0.00")
        .stderr_has("states no price, so the budget of money cannot end this run; --max-tokens can")
        .run();
    let last = env.ralph(["run", "-p", "y", "--json"]).run().json_lines().pop().unwrap();
    assert_eq!(last["cost_usd"], Value::Null);
}

#[test]
fn a_budget_of_tokens_counts_what_came_from_the_cache_between_iterations_and_within_one() {
    let env = env();
    // Each iteration reads 10 anew and 500 from the cache, and says 20.
    env.agent_as("claude").script("claude-init\nclaude-text working\nclaude-result working cost=0.01 in=10 out=20\n");
    let run = env.ralph(["run", "-p", "x", "-m", "9", "--max-tokens", "1000", "--json"]).code(4).run();
    let end = run.json_lines().pop().unwrap();
    assert_eq!((&end["stop_reason"], &end["iterations"]), (&json!("budget"), &json!(2)), "{end}");

    let usage = r#""usage":{"input_tokens":10,"cache_read_input_tokens":500,"cache_creation_input_tokens":600,"output_tokens":1}"#;
    let message = format!(
        r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"text","text":"on it"}}],{usage}}}}}"#
    );
    env.script(&format!("claude-init\nraw {message}\nsleep 60s\n"));
    let run = env.ralph(["run", "-p", "y", "--max-tokens", "1000", "--json"]).code(4).run();
    let end = run.json_lines().pop().unwrap();
    assert_eq!(end["stop_reason"], "budget", "{end}");
    assert!(run.took < std::time::Duration::from_secs(50), "it was ended while it ran: {:?}", run.took);
}
