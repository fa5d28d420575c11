//! Generated worlds and events. Everything small, so that two things often meet and a failing case
//! shrinks to a script that can be read.

use crate::sim::{
    Agent, FAIL, Knock, Look, PASS, Turn, World, agent, changed, guardrails, limited, observation, pinned, policy,
    request, runs, supervised, transient, turn, turn as turn_of,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use ralph_core::check::{CheckEnding, CheckReport, CheckSpec, Ground};
use ralph_core::event::{Event, Gathered, Resumed};
use ralph_core::guardrail::FailAction;
use ralph_core::id::CheckId;
use ralph_core::inbox::Heard;
use ralph_core::observation::{
    Ending, Failure, FailureClass, Leaked, Marker, Markers, Observation, StartFault, Tokens, ToolResult, ToolRun,
};
use ralph_core::policy::{Passes, Policy, VerifyPolicy};
use ralph_core::protect::{OnChange, PinFailure, Pins};
use ralph_core::scm::{Pending, ScmPolicy, ScmReport, ScmSpec};
use ralph_core::time::Millis;
use ralph_core::words::Note;

/// The commands of the checks, by which answers of other checks are told apart from fitting ones.
const CHECKS: [&str; 3] = ["make lint", "make test", "make doc"];

fn check_of(command: &str) -> CheckSpec {
    let policy = Policy { guardrails: guardrails(&[command]), ..policy() };
    policy.checks(1, Ground::Project).remove(0)
}

pub fn policies() -> impl Strategy<Value = Policy> {
    let counts = (1u32..6, 0u32..4, 0u32..4, 0usize..4);
    let caps = (mostly(0, 1_000u64..200_000), mostly(0u64, 1u64..500), mostly(0u64, 100u64..3000));
    let switches =
        (any::<bool>(), mostly(false, Just(true)), prop_oneof![9 => Just(Passes::Loop), 1 => Just(Passes::Single)]);
    (counts, caps, switches).prop_map(
        |((most, stall, fails, rules), (wall, cents, tokens), (memory, protocol, passes))| {
            let mut policy = policy();
            policy.limits.max_iterations = most;
            policy.limits.stall_after = stall;
            policy.limits.max_consecutive_failures = fails;
            policy.limits.wall = Millis(wall);
            policy.limits.max_cost_usd = cents as f64 / 100.0;
            policy.limits.max_tokens = tokens;
            policy.guardrails = guardrails(&CHECKS[..rules]);
            for (rule, action) in policy.guardrails.iter_mut().zip([FailAction::Append, FailAction::Replace]) {
                rule.fail_action = action;
            }
            policy.memory.enabled = memory;
            policy.protocol = protocol;
            policy.protect.tests = memory;
            policy.passes = passes;
            policy
        },
    )
}

/// Rules of every kind, helpers and supervision included.
pub fn policies_of_all_kinds() -> impl Strategy<Value = Policy> {
    prop_oneof![3 => policies_with_helpers(), 1 => (1u32..6).prop_map(supervised)]
}

/// Root agents that are restarted, wait, or come to DONE.
pub fn supervised_worlds() -> impl Strategy<Value = World> {
    let turn = (agents(), markers(), mostly(Marker::Absent, markers()), 0u64..3_000);
    let turn =
        turn.prop_map(|(agent, marker, wait, takes)| Turn { marker, wait, takes: Millis(takes), ..turn_of(agent) });
    (1u32..8, vec(turn, 1..8), markers())
        .prop_map(|(most, turns, done)| World { done, ..World::new(supervised(most), turns) })
}

/// Rules that also name other agents and tasks of version control.
fn policies_with_helpers() -> impl Strategy<Value = Policy> {
    let tasks = vec(select(vec!["add -A", "commit", "push"]), 0..4);
    (policies(), tasks, 0usize..3, any::<bool>()).prop_map(|(mut policy, tasks, others, wait)| {
        policy.scm = ScmPolicy { command: "git".to_owned(), tasks: tasks.into_iter().map(str::to_owned).collect() };
        policy.fallback = ["second", "third"][..others].iter().map(|name| agent(name)).collect();
        policy.limits.wait = wait;
        policy.verify = VerifyPolicy { baseline: wait, clean_checkout: others == 1, ..VerifyPolicy::default() };
        policy.protect.scripts = wait;
        policy.protect.on_change = [OnChange::Fail, OnChange::Restore, OnChange::Allow][others];
        policy
    })
}

/// A plain value most of the time.
fn mostly<T: Clone + std::fmt::Debug + 'static>(
    plain: T,
    other: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<T> {
    prop_oneof![3 => Just(plain), 1 => other].boxed()
}

fn agents() -> impl Strategy<Value = Agent> {
    prop_oneof![
        5 => Just(Agent::Claims),
        5 => Just(Agent::Works),
        3 => Just(Agent::Fails),
        1 => Just(Agent::TimesOut),
        1 => Just(Agent::Killed),
        1 => Just(Agent::Blocked("no key")),
        1 => Just(Agent::CannotRun),
    ]
}

fn check_endings() -> impl Strategy<Value = CheckEnding> {
    prop_oneof![
        8 => Just(PASS),
        2 => Just(FAIL),
        1 => Just(CheckEnding::Exited { code: 127 }),
        1 => Just(CheckEnding::Signalled { signal: 9 }),
        1 => Just(CheckEnding::TimedOut { limit: Millis(60_000) }),
        1 => (0..3usize).prop_map(|fault| CheckEnding::NotStarted {
            reason: "no shell".to_owned(),
            fault: [StartFault::Program, StartFault::Folder, StartFault::Machine][fault],
        }),
    ]
}

fn looks() -> impl Strategy<Value = Look> {
    prop_oneof![
        6 => (0u8..3).prop_map(Look::Files),
        1 => (0u8..3, 1u8..3).prop_map(|(files, head)| Look::Committed(files, head)),
        1 => Just(Look::Unknown),
    ]
}

fn markers() -> impl Strategy<Value = Marker> {
    prop_oneof![9 => Just(Marker::Absent), 2 => Just(Marker::Present), 1 => Just(Marker::WrongKind("directory".to_owned()))]
}

fn refusals() -> impl Strategy<Value = Vec<Failure>> {
    let resets = option::of(prop_oneof![0i64..2_000_000_000, any::<i64>()]);
    let refusal = prop_oneof![resets.prop_map(limited), Just(transient())];
    prop_oneof![4 => Just(Vec::new()), 1 => vec(refusal, 1..4)]
}

fn turns() -> impl Strategy<Value = Turn> {
    let agent = (agents(), refusals(), markers());
    let tree = (vec(check_endings(), 0..4), vec(looks(), 1..5));
    let base = prop_oneof![20 => Just(None), 1 => Just(Some(Err("prompt.md is gone".to_owned())))];
    let words = (base, select(vec!["", "", "", "please use tabs"]));
    let price = (0u64..90_000, mostly(0.0, 0.0..3.0f64), 0u64..1000);
    (agent, tree, words, price).prop_map(|((agent, refusals, marker), (checks, looks), (base, human), price)| Turn {
        refusals,
        marker,
        checks,
        looks,
        base,
        human,
        takes: Millis(price.0),
        cost_usd: price.1,
        tokens: price.2,
        ..turn(agent)
    })
}

fn resumes() -> impl Strategy<Value = Resumed> {
    (option::of(0u32..8), option::of((0u64..400_000).prop_map(Millis)), option::of(0.0..9.0f64)).prop_map(
        |(max_iterations, wall, max_cost_usd)| Resumed { max_iterations, wall, max_cost_usd, ..Resumed::default() },
    )
}

/// Worlds in which anything may happen, resumes included.
pub fn worlds() -> impl Strategy<Value = World> {
    let knock = prop_oneof![3 => Just(Knock::Interrupt), 1 => Just(Knock::Cancel), 1 => Just(Knock::Note)];
    (policies(), vec(turns(), 1..6), vec((0usize..20, knock), 0..4), vec(resumes(), 0..4), looks()).prop_map(
        |(policy, turns, knocks, resumes, baseline)| World { knocks, resumes, baseline, ..World::new(policy, turns) },
    )
}

/// Worlds in which nobody interferes and only the iteration's number decides, so that a crash may
/// cost time, but must not change how the run ends.
pub fn quiet_worlds() -> impl Strategy<Value = World> {
    (policies(), vec(turns(), 1..6), looks()).prop_map(|(mut policy, mut turns, baseline)| {
        for turn in &mut turns {
            turn.human = "";
        }
        // A crash ends a wait, and the time that was not waited is not used up; looks and checks are repeated
        // after it and take their time again.
        if turns.iter().any(|turn| !turn.refusals.is_empty()) || policy.looks_at_the_tree(true) {
            policy.limits.wall = Millis::ZERO;
        }
        // Inputs are read again after a crash; that must not be what decides over a wall time.
        World { baseline, gathering: Millis::ZERO, ..World::new(policy, turns) }
    })
}

/// An answer, or anything else that could ever stand in a journal.
pub fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => resumes().prop_map(|resumed| Event::Resumed(Box::new(resumed))),
        4 => gathered().prop_map(Event::Gathered),
        4 => observations().prop_map(|seen| Event::AgentEnded(Box::new(seen))),
        4 => (looks(), mostly(Vec::new(), Just(vec![changed("a")])))
            .prop_map(|(look, pinned)| Event::TreeSeen { print: look.print(), changed: None, stirred: Vec::new(), pinned }),
        4 => reports().prop_map(|report| Event::CheckEnded(Box::new(report))),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(ok, clean)| Event::CheckedOut {
            fault: !ok && clean,
            commit: if ok { Ok("c".to_owned()) } else { Err("no".to_owned()) },
            uncommitted: if clean { Vec::new() } else { vec!["a".to_owned()] },
            pinned: if clean { Vec::new() } else { vec![changed("a")] },
        }),
        1 => any::<bool>().prop_map(|ok| Event::Pinned {
            pins: if ok {
                let files = vec![pinned("a", &[check_of(CHECKS[0]).id])];
                Ok(Box::new(Pins { files, tree_seen: true, ..Pins::default() }))
            } else {
                Err(PinFailure { why: "too many".to_owned(), fault: false })
            },
            untrusted: Vec::new(),
        }),
        1 => Just(Event::PinnedRestored { problems: vec!["x".to_owned()] }),
        1 => pending().prop_map(|pending| Event::ScmLooked { pending }),
        1 => (0..3usize, any::<bool>()).prop_map(|(count, seen)| Event::MadeSeen {
            made: vec![(CheckId::new("make_test"), (0..count).map(|number| format!(".m{number}")).collect())],
            problem: if seen { String::new() } else { "no thread".to_owned() },
            tests: (0..count).map(|number| format!("tests/test_{number}.py")).collect(),
        }),
        1 => (0..3usize, any::<bool>()).prop_map(|(count, seen)| Event::LeftOutSeen {
            paths: (0..count).map(|number| format!("new{number}")).collect(),
            problem: if seen { String::new() } else { "git was killed".to_owned() },
        }),
        2 => scm_reports().prop_map(|report| Event::ScmEnded(Box::new(report))),
        2 => Just(Event::Woke),
        2 => (markers(), markers(), mostly(None, Just(Some("gone".to_owned()))))
            .prop_map(|(done, wait, problem)| Event::MarkersSeen { markers: Markers { done, wait, ..Markers::default() }, problem }),
        2 => mostly(Vec::new(), Just(vec!["c1"])).prop_map(|left| Event::ChildrenSeen { left: runs(&left), ended: Vec::new() }),
        1 => option::of(Just("full".to_owned())).prop_map(|problem| Event::Posted { problem }),
        2 => vec(heard(), 0..3).prop_map(|messages| Event::Heard { messages }),
        1 => Just(Event::Interrupted),
        1 => Just(Event::Cancelled),
        1 => Just(Event::CancelledUncarried),
        1 => Just(Event::TestsCompared { changed: Err("the record is gone".to_owned()) }),
        1 => Just(World::new(policy(), Vec::new()).first_entry().event),
        1 => Just(Event::SettingsEdited { file: "ralph.toml".to_owned() }),
        1 => Just(Event::WallTimeUp),
        1 => Just(Event::BudgetUp),
        1 => ".{0,12}".prop_map(|text| Event::Noted { note: Note::Machine { text } }),
    ]
}

