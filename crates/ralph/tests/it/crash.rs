//! Group E: `kill -9` at any instant, and what `ralph resume` makes of it.

use crate::damage::state;
use crate::env;
use crate::story::{begun, iterations, judged, launches, newest, runs, story};
use ralph_core::event::{Entry, Event};
use ralph_core::id::RunId;
use ralph_core::run::Run;
use ralph_core::time::WallTime;
use ralph_core::words::Note;
use ralph_store::{Durability, Store};
use ralph_testkit::{Fault, TestEnv, alive, eventually, has_tool};
use serde_json::{Value, json};
use std::time::Duration;

const SIGKILL: i32 = 9;
/// What ends with ralph has ended by then.
const SOON: Duration = Duration::from_secs(3);

/// Two iterations: the first does nothing, the second does the work and claims. Every launch is
/// noted outside of the tree.
const TWO_ITERATIONS: &str = "\
stdin
[1]
append $HOME/launches 1\\n
print not yet
[2]
append $HOME/launches 2\\n
file built yes
claim
";

fn two_iterations() -> TestEnv {
    let env = env();
    env.live().script(TWO_ITERATIONS).guardrail("test -f built");
    env
}

/// Kills ralph before its N-th call, for every N (or every stride-th) until a run gets through, and
/// says in which states the kills left it. Which calls there are differs between libraries, so one
/// that never comes is no fault.
fn killed_at(syscall: &str, stride: usize) -> Vec<Left> {
    let mut left = Vec::new();
    if !has_tool("strace") {
        return left;
    }
    for when in (1..).step_by(stride) {
        println!("killed at {syscall} {when}");
        let env = two_iterations();
        let run = env.ralph(["run", "-p", "build it"]).inject(syscall, when, Fault::Signal("SIGKILL"));
        let killed = run.without_following().any_end().run();
        if killed.signal() != Some(SIGKILL) {
            assert!(killed.stdout.contains("complete · verified"), "a run that nobody killed");
            break;
        }
        assert!(!killed.stdout.contains("claimed, not verified"), "{}", killed.stdout);
        left.push(goes_on(&env, 1));
    }
    left
}

/// What the journal held after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    NoIteration,
    Iterations,
    Everything,
}

/// What must hold after a crash, and after the resume: the journal tells of every iteration once,
/// in order, and nothing that it had recorded is done again.
fn goes_on(env: &TestEnv, crashes: usize) -> Left {
    assert!(eventually(SOON, || env.processes().is_empty()), "alive: {:?}", env.processes());
    views_are_whole(env);
    let before = runs(env);
    let recorded = if before.is_empty() { Vec::new() } else { agents_recorded(&story(env)) };
    let launched = launches(env);
    let left = match before.first().map(|run| run["stop_reason"].clone()) {
        // Nothing was recorded, so nothing was launched, and it can only begin again.
        None => {
            assert!(launched.is_empty(), "launched and not recorded: {launched:?}");
            env.ralph(["run", "-p", "build it"]).ends("complete · verified").run();
            Left::Nothing
        }
        Some(Value::Null) => {
            env.ralph(["resume"]).stdout_has("complete · verified").run();
            if recorded.is_empty() { Left::NoIteration } else { Left::Iterations }
        }
        Some(reason) => {
            assert_eq!(reason, "complete", "a crash is no end");
            Left::Everything
        }
    };
    let told = story(env);
    assert_eq!((&told["stop_reason"], &told["verified"]), (&json!("complete"), &json!(true)), "{told}");
    assert_eq!(judged(&told), [1, 2], "every iteration is judged once");
    let begun = begun(&told);
    assert!(
        begun.first() == Some(&1) && begun.windows(2).all(|two| two[1] == two[0] || two[1] == two[0] + 1),
        "{begun:?}"
    );
    let now = launches(env);
    assert!((2..=2 + crashes).contains(&now.len()), "at most the iteration in flight is repeated: {now:?}");
    for done in recorded {
        let count = |all: &[String]| all.iter().filter(|launch| **launch == done).count();
        assert_eq!(count(&now), count(&launched), "iteration {done} was recorded and is launched again");
    }
    views_are_whole(env);
    assert!(env.read(".ralph/prompt_002.txt").contains("build it"));
    assert!(eventually(SOON, || env.processes().is_empty()), "alive: {:?}", env.processes());
    left
}

