//! A root agent that is kept running: when it is started again, when not, and what is told of it.

use crate::sim::{Agent, Sim, Turn, World, play, request, supervised, turn, turns};
use ralph_core::activity::{Act, Activity, BusName, Leftover};
use ralph_core::event::{Event, Resumed};
use ralph_core::inbox::Heard;
use ralph_core::observation::{Ending, Marker, Markers};
use ralph_core::outcome::StopReason;
use ralph_core::policy::Kind;
use ralph_core::time::Millis;

fn done(agent: Agent) -> Turn {
    Turn { marker: Marker::Present, ..turn(agent) }
}

fn quick(agent: Agent) -> Turn {
    Turn { takes: Millis(200), ..turn(agent) }
}

fn rests(sim: &Sim) -> usize {
    sim.started(|activity| matches!(activity, Activity::Rest { .. }))
}

#[test]
fn only_done_used_up_restarts_and_people_end_it() {
    use Agent::{CannotRun, Fails, Killed, NotStarted, TimesOut, Works};
    use ralph_core::observation::StartFault::Machine;
    let wrong = |agent| Turn { marker: Marker::WrongKind("directory".to_owned()), ..turn(agent) };
    let waits = |agent| Turn { wait: Marker::Present, ..turn(agent) };
    let table = [
        // The script, how it ends, its exit code, the starts and the rests between them.
        ("exit 0 is no end", turns(&[Works]), StopReason::MaxRestarts, 1, 3, 2),
        ("nor is any other code", turns(&[Fails, TimesOut, Killed]), StopReason::MaxRestarts, 1, 3, 2),
        ("DONE is", vec![turn(Fails), done(Works)], StopReason::Complete, 0, 2, 1),
        ("DONE outweighs a failure", vec![done(Fails)], StopReason::Complete, 0, 1, 0),
        ("DONE of a wrong kind is an error", vec![wrong(Works)], StopReason::Error, 2, 1, 0),
        ("so is a command that cannot run", turns(&[CannotRun]), StopReason::Error, 5, 1, 0),
        ("and one that finds no processes left", turns(&[NotStarted(Machine)]), StopReason::Error, 74, 1, 0),
        ("a wish to wait outweighs a failure", vec![waits(Fails)], StopReason::Waiting, 6, 1, 0),
        (
            "DONE outweighs a wish to wait",
            vec![Turn { marker: Marker::Present, ..waits(Works) }],
            StopReason::Complete,
            0,
            1,
            0,
        ),
    ];
    for (why, turns, reason, code, starts, rested) in table {
        let sim = play(World::new(supervised(3), turns));
        let outcome = sim.outcome();
        assert_eq!((outcome.reason, outcome.exit_code), (reason, code), "{why}: {}", outcome.message);
        assert_eq!((sim.numbers().len(), rests(&sim)), (starts, rested), "{why}");
        assert!(!outcome.verified(), "{why}");
    }
}

#[test]
fn c09_done_before_the_first_start_means_done() {
    let sim = play(World { done: Marker::Present, ..World::new(supervised(3), turns(&[Agent::Works])) });
    assert_eq!(sim.end(), (StopReason::Complete, 0, 0));
    let pipe = Marker::WrongKind("named pipe".to_owned());
    let sim = play(World { done: pipe, ..World::new(supervised(3), turns(&[Agent::Works])) });
    assert_eq!(sim.end(), (StopReason::Error, 2, 0));
    assert!(sim.outcome().message.contains("DONE is a named pipe"));
}

#[test]
fn every_start_has_its_line_and_failures_stand_on_the_bus() {
    let sim = play(World::new(supervised(2), turns(&[Agent::Fails, Agent::Works])));
    let told: Vec<String> = sim.told_iterations().into_iter().flat_map(|(_, reasons)| reasons).collect();
    assert_eq!(told, ["Attempt 1: Agent failed (exit 1), restarting...", "Attempt 2: Agent succeeded without DONE"]);
    assert_eq!(
        sim.posts(),
        [
            (BusName::Task, "INFO", "starting root agent (restart #0)"),
            (BusName::Task, "WARNING", "root agent failed on restart #0: exit 1"),
            (BusName::Task, "INFO", "starting root agent (restart #1)"),
            (BusName::Task, "ERROR", "task failed: max restarts (2) exceeded"),
        ]
    );
    assert!(sim.outcome().message.starts_with("max restarts exceeded"), "{}", sim.outcome().message);
    assert_eq!(sim.outcome().next[0], "ralph resume r1 -m 4");
}

