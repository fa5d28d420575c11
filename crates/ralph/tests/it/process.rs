//! Group A, and what else concerns one process: how agents and guardrails live, what they are given,
//! and that nothing of them is left.

use crate::env;
use ralph_testkit::{Fault, Finished, TestEnv, alive, eventually, has_tool};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const SIGKILL: i32 = 9;
const SIGSTOP: i32 = 19;
/// Fails while one of the processes lives whose ids are in the files.
const ALL_GONE: &str = "for file in *.pid; do kill -0 $(cat $file) 2>/dev/null && exit 1; done; true";

/// Runs `ralph run -p x --json` and further flags.
#[track_caller]
fn run(env: &TestEnv, flags: &[&str], code: i32) -> Finished {
    env.ralph(["run", "-p", "x", "--json"].iter().chain(flags)).code(code).run()
}

/// Runs the same; its one iteration is not disturbed and its claim is accepted.
#[track_caller]
fn completes(env: &TestEnv, flags: &[&str]) {
    let finished = only(&run(env, flags, 0), "iteration.finished");
    assert_eq!((&finished["verdict"], &finished["reasons"]), (&json!("stop"), &json!([])), "{finished}");
}

/// The lines of one type.
pub fn lines(run: &Finished, kind: &str) -> Vec<Value> {
    run.json_lines().into_iter().filter(|line| line["type"] == kind).collect()
}

/// The only line of its type.
#[track_caller]
pub fn only(run: &Finished, kind: &str) -> Value {
    let mut found = lines(run, kind);
    assert_eq!(found.len(), 1, "{kind} in {}", run.stdout);
    found.remove(0)
}

/// All reasons of an iteration's verdict, in one text.
fn reasons(run: &Finished, iteration: u64) -> String {
    let lines = lines(run, "iteration.finished");
    let line = lines.iter().find(|line| line["iteration"] == iteration).expect("the iteration was finished");
    line["reasons"].to_string()
}

/// A figure of `/proc/PID/status`: `VmHWM` and the like in kB, `Threads` as a count.
pub fn status(pid: u32, key: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).expect("a known key");
    value.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// The state letter of a process, such as `T` for a stopped one.
pub fn state(pid: u32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('-')
}

/// The keeper of the run that is under way.
pub fn keeper(env: &TestEnv) -> u32 {
    let all = env.processes();
    all.iter().find(|process| process.command.contains("__keeper")).expect("there is a keeper").pid
}

pub fn signal(pid: u32, number: i32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a process id");
    let signal = rustix::process::Signal::from_named_raw(number).expect("a signal");
    rustix::process::kill_process(pid, signal).expect("the process lives");
}

#[test]
fn a01_a_silent_agent_is_ended_by_the_idle_limit_and_the_next_iteration_comes() {
    let env = env();
    env.script("[1]\nsleep forever\n[2]\nclaim");
    let run = run(&env, &["--idle-timeout", "400ms"], 0);
    assert!(reasons(&run, 1).contains("neither printed nor computed for 400ms"), "{}", reasons(&run, 1));
    assert_eq!(only(&run, "run.finished")["iterations"], 2);
    assert!(run.took < Duration::from_secs(4), "{:?}", run.took);
}

#[test]
fn a01_an_agent_that_computes_in_silence_is_not_idle() {
    let env = env();
    for script in [
        "spin 1500ms",
        "spin 1500ms 50%",
        // A child that computes, children that are gone when somebody looks, and those that lost their parent.
        "run timeout 1.5 sh -c 'while :; do :; done'",
        "run for i in 1 2 3 4 5 6 7 8 9; do timeout 0.2 sh -c 'while :; do :; done'; done",
        "run for i in 1 2 3 4 5 6 7 8 9; do (timeout 0.2 sh -c 'while :; do :; done' &); sleep 0.2; done",
    ] {
        env.script(&format!("{script}\nclaim"));
        completes(&env, &["--idle-timeout", "500ms", "-m", "1"]);
    }
}

#[test]
fn a01_an_agent_that_moves_data_in_silence_is_not_idle() {
    let env = env();
    env.script("run for i in 1 2 3 4 5 6 7 8 9; do head -c 500000 /dev/zero > data; sleep 0.2; done\nclaim");
    completes(&env, &["--idle-timeout", "500ms", "-m", "1"]);
}

