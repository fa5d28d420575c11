//! Signals, cancellation, the wall time, crashes: how a run is stopped, and how it goes on.

use crate::sim::{
    Agent, Knock, Sim, Turn, World, guardrails, limited, play, policy, supervised, transient, turn, turns, unexpected,
};
use ralph_core::event::{Entry, Event, Resumed};
use ralph_core::notice::{Notice, ResumeKind};
use ralph_core::observation::Marker;
use ralph_core::outcome::StopReason::*;
use ralph_core::policy::{Policy, VerifyPolicy};
use ralph_core::run::{Run, RunStep};
use ralph_core::time::Millis;
use ralph_core::words::Note;
use std::collections::BTreeSet;

/// Two guardrails, and an agent that is done at once. The activities of such a run are, from 0:
/// inputs, agent, look, check `a`, check `b`, look.
fn world(knocks: &[(usize, Knock)]) -> World {
    let policy = Policy { guardrails: guardrails(&["a", "b"]), ..policy() };
    World { knocks: knocks.to_vec(), ..World::new(policy, turns(&[Agent::Claims])) }
}

fn resumed_with(sim: &Sim) -> Vec<ResumeKind> {
    sim.told(|notice| match notice {
        Notice::RunStarted { resumed, .. } => *resumed,
        _ => None,
    })
}

#[test]
fn h01_wherever_an_interrupt_comes_the_run_stops_with_130_and_goes_on_from_there() {
    use Knock::{Cancel, Interrupt};
    use ResumeKind::{Checks, SameIteration};
    let once = |at| vec![(at, Interrupt)];
    let twice = |at| vec![(at, Interrupt), (at, Interrupt)];
    let ten_times = |at| vec![(at, Interrupt); 10];
    // Who knocks; how often something was ended; how it goes on; agents and checks in all.
    type Row = (&'static str, Vec<(usize, Knock)>, usize, ResumeKind, &'static [u32], &'static [&'static str]);
    let table: Vec<Row> = vec![
        ("while the inputs are read", once(0), 0, SameIteration(1), &[1], &["a", "b"]),
        ("while the agent works, once: it finishes", once(1), 0, Checks(1), &[1], &["a", "b"]),
        ("while the agent works, twice: it is ended", twice(1), 1, SameIteration(1), &[1, 1], &["a", "b"]),
        ("while the agent works, ten times", ten_times(1), 9, SameIteration(1), &[1, 1], &["a", "b"]),
        ("while the tree is looked at", once(2), 0, Checks(1), &[1], &["a", "b"]),
        ("while a check runs, once: it finishes", once(3), 0, Checks(1), &[1], &["a", "a", "b"]),
        ("while a check runs, twice: it is executed again", twice(3), 1, Checks(1), &[1], &["a", "a", "b"]),
        ("while the last check runs", once(4), 0, Checks(1), &[1], &["a", "b", "a", "b"]),
        ("before the verdict", once(5), 0, Checks(1), &[1], &["a", "b", "a", "b"]),
        ("a cancel while the agent works", vec![(1, Cancel)], 1, SameIteration(1), &[1, 1], &["a", "b"]),
        ("a cancel while a check runs", vec![(3, Cancel)], 1, Checks(1), &[1], &["a", "a", "b"]),
    ];
    for (name, knocks, ended, kind, numbers, checks) in table {
        let reason = if knocks[0].1 == Cancel { Cancelled } else { Interrupted };
        let mut sim = play(world(&knocks));
        assert_eq!(sim.end(), (reason, 130, 0), "{name}");
        assert_eq!(sim.outcome().next, ["ralph resume r1"], "{name}");
        assert_eq!(sim.ended(), ended, "{name}");

        sim.resume(Resumed::default());
        sim.play();
        assert_eq!(resumed_with(&sim), [kind], "{name}");
        assert_eq!(sim.numbers(), numbers, "{name}");
        assert_eq!(sim.checked(), checks, "{name}");
        assert_eq!(sim.end(), (Complete, 0, 1), "{name}");
        assert!(sim.outcome().verified(), "{name}");
    }
}

