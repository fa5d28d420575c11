//! What people see of an agent: marks, times, limits of output, waits, and how to choose them.

use crate::env;
use ralph_testkit::TestEnv;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

const SESSION: &str = "claude-text Let me see.\n\
    claude-tool Bash t1 {\"command\":\"make test\"}\n\
    claude-tool-result t1 error one\\ntwo\\nthree\\nfour\n\
    claude-text <response>DONE</response>\n\
    claude-result <response>DONE</response> cost=0.05 in=8000 out=240\n";

fn claude(script: &str) -> TestEnv {
    let env = env();
    env.agent_as("claude").script(script).settings(json!({ "loop": { "stopCriteria": { "requireNoErrors": false } } }));
    env
}

/// The lines of a run on standard output that come from the agent, less how long it took.
fn shown(stdout: &str) -> String {
    let agent = stdout.split("\n\n").next().unwrap();
    let (kept, _) = agent.split_once(", time: ").unwrap();
    kept.to_owned()
}

#[test]
fn an_agents_events_are_shown_with_their_results_and_at_the_end_what_they_took() {
    let env = claude(SESSION);
    let run = env.ralph(["run", "-p", "x"]).run();
    assert_eq!(
        shown(&run.stdout),
        "Let me see.\n⏺ Bash(make test)\n❌ Error ← Bash (4 lines, 18 chars)\n  ⎿  one\n      two\n      three\n  ⎿  ... 1 more lines\n\
         <response>DONE</response>\n✅ Complete (cost: $0.05, tokens: 8K in (500 cached) / 240 out, tools: 1, errors: 1"
    );
    // The log is the same, by the same formatter; only nobody noted when its lines came.
    let log = env.ralph(["logs"]).run();
    assert_eq!(*log.stdout, format!("{})\n", shown(&run.stdout)));
}

#[test]
fn how_it_looks_is_a_matter_of_settings_flags_and_locale() {
    let env = claude(SESSION);
    let words = "> Bash(make test)\n[ERR] Error ← Bash (4 lines, 18 chars)\n  |  one\n";
    env.ralph(["run", "-p", "x", "--plain"]).stdout_has(words).run();
    env.ralph(["run", "-p", "x"]).env("LC_ALL", "de_DE.ISO-8859-1").stdout_has(words).run();
    env.ralph(["logs", "--plain"]).stdout_has(words).run();
    for look in ["status", "show", "explain"] {
        let shown = env.ralph([look, "--plain"]).run().stdout;
        assert!(!shown.contains(['✓', '✗']), "{shown}");
    }
    env.settings(json!({ "display": { "emoji": false, "text": false, "maxOutputLines": 1, "maxOutputChars": 4 } }));
    env.ralph(["run", "-p", "x"])
        .stdout_has(words)
        .stdout_has("  |  ... 3 more lines\n[OK] Complete (")
        .stdout_lacks("Let me see")
        .run();
    env.settings(json!({ "display": { "timestamps": true } }));
    let run = env.ralph(["run", "-p", "x"]).env("TZ", "UTC").run();
    let tool = run.stdout.lines().find(|line| line.ends_with("] > Bash(make test)")).unwrap();
    assert!(tool.starts_with('[') && tool.matches(':').count() == 2, "{tool}");
    env.settings(json!({ "display": { "maxOutputChars": 1 } }));
    env.ralph(["run", "-p", "x"])
        .stderr_has("display.maxOutputChars: expected a whole number of at least 4, found 1")
        .code(2)
        .run();
    env.settings(json!({ "display": { "maxOutputChars": "many" } }));
    env.ralph(["run", "-p", "x"]).stderr_has("display.maxOutputChars: expected a whole number").code(2).run();
    // A log can be seen whatever the settings are by now.
    env.ralph(["logs"]).stdout_has("⏺ Bash(make test)").run();
}

