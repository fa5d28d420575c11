//! The journal: what happened, in order.
//!
//! An entry is stored as JSON, so that fields can be added without touching SQL, together with a
//! checksum that also covers the run and the number: an entry that was altered, moved or lost is
//! found when it is read, and named. What an entry means is not known here, with one exception: a
//! receipt needs the tree that was seen last.

use crate::open::file_id;
use crate::projection::{number_of, promised_entries, save_row, to_json};
use crate::{Durability, Receipt, Store, StoreError};
use ralph_core::check::TreePrint;
use ralph_core::event::{Entry, Event};
use ralph_core::id::RunId;
use ralph_core::run::RunRow;
use ralph_core::time::{Millis, WallTime};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, TransactionBehavior};
use sha2::{Digest, Sha256};

/// Where a run's journal ends.
#[derive(Debug, Clone)]
pub(crate) struct Tail {
    run: RunId,
    /// The run's number; `None` before its first append.
    no: Option<i64>,
    last_seq: u64,
    /// The tree that was seen last, if it could be seen.
    tree: Option<String>,
}

impl Store {
    /// Appends entries, replaces the run's row and adds the receipts of checks among the entries, in
    /// one transaction. What is guaranteed afterwards is said by `durability`; after an error nothing
    /// of it is there. The first entry must follow the run's last one, else it is a gap.
    ///
    /// Receipts take their iteration from `row`, so a check's entry comes with a row of the same
    /// iteration.
    pub fn append(
        &mut self,
        run: &RunId,
        entries: &[Entry],
        row: &RunRow,
        durability: Durability,
    ) -> Result<(), StoreError> {
        if self.suspect {
            return Err(StoreError::Suspect { path: self.path.clone() });
        }
        if file_id(&self.path) != self.file {
            return Err(StoreError::Gone { path: self.path.clone() });
        }
        let tail = match self.tail.take() {
            Some(tail) if tail.run == *run => tail,
            _ => find_tail(&self.conn, run).map_err(StoreError::sqlite(&self.path, "read"))?,
        };
        for (entry, expected) in entries.iter().zip(tail.last_seq + 1..) {
            if entry.seq != expected || expected > SEQ_MASK {
                let gap = StoreError::Gap { run: run.clone(), expected, found: entry.seq };
                self.tail = Some(tail);
                return Err(gap);
            }
        }
        match self.commit(tail, entries, row, durability) {
            Ok(tail) => {
                self.tail = Some(tail);
                Ok(())
            }
            // The place is taken: another process has appended since this one looked.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                let found = entries.first().map_or(0, |entry| entry.seq);
                let tail = find_tail(&self.conn, run).map_err(StoreError::sqlite(&self.path, "read"))?;
                Err(StoreError::Gap { run: run.clone(), expected: tail.last_seq + 1, found })
            }
            Err(error) => Err(self.failed_to_write(error)),
        }
    }

    fn commit(
        &mut self,
        mut tail: Tail,
        entries: &[Entry],
        row: &RunRow,
        durability: Durability,
    ) -> rusqlite::Result<Tail> {
        debug_assert_eq!(tail.run, row.run, "the row is of another run");
        self.ensure(durability)?;
        // Immediate, because a transaction that begins as a reader cannot wait for its turn to write.
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tail.last_seq += entries.len() as u64;
        let no = save_row(&tx, tail.no, tail.last_seq, row)?;
        tail.no = Some(no);
        let mut insert = tx.prepare_cached("INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for entry in entries {
            let event = to_json(&entry.event)?;
            let place = place(no, entry.seq);
            let checksum = entry_checksum(&tail.run, entry, &event);
            insert.execute((place, entry.at.0, entry.elapsed.0.cast_signed(), event, checksum))?;
            match &entry.event {
                Event::TreeSeen { print, .. } => tail.tree = tree_hash(print),
                Event::CheckEnded(report) => {
                    Receipt::of(report, row.iteration, tail.tree.clone(), entry.at).save(&tx, place)?;
                }
                _ => {}
            }
        }
        drop(insert);
        tx.commit()?;
        Ok(tail)
    }

    /// A run's entries in their order, each one verified; none for a run that is not known.
    pub fn entries(&self, run: &RunId) -> Result<Vec<Entry>, StoreError> {
        let failed = StoreError::sqlite(&self.path, "read");
        // One transaction, so that the row and the journal are of the same moment.
        let tx = self.conn.unchecked_transaction().map_err(&failed)?;
        let Some(no) = number_of(&tx, run).map_err(&failed)? else { return Ok(Vec::new()) };
        let damaged = |seq: u64, why: String| StoreError::Damaged { run: run.clone(), seq, why };
        let sql =
            "SELECT place, at, elapsed, event, checksum FROM journal WHERE place BETWEEN ?1 AND ?2 ORDER BY place";
        let mut select = tx.prepare_cached(sql).map_err(&failed)?;
        let mut rows = select.query((place(no, 0), place(no, SEQ_MASK))).map_err(&failed)?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next().map_err(&failed)? {
            let expected = entries.len() as u64 + 1;
            let seq = row.get::<_, i64>(0).map_err(&failed)?.cast_unsigned() & SEQ_MASK;
            if seq != expected {
                return Err(damaged(expected, format!("entry {seq} stands in its place")));
            }
            entries.push(read_entry(run, seq, row).map_err(|why| damaged(seq, why))?);
        }
        let last = entries.len() as u64;
        match promised_entries(&tx, no).map_err(&failed)? {
            Some(promised) if promised > last => Err(damaged(last + 1, "it is missing".to_owned())),
            _ => Ok(entries),
        }
    }
}

