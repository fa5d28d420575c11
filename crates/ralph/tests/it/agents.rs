//! Agents that speak another stream than Claude's, through the whole of ralph.

use crate::env;
use jiff::{Timestamp, ToSpan as _};
use ralph_testkit::TestEnv;
use serde_json::{Value, json};
use std::fs;

const STARTED: &str = r#"raw {"type":"thread.started","thread_id":"thread-1"}"#;

/// A script of Codex that fails with this sentence.
fn refused(sentence: &str) -> String {
    format!("{STARTED}\nraw {}\nexit 1", json!({ "type": "turn.failed", "error": { "message": sentence } }))
}

/// Runs until the wall time is up, which is while ralph waits, and says until when it would have waited.
fn waits_until(env: &TestEnv, zone: &str) -> Timestamp {
    let arguments = ["run", "-p", "x", "--json", "--max-wall-time", "2s"];
    let run = env.ralph(arguments).env("TZ", zone).code(4).run();
    let lines = run.json_lines();
    let waiting = lines.iter().find(|line| line["type"] == "run.waiting").unwrap_or_else(|| panic!("{lines:#?}"));
    waiting["until"].as_str().unwrap().parse().unwrap()
}

/// ralph adds a minute to a reset, and the minute of a stated time may have begun.
fn is_just_after(until: Timestamp, reset: Timestamp) -> bool {
    (-60..=180).contains(&(until.as_second() - reset.as_second()))
}

#[test]
fn i02_a_limit_of_codex_ends_when_its_session_file_says() {
    let reset = Timestamp::now() + 3.hours();
    let limits = json!({ "primary": { "used_percent": 100.0, "resets_at": reset.as_second() } });
    let entry = json!({ "type": "event_msg", "payload": { "type": "token_count", "rate_limits": limits } });
    for (home, settings) in
        [(".codex", json!({})), ("elsewhere", json!({ "agent": { "env": { "CODEX_HOME": "HOME/elsewhere" } } }))]
    {
        let env = env();
        let settings = settings.to_string().replace("HOME/", &format!("{}/", env.home().display()));
        env.agent_as("codex").script(&refused("You’ve hit your usage limit, try again later."));
        env.settings(serde_json::from_str::<Value>(&settings).unwrap());
        let day = env.home().join(home).join("sessions/2026/11/15");
        fs::create_dir_all(&day).unwrap();
        fs::write(day.join("rollout-2026-11-15T00-00-00-thread-1.jsonl"), format!("{entry}\n")).unwrap();
        let until = waits_until(&env, "UTC");
        assert!(is_just_after(until, reset), "{home}: {until} is not just after {reset}");
    }
}

#[test]
fn g04_i02_a_limit_of_codex_ends_when_its_sentence_says_in_the_zone_of_the_machine() {
    let env = env();
    let reset = Timestamp::now() + 5.hours();
    // Three hours east of Greenwich, in the old notation, which counts the other way.
    let local = reset.to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(3)));
    let sentence = format!("You’ve hit your usage limit or try again at {}.", local.strftime("%b %-dth, %Y %-I:%M %p"));
    env.agent_as("codex").script(&refused(&sentence));
    let until = waits_until(&env, "EAST-3");
    assert!(is_just_after(until, reset), "{sentence}: {until} is not just after {reset}");
}

#[test]
fn a_program_without_a_dialect_can_print_the_stream_of_another() {
    let env = env();
    env.settings(json!({ "agent": { "dialect": "generic", "format": "codex" } })).guardrail("true");
    env.script(&format!(
        "{STARTED}\nraw {{\"type\":\"item.completed\",\"item\":{{\"id\":\"1\",\"type\":\"agent_message\",\"text\":\"<response>DONE</response>\"}}}}\n\
         raw {{\"type\":\"turn.completed\",\"usage\":{{\"input_tokens\":7,\"output_tokens\":2}}}}"
    ));
    let lines = env.ralph(["run", "-p", "x", "--json"]).run().json_lines();
    let finished = lines.last().unwrap();
    assert_eq!((&finished["stop_reason"], &finished["tokens"]["input"]), (&json!("complete"), &json!(7)));
}

#[test]
fn b06_text_from_a_program_that_should_print_a_stream_is_explained() {
    let env = env();
    env.agent_as("gemini").script("print Hello, all is done.\nclaim");
    let run = env.ralph(["run", "-p", "x", "--once"]).ends("single-pass").code(1);
    run.stderr_has("✗ agent: the output is not what the dialect `gemini` expects[..]`agent.dialect`[..]`agent.format`")
        .run();
}
