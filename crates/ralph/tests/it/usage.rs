//! What a user does with ralph, and what comes of it.

use crate::env;
use crate::story::{iterations, judged, launches, newest, runs, story};
use ralph_testkit::{TestEnv, eventually};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(5);

/// Two iterations: the first does nothing, the second does the work and claims.
fn two_iterations() -> TestEnv {
    let env = env();
    env.script("append $HOME/launches 1\\n\n[1]\nprint not yet\n[2]\nfile built yes\nclaim\n")
        .guardrail("test -f built");
    env
}

/// The task's folder of a run with `--task t`.
const TASK: &str = ".ralph/tasks/t";

#[test]
fn a_happy_run_is_complete_and_verified() {
    let env = two_iterations();
    env.ralph(["run", "-p", "build it"])
        .stdout(
            "not yet\n<response>DONE</response>\n\ncomplete · verified\n  complete and verified after 2 iterations\n  \
             run [..] · 2 iterations · [..]\n  next: ralph show [..]\n",
        )
        .stderr(
            "ralph [..] · project project · run [..] · agent [..]scripted-agent · task prompt-08cf56f9\n\
             limits: 10 iterations, 1h00m · checks: test -f built\n\
             judges: 0 files and [..] programs are pinned (ralph judges)\n\
             iteration 1/10\n  \
             ✗ guardrail test -f built failed with exit code 1 ([..]) · APPEND to the next prompt\n      \
             all of it: .ralph/guardrail_001_test_f_built.log\n\
             iteration 1/10 · goes on · [..]\n  \
             - guardrail \"test -f built\" failed with exit code 1 (see .ralph/guardrail_001_test_f_built.log)\n\
             iteration 2/10\n  \
             ✓ guardrail test -f built passed ([..])\n\
             iteration 2/10 · said it was done · accepted · [..]\n",
        )
        .run();
    assert!(eventually(SOON, || env.processes().is_empty()));
}

#[test]
fn every_end_has_its_code_its_word_and_the_next_command() {
    struct Case {
        script: &'static str,
        guardrail: Option<&'static str>,
        arguments: &'static [&'static str],
        code: i32,
        said: &'static str,
        next: &'static str,
    }
    let case = |script, guardrail, arguments, code, said, next| Case { script, guardrail, arguments, code, said, next };
    let cases = [
        case("claim", Some("true"), &[][..], 0, "complete · verified", "ralph show"),
        case(
            "claim",
            None,
            &[],
            0,
            "claimed, not verified, after 1 iteration: no check was configured",
            "ralph explain",
        ),
        case("print <ralph>COMPLETE</ralph>", Some("true"), &[], 0, "complete · verified", "ralph show"),
        case("print <response> ok </response>", Some("true"), &["-c", "OK"], 0, "complete · verified", "ralph show"),
        case("print no", Some("true"), &["-m", "2"], 1, "2 iterations used up", "ralph resume [..] -m 4"),
        case("claim", Some("false"), &["-m", "2"], 1, "2 iterations used up", "ralph resume [..] -m 4"),
        case(
            "print <ralph>BLOCKED: which\\nkey?</ralph>",
            None,
            &[],
            3,
            "the agent is blocked: which",
            "&& ralph resume",
        ),
        case(
            "claim\nprint <ralph>BLOCKED: no</ralph>",
            Some("true"),
            &[],
            3,
            "the agent is blocked: no",
            "&& ralph resume",
        ),
        case(
            "exit 3",
            None,
            &[],
            5,
            "the agent failed 3 times in a row: the agent exited with code 3",
            "ralph explain",
        ),
        case("print no", Some("true"), &["--once"], 0, "single pass: completion was not claimed", "ralph show"),
        case("print no", Some("false"), &["--once"], 1, "single pass: guardrail \"false\" failed", "ralph explain"),
        case("claim", Some("true"), &["--once"], 0, "complete · verified", "ralph show"),
        case(
            "claim\nexit 3",
            Some("true"),
            &["--once"],
            1,
            "single pass: the agent exited with code 3",
            "ralph explain",
        ),
        case("claim", Some("true"), &["--once", "--strict"], 1, "single pass: ", "ralph explain"),
    ];
    for Case { script, guardrail, arguments, code, said, next } in cases {
        println!("{script:?} with {guardrail:?} and {arguments:?}");
        let env = env();
        env.script(script);
        guardrail.map(|command| env.guardrail(command));
        let run = arguments.iter().fold(env.ralph(["run", "-q", "-p", "x"]), |run, argument| run.arg(argument));
        run.stdout_has(said).stdout_has(&format!("next: [..]{next}")).code(code).run();
        assert_eq!(runs(&env)[0]["exit_code"], code);
    }
}

#[test]
fn a_single_pass_can_be_the_rule_for_all_or_for_one_task() {
    let env = env();
    env.script("print no").settings(
        json!({ "maximumIterations": 2, "loop": { "enabled": false }, "tasks": { "t": { "enabled": true } } }),
    );
    env.ralph(["run", "-p", "x"]).stdout_has("single pass").run();
    env.ralph(["run", "-p", "x", "--task", "t"]).stdout_has("2 iterations used up").code(1).run();
    env.ralph(["run", "-p", "x", "--task", "t", "--once"]).stdout_has("single pass").run();
}

#[test]
fn nothing_that_changes_is_a_stall() {
    let env = env();
    env.settings(json!({ "loop": { "stallAfter": 2 } })).guardrail("test -f built");
    env.script("append $HOME/launches 1\\n\nprint no\n[1]\nfile first.txt x\n");
    env.ralph(["run", "-p", "x"])
        .stdout_has("stalled · not verified\n  nothing changed in 2 iterations; still failing: test -f built")
        .stdout_has(
            "next: echo 'your answer' >> '[PROJECT]/.ralph/tasks/prompt-2d711642/ralph-feedback.md' && ralph resume",
        )
        .code(7)
        .run();
    assert_eq!(launches(&env).len(), 3, "the first changed something");
}

#[test]
fn a_done_file_is_a_claim_like_any_other_and_goes_when_it_was_false() {
    let env = env();
    env.guardrail("test -f built").script("[1]\ntouch $RALPH_TASK_DIR/DONE\nprint so\n[2]\nrun ls $RALPH_TASK_DIR\nfile built yes\ntouch $TASK_FOLDER/DONE\n");
    env.ralph(["run", "-p", "x", "--task", "t"])
        .stdout_lacks("DONE")
        .stdout_has("complete · verified")
        .stderr_has("iteration 1/10 · said it was done · rejected: test -f built failed")
        .run();
    assert!(env.exists(format!("{TASK}/DONE")), "what was judged true stays");
}

