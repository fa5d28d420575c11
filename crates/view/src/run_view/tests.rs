use super::*;
use crate::sample::journal;
use crate::{conditions, json};
use ralph_core::machine::Step;
use ralph_core::outcome::StopReason;

/// The journal up to this entry; that something is pinned does not count.
fn cut(length: usize) -> RunView {
    RunView::of(journal().into_iter().take(length + 1).collect(), Prompts::None).unwrap()
}

#[test]
fn a_view_tells_what_was_judged_and_why() {
    let view = RunView::of(journal(), Prompts::Of(2)).unwrap();
    assert_eq!(view.outcome().map(|outcome| (outcome.reason, outcome.verified())), Some((StopReason::Complete, true)));
    assert_eq!(view.judged(), 2);
    assert_eq!(view.in_flight(), None);
    assert_eq!(view.on_resume(), OnResume::Nothing);
    let [first, second] = view.attempts.as_slice() else { panic!("two iterations") };
    assert!(first.agent.as_ref().is_some_and(|agent| !agent.well));
    assert!(first.prompt.is_empty(), "only the wanted prompt is kept");
    assert!(second.prompt.starts_with("Iteration 2 of 3"), "{}", second.prompt);
    assert_eq!(second.checks.len(), 2);
    assert_eq!(second.counted().count(), 1, "the first round ran on files that changed");
}

#[test]
fn a_journal_cut_anywhere_says_what_was_in_flight_and_what_follows() {
    use InFlight as In;
    use ResumeKind::{Checks, SameIteration};
    let check = |view: &RunView| matches!(view.in_flight(), Some(In::Check(_)));
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
        let view = cut(length);
        assert_eq!(view.on_resume(), OnResume::GoesOn(resumed), "{length}");
        match in_flight {
            Some(_) => assert_eq!(view.in_flight(), in_flight.as_ref(), "{length}"),
            None => assert!(check(&view), "{length}"),
        }
    }
    assert!(RunView::of(Vec::new(), Prompts::None).is_err());
}

#[test]
fn every_condition_of_complete_is_laid_open() {
    let met =
        |length: usize| conditions::of(&cut(length)).into_iter().map(|condition| condition.met).collect::<Vec<_>>();
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
    let policy = json::policy(cut(12).machine.policy()).to_string();
    assert!(policy.contains("TOKEN") && !policy.contains("secret"), "{policy}");
}

/// A notice about a check.
fn finished(iteration: u32, kind: CheckKind, name: &str, problem: &str) -> Notice {
    Notice::CheckFinished {
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
    }
}

/// The entry of the first check, and what the machine tells of it.
fn checked(iteration: u32) -> (Entry, Notice) {
    let entry = journal().remove(5);
    let mut told = finished(iteration, CheckKind::Guardrail, "make test", "failed with exit code 2");
    if let (Event::CheckEnded(report), Notice::CheckFinished { log, .. }) = (&entry.event, &mut told) {
        *log = Some(report.log.clone());
    }
    (entry, told)
}

#[test]
fn checks_that_execute_nothing_are_kept_by_their_last_round() {
    let mut view = cut(1);
    let noted = || journal().remove(2);
    let begins =
        Notice::IterationStarted { iteration: 1, attempt: 1, agent: String::new(), prompt: String::new(), turn: None };
    view.take(noted(), Step::telling([begins]));
    view.take(
        noted(),
        Step::telling([finished(1, CheckKind::Guardrail, "make test", "could not run: its script was changed")]),
    );
    view.take(noted(), Step::telling([finished(1, CheckKind::Evidence, "tests", "No test command was seen.")]));
    view.take(noted(), Step::telling([finished(1, CheckKind::Evidence, "tests", "")]));
    let found = |view: &RunView| {
        view.attempts[0].findings.iter().map(|finding| (finding.kind, finding.passed)).collect::<Vec<_>>()
    };
    assert_eq!(found(&view), [(CheckKind::Guardrail, false), (CheckKind::Evidence, true)]);
    // The same guardrail is executed after all.
    let (entry, told) = checked(1);
    view.take(entry, Step::telling([told]));
    assert_eq!(found(&view), [(CheckKind::Evidence, true)]);
    assert_eq!(view.attempts[0].tally(), (1, 1));
}

#[test]
fn checks_before_the_first_iteration_belong_to_none() {
    let mut view = cut(1);
    for _ in 0..2 {
        let (entry, told) = checked(0);
        view.take(entry, Step::telling([told]));
    }
    let numbers: Vec<u32> = view.baseline.iter().map(|check| check.iteration).collect();
    assert_eq!((numbers, view.attempts.len()), (vec![0], 0), "a beginning that is begun again counts once");
    let first = RunView { baseline: view.baseline, ..cut(5) };
    let needed: Vec<String> = conditions::of(&first).into_iter().map(|condition| condition.needed).collect();
    assert!(needed[2].ends_with("make_test.log); it failed before the first iteration too"), "{needed:?}");
}

#[test]
fn a_view_that_follows_a_run_is_the_view_of_its_whole_journal() {
    let mut entries = journal().into_iter();
    let mut following = RunView::begin(entries.next().unwrap(), Prompts::Newest).unwrap();
    for (length, entry) in (1..).zip(entries) {
        following.apply(entry);
        let whole = cut(length);
        assert_eq!(json::receipts(&following), json::receipts(&whole), "{length}");
        assert_eq!(following.in_flight(), whole.in_flight(), "{length}");
    }
    let prompts: Vec<bool> = following.attempts.iter().map(|attempt| attempt.prompt.is_empty()).collect();
    assert_eq!(prompts, [true, false], "only the newest prompt is kept");
}
