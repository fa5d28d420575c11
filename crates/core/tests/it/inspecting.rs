//! The queue of an inspection: what is looked at and executed after an agent, in which order, and how often.

use crate::sim::{
    Agent, FAIL, Knock, Look, PASS, Sim, Turn, World, guardrails, observation, play, policy, report, runs, turn,
    unexpected,
};
use ralph_core::activity::{Activity, Leftover};
use ralph_core::check::{CheckEnding, CheckKind, CheckReport, CheckSpec, Ground};
use ralph_core::event::{Entry, Event, Resumed};
use ralph_core::evidence::TestsRan;
use ralph_core::guardrail;
use ralph_core::id::CheckId;
use ralph_core::notice::Notice;
use ralph_core::observation::{Ending, Observation, ToolResult, ToolRun};
use ralph_core::outcome::StopReason::*;
use ralph_core::outcome::Verification;
use ralph_core::policy::{Policy, StopCriteria};
use ralph_core::protect::{Change, OnChange, PinnedChange};
use ralph_core::run::Run;
use ralph_core::scm::ScmPolicy;
use ralph_core::time::Millis;
use ralph_core::words::Note;

fn world(commands: &[&str], turn: Turn) -> World {
    let mut policy = Policy { guardrails: guardrails(commands), ..policy() };
    policy.limits.max_iterations = 1;
    World::new(policy, vec![turn])
}

/// The same, where it was asked what the checks are made of and where they run.
fn pinning(commands: &[&str], turn: Turn) -> World {
    let mut world = world(commands, turn);
    world.policy.protect.scripts = true;
    world
}

/// What an inspection did, a word for each activity.
fn steps(sim: &Sim) -> Vec<String> {
    sim.pick_started(|activity| {
        Some(match activity {
            Activity::AwaitChildren { then: Leftover::Interrupt, .. } => "children".to_owned(),
            Activity::LookAtTree(_) => "look".to_owned(),
            Activity::RestorePinned { .. } => "restore".to_owned(),
            Activity::CheckOut { .. } => "check out".to_owned(),
            Activity::Check(spec, _) => spec.command.clone(),
            Activity::LookAtPending { .. } => "pending".to_owned(),
            Activity::LookForLeftOut { .. } => "left out".to_owned(),
            Activity::LookForMade { .. } => "made".to_owned(),
            Activity::Scm(spec, _) => spec.task.clone(),
            _ => return None,
        })
    })
}

/// The check that runs.
fn running_check(sim: &Sim) -> CheckSpec {
    match sim.running() {
        Some(Activity::Check(spec, _)) => (**spec).clone(),
        other => panic!("{other:?}"),
    }
}

/// Goes on until a check runs.
fn until_check(sim: &mut Sim) -> CheckSpec {
    while !matches!(sim.running(), Some(Activity::Check(..))) {
        sim.tick();
    }
    running_check(sim)
}

fn ended(report: CheckReport) -> Event {
    Event::CheckEnded(Box::new(report))
}

#[test]
fn j07_a_tree_that_moves_three_times_is_checked_three_times_and_then_not_accepted_and_not_committed() {
    let looks = (1..9).map(Look::Files).collect();
    let mut moving = world(&["a", "b"], Turn { looks, ..turn(Agent::Claims) });
    moving.policy.scm.tasks = vec!["commit".to_owned()];
    moving.policy.verify.clean_checkout = true;
    let sim = play(moving);
    let round = ["look", "check out", "a", "b"];
    assert_eq!(steps(&sim), [&round[..], &round, &round, &["look"]].concat());
    assert_eq!(sim.end(), (MaxIterations, 1, 1));
    assert!(sim.told_iterations()[0].1[0].starts_with("files kept changing while the checks ran"));
}