/// The iterations whose agent's end is in the journal.
fn agents_recorded(story: &Value) -> Vec<String> {
    iterations(story).iter().filter(|one| !one["agent"].is_null()).map(|one| one["iteration"].to_string()).collect()
}

/// What readers find in the task's folder is whole.
fn views_are_whole(env: &TestEnv) {
    for task in std::fs::read_dir(env.path(".ralph/tasks")).into_iter().flatten().flatten() {
        for file in std::fs::read_dir(task.path()).unwrap().flatten() {
            let text = std::fs::read_to_string(file.path()).unwrap();
            match file.file_name().to_str().unwrap() {
                "ralph-iteration.json" => drop(serde_json::from_str::<Value>(&text).expect("the state file is JSON")),
                "ralph-summary.md" => assert!(text.starts_with("# Ralph Loop Summary\n"), "{text}"),
                _ => {}
            }
        }
    }
}

#[test]
fn e01_killed_at_every_write_of_the_journal() {
    let left = killed_at("pwrite64", 1);
    // The kills reach every stage of a run, or they would prove little.
    let stages = [Left::Nothing, Left::NoIteration, Left::Iterations, Left::Everything];
    assert!(left.is_empty() || stages.iter().all(|stage| left.contains(stage)), "{left:?}");
    killed_at("ftruncate", 1);
}

#[test]
fn e01_killed_at_every_sync() {
    killed_at("fsync", 1);
    killed_at("fdatasync", 1);
}

#[test]
fn e01_killed_at_every_other_write() {
    killed_at("write", 1);
    killed_at("writev", 1);
}

#[test]
fn e01_killed_at_every_change_of_a_name() {
    for syscall in ["renameat", "renameat2", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat"] {
        killed_at(syscall, 1);
    }
}

#[test]
fn e01_killed_between_ralph_and_its_keeper() {
    for syscall in ["socketpair", "clone3", "sendmsg", "flock"] {
        killed_at(syscall, 1);
    }
    killed_at("recvmsg", 4);
    killed_at("pipe2", 2);
}

#[test]
fn e01_killed_at_openings() {
    killed_at("openat", 5);
}

#[test]
fn e01_killed_at_closings_and_locks() {
    killed_at("close", 12);
    killed_at("fcntl", 14);
}

#[test]
fn p12_the_time_of_an_agent_that_a_crash_cut_off_counts() {
    let env = env();
    let agent = "#!/bin/sh\ncat > /dev/null\necho begun\n[ -e $HOME/second ] && { echo '<response>DONE</response>'; exit; }\n\
                 sleep 0.7\necho printed\necho > $HOME/second\nexec sleep 1000\n";
    env.program("slow", agent);
    let run = env.ralph(["run", "-p", "x", "--agent", "slow"]).killed_by(9).spawn();
    run.wait_for_stdout("printed");
    assert!(eventually(Duration::from_secs(10), || env.home().join("second").exists()));
    run.crash();
    let end = env.ralph(["resume", "--json"]).run().json_lines().pop().unwrap();
    assert!(end["elapsed_ms"].as_u64().is_some_and(|ms| ms >= 700), "{end}");
}

#[test]
fn e01_killed_at_readings_and_waits() {
    killed_at("read", 18);
    killed_at("epoll_wait", 3);
    killed_at("newfstatat", 33);
}

#[test]
fn e03_killed_again_and_again_while_it_resumes() {
    if !has_tool("strace") {
        return;
    }
    for (syscall, stride) in [("pwrite64", 1), ("write", 1), ("renameat2", 1), ("openat", 9), ("recvmsg", 4)] {
        let env = two_iterations();
        let run = env.ralph(["run", "-p", "build it"]).inject("sendmsg", 12, Fault::Signal("SIGKILL"));
        let killed = run.without_following().killed_by(SIGKILL).run();
        assert!(!killed.stdout.contains("complete · "), "{}", killed.stdout);
        let mut crashes = 1;
        for when in (1..).step_by(stride) {
            println!("resume killed at {syscall} {when}");
            let resume = env.ralph(["resume"]).inject(syscall, when, Fault::Signal("SIGKILL"));
            let resumed = resume.without_following().any_end().run();
            assert!(!resumed.stdout.contains("not verified"), "{}", resumed.stdout);
            if resumed.signal() != Some(SIGKILL) || runs(&env)[0]["stop_reason"] == "complete" {
                break;
            }
            crashes += 1;
        }
        goes_on(&env, crashes);
    }
}

