//! What each mode may change, cell by cell.

use super::*;

const MODES: [Mode; 3] = [Mode::Implement, Mode::Review, Mode::ReviewFix];

/// A story as it stands when an iteration of this mode begins.
fn begun(mode: Mode, id: &str) -> Value {
    match mode {
        Mode::Implement => story(id),
        Mode::Review => awaiting(id, 1),
        Mode::ReviewFix => reworked(id, 1),
    }
}

fn both(mode: Mode) -> [Value; 2] {
    [begun(mode, "A"), approved("B")]
}

#[test]
fn an_implementer_submits_its_story_with_notes_and_more_criteria() {
    let fields = json!({
        "reviewStatus": "needs_review", "notes": "done so", "acceptanceCriteria": ["more", "A works"],
        "description": "clearer", "priority": 4, "dependsOn": ["B"], "mine": {"x": [1]}
    });
    let decision =
        lawful(&[story("A"), approved("B")], &[with(story("A"), fields), approved("B")], &turn(Mode::Implement, "A"));
    assert_eq!(decision, Decision::Submitted { story: StoryId::new("A").unwrap() });
}

#[test]
fn an_implementer_does_not_submit_another_story() {
    let now = [story("A"), awaiting("B", 0)];
    let words = undone(
        &[story("A"), with(story("B"), json!({"notes": "built"}))],
        &now,
        &turn(Mode::Implement, "A"),
        &["reviewStatus"],
    );
    assert!(words[0].contains("Story B had illegal transition: reviewStatus null → \"needs_review\""), "{words:?}");
}

#[test]
fn an_approval_outside_review_is_undone_field_by_field_and_lawful_edits_are_kept() {
    for mode in [Mode::Implement, Mode::ReviewFix] {
        for id in ["A", "B"] {
            let before = [begun(mode, "A"), begun(mode, "B")];
            let mut now = before.clone();
            let at = usize::from(id == "B");
            now[at] = with(
                now[at].clone(),
                json!({"passes": true, "reviewStatus": "approved", "reviewCount": 2, "notes": "all good", "priority": 9}),
            );
            let (stories, words, decision) = after(&before, &now, &turn(mode, "A"));
            let mut expected = before.clone();
            expected[at] = with(expected[at].clone(), json!({"notes": "all good", "priority": 9}));
            assert_eq!((stories.as_slice(), decision), (expected.as_slice(), Decision::None));
            assert_eq!(words.len(), 3, "{words:?}");
            assert!(words.iter().any(|words| words.contains("passes false → true")), "{words:?}");
            let law = if mode == Mode::Implement {
                "Implement iterations cannot set passes=true or approve stories."
            } else {
                "Review-fix iterations cannot approve stories."
            };
            assert_eq!(words.iter().filter(|words| words.contains(law)).count(), 2, "{words:?}");
        }
    }
}

#[test]
fn a_submission_with_an_approval_remains_a_submission() {
    let now =
        [with(story("A"), json!({"reviewStatus": "needs_review", "passes": true, "reviewCount": 3, "notes": "n"}))];
    let (stories, words, decision) = after(&[story("A")], &now, &turn(Mode::Implement, "A"));
    assert_eq!(stories, [with(story("A"), json!({"reviewStatus": "needs_review", "notes": "n"}))]);
    assert_eq!((words.len(), decision), (2, Decision::Submitted { story: StoryId::new("A").unwrap() }));
}

#[test]
fn a_review_approves_with_one_more_count() {
    let good = with(awaiting("A", 1), json!({"reviewStatus": "approved", "passes": true, "reviewCount": 2}));
    let before = [awaiting("A", 1), approved("B")];
    let is = Decision::Approved { at_cap: false, automatic: false };
    assert_eq!(lawful(&before, &[good.clone(), approved("B")], &turn(Mode::Review, "A")), is);
    let noted = with(good, json!({"reviewFeedback": "well done, one nit", "notes": "seen"}));
    assert_eq!(lawful(&before, &[noted, approved("B")], &turn(Mode::Review, "A")), is);
}

