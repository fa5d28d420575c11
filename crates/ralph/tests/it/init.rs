//! `ralph init`: the questions on a terminal, and the flags of scripts.

use crate::env;
use ralph_testkit::{Terminal, TestEnv};
use serde_json::{Value, json};

const FILE: &str = ".ralph/settings.json";

/// A project without settings on a machine without agents: PATH holds git and little else.
fn bare() -> TestEnv {
    env().without_settings()
}

/// A PATH on which only this environment's own programs are.
fn own_path(env: &TestEnv) -> String {
    env.root().join("bin").display().to_string()
}

fn written(env: &TestEnv) -> Value {
    serde_json::from_str(&env.read(FILE)).unwrap()
}

/// Waits for each question and answers it.
#[track_caller]
fn answer(terminal: &Terminal<'_>, talk: &[(&str, &str)]) {
    let mut seen = 0;
    for (question, typed) in talk {
        terminal.wait_until(question, || {
            let screen = terminal.stdout_so_far();
            screen.get(seen..).and_then(|rest| rest.find(question)).is_some_and(|at| {
                seen += at + question.len();
                true
            })
        });
        terminal.send(&format!("{typed}\r"));
    }
}

const AGENT: &str = "Agent command (e.g., claude, codex, amp, or other LLM CLI): ";
const FLAGS: &str = "Agent flags (comma-separated, optional): ";
const ITERATIONS: &str = "Maximum iterations [10]: ";
const RESPONSE: &str = "Completion response [DONE]: ";
const GUARDRAIL: &str = "Add guardrail command (leave blank to finish): ";
const ACTION: &str = "  Fail action (APPEND|PREPEND|REPLACE): ";
const HINT: &str = "  Hint (optional, guidance for agent on failure): ";
const SCM: &str = "Configure SCM? (y/N): ";
const SCM_COMMAND: &str = "  SCM command (e.g., git): ";
const SCM_TASKS: &str = "  SCM tasks (comma-separated, e.g., commit,push): ";

#[test]
fn a_person_is_led_through_the_questions_and_the_settings_are_fine() {
    let env = bare().without_git();
    let init = env.ralph(["init"]).env("PATH", own_path(&env));
    let terminal = init.spawn_on_terminal(120, 40);
    let talk = [
        (AGENT, "claude"),
        (FLAGS, "--model,opus"),
        (ITERATIONS, ""),
        (RESPONSE, ""),
        (GUARDRAIL, "make lint"),
        (ACTION, "append"),
        (HINT, "Fix lint errors only. Do not change behavior."),
        (GUARDRAIL, "make test"),
        (ACTION, "APPEND"),
        (HINT, ""),
        (GUARDRAIL, ""),
        (SCM, "y"),
        (SCM_COMMAND, "git"),
        (SCM_TASKS, "commit"),
    ];
    answer(&terminal, &talk);
    let screen = terminal.finish().stdout.replace("\r\n", "\n");
    let mut expected = "\n".to_owned();
    for (question, typed) in talk {
        expected.push_str(&format!("{question}{typed}\n"));
    }
    assert!(screen.starts_with(&expected), "{screen}");
    assert!(screen.contains("\n\nSettings written to .ralph/settings.json\n"), "{screen}");
    assert!(screen.ends_with("next: ralph run -p 'make the tests pass'\n"), "{screen}");
    let settings = json!({
        "maximumIterations": 10,
        "completionResponse": "DONE",
        "outputTruncateChars": 5000,
        "streamAgentOutput": true,
        "includeIterationCountInPrompt": false,
        "agent": { "command": "claude", "flags": ["--model", "opus"] },
        "guardrails": [
            {
                "command": "make lint",
                "failAction": "APPEND",
                "hint": "Fix lint errors only. Do not change behavior."
            },
            { "command": "make test", "failAction": "APPEND" }
        ],
        "scm": { "command": "git", "tasks": ["commit"] }
    });
    assert_eq!(env.read(FILE), format!("{settings:#}\n"));
    assert!(env.read(".ralph/.gitignore").contains("!settings.json"));
    env.ralph(["config", "check"]).stdout_has("settings are fine").run();
}