/// `seq` has the lower 32 bits of a place: four thousand million entries, one a second for a century.
pub(crate) const SEQ_MASK: u64 = u32::MAX as u64;

/// The key of an entry: all of a run's entries stand side by side, in their order.
pub(crate) fn place(no: i64, seq: u64) -> i64 {
    (no << 32) | (seq & SEQ_MASK).cast_signed()
}

fn find_tail(conn: &Connection, run: &RunId) -> rusqlite::Result<Tail> {
    let Some(no) = number_of(conn, run)? else {
        return Ok(Tail { run: run.clone(), no: None, last_seq: 0, tree: None });
    };
    let range = (place(no, 0), place(no, SEQ_MASK));
    let last: Option<i64> =
        conn.query_row("SELECT max(place) FROM journal WHERE place BETWEEN ?1 AND ?2", range, |row| row.get(0))?;
    // The type is the first field of an event's JSON, so no entry has to be parsed to find it.
    let seen: Option<String> = conn
        .query_row(
            r#"SELECT event FROM journal WHERE place BETWEEN ?1 AND ?2 AND event GLOB '{"type":"tree_seen",*'
               ORDER BY place DESC LIMIT 1"#,
            range,
            |row| row.get(0),
        )
        .optional()?;
    let tree = match seen.and_then(|event| serde_json::from_str(&event).ok()) {
        Some(Event::TreeSeen { print, .. }) => tree_hash(&print),
        _ => None,
    };
    let last_seq = last.map_or(0, |place| place.cast_unsigned() & SEQ_MASK);
    Ok(Tail { run: run.clone(), no: Some(no), last_seq, tree })
}

fn tree_hash(print: &TreePrint) -> Option<String> {
    match print {
        TreePrint::Seen { tree, .. } => Some(tree.clone()),
        TreePrint::Unknown { .. } => None,
    }
}

/// Takes an entry apart and compares its checksum. A damaged column may even have lost its type, so
/// every failure is told as damage of this entry.
pub(crate) fn read_entry(run: &RunId, seq: u64, row: &Row<'_>) -> Result<Entry, String> {
    let unreadable = |error: rusqlite::Error| error.to_string();
    let at = WallTime(row.get("at").map_err(unreadable)?);
    let elapsed = Millis(row.get::<_, i64>("elapsed").map_err(unreadable)?.cast_unsigned());
    let json: String = row.get("event").map_err(unreadable)?;
    let stored: i64 = row.get("checksum").map_err(unreadable)?;
    let entry = Entry { seq, at, elapsed, event: Event::Woke };
    if entry_checksum(run, &entry, &json) != stored {
        return Err("its checksum does not fit".to_owned());
    }
    let event = serde_json::from_str(&json)
        .map_err(|error| format!("its checksum fits, but this ralph does not understand it: {error}"))?;
    Ok(Entry { event, ..entry })
}

pub(crate) fn entry_checksum(run: &RunId, entry: &Entry, json: &str) -> i64 {
    let numbers = [entry.seq, entry.at.0.cast_unsigned(), entry.elapsed.0];
    checksum(run, &numbers, json)
}

