//! The net: whole runs of every kind and every end, and all that is told of them, as snapshots.
//!
//! Each scenario is played three times: plain, coloured and as JSON lines. What the run itself says is
//! one snapshot, what the commands say about it afterwards another. `cargo xtask record` takes them
//! anew; look at the difference before you commit it.

use crate::env;
use ralph_core::event::Event;
use ralph_core::id::RunId;
use ralph_store::Store;
use ralph_testkit::{Finished, Running, TestEnv};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

/// How a run is asked to show itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Face {
    Plain,
    Coloured,
    Json,
}

impl Face {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Face::Plain => &[],
            Face::Coloured => &["--color=always"],
            Face::Json => &["--json"],
        }
    }
}

/// A project in which one scenario is played once.
struct Stage {
    env: TestEnv,
    face: Face,
    transcript: String,
}

/// Why no line is stated here.
const SNAPSHOT: &str = "the snapshot states all of it";

impl Stage {
    /// Runs a command that carries a run, to its end.
    fn ralph(&mut self, arguments: &[&str]) {
        let finished = self.begin(arguments).finish();
        self.tell(arguments, &finished);
    }

    /// Begins it; [`Self::tell`] puts its end into the transcript.
    fn begin(&self, arguments: &[&str]) -> Running<'_> {
        let (command, rest) = arguments.split_first().unwrap();
        let words = [command].into_iter().chain(self.face.flags()).chain(rest);
        self.env.ralph(words).stderr_unchecked(SNAPSHOT).any_end().spawn()
    }

    fn tell(&mut self, arguments: &[&str], finished: &Finished) {
        let Finished { stdout, stderr, .. } = finished;
        let _ = writeln!(self.transcript, "$ ralph {}\n{stdout}--- stderr\n{stderr}", arguments.join(" "));
        let _ = writeln!(self.transcript, "--- exit code {}\n", finished.code());
    }
}

/// Writes the journal of the newest run where the tests of core fold it, if that was asked for.
fn record(name: &str, env: &TestEnv) {
    if std::env::var_os("RALPH_RECORD").is_none() {
        return;
    }
    let runs = runs(env);
    let folders = std::fs::read_dir(env.state()).unwrap().map(|entry| entry.unwrap().path());
    let folder = folders.into_iter().find(|folder| folder.join("ralph.db").exists()).expect("a database");
    let store = Store::open_existing(&folder).unwrap().expect("a journal");
    let entries = store.entries::<Event>(&RunId::parse(runs.last().unwrap()).unwrap()).unwrap();
    let entries = entries.iter().map(|entry| serde_json::to_value(entry).unwrap()).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/journals").join(name).with_extension("jsonl");
    std::fs::write(path, env.stable_journal(&runs, entries)).unwrap();
}

fn play(play: fn(&mut Stage), face: Face) -> Stage {
    let mut stage = Stage { env: env(), face, transcript: String::new() };
    play(&mut stage);
    stage
}

