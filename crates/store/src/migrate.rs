//! Brings an older database up to date, and leaves a newer one alone. Each file in `migrations/` raises the format by
//! one and only adds, so that a loop of the old ralph that still runs is not disturbed.

use crate::StoreError;
use crate::open::{create_private, sync_folder, with_suffix};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::fs::{self, File};
use std::path::Path;

/// In their order; the first makes format 1.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_journal.sql")];

/// Refuses a database that a newer ralph made, and one that states no format: none gets its name without.
pub(crate) fn refuse_foreign(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = format(conn).map_err(StoreError::sqlite(path, "open"))?;
    let known = newest(MIGRATIONS);
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known });
    }
    if found == 0 {
        let source = "it states no format, as no database that ralph has made".into();
        return Err(StoreError::Corrupt { path: path.to_owned(), source });
    }
    Ok(())
}

/// Migrates in one transaction; a copy of the old database stays at `ralph.db.format-N`.
pub(crate) fn bring_up_to_date(conn: &mut Connection, path: &Path, migrations: &[&str]) -> Result<(), StoreError> {
    let failed = StoreError::sqlite(path, "migrate");
    if format(conn).map_err(&failed)? == newest(migrations) {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    // Asked again, because another process may have done it before the lock was ours.
    let found = format(&tx).map_err(&failed)?;
    if found > 0 && found < newest(migrations) {
        copy_aside(path, found)?;
    }
    for migration in migrations.iter().skip(found as usize) {
        tx.execute_batch(migration).map_err(&failed)?;
    }
    if found < newest(migrations) {
        tx.pragma_update(None, "user_version", newest(migrations)).map_err(&failed)?;
    }
    tx.commit().map_err(&failed)
}

/// Copies the database through a connection of its own: the one that holds the write lock is inside
/// a transaction, where `VACUUM` is not allowed, and the lock keeps everybody else from writing.
fn copy_aside(path: &Path, format: u32) -> Result<(), StoreError> {
    let copy = with_suffix(path, &format!(".format-{format}"));
    let unfinished = with_suffix(&copy, ".unfinished");
    let failed = StoreError::file(&copy, "create");
    create_private(&unfinished).map_err(&failed)?;
    let in_sqlite = StoreError::sqlite(path, "copy");
    let reader = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(&in_sqlite)?;
    reader.execute("VACUUM INTO ?1", [unfinished.to_string_lossy()]).map_err(&in_sqlite)?;
    File::open(&unfinished).and_then(|file| file.sync_all()).map_err(&failed)?;
    fs::rename(&unfinished, &copy).map_err(&failed)?;
    copy.parent().map_or(Ok(()), sync_folder).map_err(&failed)
}

/// Tables and indexes that a database of this format must have and this one lacks, one sentence each.
pub(crate) fn lacking(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let schema = |conn: &Connection| -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY 1";
        conn.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
    };
    let model = Connection::open_in_memory()?;
    MIGRATIONS.iter().try_for_each(|migration| model.execute_batch(migration))?;
    let (there, expected) = (schema(conn)?, schema(&model)?);
    Ok(expected.into_iter().filter(|part| !there.contains(part)).map(|part| format!("it has no {part}")).collect())
}

fn format(conn: &Connection) -> rusqlite::Result<u32> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn newest(migrations: &[&str]) -> u32 {
    u32::try_from(migrations.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{entries, id, noted, row};
    use crate::{Durability, Store};

    fn one_run(folder: &Path) -> Store {
        let mut store = Store::open(folder).unwrap();
        store.append(&[noted(1, "x")], &row(&id("r1"), 1), &[], Durability::Written).unwrap();
        store
    }

    #[test]
    fn c16_a_database_of_a_newer_ralph_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        one_run(dir.path()).conn.pragma_update(None, "user_version", 7).unwrap();
        let before = fs::read(dir.path().join("ralph.db")).unwrap();
        for error in [Store::open(dir.path()).unwrap_err(), Store::open_existing(dir.path()).unwrap_err()] {
            assert!(matches!(error, StoreError::Newer { found: 7, known: 1, .. }), "{error:?}");
            assert!(error.class() == crate::Class::Newer);
            let told = error.to_string();
            assert!(["newer ralph", "7", "ralph.db"].iter().all(|part| told.contains(part)), "{told}");
        }
        assert_eq!(fs::read(dir.path().join("ralph.db")).unwrap(), before);
    }

    #[test]
    fn c17_a_database_of_an_older_ralph_is_copied_aside_and_brought_up_to_date() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = one_run(dir.path());
        let mut migrations = MIGRATIONS.to_vec();
        migrations.push("CREATE TABLE added (x INTEGER) STRICT;");
        migrations.push("INSERT INTO added VALUES (1);");
        bring_up_to_date(&mut store.conn, &store.path, &migrations).unwrap();
        bring_up_to_date(&mut store.conn, &store.path, &migrations).unwrap();
        assert_eq!(format(&store.conn).unwrap(), 3);
        let added: u32 = store.conn.query_row("SELECT count(*) FROM added", [], |row| row.get(0)).unwrap();
        assert_eq!(added, 1);

        // The copy is whole, is what the older ralph knows, and works in the place of the original.
        drop(store);
        let old = dir.path().join("old");
        fs::create_dir(&old).unwrap();
        fs::rename(dir.path().join("ralph.db.format-1"), old.join("ralph.db")).unwrap();
        let store = Store::open(&old).unwrap();
        assert_eq!(entries(&store, &id("r1")).unwrap(), [noted(1, "x")]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing unfinished is left");
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = one_run(dir.path());
        let mut migrations = MIGRATIONS.to_vec();
        migrations.push("CREATE TABLE added (x INTEGER) STRICT;");
        migrations.push("NONSENSE;");
        let error = bring_up_to_date(&mut store.conn, &store.path, &migrations).unwrap_err();
        assert!(matches!(error, StoreError::Internal { .. }), "{error:?}");
        assert_eq!(format(&store.conn).unwrap(), 1);
        assert!(store.conn.prepare("SELECT * FROM added").is_err());
        assert_eq!(entries(&store, &id("r1")).unwrap(), [noted(1, "x")]);
    }
}
