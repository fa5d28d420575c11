//! `ralph run --plan` with agents that are shell scripts: stories, reviews, what is undone, and what survives a crash.

use crate::env;
use ralph_testkit::TestEnv;
use serde_json::{Value, json};
use std::fs;

const TASKS: &str = "ralph/tasks.json";

/// What an agent of these tests can do: it finds mode and story in its prompt, and each story stands on one line.
const HELPERS: &str = r#"#!/bin/sh
prompt=$(cat)
mode=$(printf '%s\n' "$prompt" | sed -n 's/^- Mode: //p' | head -n 1)
story=$(printf '%s\n' "$prompt" | sed -n 's/^- Story: \([^ ]*\).*/\1/p' | head -n 1)
echo "${mode:-closing} $story" >> "$HOME/turns"
field() { sed -i "/\"id\": \"$1\"/s/\"$2\": [^,}]*/\"$2\": $3/" ralph/tasks.json; }
reviews() { sed -n "/\"id\": \"$story\"/s/.*\"reviewCount\": \([0-9]*\).*/\1/p" ralph/tasks.json; }
submit() { field $story reviewStatus '"needs_review"'; field $story reviewFeedback '""'; field $story notes '"secret words"'; }
approve() { field $story reviewCount $(( $(reviews) + 1 )); field $story reviewStatus '"approved"'; field $story passes true; field $story notes '"fine"'; }
request() { field $story reviewCount $(( $(reviews) + 1 )); field $story reviewStatus '"changes_requested"'; field $story reviewFeedback '"rename it"'; }
log() { echo "+ $mode $story" >> ralph/progress.txt; }
commit() { git add -A; git commit -qm "$mode $story"; }
"#;

/// Implements, wants one change of each story, and approves.
const HONEST: &str = r#"
case "$mode" in
implement|review-fix) echo "$mode $story" >> work.txt; submit ;;
review) if [ "$(reviews)" = 0 ]; then request; else approve; fi ;;
esac
log; commit; echo done
"#;

/// Implements, and approves at once.
const QUICK: &str = r#"
case "$mode" in
review) approve ;;
*) echo "$story" >> work.txt; submit ;;
esac
commit; echo done
"#;

fn story(id: &str, more: &str) -> String {
    format!(
        r#"    {{"id": "{id}", "title": "Story {id}", "description": "d", "acceptanceCriteria": ["it works"], "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": []{more}}}"#
    )
}

fn tasks(stories: &[String]) -> String {
    format!(
        "{{\n  \"project\": \"shop\",\n  \"branchName\": \"main\",\n  \"description\": \"d\",\n  \"verifyCommands\": [\"! grep -q bug work.txt\"],\n  \"userStories\": [\n{}\n  ]\n}}\n",
        stories.join(",\n")
    )
}

/// A committed plan of these stories and an agent that does this.
fn planned(stories: &[String], agent: &str) -> TestEnv {
    let env = env();
    env.ralph(["plan", "init", "-q"]).stdout_has("wrote ralph/tasks.json").run();
    env.write("work.txt", "").write(TASKS, &tasks(stories));
    env.git(["add", "-A"]);
    env.git(["commit", "-qm", "plan"]);
    env.git(["branch", "-M", "main"]);
    let program = env.program("worker", &format!("{HELPERS}{agent}"));
    env.settings(json!({ "agent": { "command": program } }));
    env
}

fn two() -> [String; 2] {
    [story("A", ""), story("B", "")]
}

fn turns(env: &TestEnv) -> Vec<String> {
    let turns = fs::read_to_string(env.home().join("turns")).unwrap_or_default();
    turns.lines().map(|line| line.trim().to_owned()).collect()
}

fn read_story(env: &TestEnv, id: &str) -> Value {
    let plan: Value = serde_json::from_str(&env.read(TASKS)).unwrap();
    plan["userStories"].as_array().unwrap().iter().find(|story| story["id"] == id).unwrap().clone()
}

fn subjects(env: &TestEnv) -> Vec<String> {
    env.git(["log", "--format=%s"]).lines().map(str::to_owned).collect()
}

fn of<'l>(lines: &'l [Value], kind: &str) -> Vec<&'l Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

