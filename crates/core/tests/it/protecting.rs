//! Files that the agent must leave alone, checks as they were before, and checks of the commit alone.

use crate::sim::{Agent, FAIL, Look, PASS, Sim, Turn, World, changed, guardrails, play, policy, report, turn};
use ralph_core::activity::Activity;
use ralph_core::check::{CheckKind, CheckReport, Ground};
use ralph_core::event::{Event, Resumed};
use ralph_core::id::CheckId;
use ralph_core::judges::{Known, Reporting, Unknown};
use ralph_core::notice::Notice;
use ralph_core::outcome::StopReason::*;
use ralph_core::outcome::Verification;
use ralph_core::protect::{Change, OnChange, PinnedChange};
use ralph_core::verdict::{About, Condition};
use ralph_core::words::Note;

fn world(on_change: OnChange, turns: Vec<Turn>) -> World {
    let mut policy = policy();
    policy.guardrails = guardrails(&["sh check.sh", "make lint"]);
    policy.protect.paths = vec!["tests/a".to_owned()];
    policy.protect.scripts = true;
    policy.protect.on_change = on_change;
    policy.limits.max_iterations = 2;
    World::new(policy, turns)
}

fn touching(path: &'static str, agent: Agent) -> Turn {
    Turn { touches: vec![(path, 0)], ..turn(agent) }
}

fn protected(sim: &Sim) -> Vec<(bool, String)> {
    sim.told(|notice| match notice {
        Notice::CheckFinished { kind: CheckKind::Protected, passed, problem, .. } => Some((*passed, problem.clone())),
        _ => None,
    })
}

#[test]
fn j08_a_changed_protected_file_is_never_accepted_until_it_is_as_it_was() {
    let sim = play(world(OnChange::Fail, vec![touching("tests/a", Agent::Claims), turn(Agent::Claims)]));
    assert_eq!(sim.end(), (Complete, 0, 2));
    assert_eq!(protected(&sim), [(false, "tests/a was changed".to_owned()), (true, String::new())]);
    let reason = "tests/a was changed; it must be as it was at the start: put it back, and leave it alone";
    assert_eq!(sim.told_iterations()[0], (1, vec![reason.to_owned()]));
    assert_eq!(sim.checked(), ["sh check.sh", "make lint", "sh check.sh", "make lint"]);
    let sim = play(world(OnChange::Fail, vec![touching("tests/a", Agent::Claims)]));
    assert_eq!(sim.end(), (MaxIterations, 1, 2));
    let way_out = |notice: &Notice| matches!(notice, Notice::Note(Note::WayOutOfProtection)).then_some(());
    assert_eq!(sim.told(way_out).len(), 1, "people are told the way out once");
}

#[test]
fn c14_a_changed_script_is_not_executed_on_the_live_tree() {
    let world = world(OnChange::Fail, vec![touching("check.sh", Agent::Claims), turn(Agent::Claims)]);
    let sim = play(World { live: "no namespaces".to_owned(), ..world });
    assert_eq!(sim.checked(), ["make lint", "sh check.sh", "make lint"]);
    let reasons = &sim.told_iterations()[0].1;
    let refused = "guardrail \"sh check.sh\" could not run: its script check.sh was changed, so it was not executed";
    assert_eq!(reasons[1], refused);
    assert_eq!(sim.end(), (Complete, 0, 2));
}

#[test]
fn what_is_put_back_is_checked_as_it_was_and_the_agent_is_told() {
    let sim = play(world(OnChange::Restore, vec![touching("check.sh", Agent::Works), turn(Agent::Claims)]));
    assert_eq!(sim.end(), (Complete, 0, 2));
    assert_eq!(sim.started(|activity| matches!(activity, Activity::RestorePinned { .. })), 1);
    assert_eq!(sim.notes(), ["put back as it was at the start: check.sh was changed"]);
    assert_eq!(sim.checked().len(), 4);
    let sim = play(world(OnChange::Restore, vec![touching("tests/a", Agent::Claims)]));
    assert_eq!(sim.end(), (Complete, 0, 1), "what is left after putting it back is judged");
}

