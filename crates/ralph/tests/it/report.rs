//! Reports and explanations: what a person reads in the morning, and a program at any time.

use crate::env;
use crate::story::{newest, runs};
use ralph_testkit::TestEnv;
use serde_json::{Value, json};
use std::time::Duration;

/// Claude Code with a price: the first iteration does nothing, the second does the work and claims.
fn priced() -> TestEnv {
    let env = env();
    env.agent_as("claude").guardrail("test -f built");
    env.script(concat!(
        "claude-init\n[1]\nclaude-text not yet\nclaude-result not yet cost=0.25 in=8000 out=240\n",
        "[2]\nfile built yes\nclaude-text done\nclaude-result <response>DONE</response> cost=0.50 in=9000 out=300\n",
    ));
    env
}

fn explained(env: &TestEnv) -> Value {
    let told = env.ralph(["explain", "--json"]).run().json_lines().remove(0);
    let conditions = told["conditions"].as_array().unwrap();
    let open = told["state"] == "running" || told["stop_reason"] == "complete";
    let lacking = conditions.iter().filter(|condition| !open && !condition["needed"].is_null());
    let lacking: Vec<&Value> = lacking.map(|condition| &condition["name"]).collect();
    assert_eq!(told["missing"].as_array().unwrap().iter().collect::<Vec<_>>(), lacking, "{told}");
    told
}

/// Sentences about what was missing.
fn needed(explained: &Value) -> Vec<&str> {
    let conditions = explained["conditions"].as_array().unwrap();
    conditions.iter().filter_map(|condition| condition["needed"].as_str()).collect()
}

#[test]
fn a_report_has_the_whole_run_in_every_format() {
    let env = priced();
    env.ralph(["run", "-p", "build | it", "--task", "t"]).ends("complete · verified").run();
    let id = newest(&env);
    let markdown = env.ralph(["report"]).run().stdout;
    for part in [
        &format!("# Run {id}: complete · verified\n"),
        "```text\nbuild | it\n```",
        "- **verified**: ✓ yes",
        "- **iterations**: 2 of 10",
        "- **cost**: \\$0.75",
        "- **tokens**: 17K in (1K cached) / 540 out",
        "| the agent claimed completion | ✓ yes |",
        "| guardrail \"test -f built\" | ✓ yes | passed (",
        "| no claim | goes on | ✗ 1 failed, 0 passed | \\$0.25 | 8K in (500 cached) / 240 out | 0 | guardrail \"test -f built\" failed",
        "| said it was done | ✓ accepted | ✓ 1 passed | \\$0.50 | 9K in (500 cached) / 300 out | 0 |",
        "Cost so far:\n\n```text\n1 █████████████▍ $0.25\n2 ████████████████████████████████████████ $0.75\n```",
        "Failing checks per iteration:\n\n```text\n1 ████████████████████████████████████████ 1\n2  0\n```",
        "| iteration | `test -f built` |",
        "| `.ralph/guardrail_002_test_f_built.log` |",
    ] {
        assert!(markdown.contains(part), "{part}\n{markdown}");
    }
    let plain = env.ralph(["report", &id, "--plain"]).run().stdout;
    assert!(plain.contains("1 ############## $0.25\n") && !plain.contains(['█', '✓']), "{plain}");
    let page = env.ralph(["report", &id[..5], "--html"]).run().stdout;
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg") && page.contains("$0.75"), "{page}");
    for outside in ["<script", "http://", "https://", "url(", "@import", " src=", " href="] {
        assert!(!page.contains(outside), "{outside}: {page}");
    }
    let report = env.ralph(["report", "--json"]).run().json_lines().remove(0);
    let results: Vec<&Value> =
        report["checks"][0]["iterations"].as_array().unwrap().iter().map(|one| &one["result"]).collect();
    assert_eq!(results, ["failed", "passed"]);
    assert_eq!((&report["stop_reason"], &report["asked"]), (&json!("complete"), &json!("build | it")));
    let pinned = &report["config_hash"];
    assert!(pinned.as_str().is_some_and(|hash| hash.len() == 64), "{report}");
    for receipt in report["receipts"].as_array().unwrap() {
        assert_eq!(&receipt["config_hash"], pinned);
    }
    let short = &pinned.as_str().unwrap()[..8];
    for arguments in [&["show", &format!("{id}/2")][..], &["explain"], &["report"]] {
        let shown = env.ralph(arguments).stdout_has("settings").run().stdout;
        assert!(shown.contains(short) && shown.contains("exit code"), "{shown}");
    }
}