#[test]
fn colour_is_chosen_and_never_sent_where_it_is_unwanted() {
    let env = claude(SESSION);
    let red = "\u{1b}[31m❌ Error ← Bash (4 lines, 18 chars)\u{1b}[0m";
    let plain = env.ralph(["run", "-p", "x"]).ends("complete · claimed, not verified");
    plain.stdout_lacks("\u{1b}").stderr_lacks("\u{1b}").run();
    env.ralph(["run", "-p", "x", "--color", "always"]).stdout_has(red).run();
    env.ralph(["logs", "--color", "always"]).stdout_has(red).run();
    let on_terminal = |flags: &[&str], no_color: &str| {
        let run = env.ralph([&["run", "-p", "x", "--task", "t"], flags].concat()).env("NO_COLOR", no_color);
        run.spawn_on_terminal(100, 24).finish().stdout
    };
    assert!(on_terminal(&[], "").contains(red));
    assert!(on_terminal(&["--color", "always"], "1").contains(red));
    for (flags, no_color) in [(&["--color", "never"][..], ""), (&[], "1")] {
        assert!(!on_terminal(flags, no_color).contains("\u{1b}[31m"), "{flags:?} {no_color}");
    }
    // Plain is plain: not even a live line.
    assert!(!on_terminal(&["--plain"], "").contains('\u{1b}'));
}

#[test]
fn what_was_not_understood_is_counted_for_those_who_ask() {
    let env = claude(&format!("raw npm warn old node\nraw {{\"type\":\"brand_new\"}}\nraw half {{\n{SESSION}"));
    let counts = "  1 unknown event, 2 lines not understood\n";
    let verbose = env.ralph(["run", "-p", "x", "-V"]).stdout_has("· unknown message type: brand_new\n");
    verbose.stderr_has("[ralph] ").stderr_has(counts).run();
    env.ralph(["run", "-p", "x"]).ends("complete · claimed, not verified").stdout_lacks("brand_new").run();
}

#[test]
fn a_single_pass_is_not_one_of_ten() {
    let env = env();
    env.script("print half");
    env.ralph(["run", "-p", "x", "--once"])
        .ends("single-pass")
        .stderr_has("limits: a single pass, 1h00m")
        .stderr_has("iteration 1/1\n")
        .stderr_lacks("/10")
        .run();
    env.ralph(["status"]).stdout_has(" 1/1 ").run();
    let started = env.ralph(["run", "-p", "x", "--once", "--json"]).run().json_lines().remove(0);
    assert_eq!((&started["type"], &started["max_iterations"]), (&json!("run.started"), &json!(1)));
}

/// An agent whose usage limit ends in so many seconds; ralph waits for a minute more.
fn limited(seconds: i64) -> TestEnv {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let resets_at = i64::try_from(now).unwrap() + seconds;
    claude(&format!("claude-limit {resets_at}\nclaude-result You've hit your limit error status=429\nexit 1\n"))
}

#[test]
fn a_wait_counts_down_on_a_terminal() {
    let env = limited(-10);
    let terminal = env.ralph(["run", "-p", "x"]).code(130).spawn_on_terminal(120, 24);
    terminal.wait_for_stdout("⏸️ limit reached: five_hour · resets ");
    terminal.wait_until("the wait counts down", || {
        let screen = terminal.stdout_so_far();
        let drawn =
            screen.split("iteration 1/10 · waiting until ").skip(1).filter_map(|line| line.split_once(" left · "));
        drawn.map(|(left, _)| left.to_owned()).collect::<BTreeSet<String>>().len() > 1
    });
    terminal.send("\x03");
    terminal.finish();
}

#[test]
fn a_wait_is_one_line_off_a_terminal() {
    let env = limited(600);
    let run = env.ralph(["run", "-p", "x"]).ends("interrupted").stderr_has("Received signal").code(130);
    let run = run.stderr_has("✗ agent: You've hit your limit").stderr_has("will be repeated, not counted").spawn();
    run.wait_for_stderr("waiting until ");
    run.signal(2);
    let stderr = run.finish().stderr;
    let waits: Vec<&str> = stderr.lines().filter(|line| line.contains("waiting until ")).collect();
    assert_eq!(waits.len(), 1, "{stderr}");
    assert!(waits[0].contains(" left · "), "{stderr}");
}