/// The ids of the project's runs, oldest first.
fn runs(env: &TestEnv) -> Vec<String> {
    let ids = crate::story::runs(env).into_iter().rev();
    ids.map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

fn check(name: &str, scenario: fn(&mut Stage)) {
    let mut said = String::new();
    let stages = [Face::Plain, Face::Coloured, Face::Json].map(|face| play(scenario, face));
    for Stage { env, face, transcript } in &stages {
        let _ = write!(said, "=== {face:?}\n{}", env.stable(&runs(env), transcript));
    }
    keep(&format!("{name}-run"), &said);
    let env = &stages[0].env;
    record(name, env);
    let first = format!("{}/1", runs(env).last().unwrap());
    let commands: [&[&str]; 8] = [
        &["status"],
        &["show"],
        &["show", &first],
        &["explain"],
        &["explain", "--json"],
        &["report"],
        &["report", "--json"],
        &["logs"],
    ];
    keep(&format!("{name}-told"), &told(env, &commands));
}

fn keep(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

/// What the commands say about the project's runs.
fn told(env: &TestEnv, commands: &[&[&str]]) -> String {
    let mut told = String::new();
    for arguments in commands {
        let said = env.ralph(*arguments).stderr_unchecked(SNAPSHOT).any_end().run();
        let text = if arguments.contains(&"--json") { unfolded(&said.stdout) } else { said.stdout.to_string() };
        let _ = writeln!(told, "$ ralph {}\n{text}{}", arguments.join(" "), said.stderr);
    }
    env.stable(&runs(env), &told)
}

/// Objects with one line a key, and one line an element of a list.
fn unfolded(lines: &str) -> String {
    let mut text = String::new();
    let objects = ralph_testkit::json_lines(lines);
    for (key, value) in objects.iter().flat_map(|object| object.as_object().unwrap()) {
        match value {
            // What the settings gave is the business of other tests.
            _ if key == "policy" => {}
            Value::Array(elements) if !elements.is_empty() => {
                let elements: String = elements.iter().map(|element| format!("    {element}\n")).collect();
                let _ = write!(text, "  \"{key}\":\n{elements}");
            }
            value => {
                let _ = writeln!(text, "  \"{key}\": {value}");
            }
        }
    }
    text
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Claude Code claims too early, and then does the work.
fn two_iterations(stage: &mut Stage) {
    stage.env.agent_as("claude").guardrail("test -f built");
    stage.env.script(concat!(
        "claude-init\n[1]\nclaude-text All done! <response>DONE</response>\n",
        "claude-result <response>DONE</response> cost=0.25 in=8000 out=240\n",
        "[2]\nclaude-tool Bash t1 make\nclaude-tool-result t1 ok built\nfile built yes\n",
        "claude-result Now it is. <response>DONE</response> cost=0.50 in=9000 out=300\n",
    ));
    stage.ralph(&["run", "-p", "build it"]);
}

#[test]
fn a_run_in_the_other_formats() {
    let Stage { env, .. } = play(two_iterations, Face::Plain);
    let formats: [&[&str]; 6] = [
        &["report", "--plain"],
        &["report", "--html"],
        &["show", "--json"],
        &["status", "--json"],
        &["logs", "--json"],
        &["explain", "--color=always"],
    ];
    keep("formats", &told(&env, &formats));
}

/// The table: a scenario is a test of its name, and so is its snapshot.
macro_rules! scenarios {
    ($($name:ident: |$stage:ident| $play:block)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), |$stage| $play);
        }
    )*};
}