#[test]
fn a_review_asks_for_changes_with_feedback() {
    let asks = with(reworked("A", 2), json!({"notes": "seen"}));
    assert_eq!(lawful(&[awaiting("A", 1)], &[asks], &turn(Mode::Review, "A")), Decision::ChangesRequested);
}

#[test]
fn a_decision_stands_or_falls_as_a_whole() {
    let good = json!({"reviewStatus": "approved", "passes": true, "reviewCount": 2});
    for (bad, told) in [
        (json!({"reviewCount": 1}), "must increment reviewCount by exactly 1"),
        (json!({"reviewCount": 3}), "must increment reviewCount by exactly 1"),
        (json!({"reviewCount": "2"}), "must increment reviewCount by exactly 1"),
        (json!({"passes": false}), "belong together"),
        (json!({"passes": "yes"}), "belong together"),
        (json!({"reviewStatus": "changes_requested", "reviewFeedback": "no"}), "belong together"),
        (json!({"reviewStatus": "changes_requested", "passes": false}), "needs a reviewFeedback"),
        (
            json!({"reviewStatus": "changes_requested", "passes": false, "reviewFeedback": " \n"}),
            "needs a reviewFeedback",
        ),
        (
            json!({"reviewStatus": "changes_requested", "passes": false, "reviewFeedback": AUTO_APPROVED}),
            "needs a reviewFeedback",
        ),
        (json!({"reviewStatus": null}), "ends with 'approved' or 'changes_requested'"),
        (json!({"reviewStatus": "needs_review"}), "ends with 'approved' or 'changes_requested'"),
        (json!({"reviewStatus": "done"}), "ends with 'approved' or 'changes_requested'"),
        (json!({"reviewFeedback": null}), "reviewFeedback must be a text"),
        (json!({"notes": " "}), "empty 'notes'"),
    ] {
        let now = with(with(awaiting("A", 1), good.clone()), bad.clone());
        let (stories, words, decision) = after(&[awaiting("A", 1)], &[now], &turn(Mode::Review, "A"));
        let notes = bad.get("notes").cloned().unwrap_or(json!("built"));
        assert_eq!(
            (stories, decision),
            (vec![with(awaiting("A", 1), json!({"notes": notes}))], Decision::None),
            "{bad}"
        );
        assert!(words.iter().any(|words| words.contains(told)), "{bad} {words:?}");
        assert!(words.iter().all(|words| words.contains('A')));
    }
}

#[test]
fn a_review_that_only_writes_feedback_or_counts_decided_nothing_lawful() {
    for fields in [json!({"reviewFeedback": "hm"}), json!({"reviewCount": 2}), json!({"passes": true})] {
        let (stories, words, decision) =
            after(&[awaiting("A", 1)], &[with(awaiting("A", 1), fields)], &turn(Mode::Review, "A"));
        assert_eq!((stories, decision), (vec![awaiting("A", 1)], Decision::None));
        assert!(!words.is_empty());
    }
    assert_eq!(lawful(&[awaiting("A", 1)], &[awaiting("A", 1)], &turn(Mode::Review, "A")), Decision::None);
}

#[test]
fn a_review_changes_nothing_but_its_decision_and_notes() {
    for (field, value) in [
        ("description", json!("x")),
        ("priority", json!(7)),
        ("dependsOn", json!(["B"])),
        ("mine", json!(1)),
        ("acceptanceCriteria", json!(["A works", "more"])),
        ("title", json!("x")),
        ("verifyCommands", json!(["true"])),
        ("splitFrom", json!("Z")),
    ] {
        let now = [with(awaiting("A", 1), json!({field: value})), approved("B")];
        undone(&both(Mode::Review), &now, &turn(Mode::Review, "A"), &[field]);
    }
}

