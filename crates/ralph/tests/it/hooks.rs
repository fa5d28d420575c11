//! `ralph hook`: what an agent is told while it works, through the binary as a client calls it; and the plugin.

use crate::env;
use ralph_testkit::TestEnv;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const RUN: &str = "r0000000";

/// A project inside a run, with the plan before the iteration and what it is for.
struct Inside {
    env: TestEnv,
}

impl Inside {
    fn new() -> Inside {
        let inside = Inside { env: env() };
        fs::create_dir_all(inside.folder()).unwrap();
        fs::create_dir(inside.env.path("ralph")).unwrap();
        inside
    }

    fn folder(&self) -> PathBuf {
        self.env.state().join("p/runs").join(RUN)
    }

    fn snapshot(&self, fields: Value) {
        let mut snapshot = json!({
            "dir": "ralph", "rules": {"cap": 5, "skipReview": false},
            "turn": {"mode": "implement", "story": "US-001", "ended_well": true}, "tasks": "", "maxStopBlocks": 5,
            "context": {"window": 200_000, "charsPerToken": 4, "thresholds": [50, 60, 70, 80, 90]}, "dirty": []
        });
        for (key, value) in fields.as_object().unwrap() {
            snapshot[key] = value.clone();
        }
        fs::write(self.folder().join("hook-snapshot.json"), snapshot.to_string()).unwrap();
    }

    fn tasks(&self, tasks: &Value) {
        self.env.write("ralph/tasks.json", &format!("{tasks:#}\n"));
    }

    fn commit(&self) {
        self.env.git(["add", "-A"]);
        self.env.git(["commit", "-qm", "all", "--allow-empty"]);
    }

