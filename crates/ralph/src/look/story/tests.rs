use super::*;
use crate::look::conditions;
use crate::look::sample::journal;
use ralph_core::outcome::StopReason;

fn cut(length: usize) -> Vec<Entry> {
    journal().into_iter().take(length).collect()
}

#[test]
fn a_story_tells_what_was_judged_and_why() {
    let entries = journal();
    let story = Story::of(&entries, Some(2)).unwrap();
    assert_eq!(story.outcome().map(|outcome| (outcome.reason, outcome.verified)), Some((StopReason::Complete, true)));
    assert_eq!(story.judged(), 2);
    assert_eq!(story.in_flight, None);
    assert_eq!(story.on_resume(), OnResume::Nothing);
    let [first, second] = story.chapters.as_slice() else { panic!("two iterations") };
    assert!(first.agent.as_ref().is_some_and(|agent| !agent.well));
    assert!(first.prompt.is_empty(), "only the wanted prompt is kept");
    assert!(second.prompt.starts_with("Iteration 2 of 3"), "{}", second.prompt);
    assert_eq!(second.checks.len(), 2);
    assert_eq!(second.counted().count(), 1, "the first round ran on files that changed");
    assert_eq!(second.tree_moved(), Some(false));
}

#[test]
fn a_journal_cut_anywhere_says_what_was_in_flight_and_what_follows() {
    use InFlight as In;
    use ResumeKind::{Checks, SameIteration};
    let check = |story: &Story<'_>| matches!(story.in_flight, Some(In::Check(_)));
    for (length, in_flight, resumed) in [
        (1, Some(In::Prompt), SameIteration(1)),
        (2, Some(In::Agent), SameIteration(1)),
        (3, Some(In::Tree), Checks(1)),
        (4, None, Checks(1)),
        (5, Some(In::Prompt), SameIteration(2)),
        (6, Some(In::Agent), SameIteration(2)),
        (9, Some(In::Tree), Checks(2)),
        (10, None, Checks(2)),
    ] {
        let entries = cut(length);
        let story = Story::of(&entries, None).unwrap();
        assert_eq!(story.on_resume(), OnResume::GoesOn(resumed), "{length}");
        match in_flight {
            Some(_) => assert_eq!(story.in_flight, in_flight, "{length}"),
            None => assert!(check(&story), "{length}"),
        }
    }
    assert!(Story::of(&[], None).is_err());
}

#[test]
fn every_condition_of_complete_is_laid_open() {
    let met = |length: usize| {
        let entries = cut(length);
        let story = Story::of(&entries, None).unwrap();
        conditions::of(&story).into_iter().map(|condition| condition.met).collect::<Vec<_>>()
    };
    // Ended well, claimed, the guardrail, files that stood still.
    assert_eq!(met(1), []);
    assert_eq!(met(2), [None, None, None, None]);
    assert_eq!(met(5), [Some(false), Some(false), Some(false), None], "the claim of a failed agent does not count");
    assert_eq!(met(9), [Some(true), Some(true), Some(true), None]);
    assert_eq!(met(10), [Some(true), Some(true), None, None], "a new round begins");
    assert_eq!(met(12), [Some(true), Some(true), Some(true), Some(true)]);
}

#[test]
fn what_programs_read_names_no_secret() {
    let entries = journal();
    let story = Story::of(&entries, None).unwrap();
    let policy = crate::look::json::policy(story.machine.policy()).to_string();
    assert!(policy.contains("TOKEN") && !policy.contains("secret"), "{policy}");
}