#[test]
fn a01_a_few_percent_of_a_core_in_silence_are_idle() {
    for percent in [1, 5] {
        let env = env();
        env.script(&format!("[1]\nspin 60s {percent}%\n[2]\nclaim"));
        let run = run(&env, &["--idle-timeout", "600ms"], 0);
        assert!(reasons(&run, 1).contains("neither printed nor computed for 600ms"), "{}", reasons(&run, 1));
        assert!(run.took < Duration::from_secs(5), "{:?}", run.took);
    }
}

#[test]
fn a02_a_busy_agent_is_ended_by_the_iteration_timeout() {
    let env = env();
    env.script("[1]\ntick 20ms forever .\n[2]\nclaim");
    let run = run(&env, &["--iteration-timeout", "400ms", "--idle-timeout", "10s"], 0);
    assert!(reasons(&run, 1).contains("ran longer than 400ms"), "{}", reasons(&run, 1));
    assert!(run.took < Duration::from_secs(4), "{:?}", run.took);
}

#[test]
fn a03_an_agent_that_stays_after_its_result_is_ended_and_its_iteration_counts() {
    let env = env();
    env.agent_as("claude").settings(json!({ "limits": { "lingerMs": 300 } })).guardrail("true");
    env.script("claude-init\nclaude-result <response>DONE</response>\ndaemonise d.pid\nsleep forever");
    let run = run(&env, &[], 0);
    let end = only(&run, "run.finished");
    assert_eq!((&end["stop_reason"], &end["verified"]), (&json!("complete"), &json!(true)));
    assert!(run.took < Duration::from_secs(4), "{:?}", run.took);
    assert!(env.processes().is_empty(), "{:?}", env.processes());
}

#[test]
fn a04_an_exit_of_zero_without_a_result_is_no_success() {
    for (agent, script, reason) in [
        ("generic", "stdin", "empty answer"),
        ("claude", "claude-init\nclaude-text I am done <response>DONE</response>", "result"),
        ("claude", "stdin", "result"),
    ] {
        let env = env();
        env.agent_as(agent).script(script);
        let run = run(&env, &["-m", "1"], 1);
        let iteration = only(&run, "iteration.finished");
        assert_eq!(iteration["claim"], "none", "{agent}: {iteration}");
        assert!(reasons(&run, 1).contains(reason), "{agent}: {}", reasons(&run, 1));
    }
}

#[test]
fn a05_an_agent_that_closes_its_output_and_works_on_is_waited_for() {
    let env = env();
    env.script("close-output\nspin 1200ms\nsleep 100ms\ntouch $RALPH_TASK_DIR/DONE\ntouch worked");
    completes(&env, &["--idle-timeout", "500ms", "-m", "1"]);
    assert!(env.exists("worked"));
}

#[test]
fn a06_a_grandchild_that_holds_the_pipes_holds_nothing_up() {
    for holder in ["fork-sleeper child.pid", "background echo $$ > child.pid; while :; do echo x; sleep 0.05; done"] {
        let env = env();
        env.script(&format!("{holder}\nwait-file child.pid\nclaim")).guardrail(ALL_GONE);
        let run = run(&env, &["-m", "1"], 0);
        let leaked = only(&run, "iteration.finished")["leaked"].as_u64().unwrap();
        assert!((1..=2).contains(&leaked), "{holder}: {leaked}");
        assert!(run.took < Duration::from_secs(5), "{holder}: {:?}", run.took);
    }
}

#[test]
fn a07_whatever_detached_itself_is_gone_before_the_checks() {
    let kinds = ["", "env-clear", "ignore-term", "env-clear ignore-term"];
    let daemons = kinds.iter().enumerate().map(|(n, kind)| format!("daemonise {kind} daemon{n}.pid\n"));
    let tools = kinds.iter().enumerate().map(|(n, kind)| format!("setsid-child {kind} tool{n}.pid\n"));
    let env = env();
    env.script(&(daemons.chain(tools).collect::<String>() + "claim")).guardrail(ALL_GONE);
    let run = run(&env, &["-m", "1"], 0);
    assert_eq!(only(&run, "iteration.finished")["leaked"], 8);
    let notes = lines(&run, "note");
    let told = |note: &Value| note["text"].as_str().is_some_and(|text| text.contains("left 8 processes behind"));
    assert!(notes.iter().any(told), "{notes:?}");
    assert!(env.processes().is_empty(), "{:?}", env.processes());
}

