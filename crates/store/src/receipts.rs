//! The receipts of checks, written with the entries that they come with. Nothing is decided by them.

use crate::rows::number_of;
use crate::streams::{SEQ_MASK, place};
use crate::{Store, StoreError};
use ralph_core::receipt::Receipt;
use ralph_core::stream::StreamId;
use ralph_core::time::{Millis, WallTime};
use rusqlite::{Connection, Row};

impl Store {
    /// The receipts of a run's checks, in the order in which the checks ended.
    pub fn receipts(&self, stream: impl Into<StreamId>) -> Result<Vec<Receipt>, StoreError> {
        self.reading(|conn| {
            let Some(no) = number_of(conn, &stream.into())? else { return Ok(Vec::new()) };
            conn.prepare_cached("SELECT * FROM receipts WHERE place BETWEEN ?1 AND ?2 ORDER BY place")?
                .query_map((place(no, 0), place(no, SEQ_MASK)), receipt)?
                .collect()
        })
    }
}

pub(crate) fn save(conn: &Connection, no: i64, receipt: &Receipt) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT INTO receipts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?
        .execute((
            place(no, receipt.seq),
            receipt.iteration,
            &receipt.command,
            receipt.passed,
            receipt.exit_code,
            receipt.duration.0.cast_signed(),
            &receipt.output_hash,
            receipt.output_bytes.cast_signed(),
            &receipt.log,
            &receipt.tree,
            receipt.at.0,
        ))
        .map(drop)
}

fn receipt(row: &Row<'_>) -> rusqlite::Result<Receipt> {
    Ok(Receipt {
        seq: row.get::<_, i64>("place")?.cast_unsigned() & SEQ_MASK,
        iteration: row.get("iteration")?,
        command: row.get("command")?,
        passed: row.get("passed")?,
        exit_code: row.get("exit_code")?,
        duration: Millis(row.get::<_, i64>("duration")?.cast_unsigned()),
        output_hash: row.get("output_hash")?,
        output_bytes: row.get::<_, i64>("output_bytes")?.cast_unsigned(),
        log: row.get("log")?,
        tree: row.get("tree")?,
        at: WallTime(row.get("at")?),
    })
}

#[cfg(test)]
mod tests {
    use crate::sample::{check_ended, id, noted, receipt, row};
    use crate::{Durability, Store};

    #[test]
    fn receipts_are_read_back_exactly_and_belong_to_their_run() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        let (one, two) = (id("r1"), id("r2"));
        let first = [check_ended(1, "cargo test", 101), noted(2, "x"), check_ended(3, "cargo clippy", 0)];
        let made = [receipt(&first[0], 1, Some("t1")), receipt(&first[2], 1, None)];
        store.append(&first, &row(&one, 1), &made, Durability::Written).unwrap();
        let other = check_ended(1, "make", 0);
        store.append(&[other], &row(&two, 1), &[], Durability::Written).unwrap();
        assert_eq!(store.receipts(&one).unwrap(), made);
        assert_eq!(store.receipts(&two).unwrap(), []);
        assert_eq!(store.receipts(&id("none")).unwrap(), []);
    }
}