#[test]
fn what_was_found_is_proposed_and_bad_input_asked_for_again() {
    let env = bare();
    env.program("claude", "#!/bin/sh\n");
    env.write("Makefile", "test:\n\ttrue\nlint:\n\ttrue\n");
    let terminal =
        env.ralph(["init"]).env("PATH", own_path(&env)).stdout_has("Settings written to").spawn_on_terminal(120, 40);
    answer(
        &terminal,
        &[
            ("LLM CLI) [claude]: ", "\x1b[A"),
            ("control character in it", ""),
            (FLAGS, ""),
            (ITERATIONS, "-3"),
            ("Please enter a whole number greater than 0.", "3"),
            (RESPONSE, "OK"),
            ("Add guardrail `make test`, found in Makefile? (Y/n): ", ""),
            ("Add guardrail `make lint`, found in Makefile? (Y/n): ", "n"),
            (GUARDRAIL, "true"),
            (ACTION, "sometimes"),
            ("Please enter APPEND, PREPEND or REPLACE.", "replace"),
            (HINT, ""),
            (GUARDRAIL, ""),
            (SCM, "y"),
            ("  SCM command (e.g., git) [git]: ", ""),
            (SCM_TASKS, ""),
        ],
    );
    terminal.finish();
    let settings = written(&env);
    assert_eq!(settings["agent"], json!({ "command": "claude", "flags": [] }));
    assert_eq!((&settings["maximumIterations"], &settings["completionResponse"]), (&json!(3), &json!("OK")));
    let guardrails =
        json!([{ "command": "make test", "failAction": "APPEND" }, { "command": "true", "failAction": "REPLACE" }]);
    assert_eq!(settings["guardrails"], guardrails);
    assert_eq!(settings["scm"], json!({ "command": "git", "tasks": [] }));
}

