//! Group Q: what ralph itself needs, and that it does not grow.

use crate::env;
use crate::process::{keeper, lines, state, status};
use ralph_testkit::{Running, has_tool};
use std::time::Duration;

/// What ralph holds at one moment.
#[derive(Debug)]
struct Holding {
    memory: u64,
    files: usize,
    threads: u64,
}

fn holding(pid: u32) -> Holding {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("the process lives").count();
    Holding { memory: status(pid, "VmRSS"), files, threads: status(pid, "Threads") }
}

/// Children of a process, the dead ones that nobody has reaped included.
fn children(pid: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn zombies(pid: u32) -> usize {
    children(pid).into_iter().filter(|child| state(*child) == 'Z').count()
}

/// Its holding at rest: what it still had to close when the agent began is closed.
fn at_rest(running: &Running<'_>, pid: u32) -> Holding {
    let mut least = holding(pid);
    let mut looks = 0;
    running.wait_until("a few looks", || {
        let now = holding(pid);
        if now.files < least.files {
            least = now;
        }
        looks += 1;
        looks == 20
    });
    least
}

#[test]
fn q01_more_than_a_thousand_iterations_leave_memory_files_and_threads_as_they_were() {
    let env = env().without_git();
    env.script("[100]\ntouch early\nwait-file go-on\n[1200]\ntouch late\nwait-file end\n[*]\nprint x");
    // In memory: what is looked at here is not the disk's speed.
    let state = tempfile::tempdir_in("/dev/shm").unwrap();
    let invocation = env.ralph(["run", "-p", "x", "-q", "-m", "1200"]).env("RALPH_STATE_DIR", state.path());
    let running = invocation.ends("max-iterations").code(1).time_limit(Duration::from_secs(90)).spawn();
    running.wait_for_file("early");
    let both = [running.pid(), keeper(&env)];
    let early = both.map(|pid| at_rest(&running, pid));
    env.write("go-on", "");
    running.wait_for_file("late");
    let late = both.map(|pid| at_rest(&running, pid));
    assert_eq!(both.map(zombies), [0, 0]);
    env.write("end", "");
    running.finish();
    for (early, late) in early.iter().zip(&late) {
        assert_eq!((early.files, early.threads), (late.files, late.threads), "{early:?} {late:?}");
        // A twentieth, and what an allocator and the page cache of the store may round up.
        assert!(late.memory < early.memory + early.memory / 20 + 1024, "{early:?} {late:?}");
    }
}

#[test]
fn q02_orphans_are_reaped_while_the_agent_still_works() {
    let env = env();
    // Each shell leaves a child that outlives it for a moment and then ends below the keeper.
    env.script("repeat 20 run (sleep 0.1; exit 3) & exit 0\ntouch started\nwait-file go\nclaim").guardrail("true");
    let running = env.ralph(["run", "-p", "x", "--json"]).spawn();
    running.wait_for_file("started");
    let keeper = keeper(&env);
    running.wait_until("only the agent is left", || children(keeper).len() == 1);
    assert_eq!([zombies(keeper), zombies(running.pid())], [0, 0]);
    env.write("go", "");
    let run = running.finish();
    assert_eq!(lines(&run, "iteration.finished")[0]["leaked"], 0);
    assert!(env.processes().is_empty(), "{:?}", env.processes());
}

#[test]
fn q02_ralph_as_the_first_process_of_a_container_reaps_what_it_did_not_start() {
    let env = env();
    env.script("repeat 5 daemonise\nclaim").guardrail("true");
    let container = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
    // Only the machine's administrator may make one.
    let probe = || env.ralph(["--version"]).under(container).stderr_unchecked("the machine may refuse").any_end().run();
    if has_tool("unshare") && probe().stdout.starts_with("ralph ") {
        let run = env.ralph(["run", "-p", "x"]).under(container).ends("complete · verified").stderr_has(" · 5 leaked");
        run.stderr_has("note: the agent left 5 processes behind, ended now: ").run();
    }
}

#[test]
fn files_as_large_as_the_shell_allows_do_not_kill_ralph() {
    let env = env();
    env.program("talker", "#!/bin/sh\ncat > /dev/null\nhead -c 4000000 /dev/zero\necho '<response>DONE</response>'\n");
    let limited = r#"ulimit -f 1000; exec "$0" "$@""#;
    env.ralph(["run", "-p", "x", "--agent", "talker"])
        .under(["sh", "-c", limited])
        .stderr_has("note: output is missing in the stdout of iteration 1: File too large")
        .ends("complete · claimed, not verified")
        .run();
}
