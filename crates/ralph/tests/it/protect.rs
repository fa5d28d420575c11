//! What an agent must leave alone, what was red before, and what is committed: with real files and git.

use crate::env;
use crate::story::story;
use ralph_testkit::TestEnv;
use serde_json::{Value, json};

/// A project with a script that judges and a protected test.
fn project(script: &str) -> TestEnv {
    let env = env();
    env.write("check.sh", "grep -q done work.txt\n").write("tests/a.txt", "expects much\n").write("work.txt", "");
    env.git(["add", "."]);
    env.git(["commit", "--quiet", "-m", "Rules"]);
    env.guardrail("sh check.sh").script(script).settings(json!({ "protect": { "paths": ["tests/**"] } }));
    env
}

fn protected(lines: &[Value]) -> Vec<bool> {
    let of_kind = |line: &&Value| line["type"] == "check.finished" && line["check"] == "protected";
    lines.iter().filter(of_kind).map(|line| line["passed"].as_bool().unwrap()).collect()
}

#[test]
fn j08_a_test_that_was_weakened_is_found_and_the_repair_is_accepted() {
    let env = project(
        "[1]\nfile work.txt done\nfile tests/a.txt expects nothing\nclaim\n[2]\nfile tests/a.txt expects much\\n\nclaim",
    );
    let lines = env.ralph(["run", "-p", "x", "--json"]).run().json_lines();
    assert_eq!(protected(&lines), [false, true]);
    let finished = lines.last().unwrap();
    assert_eq!(
        (&finished["stop_reason"], &finished["verified"], &finished["iterations"]),
        (&json!("complete"), &json!(true), &json!(2))
    );
    assert!(env.read(".ralph/prompt_002.txt").contains("tests/a.txt was changed"), "the agent is told");
    env.ralph(["explain"]).stdout_has("complete").run();
}

#[test]
fn a_guardrail_that_ran_no_test_has_not_passed() {
    let env = env();
    env.program("pytest", "if [ -e tests.txt ]; then echo '2 passed in 0.01s'; else echo 'no tests ran in 0.01s'; fi");
    env.guardrail("pytest -k nothing").script("[1]\nclaim\n[2]\nfile tests.txt two\nclaim");
    let lines = env.ralph(["run", "-p", "x", "--json"]).run().json_lines();
    let checks: Vec<_> = lines.iter().filter(|line| line["type"] == "check.finished").collect();
    assert_eq!(checks[0]["problem"], "ran no test");
    assert_eq!((&checks[0]["passed"], &checks[0]["exit_code"]), (&json!(false), &json!(0)));
    assert_eq!(checks.last().unwrap()["passed"], true);
    assert_eq!(lines.last().unwrap()["iterations"], 2);
    env.ralph(["explain"]).stdout_has("complete").run();
}

/// Who cannot help changing a protected file is told how.
const IF_IT_IS_WORK: &str = "note: if such a file is the work itself, name it in guardrails[].work and begin a run";
const IF_A_SCRIPT_IS_WORK: &str =
    "note: if [..].sh is the work itself, say so in the guardrail, \"work\": [\"[..].sh\"], and begin a new run";
/// What an agent does to the settings is told.
const SETTINGS_EDITED: &str = "note: [PROJECT]/.ralph/settings.local.json was edited; this run keeps the settings";

#[test]
fn c14_a_script_that_was_rewritten_is_executed_as_it_was_or_not_at_all() {
    for change in ["file check.sh exit 0", "remove check.sh\nsymlink /bin/true check.sh", "remove check.sh"] {
        for snapshot in [true, false] {
            let env = project(&format!("{change}\nclaim"));
            let told = if snapshot {
                "guardrail sh check.sh failed with exit code "
            } else {
                env.live();
                "so it was not executed"
            };
            let run = env.ralph(["run", "-p", "x", "-m", "2"]).ends("max-iterations").code(1);
            let run = run.stderr_has("✗ protected files check.sh was ").stderr_has(IF_A_SCRIPT_IS_WORK);
            run.stderr_has(told).run();
        }
    }
}

