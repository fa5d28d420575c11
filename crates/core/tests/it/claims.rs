//! The agent claims; ralph checks. What a claim is worth, and what happens to a false one.

use crate::sim::{Agent, FAIL, Look, PASS, Sim, Turn, World, guardrails, play, policy, turn, turns};
use ralph_core::activity::{Act, Activity};
use ralph_core::check::CheckEnding;
use ralph_core::event::Resumed;
use ralph_core::notice::Notice;
use ralph_core::observation::{Ending, Failure, FailureClass, Marker, StartFault};
use ralph_core::outcome::StopReason::*;
use ralph_core::policy::Policy;
use ralph_core::time::Millis;

fn checked(commands: &[&str], turns: Vec<Turn>) -> World {
    let mut policy = Policy { guardrails: guardrails(commands), ..policy() };
    policy.limits.max_iterations = 2;
    World::new(policy, turns)
}

fn looks(sim: &Sim) -> usize {
    sim.started(|activity| matches!(activity, Activity::LookAtTree(_)))
}

#[test]
fn c09_the_done_file_is_a_claim_like_any_other() {
    let done = |agent, check| Turn { marker: Marker::Present, checks: vec![check], ..turn(agent) };
    let table = [
        ("judged true, it stays", done(Agent::Works, PASS), (Complete, 0, 1), 0),
        ("judged false, it is removed", done(Agent::Works, FAIL), (MaxIterations, 1, 2), 2),
        ("of an agent that failed, it is removed", done(Agent::Fails, PASS), (MaxIterations, 1, 2), 2),
        ("beside a blocked claim, it is removed", done(Agent::Blocked("no key"), PASS), (Blocked, 3, 1), 1),
    ];
    for (name, turn, end, removed) in table {
        let sim = play(checked(&["a"], vec![turn]));
        assert_eq!(sim.end(), end, "{name}");
        assert_eq!(sim.acts(&Act::RemoveDone), removed, "{name}");
    }
}

#[test]
fn only_an_agent_that_came_to_its_own_end_has_claimed_anything() {
    let limit = Millis::from_secs(1);
    let failed = |class| Some(Failure::new(class, "it failed"));
    let table = [
        (Ending::Exited { code: 0 }, None, true),
        (Ending::Lingered, None, true),
        (Ending::Exited { code: 0 }, failed(FailureClass::Other), false),
        (Ending::Exited { code: 1 }, failed(FailureClass::Other), false),
        // A dialect that saw a fine stream does not make these fine.
        (Ending::Signalled { signal: 11 }, None, false),
        (Ending::TimedOut { limit }, None, false),
        (Ending::Idle { limit }, None, false),
        (Ending::Stopped, None, false),
        (Ending::KeeperLost, None, false),
        (Ending::NotStarted { reason: "not found".to_owned(), fault: Default::default() }, None, false),
    ];
    for (ending, failure, counts) in table {
        for marker in [Marker::Absent, Marker::Present] {
            let mut sim = Sim::new(World::new(policy(), turns(&[Agent::Works])));
            sim.tick();
            let mut seen = crate::sim::observation(&Agent::Claims, ending.clone());
            seen.failure.clone_from(&failure);
            seen.marker = marker;
            sim.answer_with(ralph_core::event::Event::AgentEnded(Box::new(seen)));
            assert_eq!(sim.run.is_complete(), counts, "{ending:?} {failure:?}");
        }
    }
}

#[test]
fn every_check_runs_after_every_iteration_even_behind_a_red_one() {
    let sim = play(checked(&["a", "b"], vec![Turn { checks: vec![FAIL, PASS], ..turn(Agent::Works) }]));
    assert_eq!(sim.checked(), ["a", "b", "a", "b"]);
    let failing = play(checked(&["a", "b"], turns(&[Agent::Fails])));
    assert_eq!(failing.checked(), ["a", "b", "a", "b"]);
}

#[test]
fn the_tree_is_looked_at_only_where_it_decides_something() {
    let claims = || turns(&[Agent::Claims]);
    let table = [
        ("no check, no stall: never", checked(&[], claims()), 0),
        ("a claim: before and after the checks", checked(&["a"], claims()), 2),
        (
            "a claim that a check refutes: before",
            checked(&["a"], vec![Turn { checks: vec![FAIL], ..turn(Agent::Claims) }]),
            2,
        ),
        ("no claim: before, in both iterations", checked(&["a"], turns(&[Agent::Works])), 2),
    ];
    for (name, world, expected) in table {
        assert_eq!(looks(&play(world)), expected, "{name}");
    }
    // A stall needs the tree before the first iteration too.
    let mut world = checked(&[], turns(&[Agent::Works]));
    world.policy.limits.stall_after = 5;
    assert_eq!(looks(&play(world)), 3);
}

