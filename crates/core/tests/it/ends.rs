//! How runs end: reason, exit code, iterations that count, and what is left to say.

use crate::sim::{Agent, FAIL, Look, Sim, Turn, World, guardrails, play, policy, turn, turns};
use ralph_core::check::CheckEnding;
use ralph_core::event::Resumed;
use ralph_core::observation::Marker;
use ralph_core::outcome::StopReason::{self, *};
use ralph_core::policy::{Passes, Policy};
use ralph_core::time::{Millis, WallTime};

fn with(change: impl FnOnce(&mut Policy)) -> Policy {
    let mut policy = policy();
    change(&mut policy);
    policy
}

fn at_most(iterations: u32) -> Policy {
    with(|policy| policy.limits.max_iterations = iterations)
}

fn checked(commands: &[&str]) -> Policy {
    with(|policy| policy.guardrails = guardrails(commands))
}

fn single(commands: &[&str]) -> Policy {
    with(|policy| {
        policy.passes = Passes::Single;
        policy.guardrails = guardrails(commands);
    })
}

/// A reason, an exit code and the iterations that count.
type End = (StopReason, u8, u32);

#[test]
fn every_way_to_end_has_its_reason_and_code() {
    use Agent::{CannotRun, Claims, Fails, Killed, NotStarted, TimesOut, Works};
    use ralph_core::observation::StartFault::{Folder, Machine};
    let blocked = || Agent::Blocked("no key");
    let gone = Turn { base: Some(Err("prompt.md is gone".to_owned())), ..turn(Works) };
    let not_a_file = Turn { marker: Marker::WrongKind("directory".to_owned()), ..turn(Claims) };
    let done_and_blocked = Turn { marker: Marker::Present, ..turn(blocked()) };
    let red = |agent| Turn { checks: vec![FAIL], ..turn(agent) };
    let table: Vec<(&str, Policy, Vec<Turn>, End)> = vec![
        ("a claim without checks", policy(), turns(&[Works, Claims]), (Complete, 0, 2)),
        ("a claim with checks", checked(&["a", "b"]), turns(&[Works, Claims]), (Complete, 0, 2)),
        ("nothing but work", at_most(3), turns(&[Works]), (MaxIterations, 1, 3)),
        ("false claims", with(|p| p.guardrails = guardrails(&["a"])), vec![red(Claims)], (MaxIterations, 1, 10)),
        ("a person is needed", policy(), turns(&[Works, blocked()]), (Blocked, 3, 2)),
        ("blocked wins over DONE", checked(&["a"]), vec![done_and_blocked], (Blocked, 3, 1)),
        ("no agent", policy(), turns(&[CannotRun]), (Error, 5, 0)),
        ("no agent any more", policy(), turns(&[Works, CannotRun]), (Error, 5, 1)),
        ("no folder any more", policy(), turns(&[Works, NotStarted(Folder)]), (Error, 2, 1)),
        ("no descriptors left", policy(), turns(&[Works, NotStarted(Machine)]), (Error, 74, 1)),
        ("three failures in a row", policy(), turns(&[Works, Fails, TimesOut, Killed]), (Error, 5, 4)),
        ("a success between", at_most(6), turns(&[Fails, Fails, Works, Fails, Fails, Works]), (MaxIterations, 1, 6)),
        (
            "failures without end",
            with(|p| p.limits.max_consecutive_failures = 0),
            turns(&[Fails]),
            (MaxIterations, 1, 10),
        ),
        ("a single pass", single(&[]), turns(&[Works]), (SinglePass, 0, 1)),
        ("a single pass with a green check", single(&["a"]), turns(&[Works]), (SinglePass, 0, 1)),
        ("a single pass that fails", single(&[]), turns(&[Fails]), (SinglePass, 1, 1)),
        ("a single pass with a red check", single(&["a"]), vec![red(Works)], (SinglePass, 1, 1)),
        ("a single pass with a false claim", single(&["a"]), vec![red(Claims)], (SinglePass, 1, 1)),
        ("a single pass that earns it", single(&["a"]), turns(&[Claims]), (Complete, 0, 1)),
        ("a single pass that is blocked", single(&[]), turns(&[blocked()]), (Blocked, 3, 1)),
        ("no prompt", policy(), vec![gone.clone()], (Error, 2, 0)),
        ("no prompt any more", policy(), vec![turn(Works), gone], (Error, 2, 1)),
        ("DONE of the wrong kind", policy(), vec![turn(Works), not_a_file], (Error, 2, 1)),
    ];
    for (name, policy, turns, end) in table {
        assert_eq!(play(World::new(policy, turns)).end(), end, "{name}");
    }
}

