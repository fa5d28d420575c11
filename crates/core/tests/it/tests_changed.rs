//! Existing tests that a run changed: when it is looked, and what the end says.

use crate::sim::{Agent, Asked, FAIL, Knock, Sim, Turn, World, guardrails, play, policy, turn, turns};
use ralph_core::activity::Activity;
use ralph_core::event::{Event, Resumed};
use ralph_core::outcome::StopReason;
use ralph_core::policy::Policy;
use ralph_core::protect::Pins;
use ralph_core::tests_changed::TestsChanged;
use ralph_core::time::Millis;

fn checked() -> Policy {
    let mut policy = Policy { guardrails: guardrails(&["make test"]), ..policy() };
    policy.protect.tests = true;
    policy
}

fn one_changed() -> TestsChanged {
    let mut changed = TestsChanged::default();
    changed.add("tests/a.py".to_owned(), false);
    changed
}

/// A run in which a test is found changed in the end.
fn world(turns: Vec<Turn>) -> World {
    World { tests: Ok(one_changed()), ..World::new(checked(), turns) }
}

fn looks(sim: &Sim) -> usize {
    sim.started(|activity| matches!(activity, Activity::CompareTests { .. }))
}

#[test]
fn the_end_names_changed_tests_and_stays_verified() {
    let sim = play(world(turns(&[Agent::Works, Agent::Claims])));
    assert!(sim.outcome().verified());
    assert_eq!(sim.outcome().tests_changed, Some(one_changed()));
    assert_eq!(sim.run.row().tests_changed, Some(one_changed()));
    assert_eq!(looks(&sim), 1, "only the end is worth a look");
}

#[test]
fn every_end_behind_an_agent_names_changed_tests() {
    let failing = Turn { checks: vec![FAIL], ..turn(Agent::Claims) };
    let mut used_up = world(vec![failing]);
    used_up.policy.limits.max_iterations = 2;
    let mut late = world(turns(&[Agent::Works]));
    late.policy.limits.wall = Millis::from_secs(90);
    let blocked = world(turns(&[Agent::Blocked("no key")]));
    // While the agent works, and while the next prompt is read.
    let stopped = [1, 4].map(|at| World { knocks: vec![(at, Knock::Cancel)], ..world(turns(&[Agent::Works])) });
    let ends = [StopReason::MaxIterations, StopReason::MaxWallTime, StopReason::Blocked];
    let ends = ends.into_iter().chain([StopReason::Cancelled; 2]);
    for (world, reason) in [used_up, late, blocked].into_iter().chain(stopped).zip(ends) {
        let sim = play(world);
        assert_eq!(sim.outcome().reason, reason);
        assert_eq!(sim.outcome().tests_changed, Some(one_changed()), "{reason:?}");
        assert_eq!(looks(&sim), 1, "{reason:?}");
    }
}

#[test]
fn a_run_without_checks_or_without_an_agent_looks_at_no_test() {
    let mut unchecked = world(turns(&[Agent::Claims]));
    unchecked.policy.guardrails.clear();
    let pinning = |sim: &Sim| sim.started(|activity| matches!(activity, Activity::Pin(_)));
    let sim = play(unchecked);
    assert_eq!((pinning(&sim), looks(&sim), &sim.outcome().tests_changed), (0, 0, &None));
    let mut stopped = World { knocks: vec![(0, Knock::Cancel)], ..world(turns(&[Agent::Claims])) };
    stopped.policy.limits.stall_after = 3;
    let sim = play(stopped);
    assert_eq!((sim.launches().len(), looks(&sim), &sim.outcome().tests_changed), (0, 0, &None));
}

#[test]
fn a_project_without_tests_is_not_looked_at_again() {
    let mut sim = Sim::new(world(turns(&[Agent::Claims])));
    // The record of the pretend world is replaced by an empty one.
    let entry = sim.journal.iter_mut().find_map(|entry| match &mut entry.event {
        Event::Pinned { pins: Ok(pins), .. } => Some(pins),
        _ => None,
    });
    let pins: &mut Pins = entry.unwrap();
    pins.tests.as_mut().unwrap().count = 0;
    let mut sim = Sim::cut(sim.world.clone(), &sim.journal);
    sim.resume(Resumed::default());
    sim.play();
    assert_eq!((looks(&sim), sim.outcome().tests_changed.clone()), (0, Some(TestsChanged::default())));
}

#[test]
fn what_could_not_be_looked_at_is_said_and_refuses_nothing() {
    let unseen = World { tests: Err("the record is damaged".to_owned()), ..world(turns(&[Agent::Claims])) };
    let sim = play(unseen);
    assert!(sim.outcome().verified());
    assert_eq!(sim.outcome().tests_changed, None);
    let said = "which existing tests this run changes cannot be told: the record is damaged".to_owned();
    assert!(sim.notes().contains(&said), "{:?}", sim.notes());
}

/// A run whose end is decided, while it looks.
fn looking(turns: Vec<Turn>) -> Sim {
    let mut sim = Sim::new(world(turns));
    while !matches!(sim.running(), Some(Activity::CompareTests { .. })) {
        sim.tick();
    }
    sim
}

#[test]
fn whoever_cannot_wait_for_the_last_look_gets_the_same_end_without_it() {
    for event in [Event::Interrupted, Event::Cancelled, Event::CancelledUncarried] {
        let mut sim = looking(turns(&[Agent::Claims]));
        sim.happen(event);
        assert!(sim.outcome().verified());
        assert_eq!(sim.outcome().tests_changed, None);
    }
    // Time has nothing to add.
    let mut sim = looking(turns(&[Agent::Claims]));
    sim.world.policy.limits.wall = Millis(1);
    assert_eq!(ralph_core::machine::Machine::time_left(&sim.run), None);
    sim.tick();
    assert_eq!(sim.outcome().tests_changed, Some(one_changed()));
}

#[test]
fn a_crash_during_the_last_look_repeats_the_look_and_nothing_else() {
    let cut = looking(turns(&[Agent::Claims]));
    assert!(!cut.run.is_complete() && cut.run.decided().is_some());
    let mut sim = Sim::cut(cut.world.clone(), &cut.journal);
    sim.resume(Resumed::default());
    sim.play();
    assert!(sim.outcome().verified());
    assert_eq!(sim.outcome().tests_changed, Some(one_changed()));
    assert_eq!((sim.launches().len(), sim.checked().len(), looks(&sim)), (0, 0, 1));
}

#[test]
fn a_run_that_goes_on_after_its_end_compares_again_with_its_first_start() {
    let mut world = world(vec![turn(Agent::Works), turn(Agent::Claims)]);
    world.policy.limits.max_iterations = 1;
    world.resumes = vec![Resumed { max_iterations: Some(2), ..Resumed::default() }];
    let sim = play(world);
    assert_eq!(sim.end(), (StopReason::Complete, 0, 2));
    assert_eq!(looks(&sim), 2);
    let records = sim.pick(|asked| match asked {
        Asked::Start(Activity::CompareTests { record, .. }) => Some(record),
        _ => None,
    });
    assert_eq!(records[0], records[1], "nothing is recorded anew");
    assert_eq!(sim.started(|activity| matches!(activity, Activity::Pin(_))), 1);
}
