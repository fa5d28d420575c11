//! `ralph doctor`: what it finds on machines that were made for it.

use crate::env;
use ralph_testkit::{Finished, TestEnv, eventually};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const VERSION: &str = "#!/bin/sh\necho '2.1.325 (Claude Code)'\n";

/// A machine whose only agent is this `claude`, which the settings name.
fn with_claude(program: &str) -> TestEnv {
    let env = env();
    env.program("claude", program);
    env.settings(json!({ "agent": { "command": "claude" } }));
    env
}

/// Looks, on a PATH where only this environment's own programs are, and checks the exit code.
#[track_caller]
fn look(env: &TestEnv, variables: &[(&str, &str)], code: i32) -> Report {
    let doctor = env.ralph(["doctor", "--json"]).env("PATH", env.root().join("bin")).code(code);
    let run = variables.iter().fold(doctor, |doctor, (name, value)| doctor.env(name, value)).run();
    Report(run.json_lines().remove(0), run)
}

struct Report(Value, Finished);

impl Report {
    /// Status, detail and fix of a check; nothing if it was not made.
    fn check(&self, name: &str) -> (&str, &str, &str) {
        let found = self.0["checks"].as_array().unwrap().iter().find(|check| check["check"] == name);
        let text = |key: &str| found.and_then(|check| check[key].as_str()).unwrap_or_default();
        (text("status"), text("detail"), text("fix"))
    }
}

#[test]
fn a_machine_that_is_ready_is_told_so_and_left_as_it_was() {
    let env = with_claude(VERSION);
    fs::create_dir(env.home().join(".claude")).unwrap();
    fs::write(env.home().join(".claude/.credentials.json"), "{\"token\": \"s3cret\"}").unwrap();
    let before = env.git(["status", "--porcelain", "--ignored"]);
    let run = env
        .ralph(["doctor"])
        .stdout_has("ok       settings        .ralph/settings.json\n")
        .stdout_has("ok       agent           claude 2.1.325, logged in, by ~/.claude/.credentials.json\n")
        .stdout_has("ok       project         [PROJECT]\n")
        .stdout_has("state           [STATE]/project-[..]")
        .stdout_has("ok       lock            no other ralph works here\n")
        .stdout_has("ok       runs            none was left unfinished\n")
        .stdout_has("ok       git             git [..], repository [PROJECT]\n")
        .stdout_has("\nA run could start here.\n")
        .stdout_lacks("s3cret")
        .stdout_lacks("problem")
        .run();
    assert!(run.took < Duration::from_secs(3), "{:?}", run.took);
    assert_eq!(env.git(["status", "--porcelain", "--ignored"]), before);
    assert!(!env.exists(".ralph/tasks") && fs::read_dir(env.state()).unwrap().next().is_none());
    assert!(env.processes().is_empty());
}

#[test]
fn programs_get_one_object() {
    let env = with_claude(VERSION);
    let Report(report, _) = look(&env, &[], 0);
    assert_eq!((&report["v"], &report["ok"], &report["exit_code"]), (&json!(1), &json!(true), &json!(0)));
    let checks = report["checks"].as_array().unwrap();
    for check in checks {
        let keys: Vec<&String> = check.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["check", "status", "detail", "fix"]);
        assert!(["ok", "note", "problem"].contains(&check["status"].as_str().unwrap()), "{check}");
        // What is not as it should be comes with something to type.
        assert_eq!(check["fix"].is_null(), check["status"] == "ok", "{check}");
    }
    assert_eq!(checks[0]["check"], "settings");
}

#[test]
fn the_login_is_told_by_signs_in_the_environment_that_the_agent_would_get() {
    let key = ("ANTHROPIC_API_KEY", "s3cret");
    type Case<'a> = (Value, &'a [(&'a str, &'a str)], &'a str);
    let cases: &[Case<'_>] = &[
        (json!({}), &[key], "claude 2.1.325, logged in, by ANTHROPIC_API_KEY"),
        (json!({}), &[("ANTHROPIC_API_KEY", "")], "claude 2.1.325, not logged in"),
        (json!({ "envRemove": ["ANTHROPIC_API_KEY"] }), &[key], "claude 2.1.325, not logged in"),
        (
            json!({ "env": { "CLAUDE_CODE_OAUTH_TOKEN": "s3cret" } }),
            &[],
            "claude 2.1.325, logged in, by CLAUDE_CODE_OAUTH_TOKEN",
        ),
        (json!({ "env": { "ANTHROPIC_API_KEY": "" } }), &[key], "claude 2.1.325, not logged in"),
        (
            json!({}),
            &[("CLAUDE_CONFIG_DIR", "moved")],
            "claude 2.1.325, logged in, by $CLAUDE_CONFIG_DIR/.credentials.json",
        ),
    ];
    for (agent, variables, expected) in cases {
        let env = with_claude(VERSION);
        env.settings(json!({ "agent": agent })).write("moved/.credentials.json", "{\"token\": \"s3cret\"}");
        let report = look(&env, variables, 0);
        let (status, detail, fix) = report.check("agent");
        assert_eq!(detail, *expected, "{agent} {variables:?}");
        assert_eq!((status == "ok", fix.contains("log in")), (detail.contains(" by "), !detail.contains(" by ")));
        assert!(!report.1.stdout.contains("s3cret"));
    }
}

