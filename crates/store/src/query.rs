//! Looking: lists of runs, one run by what somebody typed, receipts.
//!
//! Damage stays with the run that it hit. Where a row is damaged, what the run's first entry says
//! stands in for it until the next append writes it anew; where that is damaged too, the run is
//! listed as damaged, and all others as they are.

use crate::journal::{place, read_entry};
use crate::projection::{Receipt, StoredRow, number_of};
use crate::{Store, StoreError};
use ralph_core::event::{Entry, Event, Started};
use ralph_core::id::RunId;
use ralph_core::observation::Tokens;
use ralph_core::run::RunRow;
use ralph_core::time::WallTime;
use rusqlite::{OptionalExtension as _, Row};

/// What a typed name stands for.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one of these per command, taken apart at once")]
pub enum Found {
    /// This run: it has exactly this id, or it is the only one whose id begins like this.
    One(RunRow),
    /// No run.
    None {
        /// At most three that resemble it, best first.
        nearest: Vec<RunId>,
    },
    /// Several runs begin like this, newest first.
    Several(Vec<RunId>),
}

/// All runs of a project.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listing {
    /// Those that can be shown, newest first: in the order in which they began, which a wrong clock cannot change.
    pub runs: Vec<RunRow>,
    /// Those about which nothing can be believed, newest first.
    pub damaged: Vec<DamagedRun>,
}

/// A run of which neither the row nor the first entry can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRun {
    /// Its id, unless that is damaged too.
    pub run: Option<RunId>,
    /// Its number in the database.
    pub no: i64,
    /// How the damage was seen.
    pub why: String,
}

impl DamagedRun {
    /// Its id, or what is left to name it by.
    pub fn name(&self) -> String {
        self.run.as_ref().map_or_else(|| format!("number {}", self.no), RunId::to_string)
    }
}

/// How many similar ids are worth showing.
const NEAREST: usize = 3;

impl Store {
    /// All runs.
    pub fn runs(&self) -> Result<Listing, StoreError> {
        let failed = StoreError::sqlite(&self.path, "read");
        let mut listing = Listing::default();
        let sql = "SELECT no, run, last_seq, row, checksum FROM runs ORDER BY no DESC";
        let mut select = self.conn.prepare_cached(sql).map_err(&failed)?;
        let mut rows = select.query([]).map_err(&failed)?;
        while let Some(row) = rows.next().map_err(&failed)? {
            match self.row_or_stand_in(row)? {
                Ok(row) => listing.runs.push(row),
                Err(damaged) => listing.damaged.push(damaged),
            }
        }
        Ok(listing)
    }

