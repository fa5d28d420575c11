//! `ralph supervise` with real processes: what starts the command again, what ends it, what it is told.

use crate::env;
use ralph_testkit::{TestEnv, eventually};
use serde_json::{Value, json};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(30);

/// A command that runs a shell script with `n` set to the number of the attempt.
fn counting(env: &TestEnv, script: &str) -> String {
    let count = "n=$(($(cat \"$TASK_FOLDER/n\" 2>/dev/null || echo 0)+1)); echo $n > \"$TASK_FOLDER/n\"";
    let path = env.program("agent.sh", &format!("#!/bin/sh\n{count}\n{script}\n"));
    path.to_string_lossy().into_owned()
}

fn last(lines: &[Value]) -> (&str, i64, u64) {
    let end = lines.last().unwrap();
    let number = |key: &str| end[key].as_u64().unwrap();
    (end["stop_reason"].as_str().unwrap(), end["exit_code"].as_i64().unwrap(), number("iterations"))
}

fn bus(env: &TestEnv, task: &str) -> Vec<(String, String)> {
    let read = env.ralph(["bus", "read", "--task", task, "--tail", "1000", "--json"]).run();
    let text = |message: &Value, key: &str| message[key].as_str().unwrap().to_owned();
    read.json_lines().iter().map(|message| (text(message, "type"), text(message, "body"))).collect()
}

#[test]
fn the_command_is_started_again_whatever_its_exit_code_until_done() {
    let env = env();
    let agent = counting(&env, "[ $n -lt 3 ] || touch \"$TASK_FOLDER/DONE\"; exit $((n % 2))");
    env.ralph(["supervise", "--task", "t", "--restart-delay", "10ms", "--", &agent])
        .stdout_has("task completed (DONE marker present, no active children)")
        .stderr_has("Starting agent (attempt 1/100)\nAttempt 1: Agent failed (exit 1), restarting...")
        .stderr_has("Attempt 2: Agent succeeded without DONE, restarting...")
        .stderr_has("Attempt 3: Agent failed (exit 1), but DONE is there")
        .run();
    assert_eq!(
        bus(&env, "t"),
        [
            ("INFO".to_owned(), "starting root agent (restart #0)".to_owned()),
            ("WARNING".to_owned(), "root agent failed on restart #0: exit 1".to_owned()),
            ("INFO".to_owned(), "starting root agent (restart #1)".to_owned()),
            ("INFO".to_owned(), "starting root agent (restart #2)".to_owned()),
            ("INFO".to_owned(), "task completed (DONE marker present, no active children)".to_owned()),
        ]
    );
    let project = env.read(".ralph/PROJECT-MESSAGE-BUS.md");
    assert_eq!(project.matches("completed\n").count(), 1, "{project}");
    assert!(project.contains("type: FACT") && project.contains("runs: 3"), "{project}");
}

#[test]
fn c09_done_before_the_first_attempt_starts_nothing() {
    let env = env();
    env.write(".ralph/tasks/t/DONE", "");
    let lines = env.ralph(["supervise", "--task", "t", "--json", "--", "false"]).run().json_lines();
    assert_eq!(last(&lines), ("complete", 0, 0));
    assert_eq!(lines[0]["kind"], "supervise");
}

#[test]
fn a_done_file_is_reported_to_the_project_once_however_often_its_task_is_supervised() {
    let env = env();
    let facts = || env.read(".ralph/PROJECT-MESSAGE-BUS.md").matches("type: FACT").count();
    let supervise = |task: &str| {
        env.ralph(["supervise", "--task", task, "--", "sh", "-c", "touch \"$TASK_FOLDER/DONE\""])
            .ends("complete · DONE")
            .run();
    };
    supervise("t");
    supervise("t");
    supervise("t");
    assert_eq!(facts(), 1, "the same DONE");
    supervise("other");
    assert_eq!(facts(), 2, "another task");
    std::fs::remove_file(env.project().join(".ralph/tasks/t/DONE")).unwrap();
    supervise("t");
    assert_eq!(facts(), 3, "another DONE");
}