#[test]
fn only_an_executed_check_makes_a_completion_verified() {
    let word = play(World::new(policy(), turns(&[Agent::Claims])));
    assert!(!word.outcome().verified());
    assert_eq!(word.outcome().message, "claimed, not verified, after 1 iteration: no check was configured");
    assert_eq!(word.outcome().next, ["ralph explain r1"]);

    let checked = play(World::new(checked(&["a"]), turns(&[Agent::Works, Agent::Claims])));
    assert!(checked.outcome().verified());
    assert_eq!(checked.outcome().message, "complete and verified after 2 iterations");
    assert_eq!(checked.outcome().next, ["ralph show r1"]);
}

#[test]
fn an_end_says_what_to_type_next() {
    let table: [(Policy, Agent, &str, &str); 6] = [
        (at_most(4), Agent::Works, "4 iterations used up, and the task is not complete", "ralph resume r1 -m 8"),
        (
            policy(),
            Agent::Blocked("no key"),
            "the agent is blocked: no key",
            "echo 'your answer' >> '/project/.ralph/tasks/fix-login/ralph-feedback.md' && ralph resume r1",
        ),
        (
            policy(),
            Agent::Blocked("Blocked"),
            "the agent is blocked and gave no reason",
            "echo 'your answer' >> '/project/.ralph/tasks/fix-login/ralph-feedback.md' && ralph resume r1",
        ),
        (policy(), Agent::CannotRun, "agent: not found", "ralph resume r1"),
        (at_most(1), Agent::CannotRun, "agent: not found", "ralph resume r1"),
        (policy(), Agent::Fails, "the agent failed 3 times in a row: exit code 1", "ralph explain r1"),
    ];
    for (policy, agent, message, next) in table {
        let sim = play(World::new(policy, vec![turn(agent)]));
        assert_eq!(sim.outcome().message, message);
        assert_eq!(sim.outcome().next[0], next);
    }
}

#[test]
fn what_to_type_next_can_be_typed_whatever_the_path_holds() {
    let mut policy = policy();
    policy.memory.feedback_file = "it's.md".to_owned();
    let sim = play(World::new(policy, vec![turn(Agent::Blocked("no key"))]));
    assert_eq!(
        sim.outcome().next[0],
        r"echo 'your answer' >> '/project/.ralph/tasks/fix-login/it'\''s.md' && ralph resume r1"
    );
}

#[test]
fn a_prompt_file_that_is_gone_burns_nothing_and_the_number_comes_again() {
    let gone = Turn { base: Some(Err("prompt.md is gone".to_owned())), ..turn(Agent::Works) };
    let mut sim = play(World::new(policy(), vec![turn(Agent::Works), gone, turn(Agent::Claims)]));
    assert_eq!(sim.end(), (Error, 2, 1));
    assert_eq!(sim.outcome().message, "prompt.md is gone");
    assert_eq!(sim.numbers(), [1]);

    sim.world.turns[1].base = Some(Ok("Fix it.".to_owned()));
    sim.resume(Resumed::default());
    sim.play();
    assert_eq!(sim.numbers(), [1, 2, 3]);
    assert_eq!(sim.prompts()[1], "Fix it.\n");
    assert_eq!(sim.end(), (Complete, 0, 3));
}

#[test]
fn c08_after_a_done_of_the_wrong_kind_the_iteration_is_judged_on_resume() {
    let not_a_file = Turn { marker: Marker::WrongKind("directory".to_owned()), ..turn(Agent::Claims) };
    let mut sim = play(World::new(checked(&["a"]), vec![not_a_file]));
    assert_eq!(sim.end(), (Error, 2, 0));
    assert_eq!(
        sim.outcome().message,
        "/project/.ralph/tasks/fix-login/DONE is a directory, not a file; remove it and resume"
    );
    sim.resume(Resumed::default());
    sim.play();
    assert_eq!(sim.numbers(), [1], "nothing is asked of the agent again");
    assert_eq!(sim.end(), (Complete, 0, 1));
}