    /// One run, if it is known.
    pub fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        let failed = StoreError::sqlite(&self.path, "read");
        let Some(no) = number_of(&self.conn, run).map_err(&failed)? else { return Ok(None) };
        let sql = "SELECT no, run, last_seq, row, checksum FROM runs WHERE no = ?1";
        let mut select = self.conn.prepare_cached(sql).map_err(&failed)?;
        let mut rows = select.query([no]).map_err(&failed)?;
        let Some(row) = rows.next().map_err(&failed)? else { return Ok(None) };
        let read = self.row_or_stand_in(row)?;
        read.map(Some).map_err(|DamagedRun { why, .. }| StoreError::Damaged { run: run.clone(), seq: 1, why })
    }

    /// The run that somebody means: the one with this id, else the only one whose id begins so.
    /// Ids have no capitals, so capitals are read as small letters.
    pub fn find(&self, typed: &str) -> Result<Found, StoreError> {
        let typed = typed.trim().to_ascii_lowercase();
        let ids = self.ids()?;
        let same = |id: &&RunId| id.as_str().eq_ignore_ascii_case(&typed);
        // Nothing typed is the beginning of every id, and yet no answer.
        let begins = |id: &&RunId| !typed.is_empty() && id.as_str().to_ascii_lowercase().starts_with(&typed);
        let matching: Vec<&RunId> = match ids.iter().find(same) {
            Some(exact) => vec![exact],
            None => ids.iter().filter(begins).collect(),
        };
        match matching.as_slice() {
            [] => Ok(Found::None { nearest: nearest(&typed, ids) }),
            [one] => match self.run(one)? {
                Some(row) => Ok(Found::One(row)),
                None => Ok(Found::None { nearest: Vec::new() }),
            },
            several => Ok(Found::Several(several.iter().copied().cloned().collect())),
        }
    }

    /// The receipts of a run's checks, in the order in which the checks ended.
    pub fn receipts(&self, run: &RunId) -> Result<Vec<Receipt>, StoreError> {
        let read = || {
            let Some(no) = number_of(&self.conn, run)? else { return Ok(Vec::new()) };
            self.conn
                .prepare_cached("SELECT * FROM receipts WHERE place BETWEEN ?1 AND ?2 ORDER BY place")?
                .query_map((place(no, 0), place(no, u64::MAX)), Receipt::read)?
                .collect()
        };
        read().map_err(StoreError::sqlite(&self.path, "read"))
    }

    /// A row as it was stored, else what the journal alone, without folding it, says about its run.
    fn row_or_stand_in(&self, row: &Row<'_>) -> Result<Result<RunRow, DamagedRun>, StoreError> {
        if let Some(stored) = StoredRow::read(row) {
            return Ok(Ok(stored.row));
        }
        let failed = StoreError::sqlite(&self.path, "read");
        let no: i64 = row.get("no").map_err(&failed)?;
        let said = row.get_ref("run").ok().and_then(|id| RunId::parse(id.as_str().ok()?));
        let Some(run) = said else {
            let why = "its id is damaged".to_owned();
            return Ok(Err(DamagedRun { run: StoredRow::proven_id(row), no, why }));
        };
        let named = run.clone();
        let first = self
            .conn
            .prepare_cached("SELECT at, elapsed, event, checksum FROM journal WHERE place = ?1")
            .and_then(|mut select| select.query_row([place(no, 1)], |row| Ok(read_entry(&run, 1, row))).optional())
            .map_err(&failed)?
            .unwrap_or_else(|| Err("it is missing".to_owned()));
        Ok(match first {
            Ok(Entry { at, event: Event::Started(started), .. }) => Ok(stand_in(run, at, *started)),
            Ok(_) => Err("its first entry does not begin a run".to_owned()),
            Err(why) => Err(format!("its first entry is damaged: {why}")),
        }
        .map_err(|why| DamagedRun { run: StoredRow::proven_id(row).or(Some(named)), no, why }))
    }

    fn ids(&self) -> Result<Vec<RunId>, StoreError> {
        let read = || {
            let mut select = self.conn.prepare_cached("SELECT run FROM runs ORDER BY no DESC")?;
            // An id that is damaged cannot be typed either.
            let ids = select.query_map([], |row| Ok(row.get_ref(0)?.as_str().ok().and_then(RunId::parse)))?;
            ids.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()
        };
        read().map_err(StoreError::sqlite(&self.path, "read"))
    }
}

/// What a row says that stands in for a damaged one.
const STAND_IN: &str = "what was stored about this run is damaged; its journal is not";

/// The row of a run as its first entry gives it.
/// Whether a row was damaged and only its run's first entry stands for it: how far the run came it does not say.
pub fn is_stand_in(row: &RunRow) -> bool {
    row.message == STAND_IN
}

fn stand_in(run: RunId, at: WallTime, started: Started) -> RunRow {
    RunRow {
        message: STAND_IN.to_owned(),
        parent: started.parent,
        kind: started.policy.kind.name(),
        max_iterations: started.policy.last_iteration(0),
        task: started.policy.task,
        agent: started.policy.agent.command,
        started_at: at,
        updated_at: at,
        elapsed: None,
        waits_until: None,
        stop_reason: None,
        verified: false,
        exit_code: None,
        iteration: 0,
        last_check: None,
        cost_usd: None,
        tokens: Tokens::default(),
        run,
    }
}

/// The ids that need the fewest changes of one letter, newest first among equals, and only those in which
/// two thirds of what was typed can stay: ids are random, and any two have a letter or two in common.
/// Only as much of an id is compared as was typed, because people type beginnings.
fn nearest(typed: &str, newest_first: Vec<RunId>) -> Vec<RunId> {
    let typed: Vec<char> = typed.chars().take(64).collect();
    let changes = |id: &RunId| {
        let beginning: Vec<char> = id.as_str().chars().take(typed.len()).collect();
        changes_between(&typed, &beginning)
    };
    let measured = newest_first.into_iter().map(|id| (changes(&id), id));
    let mut near: Vec<(usize, RunId)> =
        measured.filter(|(changes, _)| (1..=typed.len() / 3).contains(changes)).collect();
    near.sort_by_key(|(changes, _)| *changes);
    near.into_iter().take(NEAREST).map(|(_, id)| id).collect()
}

