//! The test kit tested on itself: the scripted agent stands both for ralph and for its agent.

// A test that cannot go on must stop and say where.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::time::{Duration, Instant};

use ralph_testkit::model_server::{ModelServer, Reply};
use ralph_testkit::{Fault, TestEnv, alive, eventually, has_tool, json_lines, processes_with_env};
use serde_json::json;

const AGENT: &str = env!("CARGO_BIN_EXE_scripted-agent");
const SOON: Duration = Duration::from_secs(5);

fn env(script: &str) -> TestEnv {
    let env = TestEnv::new(AGENT);
    env.script(script);
    env
}

fn none() -> [&'static str; 0] {
    []
}

#[test]
fn it_prints_what_the_script_says_and_exits_as_told() {
    let env = env("# said in every iteration\nprint a\\tb\\x41\\\\\nwrite no newline;\nprint \nerr to stderr\nexit 3");
    env.ralph(["-p", "--output-format", "stream-json"])
        .stdout("a\tbA\\\nno newline;\n")
        .stderr("to stderr\n")
        .code(3)
        .run();
}

/// Why the test that does this fails.
fn failure(of: impl FnOnce()) -> String {
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(of)).expect_err("it passes");
    *failed.downcast::<String>().unwrap()
}

#[test]
fn what_a_test_neither_states_nor_reads_fails_it() {
    let env = env("print said\nerr first\nerr   of the first\nerr second");
    let run = || env.ralph(none());
    run().stdout("said\n").stderr_has("first").stderr_has("second").run();
    assert!(run().stderr_has("first").stderr_has("second").run().stdout.contains("said"));
    let unread = failure(|| drop(run().stderr_has("first").stderr_has("second").run()));
    assert!(unread.contains("stdout was neither stated nor read:\nsaid\n"), "{unread}");
    let unread = failure(|| drop(run().stdout_lacks("x").stderr_unchecked("only stdout matters here").run()));
    assert!(unread.contains("neither stated nor read"), "what is absent states nothing: {unread}");
    let unstated = failure(|| drop(run().stdout_has("said").stderr_has("first").run()));
    assert!(unstated.starts_with("stderr has what the test does not state:\nsecond\n"), "{unstated}");
    let unfinished = failure(|| drop(run().spawn()));
    assert!(unfinished.starts_with("nobody waited for the end of: ralph"), "{unfinished}");
}

#[test]
fn a_text_that_was_waited_for_is_stated() {
    let env = env("print said\nerr heard");
    let running = env.ralph(none()).spawn();
    running.wait_for_stdout("said");
    running.wait_for_stderr("heard");
    running.finish();
}

#[test]
fn sections_select_by_iteration_and_a_script_is_found_among_other_arguments() {
    let env = env("exit 50");
    env.write("other", "print common\n[1]\nprint one\n[2-3]\nprint two or three\n[*]\nprint rest\n[named]\nprint no");
    for (iteration, said) in [("1", "one"), ("2", "two or three"), ("3", "two or three"), ("4", "rest")] {
        let run = env.ralph(["-p", "--script", "other", "--verbose"]).env("RALPH_ITERATION", iteration);
        run.stdout(format!("common\n{said}\n")).run();
    }
}

#[test]
fn a_misspelt_action_fails_the_test_that_has_it() {
    env("print so far\npritn x")
        .ralph(none())
        .stdout("so far\n")
        .stderr("scripted-agent: unknown action: pritn x\n")
        .code(98)
        .run();
    env("print \\q").ralph(none()).stderr_has("wrong escape").code(98).run();
    env("section nowhere").ralph(none()).stderr_has("no section [nowhere]").code(98).run();
    env("").ralph(none()).env_remove("RALPH_TEST_SCRIPT").stderr_has("no script").code(98).run();
}

#[test]
fn stdin_is_heard_expected_and_kept() {
    let env =
        env("expect-stdin the task\nsave-stdin $HOME/prompt\nif-stdin task => echo-stdin\nif-stdin other => exit 9");
    env.ralph(none()).stdin("do the task\n").stdout("do the task\n").run();
    assert_eq!(env.read(env.home().join("prompt")), "do the task\n");
    env.ralph(none()).stdin("nothing").stderr_has("stdin lacks \"the task\"; stdin was:\nnothing").code(99).run();
}