#[test]
fn a_check_that_the_machine_cannot_start_ends_the_run_and_judges_nothing() {
    for (fault, code) in [(StartFault::Machine, 74), (StartFault::Folder, 2)] {
        let ending = CheckEnding::NotStarted { reason: "no processes are left".to_owned(), fault };
        let broken = Turn { checks: vec![PASS, ending], ..turn(Agent::Claims) };
        let mut sim = play(checked(&["a", "b"], vec![broken]));
        assert_eq!(sim.end(), (Error, code, 0), "{fault:?}");
        assert!(sim.outcome().message.contains("\"b\" could not be started: no processes are left"));
        assert!(sim.told_iterations().is_empty(), "the iteration is not judged");
        sim.world.turns[0].checks = vec![PASS];
        sim.resume(Resumed::default());
        sim.play();
        assert_eq!(sim.end(), (Complete, 0, 1), "{fault:?}: the checks are executed again, and no agent");
        assert_eq!(sim.launches().len(), 1);
    }
}

#[test]
fn a_look_that_only_tells_what_changed_holds_nobody_up() {
    let seconds = Millis::from_secs;
    for (guardrails, limit, after, before) in [
        (&["a"][..], seconds(600), seconds(600), seconds(5)),
        (&["a"], Millis::ZERO, Millis::ZERO, seconds(5)),
        (&[], seconds(600), seconds(5), seconds(5)),
        (&[], Millis::ZERO, seconds(5), seconds(5)),
        (&[], seconds(1), seconds(1), seconds(1)),
    ] {
        let mut policy = checked(guardrails, Vec::new()).policy;
        policy.verify.tree_timeout = limit;
        assert_eq!((policy.tree_patience(), policy.patience_for_memory()), (after, before), "{guardrails:?} {limit}");
    }
}

#[test]
fn j07_files_that_change_under_the_checks_are_checked_again_up_to_three_rounds() {
    use Look::{Committed, Files, Unknown};
    let moving = |looks: &[Look]| vec![Turn { looks: looks.to_vec(), ..turn(Agent::Claims) }, turn(Agent::Works)];
    let table: Vec<(&str, Vec<Look>, usize, bool)> = vec![
        ("they stand still", vec![Files(1)], 1, true),
        ("a formatter changes them once", vec![Files(1), Files(2)], 2, true),
        ("twice", vec![Files(1), Files(2), Files(3)], 3, true),
        ("they never come to rest", vec![Files(1), Files(2), Files(3), Files(4), Files(4)], 3, false),
        ("a check commits", vec![Files(1), Committed(1, 1)], 2, true),
        ("they cannot be seen", vec![Unknown], 1, true),
        ("they vanish from sight and are checked unseen", vec![Files(1), Unknown], 2, true),
        ("they come in sight", vec![Unknown, Files(1)], 2, true),
    ];
    for (name, looks, rounds, complete) in table {
        let sim = play(checked(&["a", "b"], moving(&looks)));
        let in_first = if complete { sim.checked().len() } else { sim.checked().len() - 2 };
        assert_eq!(in_first, rounds * 2, "{name}");
        assert_eq!(sim.end().0, if complete { Complete } else { MaxIterations }, "{name}");
        assert_eq!(sim.outcome().verified(), complete, "{name}");
        let again = sim.notes().into_iter().filter(|text| text.contains("checking again")).count();
        assert_eq!(again, rounds - 1, "{name}");
        if !complete {
            let reasons = &sim.told_iterations()[0].1;
            assert_eq!(
                reasons[0],
                "files kept changing while the checks ran, so no check speaks for them; if a check writes them, or ralph's own output goes there, let git ignore them"
            );
        }
    }
}

#[test]
fn a_check_that_turns_red_in_the_second_round_refutes_the_claim() {
    let moved = Turn { looks: vec![Look::Files(1), Look::Files(2)], checks: vec![PASS, FAIL], ..turn(Agent::Claims) };
    let mut world = checked(&["a"], vec![moved]);
    world.policy.limits.max_iterations = 1;
    let sim = play(world);
    assert_eq!(sim.checked(), ["a", "a"]);
    assert_eq!(sim.end(), (MaxIterations, 1, 1));
}

