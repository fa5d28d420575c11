//! Settings from files to verdict: the cases that ralph shares with its forebears, and a table for
//! each kind of problem.

use super::*;
use ralph_core::time::Millis;
use serde_json::{Value, json};
use std::fs;

fn read(base: Option<&str>, local: Option<&str>) -> Result<Loaded, SettingsError> {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join(".ralph")).unwrap();
    for (file, text) in FILES.iter().zip([base, local]) {
        if let Some(text) = text {
            fs::write(root.path().join(file), text).unwrap();
        }
    }
    Loaded::read(root.path(), None)
}

/// Every problem in one settings file that also names an agent.
fn problems(mut settings: Value) -> Vec<String> {
    if settings.pointer("/agent").is_none() {
        settings["agent"] = json!({"command": "c"});
    }
    let loaded = read(Some(&settings.to_string()), None).unwrap();
    loaded.check().err().map(|error| error.errors()).unwrap_or_default()
}

fn each_is_one_problem(table: &[(Value, &str)]) {
    for (settings, problem) in table {
        assert_eq!(problems(settings.clone()), [format!(".ralph/settings.json: {problem}")], "{settings}");
    }
}

fn is_part_of(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|whole| is_part_of(value, whole)))
        }
        (part, whole) => part == whole,
    }
}

#[test]
fn the_shared_cases_hold() {
    let cases: Value = serde_json::from_str(include_str!("../../tests/cases/settings.json")).unwrap();
    let cases = cases["settings"].as_array().unwrap();
    assert_eq!(cases.len(), 13);
    for case in cases {
        let loaded = read(case["settings.json"].as_str(), case["settings.local.json"].as_str());
        let checked = loaded
            .as_ref()
            .map_err(ToString::to_string)
            .and_then(|loaded| loaded.check().map_err(|error| error.to_string()));
        match (case.get("merged"), case["error_names"].as_str()) {
            (Some(merged), _) => {
                assert!(checked.is_ok(), "{case}: {checked:?}");
                let shown = loaded.unwrap().show_json();
                assert!(is_part_of(merged, &shown), "{case}\n{shown:#}");
            }
            (None, Some("syntax error in that file")) => {
                let spoilt = if case["settings.local.json"].is_null() { FILES[0] } else { FILES[1] };
                let error = checked.unwrap_err();
                assert!(error.starts_with(&format!("{spoilt}: syntax error at line 1, column 2: ")), "{error}");
            }
            (None, Some(key)) => {
                let in_local = case["settings.local.json"].is_string();
                let file = if in_local { FILES[1] } else { FILES[0] };
                let error = checked.unwrap_err();
                assert!(error.lines().any(|line| line.starts_with(&format!("{file}: {key}: "))), "{error}");
            }
            (None, None) => panic!("a case without an expectation: {case}"),
        }
    }
}

#[test]
fn no_files_mean_defaults_and_then_only_the_agent_is_missing() {
    let loaded = read(None, None).unwrap();
    assert!(loaded.files().is_empty() && loaded.warnings().is_empty());
    assert_eq!(
        loaded.check().unwrap_err().to_string(),
        "no settings file: agent.command: is missing, expected a string that is not blank\n\
         hint: pass --agent NAME to `ralph run`, or write settings with `ralph init`, or try `ralph demo` to see it work"
    );
    let flags = Flags { agent: Some("claude".to_owned()), ..Flags::default() };
    let settings = loaded.with_flags(&flags).check().unwrap();
    let mut expected = Settings::default();
    expected.agent.command = "claude".to_owned();
    assert_eq!(settings, expected);
}