#[test]
fn settings_that_are_there_are_shown_and_kept_unless_their_owner_says_otherwise() {
    let env = env();
    env.settings(json!({ "agent": { "env": { "API_KEY": "s3cret" } } }));
    env.write(".ralph/settings.local.json", r#"{"maximumIterations": 77}"#);
    let before = env.read(FILE);
    for typed in ["", "n", "No"] {
        let terminal = env.ralph(["init"]).stdout_has("\"maximumIterations\": 77").stdout_lacks("s3cret");
        let terminal = terminal.stdout_has(
            "Loaded from .ralph/settings.json (with local overlay from settings.local.json)\r\nOverwrite? (y/N): ",
        );
        let terminal = terminal.spawn_on_terminal(120, 40);
        answer(&terminal, &[("Overwrite? (y/N): ", typed)]);
        terminal.finish();
        assert_eq!(env.read(FILE), before);
    }
    std::fs::remove_file(env.path(".ralph/settings.local.json")).unwrap();
    env.write(FILE, "{broken");
    let terminal = env
        .ralph(["init"])
        .env("PATH", own_path(&env))
        .stdout_has("cannot be read")
        .stdout_has("hint: settings are plain JSON");
    let terminal = terminal
        .stdout_has("warning: x cannot be found")
        .stdout_has("note: no check was found or given")
        .spawn_on_terminal(120, 40);
    let talk = [("Overwrite? (y/N): ", "y"), (AGENT, "x"), (FLAGS, ""), (ITERATIONS, ""), (RESPONSE, "")];
    answer(&terminal, &talk);
    answer(&terminal, &[(GUARDRAIL, ""), (SCM, "")]);
    terminal.finish();
    assert_eq!(written(&env)["agent"]["command"], "x");
}

#[test]
fn leaving_in_the_middle_writes_nothing() {
    // Ctrl-C, the end of input on an empty line, and the same behind half an answer.
    for keys in ["\x03", "\x04", "half\x04\x04"] {
        let env = bare();
        let terminal = env.ralph(["init"]).stdout_has("Aborted: nothing was written.").code(130);
        let terminal = terminal.env("PATH", own_path(&env)).spawn_on_terminal(120, 40);
        answer(&terminal, &[(AGENT, "claude")]);
        terminal.wait_for_stdout(FLAGS);
        terminal.send(keys);
        terminal.finish();
        assert!(!env.exists(".ralph"), "{keys:?}");
    }
}

#[test]
fn without_a_terminal_nothing_is_asked() {
    let env = bare();
    env.ralph(["init"])
        .stdin("claude\n\n\n\n\n\n")
        .stderr(
            "error: ralph init asks questions, and standard input is not a terminal\n\
             hint: write the settings without questions: ralph init --yes --agent claude\n",
        )
        .code(2)
        .run();
    assert!(!env.exists(".ralph"));
}

#[test]
fn scripts_say_what_they_know_and_take_proposals_for_the_rest() {
    let env = bare();
    env.program("claude", "#!/bin/sh\n");
    env.write("go.mod", "module x\n");
    let yes = |more: &[&str]| more.iter().fold(env.ralph(["init", "--yes"]), |init, flag| init.arg(flag));
    yes(&["--dry-run"]).stdout_has("\"command\": \"claude\"").stdout_has("go test ./...").run();
    assert!(!env.exists(".ralph"));
    yes(&[])
        .stdout("\nSettings written to .ralph/settings.json\n")
        .stderr_has("are pinned when a run begins; look at them: ralph judges")
        .stderr_has("note: ralph does not know ")
        .stderr_has("next: ralph run ")
        .run();
    assert_eq!(written(&env)["guardrails"][1]["command"], "go vet ./...");
    let again = "error: [PROJECT]/.ralph/settings.json is there already\nhint: look at it: ralph config show --origin\n\
                 hint: write it anew: ralph init --yes --force";
    yes(&[]).stderr(format!("{again}\n")).code(2).run();
    let all = [
        "--agent", "my agent", "--flag", "--model=x", "--flag", "y", "-m", "4", "-c", "OK", "--guardrail", "true",
        "--guardrail", "false", "--scm", "commit,push",
    ];
    let typed = "--agent 'my agent' --flag=--model=x --flag y -m 4 --completion-response OK --guardrail true \
                 --guardrail false --scm commit,push";
    yes(&all).stderr(format!("{again} {typed}\n")).code(2).run();
    // What is hinted at can be typed.
    let hinted = format!("ralph() {{ \"$0\" \"$@\"; }}; ralph init --yes --force {typed}");
    let init = env.ralph(["init"]).under(["sh", "-c", &hinted]);
    let init = init.stdout_has("Settings written to").stderr_has("next: ralph run -p ");
    init.stderr_has("warning: my agent cannot be found").stderr_has("look at them: ralph judges").run();
    let settings = written(&env);
    assert_eq!(settings["agent"], json!({ "command": "my agent", "flags": ["--model=x", "y"] }));
    assert_eq!(settings["guardrails"].as_array().unwrap().len(), 2);
    assert_eq!(settings["scm"]["tasks"], json!(["commit", "push"]));
    let json = yes(&["--force", "--no-guardrails", "--json"]).stderr_has("next: ralph run -p ");
    json.stdout_has("\"written\":\".ralph/settings.json\"").run();
    assert_eq!((&written(&env)["guardrails"], written(&env).get("scm")), (&json!([]), None));
}

#[test]
fn wrong_flags_and_a_machine_without_agents_are_told_and_nothing_is_written() {
    let env = bare();
    let yes = |more: &[&str]| {
        let init = env.ralph(["init", "--yes"]).env("PATH", own_path(&env)).code(2);
        more.iter().fold(init, |init, flag| init.arg(flag))
    };
    yes(&[])
        .stderr_has("no agent was found in PATH; looked for claude")
        .stderr_has("--agent COMMAND[..]\nhint: ")
        .run();
    yes(&["--agent", "x", "-m", "0"]).stderr_has("error: flag --maximum-iterations: maximumIterations: expected").run();
    yes(&["--agent", " "]).stderr_has("error: flag --agent: agent.command: expected[..]\nhint: ").run();
    yes(&["--agent", "x", "--guardrail", ""])
        .stderr_has("error: the new settings: guardrails[0].command: expected")
        .run();
    env.ralph(["init", "--agent", "x"]).stderr_has("error: [..]required arguments[..]\n  --yes").code(2).run();
    assert!(!env.exists(".ralph"));
    env.write(".ralph", "a file in the way");
    yes(&["--agent", "x"]).stderr_has("the settings cannot be written").stderr_has("not a directory[..]\nhint: ").run();
}