    /// What a hook says inside the run, with these variables besides.
    #[track_caller]
    fn hook(&self, name: &str, payload: &Value, more: &[(&str, &str)]) -> String {
        let mut call = Command::new(env!("CARGO_BIN_EXE_ralph"));
        call.args(["hook", name]).current_dir(self.env.project()).env_clear().env("HOME", self.env.home());
        call.env("PATH", std::env::var_os("PATH").unwrap()).env("RALPH_RUN_ID", RUN).env("RALPH_ITERATION", "1");
        call.env("RALPH_RUN_DIR", self.folder()).env("RALPH_PROJECT_DIR", self.env.project());
        call.envs(more.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = call.spawn().unwrap();
        // A hook that has nothing to ask may be gone already.
        let _ = child.stdin.take().unwrap().write_all(payload.to_string().as_bytes());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Why the agent may not stop; `None` if it may.
    #[track_caller]
    fn stop(&self, session: &str) -> Option<String> {
        let payload = json!({"session_id": session, "hook_event_name": "Stop", "stop_hook_active": false});
        let said = self.hook("stop", &payload, &[]);
        if said.is_empty() {
            return None;
        }
        let answer: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(answer["decision"], "block");
        Some(answer["reason"].as_str().unwrap().to_owned())
    }

    /// What is said about a transcript of this size.
    #[track_caller]
    fn context(&self, session: &str, bytes: u64) -> Option<String> {
        let transcript = self.env.root().join("transcript.jsonl");
        fs::File::create(&transcript).unwrap().set_len(bytes).unwrap();
        let payload = json!({"session_id": session, "transcript_path": transcript, "hook_event_name": "AfterTool"});
        let said = self.hook("context", &payload, &[]);
        if said.is_empty() {
            return None;
        }
        let answer: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "AfterTool");
        Some(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
    }
}

fn story(id: &str) -> Value {
    json!({
        "id": id, "title": "T", "description": "d", "acceptanceCriteria": ["It works"], "priority": 1, "passes": false,
        "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": []
    })
}

fn file(stories: &[Value]) -> Value {
    json!({"project": "p", "branchName": "ralph/x", "description": "d", "verifyCommands": [], "userStories": stories})
}

#[test]
fn outside_of_a_run_every_hook_is_silent() {
    let inside = Inside::new();
    inside.snapshot(json!({}));
    inside.env.write(".ralph/settings.json", "{broken");
    for name in ["stop", "context", "guard", "session-start"] {
        inside.env.ralph(["hook", name]).stdin("{}").run();
        for wrong in [("RALPH_RUN_ID", ""), ("RALPH_RUN_ID", "r0000001"), ("RALPH_RUN_DIR", "/nonexistent/r0000000")] {
            assert_eq!(inside.hook(name, &json!({}), &[wrong]), "", "{name} {wrong:?}");
        }
    }
    let other = Inside::new();
    assert_eq!(other.stop("s"), None, "a run that is no plan");
    fs::write(other.folder().join("hook-snapshot.json"), "{half").unwrap();
    assert_eq!(other.stop("s"), None, "a snapshot that cannot be read");
    assert_eq!(other.hook("stop", &json!("no object"), &[]), "");
    inside.env.ralph(["hook", "nothing"]).code(2).stderr_has("invalid value 'nothing'").run();
}

#[test]
fn every_case_of_the_stop_hook_gets_its_reason_through_the_binary() {
    let table: Value = serde_json::from_str(include_str!("../../../core/tests/cases/plan_stop_hook.json")).unwrap();
    let cases = table["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 18);
    let inside = Inside::new();
    for case in cases {
        let active = &case["ralph_active"];
        let now = case["tasks"]["userStories"].as_array().unwrap();
        let mut fields = json!({"rules": {"cap": active["reviewCap"], "skipReview": active["skipReview"]}});
        if let Some(known) = active["preIterationSnapshot"].as_object() {
            let before = known.iter().map(|(id, state)| {
                let mut before = now.iter().find(|story| story["id"] == **id).cloned().unwrap_or_else(|| story(id));
                for (key, value) in state.as_object().unwrap() {
                    before[key] = value.clone();
                }
                before["reviewFeedback"] =
                    if state["reviewStatus"] == "changes_requested" { "fix it" } else { "" }.into();
                before
            });
            fields["tasks"] = file(&before.collect::<Vec<_>>()).to_string().into();
            fields["turn"] = json!({"mode": active["iterationMode"], "story": "US-001", "ended_well": true});
        }
        inside.snapshot(fields);
        inside.tasks(&case["tasks"]);
        inside.commit();
        let name = case["name"].as_str().unwrap();
        let told = inside.stop(name);
        match case["reason"].as_str() {
            None => assert_eq!((told, &case["decision"]), (None, &json!("approve")), "{name}"),
            Some(meaning) => {
                let told = told.unwrap_or_else(|| panic!("{name}"));
                assert!(told.contains(meaning), "{name}: {told}");
            }
        }
    }
}

#[test]
fn an_agent_is_sent_back_so_often_and_then_let_go() {
    let inside = Inside::new();
    inside.snapshot(json!({"maxStopBlocks": 2}));
    for _ in 0..2 {
        assert_eq!(inside.stop("one").as_deref(), Some("tasks.json is not there"));
    }
    assert_eq!(inside.stop("one"), None);
    assert!(inside.stop("two").is_some(), "another agent process");
    let next = inside.hook("stop", &json!({"session_id": "one"}), &[("RALPH_ITERATION", "2")]);
    assert!(next.contains("is not there"), "{next}");
    inside.snapshot(json!({"maxStopBlocks": 0}));
    assert_eq!(inside.stop("three"), None, "never");
    // Whoever cannot count sends nobody back.
    let inside = Inside::new();
    inside.snapshot(json!({}));
    fs::write(inside.folder().join("hooks"), "in the way").unwrap();
    assert_eq!(inside.stop("one"), None);
}

#[test]
fn uncommitted_work_is_named_less_what_was_there_before() {
    let inside = Inside::new();
    let submitted = {
        let mut story = story("US-001");
        story["reviewStatus"] = "needs_review".into();
        file(&[story])
    };
    inside.tasks(&submitted);
    inside.env.write("before.txt", "untracked since yesterday\n");
    let snapshot =
        |dirty: Value| inside.snapshot(json!({"tasks": file(&[story("US-001")]).to_string(), "dirty": dirty}));
    snapshot(json!([]));
    let told = inside.stop("a").unwrap();
    for part in [
        "There are uncommitted changes", "before.txt", "ralph/tasks.json", "(1) add to progress.txt", "(2) ",
        "(3) commit ALL",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert!(!told.contains(".ralph"), "{told}");
    inside.env.write(".ralph-active", "{}");
    inside.env.git(["add", "ralph"]);
    inside.env.git(["commit", "-qm", "story"]);
    assert!(inside.stop("b").unwrap().contains("before.txt"));
    let print = ralph_core::text::hash(b"untracked since yesterday\n");
    snapshot(json!([{"path": "before.txt", "print": print}]));
    assert_eq!(inside.stop("c"), None, "it was there before");
    inside.env.write("before.txt", "and today\n");
    assert!(inside.stop("d").unwrap().contains("before.txt"), "its content is another one");
    fs::remove_file(inside.env.path("before.txt")).unwrap();
    assert_eq!(inside.stop("d"), None);
    // Without git that part is left out.
    inside.env.write("new.txt", "n");
    assert!(inside.stop("e").is_some());
    fs::remove_dir_all(inside.env.path(".git")).unwrap();
    assert_eq!(inside.stop("f"), None);
}

#[test]
fn every_session_of_the_table_is_told_how_full_its_window_is() {
    let table: Value = serde_json::from_str(include_str!("../../../core/tests/cases/context_monitor.json")).unwrap();
    let sessions = table["sessions"].as_array().unwrap();
    assert!(sessions.len() >= 2);
    for (at, session) in sessions.iter().enumerate() {
        for plan in [true, false] {
            let inside = Inside::new();
            if plan {
                inside.snapshot(json!({}));
            }
            for row in session["sizes"].as_array().unwrap() {
                let told = inside.context(&format!("s{at}"), row[0].as_u64().unwrap());
                let heads = told.as_ref().map(|text| {
                    let severity = text.split(':').next().unwrap();
                    let threshold = text.split("(crossed ").nth(1).and_then(|rest| rest.split('%').next()).unwrap();
                    format!("{severity} {threshold}")
                });
                assert_eq!(heads.as_deref(), row[1].as_str(), "{row}");
                if let Some(told) = told {
                    assert_eq!(told.contains("tasks.json"), plan, "{told}");
                }
            }
        }
    }
}

#[test]
fn a_new_session_is_told_again_and_the_clients_window_counts() {
    let inside = Inside::new();
    inside.snapshot(json!({"context": {"window": 1000, "charsPerToken": 2, "thresholds": [10, 30]}}));
    assert!(
        inside
            .context("a", 200)
            .unwrap()
            .starts_with("NOTICE: Context window is at ~10% usage (crossed 10% threshold). ")
    );
    assert_eq!(inside.context("a", 220), None);
    assert!(inside.context("b", 700).unwrap().contains("crossed 30%"), "another session, and only the highest");
    assert_eq!(inside.context("b", 710), None);
    assert_eq!(inside.hook("session-start", &json!({"session_id": "a", "source": "clear"}), &[]), "");
    assert!(inside.context("a", 240).is_some());
    assert_eq!(inside.context("b", 720), None, "the other session was not armed again");
    let transcript = inside.env.root().join("transcript.jsonl");
    let payload = json!({"session_id": "c", "transcript_path": transcript, "hook_event_name": "PostToolUse"});
    let told = inside.hook("context", &payload, &[("CLAUDE_CONTEXT_WINDOW", "100")]);
    assert!(told.contains("is at ~360% usage (crossed 30% threshold)"), "{told}");
    for payload in [json!({"session_id": "d", "transcript_path": "/nonexistent"}), json!({"session_id": "d"})] {
        assert_eq!(inside.hook("context", &payload, &[]), "");
    }
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}});
    assert_eq!(inside.hook("guard", &tool, &[]), "");
}

#[test]
fn the_plugin_holds_what_the_client_looks_for() {
    let env = env();
    let folder = env.root().join("my plugin");
    let export = env.ralph(["plugin", "export", &folder.display().to_string()]);
    export.stdout_has("/.claude-plugin/plugin.json\n").stderr_has("try it: claude --plugin-dir '").run();
    let json = |name: &str| -> Value { serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap() };
    assert_eq!(json(".claude-plugin/plugin.json")["name"], "ralph");
    assert_eq!(json(".claude-plugin/plugin.json").get("hooks"), None);
    assert_eq!(json(".claude-plugin/marketplace.json")["plugins"][0]["source"], "./");
    assert!(
        fs::read_to_string(folder.join("skills/ralph-plan/SKILL.md")).unwrap().starts_with("---\nname: ralph-plan\n")
    );
    let hooks = json("hooks/hooks.json");
    let command = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let inside = Inside::new();
    inside.snapshot(json!({}));
    let call = |run: bool, line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", env.home());
        if run {
            shell
                .env("RALPH_RUN_ID", RUN)
                .env("RALPH_RUN_DIR", inside.folder())
                .env("RALPH_PROJECT_DIR", inside.env.project());
        }
        let output = shell.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(call(true, &command).contains("tasks.json is not there"));
    assert_eq!(call(false, &command), "");
    let gone = command.replace(env!("CARGO_BIN_EXE_ralph"), "/nonexistent/ralph");
    assert_eq!(call(true, &gone), "", "silent if ralph is gone");
    // Again is fine; a folder of somebody else's is not.
    env.ralph(["plugin", "export", &folder.display().to_string(), "-q"]).stdout_has("wrote").run();
    env.ralph(["plugin", "export", "."])
        .code(2)
        .stderr(
            "error: [PROJECT]/. holds something else: [..]\nhint: name an empty folder, or one that is not there\n\
             hint: put the plugin beside it: --force\n",
        )
        .run();
}