#[test]
fn done_waits_for_child_runs_in_any_case() {
    let env = env();
    let call = env.ralph(["supervise", "--task", "t", "--wait-timeout", "0", "--", "true"]).code(2);
    call.stderr_has("error: --wait-timeout 0 is not possible[..]\nhint: for a short wait: --wait-timeout ").run();
}

#[test]
fn c09_done_of_an_attempt_that_a_crash_cut_off_starts_nothing_more() {
    let env = env();
    let agent = counting(&env, "[ $n = 1 ] && sleep 1000; touch \"$TASK_FOLDER/DONE\"; sleep 1000");
    let supervise = env.ralph(["supervise", "--task", "t", "--", &agent]);
    let run = supervise.killed_by(9).spawn();
    let attempts = |number: &str| {
        eventually(LONG, || env.exists(".ralph/tasks/t/n") && env.read(".ralph/tasks/t/n").trim() == number)
    };
    assert!(attempts("1"));
    run.crash();
    // Without DONE the attempt is made again, under its number.
    let run = env.ralph(["resume"]).stderr_has("start 1 from its beginning").killed_by(9).spawn();
    assert!(attempts("2") && eventually(LONG, || env.exists(".ralph/tasks/t/DONE")));
    run.crash();
    env.ralph(["resume"]).stdout_has("complete · ").run();
    assert_eq!(env.read(".ralph/tasks/t/n"), "2\n");
}

#[test]
fn a_complete_run_says_how_to_begin_a_new_one() {
    let env = env();
    env.write(".ralph/tasks/t/DONE", "");
    let lines = env.ralph(["supervise", "--task", "t", "--json", "--", "sh", "-c", "exit 1"]).run();
    let folder = "[PROJECT]/.ralph/tasks/t";
    let again = format!("rm {folder}/DONE && ralph supervise --task-dir {folder} -- sh -c 'exit 1'");
    env.ralph(["resume", lines.json_lines()[0]["run"].as_str().unwrap()])
        .stderr_has(&format!(
            "error: run [..] is complete: [..]\nhint: look at it: [..]\nhint: begin a new one: {again}\n"
        ))
        .code(2)
        .run();
}

#[test]
fn restarts_are_used_up_without_a_pause_behind_the_last() {
    let env = env();
    let args = ["supervise", "--task", "t", "--max-restarts", "1", "--restart-delay", "1h", "--json", "--", "true"];
    let lines = env.ralph(args).code(1).run().json_lines();
    assert_eq!(last(&lines), ("max-restarts", 1, 1));
    assert_eq!(bus(&env, "t").last().unwrap().1, "task failed: max restarts (1) exceeded");
}

#[test]
fn c08_done_of_a_wrong_kind_is_an_error_and_never_blocks() {
    for (kind, make) in [
        ("directory", "mkdir \"$TASK_FOLDER/DONE\""),
        ("symbolic link", "ln -s /etc/passwd \"$TASK_FOLDER/DONE\""),
        ("named pipe", "mkfifo \"$TASK_FOLDER/DONE\""),
    ] {
        let env = env();
        let agent = counting(&env, make);
        let lines = env.ralph(["supervise", "--task", "t", "--json", "--", &agent]).code(2).run().json_lines();
        assert_eq!(last(&lines), ("error", 2, 1));
        let message = lines.last().unwrap()["message"].as_str().unwrap();
        assert!(message.contains(&format!("DONE is a {kind}")), "{message}");
    }
}

#[test]
fn a_wish_to_wait_stops_it_and_resume_goes_on() {
    for wish in [
        "exit 42",
        "touch \"$TASK_FOLDER/WAIT_WITHOUT_RESTART\"; exit 1",
        "\"$RALPH\" bus post --type wait_without_restart 'for the key' >/dev/null",
    ] {
        let env = env();
        let agent = counting(&env, &format!("if [ $n = 1 ]; then {wish}; else touch \"$TASK_FOLDER/DONE\"; fi"));
        let ralph = env!("CARGO_BIN_EXE_ralph");
        let lines = env
            .ralph(["supervise", "--task", "t", "--json", "--", &agent])
            .env("RALPH", ralph)
            .code(6)
            .run()
            .json_lines();
        assert_eq!(last(&lines), ("waiting", 6, 1), "{wish}");
        let status = env.ralph(["status", "--json"]).run().json_lines().remove(0);
        assert_eq!(status["runs"][0]["state"], "stopped", "{wish}");
        let lines = env.ralph(["resume", "--json"]).env("RALPH", ralph).run().json_lines();
        assert_eq!(last(&lines), ("complete", 0, 2), "{wish}");
    }
}