#[test]
fn e05_a_daemon_that_outlived_ralph_and_keeper_is_ended_before_the_next_agent_starts() {
    let env = env();
    env.guardrail("true").script(
        "once $HOME/first section hang\n\
         run sed 's/.*) //' /proc/$(cat $HOME/daemon)/stat 2> /dev/null | grep -q '^[^Z]' && touch $HOME/met; true\n\
         claim\n\
         [hang]\ntouch $HOME/first\ndaemonise ignore-term $HOME/daemon\npidfile $HOME/agent\nsleep forever\n",
    );
    let run = env.ralph(["run", "-p", "x"]).killed_by(SIGKILL).spawn();
    run.wait_for_file(env.home().join("agent"));
    let keeper = env.processes().into_iter().find(|process| process.command.contains("keeper")).expect("a keeper").pid;
    // Neither can do anything about the other's end.
    signal(keeper, "STOP");
    run.kill9();
    signal(keeper, "KILL");
    run.finish();
    let (agent, daemon) = (env.read_pid(env.home().join("agent")), env.read_pid(env.home().join("daemon")));
    assert!(alive(daemon), "the case is that it lives on");
    let told = "note: processes that the crashed run [..] had left alive were ended: ";
    env.ralph(["resume"]).stdout_has("complete · verified").stderr_has(told).run();
    assert!(!alive(daemon) && !alive(agent));
    assert!(!env.home().join("met").exists(), "the next agent met the old daemon");
}

