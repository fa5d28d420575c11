//! What is derived from entries and kept beside them: the row of each run, and the receipt of each
//! check. They are written in the transaction of the entries that they come from, and nothing is
//! ever decided by them: recovery folds the journal.

use crate::journal::{checksum, place};
use ralph_core::check::CheckReport;
use ralph_core::id::RunId;
use ralph_core::run::RunRow;
use ralph_core::time::{Millis, WallTime};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;

/// The proof that ralph itself executed a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
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

impl Receipt {
    /// The iteration and the tree are what the report itself does not say.
    pub(crate) fn of(report: &CheckReport, iteration: u32, tree: Option<String>, at: WallTime) -> Receipt {
        Receipt {
            iteration,
            command: report.spec.command.clone(),
            passed: report.ending.passed(),
            exit_code: report.ending.code(),
            duration: report.duration,
            output_hash: report.output_hash.clone(),
            output_bytes: report.output_bytes,
            log: report.log.clone(),
            tree,
            at,
        }
    }

    /// Keeps the receipt at the place of the entry that it comes from.
    pub(crate) fn save(&self, conn: &Connection, place: i64) -> rusqlite::Result<()> {
        conn.prepare_cached("INSERT INTO receipts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?
            .execute((
                place,
                self.iteration,
                &self.command,
                self.passed,
                self.exit_code,
                self.duration.0.cast_signed(),
                &self.output_hash,
                self.output_bytes.cast_signed(),
                &self.log,
                &self.tree,
                self.at.0,
            ))
            .map(drop)
    }

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Receipt> {
        Ok(Receipt {
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
}

/// Replaces a run's row, or adds it if the run has no number yet; gives the number.
pub(crate) fn save_row(conn: &Connection, no: Option<i64>, last_seq: u64, row: &RunRow) -> rusqlite::Result<i64> {
    let json = to_json(row)?;
    let seq = last_seq.cast_signed();
    let checksum = checksum(&row.run, &[last_seq], &json);
    let Some(no) = no else {
        let no = free_number(conn)?;
        conn.prepare_cached("INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5)")?.execute((
            no,
            row.run.as_str(),
            seq,
            json,
            checksum,
        ))?;
        return Ok(no);
    };
    conn.prepare_cached("UPDATE runs SET last_seq = ?2, row = ?3, checksum = ?4 WHERE no = ?1")?
        .execute((no, seq, json, checksum))?;
    Ok(no)
}

/// More runs than anybody has; a number beyond it is damage, and nobody counts on from there.
pub(crate) const MOST_RUNS: i64 = 1 << 30;

/// A number that neither a row nor an entry has: entries whose row was damaged keep their places.
fn free_number(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached(
        "SELECT 1 + max(coalesce((SELECT max(no) FROM runs WHERE no BETWEEN 0 AND ?1), 0),
                        coalesce((SELECT max(place) FROM journal WHERE place BETWEEN 0 AND ?2) >> 32, 0))",
    )?
    .query_row((MOST_RUNS, place(MOST_RUNS, 0)), |row| row.get(0))
}

/// The number under which a run's entries stand. A row that was damaged into another one's id does not
/// hide that one.
pub(crate) fn number_of(conn: &Connection, run: &RunId) -> rusqlite::Result<Option<i64>> {
    let mut select = conn.prepare_cached("SELECT no, run, last_seq, row, checksum FROM runs WHERE run = ?1")?;
    let mut rows = select.query([run.as_str()])?;
    let mut found = None;
    while let Some(row) = rows.next()? {
        let no = row.get("no")?;
        if StoredRow::read(row).is_some() {
            return Ok(Some(no));
        }
        found.get_or_insert(no);
    }
    Ok(found)
}

/// How many entries a run must have, unless its row is damaged and cannot be believed.
pub(crate) fn promised_entries(conn: &Connection, no: i64) -> rusqlite::Result<Option<u64>> {
    conn.prepare_cached("SELECT no, run, last_seq, row, checksum FROM runs WHERE no = ?1")?
        .query_row([no], |row| Ok(StoredRow::read(row)))
        .optional()
        .map(|stored| stored.flatten().map(|stored| stored.last_seq))
}

/// A run's row as it was stored, with the checksum found to fit.
pub(crate) struct StoredRow {
    pub(crate) last_seq: u64,
    pub(crate) row: RunRow,
}

impl StoredRow {
    /// The id that the checksum proves, where only the column that holds it was damaged.
    pub(crate) fn proven_id(row: &Row<'_>) -> Option<RunId> {
        let last_seq = row.get::<_, i64>("last_seq").ok()?.cast_unsigned();
        StoredRow::proven_by(last_seq, row.get_ref("row").ok()?.as_str().ok()?, row.get("checksum").ok()?)
    }

    /// The id in a row's JSON, if the checksum is that of a row of this run.
    pub(crate) fn proven_by(last_seq: u64, json: &str, stored: i64) -> Option<RunId> {
        let run = serde_json::from_str::<RunRow>(json).ok().and_then(|row| RunId::parse(row.run.as_str()))?;
        (checksum(&run, &[last_seq], json) == stored).then_some(run)
    }

    /// `None` if any of it is damaged.
    pub(crate) fn read(row: &Row<'_>) -> Option<StoredRow> {
        let run = RunId::parse(row.get_ref("run").ok()?.as_str().ok()?)?;
        let last_seq = row.get::<_, i64>("last_seq").ok()?.cast_unsigned();
        let json = row.get_ref("row").ok()?.as_str().ok()?;
        let stored: i64 = row.get("checksum").ok()?;
        let fits = checksum(&run, &[last_seq], json) == stored;
        let row: RunRow = serde_json::from_str(json).ok()?;
        (fits && row.run == run).then_some(StoredRow { last_seq, row })
    }
}

/// JSON of a value whose maps all have text keys, which is the only thing that could fail.
pub(crate) fn to_json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
