//! The proof that ralph itself executed a check: made from the journal, and kept beside it.

use crate::check::TreePrint;
use crate::event::{Entry, Event};
use crate::time::{Millis, WallTime};

/// The proof that ralph itself executed a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The number of the entry that it comes from.
    pub seq: u64,
    /// The iteration that was checked.
    pub iteration: u32,
    /// What was executed.
    pub command: String,
    /// Whether it passed.
    pub passed: bool,
    /// Its exit code, if it ended by itself.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration: Millis,
    /// SHA-256 of its whole output.
    pub output_hash: String,
    /// Bytes of its whole output.
    pub output_bytes: u64,
    /// The log's path, relative to the project.
    pub log: String,
    /// The hash of the tree that was last seen before it, if it could be seen.
    pub tree: Option<String>,
    /// When it ended.
    pub at: WallTime,
}

/// The receipts of the checks among a run's entries. `iteration` is the one that the run was in before the first of
/// them, and `tree` the tree that was seen last; it is left as the entries leave it.
pub fn receipts(entries: &[Entry], iteration: u32, tree: &mut Option<String>) -> Vec<Receipt> {
    let receipt = |entry: &Entry| match &entry.event {
        Event::TreeSeen { print, .. } => {
            *tree = match print {
                TreePrint::Seen { tree, .. } => Some(tree.clone()),
                TreePrint::Unknown { .. } => None,
            };
            None
        }
        Event::CheckEnded(report) => Some(Receipt {
            seq: entry.seq,
            iteration,
            command: report.spec.command.clone(),
            passed: report.ending.passed(),
            exit_code: report.ending.code(),
            duration: report.duration,
            output_hash: report.output_hash.clone(),
            output_bytes: report.output_bytes,
            log: report.log.clone(),
            tree: tree.clone(),
            at: entry.at,
        }),
        _ => None,
    };
    entries.iter().filter_map(receipt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{CheckEnding, CheckReport, CheckSpec};

    fn entry(seq: u64, event: Event) -> Entry {
        Entry { seq, at: WallTime(seq.cast_signed()), elapsed: Millis(seq), event }
    }

    fn look(seq: u64, print: TreePrint) -> Entry {
        entry(seq, Event::TreeSeen { print, changed: None, pinned: Vec::new() })
    }

    fn seen(tree: &str) -> TreePrint {
        TreePrint::Seen { tree: tree.to_owned(), head: String::new() }
    }

    fn check(seq: u64, command: &str, code: i32) -> Entry {
        let spec = CheckSpec {
            index: 0,
            command: command.to_owned(),
            timeout: Millis::ZERO,
            log_name: String::new(),
            ground: Default::default(),
        };
        let ended = CheckReport::silent(spec, CheckEnding::Exited { code }, "log".to_owned());
        entry(seq, Event::CheckEnded(Box::new(ended)))
    }

    #[test]
    fn a_receipt_names_its_entry_and_the_tree_that_was_seen_last() {
        let mut tree = Some("t0".to_owned());
        let entries = [
            check(3, "lint", 1),
            look(4, seen("t1")),
            check(5, "test", 0),
            look(6, TreePrint::fault("no git")),
            check(7, "test", 0),
            look(8, seen("t2")),
        ];
        let made = receipts(&entries, 2, &mut tree);
        let told: Vec<_> = made.iter().map(|r| (r.seq, r.command.as_str(), r.exit_code, r.tree.as_deref())).collect();
        assert_eq!(
            told,
            [(3, "lint", Some(1), Some("t0")), (5, "test", Some(0), Some("t1")), (7, "test", Some(0), None)]
        );
        assert!(made.iter().all(|r| r.iteration == 2 && r.passed == (r.exit_code == Some(0))));
        assert_eq!(tree.as_deref(), Some("t2"));
    }
}
