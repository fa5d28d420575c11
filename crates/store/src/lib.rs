//! ralph remembers.
//!
//! This is the only room that knows SQL. It keeps streams of entries (a run is one), in order and checked
//! by checksums, and beside each of them a row and receipts, which change in the same transaction and so
//! never disagree with it. It interprets nothing: events, rows and receipts are given to it and given
//! back. It does not fold entries, ask for the time, or know which process may write; whoever carries a
//! run holds a lock elsewhere.
//!
//! # Theory of operation
//!
//! One SQLite database per project in write-ahead mode. A commit appends pages to the log file
//! `ralph.db-wal`; readers in other processes go on reading the state of the last commit and never
//! wait. A commit that was not synced survives the death of the process, because its pages are with
//! the kernel; a synced one survives a power cut. A log that was torn anywhere is cut by SQLite
//! behind the last whole commit, so a transaction is there entirely or not at all.
//!
//! The last one to close the database moves the log into it and removes the log: a few syncs, once
//! per run, after which every stored byte that matters is under a checksum of ours.
//!
//! What an iteration pays is one [`Store::append`] with [`Durability::Synced`]: a few pages written
//! and one sync. The rest is arranged around that figure: statements are prepared once, entries go
//! to the right edge of their table, and the log is short, so that it is soon written over instead
//! of growing (a sync that also has to record a file's new size takes nearly twice as long).

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod error;
mod migrate;
mod open;
mod receipts;
mod replace;
mod requests;
mod rows;
mod salvage;
mod snapshots;
mod streams;

#[cfg(test)]
mod faults;
#[cfg(test)]
mod sample;

pub use error::{Class, IoProblem, Source, StoreError};
pub use replace::Replacement;
pub use requests::Asked;
pub use rows::{DamagedRow, Found, Stored, Which};
pub use salvage::{Damage, Remains, Salvage};

use open::FileId;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use streams::Tail;

/// The memory of one project.
#[derive(Debug)]
pub struct Store {
    conn: Connection,
    path: PathBuf,
    /// What `PRAGMA synchronous` is set to: setting it anew costs a statement, so only changes are.
    durability: Durability,
    /// Where the stream that was appended to last ends.
    tail: Option<Tail>,
    /// Whether a write failed, after which none is tried again.
    suspect: bool,
    /// The file that was opened: what is written to a deleted one is remembered by nobody.
    file: FileId,
}

/// What is guaranteed when a write has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It survives `kill -9`. A later synced write makes it survive a power cut as well.
    Written,
    /// It survives a power cut, and so does everything that was written before it.
    Synced,
}

impl Store {
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn reading<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        read(&self.conn).map_err(StoreError::sqlite(&self.path, "read"))
    }

    fn writing<T>(
        &mut self,
        durability: Durability,
        write: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.ensure(durability).and_then(|()| write(&self.conn)).map_err(|error| self.failed_to_write(error))
    }

    /// After a failed write the kernel may have dropped pages and forgotten that it did, so that a
    /// sync tried again would succeed without them. Only a new look at the files tells what is there.
    fn failed_to_write(&mut self, error: rusqlite::Error) -> StoreError {
        let error = StoreError::sqlite(&self.path, "write to")(error);
        self.suspect |= matches!(error, StoreError::Io { .. } | StoreError::Corrupt { .. });
        error
    }

    /// Switches what the next commit guarantees; SQLite ignores it inside of a transaction.
    fn ensure(&mut self, durability: Durability) -> rusqlite::Result<()> {
        if self.durability != durability {
            // OFF is never used: it would let a power cut damage the database itself.
            let level = match durability {
                Durability::Written => "PRAGMA synchronous = NORMAL",
                Durability::Synced => "PRAGMA synchronous = FULL",
            };
            self.conn.execute_batch(level)?;
            self.durability = durability;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{id, noted, row};

    #[test]
    fn every_append_is_as_durable_as_it_was_asked_to_be() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        let wanted = [Durability::Written, Durability::Synced, Durability::Synced, Durability::Written];
        for (durability, seq) in wanted.into_iter().zip(1..) {
            store.append(&[noted(seq, "x")], &row(&id("r1"), 1), &[], durability).unwrap();
            let level: u32 = store.conn.query_row("PRAGMA synchronous", [], |row| row.get(0)).unwrap();
            assert_eq!(level, if durability == Durability::Synced { 2 } else { 1 });
        }
    }
}
