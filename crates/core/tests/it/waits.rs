//! Limits and transient failures: the same iteration again, later, and never for ever by accident.

use crate::sim::{Agent, START, Sim, Turn, World, agent, limited, observation, play, policy, transient, turn};
use ralph_core::activity::Activity;
use ralph_core::event::{Entry, Event, Gathered, Resumed};
use ralph_core::machine::Next;
use ralph_core::notice::{Notice, VerdictWord};
use ralph_core::observation::{Ending, Failure};
use ralph_core::outcome::StopReason::*;
use ralph_core::run::Run;
use ralph_core::time::{Millis, WallTime};

fn refused_by(refusals: Vec<Failure>) -> World {
    World::new(policy(), vec![Turn { refusals, takes: Millis::from_secs(1), ..turn(Agent::Claims) }])
}

#[test]
fn i02_a_limit_waits_until_its_reset_and_a_minute() {
    let reset = START / 1000 + 3600;
    let sim = play(refused_by(vec![limited(Some(reset))]));
    let until = WallTime((reset + 60) * 1000);
    assert_eq!(sim.started(|activity| *activity == Activity::Wait { until }), 1);
    assert_eq!(sim.numbers(), [1, 1]);
    assert_eq!(sim.end(), (Complete, 0, 1), "a refused try counts as nothing");
    let told = sim.told(|notice| match notice {
        Notice::Waiting { iteration, until, why } => Some((*iteration, *until, why.clone())),
        _ => None,
    });
    assert_eq!(told, [(1, until, "usage limit reached".to_owned())]);
    let verdicts = sim.told(|notice| match notice {
        Notice::IterationFinished { verdict, .. } => Some(*verdict),
        _ => None,
    });
    assert_eq!(verdicts, [VerdictWord::Wait, VerdictWord::Stop]);
}

#[test]
fn what_was_refused_in_one_iteration_is_over_with_it() {
    let mut world = refused_by(vec![transient(); 20]);
    world.turns.insert(0, Turn { agent: Agent::Works, ..world.turns[0].clone() });
    let sim = play(world);
    assert_eq!(sim.end(), (Complete, 0, 2), "twenty refusals twice are not forty in a row");
    assert!(sim.waits()[19] >= 180_000 && sim.waits()[20] < 10_000, "the waits begin small again");
    let attempts = sim.told(|notice| match notice {
        Notice::IterationStarted { iteration, attempt, .. } => Some((*iteration, *attempt)),
        _ => None,
    });
    let expected = (1..=2).flat_map(|iteration| (1..=21).map(move |attempt| (iteration, attempt)));
    assert_eq!(attempts, expected.collect::<Vec<_>>());
}

#[test]
fn i01_without_a_reset_or_with_a_past_one_the_waits_double_from_ten_seconds_to_six_minutes() {
    let past = START / 1000 - 3600;
    for refusal in [limited(None), limited(Some(past)), limited(Some(i64::MIN)), transient()] {
        let sim = play(refused_by(vec![refusal; 9]));
        let longest = [10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 360_000, 360_000, 360_000];
        assert_eq!(sim.waits().len(), longest.len());
        for (wait, longest) in sim.waits().into_iter().zip(longest) {
            assert!((longest / 2..longest).contains(&wait), "{wait} of {longest}");
        }
        assert_eq!(sim.end(), (Complete, 0, 1));
    }
}

#[test]
fn waits_of_several_runs_are_spread_and_those_of_one_run_replay() {
    let first_wait = |run: &str| {
        let Entry { event: Event::Started(mut started), .. } = refused_by(Vec::new()).first_entry() else { panic!() };
        started.run = ralph_core::id::RunId::parse(run).unwrap();
        let entry = |seq, event| Entry { seq, at: WallTime(START), elapsed: Millis(seq), event };
        let (mut run, _) = Run::begin(&entry(1, Event::Started(started))).unwrap();
        let _ = run.step(&entry(2, gathered()));
        match run.step(&entry(3, refused(None))).next {
            Next::Start(Activity::Wait { until }) => until.0 - START,
            other => panic!("{other:?}"),
        }
    };
    let waits: std::collections::BTreeSet<i64> = (0..20).map(|run| first_wait(&format!("run-{run}"))).collect();
    assert!(waits.len() > 15, "{waits:?}");
    assert_eq!(first_wait("run-1"), first_wait("run-1"));
}

#[test]
fn i07_what_stays_transient_for_two_hours_ends_the_run() {
    let sim = play(refused_by(vec![transient(); 24]));
    assert_eq!(sim.end(), (Complete, 0, 1));
    let sim = play(refused_by(vec![transient(); 25]));
    assert_eq!(sim.end(), (Error, 5, 0));
    assert_eq!(sim.waits().len(), 24);
    assert_eq!(sim.outcome().message, "agent failed 25 times in a row: connection refused");
}

