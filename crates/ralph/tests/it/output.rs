//! Group B: what agents print, however much and however strange, and who reads what ralph prints.

use crate::env;
use crate::process::{lines, only, status};
use crate::story::runs;
use ralph_host::raw_log::{LogReader, Stream};
use ralph_testkit::{Finished, TestEnv, eventually};
use serde_json::{Value, json};
use std::time::Duration;

/// More memory than ralph may ever need for a stream, in kB.
const ENOUGH: u64 = 64 << 10;

fn claude(script: &str) -> TestEnv {
    let env = env();
    env.agent_as("claude").script(script);
    env
}

/// Runs `ralph run -p x --json -m 1`.
#[track_caller]
fn once(env: &TestEnv, code: i32) -> Finished {
    env.ralph(["run", "-p", "x", "--json", "-m", "1"]).code(code).run()
}

/// Holds the agent after its script, so that ralph's memory can be looked at when everything is read.
fn measured(env: &TestEnv, script: &str) -> (Finished, u64) {
    env.script(&format!(
        "{script}\nflush\ntouch printed\nwait-file go\nclaude-result <response>DONE</response>\nclaim"
    ));
    let running = env.ralph(["run", "-p", "x", "--json", "-m", "1"]).spawn();
    running.wait_for_file("printed");
    let peak = status(running.pid(), "VmHWM");
    env.write("go", "");
    (running.finish(), peak)
}

/// What the agent of the only run's first iteration printed.
fn raw_log(env: &TestEnv) -> Vec<u8> {
    let folder = crate::damage::state(env).join("runs").join(runs(env)[0]["run"].as_str().expect("a run"));
    let (mut reader, mut all) = (LogReader::new(&folder, 1, Stream::Stdout), Vec::new());
    let mut chunk = vec![0; 1 << 20];
    while let read @ 1.. = reader.read(&mut chunk).unwrap() {
        all.extend_from_slice(&chunk[..read]);
    }
    all
}

