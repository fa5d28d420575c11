//! Whatever agents write, in whatever order: nobody approves but a review, nothing vanishes but by a split, and
//! repair is settled after one time.

use super::*;
use crate::plan::choice::{Next, next};
use proptest::prelude::*;

/// One thing that an agent does to the file.
#[derive(Debug, Clone)]
enum Edit {
    Set(usize, &'static str, Value),
    SetTop(&'static str, Value),
    Remove(usize, &'static str),
    Delete(usize),
    Copy(usize),
    Swap(usize, usize),
    Rename(usize),
    Add(Value),
    /// Replaces a story by parts, which hold its criteria or not.
    Split(usize, bool, Value),
    /// Does what its mode asks for.
    Honest(bool),
    Cut(usize),
    Crlf,
    Compact,
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!(-1)),
        Just(json!(1)),
        Just(json!(2)),
        Just(json!(3)),
        Just(json!("")),
        Just(json!("text")),
        Just(json!("needs_review")),
        Just(json!("changes_requested")),
        Just(json!("approved")),
        Just(json!(format!("{AUTO_APPROVED} x"))),
        Just(json!([])),
        Just(json!(["A works"])),
        Just(json!(["A"])),
        Just(json!(["B", "N1"])),
        Just(json!(["C works", "more"])),
        Just(json!("A")),
        Just(json!("N1")),
        Just(json!({"x": 1})),
    ]
}

fn field() -> impl Strategy<Value = &'static str> {
    proptest::sample::select([super::super::story::FIELDS.as_slice(), &["mine"]].concat())
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = || 0..5_usize;
    let top =
        proptest::sample::select(vec!["project", "description", "verifyCommands", "userStories", "branchName", "mine"]);
    prop_oneof![
        6 => (at(), field(), value()).prop_map(|(at, field, value)| Edit::Set(at, field, value)),
        1 => (top, value()).prop_map(|(field, value)| Edit::SetTop(field, value)),
        1 => (at(), field()).prop_map(|(at, field)| Edit::Remove(at, field)),
        1 => at().prop_map(Edit::Delete),
        1 => at().prop_map(Edit::Copy),
        1 => (at(), at()).prop_map(|(one, two)| Edit::Swap(one, two)),
        1 => at().prop_map(Edit::Rename),
        1 => (field(), value()).prop_map(|(field, value)| Edit::Add(json!({field: value}))),
        2 => (at(), any::<bool>(), value()).prop_map(|(at, whole, status)| Edit::Split(at, whole, status)),
        6 => any::<bool>().prop_map(Edit::Honest),
        1 => (0..2000_usize).prop_map(Edit::Cut),
        1 => Just(Edit::Crlf),
        1 => Just(Edit::Compact),
    ]
}

/// The text that an agent leaves.
fn edited(plan: &Plan, turn: &Turn, edits: &[Edit]) -> String {
    let mut file: Value = serde_json::from_str(plan.text()).unwrap();
    let (mut cut, mut crlf, mut compact) = (None, false, false);
    for edit in edits {
        let Some(stories) = file["userStories"].as_array_mut() else { break };
        let many = stories.len().max(1);
        match edit {
            Edit::Set(at, field, value) => {
                if let Some(Value::Object(story)) = stories.get_mut(at % many) {
                    story.insert((*field).to_owned(), value.clone());
                }
            }
            Edit::Remove(at, field) => {
                if let Some(Value::Object(story)) = stories.get_mut(at % many) {
                    story.shift_remove(*field);
                }
            }
            Edit::Delete(at) if !stories.is_empty() => drop(stories.remove(at % many)),
            Edit::Copy(at) => stories.extend(stories.get(at % many).cloned()),
            Edit::Swap(one, two) if !stories.is_empty() => stories.swap(one % many, two % many),
            Edit::Rename(at) => {
                if let Some(Value::Object(story)) = stories.get_mut(at % many) {
                    story.insert("id".to_owned(), json!("R1"));
                }
            }
            Edit::Add(fields) => stories.push(with(story("N1"), fields.clone())),
            Edit::Split(at, whole, status) if !stories.is_empty() => {
                let old = stories.remove(at % many);
                let mut part = with(story("P1"), json!({"splitFrom": old["id"], "reviewStatus": status, "notes": "n"}));
                if *whole {
                    part["acceptanceCriteria"] = old["acceptanceCriteria"].clone();
                }
                stories.push(part);
            }
            Edit::Honest(good) => {
                if let Some(own) = stories.iter_mut().find(|story| story["id"] == turn.story.as_str()) {
                    let count = own["reviewCount"].as_u64().unwrap_or(0) + 1;
                    let fields = match turn.mode {
                        Mode::Review if *good => {
                            json!({"reviewStatus": "approved", "passes": true, "reviewCount": count})
                        }
                        Mode::Review => {
                            json!({"reviewStatus": "changes_requested", "reviewFeedback": "f", "reviewCount": count})
                        }
                        _ => {
                            json!({"reviewStatus": "needs_review", "reviewFeedback": "", "notes": "n", "passes": !good})
                        }
                    };
                    *own = with(own.clone(), fields);
                }
            }
            Edit::SetTop(field, value) => file[*field] = value.clone(),
            Edit::Cut(at) => cut = Some(*at),
            Edit::Crlf => crlf = true,
            Edit::Compact => compact = true,
            _ => {}
        }
    }
    let mut out = if compact { file.to_string() } else { text(&file) };
    if crlf {
        out = out.replace('\n', "\r\n");
    }
    if let Some(at) = cut.filter(|at| *at < out.len()) {
        out.truncate(at);
    }
    out
}

