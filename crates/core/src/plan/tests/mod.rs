//! The law of plans, sentence by sentence.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod acting;
mod choosing;
mod formatting;
mod judging;
mod logs;
mod properties;
mod reading;
mod splitting;
mod tables;

use super::*;
use serde_json::{Value, json};

/// A story that nobody has begun.
fn story(id: &str) -> Value {
    json!({
        "id": id, "title": format!("Title of {id}"), "description": "d", "acceptanceCriteria": [format!("{id} works")],
        "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "",
        "notes": "", "dependsOn": []
    })
}

/// The same with other values for some fields.
fn with(mut story: Value, fields: Value) -> Value {
    for (key, value) in fields.as_object().unwrap() {
        story[key] = value.clone();
    }
    story
}

fn without(mut object: Value, key: &str) -> Value {
    object.as_object_mut().unwrap().shift_remove(key);
    object
}

fn awaiting(id: &str, count: u32) -> Value {
    with(story(id), json!({"reviewStatus": "needs_review", "reviewCount": count, "notes": "built"}))
}

fn reworked(id: &str, count: u32) -> Value {
    let fields = json!({"reviewStatus": "changes_requested", "reviewCount": count, "reviewFeedback": "fix it", "notes": "built"});
    with(story(id), fields)
}

fn approved(id: &str) -> Value {
    with(story(id), json!({"reviewStatus": "approved", "passes": true, "reviewCount": 1, "notes": "built"}))
}

fn file(stories: &[Value]) -> Value {
    json!({"project": "p", "branchName": "ralph/x", "description": "d", "verifyCommands": ["make test"], "userStories": stories})
}

fn text(file: &Value) -> String {
    serde_json::to_string_pretty(file).unwrap() + "\n"
}

fn plan(stories: &[Value]) -> Plan {
    read(&text(&file(stories)))
}

fn read(text: &str) -> Plan {
    Plan::read(text.as_bytes()).unwrap_or_else(|problems| panic!("{:?}", words_of(&problems)))
}

fn words_of(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(Problem::words).collect()
}

fn turn(mode: Mode, story: &str) -> Turn {
    Turn { mode, story: StoryId::new(story).unwrap(), ended_well: true }
}

fn skip() -> Rules {
    Rules { skip_review: true, ..Rules::default() }
}

fn cap(cap: u32) -> Rules {
    Rules { cap: std::num::NonZeroU32::new(cap).unwrap(), skip_review: false }
}

/// Judges, and sees to it that judging again changes nothing.
fn judged(before: &Plan, after: &str, turn: &Turn, rules: Rules) -> Judgement {
    let judgement = judge(before, Seen::Bytes(after.as_bytes()), turn, rules);
    assert_eq!(judgement.rewrite, judgement.plan.text() != after, "{:?}", judgement.violations);
    let again = judge(before, Seen::Bytes(judgement.plan.text().as_bytes()), turn, rules);
    assert_eq!(again.violations, [], "second time");
    assert_eq!(again.plan.text(), judgement.plan.text(), "second time");
    assert_eq!((&again.decision, &again.splits), (&judgement.decision, &judgement.splits), "second time");
    judgement
}

/// What an iteration made of stories, with the sentences about what was undone.
fn after(before: &[Value], now: &[Value], turn: &Turn) -> (Vec<Value>, Vec<String>, Decision) {
    under(before, now, turn, Rules::default())
}

fn under(before: &[Value], now: &[Value], turn: &Turn, rules: Rules) -> (Vec<Value>, Vec<String>, Decision) {
    let judgement = judged(&plan(before), &text(&file(now)), turn, rules);
    let file: Value = serde_json::from_str(judgement.plan.text()).unwrap();
    let words = judgement.violations.iter().map(Violation::words).collect();
    (file["userStories"].as_array().unwrap().clone(), words, judgement.decision)
}

/// Nothing was undone.
fn lawful(before: &[Value], now: &[Value], turn: &Turn) -> Decision {
    let (stories, words, decision) = after(before, now, turn);
    assert_eq!((stories.as_slice(), words), (now, vec![]));
    decision
}

/// All was undone, in one field or several of a story.
fn undone(before: &[Value], now: &[Value], turn: &Turn, fields: &[&str]) -> Vec<String> {
    let (stories, words, decision) = after(before, now, turn);
    assert_eq!(stories, before, "{words:?}");
    assert_eq!(decision, Decision::None, "{words:?}");
    assert_eq!(words.len(), fields.len(), "{words:?}");
    for field in fields {
        assert!(words.iter().any(|words| words.contains(field)), "{field} is not named: {words:?}");
    }
    words
}
