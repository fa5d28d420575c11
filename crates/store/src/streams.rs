//! Streams: what happened, in order.
//!
//! An entry is stored as JSON, so that fields can be added without touching SQL, together with a
//! checksum that also covers the stream and the number: an entry that was altered, moved or lost is
//! found when it is read, and named. What an entry means is not known here.

use crate::open::file_id;
use crate::rows::{number_of, promised_entries, save_row};
use crate::{Durability, Store, StoreError, receipts, snapshots};
use ralph_core::event::Entry;
use ralph_core::receipt::Receipt;
use ralph_core::stream::{Keys, Row, StreamId};
use ralph_core::time::{Millis, WallTime};
use rusqlite::{Connection, ErrorCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

#[derive(Debug, Clone)]
pub(crate) struct Tail {
    pub(crate) stream: StreamId,
    /// The stream's number; `None` before its first append.
    pub(crate) no: Option<i64>,
    pub(crate) last_seq: u64,
    /// By what its row was found after the last append of this process.
    pub(crate) keys: Option<Keys>,
}

impl Store {
    /// Appends entries, replaces the row and adds receipts, in one transaction: all or nothing, as durable as asked
    /// for. The first entry must follow the stream's last one, else it is a gap.
    pub fn append<E: Serialize, R: Row>(
        &mut self,
        entries: &[Entry<E>],
        row: &R,
        receipts: &[Receipt],
        durability: Durability,
    ) -> Result<(), StoreError> {
        self.append_with(entries, row, receipts, None::<&()>, durability)
    }

    /// The same with what the stream folds to behind these entries, which [`Store::snapshot`] then finds.
    pub fn append_with<E: Serialize, R: Row, S: Serialize>(
        &mut self,
        entries: &[Entry<E>],
        row: &R,
        receipts: &[Receipt],
        state: Option<&S>,
        durability: Durability,
    ) -> Result<(), StoreError> {
        if self.suspect {
            return Err(StoreError::Suspect { path: self.path.clone() });
        }
        if file_id(&self.path) != self.file {
            return Err(StoreError::Gone { path: self.path.clone() });
        }
        let stream = row.stream();
        let begins = entries.first().is_some_and(|entry| entry.seq == 1);
        let tail = match self.tail.take() {
            Some(tail) if tail.stream == stream => tail,
            // A stream that begins is in no table, and none is searched for it.
            _ if begins && !self.is_indexed(&stream)? => Tail { stream, no: None, last_seq: 0, keys: None },
            _ => self.find_tail(stream)?,
        };
        for (entry, expected) in entries.iter().zip(tail.last_seq + 1..) {
            if entry.seq != expected || expected > SEQ_MASK {
                let gap = StoreError::Gap { stream: tail.stream.clone(), expected, found: entry.seq };
                self.tail = Some(tail);
                return Err(gap);
            }
        }
        match self.commit(tail, entries, row, receipts, state, durability) {
            Ok(tail) => {
                self.tail = Some(tail);
                Ok(())
            }
            // The place is taken: another process has appended since this one looked.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                let found = entries.first().map_or(0, |entry| entry.seq);
                let Tail { stream, last_seq, .. } = self.find_tail(row.stream())?;
                Err(StoreError::Gap { stream, expected: last_seq + 1, found })
            }
            // What is damaged may be the earlier snapshot or its table, and no entry is given up for them.
            Err(error)
                if state.is_some()
                    && matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown)) =>
            {
                self.append(entries, row, receipts, durability)
            }
            Err(error) => Err(self.failed_to_write(error)),
        }
    }

    fn commit<E: Serialize, R: Row, S: Serialize>(
        &mut self,
        mut tail: Tail,
        entries: &[Entry<E>],
        row: &R,
        receipts: &[Receipt],
        state: Option<&S>,
        durability: Durability,
    ) -> rusqlite::Result<Tail> {
        self.ensure(durability)?;
        let conn = &self.conn;
        let say = |words: &str| conn.prepare_cached(words)?.execute(());
        let mut write = || {
            tail.last_seq += entries.len() as u64;
            let is_new = tail.no.is_none();
            let no = save_row(conn, &mut tail, row)?;
            if is_new {
                let (name, at, elapsed) = (tail.stream.to_string(), WallTime(0), Millis::ZERO);
                insert(conn, &tail.stream, no, &Entry { seq: 0, at, elapsed, event: () }, name)?;
            }
            for entry in entries {
                insert(conn, &tail.stream, no, entry, to_json(&entry.event)?)?;
            }
            receipts.iter().try_for_each(|receipt| receipts::save(conn, no, receipt))?;
            match state {
                Some(state) => snapshots::save(conn, &tail, no, &to_json(state)?, snapshots::VERSION),
                None => Ok(()),
            }
        };
        // Immediate, because a transaction that begins as a reader cannot wait for its turn to write. The statements
        // are prepared once, which rusqlite's own transactions do not do.
        say("BEGIN IMMEDIATE")?;
        let written = write().and_then(|()| say("COMMIT"));
        if written.is_err() && !conn.is_autocommit() {
            // What could not be written says more than what could not be undone.
            let _ = say("ROLLBACK");
        }
        written.map(|_| tail)
    }

    /// A stream's entries in their order, each one verified; none for a stream that is not known.
    pub fn entries<E: DeserializeOwned>(&self, stream: impl Into<StreamId>) -> Result<Vec<Entry<E>>, StoreError> {
        self.follow(stream, 0)
    }

    /// The entries behind a number, for those who have read so far. As long as nobody wrote, no file is read.
    pub fn follow<E: DeserializeOwned>(
        &self,
        stream: impl Into<StreamId>,
        after: u64,
    ) -> Result<Vec<Entry<E>>, StoreError> {
        self.read(&stream.into(), after, SEQ_MASK)
    }

    pub fn first<E: DeserializeOwned>(&self, stream: impl Into<StreamId>) -> Result<Option<Entry<E>>, StoreError> {
        Ok(self.read(&stream.into(), 0, 1)?.pop())
    }

    fn read<E: DeserializeOwned>(&self, stream: &StreamId, after: u64, to: u64) -> Result<Vec<Entry<E>>, StoreError> {
        if after >= to {
            return Ok(Vec::new());
        }
        let failed = StoreError::sqlite(&self.path, "read");
        // One transaction, so that the row and the journal are of the same moment.
        let tx = self.conn.unchecked_transaction().map_err(&failed)?;
        let Some(no) = number_of(&tx, stream).map_err(&failed)? else { return Ok(Vec::new()) };
        let damaged = |seq: u64, why: String| StoreError::Damaged { stream: stream.clone(), seq, why };
        let sql =
            "SELECT place, at, elapsed, event, checksum FROM journal WHERE place BETWEEN ?1 AND ?2 ORDER BY place";
        let mut select = tx.prepare_cached(sql).map_err(&failed)?;
        let mut rows = select.query((place(no, after + 1), place(no, to))).map_err(&failed)?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next().map_err(&failed)? {
            let expected = after + entries.len() as u64 + 1;
            let seq = row.get::<_, i64>(0).map_err(&failed)?.cast_unsigned() & SEQ_MASK;
            if seq != expected {
                return Err(damaged(expected, format!("entry {seq} stands in its place")));
            }
            entries.push(read_entry(stream, seq, row).map_err(|why| damaged(seq, why))?);
        }
        let last = after + entries.len() as u64;
        match promised_entries(&tx, no).map_err(&failed)? {
            Some(promised) if promised.min(to) > last => Err(damaged(last + 1, "it is missing".to_owned())),
            _ => Ok(entries),
        }
    }

    fn find_tail(&self, stream: StreamId) -> Result<Tail, StoreError> {
        let (no, last_seq) = self.reading(|conn| {
            let Some(no) = number_of(conn, &stream)? else { return Ok((None, 0)) };
            let sql = "SELECT max(place) FROM journal WHERE place BETWEEN ?1 AND ?2";
            let range = (place(no, 0), place(no, SEQ_MASK));
            let last: Option<i64> = conn.query_row(sql, range, |row| row.get(0))?;
            Ok((Some(no), last.map_or(0, |place| place.cast_unsigned() & SEQ_MASK)))
        })?;
        Ok(Tail { stream, no, last_seq, keys: None })
    }
}

