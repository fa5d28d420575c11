//! Wrong calls, wrong settings, wrong files: each is told what is wrong with which thing and what to
//! do, ends with its documented code, and leaves nothing half-written.

use crate::env;
use crate::story::{begun, judged, launches, runs, story};
use ralph_testkit::{TestEnv, has_tool};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Everything that a refused call could have written, with its content.
fn everything(env: &TestEnv) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![env.project(), env.state(), env.home()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            let content = if kind.is_file() { std::fs::read(entry.path()).unwrap_or_default() } else { Vec::new() };
            if kind.is_dir() {
                folders.push(entry.path());
            }
            found.insert(entry.path(), content);
        }
    }
    found
}

/// The call is refused with this code and these words, prints nothing as a result, and changes nothing.
#[track_caller]
fn refused(env: &TestEnv, arguments: &[&str], code: i32, said: &[&str]) {
    let before = everything(env);
    let call = env.ralph(arguments).stderr_lacks("panicked").code(code);
    said.iter().fold(call, |call, said| call.stderr_has(said)).run();
    assert!(everything(env) == before, "{arguments:?} wrote something");
}

/// The same for a run with these settings.
#[track_caller]
fn refused_settings(text: &str, said: &[&str]) {
    let env = env();
    env.script("append $HOME/launches x").write(".ralph/settings.json", text);
    let said: Vec<&str> = [&["error: .ralph/settings.json: "], said].concat();
    refused(&env, &["run", "-p", "x"], 2, &said);
    // Judging finds the same.
    refused(&env, &["config", "check"], 2, &said);
}

#[test]
fn exactly_one_prompt_is_needed_and_it_says_something() {
    let env = env();
    let example = "hint: for example: ralph run -p 'make the tests pass'  or  ralph run -f PROMPT.md";
    for (arguments, said) in [
        (&["run"][..], "error: no prompt was given: one of -p, -f and --plan is needed"),
        (&["run", "-p", ""], "error: the prompt is empty"),
        (&["run", "-p", " \n\t "], "error: the prompt is empty"),
        (&["run", "-p", "x", "-f", "README.md"], "error: only one of -p, -f and --plan can be given"),
        (&["run", "-p", "x", "--plan"], "error: only one of -p, -f and --plan can be given"),
        (&["run", "-f", "README.md", "--plan", "ralph"], "error: only one of -p, -f and --plan can be given"),
    ] {
        refused(&env, arguments, 2, &[said, example]);
    }
}

#[test]
fn c10_a_prompt_file_that_is_none_is_refused_with_its_path() {
    let env = env();
    env.write("empty.md", "").write("blank.md", " \n\n").write("folder/x", "");
    std::fs::write(env.path("latin1.md"), b"caf\xe9").unwrap();
    symlink("nowhere", env.path("dangling.md")).unwrap();
    std::process::Command::new("mkfifo").arg(env.path("pipe.md")).status().unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(env.path("socket.md")).unwrap();
    for (file, problem) in [
        ("missing.md", "does not exist"),
        ("dangling.md", "does not exist"),
        ("empty.md", "is empty"),
        ("blank.md", "is empty"),
        ("folder", "cannot be read: it is a directory, not a file"),
        ("pipe.md", "cannot be read: it is a named pipe, not a file"),
        ("socket.md", "cannot be read: it is a socket, not a file"),
        ("latin1.md", "is not UTF-8: look at byte 4"),
        ("/dev/null", "cannot be read: it is a device, not a file"),
    ] {
        let path = if file.starts_with('/') { file.to_owned() } else { format!("[PROJECT]/{file}") };
        let hint = "hint: give a file with -f, or the text itself with -p";
        refused(&env, &["run", "-f", file], 2, &[&format!("error: the prompt file {path} {problem}"), hint]);
        refused(&env, &["run", "-f", file, "--dry-run"], 2, &[problem, hint]);
    }
}