#[test]
fn a_command_that_cannot_be_started_is_fatal_and_one_that_dies_at_once_hits_the_start_limit() {
    let env = env();
    let fatal = env.ralph(["supervise", "--task", "a", "--json", "--", "no-such-program"]).code(5).run();
    let lines = fatal.json_lines();
    assert_eq!(last(&lines), ("error", 5, 0));
    assert!(lines.last().unwrap()["message"].as_str().unwrap().starts_with("Fatal error: "));
    let args = ["supervise", "--task", "b", "--restart-delay", "1ms", "--json", "--", "false"];
    let lines = env.ralph(args).code(5).run().json_lines();
    assert_eq!(last(&lines), ("error", 5, 5));
    let args = ["supervise", "--task", "c", "--restart-delay", "0", "--max-restarts", "9", "--json", "--", "true"];
    let lines = env.ralph(args).code(1).run().json_lines();
    assert_eq!(last(&lines), ("max-restarts", 1, 9));
}

#[test]
fn done_is_seen_during_the_pause_and_while_the_command_runs() {
    let env = env();
    let args = ["supervise", "--task", "t", "--restart-delay", "1h", "--poll-interval", "1h", "--", "true"];
    let run = env.ralph(args).ends("complete · DONE").spawn();
    run.wait_for_stderr("Attempt 1: Agent succeeded without DONE, restarting...");
    env.write(".ralph/tasks/t/DONE", "");
    assert_eq!(run.finish().code(), 0);
    let args = ["supervise", "--task", "u", "--poll-interval", "1h", "--", "sleep", "1000"];
    let run = env.ralph(args).ends("interrupted").stderr_has("stopping now").code(130).spawn();
    assert!(eventually(LONG, || env.exists(".ralph/tasks/u")));
    run.wait_for_stderr("Starting agent");
    env.write(".ralph/tasks/u/DONE", "");
    run.wait_for_stderr("DONE is there; the agent has 30s to end by itself");
    run.signal(15);
    run.wait_for_stderr("Received signal");
    run.signal(15);
    run.finish();
}

#[test]
fn the_agent_is_told_where_and_who_it_is_and_that_it_continues() {
    let env = env();
    let script =
        "env | sort > \"$TASK_FOLDER/env.$n\"; cat > \"$TASK_FOLDER/in.$n\"; [ $n = 1 ] || touch \"$TASK_FOLDER/DONE\"";
    let agent = counting(&env, script);
    let args = ["supervise", "--task", "t", "--project", "shop", "--restart-delay", "0", "--json", "--", &agent];
    let lines = env.ralph(args).env("RALPH_PARENT_RUN_ID", "outer1").run().json_lines();
    let run = lines[0]["run"].as_str().unwrap();
    let seen = env.read(".ralph/tasks/t/env.2");
    let folder = env.project().join(".ralph/tasks/t");
    let folder = folder.canonicalize().unwrap();
    for (name, value) in [
        ("RALPH_RUN_ID", run),
        ("JRUN_ID", run),
        ("RALPH_TASK_ID", "t"),
        ("JRUN_TASK_ID", "t"),
        ("RALPH_PROJECT_ID", "shop"),
        ("JRUN_PROJECT_ID", "shop"),
        ("RALPH_PARENT_ID", "outer1"),
        ("JRUN_PARENT_ID", "outer1"),
        ("RALPH_ITERATION", "2"),
        ("RALPH_CONTINUES", "1"),
        ("TASK_FOLDER", folder.to_str().unwrap()),
        ("RALPH_TASK_DIR", folder.to_str().unwrap()),
        ("MESSAGE_BUS", folder.join("TASK-MESSAGE-BUS.md").to_str().unwrap()),
    ] {
        assert!(seen.lines().any(|line| line == format!("{name}={value}")), "{name}={value}: {seen}");
    }
    assert!(seen.contains("\nRUN_FOLDER=/"), "{seen}");
    assert!(!seen.contains("RALPH_PARENT_RUN_ID"), "{seen}");
    assert_eq!(env.read(".ralph/tasks/t/in.1"), "");
    assert!(env.read(".ralph/tasks/t/in.2").starts_with("You continue: this is start 2"));
}

