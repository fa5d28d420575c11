//! What the disk, the power and the kernel can do to the files, and what is left then.

use crate::sample::{check_ended, entries, id, noted, receipt, row, rows, run_row, started, tree_seen};
use crate::{DamagedRow, Durability, IoProblem, Store, StoreError};
use ralph_core::event::{Entry, Event};
use ralph_core::run::RunRow;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// One iteration as the loop appends it, three entries at once.
fn iteration(number: u32) -> [Entry; 3] {
    let first = u64::from(number - 1) * 3 + 2;
    let text = "a sentence that the agent said. ".repeat(8);
    [noted(first, &text), tree_seen(first + 1, &format!("tree{number}")), check_ended(first + 2, "cargo test", 1)]
}

fn append_iterations(store: &mut Store, count: u32) {
    let run = id("r1");
    store.append(&[started(&run)], &row(&run, 0), &[], Durability::Synced).unwrap();
    for number in 1..=count {
        append_iteration(store, number, Durability::Synced).unwrap();
    }
}

fn append_iteration(store: &mut Store, number: u32, durability: Durability) -> Result<(), StoreError> {
    let all = iteration(number);
    let receipts = [receipt(&all[2], number, Some(&format!("tree{number}")))];
    store.append(&all, &row(&id("r1"), number), &receipts, durability)
}

/// Takes the files as `kill -9` leaves them: what was written is with the kernel, nothing is closed.
fn as_after_a_kill(live: &Path, dead: &Path) {
    fs::create_dir_all(dead).unwrap();
    for name in ["ralph.db", "ralph.db-wal"] {
        fs::copy(live.join(name), dead.join(name)).unwrap();
    }
}

/// The number of iterations that are there, each whole and all of them from the first on.
fn whole_iterations(folder: &Path) -> Option<u32> {
    let store = Store::open_existing(folder).unwrap().unwrap();
    let row = run_row(&store, &id("r1")).unwrap()?;
    let expected: Vec<Entry> =
        [started(&id("r1"))].into_iter().chain((1..=row.iteration).flat_map(iteration)).collect();
    assert_eq!(entries(&store, &id("r1")).unwrap(), expected);
    assert_eq!(store.receipts(&id("r1")).unwrap().len(), row.iteration as usize);
    Some(row.iteration)
}

#[test]
fn e01_what_was_appended_survives_a_kill_and_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let dead = dir.path().join("dead");
    let mut store = Store::open(&dir.path().join("live")).unwrap();
    append_iterations(&mut store, 3);
    append_iteration(&mut store, 4, Durability::Written).unwrap();
    as_after_a_kill(&dir.path().join("live"), &dead);
    assert_eq!(whole_iterations(&dead), Some(4));
    let mut resumed = Store::open(&dead).unwrap();
    append_iteration(&mut resumed, 5, Durability::Synced).unwrap();
    assert_eq!(whole_iterations(&dead), Some(5));
}

#[test]
fn d06_a_torn_wal_loses_only_the_last_transaction() {
    let dir = tempfile::tempdir().unwrap();
    let (live, dead) = (dir.path().join("live"), dir.path().join("dead"));
    let mut store = Store::open(&live).unwrap();
    append_iterations(&mut store, 4);
    as_after_a_kill(&live, &dead);
    let length = fs::metadata(dead.join("ralph.db-wal")).unwrap().len();
    let log = OpenOptions::new().write(true).open(dead.join("ralph.db-wal")).unwrap();

    // A page is checked as one piece, so inside of pages every 397th byte stands for its neighbours.
    let (header, frame) = (32, 24 + 4096);
    let at_an_edge = |cut: &u64| *cut < header || (cut - header) % frame < 32 || cut.is_multiple_of(397);
    let mut left = Some(4);
    for cut in (0..length).rev().filter(at_an_edge) {
        log.set_len(cut).unwrap();
        let found = whole_iterations(&dead);
        assert!(found == left || found == left.and_then(|n: u32| n.checked_sub(1)), "cut at {cut}: {found:?}");
        left = found;
    }
    assert_eq!(left, None, "in the end the whole log was cut");
}

