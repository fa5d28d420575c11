//! Rows: what lists show of each stream. A row is written in the transaction of the entries that it comes from, and
//! nothing is ever decided by it: recovery folds the journal.
//!
//! Damage stays with the row that it hit: whoever asked for many gets all others, and of that one its name, so that
//! its journal can be folded instead. The next append writes it anew.

use crate::streams::{Tail, checksum, place, to_json, told_name};
use crate::{Store, StoreError};
use ralph_core::id::{RunId, TaskName};
use ralph_core::stream::{Keys, Row, Standing, StreamId, StreamKind};
use rusqlite::{Connection, OptionalExtension as _};

pub type Stored<R> = Result<R, DamagedRow>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRow {
    /// The stream, unless its name is damaged too.
    pub stream: Option<StreamId>,
    pub no: i64,
    pub why: String,
}

impl DamagedRow {
    pub fn run(&self) -> Option<RunId> {
        self.stream.as_ref()?.run()
    }

    /// The stream's name, or what is left to name it by.
    pub fn name(&self) -> String {
        self.stream.as_ref().map_or_else(|| format!("number {}", self.no), |stream| stream.id().to_owned())
    }
}

/// What a typed name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// This run: it has exactly this id, or it is the only one whose id begins like this.
    One(RunId),
    None {
        /// At most three that resemble it, best first.
        nearest: Vec<RunId>,
    },
    /// Several runs begin like this, newest first.
    Several(Vec<RunId>),
}