#[test]
fn what_is_allowed_is_told_once_and_used() {
    let touches = ["check.sh", "check.sh", "tests/a"].map(|path| touching(path, Agent::Works));
    let mut world = world(OnChange::Allow, touches.into());
    world.turns[2].agent = Agent::Claims;
    world.policy.limits.max_iterations = 3;
    let sim = play(world);
    assert_eq!(sim.end(), (Complete, 0, 3));
    let told = ["check.sh", "tests/a"].map(|path| format!("protected, and allowed to change: {path} was changed"));
    assert_eq!(sim.notes(), told);
    assert_eq!(sim.checked().len(), 6);
}

#[test]
fn a_protected_file_that_changes_under_the_checks_is_seen_even_if_the_tree_is_not() {
    let mut turn = turn(Agent::Claims);
    turn.looks = vec![Look::Unknown];
    turn.touches = vec![("tests/a", 1)];
    let sim = play(World { baseline: Look::Unknown, ..world(OnChange::Fail, vec![turn]) });
    assert_eq!(sim.end(), (MaxIterations, 1, 2));
}

#[test]
fn a_tree_that_can_no_longer_be_seen_hides_what_was_done_to_it() {
    let unseen = || vec![Turn { looks: vec![Look::Unknown], ..turn(Agent::Claims) }];
    for (on_change, baseline, end) in [
        (OnChange::Fail, Look::Files(0), MaxIterations),
        (OnChange::Restore, Look::Files(0), MaxIterations),
        (OnChange::Allow, Look::Files(0), Complete),
        (OnChange::Fail, Look::Unknown, Complete),
    ] {
        let sim = play(World { baseline, ..world(on_change, unseen()) });
        assert_eq!(sim.end().0, end, "{on_change:?} {baseline:?}");
        assert_eq!(sim.started(|activity| matches!(activity, Activity::RestorePinned { .. })), 0);
    }
}

#[test]
fn a_fault_of_the_machine_is_told_once_blames_nobody_and_verifies_nothing() {
    let seen = Look::Files(1);
    for looks in [vec![Look::Fault], vec![seen, Look::Fault], vec![Look::Fault, seen]] {
        let turns = [Agent::Works, Agent::Claims].map(|agent| Turn { looks: looks.clone(), ..turn(agent) });
        let sim = play(world(OnChange::Fail, turns.into()));
        assert_eq!(sim.end(), (Complete, 0, 2), "{looks:?}");
        assert!(!sim.outcome().verified(), "{looks:?}");
        let why = "the tree could not be looked at: git was killed by signal 9";
        assert!(sim.outcome().message.ends_with(why), "{}", sim.outcome().message);
        let told =
            "the tree could not be looked at, so what is claimed on it is not verified: git was killed by signal 9";
        assert_eq!(sim.notes(), [told], "{looks:?}");
        assert!(protected(&sim).iter().all(|(passed, _)| *passed), "{looks:?}");
        assert!(sim.prompts().iter().all(|prompt| !prompt.contains("put it back")), "{looks:?}");
    }
    // What is seen again is verified again.
    let turns = vec![Turn { looks: vec![Look::Fault], ..turn(Agent::Works) }, turn(Agent::Claims)];
    assert!(play(world(OnChange::Fail, turns)).outcome().verified());
}