#[test]
fn later_starts_are_told_that_they_continue() {
    let sim = play(World::new(supervised(3), turns(&[Agent::Works])));
    let prompts = sim.prompts();
    assert_eq!(prompts[0], "");
    assert!(prompts[1].starts_with("You continue: this is start 2 of at most 3."), "{}", prompts[1]);
}

#[test]
fn failing_at_once_again_and_again_hits_the_start_limit() {
    let limit = |most, turns: Vec<Turn>| {
        let sim = play(World::new(supervised(most), turns));
        (sim.outcome().reason, sim.outcome().exit_code, sim.numbers().len())
    };
    let failing = || vec![quick(Agent::Fails)];
    assert_eq!(limit(100, failing()), (StopReason::Error, 5, 5));
    assert_eq!(limit(5, failing()), (StopReason::MaxRestarts, 1, 5), "restarts that are used up win");
    assert_eq!(limit(30, vec![quick(Agent::Works)]), (StopReason::MaxRestarts, 1, 30), "quick successes do not count");
    assert_eq!(limit(30, turns(&[Agent::Fails])), (StopReason::MaxRestarts, 1, 30), "nor do slow failures");
    let mut slow = supervised(30);
    let Kind::Supervised(supervision) = &mut slow.kind else { panic!() };
    supervision.restart_delay = Millis::from_secs(16);
    let sim = play(World::new(slow, failing()));
    assert_eq!(sim.outcome().reason, StopReason::MaxRestarts, "five in more than a minute are none too many");
}

#[test]
fn waiting_by_exit_code_and_by_bus() {
    let by_code = |code| {
        let mut sim = Sim::new(World::new(supervised(3), turns(&[Agent::Works])));
        sim.tick();
        sim.tick();
        let mut seen = crate::sim::observation(&Agent::Fails, Ending::Exited { code });
        seen.process.duration = Millis::from_secs(5);
        sim.answer_with(Event::AgentEnded(Box::new(seen)));
        sim.run.outcome().map(|outcome| (outcome.reason, outcome.exit_code))
    };
    assert_eq!(by_code(42), Some((StopReason::Waiting, 6)));
    assert_eq!(by_code(41), None);
    let said = Turn { heard: vec![Heard::Wait { why: "for the key".to_owned() }], ..turn(Agent::Works) };
    let sim =
        play(World { resumes: vec![Resumed::default()], ..World::new(supervised(3), vec![said, done(Agent::Works)]) });
    assert_eq!(sim.end(), (StopReason::Complete, 0, 2), "resume goes on");
    assert_eq!(sim.acts(&Act::RemoveWait), 2, "and nothing of the wait is left");
}

#[test]
fn done_waits_for_child_runs_and_tells_who_is_left() {
    let sim = play(World { orphans: vec!["c1", "c2"], ..World::new(supervised(3), vec![done(Agent::Works)]) });
    let waits = sim.started(|activity| {
        *activity == Activity::AwaitChildren { span: Millis::from_secs(300), then: Leftover::Leave }
    });
    assert_eq!(waits, 1);
    assert!(sim.outcome().message.contains("child runs still active: c1, c2"), "{}", sim.outcome().message);
    let warning = (BusName::Task, "WARNING", "timeout waiting for children after 5m00s: c1, c2");
    assert!(sim.posts().contains(&warning), "{:?}", sim.posts());
    assert_eq!(sim.outcome().reason, StopReason::Complete);
}

#[test]
fn the_completion_fact_goes_to_the_project_once() {
    let facts = ["one", "two", "three", "four"].map(|text| Heard::Fact { text: text.to_owned() });
    let working = Turn { heard: facts.to_vec(), ..turn(Agent::Works) };
    let sim = play(World::new(supervised(5), vec![working, done(Agent::Works)]));
    let facts: Vec<&str> = sim.posts().iter().filter(|post| post.0 == BusName::Project).map(|post| post.2).collect();
    assert_eq!(facts.len(), 1);
    for part in
        ["task fix-login of shop completed", "runs: 2", "last run: r1", "fact: two", "fact: four", "ralph show r1"]
    {
        assert!(facts[0].contains(part), "{part}: {}", facts[0]);
    }
    assert!(!facts[0].contains("fact: one"));
    // A crash before the end posts it again, under the same key.
    let cut = sim.journal.len() - 1;
    let mut again = Sim::cut(sim.world.clone(), &sim.journal[..cut]);
    again.resume(Resumed::default());
    again.play();
    let keys = |sim: &Sim| -> Vec<String> {
        sim.pick_started(|activity| match activity {
            Activity::PostSafely(posts) => Some(posts.iter().map(|post| post.key.clone()).collect::<String>()),
            _ => None,
        })
    };
    assert_eq!(keys(&again), keys(&sim));
}