#[test]
fn a_request_is_said_by_anybody_and_blocks_done_until_it_is_acknowledged() {
    let env = env();
    let script = "cat > \"$TASK_FOLDER/in.$n\"
        [ $n = 1 ] && while [ ! -e \"$TASK_FOLDER/go\" ]; do sleep 0.02; done
        [ $n -ge 3 ] && echo \"<ack>$(sed -n 's/^Request \\(m[a-z0-9]*\\) from .*/\\1/p' \"$TASK_FOLDER/in.$n\")</ack>\"
        touch \"$TASK_FOLDER/DONE\"";
    let agent = counting(&env, script);
    let args = ["supervise", "--task", "t", "--restart-delay", "0", "--", &agent];
    let run = env
        .ralph(args)
        .ends("complete · DONE")
        .stderr_has("note: request m[..] (use tabs)")
        .stderr_has("note: DONE does not count and is removed: not acknowledged: ")
        .stderr_has("note: the agent acknowledged request m")
        .spawn();
    run.wait_for_stderr("Starting agent (attempt 1/100)");
    let id = env.ralph(["status", "--json"]).run().json_lines()[0]["runs"][0]["run"].as_str().unwrap().to_owned();
    let said = env.ralph(["say", &id, "use tabs"]).stderr_has("hears it before its next prompt").run().stdout;
    assert!(said.trim().starts_with('m'), "{said}");
    env.write(".ralph/tasks/t/go", "");
    assert_eq!(run.finish().code(), 0);
    assert!(env.read(".ralph/tasks/t/in.2").contains(&format!("Request {} from", said.trim())));
    assert!(env.read(".ralph/tasks/t/in.2").contains("use tabs"));
    let kinds: Vec<String> = bus(&env, "t").into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["INFO", "USER_REQUEST", "WARNING", "INFO", "WARNING", "INFO", "ACK", "INFO"]);
}

#[test]
fn wrong_calls_are_refused_with_the_reason() {
    let env = env();
    env.write("file", "").write("folder/x", "");
    let long = "x".repeat(300);
    for (args, complaint) in [
        (vec!["--task-dir", "no/such"], "there is no[..]\nhint: make it first: mkdir -p "),
        (vec!["--task-dir", "file"], "is not a folder[..]\nhint: "),
        (vec!["--max-restarts", "0"], "at least 1"),
        (vec!["--max-restarts", "-1"], "at least 1"),
        (vec!["--restart-delay", "-1s"], "-1s"),
        (vec!["--restart-delay", "5"], "250ms"),
        (vec!["--timeout", "soon"], "soon"),
        (vec!["--poll-interval", "0"], "at least 10ms"),
        (vec!["--task", "../evil"], "'/'[..]\nhint: for example: "),
        (vec!["--task", ".."], "begins with `.`[..]\nhint: for example: "),
        (vec!["--task", "🎉"], "'🎉'[..]\nhint: for example: "),
        (vec!["--project", "a b"], "' '[..]\nhint: for example: "),
        (vec!["--task", &long], "300 bytes[..]\nhint: for example: "),
    ] {
        let call = ["supervise"].into_iter().chain(args.iter().copied()).chain(["--", "true"]);
        env.ralph(call).stderr_has(complaint).code(2).run();
    }
    env.ralph(["supervise"]).stderr_has("error: [..]required arguments[..]\n  <CMD>").code(2).run();
    assert!(!env.exists(".ralph/tasks"), "nothing is half-written");
}