#[test]
fn a_script_that_is_another_one_in_the_commit_judges_nothing() {
    let deleted = PinnedChange { path: "check.sh".to_owned(), how: Change::Deleted };
    for (on_change, committed, end) in [
        (OnChange::Fail, changed("check.sh"), MaxIterations),
        (OnChange::Restore, changed("check.sh"), MaxIterations),
        (OnChange::Allow, changed("check.sh"), Complete),
        (OnChange::Fail, deleted, Complete),
    ] {
        let mut world = world(on_change, vec![Turn { committed: vec![committed], ..turn(Agent::Claims) }]);
        world.policy.verify.clean_checkout = true;
        let sim = play(world);
        assert_eq!(sim.end().0, end, "{on_change:?}");
        if end == MaxIterations {
            let reason = &sim.told_iterations()[0].1[0];
            assert!(reason.starts_with("the commit cannot be judged: in the commit check.sh was changed"), "{reason}");
        }
    }
}

#[test]
fn protection_alone_verifies_nothing() {
    let mut world = world(OnChange::Fail, vec![turn(Agent::Claims)]);
    world.policy.guardrails.clear();
    let sim = play(world);
    assert!(sim.end() == (Complete, 0, 1) && !sim.outcome().verified());
    assert_eq!(protected(&sim), [(true, String::new())]);
}

#[test]
fn what_was_red_before_is_told_apart_from_what_the_run_broke() {
    let mut policy = policy();
    policy.guardrails = guardrails(&["make lint", "make test"]);
    policy.verify.baseline = true;
    policy.limits.max_iterations = 1;
    let mut broken = turn(Agent::Claims);
    // The checks before the first iteration belong to no turn; the script gives them the first answers.
    broken.checks = vec![FAIL, PASS, FAIL, FAIL];
    let mut sim = Sim::new(World::new(policy, vec![broken]));
    while sim.run.iteration() == 0 {
        sim.tick();
    }
    assert_eq!(sim.notes(), ["before the first iteration 1 of 2 checks failed"]);
    sim.world.turns[0].checks = vec![FAIL, FAIL];
    sim.play();
    let reasons = &sim.told_iterations()[0].1;
    assert!(reasons[0].ends_with("; it failed before the first iteration too"), "{reasons:?}");
    assert!(reasons[1].ends_with("; it passed before the first iteration, so this run broke it"), "{reasons:?}");
}

#[test]
fn e01_a_crash_before_the_first_iteration_begins_the_looks_again() {
    let mut world = world(OnChange::Fail, vec![turn(Agent::Claims)]);
    world.policy.verify.baseline = true;
    world.policy.limits.stall_after = 2;
    let whole = play(world.clone());
    for length in 1..whole.journal.len() {
        let mut rest = Sim::cut(world.clone(), &whole.journal[..length]);
        rest.resume(Resumed::default());
        rest.play();
        assert_eq!(rest.end(), whole.end(), "cut behind entry {length}");
    }
}

#[test]
fn only_what_is_committed_counts_in_a_clean_checkout() {
    let mut world = world(OnChange::Fail, vec![turn(Agent::Claims), turn(Agent::Claims)]);
    world.policy.verify.clean_checkout = true;
    world.turns[0].uncommitted = vec!["src/new.rs".to_owned()];
    let sim = play(world);
    assert_eq!(sim.end(), (Complete, 0, 2));
    let reasons = &sim.told_iterations()[0].1;
    assert_eq!(reasons[0], "not committed: src/new.rs: only what is committed is checked");
    let everywhere =
        |activity: &Activity| matches!(activity, Activity::Check(spec, _) if spec.ground == Ground::Checkout);
    assert_eq!(sim.started(everywhere), 4);
}

/// Plays a world in which every look shows these changes of pinned files, but for the last one where it says otherwise.
fn seeing(world: World, changes: &[PinnedChange], at_last: Option<&[PinnedChange]>) -> Sim {
    let (mut sim, mut looks) = (Sim::new(world), 0);
    while !sim.is_finished() {
        if sim.run.iteration() > 0 && matches!(sim.running(), Some(Activity::LookAtTree(_))) {
            let pinned = if looks > 0 { at_last.unwrap_or(changes) } else { changes };
            looks += 1;
            sim.answer_with(Event::TreeSeen {
                print: Look::Files(1).print(),
                changed: None,
                stirred: Vec::new(),
                pinned: pinned.to_vec(),
            });
        } else {
            sim.tick();
        }
    }
    sim
}

