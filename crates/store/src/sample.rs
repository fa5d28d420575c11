//! What the tests of this room append: small, and different in every part that could be mixed up.

use crate::{Store, StoreError, Stored, Which};
use ralph_core::check::{CheckEnding, CheckReport, CheckSpec, TreePrint};
use ralph_core::event::{Entry, Event, Started};
use ralph_core::id::{CheckId, RunId, TaskName};
use ralph_core::observation::Tokens;
use ralph_core::policy::{LoopKind, Policy};
use ralph_core::receipt::Receipt;
use ralph_core::run::RunRow;
use ralph_core::time::{Millis, WallTime};
use ralph_core::words::Note;

pub(crate) fn id(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

pub(crate) fn entry(seq: u64, event: Event) -> Entry {
    Entry { seq, at: WallTime(1_700_000_000_000 + seq as i64), elapsed: Millis(seq * 7), event }
}

pub(crate) fn noted(seq: u64, text: &str) -> Entry {
    entry(seq, Event::Noted { note: Note::Machine { text: text.to_owned() } })
}

pub(crate) fn tree_seen(seq: u64, tree: &str) -> Entry {
    entry(
        seq,
        Event::TreeSeen {
            print: TreePrint::Seen { tree: tree.to_owned(), head: "head".to_owned() },
            pinned: Vec::new(),
            changed: None,
            stirred: Vec::new(),
        },
    )
}

pub(crate) fn check_ended(seq: u64, command: &str, code: i32) -> Entry {
    let spec = CheckSpec::new(CheckId::new("check"), command);
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
        carried: Vec::new(),
        live: String::new(),
        empty: false,
        pinned: Vec::new(),
        outside: Vec::new(),
        unwatched: String::new(),
    };
    entry(seq, Event::CheckEnded(Box::new(report)))
}

/// The receipt of an entry that ends a check.
pub(crate) fn receipt(entry: &Entry, iteration: u32, tree: Option<&str>) -> Receipt {
    Receipt::of(entry, iteration, tree).unwrap()
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
        no_repository: false,
        run: run.clone(),
        parent: None,
        policy: Policy::new(TaskName::from_text("fix-login")),
        root: "/project".to_owned(),
        version: "0.1.0".to_owned(),
    };
    entry(1, Event::Started(Box::new(started)))
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
        verification: None,
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
        tests_changed: None,
        plan: None,
    }
}