#[test]
fn wrong_types() {
    each_is_one_problem(&[
        (json!({"maximumIterations": "5"}), "maximumIterations: expected a whole number of at least 1, found \"5\""),
        (json!({"maximumIterations": null}), "maximumIterations: expected a whole number of at least 1, found null"),
        (json!({"streamAgentOutput": 1}), "streamAgentOutput: expected true or false, found 1"),
        (json!({"completionResponse": true}), "completionResponse: expected a string that is not blank, found true"),
        (json!({"agent": "claude"}), "agent: expected an object, found \"claude\""),
        (json!({"agent": {"command": ["c"]}}), "agent.command: expected a string that is not blank, found a list"),
        (json!({"agent": {"command": null}}), "agent.command: expected a string that is not blank, found null"),
        (json!({"agent": {"command": "c", "flags": ["a", 1]}}), "agent.flags[1]: expected a string, found 1"),
        (
            json!({"agent": {"command": "c", "flags": {}}}),
            "agent.flags: expected a list of strings or null, found an object",
        ),
        (json!({"guardrails": {}}), "guardrails: expected a list of strings or objects or null, found an object"),
        (json!({"guardrails": [3]}), "guardrails[0]: expected a string that is not blank, or an object, found 3"),
        (json!({"guardrails": [" "]}), "guardrails[0]: expected a string that is not blank, or an object, found \" \""),
        (
            json!({"loop": {"stopCriteria": {"strict": "yes"}}}),
            "loop.stopCriteria.strict: expected true or false, found \"yes\"",
        ),
        (json!({"limits": {"maxCostUsd": "5$"}}), "limits.maxCostUsd: expected a number of at least 0, found \"5$\""),
        (
            json!({"tasks": {"a.b": {"enabled": "no"}}}),
            "tasks[\"a.b\"].enabled: expected true or false or null, found \"no\"",
        ),
        (json!({"tasks": {"a": true}}), "tasks.a: expected an object, found true"),
        (json!({"sandbox": "none"}), "sandbox: expected an object, found \"none\""),
        (json!({"scm": null}), "scm: expected an object, found null"),
    ]);
}

#[test]
fn numbers_out_of_bounds() {
    each_is_one_problem(&[
        (json!({"maximumIterations": 0}), "maximumIterations: expected a whole number of at least 1, found 0"),
        (json!({"maximumIterations": -3}), "maximumIterations: expected a whole number of at least 1, found -3"),
        (json!({"maximumIterations": 2.5}), "maximumIterations: expected a whole number of at least 1, found 2.5"),
        (
            json!({"maximumIterations": 4_294_967_296_u64}),
            "maximumIterations: expected a number of at most 4294967295, found 4294967296",
        ),
        (json!({"outputTruncateChars": 0}), "outputTruncateChars: expected a whole number of at least 1, found 0"),
        (json!({"loop": {"idleTimeoutMs": -1}}), "loop.idleTimeoutMs: expected a whole number of at least 0, found -1"),
        (
            json!({"loop": {"maxWallTimeMs": u64::MAX}}),
            "loop.maxWallTimeMs: expected a number of at most 315360000000, found 18446744073709551615",
        ),
        (
            json!({"guardrails": [{"command": "a", "timeoutMs": 1.5}]}),
            "guardrails[0].timeoutMs: expected a whole number of at least 0, found 1.5",
        ),
        (json!({"limits": {"maxCostUsd": -0.01}}), "limits.maxCostUsd: expected a number of at least 0, found -0.01"),
        (
            json!({"limits": {"maxTokens": 9_007_199_254_740_993_u64}}),
            "limits.maxTokens: expected a number of at most 9007199254740991, found 9007199254740993",
        ),
        (json!({"memory": {"maxChars": 0}}), "memory.maxChars: expected a whole number of at least 1, found 0"),
    ]);
    let off = json!({
        "loop": {"maxWallTimeMs": 0, "iterationTimeoutMs": 0, "idleTimeoutMs": 0, "stallAfter": 0, "maxConsecutiveFailures": 0},
        "limits": {"lingerMs": 0, "maxCostUsd": 0, "maxTokens": 0}, "guardrails": [{"command": "a", "timeoutMs": 0}]
    });
    assert!(problems(off).is_empty());
}