/// Which rows are wanted. Only the first of these costs more where there are more streams.
#[derive(Debug, Clone, Copy)]
pub enum Which<'a> {
    All,
    OfTask(&'a TaskName),
    ChildrenOf(&'a RunId),
    Open,
    Unfinished,
    Named(&'a [RunId]),
}

impl Which<'_> {
    /// The query, with the kind, what this gives beside it, and the limit as its values.
    fn sql(self) -> (String, String) {
        let (which, value) = match self {
            // One whose kind is damaged may be of this kind.
            Which::All => (
                "NOT INDEXED WHERE kind IS ?1 OR coalesce(kind NOT IN (SELECT value FROM json_each(?2)), 1)",
                listed(StreamKind::ALL.map(StreamKind::as_str)),
            ),
            Which::OfTask(task) => ("INDEXED BY task_spend WHERE kind = ?1 AND task = ?2", task.to_string()),
            Which::ChildrenOf(run) => ("INDEXED BY children WHERE kind = ?1 AND parent = ?2", run.to_string()),
            Which::Open => ("INDEXED BY open_streams WHERE kind = ?1 AND standing = 0 AND ?2 = ''", String::new()),
            Which::Unfinished => {
                ("INDEXED BY unfinished_streams WHERE kind = ?1 AND standing < 2 AND ?2 = ''", String::new())
            }
            Which::Named(runs) => (NAMED, listed(runs.iter().map(RunId::as_str))),
        };
        (format!("SELECT {COLUMNS} FROM streams {which} ORDER BY no DESC LIMIT ?3"), value)
    }
}

const NAMED: &str = "INDEXED BY stream_ids WHERE kind = ?1 AND id IN (SELECT value FROM json_each(?2))";
const NEAREST: usize = 3;
const COLUMNS: &str = "no, kind, id, last_seq, row, checksum, task, parent, standing, cost, tokens";

impl Store {
    /// At most so many of the wanted rows, newest first by their number: a wrong clock changes nothing.
    pub fn newest<R: Row>(&self, wanted: Which<'_>, most: usize) -> Result<Vec<Stored<R>>, StoreError> {
        let (sql, value) = wanted.sql();
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.reading(|conn| {
            let mut select = conn.prepare_cached(&sql)?;
            select.query_map((R::KIND.as_str(), value, most), |row| read_row(conn, row))?.collect()
        })
    }

    pub fn row<R: Row>(&self, stream: impl Into<StreamId>) -> Result<Option<Stored<R>>, StoreError> {
        self.reading(|conn| {
            let Some(no) = number_of(conn, &stream.into())? else { return Ok(None) };
            conn.prepare_cached(&format!("SELECT {COLUMNS} FROM streams WHERE no = ?1"))?
                .query_row([no], |row| read_row(conn, row))
                .optional()
        })
    }

    pub fn count(&self, kind: StreamKind) -> Result<usize, StoreError> {
        let sql = "SELECT count(*) FROM streams INDEXED BY stream_ids WHERE kind = ?1";
        self.reading(|conn| conn.prepare_cached(sql)?.query_row([kind.as_str()], |row| row.get::<_, u32>(0)))
            .map(|count| count as usize)
    }

    /// Money and tokens that the runs of a task have used, all but one.
    pub fn spent(&self, task: &TaskName, except: &RunId) -> Result<(f64, u64), StoreError> {
        self.reading(|conn| {
            // Counted with fractions, because a sum of integers that grows too large is an error.
            let sql = "SELECT total(cost), total(tokens) FROM streams INDEXED BY task_spend
                       WHERE kind = ?1 AND task = ?2 AND no IS NOT
                             (SELECT no FROM streams INDEXED BY stream_ids WHERE kind = ?1 AND id = ?3)";
            let values = (StreamKind::Run.as_str(), task.as_str(), except.as_str());
            conn.prepare_cached(sql)?.query_row(values, |row| Ok((row.get(0)?, row.get::<_, f64>(1)? as u64)))
        })
    }

    /// The run of this id, else the only one whose id begins so. Ids are lower case.
    pub fn find(&self, typed: &str) -> Result<Found, StoreError> {
        let typed = typed.trim().to_ascii_lowercase();
        // What stands behind `z` is no part of an id.
        let begins = "INDEXED BY stream_ids WHERE kind = ?1 AND id >= ?2 AND id < ?2 || '{'";
        let mut found = self.ids(begins, &typed)?;
        let mut others = Vec::new();
        if found.is_empty() || typed.is_empty() {
            let everybody = self.ids("NOT INDEXED WHERE kind = ?1 AND ?2 = ?2", &typed)?;
            // Nothing typed is the beginning of every id, and yet no answer.
            let begins = |id: &RunId| !typed.is_empty() && id.as_str().to_ascii_lowercase().starts_with(&typed);
            (found, others) = everybody.into_iter().partition(begins);
        }
        let exact = found.iter().find(|id| id.as_str().eq_ignore_ascii_case(&typed));
        Ok(match (exact, found.as_slice()) {
            (Some(one), _) | (None, [one]) => Found::One(one.clone()),
            (None, []) => Found::None { nearest: nearest(&typed, others) },
            (None, _) => Found::Several(found),
        })
    }

    /// Which of these runs the index knows.
    pub fn known(&self, runs: &[RunId]) -> Result<Vec<RunId>, StoreError> {
        self.ids(NAMED, &listed(runs.iter().map(RunId::as_str)))
    }

    fn ids(&self, which: &str, value: &str) -> Result<Vec<RunId>, StoreError> {
        let sql = format!("SELECT id FROM streams {which} ORDER BY no DESC");
        // An id that is damaged cannot be typed either.
        let read = |row: &rusqlite::Row<'_>| Ok(row.get_ref(0)?.as_str().ok().and_then(RunId::parse));
        self.reading(|conn| {
            let mut select = conn.prepare_cached(&sql)?;
            select.query_map((StreamKind::Run.as_str(), value), read)?.filter_map(Result::transpose).collect()
        })
    }

    pub(crate) fn is_indexed(&self, stream: &StreamId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM streams INDEXED BY stream_ids WHERE kind = ?1 AND id = ?2";
        self.reading(|conn| conn.prepare_cached(sql)?.exists((stream.kind().as_str(), stream.id())))
    }
}

/// A list for SQL. Names are plain letters, and need no escapes.
fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", quoted.join(","))
}