/// The first 8 bytes of SHA-256: enough against accidents, and an attacker who can write here could
/// write a fitting checksum as well.
pub(crate) fn checksum(run: &RunId, numbers: &[u64], json: &str) -> i64 {
    let mut hash = Sha256::new_with_prefix(run.as_str());
    for number in numbers {
        hash.update([0]);
        hash.update(number.to_be_bytes());
    }
    hash.update(json);
    let first_eight = hash.finalize().into_iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(byte));
    first_eight.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{check_ended, id, noted, row, started, tree_seen};

    #[test]
    fn what_was_appended_is_read_back_exactly() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let odd = Entry { at: WallTime(-1), elapsed: Millis(u64::MAX), ..noted(3, "\0 \u{2028} é \" \\") };
        let entries = [started(&run), tree_seen(2, "t1"), odd, check_ended(4, "cargo test", 101)];
        let mut store = Store::open(dir.path()).unwrap();
        store.append(&run, &entries[..1], &row(&run, 0), Durability::Written).unwrap();
        store.append(&run, &entries[1..], &row(&run, 1), Durability::Synced).unwrap();
        assert_eq!(store.entries(&run).unwrap(), entries);
        drop(store);
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(store.entries(&run).unwrap(), entries);
        assert_eq!(store.run(&run).unwrap(), Some(row(&run, 1)));
        assert_eq!(store.entries(&id("unknown")).unwrap(), []);
    }

    #[test]
    fn runs_that_take_turns_do_not_mix() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        for seq in 1..=5 {
            for name in ["a", "b", "c"] {
                let entry = noted(seq, &format!("{name}{seq}"));
                store.append(&id(name), &[entry], &row(&id(name), seq as u32), Durability::Written).unwrap();
            }
        }
        for name in ["a", "b", "c"] {
            let expected: Vec<Entry> = (1..=5).map(|seq| noted(seq, &format!("{name}{seq}"))).collect();
            assert_eq!(store.entries(&id(name)).unwrap(), expected);
        }
    }

    #[test]
    fn entries_that_do_not_continue_the_run_are_refused_whole() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let mut store = Store::open(dir.path()).unwrap();
        let mut refused = |numbers: &[u64], expected: u64, found: u64| {
            let entries: Vec<Entry> = numbers.iter().map(|&seq| noted(seq, "x")).collect();
            let error = store.append(&run, &entries, &row(&run, 9), Durability::Written).unwrap_err();
            assert!(
                matches!(error, StoreError::Gap { expected: e, found: f, .. } if (e, f) == (expected, found)),
                "{numbers:?}: {error}"
            );
        };
        refused(&[2], 1, 2);
        refused(&[0], 1, 0);
        refused(&[1, 3], 2, 3);
        refused(&[1, 1], 2, 1);
        assert_eq!(store.run(&run).unwrap(), None);
        store.append(&run, &[noted(1, "x")], &row(&run, 1), Durability::Written).unwrap();
        assert_eq!(store.entries(&run).unwrap().len(), 1);
    }

    #[test]
    fn a_second_writer_of_the_same_run_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let mut one = Store::open(dir.path()).unwrap();
        let mut two = Store::open(dir.path()).unwrap();
        one.append(&run, &[noted(1, "one")], &row(&run, 1), Durability::Written).unwrap();
        two.append(&run, &[noted(2, "two")], &row(&run, 2), Durability::Written).unwrap();
        let error = one.append(&run, &[noted(2, "one")], &row(&run, 3), Durability::Written).unwrap_err();
        assert!(matches!(error, StoreError::Gap { expected: 3, found: 2, .. }), "{error}");
        assert_eq!(one.run(&run).unwrap().unwrap().iteration, 2);
        one.append(&run, &[noted(3, "one")], &row(&run, 3), Durability::Written).unwrap();
        assert_eq!(two.entries(&run).unwrap().len(), 3);
    }

    #[test]
    fn an_entry_that_was_altered_moved_or_lost_is_named() {
        let cases = [
            ("UPDATE journal SET event = replace(event, 'two', 'too') WHERE place & 255 = 2", 2, "checksum"),
            ("UPDATE journal SET at = at + 1 WHERE place & 255 = 3", 3, "checksum"),
            ("UPDATE journal SET elapsed = 0 WHERE place & 255 = 3", 3, "checksum"),
            ("UPDATE journal SET place = place + (1 << 32) - 1 WHERE place & 255 = 2", 2, "entry 3"),
            ("DELETE FROM journal WHERE place & 255 = 1", 1, "entry 2"),
            ("DELETE FROM journal WHERE place & 255 = 3", 3, "missing"),
        ];
        for (damage, named, told) in cases {
            let dir = tempfile::tempdir().unwrap();
            let run = id("r1");
            let mut store = Store::open(dir.path()).unwrap();
            let entries = [noted(1, "one"), noted(2, "two"), noted(3, "three")];
            store.append(&run, &entries, &row(&run, 1), Durability::Written).unwrap();
            store.conn.execute(damage, []).unwrap();
            let error = store.entries(&run).unwrap_err();
            assert!(matches!(&error, StoreError::Damaged { seq, .. } if *seq == named), "{damage}: {error}");
            assert!(error.to_string().contains(told) && error.class() == crate::Class::Damage, "{damage}: {error}");
        }
    }

    #[test]
    fn an_event_of_another_version_is_told_apart_from_damage() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let mut store = Store::open(dir.path()).unwrap();
        store.append(&run, &[noted(1, "x")], &row(&run, 1), Durability::Written).unwrap();
        let json = r#"{"type":"from_the_future"}"#;
        let checksum = entry_checksum(&run, &noted(1, "x"), json);
        store.conn.execute("UPDATE journal SET event = ?1, checksum = ?2", (json, checksum)).unwrap();
        let error = store.entries(&run).unwrap_err().to_string();
        assert!(error.contains("does not understand it") && error.contains("from_the_future"), "{error}");
    }
}
