//! Version control after green guardrails, with real git.

use crate::env;
use crate::story::{iterations, story};
use ralph_testkit::TestEnv;
use serde_json::{Value, json};

/// An agent that works by `work`, and by `answer` when it is asked for a commit message.
fn agent(work: &str, answer: &str) -> TestEnv {
    let env = env();
    let program = env.program(
        "worker",
        &format!(
            "#!/bin/sh\nprompt=$(cat)\ncase \"$prompt\" in\n*'commit message'*)\n{answer}\n;;\n*)\n{work}\n;;\nesac\n"
        ),
    );
    env.settings(json!({ "agent": { "command": program }, "scm": { "tasks": ["commit"] } })).guardrail("true");
    env
}

const WORK: &str = "echo more >> README.md; echo '<response>DONE</response>'";

fn subjects(env: &TestEnv) -> Vec<String> {
    env.git(["log", "--format=%s"]).lines().map(str::to_owned).collect()
}

/// What `scm.finished` lines say: task, whether it passed, and the rest.
fn tasks(lines: &[Value]) -> Vec<(String, bool, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    lines
        .iter()
        .filter(|line| line["type"] == "scm.finished")
        .map(|line| (text(&line["task"]), line["passed"].as_bool().unwrap(), text(&line["detail"])))
        .collect()
}

