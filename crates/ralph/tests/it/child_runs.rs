//! Child runs: what an agent starts with ralph outlives its iteration and its parent, is known as what
//! it is, and ends when somebody says so.

use crate::env;
use crate::process::{only, signal};
use crate::story::runs;
use ralph_testkit::{TestEnv, alive, eventually, has_tool, json_lines};
use serde_json::{Value, json};
use std::time::Duration;

const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGSTOP: i32 = 19;
/// What ends with ralph has ended by then.
const SOON: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(10);

/// An agent that says where it is, and works until `NAME.go` is there.
const HOLDER: &str = "#!/bin/sh
cat > /dev/null
name=$(basename \"$0\")
echo $TMPDIR > $HOME/$name.tmp
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

/// An agent that starts another run of ralph in the folder `$HOME/NAME` and holds on.
fn parent_of(agent: &str) -> String {
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let start = format!("setsid {ralph} run -p {agent} --agent {agent} > $HOME/{agent}.log 2>&1 < /dev/null &\n");
    let wait = format!("until test -e $HOME/{agent}.pid; do sleep 0.02; done\n");
    HOLDER.replacen("name=", &format!("{start}{wait}name="), 1)
}

/// Waits until the agent of a child run works; then everything above it works too.
fn wait_for_agent(env: &TestEnv, name: &str) {
    assert!(eventually(LONG, || env.home().join(format!("{name}.pid")).exists()), "{:?}", env.processes());
}

/// The keeper of a run.
fn keeper_of(env: &TestEnv, run: &Value) -> u32 {
    let words = format!("__keeper {}", id(run));
    env.processes().iter().find(|process| process.command.contains(&words)).expect("it has a keeper").pid
}

/// The files of the family that are left in the state folder.
fn records(env: &TestEnv) -> Vec<String> {
    let runs = std::fs::read_dir(env.state()).unwrap().flatten().map(|project| project.path().join("runs"));
    let folders = runs.flat_map(std::fs::read_dir).flatten().flatten().map(|run| run.path());
    let files = folders.flat_map(|run| [run.join("process"), run.join("children")]);
    files.filter(|file| file.exists()).map(|file| file.display().to_string()).collect()
}

fn with_holders(names: &[&str]) -> TestEnv {
    let env = env();
    names.iter().for_each(|name| drop(env.program(name, HOLDER)));
    env.guardrail("true").settings(json!({ "limits": { "childWaitMs": 0 } }));
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
    outlives(&env, &[]);
}

#[test]
fn a_child_run_outlives_its_parent_where_there_are_no_control_groups() {
    let env = with_holders(&["inner"]);
    env.script(&format!("{}setsid-child $HOME/tool.pid\nclaim\n", child("inner")));
    if !has_tool("unshare") || !rustix::process::geteuid().is_root() {
        eprintln!("note: nothing can be unmounted here: this test does nothing");
        return;
    }
    let without_groups = "umount -a -t cgroup2; ! grep -q ' - cgroup2 ' /proc/self/mountinfo || exit 90; exec \"$@\"";
    outlives(&env, &["unshare", "--mount", "sh", "-c", without_groups, "sh"]);
}

fn outlives(env: &TestEnv, under: &[&str]) {
    let outer = env.ralph(["run", "-p", "x", "--json"]).under(under).run();
    let iteration = only(&outer, "iteration.finished");
    assert_eq!(iteration["leaked"], 1, "only the tool is a leftover: {iteration}");
    assert_eq!(only(&outer, "run.finished")["stop_reason"], "complete");
    assert!(!alive(env.read_pid(env.home().join("tool.pid"))) && alive(agent_pid(env, "inner")));
    let (inner, outer) = (run_of(env, "inner"), run_of(env, "scripted-agent"));
    assert_eq!((&inner["state"], &inner["parent"]), (&json!("running"), &outer["run"]));
    assert_eq!((&inner["orphan"], &inner["heartbeat"]["state"]), (&json!(true), &json!("live")), "{inner}");
    assert_eq!((&outer["orphan"], &outer["heartbeat"]), (&json!(false), &Value::Null), "{outer}");
    let seen = env.ralph(["show", &format!("{}/1", id(&outer)), "--json"]).run().json_lines().remove(0);
    assert_eq!(seen["observation"]["children"], json!([inner["run"]]), "{seen}");
    let temp = env.read(env.home().join("inner.tmp"));
    assert!(temp.contains(&id(&inner)) && env.exists(temp.trim()), "its parent's end took {temp} away");
    let_go(env, "inner");
    nobody_is_left(env);
    assert_eq!(run_of(env, "inner")["stop_reason"], "complete");
    env.ralph(["resume", &id(&outer)]).stderr_has(crate::COMPLETE).code(2).run();
    assert_eq!(records(env), Vec::<String>::new());
}

#[test]
fn a_child_run_outlives_a_killed_parent_whose_own_tree_goes() {
    for with_keeper in [false, true] {
        let env = with_holders(&["inner"]);
        env.script(&format!("{}pidfile agent.pid\ndaemonise tool.pid\nsleep forever\n", child("inner")));
        let outer = env.ralph(["run", "-p", "x"]).killed_by(SIGKILL).spawn();
        outer.wait_for_file("tool.pid");
        let (inner, top) = (id(&run_of(&env, "inner")), run_of(&env, "scripted-agent"));
        let own = [env.read_pid("agent.pid"), env.read_pid("tool.pid")];
        if with_keeper {
            let keeper = keeper_of(&env, &top);
            signal(outer.pid(), SIGSTOP);
            signal(keeper, SIGKILL);
        }
        outer.kill9();
        outer.finish();
        if !with_keeper {
            assert!(eventually(SOON, || own.iter().all(|pid| !alive(*pid))), "{:?}", env.processes());
        }
        assert!(alive(agent_pid(&env, "inner")));
        let seen = run_of(&env, "inner");
        assert_eq!((&seen["state"], &seen["orphan"]), (&json!("running"), &json!(true)), "{seen}");
        env.ralph(["status"])
            .stdout_has(&format!("└─ {inner}  running, parent gone"))
            .stderr_has(&format!("run {inner} has lost its parent, end it with: ralph cancel {inner}\n"))
            .stderr_has(&format!("run {0} crashed, resume with: ralph resume {0}\n", id(&top)))
            .run();
        // Going on with the parent ends what is left of it, and not the child.
        env.script("claim");
        let told = format!("note: the child run {inner} still runs (process ");
        let mut resume = env.ralph(["resume", &id(&top)]).ends("complete · verified").stderr_has(&told);
        resume = resume.stderr_has(&format!("note: child runs live on: {inner}"));
        if with_keeper {
            resume = resume.stderr_has("note: processes that the crashed run [..] had left alive were ended: ");
        }
        resume.run();
        assert!(alive(agent_pid(&env, "inner")) && own.iter().all(|pid| !alive(*pid)));
        let_go(&env, "inner");
        nobody_is_left(&env);
    }
}

/// What a run says of child runs that it leaves alone.
const LIVES_ON: &str = "note: child runs live on: ";

#[test]
fn a_child_run_outlives_the_keeper_of_its_parent() {
    let env = with_holders(&["inner"]);
    env.script(&format!("[1]\n{}daemonise $HOME/tool.pid\nsleep forever\n[2]\nclaim\n", child("inner")));
    let outer = env.ralph(["run", "-p", "x"]).stdout_has("complete").stderr_has(LIVES_ON);
    let outer = outer.stderr_has("✗ agent: the process that watches over the agent died or did not answer").spawn();
    outer.wait_for_file(env.home().join("tool.pid"));
    let tool = env.read_pid(env.home().join("tool.pid"));
    signal(keeper_of(&env, &run_of(&env, "scripted-agent")), SIGKILL);
    outer.finish();
    assert!(!alive(tool) && alive(agent_pid(&env, "inner")), "{:?}", env.processes());
    let_go(&env, "inner");
    nobody_is_left(&env);
}

#[test]
fn f03_a_record_whose_pid_now_belongs_to_another_process_spares_nobody() {
    let env = with_holders(&["inner"]);
    // Every number starts a hundred times later than it did.
    let other =
        "run sed -i 's/\"start\":\\([0-9]*\\)/\"start\":\\100/' $RALPH_RUN_DIR/children/* $RALPH_RUN_DIR/../*/process";
    env.script(&format!("{}{other}\nclaim\n", child("inner")));
    let outer = env.ralph(["run", "-p", "x", "--json"]).run();
    let leaked = only(&outer, "iteration.finished")["leaked"].as_u64().unwrap();
    assert!(leaked >= 3, "ralph, its keeper and its agent are leftovers: {leaked}");
    nobody_is_left(&env);
    assert_eq!(run_of(&env, "inner")["state"], "stopped");
}

/// Says of itself that it carries a run, in the words that a run would use, and locks what it calls its folder.
const FORGER: &str = r#"#!/bin/bash
mkdir -p $RALPH_RUN_DIR/children $HOME/runs/forged
exec 9<$HOME/runs/forged
flock 9
start=$(cut -d' ' -f22 /proc/$$/stat)
boot=$(cat /proc/sys/kernel/random/boot_id)
record="{\"pid\":$$,\"start\":$start,\"boot\":\"$boot\"}"
printf '%s\n%s' "$record" $HOME/runs/forged > $RALPH_RUN_DIR/children/forged
printf '%s\n' "$record" > $HOME/runs/forged/process
echo $$ > $HOME/forger.pid
sleep 300
"#;

#[test]
fn a_daemon_that_registers_itself_as_a_child_run_is_ended_like_any_other() {
    let env = with_holders(&[]);
    let forger = env.program("forger", FORGER);
    env.script(&format!("background setsid {} < /dev/null &\nwait-file $HOME/forger.pid\nclaim\n", forger.display()));
    let outer = env.ralph(["run", "-p", "x", "--json"]).run();
    assert!(only(&outer, "iteration.finished")["leaked"].as_u64().unwrap() >= 1);
    assert!(!alive(env.read_pid(env.home().join("forger.pid"))));
    nobody_is_left(&env);
}

#[test]
fn a_run_that_a_check_starts_is_no_child_run_and_ends_with_the_check() {
    let env = with_holders(&["inner"]);
    let state = env.state();
    let started = format!(
        "run=$(ls -d {state}/*/runs/* | head -1); export RALPH_RUN_DIR=$run RALPH_RUN_ID=$(basename $run)
        setsid {ralph} supervise --task inner -- inner > $HOME/log 2>&1 < /dev/null &
        until test -e $HOME/inner.pid; do sleep 0.02; done",
        state = state.display(),
        ralph = env!("CARGO_BIN_EXE_ralph"),
    );
    std::fs::write(env.root().join("check.sh"), started).unwrap();
    // Trusted state cannot be written from a snapshot, so that no run could begin in one at all.
    env.live().guardrail("sh ../check.sh").script("claim\n");
    env.ralph(["run", "-p", "x"]).stdout_has("complete").stderr_has("left processes behind, ended now: ").run();
    assert!(!alive(agent_pid(&env, "inner")));
    nobody_is_left(&env);
}

#[test]
fn cancel_ends_children_first_also_in_other_projects() {
    let env = with_holders(&["leaf"]);
    let other = env.root().join("other");
    std::fs::create_dir_all(other.join(".ralph")).unwrap();
    let in_other = parent_of("leaf").replace("setsid ", &format!("cd {} && setsid ", other.display()));
    env.program("middle", &in_other);
    env.script(&format!("{}sleep forever\n", child("middle")));
    let outer = env.ralph(["run", "-p", "x"]).stdout_has("cancelled").stderr_has("stopping now").code(130).spawn();
    wait_for_agent(&env, "middle");
    let (top, middle) = (run_of(&env, "scripted-agent"), run_of(&env, "middle"));
    let elsewhere = || env.ralph(["status", "--json"]).current_dir(&other).run().json_lines().remove(0);
    let leaf = elsewhere()["runs"][0].clone();
    assert_eq!((&leaf["parent"], &leaf["orphan"]), (&middle["run"], &json!(false)), "{leaf}");
    env.ralph(["status"])
        .current_dir(&other)
        .stdout_has(&format!("\n{} in {}  running ", id(&leaf), id(&middle)))
        .run();
    let told: String = [&leaf, &middle, &top].iter().map(|run| format!("cancelling run {}\n", id(run))).collect();
    let object = env.ralph(["cancel", &id(&top), "--json"]).stderr(told).run().json_lines().remove(0);
    outer.finish();
    assert_eq!((&object["run"], &object["stop_reason"]), (&top["run"], &json!("cancelled")));
    let children: Vec<&Value> = object["children"].as_array().unwrap().iter().map(|child| &child["run"]).collect();
    assert_eq!(children, [&leaf["run"], &middle["run"]]);
    assert_eq!(elsewhere()["runs"][0]["stop_reason"], "cancelled");
    assert_eq!(run_of(&env, "middle")["stop_reason"], "cancelled");
    assert_eq!(env.processes(), []);
    assert_eq!(records(&env), Vec::<String>::new());
}

#[test]
fn a_child_run_can_be_cancelled_alone_and_below_a_parent_that_is_over() {
    for parent_is_over in [false, true] {
        let env = with_holders(&["inner"]);
        let end = if parent_is_over { "claim\n" } else { "wait-file $HOME/go\nclaim\n" };
        env.script(&format!("{}{end}", child("inner")));
        let told = if parent_is_over { LIVES_ON } else { "" };
        let outer = env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").stderr_has(told).spawn();
        wait_for_agent(&env, "inner");
        let inner = run_of(&env, "inner");
        if parent_is_over {
            outer.finish();
            let top = id(&run_of(&env, "scripted-agent"));
            env.ralph(["cancel", &top])
                .stdout(format!("run {} · cancelled · [..]\nrun {top} · complete · [..]\n", id(&inner)))
                .stderr(format!("cancelling run {}\nrun {top} already ended: complete\n", id(&inner)))
                .run();
        } else {
            env.ralph(["cancel", &id(&inner)]).stdout_has("cancelled").run();
            std::fs::write(env.home().join("go"), "").unwrap();
            outer.finish();
        }
        assert_eq!(run_of(&env, "inner")["stop_reason"], "cancelled");
        nobody_is_left(&env);
    }
}

#[test]
fn a_child_run_that_crashed_can_be_cancelled_while_its_parent_owns_the_tree() {
    let env = with_holders(&["inner"]);
    env.script(&format!("{}wait-file $HOME/go\nclaim\n", child("inner")));
    let outer = env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").spawn();
    wait_for_agent(&env, "inner");
    let carries = |command: &str| command.contains(" run -p inner ") && !command.contains("setsid");
    let ralph = env.processes().iter().find(|process| carries(&process.command)).expect("it is carried").pid;
    signal(ralph, SIGKILL);
    assert!(eventually(SOON, || !alive(agent_pid(&env, "inner"))));
    env.ralph(["cancel", &id(&run_of(&env, "inner"))]).stdout_has("cancelled").run();
    assert_eq!(run_of(&env, "inner")["stop_reason"], "cancelled");
    std::fs::write(env.home().join("go"), "").unwrap();
    outer.finish();
    nobody_is_left(&env);
}

#[test]
fn a_run_that_names_another_parent_is_spared_where_it_was_started_and_is_not_its_child() {
    let env = with_holders(&["inner"]);
    let other = env.root().join("other");
    std::fs::create_dir_all(other.join(".ralph")).unwrap();
    env.script("claim");
    let first = ["run", "-p", "x", "--json", "--agent"].map(str::to_owned);
    let first = first.into_iter().chain([env.agent_path().display().to_string()]);
    let first = only(&env.ralph(first).current_dir(&other).run(), "run.started");
    let named = first["run"].as_str().unwrap();
    let start = format!("background cd {} && RALPH_PARENT_RUN_ID={named} setsid", other.display());
    env.script(&format!("{}claim\n", child("inner").replace("background setsid", &start)));
    let outer = env.ralph(["run", "-p", "x", "--json"]).run();
    assert_eq!(only(&outer, "iteration.finished")["leaked"], 0);
    assert!(alive(agent_pid(&env, "inner")));
    let top = id(&run_of(&env, "scripted-agent"));
    env.ralph(["cancel", &top]).stdout_has(" · complete · ").stderr_has("nothing to do").run();
    assert!(alive(agent_pid(&env, "inner")));
    let cancel = env.ralph(["cancel", named]).current_dir(&other).stdout_has("cancelled");
    cancel.stderr_has(&format!("run {named} already ended: complete")).run();
    nobody_is_left(&env);
}

#[test]
fn without_a_name_cancel_means_the_only_run_that_lives() {
    let env = with_holders(&["one", "two"]);
    env.script(&format!("{}{}claim\n", child("one"), child("two")));
    env.ralph(["run", "-p", "x"]).ends("complete · verified").stderr_has(LIVES_ON).run();
    let several = "error: several runs are running here: [..]\nhint: say which: ralph cancel RUN";
    env.ralph(["cancel"]).stderr_has(several).code(2).run();
    env.ralph(["cancel", &id(&run_of(&env, "one"))]).stdout_has(" · cancelled · ").run();
    let two = id(&run_of(&env, "two"));
    env.ralph(["cancel"]).stdout_has(&format!("run {two} · cancelled")).run();
    nobody_is_left(&env);
}

#[test]
fn a_grandchild_works_in_its_ancestors_tree_and_outlives_its_parent() {
    let env = with_holders(&["leaf"]);
    env.program("middle", &parent_of("leaf"));
    env.script(&format!("{}wait-file $HOME/go\nclaim\n", child("middle")));
    let outer = env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").stderr_has(LIVES_ON).spawn();
    wait_for_agent(&env, "middle");
    let_go(&env, "middle");
    let is_over = |agent: &str| run_of(&env, agent)["state"] == "stopped";
    assert!(eventually(LONG, || is_over("middle")), "{:?}", runs(&env));
    // The top's keeper has taken it over, and knows it through its dead parent.
    std::fs::write(env.home().join("go"), "").unwrap();
    outer.finish();
    assert!(alive(agent_pid(&env, "leaf")) && !is_over("leaf"));
    let lost = "has lost its parent, end it with: ralph cancel ";
    let shown = env.ralph(["status"]).stderr_has(lost).run().stdout;
    assert!(shown.contains(&format!("\n└─ {}", id(&run_of(&env, "middle")))), "{shown}");
    assert!(shown.contains(&format!("\n   └─ {}  running, parent gone", id(&run_of(&env, "leaf")))), "{shown}");
    let plain = env.ralph(["status"]).env("LC_ALL", "C").stderr_has(lost).run().stdout;
    assert!(plain.contains(&format!("\n   `- {}", id(&run_of(&env, "leaf")))), "{plain}");
    let top = env.ralph(["cancel", &id(&run_of(&env, "scripted-agent"))]);
    top.stdout("run [..] · cancelled · [..]\nrun [..] · complete · [..]\n").stderr_has("already ended: complete").run();
    assert_eq!(env.processes(), []);
}

#[test]
fn a_child_run_that_outlives_its_parent_owns_the_tree_in_its_place() {
    let env = with_holders(&[]);
    let agent =
        HOLDER.replace("echo '<response>", "test $RALPH_ITERATION = 1 && rm $HOME/$name.go && exit\necho '<response>");
    env.program("inner", &agent);
    env.script(&format!("{}claim\n", child("inner")));
    env.ralph(["run", "-p", "x"]).stdout_has("complete · verified").stderr_has(LIVES_ON).run();
    std::fs::remove_file(env.home().join("inner.pid")).unwrap();
    let_go(&env, "inner");
    wait_for_agent(&env, "inner");
    let inner = id(&run_of(&env, "inner"));
    env.ralph(["run", "-p", "y"]).stderr_has(crate::OWNED).code(75).run();
    let told = env.read(env.home().join("inner.log"));
    assert!(told.contains("the tree is this run's now"), "{told}");
    env.ralph(["cancel"]).stdout_has(&format!("run {inner} · cancelled")).run();
    nobody_is_left(&env);
}

#[test]
fn a_refused_run_leaves_no_folder() {
    let env = with_holders(&[]);
    env.script("touch $HOME/ready\nwait-file $HOME/go\nclaim\n");
    let first = env.ralph(["run", "-p", "x"]).ends("complete · verified").spawn();
    first.wait_for_file(env.home().join("ready"));
    env.ralph(["run", "-p", "y"]).stderr_has(crate::OWNED).code(75).run();
    let folder = std::fs::read_dir(env.state()).unwrap().flatten().find(|folder| folder.path().join("runs").exists());
    assert_eq!(std::fs::read_dir(folder.unwrap().path().join("runs")).unwrap().count(), 1);
    std::fs::write(env.home().join("go"), "").unwrap();
    first.finish();
}

#[test]
fn watching_tells_programs_of_every_change_and_ends_when_interrupted() {
    let env = with_holders(&["inner"]);
    env.script(&format!("{}claim\n", child("inner")));
    let watch = env.ralph(["status", "--watch", "--json"]).spawn();
    watch.wait_for_stdout("{\"v\":1,\"runs\":[]}\n");
    env.ralph(["run", "-p", "x"]).ends("complete · verified").stderr_has(LIVES_ON).run();
    watch.wait_for_stdout("\"orphan\":true");
    let_go(&env, "inner");
    let is_over = || {
        let told = watch.stdout_so_far();
        let last = told.lines().last().map(json_lines).unwrap_or_default();
        last.iter().all(|last| last["runs"].as_array().unwrap().iter().all(|run| run["stop_reason"] == "complete"))
    };
    watch.wait_until("the child is over", is_over);
    watch.signal(SIGINT);
    let told = watch.finish();
    let objects = told.json_lines();
    assert!((3..=12).contains(&objects.len()), "each differs from the one before: {}", told.stdout);
    nobody_is_left(&env);
}

#[test]
fn watching_redraws_in_place_on_a_terminal() {
    let env = with_holders(&[]);
    env.script("touch $HOME/ready\nwait-file $HOME/go\nclaim\n");
    let run = env.ralph(["run", "-p", "x"]).ends("complete · verified").spawn();
    run.wait_for_file(env.home().join("ready"));
    let terminal = env.ralph(["status", "--watch"]).env("NO_COLOR", "1").spawn_on_terminal(60, 10);
    terminal.wait_for_stdout("running");
    std::fs::write(env.home().join("go"), "").unwrap();
    run.finish();
    terminal.wait_for_stdout("complete");
    terminal.send("\x03");
    let screen = terminal.finish().stdout;
    let frames: Vec<&str> = screen.split("\r\x1b[2A").collect();
    assert!(frames.len() > 1, "{screen:?}");
    for line in screen.lines().filter(|line| line.contains("RUN") || line.contains("running")) {
        let text = line.replace("\x1b[K", "").replace("\x1b[J", "").replace("\x1b[2A", "").replace('\r', "");
        assert!(text.chars().count() <= 60, "{text:?}");
    }
}

#[test]
fn watching_without_a_terminal_prints_the_table_only_when_it_changed() {
    let env = with_holders(&[]);
    env.script("claim\n");
    env.ralph(["run", "-p", "x"]).ends("complete · verified").run();
    let watch = env.ralph(["status", "--watch"]).spawn();
    watch.wait_for_stdout("complete");
    env.ralph(["run", "-p", "y"]).ends("complete · verified").run();
    let both = || watch.stdout_so_far().rsplit("RUN ").next().is_some_and(|last| last.matches("complete").count() == 2);
    watch.wait_until("both are shown", both);
    watch.signal(SIGINT);
    let shown = watch.finish().stdout;
    assert!((2..=6).contains(&shown.matches("RUN ").count()) && !shown.contains('\x1b'), "{shown}");
}

#[test]
fn a_prompt_loop_waits_for_child_runs_before_its_checks_and_then_interrupts_them() {
    let env = with_holders(&["inner"]);
    env.settings(json!({ "limits": { "childWaitMs": 200 } }));
    env.script(&format!("{}claim\n", child("inner")));
    let lines = env.ralph(["run", "-p", "x", "--json"]).run().json_lines();
    let told: Vec<&str> = lines.iter().filter_map(|line| line["text"].as_str()).collect();
    let inner = run_of(&env, "inner");
    assert_eq!(inner["stop_reason"], "interrupted", "{told:?}");
    let late = format!("child runs took too long and were interrupted: {}", id(&inner));
    assert!(told.contains(&late.as_str()), "{told:?}");
    nobody_is_left(&env);
}

#[test]
fn a_run_inside_that_calls_another_its_parent_is_waited_for_too() {
    let env = with_holders(&["inner"]);
    env.settings(json!({ "limits": { "childWaitMs": 200 } }));
    env.script("claim");
    env.ralph(["run", "-p", "first"]).ends("complete · verified").run();
    let first = env.ralph(["status", "--json"]).run().json_lines().remove(0)["runs"][0].clone();
    // Another loop of prompts would find the tree taken.
    let inside = child("inner")
        .replace("setsid ", &format!("RALPH_PARENT_RUN_ID={} setsid ", id(&first)))
        .replace("run -p inner --agent inner", "supervise --task inner -- inner");
    env.script(&format!("{inside}claim\n"));
    env.ralph(["run", "-p", "x"])
        .ends("complete · verified")
        .stderr_has("note: waiting for child runs, 200ms at most: ")
        .stderr_has("child runs took too long and were interrupted: ")
        .run();
    nobody_is_left(&env);
}

#[test]
fn an_agent_that_waits_for_a_run_inside_is_not_idle() {
    let env = with_holders(&["inner"]);
    let ralph = env!("CARGO_BIN_EXE_ralph");
    env.script(&format!("run {ralph} run -p inner --agent inner > $HOME/inner.log 2>&1 < /dev/null\nclaim"));
    let run = env.ralph(["run", "-p", "x", "-m", "1", "--idle-timeout", "200ms"]).stdout_has("complete · ").spawn();
    wait_for_agent(&env, "inner");
    std::thread::sleep(Duration::from_millis(1000));
    env.write(env.home().join("inner.go"), "");
    run.finish();
    nobody_is_left(&env);
}

#[test]
fn done_waits_for_child_runs_names_those_that_are_left_and_leaves_them_alone() {
    let env = with_holders(&["inner"]);
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let script = format!(
        "setsid {ralph} run -p inner --agent inner > $HOME/inner.log 2>&1 < /dev/null &
         until test -e $HOME/inner.pid; do sleep 0.02; done; touch $TASK_FOLDER/DONE"
    );
    let args = ["supervise", "--task", "outer", "--wait-timeout", "200ms", "--json", "--", "sh", "-c", &script];
    let lines = env.ralph(args).run().json_lines();
    let inner = run_of(&env, "inner");
    let message = lines.last().unwrap()["message"].as_str().unwrap();
    assert!(message.contains(&format!("child runs still active: {}", id(&inner))), "{message}");
    assert_eq!((&inner["state"], &inner["parent"]), (&json!("running"), &lines[0]["run"]));
    let_go(&env, "inner");
    nobody_is_left(&env);
    // One that ends in time is waited for and named no more.
    let env = with_holders(&["inner"]);
    let args = ["supervise", "--task", "outer", "--wait-timeout", "1m", "--", "sh", "-c", &script];
    let outer = env.ralph(args).stdout_has("no active children").spawn();
    outer.wait_for_stderr("waiting for child runs, 1m00s at most");
    let_go(&env, "inner");
    outer.finish();
}