/// `seq` has the lower 32 bits of a place: four thousand million entries, one a second for a century.
pub(crate) const SEQ_MASK: u64 = u32::MAX as u64;

/// The key of an entry: all of a stream's entries stand side by side, in their order.
pub(crate) fn place(no: i64, seq: u64) -> i64 {
    (no << 32) | (seq & SEQ_MASK).cast_signed()
}

fn insert<E>(conn: &Connection, stream: &StreamId, no: i64, entry: &Entry<E>, event: String) -> rusqlite::Result<()> {
    let checksum = entry_checksum(stream, entry, &event);
    conn.prepare_cached("INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute((place(no, entry.seq), entry.at.0, entry.elapsed.0.cast_signed(), event, checksum))
        .map(drop)
}

/// Reads an entry and compares its checksum. Every failure is damage: a column may have lost its type.
fn read_entry<E: DeserializeOwned>(stream: &StreamId, seq: u64, row: &rusqlite::Row<'_>) -> Result<Entry<E>, String> {
    let unreadable = |error: rusqlite::Error| error.to_string();
    let at = WallTime(row.get("at").map_err(unreadable)?);
    let elapsed = Millis(row.get::<_, i64>("elapsed").map_err(unreadable)?.cast_unsigned());
    let json: String = row.get("event").map_err(unreadable)?;
    let stored: i64 = row.get("checksum").map_err(unreadable)?;
    if entry_checksum(stream, &Entry { seq, at, elapsed, event: () }, &json) != stored {
        return Err("its checksum does not fit".to_owned());
    }
    let event = serde_json::from_str(&json)
        .map_err(|error| format!("its checksum fits, but this ralph does not understand it: {error}"))?;
    Ok(Entry { seq, at, elapsed, event })
}

/// The name of the stream with this number, as its entry 0 tells it.
pub(crate) fn told_name(conn: &Connection, no: i64) -> Option<StreamId> {
    let sql = "SELECT at, elapsed, event, checksum FROM journal WHERE place = ?1";
    let mut select = conn.prepare_cached(sql).ok()?;
    let read = |row: &rusqlite::Row<'_>| {
        let (at, elapsed) = (WallTime(row.get(0)?), Millis(row.get::<_, i64>(1)?.cast_unsigned()));
        Ok(proven_name(at, elapsed, row.get_ref(2)?.as_str()?, row.get(3)?))
    };
    select.query_row([place(no, 0)], read).ok()?
}

