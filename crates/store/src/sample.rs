//! What the tests of this room append: small, and different in every part that could be mixed up.

use crate::{Store, StoreError, Stored, Which};
use ralph_core::check::{CheckEnding, CheckReport, CheckSpec, TreePrint};
use ralph_core::claim::Completion;
use ralph_core::event::{Entry, Event, Started};
use ralph_core::id::{RunId, TaskName};
use ralph_core::observation::Tokens;
use ralph_core::policy::{
    AgentPolicy, Limits, LoopKind, MemoryPolicy, Passes, Policy, PromptSource, PromptVia, StopCriteria,
};
use ralph_core::receipt::{Receipt, receipts};
use ralph_core::run::RunRow;
use ralph_core::time::{Millis, WallTime};
use std::collections::BTreeMap;

pub(crate) fn id(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

pub(crate) fn entry(seq: u64, event: Event) -> Entry {
    Entry { seq, at: WallTime(1_700_000_000_000 + seq as i64), elapsed: Millis(seq * 7), event }
}

pub(crate) fn noted(seq: u64, text: &str) -> Entry {
    entry(seq, Event::Noted { text: text.to_owned() })
}

pub(crate) fn tree_seen(seq: u64, tree: &str) -> Entry {
    entry(
        seq,
        Event::TreeSeen {
            print: TreePrint::Seen { tree: tree.to_owned(), head: "head".to_owned() },
            pinned: Vec::new(),
            changed: None,
        },
    )
}

pub(crate) fn check_ended(seq: u64, command: &str, code: i32) -> Entry {
    let spec = CheckSpec {
        index: 0,
        command: command.to_owned(),
        timeout: Millis(600_000),
        log_name: "check.log".to_owned(),
        ground: Default::default(),
    };
    let report = CheckReport {
        spec,
        ending: CheckEnding::Exited { code },
        duration: Millis(1234),
        output_head: "the beginning".to_owned(),
        output_hash: "abcd".repeat(16),
        output_bytes: u64::MAX,
        excerpt: Default::default(),
        output_print: String::new(),
        log: ".ralph/check.log".to_owned(),
        leaked: 0,
    };
    entry(seq, Event::CheckEnded(Box::new(report)))
}

/// The receipt of an entry that ends a check.
pub(crate) fn receipt(entry: &Entry, iteration: u32, tree: Option<&str>) -> Receipt {
    receipts(std::slice::from_ref(entry), iteration, &mut tree.map(str::to_owned)).remove(0)
}

/// What the store has of a run.
pub(crate) fn entries(store: &Store, run: &RunId) -> Result<Vec<Entry>, StoreError> {
    store.entries(run)
}

/// Its row, if it is known.
pub(crate) fn run_row(store: &Store, run: &RunId) -> Result<Option<RunRow>, StoreError> {
    Ok(store.row(run)?.map(|stored: Stored<RunRow>| stored.expect("a row that can be believed")))
}

/// All rows.
pub(crate) fn rows(store: &Store) -> Result<Vec<Stored<RunRow>>, StoreError> {
    store.newest(Which::All, usize::MAX)
}

pub(crate) fn started(run: &RunId) -> Entry {
    let started = Started {
        task_spent: Default::default(),
        inherited: Vec::new(),
        run: run.clone(),
        parent: None,
        policy: policy(),
        root: "/project".to_owned(),
        version: "0.1.0".to_owned(),
    };
    entry(1, Event::Started(Box::new(started)))
}

fn policy() -> Policy {
    Policy {
        kind: LoopKind::Prompt,
        task: TaskName::from_text("fix-login"),
        prompt: PromptSource::Text("Fix the login.".to_owned()),
        passes: Passes::Loop,
        completion: Completion::default(),
        protocol: true,
        iteration_line: true,
        guardrails: Vec::new(),
        output_chars: 5000,
        criteria: StopCriteria { passing_tests: false, lint: false, typecheck: false, no_errors: false, strict: false },
        fallback: Vec::new(),
        scm: Default::default(),
        protect: Default::default(),
        verify: Default::default(),
        limits: Limits {
            task_cost_usd: 0.0,
            task_tokens: 0,
            wait: true,
            max_iterations: 10,
            wall: Millis::ZERO,
            iteration: Millis::ZERO,
            idle: Millis::ZERO,
            linger: Millis::ZERO,
            max_cost_usd: 0.1 + 0.2,
            max_tokens: 0,
            stall_after: 3,
            max_consecutive_failures: 3,
            max_same_failures: 0,
            child_wait: ralph_core::policy::CHILD_WAIT,
        },
        memory: MemoryPolicy {
            enabled: false,
            max_chars: 20_000,
            summary_file: "summary.md".to_owned(),
            feedback_file: "feedback.md".to_owned(),
            state_file: "state.json".to_owned(),
            last_messages: 0,
        },
        agent: AgentPolicy {
            command: "claude".to_owned(),
            flags: Vec::new(),
            whole_flags: false,
            dialect: String::new(),
            format: String::new(),
            model: String::new(),
            prompt_via: PromptVia::Auto,
            env: BTreeMap::new(),
            env_remove: Vec::new(),
            stream: true,
        },
        supervision: None,
        config_hash: "0".repeat(64),
    }
}

pub(crate) fn row(run: &RunId, iteration: u32) -> RunRow {
    RunRow {
        run: run.clone(),
        parent: None,
        kind: LoopKind::Prompt,
        task: TaskName::from_text("fix-login"),
        agent: "claude".to_owned(),
        stop_reason: None,
        message: String::new(),
        verified: false,
        exit_code: None,
        iteration,
        max_iterations: 10,
        started_at: WallTime(1_700_000_000_000),
        updated_at: WallTime(1_700_000_000_000 + i64::from(iteration)),
        elapsed: Some(Millis(u64::from(iteration))),
        waits_until: None,
        last_check: Some(("cargo test".to_owned(), false)),
        cost_usd: Some(0.1 + 0.2),
        tokens: Tokens { input: 10, output: 20, cache_read: 30, cache_write: u64::MAX },
        idle: Millis::ZERO,
        left_changed: Vec::new(),
    }
}