#[test]
fn j06_a_check_that_cannot_run_has_not_passed_and_is_told_as_such() {
    let limit = Millis::from_secs(60);
    let table = [
        (CheckEnding::Exited { code: 2 }, "failed with exit code 2"),
        (CheckEnding::Exited { code: 127 }, "could not run: command not found (exit code 127)"),
        (CheckEnding::Exited { code: 126 }, "could not run: not executable (exit code 126)"),
        (CheckEnding::Signalled { signal: 9 }, "was killed by signal 9"),
        (CheckEnding::TimedOut { limit }, "timed out after 1m00s"),
        (
            CheckEnding::NotStarted { reason: "no shell".to_owned(), fault: Default::default() },
            "could not run: no shell",
        ),
    ];
    for (ending, problem) in table {
        let sim = play(checked(&["make test"], vec![Turn { checks: vec![ending], ..turn(Agent::Claims) }]));
        assert_eq!(sim.end(), (MaxIterations, 1, 2));
        assert_eq!(
            sim.prompts()[1],
            format!(
                "Fix the login.\n\nGuardrail \"make test\" {problem}.\n\
                 Output file: .ralph/guardrail_001_make_test.log\nOutput (truncated):\nout1\n"
            )
        );
        let reason = format!("guardrail \"make test\" {problem} (see .ralph/guardrail_001_make_test.log)");
        assert_eq!(sim.told_iterations()[0], (1, vec![reason]));
        assert_eq!(sim.run.row().last_check, Some(("make test".to_owned(), false)));
    }
}

#[test]
fn a_guardrail_that_ran_no_test_has_not_passed() {
    let mut sim = Sim::new(checked(&["make test"], turns(&[Agent::Claims])));
    while !matches!(sim.running(), Some(Activity::Check(..))) {
        sim.tick();
    }
    let Some(Activity::Check(spec, _)) = sim.running().cloned() else { panic!() };
    let mut report = crate::sim::report(&spec, PASS);
    report.empty = true;
    sim.answer_with(ralph_core::event::Event::CheckEnded(Box::new(report)));
    assert_eq!(sim.run.row().last_check, Some(("make test".to_owned(), false)));
    sim.play();
    let reason = "guardrail \"make test\" ran no test (see .ralph/guardrail_001_make_test.log)";
    assert_eq!(sim.told_iterations()[0], (1, vec![reason.to_owned()]));
    assert!(sim.prompts()[1].contains("Guardrail \"make test\" ran no test."));
}

#[test]
fn the_last_check_is_the_last_one_that_was_told() {
    let mut world = checked(&["make test"], turns(&[Agent::Claims]));
    world.policy.criteria.passing_tests = true;
    let sim = play(world);
    let told = sim.told(|notice| match notice {
        Notice::CheckFinished { name, passed, .. } => Some((name.clone(), *passed)),
        _ => None,
    });
    assert_eq!(told[..2], [("make test".to_owned(), true), ("tests".to_owned(), false)]);
    assert_eq!(sim.run.row().last_check, told.last().cloned());
}

#[test]
fn a_check_that_ralph_ended_is_not_red_but_executed_again() {
    let mut world = checked(&["a"], turns(&[Agent::Claims]));
    world.knocks = vec![(3, crate::sim::Knock::Cancel)];
    world.resumes = vec![Resumed::default()];
    let sim = play(world);
    let told = sim.told(|notice| if let Notice::CheckFinished { passed, .. } = notice { Some(*passed) } else { None });
    assert_eq!(told, [true]);
    assert_eq!(sim.end(), (Complete, 0, 1));
}

#[test]
fn processes_that_were_left_behind_are_told() {
    let mut sim = Sim::new(checked(&["a"], turns(&[Agent::Works])));
    sim.tick();
    let mut seen = crate::sim::observation(&Agent::Works, Ending::Exited { code: 0 });
    seen.process.leaked_count = 2;
    seen.process.leaked = vec![ralph_core::observation::Leaked { pid: 7, command: "sleep 60".to_owned() }];
    sim.answer_with(ralph_core::event::Event::AgentEnded(Box::new(seen)));
    assert_eq!(sim.notes(), ["the agent left 2 processes behind, ended now: sleep 60"]);
    sim.tick();
    let Some(Activity::Check(spec, _)) = sim.running().cloned() else { panic!() };
    let mut report = crate::sim::report(&spec, PASS);
    report.leaked = 3;
    sim.answer_with(ralph_core::event::Event::CheckEnded(Box::new(report)));
    assert_eq!(sim.notes()[1], "guardrail \"a\" left processes behind, ended now: 3");
}