#[test]
fn versions_that_are_old_garbled_or_failing_are_notes() {
    let key = [("ANTHROPIC_API_KEY", "x")];
    for (program, detail, fix) in [
        (
            "#!/bin/sh\necho 1.9.2\n",
            "claude 1.9.2 is older than 2.1, which ralph was made with; logged in",
            "npm install",
        ),
        ("#!/bin/sh\necho; echo '\x1b]0;owned\x07what?'\n", "its version cannot be told", "claude --version"),
        ("#!/bin/sh\nhead -c 100000 /dev/zero\n", "its version cannot be told", "claude --version"),
        ("#!/bin/sh\necho 2.1.325\nexit 3\n", "its --version failed", "claude --version"),
        ("#!/bin/sh\necho 2.1.325 >&2\n", "claude 2.1.325, logged in", ""),
        (
            "#!/bin/sh\n[ \"$1\" = --version ] && [ -z \"$CLAUDECODE\" ] && ! read line && echo 2.2.0\n",
            "claude 2.2.0, logged in",
            "",
        ),
    ] {
        let env = with_claude(program);
        let report = env.ralph(["doctor", "--json"]).env(key[0].0, key[0].1).env("CLAUDECODE", "1").run();
        let report = Report(report.json_lines().remove(0), report);
        let (status, told, fixed) = report.check("agent");
        assert!(told.contains(detail) && fixed.contains(fix), "{program}: {told} {fixed}");
        assert_eq!(status == "ok", fix.is_empty(), "{program}");
    }
}

#[test]
fn an_agent_that_never_answers_is_cut_with_everything_below_it() {
    let env = with_claude("#!/bin/sh\ntrap '' TERM\nsetsid sleep 1000 &\nwhile :; do sleep 1000; done\n");
    let run = env.ralph(["doctor"]).stdout_has("its --version did not end and was stopped").run();
    assert!(run.took >= Duration::from_secs(5) && run.took < Duration::from_secs(9), "{:?}", run.took);
    assert!(eventually(Duration::from_secs(2), || env.processes().is_empty()));
}

#[test]
fn an_agent_that_cannot_be_started_is_a_problem() {
    let env = env();
    env.settings(json!({ "agent": { "command": "claude" } }));
    let report = look(&env, &[], 5);
    assert_eq!(report.check("agent").0, "problem");
    assert!(
        report.check("agent").1.contains("claude was not found in PATH")
            && report.check("agent").2.contains("npm install")
    );
    let file = env.program("claude", VERSION);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(look(&env, &[], 5).check("agent").1.contains("not executable"));
    env.settings(json!({ "agent": { "command": "./no-such-agent" } }));
    let report = look(&env, &[], 5);
    assert!(report.check("agent").1.contains("./no-such-agent does not exist"), "{}", report.0);
    assert!(report.check("agent claude").1.contains("not executable"), "{}", report.0);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(look(&env, &[], 5).check("agent").2, "ralph run --agent claude …");
}

