//! Group H: signals to ralph and the terminal it runs on.

use crate::env;
use crate::process::{keeper, lines, only, signal, state};
use ralph_testkit::{Running, TestEnv, alive};
use serde_json::json;
use std::time::Duration;

const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGUSR1: i32 = 10;
const SIGTERM: i32 = 15;
const SIGCHLD: i32 = 17;
const SIGCONT: i32 = 18;

const SHUTTING_DOWN: &str = "Received signal, shutting down...";
const STOPPING: &str = "stopping now: ";
/// The guardrail itself writes a file.
const AGAIN: &str = "note: files changed while the checks ran; checking again: checked";
/// Begins, waits to be let go, claims.
const PATIENT: &str = "touch ready\nwait-file go\nclaim";
/// Ends politely, but not by itself.
const ENDLESS: &str = "daemonise daemon.pid\nsetsid-child tool.pid\nexit-on TERM 0\ntouch ready\nsleep forever";
const STUBBORN: &str = "daemonise ignore-term daemon.pid\nsetsid-child ignore-term tool.pid\nignore TERM INT HUP\n\
                        touch ready\nsleep forever";

/// Starts a run and waits until its agent is at work.
#[track_caller]
fn at_work<'e>(env: &'e TestEnv, script: &str) -> Running<'e> {
    env.script(script);
    let invocation = env.ralph(["run", "-p", "x"]).stdout_has("interrupted").stdout_has("next: ralph resume");
    let running = invocation.stderr_has(SHUTTING_DOWN).code(130).spawn();
    running.wait_for_file("ready");
    running
}

#[track_caller]
fn nobody_is_left(env: &TestEnv) {
    assert!(env.processes().is_empty(), "{:?}", env.processes());
}

#[test]
fn h01_h02_one_signal_lets_the_agent_finish_and_nothing_more_is_started() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
        let env = env();
        env.live().guardrail("touch checked");
        let running = at_work(&env, PATIENT);
        running.signal(number);
        running.wait_for_stderr(SHUTTING_DOWN);
        env.write("go", "");
        running.finish();
        assert!(!env.exists("checked"), "{number}: a check was started after the signal");
        nobody_is_left(&env);
        // What the agent said is not lost: only its checks are still to be done.
        env.ralph(["resume"])
            .stdout_has("complete · verified")
            .stderr_has("checks of iteration 1")
            .stderr_has(AGAIN)
            .run();
    }
}

#[test]
fn h01_the_second_signal_ends_a_polite_agent_and_all_its_company_at_once() {
    for (first, second) in [(SIGINT, SIGINT), (SIGTERM, SIGTERM), (SIGINT, SIGTERM)] {
        let env = env();
        let running = at_work(&env, ENDLESS);
        running.signal(first);
        running.wait_for_stderr(SHUTTING_DOWN);
        running.signal(second);
        running.wait_for_stderr(STOPPING);
        let run = running.finish();
        assert!(run.took < Duration::from_secs(4), "{:?}", run.took);
        nobody_is_left(&env);
    }
}

#[test]
fn h01_ten_signals_end_a_stubborn_agent_after_the_grace_and_are_no_third_state() {
    let env = env();
    let running = at_work(&env, STUBBORN);
    running.signal(SIGINT);
    running.wait_for_stderr(SHUTTING_DOWN);
    assert!((0..9).all(|_| running.signal(SIGINT)));
    running.wait_for_stderr(STOPPING);
    running.wait_for_stderr("note: the agent left 2 processes behind, ended now: ");
    let run = running.finish();
    assert_eq!(run.stderr.matches(SHUTTING_DOWN).count(), 1, "{}", run.stderr);
    assert!(run.took > Duration::from_secs(5) && run.took < Duration::from_secs(9), "{:?}", run.took);
    nobody_is_left(&env);
}

#[test]
fn h01_two_signals_end_a_guardrail_too() {
    // The second one leaves somebody behind who was not there when the signal came.
    for guardrail in
        ["touch ready; sleep 600", "trap 'sleep 600 & exit' TERM; touch ready; while :; do sleep 0.02; done"]
    {
        let env = env();
        env.live().script("claim").guardrail(guardrail);
        let invocation = env.ralph(["run", "-p", "x"]).stdout_has("interrupted").stderr_has(SHUTTING_DOWN).code(130);
        let running = invocation.spawn();
        running.wait_for_file("ready");
        running.signal(SIGINT);
        running.wait_for_stderr(SHUTTING_DOWN);
        running.signal(SIGINT);
        running.wait_for_stderr(STOPPING);
        assert!(running.finish().took < Duration::from_secs(4), "{guardrail}");
        nobody_is_left(&env);
    }
}