#[test]
fn two_stories_are_implemented_reviewed_reworked_and_approved() {
    let env = planned(&two(), &format!("cp .ralph-active \"$HOME/active\"{HONEST}"));
    let lines = env.ralph(["run", "--plan", "--json"]).run().json_lines();
    let expected =
        ["implement A", "review A", "review-fix A", "review A", "implement B", "review B", "review-fix B", "review B"];
    assert_eq!(turns(&env), expected);
    let end = of(&lines, "run.finished")[0];
    assert_eq!((&end["stop_reason"], &end["verified"]), (&json!("complete"), &json!(true)), "{end}");
    let started = of(&lines, "plan.started")[0];
    assert_eq!((&started["stories"], &started["needed"], &started["allowed"]), (&json!(2), &json!(6), &json!(15)));
    let second = of(&lines, "iteration.started")[1];
    assert_eq!((&second["mode"], &second["story"], &second["review_cap"]), (&json!("review"), &json!("A"), &json!(5)));
    let decisions: Vec<&Value> = of(&lines, "plan.judged").iter().map(|line| &line["decision"]).collect();
    assert_eq!(
        decisions[..4],
        [&json!("submitted"), &json!("changes-requested"), &json!("resubmitted"), &json!("approved")]
    );
    let active: Value = serde_json::from_str(&fs::read_to_string(env.home().join("active")).unwrap()).unwrap();
    assert_eq!((&active["iterationMode"], &active["story"]), (&json!("review"), &json!("B")));
    assert!(active["pid"].as_u64().unwrap() > 1);
    assert!(!env.exists(".ralph-active"));
    assert_eq!(env.git(["status", "--porcelain", "--untracked-files=no"]), "");
    let run = end["run"].as_str().unwrap();
    env.ralph(["explain", run]).stdout_has("every story passes and is approved").run();
    env.ralph(["status", "--json"]).stdout_has(r#""plan":{"stories":2,"done":2"#).run();
}

#[test]
fn an_implementer_that_approves_itself_is_undone_and_told() {
    let forged = "approve; field B passes true; commit; echo '<promise>COMPLETE</promise>'";
    let env = planned(&two(), forged);
    let run = env.ralph(["run", "--plan", "-m", "2", "--json"]).code(1);
    let lines = run.run().json_lines();
    assert_eq!(turns(&env), ["implement A", "implement A"]);
    assert_eq!((&read_story(&env, "A")["passes"], &read_story(&env, "A")["reviewCount"]), (&json!(false), &json!(0)));
    assert_eq!(read_story(&env, "B")["passes"], false);
    assert_eq!(read_story(&env, "A")["notes"], "fine", "what is lawful stays");
    assert_eq!(subjects(&env)[0], "ralph: undo illegal plan edits");
    let reasons = of(&lines, "iteration.finished")[0]["reasons"].to_string();
    assert!(reasons.contains("cannot set passes=true") && reasons.contains("Story B"), "{reasons}");
    assert!(env.read(".ralph/prompt_002.txt").contains("cannot set passes=true"));
    assert_eq!(of(&lines, "iteration.finished")[0]["claim"], "complete", "a false claim is counted");
}

#[test]
fn what_a_reviewer_does_to_the_code_is_put_back() {
    let meddling = r#"
if [ "$mode" = review ]; then echo better > work.txt; mkdir -p new; echo x > new/file; echo rule > CLAUDE.md; fi
"#;
    let env = planned(&two(), &format!("{meddling}{QUICK}"));
    env.ralph(["run", "--plan"])
        .ends("complete · verified")
        .stderr_has("  ! undone: a review changes no code; put back: new/file, work.txt\n")
        .run();
    assert_eq!(turns(&env), ["implement A", "review A", "implement B", "review B"]);
    assert_eq!(env.read("work.txt"), "A\nB\n");
    assert!(!env.exists("new") && env.exists("CLAUDE.md"));
    assert_eq!(subjects(&env)[0], "ralph: undo illegal plan edits");
    assert_eq!(env.git(["status", "--porcelain", "--untracked-files=no"]), "");
}

#[test]
fn an_approval_on_red_is_withdrawn_and_the_cap_ends_in_a_block() {
    let buggy = r#"
case "$mode" in
implement) echo bug >> work.txt; submit ;;
review-fix) echo mended > work.txt; submit ;;
review) approve ;;
esac
commit; echo done
"#;
    let env = planned(&[story("A", "")], buggy);
    env.ralph(["run", "--plan"])
        .ends("complete · verified")
        .stderr_has("note: the approval of story A is withdrawn: verify command \"! grep -q bug work.txt\" failed")
        .stderr_has("  ✗ verify ! grep -q bug work.txt")
        .run();
    assert_eq!(turns(&env), ["implement A", "review A", "review-fix A", "review A"]);
    let env = planned(&[story("A", "")], buggy);
    env.ralph(["run", "--plan", "--review-cap", "1"])
        .code(3)
        .stdout_has("story A was approved by its last review, but verify command \"! grep -q bug work.txt\"")
        .stderr_has("  ✗ verify ! grep -q bug work.txt")
        .run();
}