/// The phase that a run is in, by its own word.
fn phase(run: &Run) -> String {
    let again = World::new(policy(), Vec::new()).first_entry();
    match run.clone().step(&Entry { seq: run.seq() + 1, ..again }).tell.as_slice() {
        [Notice::Note(Note::Unexpected { phase, .. })] => phase.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn e03_a_run_that_nobody_carries_is_cancelled_at_once_in_every_phase_and_goes_on_like_after_a_crash() {
    let refused = Turn { refusals: vec![limited(None)], ..turn(Agent::Works) };
    let mut worked_on = world(&[]);
    worked_on.turns = vec![refused, turn(Agent::Claims)];
    worked_on.policy.limits.stall_after = 3;
    worked_on.policy.protect.scripts = true;
    worked_on.policy.verify = VerifyPolicy { baseline: true, clean_checkout: true, ..VerifyPolicy::default() };
    worked_on.policy.scm.tasks = vec!["commit".to_owned(), "push".to_owned()];
    let done = Turn { marker: Marker::Present, ..turn(Agent::Works) };
    let watched = World::new(supervised(5), vec![turn(Agent::Fails), done]);

    let mut phases = BTreeSet::new();
    for world in [worked_on, watched] {
        let whole = play(world.clone());
        assert_eq!(whole.end(), (Complete, 0, 2));
        for length in 1..whole.journal.len() {
            let crashed = || Sim::cut(world.clone(), &whole.journal[..length]);
            let go_on = |mut sim: Sim| {
                sim.resume(Resumed::default());
                sim.play();
                sim
            };
            let mut sim = crashed();
            let phase = phase(&sim.run);
            phases.insert(phase.clone());
            sim.happen(Event::CancelledUncarried);
            let (reason, code, _) = sim.end();
            assert_eq!((reason, code), (Cancelled, 130), "behind entry {length}, {phase}");
            assert!(sim.outcome().message.starts_with("cancelled in "), "{}", sim.outcome().message);
            assert_eq!(sim.outcome().next, ["ralph resume r1"]);
            assert!(sim.running().is_none() && sim.ended() == 0, "nothing runs that could be ended");
            assert!(sim.told(|notice| matches!(notice, Notice::Stopping { .. }).then_some(())).is_empty());

            let (cancelled, crashed) = (go_on(sim), go_on(crashed()));
            let how = |sim: &Sim| (sim.end(), sim.outcome().verified(), sim.numbers(), resumed_with(sim));
            assert_eq!(how(&cancelled), how(&crashed), "behind entry {length}, {phase}");
            assert_eq!(cancelled.end(), whole.end(), "behind entry {length}, {phase}");
        }
    }
    let all = ["closing", "inspecting", "opening", "prompting", "waiting", "working"];
    assert_eq!(phases.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn an_ended_run_cannot_be_cancelled() {
    let mut ended = play(world(&[(0, Knock::Interrupt)])).run;
    let first = world(&[]).first_entry();
    let step = ended.step(&Entry { seq: 9, event: Event::CancelledUncarried, ..first });
    assert_eq!(step, RunStep::telling([unexpected("cancelled_uncarried", "ended")]));
    assert_eq!(ended.outcome().unwrap().reason, Interrupted);
}

#[test]
fn a_first_interrupt_says_that_the_agent_may_finish_and_a_second_that_it_may_not() {
    let sim = play(world(&[(1, Knock::Interrupt), (1, Knock::Interrupt)]));
    let stopping = sim.told(|notice| match notice {
        Notice::Stopping { now } => Some(*now),
        _ => None,
    });
    assert_eq!(stopping, [false, true]);
}

#[test]
fn what_an_agent_said_before_it_was_ended_counts_for_nothing() {
    // The pretend agent has printed its claim before it is ended.
    let mut world = world(&[(1, Knock::Interrupt), (1, Knock::Interrupt)]);
    world.policy.guardrails.clear();
    assert_eq!(play(world).end(), (Interrupted, 130, 0));
}

#[test]
fn an_interrupt_while_waiting_ends_at_once() {
    let refused = Turn { refusals: vec![limited(None)], ..turn(Agent::Claims) };
    let mut sim = play(World { knocks: vec![(2, Knock::Interrupt)], ..World::new(policy(), vec![refused]) });
    assert_eq!(sim.end(), (Interrupted, 130, 0));
    assert_eq!(sim.ended(), 0);
    sim.resume(Resumed::default());
    sim.play();
    assert_eq!(sim.numbers(), [1, 1]);
    assert_eq!(sim.end(), (Complete, 0, 1));
}

#[test]
fn an_interrupted_agent_that_is_refused_does_not_wait() {
    let refused = Turn { refusals: vec![limited(None)], ..turn(Agent::Claims) };
    let sim = play(World { knocks: vec![(1, Knock::Interrupt)], ..World::new(policy(), vec![refused]) });
    assert_eq!(sim.end(), (Interrupted, 130, 0));
    assert!(sim.waits().is_empty());
}

#[test]
fn p12_the_wall_time_ends_a_running_iteration_and_says_so() {
    let mut limited = policy();
    limited.limits.wall = Millis::from_secs(90);
    let sim = play(World::new(limited, turns(&[Agent::Works])));
    assert_eq!(sim.end(), (MaxWallTime, 4, 1));
    assert_eq!(sim.outcome().message, "the wall time of 1m30s is used up");
    assert_eq!(sim.outcome().next[0], "ralph resume r1 --max-wall-time 3m");
    assert_eq!(sim.ended(), 1);
    let up = sim.journal.iter().find(|entry| entry.event == Event::WallTimeUp).unwrap();
    assert_eq!(up.elapsed, Millis::from_secs(90));
}

#[test]
fn p12_the_wall_time_ends_a_running_check_which_a_raised_one_executes_again() {
    let mut world = world(&[]);
    world.policy.limits.wall = Millis(61_500);
    world.resumes = vec![Resumed { wall: Some(Millis::from_secs(120)), ..Resumed::default() }];
    let sim = play(world);
    assert_eq!(sim.checked(), ["a", "b", "a", "b"]);
    assert_eq!(sim.numbers(), [1]);
    assert_eq!(sim.end(), (Complete, 0, 1));
}

#[test]
fn the_first_cause_that_does_not_wait_names_the_end() {
    let mut world = world(&[(1, Knock::Interrupt)]);
    world.policy.limits.wall = Millis::from_secs(30);
    assert_eq!(play(world.clone()).end(), (MaxWallTime, 4, 0), "the agent was to finish, but the time is up");
    world.knocks = vec![(1, Knock::Cancel)];
    assert_eq!(play(world).end(), (Cancelled, 130, 0));
}

#[test]
fn resuming_a_complete_run_does_nothing() {
    let mut sim = play(world(&[]));
    let last = sim.journal.last().unwrap().clone();
    let resumed = Event::Resumed(Box::new(Resumed { max_iterations: Some(99), ..Resumed::default() }));
    let step = sim.run.step(&Entry { seq: last.seq + 1, event: resumed, ..last });
    assert_eq!(step, RunStep::telling([unexpected("resumed", "ended")]));
    assert!(sim.run.is_complete());
    assert_eq!(sim.run.policy().limits.max_iterations, 10);
}

#[test]
fn e03_a_crash_in_each_of_ten_resumes_changes_nothing() {
    let refused = Turn { refusals: vec![limited(None)], ..turn(Agent::Fails) };
    let mut world = world(&[]);
    world.turns = vec![turn(Agent::Fails), refused, turn(Agent::Works), turn(Agent::Claims)];
    world.policy.limits.stall_after = 3;
    let whole = play(world.clone());
    assert_eq!(whole.end(), (Complete, 0, 4));
    for length in 1..whole.journal.len() {
        let mut sim = Sim::cut(world.clone(), &whole.journal[..length]);
        for _ in 0..10 {
            sim.resume(Resumed::default());
        }
        sim.play();
        assert_eq!(sim.end(), whole.end(), "cut behind entry {length}");
        assert!(sim.outcome().verified());
    }
}

#[test]
fn e03_crashes_do_not_outrun_the_limit_of_failures() {
    let world = World::new(policy(), turns(&[Agent::Fails]));
    let mut sim = Sim::new(world.clone());
    let mut crashes = 0;
    while sim.run.outcome().is_none() {
        sim.tick();
        if sim.run.outcome().is_none() {
            sim = Sim::cut(world.clone(), &sim.journal);
            sim.resume(Resumed::default());
            sim.tick();
            crashes += 1;
        }
    }
    assert!(crashes > 2);
    assert_eq!(sim.end(), (Error, 5, 3));
}

#[test]
fn a_resume_after_an_end_begins_every_row_anew() {
    let again = |policy, turn| play(World { resumes: vec![Resumed::default()], ..World::new(policy, vec![turn]) });
    assert_eq!(again(policy(), turn(Agent::Fails)).end(), (Error, 5, 6));

    let mut stalling = policy();
    stalling.limits.stall_after = 2;
    assert_eq!(again(stalling, turn(Agent::Works)).end(), (Stalled, 7, 5), "one that changed something, two and two");

    let refused = again(policy(), Turn { refusals: vec![transient(); 60], ..turn(Agent::Works) });
    assert_eq!(refused.end(), (Error, 5, 0));
    assert_eq!(refused.waits().len(), 24 + 24);
    assert!(refused.waits()[24] < 10_000, "the waits begin small again");
}

#[test]
fn a_crash_between_checks_repeats_all_of_them_and_not_the_agent() {
    let whole = play(world(&[]));
    // Started, inputs, agent, look, `a`: the crash comes while `b` runs.
    let mut sim = Sim::cut(world(&[]), &whole.journal[..5]);
    sim.resume(Resumed::default());
    sim.play();
    assert_eq!(sim.numbers(), [0; 0]);
    assert_eq!(sim.checked(), ["a", "b"]);
    assert_eq!(sim.end(), (Complete, 0, 1));
}

#[test]
fn a_person_who_edits_files_between_the_checks_makes_all_of_them_run_again() {
    let whole = play(world(&[]));
    let mut sim = Sim::cut(world(&[]), &whole.journal[..5]);
    sim.world.turns[0].looks = vec![crate::sim::Look::Files(1), crate::sim::Look::Files(2)];
    sim.resume(Resumed::default());
    sim.play();
    assert_eq!(sim.checked(), ["a", "b", "a", "b"]);
    assert_eq!(sim.end(), (Complete, 0, 1));
}