#[test]
fn c09_a_done_file_left_by_an_old_run_is_nobodys_claim() {
    let env = env();
    env.guardrail("true").script("print not yet\n[2]\nclaim\n").write(format!("{TASK}/DONE"), "");
    env.ralph(["run", "-p", "x", "--task", "t"])
        .stdout_has("complete and verified after 2 iterations")
        .stderr_has("a DONE file left from earlier was removed")
        .run();
}

#[test]
fn c08_a_done_that_is_no_file_is_an_error_and_no_completion() {
    for (make, kind) in [
        ("mkdir $RALPH_TASK_DIR/DONE", "directory"),
        ("symlink /etc/passwd $RALPH_TASK_DIR/DONE", "symbolic link"),
        ("fifo $RALPH_TASK_DIR/DONE", "named pipe"),
    ] {
        let env = env();
        env.guardrail("true")
            .script(&format!("append $HOME/launches 1\\n\nprint x\nonce $HOME/made {make}\n[2]\nclaim\n"));
        env.ralph(["run", "-p", "x", "--task", "t"])
            .stdout_has(&format!("{TASK}/DONE is a {kind}, not a file; remove it and resume"))
            .code(2)
            .run();
        let done = env.path(format!("{TASK}/DONE"));
        std::fs::remove_file(&done).or_else(|_| std::fs::remove_dir(&done)).unwrap();
        env.ralph(["resume"]).stdout_has("complete · verified").run();
        assert_eq!(launches(&env).len(), 2, "the first agent is not started again");
    }
}

#[test]
fn the_exact_prompts_are_kept() {
    let env = env();
    env.settings(json!({ "includeIterationCountInPrompt": true, "maximumIterations": 2 }));
    env.script("save-stdin $HOME/prompt\nprint the parser is half done").guardrail("echo no parser; exit 3");
    env.ralph(["run", "-p", "build it", "--task", "t"]).ends("max-iterations").code(1).run();
    let first = env.read(".ralph/prompt_001.txt");
    assert!(first.starts_with("Iteration 1 of 2, 1 remaining.\n\nbuild it\n\n## Completion protocol\n\n"), "{first}");
    let second = env.read(".ralph/prompt_002.txt");
    let task = "Iteration 2 of 2, 0 remaining.\n\n## Task\n\nbuild it\n\n\
                Guardrail \"echo no parser; exit 3\" failed with exit code 3.\n\
                Output file: .ralph/guardrail_001_echo_no_parser_exit_3.log\n\
                Output (truncated):\nno parser\n";
    assert!(second.starts_with(task), "{second}");
    let summary = "\n\n## Ralph Summary\n\n# Ralph Loop Summary\n\n## Objective\nbuild it\n\n## Iteration 1\n";
    assert!(second.contains(summary), "{second}");
    let order =
        ["## Task", "## Ralph Summary", "the parser is half done", "## Ralph Feedback", "## Completion protocol"];
    let places: Vec<usize> =
        order.iter().map(|part| second.find(part).unwrap_or_else(|| panic!("{part}: {second}"))).collect();
    assert!(places.is_sorted(), "{second}");
    assert_eq!(second, env.read(env.home().join("prompt")), "what is kept is what was given");
    assert!(!second.contains("<response>"), "the protocol itself claims nothing");
}

#[test]
fn a_failed_guardrail_is_told_as_its_action_says() {
    let message = |name: &str| format!("Guardrail \"{name}\" failed with exit code 1.");
    for (actions, order) in [
        (&["APPEND"][..], &["the base text", "false"][..]),
        (&["PREPEND"], &["false", "the base text"]),
        (&["REPLACE"], &["false"]),
        (&["APPEND", "PREPEND"], &["! true", "the base text", "false"]),
        (&["APPEND", "REPLACE", "APPEND"], &["! true", "! :"]),
    ] {
        let env = env();
        let commands = ["false", "! true", "! :"];
        let guardrails: Vec<Value> = actions
            .iter()
            .zip(commands)
            .map(|(action, command)| json!({ "command": command, "failAction": action, "hint": "Mind this." }))
            .collect();
        env.settings(
            json!({ "guardrails": guardrails, "memory": { "enabled": false }, "loop": { "promptProtocol": false } }),
        );
        env.script("print x");
        env.ralph(["run", "-p", "the base text", "-m", "2"]).ends("max-iterations").code(1).run();
        let prompt = env.read(".ralph/prompt_002.txt");
        let place = |part: &str| {
            let wanted = if commands.contains(&part) { message(part) } else { part.to_owned() };
            prompt.find(&wanted).unwrap_or_else(|| panic!("{wanted} is missing from {prompt}"))
        };
        assert!(order.iter().map(|part| place(part)).collect::<Vec<_>>().is_sorted(), "{actions:?}: {prompt}");
        let told = commands.iter().filter(|command| prompt.contains(&message(command))).count();
        let expected = order.iter().filter(|part| commands.contains(part)).count();
        assert_eq!(told, expected, "{actions:?}: {prompt}");
        assert!(prompt.contains("Mind this."), "{prompt}");
        assert_eq!(prompt.contains("the base text"), order.contains(&"the base text"), "{prompt}");
    }
}

#[test]
fn guardrail_logs_hold_everything_under_seed_names() {
    let env = env();
    env.settings(json!({ "outputTruncateChars": 5 })).script("print x");
    env.guardrail("echo one; echo two >&2; exit 1").guardrail("echo one; echo two >&2;  exit 1").guardrail("true");
    env.ralph(["run", "-p", "x", "-m", "2"]).ends("max-iterations").code(1).run();
    assert_eq!(env.read(".ralph/guardrail_001_echo_one_echo_two_2_exit_1.log"), "one\ntwo\n");
    assert_eq!(env.read(".ralph/guardrail_001_echo_one_echo_two_2_exit_1_1.log"), "one\ntwo\n");
    assert!(env.exists(".ralph/guardrail_002_true.log"));
    let prompt = env.read(".ralph/prompt_002.txt");
    assert!(prompt.contains("one\nt... [truncated]"), "{prompt}");
}