#[test]
fn done_with_an_open_request_is_premature() {
    let asked = Turn { heard: vec![request("m1")], ..done(Agent::Works) };
    let acknowledged = Turn { acks: vec!["m1"], ..done(Agent::Works) };
    let sim = play(World::new(supervised(5), vec![asked.clone(), acknowledged]));
    assert_eq!(sim.end(), (StopReason::Complete, 0, 2));
    assert!(sim.prompts()[1].contains("Request m1 from anna"), "{}", sim.prompts()[1]);
    assert_eq!(sim.acts(&Act::RemoveDone), 1);
    let sim = play(World::new(supervised(2), vec![asked]));
    assert_eq!(sim.outcome().reason, StopReason::MaxRestarts);
    assert!(sim.outcome().message.contains("not acknowledged: m1 of anna"), "{}", sim.outcome().message);
}

#[test]
fn a_first_interrupt_lets_the_start_finish_and_a_pause_ends_at_once() {
    let mut sim = Sim::new(World::new(supervised(5), turns(&[Agent::Works])));
    sim.tick();
    sim.tick();
    sim.happen(Event::Interrupted);
    assert!(sim.run.outcome().is_none());
    sim.tick();
    assert_eq!(sim.end(), (StopReason::Interrupted, 130, 1));
    sim.resume(Resumed::default());
    sim.tick();
    assert_eq!(sim.run.iteration(), 2);
    let mut sim = Sim::new(World::new(supervised(5), turns(&[Agent::Works])));
    for _ in 0..3 {
        sim.tick();
    }
    sim.happen(Event::Interrupted);
    assert_eq!(sim.end(), (StopReason::Interrupted, 130, 1));
}

#[test]
fn a_marker_that_appears_during_the_pause_is_looked_at() {
    let mut sim = Sim::new(World::new(supervised(5), turns(&[Agent::Works])));
    for _ in 0..3 {
        sim.tick();
    }
    sim.answer_with(Event::Woke);
    sim.answer_with(seen(Marker::Present, Marker::Absent));
    sim.answer_with(Event::ChildrenSeen { left: Vec::new(), ended: Vec::new() });
    sim.answer_with(seen(Marker::Present, Marker::Absent));
    sim.play();
    assert_eq!(sim.end(), (StopReason::Complete, 0, 1));
}

fn seen(done: Marker, wait: Marker) -> Event {
    Event::MarkersSeen { markers: Markers { done, wait, ..Markers::default() }, problem: None }
}

/// A run that pauses after its first start, and is told to look.
fn pausing() -> Sim {
    let mut sim = Sim::new(World::new(supervised(5), turns(&[Agent::Works])));
    for _ in 0..3 {
        sim.tick();
    }
    sim
}

#[test]
fn a_wish_to_wait_during_the_pause_is_honoured_before_the_next_start() {
    let mut by_file = pausing();
    by_file.answer_with(Event::Woke);
    by_file.answer_with(seen(Marker::Absent, Marker::Present));
    assert_eq!(by_file.end(), (StopReason::Waiting, 6, 1));
    let mut by_bus = pausing();
    by_bus.happen(Event::Heard { messages: vec![Heard::Wait { why: "for the key".to_owned() }] });
    by_bus.answer_with(Event::Woke);
    by_bus.answer_with(seen(Marker::Absent, Marker::Absent));
    assert_eq!(by_bus.end(), (StopReason::Waiting, 6, 1));
    by_bus.resume(Resumed::default());
    by_bus.answer_with(seen(Marker::Absent, Marker::Absent));
    assert_eq!(by_bus.run.iteration(), 2, "it is over when somebody resumes");
}

#[test]
fn done_is_judged_again_after_child_runs_were_waited_for() {
    let after_waiting = |heard: Option<Heard>, done: Marker| {
        let mut sim = pausing();
        sim.answer_with(Event::Woke);
        sim.answer_with(seen(Marker::Present, Marker::Absent));
        sim.happen(Event::Heard { messages: heard.into_iter().collect() });
        sim.answer_with(Event::ChildrenSeen { left: Vec::new(), ended: Vec::new() });
        sim.answer_with(seen(done, Marker::Absent));
        sim
    };
    let removed = |sim: &Sim| sim.acts(&Act::RemoveDone);
    let sim = after_waiting(Some(request("m1")), Marker::Present);
    assert_eq!((sim.run.outcome(), removed(&sim)), (None, 1), "somebody wants something");
    assert_eq!(after_waiting(None, Marker::Absent).run.outcome(), None, "it was taken away");
    let mut crashed = pausing();
    crashed.answer_with(Event::Woke);
    crashed.answer_with(seen(Marker::Present, Marker::Absent));
    let ended = vec![(crate::sim::runs(&["c1"]).remove(0), None)];
    crashed.answer_with(Event::ChildrenSeen { left: Vec::new(), ended });
    crashed.answer_with(seen(Marker::Present, Marker::Absent));
    crashed.answer_with(Event::Posted { problem: None });
    assert!(
        crashed.outcome().message.contains("child runs not complete: c1 (crashed)"),
        "{}",
        crashed.outcome().message
    );
    let wrong = after_waiting(None, Marker::WrongKind("directory".to_owned()));
    assert_eq!(wrong.end(), (StopReason::Error, 2, 1));
}