fn heard() -> impl Strategy<Value = Heard> {
    prop_oneof![
        2 => select(vec!["m1", "m2"]).prop_map(request),
        1 => select(vec!["m1", "m2"]).prop_map(|id| Heard::Ack { of: vec![id.to_owned()] }),
        1 => Just(Heard::Wait { why: "tired".to_owned() }),
        1 => ".{0,12}".prop_map(|text| Heard::Fact { text }),
    ]
}

fn gathered() -> impl Strategy<Value = Gathered> {
    let base = prop_oneof![
        4 => Just(None),
        2 => "[a-z\n ]{0,12}".prop_map(|text| Some(Ok(text))),
        1 => ".{0,12}".prop_map(|problem| Some(Err(problem))),
    ];
    (base, ".{0,12}", ".{0,12}").prop_map(|(base, summary, human)| Gathered { base, summary, human, tree: None })
}

fn reports() -> impl Strategy<Value = CheckReport> {
    let ending = prop_oneof![8 => check_endings(), 1 => Just(CheckEnding::Stopped)];
    (0usize..3, ending, ".{0,12}", any::<u64>(), 0u32..3).prop_map(|(index, ending, output_head, bytes, leaked)| {
        let spec = check_of(CHECKS[index]);
        let report = CheckReport::silent(spec, ending, ".ralph/x.log".to_owned());
        CheckReport { duration: Millis(bytes), output_head, output_bytes: bytes, leaked, ..report }
    })
}

