//! Version control after green guardrails: only what was checked is committed, a failing task is
//! told and changes nothing, and what was done is never done again.

use crate::sim::{Agent, FAIL, Knock, Look, Sim, Turn, World, guardrails, observation, play, policy, turn};
use ralph_core::activity::{Activity, Role};
use ralph_core::check::CheckEnding;
use ralph_core::event::{Event, Resumed};
use ralph_core::notice::Notice;
use ralph_core::observation::{Ending, Observation, Tokens};
use ralph_core::outcome::StopReason::*;
use ralph_core::scm::{MESSAGE_PROMPT, Pending};

fn world(tasks: &[&str], turns: Vec<Turn>) -> World {
    let mut policy = policy();
    policy.guardrails = guardrails(&["make test"]);
    policy.scm.command = "git".to_owned();
    policy.scm.tasks = tasks.iter().map(|&task| task.to_owned()).collect();
    World::new(policy, turns)
}

fn told(sim: &Sim) -> Vec<(String, bool, String)> {
    sim.told(|notice| match notice {
        Notice::ScmFinished { task, passed, detail, .. } => Some((task.clone(), *passed, detail.clone())),
        _ => None,
    })
}

fn line(task: &str, passed: bool, detail: &str) -> (String, bool, String) {
    (task.to_owned(), passed, detail.to_owned())
}

#[test]
fn every_green_iteration_is_committed_and_pushed_before_the_next() {
    let mut turns = vec![turn(Agent::Works), turn(Agent::Works), turn(Agent::Claims)];
    turns[1].checks = vec![FAIL];
    let sim = play(world(&["commit", "push origin main"], turns));
    assert_eq!(sim.end(), (Complete, 0, 3));
    assert_eq!(
        sim.tasks(),
        ["commit -am Fix the login", "push origin main", "commit -am Fix the login", "push origin main"]
    );
    assert_eq!(told(&sim)[..2], [line("commit", true, "Fix the login"), line("push origin main", true, "")]);
    let asked: Vec<(u32, bool)> = sim
        .launches()
        .iter()
        .map(|launch| (launch.iteration, launch.role == Role::Scribe && launch.prompt == MESSAGE_PROMPT))
        .collect();
    assert_eq!(asked, [(1, false), (1, true), (2, false), (3, false), (3, true)]);
}

#[test]
fn nothing_to_commit_is_no_failure_and_asks_nobody() {
    for (pending, tasks, detail) in [
        (Pending::Seen { tracked: false, untracked: false }, &["commit", "push"][..], "nothing to commit"),
        (
            Pending::Seen { tracked: false, untracked: true },
            &["commit", "push"],
            "nothing to commit but new files; `add -A` before `commit` in scm.tasks would take them in",
        ),
    ] {
        let sim = play(world(tasks, vec![Turn { pending, ..turn(Agent::Claims) }]));
        assert_eq!(sim.tasks(), ["push"], "earlier commits may still wait to be pushed");
        assert_eq!(told(&sim)[0], line("commit", true, detail));
        assert_eq!((sim.launches().len(), sim.end()), (1, (Complete, 0, 1)));
    }
    let new_files = Pending::Seen { tracked: false, untracked: true };
    let sim = play(world(&["add -A", "commit"], vec![Turn { pending: new_files, ..turn(Agent::Claims) }]));
    assert_eq!(sim.tasks(), ["add -A", "commit -am Fix the login"]);
}

#[test]
fn a_failing_task_is_told_leaves_out_the_rest_and_the_loop_goes_on() {
    let hook = vec![("commit", CheckEnding::Exited { code: 1 })];
    let turns = vec![Turn { tasks: hook, ..turn(Agent::Works) }, turn(Agent::Claims)];
    let sim = play(world(&["commit", "push"], turns));
    assert_eq!(sim.tasks(), ["commit -am Fix the login", "commit -am Fix the login", "push"]);
    assert_eq!(sim.end(), (Complete, 0, 2), "the next iteration committed it");
}