#[test]
fn h01_two_keys_on_a_terminal_do_the_same_and_leave_it_clean() {
    let env = env();
    env.script(ENDLESS);
    let invocation = env.ralph(["run", "-p", "x"]).env("NO_COLOR", "1").stdout_has("next: ralph resume").code(130);
    let terminal = invocation.spawn_on_terminal(80, 24);
    terminal.wait_for_file("ready");
    terminal.send("\x03");
    terminal.wait_for_stdout(SHUTTING_DOWN);
    terminal.send("\x03");
    let run = terminal.finish();
    assert!(run.took < Duration::from_secs(4), "{:?}", run.took);
    // No mode of the terminal is changed, so none needs to be restored: no `CSI ?` anywhere.
    assert!(!run.stdout.contains("\x1b[?"), "{:?}", run.stdout);
    nobody_is_left(&env);
}

#[test]
fn h03_a_closed_terminal_is_a_first_signal_and_costs_no_computing() {
    let env = env();
    env.script("touch ready\ntick 10ms 100 talking\ntouch talked\nwait-file go\nclaim");
    let mut terminal = env.ralph(["run", "-p", "x"]).code(130).spawn_on_terminal(80, 24);
    terminal.wait_for_stdout("iteration 1/10");
    terminal.wait_for_file("ready");
    terminal.close();
    terminal.wait_for_file("talked");
    // In hundredths of a second: everything so far, with a second of talk to nobody in it.
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", terminal.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    assert!(ticks < 60, "{ticks} ticks");
    env.write("go", "");
    terminal.finish();
    nobody_is_left(&env);
    env.ralph(["resume"]).stdout_has("complete").run();
}

/// A run that is over in a moment, on a terminal.
#[track_caller]
fn shown(columns: u16, rows: u16, variables: &[(&str, &str)]) -> String {
    let env = env();
    env.script("print hello\nsleep 700ms\nclaim");
    let invocation = env.ralph(["run", "-p", "x"]).stdout_has("hello").stdout_has("claimed, not verified");
    let invocation = variables.iter().fold(invocation, |invocation, (name, value)| invocation.env(name, value));
    invocation.spawn_on_terminal(columns, rows).finish().stdout.to_owned()
}

#[test]
fn h04_off_a_terminal_nothing_moves_and_nothing_is_coloured() {
    let env = env();
    env.script("print hello\nsleep 700ms\nclaim");
    for variables in [vec![], vec![("TERM", "xterm-256color")], vec![("TERM", "dumb")]] {
        let invocation =
            env.ralph(["run", "-p", "x"]).stderr_has("iteration 1/10").stderr_lacks("\x1b").stderr_lacks("\r");
        let invocation = invocation.stderr_lacks("^C stop").stdout_has("hello").stdout_lacks("\x1b").stdout_lacks("\r");
        variables.iter().fold(invocation, |invocation, (name, value)| invocation.env(name, value)).run();
    }
}

#[test]
fn h04_a_terminal_shows_a_live_line_with_the_iteration() {
    let screen = shown(100, 24, &[]);
    let live: Vec<&str> = screen.split("\r\x1b[K").filter(|part| part.contains("^C stop")).collect();
    assert!(live.iter().any(|line| line.contains(" iteration 1/10 · ")), "{screen:?}");
    // It is wiped before anything else is printed, and at the end.
    assert!(live.iter().all(|line| !line.contains('\n')), "{screen:?}");
    assert!(screen.contains("\x1b[1m"), "there is colour: {screen:?}");
}

#[test]
fn h04_a_dumb_terminal_gets_plain_lines() {
    let screen = shown(80, 24, &[("TERM", "dumb")]);
    assert!(!screen.contains('\x1b') && !screen.contains("^C stop"), "{screen:?}");
}

#[test]
fn h04_no_color_means_none_even_on_a_terminal() {
    let screen = shown(80, 24, &[("NO_COLOR", "1")]);
    assert!(screen.contains("^C stop") && !screen.replace("\x1b[K", "").contains('\x1b'), "{screen:?}");
}

#[test]
fn h04_the_live_line_fits_the_smallest_terminal() {
    for (columns, rows) in [(20, 5), (1, 1), (2, 1)] {
        let screen = shown(columns, rows, &[("NO_COLOR", "1")]);
        // The pieces between two wipes that end without a newline are the live line.
        let parts: Vec<&str> = screen.split("\r\x1b[K").collect();
        for line in parts[1..parts.len() - 1].iter().filter(|part| !part.contains('\n')) {
            assert!(line.chars().count() < usize::from(columns), "{columns}: {line:?} in {screen:?}");
        }
    }
}

#[test]
fn h04_a_storm_of_new_sizes_changes_nothing() {
    let env = env();
    env.script("touch ready\nwait-file go\nclaim");
    let terminal = env.ralph(["run", "-p", "x"]).stdout_has("claimed, not verified").spawn_on_terminal(80, 24);
    terminal.wait_for_file("ready");
    (0..500u16).for_each(|n| terminal.resize(1 + n % 120, 1 + n % 40));
    env.write("go", "");
    terminal.finish();
}