#[test]
fn a08_an_agent_that_ignores_polite_signals_is_killed_after_the_grace() {
    let env = env();
    env.script("[1]\nignore TERM INT HUP\nsetsid-child ignore-term tool.pid\nsleep forever\n[2]\nclaim");
    env.guardrail(ALL_GONE);
    let run = run(&env, &["--iteration-timeout", "200ms"], 0);
    let iterations = lines(&run, "iteration.finished");
    assert_eq!((&iterations[0]["leaked"], &iterations[1]["leaked"]), (&json!(1), &json!(0)));
    assert!(run.took > Duration::from_secs(5) && run.took < Duration::from_secs(9), "{:?}", run.took);
}

#[test]
fn a09_a_stopped_agent_takes_its_signal_and_ends() {
    let env = env();
    env.script("[1]\nexit-on TERM 3\nstop-self\nsleep forever\n[2]\nclaim");
    let run = run(&env, &["--iteration-timeout", "300ms"], 0);
    assert!(reasons(&run, 1).contains("ran longer than"), "{}", reasons(&run, 1));
    assert!(run.took < Duration::from_secs(4), "{:?}", run.took);
}

#[test]
fn a12_an_agent_that_cannot_run_burns_no_iteration() {
    let env = env();
    env.write("plain", "#!/bin/sh\necho hi\n").write("no-shebang", "this is no program\n");
    env.write("no-interpreter", "#!/no/such/interpreter\n");
    env.write("wrong-machine", "\u{7f}ELF\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    env.program("by-name-no-shebang", "neither is this\n");
    for name in ["no-shebang", "no-interpreter", "wrong-machine"] {
        std::fs::set_permissions(env.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (command, why) in [
        ("./absent", "does not exist"),
        ("no-such-agent", "was not found in PATH"),
        ("./plain", "is not executable"),
        ("./no-shebang", "is not a program"),
        ("by-name-no-shebang", "is not a program"),
        ("./no-interpreter", "interpreter"),
        ("./wrong-machine", "is not a program"),
        ("./.ralph", "is not executable"),
    ] {
        env.settings(json!({ "agent": { "command": command } }));
        let run = run(&env, &["-m", "7"], 5);
        let end = only(&run, "run.finished");
        let message = end["message"].as_str().unwrap();
        assert!(message.contains(command) && message.contains(why), "{command}: {message}");
        assert_eq!((&end["stop_reason"], &end["iterations"]), (&json!("error"), &json!(0)), "{command}");
        assert!(lines(&run, "iteration.finished").is_empty(), "{command}");
    }
}

#[test]
fn a13_standard_input_is_the_prompt_and_then_its_end_never_the_terminal() {
    for via in ["stdin", "arg", "file"] {
        let env = env();
        env.settings(json!({ "agent": { "promptVia": via } })).script("save-stdin heard\nclaim");
        let terminal =
            env.ralph(["run", "-p", "the task"]).stdout_has("claimed, not verified").spawn_on_terminal(80, 24);
        terminal.finish();
        assert_eq!(env.read("heard").contains("the task"), via == "stdin", "{via}: {}", env.read("heard"));
    }
}

#[test]
fn a14_an_agent_that_dies_at_once_each_time_does_not_use_up_the_budget() {
    let env = env();
    env.script("err no such option\nexit 1");
    let run = run(&env, &["-m", "50"], 5);
    let end = only(&run, "run.finished");
    assert_eq!((&end["stop_reason"], &end["iterations"]), (&json!("error"), &json!(3)));
    assert!(end["message"].as_str().unwrap().contains("no such option"), "{end}");
}

#[test]
fn a15_a16_every_way_to_end_reads_as_what_it_was() {
    let endings = [
        ("exit 1", "exited with code 1"),
        ("exit 2", "exited with code 2"),
        ("exit 124", "124 (a time limit of its own)"),
        ("exit 137", "137 (128+9: SIGKILL)"),
        ("exit 143", "143 (128+15: SIGTERM)"),
        ("kill-self SEGV", "killed by SIGSEGV (exit code 139)"),
        ("kill-self TERM", "killed by SIGTERM (exit code 143)"),
        // What ralph itself ended is no crash, whatever its code.
        ("exit-on TERM 143\nsleep forever", "ran longer than 400ms"),
    ];
    let env = env();
    let sections = endings.iter().zip(1..).map(|((end, _), n)| format!("[{n}]\nclaim\nflush\n{end}\n"));
    env.script(&sections.collect::<String>()).settings(json!({ "loop": { "maxConsecutiveFailures": 0 } }));
    let run = run(&env, &["-m", "8", "--iteration-timeout", "400ms"], 1);
    for (number, (end, reason)) in (1..).zip(endings) {
        assert!(reasons(&run, number).contains(reason), "{end}: {}", reasons(&run, number));
    }
    assert!(lines(&run, "iteration.finished").iter().all(|line| line["claim"] == "none"));
}

#[test]
fn a17_an_agent_that_kills_its_group_hits_only_itself() {
    let env = env();
    env.script("[1]\nkill-group\n[2]\nfork-sleeper child.pid\nkill-group KILL\n[3]\nclaim").guardrail(ALL_GONE);
    let run = run(&env, &[], 0);
    assert!(reasons(&run, 1).contains("SIGTERM") && reasons(&run, 2).contains("SIGKILL"));
    assert_eq!(only(&run, "run.finished")["iterations"], 3);
}

#[test]
fn a18_an_agent_that_kills_its_parent_ends_with_its_tree_and_the_run_goes_on() {
    let env = env();
    env.script(
        "[1]\ndaemonise env-clear ignore-term daemon.pid\nsetsid-child ignore-term tool.pid\nkill-parent KILL\n\
         sleep forever\n[2]\nclaim",
    );
    env.guardrail(ALL_GONE);
    let run = run(&env, &[], 0);
    assert!(reasons(&run, 1).contains("watches over the agent died"), "{}", reasons(&run, 1));
    assert_eq!(only(&run, "run.finished")["iterations"], 2);
    assert!(run.took < Duration::from_secs(5), "{:?}", run.took);
    assert!(env.processes().is_empty(), "{:?}", env.processes());
}

#[test]
fn a18_an_agent_that_stops_its_parent_holds_nothing_up() {
    let env = env();
    env.script("[1]\ndaemonise ignore-term daemon.pid\nkill-parent STOP\nsleep forever\n[2]\nclaim")
        .guardrail(ALL_GONE);
    let run = run(&env, &["--iteration-timeout", "200ms"], 0);
    assert!(reasons(&run, 1).contains("ran longer than"), "{}", reasons(&run, 1));
    assert!(run.took < Duration::from_secs(13), "{:?}", run.took);
    assert!(env.processes().is_empty(), "{:?}", env.processes());
}

const WITH_COMPANY: &str = "\
daemonise env-clear ignore-term daemon.pid
setsid-child ignore-term tool.pid
ignore TERM
pidfile agent.pid
touch ready
wait-file go
claim";

#[test]
fn a18_when_ralph_is_killed_everything_ends_within_two_seconds_and_resume_goes_on() {
    let env = env();
    env.script(WITH_COMPANY).guardrail(ALL_GONE);
    let running = env.ralph(["run", "-p", "x"]).killed_by(SIGKILL).spawn();
    running.wait_for_file("ready");
    let pids = ["agent.pid", "daemon.pid", "tool.pid"].map(|file| env.read_pid(file));
    assert!(pids.iter().all(|pid| alive(*pid)));
    running.kill9();
    running.finish();
    assert!(eventually(Duration::from_secs(2), || !pids.iter().any(|pid| alive(*pid))), "{:?}", env.processes());
    assert!(eventually(Duration::from_secs(2), || env.processes().is_empty()), "{:?}", env.processes());
    env.write("go", "");
    let resume = env.ralph(["resume"]).stdout_has("complete · verified").stderr_has(" · 2 leaked");
    resume.stderr_has("note: the agent left 2 processes behind, ended now: ").run();
}

#[test]
fn a18_when_ralph_and_its_keeper_are_killed_together_resume_ends_what_they_left() {
    let env = env();
    env.script(&WITH_COMPANY.replace("env-clear ", "")).guardrail(ALL_GONE);
    let running = env.ralph(["run", "-p", "x"]).killed_by(SIGKILL).spawn();
    running.wait_for_file("ready");
    // A stopped ralph cannot clean up after its keeper.
    running.signal(SIGSTOP);
    signal(keeper(&env), SIGKILL);
    running.kill9();
    running.finish();
    let pids = ["agent.pid", "daemon.pid", "tool.pid"].map(|file| env.read_pid(file));
    assert!(pids.iter().any(|pid| alive(*pid)), "this test needs a process that outlived both");
    env.write("go", "");
    let resume = env.ralph(["resume"]).stdout_has("complete · verified").stderr_has(" · 2 leaked");
    let resume = resume.stderr_has("note: the agent left 2 processes behind, ended now: ");
    resume.stderr_has("note: processes that the crashed run [..] had left alive were ended: ").run();
    assert!(!pids.iter().any(|pid| alive(*pid)), "{:?}", env.processes());
}

#[test]
fn f05_an_agent_and_a_guardrail_inherit_nothing_but_their_streams() {
    let env = env();
    env.live().script("fds\nclaim").guardrail("ls /proc/self/fd > check-fds");
    let leaky = ["sh", "-c", "exec 5</dev/null 7>extra 9</etc/passwd; exec \"$@\"", "sh"];
    env.ralph(["run", "-p", "x"]).under(leaky).stdout_has("fds: 0 1 2\n").stderr_has("checking again: check-fds").run();
    // The third is `ls` reading the folder.
    assert_eq!(env.read("check-fds"), "0\n1\n2\n3\n");
}

#[test]
fn o06_an_agent_has_a_session_of_its_own_and_no_terminal() {
    let env = env();
    env.script("tty\nids\nclaim");
    let terminal = env.ralph(["run", "-p", "x"]).spawn_on_terminal(100, 24);
    let ralph = terminal.pid();
    let shown = terminal.finish().stdout;
    assert!(shown.contains("tty: No such device or address"), "{shown}");
    let ids = shown.lines().find(|line| line.starts_with("pid=")).expect("the line of ids");
    let value = |key: &str| ids.split(' ').find_map(|pair| pair.trim().strip_prefix(key)?.strip_prefix('=')).unwrap();
    assert_eq!([value("group"), value("session")], [value("pid"); 2], "{ids}");
    assert_ne!(value("parent"), ralph.to_string(), "its parent is the keeper");
}

#[test]
fn an_agent_has_a_temporary_folder_that_goes_with_the_run() {
    let env = env();
    env.script(
        "[1]\nenv TMPDIR\nrun mkdir \"$TMPDIR/litter\" && stat -c %a \"$TMPDIR\"\n[2]\nrun ls \"$TMPDIR\"\nclaim",
    );
    let run = env.ralph(["run", "-p", "x"]).env("TMPDIR", env.root()).run();
    let folder = run.stdout.lines().next().unwrap().trim_start_matches("TMPDIR=").to_owned();
    assert!(folder.starts_with(&format!("{}/ralph-", env.root().display())), "{}", run.stdout);
    assert!(run.stdout.contains("700\n") && run.stdout.contains("litter\n"), "{}", run.stdout);
    assert!(!std::path::Path::new(&folder).exists(), "it is gone with the run");
    // Whoever sets it has the last word, and a place that cannot be written ends nothing.
    env.script("env TMPDIR\nclaim").settings(json!({ "agent": { "env": { "TMPDIR": "/mine" } } }));
    env.ralph(["run", "-p", "x"])
        .env("TMPDIR", "/nowhere/at/all")
        .stdout_has("/mine\n")
        .stderr_has("note: no temporary folder for the run (")
        .run();
}

#[test]
fn an_agent_is_given_the_environment_that_the_manual_promises() {
    let env = env();
    env.settings(json!({ "agent": {
        "env": { "ADDED": "by settings", "CHANGED": "new", "KEPT_MARK": "1" },
        "envRemove": ["SECRET", "NOT_THERE"],
    } }));
    env.script("save-env env.txt\ncwd\nclaim");
    let invocation = env.ralph(["run", "-p", "x", "--json", "--task", "the-task"]);
    let marks = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"];
    let invocation = marks.iter().fold(invocation, |invocation, mark| invocation.env(mark, "1"));
    let invocation = invocation.env("RALPH_PARENT_RUN_ID", "abcdefgh");
    let run = invocation.env("SECRET", "s").env("CHANGED", "old").env("OWN", "stays").run();
    let folder = env.path(".ralph/tasks/the-task").display().to_string();
    let bus = format!("{folder}/TASK-MESSAGE-BUS.md");
    let id = only(&run, "run.started")["run"].as_str().unwrap().to_owned();
    let given = env.read("env.txt");
    let value = |name: &str| given.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let state = env.state().display().to_string();
    for name in ["RALPH_RUN_DIR", "RUN_FOLDER"] {
        let folder = value(name).expect("it is given");
        assert!(folder.starts_with(&state) && folder.ends_with(&format!("/runs/{id}")), "{name}={folder}");
    }
    for (name, expected) in [
        ("RALPH_RUN_ID", Some(id.as_str())),
        ("RALPH_PARENT_RUN_ID", None),
        ("RALPH_ITERATION", Some("1")),
        ("RALPH_TASK_DIR", Some(folder.as_str())),
        ("TASK_FOLDER", Some(folder.as_str())),
        ("MESSAGE_BUS", Some(bus.as_str())),
        ("ADDED", Some("by settings")),
        ("CHANGED", Some("new")),
        ("OWN", Some("stays")),
        ("SECRET", None),
        ("CLAUDECODE", None),
        ("CLAUDE_CODE_ENTRYPOINT", None),
        ("CLAUDE_CODE_SSE_PORT", None),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
    assert!(env.path(".ralph/tasks/the-task").is_dir());
}

/// A run of one guardrail after an agent that claims; gives the check's line and the run.
#[track_caller]
pub fn guarded(env: &TestEnv, command: &str, timeout_ms: u64, code: i32) -> (Value, Finished) {
    // What a check writes is no change of the tree: it would be checked again.
    env.write(".gitignore", "*.pid\n");
    let guardrail = json!({ "command": command, "failAction": "APPEND", "timeoutMs": timeout_ms });
    env.live().settings(json!({ "guardrails": [guardrail] })).script("claim");
    let run = run(env, &["-m", "1"], code);
    (only(&run, "check.finished"), run)
}

#[test]
fn j01_a_guardrail_that_hangs_has_not_passed_and_is_gone() {
    let env = env();
    let (check, run) = guarded(&env, "sleep 600 & echo $! > child.pid; sleep 600", 300, 1);
    assert_eq!((&check["passed"], &check["exit_code"]), (&json!(false), &Value::Null));
    assert!(check["problem"].as_str().unwrap().contains("timed out after 300ms"), "{check}");
    assert!(run.took < Duration::from_secs(4), "{:?}", run.took);
    assert!(!alive(env.read_pid("child.pid")));
    assert!(env.processes().is_empty(), "{:?}", env.processes());
}

#[test]
fn j02_a_server_that_a_guardrail_leaves_is_ended_and_reported() {
    let env = env();
    let daemon = "setsid sh -c 'trap \"\" TERM; echo $$ > d.pid; sleep 600' </dev/null >/dev/null 2>&1 &
                  while [ ! -s d.pid ]; do sleep 0.02; done";
    let (check, run) = guarded(&env, daemon, 10_000, 0);
    assert_eq!(check["passed"], true);
    assert!(!alive(env.read_pid("d.pid")));
    let told = lines(&run, "note").iter().any(|note| note["text"].to_string().contains("left processes behind"));
    assert!(told, "{}", run.stdout);
    assert!(run.took < Duration::from_secs(5), "{:?}", run.took);
}

#[test]
fn j03_a_guardrail_that_floods_is_kept_in_its_log_and_cut_in_the_prompt() {
    let env = env();
    env.guardrail("yes flood | head -c 30000000; exit 1")
        .script("stdin\ntouch iteration$RALPH_ITERATION\nprint working");
    let running = env.ralph(["run", "-p", "x", "-m", "2", "--json"]).code(1).spawn();
    running.wait_for_file("iteration2");
    let peak = status(running.pid(), "VmHWM");
    let run = running.finish();
    let checks = lines(&run, "check.finished");
    let log = env.path(checks[0]["log"].as_str().unwrap());
    assert_eq!(std::fs::metadata(log).unwrap().len(), 30_000_000);
    let prompt = env.read(".ralph/prompt_002.txt");
    assert!(prompt.contains("flood\nflood") && prompt.contains("... [truncated]"), "{prompt}");
    assert!(prompt.len() < 8000, "{}", prompt.len());
    assert!(peak < 64 << 10, "{peak} kB");
}

#[test]
fn j06_a_guardrail_that_could_not_run_is_reported_as_that() {
    let env = env();
    env.write("plain", "");
    for (command, exit_code, problem) in [
        ("no-such-check", json!(127), "could not run: command not found (exit code 127)"),
        ("./plain", json!(126), "could not run: not executable (exit code 126)"),
        ("kill -9 $$", Value::Null, "was killed by signal 9"),
        ("exit 3", json!(3), "failed with exit code 3"),
        ("kill -9 $PPID; sleep 600", Value::Null, "was killed by signal 9"),
    ] {
        let (check, run) = guarded(&env, command, 10_000, 1);
        assert_eq!((&check["passed"], &check["exit_code"]), (&json!(false), &exit_code), "{command}");
        assert_eq!(check["problem"], problem, "{command}");
        assert!(reasons(&run, 1).contains(problem), "{command}: {}", reasons(&run, 1));
    }
}

#[test]
fn j13_a_guardrail_that_reads_gets_the_end_of_input() {
    let env = env();
    env.settings(json!({ "guardrails": [
        { "command": "cat; echo end of input", "timeoutMs": 5000 },
        { "command": "! read answer", "timeoutMs": 5000 },
        { "command": "! cat /dev/tty", "timeoutMs": 5000 },
    ] }));
    env.script("claim");
    let terminal = env.ralph(["run", "-p", "x"]).env("NO_COLOR", "1").stdout_has("complete · verified");
    terminal.spawn_on_terminal(100, 24).finish();
}

#[test]
fn a02_an_agent_that_floods_without_end_still_meets_its_limit_and_a_signal() {
    let env = env();
    env.settings(serde_json::json!({ "agent": { "command": "yes", "flags": ["flood"] } }));
    let limited = ["run", "-q", "-p", "x", "--once", "--iteration-timeout", "1s"];
    env.ralph(limited).stdout_has("single-pass").code(1).time_limit(Duration::from_secs(15)).run();
    let run = env.ralph(["run", "-q", "-p", "y", "--once"]).stdout_has("interrupted").code(130).spawn();
    run.wait_until("the agent floods", || env.processes().iter().any(|process| process.command.starts_with("yes")));
    run.signal(2);
    run.wait_for_stderr("shutting down");
    run.signal(2);
    run.finish();
}

#[test]
fn a18_an_agent_that_stops_its_keeper_is_seen_to_end() {
    let env = env();
    let agent = "#!/bin/sh\ncat > /dev/null\nkill -STOP $PPID\nsleep 0.2\necho '<response>DONE</response>'\n";
    env.program("stopper", agent);
    completes(&env, &["--agent", "stopper"]);
}

#[test]
fn a18_the_tree_of_a_killed_ralph_ends_even_if_its_keeper_was_stopped() {
    let env = env();
    let agent = "#!/bin/sh\ncat > /dev/null\nkill -STOP $(cut -d' ' -f4 /proc/$PPID/stat) $PPID\n\
                 echo $$ > agent.pid\nexec sleep 1000\n";
    env.program("stopper", agent);
    let call = env.ralph(["run", "-p", "x", "--agent", "stopper"]);
    let stopped = call.killed_by(SIGKILL).spawn();
    assert!(eventually(Duration::from_secs(10), || env.exists("agent.pid")));
    let agent = env.read_pid("agent.pid");
    assert!(alive(agent) && stopped.signal(SIGKILL));
    assert!(eventually(Duration::from_secs(2), || !alive(agent)), "{:?}", env.processes());
    stopped.finish();
}

#[test]
fn e05_a_check_that_outlived_ralph_and_keeper_is_ended_by_the_next_resume() {
    let env = env();
    env.guardrail("echo $$ > $HOME/check.pid; [ -e second ] || exec sleep 1000").script("claim");
    let of_check = env.home().join("check.pid");
    let first = env.ralph(["run", "-p", "x"]).killed_by(SIGKILL).spawn();
    first.wait_for_stdout("<response>DONE</response>");
    assert!(eventually(Duration::from_secs(10), || env.exists(&of_check)));
    let check = env.read_pid(&of_check);
    env.write("second", "");
    // Neither of the two may see the other die.
    assert!(first.signal(SIGSTOP));
    signal(keeper(&env), SIGKILL);
    assert!(first.signal(SIGKILL));
    first.finish();
    assert!(alive(check), "nobody was left to end it");
    // The check and the process that watches what it uses.
    let told = "note: processes that the crashed run [..] had left alive were ended: 2";
    env.ralph(["resume"]).stdout_has("complete · verified").stderr_has(told).run();
    assert!(!alive(check));
}

#[test]
fn e05_a_keeper_that_leaves_is_nothing_that_was_left_alive() {
    let env = env();
    let reset = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() + 7200;
    env.agent_as("claude").script(&format!("claude-limit {reset}\nclaude-result limit error status=429\nexit 1\n"));
    let first = env.ralph(["run", "-p", "x"]).killed_by(SIGKILL);
    let first = first.stderr_has("✗ agent: limit").stderr_has("will be repeated").spawn();
    first.wait_for_stdout("limit reached");
    first.wait_for_stderr("waiting until ");
    // The last that is told before the wait.
    first.wait_for_stderr("note: the wall time of 1h00m");
    assert!(first.signal(SIGKILL));
    first.finish();
    let resumed =
        env.ralph(["resume", "--no-wait"]).ends("error").stderr_has("resumed · ").stderr_has("✗ agent: limit");
    resumed.code(5).run();
}

#[test]
fn e05_an_agent_that_outlived_ralph_and_keeper_does_not_work_beside_the_next_run() {
    let env = env();
    let agent = "#!/bin/sh\ncat > /dev/null\n[ -e $HOME/second ] || { echo $$ > $HOME/agent.pid; exec sleep 1000; }\n\
                 echo '<response>DONE</response>'\n";
    env.program("sleeper", agent);
    let of_agent = env.home().join("agent.pid");
    let run = |prompt| env.ralph(["run", "-p", prompt, "--agent", "sleeper"]);
    let first = run("x").killed_by(SIGKILL).spawn();
    assert!(eventually(Duration::from_secs(10), || env.exists(&of_agent)));
    let agent = env.read_pid(&of_agent);
    assert!(first.signal(SIGSTOP));
    signal(keeper(&env), SIGKILL);
    assert!(first.signal(SIGKILL));
    first.finish();
    assert!(alive(agent), "nobody was left to end it");
    env.write(env.home().join("second"), "");
    run("y").ends("complete · claimed, not verified").stderr_has("had left alive were ended: 1").run();
    assert!(!alive(agent));
}

#[test]
fn a21_an_answer_of_the_keeper_that_is_lost_is_noticed_long_before_any_limit() {
    if !has_tool("strace") {
        return;
    }
    // The keeper's second answer says that the second agent has ended; its 15 bytes never arrive.
    let env = env().without_git();
    env.script("[1]\nprint one\n[*]\nclaim");
    let run = env.ralph(["run", "-p", "x", "-m", "2"]).inject("sendto", 2, Fault::Lost(15));
    let began = std::time::Instant::now();
    let run =
        run.ends("max-iterations").stderr_has("✗ agent: the process that watches over the agent died").code(1).run();
    assert!(run.trace.as_deref().unwrap_or_default().contains("(INJECTED)"), "{:?}", run.trace);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let told = crate::story::story(&env);
    assert_eq!(told["iterations"][1]["agent"]["ending"]["how"], "keeper_lost", "{told}");
    assert!(env.processes().is_empty(), "{:?}", env.processes());
}

#[test]
fn a12_a_script_whose_interpreter_is_missing_is_told_which() {
    let env = env();
    env.program("scripted", "#!/no/such/python3 -u\nprint('x')\n");
    let run = env
        .ralph(["run", "-p", "x", "--agent", "scripted"])
        .stdout_has("scripted needs /no/such/python3, which does not exist");
    run.stderr_has("✗ agent: the agent could not be started: scripted needs ").code(5).run();
}
