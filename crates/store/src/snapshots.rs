//! Snapshots: what a stream's entries fold to, so that whoever goes on with a long one need not fold all of them.
//!
//! A snapshot is a copy, and nothing depends on it. One that is damaged, that another version of ralph wrote, or that
//! belongs to other entries than those of the journal is as good as none.

use crate::Store;
use crate::rows::number_of;
use crate::streams::{Tail, checksum, place};
use ralph_core::stream::StreamId;
use rusqlite::Connection;
use serde::de::DeserializeOwned;

/// What gives a state its meaning: the code that folds, and the format of what it folds.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), include_str!("../migrations/0001_journal.sql"));

impl Store {
    /// What a stream folded to when that was last kept; `None` if only its entries can tell. An error is no answer
    /// either: what is wrong with more than the snapshot is told by whoever reads the entries then.
    pub fn snapshot<S: DeserializeOwned>(&self, stream: impl Into<StreamId>) -> Option<S> {
        let stream = stream.into();
        let no = number_of(&self.conn, &stream).ok()??;
        let sql = "SELECT seq, state, s.checksum, j.checksum \
                   FROM snapshots s JOIN journal j ON j.place = s.no << 32 | s.seq WHERE s.no = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        let (seq, state, stored, entry): (i64, String, i64, i64) =
            self.conn.prepare_cached(sql).ok()?.query_row([no], read).ok()?;
        let fits = snapshot_checksum(&stream, seq.cast_unsigned(), entry, VERSION, &state) == stored;
        fits.then(|| serde_json::from_str(&state).ok()).flatten()
    }
}

/// Keeps what a stream folds to at its end, in place of what was kept before.
pub(crate) fn save(conn: &Connection, tail: &Tail, no: i64, state: &str, version: &str) -> rusqlite::Result<()> {
    let sql = "SELECT checksum FROM journal WHERE place = ?1";
    let entry = conn.prepare_cached(sql)?.query_row([place(no, tail.last_seq)], |row| row.get(0))?;
    let checksum = snapshot_checksum(&tail.stream, tail.last_seq, entry, version, state);
    conn.prepare_cached("INSERT OR REPLACE INTO snapshots VALUES (?1, ?2, ?3, ?4)")?
        .execute((no, tail.last_seq.cast_signed(), state, checksum))
        .map(drop)
}