#[test]
fn a_review_changes_no_other_story_and_its_own_decision_stands() {
    let good = with(awaiting("A", 1), json!({"reviewStatus": "approved", "passes": true, "reviewCount": 2}));
    for (field, value) in [
        ("description", json!("x")),
        ("priority", json!(7)),
        ("notes", json!("x")),
        ("mine", json!(1)),
        ("passes", json!(true)),
        ("reviewStatus", json!("needs_review")),
        ("reviewCount", json!(1)),
        ("reviewFeedback", json!("x")),
        ("acceptanceCriteria", json!(["B works", "more"])),
        ("dependsOn", json!(["A"])),
    ] {
        let before = [awaiting("A", 1), story("B")];
        let now = [good.clone(), with(story("B"), json!({field: value}))];
        let (stories, words, decision) = after(&before, &now, &turn(Mode::Review, "A"));
        assert_eq!(stories, [good.clone(), story("B")], "{field}");
        assert_eq!(decision, Decision::Approved { at_cap: false, automatic: false });
        assert_eq!(words.len(), 1);
        assert!(
            words[0].contains("a review may only modify one story, and this one reviews A") && words[0].contains(field),
            "{words:?}"
        );
    }
}

#[test]
fn a_review_fix_resubmits_with_feedback_cleared() {
    let now = with(awaiting("A", 1), json!({"notes": "reworked", "acceptanceCriteria": ["A works", "and more"]}));
    assert_eq!(lawful(&[reworked("A", 1)], &[now], &turn(Mode::ReviewFix, "A")), Decision::Resubmitted);
    assert_eq!(lawful(&[reworked("A", 1)], &[reworked("A", 1)], &turn(Mode::ReviewFix, "A")), Decision::None);
}

#[test]
fn a_resubmission_that_keeps_or_rewrites_its_feedback_is_undone() {
    let kept = with(reworked("A", 1), json!({"reviewStatus": "needs_review"}));
    let words = undone(&[reworked("A", 1)], &[kept], &turn(Mode::ReviewFix, "A"), &["reviewStatus"]);
    assert!(words[0].contains("feedback is cleared on resubmission"));
    let rewritten = with(reworked("A", 1), json!({"reviewStatus": "needs_review", "reviewFeedback": "all fine"}));
    undone(&[reworked("A", 1)], &[rewritten], &turn(Mode::ReviewFix, "A"), &["reviewStatus", "reviewFeedback"]);
    let cleared = with(reworked("A", 1), json!({"reviewFeedback": ""}));
    undone(&[reworked("A", 1)], &[cleared], &turn(Mode::ReviewFix, "A"), &["reviewFeedback"]);
}

#[test]
fn a_review_fix_of_one_story_resubmits_no_other() {
    let before = [reworked("A", 1), reworked("B", 1)];
    undone(
        &before,
        &[reworked("A", 1), awaiting("B", 1)],
        &turn(Mode::ReviewFix, "A"),
        &["reviewStatus", "reviewFeedback"],
    );
}

#[test]
fn the_count_moves_only_in_a_review() {
    for mode in [Mode::Implement, Mode::ReviewFix] {
        for count in [json!(0), json!(2), json!(-1), json!(1.0), json!(99), json!(null)] {
            let before = [with(begun(mode, "A"), json!({"reviewCount": 1}))];
            let now = [with(begun(mode, "A"), json!({"reviewCount": count}))];
            undone(&before, &now, &turn(mode, "A"), &["reviewCount"]);
        }
    }
}

#[test]
fn other_stories_may_be_reordered_described_and_get_criteria_outside_review() {
    for mode in [Mode::Implement, Mode::ReviewFix] {
        let before = [begun(mode, "A"), story("B"), approved("C")];
        let fields = json!({"priority": 5, "dependsOn": ["C"], "notes": "hint", "description": "x", "acceptanceCriteria": ["B works", "more"]});
        let now = [approved("C"), with(story("B"), fields), begun(mode, "A")];
        assert_eq!(lawful(&before, &now, &turn(mode, "A")), Decision::None);
        let unknown = [begun(mode, "A"), with(story("B"), json!({"mine": 1})), approved("C")];
        undone(&before, &unknown, &turn(mode, "A"), &["mine"]);
    }
}

