//! A journal to look back at: the first claim is made while files still change under the checks, and
//! stands in the second round.

use ralph_core::check::{CheckEnding, CheckReport, CheckSpec, TreePrint};
use ralph_core::claim::Claim;
use ralph_core::event::{Entry, Event, Gathered, Started};
use ralph_core::guardrail::Guardrail;
use ralph_core::id::{CheckId, RunId, TaskName};
use ralph_core::observation::{Ending, Failure, FailureClass, Observation, Tokens};
use ralph_core::outcome::{StopReason, Verification};
use ralph_core::policy::{AgentPolicy, Limits, LoopKind, Policy, PromptSource};
use ralph_core::run::RunRow;
use ralph_core::time::{Millis, WallTime};
use std::collections::BTreeMap;

/// The agent of every sample.
pub fn agent() -> AgentPolicy {
    AgentPolicy {
        command: "claude".to_owned(),
        env: BTreeMap::from([("TOKEN".to_owned(), "secret".to_owned())]),
        stream: true,
        ..AgentPolicy::default()
    }
}

/// A run at a glance.
pub fn row(run: &str, stop_reason: Option<StopReason>) -> RunRow {
    RunRow {
        run: RunId::parse(run).unwrap(),
        parent: None,
        kind: LoopKind::Prompt,
        task: TaskName::from_text("login"),
        agent: "claude".to_owned(),
        stop_reason,
        message: String::new(),
        verification: (stop_reason == Some(StopReason::Complete)).then_some(Verification::Verified),
        exit_code: None,
        iteration: 3,
        max_iterations: 10,
        started_at: WallTime(0),
        updated_at: WallTime(372_000),
        elapsed: Some(Millis(372_000)),
        waits_until: None,
        last_check: Some(("cargo test".to_owned(), stop_reason.is_some())),
        cost_usd: Some(0.5),
        tokens: Tokens::default(),
        idle: Millis::ZERO,
        tests_changed: None,
        plan: None,
    }
}

/// One guardrail, three iterations, no memory.
fn policy() -> Policy {
    Policy {
        prompt: PromptSource::Text("do it".to_owned()),
        iteration_line: true,
        guardrails: vec![Guardrail { command: "make test".to_owned(), ..Guardrail::default() }],
        output_chars: 100,
        limits: Limits { max_iterations: 3, ..Limits::default() },
        agent: agent(),
        config_hash: "0123456789abcdef".to_owned(),
        ..Policy::new(TaskName::from_text("sample"))
    }
}

fn ended(claim: Claim, failure: Option<Failure>) -> Event {
    let nothing = Failure::new(FailureClass::Other, "");
    let code = i32::from(failure.is_some());
    let mut seen = Observation::not_started(nothing, Ending::Exited { code });
    seen.claim = claim;
    seen.failure = failure;
    Event::AgentEnded(Box::new(seen))
}

fn tree(name: &str) -> Event {
    Event::TreeSeen {
        print: TreePrint::Seen { tree: name.to_owned(), head: String::new() },
        changed: None,
        stirred: Vec::new(),
        pinned: Vec::new(),
    }
}

fn check(iteration: u32, code: i32) -> Event {
    let log_name = format!("guardrail_{iteration:03}_make_test.log");
    let spec = CheckSpec { log_name, ..CheckSpec::new(CheckId::new("make_test"), "make test") };
    Event::CheckEnded(Box::new(CheckReport {
        log: format!(".ralph/{}", spec.log_name),
        spec,
        ending: CheckEnding::Exited { code },
        duration: Millis(1200),
        output_head: "out".to_owned(),
        output_hash: "abcdefabcdef".to_owned(),
        output_bytes: 3,
        excerpt: Default::default(),
        output_print: String::new(),
        leaked: 0,
        carried: Vec::new(),
        live: String::new(),
        empty: false,
        pinned: Vec::new(),
        outside: Vec::new(),
        unwatched: String::new(),
    }))
}

/// The journal: iteration 1 fails, iteration 2 is complete in the second round of its checks.
pub fn journal() -> Vec<Entry> {
    let started = Started {
        task_spent: Default::default(),
        no_repository: false,
        run: RunId::from_random(7),
        parent: None,
        policy: policy(),
        root: "/project".to_owned(),
        version: "0.1.0".to_owned(),
    };
    let gathered =
        || Event::Gathered(Gathered { base: None, summary: String::new(), human: String::new(), tree: None });
    let events = [
        Event::Started(Box::new(started)),
        Event::Pinned { pins: Ok(Box::default()), untrusted: Vec::new() },
        gathered(),
        ended(Claim::Complete, Some(Failure::new(FailureClass::Other, "the agent exited with code 1"))),
        tree("aaaaaaaaaa"),
        check(1, 2),
        gathered(),
        ended(Claim::Complete, None),
        tree("bbbbbbbbbb"),
        check(2, 0),
        tree("cccccccccc"),
        check(2, 0),
        tree("cccccccccc"),
    ];
    let entry = |(n, event): (u64, Event)| Entry {
        seq: n,
        at: WallTime(n.cast_signed() * 1000),
        elapsed: Millis(n * 1000),
        event,
    };
    (1..).zip(events).map(entry).collect()
}