/// Levenshtein's distance, one row of the table at a time.
fn changes_between(from: &[char], to: &[char]) -> usize {
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, a) in from.iter().enumerate() {
        let mut here = vec![row + 1];
        for ((b, &diagonal), &up) in to.iter().zip(&above).zip(above.iter().skip(1)) {
            let left = here.last().copied().unwrap_or_default();
            here.push((diagonal + usize::from(a != b)).min(up + 1).min(left + 1));
        }
        above = here;
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Durability;
    use crate::sample::{check_ended, entry, id, noted, row, started, tree_seen};
    use ralph_core::check::TreePrint;

    fn store_with(runs: &[&str]) -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        for run in runs {
            let entries = [started(&id(run)), noted(2, "x")];
            store.append(&id(run), &entries, &row(&id(run), 4), Durability::Written).unwrap();
        }
        (dir, store)
    }

    #[test]
    fn runs_are_listed_newest_first_and_a_later_append_moves_none() {
        let (_dir, mut store) = store_with(&["first", "second", "third"]);
        store.append(&id("first"), &[noted(3, "x")], &row(&id("first"), 5), Durability::Written).unwrap();
        let runs = store.runs().unwrap().runs;
        assert_eq!(runs, [row(&id("third"), 4), row(&id("second"), 4), row(&id("first"), 5)]);
        assert_eq!(store.run(&id("second")).unwrap(), Some(row(&id("second"), 4)));
        assert_eq!(store.run(&id("none")).unwrap(), None);
    }

    #[test]
    fn a_run_is_found_by_its_id_or_by_the_beginning_of_it() {
        let (_dir, store) = store_with(&["7k3z", "7k3zab12", "7kxx0000", "9pqr5678"]);
        let one = |typed: &str| match store.find(typed).unwrap() {
            Found::One(row) => row.run.to_string(),
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
    fn a_receipt_names_the_iteration_and_the_tree_that_was_seen_last() {
        let (dir, mut store) = store_with(&["r1"]);
        let run = id("r1");
        let unknown = TreePrint::fault("no git");
        let first = [tree_seen(3, "t1"), check_ended(4, "cargo test", 101), tree_seen(5, "t2")];
        store.append(&run, &first, &row(&run, 1), Durability::Written).unwrap();
        store.append(&id("r2"), &[tree_seen(1, "other")], &row(&id("r2"), 1), Durability::Written).unwrap();
        drop(store);
        let mut store = Store::open(dir.path()).unwrap();
        store.append(&run, &[check_ended(6, "cargo test", 0)], &row(&run, 2), Durability::Written).unwrap();
        let last = [
            entry(7, Event::TreeSeen { print: unknown, changed: None, pinned: Vec::new() }),
            check_ended(8, "cargo clippy", 0),
        ];
        store.append(&run, &last, &row(&run, 3), Durability::Written).unwrap();

        let receipts = store.receipts(&run).unwrap();
        let told: Vec<_> = receipts.iter().map(|r| (r.iteration, r.passed, r.exit_code, r.tree.as_deref())).collect();
        assert_eq!(told, [(1, false, Some(101), Some("t1")), (2, true, Some(0), Some("t2")), (3, true, Some(0), None)]);
        let Event::CheckEnded(report) = check_ended(8, "cargo clippy", 0).event else { unreachable!() };
        assert_eq!(receipts[2], Receipt::of(&report, 3, None, check_ended(8, "", 0).at));
        assert_eq!(store.receipts(&id("r2")).unwrap(), []);
        assert_eq!(store.receipts(&id("none")).unwrap(), []);
    }

    #[test]
    fn c07_a_damaged_row_hides_no_run_and_is_healed_by_the_next_append() {
        for damage in [
            "UPDATE runs SET row = replace(row, ':4', ':5') WHERE run = 'r1'",
            "UPDATE runs SET row = '{' WHERE run = 'r1'",
            "UPDATE runs SET last_seq = 1 WHERE run = 'r1'",
        ] {
            let (_dir, mut store) = store_with(&["r1", "r2"]);
            store.conn.execute(damage, []).unwrap();
            let runs = store.runs().unwrap().runs;
            assert_eq!(runs[0], row(&id("r2"), 4), "{damage}");
            assert!(runs[1].run == id("r1") && runs[1].message.contains("damaged"), "{damage}: {:?}", runs[1]);
            assert_eq!(runs[1].max_iterations, 10);
            assert_eq!(store.entries(&id("r1")).unwrap().len(), 2, "{damage}");
            store.append(&id("r1"), &[noted(3, "x")], &row(&id("r1"), 5), Durability::Written).unwrap();
            assert_eq!(store.run(&id("r1")).unwrap(), Some(row(&id("r1"), 5)), "{damage}");
        }
    }
}