#[test]
fn a_green_iteration_is_committed_with_the_agents_message() {
    let env = agent(WORK, "echo; echo 'Say more'; echo 'because it was little'");
    env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").stderr_has("  ✓ scm commit: Say more (").run();
    assert_eq!(subjects(&env), ["Say more", "Begin"]);
    assert_eq!(env.git(["status", "--porcelain", "--untracked-files=no"]), "");
    let asked = "Provide a short imperative commit message for the changes. Output only the message, no explanation.";
    assert_eq!(env.read(".ralph/prompt_001_commit.txt"), asked);
    assert!(env.read(".ralph/prompt_001.txt").starts_with('x'), "the prompt of the work is kept as it was");
    let story = story(&env);
    let task = &iterations(&story)[0]["scm"][0];
    assert_eq!((&task["task"], &task["detail"]), (&json!("commit"), &json!("Say more")));
    assert_eq!((&task["passed"], &task["exit_code"]), (&json!(true), &json!(0)));
    env.ralph(["show", &format!("{}/1", story["run"].as_str().unwrap())])
        .stdout_has("version control\n  ✓ commit Say more\n")
        .run();
}

#[test]
fn a_message_is_one_argument_whatever_stands_in_it() {
    let message = r#"Add "quotes", $HOME, `id`, 'single' & $(touch pwned)

- a body; with \ and -- dashes"#;
    let env = agent(WORK, "cat \"$HOME/message\"");
    std::fs::write(env.home().join("message"), format!("Here it is:\n<response>\n{message}\n</response>\n")).unwrap();
    env.ralph(["run", "-p", "x"]).ends("complete · verified").stderr_has("✓ scm commit: Add \"quotes\", $HOME").run();
    assert_eq!(env.git(["log", "-1", "--format=%B"]).trim_end(), message);
    assert!(!env.exists("pwned"));
}

#[test]
fn nothing_to_commit_and_new_files_alone_are_no_failure() {
    let env = agent("echo '<response>DONE</response>'", "touch \"$HOME/asked\"; echo No");
    let lines = env.ralph(["run", "-p", "x", "--json"]).run().json_lines();
    assert_eq!(tasks(&lines), [("commit".to_owned(), true, "nothing to commit".to_owned())]);

    let env = agent("touch new.txt; echo '<response>DONE</response>'", "touch \"$HOME/asked\"; echo No");
    let lines = env.ralph(["run", "-p", "x", "--json"]).run().json_lines();
    assert!(tasks(&lines)[0].1 && tasks(&lines)[0].2.contains("`add -A` before `commit`"), "{:?}", tasks(&lines));
    assert!(!env.home().join("asked").exists(), "nobody is asked for the message of nothing");

    env.settings(json!({ "scm": { "tasks": ["add -A", "commit"] } }));
    env.ralph(["run", "-p", "y"])
        .ends("complete · verified")
        .stderr_has("✓ scm add -A (")
        .stderr_has("✓ scm commit: No (")
        .run();
    assert!(env.git(["show", "--name-only", "--format=", "HEAD"]).lines().any(|file| file == "new.txt"));
}

#[test]
fn a_commit_with_words_of_its_own_that_finds_nothing_is_no_failure() {
    let env = agent("echo '<response>DONE</response>'", "echo No");
    env.settings(json!({ "scm": { "tasks": ["commit -m Own", "tag done"] } }));
    let lines = env.ralph(["run", "-p", "x", "--json"]).run().json_lines();
    assert_eq!(tasks(&lines)[0], ("commit -m Own".to_owned(), true, "nothing to commit".to_owned()));
    assert_eq!(env.git(["tag"]), "done\n");
}

#[test]
fn a_new_repository_gets_its_first_commit() {
    let env = agent("echo hello > first.txt; echo '<response>DONE</response>'", "echo 'Begin again'");
    std::fs::remove_dir_all(env.path(".git")).unwrap();
    env.git(["init", "--quiet", "--initial-branch=main"]);
    env.settings(json!({ "scm": { "tasks": ["add -A", "commit"] } }));
    env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").stderr_has("✓ scm commit: Begin again").run();
    assert_eq!(subjects(&env), ["Begin again"]);
}

#[test]
fn a_failing_hook_is_told_the_rest_is_left_out_and_the_run_is_no_success() {
    let env = agent(WORK, "echo 'Try it'");
    env.git(["init", "--quiet", "--bare", "../remote.git"]);
    env.git(["remote", "add", "origin", "../remote.git"]);
    env.settings(json!({ "scm": { "tasks": ["commit", "push -u origin main"] } }));
    let hook = env.path(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho 'lint: 3 problems' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.ralph(["run", "-p", "x"])
        .stdout_has("error · verified, version control failed")
        .stdout_has("the work is complete and verified after 1 iteration, but not committed: scm commit in iteration 1")
        .stdout_has("next: ralph resume ")
        .stderr_has("  ✗ scm commit failed with exit code 1: lint: 3 problems (")
        .stderr_lacks("scm push")
        .code(1)
        .run();
    assert_eq!(subjects(&env), ["Begin"]);
    env.ralph(["status"]).stdout_has("error").run();
    env.ralph(["explain"]).stdout_has("but not committed").run();
    // The hook is mended, and nobody works again: only the checks and version control.
    std::fs::remove_file(&hook).unwrap();
    let lines = env.ralph(["resume", "--json"]).run().json_lines();
    let of_kind = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
    assert_eq!((of_kind("iteration.started"), of_kind("run.finished")), (0, 1));
    assert_eq!(tasks(&lines).iter().filter(|(_, passed, _)| *passed).count(), 2);
    let end = lines.last().unwrap();
    assert_eq!(
        (&end["stop_reason"], &end["verified"], &end["iterations"]),
        (&json!("complete"), &json!(true), &json!(1))
    );
    assert_eq!(subjects(&env), ["Try it", "Begin"]);
}

/// A commit hook: whatever happens while git holds its lock happens at a certain moment.
fn pre_commit(env: &TestEnv, script: &str) {
    let hook = env.path(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn k01_the_lock_of_a_git_that_was_killed_is_removed_and_the_run_is_no_success() {
    // The keeper is the parent of git, and git of its hook.
    let keeper = "kill -9 $(sed 's/.*) . \\([0-9]*\\) .*/\\1/' /proc/$PPID/stat); sleep 60";
    for (who, script) in [("git", "kill -9 $PPID"), ("the keeper", keeper)] {
        let env = agent(WORK, "echo 'Say more'");
        pre_commit(&env, &format!("[ -e ../killed ] && exit 0\ntest -e .git/index.lock && touch ../killed\n{script}"));
        let lines = env.ralph(["run", "-p", "x", "--json"]).code(1).run().json_lines();
        assert!(env.exists("../killed"), "{who}");
        assert!(!env.exists(".git/index.lock"), "{who}: {:?}", tasks(&lines));
        let end = lines.last().unwrap();
        assert_eq!((&end["stop_reason"], &end["exit_code"]), (&json!("error"), &json!(1)), "{who}");
        let message = end["message"].as_str().unwrap();
        assert!(message.contains("complete") && message.contains("not committed"), "{who}: {message}");
        assert!(message.contains(".git/index.lock, which it left behind, was removed"), "{who}: {message}");
        env.ralph(["resume"]).stdout_has("complete · verified").stderr_has("✓ scm commit: Say more").run();
        assert_eq!(subjects(&env), ["Say more", "Begin"], "{who}");
    }
}

#[test]
fn k01_the_lock_of_a_git_that_was_killed_with_ralph_is_removed_by_the_next_run() {
    let env = agent(WORK, "echo 'Say more'");
    pre_commit(&env, "[ -e ../committing ] && exit 0\ntouch ../committing\nsleep 600");
    let run = env.ralph(["run", "-p", "x"]).killed_by(9).spawn();
    run.wait_for_stdout("Say more\n");
    run.wait_for_file("../committing");
    run.crash();
    env.ralph(["resume"]).ends("complete · verified").stderr_has("✓ scm commit: Say more").run();
    assert!(!env.exists(".git/index.lock"));
    assert_eq!(subjects(&env), ["Say more", "Begin"]);
}

#[test]
fn k01_a_lock_that_was_there_before_is_not_removed_but_named() {
    let env = agent(WORK, "echo 'Say more'");
    env.write(".git/index.lock", "");
    env.ralph(["run", "-p", "x"])
        .stdout_has("but not committed")
        .stderr_has("✗ scm commit failed with exit code 128: fatal: Unable to create '[PROJECT]/.git/index.lock'")
        .stdout_has(".git/index.lock is in the way: another git holds it, or was killed and left it; once no git runs here: rm -f '")
        .code(1)
        .run();
    assert!(env.exists(".git/index.lock"));
    std::fs::remove_file(env.path(".git/index.lock")).unwrap();
    env.ralph(["resume"]).stdout_has("complete · verified").run();
}

#[test]
fn what_is_committed_is_pushed_to_a_bare_remote() {
    let env = agent(WORK, "echo 'Say more'");
    env.git(["init", "--quiet", "--bare", "../remote.git"]);
    env.git(["remote", "add", "origin", "../remote.git"]);
    env.settings(json!({ "scm": { "tasks": ["commit", "push -u origin main"] } }));
    env.ralph(["run", "-p", "x"]).ends("complete · verified").stderr_has("  ✓ scm push -u origin main (").run();
    assert_eq!(env.git(["--git-dir", "../remote.git", "log", "--format=%s", "main"]), "Say more\nBegin\n");
    // A remote that is not there is a failing task and nothing more.
    env.git(["remote", "set-url", "origin", "../nowhere.git"]);
    env.ralph(["run", "-p", "y"])
        .stdout_has("but not all of version control was done: scm push -u origin main")
        .stderr_has("✗ scm push -u origin main failed")
        .stderr_has(": fatal: '../nowhere.git' does not appear to be a git repository (")
        .code(1)
        .run();
}

#[test]
fn nothing_is_committed_while_a_guardrail_fails_or_without_a_message() {
    let env = agent(WORK, "echo 'Never'");
    env.guardrail("false");
    env.ralph(["run", "-p", "x", "-m", "2"]).ends("max-iterations").stderr_lacks("scm").code(1).run();
    assert_eq!(subjects(&env), ["Begin"]);

    let env = agent(WORK, "exit 3");
    env.ralph(["run", "-p", "x"])
        .stdout_has("but not committed")
        .stderr_has("  ✗ scm commit message the agent exited with code 3; nothing was committed (")
        .code(1)
        .run();
    assert_eq!(subjects(&env), ["Begin"]);
}

#[test]
fn j01_what_the_agent_changes_while_it_is_asked_is_checked_before_it_is_committed() {
    // Asked for a message, it breaks what the guardrail looks at, once.
    let env = agent(WORK, "[ -e \"$HOME/broken\" ] || echo broken > state; touch \"$HOME/broken\"; echo 'Sneak in'");
    env.write("state", "fine\n");
    env.git(["add", "state"]);
    env.git(["commit", "--quiet", "-m", "State"]);
    env.guardrail("grep -q fine state");
    env.ralph(["run", "-p", "x", "-m", "1"])
        .ends("max-iterations")
        .stderr_has("note: files changed while the agent was asked for a commit message; checking again: state\n")
        .stderr_has("✗ guardrail grep -q fine state failed")
        .code(1)
        .run();
    assert_eq!(subjects(&env), ["State", "Begin"], "what was not checked is not committed");
}

#[test]
fn e04_a_crash_behind_the_commit_commits_nothing_twice() {
    let env = agent(WORK, "echo 'Say more'");
    env.git(["init", "--quiet", "--bare", "../remote.git"]);
    env.git(["remote", "add", "origin", "../remote.git"]);
    // The push hangs in a hook until the test has killed ralph.
    let hook = env.path(".git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\n[ -e ../pushing ] && exit 0\ntouch ../pushing\nsleep 600\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.settings(json!({ "scm": { "tasks": ["commit", "push origin main"] } }));
    let run = env.ralph(["run", "-p", "x"]).killed_by(9).spawn();
    run.wait_for_stdout("Say more\n");
    run.wait_for_file("../pushing");
    run.crash();
    env.ralph(["resume"]).stdout_has("complete · verified").stderr_lacks("scm commit").stderr_has("✓ scm push").run();
    assert_eq!(subjects(&env), ["Say more", "Begin"]);
    assert_eq!(env.git(["--git-dir", "../remote.git", "log", "--format=%s", "main"]), "Say more\nBegin\n");
}

#[test]
fn another_program_than_git_is_called_as_it_stands() {
    let env = agent(WORK, "echo 'Say more'");
    let program =
        env.program("jj-like", "#!/bin/sh\nfor word in \"$@\"; do printf '[%s]' \"$word\" >> ../calls; done\n");
    env.settings(json!({ "scm": { "command": program, "tasks": ["commit", "git push --all"] } }));
    env.ralph(["run", "-p", "x"]).ends("complete · verified").stderr_has("✓ scm git push --all").run();
    assert_eq!(env.read("../calls"), "[commit][-am][Say more][git][push][--all]");
}