/// Replaces a stream's row, or adds it if the stream has no number yet; gives the number.
pub(crate) fn save_row<R: Row>(conn: &Connection, tail: &mut Tail, row: &R) -> rusqlite::Result<i64> {
    let (json, keys) = (to_json(row)?, row.keys());
    let checksum = checksum(&tail.stream, &[tail.last_seq], &json);
    let seq = tail.last_seq.cast_signed();
    let (no, is_new) = match tail.no {
        Some(no) => (no, false),
        None => (free_number(conn)?, true),
    };
    if is_new {
        let (kind, id) = (tail.stream.kind().as_str(), tail.stream.id());
        conn.prepare_cached("INSERT INTO streams VALUES (?1, ?2, ?3, ?4, ?5, ?6, '', NULL, 0, 0, 0)")?
            .execute((no, kind, id, seq, json, checksum))?;
    } else {
        conn.prepare_cached("UPDATE streams SET last_seq = ?2, row = ?3, checksum = ?4 WHERE no = ?1")?
            .execute((no, seq, json, checksum))?;
    }
    // Each index that these stand in costs a page, so they are written only if they changed.
    if tail.keys.as_ref() != Some(&keys) {
        let sql = "UPDATE streams SET task = ?2, parent = ?3, standing = ?4, cost = ?5, tokens = ?6 WHERE no = ?1";
        let StoredKeys { task, parent, standing, cost, tokens } = StoredKeys::of(&keys);
        conn.prepare_cached(sql)?.execute((no, task, parent, standing, cost, tokens))?;
    }
    (tail.no, tail.keys) = (Some(no), Some(keys));
    Ok(no)
}

#[derive(PartialEq)]
struct StoredKeys {
    task: String,
    parent: Option<String>,
    standing: i64,
    cost: f64,
    tokens: i64,
}

impl StoredKeys {
    fn of(keys: &Keys) -> StoredKeys {
        StoredKeys {
            task: keys.task.to_string(),
            parent: keys.parent.as_ref().map(RunId::to_string),
            standing: match keys.standing {
                Standing::Open => 0,
                Standing::Stopped => 1,
                Standing::Finished => 2,
            },
            // JSON has no other numbers either.
            cost: if keys.cost_usd.is_finite() { keys.cost_usd } else { 0.0 },
            tokens: i64::try_from(keys.tokens).unwrap_or(i64::MAX),
        }
    }

    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<StoredKeys> {
        Ok(StoredKeys {
            task: row.get("task")?,
            parent: row.get("parent")?,
            standing: row.get("standing")?,
            cost: row.get("cost")?,
            tokens: row.get("tokens")?,
        })
    }
}

/// More streams than anybody has; a number beyond it is damage, and nobody counts on from there.
pub(crate) const MOST_STREAMS: i64 = 1 << 30;

/// A number that neither a row nor an entry has: entries whose row was damaged keep their places.
fn free_number(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached(
        "SELECT 1 + max(coalesce((SELECT max(no) FROM streams WHERE no BETWEEN 0 AND ?1), 0),
                        coalesce((SELECT max(place) FROM journal WHERE place BETWEEN 0 AND ?2) >> 32, 0))",
    )?
    .query_row((MOST_STREAMS, place(MOST_STREAMS, 0)), |row| row.get(0))
}

/// The number under which a stream's entries stand. A row that was damaged into another one's name does not hide
/// that one, and neither does a damaged index.
pub(crate) fn number_of(conn: &Connection, stream: &StreamId) -> rusqlite::Result<Option<i64>> {
    let mut found = None;
    for how in ["INDEXED BY stream_ids", "NOT INDEXED"] {
        let sql =
            format!("SELECT no, kind, id, last_seq, row, checksum FROM streams {how} WHERE kind = ?1 AND id = ?2");
        let mut select = conn.prepare_cached(&sql)?;
        let mut rows = select.query((stream.kind().as_str(), stream.id()))?;
        while let Some(row) = rows.next()? {
            let no = row.get("no")?;
            if Proven::read(row).is_some() {
                return Ok(Some(no));
            }
            found.get_or_insert(no);
        }
    }
    Ok(found)
}

