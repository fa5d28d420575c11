//! Group F: one loop per work tree.

use crate::env;
use crate::story::{launches, runs};
use ralph_testkit::{Finished, Running, TestEnv, eventually};
use serde_json::json;
use std::sync::Mutex;
use std::time::Duration;

/// The agent holds the tree until `go` is there.
const HOLDING: &str = "append $HOME/launches 1\\n\nwait-file $HOME/go\nclaim\n";

fn holding() -> TestEnv {
    let env = env();
    env.script(HOLDING).guardrail("true");
    env
}

fn holder(env: &TestEnv) -> Running<'_> {
    let run = env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").spawn();
    run.wait_for_file(env.home().join("launches"));
    run
}

fn let_go(env: &TestEnv) {
    std::fs::write(env.home().join("go"), "").unwrap();
}

#[test]
fn f01_of_twenty_at_once_exactly_one_runs_and_the_others_name_it() {
    let env = holding();
    let started: Vec<Running<'_>> = (0..20)
        .map(|_| env.ralph(["run", "-p", "x"]).stderr_unchecked("nobody knows who wins").any_end().spawn())
        .collect();
    let pids: Vec<u32> = started.iter().map(Running::pid).collect();
    let ended: Mutex<Vec<(u32, Finished)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for run in started {
            let ended = &ended;
            scope.spawn(move || {
                let pid = run.pid();
                let run = run.finish();
                ended.lock().unwrap().push((pid, run));
            });
        }
        // The others do not wait for the one that runs.
        let refused = eventually(Duration::from_secs(20), || ended.lock().unwrap().len() == 19);
        let_go(&env);
        assert!(refused, "only {} of 19 have ended", ended.lock().unwrap().len());
    });
    let ended = ended.into_inner().unwrap();
    let (winner, run) = ended.last().unwrap();
    assert!(run.code() == 0 && run.stdout.contains("complete · verified"), "{}{}", run.stdout, run.stderr);
    let id = runs(&env)[0]["run"].as_str().unwrap().to_owned();
    for (_, refused) in &ended[..19] {
        assert_eq!(refused.code(), 75, "{}", refused.stderr);
        let named = format!("process {winner} on ");
        assert!(
            refused.stderr.contains(&named) && refused.stderr.contains(&format!("(run {id})")),
            "{}",
            refused.stderr
        );
    }
    assert!(pids.contains(winner));
    assert_eq!(launches(&env).len(), 1);
    assert_eq!(runs(&env).len(), 1, "a refused run leaves nothing in the journal");
}

#[test]
fn f01_a_second_one_is_refused_at_once_and_told_what_to_type() {
    let env = holding();
    let first = holder(&env);
    let id = runs(&env)[0]["run"].as_str().unwrap().to_owned();
    let second = env.ralph(["run", "-p", "y"]).code(75);
    let second = second
        .stderr(format!(
            "error: another ralph owns [PROJECT]: process {} on [..] (run {id}): [..]ralph run -p x\n\
             hint: look at it: ralph status\nhint: stop it: ralph cancel {id}\n",
            first.pid()
        ))
        .run();
    assert!(second.took < Duration::from_secs(1), "{:?}", second.took);
    // Going on with a run that goes on is the same collision.
    env.ralph(["resume", &id]).stderr_has(crate::OWNED).code(75).run();
    let_go(&env);
    first.finish();
}

#[test]
fn f02_a_lock_left_by_a_killed_ralph_is_no_obstacle() {
    let env = holding();
    let first = env.ralph(["run", "-p", "x"]).killed_by(9).spawn();
    first.wait_for_file(env.home().join("launches"));
    first.crash();
    let_go(&env);
    env.ralph(["run", "-p", "y"]).stdout_has("complete · verified").run();
}

