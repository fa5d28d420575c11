//! Group D: a disk that is full, failing or read-only, and a process without descriptors.

use crate::env;
use crate::story::{runs, story};
use ralph_testkit::{Fault, Finished, TestEnv, has_tool};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

/// The first iteration does nothing, later ones do the work and claim.
const SCRIPT: &str = "stdin\n[1]\nprint not yet\n[*]\nfile built yes\nclaim\n";

/// What a run says that could not see what it accepted.
const UNSEEN: &str = "the tree could not be looked at";

fn small_run() -> TestEnv {
    let env = env();
    env.live().script(SCRIPT).guardrail("test -f built");
    env
}

/// Lets ralph's N-th call fail, once for every N (or every stride-th) and from then on for every third of these, until a
/// run does not come so far.
fn fails_at(syscall: &str, errno: &'static str, stride: usize) {
    if !has_tool("strace") {
        return;
    }
    for (persistent, stride) in [("", stride), ("+", stride * 3)] {
        for when in (1..).step_by(stride) {
            let when = format!("{when}{persistent}");
            println!("{syscall} {when} fails with {errno}");
            let env = small_run();
            let run = env.ralph(["run", "-p", "build it"]).inject(syscall, &when, Fault::Errno(errno));
            let spoilt = run.without_following().stderr_unchecked(ANYTHING).any_end().run();
            if !spoilt.trace.as_deref().unwrap_or_default().contains("(INJECTED)") {
                assert!(spoilt.stdout.contains("complete · verified"), "a run that nothing spoilt");
                break;
            }
            // Where no write succeeds any more, nothing can be told either.
            let speaks = !(syscall == "write" && persistent == "+");
            is_honest(&env, &spoilt, speaks);
            goes_on(&env);
        }
    }
}

const ANYTHING: &str = "any call may be the one that fails: `is_honest` judges what was said";

/// Success is only told if it is there; anything else has a documented code and names what failed.
#[track_caller]
fn is_honest(env: &TestEnv, run: &Finished, speaks: bool) {
    let text = format!("{}{}", run.stdout, run.stderr);
    match run.code() {
        1 | 5 | 70 | 74 if !speaks => {}
        0 => {
            assert_eq!(story(env)["stop_reason"], "complete", "{text}");
            // Where the tree could not be looked at, nothing is called verified.
            let why = [UNSEEN, "had to run on the live tree"].iter().any(|why| run.stdout.contains(why));
            let unseen = run.stdout.contains("claimed, not verified") && why;
            assert!(run.stdout.contains("complete · verified") || unseen, "{text}");
        }
        // The journal or what lies beside it, by its path; or what the system lacks.
        74 => {
            let root = env.root().to_string_lossy();
            let named =
                [&*root, "cannot be started", "could not be started", "no thread could be started", ".ralph/settings"];
            assert!(text.contains("error") && named.iter().any(|name| text.contains(name)), "{text}");
        }
        // The runtime's own descriptor, which is no file and never full: see E08.
        70 => assert!(text.contains("failed to wake I/O driver"), "{text}"),
        // Ended by its own rules, and told so.
        1 => assert!(text.contains("used up"), "{text}"),
        // A pipe that cannot be read looks like an agent that says nothing.
        5 => assert!(text.contains("times in a row: empty answer"), "{text}"),
        // The loader of libraries, before ralph began.
        127 => assert!(text.contains("error while loading shared libraries"), "{text}"),
        code => panic!("exit code {code}\n{text}"),
    }
}

/// With the disk mended, what was begun comes to its end.
#[track_caller]
fn goes_on(env: &TestEnv) {
    match runs(env).first().map(|run| run["stop_reason"].clone()) {
        None => drop(env.ralph(["run", "-p", "build it"]).ends("complete · verified").run()),
        Some(reason) if reason == "complete" => {}
        Some(_) => drop(env.ralph(["resume", "-m", "30"]).ends("complete · verified").run()),
    }
    let told = story(env);
    let unseen = told["message"].as_str().is_some_and(|message| message.contains(UNSEEN));
    assert_eq!((&told["stop_reason"], &told["verified"]), (&json!("complete"), &json!(!unseen)), "{told}");
}

#[test]
fn d01_no_space_at_every_write_of_the_journal() {
    fails_at("pwrite64", "ENOSPC", 1);
}