#[test]
fn work_that_is_complete_but_not_committed_ends_as_an_error() {
    let hook = vec![("commit", CheckEnding::Exited { code: 1 })];
    let sim = play(world(&["commit", "push"], vec![Turn { tasks: hook, ..turn(Agent::Claims) }]));
    assert_eq!(sim.tasks(), ["commit -am Fix the login"]);
    assert_eq!(told(&sim), [line("commit", false, "failed with exit code 1: last words")]);
    assert_eq!(sim.end(), (Error, 1, 1));
    assert!(sim.outcome().verified(), "the work is as good as the checks say");
    let message = "the work is complete and verified after 1 iteration, but not committed: scm commit in iteration 1: \
                   failed with exit code 1: last words";
    assert_eq!(sim.outcome().message, message);
    assert_eq!(sim.outcome().next[0], "ralph resume r1");
}

#[test]
fn resuming_what_was_not_committed_asks_no_agent_to_work_and_repeats_no_finished_task() {
    for (failing, tasks) in [
        ("commit", vec!["add -A", "commit -am Fix the login", "commit -am Fix the login", "push"]),
        ("push", vec!["add -A", "commit -am Fix the login", "push", "push"]),
    ] {
        let ending = CheckEnding::Signalled { signal: 9 };
        let first = Turn { tasks: vec![(failing, ending)], ..turn(Agent::Claims) };
        let mut sim = play(world(&["add -A", "commit", "push"], vec![first]));
        assert_eq!(sim.end(), (Error, 1, 1), "{failing}");
        sim.world.turns[0].tasks.clear();
        sim.resume(Resumed::default());
        sim.play();
        assert_eq!(sim.end(), (Complete, 0, 1), "{failing}: one iteration, which counts once");
        assert!(sim.outcome().verified());
        assert_eq!(sim.tasks(), tasks);
        let works = sim.launches().iter().filter(|launch| launch.role == Role::Worker).count();
        assert_eq!(works, 1, "{failing}");
    }
}

#[test]
fn a_single_pass_that_could_not_be_committed_is_no_success() {
    let hook = vec![("commit", CheckEnding::Exited { code: 1 })];
    let mut world = world(&["commit"], vec![Turn { tasks: hook, ..turn(Agent::Works) }]);
    world.policy.passes = ralph_core::policy::Passes::Single;
    assert_eq!(play(world).end(), (SinglePass, 1, 1));
}

#[test]
fn without_a_message_nothing_is_committed() {
    let sim = play(world(&["commit", "push"], vec![Turn { message: "", ..turn(Agent::Claims) }]));
    assert!(sim.tasks().is_empty());
    assert_eq!(told(&sim), [line("commit message", false, "exit code 1; nothing was committed")]);
    let sim = play(world(&["commit"], vec![Turn { message: " \n", ..turn(Agent::Claims) }]));
    assert_eq!(told(&sim), [line("commit message", false, "the agent gave no message; nothing was committed")]);
    assert_eq!(sim.end(), (Error, 1, 1));
}

#[test]
fn j01_what_changed_while_the_message_was_asked_for_is_checked_before_it_is_committed() {
    // Looks count anew behind every end of an agent: two around the checks, then those behind the question.
    let looks = vec![Look::Files(1), Look::Files(1)];
    let mut world = world(&["commit"], vec![Turn { looks, ..turn(Agent::Claims) }]);
    let mut sim = Sim::new(world.clone());
    // Up to the question; then the one who was asked changes a file.
    while sim.launches().len() < 2 {
        sim.tick();
    }
    sim.tick();
    sim.answer_with(Event::TreeSeen {
        print: Look::Files(9).print(),
        changed: Some(vec!["src/main.rs".to_owned()]),
        stirred: Vec::new(),
        pinned: Vec::new(),
    });
    assert_eq!(sim.checked(), ["make test", "make test"], "the new tree is checked again");
    assert!(sim.tasks().is_empty());
    assert_eq!(
        sim.notes(),
        ["files changed while the agent was asked for a commit message; checking again: src/main.rs"]
    );

    // A tree that never comes to rest is not accepted.
    world.turns[0].looks = vec![Look::Files(1), Look::Files(1)];
    let mut sim = Sim::new(world);
    for round in 0..3 {
        while sim.launches().len() < 2 + round {
            sim.tick();
        }
        sim.tick();
        let print = Look::Files(10 + u8::try_from(round).unwrap()).print();
        sim.world.turns[0].looks = vec![Look::Files(10 + u8::try_from(round).unwrap())];
        sim.answer_with(Event::TreeSeen { print, changed: None, stirred: Vec::new(), pinned: Vec::new() });
    }
    assert!(sim.tasks().is_empty());
    let judged = sim.told_iterations();
    assert_eq!(judged.len(), 1);
    assert!(!judged[0].1.is_empty(), "not accepted: {judged:?}");
}

