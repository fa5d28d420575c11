//! What every engine relies on: steps that join in order, what may be done twice, and a first prompt that can be
//! foretold.

use crate::sim::{Agent, PASS, Sim, Turn, World, guardrails, play, policy, report, turn, turns};
use crate::worlds::{supervised_worlds, worlds};
use proptest::prelude::*;
use ralph_core::activity::{Act, Activity, BusName, Gather, Leftover, Look, Pinning, Post};
use ralph_core::check::{CheckSpec, Ground};
use ralph_core::event::{Entry, Event, Gathered, Started};
use ralph_core::id::CheckId;
use ralph_core::machine::{Machine, Next, Outside, Step};
use ralph_core::memory::Views;
use ralph_core::policy::{Policy, PromptSource};
use ralph_core::receipt::Receipt;
use ralph_core::run::Run;
use ralph_core::scm::ScmSpec;
use ralph_core::tests_changed::TestsRecord;
use ralph_core::time::{Millis, WallTime};
use std::sync::Arc;

type Letters = Step<char, char, char, char>;

/// The receipt of a check that passed.
fn receipt(command: &str) -> Receipt {
    let ended = Event::CheckEnded(Box::new(report(&CheckSpec::new(CheckId::new("check"), command), PASS)));
    Receipt::of(&Entry { seq: 1, at: WallTime(0), elapsed: Millis(0), event: ended }, 1, None).unwrap()
}

#[test]
fn steps_join_in_order_and_the_later_one_says_what_happens_next() {
    let letters = |tell: &[char], acts: &[char], next, durable, receipts: &[Receipt]| Letters {
        tell: tell.to_vec(),
        acts: acts.to_vec(),
        next,
        durable,
        receipts: receipts.to_vec(),
    };
    let [one, two] = ["one", "two"].map(receipt);
    let first = letters(&['a', 'b'], &['c'], Next::Start('d'), true, std::slice::from_ref(&one));
    let later = letters(&['e'], &['f', 'g'], Next::Finished('h'), false, std::slice::from_ref(&two));
    let both = letters(&['a', 'b', 'e'], &['c', 'f', 'g'], Next::Finished('h'), true, &[one, two]);
    assert_eq!(first.clone().then(later.clone()), both);
    assert_eq!(Letters::telling(['a']).then(later.clone()).next, later.next);
    assert_eq!(first.clone().then(Letters { next: Next::EndRunning, ..Step::default() }).next, Next::EndRunning);
    assert_eq!(first.clone().then(Step::default()), first, "a step that says nothing leaves what was said");
    assert_eq!(Letters::default().then(first.clone()), first);
    assert!(Letters::default().then(first).durable, "what must survive a power cut still must");
    let parts = Letters::telling(['a']).then(Letters::acting(['b'])).then(Letters::start('c'));
    assert_eq!(parts, letters(&['a'], &['b'], Next::Start('c'), false, &[]));
}

#[test]
fn what_only_reads_may_be_done_twice_and_nothing_else() {
    let pins = Default::default();
    let look = || Look { patience: Millis(1), pins: Arc::clone(&pins) };
    let gather = Gather {
        prompt_file: None,
        summary_file: None,
        feedback_file: String::new(),
        before: Some(look()),
        keep_tree: false,
    };
    let launch = play(World::new(policy(), turns(&[Agent::Claims]))).launches()[0].clone();
    let check = Policy { guardrails: guardrails(&["a"]), ..policy() }.checks(1, Ground::Project).remove(0);
    let scm = ScmSpec { index: 0, task: "push".to_owned(), program: "git".to_owned(), args: Vec::new() };
    let post = Post {
        bus: BusName::Task,
        key: String::new(),
        kind: ralph_core::bus::Kind::INFO,
        parents: Vec::new(),
        body: String::new(),
    };
    let record = TestsRecord { count: 1, hash: String::new() };
    let table = [
        (Activity::Gather(gather), true),
        (Activity::LookAtTree(look()), true),
        (Activity::Learn(Vec::new(), Ground::Project), true),
        (Activity::Pin(Pinning::default()), true),
        (Activity::CheckOut { pins: Arc::clone(&pins) }, true),
        (Activity::LookAtPending { program: "git".to_owned() }, true),
        (Activity::LookForLeftOut { pins: Arc::default() }, true),
        (Activity::LookForMade { pins: Arc::default(), protected: Vec::new(), checks: Vec::new() }, true),
        (Activity::LookAtMarkers, true),
        (Activity::CompareTests { record, patience: Millis(1) }, true),
        (Activity::Rest { span: Millis(1) }, true),
        (Activity::Launch(Box::new(launch)), false),
        (Activity::Check(Box::new(check), Default::default()), false),
        (Activity::RestorePinned { paths: Vec::new(), pins: Arc::clone(&pins) }, false),
        (Activity::Scm(scm, Arc::clone(&pins)), false),
        (Activity::AwaitChildren { span: Millis(1), then: Leftover::Leave }, false),
        (Activity::PostSafely(vec![post.clone()]), false),
        (Activity::Wait { until: WallTime(1) }, false),
    ];
    for (activity, can_repeat) in table {
        assert_eq!(Run::can_repeat(&activity), can_repeat, "{activity:?}");
    }
    let views = Views {
        summary: (String::new(), String::new()),
        feedback: (String::new(), String::new()),
        state: (String::new(), String::new()),
        seen_human: String::new(),
    };
    let table = [
        (Act::WriteViews(Box::new(views)), true),
        (Act::RemoveDone, false),
        (Act::RemoveWait, false),
        (Act::Post(post), false),
    ];
    for (act, can_repeat) in table {
        assert_eq!(Run::can_repeat_act(&act), can_repeat, "{act:?}");
    }
}

