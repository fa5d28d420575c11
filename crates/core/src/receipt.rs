//! The proof that ralph itself executed a check: made from the journal, and kept beside it.

use crate::event::{Entry, Event};
use crate::time::{Millis, WallTime};

/// The proof that ralph itself executed a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The number of the entry that it comes from.
    pub seq: u64,
    pub iteration: u32,
    pub command: String,
    pub passed: bool,
    /// Its exit code, if it ended by itself.
    pub exit_code: Option<i32>,
    pub duration: Millis,
    /// SHA-256 of its whole output.
    pub output_hash: String,
    /// Bytes of its whole output.
    pub output_bytes: u64,
    /// The log's path, relative to the project.
    pub log: String,
    /// The hash of the tree that was last seen before it, if it could be seen.
    pub tree: Option<String>,
    pub at: WallTime,
}

impl Receipt {
    /// The receipt of an entry, if it is the end of a check. `tree` is the one that was seen last.
    pub fn of(entry: &Entry, iteration: u32, tree: Option<&str>) -> Option<Receipt> {
        let Event::CheckEnded(report) = &entry.event else { return None };
        Some(Receipt {
            seq: entry.seq,
            iteration,
            command: report.spec.name().to_owned(),
            passed: report.passed(),
            exit_code: report.ending.code(),
            duration: report.duration,
            output_hash: report.output_hash.clone(),
            output_bytes: report.output_bytes,
            log: report.log.clone(),
            tree: tree.map(str::to_owned),
            at: entry.at,
        })
    }
}