#[test]
fn e01_a_crash_anywhere_repeats_no_finished_task_and_changes_no_verdict() {
    let world = world(&["commit", "push"], vec![turn(Agent::Works), turn(Agent::Claims)]);
    let whole = play(world.clone());
    let finished = |sim: &Sim, task: &str| {
        let ended = |event: &Event| matches!(event, Event::ScmEnded(report) if report.spec.task == task);
        sim.journal.iter().filter(|entry| ended(&entry.event)).count()
    };
    for length in 1..whole.journal.len() {
        let mut rest = Sim::cut(world.clone(), &whole.journal[..length]);
        rest.resume(Resumed::default());
        rest.play();
        assert_eq!(rest.end(), whole.end(), "cut behind entry {length}");
        assert_eq!((finished(&rest, "commit"), finished(&rest, "push")), (2, 2), "cut behind entry {length}");
    }
}

#[test]
fn h01_an_interrupt_lets_the_running_task_finish_and_resume_does_the_rest() {
    let world = world(&["commit", "push"], vec![turn(Agent::Claims)]);
    let running_commit = {
        let sim = play(world.clone());
        sim.started(|activity| !matches!(activity, Activity::Pin(_) | Activity::Learn(..))) - 2
    };
    let sim = play(World { knocks: vec![(running_commit, Knock::Interrupt)], ..world.clone() });
    assert_eq!(sim.end(), (Interrupted, 130, 0));
    assert_eq!(sim.tasks(), ["commit -am Fix the login"]);
    let sim =
        play(World { knocks: vec![(running_commit, Knock::Interrupt)], resumes: vec![Resumed::default()], ..world });
    assert_eq!(sim.tasks(), ["commit -am Fix the login", "push"]);
    assert_eq!(sim.end(), (Complete, 0, 1));
}

#[test]
fn a_budget_counts_what_the_message_cost_and_what_the_task_cost_before() {
    let mut world = world(&[], vec![Turn { cost_usd: 1.0, tokens: 10, ..turn(Agent::Works) }]);
    world.policy.limits.task_cost_usd = 5.0;
    world.spent = ralph_core::event::Spent { cost_usd: 2.5, tokens: 0 };
    let sim = play(world.clone());
    assert_eq!(sim.end(), (Budget, 4, 2), "half a dollar is left for the third");
    assert_eq!(sim.launches()[2].limits.cost_left, 0.5);
    world.policy.limits.task_cost_usd = 0.0;
    world.policy.limits.task_tokens = 25;
    world.spent.tokens = 7;
    let sim = play(world);
    assert_eq!(sim.end(), (Budget, 4, 1));
    let task = "the budget of 25 tokens for task fix-login is used up (";
    assert!(sim.outcome().message.starts_with(task), "{}", sim.outcome().message);
}