#[test]
fn f03_a_lock_whose_pid_now_belongs_to_another_program_is_no_obstacle() {
    let env = holding();
    let_go(&env);
    env.ralph(["run", "-p", "x"]).ends("complete · verified").run();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let owner = json!({
        "pid": std::process::id(), "start": 1, "boot": boot.trim(),
        "host": "here", "run": "abcdefgh", "since": 0, "command": "ralph run -p x",
    });
    for entry in std::fs::read_dir(env.state().join("locks")).unwrap().flatten() {
        let file = if entry.path().is_dir() { entry.path().join("owner.json") } else { entry.path() };
        std::fs::write(file, owner.to_string()).unwrap();
    }
    assert_eq!(runs(&env)[0]["state"], "stopped");
    env.ralph(["run", "-p", "y"]).stdout_has("complete · verified").run();
}

#[test]
fn f04_deleting_the_lock_file_lets_nobody_in_and_it_comes_back() {
    let env = env();
    env.guardrail("test -f built").script(
        "[1]\nrun rm -f $RALPH_STATE_DIR/locks/*.lock\ntouch $HOME/deleted\nwait-file $HOME/go\nprint not yet\n\
         [2]\nfile built yes\nclaim\n",
    );
    let first = env
        .ralph(["run", "-p", "x"])
        .stdout_has("complete · verified")
        .stderr_has("a part of the work tree's lock was deleted and is back")
        .spawn();
    first.wait_for_file(env.home().join("deleted"));
    env.ralph(["run", "-p", "y"])
        .stderr_has(crate::OWNED)
        .stderr_has(&format!("error: another ralph owns [PROJECT]: process {} on", first.pid()))
        .code(75)
        .run();
    let_go(&env);
    first.finish();
}

#[test]
fn f04_a_ralph_whose_whole_lock_was_deleted_starts_nothing_more() {
    let env = env();
    env.script("run rm -rf $RALPH_STATE_DIR/locks\nappend $HOME/launches 1\\n\nprint not yet");
    env.ralph(["run", "-p", "x"]).stdout_has("the work tree's lock was deleted").code(2).run();
    assert_eq!(launches(&env).len(), 1);
}

#[test]
fn a_second_project_in_the_same_git_tree_is_refused_too() {
    let env = holding();
    env.write("sub/.ralph/settings.json", &env.read(".ralph/settings.json"));
    let first = holder(&env);
    env.ralph(["run", "-p", "x"])
        .current_dir("sub")
        .stderr_has(crate::OWNED)
        .stderr_has(&format!("error: another ralph owns [PROJECT]: process {} on", first.pid()))
        .code(75)
        .run();
    let_go(&env);
    first.finish();
}

#[test]
fn a_run_inside_a_run_works_in_its_ancestors_tree() {
    let env = env();
    env.program("inner-agent", "#!/bin/sh\ncat > /dev/null\necho '<response>DONE</response>'\n");
    let inner = format!("{} run -p inner --agent inner-agent", env!("CARGO_BIN_EXE_ralph"));
    // The second one belongs to nobody here: it says that another run is its parent.
    env.guardrail("true")
        .script(&format!("run {inner}\nstatus\nrun RALPH_PARENT_RUN_ID=abcdefgh {inner}\nstatus\nclaim\n"));
    let outer = env.ralph(["run", "-p", "outer"]).stdout_has("complete · verified").run();
    assert!(outer.stdout.contains("\n0\n") && outer.stdout.contains("\n75\n"), "{}", outer.stdout);
    let all = runs(&env);
    assert_eq!(all.len(), 2, "{all:?}");
    let outer = all.iter().find(|run| run["parent"].is_null()).unwrap();
    let inner = all.iter().find(|run| !run["parent"].is_null()).unwrap();
    assert_eq!(inner["parent"], outer["run"]);
    assert_eq!((&inner["stop_reason"], &outer["stop_reason"]), (&json!("complete"), &json!("complete")));
}

#[test]
fn f01_a_ralph_that_keeps_its_state_elsewhere_is_refused_too() {
    let env = holding();
    let first = holder(&env);
    env.ralph(["run", "-p", "x"])
        .env("RALPH_STATE_DIR", env.root().join("other-state"))
        .stderr_has("error: another ralph, with another state directory, works in [PROJECT][..]\nhint: end it first")
        .code(75)
        .run();
    let_go(&env);
    first.finish();
}