#[test]
fn d06_a_torn_wal_is_no_obstacle_to_going_on() {
    let dir = tempfile::tempdir().unwrap();
    let (live, dead) = (dir.path().join("live"), dir.path().join("dead"));
    let mut store = Store::open(&live).unwrap();
    append_iterations(&mut store, 2);
    as_after_a_kill(&live, &dead);
    let log = OpenOptions::new().write(true).open(dead.join("ralph.db-wal")).unwrap();
    log.set_len(fs::metadata(dead.join("ralph.db-wal")).unwrap().len() - 1).unwrap();
    let mut resumed = Store::open(&dead).unwrap();
    append_iteration(&mut resumed, 2, Durability::Synced).unwrap();
    drop(resumed);
    assert_eq!(whole_iterations(&dead), Some(2));
}

#[test]
fn d07_a_flipped_bit_is_found_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path()).unwrap();
    append_iterations(&mut store, 4);
    let whole = entries(&store, &id("r1")).unwrap();
    drop(store);
    let original = fs::read(dir.path().join("ralph.db")).unwrap();
    let file = OpenOptions::new().write(true).open(dir.path().join("ralph.db")).unwrap();
    let mut named = 0;
    // Every eleventh byte, and a bit that wanders: every kind of field is hit many times. Most zeros
    // are room that nobody reads.
    let tried = |(at, byte): &(usize, &u8)| at.is_multiple_of(if **byte == 0 { 121 } else { 11 });
    for (at, byte) in original.iter().enumerate().filter(tried) {
        file.write_all_at(&[byte ^ (1 << (at % 8))], at as u64).unwrap();
        match read_everything(dir.path()) {
            Ok(found) => assert!(found == whole, "byte {at} changed the journal unnoticed"),
            // If the id of the run is hit, the damaged id is what can be named.
            Err(StoreError::Damaged { stream, seq, .. }) => {
                assert!(stream.id().len() == 2 && (1..=13).contains(&seq), "byte {at}: entry {seq} of {stream}");
                named += 1;
            }
            // The header, the schema or the structure around the entries is hit.
            Err(StoreError::Corrupt { .. } | StoreError::Newer { .. } | StoreError::Internal { .. }) => {}
            other => panic!("byte {at}: {other:?}"),
        }
        file.write_all_at(&[*byte], at as u64).unwrap();
    }
    let json: usize = whole.iter().map(|entry| serde_json::to_string(&entry.event).unwrap().len()).sum();
    assert!(named >= json / 11, "a flip inside an entry is always named: {named} of {json}");
    assert_eq!(read_everything(dir.path()).unwrap(), whole);
}

/// The journals of all runs that are listed, as `resume` and `show` read them.
fn read_everything(folder: &Path) -> Result<Vec<Entry>, StoreError> {
    let store = Store::open_existing(folder)?.expect("the file is there");
    store.receipts(&id("r1"))?;
    let mut all = Vec::new();
    for row in rows(&store)? {
        all.extend(match row {
            Ok(row) => entries(&store, &row.run)?,
            // Its journal says what the row cannot say any more.
            Err(DamagedRow { stream: Some(stream), .. }) => store.entries(&stream)?,
            Err(DamagedRow { why, .. }) => {
                return Err(StoreError::Damaged { stream: (&id("r1")).into(), seq: 1, why });
            }
        });
    }
    Ok(all)
}

#[test]
fn d01_a_full_disk_stops_all_writing_and_harms_nothing_that_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let run = id("r1");
    let mut store = Store::open(dir.path()).unwrap();
    append_iterations(&mut store, 2);
    let pages: u32 = store.conn.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    store.conn.pragma_update(None, "max_page_count", pages).unwrap();
    let large = noted(8, &"x".repeat(100_000));
    let error = store.append(&[large], &row(&run, 3), &[], Durability::Synced).unwrap_err();
    assert!(matches!(error, StoreError::Io { problem: IoProblem::DiskFull, .. }), "{error:?}");
    assert!(error.to_string().contains("ralph.db") && error.to_string().contains("no space"), "{error}");

    // Not even something that would fit is written through a store that has failed.
    let error = append_iteration(&mut store, 3, Durability::Synced).unwrap_err();
    assert!(matches!(error, StoreError::Suspect { .. }) && error.class() == crate::Class::Machine, "{error:?}");
    assert_eq!(whole_iterations(dir.path()), Some(2));
    drop(store);
    let mut store = Store::open(dir.path()).unwrap();
    append_iteration(&mut store, 3, Durability::Synced).unwrap();
    assert_eq!(whole_iterations(dir.path()), Some(3));
}

