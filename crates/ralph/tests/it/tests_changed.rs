//! Existing tests that a run changed are named where people and programs read how it ended.

use crate::env;
use crate::story::{runs, story};
use ralph_testkit::TestEnv;
use serde_json::{Value, json};

/// A project with a check that looks at none of the tests in it.
fn project(env: TestEnv, script: &str) -> TestEnv {
    env.write("check.sh", "test -e work.txt\n").write("src/lib.py", "x = 1\n");
    for name in ["changed", "deleted", "renamed", "restored", "committed", "touched", "kept"] {
        env.write(format!("tests/test_{name}.py"), &format!("assert '{name}'\n"));
    }
    env.guardrail("sh check.sh").script(script);
    env
}

fn committed(script: &str) -> TestEnv {
    let env = project(env(), script);
    env.git(["add", "."]);
    env.git(["commit", "--quiet", "-m", "Tests"]);
    env
}

/// What an agent may do to tests, short of a commit.
const DEEDS: &str = "[1]\nfile work.txt done\nfile tests/test_changed.py pass\nremove tests/test_deleted.py\n\
    run mv tests/test_renamed.py tests/test_other.py\nfile tests/test_restored.py pass\nfile src/lib.py x = 2\n\
    run touch -d 2001-01-01 tests/test_touched.py && chmod +x tests/test_touched.py\nfile tests/test_new.py pass\n\
    [2]\nfile tests/test_restored.py assert 'restored'\\n\nclaim";

const SENTENCE: &str =
    "3 existing tests changed: tests/test_deleted.py (deleted), tests/test_renamed.py (deleted), tests/test_changed.py";

fn names(object: &Value, field: &str) -> Vec<String> {
    let names = object[field].as_array().unwrap_or_else(|| panic!("{field} in {object}"));
    names.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn tests(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("tests/test_{name}.py")).collect()
}

#[test]
fn changed_deleted_and_renamed_tests_are_named_with_and_without_git() {
    for env in [committed(DEEDS), project(env().without_git(), DEEDS)] {
        let run = env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").stdout_has(SENTENCE);
        run.stderr_unchecked("a project without git is told so").run();
        for object in [story(&env), story(&env)["outcome"].clone(), runs(&env).remove(0)] {
            assert_eq!(names(&object, "tests_changed"), tests(&["changed", "deleted", "renamed"]));
            assert_eq!(names(&object, "tests_deleted"), tests(&["deleted", "renamed"]));
            assert_eq!((&object["tests_changed_count"], &object["verified"]), (&json!(3), &json!(true)));
        }
        env.ralph(["explain"]).stdout_has(SENTENCE).run();
        env.ralph(["show"]).stdout_has(SENTENCE).run();
        let explained = env.ralph(["explain", "--json"]).run().json_lines().remove(0);
        assert_eq!(names(&explained, "tests_changed"), tests(&["changed", "deleted", "renamed"]));
        env.ralph(["report"]).stdout_has("Existing tests that changed").stdout_has("tests/test_renamed.py").run();
    }
}

#[test]
fn what_an_agent_commits_counts_and_what_was_not_tracked_does_not() {
    let env = committed(
        "file tests/test_committed.py pass\nfile work.txt done\nfile tests/test_draft.py pass\n\
         run git add -A && git -c user.name=a -c user.email=a@example.com commit -qm Work\nclaim",
    );
    env.write("tests/test_draft.py", "assert 'draft'\n");
    let end = env.ralph(["run", "-p", "x", "--json"]).run().json_lines().pop().unwrap();
    assert_eq!((&end["type"], &end["verified"]), (&json!("run.finished"), &json!(true)));
    assert_eq!(names(&end, "tests_changed"), tests(&["committed"]));
}

#[test]
fn a_run_that_goes_on_is_compared_with_its_first_start() {
    let env = committed("[1]\nfile tests/test_changed.py pass\n[2]\nfile work.txt done\nclaim");
    let first = env.ralph(["run", "-p", "x", "-m", "1", "--json"]).code(1).run().json_lines().pop().unwrap();
    assert_eq!(
        (&first["stop_reason"], names(&first, "tests_changed")),
        (&json!("max-iterations"), tests(&["changed"]))
    );
    // What a person commits in between was still the run's doing.
    env.git(["commit", "--quiet", "-a", "-m", "By hand"]);
    let end = env.ralph(["resume", "-m", "2", "--json"]).run().json_lines().pop().unwrap();
    assert_eq!((&end["stop_reason"], names(&end, "tests_changed")), (&json!("complete"), tests(&["changed"])));
}