#[test]
fn c10_a_prompt_file_that_may_not_be_read_is_refused_with_its_path() {
    if !has_tool("setpriv") {
        return;
    }
    let env = env();
    env.write("secret.md", "x");
    std::fs::set_permissions(env.path("secret.md"), std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read everything, unless it gives that up.
    let run = env.ralph(["run", "-f", "secret.md"]).under(["setpriv", "--bounding-set=-dac_override,-dac_read_search"]);
    run.stderr_has("error: the prompt file [PROJECT]/secret.md cannot be read: Permission denied[..]\nhint: ")
        .code(2)
        .run();
}

#[test]
fn c10_a_prompt_file_that_vanishes_between_iterations_ends_the_run_and_burns_nothing() {
    for (action, problem) in [
        ("remove PROMPT.md", "does not exist"),
        ("file PROMPT.md ", "is empty"),
        ("run rm PROMPT.md && mkdir PROMPT.md", "it is a directory, not a file"),
        ("run rm PROMPT.md && mkfifo PROMPT.md", "it is a named pipe, not a file"),
    ] {
        let env = env();
        env.write("PROMPT.md", "the task").guardrail("true");
        env.script(&format!("append $HOME/launches 1\\n\n[1]\nprint not yet\n{action}\n[2]\nclaim\n"));
        let run = env.ralph(["run", "-f", "PROMPT.md"]).code(2);
        run.stdout_has(&format!("the prompt file [PROJECT]/PROMPT.md[..]{problem}")).stdout_has("next: ").run();
        let told = story(&env);
        assert_eq!((judged(&told), &told["stop_reason"]), (vec![1], &json!("error")), "{action}");
        env.ralph(["resume"]).stdout_has(problem).code(2).run();
        let _ = std::fs::remove_dir(env.path("PROMPT.md"));
        let _ = std::fs::remove_file(env.path("PROMPT.md"));
        env.write("PROMPT.md", "the task");
        env.ralph(["resume"]).stdout_has("complete · verified").run();
        assert_eq!((launches(&env).len(), begun(&story(&env))), (2, vec![1, 2]), "{action}");
    }
}

#[test]
fn settings_that_are_not_json_say_where() {
    for (text, said) in [
        ("", &["syntax error: the file is empty", "hint: write {} into the file"][..]),
        ("{\"agent\":\n", &["syntax error at line 2", "hint: settings are plain JSON"]),
        ("{\n  \"maximumIterations\": 3,\n}", &["syntax error at line 3, column 1", "hint: settings are plain JSON"]),
        ("// no comments\n{}", &["syntax error at line 1", "hint: settings are plain JSON"]),
        ("[]", &["expected an object at the top, found a list", "hint: settings look like {"]),
        ("null", &["expected an object at the top", "hint: settings look like {"]),
        (r#"{"agent": {"command": "a"}, "agent": {"command": "b"}}"#, &["the key `agent` stands twice"]),
    ] {
        refused_settings(text, said);
    }
}

#[test]
fn settings_of_a_wrong_type_or_value_name_file_key_and_reason() {
    let number = |least: u32, found: &str| format!("expected a whole number of at least {least}, found {found}");
    for (settings, key, problem) in [
        (json!({ "maximumIterations": "ten" }), "maximumIterations", number(1, "\"ten\"")),
        (json!({ "maximumIterations": 0 }), "maximumIterations", number(1, "0")),
        (json!({ "maximumIterations": -1 }), "maximumIterations", number(1, "-1")),
        (json!({ "maximumIterations": 1.5 }), "maximumIterations", number(1, "1.5")),
        (json!({ "maximumIterations": 1e30 }), "maximumIterations", "expected".to_owned()),
        (json!({ "loop": { "stallAfter": -1 } }), "loop.stallAfter", number(0, "-1")),
        (json!({ "loop": { "maxWallTimeMs": "1h" } }), "loop.maxWallTimeMs", number(0, "\"1h\"")),
        (json!({ "loop": 7 }), "loop", "expected an object, found 7".to_owned()),
        (json!({ "agent": { "command": 7 } }), "agent.command", "found 7[..]\nhint: ".to_owned()),
        (
            json!({ "agent": { "command": " " } }),
            "agent.command",
            "expected a string that is not blank[..]\nhint: ".to_owned(),
        ),
        (json!({ "agent": { "dialect": "klingon" } }), "agent.dialect", "klingon".to_owned()),
        (json!({ "agent": { "promptVia": "pigeon" } }), "agent.promptVia", "pigeon".to_owned()),
        (json!({ "streamAgentOutput": "yes" }), "streamAgentOutput", "\"yes\"".to_owned()),
        (json!({ "guardrails": [{ "command": "" }] }), "guardrails[0].command", "not blank".to_owned()),
        (json!({ "guardrails": [{}] }), "guardrails[0].command", "is missing".to_owned()),
        (json!({ "guardrails": {} }), "guardrails", "expected a list".to_owned()),
        (
            json!({ "guardrails": [{ "command": "x", "failAction": "EAT" }] }),
            "guardrails[0].failAction",
            "expected APPEND, PREPEND or REPLACE, found \"EAT\"".to_owned(),
        ),
        (
            json!({ "loop": { "stopCriteria": { "successRegex": "(" } } }),
            "loop.stopCriteria.successRegex",
            "(".to_owned(),
        ),
        (
            json!({ "loop": { "stopCriteria": { "blockedRegex": "[" } } }),
            "loop.stopCriteria.blockedRegex",
            "[".to_owned(),
        ),
        (json!({ "memory": { "summaryFileName": "../x" } }), "memory.summaryFileName", "../x".to_owned()),
    ] {
        let mut whole = json!({ "agent": { "command": "sh" } });
        merge(&mut whole, settings);
        refused_settings(&whole.to_string(), &[key, &problem]);
    }
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

#[test]
fn an_agent_must_be_named_and_the_missing_key_says_so() {
    let env = env().without_settings();
    for place in ["no settings file", ".ralph/settings.json"] {
        let said = [&format!("error: {place}: agent.command: is missing"), "hint: pass --agent NAME to `ralph run`"];
        refused(&env, &["run", "-p", "x"], 2, &said);
        refused(&env, &["config", "check"], 2, &said);
        env.write(".ralph/settings.json", "{}");
    }
}

#[test]
fn the_local_settings_are_named_when_they_hold_the_fault() {
    let env = env();
    env.write(".ralph/settings.local.json", "{\"loop\": 7}");
    let said = ["error: .ralph/settings.local.json: loop: expected an object, found 7"];
    refused(&env, &["run", "-p", "x"], 2, &said);
}

#[test]
fn an_unknown_key_warns_and_names_the_nearest() {
    let env = env();
    env.script("claim").settings(json!({ "maximumIteration": 3 }));
    let warning =
        "warning: .ralph/settings.json: unknown key `maximumIteration` is ignored; did you mean `maximumIterations`?";
    env.ralph(["run", "-p", "x"]).ends("complete · claimed, not verified").stderr_has(warning).run();
    env.ralph(["config", "check"]).stdout("settings are fine (.ralph/settings.json)\n").stderr_has(warning).run();
}

#[test]
fn settings_that_are_no_file_are_refused() {
    let env = env().without_settings();
    std::fs::create_dir_all(env.path(".ralph/settings.json")).unwrap();
    refused(&env, &["run", "-p", "x"], 2, &["error: .ralph/settings.json: is a folder, expected a file"]);
    std::fs::remove_dir(env.path(".ralph/settings.json")).unwrap();
    std::process::Command::new("mkfifo").arg(env.path(".ralph/settings.json")).status().unwrap();
    refused(&env, &["run", "-p", "x"], 2, &["error: .ralph/settings.json: "]);
}

#[test]
fn a_wrong_flag_is_named_and_so_is_the_way_to_help() {
    let env = env();
    for (arguments, said) in [
        (&["run", "-p", "x", "-m", "0"][..], &["--maximum-iterations", "at least 1, found 0"][..]),
        (&["run", "-p", "x", "-m", "-3"], &["--maximum-iterations", "at least 1, found -3"]),
        (&["run", "-p", "x", "-m", "many"], &["--maximum-iterations", "many", "--help"]),
        (&["run", "-p", "x", "-m", "99999999999"], &["--maximum-iterations"]),
        (&["run", "-p", "x", "--max-cost", "lots"], &["--max-cost", "`lots` is not an amount like 12.50"]),
        (&["run", "-p", "x", "--max-cost", "NaN"], &["--max-cost", "NaN"]),
        (&["run", "-p", "x", "--max-cost=-1"], &["--max-cost", "-1"]),
        (&["run", "-p", "x", "--max-cost", "-1"], &["--max-cost", "-1"]),
        (&["run", "-p", "x", "--max-tokens=-1"], &["--max-tokens", "-1"]),
        (&["run", "-p", "x", "--max-tokens", "-1"], &["--max-tokens", "`-1` is not a whole number like 500000"]),
        (&["run", "-p", "x", "--max-wall-time", "-1"], &["--max-wall-time", "-1"]),
        (&["run", "-p", "x", "--iteration-timeout", "-1s"], &["--iteration-timeout", "-1s"]),
        (&["run", "-p", "x", "--idle-timeout", "-1"], &["--idle-timeout", "-1"]),
        (&["run", "-p", "--json"], &["--prompt", "'--json'", "looks like a flag"]),
        (&["run", "-p", "-m", "3"], &["unexpected argument '3'"]),
        (&["run", "-p", "-q"], &["--prompt", "'-q'", "looks like a flag"]),
        (&["run", "--prompt=-fix"], &["--prompt", "'-fix'", "looks like a flag, not like a prompt: -p 'make the "]),
        (&["resume", "--max-tokens", "-1"], &["--max-tokens", "-1"]),
        (&["resume", "-m", "-1"], &["--maximum-iterations", "-1"]),
        (&["run", "-p", "x", "--task", ""], &["--task needs a name"]),
        (&["run", "-p", "x", "--agent", ""], &["agent.command", "hint: pass --agent NAME"]),
        (&["run", "-p", "x", "--completion-response", ""], &["completion"]),
        (&["run", "-p", "x", "--sandbox", "docker"], &["the sandbox `docker` is not available", "hint: "]),
        (&["run", "-p", "x", "--wat"], &["unexpected argument '--wat'", "--help"]),
        (&["wat"], &["unrecognized subcommand 'wat'", "--help"]),
        (&["ru", "-p", "x"], &["unrecognized subcommand 'ru'", "'run'"]),
        (&["run", "-q", "-V", "-p", "x"], &["cannot be used with"]),
        (&["--color", "sometimes", "status"], &["'sometimes'", "auto, always, never"]),
        (&["resume", "-m", "0"], &["-m needs a number of at least 1"]),
    ] {
        refused(&env, arguments, 2, said);
    }
}

#[test]
fn a_folder_that_is_none_is_named() {
    let env = env();
    refused(&env, &["-C", "/nonexistent", "run", "-p", "x"], 2, &["error: the folder /nonexistent cannot be opened"]);
    refused(&env, &["-C", "README.md", "status"], 2, &["error: [PROJECT]/README.md is not a folder"]);
}

#[test]
fn a_run_that_is_not_there_is_named_with_what_there_is() {
    let env = env();
    for command in ["resume", "show", "explain", "report", "logs", "cancel"] {
        refused(&env, &[command, "zzzzzzzz"], 2, &["error: ", "hint: "]);
        // `show` and `logs` take a path for a wrong number of an iteration.
        let said =
            if ["show", "logs"].contains(&command) { &["error: "][..] } else { &["error: ", "hint: begin one: "] };
        refused(&env, &[command, "../../x"], 2, said);
    }
    env.script("claim");
    env.ralph(["run", "-p", "x"]).ends("complete · claimed, not verified").run();
    let id = runs(&env)[0]["run"].as_str().unwrap().to_owned();
    let (near, far) = (format!("{}_", &id[1..]), ["zzzzzzzz", ""]);
    for command in ["resume", "show", "explain", "report", "logs", "cancel"] {
        let missing = |typed: &str| format!("error: there is no run `{typed}` in this project\n");
        refused(&env, &[command, &near], 2, &[&missing(&near), &format!("hint: near it: {id}\nhint: list them: ")]);
        for typed in far {
            refused(&env, &[command, typed], 2, &[&format!("{}hint: list them: ralph status", missing(typed))]);
        }
    }
    refused(&env, &["show", &format!("{id}/7")], 2, &["has no iteration 7", "hint: list them: ralph show"]);
    refused(&env, &["show", &format!("{id}/x")], 2, &["error: "]);
}

#[test]
fn an_agent_that_cannot_run_ends_it_at_once_and_burns_nothing() {
    let env = env();
    env.write("not-executable", "#!/bin/sh\n").write("not-a-program", "text");
    std::fs::set_permissions(env.path("not-a-program"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for (agent, problem) in [
        ("no-such-agent", "no-such-agent was not found in PATH"),
        ("/no/such/agent", "/no/such/agent does not exist"),
        ("./not-executable", "./not-executable is not executable"),
        ("./not-a-program", "./not-a-program is not a program that this machine can execute"),
    ] {
        env.ralph(["run", "-p", "x", "--agent", agent])
            .stderr_has(&format!("✗ agent: the agent could not be started: {problem}"))
            .stdout_has(problem)
            .stdout_has("0 iterations")
            .stdout_has("next: ")
            .code(5)
            .run();
        assert!(judged(&story(&env)).is_empty());
    }
    // With the agent there, the same run goes on.
    env.program("no-such-agent", "#!/bin/sh\ncat > /dev/null\necho '<response>DONE</response>'\n");
    env.ralph(["run", "-p", "x", "--agent", "late-agent"])
        .ends("error")
        .stderr_has("late-agent was not found")
        .code(5)
        .run();
    env.program("late-agent", "#!/bin/sh\ncat > /dev/null\necho '<response>DONE</response>'\n");
    env.ralph(["resume"]).stdout_has("claimed, not verified, after 1 iteration").run();
}

#[test]
fn a_state_folder_in_a_wrong_place_is_refused_with_the_way_out() {
    let env = env();
    let hint = "hint: choose another one: export RALPH_STATE_DIR=/a/folder/outside/the/project";
    let open = env.root().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    std::fs::write(env.root().join("file"), "").unwrap();
    for (state, code, said) in [
        (env.path("state"), 2, "is inside the project [PROJECT]"),
        (env.path(".ralph/state"), 2, "is inside the project [PROJECT]"),
        (open, 2, "can be written by everybody"),
        (env.root().join("file"), 74, "Not a directory"),
        (PathBuf::from("/proc/nowhere"), 74, "cannot be used"),
    ] {
        let before = everything(&env);
        let run = env.ralph(["run", "-p", "x"]).env("RALPH_STATE_DIR", &state).code(code);
        run.stderr_has("error: the state folder ").stderr_has(said).stderr_has(hint).run();
        assert!(everything(&env) == before, "{}", state.display());
    }
    let nowhere = env.ralph(["run", "-p", "x"]).env("RALPH_STATE_DIR", "").env("HOME", "").code(2);
    nowhere.stderr_has("error: there is no place for ralph's state").stderr_has("hint: export RALPH_STATE_DIR=").run();
}

#[test]
fn c14_a_ralph_folder_that_is_a_link_is_refused() {
    for name in [".ralph", ".ralph/tasks", ".ralph/tasks/t"] {
        let env = env().without_settings();
        let elsewhere = env.root().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::create_dir_all(env.path(Path::new(name).parent().unwrap())).unwrap();
        symlink(&elsewhere, env.path(name)).unwrap();
        let run = env.ralph(["run", "-p", "x", "--task", "t", "--agent", "sh"]).code(2);
        let cause = format!("  caused by: [PROJECT]/{name} is a symbolic link, not a directory: move it away");
        run.stderr_has(&format!("error: the project's .ralph folder cannot be used\n{cause}")).run();
        assert!(std::fs::read_dir(&elsewhere).unwrap().next().is_none(), "nothing was written through it");
    }
}

#[test]
fn a_project_without_git_works() {
    let env = env().without_git();
    env.script("print not yet\n[2]\nfile built yes\nclaim").guardrail("test -f built");
    let note = "note: changes during the checks cannot be seen: not a git repository";
    env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").stderr_has(note).run();
}

#[test]
fn what_cannot_work_here_is_told_before_an_agent_works() {
    for (env, git) in [(env(), true), (env().without_git(), false)] {
        env.script("claim").guardrail("true");
        env.settings(json!({ "verify": { "cleanCheckout": true }, "scm": { "tasks": ["commit"] } }));
        let mut run = env.ralph(["run", "-p", "x", "--model", "m", "--dry-run"]).stdout_has("## Completion protocol");
        run = run
            .stderr_has("warning: [..] is not told of the model `m`")
            .stderr_has("command: [..]\nfolder: [..]\nprompt ");
        for setting in ["verify.cleanCheckout", "scm.tasks"].iter().filter(|_| !git) {
            run = run.stderr_has(&format!("warning: `{setting}` needs git, and [PROJECT] is in no work tree"));
        }
        run.run();
    }
}

#[test]
fn a_repository_without_a_commit_works() {
    let env = env().without_git();
    env.git(["init", "--quiet"]);
    env.script("claim").guardrail("true");
    env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").run();
}

#[test]
fn results_that_nobody_reads_to_the_end_are_no_fault() {
    let env = env();
    env.script("claim");
    env.ralph(["run", "-p", "x"]).ends("complete · claimed, not verified").run();
    let ralph = env!("CARGO_BIN_EXE_ralph");
    for command in
        ["config schema", "config show --origin", "--help", "show --json", "run -p x --dry-run", "wat", "demo --help"]
    {
        // Both streams end in a reader that is gone.
        let line = format!("{{ {ralph} {command}; echo $? > $HOME/code; }} 2>&1 | true; cat $HOME/code");
        let run = env.ralph(["status"]).under(["sh", "-c", &line, "sh"]).run();
        let code = run.stdout.trim();
        assert!(code == "0" || code == "2", "{command}: {code}");
    }
}

#[test]
fn c08_a_pipe_in_any_place_where_a_file_is_read_holds_nothing_up() {
    let task = ".ralph/tasks/t";
    let of_the_task = ["ralph-summary.md", "ralph-feedback.md", "ralph-iteration.json", "TASK-MESSAGE-BUS.md", "DONE"];
    let of_the_task: Vec<String> = of_the_task.iter().map(|name| format!("{task}/{name}")).collect();
    let others = [
        ".ralph/settings.json", ".ralph/settings.local.json", ".ralph/guardrail_001_true.log", ".ralph/prompt_001.txt",
        ".ralph/PROJECT-MESSAGE-BUS.md", "Makefile", "package.json", "Cargo.toml", "pyproject.toml", "go.mod",
    ];
    for place in of_the_task.iter().map(String::as_str).chain(others) {
        let env = env();
        env.guardrail("true").script("[1]\nprint working\n[2]\nclaim\n");
        env.ralph(["run", "-p", "x", "--task", "t", "-m", "1"]).ends("max-iterations").code(1).run();
        let _ = std::fs::remove_file(env.path(place));
        assert!(std::process::Command::new("mkfifo").arg(env.path(place)).status().unwrap().success());
        let commands: &[&[&str]] = &[
            &["run", "-p", "x", "--task", "t", "--dry-run"],
            &["resume", "-m", "2"],
            &["run", "-p", "x", "--task", "t", "-m", "1"],
            &["logs", "--failed"],
            &["logs"],
            &["show"],
            &["explain"],
            &["report"],
            &["status"],
            &["bus", "read", "--task", "t"],
            &["bus", "post", "--type", "INFO", "x"],
            &["config", "check"],
            &["init", "--yes", "--agent", "claude"],
        ];
        for command in commands {
            let call = env.ralph(*command).stdin("").time_limit(Duration::from_secs(20)).any_end();
            let _ = call
                .stderr_unchecked("what is told depends on the place; that it ends is what counts")
                .run()
                .stdout
                .len();
        }
    }
}