#[test]
fn a_second_supervisor_of_the_same_task_folder_is_refused() {
    let env = env();
    let run = env.ralph(["supervise", "--task-dir", "work", "--", "sleep", "1000"]).ends("interrupted").code(130);
    let run = run.stderr_has("stopping now").spawn();
    run.wait_for_stderr("Starting agent");
    let second = env.ralph(["supervise", "--task-dir", "work", "--", "true"]).code(75);
    second.stderr_has(crate::OWNED).stderr_has("another ralph owns [PROJECT]/work: ").run();
    let other = env.ralph(["supervise", "--task-dir", "other", "--max-restarts", "1", "--", "true"]);
    other.ends("max-restarts").stderr_has("note: Attempt 1: Max restarts exceeded").code(1).run();
    run.signal(15);
    run.wait_for_stderr("Received signal");
    run.signal(15);
    run.finish();
}

#[test]
fn a_request_to_a_prompt_loop_enters_its_next_prompt() {
    let env = env();
    env.program(
        "other",
        "#!/bin/sh
        cat > prompt.$RALPH_ITERATION
        id=$(sed -n 's/^Request \\(m[a-z0-9]*\\) from .*/\\1/p' prompt.$RALPH_ITERATION)
        if [ $RALPH_ITERATION = 1 ]; then \"$RALPH\" bus post --type USER_REQUEST 'use tabs' >/dev/null; fi
        [ $RALPH_ITERATION = 3 ] && echo \"<ack>$id</ack>\"
        echo '<response>DONE</response>'
",
    );
    env.settings(json!({ "agent": { "command": "other" } }));
    let run = env.ralph(["run", "-p", "x", "--json"]).env("RALPH", env!("CARGO_BIN_EXE_ralph"));
    let lines = run.run().json_lines();
    assert_eq!(last(&lines), ("complete", 0, 3));
    assert!(env.read("prompt.2").contains("use tabs"), "{}", env.read("prompt.2"));
    assert!(env.read("prompt.2").contains("## Requests"));
}

#[test]
fn a_request_that_comes_while_the_checks_run_is_heard_before_they_count() {
    let env = env();
    env.program(
        "other",
        "#!/bin/sh
        cat > prompt.$RALPH_ITERATION
        sed -n 's/^Request \\(m[a-z0-9]*\\) from .*/<ack>\\1<\\/ack>/p' prompt.$RALPH_ITERATION
        echo '<response>DONE</response>'
",
    );
    let late =
        "test -e asked || { touch asked; \"$RALPH\" bus post --task t --type USER_REQUEST 'use tabs' >/dev/null; }";
    env.settings(json!({ "agent": { "command": "other" } })).live().guardrail(late);
    env.write(".gitignore", "prompt.*\nasked\n");
    let run = env.ralph(["run", "-p", "x", "--task", "t", "--json"]).env("RALPH", env!("CARGO_BIN_EXE_ralph"));
    let lines = run.run().json_lines();
    assert_eq!(last(&lines), ("complete", 0, 2));
    assert!(env.read("prompt.2").contains("use tabs"), "{}", env.read("prompt.2"));
}

#[test]
fn a_wish_to_wait_during_the_pause_is_seen_at_once() {
    let env = env();
    let args = ["supervise", "--task", "t", "--restart-delay", "1h", "--poll-interval", "1h", "--", "true"];
    let run = env.ralph(args).ends("waiting").code(6).spawn();
    run.wait_for_stderr("Attempt 1: Agent succeeded without DONE, restarting...");
    env.write(".ralph/tasks/t/WAIT_WITHOUT_RESTART", "");
    run.finish();
}

#[test]
fn a_task_folder_that_the_agent_deletes_is_made_again_and_one_that_it_replaces_is_an_error() {
    let env = env();
    let script = "if [ -e gone ]; then touch \"$TASK_FOLDER/DONE\"; else touch gone; rm -rf \"$TASK_FOLDER\"; fi";
    let args = ["supervise", "--task", "t", "--restart-delay", "0", "--", "sh", "-c", script];
    env.ralph(args).stdout_has("2 starts").stderr_has("it was made again").run();
    let script = "rm -rf \"$TASK_FOLDER\"; touch \"$TASK_FOLDER\"";
    let args = ["supervise", "--task", "u", "--restart-delay", "0", "--json", "--", "sh", "-c", script];
    let lines = env.ralph(args).code(2).run().json_lines();
    let message = lines.last().unwrap()["message"].as_str().unwrap();
    assert!(message.contains("the task folder cannot be used"), "{message}");
    assert_eq!(last(&lines), ("error", 2, 1));
}