#[test]
fn titles_criteria_and_commands_are_frozen_in_every_mode() {
    for mode in MODES {
        for id in ["A", "B"] {
            let before = both(mode)
                .map(|story| with(story, json!({"verifyCommands": ["make it"], "acceptanceCriteria": ["one", "two"]})));
            let at = usize::from(id == "B");
            for (field, value) in [
                ("title", json!("Other")),
                ("title", json!("")),
                ("title", json!(null)),
                ("acceptanceCriteria", json!(["one"])),
                ("acceptanceCriteria", json!([])),
                ("acceptanceCriteria", json!(["one", "two "])),
                ("acceptanceCriteria", json!(["one", "two, roughly", "three"])),
                ("acceptanceCriteria", json!(["one", "one"])),
                ("acceptanceCriteria", json!(["one", "two", ""])),
                ("acceptanceCriteria", json!("one")),
                ("acceptanceCriteria", json!(["one", "two", 3])),
                ("verifyCommands", json!([])),
                ("verifyCommands", json!(["make it", "true"])),
                ("verifyCommands", json!(null)),
                ("splitFrom", json!("C")),
                ("splitFrom", json!(7)),
            ] {
                let mut now = before.clone();
                now[at][field] = value;
                undone(&before, &now, &turn(mode, "A"), &[field]);
            }
            for field in [
                "title", "acceptanceCriteria", "verifyCommands", "passes", "reviewStatus", "reviewCount",
                "reviewFeedback", "priority",
            ] {
                let mut now = before.clone();
                now[at] = without(now[at].clone(), field);
                let (stories, words, _) = after(&before, &now, &turn(mode, "A"));
                assert_eq!(stories[at], before[at], "{words:?}");
                assert!(words.iter().any(|words| words.contains(field)), "{field} {words:?}");
            }
        }
    }
}

#[test]
fn values_of_the_wrong_type_are_undone_and_leave_the_rest() {
    for (field, value) in [
        ("description", json!(1)),
        ("notes", json!(null)),
        ("priority", json!("1")),
        ("dependsOn", json!("B")),
        ("dependsOn", json!([1])),
        ("passes", json!(null)),
        ("reviewStatus", json!("ok")),
        ("reviewStatus", json!(false)),
        ("reviewFeedback", json!([])),
    ] {
        let now = [with(story("A"), json!({field: value})), with(approved("B"), json!({"notes": "kept"}))];
        let (stories, words, _) = after(&both(Mode::Implement), &now, &turn(Mode::Implement, "A"));
        assert_eq!(stories, [story("A"), with(approved("B"), json!({"notes": "kept"}))]);
        assert!(words.len() == 1 && words[0].contains(field), "{words:?}");
    }
}

#[test]
fn the_notes_of_a_story_that_passes_are_not_emptied() {
    let submitted = with(story("A"), json!({"reviewStatus": "needs_review"}));
    let now = [submitted.clone(), with(approved("B"), json!({"notes": "\t"}))];
    let (stories, words, _) = after(&both(Mode::Implement), &now, &turn(Mode::Implement, "A"));
    assert_eq!(stories, [submitted, approved("B")]);
    assert!(words.len() == 1 && words[0].contains("Story B") && words[0].contains("empty 'notes'"), "{words:?}");
}

#[test]
fn the_fields_of_the_file_are_frozen_and_unknown_ones_are_free_outside_review() {
    for mode in MODES {
        let before = read(&text(&file(&both(mode))));
        for (field, value) in [
            ("project", json!("q")),
            ("branchName", json!(null)),
            ("description", json!("x")),
            ("verifyCommands", json!([])),
            ("verifyCommands", json!(["make test", "x"])),
            ("userStories", json!({})),
            ("userStories", json!(null)),
        ] {
            let mut now = file(&both(mode));
            now[field] = value;
            let judgement = judged(&before, &text(&now), &turn(mode, "A"), Rules::default());
            assert_eq!(judgement.plan.text(), before.text());
            assert_eq!(judgement.violations.len(), 1);
            assert!(judgement.violations[0].words().contains(field), "{:?}", judgement.violations);
            let gone = judged(&before, &text(&without(file(&both(mode)), field)), &turn(mode, "A"), Rules::default());
            assert_eq!(gone.plan.text(), before.text(), "{field}");
        }
        let mut now = file(&both(mode));
        now["meta"] = json!({"by": "me"});
        let judgement = judged(&before, &text(&now), &turn(mode, "A"), Rules::default());
        assert_eq!(judgement.rewrite, mode == Mode::Review);
    }
}