#[test]
fn what_an_agent_of_an_earlier_run_changed_verifies_nothing_until_all_of_it_is_put_back_and_stays_so() {
    let back = |path: &str| PinnedChange { path: path.to_owned(), how: Change::PutBack };
    let (script, test) = (back("check.sh"), back("tests/a"));
    let table: [(&str, &[&'static str], Vec<PinnedChange>, bool); 8] = [
        ("nobody changed anything", &[], vec![], true),
        ("it stands as the agent left it", &["check.sh"], vec![], false),
        ("it is put back", &["check.sh"], vec![script.clone()], true),
        ("another file is put back", &["check.sh"], vec![test.clone()], false),
        ("one part of two is put back", &["check.sh", "check.sh"], vec![script.clone()], false),
        ("both are", &["check.sh", "check.sh"], vec![script.clone(), script.clone()], true),
        ("two files are put back", &["check.sh", "tests/a"], vec![script.clone(), test], true),
        ("a program cannot be", &["/home/me/bin/npm"], vec![], false),
    ];
    for (name, untrusted, changes, verified) in table {
        let world = || World { untrusted: untrusted.to_vec(), ..world(OnChange::Fail, vec![turn(Agent::Claims)]) };
        let sim = seeing(world(), &changes, None);
        assert_eq!((sim.end().0, sim.outcome().verified()), (Complete, verified), "{name}");
        for path in untrusted.iter().filter(|_| !verified) {
            let why = format!("{path} was changed by a commit of an agent; look at that, then: ralph trust");
            assert!(sim.outcome().message.contains(&why), "{name}: {}", sim.outcome().message);
        }
        let undone = seeing(world(), &changes, Some(&[]));
        assert_eq!(undone.outcome().verified(), untrusted.is_empty(), "{name}, and not any more");
    }
    // What the agent changed again is not put back, even where that is allowed.
    let world = World { untrusted: vec!["check.sh"], ..world(OnChange::Allow, vec![turn(Agent::Claims)]) };
    let sim = seeing(world, &[changed("check.sh")], None);
    assert!(sim.end().0 == Complete && !sim.outcome().verified());
}

#[test]
fn a_check_of_which_something_is_unknown_verifies_nothing_and_one_that_is_known_does() {
    let unknown = |check: &str| Unknown {
        check: CheckId::new(check),
        what: format!("what {check} runs"),
        varies: false,
        made: false,
    };
    for (unknown, verified) in [
        (vec![], true),
        (vec![unknown("make_lint")], true),
        (vec![unknown("make_lint"), unknown("sh_check_sh")], false),
        (vec![unknown("make_lint"), unknown("of another check")], true),
    ] {
        let sim = play(World { unknown: unknown.clone(), ..world(OnChange::Fail, vec![turn(Agent::Claims)]) });
        assert_eq!((sim.end().0, sim.outcome().verified()), (Complete, verified), "{unknown:?}");
        let watched = sim.started(|activity| matches!(activity, Activity::Watch(_)));
        assert_eq!(watched, unknown.iter().filter(|one| one.check.as_str() != "of another check").count());
        let told = sim.outcome().message.contains("; name it in guardrails[].judges");
        assert_eq!(told, !verified, "{}", sim.outcome().message);
    }
}

#[test]
fn a_check_that_had_to_run_on_the_live_tree_verifies_only_where_all_of_them_do() {
    for (everywhere, at_this_check, verified) in
        [("", "", true), ("", "a pipe stands there", false), ("no namespaces", "no namespaces", true)]
    {
        let mut world = world(OnChange::Fail, vec![turn(Agent::Claims)]);
        world.policy.guardrails.truncate(1);
        let mut sim = Sim::new(World { live: everywhere.to_owned(), ..world });
        while !sim.is_finished() {
            if let Some(Activity::Check(spec, _)) = sim.running() {
                let report = CheckReport { live: at_this_check.to_owned(), ..report(spec, PASS) };
                sim.answer_with(Event::CheckEnded(Box::new(report)));
            } else {
                sim.tick();
            }
        }
        assert_eq!((sim.end().0, sim.outcome().verified()), (Complete, verified), "{at_this_check}");
        let told = sim.outcome().message.ends_with("had to run on the live tree: a pipe stands there");
        assert_eq!(told, !verified, "{}", sim.outcome().message);
    }
}

#[test]
fn e01_what_was_learned_and_not_pinned_is_read_again_after_a_crash() {
    let whole = play(world(OnChange::Fail, vec![turn(Agent::Claims)]));
    let behind = |wanted: fn(&Event) -> bool| whole.journal.iter().position(|entry| wanted(&entry.event)).unwrap() + 1;
    let learned = behind(|event| matches!(event, Event::Learned { .. }));
    let pinned = behind(|event| matches!(event, Event::Pinned { .. }));
    for (length, again) in [(learned, 1), (pinned, 0)] {
        let mut rest = Sim::cut(whole.world.clone(), &whole.journal[..length]);
        rest.resume(Resumed::default());
        rest.play();
        let learned = rest.journal[length..].iter().filter(|entry| matches!(entry.event, Event::Learned { .. }));
        assert_eq!(learned.count(), again, "cut behind entry {length}");
    }
}

#[test]
fn protection_is_a_condition_wherever_something_is_protected_or_was_changed() {
    for (on_change, paths, touched, holds) in [
        (OnChange::Fail, true, false, Some(true)),
        (OnChange::Fail, true, true, Some(false)),
        (OnChange::Fail, false, false, None),
        (OnChange::Fail, false, true, Some(false)),
        (OnChange::Allow, true, false, None),
        (OnChange::Allow, true, true, None),
    ] {
        let turn = if touched { touching("check.sh", Agent::Claims) } else { turn(Agent::Claims) };
        let mut world = world(on_change, vec![turn]);
        world.policy.protect.paths.retain(|_| paths);
        let sim = play(world);
        let conditions = sim.run.conditions();
        let protected = conditions.iter().find(|condition| condition.about == About::Protected);
        assert_eq!(protected.map(Condition::holds), holds, "{on_change:?} {paths} {touched}");
    }
}

#[test]
fn settings_cannot_switch_off_that_people_must_trust_them() {
    for (scripts, paths) in [(true, vec!["tests/a".to_owned()]), (true, Vec::new()), (false, Vec::new())] {
        let mut world = world(OnChange::Fail, vec![turn(Agent::Claims)]);
        (world.policy.protect.scripts, world.policy.protect.paths) = (scripts, paths);
        let untrusted = vec![".ralph/settings.json"];
        let sim = play(World { untrusted, ..world });
        let verification = sim.outcome().verification;
        assert_eq!(verification, Some(Verification::Untrusted), "scripts: {scripts}");
    }
}

#[test]
fn a_check_is_executed_with_the_runners_that_must_report() {
    let mut world = world(OnChange::Fail, vec![turn(Agent::Claims)]);
    world.policy.guardrails = guardrails(&["sh check.sh"]);
    let check = world.policy.checks(0, Ground::Project).remove(0).id;
    let of = |check: CheckId, name: &str| Reporting { check, name: name.to_owned() };
    let runners = vec![of(check, "pytest"), of(CheckId::new("other"), "jest")];
    let sim = play(World { known: Known { runners, ..Known::default() }, ..world });
    let executed = |activity: &Activity| matches!(activity, Activity::Check(spec, _) if spec.runners == ["pytest"]);
    assert_eq!((sim.end(), sim.started(executed)), ((Complete, 0, 1), 1));
}