#[test]
fn h05_signals_that_a_careless_parent_ignores_do_no_harm() {
    let env = env();
    env.script("run exit 7\nexpect-env RALPH_ITERATION 1\ndaemonise d.pid\nstatus\nclaim")
        .guardrail("sh -c 'exit 3' || test $? = 3");
    env.ralph(["run", "-p", "x"])
        .ignoring(SIGCHLD)
        .stdout_has("7\n")
        .ends("complete · verified")
        .stderr_has("note: the agent left a process behind, ended now: ")
        .stderr_has(" · 1 leaked")
        .run();
    nobody_is_left(&env);
}

#[test]
fn h05_a_hang_up_that_nohup_ignores_stays_ignored() {
    let env = env();
    env.script(PATIENT);
    let invocation = env.ralph(["run", "-p", "x"]).ignoring(SIGHUP).stdout_has("complete").stderr_lacks(SHUTTING_DOWN);
    let running = invocation.spawn();
    running.wait_for_file("ready");
    running.signal(SIGHUP);
    env.write("go", "");
    running.finish();
}

#[test]
fn h06_an_agent_and_a_guardrail_begin_with_no_signal_blocked_or_ignored() {
    let env = env();
    env.write("mask", "sigmask").script("sigmask\nclaim");
    env.guardrail(&format!("{} --script mask > $HOME/mask", env.agent_path().display()));
    let invocation = env.ralph(["run", "-p", "x"]).blocking(SIGTERM).blocking(SIGUSR1).blocking(SIGCHLD);
    let invocation = invocation.ignoring(SIGINT).ignoring(SIGCHLD).ignoring(SIGUSR1);
    invocation.stdout_has("blocked: none\nignored: none\n").stdout_has("complete · verified").run();
    assert_eq!(env.read(env.home().join("mask")), "blocked: none\nignored: none\n");
}

#[test]
fn h06_a_blocked_signal_still_stops_the_run() {
    for number in [SIGINT, SIGTERM] {
        let env = env();
        env.script(PATIENT);
        let invocation = env.ralph(["run", "-p", "x"]).blocking(SIGINT).blocking(SIGTERM).stdout_has("interrupted");
        let running = invocation.stderr_has(SHUTTING_DOWN).code(130).spawn();
        running.wait_for_file("ready");
        running.signal(number);
        running.wait_for_stderr(SHUTTING_DOWN);
        env.write("go", "");
        running.finish();
    }
}

#[test]
fn g03_suspending_ralph_stops_the_whole_tree_and_its_limits_and_continuing_goes_on() {
    let env = env();
    env.script("daemonise daemon.pid\nsetsid-child tool.pid\npidfile agent.pid\ntouch ready\nwait-file go\nclaim");
    let invocation = env.ralph(["run", "-p", "x", "--iteration-timeout", "1500ms"]).env("NO_COLOR", "1");
    let invocation = invocation.stdout_has("complete").stdout_has(" · 1 iteration · ");
    let invocation = invocation.stdout_has("note: the agent left 2 processes behind, ended now: ");
    let terminal = invocation.spawn_on_terminal(80, 24);
    terminal.wait_for_file("ready");
    let below = ["agent.pid", "daemon.pid", "tool.pid"].map(|file| env.read_pid(file));
    terminal.send("\x1a");
    terminal.wait_until("ralph is stopped", || state(terminal.pid()) == 'T');
    terminal.wait_until("its tree is stopped", || below.iter().all(|pid| state(*pid) == 'T'));
    // Longer than the iteration may take, but nobody worked in that time.
    let begun = std::time::Instant::now();
    terminal.wait_until("a pause", || begun.elapsed() > Duration::from_millis(1700));
    terminal.signal(SIGCONT);
    terminal.wait_until("all go on", || below.iter().all(|pid| alive(*pid) && state(*pid) != 'T'));
    env.write("go", "");
    terminal.finish();
    nobody_is_left(&env);
}

#[test]
fn h02_a_signal_to_the_keeper_or_the_agent_is_no_signal_to_ralph() {
    let env = env();
    env.script("[1]\ntouch ready\nwait-file go\nprint on\n[2]\nclaim");
    let running = env.ralph(["run", "-p", "x", "--json"]).spawn();
    running.wait_for_file("ready");
    // The keeper blocks everything that can be blocked: it ends with ralph and not before.
    [SIGHUP, SIGINT, SIGTERM].iter().for_each(|number| signal(keeper(&env), *number));
    env.write("go", "");
    let run = running.finish();
    assert_eq!(lines(&run, "iteration.finished").len(), 2);
    assert_eq!(only(&run, "run.finished")["stop_reason"], json!("complete"));
}