#[test]
fn memory_files_have_the_seeds_layout() {
    let env = two_iterations();
    env.ralph(["run", "-p", "build it", "--task", "t"]).ends("complete · verified").run();
    let summary = env.read(format!("{TASK}/ralph-summary.md"));
    let parts = [
        "# Ralph Loop Summary\n\n## Objective\nbuild it\n\n## Iteration 2\n",
        "Stop candidate: complete\nCompletion marker: matched\n",
        "## Previous Summary\n## Iteration 1\n",
    ];
    let places: Vec<Option<usize>> = parts.iter().map(|part| summary.find(part)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{summary}");
    let state: Value = serde_json::from_str(&env.read(format!("{TASK}/ralph-iteration.json"))).unwrap();
    assert_eq!(
        (&state["taskId"], &state["iteration"], &state["stopReason"]),
        (&json!("t"), &json!(2), &json!("complete"))
    );
    assert!(state["startedAt"].is_u64() && state["updatedAt"].is_u64() && state["errors"].is_array(), "{state}");
    assert!(env.exists(format!("{TASK}/ralph-feedback.md")));
    assert_eq!(env.git(["status", "--porcelain"]), "?? .ralph/\n?? built\n", "git is told to leave ralph's own alone");
    assert_eq!(env.read(".ralph/.gitignore").lines().next_back(), Some("!settings.json"));
}

#[test]
fn what_a_person_writes_into_the_feedback_is_carried_once() {
    let env = env();
    env.guardrail("true").script("print no");
    env.ralph(["run", "-p", "x", "--task", "t", "-m", "1"]).ends("max-iterations").code(1).run();
    let file = format!("{TASK}/ralph-feedback.md");
    let written = env.read(&file) + "Use tabs, please.\n";
    env.write(&file, &written);
    env.ralph(["resume", "-m", "3"]).ends("max-iterations").code(1).run();
    assert!(env.read(".ralph/prompt_002.txt").contains("Use tabs, please."));
    assert!(!env.read(".ralph/prompt_003.txt").contains("Use tabs, please."));
    assert!(!env.read(&file).contains("Use tabs, please."), "seen, so used up");
}

#[test]
fn a_prompt_file_is_read_again_for_every_iteration() {
    let env = env();
    env.write("PROMPT.md", "first words\n")
        .guardrail("true")
        .script("[1]\nfile PROMPT.md other words\nprint x\n[2]\nclaim\n");
    env.ralph(["run", "-f", "PROMPT.md"]).stdout_has("complete · verified").stderr_has("task PROMPT").run();
    assert!(env.read(".ralph/prompt_001.txt").starts_with("first words\n"));
    let second = env.read(".ralph/prompt_002.txt");
    assert!(second.starts_with("## Task\n\nother words\n") && !second.contains("first words\n\n## Ralph"), "{second}");
}

#[test]
fn a_dry_run_prints_the_very_prompt_and_does_nothing() {
    let env = two_iterations();
    let dry = env.ralph(["run", "-p", "build it", "--dry-run"]).stdout_has("build it\n\n## Completion protocol");
    let dry = dry.stderr("command: [..]scripted-agent[..]\nfolder:  [PROJECT]\nprompt (on standard input):\n").run();
    let object = env.ralph(["run", "-p", "build it", "--dry-run", "--json"]).run().json_lines().remove(0);
    assert_eq!(object["prompt"], *dry.stdout);
    assert!(object["args"].is_array() && object["program"].as_str().unwrap().ends_with("scripted-agent"), "{object}");
    assert!(launches(&env).is_empty());
    assert!(std::fs::read_dir(env.state()).unwrap().next().is_none(), "no state");
    assert_eq!(std::fs::read_dir(env.path(".ralph")).unwrap().count(), 1, "nothing beside the settings");
    env.ralph(["run", "-p", "build it"]).ends("complete · verified").run();
    assert_eq!(env.read(".ralph/prompt_001.txt"), *dry.stdout);
}

/// The fields of each line of a run, as they are promised, with their types.
const LINES: [(&str, &[(&str, &str)]); 7] = [
    (
        "run.started",
        &[("task", "text"), ("kind", "text"), ("agent", "text"), ("max_iterations", "count"), ("resumed", "bool")],
    ),
    ("judges.pinned", &[("files", "count"), ("programs", "count")]),
    ("iteration.started", &[("iteration", "count")]),
    ("agent.event", &[("iteration", "count"), ("event", "event")]),
    (
        "check.finished",
        &[
            ("iteration", "count"),
            ("check", "check"),
            ("name", "text"),
            ("passed", "bool"),
            ("exit_code", "code"),
            ("duration_ms", "count"),
            ("log", "text"),
        ],
    ),
    (
        "iteration.finished",
        &[
            ("iteration", "count"),
            ("claim", "claim"),
            ("verdict", "verdict"),
            ("reasons", "sentences"),
            ("cost_usd", "money"),
            ("tokens", "tokens"),
            ("leaked", "count"),
        ],
    ),
    (
        "run.finished",
        &[
            ("stop_reason", "text"),
            ("message", "text"),
            ("verified", "bool"),
            ("iterations", "count"),
            ("exit_code", "count"),
            ("cost_usd", "money"),
            ("tokens", "tokens"),
        ],
    ),
];

fn is(kind: &str, value: &Value) -> bool {
    let word = |words: &[&str]| value.as_str().is_some_and(|word| words.contains(&word));
    match kind {
        "text" => value.as_str().is_some_and(|text| !text.is_empty()),
        "bool" => value.is_boolean(),
        "count" => value.is_u64(),
        "code" => value.is_i64() || value.is_null(),
        "money" => value.as_f64().is_some_and(|money| money >= 0.0) || value.is_null(),
        "sentences" => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        "tokens" => ["input", "output", "cache_read", "cache_write"].iter().all(|field| value[field].is_u64()),
        "check" => word(&["guardrail", "evidence", "verification", "plan-rules", "protected", "clean-tree"]),
        "claim" => word(&["complete", "blocked", "wait", "none"]),
        "verdict" => word(&["continue", "retry", "wait", "stop"]),
        "event" => {
            let kinds = ["tool_start", "tool_end", "text", "result", "spent", "todo", "progress", "limit", "error"];
            value["kind"].as_str().is_some_and(|kind| kinds.contains(&kind))
        }
        other => panic!("{other}"),
    }
}

#[test]
fn the_json_lines_of_a_run_have_every_promised_field_in_its_type() {
    let env = env();
    env.agent_as("claude").guardrail("test -f built").script(
        "claude-init\nclaude-tool Bash t1 cargo test\nclaude-tool-result t1 ok passed\n\
         [1]\nclaude-text half\nclaude-result half cost=0.05 in=8000 out=240\n\
         [2]\nfile built yes\nclaude-text <response>DONE</response>\nclaude-result <response>DONE</response> cost=0.07 in=10 out=20\n",
    );
    let run = env.ralph(["run", "-p", "x", "--json"]).run();
    let lines = run.json_lines();
    for line in &lines {
        assert_eq!(line["v"], 1, "{line}");
        assert!(is("text", &line["run"]) && line["run"] == lines[0]["run"], "{line}");
        let at = line["at"].as_str().unwrap();
        assert!(at.len() == 24 && at.ends_with('Z') && at.as_bytes()[10] == b'T', "{line}");
        let kind = line["type"].as_str().unwrap();
        let (_, fields) = LINES.iter().find(|(name, _)| *name == kind).unwrap_or_else(|| panic!("a new type: {line}"));
        for (field, expected) in *fields {
            assert!(is(expected, &line[field]), "{field} of {line}");
        }
    }
    let order: Vec<&str> =
        lines.iter().map(|line| line["type"].as_str().unwrap()).filter(|kind| *kind != "agent.event").collect();
    let iteration = ["iteration.started", "check.finished", "iteration.finished"];
    assert_eq!(order, [&["run.started", "judges.pinned"][..], &iteration, &iteration, &["run.finished"]].concat());
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["event"]["kind"].as_str()).collect();
    assert!(["tool_start", "tool_end", "text", "result"].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    let end = lines.last().unwrap();
    assert_eq!((&end["verified"], &end["exit_code"], &end["iterations"]), (&json!(true), &json!(0), &json!(2)));
    assert!((end["cost_usd"].as_f64().unwrap() - 0.12).abs() < 1e-9, "{end}");
    assert_eq!(
        (&end["tokens"]["input"], &end["tokens"]["output"]),
        (&json!(9010), &json!(260)),
        "with 500 from the cache in each iteration"
    );
    assert_eq!((&lines[0]["resumed"], &lines[0]["kind"]), (&json!(false), &json!("prompt")));
}

#[test]
fn the_json_of_a_resumed_run_says_so() {
    let env = two_iterations();
    env.ralph(["run", "-p", "x", "-m", "1"]).ends("max-iterations").code(1).run();
    let lines = env.ralph(["resume", "-m", "2", "--json"]).run().json_lines();
    assert_eq!((&lines[0]["type"], &lines[0]["resumed"]), (&json!("run.started"), &json!(true)));
    assert_eq!(lines.last().unwrap()["stop_reason"], "complete");
}

#[test]
fn verbose_says_every_step_in_the_seeds_words() {
    let env = two_iterations();
    env.write(".ralph/settings.local.json", "{\"agent\": {\"flags\": [\"--fast\"]}}");
    let run = env.ralph(["run", "-p", "build it", "-V"]).ends("complete · verified").stderr_has("[ralph] ").run();
    let steps: Vec<&str> = run.stderr.lines().filter_map(|line| line.strip_prefix("[ralph] ")).collect();
    let wanted = [
        "Loading settings from .ralph/settings.json",
        "Loading settings from .ralph/settings.local.json",
        "Agent command: ",
        "Iteration 1/10 starting",
        "Prompt: build it",
        "Running guardrail: test -f built",
        "Guardrail exited with code 1 (",
        "Iteration 2/10 starting",
        "Running guardrail: test -f built",
        "Guardrail exited with code 0 (",
    ];
    let mut steps = steps.into_iter();
    for step in wanted {
        assert!(steps.any(|line| line.starts_with(step)), "{step} is missing or misplaced in {}", run.stderr);
    }
    assert!(run.stderr.contains("scripted-agent --fast\n"), "{}", run.stderr);
}

#[test]
fn quiet_says_only_how_it_ended() {
    let env = two_iterations();
    let run = env.ralph(["run", "-p", "x", "-q"]).stdout_has("complete · verified").stdout_lacks("not yet").run();
    assert!(run.stdout.lines().count() <= 6, "{}", run.stdout);
}

#[test]
fn the_agents_output_need_not_be_shown() {
    let env = two_iterations();
    env.ralph(["run", "-p", "x", "--no-stream-agent-output"]).stdout_lacks("not yet").stdout_has("complete").run();
    std::fs::remove_file(env.path("built")).unwrap();
    env.settings(json!({ "streamAgentOutput": false }));
    env.ralph(["run", "-p", "y"]).ends("complete").stdout_lacks("not yet").run();
    env.ralph(["run", "-p", "z", "--stream-agent-output"]).stdout_has("not yet").run();
}

#[test]
fn the_same_prompt_finds_its_memory_again_and_another_task_does_not() {
    let env = env();
    env.guardrail("true").script("print the parser is half done\nclaim");
    env.ralph(["run", "-p", "x"]).ends("complete · verified").run();
    env.ralph(["run", "-p", "x"]).ends("complete · verified").run();
    assert!(env.read(".ralph/prompt_001.txt").contains("the parser is half done"));
    env.ralph(["run", "-p", "x", "--task", "other"]).ends("complete · verified").run();
    assert!(!env.read(".ralph/prompt_001.txt").contains("the parser is half done"));
}

#[test]
fn the_last_messages_of_an_iteration_can_be_carried_over() {
    let env = env();
    env.settings(json!({ "loop": { "context": { "includeLastNMessages": 1 } } })).agent_as("claude").guardrail("true");
    env.script("claude-init\nclaude-text older words\nclaude-text newest words\nclaude-result fine\n[2]\nclaude-result <response>DONE</response>");
    env.ralph(["run", "-p", "x"]).ends("complete · verified").run();
    let prompt = env.read(".ralph/prompt_002.txt");
    assert!(prompt.contains("## Last Messages Of The Previous Iteration"), "{prompt}");
}

#[test]
fn what_the_agents_own_tool_runs_show_can_be_required() {
    let tests = |result: &str| format!("claude-tool Bash t1 cargo test\nclaude-tool-result t1 {result}\n");
    for (tool, said, error) in [
        (String::new(), "No test command was seen.", ""),
        (tests("error 1 failed"), "The last test command, `cargo test`, failed.", "✗ evidence errors 1 error is left"),
    ] {
        let env = env();
        env.settings(json!({ "loop": { "stopCriteria": { "requirePassingTests": true } } }))
            .agent_as("claude")
            .guardrail("true");
        let claim = "claude-result <response>DONE</response>\n";
        env.script(&format!("claude-init\n[1]\n{tool}{claim}[2]\n{}{claim}", tests("ok all passed")));
        let run = env.ralph(["run", "-p", "x"]).stdout_has("complete and verified after 2 iterations");
        run.stderr_has("iteration 1/10 · said it was done · rejected").stderr_has(said).stderr_has(error).run();
        assert!(env.read(".ralph/prompt_002.txt").contains(said));
    }
}

#[test]
fn a_prompt_may_begin_with_a_dash() {
    for prompt in ["- fix the login\n- then the logout", "--json is broken"] {
        let env = env();
        env.script("claim");
        env.ralph(["run", "-p", prompt]).ends("complete · claimed, not verified").run();
        assert!(env.read(".ralph/prompt_001.txt").starts_with(prompt), "{prompt}");
    }
}

#[test]
fn settings_can_be_looked_at() {
    let env = env();
    env.settings(json!({ "maximumIterations": 7, "agent": { "flags": ["-a"] } }));
    env.write(".ralph/settings.local.json", "{\"maximumIterations\": 8, \"loop\": {\"stallAfter\": 2}}");
    let shown = env.ralph(["config", "show", "--json"]).run().json_lines().remove(0);
    assert_eq!((&shown["maximumIterations"], &shown["loop"]["stallAfter"]), (&json!(8), &json!(2)));
    assert_eq!((&shown["agent"]["flags"], &shown["completionResponse"]), (&json!(["-a"]), &json!("DONE")));
    let people = env.ralph(["config", "show"]).run();
    assert_eq!(serde_json::from_str::<Value>(&people.stdout).unwrap(), shown, "what people see is the same");
    env.ralph(["config", "show", "--origin"])
        .stdout_has("maximumIterations = 8  # .ralph/settings.local.json\n")
        .stdout_has("agent.flags = [\"-a\"]  # .ralph/settings.json\n")
        .stdout_has("completionResponse = \"DONE\"  # defaults\n")
        .run();
    let told = env.ralph(["config", "show", "--origin", "--json"]).run().json_lines().remove(0);
    assert_eq!(told["maximumIterations"], 8);
    for (key, origin) in [
        ("maximumIterations", ".ralph/settings.local.json"),
        ("agent.flags", ".ralph/settings.json"),
        ("completionResponse", "defaults"),
    ] {
        assert_eq!(told["origins"][key], origin, "{key}");
    }
    env.ralph(["config", "check"])
        .stdout("settings are fine (.ralph/settings.json, .ralph/settings.local.json)\n")
        .run();
    let judged = env.ralph(["config", "check", "--json"]).run().json_lines().remove(0);
    assert_eq!(judged["ok"], true);
    env.write(".ralph/settings.local.json", "{\"agent\": {\"command\": \"\"}, \"maximumIterations\": 0}");
    let judged = env.ralph(["config", "check", "--json"]).code(2).run().json_lines().remove(0);
    let texts = |list: &str| -> Vec<String> {
        judged[list].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let (errors, hints) = (texts("errors"), texts("hints"));
    assert!(
        errors.len() == 2 && errors.iter().all(|error| error.starts_with(".ralph/settings.local.json: ")),
        "{judged}"
    );
    assert!(hints.len() == 1 && hints[0].contains("--agent") && !hints[0].starts_with("hint"), "{judged}");
    env.write(".ralph/settings.local.json", "{");
    let judged = env.ralph(["config", "check", "--json"]).code(2).run().json_lines().remove(0);
    assert!(judged["ok"] == false && judged["errors"][0].as_str().unwrap().contains("syntax error"), "{judged}");
    let schema = env.ralph(["config", "schema"]).run();
    let schema: Value = serde_json::from_str(&schema.stdout).unwrap();
    assert_eq!(schema["properties"]["maximumIterations"]["default"], 10, "{schema}");
}

#[test]
fn c11_settings_edited_during_a_run_change_nothing_in_it_and_are_reported() {
    let env = env();
    env.guardrail("test -f built").script(
        "[1]\nfile .ralph/settings.json {\"agent\": {\"command\": \"false\"}}\nclaim\n[2]\nfile built yes\nclaim\n",
    );
    env.ralph(["run", "-p", "x"])
        .stdout_has("complete and verified after 2 iterations")
        .stderr_has("[PROJECT]/.ralph/settings.json was edited; this run keeps the settings it began with")
        .run();
    assert!(story(&env)["notes"][0].as_str().unwrap().contains("was edited"));
}

#[test]
fn c01_an_agent_that_deletes_the_ralph_folder_stops_nothing() {
    let env = env();
    env.guardrail("test -f built").script("[1]\nremove .ralph\nprint half\n[2]\nfile built yes\nclaim\n");
    env.ralph(["run", "-p", "x", "--task", "t"])
        .stdout_has("complete and verified after 2 iterations")
        .stderr_has("[PROJECT]/.ralph was deleted or replaced; it was made again")
        .stderr_has("note: [PROJECT]/.ralph/settings.json was edited")
        .run();
    for file in [".ralph/prompt_002.txt", ".ralph/guardrail_001_test_f_built.log", ".ralph/tasks/t/ralph-summary.md"] {
        assert!(env.exists(file), "{file}");
    }
    assert!(env.read(".ralph/tasks/t/ralph-summary.md").contains("## Iteration 1"), "memory is in the journal");
}

#[test]
fn c14_a_ralph_folder_that_an_agent_turned_into_a_link_is_not_written_through() {
    let env = env();
    let elsewhere = env.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, env.home().join("link")).unwrap();
    env.guardrail("true").script("[1]\nremove .ralph\nsymlink $HOME/link .ralph\nprint half\n[2]\nclaim\n");
    let run = env.ralph(["run", "-p", "x"]).ends("complete · verified").stderr_has("is a symbolic link");
    run.stderr_has("note: [PROJECT]/.ralph/settings.json was edited").run();
    assert!(std::fs::read_dir(&elsewhere).unwrap().next().is_none());
}

#[test]
fn status_lists_runs_newest_first() {
    let env = two_iterations();
    env.ralph(["status"]).stderr_has("no runs in [PROJECT] yet; begin one: ralph run").run();
    env.ralph(["status", "--json"]).stdout("{\"v\":1,\"runs\":[]}\n").run();
    env.ralph(["run", "-p", "x", "-m", "1"]).ends("max-iterations").code(1).run();
    env.ralph(["run", "-p", "y", "--task", "t"]).ends("complete · verified").run();
    let all = runs(&env);
    assert_eq!(all.len(), 2);
    assert_eq!((&all[0]["task"], &all[0]["stop_reason"]), (&json!("t"), &json!("complete")));
    assert_eq!(all[1]["stop_reason"], "max-iterations");
    for run in &all {
        for field in ["run", "kind", "task", "started_at", "updated_at"] {
            assert!(is("text", &run[field]), "{field} of {run}");
        }
        assert!(["iteration", "max_iterations", "elapsed_ms"].iter().all(|field| is("count", &run[*field])), "{run}");
        assert_eq!(run["state"], "stopped");
        assert!(run["last_check"]["name"] == "test -f built" && run["last_check"]["passed"].is_boolean(), "{run}");
    }
    env.ralph(["status"]).stdout_has("complete").stdout_has("max-iterations").stdout_has("prompt-2d711642").run();
}

#[test]
fn the_last_prompts_are_files_and_the_journal_has_every_one() {
    let env = env();
    env.settings(json!({ "history": { "prompts": 2 } })).script("print more");
    env.ralph(["run", "-p", "x", "-m", "4"]).ends("max-iterations").code(1).run();
    let there = |number: u32| env.exists(format!(".ralph/prompt_00{number}.txt"));
    assert_eq!([1, 2, 3, 4].map(there), [false, false, true, true]);
    let shown = env.ralph(["show", "/4", "--prompt"]).run().stdout.to_string();
    assert_eq!(shown, env.read(".ralph/prompt_004.txt"));
    env.ralph(["show", "/1", "--prompt"]).stdout_has("x\n").run();
}

#[test]
fn show_logs_and_explain_tell_what_happened() {
    let env = two_iterations();
    env.ralph(["run", "-p", "build it", "--task", "t"]).ends("complete · verified").run();
    let id = newest(&env);
    env.ralph(["show", &id])
        .stdout_has(&format!("run {id}"))
        .stdout_has("complete · verified")
        .stdout_has("test -f built")
        .run();
    env.ralph(["show", &format!("{id}/2")]).stdout_has("test -f built").run();
    let prompt = env.ralph(["show", &format!("{id}/2"), "--prompt"]).run();
    assert_eq!(*prompt.stdout, env.read(".ralph/prompt_002.txt"));
    let told = story(&env);
    assert_eq!((judged(&told), told["verified"].as_bool()), (vec![1, 2], Some(true)));
    let receipts = told["receipts"].as_array().unwrap();
    assert_eq!(receipts.len(), 2);
    for receipt in receipts {
        assert_eq!(receipt["command"], "test -f built");
        assert!(
            is("text", &receipt["output_hash"]) && is("text", &receipt["tree"]) && is("count", &receipt["duration_ms"]),
            "{receipt}"
        );
    }
    assert_eq!(iterations(&told)[0]["checks"][0]["exit_code"], 1);
    env.ralph(["explain", &id]).stdout_has("complete · verified").stdout_has("test -f built").run();
    let explained = env.ralph(["explain", &id, "--json"]).run().json_lines().remove(0);
    assert_eq!((&explained["run"], &explained["stop_reason"]), (&json!(id), &json!("complete")));
    let conditions = explained["conditions"].as_array().unwrap();
    assert!(
        conditions.iter().all(|condition| is("text", &condition["name"]) && condition["met"] == true),
        "{explained}"
    );
    env.ralph(["logs", &format!("{id}/1")]).stdout_has("not yet").run();
    env.ralph(["logs", &id]).stdout_has("<response>DONE</response>").run();
    let events = env.ralph(["logs", &format!("{id}/1"), "--json"]).run().json_lines();
    assert_eq!((&events[0]["type"], &events[0]["event"]["text"]), (&json!("agent.event"), &json!("not yet\n")));
    // The beginning of an id is enough.
    env.ralph(["show", &id[..4]]).stdout_has(&format!("run {id}")).run();
}

#[test]
fn every_line_of_a_log_names_its_stream_or_its_check() {
    let env = env();
    env.guardrail("echo A; exit 1").guardrail("echo A; exit 1").guardrail("true").script("err careful\nclaim");
    env.ralph(["run", "-p", "x", "-m", "1"]).ends("max-iterations").code(1).run();
    let lines = |flags: &[&str], heading: &str| {
        let logs = flags.iter().fold(env.ralph(["logs", "--json"]), |logs, flag| logs.arg(flag));
        let told = |line: &Value| ["type", "log", "text", "name", "file"].map(|field| line[field].clone());
        logs.stderr_has(heading).run().json_lines().iter().map(told).collect::<Vec<_>>()
    };
    let stream = |log: &str, text: &str| [json!("log.line"), json!(log), json!(text), Value::Null, Value::Null];
    assert_eq!(lines(&["--raw"], ""), [stream("stdout", "<response>DONE</response>")]);
    assert_eq!(lines(&["--stderr"], ""), [stream("stderr", "careful")]);
    let failed = |file: &str| ["log.line", "check", "A", "echo A; exit 1", file].map(|word| json!(word));
    let files = [".ralph/guardrail_001_echo_A_exit_1.log", ".ralph/guardrail_001_echo_A_exit_1_1.log"];
    assert_eq!(lines(&["--failed"], "── iteration 1 · guardrail \"echo A; exit 1\" failed"), files.map(failed));
}

#[test]
fn a_run_that_could_not_begin_its_next_iteration_is_seen_by_the_last_that_it_began() {
    let env = env();
    env.write("P.md", "do it\n");
    env.script("err careful\nprint hi\nremove P.md");
    env.ralph(["run", "-f", "P.md"]).ends("error").code(2).run();
    assert_eq!(runs(&env)[0]["iteration"], 2, "it came to the prompt of the second");
    env.ralph(["logs"]).stdout("hi\n").run();
    env.ralph(["logs", "--stderr"]).stdout("careful\n").run();
    env.ralph(["logs", "--follow"]).stdout("hi\n").run();
    let events = env.ralph(["logs", "--json"]).run().json_lines();
    assert_eq!((&events[0]["iteration"], &events[0]["event"]["text"]), (&json!(1), &json!("hi\n")));
    let prompt = env.ralph(["show", "--prompt"]).run();
    assert_eq!(*prompt.stdout, env.read(".ralph/prompt_001.txt"));
    env.ralph(["logs", "/2"]).stderr_has("has no iteration 2: it has 1 to 1\nhint: list them: ").code(2).run();
}

#[test]
fn a_running_run_can_be_seen_and_cancelled() {
    let env = env();
    env.script("pidfile $HOME/agent\nprint thinking\nsleep forever");
    let run = env.ralph(["run", "-p", "x"]).stdout_has("cancelled in iteration 1").stderr_has("stopping now").code(130);
    let run = run.spawn();
    run.wait_for_file(env.home().join("agent"));
    let id = newest(&env);
    let seen = &runs(&env)[0];
    assert_eq!(
        (&seen["state"], &seen["stop_reason"], &seen["iteration"]),
        (&json!("running"), &Value::Null, &json!(1))
    );
    env.ralph(["status"]).stdout_has("running").run();
    env.ralph(["show"]).stdout_has("running").run();
    let explained = env.ralph(["explain", "--json"]).run().json_lines().remove(0);
    assert_eq!(explained["missing"], json!([]), "nothing is decided yet: {explained}");
    let cancelled = env.ralph(["cancel", &id, "--json"]).stderr_has("cancelling run ").run().json_lines().remove(0);
    assert_eq!((&cancelled["run"], &cancelled["stop_reason"]), (&json!(id), &json!("cancelled")));
    run.finish();
    assert_eq!(runs(&env)[0]["stop_reason"], "cancelled");
    assert!(eventually(SOON, || env.processes().is_empty()));
    // It stays cancelled until somebody goes on.
    env.script("claim");
    env.ralph(["resume", &id]).stdout_has("claimed, not verified").run();
}

#[test]
fn a_cancelled_dead_run_is_told_as_what_it_is() {
    let env = two_iterations();
    env.ralph(["run", "-p", "x"]).ends("complete · verified").run();
    let id = newest(&env);
    env.ralph(["cancel", &id]).stdout_has(" · complete · ").stderr_has(&format!("run {id} already ended")).run();
    let none = "error: no run is running here[..]\nhint: list them: ralph status\nhint: then: ralph cancel RUN\n";
    env.ralph(["cancel"]).stderr_has(none).code(2).run();
    assert_eq!(runs(&env)[0]["stop_reason"], "complete");
}

#[test]
fn the_demo_works_on_a_bare_machine_and_explains_itself() {
    let env = env();
    let mut demo = env.ralph(["demo", "--folder"]).arg(env.root().join("demo")).time_limit(Duration::from_secs(60));
    for name in [
        "RALPH_STATE_DIR", "RALPH_TEST_SCRIPT", "LANG", "GIT_CONFIG_NOSYSTEM", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL",
        "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
    ] {
        demo = demo.env_remove(name);
    }
    demo.stdout_has("complete · verified")
        .stderr_has("This is a scratch project: [ROOT]/demo")
        .stderr_has("What you saw: iteration 1 claimed to be done[..]\n[..]\n[..] and only then the run was complete")
        .stderr_has("iteration 1/5 · said it was done · rejected")
        .stderr_has("iteration 2/5 · said it was done · accepted")
        .stderr_has("Look closer:\n  ralph -C [ROOT]/demo explain")
        .stderr_has("The folder can be deleted[..]\nA run that is stopped[..]\nNow your own project: ralph run -p ")
        .run();
    assert!(env.home().join(".local/state/ralph").is_dir());
    env.ralph(["demo", "--folder"])
        .arg(env.root().join("demo"))
        .stderr_has("error: [ROOT]/demo is not empty")
        .code(2)
        .run();
}

#[test]
fn the_demo_of_a_plan_undoes_reviews_and_completes() {
    let env = env();
    let demo = env.ralph(["demo", "--plan", "--folder"]).arg(env.root().join("demo"));
    demo.time_limit(Duration::from_secs(60))
        .stdout_has("complete · verified")
        .stderr_unchecked("it is a tour: its sentences are for people, and the end and the commits tell what happened")
        .stderr_has("only a review")
        .stderr_has("What you saw: the agent approved its own story in iteration 1; ralph undid that")
        .stderr_has("Now your own project: ralph plan init")
        .run();
    let subjects = env.git(["-C", "../demo", "log", "--format=%s"]);
    for subject in ["review: [US-001] - approved", "review: [US-001] - changes requested", "fix: [US-001] - address"] {
        assert!(subjects.contains(subject), "{subjects}");
    }
}

#[test]
fn every_command_has_help_with_an_example_and_the_version_is_told() {
    let env = env();
    let commands = [
        "", "run", "resume", "status", "show", "logs", "explain", "report", "cancel", "config", "config show",
        "config check", "config schema", "completions", "man", "demo",
    ];
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let help = env.ralph([&words[..], &["--help"]].concat()).stdout_has("Example").stdout_has("Usage: ralph").run();
        let example = format!("  ralph {}", words.first().unwrap_or(&"run"));
        let (_, behind) = help.stdout.split_once("Example").unwrap();
        assert!(behind.contains(&example), "{command}: {}", help.stdout);
        env.ralph([&words[..], &["-h"]].concat()).stdout_has("Usage: ralph").run();
    }
    for flag in ["--version", "-v"] {
        env.ralph([flag]).stdout(format!("ralph {}\n", env!("CARGO_PKG_VERSION"))).run();
    }
    // Without a command, help is the answer to a wrong call.
    let help = env.ralph(["-h"]).run().stdout.to_owned();
    env.ralph([""; 0]).stderr(help).code(2).run();
}