/// What no iteration may bring about, said once more and in another way than the judge says it.
fn holds(before: &Plan, judgement: &Judgement, turn: &Turn, rules: Rules) {
    let plan = &judgement.plan;
    for story in plan.stories() {
        let was = before.story(story.id.as_str());
        let own = story.id == turn.story && turn.ended_well;
        let reviewed =
            own && turn.mode == Mode::Review && was.is_some_and(|was| was.status == Some(ReviewStatus::NeedsReview));
        let approves = matches!(judgement.decision, Decision::Approved { .. });
        if story.is_approved() {
            assert!(was.is_some_and(Story::is_approved) || reviewed && approves, "{story:?}");
        }
        if story.passes {
            let passed = own && rules.skip_review && judgement.decision == Decision::Passes;
            assert!(was.is_some_and(|was| was.passes) || reviewed && approves || passed, "{story:?}");
        }
        let Some(was) = was else {
            assert_eq!((story.passes, story.count, story.feedback.as_str()), (false, 0, ""));
            continue;
        };
        assert_eq!(
            (&story.title, &story.verify_commands, &story.split_from),
            (&was.title, &was.verify_commands, &was.split_from)
        );
        assert!(was.criteria.iter().all(|criterion| story.criteria.contains(criterion)));
        let counted = reviewed && judgement.decision != Decision::None;
        assert_eq!(story.count, was.count + u32::from(counted));
        assert!(!was.passes || story.passes, "finished work stays finished");
    }
    for was in before.stories().iter().filter(|was| plan.story(was.id.as_str()).is_none()) {
        let split = judgement.splits.iter().find(|split| split.story == was.id).unwrap();
        assert!(turn.mode == Mode::Implement && !was.passes);
        let parts: Vec<_> = split.parts.iter().map(|part| plan.story(part.as_str()).unwrap()).collect();
        assert!(was.criteria.iter().all(|criterion| parts.iter().any(|part| part.criteria.contains(criterion))));
        assert!(parts.iter().all(|part| before.story(part.id.as_str()).is_none()));
    }
    assert_eq!(
        (plan.project(), plan.branch(), plan.verify_commands()),
        (before.project(), before.branch(), before.verify_commands())
    );
    if !rules.skip_review {
        assert_eq!(plan.broken_invariants(rules, Some(before)), []);
    }
    let submitted = plan.stories().iter().filter(|story| {
        story.status == Some(ReviewStatus::NeedsReview)
            && before.story(story.id.as_str()).is_none_or(|was| was.status != story.status)
    });
    assert!(submitted.count() <= 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whatever_agents_write_the_law_holds(
        iterations in proptest::collection::vec((proptest::collection::vec(edit(), 0..6), 0..8_u8), 1..12),
        skip_review in any::<bool>(),
        cap in 1..4_u32,
    ) {
        let rules = Rules { skip_review, ..super::cap(cap) };
        let mut plan = plan(&[story("A"), with(story("B"), json!({"dependsOn": ["A"]})), with(story("C"), json!({"mine": {"x": [1]}}))]);
        for (edits, luck) in iterations {
            let Next::Work { mode, story } = next(&plan, rules) else { break };
            let turn = Turn { mode, story, ended_well: luck > 0 };
            let now = edited(&plan, &turn, &edits);
            let judgement = judged(&plan, &now, &turn, rules);
            holds(&plan, &judgement, &turn, rules);
            plan = judgement.plan;
        }
    }

    #[test]
    fn an_undone_edit_of_one_story_leaves_the_bytes_of_all_others(at in 0..3_usize, field in field(), value in value()) {
        let stories = [story("A"), awaiting("B", 1), approved("C")];
        let before = plan(&stories);
        let mut now = stories.clone();
        now[at][field] = value;
        let judgement = judged(&before, &text(&file(&now)), &turn(Mode::Review, "B"), Rules::default());
        for (other, story) in before.stories().iter().enumerate().filter(|(other, _)| *other != at) {
            let is = judgement.plan.stories().iter().find(|is| is.id == story.id).unwrap();
            prop_assert_eq!(&judgement.plan.text()[is.span.clone()], &before.text()[story.span.clone()], "{}", other);
        }
    }

    #[test]
    fn any_bytes_are_judged_and_logs_keep_what_they_held(bytes in proptest::collection::vec(any::<u8>(), 0..400), log in "[a-c\n-]{0,40}", new in "[a-c\n-]{0,40}") {
        let before = plan(&[story("A")]);
        let judgement = judge(&before, Seen::Bytes(&bytes), &turn(Mode::Implement, "A"), Rules::default());
        prop_assert_eq!(judgement.plan.text(), before.text());
        if let Some(repaired) = progress::repair(log.as_bytes(), Some(new.as_bytes())) {
            prop_assert_eq!(progress::repair(log.as_bytes(), Some(&repaired)), None);
        }
    }

    #[test]
    fn a_parsed_text_is_what_serde_says(text in "[\\[\\]{}:,\"a1\\\\.eE\\-+ \ntrufalsn]{0,24}") {
        let ours = document::Document::parse(&text).is_ok();
        prop_assert_eq!(ours, serde_json::from_str::<Value>(&text).is_ok() , "{}", text);
    }
}