#[test]
fn d01_no_space_at_every_other_write() {
    for syscall in ["write", "ftruncate", "mkdir", "mkdirat", "renameat", "renameat2", "linkat"] {
        fails_at(syscall, "ENOSPC", 1);
    }
}

#[test]
fn d01_no_space_at_openings() {
    fails_at("openat", "ENOSPC", 9);
    fails_at("open", "ENOSPC", 1);
}

#[test]
fn d02_a_sync_or_write_that_fails_is_not_tried_again() {
    for syscall in ["fsync", "fdatasync"] {
        fails_at(syscall, "EIO", 1);
    }
    fails_at("pwrite64", "EIO", 4);
    fails_at("read", "EIO", 26);
}

#[test]
fn d03_a_file_system_that_becomes_read_only() {
    fails_at("openat", "EROFS", 15);
    fails_at("pwrite64", "EROFS", 5);
    fails_at("unlinkat", "EROFS", 1);
}

#[test]
fn d10_no_descriptors_left_at_any_call() {
    for (syscall, stride) in [("openat", 7), ("pipe2", 1), ("epoll_create1", 1), ("eventfd2", 1)] {
        fails_at(syscall, "EMFILE", stride);
    }
}

#[test]
fn d15_no_processes_or_threads_left_at_any_start() {
    for syscall in ["clone3", "clone", "vfork"] {
        fails_at(syscall, "EAGAIN", 1);
    }
    fails_at("clone3", "ENOMEM", 1);
}

#[test]
fn d10_with_too_few_descriptors_it_says_so_and_with_a_few_it_works() {
    let mut worked = Vec::new();
    for number in 4..40 {
        println!("{number} open files");
        let env = small_run();
        let run = env.ralph(["run", "-p", "build it"]).open_files(number).stderr_unchecked(ANYTHING).any_end().run();
        is_honest(&env, &run, true);
        assert_ne!(run.code(), 70, "{}", run.stderr);
        worked.push(run.code() == 0);
        goes_on(&env);
    }
    assert!(worked.is_sorted(), "more room never makes it worse: {worked:?}");
    assert!(worked.ends_with(&[true]), "{worked:?}");
}

#[test]
fn d10_descriptors_do_not_grow_with_iterations() {
    let env = env();
    env.live().script("print not yet").guardrail("true").guardrail("false");
    let run = env.ralph(["run", "-p", "x", "-m", "60"]).open_files(40).stdout_has("60 iterations used up");
    run.code(1).run();
}

/// The words before ralph that give it a file system of its own at `place`; `None` where this
/// process may not mount. `then` is done with it when ralph has ended, `$1` being ralph.
fn on_a_small_disk(place: &str, options: &str, then: &str) -> Option<Vec<String>> {
    let mut may = Command::new("unshare");
    may.args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).stderr(Stdio::null());
    if !has_tool("unshare") || !may.status().is_ok_and(|status| status.success()) {
        eprintln!("note: no file system can be mounted here: this test does nothing");
        return None;
    }
    let script = format!("mount -t tmpfs -o {options} tmpfs {place} || exit 90; \"$@\"; code=$?; {then}; exit $code");
    Some(["unshare", "-m", "sh", "-c", &script, "sh"].map(str::to_owned).to_vec())
}

#[test]
fn d01_a_disk_that_an_agent_filled_ends_the_run_and_with_room_again_it_goes_on() {
    let env = env();
    env.live().guardrail("test -f built").script(
        "[1]\nonce $HOME/filled run head -c 10m /dev/zero > $RALPH_STATE_DIR/filler 2> /dev/null\nprint not yet\n\
         [*]\nfile built yes\nclaim\n",
    );
    // The second ralph finds the same file system, with room.
    let then = "rm $RALPH_STATE_DIR/filler; echo ---; \"$1\" resume || exit 91";
    let state = env.state().display().to_string();
    let Some(words) = on_a_small_disk(&state, "size=400k", then) else { return };
    let run = env.ralph(["run", "-p", "build it"]).under(words).code(74);
    run.stdout_has("---\n")
        .stdout_has("complete · verified")
        .stderr_has("error: cannot write to [STATE]/[..]/ralph.db: no space is left")
        .stderr_has("note: output is missing in the stdout of iteration 1: No space left on device")
        .stderr_has("hint: whatever ran was ended; the journal holds everything up to its last whole step")
        .stderr_has("hint: make room or mend the disk, then look what can be resumed: ralph status")
        .run();
}