#[test]
fn the_agent_is_told_where_it_is() {
    let env = env();
    env.guardrail("true").script(
        "expect-env RALPH_ITERATION 1\nenv RALPH_RUN_ID\nenv RALPH_TASK_DIR\nenv TASK_FOLDER\nenv MESSAGE_BUS\nenv NEW\nenv GONE\ncwd\nclaim\n",
    );
    env.settings(json!({ "agent": { "env": { "NEW": "here" }, "envRemove": ["GONE"] } }));
    let run = env.ralph(["run", "-p", "x", "--task", "t"]).env("GONE", "still").env("CLAUDECODE", "1").run();
    let id = newest(&env);
    let folder = env.path(TASK).display().to_string();
    let project = env.project().display().to_string();
    for line in [&id, &folder, &format!("{folder}/TASK-MESSAGE-BUS.md"), "here", "(unset)", &project] {
        assert!(run.stdout.lines().any(|printed| printed.contains(line as &str)), "{line}: {}", run.stdout);
    }
}

#[test]
fn settings_that_have_no_effect_are_told() {
    let env = env();
    env.script("claim")
        .settings(serde_json::json!({ "notify": { "command": "beep" }, "sandbox": { "mode": "native" } }));
    env.ralph(["run", "-p", "x"])
        .ends("complete · claimed, not verified")
        .stderr_has("`notify` has no effect in this version")
        .stderr_has("`sandbox` has no effect in this version")
        .run();
}