/// How many entries a stream must have, unless its row is damaged and cannot be believed.
pub(crate) fn promised_entries(conn: &Connection, no: i64) -> rusqlite::Result<Option<u64>> {
    conn.prepare_cached("SELECT kind, id, last_seq, row, checksum FROM streams WHERE no = ?1")?
        .query_row([no], |row| Ok(Proven::read(row).map(|proven| proven.last_seq)))
        .optional()
        .map(Option::flatten)
}

/// What is stored of a row, with the checksum found to fit.
struct Proven<'r> {
    stream: StreamId,
    last_seq: u64,
    json: &'r str,
}

impl Proven<'_> {
    /// `None` if any of it is damaged.
    fn read<'r>(row: &'r rusqlite::Row<'_>) -> Option<Proven<'r>> {
        let text = |column: &str| row.get_ref(column).ok()?.as_str().ok();
        let stream = StreamId::parse(text("kind")?, text("id")?)?;
        let last_seq = row.get::<_, i64>("last_seq").ok()?.cast_unsigned();
        let json = text("row")?;
        let fits = checksum(&stream, &[last_seq], json) == row.get::<_, i64>("checksum").ok()?;
        fits.then_some(Proven { stream, last_seq, json })
    }
}

fn read_row<R: Row>(conn: &Connection, row: &rusqlite::Row<'_>) -> rusqlite::Result<Stored<R>> {
    let no = row.get("no")?;
    let read = || {
        let proven = Proven::read(row).ok_or("its row is damaged")?;
        let found: R = serde_json::from_str(proven.json).map_err(|_| "this ralph does not understand its row")?;
        let keys = StoredKeys::read(row).ok().filter(|keys| *keys == StoredKeys::of(&found.keys()));
        keys.filter(|_| found.stream() == proven.stream).map(|_| found).ok_or("its row is damaged")
    };
    Ok(read().map_err(|why| {
        let text = |column: &str| row.get_ref(column).ok()?.as_str().ok();
        let stated = || StreamId::parse(text("kind")?, text("id")?);
        DamagedRow { stream: told_name(conn, no).or_else(stated), no, why: why.to_owned() }
    }))
}

