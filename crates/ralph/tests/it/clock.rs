//! Group G: clocks that jump, limits in time, and how durations are written.

use crate::env;
use crate::story::{begun, iterations, story};
use ralph_testkit::{TestEnv, eventually, has_tool};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Shifts the wall clock of every process below by the seconds that stand in a file, and leaves
/// the monotonic one alone, as setting the time does.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    long answer = syscall(SYS_clock_gettime, clock, now);
    const char *path = getenv("WALL_CLOCK_SKEW");
    if (clock == CLOCK_REALTIME && path) {
        FILE *file = fopen(path, "r");
        long long skew = 0;
        if (file && fscanf(file, "%lld", &skew) == 1) now->tv_sec += skew;
        if (file) fclose(file);
    }
    return (int)answer;
}
"#;

/// The compiled shim, or nothing where there is no compiler.
fn shim(env: &TestEnv) -> Option<PathBuf> {
    if !has_tool("cc") {
        return None;
    }
    let (source, library) = (env.root().join("shim.c"), env.root().join("shim.so"));
    std::fs::write(&source, SHIM).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status().unwrap();
    assert!(built.success());
    Some(library)
}

#[test]
fn g01_a_wall_clock_that_jumps_a_day_either_way_changes_no_duration_and_no_limit() {
    let env = env();
    let Some(shim) = shim(&env) else { return };
    let skew = env.home().join("skew");
    env.guardrail("test -f built").script(
        "[1]\nfile $HOME/skew -86400\nprint not yet\n[2]\nfile $HOME/skew 86400\nprint not yet\n\
         [3]\nfile built yes\nclaim\n",
    );
    let arguments =
        ["run", "-p", "x", "--json", "--max-wall-time", "60s", "--iteration-timeout", "30s", "--idle-timeout", "30s"];
    let run = env.ralph(arguments).env("LD_PRELOAD", &shim).env("WALL_CLOCK_SKEW", &skew).run();
    let lines = run.json_lines();
    assert_eq!(lines.last().unwrap()["stop_reason"], "complete");
    // The case is only one if the clock did jump.
    let days: Vec<&str> = lines.iter().map(|line| &line["at"].as_str().unwrap()[..10]).collect();
    assert!(days.windows(2).any(|two| two[0] > two[1]) && days.windows(2).any(|two| two[0] < two[1]), "{days:?}");
    let told = story(&env);
    let short = |value: &Value| value.as_u64().is_some_and(|ms| ms < 30_000);
    assert!(short(&told["elapsed_ms"]), "{told}");
    for iteration in iterations(&told) {
        assert!(short(&iteration["duration_ms"]) && short(&iteration["agent"]["duration_ms"]), "{iteration}");
    }
    // What people read does not stumble over an end that lies before the beginning.
    for command in ["status", "show", "explain", "report", "logs"] {
        let looked = env.ralph([command]).run();
        assert!(!looked.stdout.contains('-') || !looked.stdout.contains("-8640"), "{}", looked.stdout);
    }
}

#[test]
fn g05_any_year_is_a_year() {
    let env = env();
    let Some(shim) = shim(&env) else { return };
    env.script("claim").guardrail("true");
    let now = i64::try_from(SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap();
    // Just past 2038, in the year 9999, past what a calendar holds, and before 1970.
    for wanted in [2_147_483_648, 253_402_300_000, 999_999_999_999, -86_400] {
        let skew = env.home().join("skew");
        std::fs::write(&skew, (wanted - now).to_string()).unwrap();
        for arguments in [&["run", "-p", "x"][..], &["status"], &["status", "--json"], &["show"], &["explain"]] {
            let run = env.ralph(arguments).env("LD_PRELOAD", &shim).env("WALL_CLOCK_SKEW", &skew);
            run.stdout_has("complete").run();
        }
    }
}

#[test]
fn the_wall_time_ends_a_running_iteration() {
    let env = env();
    env.script("pidfile $HOME/agent\nsleep forever");
    let run = env.ralph(["run", "-p", "x", "--max-wall-time", "400ms"]);
    let run = run
        .stdout_has("max-wall-time · not verified\n  the wall time of 400ms is used up")
        .stdout_has("--max-wall-time 800ms")
        .code(4)
        .run();
    assert!(run.took >= Duration::from_millis(400) && run.took < Duration::from_secs(5), "{:?}", run.took);
    assert!(eventually(Duration::from_secs(2), || env.processes().is_empty()));
    // The run has been worked on for longer than that, so going on needs more.
    env.ralph(["resume"]).stdout_has("the wall time of 400ms is used up").code(4).run();
    env.script("claim");
    env.ralph(["resume", "--max-wall-time", "1m"]).stdout_has("complete").run();
}

#[test]
fn an_iteration_that_takes_too_long_is_ended_and_counts() {
    for limit in ["--iteration-timeout", "--idle-timeout"] {
        let env = env();
        env.guardrail("true").script("[1]\nsleep forever\n[2]\nclaim\n");
        let run = env.ralph(["run", "-p", "x", limit, "500ms"]);
        run.stdout_has("complete · verified").stderr_has("500ms").time_limit(Duration::from_secs(15)).run();
        let told = story(&env);
        assert_eq!(begun(&told), [1, 2]);
        assert_eq!(iterations(&told)[0]["claim"], "none");
        assert_eq!(iterations(&told)[0]["agent"]["well"], false);
    }
}

#[test]
fn zero_turns_a_limit_off() {
    let env = env();
    env.script("claim").guardrail("true");
    let run = env.ralph(["run", "-p", "x", "--max-wall-time", "0", "--iteration-timeout", "0", "--idle-timeout", "0"]);
    run.stdout_has("complete · verified").run();
}

#[test]
fn durations_that_cannot_be_understood_are_refused_with_the_form_shown() {
    let env = env();
    for flag in ["--max-wall-time", "--iteration-timeout", "--idle-timeout"] {
        for wrong in ["5", "-5s", "soon", "5 parsecs", "", "1.5.5h", "99999999999999999999h", "s", "NaN", "1e9h"] {
            let run = env.ralph(["run", "-p", "x"]).arg(format!("{flag}={wrong}"));
            run.stderr_has(flag).stderr_has("250ms, 90s, 15m, 1h30m").code(2).run();
        }
    }
    assert!(!env.exists(".ralph/tasks") && std::fs::read_dir(env.state()).unwrap().next().is_none());
}
