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
    let [first, second] = story.attempts.as_slice() else { panic!("two iterations") };
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

/// A notice about a check.
fn finished(iteration: u32, kind: CheckKind, name: &str, problem: &str) -> Effect {
    Effect::Tell(Notice::CheckFinished {
        iteration,
        kind,
        name: name.to_owned(),
        passed: problem.is_empty(),
        problem: problem.to_owned(),
        exit_code: None,
        duration: Millis::ZERO,
        log: None,
        fail_action: None,
        output: String::new(),
    })
}

#[test]
fn checks_that_execute_nothing_are_kept_by_their_last_round() {
    let entries = journal();
    let noted = &entries[1];
    let mut teller = Teller::default();
    let begins = Notice::IterationStarted { iteration: 1, attempt: 1, agent: String::new(), prompt: String::new() };
    teller.hear(noted, vec![Effect::Tell(begins)]);
    teller.hear(noted, vec![finished(1, CheckKind::Guardrail, "make test", "could not run: its script was changed")]);
    teller.hear(noted, vec![finished(1, CheckKind::Evidence, "tests", "No test command was seen.")]);
    teller.hear(noted, vec![finished(1, CheckKind::Evidence, "tests", "")]);
    let found = |teller: &Teller<'_>| {
        teller.attempts[0].findings.iter().map(|finding| (finding.kind, finding.passed)).collect::<Vec<_>>()
    };
    assert_eq!(found(&teller), [(CheckKind::Guardrail, false), (CheckKind::Evidence, true)]);
    // The same guardrail is executed after all.
    let Event::CheckEnded(report) = &entries[4].event else { panic!("a check") };
    let mut told = finished(1, CheckKind::Guardrail, "make test", "failed with exit code 2");
    if let Effect::Tell(Notice::CheckFinished { log, .. }) = &mut told {
        *log = Some(report.log.clone());
    }
    teller.hear(&entries[4], vec![told]);
    assert_eq!(found(&teller), [(CheckKind::Evidence, true)]);
    assert_eq!(teller.attempts[0].tally(), (1, 1));
}

#[test]
fn checks_before_the_first_iteration_belong_to_none() {
    let entries = journal();
    let Event::CheckEnded(report) = &entries[4].event else { panic!("a check") };
    let told = || {
        let mut told = finished(0, CheckKind::Guardrail, "make test", "failed with exit code 2");
        if let Effect::Tell(Notice::CheckFinished { log, .. }) = &mut told {
            *log = Some(report.log.clone());
        }
        told
    };
    let mut teller = Teller::default();
    teller.hear(&entries[4], vec![told()]);
    teller.hear(&entries[4], vec![told()]);
    let numbers: Vec<u32> = teller.baseline.iter().map(|check| check.iteration).collect();
    assert_eq!((numbers, teller.attempts.len()), (vec![0], 0), "a beginning that is begun again counts once");
    let mut story = Story::of(&entries, None).unwrap();
    story.baseline = teller.baseline;
    let entries_of_one = cut(5);
    let first = Story { baseline: std::mem::take(&mut story.baseline), ..Story::of(&entries_of_one, None).unwrap() };
    let needed: Vec<String> = conditions::of(&first).into_iter().map(|condition| condition.needed).collect();
    assert!(needed[2].ends_with("make_test.log); it failed before the first iteration too"), "{needed:?}");
}