#[test]
fn f09_readers_never_see_half_a_transaction() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path()).unwrap();
    append_iterations(&mut store, 1);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let store = Store::open_existing(dir.path()).unwrap().unwrap();
            let (mut reads, mut seen) = (0, 0);
            while !done.load(Ordering::Relaxed) || reads < 100 {
                let found = entries(&store, &id("r1")).unwrap();
                assert_eq!(found.len() % 3, 1, "whole iterations only");
                assert!(found.len() >= seen, "nothing that was seen disappears");
                let row = run_row(&store, &id("r1")).unwrap().unwrap();
                assert!(row.iteration as usize * 3 + 1 >= found.len());
                seen = found.len();
                reads += 1;
            }
        });
        for number in 2..=400 {
            append_iteration(&mut store, number, Durability::Written).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
    assert_eq!(whole_iterations(dir.path()), Some(400));
}

#[test]
fn nothing_is_written_to_a_database_that_was_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("state");
    let mut store = Store::open(&folder).unwrap();
    let run = id("r1");
    store.append(&[noted(1, "x")], &row(&run, 1), &[], Durability::Synced).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let error = store.append(&[noted(2, "x")], &row(&run, 1), &[], Durability::Written).unwrap_err();
    assert!(matches!(error, StoreError::Gone { .. }) && error.class() == crate::Class::Machine, "{error:?}");
    Store::open(&folder).unwrap();
    let error = store.append(&[noted(2, "x")], &row(&run, 1), &[], Durability::Written).unwrap_err();
    assert!(matches!(error, StoreError::Gone { .. }), "{error:?}");
}

/// A project of three runs, the middle one of which is going to be damaged.
fn three_runs(folder: &Path) -> Vec<(&'static str, Vec<Entry>)> {
    let mut store = Store::open(folder).unwrap();
    let mut all = Vec::new();
    for name in ["left", "hurt", "right"] {
        let run = id(name);
        // One entry is longer than a page, and one has numbers that take no room.
        let small =
            Entry { at: ralph_core::time::WallTime(1), elapsed: ralph_core::time::Millis(0), ..noted(3, "small") };
        let whole = vec![started(&run), noted(2, &format!("{name} ").repeat(4000)), small, tree_seen(4, name)];
        store.append(&whole[..2], &row(&run, 1), &[], Durability::Written).unwrap();
        store.append(&whole[2..], &row(&run, 2), &[], Durability::Written).unwrap();
        all.push((name, whole));
    }
    all
}

/// Every way in which a value can be wrong.
const GARBLED: [&str; 9] =
    ["NULL", "x'00ff'", "''", "'{'", "'left'", "'right'", "-1", "9223372036854775807", "4294967297"];

/// Puts a value where the schema would not let it stand.
fn garble(folder: &Path, sql: &str) -> bool {
    let conn = rusqlite::Connection::open(folder.join("ralph.db")).unwrap();
    conn.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
    conn.execute_batch("PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON;").unwrap();
    let loosened =
        "UPDATE sqlite_schema SET sql = replace(replace(sql, ' STRICT', ''), ' NOT NULL', '') WHERE type = 'table'";
    conn.execute(loosened, []).unwrap();
    drop(conn);
    let conn = rusqlite::Connection::open(folder.join("ralph.db")).unwrap();
    conn.execute(sql, []).is_ok()
}

#[test]
fn d11_damage_to_any_column_of_a_run_stays_with_that_run() {
    let of_entry = ["place", "at", "elapsed", "event", "checksum"];
    let of_row = ["no", "kind", "id", "last_seq", "row", "checksum", "task", "parent", "standing", "cost", "tokens"];
    let columns = [
        ("streams", "id = 'hurt'", &of_row[..]),
        ("journal", "place >> 32 = 2 AND place & 255 = 0", &of_entry),
        ("journal", "place >> 32 = 2 AND place & 255 = 1", &of_entry),
        ("journal", "place >> 32 = 2", &of_entry),
    ];
    let mut tried = 0;
    for (table, rows, columns) in columns {
        for (column, value) in columns.iter().flat_map(|column| GARBLED.map(|value| (column, value))) {
            for both in [false, true] {
                let dir = tempfile::tempdir().unwrap();
                let all = three_runs(dir.path());
                let sql = format!("UPDATE {table} SET {column} = {value} WHERE {rows}");
                let hit = garble(dir.path(), &sql)
                    & (!both || garble(dir.path(), "UPDATE streams SET row = '' WHERE no = 2"));
                tried += usize::from(hit);
                println!("{sql} (row too: {both})");
                others_are_untouched(dir.path(), &all);
                is_salvaged(dir.path(), &all);
            }
        }
    }
    assert!(tried > 200, "most of these change something: {tried}");
}