#[test]
fn a_daemon_outlives_its_agent_and_is_found_by_its_environment() {
    let env = env("daemonise ignore-term daemon.pid\nenv RALPH_RUN_ID");
    let marker = format!("RALPH_RUN_ID=kit-{}", std::process::id());
    let id = marker.split_once('=').unwrap().1;
    env.ralph(none()).env("RALPH_RUN_ID", id).stdout(format!("{id}\n")).run();
    let pid = env.read_pid("daemon.pid");
    let found: Vec<u32> = processes_with_env(&marker).iter().map(|process| process.pid).collect();
    assert_eq!(found, [pid]);
    env.end_processes();
    assert!(eventually(SOON, || !alive(pid)));
}

#[test]
fn a_daemon_without_environment_is_ended_with_the_test() {
    let env = env(
        "daemonise env-clear $HOME/pid\nsetsid-child child.pid\nfork-sleeper sleeper.pid\nclose-output\nkill-self KILL",
    );
    let running = env.ralph(none()).killed_by(libc::SIGKILL).spawn();
    running.wait_for_file("sleeper.pid");
    let pids = [env.home().join("pid"), "child.pid".into(), "sleeper.pid".into()].map(|path| env.read_pid(path));
    assert!(pids.iter().all(|pid| alive(*pid)));
    assert!(!processes_with_env("RALPH_TEST_SCRIPT=").iter().any(|process| process.pid == pids[0]));
    // The sleeper still holds the output: such a run never finishes well.
    let message = failure(|| drop(running.finish()));
    assert!(message.contains("something still holds its output"), "{message}");
    drop(env);
    assert!(eventually(SOON, || pids.iter().all(|pid| !alive(*pid))));
}

#[test]
fn with_a_model_server_there_is_no_other_network() {
    let env = env("run grep : /proc/net/dev");
    let server = ModelServer::new(vec![Reply::empty()]);
    let run = env.ralph(none()).with_model(&server).stdout_has("lo:").run();
    // Where the kernel refuses, the kit says so and the server has a port of this machine.
    if server.url().ends_with(":8080") {
        assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    }
}

#[test]
fn nothing_is_inherited_that_was_not_given() {
    let env = env("fds\nsigmask\ntty\ncwd\nenv TERM\nenv-all");
    let run = env.ralph(none()).blocking(libc::SIGUSR1).ignoring(libc::SIGCHLD).run();
    let head = "fds: 0 1 2\nblocked: USR1\nignored: CHLD\ntty: No such device or address (os error 6)\n";
    assert!(run.stdout.starts_with(head), "{}", run.stdout);
    assert!(run.stdout.contains(&format!("{}\n(unset)\n", env.project().display())), "{}", run.stdout);
    let names: Vec<&str> =
        run.stdout.lines().skip(6).filter_map(|line| line.split_once('=')).map(|pair| pair.0).collect();
    let git = ["AUTHOR_DATE", "AUTHOR_EMAIL", "AUTHOR_NAME", "COMMITTER_DATE", "COMMITTER_EMAIL", "COMMITTER_NAME"];
    let git: Vec<String> =
        git.iter().map(|name| format!("GIT_{name}")).chain(["GIT_CONFIG_NOSYSTEM".to_owned()]).collect();
    let rest = ["HOME", "LANG", "PATH", "RALPH_STATE_DIR", "RALPH_TEST_SCRIPT"];
    assert_eq!(names, git.iter().map(String::as_str).chain(rest).collect::<Vec<_>>());
}

#[test]
fn claude_lines_are_json_of_the_stated_size() {
    let script = "claude-init\nclaude-text a \"quote\"\\n\nclaude-tool Bash t1 cargo test\nclaude-tool-result t1 error boom\n\
                  claude-result done <response>DONE</response> cost=0.05 error\nstream 2000 300";
    let lines = json_lines(&env(script).ralph(none()).run().stdout);
    assert_eq!(lines.len(), 2005);
    assert_eq!(lines[1].pointer("/message/content/0/text"), Some(&json!("a \"quote\"\n")));
    assert_eq!(lines[2].pointer("/message/content/0/input/command"), Some(&json!("cargo test")));
    assert_eq!(lines[3].pointer("/message/content/0/is_error"), Some(&json!(true)));
    assert_eq!(lines[4]["result"], "done <response>DONE</response>");
    assert_eq!((&lines[4]["total_cost_usd"], &lines[4]["is_error"]), (&json!(0.05), &json!(true)));
    let ids = [&lines[5], &lines[2004]].map(|line| line.pointer("/message/content/0/tool_use_id").unwrap().clone());
    assert_eq!(ids, [json!("toolu_000000000001"), json!("toolu_000000002000")]);
    let run = env("stream 3 300\nflood 100k\nflood-lines 20000 abc").ralph(none()).run();
    assert_eq!(run.stdout.raw().len(), 900 + 100 * 1024 + 80_000);
}

