//! What ralph itself does to a plan, and what it tells of a person's edits.

use super::*;

fn id(id: &str) -> StoryId {
    StoryId::new(id).unwrap()
}

#[test]
fn a_withdrawn_approval_asks_for_changes_with_the_red_command_and_keeps_the_rest() {
    let before = plan(&[story("B"), with(approved("A"), json!({"mine": {"x": 1}}))]);
    let after = before.withdraw(&id("A"), "verify command \"make test\" failed").unwrap();
    let fields = json!({"passes": false, "reviewStatus": "changes_requested", "reviewFeedback": "verify command \"make test\" failed"});
    assert_eq!(after.text(), text(&file(&[story("B"), with(with(approved("A"), json!({"mine": {"x": 1}})), fields)])));
    assert_eq!(after.broken_invariants(Rules::default(), None), []);
    assert_eq!(before.withdraw(&id("Z"), "x"), None);
}

#[test]
fn a_withdrawn_automatic_approval_keeps_what_the_reviewer_found() {
    let found = json!({"reviewFeedback": format!("{AUTO_APPROVED} the parser panics")});
    let after = plan(&[with(approved("A"), found)]).withdraw(&id("A"), "make test failed").unwrap();
    assert_eq!(after.story("A").unwrap().feedback, "make test failed\n\nthe parser panics");
}

#[test]
fn a_red_command_under_skip_review_reopens_the_story() {
    let passes = with(story("A"), json!({"passes": true, "notes": "n"}));
    let after = plan(std::slice::from_ref(&passes)).reopen(&id("A")).unwrap();
    assert_eq!(after.text(), text(&file(&[with(passes, json!({"passes": false}))])));
}

#[test]
fn when_reviews_count_again_stories_that_pass_unapproved_await_one() {
    let passes = |id| with(story(id), json!({"passes": true, "notes": "n"}));
    let old = with(reworked("C", 1), json!({"passes": true}));
    let before = plan(&[passes("A"), approved("B"), old, story("D")]);
    let (after, which) = before.under(Rules::default());
    assert_eq!(which, [id("A"), id("C")]);
    for which in ["A", "C"] {
        let story = after.story(which).unwrap();
        assert_eq!((story.passes, story.status, story.feedback.as_str()), (false, Some(ReviewStatus::NeedsReview), ""));
    }
    assert!(after.story("B").unwrap().is_done(false));
    assert_eq!(after.broken_invariants(Rules::default(), None), []);
    assert_eq!(before.under(skip()), (before.clone(), vec![]));
}

#[test]
fn a_person_is_told_which_story_and_field_they_changed() {
    let before = plan(&[story("A"), story("B"), approved("C")]);
    let edited = [with(story("A"), json!({"priority": 3, "mine": true})), approved("C"), story("D")];
    let mut file = file(&edited);
    file["verifyCommands"] = json!([]);
    let changes = before.changes(&read(&text(&file)));
    let words: Vec<_> = changes.iter().map(Change::words).collect();
    assert_eq!(
        words,
        [
            "tasks.json: verifyCommands [ \"make test\" ] → []",
            "Story A: priority 1 → 3",
            "Story A: mine nothing → true",
            "Story B was removed",
            "Story D was added",
        ]
    );
    let compact = read(&serde_json::to_string(&serde_json::from_str::<Value>(before.text()).unwrap()).unwrap());
    assert_eq!(before.changes(&compact), []);
}