#[test]
fn time_that_is_up_has_nothing_to_add_once_the_run_is_being_ended() {
    let mut world = World::new(policy(), turns(&[Agent::Works]));
    assert_eq!(Sim::new(world.clone()).run.time_left(), None);
    world.policy.limits.wall = Millis::from_secs(90);
    let mut sim = Sim::new(world);
    sim.tick();
    let left = sim.run.time_left();
    assert_eq!(left, Some(Millis(90_000 - 5)));
    for (what, event, still) in
        [(Outside::Interrupt, Event::Interrupted, left), (Outside::Cancel, Event::Cancelled, None)]
    {
        assert_eq!(sim.run.outside(what), Some(event.clone()));
        sim.happen(event);
        assert_eq!(sim.run.time_left(), still);
    }
    assert_eq!(sim.run.outside(Outside::TimeUp), Some(Event::WallTimeUp));
}

fn started(world: &World) -> Started {
    match world.first_entry().event {
        Event::Started(started) => *started,
        other => panic!("{other:?}"),
    }
}

/// The first prompt as it is foretold, and as it was.
fn first_prompts(world: World) -> Option<(Option<String>, String)> {
    let sim = play(world);
    let first = sim.launches().first()?.prompt.clone();
    // The first launch follows the first inputs that could be read.
    let gathered = sim.journal.iter().find_map(|entry| match &entry.event {
        Event::Gathered(gathered) => Some(gathered),
        _ => None,
    });
    let at = sim.journal[0].at;
    Some((Run::first_prompt(&started(&sim.world), at, gathered.unwrap()), first))
}

#[test]
fn the_first_prompt_can_be_foretold() {
    let mut full = policy();
    (full.protocol, full.iteration_line, full.memory.enabled) = (true, true, true);
    full.prompt = PromptSource::File("prompt.md".to_owned());
    full.guardrails = guardrails(&["make test"]);
    full.verify.baseline = true;
    full.limits.stall_after = 2;
    full.criteria.passing_tests = true;
    let read = Turn { base: Some(Ok("From the file.".to_owned())), human: "use tabs", ..turn(Agent::Claims) };
    let world = World { earlier: "An earlier run did this.", ..World::new(full, vec![read]) };
    let (foretold, prompt) = first_prompts(world).unwrap();
    for part in ["From the file.", "use tabs", "An earlier run did this."] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    assert_eq!(foretold, Some(prompt));
}

#[test]
fn no_first_prompt_is_foretold_where_the_limits_leave_none() {
    let gathered = || Gathered { base: None, summary: String::new(), human: String::new(), tree: None };
    let foretold = |world: &World| Run::first_prompt(&started(world), WallTime(0), &gathered());
    let mut world = World::new(policy(), turns(&[Agent::Works]));
    assert_eq!(foretold(&world).as_deref(), Some("Fix the login.\n"));
    world.policy.limits.task_tokens = 5;
    world.spent.tokens = 5;
    assert_eq!(foretold(&world), None);
    assert!(play(world.clone()).launches().is_empty());
    world.policy.limits.task_tokens = 6;
    world.policy.limits.max_iterations = 0;
    assert_eq!(foretold(&world), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_first_prompt_can_be_foretold_in_every_world(world in prop_oneof![worlds(), supervised_worlds()]) {
        let world = World { resumes: Vec::new(), ..world };
        if let Some((foretold, prompt)) = first_prompts(world) {
            prop_assert_eq!(foretold, Some(prompt));
        }
    }
}