#[test]
fn new_stories_are_kept_and_cleaned_in_every_mode() {
    for mode in MODES {
        let clean =
            with(story("N"), json!({"mine": 1, "verifyCommands": ["make n"], "dependsOn": ["B"], "notes": "why"}));
        let now = |new: &Value| [begun(mode, "A"), new.clone(), approved("B")];
        lawful(&both(mode), &now(&clean), &turn(mode, "A"));
        for (fields, told) in [
            (
                json!({"passes": true, "notes": "n"}),
                vec!["New story N must start with passes=false (got true): no story arrives pre-approved."],
            ),
            (
                json!({"passes": true}),
                vec!["New story N must start with passes=false (got true): no story arrives pre-approved."],
            ),
            (
                json!({"reviewStatus": "needs_review"}),
                vec!["New story N must start with reviewStatus=null (got 'needs_review')."],
            ),
            (json!({"reviewCount": 1}), vec!["New story N must start with reviewCount=0 (got 1)."]),
            (json!({"reviewFeedback": "x"}), vec!["New story N must start with reviewFeedback='' (got 'x')."]),
            (json!({"reviewCount": -1, "reviewStatus": "ok"}), vec!["is 'ok', must be null", "is -1, must be"]),
            (
                json!({"splitFrom": "A"}),
                vec!["Story N: 'splitFrom' is \"A\", but this iteration replaced no such story."],
            ),
            (json!({"splitFrom": "nobody"}), vec!["this iteration replaced no such story"]),
        ] {
            let dirty = with(clean.clone(), fields.clone());
            let (stories, words, decision) = after(&both(mode), &now(&dirty), &turn(mode, "A"));
            let mut expected = with(clean.clone(), json!({"notes": dirty["notes"]}));
            if fields.get("splitFrom").is_some() {
                expected = without(expected, "splitFrom");
            }
            assert_eq!((stories[1].clone(), decision), (expected, Decision::None));
            assert_eq!(words.len(), told.len(), "{words:?}");
            assert!(words.iter().zip(&told).all(|(words, told)| words.contains(told)), "{words:?}");
        }
    }
}

#[test]
fn a_new_story_without_review_fields_or_with_odd_ones_is_completed() {
    let odd =
        ["passes", "reviewStatus", "reviewCount", "reviewFeedback", "priority"].into_iter().fold(story("N"), without);
    let odd =
        with(odd, json!({"description": 1, "notes": [], "dependsOn": "A", "verifyCommands": [""], "splitFrom": 3}));
    let (stories, words, _) =
        after(&both(Mode::Implement), &[story("A"), approved("B"), odd], &turn(Mode::Implement, "A"));
    let clean = ["description", "notes"].into_iter().fold(with(story("N"), json!({"priority": 2})), without);
    assert_eq!(stories[2], clean);
    assert_eq!(words.len(), 10, "{words:?}");
}

