//! Child runs: what an agent starts with ralph outlives its iteration and its parent, is known as what
//! it is, and ends when somebody says so.

use crate::env;
use crate::process::only;
use crate::story::runs;
use ralph_testkit::{TestEnv, alive, eventually};
use serde_json::{Value, json};
use std::time::Duration;

/// What ends with ralph has ended by then.
const SOON: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(10);

/// An agent that says where it is, and works until `NAME.go` is there.
const HOLDER: &str = "#!/bin/sh
cat > /dev/null
name=$(basename \"$0\")
echo $$ > $HOME/$name.pid.new && mv $HOME/$name.pid.new $HOME/$name.pid
until test -e $HOME/$name.go; do sleep 0.02; done
echo '<response>DONE</response>'
";

/// The line of a script that starts a run in the background, detached, and waits for its agent.
fn child(agent: &str) -> String {
    let ralph = env!("CARGO_BIN_EXE_ralph");
    format!(
        "background setsid {ralph} run -p {agent} --agent {agent} > $HOME/{agent}.log 2>&1 < /dev/null &\n\
         wait-file $HOME/{agent}.pid\n"
    )
}

fn with_holders(names: &[&str]) -> TestEnv {
    let env = env();
    names.iter().for_each(|name| drop(env.program(name, HOLDER)));
    env.guardrail("true");
    env
}

fn let_go(env: &TestEnv, name: &str) {
    std::fs::write(env.home().join(format!("{name}.go")), "").unwrap();
}

fn agent_pid(env: &TestEnv, name: &str) -> u32 {
    env.read_pid(env.home().join(format!("{name}.pid")))
}

/// The run whose prompt is this one.
#[track_caller]
fn run_of(env: &TestEnv, agent: &str) -> Value {
    let all = runs(env);
    let found = all.iter().find(|run| run["agent"].as_str().is_some_and(|program| program.ends_with(agent)));
    found.unwrap_or_else(|| panic!("no run of {agent} in {all:?}")).clone()
}

fn id(run: &Value) -> String {
    run["run"].as_str().unwrap().to_owned()
}

fn nobody_is_left(env: &TestEnv) {
    assert!(eventually(LONG, || env.processes().is_empty()), "alive: {:?}", env.processes());
}

#[test]
fn a_child_run_outlives_the_iteration_and_its_parent() {
    let env = with_holders(&["inner"]);
    env.script(&format!("{}setsid-child $HOME/tool.pid\nclaim\n", child("inner")));
    let outer = env.ralph(["run", "-p", "x", "--json"]).stdout_any().run();
    let iteration = only(&outer, "iteration.finished");
    assert_eq!(iteration["leaked"], 1, "only the tool is a leftover: {iteration}");
    assert_eq!(only(&outer, "run.finished")["stop_reason"], "complete");
    assert!(!alive(env.read_pid(env.home().join("tool.pid"))) && alive(agent_pid(&env, "inner")));
    let (inner, outer) = (run_of(&env, "inner"), run_of(&env, "scripted-agent"));
    assert_eq!((&inner["state"], &inner["parent"]), (&json!("running"), &outer["run"]));
    let seen = env.ralph(["show", &format!("{}/1", id(&outer)), "--json"]).stdout_any().run().json_lines().remove(0);
    assert_eq!(seen["observation"]["children"], json!([inner["run"]]), "{seen}");
    let_go(&env, "inner");
    nobody_is_left(&env);
    assert_eq!(run_of(&env, "inner")["stop_reason"], "complete");
}

#[test]
fn a_child_run_outlives_a_killed_parent_whose_own_tree_goes() {
    let env = with_holders(&["inner"]);
    env.script(&format!("{}pidfile agent.pid\ndaemonise tool.pid\nsleep forever\n", child("inner")));
    let outer = env.ralph(["run", "-p", "x"]).stdout_any().stderr_any().any_end().spawn();
    outer.wait_for_file("tool.pid");
    outer.kill9();
    outer.finish();
    let own = [env.read_pid("agent.pid"), env.read_pid("tool.pid")];
    assert!(eventually(SOON, || own.iter().all(|pid| !alive(*pid))), "{:?}", env.processes());
    assert!(alive(agent_pid(&env, "inner")));
    assert_eq!(run_of(&env, "inner")["state"], "running");
    // Going on with the parent ends what is left of it, and not the child.
    let inner = id(&run_of(&env, "inner"));
    env.script("claim");
    let told = format!("note: the child run {inner} still runs");
    env.ralph(["resume", &id(&run_of(&env, "scripted-agent"))]).stdout_any().stderr_has(&told).run();
    assert!(alive(agent_pid(&env, "inner")));
    let_go(&env, "inner");
    nobody_is_left(&env);
}