/// The stream that an entry 0 names, if its checksum proves it.
pub(crate) fn proven_name(at: WallTime, elapsed: Millis, name: &str, stored: i64) -> Option<StreamId> {
    let (kind, id) = name.split_once(' ')?;
    let stream = StreamId::parse(kind, id)?;
    (entry_checksum(&stream, &Entry { seq: 0, at, elapsed, event: () }, name) == stored).then_some(stream)
}

pub(crate) fn entry_checksum<E>(stream: &StreamId, entry: &Entry<E>, json: &str) -> i64 {
    checksum(stream, &[entry.seq, entry.at.0.cast_unsigned(), entry.elapsed.0], json)
}

/// The first 8 bytes of SHA-256: against accidents. An attacker who can write here can write a checksum too.
pub(crate) fn checksum(stream: &StreamId, numbers: &[u64], json: &str) -> i64 {
    let mut hash = Sha256::new_with_prefix(stream.kind().as_str());
    hash.update([0]);
    hash.update(stream.id());
    for number in numbers {
        hash.update([0]);
        hash.update(number.to_be_bytes());
    }
    hash.update(json);
    let first_eight = hash.finalize().into_iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(byte));
    first_eight.cast_signed()
}

/// JSON of a value whose maps all have text keys, which is the only thing that could fail.
pub(crate) fn to_json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Which;
    use crate::sample::{check_ended, entries, id, noted, row, rows, run_row, started, tree_seen};
    use ralph_core::id::TaskName;
    use ralph_core::stream::StreamKind;

    #[test]
    fn what_was_appended_is_read_back_exactly() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let odd = Entry { at: WallTime(-1), elapsed: Millis(u64::MAX), ..noted(3, "\0 \u{2028} é \" \\") };
        let all = [started(&run), tree_seen(2, "t1"), odd, check_ended(4, "cargo test", 101)];
        let mut store = Store::open(dir.path()).unwrap();
        store.append(&all[..1], &row(&run, 0), &[], Durability::Written).unwrap();
        store.append(&all[1..], &row(&run, 1), &[], Durability::Synced).unwrap();
        assert_eq!(entries(&store, &run).unwrap(), all);
        drop(store);
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(entries(&store, &run).unwrap(), all);
        assert_eq!(run_row(&store, &run).unwrap(), Some(row(&run, 1)));
        assert_eq!(entries(&store, &id("unknown")).unwrap(), []);
    }

    #[test]
    fn runs_that_take_turns_do_not_mix() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        for seq in 1..=5 {
            for name in ["a", "b", "c"] {
                let entry = noted(seq, &format!("{name}{seq}"));
                store.append(&[entry], &row(&id(name), seq as u32), &[], Durability::Written).unwrap();
            }
        }
        for name in ["a", "b", "c"] {
            let expected: Vec<Entry> = (1..=5).map(|seq| noted(seq, &format!("{name}{seq}"))).collect();
            assert_eq!(entries(&store, &id(name)).unwrap(), expected);
        }
    }

    #[test]
    fn entries_that_do_not_continue_the_run_are_refused_whole() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let mut store = Store::open(dir.path()).unwrap();
        let mut refused = |numbers: &[u64], expected: u64, found: u64| {
            let all: Vec<Entry> = numbers.iter().map(|&seq| noted(seq, "x")).collect();
            let error = store.append(&all, &row(&run, 9), &[], Durability::Written).unwrap_err();
            assert!(
                matches!(error, StoreError::Gap { expected: e, found: f, .. } if (e, f) == (expected, found)),
                "{numbers:?}: {error}"
            );
        };
        refused(&[2], 1, 2);
        refused(&[0], 1, 0);
        refused(&[1, 3], 2, 3);
        refused(&[1, 1], 2, 1);
        assert_eq!(run_row(&store, &run).unwrap(), None);
        store.append(&[noted(1, "x")], &row(&run, 1), &[], Durability::Written).unwrap();
        assert_eq!(entries(&store, &run).unwrap().len(), 1);
    }

    #[test]
    fn a_second_writer_of_the_same_run_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let mut one = Store::open(dir.path()).unwrap();
        let mut two = Store::open(dir.path()).unwrap();
        one.append(&[noted(1, "one")], &row(&run, 1), &[], Durability::Written).unwrap();
        two.append(&[noted(2, "two")], &row(&run, 2), &[], Durability::Written).unwrap();
        let error = one.append(&[noted(2, "one")], &row(&run, 3), &[], Durability::Written).unwrap_err();
        assert!(matches!(error, StoreError::Gap { expected: 3, found: 2, .. }), "{error}");
        assert_eq!(run_row(&one, &run).unwrap().unwrap().iteration, 2);
        one.append(&[noted(3, "one")], &row(&run, 3), &[], Durability::Written).unwrap();
        assert_eq!(entries(&two, &run).unwrap().len(), 3);
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
            let all = [noted(1, "one"), noted(2, "two"), noted(3, "three")];
            store.append(&all, &row(&run, 1), &[], Durability::Written).unwrap();
            store.conn.execute(damage, []).unwrap();
            let error = entries(&store, &run).unwrap_err();
            assert!(matches!(&error, StoreError::Damaged { seq, .. } if *seq == named), "{damage}: {error}");
            assert!(error.to_string().contains(told) && error.class() == crate::Class::Damage, "{damage}: {error}");
        }
    }

    #[test]
    fn an_event_of_another_version_is_told_apart_from_damage() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let mut store = Store::open(dir.path()).unwrap();
        store.append(&[noted(1, "x")], &row(&run, 1), &[], Durability::Written).unwrap();
        let json = r#"{"type":"from_the_future"}"#;
        let checksum = entry_checksum(&StreamId::from(&run), &noted(1, "x"), json);
        store
            .conn
            .execute("UPDATE journal SET event = ?1, checksum = ?2 WHERE place & 255 = 1", (json, checksum))
            .unwrap();
        let error = entries(&store, &run).unwrap_err().to_string();
        assert!(error.contains("does not understand it") && error.contains("from_the_future"), "{error}");
    }

    #[test]
    fn whoever_follows_a_stream_gets_what_is_behind_the_entry_that_it_has_read() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let mut writer = Store::open(dir.path()).unwrap();
        writer.append(&[started(&run), noted(2, "x")], &row(&run, 1), &[], Durability::Written).unwrap();
        let reader = Store::open_existing(dir.path()).unwrap().unwrap();
        let behind = |seq| reader.follow(&run, seq).map(|found: Vec<Entry>| found);
        assert_eq!(behind(1).unwrap(), [noted(2, "x")]);
        assert_eq!(behind(2).unwrap(), []);
        assert_eq!(behind(u64::MAX).unwrap(), []);
        writer.append(&[noted(3, "y"), noted(4, "z")], &row(&run, 1), &[], Durability::Written).unwrap();
        assert_eq!(behind(2).unwrap(), [noted(3, "y"), noted(4, "z")]);
        assert_eq!(reader.first(&run).unwrap(), Some(started(&run)));
        assert_eq!(reader.first::<ralph_core::event::Event>(&id("none")).unwrap(), None);
        writer.conn.execute("DELETE FROM journal WHERE place & 255 = 4", []).unwrap();
        assert!(matches!(behind(2), Err(StoreError::Damaged { seq: 4, .. })));
        assert!(matches!(behind(3), Err(StoreError::Damaged { seq: 4, .. })));
        assert_eq!(reader.first(&run).unwrap(), Some(started(&run)), "what comes later is not asked for");
    }

    #[test]
    fn streams_of_different_kinds_share_a_name_and_nothing_else() {
        #[derive(serde::Serialize, serde::Deserialize, Debug, PartialEq)]
        struct Board(String);
        impl Row for Board {
            const KIND: StreamKind = StreamKind::Task;

            fn stream(&self) -> StreamId {
                StreamId::from(&TaskName::from_text(&self.0))
            }

            fn keys(&self) -> Keys {
                row(&id("r1"), 1).keys()
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        let entry = |event| Entry { seq: 1, at: WallTime(1), elapsed: Millis(0), event };
        store.append(&[started(&id("r1"))], &row(&id("r1"), 1), &[], Durability::Written).unwrap();
        store.append(&[entry("moved".to_owned())], &Board("r1".to_owned()), &[], Durability::Written).unwrap();
        let task = TaskName::from_text("r1");
        assert_eq!(store.entries::<String>(&task).unwrap(), [entry("moved".to_owned())]);
        assert_eq!(entries(&store, &id("r1")).unwrap(), [started(&id("r1"))]);
        assert_eq!(store.newest::<Board>(Which::All, 9).unwrap(), [Ok(Board("r1".to_owned()))]);
        assert_eq!(rows(&store).unwrap(), [Ok(row(&id("r1"), 1))]);
        assert_eq!(store.count(StreamKind::Run).unwrap(), 1);
        assert_eq!(store.find("r1").unwrap(), crate::Found::One(id("r1")));
        let (cost, _) = store.spent(&row(&id("r1"), 1).task, &id("other")).unwrap();
        assert_eq!(Some(cost), row(&id("r1"), 1).cost_usd, "what a task says of itself is not spent twice");
    }
}