#[test]
fn without_a_repository_the_tree_is_looked_at_only_where_something_is_judged_by_it() {
    let remembers: fn(&mut Policy) = |policy| policy.memory.enabled = true;
    let stalls: fn(&mut Policy) = |policy| policy.limits.stall_after = 3;
    let commits: fn(&mut Policy) = |policy| policy.scm.tasks = vec!["commit".to_owned()];
    let protects: fn(&mut Policy) = |policy| policy.protect.paths = vec!["tests/**".to_owned()];
    let checks: fn(&mut Policy) = |policy| policy.guardrails = guardrails(&["a"]);
    for (set, judged) in [(remembers, false), (stalls, false), (commits, true), (protects, true), (checks, true)] {
        for no_repository in [false, true] {
            let mut world = World { no_repository, ..world(&[], turn(Agent::Works)) };
            set(&mut world.policy);
            let sim = play(world);
            let looks = sim.started(|activity| matches!(activity, Activity::LookAtTree(_)));
            let before =
                sim.started(|activity| matches!(activity, Activity::Gather(wanted) if wanted.before.is_some()));
            assert_eq!((looks > 0, before > 0), (judged || !no_repository, judged || !no_repository));
            // A repository that was made meanwhile is seen from the resume on.
            let mut resumed = sim;
            let seen = resumed.journal.len();
            resumed.resume(Resumed { max_iterations: Some(2), ..Resumed::default() });
            resumed.play();
            let looked = resumed.journal[seen..].iter().any(|entry| matches!(entry.event, Event::TreeSeen { .. }));
            assert!(looked);
        }
    }
}