/// Covers the entry behind which the state stood, so that it speaks for no other journal.
fn snapshot_checksum(stream: &StreamId, seq: u64, entry: i64, version: &str, state: &str) -> i64 {
    let version = checksum(stream, &[], version);
    checksum(stream, &[seq, entry.cast_unsigned(), version.cast_unsigned()], state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{entries, id, noted, row};
    use crate::{Durability, Salvage};
    use ralph_core::event::Event;
    use std::fs::{self, OpenOptions};
    use std::os::unix::fs::FileExt as _;
    use std::path::Path;

    /// Longer than a page, so that most of it stands on pages of its own.
    fn state(seq: u64) -> String {
        format!("the state behind entry {seq}. ").repeat(1000)
    }

    fn append(store: &mut Store, run: &str, seq: u64) {
        let state = state(seq);
        store.append_with(&[noted(seq, "x")], &row(&id(run), 1), &[], Some(&state), Durability::Written).unwrap();
    }

    fn kept(store: &Store, run: &str) -> Option<String> {
        store.snapshot(&id(run))
    }

    /// A run of two entries with a snapshot behind each of them, and another one.
    fn two_runs(folder: &Path) -> Store {
        let mut store = Store::open(folder).unwrap();
        for (run, seq) in [("r1", 1), ("r2", 1), ("r1", 2)] {
            append(&mut store, run, seq);
        }
        store
    }

    #[test]
    fn the_newest_snapshot_of_a_stream_is_found_and_outlives_entries_without_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = two_runs(dir.path());
        store.append(&[noted(3, "x")], &row(&id("r1"), 1), &[], Durability::Written).unwrap();
        drop(store);
        let store = Store::open_existing(dir.path()).unwrap().unwrap();
        assert_eq!((kept(&store, "r1"), kept(&store, "r2")), (Some(state(2)), Some(state(1))));
        assert_eq!((kept(&store, "none"), store.snapshot::<u64>(&id("r1"))), (None, None), "no such state");
        let count: u32 = store.conn.query_row("SELECT count(*) FROM snapshots", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 2, "one for each stream");
        let salvage = Salvage::read(dir.path()).unwrap();
        let left = salvage.streams().into_iter().map(|no| salvage.remains::<Event>(no).entries.len());
        assert_eq!(left.collect::<Vec<_>>(), [3, 1], "what is left of a damaged database is its entries");
    }

    #[test]
    fn entries_that_are_refused_leave_the_snapshot_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = two_runs(dir.path());
        let refused =
            store.append_with(&[noted(9, "x")], &row(&id("r1"), 1), &[], Some(&state(9)), Durability::Written);
        assert!(refused.is_err());
        assert_eq!(kept(&store, "r1"), Some(state(2)));
    }

    #[test]
    fn a_snapshot_that_does_not_fit_is_none_and_the_entries_are_as_they_were() {
        let altered = [
            "UPDATE snapshots SET state = replace(state, 'behind', 'before')",
            "UPDATE snapshots SET state = substr(state, 1, 5000)",
            "UPDATE snapshots SET state = ''",
            "UPDATE snapshots SET seq = 1",
            "UPDATE snapshots SET seq = 3",
            "UPDATE snapshots SET seq = -1",
            "UPDATE snapshots SET seq = 1 << 32 | 2",
            "UPDATE snapshots SET checksum = checksum + 1",
            "UPDATE snapshots SET no = no + 9",
            "DELETE FROM snapshots",
            "DROP TABLE snapshots",
        ];
        for damage in altered {
            let dir = tempfile::tempdir().unwrap();
            let mut store = two_runs(dir.path());
            store.conn.execute(damage, []).unwrap();
            assert_eq!(kept(&store, "r1"), None, "{damage}");
            append(&mut store, "r1", 3);
            assert_eq!(kept(&store, "r1").is_none(), damage.starts_with("DROP"), "{damage}");
            assert_eq!(entries(&store, &id("r1")).unwrap().len(), 3, "{damage}");
        }
    }

    #[test]
    fn a_snapshot_of_another_version_or_another_journal_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let store = two_runs(dir.path());
        let stream = StreamId::from(&id("r1"));
        let no = number_of(&store.conn, &stream).unwrap().unwrap();
        let tail = |last_seq| Tail { stream: stream.clone(), no: Some(no), last_seq, keys: None };
        let fits = |version: &str| {
            save(&store.conn, &tail(1), no, "\"x\"", version).unwrap();
            kept(&store, "r1")
        };
        assert_eq!((fits(VERSION), fits("0.0.9")), (Some("x".to_owned()), None));
        assert!(fits(VERSION).is_some());
        // The end of the journal is lost, or another one was written in its place.
        store.conn.execute("UPDATE journal SET checksum = checksum + 1 WHERE place & 255 = 1", []).unwrap();
        assert_eq!(kept(&store, "r1"), None);
        store.conn.execute("DELETE FROM journal WHERE place & 255 = 1", []).unwrap();
        assert_eq!(kept(&store, "r1"), None);
    }

    #[test]
    fn whatever_happens_to_its_pages_the_entries_are_read_and_the_run_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        drop(two_runs(dir.path()));
        let path = dir.path().join("ralph.db");
        let original = fs::read(&path).unwrap();
        // Pages that hold nothing but a part of the state, behind the number of the page that follows.
        let (page, words) = (4096, b"the state behind entry 2");
        let holds_it = |at: &usize| original[at + 4..at + page].windows(words.len()).any(|text| text == words);
        let hit: Vec<usize> =
            (0..original.len()).step_by(page).filter(|at| original[*at] == 0).filter(holds_it).collect();
        assert!(hit.len() > 5, "{hit:?}");
        for at in hit {
            for (from, bytes) in
                [(at, vec![0xff; 4]), (at, vec![0; 4]), (at + 2000, vec![b'#']), (at, vec![0xff; 4096])]
            {
                fs::write(&path, &original).unwrap();
                OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&bytes, from as u64).unwrap();
                let mut store = Store::open(dir.path()).unwrap();
                assert!(kept(&store, "r1").is_none_or(|kept| kept == state(2)), "{at}");
                assert!(kept(&store, "r2").is_none_or(|kept| kept == state(1)), "{at}");
                append(&mut store, "r1", 3);
                assert!(kept(&store, "r1").is_none_or(|kept| kept == state(3)), "{at}");
                assert_eq!(entries(&store, &id("r1")).unwrap().len(), 3, "{at}: {from}");
            }
        }
    }
}