#[test]
fn a_new_story_that_cannot_be_used_is_dropped_and_the_rest_stays() {
    let submitted = with(story("A"), json!({"reviewStatus": "needs_review"}));
    for (bad, told) in [
        (without(story("N"), "title"), "Story N: missing required field 'title'"),
        (with(story("N"), json!({"acceptanceCriteria": []})), "Story N: 'acceptanceCriteria' must not be empty"),
        (without(story("N"), "id"), "missing required field 'id'"),
        (with(story("N"), json!({"id": "a/b"})), "'id' must be 1 to 64"),
        (with(story("N"), json!({"id": "A"})), "Duplicate story ID: 'A'"),
        (json!(["no story"]), "must be a JSON object"),
        (json!(null), "must be a JSON object"),
    ] {
        let now = [submitted.clone(), approved("B"), bad];
        let (stories, words, decision) = after(&both(Mode::Implement), &now, &turn(Mode::Implement, "A"));
        assert_eq!(stories, [submitted.clone(), approved("B")]);
        assert!(words.len() == 1 && words[0].contains(told), "{words:?}");
        assert_ne!(decision, Decision::None);
    }
}

#[test]
fn an_agent_that_did_not_end_well_decided_nothing_and_its_notes_stay() {
    let failed = |mode| Turn { ended_well: false, ..turn(mode, "A") };
    for (mode, fields, changed) in [
        (Mode::Implement, json!({"reviewStatus": "needs_review"}), 1),
        (Mode::Review, json!({"reviewStatus": "approved", "passes": true, "reviewCount": 2}), 3),
        (Mode::Review, json!({"reviewStatus": "changes_requested", "reviewFeedback": "x", "reviewCount": 2}), 3),
        (Mode::ReviewFix, json!({"reviewStatus": "needs_review", "reviewFeedback": ""}), 2),
    ] {
        let now = [with(with(begun(mode, "A"), fields), json!({"notes": "how far I came"})), approved("B")];
        let (stories, words, decision) = after(&both(mode), &now, &failed(mode));
        assert_eq!(stories, [with(begun(mode, "A"), json!({"notes": "how far I came"})), approved("B")]);
        assert_eq!((words.len(), decision), (changed, Decision::None));
        assert!(words.iter().all(|words| words.contains("did not end well")), "{words:?}");
    }
    let passes = [with(story("A"), json!({"passes": true, "notes": "n"}))];
    let (stories, ..) = under(&[story("A")], &passes, &failed(Mode::Implement), skip());
    assert_eq!(stories, [with(story("A"), json!({"notes": "n"}))]);
}

#[test]
fn under_skip_review_only_the_story_of_the_iteration_may_pass() {
    let passes = |id| with(story(id), json!({"passes": true, "notes": "n"}));
    let turn = turn(Mode::Implement, "A");
    let (stories, words, decision) = under(&[story("A"), story("B")], &[passes("A"), passes("B")], &turn, skip());
    assert_eq!((stories, decision), (vec![passes("A"), with(story("B"), json!({"notes": "n"}))], Decision::Passes));
    assert!(words.len() == 1 && words[0].contains("Story B") && words[0].contains("worked on story A"), "{words:?}");
    let (stories, words, decision) = under(&[story("A")], &[with(passes("A"), json!({"notes": ""}))], &turn, skip());
    assert_eq!((stories, words.len(), decision), (vec![story("A")], 1, Decision::None));
    let approved = with(passes("A"), json!({"reviewStatus": "approved", "reviewCount": 1}));
    let (stories, words, decision) = under(&[story("A")], &[approved], &turn, skip());
    assert_eq!((stories, words.len(), decision), (vec![passes("A")], 2, Decision::Passes));
}

#[test]
fn a_request_for_changes_at_the_cap_becomes_the_approval_with_the_text_kept() {
    let asks = |count| [with(reworked("A", count), json!({"reviewFeedback": "the parser panics"}))];
    for (cap, count) in [(2, 2), (1, 2), (2, 7)] {
        let (stories, words, decision) =
            under(&[awaiting("A", count - 1)], &asks(count), &turn(Mode::Review, "A"), super::cap(cap));
        let fields = json!({"reviewStatus": "approved", "passes": true, "reviewFeedback": "[AUTO-APPROVED AT CAP] the parser panics"});
        assert_eq!(stories, [with(asks(count)[0].clone(), fields)]);
        assert_eq!((words.len(), decision), (0, Decision::Approved { at_cap: true, automatic: true }));
    }
    let (stories, _, decision) = under(&[awaiting("A", 1)], &asks(2), &turn(Mode::Review, "A"), super::cap(3));
    assert_eq!((stories.as_slice(), decision), (asks(2).as_slice(), Decision::ChangesRequested));
}