fn pending() -> impl Strategy<Value = Pending> {
    let seen = (any::<bool>(), any::<bool>()).prop_map(|(tracked, untracked)| Pending::Seen { tracked, untracked });
    prop_oneof![3 => seen, 1 => Just(Pending::Unknown)]
}

fn scm_reports() -> impl Strategy<Value = ScmReport> {
    let ending = prop_oneof![8 => check_endings(), 1 => Just(CheckEnding::Stopped)];
    (0usize..4, select(vec!["add -A", "commit", "push"]), ending).prop_map(|(index, task, ending)| {
        let spec = ScmSpec { index, task: task.to_owned(), program: "git".to_owned(), args: vec![task.to_owned()] };
        ScmReport {
            spec,
            ending,
            duration: Millis(1),
            output: "x".to_owned(),
            advice: String::new(),
            nothing: false,
            differs: Vec::new(),
            uncompared: String::new(),
            left_out: Vec::new(),
        }
    })
}

fn observations() -> impl Strategy<Value = Observation> {
    let ending = prop_oneof![
        4 => Just(Ending::Exited { code: 0 }),
        1 => any::<i32>().prop_map(|code| Ending::Exited { code }),
        1 => any::<i32>().prop_map(|signal| Ending::Signalled { signal }),
        1 => Just(Ending::Idle { limit: Millis(u64::MAX) }),
        1 => Just(Ending::TimedOut { limit: Millis(1) }),
        1 => Just(Ending::Lingered),
        2 => Just(Ending::Stopped),
        1 => Just(Ending::KeeperLost),
    ];
    let classes = vec![FailureClass::CannotRun, FailureClass::Limited, FailureClass::Transient, FailureClass::Other];
    let failure = (select(classes), ".{0,12}", option::of(any::<i64>()))
        .prop_map(|(class, message, resets_at)| Failure { class, message, resets_at });
    let how = (agents(), ending, option::weighted(0.4, failure), markers());
    let tool = (".{0,8}", option::of(".{0,8}"), select(vec![ToolResult::Passed, ToolResult::Failed]))
        .prop_map(|(name, command, result)| ToolRun { name, command, result, tests: Default::default() });
    let words = (vec(".{0,12}", 0..3), vec(tool, 0..3), ".{0,30}", vec(".{0,12}", 0..3));
    let usage = (option::of(0.0..1e9f64), any::<u64>(), any::<u64>(), 0u32..3);
    (how, words, usage).prop_map(|((agent, ending, failure, marker), words, (cost_usd, input, bytes, leaked))| {
        let mut seen = observation(&agent, ending);
        seen.failure = failure;
        seen.marker = marker;
        (seen.errors, seen.tools, seen.last_text, seen.messages) = words;
        seen.cost_usd = cost_usd;
        seen.tokens = Tokens { input, output: bytes, cache_read: input, cache_write: bytes };
        seen.process.bytes = bytes;
        seen.process.leaked_count = leaked;
        seen.process.leaked = vec![Leaked { pid: 7, command: "sleep 60".to_owned() }];
        seen
    })
}