/// Turns whose looks at the tree are these, one for each.
fn seen_as(looks: &[Look]) -> Vec<Turn> {
    looks.iter().map(|look| Turn { looks: vec![*look], ..turn(Agent::Works) }).collect()
}

#[test]
fn a_run_stalls_when_nothing_changes_for_too_long() {
    use Look::*;
    let red = |code| Turn { checks: vec![CheckEnding::Exited { code }], ..turn(Agent::Works) };
    let mut heard = seen_as(&[Files(1)]);
    heard.push(Turn { human: "try harder", ..heard[0].clone() });
    heard.push(heard[0].clone());
    type Row = (&'static str, &'static [&'static str], Look, Vec<Turn>, End);
    let table: Vec<Row> = vec![
        ("nothing from the beginning", &[], Files(1), seen_as(&[Files(1)]), (Stalled, 7, 2)),
        ("a change, then nothing", &[], Files(0), seen_as(&[Files(1)]), (Stalled, 7, 3)),
        ("a change between", &[], Files(1), seen_as(&[Files(1), Files(2)]), (Stalled, 7, 4)),
        (
            "an agent that commits",
            &[],
            Files(1),
            seen_as(&[Committed(1, 1), Committed(1, 2), Committed(1, 3), Committed(1, 4), Committed(1, 5)]),
            (MaxIterations, 1, 5),
        ),
        ("a tree that cannot be seen", &[], Unknown, seen_as(&[Unknown]), (MaxIterations, 1, 5)),
        ("a tree that is seen only once", &[], Files(1), seen_as(&[Unknown]), (MaxIterations, 1, 5)),
        ("words of a person", &[], Files(1), heard, (Stalled, 7, 4)),
        ("the same check fails", &["a"], Files(1), vec![red(1)], (Stalled, 7, 2)),
        (
            "a check fails in another way",
            &["a"],
            Files(1),
            vec![red(1), red(2), red(3), red(4), red(5)],
            (MaxIterations, 1, 5),
        ),
    ];
    for (name, commands, baseline, turns, end) in table {
        let mut policy = checked(commands);
        policy.limits.stall_after = 2;
        policy.limits.max_iterations = 5;
        policy.memory.enabled = true;
        let sim = play(World { baseline, ..World::new(policy, turns) });
        assert_eq!(sim.end(), end, "{name}");
    }
}

#[test]
fn a_stall_names_what_still_fails() {
    let red = Turn { checks: vec![FAIL], ..turn(Agent::Claims) };
    let mut policy = checked(&["make test"]);
    policy.limits.stall_after = 3;
    let sim = play(World::new(policy, vec![red]));
    assert_eq!(
        sim.outcome().message,
        "nothing changed in 3 iterations; still failing: make test failed with exit code 1"
    );
}

#[test]
fn an_interrupt_before_the_first_iteration_does_not_lose_the_baseline() {
    let mut policy = policy();
    policy.limits.stall_after = 1;
    let mut world = World { baseline: Look::Files(1), ..World::new(policy, seen_as(&[Look::Files(1)])) };
    world.knocks = vec![(0, crate::sim::Knock::Interrupt)];
    world.resumes = vec![Resumed::default()];
    assert_eq!(play(world).end(), (Stalled, 7, 1));
}

#[test]
fn p12_no_agent_starts_past_a_budget_and_a_running_one_is_ended() {
    let priced = |cost_usd, tokens| vec![Turn { cost_usd, tokens, ..turn(Agent::Works) }];
    let money = |most| with(|policy| policy.limits.max_cost_usd = most);
    let tokens = |most| with(|policy| policy.limits.max_tokens = most);
    let table = [
        // Exactly used up: the next one does not start.
        (money(1.0), priced(0.5, 0), (Budget, 4, 2), "the budget of $1.00 is used up ($1.00 spent)", 0),
        (money(1e-6), priced(5e-7, 0), (Budget, 4, 2), "the budget of $0.000001 is used up ($0.000001 spent)", 0),
        (tokens(200), priced(0.0, 100), (Budget, 4, 2), "the budget of 200 tokens is used up (200 spent)", 0),
        // Passed while the agent runs: it is ended, and what it spent counts.
        (money(1.0), priced(0.7, 0), (Budget, 4, 1), "the budget of $1.00 is used up ($1.40 spent)", 1),
        (tokens(150), priced(0.0, 100), (Budget, 4, 1), "the budget of 150 tokens is used up (200 spent)", 1),
    ];
    for (policy, turns, end, message, ended) in table {
        let sim = play(World::new(policy, turns));
        assert_eq!(sim.end(), end);
        assert_eq!(sim.outcome().message, message);
        assert_eq!(sim.ended(), ended);
    }
    let sim = play(World::new(money(1.0), priced(0.7, 0)));
    let left: Vec<f64> = sim.launches().iter().map(|launch| launch.limits.cost_left).collect();
    assert_eq!(left[0], 1.0);
    assert!((left[1] - 0.3).abs() < 1e-9);
    assert_eq!(sim.outcome().next[0], "ralph resume r1 --max-cost 2.80");
    // Every limit that is used up is raised, and no other.
    let both = with(|policy| (policy.limits.max_cost_usd, policy.limits.max_tokens) = (100.0, 200));
    let sim = play(World::new(both, priced(0.5, 100)));
    assert_eq!(sim.outcome().next[0], "ralph resume r1 --max-tokens 400");
    let both = with(|policy| (policy.limits.max_cost_usd, policy.limits.max_iterations) = (1.0, 2));
    let sim = play(World::new(both, priced(0.5, 100)));
    assert_eq!((sim.end().0, sim.outcome().next[0].as_str()), (MaxIterations, "ralph resume r1 -m 4 --max-cost 2.00"));
}

#[test]
fn p12_what_a_refused_or_stopped_agent_spent_counts_too() {
    let mut seen = Turn { cost_usd: 0.6, ..turn(Agent::Works) };
    seen.takes = Millis::from_secs(100);
    let mut policy = with(|policy| policy.limits.max_cost_usd = 1.0);
    policy.limits.wall = Millis::from_secs(90);
    let more = Resumed { wall: Some(Millis::from_secs(1000)), ..Resumed::default() };
    let sim = play(World { resumes: vec![more], ..World::new(policy, vec![seen]) });
    assert_eq!(sim.end().0, Budget);
    assert_eq!(sim.outcome().cost_usd, Some(1.2));
}

#[test]
fn p12_no_agent_starts_when_the_time_is_up() {
    // The agent's minute ends exactly with the wall time, so nothing has to be ended.
    let policy = with(|policy| policy.limits.wall = Millis(60_005));
    let sim = play(World::new(policy, turns(&[Agent::Works])));
    assert_eq!(sim.end(), (MaxWallTime, 4, 1));
    assert_eq!(sim.run.iteration(), 1, "the second iteration was never in");
    assert_eq!(sim.told_iterations(), [(1, vec!["completion was not claimed".to_owned()])]);

    // Reading the inputs used up the rest.
    let policy = with(|policy| policy.limits.wall = Millis(60_010));
    let sim = play(World::new(policy, turns(&[Agent::Works])));
    assert_eq!(sim.end(), (MaxWallTime, 4, 1));
    assert_eq!(sim.numbers(), [1]);
}

#[test]
fn raised_limits_let_a_run_go_on_where_it_ended() {
    let more = |change: fn(&mut Resumed)| {
        let mut resumed = Resumed::default();
        change(&mut resumed);
        resumed
    };
    let costly = |policy| World::new(policy, vec![Turn { cost_usd: 1.0, tokens: 100, ..turn(Agent::Works) }]);
    let table: Vec<(World, Resumed, &[u32], End)> = vec![
        // Without a raise it ends again at once.
        (costly(at_most(2)), Resumed::default(), &[1, 2], (MaxIterations, 1, 2)),
        (costly(at_most(2)), more(|r| r.max_iterations = Some(4)), &[1, 2, 3, 4], (MaxIterations, 1, 4)),
        // A lowered one is a cap too.
        (costly(at_most(4)), more(|r| r.max_iterations = Some(2)), &[1, 2, 3, 4], (MaxIterations, 1, 4)),
        (
            costly(with(|p| p.limits.max_cost_usd = 2.0)),
            more(|r| r.max_cost_usd = Some(3.0)),
            &[1, 2, 3],
            (Budget, 4, 3),
        ),
        (costly(with(|p| p.limits.max_tokens = 200)), more(|r| r.max_tokens = Some(300)), &[1, 2, 3], (Budget, 4, 3)),
        // The wall time ended the second iteration while it ran, so that number comes again.
        (
            costly(with(|p| p.limits.wall = Millis::from_secs(90))),
            more(|r| r.wall = Some(Millis::from_secs(160))),
            &[1, 2, 2, 3],
            (MaxWallTime, 4, 2),
        ),
    ];
    for (mut world, resumed, numbers, end) in table {
        world.resumes = vec![resumed];
        let sim = play(world);
        assert_eq!(sim.numbers(), numbers);
        assert_eq!(sim.end(), end);
    }
}

#[test]
fn p12_a_cap_that_was_lowered_holds_for_a_repeated_number_too() {
    let mut policy = at_most(5);
    policy.limits.wall = Millis::from_secs(150);
    let lowered = Resumed { max_iterations: Some(2), wall: Some(Millis::ZERO), ..Resumed::default() };
    let sim = play(World { resumes: vec![lowered], ..World::new(policy, turns(&[Agent::Works])) });
    assert_eq!(sim.numbers(), [1, 2, 3], "the third was ended by the wall time and is not begun again");
    assert_eq!(sim.end(), (MaxIterations, 1, 2));
}

#[test]
fn resumed_timeouts_reach_the_next_agent() {
    let more =
        Resumed { max_iterations: Some(2), iteration: Some(Millis(7)), idle: Some(Millis(8)), ..Resumed::default() };
    let sim = play(World { resumes: vec![more], ..World::new(at_most(1), turns(&[Agent::Works])) });
    let timeouts: Vec<_> =
        sim.launches().iter().map(|launch| (launch.limits.timeout, launch.limits.idle, launch.limits.linger)).collect();
    let linger = Millis::from_secs(30);
    assert_eq!(timeouts, [(Millis::ZERO, Millis::ZERO, linger), (Millis(7), Millis(8), linger)]);
}

#[test]
fn a_row_is_the_run_at_a_glance() {
    let red = Turn { checks: vec![FAIL], cost_usd: 0.25, tokens: 10, ..turn(Agent::Claims) };
    let mut policy = checked(&["make test"]);
    policy.limits.max_iterations = 2;
    let mut sim = Sim::new(World::new(policy, vec![red]));

    let row = sim.run.row();
    assert_eq!((row.run.as_str(), row.task.as_str(), row.agent.as_str()), ("r1", "fix-login", "agent"));
    assert_eq!((row.kind.as_str(), row.parent.as_ref()), ("prompt", None));
    assert_eq!((row.stop_reason, row.exit_code, row.verified(), row.message.as_str()), (None, None, false, ""));
    assert_eq!((row.iteration, row.max_iterations, row.last_check), (1, 2, None));

    sim.play();
    let row = sim.run.row();
    let last = sim.journal.last().unwrap();
    assert_eq!((row.stop_reason, row.exit_code, row.verified()), (Some(MaxIterations), Some(1), false));
    assert_eq!(row.message, sim.outcome().message);
    assert_eq!((row.iteration, row.max_iterations), (2, 2));
    assert_eq!((row.started_at, row.updated_at), (WallTime(crate::sim::START), last.at));
    assert_eq!(row.elapsed, Some(last.elapsed));
    assert_eq!(row.last_check, Some(("make test".to_owned(), false)));
    assert_eq!((row.cost_usd, row.tokens.input), (Some(0.5), 20));

    // Resumed, it runs again: the old end is no longer its end.
    sim.resume(Resumed { max_iterations: Some(9), ..Resumed::default() });
    let row = sim.run.row();
    assert_eq!((row.stop_reason, row.exit_code, row.iteration, row.max_iterations), (None, None, 3, 9));
}