#[track_caller]
fn others_are_untouched(folder: &Path, all: &[(&str, Vec<Entry>)]) {
    let mut store = Store::open(folder).unwrap();
    let listing = rows(&store).unwrap();
    for (name, whole) in all.iter().filter(|(name, _)| *name != "hurt") {
        let listed: Vec<_> = listing.iter().flatten().filter(|row| row.run == id(name)).collect();
        assert_eq!(listed, [&row(&id(name), 2)]);
        assert_eq!(run_row(&store, &id(name)).unwrap(), Some(row(&id(name), 2)));
        assert_eq!(entries(&store, &id(name)).unwrap(), *whole);
        assert_eq!(store.find(name).unwrap(), crate::Found::One(id(name)));
        let next = noted(5, "goes on");
        store.append(&[next], &row(&id(name), 3), &[], Durability::Written).unwrap();
    }
    let hurt = entries(&store, &id("hurt"));
    assert!(hurt.as_ref().is_ok_and(|found| found.is_empty() || found == &all[1].1) || hurt.is_err(), "{hurt:?}");
    assert_eq!(listing.len(), 3, "{listing:?}");
    // A new run finds a number of its own.
    store.append(&[started(&id("new"))], &row(&id("new"), 1), &[], Durability::Written).unwrap();
    assert_eq!(entries(&store, &id("new")).unwrap(), [started(&id("new"))]);
}

/// Everything but the run that was hit is read without SQLite too, and of that run nothing wrong.
#[track_caller]
fn is_salvaged(folder: &Path, all: &[(&str, Vec<Entry>)]) {
    let salvage = crate::Salvage::read(folder).unwrap();
    let mut whole = 0;
    for remains in salvage.streams().into_iter().map(|no| salvage.remains::<Event>(no)) {
        let Some((name, whole_run)) = all.iter().find(|(name, _)| remains.stream == Some((&id(name)).into())) else {
            continue;
        };
        assert!(remains.entries.iter().zip(whole_run).all(|(found, real)| found == real), "{name}");
        whole += usize::from(*name != "hurt" && remains.entries.len() == 5);
    }
    assert_eq!(whole, 2);
}

#[test]
fn d12_whatever_is_written_over_a_database_nothing_but_real_entries_is_salvaged() {
    let dir = tempfile::tempdir().unwrap();
    let all = three_runs(dir.path());
    let original = fs::read(dir.path().join("ralph.db")).unwrap();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        // xorshift: the same blows in every run of this test.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let (mut kept, mut lost) = (0, 0);
    for round in 0..300 {
        let mut bytes = original.clone();
        for _ in 0..=random() % 6 {
            let at = random() as usize % bytes.len();
            let length = (random() as usize % if round % 2 == 0 { 64 } else { 5000 }).min(bytes.len() - at);
            let same = random() as u8;
            let noise = random() % 2 == 0;
            bytes[at..at + length].iter_mut().for_each(|byte| *byte = if noise { random() as u8 } else { same });
        }
        bytes.truncate(bytes.len() - random() as usize % if round % 5 == 0 { bytes.len() } else { 2 });
        let hurt = tempfile::tempdir().unwrap();
        fs::write(hurt.path().join("ralph.db"), &bytes).unwrap();
        let salvage = crate::Salvage::read(hurt.path()).unwrap();
        for remains in salvage.streams().into_iter().map(|no| salvage.remains::<Event>(no)) {
            let real = all.iter().find(|(name, _)| remains.stream == Some((&id(name)).into()));
            let real = real.map(|(_, entries)| entries.as_slice()).unwrap_or_default();
            assert!(real.starts_with(&remains.entries), "round {round}: {:?}", remains.stream);
            kept += remains.entries.len();
            lost += usize::from(remains.lost.is_some());
        }
        // Whoever looks at it gets an answer or an error, and no panic.
        if let Ok(Some(store)) = Store::open_existing(hurt.path()) {
            let _ = store.damage::<RunRow, Event>(|_| None).map(|damage| damage.is_none());
        }
    }
    assert!(kept > 1000 && lost > 50, "both happened often: {kept} kept, {lost} lost");
}