#[test]
fn an_approval_by_the_cap_has_notes_even_if_nobody_wrote_some() {
    let before = [with(awaiting("A", 0), json!({"notes": ""}))];
    let now = [with(reworked("A", 1), json!({"notes": ""}))];
    let (stories, words, decision) = under(&before, &now, &turn(Mode::Review, "A"), cap(1));
    assert_eq!((words.len(), decision), (0, Decision::Approved { at_cap: true, automatic: true }));
    assert_eq!(stories[0]["notes"], "Approved at the review cap.");
    assert!(plan(&stories).stories()[0].is_auto_approved() && !plan(&[approved("A")]).stories()[0].is_auto_approved());
}

#[test]
fn the_prefix_is_lawful_at_the_cap_and_stripped_below_it() {
    let now = |status: &str, passes| {
        [with(
            awaiting("A", 2),
            json!({"reviewStatus": status, "passes": passes, "reviewFeedback": format!(" {AUTO_APPROVED} {AUTO_APPROVED} text")}),
        )]
    };
    let before = [awaiting("A", 1)];
    for (status, passes, expected) in [
        ("approved", true, Decision::Approved { at_cap: false, automatic: false }),
        ("changes_requested", false, Decision::ChangesRequested),
    ] {
        let (stories, words, decision) = under(&before, &now(status, passes), &turn(Mode::Review, "A"), cap(3));
        assert_eq!((stories[0]["reviewFeedback"].as_str(), decision), (Some("text"), expected));
        assert!(words.len() == 1 && words[0].contains("reviewFeedback"), "{words:?}");
        let (stories, words, decision) = under(&before, &now(status, passes), &turn(Mode::Review, "A"), cap(2));
        assert_eq!((words.len(), decision), (0, Decision::Approved { at_cap: true, automatic: true }));
        assert_eq!(stories[0]["reviewFeedback"], now("", true)[0]["reviewFeedback"]);
    }
    let plain = [with(awaiting("A", 2), json!({"reviewStatus": "approved", "passes": true}))];
    let (_, _, decision) = under(&before, &plain, &turn(Mode::Review, "A"), cap(2));
    assert_eq!(decision, Decision::Approved { at_cap: true, automatic: false });
}

#[test]
fn dependencies_on_nobody_and_cycles_are_undone_and_others_kept() {
    let needs = |id: &str, on: &[&str]| with(story(id), json!({"dependsOn": on}));
    let before = [needs("A", &[]), needs("B", &["A"]), needs("C", &[])];
    let run = |now: &[Value]| {
        let (stories, words, _) = after(&before, now, &turn(Mode::Implement, "A"));
        (stories, words)
    };
    let (stories, words) = run(&[needs("A", &["Z"]), needs("B", &["C"]), needs("C", &[])]);
    assert_eq!(stories, [needs("A", &[]), needs("B", &["C"]), needs("C", &[])]);
    assert!(words.len() == 1 && words[0].contains("'dependsOn' names 'Z'"), "{words:?}");
    let (stories, words) = run(&[needs("A", &["B"]), needs("B", &["A"]), needs("C", &["A"])]);
    assert_eq!(stories, [needs("A", &[]), needs("B", &["A"]), needs("C", &["A"])]);
    assert!(words.len() == 1 && words[0].contains("made a cycle: A → B → A"), "{words:?}");
    let (stories, words) =
        run(&[needs("A", &["A"]), needs("B", &["A"]), needs("C", &[]), needs("N", &["N", "B", "nobody"])]);
    assert_eq!(stories, [before.as_slice(), &[needs("N", &[])]].concat());
    assert_eq!(words.len(), 2, "{words:?}");
    let (stories, _) = run(&[needs("A", &["N"]), needs("B", &["A"]), needs("C", &[]), needs("N", &["B", "nobody"])]);
    assert_eq!(stories, [before.as_slice(), &[needs("N", &[])]].concat());
}