/// Sends a signal as a person would.
fn signal(pid: u32, name: &str) {
    let status = std::process::Command::new("kill").args(["-s", name, &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn e08_a_fault_in_ralph_itself_ends_everything_and_says_how_to_go_on() {
    if !has_tool("strace") {
        return;
    }
    // The runtime gives up where its own descriptor cannot be written, which never happens by itself.
    let faulty = (1..30).find_map(|when| {
        let env = two_iterations();
        let run = env.ralph(["run", "-p", "build it"]).inject("write", when, Fault::Errno("EIO"));
        let run = run.without_following().stderr_unchecked("any write may be the one that fails").any_end().run();
        assert!(run.code() != 0 || run.stdout.contains("complete · verified"), "{}", run.stdout);
        (run.code() == 70).then_some((env, run))
    });
    let (env, run) = faulty.expect("a write whose failure the runtime does not survive");
    assert!(run.stderr.contains("error: ralph itself failed: "), "{}", run.stderr);
    assert!(run.stderr.contains("hint: the journal is intact; go on with: ralph resume"), "{}", run.stderr);
    assert!(!run.stderr.contains('\x1b'), "no terminal, no control sequences: {}", run.stderr);
    goes_on(&env, 1);
}

#[test]
fn e11_a_moved_project_brings_its_runs_along() {
    let env = two_iterations();
    env.ralph(["run", "-p", "build it", "-m", "1"]).ends("max-iterations").code(1).run();
    let run = newest(&env);
    let moved = env.root().join("moved");
    std::fs::rename(env.project(), &moved).unwrap();
    let told = "note: this project was at [PROJECT] and was moved; its runs go on here";
    env.ralph(["status"]).current_dir(&moved).stdout_has(&run).stderr_has(told).run();
    // Once it is known, nobody needs to hear it again.
    env.ralph(["status"]).current_dir(&moved).stdout_has(&run).stderr("").run();
    env.ralph(["resume", "-m", "2"]).current_dir(&moved).stdout_has("complete · verified").run();
    std::fs::rename(&moved, env.project()).unwrap();
    env.ralph(["show"]).stdout_has(&run).stderr_has("note: this project was at [ROOT]/moved").run();
}

#[test]
fn e11_a_copy_of_a_project_has_no_runs_while_the_original_is_there() {
    let env = two_iterations();
    env.ralph(["run", "-p", "build it", "-m", "1"]).ends("max-iterations").code(1).run();
    let run = newest(&env);
    let copy = env.root().join("elsewhere/project");
    std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
    assert!(std::process::Command::new("cp").arg("-a").args([env.project(), copy.clone()]).status().unwrap().success());
    env.ralph(["resume", &run])
        .current_dir(&copy)
        .stderr_has("there is no unfinished run[..]\nhint: begin one: ")
        .code(2)
        .run();
    env.ralph(["status"]).current_dir(&copy).stderr_has("no runs in").stderr_lacks(&run).run();
    // As `mv` to another disk leaves it: another folder, and the old one is gone.
    std::fs::remove_dir_all(env.project()).unwrap();
    let told = format!("[PROJECT] is gone; if it was moved here, go on with its newest run: ralph resume {run}");
    env.ralph(["status"]).current_dir(&copy).stderr_has("no runs in").stderr_has(&told).run();
    let none = "error: there is no unfinished run in [..]\nhint: begin one: ";
    env.ralph(["resume"]).current_dir(&copy).stderr_has(none).stderr_has(&told).code(2).run();
    let resumed = env.ralph(["resume", &run, "-m", "2"]).current_dir(&copy).stdout_has("complete · verified");
    resumed.stderr_has("began in [PROJECT], which is gone; it goes on here").run();
}

#[test]
fn e11_a_project_that_is_deleted_or_moved_under_a_run_is_told_as_such() {
    let env = env();
    env.script("touch $HOME/started\nwait-file $HOME/go\nprint x").guardrail("true");
    let gone = "is gone: it was deleted or moved";
    let running = env.ralph(["run", "-p", "x"]).stdout_has(gone).stdout_lacks("--agent").code(2);
    let running = running
        .stderr_has("note: [PROJECT]/.ralph/settings.json was edited")
        .stderr_has(&format!("note: the tree could not be looked at[..]{gone}"))
        .stderr_has("note: .ralph/guardrail_001_true.log could not be written")
        .spawn();
    running.wait_for_file(env.home().join("started").to_str().unwrap());
    let moved = env.root().join("moved");
    std::fs::rename(env.project(), &moved).unwrap();
    std::fs::write(env.home().join("go"), "").unwrap();
    running.finish();
    env.script("claim");
    let told = "note: this project was at [PROJECT] and was moved";
    env.ralph(["resume"]).current_dir(&moved).stdout_has("complete · verified").stderr_has(told).run();
}

#[test]
fn e12_every_end_has_its_reason_and_can_be_looked_at_afterwards() {
    let ends = [
        ("claim", &["run", "-p", "x"][..], 0, "complete", ""),
        ("print <ralph>BLOCKED: no key</ralph>", &["run", "-p", "x"], 3, "blocked", ""),
        ("print no", &["run", "-p", "x", "-m", "1"], 1, "max-iterations", ""),
        ("print no", &["run", "-p", "x", "--once"], 0, "single-pass", ""),
        ("exit 3", &["run", "-p", "x"], 5, "error", "✗ agent: the agent exited with code 3"),
        ("sleep forever", &["run", "-p", "x", "--max-wall-time", "300ms"], 4, "max-wall-time", "stopped by ralph"),
    ];
    for (script, arguments, code, reason, told) in ends {
        let env = env();
        env.script(script);
        env.ralph(arguments).ends(&format!("{reason} · [..]")).stderr_has(told).code(code).run();
        let told = story(&env);
        assert_eq!(told["stop_reason"], reason, "{script}");
        assert_eq!(told["exit_code"], code, "{script}");
        assert_eq!(told["outcome"]["stop_reason"], reason, "{script}");
    }
}

#[test]
fn e13_a_tree_that_a_person_changed_in_between_is_gone_on_with() {
    let env = env();
    env.guardrail("true").script("print half\n[2]\nrun git log --format=%s\nclaim\n");
    env.ralph(["run", "-p", "x", "-m", "1"]).ends("max-iterations").code(1).run();
    env.write("mine.txt", "by hand");
    env.git(["add", "mine.txt"]);
    env.git(["commit", "--quiet", "--message=By hand"]);
    env.write("dirty.txt", "not committed");
    let resumed = env.ralph(["resume", "-m", "3"]).stdout_has("By hand").stdout_has("complete · verified");
    resumed.stderr_has("resumed · continuing with iteration 2").run();
    assert_eq!(env.read("dirty.txt"), "not committed");
}

#[test]
fn e14_without_its_journal_there_is_nothing_to_resume_and_nothing_is_guessed() {
    let env = two_iterations();
    env.ralph(["run", "-p", "build it", "-m", "1"]).ends("max-iterations").code(1).run();
    std::fs::remove_dir_all(env.state()).unwrap();
    env.ralph(["resume"])
        .stderr_has("error: there is no unfinished run in [PROJECT]")
        .stderr_has("hint: begin one: ralph run")
        .code(2)
        .run();
    assert_eq!(launches(&env), ["1"], "the views alone start nothing");
}

#[test]
fn e06_a_lock_from_another_boot_is_no_obstacle_and_its_pid_is_left_alone() {
    let env = two_iterations();
    let script = TWO_ITERATIONS.replace("print not yet", "once $HOME/first section hang\nprint not yet");
    env.script(&format!("{script}[hang]\ntouch $HOME/first\nsleep forever\n"));
    let run = env.ralph(["run", "-p", "build it"]).killed_by(SIGKILL).spawn();
    run.wait_for_file(env.home().join("first"));
    run.crash();
    // The text that a power cut would have left: a number that now belongs to somebody else, this test.
    let own = std::process::id();
    for entry in std::fs::read_dir(env.state().join("locks")).unwrap().flatten() {
        let file = if entry.path().is_dir() { entry.path().join("owner.json") } else { entry.path() };
        let owner = json!({ "pid": own, "start": 1, "boot": "another boot", "host": "here", "run": "r", "since": 0, "command": "ralph run" });
        std::fs::write(file, owner.to_string()).unwrap();
    }
    goes_on(&env, 1);
}

#[test]
fn a_run_at_its_last_iteration_goes_on_with_more() {
    let env = two_iterations();
    env.ralph(["run", "-p", "build it", "-m", "1"]).stdout_has("next: ralph resume [..] -m 2").code(1).run();
    // Without more there is nothing to do, and nothing is done.
    env.ralph(["resume"]).stdout_has("1 iteration used up").code(1).run();
    assert_eq!(launches(&env), ["1"]);
    env.ralph(["resume", "-m", "2"]).stdout_has("complete · verified").run();
    assert_eq!(launches(&env), ["1", "2"]);
    let id = newest(&env);
    env.ralph(["resume", &id])
        .stderr_has(&format!("error: run {id} is complete"))
        .stderr_has("hint: look at it: ralph show [..]\nhint: begin a new one: ralph run -p 'make the tests pass'\n")
        .code(2)
        .run();
}

/// A check that hangs until `go` is there.
const HANGING_CHECK: &str = "test -f go || { touch $HOME/checking; exec sleep 600; }";

#[test]
fn a_long_run_goes_on_from_what_was_kept_of_it_as_from_its_whole_journal() {
    let env = env();
    env.script("print working");
    env.ralph(["run", "-q", "-p", "x", "-m", "1"]).stdout_has("1 iteration used up").code(1).run();
    let run = RunId::parse(&newest(&env)).unwrap();
    let open = || Store::open(&state(&env)).unwrap();
    {
        let mut store = open();
        let mut machine = Run::fold(None, &store.entries(&run).unwrap()).unwrap();
        let note = Note::Machine { text: "a long story".to_owned() };
        let entry = |seq| Entry {
            seq,
            at: WallTime(0),
            elapsed: machine.elapsed(),
            event: Event::Noted { note: note.clone() },
        };
        let story: Vec<Entry> = (machine.seq() + 1..=600).map(entry).collect();
        machine = Run::fold(Some(machine), &story).unwrap();
        store.append(&story, &machine.row(), &[], Durability::Written).unwrap();
        assert_eq!(store.snapshot::<Run>(&run), None);
    }
    let mut before = 600;
    for most in ["2", "3"] {
        env.ralph(["resume", "-q", run.as_str(), "-m", most]).stdout_has("iterations used up").code(1).run();
        let store = open();
        let kept: Run = store.snapshot(&run).expect("a snapshot with the first write");
        let entries = store.entries(&run).unwrap();
        assert!(kept.seq() > before && kept.seq() < entries.len() as u64);
        before = entries.len() as u64;
        assert_eq!(Run::fold(None, &entries[..kept.seq() as usize]).as_ref(), Ok(&kept));
        let whole = Run::fold(None, &entries);
        assert_eq!(Run::fold(Some(kept.clone()), &store.follow(&run, kept.seq()).unwrap()), whole);
        assert_eq!(whole.unwrap().iteration().to_string(), most);
    }
}

#[test]
fn killed_during_a_check_it_goes_on_with_the_checks_and_not_with_the_agent() {
    let env = env();
    env.script("append $HOME/launches 1\\n\nclaim").guardrail("true").guardrail(HANGING_CHECK);
    let run = env.ralph(["run", "-p", "x"]).killed_by(SIGKILL).spawn();
    run.wait_for_stdout("<response>DONE</response>");
    run.wait_for_file(env.home().join("checking"));
    run.crash();
    env.write("go", "");
    env.ralph(["resume"])
        .stdout_has("complete · verified")
        .stderr_has("resumed · continuing with the checks of iteration 1")
        .run();
    assert_eq!(launches(&env).len(), 1);
    assert!(eventually(SOON, || env.processes().is_empty()));
}

#[test]
fn what_passed_before_a_crash_is_checked_again_on_the_files_as_they_are() {
    let env = env();
    env.script("file built yes\nclaim").guardrail("test -f built").guardrail(HANGING_CHECK);
    let run = env.ralph(["run", "-p", "x", "-m", "1"]).killed_by(SIGKILL).spawn();
    run.wait_for_stdout("<response>DONE</response>");
    run.wait_for_file(env.home().join("checking"));
    run.crash();
    env.write("go", "");
    std::fs::remove_file(env.path("built")).unwrap();
    env.ralph(["resume"]).stdout_has("max-iterations · not verified").stderr_has("test -f built failed").code(1).run();
}

#[test]
fn interrupted_during_a_check_it_goes_on_with_the_checks_and_not_with_the_agent() {
    let env = env();
    env.script("append $HOME/launches 1\\n\nclaim").guardrail(HANGING_CHECK);
    let run = env.ralph(["run", "-p", "x"]).stdout_has("interrupted").stderr_has("stopping now").code(130).spawn();
    run.wait_for_file(env.home().join("checking"));
    run.signal(2);
    run.wait_for_stderr("shutting down");
    run.signal(2);
    run.finish();
    assert_eq!(runs(&env)[0]["stop_reason"], "interrupted");
    env.write("go", "");
    env.ralph(["resume"]).stdout_has("complete · verified").run();
    assert_eq!(launches(&env).len(), 1);
}

#[test]
fn a_crash_in_iteration_2_keeps_the_memory_of_iteration_1() {
    let env = env();
    env.guardrail("test -f built").script(
        "print the parser is half done\n\
         [2]\nonce $HOME/second section hang\nfile built yes\nclaim\n[hang]\ntouch $HOME/second\nsleep forever\n",
    );
    let run = env.ralph(["run", "-p", "x"]).stdout_has("the parser is half done\n").killed_by(SIGKILL).spawn();
    run.wait_for_file(env.home().join("second"));
    run.crash();
    let before = env.read(".ralph/prompt_002.txt");
    env.ralph(["resume"])
        .stdout_has("complete · verified")
        .stderr_has("resumed · continuing with iteration 2 from its beginning")
        .run();
    assert_eq!(env.read(".ralph/prompt_002.txt"), before, "the same iteration gets the same prompt");
    assert!(before.contains("## Ralph Summary") && before.contains("the parser is half done"), "{before}");
    assert_eq!(begun(&story(&env)), [1, 2, 2]);
}