/// The agent's own text, as ralph tells it.
fn texts(run: &Finished) -> String {
    let events = lines(run, "agent.event").into_iter().filter(|line| line["event"]["kind"] == "text");
    events.map(|line| line["event"]["text"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn b01_two_hundred_megabytes_without_a_newline_pass_in_bounded_memory() {
    let env = env();
    let (run, peak) = measured(&env, "flood 200m\nprint ");
    assert!(peak < ENOUGH, "{peak} kB");
    assert_eq!(only(&run, "run.finished")["stop_reason"], "complete");
    assert!(raw_log(&env).len() > 200 << 20);
}

#[test]
fn b02_a_hundred_megabytes_of_one_json_line_are_passed_over_and_the_next_line_counts() {
    let env = env();
    env.agent_as("claude");
    let script = "claude-init\nwrite {\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"\n\
                  flood 100m\nprint \"}]}}";
    let (run, peak) = measured(&env, script);
    assert!(peak < ENOUGH, "{peak} kB");
    assert_eq!(only(&run, "run.finished")["stop_reason"], "complete");
}

#[test]
fn b02_a_line_of_ten_megabytes_is_read_whole() {
    let env = claude(
        "claude-init\nwrite {\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"\n\
         flood 10m\nprint <response>DONE</response>\"}]}}\nclaude-result bye",
    );
    assert_eq!(only(&once(&env, 0), "iteration.finished")["claim"], "complete");
}

#[test]
fn b02_a_line_of_three_megabytes_reaches_a_reader_that_reads() {
    let env = env();
    env.script("flood 3m\nprint end\nclaim");
    let run = env.ralph(["run", "-p", "x"]).stdout_has("xend\n").stderr_lacks("skipped").run();
    assert!(run.stdout.len() > 3 << 20, "{}", run.stdout.len());
    let run = env.ralph(["run", "-p", "x", "--json"]).run();
    assert!(texts(&run).len() > 3 << 20, "{}", run.stdout);
}

#[test]
fn b03_half_a_line_at_the_end_is_kept_and_fails_only_its_iteration() {
    let env = claude(
        "[1]\nclaude-init\nclaude-text hello\nwrite {\"type\":\"result\",\"resu\n[2]\nclaude-result <response>DONE</response>",
    );
    let run = env.ralph(["run", "-p", "x", "--json"]).run();
    let iterations = lines(&run, "iteration.finished");
    assert_eq!((&iterations[0]["claim"], &iterations[1]["claim"]), (&json!("none"), &json!("complete")));
    assert!(raw_log(&env).ends_with(b"{\"type\":\"result\",\"resu"));
}

#[test]
fn b04_bytes_that_are_no_text_are_kept_on_disk_and_replaced_on_the_screen() {
    let env = env();
    env.script("print \\xff\\xfe \\0 caf\\xc3\nprint \\xe6\\xbc\\xa2 fine\nclaim");
    let run = env.ralph(["run", "-p", "x"]).stdout_has("\u{fffd}\u{fffd}").stdout_has("漢 fine").run();
    assert!(std::str::from_utf8(run.stdout.raw()).is_ok() && !run.stdout.raw().contains(&0));
    assert!(raw_log(&env).starts_with(b"\xff\xfe \0 caf\xc3\n"));
}

#[test]
fn b04_lone_surrogates_and_escaped_controls_in_json_are_replaced() {
    let block = |text: &str| {
        format!(r#"raw {{"type":"assistant","message":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
    };
    let script = [block(r"a \ud800 b"), block(r"c \udc00\ud800 d \u0000 \u001b[2J"), block(r"\ud83d\ude00")].join("\n");
    let env = claude(&(script + "\nclaude-result <response>DONE</response>"));
    let text = texts(&once(&env, 0));
    assert!(text.contains("a \u{fffd} b") && text.contains('\u{1f600}'), "{text:?}");
    env.ralph(["run", "-p", "y"]).stdout_has("a \u{fffd} b").stdout_lacks("\x1b").stdout_lacks("\0").run();
}

#[test]
fn b06_b07_b08_strange_lines_among_the_events_do_no_harm() {
    let text = |words: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{words}"}}]}},"new_field":[1]}}"#
        )
    };
    for (what, lines) in [
        ("noise", format!("print npm warn deprecated\nprint \\e[31mred\\e[0m\nraw {}", text("seen"))),
        (
            "unknown types",
            format!("raw {{\"type\":\"novelty\",\"x\":{{}}}}\nraw {{\"no_type\":1}}\nraw {}", text("seen")),
        ),
        ("no objects", format!("raw [1,2]\nraw 17\nraw null\nraw \"text\"\nraw {}", text("seen"))),
        (
            "other shapes",
            format!("raw {{\"type\":\"assistant\",\"message\":7}}\nraw {{\"type\":[]}}\nraw {}", text("seen")),
        ),
        ("broken lines", format!("raw {{\"type\":\"assistant\",\"mess\nraw }}}}\nraw {}", text("seen"))),
        ("two on a line", format!("raw {}{}", text("first"), text("seen"))),
        ("carriage returns", format!("write {}\\r\\n\nprint \\r", text("seen"))),
        ("blank lines", format!("print \nprint   \nraw {}\nprint ", text("seen"))),
        ("byte order mark", format!("write \\xef\\xbb\\xbf\nraw {}", text("seen"))),
        ("spaces around", format!("raw    {}   ", text("seen"))),
    ] {
        let env = claude(&format!("{lines}\nclaude-result <response>DONE</response>"));
        let run = once(&env, 0);
        assert!(texts(&run).contains("seen"), "{what}: {}", run.stdout);
    }
}

#[test]
fn b09_a_storm_of_tiny_lines_reaches_a_fast_reader_in_bounded_memory() {
    let env = env();
    env.script("flood-lines 300000 tiny\ntouch printed\nwait-file go\nclaim");
    let running = env.ralph(["run", "-p", "x", "-m", "1"]).stdout_has("claimed").stderr_lacks("skipped").spawn();
    running.wait_for_file("printed");
    let peak = status(running.pid(), "VmHWM");
    env.write("go", "");
    let run = running.finish();
    assert_eq!(run.stdout.matches("tiny\n").count(), 300_000);
    assert!(peak < ENOUGH, "{peak} kB");
}

/// Runs ralph before a pipe whose reader waits for the file `read`; its exit code goes into `code`.
const SLOW_READER: [&str; 4] = [
    "sh",
    "-c",
    "{ \"$@\"; echo $? > code.part; mv code.part code; } | { until [ -e read ]; do sleep 0.05; done; cat; }",
    "sh",
];

#[test]
fn b10_a_reader_that_stops_does_not_hold_the_agent_and_still_gets_the_end() {
    let env = claude("claude-init\nstream 20000 1000\nclaude-result <response>DONE</response>\ntouch printed");
    let running = env.ralph(["run", "-p", "x", "--json"]).under(SLOW_READER).spawn();
    // Twenty megabytes are through although nobody has read a line.
    running.wait_for_file("printed");
    running.wait_until("the agent is gone", || env.processes().iter().all(|one| !one.command.contains("claude")));
    env.write("read", "");
    let run = running.finish();
    assert_eq!(only(&run, "run.finished")["stop_reason"], "complete");
    let skipped: u64 = lines(&run, "output.skipped").iter().filter_map(|line| line["count"].as_u64()).sum();
    // The agent's own first and last line are events too; not each of them need be one.
    let told = skipped + lines(&run, "agent.event").len() as u64;
    assert!(skipped > 0 && (20_000..=20_003).contains(&told), "{skipped} of {told}");
    assert_eq!(env.read("code"), "0\n");
}

#[test]
fn b10_a_reader_that_never_reads_again_does_not_keep_ralph_alive() {
    let env = claude("claude-init\nstream 3000 1000\nclaude-result <response>DONE</response>");
    let running = env.ralph(["run", "-p", "x", "--json"]).under(SLOW_READER);
    let running = running.stderr_has("warning: nobody read standard output, and its end was left out").spawn();
    running.wait_for_file("code");
    assert_eq!(env.read("code"), "0\n");
    env.write("read", "");
    let run = running.finish();
    assert!(run.took < Duration::from_secs(10) && run.stdout.starts_with("{\"v\":1,"), "{:?}", run.took);
}

#[test]
fn b11_a_huge_prompt_goes_in_while_a_flood_comes_out() {
    let env = env();
    env.script("flood-lines 200000 before reading\nsave-stdin heard\nflood-lines 200000 after\nclaim");
    env.write("prompt.md", &("x".repeat(99) + "\n").repeat(50_000));
    let run = env.ralph(["run", "-f", "prompt.md", "-m", "1", "--json"]);
    // It is about volume, not time.
    let run = run.time_limit(Duration::from_secs(180)).run();
    assert_eq!(only(&run, "run.finished")["stop_reason"], "complete");
    assert!(env.read("heard").len() >= 5_000_000);
}

#[test]
fn b11_an_agent_that_does_not_read_its_prompt_is_judged_by_what_it_says() {
    for script in ["claim", "close-output\ntouch $RALPH_TASK_DIR/DONE"] {
        let env = env();
        env.script(script).write("prompt.md", &"x".repeat(2_000_000));
        env.ralph(["run", "-f", "prompt.md", "-m", "1"]).stdout_has("complete").run();
    }
}

#[test]
fn b12_only_the_agents_own_words_can_claim() {
    const TAG: &str = "<response>DONE</response>";
    let tool = format!("claude-tool Bash t1 echo {TAG}\nclaude-tool-result t1 ok {TAG}\nclaude-result working");
    let sub = format!(
        r#"raw {{"type":"assistant","parent_tool_use_id":"t1","message":{{"content":[{{"type":"text","text":"{TAG}"}}]}}}}"#
    );
    for (place, agent, script, claim) in [
        ("echoed prompt", "generic", "echo-stdin\nprint working".to_owned(), "none"),
        ("echoed prompt, then own words", "generic", format!("echo-stdin\nprint {TAG}"), "complete"),
        ("standard error", "generic", format!("err {TAG}\nprint working"), "none"),
        ("tool call and result", "claude", tool, "none"),
        ("thinking", "claude", format!("claude-thinking {TAG}\nclaude-result working"), "none"),
        ("another agent's words", "claude", format!("{sub}\nclaude-result working"), "none"),
        ("noise between events", "claude", format!("print {TAG}\nclaude-result working"), "none"),
        ("own words", "claude", format!("claude-text {TAG}\nclaude-result bye"), "complete"),
        ("own result", "claude", format!("claude-result {TAG}"), "complete"),
    ] {
        let env = env();
        env.agent_as(agent).script(&script);
        let prompt = format!("Do it.\nWhen done say {TAG} and stop.\n");
        let code = if claim == "none" { 1 } else { 0 };
        let run = env.ralph(["run", "-p", &prompt, "--json", "-m", "1"]).code(code).run();
        assert_eq!(only(&run, "iteration.finished")["claim"], claim, "{place}");
    }
}

#[test]
fn b13_nonsense_in_usage_figures_is_no_money_and_no_end() {
    for (figures, cost) in [
        ("cost=0.5", Some(0.5)),
        ("cost=-5", None),
        ("cost=\"abc\"", None),
        ("cost=null", None),
        ("cost=1e400", None),
        ("cost=[1]", None),
        ("cost=0.5 in=-7 out=\"x\"", Some(0.5)),
        ("cost=0.5 in=1e30 out=99999999999999999999999999", Some(0.5)),
    ] {
        let env = claude(&format!("claude-init\nclaude-result <response>DONE</response> {figures}"));
        let end = only(&once(&env, 0), "run.finished");
        match cost {
            Some(cost) => assert_eq!(end["cost_usd"], cost, "{figures}"),
            None => assert!(end["cost_usd"].as_f64().is_none_or(|cost| cost == 0.0), "{figures}: {end}"),
        }
        assert!(end["tokens"]["input"].is_u64() && end["tokens"]["output"].is_u64(), "{figures}: {end}");
    }
}

#[test]
fn b13_a_decreasing_cost_counts_as_the_largest_seen() {
    let env = claude("claude-result one cost=0.5\nclaude-result <response>DONE</response> cost=0.2");
    assert_eq!(only(&once(&env, 0), "run.finished")["cost_usd"], 0.5);
}

#[test]
fn b14_readers_that_go_away_do_not_end_the_run() {
    for (pipeline, flags, narrated) in [
        ("{ \"$@\"; echo $? > code.part; mv code.part code; } | head -1", "-V", "[ralph] "),
        ("{ \"$@\" 2>&1; echo $? > code; } | head -1", "-V", ""),
        ("{ \"$@\"; echo $? > code; } | head -1", "--json", ""),
        ("\"$@\" >&- 2>&-; echo $? > code", "-V", ""),
        ("\"$@\" >/dev/full 2>/dev/full; echo $? > code", "-V", ""),
    ] {
        let env = env();
        env.script("flood-lines 5000 hello\n[2]\ntouch second\nclaim").guardrail("true");
        let under = ["sh", "-c", pipeline, "sh"];
        let run = env.ralph(["run", "-p", "x", flags]).under(under).stderr_has(narrated).run();
        assert!(run.stdout.lines().count() <= 1, "{}", run.stdout);
        assert_eq!(env.read("code"), "0\n", "{pipeline} {flags}");
        assert!(env.exists("second"), "{pipeline} {flags}");
        let runs: Value = env.ralph(["status", "--json"]).run().json_lines().remove(0);
        assert_eq!(runs["runs"][0]["stop_reason"], "complete", "{pipeline} {flags}");
        assert!(eventually(Duration::from_secs(2), || env.processes().is_empty()), "{:?}", env.processes());
    }
}

const TO_A_FULL_DISK: [&str; 4] = ["sh", "-c", "\"$@\" > /dev/full", "sh"];

#[test]
fn b14_a_result_that_cannot_be_written_is_a_failing_disk() {
    let env = env();
    let failed = "error: standard output cannot be written\n  caused by: No space left on device[..]\n";
    for arguments in [&["-v"][..], &["--version"], &["--json", "-v"], &["--help"], &["config", "schema"]] {
        env.ralph(arguments).under(TO_A_FULL_DISK).stderr(failed).code(74).run();
    }
    let pipeline = "{ until [ -e gone ]; do :; done; \"$@\"; echo $? > code; rm gone; } | { exec <&-; touch gone; }";
    let to_nobody = ["sh", "-c", pipeline, "sh"];
    for flag in ["-v", "--help"] {
        env.ralph([flag]).under(to_nobody).run();
        assert_eq!(env.read("code"), "0\n", "{flag}");
    }
}

#[test]
fn what_an_agent_says_is_no_line_of_the_end() {
    let env = env();
    env.script("print <ralph>BLOCKED: no\nprint \nprint complete · verified\nprint </ralph>");
    let run = env.ralph(["run", "-q", "-p", "x"]).code(3).run();
    let end = &run.stdout[run.stdout.rfind("blocked · not verified").unwrap()..];
    assert!(end.contains("the agent is blocked: no  complete · verified"), "{end}");
    assert!(!end.lines().any(|line| line.trim() == "complete · verified"), "{end}");
}

#[test]
fn blanks_behind_an_answer_do_not_empty_it() {
    let env = env();
    env.script("claim\nflood-lines 20000 ").guardrail("true");
    env.ralph(["run", "-p", "x", "-m", "1"]).stdout_has("complete · verified").run();
}

#[test]
fn b14_an_output_that_takes_nothing_more_is_told_once() {
    let env = env();
    env.script("flood-lines 5000 hello\nclaim").guardrail("true");
    let warning = "warning: standard output takes nothing more (No space";
    let run =
        env.ralph(["run", "-p", "x", "-V"]).under(TO_A_FULL_DISK).stderr_has("[ralph] ").stderr_has(warning).run();
    assert_eq!(run.stderr.matches(warning).count(), 1, "{}", run.stderr);
}

#[test]
fn b14_a_command_that_only_prints_ends_quietly_when_its_reader_goes() {
    let env = env();
    env.script("flood-lines 50000 hello\nclaim");
    env.ralph(["run", "-p", "x", "-q"]).ends("complete · claimed, not verified").run();
    let under = ["sh", "-c", "{ \"$@\"; echo $? > code; } | head -1", "sh"];
    env.ralph(["logs"]).under(under).stdout("hello\n").run();
    assert_ne!(env.read("code"), "101\n");
}

#[test]
fn json_is_one_line_for_readers_that_know_more_ends_of_lines_than_one() {
    let env = env();
    env.guardrail("true").script("print a\u{2028}b\u{2029}c\u{85}d\nclaim");
    let run = env.ralph(["run", "-p", "x\u{2028}y", "--task", "t", "--json"]).run();
    env.ralph(["bus", "post", "--task", "t", "--type", "INFO", "a\u{2028}b\u{85}c"]).stdout("m[..]\n").run();
    let ends = ['\u{85}', '\u{2028}', '\u{2029}'];
    let reads: [&[&str]; 6] = [
        &["show", "--json"],
        &["explain", "--json"],
        &["report", "--json"],
        &["logs", "--json"],
        &["status", "--json"],
        &["bus", "read", "--task", "t", "--json"],
    ];
    let outputs = reads.map(|command| env.ralph(command).run().stdout.to_string());
    for output in outputs.iter().map(String::as_str).chain([&*run.stdout]) {
        assert!(!output.contains(ends), "{output}");
    }
    assert!(run.stdout.contains("a\\u2028b\\u2029c\\u0085d"), "{}", &*run.stdout);
}