#[test]
fn c14_what_one_run_refused_verifies_no_later_one() {
    let env = project("file check.sh exit 0\nfile .ralph/settings.local.json {}\nclaim");
    env.ralph(["run", "-p", "x", "-m", "1"])
        .ends("max-iterations")
        .stderr_has(SETTINGS_EDITED)
        .stderr_has("✗ protected files check.sh was changed")
        .stderr_has(IF_A_SCRIPT_IS_WORK)
        .code(1)
        .run();
    // Saying it once is not enough.
    for _ in 0..2 {
        let next = env.ralph(["run", "-p", "x", "-m", "1"]).stderr_has(SETTINGS_EDITED);
        let next = next.ends("complete · checks passed, but no person stands behind what they are made of");
        let next = next.stderr_has("note: [..]settings.local.json was changed by the agent of run [..] ralph trust");
        next.stderr_has("note: check.sh was changed by the agent of run [..] ralph trust").run();
    }
    assert_eq!(story(&env)["verification"], "untrusted");
}

#[test]
fn what_was_changed_can_be_put_back_or_allowed() {
    let env = project("file check.sh exit 0\nremove tests/a.txt\nfile work.txt done\nclaim");
    env.settings(json!({ "protect": { "onChange": "restore" } }));
    env.ralph(["run", "-p", "x"])
        .stdout_has("complete · verified")
        .stderr_has("note: put back as it was at the start: check.sh was changed, tests/a.txt was deleted\n")
        .run();
    assert_eq!(
        (env.read("check.sh"), env.read("tests/a.txt")),
        ("grep -q done work.txt\n".to_owned(), "expects much\n".to_owned())
    );

    let env = project("file check.sh exit 0\nclaim");
    env.settings(json!({ "protect": { "onChange": "allow" } }));
    env.ralph(["run", "-p", "x"])
        .stdout_has("complete · verified")
        .stderr_has("note: protected, and allowed to change: check.sh was changed\n")
        .run();
}

#[test]
fn adding_files_is_no_violation_and_ignored_files_count() {
    let env = project("file tests/new.txt more\nfile work.txt done\nclaim");
    env.ralph(["run", "-p", "x"])
        .stdout_has("complete · verified")
        .stderr_has("✓ protected files")
        .stderr_has("note: made or changed during this run, and able to tell checks what to do: tests/new.txt")
        .run();

    let env = project("file secret/key.txt other\nfile work.txt done\nclaim");
    env.write(".gitignore", "secret/\n").write("secret/key.txt", "key");
    env.settings(json!({ "protect": { "paths": ["secret"] } }));
    env.ralph(["run", "-p", "x", "-m", "1"])
        .ends("max-iterations")
        .stderr_has("secret/key.txt was changed")
        .stderr_has(IF_IT_IS_WORK)
        .code(1)
        .run();
}

#[test]
fn e05_what_counts_is_what_was_there_at_the_start_also_after_a_resume() {
    let env = project("[1]\nfile tests/a.txt weak\nprint half\n[*]\nfile work.txt done\nclaim");
    // The advice is given once.
    for (call, advice) in [(&["run", "-p", "x", "-m", "1"][..], IF_IT_IS_WORK), (&["resume", "-m", "2"], "")] {
        let call = env.ralph(call).ends("max-iterations").stderr_has("✗ protected files tests/a.txt was changed");
        call.stderr_has(advice).code(1).run();
    }
    env.write("tests/a.txt", "expects much\n");
    env.ralph(["resume", "-m", "3"]).stdout_has("complete · verified").run();
}

#[test]
fn a_program_that_came_before_a_resume_was_not_there_at_the_start() {
    let env = project("[1]\nprint half\n[*]\nfile work.txt done\nclaim");
    env.ralph(["run", "-p", "x", "-m", "1"]).ends("max-iterations").code(1).run();
    let fake = env.program("grep", "#!/bin/sh\n");
    env.ralph(["resume", "-m", "2"])
        .ends("max-iterations")
        .stderr_has("/grep was hidden by ")
        .stderr_has("note: made or changed during this run, and able to tell checks what to do: [ROOT]/bin/grep")
        .stderr_has(IF_IT_IS_WORK)
        .code(1)
        .run();
    std::fs::remove_file(fake).unwrap();
    env.ralph(["resume", "-m", "3"]).stdout_has("complete · verified").run();
}