#[test]
fn a_run_that_changes_no_test_says_nothing_about_tests() {
    let env = committed("file work.txt done\nfile tests/test_new.py pass\nclaim");
    env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").stdout_lacks("existing test").run();
    assert_eq!((names(&story(&env), "tests_changed"), &story(&env)["tests_changed_count"]), (vec![], &json!(0)));
    env.ralph(["report"]).stdout_has("complete").stdout_lacks("xisting test").run();
}

#[test]
fn scripts_that_are_the_work_do_not_hide_what_happens_to_tests() {
    let env = committed("file tests/test_changed.py pass\nfile work.txt done\nclaim");
    env.settings(json!({ "protect": { "scripts": false } }));
    let lines = env.ralph(["run", "-p", "x", "--json"]).run().json_lines();
    assert!(!lines.iter().any(|line| line["type"] == "judges.pinned"), "nothing is pinned");
    assert_eq!(names(lines.last().unwrap(), "tests_changed"), tests(&["changed"]));
}

#[test]
fn a_run_without_checks_does_not_look_at_tests() {
    let env = env();
    env.write("tests/test_a.py", "assert 1\n").script("file tests/test_a.py pass\nclaim");
    env.git(["add", "."]);
    let end = env.ralph(["run", "-p", "x", "--json"]).run().json_lines().pop().unwrap();
    assert_eq!((&end["stop_reason"], &end["tests_changed"]), (&json!("complete"), &Value::Null));
}

#[test]
fn a_record_that_is_lost_is_said_and_changes_no_verdict() {
    let env = committed("[1]\nprint nothing yet\n[2]\nfile work.txt done\nclaim");
    env.ralph(["run", "-p", "x", "-m", "1"]).ends("max-iterations").code(1).run();
    let record = file_below(&env.state(), "tests");
    std::fs::write(record, "nothing").unwrap();
    env.ralph(["resume", "-m", "2"])
        .stdout_has("complete · verified")
        .stderr_has("note: which existing tests this run changes cannot be told: their record is damaged\n")
        .run();
    assert_eq!(story(&env)["tests_changed"], Value::Null);
}

/// The file of this name somewhere below a folder.
fn file_below(folder: &std::path::Path, name: &str) -> std::path::PathBuf {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() == name {
                return entry.path();
            }
        }
    }
    panic!("there is no {name}");
}

#[test]
fn tests_outside_of_the_project_and_in_modules_are_named_as_seen_from_it() {
    let env = env();
    env.write("tests/test_all.py", "assert 1\n").write("app/tests/test_app.py", "assert 2\n");
    env.write("app/.ralph/settings.json", &env.read(".ralph/settings.json"));
    let module = env.root().join("module");
    std::fs::create_dir_all(module.join("tests")).unwrap();
    std::fs::write(module.join("tests/test_module.py"), "assert 3\n").unwrap();
    let (there, origin) = (module.to_string_lossy().into_owned(), "module".to_owned());
    env.git(["init", "--quiet", &there]);
    env.git(["-C", &there, "add", "."]);
    env.git(["-C", &there, "commit", "--quiet", "-m", "Module"]);
    env.git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &there, &origin]);
    env.git(["add", "."]);
    env.git(["commit", "--quiet", "-m", "All"]);
    env.script(
        "file ../tests/test_all.py pass\nfile tests/test_app.py pass\nfile ../module/tests/test_module.py pass\nclaim",
    );
    let settings = json!({ "guardrails": [{ "command": "true" }] });
    env.write("app/.ralph/settings.local.json", &settings.to_string());
    let run = env.ralph(["run", "-p", "x", "--json"]).current_dir(env.path("app")).any_end().run();
    let end = run.json_lines().pop().unwrap();
    let expected = ["../module/tests/test_module.py", "../tests/test_all.py", "tests/test_app.py"];
    let mut found = names(&end, "tests_changed");
    found.sort();
    assert_eq!(found, expected);
}