#[test]
fn files_are_made_and_attempts_are_reported() {
    let env =
        env("file a/b one\\n\nappend a/b two\nsymlink a/b link\nfifo pipe\nmkdir d\ntry file d x\nchmod 755 a/b\n\
                   once mark print first\nonce mark print second\nrun exit 7\nstatus\nremove link\nexit last");
    let said = "failed: file d: Is a directory (os error 21)\nfirst\n7\n";
    env.ralph(none()).stdout(said).code(7).run();
    assert_eq!(env.read("a/b"), "one\ntwo");
    assert!(env.exists("pipe") && !env.exists("link"));
}

#[test]
fn signals_reach_the_process_and_a_hung_run_is_ended() {
    let env = env("exit-on TERM 143\nignore INT\ntouch ready\nsleep forever");
    let running = env.ralph(none()).code(143).spawn();
    running.wait_for_file("ready");
    assert!(running.signal(libc::SIGINT) && running.signal(libc::SIGTERM));
    running.finish();

    let begun = Instant::now();
    let hung = env.ralph(none()).time_limit(Duration::from_millis(200)).spawn();
    let pid = hung.pid();
    assert!(failure(|| drop(hung.finish())).contains("it did not end within 200ms"));
    assert!(eventually(SOON, || !alive(pid)) && begun.elapsed() < SOON);
}

#[test]
fn a_terminal_has_keys_a_size_and_an_end() {
    let env = env(
        "tty\nif-env TERM=xterm-256color => print coloured\nrun stty size </dev/tty\nwait-file go\nrun stty size </dev/tty\ntouch done\nsleep forever",
    );
    let mut terminal = env.ralph(none()).killed_by(libc::SIGHUP).spawn_on_terminal(97, 31);
    terminal.wait_for_stdout("coloured");
    terminal.resize(50, 20);
    env.write("go", "");
    terminal.wait_for_stdout("20 50");
    terminal.wait_for_file("done");
    terminal.close();
    let run = terminal.finish();
    assert!(run.stdout.starts_with("tty: opened\r\ncoloured\r\n"), "{}", run.stdout);

    let interrupted = env.ralph(none()).killed_by(libc::SIGINT).spawn_on_terminal(80, 24);
    interrupted.wait_for_stdout("24 80");
    interrupted.send("\x03");
    interrupted.finish();
}

#[test]
fn strace_spoils_the_chosen_call() {
    if !has_tool("strace") {
        return;
    }
    let env = env("try mkdir one\ntry mkdir two\ntry mkdir three");
    let run = env.ralph(none()).inject("mkdir", 2, Fault::Errno("ENOSPC"));
    run.stdout("ok\nfailed: mkdir two: No space left on device (os error 28)\nok\n").run();
    env.script("mkdir four\nmkdir five");
    let run = env.ralph(none()).inject("mkdir", "1+", Fault::Signal("SIGKILL")).without_following();
    let finished = run.killed_by(libc::SIGKILL).run();
    assert!(finished.trace.unwrap().contains("four") && !env.exists("five"));
    env.script("env MARK");
    env.ralph(none()).under(["env", "MARK=here"]).stdout("here\n").run();
}

#[test]
fn the_project_is_one_clean_commit_and_settings_merge() {
    let env = env("");
    assert_eq!(env.git(["log", "--format=%s by %an at %aI"]), "Begin by Ralph Test at 2026-01-01T00:00:00Z\n");
    assert_eq!(env.git(["status", "--porcelain"]), "?? .ralph/\n");
    env.agent_as("claude").settings(json!({ "agent": { "flags": ["--x"] }, "loop": { "stallAfter": 2 } }));
    env.guardrail("true").guardrail("false");
    let written: serde_json::Value = serde_json::from_str(&env.read(".ralph/settings.json")).unwrap();
    assert_eq!(written["agent"], json!({ "command": env.root().join("bin/claude"), "flags": ["--x"] }));
    assert_eq!(written["guardrails"][1], json!({ "command": "false", "failAction": "APPEND" }));
    assert!(!TestEnv::new(AGENT).without_git().exists(".git"));
}