#[test]
fn a_task_folder_is_supervised_once_wherever_the_state_is() {
    let env = env();
    let args = ["supervise", "--task-dir", "work", "--", "sleep", "1000"];
    let run = env.ralph(args).ends("interrupted").stderr_has("stopping now").code(130).spawn();
    run.wait_for_stderr("Starting agent");
    let other = env.ralph(["supervise", "--task-dir", "work", "--", "true"]);
    let other =
        other.env("RALPH_STATE_DIR", env.root().join("other-state")).stderr_has("another state directory[..]\nhint: ");
    other.code(75).run();
    run.signal(15);
    run.wait_for_stderr("Received signal");
    run.signal(15);
    run.finish();
}

#[test]
fn nobody_says_anything_to_a_run_that_is_complete() {
    let env = env();
    env.write(".ralph/tasks/t/DONE", "");
    let lines = env.ralph(["supervise", "--task", "t", "--json", "--", "true"]).run().json_lines();
    let run = lines[0]["run"].as_str().unwrap();
    env.ralph(["say", run, "too late"]).stderr_has("is complete and hears nothing any more[..]\nhint: ").code(2).run();
    assert_eq!(bus(&env, "t").len(), 1);
}

#[test]
fn without_a_name_cancel_means_the_top_of_the_tree_and_resume_what_rests() {
    let env = env();
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let inner = format!(
        "setsid {ralph} supervise --task inner -- sleep 1000 >/dev/null 2>&1 </dev/null & touch ready; sleep 1000"
    );
    let args = ["supervise", "--task", "outer", "--", "sh", "-c", &inner];
    let outer = env.ralph(args).ends("cancelled").stderr_has("stopping now").code(130).spawn();
    let running = |env: &TestEnv| {
        let status = env.ralph(["status", "--json"]).run().json_lines().remove(0);
        status["runs"].as_array().unwrap().iter().filter(|run| run["state"] == "running").count()
    };
    assert!(eventually(LONG, || env.exists("ready") && running(&env) == 2));
    env.ralph(["cancel"]).stdout("run [..] · cancelled · [..]\nrun [..] · cancelled · [..]\n").run();
    outer.finish();
    assert_eq!(running(&env), 0);
}

#[test]
fn child_runs_that_came_to_nothing_are_named_with_the_completion() {
    let env = env();
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let script = format!(
        "{ralph} supervise --task inner --max-restarts 1 -q -- true >/dev/null 2>&1; touch \"$TASK_FOLDER/DONE\""
    );
    let args = ["supervise", "--task", "outer", "--json", "--", "sh", "-c", &script];
    let lines = env.ralph(args).run().json_lines();
    let message = lines.last().unwrap()["message"].as_str().unwrap();
    assert!(message.contains("child runs not complete: ") && message.contains("(max-restarts)"), "{message}");
    assert!(env.read(".ralph/PROJECT-MESSAGE-BUS.md").contains("(max-restarts)"));
}

#[test]
fn a_request_that_comes_while_version_control_works_is_heard_before_the_end() {
    let env = env();
    env.program(
        "other",
        "#!/bin/sh
        cat > prompt.$RALPH_ITERATION; date +%N > work
        sed -n 's/^Request \\(m[a-z0-9]*\\) from .*/<ack>\\1<\\/ack>/p' prompt.$RALPH_ITERATION
        echo '<response>DONE</response>'
",
    );
    let push =
        "#!/bin/sh\ntest -e asked || { touch asked; \"$RALPH\" bus post --task t --type USER_REQUEST 'use tabs'; }\n";
    env.program("vcs", push);
    env.settings(json!({ "agent": { "command": "other" }, "scm": { "command": "vcs", "tasks": ["push"] } }));
    env.guardrail("true").write(".gitignore", "prompt.*\nasked\n");
    let run = env.ralph(["run", "-p", "x", "--task", "t", "--json"]).env("RALPH", env!("CARGO_BIN_EXE_ralph"));
    let lines = run.run().json_lines();
    assert_eq!(last(&lines), ("complete", 0, 2));
    assert!(env.read("prompt.2").contains("use tabs"), "{}", env.read("prompt.2"));
}