#[test]
fn settings_that_the_last_agent_edited_are_told() {
    let env = env();
    env.guardrail("true").script("file .ralph/settings.local.json {}\nclaim");
    env.ralph(["run", "-p", "x"])
        .stdout_has("complete · verified")
        .stderr_has("settings.local.json was edited; this run keeps the settings it began with")
        .run();
}

#[test]
fn settings_edited_between_stop_and_resume_are_told() {
    let env = env();
    env.guardrail("false").script("claim").write("my prompt.md", "x").write("below/x", "");
    env.ralph(["run", "-f", "my prompt.md", "-m", "1"]).ends("max-iterations").code(1).run();
    env.ralph(["resume", "-m", "2"]).ends("max-iterations").stderr_lacks("edited").code(1).run();
    env.settings(serde_json::json!({ "maximumIterations": 5 }));
    for (folder, file) in [(".", "my prompt.md"), ("below", "[PROJECT]/my prompt.md")] {
        env.ralph(["resume", "-m", "2"])
            .current_dir(env.path(folder))
            .ends("max-iterations")
            .stderr_has("the settings were edited since this run began")
            .stderr_has("note: limits: max iterations is 2 in this run and 5 in the settings\n")
            .stderr_has(&format!("hint: to use the new ones, begin a new run: ralph run -f '{file}'\n"))
            .code(1)
            .run();
    }
}