#[test]
fn a_file_that_is_no_plan_is_put_back_whole() {
    let before = plan(&both(Mode::Implement));
    let turn = turn(Mode::Implement, "A");
    for (seen, told) in [
        (Seen::Gone, "is not there"),
        (Seen::Link, "is a symbolic link"),
        (Seen::Directory, "is a directory"),
        (Seen::TooLarge(50_000_000), "has 50000000 bytes"),
        (Seen::Unreadable("permission denied"), "permission denied"),
        (Seen::Bytes(b""), "is empty"),
        (Seen::Bytes(b"{\"project\": "), "is not JSON"),
        (Seen::Bytes(b"[]"), "must be a JSON object"),
        (Seen::Bytes(b"\xff\xfe{\0}\0"), "is not UTF-8"),
    ] {
        let judgement = judge(&before, seen, &turn, Rules::default());
        assert_eq!(
            (judgement.plan.text(), judgement.rewrite, &judgement.decision),
            (before.text(), true, &Decision::None)
        );
        let words = judgement.violations[0].words();
        assert!(words.starts_with("tasks.json ") && words.contains(told) && words.contains("put back"), "{words}");
    }
}

#[test]
fn doubled_keys_are_undone() {
    let before = plan(&[with(story("A"), json!({"mine": {"x": 1}})), approved("B")]);
    for (from, to, restored) in [
        ("\"passes\": false", "\"passes\": false, \"passes\": true", true),
        ("\"notes\": \"\"", "\"notes\": \"x\", \"no\\u0074es\": \"y\"", true),
        ("\"x\": 1", "\"x\": 1, \"x\": 2", true),
        ("\"project\": \"p\"", "\"project\": \"p\", \"project\": \"q\"", true),
        ("\"userStories\": [", "\"userStories\": [], \"userStories\": [", true),
        ("\"priority\": 1,", "\"priority\": 1, \"new\": 1, \"new\": 2,", false),
    ] {
        let now = before.text().replacen(from, to, 1);
        assert_ne!(now, before.text());
        let judgement = judged(&before, &now, &turn(Mode::Implement, "A"), Rules::default());
        assert!(
            judgement.violations.iter().any(|violation| violation.rule == Rule::DoubledKey),
            "{:?}",
            judgement.violations
        );
        assert_eq!(before.changes(&judgement.plan).is_empty(), restored, "{to}");
    }
}

#[test]
fn violations_stand_in_the_order_of_the_file() {
    let now = [story("A"), with(approved("B"), json!({"z": 1, "y": 2, "x": 3, "w": 4, "v": 5, "u": 6, "t": 7}))];
    let (_, words, _) = after(&both(Mode::Implement), &now, &turn(Mode::Implement, "A"));
    let fields: Vec<_> = words.iter().filter_map(|words| words.split('\'').nth(1)).collect();
    assert_eq!(fields, ["z", "y", "x", "w", "v", "u", "t"]);
}

#[test]
fn sentences_about_odd_values_are_short_and_on_one_line() {
    let now = [with(story("A"), json!({"title": format!("x\n\u{1b}[31m{}", "y".repeat(10_000))}))];
    let words = undone(&[story("A")], &now, &turn(Mode::Implement, "A"), &["title"]);
    assert!(words[0].chars().count() < 400 && !words[0].contains(['\n', '\u{1b}']), "{words:?}");
}

#[test]
fn a_violation_is_the_same_after_the_journal() {
    let now = [with(approved("A"), json!({"dependsOn": ["Z"]}))];
    let judgement = judge(
        &plan(&[story("A")]),
        Seen::Bytes(text(&file(&now)).as_bytes()),
        &turn(Mode::Implement, "A"),
        Rules::default(),
    );
    assert!(judgement.violations.len() > 3);
    let kept: Vec<Violation> = serde_json::from_str(&serde_json::to_string(&judgement.violations).unwrap()).unwrap();
    assert_eq!(kept, judgement.violations);
}