#[test]
fn texts_that_cannot_be_meant() {
    let dialects = ralph_agents::names().collect::<Vec<_>>().join(", ");
    each_is_one_problem(&[
        (json!({"completionResponse": ""}), "completionResponse: expected a string that is not blank, found \"\""),
        (
            json!({"completionResponse": " \n"}),
            "completionResponse: expected a string that is not blank, found \" \\n\"",
        ),
        (json!({"agent": {"command": ""}}), "agent.command: expected a string that is not blank, found \"\""),
        (
            json!({"agent": {"command": "a\u{0}"}}),
            "agent.command: expected text without a NUL character, found \"a\\u0000\"",
        ),
        (
            json!({"guardrails": [{"command": " "}]}),
            "guardrails[0].command: expected a string that is not blank, found \" \"",
        ),
        (
            json!({"guardrails": [{"hint": "h"}]}),
            "guardrails[0].command: is missing, expected a string that is not blank",
        ),
        (
            json!({"agents": {"fallback": ["a", {"command": " "}]}}),
            "agents.fallback[1].command: expected a string that is not blank, found a blank string",
        ),
        (json!({"scm": {"tasks": ["commit", ""]}}), "scm.tasks[1]: expected a string that is not blank, found \"\""),
        (
            json!({"agent": {"command": "c", "promptVia": "pipe"}}),
            "agent.promptVia: expected auto, stdin, arg or file, found \"pipe\"",
        ),
        (
            json!({"agent": {"command": "c", "dialect": "klaude"}}),
            &format!("agent.dialect: expected one of {dialects}, found \"klaude\""),
        ),
        (
            json!({"agent": {"command": "c", "env": {"A=B": "x"}}}),
            "agent.env[\"A=B\"]: expected the name of an environment variable, not empty and without `=`, found \"A=B\"",
        ),
        (
            json!({"agent": {"command": "c", "env": {"A\u{0}": "x"}}}),
            "agent.env[\"A\\u0000\"]: expected a name without a NUL character",
        ),
        (
            json!({"agent": {"command": "c", "envRemove": [""]}}),
            "agent.envRemove[0]: expected the name of an environment variable, not empty and without `=`, found \"\"",
        ),
        (
            json!({"loop": {"stopCriteria": {"successRegex": "("}}}),
            "loop.stopCriteria.successRegex: expected a regular expression, found \"(\": unclosed group",
        ),
        (
            json!({"memory": {"summaryFileName": "../x"}}),
            "memory.summaryFileName: expected the name of a file, without a folder, found \"../x\"",
        ),
        (
            json!({"memory": {"summaryFileName": "Ralph-Feedback.md"}}),
            "memory.summaryFileName: expected three different file names, found \"ralph-feedback.md\" twice",
        ),
        (
            json!({"memory": {"feedbackFileName": "x", "stateFileName": "x"}}),
            "memory.stateFileName: expected three different file names, found \"x\" twice",
        ),
    ]);
    // A secret is not repeated in a complaint about it.
    let secret = json!({"agent": {"command": "c", "env": {"PIN": 123456}}});
    assert_eq!(problems(secret), [".ralph/settings.json: agent.env.PIN: expected a string, found a number"]);
}

#[test]
fn all_problems_are_told_at_once_each_with_its_own_place() {
    let base = r#"{"maximumIterations": 0, "guardrails": [{"command": "a", "failAction": "NOPE"}, {}]}"#;
    let local = r#"{"streamAgentOutput": "x", "loop": {"idleTimeoutMs": -5}}"#;
    let flags = Flags { completion_response: Some(String::new()), max_cost: Some(f64::NAN), ..Flags::default() };
    let error = read(Some(base), Some(local)).unwrap().with_flags(&flags).check().unwrap_err();
    assert_eq!(
        error.to_string(),
        "\
.ralph/settings.json: maximumIterations: expected a whole number of at least 1, found 0
.ralph/settings.json: guardrails[0].failAction: expected APPEND, PREPEND or REPLACE, found \"NOPE\"
.ralph/settings.json: guardrails[1].command: is missing, expected a string that is not blank
.ralph/settings.local.json: streamAgentOutput: expected true or false, found \"x\"
.ralph/settings.local.json: loop.idleTimeoutMs: expected a whole number of at least 0, found -5
flag --completion-response: completionResponse: expected a string that is not blank, found \"\"
.ralph/settings.json: agent.command: is missing, expected a string that is not blank
flag --max-cost: limits.maxCostUsd: expected a number of at least 0, found \"NaN\"
hint: pass --agent NAME to `ralph run`, or write settings with `ralph init`, or try `ralph demo` to see it work"
    );
}