#[test]
fn an_unknown_agent_is_not_started() {
    let env = env();
    let file = env.program("my-agent", "#!/bin/sh\ntouch \"$HOME/started\"\n");
    for command in ["my-agent", file.to_str().unwrap()] {
        env.settings(json!({ "agent": { "command": command } }));
        assert!(look(&env, &[], 0).check("agent").1.contains("it was not started"));
    }
    // Nor is one that came with the project, whatever it is called.
    env.write("claude", "#!/bin/sh\ntouch \"$HOME/started\"\n");
    fs::set_permissions(env.path("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    env.settings(json!({ "agent": { "command": "./claude" } }));
    assert!(look(&env, &[], 0).check("agent").1.contains("it lies in the project, so it was not started"));
    assert!(!env.home().join("started").exists());
}

#[test]
fn without_settings_any_agent_will_do() {
    let env = env().without_settings();
    let report = look(&env, &[], 5);
    assert!(report.check("agent").1.contains("none is configured and none was found; looked for claude"));
    env.program("claude", VERSION);
    let report = look(&env, &[], 0);
    assert_eq!(
        report.check("agent"),
        ("note", "none is configured; claude is there", "ralph init --yes --agent claude")
    );
    assert_eq!(report.check("agent claude").0, "note");
    assert_eq!(report.check("settings").2, "ralph init");
    // The fix is one.
    env.ralph(["init", "--yes", "--agent", "claude"])
        .stdout_has("Settings written to")
        .stderr_has("note: no check was found or given")
        .stderr_has("add one: ralph init --yes --force --guardrail ")
        .stderr_has("next: ralph run -p ")
        .run();
    assert_eq!(look(&env, &[("ANTHROPIC_API_KEY", "x")], 0).check("agent").0, "ok");
    env.ralph(["doctor", "--agent", "no-such-agent"]).stdout_has("no-such-agent was not found in PATH").code(5).run();
}

#[test]
fn settings_that_no_run_could_use_are_a_problem() {
    let env = with_claude(VERSION);
    env.settings(json!({ "maximumIterations": 0, "guardrails": [{}] }));
    let report = look(&env, &[], 2);
    let (status, detail, fix) = report.check("settings");
    assert_eq!((status, fix), ("problem", "ralph config check"));
    assert!(detail.contains("maximumIterations: expected") && detail.contains("guardrails[0].command"), "{detail}");
    // The agent that they name is looked at all the same.
    assert!(report.check("agent").1.starts_with("claude 2.1.325"));
    env.write(".ralph/settings.json", "{broken");
    assert!(look(&env, &[], 2).check("settings").1.contains("syntax error at line 1"));
    env.write(".ralph/settings.json", r#"{"agent": {"command": "claude"}, "maximumIteration": 3}"#);
    let report = look(&env, &[], 0);
    assert!(report.check("settings").0 == "note" && report.check("settings").1.contains("did you mean"));
}

#[test]
fn folders_that_cannot_be_used_are_a_problem() {
    let env = with_claude(VERSION);
    let inside = env.path("state");
    let report = look(&env, &[("RALPH_STATE_DIR", inside.to_str().unwrap())], 2);
    assert!(report.check("state").1.contains("is inside the project") && !inside.exists());
    fs::write(env.root().join("file"), "").unwrap();
    let file = env.root().join("file/state");
    assert!(look(&env, &[("RALPH_STATE_DIR", file.to_str().unwrap())], 2).check("state").1.contains("is a file"));
    if fs::metadata("/dev/shm").is_ok() {
        let report = look(&env, &[("RALPH_STATE_DIR", "/dev/shm/ralph-doctor-test")], 0);
        assert!(report.check("state").0 == "note" && report.check("state").1.contains("is in memory"));
    }
    fs::remove_dir_all(env.path(".ralph")).unwrap();
    env.write(".ralph", "");
    let report = look(&env, &[], 2);
    assert!(report.0["checks"].as_array().unwrap().iter().any(|check| check["status"] == "problem"), "{}", report.0);
}

#[test]
fn another_ralph_and_unfinished_runs_are_told_with_what_to_type() {
    let env = env();
    env.script("touch ready\nwait-file go\nclaim");
    let running = env.ralph(["run", "-p", "x"]).killed_by(9).spawn();
    running.wait_for_file("ready");
    let report = look(&env, &[], 75);
    let (status, detail, fix) = report.check("lock");
    assert_eq!(status, "problem");
    assert!(detail.contains("another ralph owns") && fix.starts_with("ralph cancel "), "{detail} {fix}");
    running.crash();
    let report = look(&env, &[], 0);
    let (status, detail, fix) = report.check("runs");
    assert!(status == "note" && detail.contains("(crashed)") && fix.starts_with("ralph resume "), "{detail} {fix}");
    env.write("go", "");
    let resume: Vec<&str> = fix.split(' ').skip(1).collect();
    env.ralph(resume).ends("complete · claimed, not verified").run();
    assert_eq!(look(&env, &[], 0).check("runs").0, "ok");
}

#[test]
fn git_is_asked_for_an_author_only_if_there_will_be_commits() {
    let env = env();
    let look = || {
        let run = env.ralph(["doctor", "--json"]).env_remove("GIT_COMMITTER_NAME").env_remove("GIT_COMMITTER_EMAIL");
        let run = run.env_remove("GIT_AUTHOR_NAME").env_remove("GIT_AUTHOR_EMAIL").run();
        Report(run.json_lines().remove(0), run)
    };
    assert_eq!(look().check("git identity"), ("", "", ""));
    env.settings(json!({ "scm": { "command": "git", "tasks": ["commit"] } }));
    env.git(["config", "user.useConfigOnly", "true"]);
    let report = look();
    assert_eq!(report.check("git identity").0, "note");
    assert!(report.check("git identity").2.starts_with("git config user.name"));
    env.git(["config", "user.name", "A"]);
    env.git(["config", "user.email", "a@b"]);
    assert_eq!(look().check("git identity").0, "ok");
    fs::remove_dir_all(env.path(".git")).unwrap();
    assert_eq!(look().check("git").2, "git init");
}