#[test]
fn i05_a_limit_is_waited_for_as_long_as_it_lasts_and_explains_no_transient_failure() {
    let mut refusals = vec![limited(None); 60];
    refusals.push(transient());
    refusals.push(limited(None));
    refusals.extend(vec![transient(); 24]);
    assert_eq!(play(refused_by(refusals)).end(), (Complete, 0, 1));
}

#[test]
fn e03_a_crash_does_not_begin_the_row_of_transient_failures_anew() {
    let world = refused_by(vec![transient(); 25]);
    let whole = play(world.clone());
    let mut sim = Sim::cut(world, &whole.journal[..whole.journal.len() - 2]);
    sim.resume(Resumed::default());
    sim.play();
    assert_eq!(sim.end(), (Error, 5, 0));
}

#[test]
fn p12_the_wall_time_ends_a_wait_and_that_is_told_before() {
    let mut world = refused_by(vec![limited(Some(START / 1000 + 7200))]);
    world.policy.limits.wall = Millis::from_secs(3600);
    let sim = play(world);
    assert_eq!(sim.end(), (MaxWallTime, 4, 0));
    assert_eq!((sim.waits().len(), sim.run.elapsed()), (1, Millis::from_secs(3600)));
    let notes = sim.notes();
    let advice = "interrupt it, then ralph resume r1 --max-wall-time 242m";
    assert!(notes.len() == 1 && notes[0].ends_with(advice), "{notes:?}");
}

#[test]
fn a_limit_is_not_waited_for_if_nobody_wants_that() {
    let mut world = refused_by(vec![limited(Some(START / 1000 + 7200))]);
    world.policy.limits.wait = false;
    let resumed = Resumed { wait: Some(true), ..Resumed::default() };
    let sim = play(World { resumes: vec![Resumed::default(), resumed], ..world });
    assert_eq!(sim.end(), (Complete, 0, 1), "the limit was over at the next try");
    let ends = sim.told(|notice| match notice {
        Notice::RunFinished { outcome, .. } => Some((outcome.exit_code, outcome.message.clone())),
        _ => None,
    });
    let times = sim.told(|notice| match notice {
        Notice::RunFinished { elapsed, .. } => Some(*elapsed),
        _ => None,
    });
    assert!(times.len() > 1 && times.is_sorted_by(|before, after| before < after), "a resume counts on: {times:?}");
    assert_eq!(
        ends[0],
        (5, "usage limit reached; not waited for, as --no-wait or limits.waitForReset says".to_owned())
    );
    assert_eq!(sim.numbers(), [1, 1]);
}

/// A world with two fallbacks.
fn with_fallbacks(turns: Vec<Turn>) -> World {
    let mut world = World::new(policy(), turns);
    world.policy.fallback = vec![agent("second"), agent("third")];
    world
}

fn who_worked(sim: &Sim) -> Vec<(u32, &str)> {
    sim.launches().iter().map(|launch| (launch.iteration, launch.agent.command.as_str())).collect()
}

#[test]
fn another_agent_goes_on_while_the_first_is_limited_and_the_first_comes_back() {
    let short = |agent| Turn { takes: Millis::from_secs(60), ..turn(agent) };
    let reset = START / 1000 + 200;
    let first = Turn { refusals: vec![limited(Some(reset))], ..short(Agent::Works) };
    let sim = play(with_fallbacks(vec![
        first,
        short(Agent::Works),
        short(Agent::Works),
        short(Agent::Works),
        short(Agent::Works),
        short(Agent::Claims),
    ]));
    // The limit and its minute are over 260 s after the start.
    let expected =
        [(1, "agent"), (1, "second"), (2, "second"), (3, "second"), (4, "second"), (5, "agent"), (6, "agent")];
    assert_eq!(who_worked(&sim), expected);
    assert!(sim.waits().is_empty());
    assert_eq!(sim.end(), (Complete, 0, 6));
    assert_eq!(sim.notes(), ["second goes on meanwhile", "agent may work again and goes on"]);
    let verdicts = sim.told(|notice| match notice {
        Notice::IterationFinished { verdict, .. } => Some(*verdict),
        _ => None,
    });
    assert_eq!(verdicts[0], VerdictWord::Retry);
}

#[test]
fn if_all_are_limited_the_wait_is_for_the_first_that_may_work() {
    let at = |seconds: i64| limited(Some(START / 1000 + seconds));
    let cannot = Failure::new(ralph_core::observation::FailureClass::CannotRun, "third: not found");
    let refusals = vec![at(7200), at(3600), cannot];
    let sim = play(with_fallbacks(vec![Turn { refusals, takes: Millis::from_secs(1), ..turn(Agent::Claims) }]));
    assert_eq!(who_worked(&sim), [(1, "agent"), (1, "second"), (1, "third"), (1, "second")]);
    assert_eq!(sim.waits().len(), 1);
    assert!((3_600_000..3_660_000).contains(&sim.waits()[0]));
    assert_eq!(sim.end(), (Complete, 0, 1), "a fallback that cannot run ends nothing");
}