#[test]
fn without_reviews_stories_pass_by_their_implementer() {
    let env = planned(&two(), "field $story passes true; field $story notes '\"n\"'; commit; echo done");
    env.ralph(["run", "--plan", "--skip-review"]).ends("complete · verified").run();
    assert_eq!(turns(&env), ["implement A", "implement B"]);
}

#[test]
fn a_review_killed_by_a_crash_is_done_again_and_left_nothing() {
    let env = planned(
        &[story("A", "")],
        &format!(
            "if [ \"$mode\" = review ] && [ ! -e \"$HOME/crashed\" ]; then\napprove; echo mine > work.txt; touch \"$HOME/crashed\"; sleep 600\nfi{QUICK}"
        ),
    );
    let running = env.ralph(["run", "--plan", "-q"]).stderr_unchecked("it is killed").any_end().spawn();
    running.wait_for_file(env.home().join("crashed"));
    running.crash();
    assert_eq!(read_story(&env, "A")["passes"], true, "what the killed review wrote");
    env.ralph(["resume"])
        .ends("complete · verified")
        .stderr_has("note: undone: ")
        .stderr_has("a review changes no code; put back: work.txt")
        .stderr_has("did not end well, so it decided nothing")
        .stderr_has("iteration 2/15 · attempt 2 · review A (1 of 5): Story A")
        .run();
    assert_eq!(turns(&env), ["implement A", "review A", "review A"]);
    assert_eq!((env.read("work.txt"), &read_story(&env, "A")["reviewCount"]), ("A\n".to_owned(), &json!(1)));
}

#[test]
fn a_broken_plan_is_refused_with_the_words_of_plan_check() {
    let env = planned(&[story("A", r#", "splitFrom": "A""#)], "exit 9");
    let check = env.ralph(["plan", "check"]).code(2).stderr_unchecked("it is compared below").run().stderr;
    let told = env.ralph(["run", "--plan"]).code(2).stderr_unchecked("it is compared").run().stderr;
    assert_eq!(told.to_string(), check.to_string());
    assert!(check.to_string().contains("ralph/tasks.json: Story A: 'splitFrom' names the story itself"));
    assert_eq!(turns(&env), Vec::<String>::new());
}

#[test]
fn a_plan_that_is_done_already_is_verified_without_an_agent() {
    let done = story("A", "")
        .replace("\"passes\": false", "\"passes\": true")
        .replace("\"reviewStatus\": null", "\"reviewStatus\": \"approved\"")
        .replace("\"notes\": \"\"", "\"notes\": \"n\"");
    let env = planned(&[done], "exit 9");
    env.ralph(["run", "--plan"])
        .stdout_has("complete · verified")
        .stdout_has("complete and verified after 0 iterations")
        .stdout_has("ralph plan archive")
        .run();
}

#[test]
fn what_is_left_is_committed_or_asked_for_once_and_then_a_block() {
    let leaves = r#"
case "$mode" in
implement) echo x > left.txt; submit; git add ralph; git commit -qm x ;;
review) approve ;;
*) [ -e "$HOME/tidy" ] && { git add -A; git commit -qm tidy; } ;;
esac
echo done
"#;
    let env = planned(&[story("A", "")], leaves);
    env.ralph(["run", "--plan"])
        .code(3)
        .stdout_has("every story is done, but files are not committed: left.txt")
        .stderr_has("note: every story is done, but files are not committed: left.txt")
        .run();
    assert_eq!(turns(&env), ["implement A", "review A", "closing"]);
    fs::write(env.home().join("tidy"), "").unwrap();
    env.ralph(["resume"])
        .ends("complete · verified")
        .stderr_has("note: every story is done, but files are not committed: left.txt")
        .run();
    assert_eq!(turns(&env).len(), 4);
    assert_eq!(subjects(&env)[0], "tidy");
}

#[test]
fn a_dry_run_shows_the_first_prompt_of_a_plan() {
    let env = planned(&two(), "exit 9");
    env.ralph(["run", "--plan", "--dry-run"])
        .stdout_has("# Iteration 1 of 15")
        .stdout_has("- Story: A Story A")
        .stdout_has("Implement this story and no other.")
        .stderr_unchecked("the command is told there")
        .run();
}
