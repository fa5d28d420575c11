//! What checks are made of, and who may say that it is trusted: with real files, processes and git.

use crate::env;
use ralph_testkit::TestEnv;
use serde_json::{Value, json};
use std::path::Path;

/// A project whose script judges.
fn project(script: &str) -> TestEnv {
    let env = env();
    env.write("check.sh", "grep -q done work.txt\n").write("work.txt", "");
    env.git(["add", "."]);
    env.git(["commit", "--quiet", "-m", "Rules"]);
    env.guardrail("sh check.sh").script(script);
    env
}

fn judges(env: &TestEnv) -> Value {
    env.ralph(["judges", "--json"]).run().json_lines().remove(0)
}

fn paths(check: &Value) -> Vec<&str> {
    let there = check["judges"].as_array().unwrap().iter().filter(|judge| judge["exists"] == true);
    there.map(|judge| judge["path"].as_str().unwrap()).collect()
}

#[test]
fn judges_are_listed_for_each_check_with_the_reason() {
    let env = env();
    env.write("Makefile", "test:\n\tsh ci/check.sh\nlint:\n\ttrue\n").write("ci/check.sh", "true\n");
    env.write("package.json", r#"{"scripts": {"test": "node run.js", "other": "x"}}"#).write("run.js", "");
    env.write("Cargo.toml", "[package]\nname = \"x\"\n").write("pytest.ini", "[pytest]\n").write("tests/a.py", "");
    env.settings(json!({"guardrails": [
        "make test",
        {"name": "unit", "command": "npm test", "work": ["run.js"]},
        "cargo test",
        {"command": "true", "judges": ["tests/**"], "caches": ["out"]},
        "sh $WHICH",
    ]}));
    let told = judges(&env);
    let checks = told["checks"].as_array().unwrap();
    assert_eq!(paths(&checks[0]), ["Makefile", "ci/check.sh"]);
    assert_eq!(checks[0]["judges"][1]["counts"], "what test needs");
    assert_eq!(checks[1]["check"], "unit");
    assert_eq!(paths(&checks[1]), ["package.json"]);
    assert!(paths(&checks[2]).contains(&"Cargo.toml"));
    assert_eq!(paths(&checks[3]), ["tests/a.py"]);
    assert_eq!(checks[3]["judges"][0]["why"]["why"], "declared");
    assert_eq!(checks[3]["caches"], json!(["out"]));
    let known: Vec<bool> = checks.iter().map(|check| check["known"].as_bool().unwrap()).collect();
    assert_eq!((known[0], known[3], known[4]), (true, true, false));
    assert!(checks[4]["unknown"][0]["mend"].as_str().unwrap().contains("guardrails[].judges"));
    env.ralph(["judges"])
        .stdout_has("Makefile  the command names it; what test needs")
        .stdout_has("ci/check.sh  Makefile names it")
        .stdout_has("tests/a.py  declared in guardrails[].judges")
        .stdout_has("? not known: ")
        .stdout_has("checks run ")
        .run();
    assert!(!env.exists(".ralph/.gitignore"), "nothing is written into the project");
}

#[test]
fn judges_need_no_agent_no_check_and_no_run() {
    let env = env();
    env.ralph(["judges"]).stdout_has("no check is configured").run();
    env.write(".ralph/settings.json", r#"{"guardrails": ["sh check.sh"], "verify": {"snapshot": "off"}}"#);
    let told = judges(&env);
    assert_eq!((&told["ground"], &told["live_because"]), (&json!("live"), &json!("verify.snapshot is off")));
    env.write(".ralph/settings.json", r#"{"guardrails": [{"command": "x", "keep": ["/"]}]}"#);
    env.ralph(["judges"]).stderr_has(".ralph/settings.json: guardrails[0].keep[0]: expected a folder").code(2).run();
}

#[test]
fn what_an_agent_changed_is_trusted_only_when_a_person_outside_says_so() {
    let env = project("file check.sh exit 0\nclaim");
    env.ralph(["trust", "--show"]).stdout_has("nothing that judges was changed by an agent").run();
    let refused = env.ralph(["run", "-p", "x", "-m", "1", "--json"]).code(1).run().json_lines();
    let run = refused.last().unwrap()["run"].as_str().unwrap().to_owned();

    env.script("file work.txt done\nclaim");
    let verification = || {
        let lines = env.ralph(["run", "-p", "x", "-m", "1", "--json"]).run().json_lines();
        lines.last().unwrap()["verification"].clone()
    };
    assert_eq!((verification(), verification()), (json!("untrusted"), json!("untrusted")), "once is not enough");
    let told = judges(&env);
    let judge =
        told["checks"][0]["judges"].as_array().unwrap().iter().find(|judge| judge["path"] == "check.sh").unwrap();
    assert_eq!((&judge["trusted"], &judge["changed_by"]), (&json!(false), &json!(run)));
    env.ralph(["judges"]).stdout_has("check.sh was changed by the agent of run").stdout_has("ralph trust --show").run();

    env.ralph(["explain"])
        .stdout_has("check.sh was changed by the agent of run")
        .stdout_has("ralph trust --show")
        .run();
    env.ralph(["trust", "--show"])
        .stdout_has("check.sh was changed by the agent of run")
        .stdout_has("  -grep -q done work.txt\n  +exit 0\n")
        .run();
    env.ralph(["trust"])
        .stderr_has("standard input is not a terminal")
        .stderr_has("ralph trust --show")
        .stderr_has("ralph trust --yes")
        .code(2)
        .run();
    assert_eq!(verification(), json!("untrusted"), "looking accepts nothing");

    let accepted = env.ralph(["trust", "--yes", "--json"]).run().json_lines().remove(0);
    assert_eq!((&accepted["accepted"], &accepted["changed"][0]["path"]), (&json!(true), &json!("check.sh")));
    assert_eq!(verification(), json!("verified"));
    env.ralph(["trust", "--yes"]).stdout_has("nothing that judges was changed by an agent").run();
}

#[test]
fn what_an_agent_takes_back_counts_again_and_nothing_else_does() {
    let env = project("file check.sh exit 0\nclaim");
    env.ralph(["run", "-p", "x", "-m", "1", "--json"]).code(1).run().json_lines();
    let end = |script: &str, code| {
        env.script(script);
        env.ralph(["run", "-p", "x", "-m", "1", "--json"]).code(code).run().json_lines().pop().unwrap()
    };
    assert_eq!(end("file work.txt done\nfile check.sh exit 0 # better\nclaim", 1)["verified"], false);
    assert_eq!(end("file work.txt done\nclaim", 0)["verification"], "untrusted");
    assert_eq!(end("run git checkout --quiet check.sh\nclaim", 0)["verification"], "verified");
    assert_eq!(end("claim", 0)["verification"], "verified", "it stays so");
}

#[test]
fn a_damaged_record_of_trust_tells_the_way_out() {
    let env = project("file work.txt done\nclaim");
    env.ralph(["run", "-p", "x", "-m", "1", "--json"]).run().json_lines();
    let record = std::fs::read_dir(env.state()).unwrap().map(|entry| entry.unwrap().path().join("trust.json"));
    let record = record.filter(|path| path.exists()).last().unwrap();
    std::fs::write(&record, "{\"accepted\": {").unwrap();
    env.ralph(["run", "-p", "x", "-m", "1"])
        .stdout_has("trust.json is damaged")
        .stdout_has("ralph trust --yes")
        .code(74)
        .run();
    env.ralph(["trust", "--show"])
        .stderr_has("error: what people trust cannot be read in ")
        .stderr_has("ralph trust --yes")
        .code(74)
        .run();
    env.ralph(["trust", "--yes"])
        .stderr_has("trust.json.damaged; a new one begins")
        .stdout("accepted: the next run is judged by what stands there now\n")
        .run();
    let lines = env.ralph(["run", "-p", "x", "-m", "1", "--json"]).run().json_lines();
    assert_eq!(lines.last().unwrap()["verification"], "verified");
}

/// Calls by which an agent tries to accept what it changed; `RALPH` stands for the program.
const TRICKS: [&str; 4] = [
    "RALPH trust --yes",
    "env -i HOME=$HOME PATH=$PATH RALPH_STATE_DIR=$RALPH_STATE_DIR RALPH trust --yes",
    "setsid env -i HOME=$HOME PATH=$PATH RALPH_STATE_DIR=$RALPH_STATE_DIR RALPH trust --yes",
    "unshare -Urpf --mount-proc env -i HOME=$HOME PATH=$PATH RALPH_STATE_DIR=$RALPH_STATE_DIR RALPH trust --yes",
];

#[test]
fn an_agent_accepts_nothing_however_it_hides_where_it_comes_from() {
    for trick in TRICKS {
        let trick = trick.replace("RALPH trust", &format!("{} trust", env!("CARGO_BIN_EXE_ralph")));
        let env = project(&format!("file check.sh exit 0\nrun {trick} > out.txt 2>&1; echo $? >> out.txt\nclaim"));
        let refused = env.ralph(["run", "-p", "x", "-m", "1", "--json"]).code(1).run().json_lines();
        assert_eq!(refused.last().unwrap()["stop_reason"], "max-iterations", "{trick}");
        let said = env.read("out.txt");
        // Machines without user namespaces refuse the last one themselves.
        if !said.starts_with("unshare:") {
            assert!(
                said.contains("ralph trust is refused inside a run: ") && said.ends_with("\n2\n"),
                "{trick}: {said}"
            );
        }
        env.script("file work.txt done\nclaim");
        let lines = env.ralph(["run", "-p", "x", "-m", "1", "--json"]).run().json_lines();
        assert_eq!(lines.last().unwrap()["verification"], "untrusted", "{trick}");
    }
}

/// Every text below a folder that holds this.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(holding(&path, text));
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).contains(text) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_hidden_check_is_seen_by_nobody_who_works_in_the_project() {
    let env = env();
    let script = env.root().join("home/s3cret.sh");
    std::fs::write(&script, "echo sp0iler; grep -q done work.txt\n").unwrap();
    let user = env.root().join("home/.config/ralph");
    std::fs::create_dir_all(&user).unwrap();
    let guardrail =
        json!({"command": format!("sh {}", script.display()), "hidden": true, "hint": "read the task again"});
    std::fs::write(user.join("settings.json"), json!({"guardrails": [guardrail]}).to_string()).unwrap();
    env.write("work.txt", "").script("[1]\nprint nothing\nclaim\n[2]\nfile work.txt done\nclaim");
    let out = env.ralph(["run", "-p", "x", "--json"]).run();
    let lines = out.json_lines();
    assert_eq!((&lines.last().unwrap()["verified"], &lines.last().unwrap()["iterations"]), (&json!(true), &json!(2)));
    let mut told = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    assert!(told.contains("hidden check 1"));
    let prompt = env.read(".ralph/prompt_002.txt");
    assert!(prompt.contains("\"hidden check 1\" failed") && prompt.contains("read the task again"), "{prompt}");
    for call in
        [&["show", "--json"][..], &["show"], &["explain"], &["judges"], &["judges", "--json"], &["config", "show"]]
    {
        told.push_str(&env.ralph(call).run().stdout);
    }
    for secret in ["s3cret", "sp0iler"] {
        assert!(!told.contains(secret), "{told}");
        assert_eq!(holding(&env.project(), secret), Vec::<String>::new());
    }
    let unknown = json!({"command": format!("sh {} && sh \"$(cat which-s3cret)\"", script.display()), "hidden": true});
    std::fs::write(user.join("settings.json"), json!({"guardrails": [unknown]}).to_string()).unwrap();
    std::fs::write(env.path("which-s3cret"), "check.sh").unwrap();
    env.write("check.sh", "true\n");
    let told = env.ralph(["run", "-p", "x", "-m", "1", "--json"]).run().json_lines();
    let told = told.iter().map(Value::to_string).collect::<String>() + &env.ralph(["explain"]).run().stdout;
    assert!(!told.contains("s3cret"), "{told}");
    std::fs::remove_dir_all(&user).unwrap();
    env.settings(json!({"guardrails": [{"command": "true", "hidden": true}]}));
    env.ralph(["run", "-p", "x"])
        .stderr_has("guardrails[0].hidden: expected false: the agent can read this file")
        .stderr_has("hint: write hidden guardrails into the user's settings")
        .code(2)
        .run();
}

#[test]
fn what_an_agent_changed_of_git_is_believed_by_no_later_run_until_it_is_undone() {
    let env = project("run git config filter.own.clean cat\nclaim");
    let run = |code: i32| env.ralph(["run", "-p", "x", "-m", "1", "--json"]).code(code).run().json_lines();
    let verification = |script: &str| {
        env.script(script);
        run(0).last().unwrap()["verification"].clone()
    };
    run(1);
    assert_eq!(verification("file work.txt done\nclaim"), "untrusted");
    env.ralph(["trust", "--show"]).stdout_has("git's setting filter.own.clean was changed by the agent of run").run();
    assert_eq!(verification("run git config --unset filter.own.clean\nclaim"), "verified");
    assert_eq!(verification("claim"), "verified");
    env.git(["config", "filter.mine.clean", "cat"]);
    assert_eq!(verification("claim"), "verified", "a person may do so");
}

#[test]
fn settings_that_an_agent_plants_in_a_run_without_checks_are_believed_by_no_later_run() {
    let plant = "file .ralph/settings.local.json {\"guardrails\":[\"true\"]}\n";
    let kill = r#"run kill -9 $(sed -n '1s/.*"pid":\([0-9]*\).*/\1/p' "$RALPH_RUN_DIR/process")"#;
    for end in [format!("{kill}\nrun sleep 9"), "claim".to_owned()] {
        let env = project(&format!("{plant}{end}"));
        env.settings(json!({"guardrails": []}));
        let first = env.ralph(["run", "-p", "x", "-m", "1"]);
        match end == "claim" {
            true => first.ends("complete · claimed, not verified").stderr_has("settings.local.json was edited").run(),
            false => first.killed_by(9).run(),
        };
        env.script("claim");
        let lines = env.ralph(["run", "-p", "x", "-m", "1", "--json"]).run().json_lines();
        assert_eq!(lines.last().unwrap()["verification"], "untrusted", "{end}");
    }
}

#[test]
fn a_protected_file_that_an_agent_deleted_is_missed_by_the_next_run() {
    let env = project("run rm tests/b.sh\nclaim");
    env.write("tests/a.sh", "true\n").write("tests/b.sh", "true\n");
    env.settings(json!({"protect": {"paths": ["tests/*.sh"]}}));
    env.ralph(["run", "-p", "x", "-m", "1", "--json"]).code(1).run().json_lines();
    let verification = |script: &str| {
        env.script(script);
        env.ralph(["run", "-p", "x", "-m", "1", "--json"]).run().json_lines().last().unwrap()["verification"].clone()
    };
    assert_eq!(verification("file work.txt done\nclaim"), "untrusted");
    assert_eq!(verification("run echo true > tests/b.sh\nclaim"), "verified", "it is as it was");
}

#[test]
fn without_the_record_of_what_people_trust_the_last_run_tells_what_stood_there() {
    let env = project("claim");
    env.ralph(["run", "-p", "x", "-m", "1", "--json"]).code(1).run().json_lines();
    let record = crate::damage::state(&env).join("trust.json");
    std::fs::remove_file(&record).unwrap();
    env.write("check.sh", "exit 0\n");
    let lines = env
        .ralph(["run", "-p", "x", "-m", "1", "--json"])
        .stderr_has("note: the record of what people trust is gone; run ")
        .run()
        .json_lines();
    assert_eq!(lines.last().unwrap()["verification"], "untrusted");
    assert!(record.exists());
}