#[test]
fn files_that_are_no_settings_are_told_together() {
    let error = read(Some("{\n  \"maximumIterations\": 3,\n}"), Some("[]")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "\
.ralph/settings.json: syntax error at line 3, column 1: trailing comma
  3 | }
    | ^
.ralph/settings.local.json: expected an object at the top, found a list
hint: settings are plain JSON: no comments, no trailing commas, keys and text in double quotes
hint: settings look like {\"agent\": {\"command\": \"claude\"}}"
    );
    let error = read(Some(r#"{"agent": {"command": "a", "command": "b"}}"#), None).unwrap_err().to_string();
    assert!(
        error.starts_with(".ralph/settings.json: agent: the key `command` stands twice (line 1, column 36)"),
        "{error}"
    );
}

#[test]
fn a_wrong_value_is_told_even_where_another_layer_replaces_it() {
    let flags = Flags { agent: Some("codex".to_owned()), max_iterations: Some(5), ..Flags::default() };
    for (base, local, problem) in [
        (r#"{"agent": 7}"#, "{}", "settings.json: agent: expected an object, found 7"),
        (r#"{"agent": {"command": 7}}"#, "{}", "settings.json: agent.command: expected a string that is not blank"),
        (r#"{"maximumIterations": "x"}"#, "{}", "settings.json: maximumIterations: expected a whole number"),
        (r#"{"guardrails": "none"}"#, r#"{"guardrails": null}"#, "settings.json: guardrails: expected a list"),
        (r#"{"guardrails": [{}]}"#, r#"{"guardrails": []}"#, "settings.json: guardrails[0].command: is missing"),
        ("{}", r#"{"agent": []}"#, "settings.local.json: agent: expected an object"),
    ] {
        let error = read(Some(base), Some(local)).unwrap().with_flags(&flags).check().unwrap_err().to_string();
        assert!(error.starts_with(&format!(".ralph/{problem}")), "{base} {local}: {error}");
        assert_eq!(error.lines().filter(|line| !line.starts_with("hint:")).count(), 1, "{error}");
    }
    // What one file leaves out, another layer may say.
    let loaded = read(Some(r#"{"agent": {"flags": ["-x"]}}"#), Some(r#"{"agent": {"command": "codex"}}"#)).unwrap();
    assert_eq!(loaded.check().unwrap().agent.command, "codex");
    assert!(read(Some("{}"), None).unwrap().with_flags(&flags).check().is_ok());
}

#[test]
fn an_unknown_key_warns_and_changes_nothing_else() {
    let plain = read(Some(r#"{"agent": {"command": "c"}}"#), None).unwrap();
    let odd = read(Some(r#"{"agent": {"command": "c", "comandd": 1}}"#), Some(r#"{"agnet": {}}"#)).unwrap();
    assert_eq!(
        odd.warnings(),
        [
            ".ralph/settings.json: unknown key `agent.comandd` is ignored; did you mean `agent.command`?",
            ".ralph/settings.local.json: unknown key `agnet` is ignored; did you mean `agent`?",
        ]
    );
    assert_eq!((odd.show_json(), odd.hash()), (plain.show_json(), plain.hash()));
    assert_eq!(odd.files(), FILES);
    assert!(odd.check().is_ok());
}

#[test]
fn what_is_shown_can_be_written_back() {
    let text = r#"{"agent": {"command": "c", "env": {"A": "b"}}, "guardrails": [{"command": "a", "failAction": "append"}], "notify": {"x": [1]}, "tasks": {"t": {"enabled": null}}}"#;
    let loaded = read(Some(text), None).unwrap();
    let again = read(Some(&loaded.show(false)), None).unwrap();
    assert_eq!(again.warnings(), [".ralph/settings.json: `notify` has no effect in this version of ralph"]);
    assert_eq!(again.show_json(), loaded.show_json());
    assert_eq!(again.hash(), loaded.hash());
    assert_eq!(again.check().unwrap(), loaded.check().unwrap());
}

#[test]
fn flags_stand_over_both_files_and_are_named_as_origin() {
    let loaded =
        read(Some(r#"{"agent": {"command": "c"}, "maximumIterations": 3}"#), Some(r#"{"maximumIterations": 4}"#))
            .unwrap();
    assert!(loaded.show(true).contains("maximumIterations = 4  # .ralph/settings.local.json\n"));
    let before = loaded.hash();
    let flags = Flags { max_iterations: Some(7), idle_timeout: Some(Millis(1500)), ..Flags::default() };
    let loaded = loaded.with_flags(&flags);
    assert!(loaded.show(true).contains("maximumIterations = 7  # flag --maximum-iterations\n"));
    assert!(loaded.show(true).contains("loop.idleTimeoutMs = 1500  # flag --idle-timeout\n"));
    assert_eq!(loaded.check().unwrap().maximum_iterations, 7);
    assert_ne!(loaded.hash(), before);
}

/// A project's settings below which a user has others.
fn with_user(user: &Value, project: &Value) -> Loaded {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join(".ralph")).unwrap();
    fs::write(root.path().join("user.json"), user.to_string()).unwrap();
    fs::write(root.path().join(FILES[0]), project.to_string()).unwrap();
    Loaded::read(root.path(), Some(Path::new("user.json"))).unwrap()
}

#[test]
fn guardrails_of_the_user_are_added_to_those_of_any_project() {
    let user = json!({"maximumIterations": 3, "guardrails": ["own", {"command": "s3cret", "hidden": true}]});
    for (project, commands, origin) in [
        (json!({"guardrails": [{"command": "a"}]}), vec!["a", "own", "s3cret"], ".ralph/settings.json and user.json"),
        (json!({"guardrails": null, "maximumIterations": 4}), vec!["own", "s3cret"], ".ralph/settings.json"),
        (json!({}), vec!["own", "s3cret"], "user.json"),
    ] {
        let mut project = project;
        project["agent"] = json!({"command": "c"});
        let loaded = with_user(&user, &project);
        let settings = loaded.check().unwrap();
        let found: Vec<String> = settings.guardrails.iter().flatten().map(|entry| entry.guardrail().command).collect();
        assert_eq!(found, commands, "{project}");
        assert_eq!(settings.maximum_iterations, if project.get("maximumIterations").is_some() { 4 } else { 3 });
        assert_eq!(loaded.show_json_with_origin()["origins"]["guardrails"], json!(origin));
        assert!(!loaded.show(true).contains("s3cret") && !loaded.show_json().to_string().contains("s3cret"));
    }
    let wrong = with_user(&user, &json!({"agent": {"command": "c"}, "guardrails": "make"}));
    assert!(wrong.check().unwrap_err().to_string().starts_with(".ralph/settings.json: guardrails: expected a list"));
}

#[test]
fn guardrails_have_names_of_their_own_and_say_what_they_mean() {
    each_is_one_problem(&[
        (
            json!({"guardrails": [{"command": "a", "name": "x"}, "b", {"command": "c", "name": " x"}]}),
            "guardrails[2].name: expected a name of its own, found \"x\" twice",
        ),
        (
            json!({"guardrails": ["b", {"command": "a", "hidden": true}]}),
            "guardrails[1].hidden: expected false: the agent can read this file",
        ),
        (
            json!({"guardrails": [{"command": "a", "judges": ["ok/**", "../x"]}]}),
            "guardrails[0].judges[1]: expected a glob: `../x` is outside; it is relative to the project, such as `tests/**`",
        ),
        (
            json!({"guardrails": [{"command": "a", "work": "x"}]}),
            "guardrails[0].work: expected a list of strings, found \"x\"",
        ),
        (
            json!({"guardrails": [{"command": "a", "keep": ["/tmp"]}]}),
            "guardrails[0].keep[0]: expected a folder in the project, such as `coverage`, found \"/tmp\"",
        ),
        (
            json!({"guardrails": [{"command": "a", "caches": [".."]}]}),
            "guardrails[0].caches[0]: expected a folder in the project, such as `coverage`, found \"..\"",
        ),
        (json!({"verify": {"snapshot": "no"}}), "verify.snapshot: expected auto or off, found \"no\""),
    ]);
    let user = json!({"guardrails": [{"command": "b", "name": "x"}]});
    let twice = with_user(&user, &json!({"agent": {"command": "c"}, "guardrails": [{"command": "a", "name": "x"}]}));
    let told = twice.check().unwrap_err().to_string();
    assert_eq!(told, "user.json: guardrails[0].name: expected a name of its own, found \"x\" twice");
    let hidden =
        with_user(&json!({}), &json!({"agent": {"command": "c"}, "guardrails": [{"command": "a", "hidden": true}]}));
    assert!(hidden.check().unwrap_err().to_string().contains("hint: write hidden guardrails into the user's settings"));
}