scenarios! {
    complete_verified: |stage| { two_iterations(stage); }
    complete_unverified: |stage| {
        stage.env.script("print working\nclaim");
        stage.ralph(&["run", "-p", "build it"]);
    }
    blocked: |stage| {
        stage.env.script("print <ralph>BLOCKED: the key is missing</ralph>").guardrail("true");
        stage.ralph(&["run", "-p", "build it"]);
    }
    stalled: |stage| {
        stage.env.script("print thinking").guardrail("echo two errors; exit 2");
        stage.env.settings(json!({ "loop": { "stallAfter": 2 } }));
        stage.ralph(&["run", "-p", "build it"]);
    }
    max_iterations: |stage| {
        stage.env.script("file work-${RALPH_ITERATION} done\nprint a little").guardrail("true");
        stage.ralph(&["run", "-p", "build it", "-m", "2"]);
    }
    wall_time: |stage| {
        stage.env.script("exit-on TERM 0\nprint thinking\nsleep forever").guardrail("true");
        stage.ralph(&["run", "-p", "build it", "--max-wall-time", "2s"]);
    }
    budget: |stage| {
        stage.env.agent_as("claude").guardrail("false");
        stage.env.script("claude-init\nclaude-text half\nclaude-result half cost=0.30 in=100 out=10\n");
        stage.ralph(&["run", "-p", "build it", "--max-cost", "0.5"]);
    }
    limited: |stage| {
        stage.env.agent_as("claude").guardrail("true");
        // ralph waits until a minute after the reset: three seconds from now.
        stage.env.script(&format!(
            "once $HOME/limited section limited\nclaude-init\nclaude-text all fine\n\
             claude-result <response>DONE</response> cost=0.10 in=100 out=10\n\
             [limited]\ntouch $HOME/limited\nclaude-limit {}\nclaude-result You've hit your limit error status=429\nexit 1\n",
            now() - 57
        ));
        stage.ralph(&["run", "-p", "build it"]);
    }
    cancelled: |stage| {
        stage.env.script("exit-on TERM 0\nprint thinking\ntouch $HOME/up\nsleep forever").guardrail("true");
        let arguments = ["run", "-p", "build it"];
        let run = stage.begin(&arguments);
        run.wait_for_file(stage.env.home().join("up"));
        let cancel = stage.env.ralph(["cancel"]).stderr_unchecked(SNAPSHOT).run();
        let finished = run.finish();
        stage.tell(&arguments, &finished);
        stage.tell(&["cancel"], &cancel);
    }
    interrupted: |stage| {
        stage.env.script("exit-on TERM 0\nprint thinking\ntouch $HOME/up\nsleep forever").guardrail("true");
        let arguments = ["run", "-p", "build it"];
        let run = stage.begin(&arguments);
        run.wait_for_file(stage.env.home().join("up"));
        // Two different ones: the kernel makes one of two that are equal.
        run.signal(SIGINT);
        run.signal(SIGTERM);
        let finished = run.finish();
        stage.tell(&arguments, &finished);
    }
    resumed_after_a_crash: |stage| {
        stage.env.script(
            "[1]\nprint not yet\n[2]\nonce $HOME/up section up\nfile built yes\nclaim\n[up]\ntouch $HOME/up\nsleep forever",
        );
        stage.env.guardrail("test -f built");
        let arguments = ["run", "-p", "build it"];
        let run = stage.begin(&arguments);
        run.wait_for_file(stage.env.home().join("up"));
        // A face writes beside the loop: what it says must be out before the crash.
        match stage.face {
            Face::Json => run.wait_for_stdout(r#""iteration":2,"attempt":1"#),
            Face::Plain | Face::Coloured => run.wait_for_stderr("iteration 2/"),
        }
        run.kill9();
        let finished = run.finish();
        stage.tell(&arguments, &finished);
        stage.ralph(&["resume"]);
    }
    agent_cannot_run: |stage| {
        stage.env.settings(json!({ "agent": { "command": "./no-such-agent" } }));
        stage.ralph(&["run", "-p", "build it"]);
    }
    check_cannot_start: |stage| {
        // Without the shell's own words, which differ.
        stage.env.script("claim").guardrail("./no-such-check 2>/dev/null");
        stage.ralph(&["run", "-p", "build it", "-m", "1"]);
    }
    protected_file_changed: |stage| {
        stage.env.write("tests/a.txt", "expects much\n");
        stage.env.git(["add", "."]);
        stage.env.git(["commit", "--quiet", "-m", "Rules"]);
        stage.env.settings(json!({ "protect": { "paths": ["tests/**"] } })).guardrail("true");
        stage.env.script("[1]\nfile tests/a.txt expects nothing\nclaim\n[2]\nfile tests/a.txt expects much\\n\nclaim");
        stage.ralph(&["run", "-p", "build it"]);
    }
    scm_commit: |stage| {
        stage.env.settings(json!({ "scm": { "tasks": ["commit"] } })).guardrail("true");
        stage.env.script("if-stdin commit message => section message\nappend README.md more\\n\nclaim\n[message]\nprint Say more");
        stage.ralph(&["run", "-p", "build it"]);
    }
    supervised_complete: |stage| {
        let agent = supervised(&stage.env, "[ $n -lt 2 ] || touch \"$TASK_FOLDER/DONE\"; exit $((n % 2))");
        stage.ralph(&["supervise", "--task", "t", "--restart-delay", "10ms", "--", &agent]);
    }
    supervised_premature: |stage| {
        // DONE while a request is open does not count; the second attempt acknowledges it.
        let script = concat!(
            "if [ $n = 1 ]; then ", env!("CARGO_BIN_EXE_ralph"), " say $RALPH_RUN_ID 'use tabs' >/dev/null 2>&1\n",
            "else sed -n 's/.*\\(m[0-9a-z]\\{12\\}\\).*/<ack>\\1<\\/ack>/p' | head -1; fi\n",
            "touch \"$TASK_FOLDER/DONE\"",
        );
        let agent = supervised(&stage.env, script);
        stage.ralph(&["supervise", "--task", "t", "--restart-delay", "10ms", "--", &agent]);
    }
    supervised_max_restarts: |stage| {
        let agent = supervised(&stage.env, "echo trying; echo broken >&2; exit 3");
        stage.ralph(&["supervise", "--task", "t", "--max-restarts", "2", "--restart-delay", "10ms", "--", &agent]);
    }
    supervised_waits: |stage| {
        let agent = supervised(&stage.env, "echo waiting for a key; exit 42");
        stage.ralph(&["supervise", "--task", "t", "--", &agent]);
    }
}

/// A command that runs a shell script with `n` set to the number of the attempt.
fn supervised(env: &TestEnv, script: &str) -> String {
    let path = env.program("agent.sh", &format!("#!/bin/sh\nn=$RALPH_ITERATION\n{script}\n"));
    path.to_string_lossy().into_owned()
}