#[test]
fn every_check_leaves_a_receipt_that_names_its_entry_its_iteration_and_the_tree_that_was_seen_last() {
    let failing = Turn { looks: vec![Look::Files(1)], checks: vec![PASS, FAIL], ..turn(Agent::Claims) };
    let unseen = Turn { looks: vec![Look::Unknown], ..turn(Agent::Claims) };
    let mut world = World::new(Policy { guardrails: guardrails(&["a", "b"]), ..policy() }, vec![failing, unseen]);
    world.policy.limits.max_iterations = 2;
    let sim = play(world);
    let (mut made, mut ends) = (Vec::new(), Vec::new());
    let _ = Run::replay(&sim.journal, |entry, step| {
        ends.extend(matches!(entry.event, Event::CheckEnded(_)).then_some((entry.seq, entry.at)));
        made.extend(step.receipts);
    });
    assert_eq!(made.iter().map(|receipt| (receipt.seq, receipt.at)).collect::<Vec<_>>(), ends);
    let told =
        made.iter().map(|made| (made.iteration, &*made.command, made.exit_code, made.passed, made.tree.as_deref()));
    let expected = [
        (1, "a", Some(0), true, Some("tree 1")),
        (1, "b", Some(1), false, Some("tree 1")),
        (2, "a", Some(0), true, None),
        (2, "b", Some(0), true, None),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

#[test]
fn j08_checks_speak_for_the_tree_as_it_is_after_a_pinned_file_was_put_back() {
    // The script is changed while the checks run, so what they said counts for nothing.
    let mut world = world(&["sh check.sh", "b"], Turn { touches: vec![("check.sh", 1)], ..turn(Agent::Claims) });
    world.policy.protect.scripts = true;
    world.policy.protect.on_change = OnChange::Restore;
    let sim = play(world);
    let round = ["look", "sh check.sh", "b", "look"];
    assert_eq!(steps(&sim), [&round[..], &["restore"], &round, &["made"]].concat());
    assert_eq!(sim.end(), (Complete, 0, 1));
    assert!(sim.outcome().verified());
}

#[test]
fn child_runs_are_waited_for_whether_or_not_the_tree_is_looked_at() {
    let busy = || Turn { children: vec!["c1"], ..turn(Agent::Claims) };
    assert_eq!(steps(&play(world(&[], busy()))), ["children"]);
    assert_eq!(steps(&play(world(&["a"], busy()))), ["children", "look", "a", "look"]);
}

#[test]
fn child_runs_live_on_where_nobody_is_to_wait_for_them() {
    let mut world = world(&["a"], Turn { children: vec!["c1"], ..turn(Agent::Claims) });
    world.policy.limits.child_wait = Millis::ZERO;
    let sim = play(world);
    assert_eq!(steps(&sim), ["look", "a", "look"]);
    let told = sim.told(|notice| match notice {
        Notice::Note(Note::ChildrenLiveOn { runs }) => Some(runs.clone()),
        _ => None,
    });
    assert_eq!(told, [runs(&["c1"])]);
}

#[test]
fn an_edited_settings_file_is_told_and_changes_nothing() {
    let mut sim = Sim::new(world(&["a"], turn(Agent::Claims)));
    until_check(&mut sim);
    sim.happen(Event::SettingsEdited { file: "ralph.json".to_owned() });
    sim.play();
    let edited = Note::SettingsEdited { file: "ralph.json".to_owned() };
    assert!(sim.told(|notice| (*notice == Notice::Note(edited.clone())).then_some(())).len() == 1);
    assert_eq!(sim.end(), (Complete, 0, 1));
}

#[test]
fn a_stopped_check_has_said_nothing_and_is_executed_again() {
    // Nobody wants the run to stop: the check is repeated at once, and the others follow.
    let mut sim = Sim::new(world(&["a", "b"], turn(Agent::Claims)));
    let spec = until_check(&mut sim);
    sim.answer_with(ended(report(&spec, CheckEnding::Stopped)));
    assert_eq!(running_check(&sim), spec);
    sim.play();
    assert_eq!(sim.checked(), ["a", "a", "b"]);
    assert_eq!(sim.end(), (Complete, 0, 1));

    // Somebody does: it is repeated on resume, on the tree as it is then, and stands in no verdict twice.
    let mut world = world(&["a", "b"], turn(Agent::Claims));
    world.knocks = vec![(4, Knock::Interrupt), (4, Knock::Interrupt)];
    world.resumes = vec![Resumed::default()];
    let sim = play(world);
    assert_eq!(steps(&sim), ["look", "a", "b", "look", "a", "b", "look"]);
    let passed = sim.told(|notice| match notice {
        Notice::CheckFinished { name, passed, .. } => Some((name.clone(), *passed)),
        _ => None,
    });
    let passed: Vec<(&str, bool)> = passed.iter().map(|(name, passed)| (name.as_str(), *passed)).collect();
    assert_eq!(passed, [("a", true), ("a", true), ("b", true)]);
    assert_eq!(sim.end(), (Complete, 0, 1));
}

#[test]
fn checks_with_equal_commands_have_ids_of_their_own() {
    for (commands, ids) in [
        (&["make test", "make  test", "make test"][..], &["make_test", "make_test_1", "make_test_2"][..]),
        (&["a", "a", "a 1"], &["a", "a_1", "a_1_1"]),
        (&["a", "a 1", "a"], &["a", "a_1", "a_2"]),
        (&["!", "?"], &["", "_1"]),
    ] {
        let named: Vec<CheckId> = ids.iter().copied().map(CheckId::new).collect();
        assert_eq!(guardrail::ids(&guardrails(commands)), named);
        let policy = Policy { guardrails: guardrails(commands), ..policy() };
        for (iteration, ground) in [(1, Ground::Project), (7, Ground::Checkout)] {
            let specs = policy.checks(iteration, ground);
            assert_eq!(specs.iter().map(|spec| spec.id.as_str()).collect::<Vec<_>>(), ids);
            let logs: std::collections::BTreeSet<&str> = specs.iter().map(|spec| spec.log_name.as_str()).collect();
            assert_eq!(logs.len(), ids.len(), "no log is overwritten by another");
        }
    }
}

#[test]
fn each_of_two_checks_with_equal_commands_answers_for_itself_and_for_its_own_past() {
    let mut world = world(&["a", "a"], turn(Agent::Claims));
    world.policy.verify.baseline = true;
    let mut sim = Sim::new(world);
    for ending in [PASS, FAIL] {
        let spec = running_check(&sim);
        sim.answer_with(ended(report(&spec, ending)));
    }
    let [first, second] = sim.run.policy().checks(1, Ground::Project).try_into().unwrap();
    assert_eq!(until_check(&mut sim), first);

    let last = sim.journal.last().unwrap().clone();
    let mut other = sim.run.clone();
    let step = other.step(&Entry { seq: last.seq + 1, event: ended(report(&second, PASS)), ..last });
    assert_eq!(step.tell, [unexpected("check_ended", "inspecting")]);

    for spec in [first, second] {
        sim.answer_with(ended(report(&spec, FAIL)));
    }
    let reasons = &sim.told_iterations()[0].1;
    let broke = "guardrail \"a\" failed with exit code 1 (see .ralph/guardrail_001_a.log); it passed before the first iteration, so this run broke it";
    let red = "guardrail \"a\" failed with exit code 1 (see .ralph/guardrail_001_a_1.log); it failed before the first iteration too";
    assert_eq!(*reasons, [broke, red]);
}

/// Plays a world whose checks are required or not, and end like this.
fn judged_by(checks: &[(bool, CheckEnding)]) -> Sim {
    let commands = &["a", "b", "c"][..checks.len()];
    let mut world = world(commands, turn(Agent::Claims));
    world.policy.scm.tasks = vec!["commit".to_owned()];
    world.policy.limits.max_iterations = 2;
    // What a failed agent leaves is not committed.
    world.turns.push(turn(Agent::Fails));
    let mut sim = Sim::new(world);
    for (required, ending) in checks {
        let spec = CheckSpec { required: *required, ..until_check(&mut sim) };
        sim.answer_with(ended(report(&spec, ending.clone())));
    }
    sim.play();
    sim
}

#[test]
fn a_check_that_is_not_required_is_told_and_judges_nothing() {
    let table = [
        // The checks; whether the claim is accepted, and whether as verified.
        ("it fails beside one that passes", vec![(false, FAIL), (true, PASS)], true, true),
        ("it passes beside one that fails", vec![(false, PASS), (true, FAIL)], false, false),
        ("both fail", vec![(false, FAIL), (true, FAIL)], false, false),
        ("it is the only one and fails", vec![(false, FAIL)], true, false),
        ("it is the only one and passes", vec![(false, PASS)], true, false),
    ];
    for (name, checks, accepted, verified) in table {
        let sim = judged_by(&checks);
        assert_eq!(sim.end().0, if accepted { Complete } else { MaxIterations }, "{name}");
        assert_eq!(sim.outcome().verified(), verified, "{name}");
        assert_eq!(sim.tasks().is_empty(), !accepted, "{name}: version control follows what counts");

        let told: Vec<bool> = sim.told(|notice| match notice {
            Notice::CheckFinished { iteration: 1, passed, .. } => Some(*passed),
            _ => None,
        });
        let endings: Vec<bool> = checks.iter().map(|(_, ending)| ending.succeeded()).collect();
        assert!(told.starts_with(&endings), "{name}: {told:?}");

        let (_, reasons) = &sim.told_iterations()[0];
        let refuting = checks.iter().filter(|(required, ending)| *required && !ending.succeeded()).count();
        assert_eq!(reasons.len(), refuting, "{name}: {reasons:?}");
        if let Some(next) = sim.prompts().get(1).filter(|_| !accepted) {
            assert_eq!(next.matches("Guardrail \"").count(), refuting, "{name}: {next}");
        }
    }
    let alone = judged_by(&[(false, PASS)]);
    assert!(alone.outcome().message.ends_with(": no required check was configured"), "{}", alone.outcome().message);
}

#[test]
fn a_file_that_was_written_beside_the_checks_is_checked_again_whatever_it_holds_now() {
    let turn = |stirs: &[&'static [&'static str]]| Turn { stirs: stirs.to_vec(), ..turn(Agent::Claims) };
    let round = ["look", "a", "look"];
    let (files, folders): (&[&str], &[&str]) = (&["src/add.sh", "src/"], &["src/"]);
    for stirs in [files, folders] {
        let sim = play(pinning(&["a"], turn(&[&[], stirs, &[]])));
        assert_eq!(steps(&sim), [&round[..], &["a", "look", "made"]].concat());
        assert_eq!(sim.notes(), [format!("files changed while the checks ran; checking again: {}", stirs.join(", "))]);
        assert!(sim.outcome().verified());
    }

    // What an agent writes before the checks counts by what it holds.
    let sim = play(pinning(&["a"], turn(&[files, &[]])));
    assert_eq!(steps(&sim), [&round[..], &["made"]].concat());
    assert!(sim.outcome().verified());

    // What never comes to rest is not accepted.
    let sim = play(pinning(&["a"], turn(&[&[], files, files, files])));
    assert_eq!(steps(&sim)[..7], ["look", "a", "look", "a", "look", "a", "look"]);
    let told = &sim.told_iterations()[0].1[0];
    assert!(told.starts_with("files kept changing while the checks ran") && told.contains("src/add.sh"), "{told}");
}

#[test]
fn what_comes_and_goes_in_a_folder_whenever_the_checks_run_keeps_nobody_from_the_end_but_proves_nothing() {
    let folders: &[&str] = &["src/"];
    let restless = || Turn { stirs: vec![&[], folders, folders, folders], ..turn(Agent::Claims) };
    let sim = play(pinning(&["a"], restless()));
    assert_eq!(sim.end(), (Complete, 0, 1));
    assert_eq!(sim.outcome().verification, Some(Verification::Unseen));
    assert!(sim.outcome().message.contains("came or went in src/"), "{}", sim.outcome().message);

    // Nor does it when the agent was asked for a message after that.
    let mut committing = pinning(&["a"], restless());
    committing.policy.scm = ScmPolicy { command: "git".to_owned(), tasks: vec!["commit".to_owned()] };
    let sim = play(committing);
    assert_eq!(sim.tasks().len(), 1);
    assert_eq!(sim.outcome().verification, Some(Verification::Unseen));

    // ralph itself carries something back, or the checks run on the live tree and may write there.
    let mut keeping = pinning(&["a"], restless());
    keeping.policy.guardrails[0].terms.keep = vec!["coverage".to_owned()];
    assert!(play(keeping).outcome().verified());
    let files: &[&str] = &["src/add.sh"];
    let mut live = pinning(&["a"], Turn { stirs: vec![&[], files, files, files], ..turn(Agent::Claims) });
    live.live = "verify.snapshot is off".to_owned();
    assert!(play(live).outcome().verified());
}

#[test]
fn what_a_check_did_to_a_judge_outside_of_its_snapshot_is_looked_at_before_the_next_check_runs() {
    let by = "/home/me/.local/bin/pytest".to_owned();
    let hidden = PinnedChange { path: "/opt/bin/pytest".to_owned(), how: Change::Hidden { by } };
    let mut sim = Sim::new(world(&["a", "b"], turn(Agent::Claims)));
    let spec = until_check(&mut sim);
    sim.answer_with(ended(CheckReport { pinned: vec![hidden.clone()], ..report(&spec, PASS) }));
    assert_eq!(steps(&sim), ["look", "a", "look"]);
    // It is still there: what was said until now counts for nothing.
    let print = Look::Files(1).print();
    sim.answer_with(Event::TreeSeen { print, changed: None, stirred: Vec::new(), pinned: vec![hidden.clone()] });
    assert_eq!(steps(&sim), ["look", "a", "look", "a"]);
    // Whoever left it there does the same again, and nobody has to look at what is known.
    sim.answer_with(ended(CheckReport { pinned: vec![hidden], ..report(&spec, PASS) }));
    assert_eq!(steps(&sim), ["look", "a", "look", "a", "b"]);

    // Behind the last check everything is looked at anyway.
    let mut sim = Sim::new(world(&["a"], turn(Agent::Claims)));
    let spec = until_check(&mut sim);
    let other = PinnedChange { path: "/opt/bin/pytest".to_owned(), how: Change::Program };
    sim.answer_with(ended(CheckReport { pinned: vec![other], ..report(&spec, PASS) }));
    assert_eq!(steps(&sim), ["look", "a", "look"]);
}

#[test]
fn a_check_that_passes_only_with_what_can_direct_it_and_was_made_meanwhile_verifies_nothing() {
    let play = |turn: Turn| play(pinning(&["make test"], turn));
    let made = |leans| Turn { made: &["tests/conftest.py"], leans, ..turn(Agent::Claims) };
    // Nothing was made, or nothing that the check needs.
    let sim = play(turn(Agent::Claims));
    assert_eq!((sim.checked(), sim.outcome().verified()), (vec!["make test"], true));
    let sim = play(made(false));
    assert_eq!((sim.checked(), sim.outcome().verified()), (vec!["make test"; 2], true));
    // It needs it: the work is complete as far as anybody knows, and no more.
    let sim = play(made(true));
    assert_eq!((sim.end().0, sim.outcome().verified()), (Complete, false));
    let told = &sim.outcome().message;
    assert!(told.contains("tests/conftest.py") && told.contains("guardrails[].work"), "{told}");
    // New tests may need what was made for them; those that were there must not.
    let with_tests = |leans_anyway| Turn { new_tests: &["tests/test_new.py"], leans_anyway, ..made(true) };
    let sim = play(with_tests(false));
    assert_eq!((sim.checked(), sim.outcome().verified()), (vec!["make test"; 3], true));
    let sim = play(with_tests(true));
    assert_eq!((sim.checked(), sim.outcome().verified()), (vec!["make test"; 3], false));
    let told = &sim.outcome().message;
    assert!(told.contains("tests/conftest.py") && !told.contains("test_new"), "{told}");
    // Nobody could look: nothing is verified by that either.
    let sim = play(Turn { unmade: "conf cannot be listed", ..turn(Agent::Claims) });
    assert_eq!((sim.end().0, sim.outcome().verification), (Complete, Some(Verification::Unseen)));
    assert!(sim.outcome().message.contains("conf cannot be listed"), "{}", sim.outcome().message);
    // Nobody claims anything.
    let works = Turn { made: &[".env"], ..turn(Agent::Works) };
    assert_eq!(play(works).checked(), ["make test"]);
}

#[test]
fn a_check_that_passes_only_with_what_was_changed_outside_of_the_tree_verifies_nothing() {
    let tool = "/home/me/.local/bin/tool";
    let play = |ending: CheckEnding, then: &[&str], unwatched: &str| {
        let mut sim = Sim::new(pinning(&["make test"], turn(Agent::Claims)));
        let mut tried = Vec::new();
        while !sim.is_finished() {
            let Some(Activity::Check(spec, _)) = sim.running().cloned() else {
                sim.tick();
                continue;
            };
            assert!(spec.watched, "somebody claims");
            let used = if spec.without.is_empty() { vec![tool] } else { then.to_vec() };
            let outside = used.into_iter().map(str::to_owned).collect();
            let ending = if spec.without.is_empty() { PASS } else { ending.clone() };
            tried.push(spec.without.clone());
            sim.answer_with(ended(CheckReport { outside, unwatched: unwatched.to_owned(), ..report(&spec, ending) }));
        }
        assert_eq!(tried, [vec![], vec![tool.to_owned()]]);
        (sim.outcome().verification, sim.outcome().message.clone())
    };
    assert_eq!(play(PASS, &[], "").0, Some(Verification::Verified));
    let (verification, told) = play(FAIL, &[], "");
    assert_eq!(verification, Some(Verification::Unpinned));
    assert!(told.contains(tool) && told.contains("ralph trust"), "{told}");
    // Without it, the next one that was put there is found.
    assert_eq!(play(PASS, &["/home/me/bin/tool"], "").0, Some(Verification::Unpinned));
    assert_eq!(play(PASS, &[], "nobody saw it").0, Some(Verification::Unseen));
}

#[test]
fn what_the_tool_runs_show_is_told_for_a_claim_but_for_errors_that_nobody_saw() {
    let tool = |command: &str, result| ToolRun {
        name: "Bash".to_owned(),
        command: Some(command.to_owned()),
        result,
        tests: TestsRan::Some,
    };
    let mut world = world(&[], turn(Agent::Claims));
    world.policy.criteria = StopCriteria { passing_tests: true, no_errors: true, ..StopCriteria::default() };
    for (agent, errors, told) in [
        (Agent::Claims, vec![], &[("tests", true)][..]),
        (Agent::Claims, vec!["it broke".to_owned()], &[("tests", true), ("errors", false)]),
        (Agent::Works, vec!["it broke".to_owned()], &[]),
    ] {
        let mut sim = Sim::new(world.clone());
        while !matches!(sim.running(), Some(Activity::Launch(_))) {
            sim.tick();
        }
        let tools = vec![tool("npm test", ToolResult::Passed)];
        let seen = Observation { tools, errors, ..observation(&agent, Ending::Exited { code: 0 }) };
        sim.answer_with(Event::AgentEnded(Box::new(seen)));
        sim.play();
        let found = sim.told(|notice| match notice {
            Notice::CheckFinished { kind: CheckKind::Evidence, name, passed, .. } => Some((name.clone(), *passed)),
            _ => None,
        });
        let found: Vec<(&str, bool)> = found.iter().map(|(name, passed)| (name.as_str(), *passed)).collect();
        assert_eq!(found, told, "{agent:?}");
    }
}