#[test]
fn d01_views_and_logs_that_cannot_be_written_do_not_end_a_run() {
    let env = env();
    env.live().guardrail("true").guardrail("test -f built").script("print not yet\n[2]\nfile built yes\nclaim\n");
    env.write(".ralph/tasks/full/ralph-feedback.md", "");
    let task = env.path(".ralph/tasks/full").display().to_string();
    let Some(words) = on_a_small_disk(&task, "size=4k,nr_inodes=1", "true") else { return };
    let run = env.ralph(["run", "-p", "x", "--task", "full"]).under(words);
    run.stdout_has("complete · verified").stderr_has("[PROJECT]/.ralph/tasks/full/[..] cannot be written").run();
}

#[test]
fn d03_d04_a_state_folder_that_cannot_be_written_is_refused_with_its_path() {
    let hint = "hint: choose another one: export RALPH_STATE_DIR=";
    for (options, why, hint) in [
        ("ro", "Read-only file system", hint),
        ("nr_inodes=1", "No space left on device", hint),
        ("nr_inodes=5", "No space left on device", ""),
    ] {
        let env = small_run();
        let state = env.state().display().to_string();
        let Some(words) = on_a_small_disk(&state, options, "true") else { return };
        let run = env.ralph(["run", "-p", "build it"]).under(words).code(74);
        run.stderr_has("error: ").stderr_has("[STATE]").stderr_has(why).stderr_has(hint).run();
        assert!(!env.exists(".ralph/prompt_001.txt"), "nothing was begun");
        goes_on(&env);
    }
}

#[test]
fn d03_a_state_folder_without_the_right_to_write_is_refused_with_its_path() {
    if !has_tool("setpriv") {
        return;
    }
    let env = small_run();
    let mode = |mode| std::fs::set_permissions(env.state(), std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o500);
    // Root may write everywhere, unless it gives that up.
    let run = env.ralph(["run", "-p", "build it"]).under(["setpriv", "--bounding-set=-dac_override,-dac_read_search"]);
    run.stderr_has("error: the state folder [STATE]/[..] cannot be used: Permission denied")
        .stderr_has("hint: choose another one: export RALPH_STATE_DIR=")
        .code(74)
        .run();
    assert!(!env.exists(".ralph/prompt_001.txt"));
    mode(0o700);
    goes_on(&env);
}

#[test]
fn d01_d03_a_project_whose_disk_is_full_or_read_only_is_no_wrong_call() {
    for (options, why) in [("ro", "Read-only file system"), ("nr_inodes=1", "No space left on device")] {
        let env = env();
        env.script("claim");
        let own = env.path(".ralph").display().to_string();
        let Some(words) = on_a_small_disk(&own, options, "true") else { return };
        let agent = env.agent_path().display().to_string();
        let run = env.ralph(["run", "-p", "x", "--agent", &agent]).under(words).code(74);
        run.stderr_has("error: the project's .ralph folder cannot be used").stderr_has(why).run();
    }
}

/// Holds the write lock of the project's database, as a copying or stopped process does.
fn lock_database(env: &TestEnv) -> rusqlite::Connection {
    let folders = std::fs::read_dir(env.state()).unwrap().map(|folder| folder.unwrap().path().join("ralph.db"));
    let holder = rusqlite::Connection::open(folders.into_iter().find(|db| db.exists()).unwrap()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    holder
}

#[test]
fn d14_a_database_that_is_locked_for_long_is_waited_for_by_a_run_and_refused_at_a_start() {
    let env = env();
    env.live().guardrail("true").script("touch started\nwait-file go\nclaim");
    let running = env
        .ralph(["run", "-p", "x"])
        .stdout_has("complete · verified")
        .stderr_has("ralph.db is locked by another process; waiting for it");
    let running = running.stderr_has("the database is free again").spawn();
    running.wait_for_file("started");
    let holder = lock_database(&env);
    env.write("go", "");
    // Longer than SQLite itself waits.
    std::thread::sleep(std::time::Duration::from_secs(8));
    holder.execute_batch("COMMIT").unwrap();
    running.finish();

    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = env.ralph(["run", "-p", "y"]).stderr_has("error: [STATE]/[..]/ralph.db is locked by another process");
    refused.stderr_has("hint: whatever ran was ended").stderr_has("ralph status").code(74).run();
    holder.execute_batch("COMMIT").unwrap();
    assert_eq!(runs(&env).len(), 1, "nothing was begun");
}