#[test]
fn a_report_is_written_whole_or_not_at_all() {
    let env = env();
    env.script("claim").write("notes.md", "mine").write("folder/keep", "");
    env.ralph(["run", "-p", "x"]).ends("complete · claimed, not verified").run();
    env.ralph(["report", "-o", "notes.md"]).stderr_has("report on run [..] in [PROJECT]/notes.md").run();
    assert!(env.read("notes.md").starts_with("# Run "));
    let quiet = env.ralph(["-C", "folder", "report", "-q", "--html", "-o", "run.html"]);
    quiet.run();
    assert!(env.read("folder/run.html").ends_with("</html>\n"));
    for (file, problem) in
        [("folder", "it exists and is no file"), ("nowhere/x.md", "No such file"), ("/dev/null", "no file")]
    {
        env.ralph(["report", "-o", file])
            .stderr_has(&format!("error: the report cannot be written to [..]{file}"))
            .stderr_has(problem)
            .stderr_has("hint: ")
            .code(74)
            .run();
    }
    let left: Vec<_> = std::fs::read_dir(env.path("folder")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    env.ralph(["report", "--html", "--json"]).stderr_has("error: [..] cannot be used with").code(2).run();
}

#[test]
fn a_run_that_goes_on_or_crashed_has_its_report() {
    let env = env();
    env.script("pidfile $HOME/agent\nprint thinking\nsleep forever").guardrail("true");
    let run = env.ralph(["run", "-p", "x"]).killed_by(9).spawn();
    run.wait_for_stdout("thinking");
    run.wait_for_file(env.home().join("agent"));
    env.ralph(["report"])
        .stdout_has(": running\n")
        .stdout_has("- **verified**: ? not yet: it is running")
        .stdout_has("- **now**: the agent of iteration 1")
        .stdout_lacks("To be complete")
        .run();
    run.crash();
    env.ralph(["report"])
        .stdout_has(": crashed\n")
        .stdout_has("- **in flight**: the agent of iteration 1")
        .stdout_has("the agent of iteration 1 had not come to its end")
        .stdout_has("- `ralph resume ")
        .run();
    env.ralph(["report", "--html"]).stdout_has("crashed").run();
    let told = explained(&env);
    assert!(needed(&told).contains(&"`true` would have had to run to its end in iteration 1 and exit 0"), "{told}");
}

#[test]
fn what_agents_write_stays_text_in_a_report() {
    let nasty = "</pre><script>alert(1)</script> | `x` \u{1b}[31m @somebody";
    let env = env();
    env.script(&format!("print <ralph>BLOCKED: {nasty}</ralph>\n").replace('\u{1b}', "\\e"));
    env.guardrail("echo 'a | b' '<b>'; false");
    env.ralph(["run", "-p", nasty]).ends("blocked").code(3).run();
    let page = env.ralph(["report", "--html"]).run().stdout;
    assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains('\u{1b}'), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; | `x`"), "{page}");
    let text = env.ralph(["report"]).run().stdout;
    assert!(text.contains("the agent is blocked: \\</pre\\>\\<script\\>alert(1)\\</script\\> \\| \\`x\\`"), "{text}");
    assert!(text.contains("@<!-- -->somebody") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn hundreds_of_iterations_stay_readable() {
    let env = env();
    env.script("print no").guardrail("false").settings(json!({ "loop": { "maxConsecutiveFailures": 0 } }));
    env.ralph(["run", "-p", "x", "-m", "120", "-q"])
        .ends("max-iterations")
        .code(1)
        .time_limit(Duration::from_secs(120))
        .run();
    let text = env.ralph(["report"]).run().stdout;
    assert!(text.contains("| … 80 left out |") && text.contains("| 10 |") && text.contains("| 91 |"), "{text}");
    assert!(!text.contains("| 11 |") && text.lines().count() < 400, "{}", text.lines().count());
    assert!(text.contains("118-120 █"), "{text}");
    let page = env.ralph(["report", "--html"]).run().stdout;
    assert!(page.contains("<summary>120 rows</summary>") && page.contains("<td>57</td>"), "{}", page.len());
    let report = env.ralph(["report", "--json"]).run().json_lines().remove(0);
    assert_eq!(report["iterations"].as_array().unwrap().len(), 120);
}

#[test]
fn waits_for_a_limit_are_told() {
    let env = env();
    let reset = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() + 7200;
    env.agent_as("claude").guardrail("true");
    env.script(&format!("claude-limit {reset}\nclaude-result You've hit your limit error status=429\nexit 1\n"));
    let run = env.ralph(["run", "-p", "x", "--max-wall-time", "1s"]).ends("max-wall-time").code(4);
    let run = run.stderr_has("✗ agent: You've hit your limit").stderr_has("will be repeated, not counted");
    let run = run.stderr_has("note: the wall time of 1.0s will end this run before the wait is over").spawn();
    run.wait_for_stderr("waiting until ");
    let meanwhile = env.ralph(["report", "--json"]).run().json_lines().remove(0);
    run.finish();
    let so_far = meanwhile["waits"][0]["waited_ms"].as_u64();
    assert!(so_far.is_some_and(|so_far| so_far < 60_000) && meanwhile["waited_ms"] == so_far.unwrap(), "{meanwhile}");
    let text =
        env.ralph(["report"]).stdout_has("## Waits\n\n| iteration | began | until | waited | for what |").run().stdout;
    assert!(text.contains("You've hit your limit |") && text.contains("- **waited**: "), "{text}");
    let report = env.ralph(["report", "--json"]).run().json_lines().remove(0);
    let waited = report["waits"][0]["waited_ms"].as_u64().unwrap();
    assert!(waited > 0 && waited < 60_000 && report["waited_ms"] == waited, "{report}");
    let told = explained(&env);
    assert!(told["grounds"][0].as_str().unwrap().contains("used of 1.0s: agents "), "{told}");
}

#[test]
fn every_end_is_explained_with_what_would_have_had_to_be_true() {
    struct Case {
        script: &'static str,
        settings: Value,
        arguments: &'static [&'static str],
        reason: &'static str,
        grounds: &'static str,
        needed: &'static str,
    }
    let case = |script, settings, arguments, reason, grounds, needed| Case {
        script,
        settings,
        arguments,
        reason,
        grounds,
        needed,
    };
    let guardrail = |command: &str| json!({ "guardrails": [{ "command": command }] });
    let cases = [
        case(
            "claim",
            guardrail("true"),
            &[][..],
            "complete",
            "iteration 1 claimed completion, and 1 check passed on the tree ",
            "",
        ),
        case("claim", json!({}), &[], "complete", "and no command was executed to check it", ""),
        case(
            "claim",
            guardrail("exit 2"),
            &["-m", "2"],
            "max-iterations",
            "completion was claimed in 2 iterations and not accepted",
            "`exit 2` would have had to exit 0 on the tree ",
        ),
        case(
            "claim",
            guardrail("exit 2"),
            &["-m", "2"],
            "max-iterations",
            "`exit 2` failed in 2 of 2 iterations",
            "it failed with exit code 2 in iteration 2 (log .ralph/guardrail_002_exit_2.log)",
        ),
        case(
            "claim",
            json!({ "guardrails": [{ "command": "exit 2" }, { "command": "exit 2" }] }),
            &["-m", "2"],
            "max-iterations",
            "`exit 2` failed in 2 of 2 iterations",
            "it failed with exit code 2 in iteration 2 (log .ralph/guardrail_002_exit_2.log)",
        ),
        case(
            "claim",
            guardrail("no-such-program"),
            &["-m", "1"],
            "max-iterations",
            "0 of 1 check passed; failing: `no-such-program`",
            "it could not run: command not found (exit code 127) in iteration 1",
        ),
        case(
            "print no",
            guardrail("true"),
            &["-m", "1", "--task", "t"],
            "max-iterations",
            "completion was never claimed",
            "the agent would have had to claim completion: <response>DONE</response> in its own text, or a file DONE in .ralph/tasks/t",
        ),
        case(
            "print I need\nprint <ralph>BLOCKED: a key</ralph>",
            guardrail("true"),
            &[],
            "blocked",
            "the agent's last words: I need / <ralph>BLOCKED: a key</ralph>",
            "instead it said that it is blocked: a key",
        ),
        case(
            "err no luck\nexit 3",
            json!({}),
            &[],
            "error",
            "iteration 3, scripted-agent: the agent exited with code 3: no luck",
            "the agent would have had to end without a failure; iteration 3: the agent exited with code 3",
        ),
        case(
            "err no luck\nexit 3",
            json!({}),
            &[],
            "error",
            "its standard error ended with: no luck",
            "the agent would have had to claim completion",
        ),
        case(
            "claim",
            guardrail("true"),
            &["--once", "--strict"],
            "single-pass",
            "in iteration 1, the last that was judged, 1 of 4 checks passed; failing: tests, lint, typecheck",
            "tests would have had to be seen passing in the agent's own tool runs: no test command was seen",
        ),
        case(
            "sleep forever",
            guardrail("true"),
            &["--max-wall-time", "1s"],
            "max-wall-time",
            "used of 1.0s: agents ",
            "the agent would have had to end without a failure; iteration 1: stopped by ralph",
        ),
        case(
            "print no",
            json!({ "loop": { "stallAfter": 2 }, "guardrails": [{ "command": "false" }] }),
            &[],
            "stalled",
            "the files were the same after iterations 1 to 2: tree ",
            "`false` would have had to exit 0",
        ),
    ];
    for Case { script, settings, arguments, reason, grounds, needed } in cases {
        println!("{script:?} with {settings} and {arguments:?}");
        let env = env();
        env.script(script).settings(settings);
        let run = arguments.iter().fold(env.ralph(["run", "-q", "-p", "x"]), |run, argument| run.arg(argument));
        run.ends(reason).any_end().run();
        assert_eq!(runs(&env)[0]["stop_reason"], reason);
        let told = explained(&env);
        let has = |list: &[&str], part: &str| list.iter().any(|sentence| sentence.contains(part));
        let came: Vec<&str> = told["grounds"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(has(&came, grounds), "{came:?}");
        assert!(needed.is_empty() || has(&self::needed(&told), needed), "{:?}", self::needed(&told));
        let shown = env.ralph(["explain"]).run().stdout;
        assert!(shown.contains(grounds), "{shown}");
        assert_eq!(shown.contains("to be complete\n  - "), !needed.is_empty(), "{shown}");
        assert!(needed.is_empty() || shown.contains(needed), "{shown}");
    }
}

#[test]
fn a_budget_is_explained_by_what_used_it() {
    let env = priced();
    env.guardrail("false");
    env.ralph(["run", "-p", "x", "--max-cost", "0.5"]).ends("budget").code(4).run();
    let told = explained(&env);
    assert_eq!(told["grounds"][0], "$0.75 of $0.50 spent in 2 iterations; most in iteration 2: $0.50", "{told}");
}

#[test]
fn a_stopped_run_is_explained_by_what_was_cut() {
    let env = env();
    env.script("pidfile $HOME/agent\nwait-file $HOME/go\nclaim").guardrail("true");
    let run = env.ralph(["run", "-p", "x"]).ends("interrupted").code(130).spawn();
    run.wait_for_file(env.home().join("agent"));
    run.signal(2);
    run.wait_for_stderr("shutting down");
    std::fs::write(env.home().join("go"), "").unwrap();
    run.finish();
    let told = explained(&env);
    assert_eq!(
        told["grounds"][0], "the agent of iteration 1 had ended (said it was done), and was not judged yet",
        "{told}"
    );
    assert!(needed(&told).contains(&"`true` would have had to run to its end in iteration 1 and exit 0"), "{told}");

    env.script("pidfile $HOME/second\nsleep forever");
    let run = env.ralph(["run", "-p", "y"]).ends("cancelled").stderr_has("stopping now").code(130).spawn();
    run.wait_for_file(env.home().join("second"));
    env.ralph(["cancel"]).stdout("run [..] · cancelled · [..]\n").run();
    run.finish();
    let told = explained(&env);
    assert_eq!(told["stop_reason"], "cancelled");
    assert_eq!(told["grounds"][0], "the agent of iteration 1 was ended before it had finished", "{told}");
}

#[test]
fn every_check_has_its_column_whatever_it_is() {
    let env = env();
    env.script("claim");
    let commands = ["true", "false", "true", "no-such-program", "sleep 60"];
    let rules = commands.map(|command| json!({ "command": command, "timeoutMs": 300 }));
    env.settings(json!({ "guardrails": rules, "loop": { "stopCriteria": { "requirePassingTests": true } } }));
    env.ralph(["run", "-q", "-p", "x", "-m", "1"]).ends("max-iterations").code(1).run();
    let report = env.ralph(["report", "--json"]).run().json_lines().remove(0);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let columns: Vec<(String, String, String)> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| (text(&check["check"]), text(&check["name"]), text(&check["iterations"][0]["result"])))
        .collect();
    let expected = [
        ("guardrail", "true", "passed"),
        ("guardrail", "false", "failed"),
        ("guardrail", "true", "passed"),
        ("guardrail", "no-such-program", "could-not-run"),
        ("guardrail", "sleep 60", "could-not-run"),
        ("evidence", "tests", "failed"),
    ];
    assert_eq!(columns, expected.map(|(kind, name, result)| (kind.to_owned(), name.to_owned(), result.to_owned())));
    env.ralph(["report"])
        .stdout_has("| iteration | `true` | `false` | `true` | `no-such-program` | `sleep 60` | `evidence: tests` |\n")
        .stdout_has("| 1 | ✓ [..] | ✗ [..] | ✓ [..] | ? [..] | ? [..] | ✗ [..] |\n")
        .run();
}

/// A project whose check is a script, and that protects a file.
fn judged_by_a_script(script: &str) -> TestEnv {
    let env = env();
    env.write("check.sh", "grep -q done work.txt\n").write("tests/a.txt", "much\n").write("work.txt", "");
    env.git(["add", "."]);
    env.git(["commit", "--quiet", "-m", "Rules"]);
    env.guardrail("sh check.sh").script(script).settings(json!({ "protect": { "paths": ["tests/**"] } }));
    env
}

#[test]
fn protected_files_and_scripts_are_conditions_like_others() {
    let env = judged_by_a_script("[1]\nfile tests/a.txt little\nclaim\n[2]\nfile check.sh exit 0\nclaim");
    env.live();
    env.ralph(["run", "-q", "-p", "x", "-m", "2"]).ends("max-iterations").code(1).run();
    let told = explained(&env);
    let missing = needed(&told);
    assert!(
        missing.contains(
            &"the protected files would have had to be as they were at the start: check.sh was changed, \
              tests/a.txt was changed"
        ),
        "{missing:?}"
    );
    assert!(
        missing.contains(
            &"`sh check.sh` would have had to run to its end in iteration 2 and exit 0; it could not run: its script \
              check.sh was changed, so it was not executed"
        ),
        "{missing:?}"
    );
    env.ralph(["report"])
        .stdout_has(
            "| iteration | `sh check.sh` | `protected: files` |\n|---|---|---|\n| 1 | ✗ [..] | ✗ 0ms |\n| 2 | ? 0ms | ✗ 0ms |\n",
        )
        .run();
}

#[test]
fn checks_before_the_first_iteration_and_of_the_commit_alone_are_told_apart() {
    let env = judged_by_a_script("print no");
    env.settings(json!({ "verify": { "baseline": true, "cleanCheckout": true } }));
    env.ralph(["run", "-q", "-p", "x", "-m", "1"]).ends("max-iterations").code(1).run();
    let head = env.git(["rev-parse", "HEAD"]);
    let told = explained(&env);
    let sentence = needed(&told).into_iter().find(|sentence| sentence.starts_with("`sh check.sh`")).unwrap();
    assert!(sentence.contains(&format!(", in a clean checkout of {}; it failed", &head[..8])), "{sentence}");
    assert!(sentence.ends_with("; it failed before the first iteration too"), "{sentence}");
    env.ralph(["report"])
        .stdout_has("\n| before the first | ✗ [..] | – | – |\n| 1 | ✗ [..] | ✓ 0ms | ✓ 0ms |\n")
        .stdout_has("| `.ralph/guardrail_000_sh_check_sh.log` |")
        .run();
    let report = env.ralph(["report", "--json"]).run().json_lines().remove(0);
    let grounds: Vec<&Value> =
        report["receipts"].as_array().unwrap().iter().map(|receipt| &receipt["ground"]).collect();
    assert_eq!(grounds, ["project", "checkout"]);
}
