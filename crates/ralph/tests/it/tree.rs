//! The tree as a run sees it: of any size, on machines where git fails, and while somebody wants to stop.

use crate::env;
use ralph_testkit::TestEnv;
use serde_json::{Value, json};
use std::time::Duration;

/// An environment whose git does something else than listing files, once the agent has worked.
fn with_git(instead: &str) -> (TestEnv, String) {
    let env = env();
    let program = format!(
        "#!/bin/sh\ncase \"$*\" in\n*ls-files*) [ -e {}/failing ] && {{ {instead}; }} ;;\nesac\nexec /usr/bin/git \"$@\"\n",
        env.root().display()
    );
    let git = env.program("git", &program);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", git.parent().unwrap().display());
    env.guardrail("true");
    (env, path)
}

fn end(lines: &[Value]) -> (Value, Value, String) {
    let last = lines.last().unwrap();
    (last["stop_reason"].clone(), last["verified"].clone(), last["message"].as_str().unwrap().to_owned())
}

#[test]
fn a_git_that_fails_by_itself_is_told_once_and_not_held_against_the_agent() {
    for (instead, why) in [
        ("kill -9 $$", "git could not list the files: it was killed by signal 9"),
        ("echo 'fatal: out of memory' >&2; exit 128", "git could not list the files: fatal: out of memory"),
        ("printf '? half a na'; exit 0", "git's list of the files was cut off"),
    ] {
        let (env, path) = with_git(instead);
        env.script("touch ../failing\nprint working\n[2]\nclaim\n");
        let lines = env.ralph(["run", "-p", "x", "--json"]).env("PATH", &path).run().json_lines();
        let (reason, verified, message) = end(&lines);
        assert_eq!((reason, verified), (json!("complete"), json!(false)), "{message}");
        assert!(message.ends_with(why), "{message}");
        let told = lines.iter().filter(|line| line["type"] == "note" && line["text"].as_str().unwrap().ends_with(why));
        assert_eq!(told.count(), 1, "{instead}: {lines:#?}");
        let prompt = env.read(".ralph/prompt_002.txt");
        assert!(!prompt.contains(".git") && !prompt.contains("put it back"), "{prompt}");
    }
}

#[test]
fn a_tree_that_cannot_be_looked_at_in_time_is_not_verified_and_says_so() {
    let (env, path) = with_git("sleep 60");
    env.script("touch ../failing\nclaim\n").settings(json!({ "verify": { "treeTimeoutMs": 300 } }));
    env.ralph(["run", "-p", "x"])
        .env("PATH", &path)
        .stdout_has("complete · claimed, not verified")
        .stdout_has("the checks passed, but the tree could not be looked at: ")
        .stderr_has("note: the tree could not be looked at, so what is claimed on it is not verified: git could not list the files: it did not answer within 300ms")
        .run();
    env.ralph(["explain"]).stdout_has("the tree could not be looked at").run();
}

#[test]
fn an_index_that_git_cannot_read_hides_nothing_and_refuses_nobody() {
    let env = env();
    env.script("remove .git/index\nappend .git/index broken\nclaim\n").guardrail("true");
    env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").stderr_lacks(".git").run();
}

#[test]
fn k08_a_repository_that_was_damaged_is_still_the_agents_deed() {
    for (harm, told) in [
        ("remove .git/HEAD\nappend .git/HEAD nonsense", ".git/HEAD was changed"),
        ("append .git/config [core", ".git/config was changed"),
        ("remove .git/HEAD", ".git/HEAD was deleted"),
    ] {
        let env = env();
        env.script(&format!("{harm}\nclaim\n")).guardrail("true");
        env.ralph(["run", "-p", "x", "-m", "1"])
            .ends("max-iterations")
            .stderr_has(&format!(
                "note: the tree could not be looked at, so what is claimed on it is not verified: {told}"
            ))
            .stderr_has(&format!("✗ protected files {told}"))
            .stderr_has("note: if such a file is the work itself")
            .stderr_has(&format!("{told}; it must be as it was at the start"))
            .code(1)
            .run();
    }
}

/// Files that are mostly holes and too small to be looked at for holes: hours of reading, and no room on the disk.
fn take_hours_to_read(env: &TestEnv) {
    std::fs::create_dir(env.path("huge")).unwrap();
    for number in 0..20_000 {
        let file = std::fs::File::create(env.path(format!("huge/{number}"))).unwrap();
        file.set_len(60 << 20).unwrap();
    }
}

#[test]
fn an_interrupt_ends_a_look_at_a_huge_tree_at_once() {
    let env = env();
    env.script("print working\nwait-file $HOME/go\nclaim\n").guardrail("true");
    let run = || {
        env.ralph(["run", "-p", "x"])
            .ends("interrupted")
            .stderr_has("Received signal")
            .code(130)
            .time_limit(Duration::from_secs(60))
    };
    let after_the_agent = run().spawn();
    after_the_agent.wait_for_stdout("working");
    take_hours_to_read(&env);
    env.write(env.home().join("go"), "");
    std::thread::sleep(Duration::from_millis(500));
    after_the_agent.signal(2);
    after_the_agent.finish();
    env.ralph(["status"]).stdout_has("interrupted").run();
    // Nor does a look before the first agent hold anybody up.
    let before_the_agent = run().spawn();
    before_the_agent.wait_for_stderr("limits:");
    std::thread::sleep(Duration::from_millis(500));
    before_the_agent.signal(2);
    before_the_agent.finish();
}

#[test]
fn k09_what_is_too_large_to_be_read_in_time_is_claimed_but_not_verified() {
    let env = env();
    env.script("claim\n").guardrail("true").settings(json!({ "verify": { "treeTimeoutMs": 500 } }));
    take_hours_to_read(&env);
    env.ralph(["run", "-p", "x"])
        .stdout_has("complete · claimed, not verified")
        .stdout_has("it takes longer than 500ms (verify.treeTimeoutMs)")
        .stderr_has("note: the tree could not be looked at[..]it takes longer than 500ms")
        .run();
}

#[test]
fn a_tree_that_is_not_what_it_seems_is_told_and_not_accepted() {
    for (work, told) in [
        ("echo x > $TMPDIR/w; ln -s $TMPDIR/w work.txt", "work.txt leads into ralph's own folder"),
        ("rm -rf .git; git init -q", ".git was replaced by another repository"),
        ("git config filter.x.clean cat", "git's setting filter.x.clean was added; undo it: git config --file"),
        ("mkdir -p .git/hooks; echo exit > .git/hooks/pre-commit", ".git/hooks/pre-commit was added; undo it: rm -f "),
        ("rm -f .gitattributes; mkfifo .gitattributes", ".gitattributes is a named pipe"),
        ("rm .git/index; mkfifo .git/index", ".git/index is a named pipe"),
    ] {
        let env = env();
        env.guardrail("true").script(&format!("run {work}\nclaim\n"));
        let ran = env.ralph(["run", "-p", "x", "-m", "1", "--json"]).code(1).run().json_lines();
        let reasons = ran.iter().find(|line| line["type"] == "iteration.finished").unwrap()["reasons"].to_string();
        assert!(reasons.contains(told), "{work}: {reasons}");
    }
}

#[test]
fn what_an_agent_hides_by_an_ignore_rule_still_moves_the_tree() {
    let env = env();
    env.live().guardrail("date +%N > hidden.txt").script("run echo hidden.txt >> .git/info/exclude\nclaim\n");
    env.ralph(["run", "-p", "x", "-m", "1"]).ends("max-iterations").stderr_has("hidden.txt").code(1).run();
}