#[test]
fn what_was_red_before_the_first_iteration_is_told_apart() {
    let env = project("[1]\nfile other.txt broken\nclaim\n[*]\nfile work.txt done\nremove other.txt\nclaim");
    env.guardrail("test ! -e other.txt").settings(json!({ "verify": { "baseline": true } }));
    env.ralph(["run", "-p", "x"])
        .stdout_has("complete · verified")
        .stderr_has("note: before the first iteration 1 of 2 checks failed\n")
        .stderr_has("it failed before the first iteration too")
        .stderr_has("it passed before the first iteration, so this run broke it")
        .run();
    assert!(env.exists(".ralph/guardrail_000_sh_check_sh.log"));
}

#[test]
fn only_what_is_committed_counts_in_a_clean_checkout() {
    let env = project("[1]\nfile work.txt done\nclaim\n[*]\nrun git commit -qam work\nclaim");
    env.settings(json!({ "verify": { "cleanCheckout": true } }));
    let lines = env.ralph(["run", "-p", "x", "--json"]).run().json_lines();
    let clean: Vec<bool> = lines
        .iter()
        .filter(|line| line["check"] == "clean-tree")
        .map(|line| line["passed"].as_bool().unwrap())
        .collect();
    assert_eq!(clean, [false, true]);
    assert_eq!(lines.last().unwrap()["stop_reason"], "complete");
    // Nothing of the checkout is left, in the state folder or in the repository.
    assert_eq!(env.git(["worktree", "list"]).lines().count(), 1);
    let left = walk(&env.state()).into_iter().any(|path| path.contains("/checkout/"));
    assert!(!left);

    let env = project("claim").without_git();
    env.settings(json!({ "verify": { "cleanCheckout": true } }));
    env.ralph(["run", "-p", "x", "-m", "1"])
        .ends("max-iterations")
        .stderr_has("warning: `verify.cleanCheckout` needs git")
        .stderr_has("note: changes during the checks cannot be seen: not a git repository")
        .stderr_has("the commit cannot be judged: not a git repository")
        .code(1)
        .run();
}

#[test]
fn c14_a_script_that_is_cheated_in_the_commit_alone_or_behind_a_link_is_seen() {
    let cheat = "run cp check.sh ../kept && echo 'exit 0' > check.sh && git commit -qam x && \
                 git update-index --skip-worktree check.sh && cp ../kept check.sh\nclaim";
    let env = project(cheat);
    env.settings(json!({ "verify": { "cleanCheckout": true } }));
    env.ralph(["run", "-p", "x", "-m", "1"])
        .ends("max-iterations")
        .stderr_has("the commit cannot be judged: in the commit check.sh was changed")
        .code(1)
        .run();

    let env = project("file real.sh exit 0\nclaim");
    env.write("real.sh", "exit 1\n");
    std::fs::remove_file(env.path("check.sh")).unwrap();
    std::os::unix::fs::symlink("real.sh", env.path("check.sh")).unwrap();
    env.ralph(["run", "-p", "x", "-m", "1"])
        .ends("max-iterations")
        .stderr_has("real.sh was changed")
        .stderr_has(IF_A_SCRIPT_IS_WORK)
        .code(1)
        .run();
}

#[test]
fn a_glob_that_protects_nothing_is_told() {
    let env = project("file work.txt done\nclaim");
    env.settings(json!({ "protect": { "paths": ["tests/**", "nomatch/**"] } }));
    env.ralph(["run", "-p", "x"])
        .ends("complete · verified")
        .stderr_has("note: protect.paths: `nomatch/**` matches no file\n")
        .run();
}

#[test]
fn globs_and_words_of_protect_are_judged() {
    let env = project("claim");
    for (protect, complaint) in [
        (json!({ "paths": ["a{b"] }), "protect.paths[0]: expected a glob"),
        (json!({ "paths": "tests" }), "protect.paths: expected a list"),
        (json!({ "onChange": "forgive" }), "protect.onChange: expected fail, restore or allow"),
    ] {
        let env = project("claim");
        env.settings(json!({ "protect": protect }));
        env.ralph(["run", "-p", "x"]).stderr_has(complaint).code(2).run();
    }
    env.ralph(["config", "check"]).stdout("settings are fine (.ralph/settings.json)\n").run();
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        found.push(path.display().to_string());
        if entry.file_type().unwrap().is_dir() {
            found.extend(walk(&path));
        }
    }
    found
}