#[test]
fn a_run_that_asks_for_less_than_the_settings_do_now_goes_on_and_is_not_verified() {
    let env = env();
    env.guardrail("true").script("print not yet");
    env.ralph(["run", "-p", "x", "-m", "1"]).ends("max-iterations").code(1).run();
    env.guardrail("test 1 = 1").script("claim");
    let lines = env
        .ralph(["resume", "-m", "2", "--json"])
        .stderr_has("note: guardrail \"test 1 = 1\" is in the settings and not in this run\n")
        .stderr_unchecked("what else the settings say by now")
        .run()
        .json_lines();
    let last = lines.last().unwrap();
    assert_eq!((&last["verification"], &last["verified"]), (&"untrusted".into(), &false.into()));
    assert!(last["next"][0].as_str().unwrap().starts_with("ralph run -p "), "{last}");
    assert!(last["message"].as_str().unwrap().contains("begin a new run"), "{last}");
    let told =
        "guardrail \"test 1 = 1\" is in the settings and not in this run: this run is not verified by its checks";
    assert!(lines.iter().any(|line| line["text"].as_str().is_some_and(|text| text.starts_with(told))), "{lines:#?}");
    env.ralph(["explain"]).stdout_has("is in the settings and not in this run: begin a new run").run();
    env.ralph(["run", "-p", "x", "-m", "1"]).ends("complete · verified").run();
}