#[test]
fn an_agent_without_a_price_says_so_instead_of_costing_nothing() {
    for (tokens, cost, most, told) in [
        (5, 3.0, 0, "agent states no price, so the budget of money cannot end this run; --max-tokens can"),
        (0, 3.0, 9, "agent states neither price nor tokens, so no budget can end this run; --max-wall-time can"),
        (0, 0.0, 9, "agent states no tokens, so the budget of tokens cannot end this run; --max-wall-time can"),
    ] {
        let turns = [Agent::Works, Agent::Works, Agent::Claims].map(|agent| Turn { tokens, ..turn(agent) });
        let mut world = world(&[], turns.into());
        (world.policy.limits.max_cost_usd, world.policy.limits.max_tokens) = (cost, most);
        let sim = play(world);
        assert_eq!((sim.end(), sim.outcome().cost_usd), ((Complete, 0, 3), None));
        assert_eq!(sim.notes(), [told]);
    }
}

#[test]
fn what_the_commit_leaves_out_must_not_be_what_the_checks_need() {
    let turn = |left_out| Turn { left_out, ..turn(Agent::Claims) };
    let world = |tasks: &[&str], turn: Turn| {
        let mut world = world(tasks, vec![turn]);
        (world.policy.protect.scripts, world.policy.limits.max_iterations) = (true, 1);
        world
    };
    let run = |tasks: &[&str], turn: Turn| play(world(tasks, turn));
    // Nothing is left out, or nothing that the checks need.
    let sim = run(&["commit"], turn(&[]));
    assert_eq!((sim.checked(), sim.end().0), (vec!["make test"], Complete));
    let sim = run(&["commit", "push"], turn(&["cache.tmp"]));
    assert_eq!((sim.checked(), sim.tasks().len()), (vec!["make test"; 2], 2));
    assert!(sim.outcome().verified());
    let told = "new files are not part of the commit; checking once more without them: cache.tmp";
    assert!(sim.notes().contains(&told.to_owned()), "{:?}", sim.notes());

    // They do need it: nothing is pushed, and the end says what is missing.
    let sim = run(&["commit", "push"], Turn { needs_left_out: true, ..turn(&["sum.tmp", "lib/"]) });
    assert_eq!(sim.tasks().len(), 1);
    let told = &sim.outcome().message;
    assert!(
        told.contains("whoever checks out the commit") && told.contains("sum.tmp, lib/") && told.contains("make test"),
        "{told}"
    );
    assert_ne!(sim.end().0, Complete);

    // The agent has committed everything itself, as it says.
    let committed = Turn { pending: Pending::Seen { tracked: false, untracked: false }, ..turn(&["sum.tmp"]) };
    let sim = run(&["commit"], Turn { needs_left_out: true, ..committed });
    assert!(sim.tasks().is_empty());
    assert_ne!(sim.end().0, Complete);

    // Nobody claims that the work is done, the commit itself is what was checked, or checks run on the live tree.
    let works = Turn { left_out: &["sum.tmp"], ..crate::sim::turn(Agent::Works) };
    assert_eq!(run(&["commit"], works).checked(), ["make test"]);
    let mut live = world(&["commit"], turn(&["sum.tmp"]));
    live.live = "verify.snapshot is off".to_owned();
    assert_eq!(play(live).checked(), ["make test"]);
}

#[test]
fn what_the_question_for_a_commit_message_costs_belongs_to_its_iteration() {
    let mut sim = Sim::new(world(&["commit"], vec![Turn { cost_usd: 0.25, tokens: 100, ..turn(Agent::Claims) }]));
    while !matches!(sim.running(), Some(Activity::Launch(launch)) if launch.role == Role::Scribe) {
        sim.tick();
    }
    let asked = observation(&Agent::Works, Ending::Exited { code: 0 });
    let tokens = Tokens { input: 7, ..Tokens::default() };
    let messages = vec!["Fix the login".to_owned()];
    sim.answer_with(Event::AgentEnded(Box::new(Observation { cost_usd: Some(0.5), tokens, messages, ..asked })));
    sim.play();
    let cost = sim.told(|notice| match notice {
        Notice::IterationFinished { cost_usd, tokens, .. } => Some((*cost_usd, tokens.input)),
        _ => None,
    });
    assert_eq!(cost, [(Some(0.75), 107)]);
}