fn gathered() -> Event {
    Event::Gathered(Gathered { base: None, summary: String::new(), human: String::new(), tree: None })
}

fn refused(resets_at: Option<i64>) -> Event {
    let mut seen = observation(&Agent::Works, Ending::Exited { code: 1 });
    seen.failure = Some(limited(resets_at));
    Event::AgentEnded(Box::new(seen))
}

#[test]
fn g05_no_reset_and_no_clock_overflows() {
    for at in [i64::MIN, -1, 0, START, i64::MAX - 1, i64::MAX] {
        // A reset and its minute may fall exactly on now, which is no time to wait.
        let now = START / 1000 - 60;
        for resets_at in [None, Some(i64::MIN), Some(-60), Some(0), Some(now), Some(i64::MAX / 1000), Some(i64::MAX)] {
            let mut first = refused_by(Vec::new()).first_entry();
            first.at = WallTime(at);
            let (mut run, _) = Run::begin(&first).unwrap();
            let entry = |seq, event| Entry { seq, at: WallTime(at), elapsed: Millis(seq), event };
            let _ = run.step(&entry(2, gathered()));
            let step = run.step(&entry(3, refused(resets_at)));
            let Next::Start(Activity::Wait { until }) = step.next else { panic!("{step:?}") };
            let wait = i128::from(until.0) - i128::from(at);
            assert!((0..=8 * 86_400_000).contains(&wait), "at {at}, reset {resets_at:?}: {wait}");
            assert!(wait > 0 || at == i64::MAX);
        }
    }
}

#[test]
fn g05_the_largest_limits_and_spans_do_not_overflow() {
    let mut world = refused_by(Vec::new());
    world.policy.limits.wall = Millis(u64::MAX);
    world.policy.limits.max_iterations = u32::MAX;
    world.policy.limits.max_tokens = u64::MAX;
    world.turns = vec![Turn { tokens: u64::MAX / 2 + 1, ..turn(Agent::Works) }];
    let mut sim = Sim::new(world);
    for _ in 0..8 {
        if sim.run.outcome().is_none() {
            sim.tick();
        }
    }
    assert_eq!(sim.end(), (Budget, 4, 1));
    assert_eq!(sim.outcome().tokens.input, u64::MAX, "tokens stop at the largest number");
    assert_eq!(sim.outcome().next[0], format!("ralph resume r1 --max-tokens {}", u64::MAX));

    let last = sim.journal.last().unwrap().clone();
    let entry = |seq, event| Entry { seq, at: last.at, elapsed: Millis(u64::MAX), event };
    let step = sim
        .run
        .step(&entry(last.seq + 1, Event::Resumed(Box::new(Resumed { max_tokens: Some(0), ..Resumed::default() }))));
    assert!(matches!(step.next, Next::Finished(_)), "the whole of time is used up");
    assert_eq!(sim.run.outcome().unwrap().reason, MaxWallTime);
    assert_eq!(sim.run.wall_left(), Some(Millis::ZERO));
}

#[test]
fn g01_a_jump_of_the_wall_clock_changes_no_limit_and_no_duration() {
    const DAY: i64 = 86_400_000;
    for jumps in [[0, DAY, 0, DAY], [DAY, 0, -DAY, 0], [-DAY, -DAY, -DAY, -DAY]] {
        let mut world = refused_by(Vec::new());
        world.policy.limits.wall = Millis(50_000);
        let (mut run, _) = Run::begin(&world.first_entry()).unwrap();
        let agent = observation(&Agent::Works, Ending::Exited { code: 0 });
        let events = [
            (10_000, gathered()),
            (20_000, Event::AgentEnded(Box::new(agent.clone()))),
            (30_000, gathered()),
            // A clock that was read in another order must not take back time either.
            (25_000, Event::AgentEnded(Box::new(agent))),
        ];
        let mut elapsed = Millis::ZERO;
        let mut durations = Vec::new();
        for ((seq, (now, event)), jump) in (2..).zip(events).zip(jumps) {
            let at = WallTime(START + i64::try_from(now).unwrap() + jump);
            let step = run.step(&Entry { seq, at, elapsed: Millis(now), event });
            assert!(run.elapsed() >= elapsed, "time went back");
            elapsed = run.elapsed();
            durations.extend(step.tell.into_iter().filter_map(|notice| match notice {
                Notice::IterationFinished { duration, .. } => Some(duration),
                _ => None,
            }));
        }
        assert_eq!(elapsed, Millis(30_000));
        assert_eq!(durations, [Millis(20_000), Millis(10_000)]);
        assert_eq!(run.wall_left(), Some(Millis(20_000)));
        assert!(run.outcome().is_none());
    }
}