/// The ids that need the fewest changes to begin as typed, newest first among equals. Two thirds of what was typed must
/// stay: ids are random, and any two have a letter or two in common.
fn nearest(typed: &str, newest_first: Vec<RunId>) -> Vec<RunId> {
    let typed: String = typed.chars().take(64).collect();
    let length = typed.chars().count();
    let changes = |id: &RunId| strsim::levenshtein(&typed, id.as_str().get(..length).unwrap_or(id.as_str()));
    let measured = newest_first.into_iter().map(|id| (changes(&id), id));
    let mut near: Vec<(usize, RunId)> = measured.filter(|(changes, _)| (1..=length / 3).contains(changes)).collect();
    near.sort_by_key(|(changes, _)| *changes);
    near.into_iter().take(NEAREST).map(|(_, id)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Durability;
    use crate::sample::{entries, id, noted, row, rows, run_row, started};
    use ralph_core::outcome::StopReason;
    use ralph_core::run::RunRow;

    fn store_with(runs: &[&str]) -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        for run in runs {
            let all = [started(&id(run)), noted(2, "x")];
            store.append(&all, &row(&id(run), 4), &[], Durability::Written).unwrap();
        }
        (dir, store)
    }

    #[test]
    fn runs_are_listed_newest_first_and_a_later_append_moves_none() {
        let (_dir, mut store) = store_with(&["first", "second", "third"]);
        store.append(&[noted(3, "x")], &row(&id("first"), 5), &[], Durability::Written).unwrap();
        let listed = [row(&id("third"), 4), row(&id("second"), 4), row(&id("first"), 5)].map(Ok);
        assert_eq!(rows(&store).unwrap(), listed);
        assert_eq!(store.newest::<RunRow>(Which::All, 2).unwrap(), listed[..2]);
        assert_eq!(run_row(&store, &id("second")).unwrap(), Some(row(&id("second"), 4)));
        assert_eq!(run_row(&store, &id("none")).unwrap(), None);
    }

    #[test]
    fn a_run_is_found_by_its_id_or_by_the_beginning_of_it() {
        let (_dir, store) = store_with(&["7k3z", "7k3zab12", "7kxx0000", "9pqr5678"]);
        let one = |typed: &str| match store.find(typed).unwrap() {
            Found::One(run) => run.to_string(),
            other => panic!("{typed}: {other:?}"),
        };
        assert_eq!(one("7k3z"), "7k3z", "an exact id wins over longer ones");
        assert_eq!(one("7k3za"), "7k3zab12");
        assert_eq!(one(" 9 ".trim()), "9pqr5678");
        assert_eq!(one("9PQR"), "9pqr5678");
        assert_eq!(store.find("7k").unwrap(), Found::Several(vec![id("7kxx0000"), id("7k3zab12"), id("7k3z")]));
    }

    #[test]
    fn what_is_not_found_is_answered_with_what_looks_most_like_it() {
        let (_dir, store) = store_with(&["aaaa1111", "bbbb2222", "cccc3333", "bbbc4444", "bbbc2244"]);
        let nearest = |typed: &str| match store.find(typed).unwrap() {
            Found::None { nearest } => nearest.iter().map(RunId::to_string).collect::<Vec<_>>(),
            other => panic!("{typed}: {other:?}"),
        };
        assert_eq!(nearest("bbbb2223")[0], "bbbb2222");
        assert_eq!(nearest("bbb2222"), ["bbbb2222", "bbbc2244"]);
        assert_eq!(nearest("bbbb2244"), ["bbbc2244", "bbbb2222"]);
        assert_eq!(nearest("aab"), ["aaaa1111"]);
        for nothing_like_it in ["", "z", "zzzzzzzz", "a2c4b1c3", "%_*'\"; DROP TABLE runs; é"] {
            assert!(nearest(nothing_like_it).is_empty(), "{nothing_like_it}");
        }
        assert_eq!(store_with(&[]).1.find("x").unwrap(), Found::None { nearest: vec![] });
    }

    #[test]
    fn only_the_rows_that_are_asked_for_are_given() {
        let (_dir, mut store) = store_with(&[]);
        let ended = |reason| move |row: RunRow| RunRow { stop_reason: reason, ..row };
        let mut add = |run: &str, change: &dyn Fn(RunRow) -> RunRow| {
            let row = change(row(&id(run), 1));
            store.append(&[started(&id(run))], &row, &[], Durability::Written).unwrap();
        };
        add("open", &ended(None));
        add("child", &|row| RunRow { parent: Some(id("open")), task: TaskName::from_text("other"), ..row });
        add("stopped", &ended(Some(StopReason::Cancelled)));
        add("done", &ended(Some(StopReason::Complete)));
        add("later", &ended(None));
        let names = |wanted: Which<'_>, most| {
            let rows = store.newest::<RunRow>(wanted, most).unwrap();
            rows.into_iter().map(|row| row.unwrap().run.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(Which::Open, 9), ["later", "child", "open"]);
        assert_eq!(names(Which::Unfinished, 3), ["later", "stopped", "child"]);
        assert_eq!(names(Which::ChildrenOf(&id("open")), 9), ["child"]);
        assert_eq!(names(Which::OfTask(&TaskName::from_text("fix-login")), 9), ["later", "done", "stopped", "open"]);
        assert_eq!(names(Which::Named(&[id("open"), id("none"), id("done")]), 9), ["done", "open"]);
        assert_eq!(store.known(&[id("open"), id("none"), id("done")]).unwrap(), [id("done"), id("open")]);
        assert_eq!(store.count(StreamKind::Run).unwrap(), 5);
    }

    #[test]
    fn what_a_task_has_spent_is_that_of_all_its_runs_but_one() {
        let (_dir, mut store) = store_with(&["r1", "r2", "r3"]);
        let task = TaskName::from_text("fix-login");
        let (cost, tokens) = store.spent(&task, &id("r2")).unwrap();
        assert_eq!((cost, tokens), (2.0 * (0.1 + 0.2), u64::MAX), "and what is more than a number holds is the most");
        let cheap = |run: &str, cost_usd| RunRow { cost_usd, tokens: Default::default(), ..row(&id(run), 4) };
        for (run, cost) in [("r1", Some(1.5)), ("r2", None), ("r3", Some(f64::NAN))] {
            store.append(&[noted(3, "x")], &cheap(run, cost), &[], Durability::Written).unwrap();
        }
        assert_eq!(store.spent(&task, &id("r2")).unwrap(), (1.5, 0));
        assert_eq!(store.spent(&task, &id("new")).unwrap(), (1.5, 0));
        assert_eq!(store.spent(&TaskName::from_text("other"), &id("new")).unwrap(), (0.0, 0));
    }

    #[test]
    fn no_question_but_that_for_all_reads_all_rows() {
        let (_dir, store) = store_with(&["r1"]);
        let plan = |sql: &str| -> String {
            let mut select = store.conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let lines = select.query_map(("run", "", 5), |row| row.get::<_, String>("detail")).unwrap();
            lines.collect::<Result<Vec<_>, _>>().unwrap().join("; ")
        };
        let run = id("r1");
        for wanted in [Which::Open, Which::Unfinished, Which::ChildrenOf(&run)] {
            let plan = plan(&wanted.sql().0);
            assert!(
                plan.contains("SEARCH") && !plan.contains("SCAN") && !plan.contains("B-TREE"),
                "{wanted:?}: {plan}"
            );
        }
        let plan = plan(&Which::All.sql().0);
        assert!(!plan.contains("B-TREE"), "the newest are read from the edge: {plan}");
    }

    #[test]
    fn c07_a_damaged_row_hides_no_run_and_is_healed_by_the_next_append() {
        for damage in [
            "row = replace(row, ':4', ':5')", "row = '{'", "last_seq = 1", "task = 'another'", "parent = 'r2'",
            "standing = 1", "cost = 7", "tokens = 1",
        ] {
            let (_dir, mut store) = store_with(&["r1", "r2"]);
            store.conn.execute(&format!("UPDATE streams SET {damage} WHERE id = 'r1'"), []).unwrap();
            let found = rows(&store).unwrap();
            assert_eq!(found[0], Ok(row(&id("r2"), 4)), "{damage}");
            let why = "its row is damaged".to_owned();
            assert_eq!(found[1], Err(DamagedRow { stream: Some((&id("r1")).into()), no: 1, why }), "{damage}");
            assert_eq!(entries(&store, &id("r1")).unwrap().len(), 2, "{damage}");
            store.tail = None;
            store.append(&[noted(3, "x")], &row(&id("r1"), 5), &[], Durability::Written).unwrap();
            assert_eq!(run_row(&store, &id("r1")).unwrap(), Some(row(&id("r1"), 5)), "{damage}");
        }
    }

    #[test]
    fn d11_a_damaged_index_hides_no_run_that_is_named() {
        let (dir, store) = store_with(&["r1", "r2"]);
        let root: i64 = store
            .conn
            .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'stream_ids'", [], |row| row.get(0))
            .unwrap();
        drop(store);
        let path = dir.path().join("ralph.db");
        let mut bytes = std::fs::read(&path).unwrap();
        let page = (root as usize - 1) * 4096..root as usize * 4096;
        // The index says that the first run is called otherwise.
        let at = bytes[page.clone()].windows(5).position(|part| part == b"runr1").unwrap() + page.start;
        bytes[at + 3] = b'q';
        std::fs::write(&path, bytes).unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        assert!(!store.is_indexed(&(&id("r1")).into()).unwrap());
        assert_eq!(run_row(&store, &id("r1")).unwrap(), Some(row(&id("r1"), 4)));
        assert_eq!(store.find("r1").unwrap(), Found::One(id("r1")));
        assert_eq!(entries(&store, &id("r1")).unwrap().len(), 2);
        store.append(&[noted(3, "x")], &row(&id("r1"), 5), &[], Durability::Written).unwrap();
        let damage = store.damage::<RunRow, ralph_core::event::Event>(|_| None).unwrap();
        assert!(damage.structure.iter().any(|told| told.contains("stream_ids")), "{damage:?}");
    }
}