#[test]
fn files_that_change_under_the_checks_are_named() {
    let env = env();
    env.live().guardrail("echo x >> coverage.log").script("claim");
    env.ralph(["run", "-p", "x", "-m", "1"])
        .ends("max-iterations")
        .stderr_has("note: files changed while the checks ran; checking again: coverage.log")
        .stderr_has("files kept changing while the checks ran, so no check speaks for them: coverage.log")
        .code(1)
        .run();
}

#[test]
fn what_ralph_itself_says_may_be_kept_in_the_project() {
    let env = env();
    env.guardrail("true").script("claim");
    env.guardrail("sleep 0.05");
    for kept in [
        "> run.log 2>&1", "--json > out.jsonl", "2> err.log", "2>&1 | tee tee.log", "--json | tee tee.jsonl",
        "2>&1 | cat | tee -a more.log",
    ] {
        let shell = format!(r#""$0" "$@" {kept}"#);
        let run = env.ralph(["run", "-p", "x", "-m", "1"]).under(["sh", "-c", &shell]).run();
        assert!(run.stdout.is_empty() || run.stdout.contains("complete"), "{}", run.stdout);
        let runs = env.ralph(["status", "--json"]).run().json_lines().remove(0);
        assert_eq!(runs["runs"][0]["stop_reason"], "complete", "{kept}");
    }
    assert!(env.read("run.log").contains("complete · verified"));
}

#[test]
fn the_hints_of_a_run_elsewhere_find_it() {
    let env = env();
    env.script("claim");
    let project = env.project().display().to_string();
    let home = env.home();
    let ralph = format!("ralph -C {project} ");
    env.ralph(["-C", &project, "status"]).current_dir(&home).stdout("").stderr_has(&format!("{ralph}run")).run();
    env.ralph(["-C", &project, "run", "-p", "x"]).current_dir(&home).stdout_has(&format!("{ralph}explain")).run();
    let lines = env.ralph(["-C", &project, "run", "-p", "x", "--json"]).current_dir(&home).run().json_lines();
    assert!(lines.last().unwrap()["next"][0].as_str().unwrap().starts_with(&ralph), "{lines:?}");
    for look in ["show", "explain", "report"] {
        env.ralph(["-C", &project, look]).current_dir(&home).stdout_has(&ralph).run();
        env.ralph(["-C", &project, look, "--json"]).current_dir(&home).stdout_has(&format!("\"{ralph}")).run();
    }
    let unknown = env.ralph(["-C", &project, "resume", "nothing"]).current_dir(&home);
    unknown.stderr_has(&format!("error: there is no run `nothing`[..]\nhint: list them: {ralph}status")).code(2).run();
}

#[test]
fn another_agent_can_go_on_where_one_cannot_run() {
    let env = env();
    env.script("claim").settings(serde_json::json!({ "agent": { "command": "no-such-agent" } }));
    env.ralph(["run", "-p", "x"])
        .stdout_has("--agent OTHER")
        .stderr_has("✗ agent: the agent could not be started")
        .code(5)
        .run();
    let agent = env.agent_path().display().to_string();
    env.ralph(["resume", "--agent", &agent]).stdout_has("complete").run();
}

#[test]
fn both_outputs_in_one_pipe_keep_their_order() {
    let env = env();
    env.script("print said").guardrail("true");
    let shell = format!("{} run -p x -m 1 2>&1", env!("CARGO_BIN_EXE_ralph"));
    for _ in 0..5 {
        let output = env.ralph(["--version"]).under(["sh", "-c", &shell]).any_end().run().stdout;
        let place = |text: &str| output.find(text).unwrap_or_else(|| panic!("{text} is not in\n{output}"));
        assert!(
            place("said") < place("guardrail true passed") && place("not accepted") < place("max-iterations"),
            "{output}"
        );
    }
}
