//! The tables of transitions and of the stop hook, row by row.

use super::*;
use crate::plan::choice::{Next, next};
use crate::plan::stop::{Asked, reason};

fn mode(name: &str) -> Mode {
    serde_json::from_value(json!(name)).unwrap()
}

/// The review fields of a row as a story: notes are written, and feedback stands where changes are requested.
fn row(state: &Value) -> Value {
    let feedback = if state["reviewStatus"] == "changes_requested" { "fix it" } else { "" };
    with(with(story("US-001"), state.clone()), json!({"notes": "n", "reviewFeedback": feedback}))
}

#[test]
fn every_row_of_the_table_of_transitions_is_judged_as_it_says() {
    let table: Value = serde_json::from_str(include_str!("../../../tests/cases/plan_transitions.json")).unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 432);
    for case in rows {
        let (before, now) = ([row(&case["before"])], [row(&case["after"])]);
        let turn = turn(mode(case["mode"].as_str().unwrap()), "US-001");
        let (stories, words, decision) = after(&before, &now, &turn);
        match case["verdict"].as_str().unwrap() {
            "illegal" => assert!(!words.is_empty() && stories != now, "{case}"),
            "legal" => assert!(
                words.is_empty() && stories == now && (turn.mode != Mode::Review || decision != Decision::None),
                "{case} {words:?}"
            ),
            "no decision" => {
                assert!(words.is_empty() && stories == before && decision == Decision::None, "{case} {words:?}")
            }
            other => panic!("{other}"),
        }
    }
}

/// The plan before, of which the payload holds three fields of each story.
fn snapshot(case: &Value) -> Option<Plan> {
    let known = case["ralph_active"]["preIterationSnapshot"].as_object()?;
    let now = case["tasks"]["userStories"].as_array().unwrap();
    let stories = known.iter().map(|(id, state)| {
        let now = now.iter().find(|story| story["id"] == **id).cloned().unwrap_or_else(|| story(id));
        let feedback = if state["reviewStatus"] == "changes_requested" { "fix it" } else { "" };
        with(with(now, state.clone()), json!({"reviewFeedback": feedback}))
    });
    let mut file = case["tasks"].clone();
    file["userStories"] = stories.collect();
    Some(read(&text(&file)))
}

#[test]
fn every_case_of_the_stop_hook_gets_its_reason() {
    let table: Value = serde_json::from_str(include_str!("../../../tests/cases/plan_stop_hook.json")).unwrap();
    let cases = table["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 18);
    for case in cases {
        let active = &case["ralph_active"];
        let cap = u32::try_from(active["reviewCap"].as_u64().unwrap()).unwrap();
        let rules = Rules { skip_review: active["skipReview"] == true, ..super::cap(cap) };
        let before = snapshot(case);
        let chosen = before.as_ref().map(|plan| next(plan, rules));
        let told = active["iterationMode"].as_str().map(mode);
        let turn = match (&before, told, &chosen) {
            (Some(plan), Some(told), Some(Next::Work { mode, story })) => {
                assert_eq!(told, *mode);
                Some((plan, told, story))
            }
            (None, None, None) => None,
            other => panic!("{other:?}"),
        };
        let tasks = text(&case["tasks"]);
        let asked = Asked { file: Seen::Bytes(tasks.as_bytes()), turn, rules, uncommitted: &[] };
        let got = reason(&asked);
        match case["reason"].as_str() {
            None => assert_eq!((got, &case["decision"]), (None, &json!("approve")), "{}", case["name"]),
            // Three rows give the meaning, the others the sentence.
            Some(meaning) if meaning.starts_with(|c: char| c.is_lowercase()) && !meaning.starts_with("tasks.json") => {
                let got = got.unwrap();
                assert!(got.contains(meaning) && got.contains("US-00"), "{}: {got}", case["name"]);
            }
            Some(sentence) => assert_eq!(got.as_deref(), Some(sentence), "{}", case["name"]),
        }
    }
}

#[test]
fn a_review_that_decided_nothing_is_sent_back_and_a_decided_one_may_stop() {
    let before = plan(&[awaiting("A", 0)]);
    let id = StoryId::new("A").unwrap();
    let ask = |stories: &[Value], uncommitted: &[String]| {
        let tasks = text(&file(stories));
        let turn = Some((&before, Mode::Review, &id));
        reason(&Asked { file: Seen::Bytes(tasks.as_bytes()), turn, rules: Rules::default(), uncommitted })
    };
    assert!(ask(&[awaiting("A", 0)], &[]).unwrap().contains("decided nothing"));
    assert_eq!(ask(&[approved("A")], &[]), None);
    let dirty = ask(&[approved("A")], &["src/a.rs".to_owned()]).unwrap();
    for part in ["src/a.rs", "progress.txt", "CLAUDE.md", ".claude/rules/", "tasks.json", "commit ALL changes"] {
        assert!(dirty.contains(part), "{dirty}");
    }
}

#[test]
fn a_stop_with_a_file_that_is_no_plan_is_blocked_by_what_is_wrong_with_it() {
    let ask = |file| reason(&Asked { file, turn: None, rules: Rules::default(), uncommitted: &[] }).unwrap();
    assert_eq!(ask(Seen::Gone), "tasks.json is not there");
    assert_eq!(
        ask(Seen::Bytes(b"{\n  \"project\": ,\n}")),
        "tasks.json is not JSON: line 2, column 14: expected a value"
    );
    let many: Vec<_> = (0..30).map(|at| without(story(&format!("S{at}")), "passes")).collect();
    let told = ask(Seen::Bytes(text(&file(&many)).as_bytes()));
    assert_eq!(told.lines().count(), 21);
    assert!(told.ends_with("… and 10 more."), "{told}");
}
