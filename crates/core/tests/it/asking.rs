//! What people want of a running loop, and what that does to its end.

use crate::sim::{Agent, Asked, Turn, World, guardrails, play, policy, request, turn};
use ralph_core::activity::{Act, BusName};
use ralph_core::inbox::Heard;
use ralph_core::outcome::StopReason;
use ralph_core::policy::Policy;

fn asked(agent: Agent, ids: &[&str]) -> Turn {
    Turn { heard: ids.iter().map(|id| request(id)).collect(), ..turn(agent) }
}

#[test]
fn a_request_enters_the_next_prompt_with_its_sender_and_blocks_completion() {
    let answered = Turn { acks: vec!["m1"], ..turn(Agent::Claims) };
    let sim = play(World::new(policy(), vec![asked(Agent::Claims, &["m1"]), turn(Agent::Claims), answered]));
    assert_eq!(sim.end(), (StopReason::Complete, 0, 3));
    let carried: Vec<bool> = sim.prompts().iter().map(|prompt| prompt.contains("Request m1 from anna:")).collect();
    assert_eq!(carried, [false, true, true]);
    let reasons = sim.told_iterations().remove(0).1;
    assert_eq!(reasons, ["request m1 of anna is not acknowledged"]);
}

#[test]
fn an_acknowledgement_in_the_answer_is_told_on_the_bus() {
    let answered = Turn { acks: vec!["m1", "m9"], ..turn(Agent::Claims) };
    let sim = play(World::new(policy(), vec![asked(Agent::Works, &["m1"]), answered]));
    let acks = sim.pick(|asked| match asked {
        Asked::Act(Act::Post(post)) => Some((post.bus, post.kind.as_str(), post.parents.clone())),
        _ => None,
    });
    assert_eq!(acks, [(BusName::Task, "ACK", vec!["m1".to_owned()])], "nobody asked for m9");
}

#[test]
fn an_acknowledgement_on_the_bus_counts_as_well() {
    let acknowledged = Turn { heard: vec![Heard::Ack { of: vec!["m1".to_owned()] }], ..turn(Agent::Claims) };
    let sim = play(World::new(policy(), vec![asked(Agent::Works, &["m1"]), acknowledged]));
    assert_eq!(sim.end(), (StopReason::Complete, 0, 2));
    assert!(!sim.outcome().message.contains("not acknowledged"));
}

#[test]
fn what_nobody_acknowledged_is_listed_at_the_end() {
    let rules = Policy { guardrails: guardrails(&["make test"]), ..policy() };
    let mut world = World::new(rules, vec![asked(Agent::Claims, &["m1", "m2"])]);
    world.policy.limits.max_iterations = 2;
    let sim = play(world);
    assert_eq!(sim.outcome().reason, StopReason::MaxIterations);
    let message = &sim.outcome().message;
    assert!(message.contains("not acknowledged: m1 of anna") && message.contains("m2 of anna"), "{message}");
}