#[test]
fn a_start_that_is_made_again_after_a_crash_continues() {
    let whole = play(World::new(supervised(3), vec![done(Agent::Works)]));
    let started = whole.journal.iter().position(|entry| matches!(entry.event, Event::AgentEnded(_))).unwrap();
    let mut again = Sim::cut(whole.world.clone(), &whole.journal[..started]);
    again.resume(Resumed::default());
    again.play();
    assert!(again.prompts()[0].starts_with("You continue: this is start 1 of at most 3."), "{:?}", again.prompts());
    assert_eq!(again.launches()[0].attempt, 2);
}

#[test]
fn a_task_folder_that_cannot_be_used_ends_it_at_once() {
    let mut sim = pausing();
    sim.answer_with(Event::Woke);
    let problem = Some("it is a file".to_owned());
    sim.answer_with(Event::MarkersSeen { markers: Markers::default(), problem });
    assert_eq!(sim.end(), (StopReason::Error, 2, 1));
}

#[test]
fn the_last_line_of_standard_error_goes_with_a_failure() {
    let mut sim = Sim::new(World::new(supervised(1), turns(&[Agent::Works])));
    sim.tick();
    sim.tick();
    let mut seen = crate::sim::observation(&Agent::Fails, Ending::Exited { code: 3 });
    seen.process.stderr_tail = "Traceback:\n  \u{1b}[31mKeyError: 'x'\u{1b}[0m\n\n".to_owned();
    sim.answer_with(Event::AgentEnded(Box::new(seen)));
    assert_eq!(sim.told_iterations()[0].1, ["Attempt 1: Agent failed (exit 3)", "stderr: KeyError: 'x'"]);
    assert_eq!(sim.posts()[1].2, "root agent failed on restart #0: exit 3; stderr: KeyError: 'x'");
}

#[test]
fn child_runs_of_a_prompt_loop_are_waited_for_before_the_checks() {
    let policy =
        ralph_core::policy::Policy { guardrails: crate::sim::guardrails(&["make test"]), ..crate::sim::policy() };
    let busy = Turn { children: vec!["c1"], ..turn(Agent::Claims) };
    let sim = play(World { orphans: vec!["c1"], ..World::new(policy, vec![busy]) });
    let order = sim.pick_started(|activity| match activity {
        Activity::AwaitChildren { then: Leftover::Interrupt, .. } => Some("children"),
        Activity::Check(..) => Some("check"),
        _ => None,
    });
    assert_eq!(order, ["children", "check"]);
    assert_eq!(sim.end(), (StopReason::Complete, 0, 1));
}

#[test]
fn an_agent_that_never_acknowledges_is_not_started_for_ever() {
    let deaf = Turn { heard: vec![request("m1")], ..done(Agent::Works) };
    let sim = play(World::new(supervised(100), vec![deaf]));
    assert_eq!(sim.end(), (StopReason::Stalled, 7, 5));
    assert_eq!(sim.posts().iter().filter(|(_, kind, _)| *kind == "WARNING").count(), 5);
    let bus = "/tasks/fix-login/TASK-MESSAGE-BUS.md";
    let ack = format!("ralph bus post --bus '{bus}' --type ACK --parent m1 'what was done' && ralph resume r1");
    assert_eq!(sim.outcome().next[0], ack, "what helps can be typed");
}

#[test]
fn a_stop_and_a_resume_stand_on_the_bus() {
    let mut sim = pausing();
    sim.happen(Event::Cancelled);
    sim.resume(Resumed::default());
    let said: Vec<&str> = sim.posts().iter().map(|(_, _, body)| *body).collect();
    let [started, stopped, resumed] =
        ["starting root agent (restart #0)", "task stopped: cancelled in start 1", "task resumed after start 1"];
    assert_eq!(said, [started, stopped, resumed]);
}
