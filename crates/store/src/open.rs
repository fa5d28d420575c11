//! Making, finding and setting up the database.
//!
//! The folder holds prompts, outputs and paths of its owner, so nobody else may look into it. Once
//! the database has its name, no file of it is opened here except by SQLite: closing any other
//! descriptor would drop the locks that this process holds on it.

use crate::{Durability, IoProblem, Store, StoreError};
use crate::{migrate, replace};
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub(crate) const FILE: &str = "ralph.db";

/// How long another process may hold the write lock. An append holds it for a few milliseconds, so
/// whoever holds it for seconds is stopped or stuck, and a person should hear about it.
const BUSY: Duration = Duration::from_secs(5);

/// The same for whoever tries again by itself, and has other things to do meanwhile.
const BUSY_AGAIN: Duration = Duration::from_millis(20);

/// What every connection sets.
/// - NORMAL is what [`Durability::Written`] means; an append that wants more switches it.
/// - Without `fullfsync` a sync on macOS stops at the drive's own cache. Elsewhere it does nothing.
/// - The log goes into the database every 64 pages, which is every ten to twenty iterations and
///   costs two syncs. SQLite's own 1000 would let the log grow for hundreds of iterations, each
///   paying for the growth, and make opening after a crash slower, since all of the log is read then.
/// - 512 KiB of cache hold the edges of all tables many times over.
/// - A page whose parts overlap is an error at once, and not only when it leads somewhere wrong.
/// - Sorting and copying leave nothing behind in a shared folder for temporary files.
const SETTINGS: &str = "
    PRAGMA synchronous = NORMAL;
    PRAGMA fullfsync = ON;
    PRAGMA wal_autocheckpoint = 64;
    PRAGMA cache_size = -512;
    PRAGMA cell_size_check = ON;
    PRAGMA temp_store = MEMORY;
";

/// What tells the database from another one under its name; `None` for no file.
pub(crate) type FileId = Option<(u64, u64)>;

pub(crate) fn file_id(path: &Path) -> FileId {
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

impl Store {
    /// Opens `<folder>/ralph.db`, and makes it and its folders if needed, for their owner only (0700, 0600). A database
    /// of an older ralph is copied aside and brought up to date; one of a newer ralph is refused.
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        let path = folder.join(FILE);
        replace::finish(folder)?;
        if path.symlink_metadata().is_err() {
            refuse_log_alone(&path)?;
            create_folder(folder).map_err(StoreError::file(folder, "create"))?;
            create_database(&path)?;
        }
        refuse_what_nobody_wrote(&path)?;
        let conn = connect_for_writing(&path)?;
        let file = file_id(&path);
        Ok(Store { conn, path, durability: Durability::Written, tail: None, suspect: false, file })
    }

    /// Opens the database for looking only; `None` if there is none. Nothing is changed and nothing new is left behind.
    /// A database of a newer ralph is refused.
    pub fn open_existing(folder: &Path) -> Result<Option<Store>, StoreError> {
        let path = folder.join(FILE);
        replace::finish(folder)?;
        match fs::metadata(&path) {
            Ok(_) => refuse_what_nobody_wrote(&path)?,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return refuse_log_alone(&path).map(|()| None);
            }
            Err(error) => return Err(StoreError::file(&path, "open")(error)),
        }
        let conn = connect_for_reading(&path)?;
        migrate::refuse_foreign(&conn, &path)?;
        let file = file_id(&path);
        Ok(Some(Store { conn, path, durability: Durability::Written, tail: None, suspect: false, file }))
    }
}

impl Store {
    /// Calls the store. One that found it locked is asked to call again, and then it waits for a moment only, so that
    /// whoever asks can see to other things between two calls.
    pub fn again<T>(&mut self, call: impl FnOnce(&mut Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let set = |store: &Store, span| store.conn.busy_timeout(span).map_err(StoreError::sqlite(&store.path, "open"));
        set(self, BUSY_AGAIN)?;
        let answer = call(self);
        set(self, BUSY)?;
        answer
    }
}

/// A database gets its name only when it is whole, so an empty one or none at all is somebody else's doing.
fn refuse_what_nobody_wrote(path: &Path) -> Result<(), StoreError> {
    let found = fs::metadata(path).map_err(StoreError::file(path, "open"))?;
    let why = if !found.is_file() {
        "it is not a file"
    } else if found.len() == 0 {
        "it is empty"
    } else {
        return Ok(());
    };
    Err(StoreError::Corrupt { path: path.to_owned(), source: why.into() })
}

/// A log without its database holds the end of what somebody deleted, and would be poured into a new one.
fn refuse_log_alone(path: &Path) -> Result<(), StoreError> {
    match with_suffix(path, "-wal").metadata() {
        Ok(log) if log.len() > 0 => {
            let source = "it is missing, and its log is there".into();
            Err(StoreError::Corrupt { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Every connection makes a log and its index if there are none. A reader with the right to write
/// removes them again when it closes; so a reader has it if there was no log. If there is one it
/// belongs to a live or dead writer, and a reader without that right leaves it as it is.
fn connect_for_reading(path: &Path) -> Result<Connection, StoreError> {
    let has_log = with_suffix(path, "-wal").exists();
    let flags = if has_log { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
    let conn = connect(path, flags)?;
    conn.pragma_update(None, "query_only", true).map_err(StoreError::sqlite(path, "open"))?;
    Ok(conn)
}

fn connect_for_writing(path: &Path) -> Result<Connection, StoreError> {
    let mut conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    migrate::refuse_foreign(&conn, path)?;
    use_the_log(&conn, path)?;
    migrate::bring_up_to_date(&mut conn, path, migrate::MIGRATIONS)?;
    Ok(conn)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connect = || {
        // A store has one owner at a time, so SQLite need not guard it against threads.
        let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        conn.busy_timeout(BUSY)?;
        conn.execute_batch(SETTINGS)?;
        Ok(conn)
    };
    connect().map_err(StoreError::sqlite(path, "open"))
}

/// Write-ahead mode is a property of the file: only a new or restored one changes.
fn use_the_log(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let mode: String = conn
        .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))
        .map_err(StoreError::sqlite(path, "open"))?;
    if mode == "wal" {
        return Ok(());
    }
    let source = format!("the journal mode stays `{mode}`").into();
    Err(StoreError::Io { path: path.to_owned(), doing: "open", problem: IoProblem::NoSharedMemory, source })
}

/// Creates what is missing of the folder, and syncs each parent, so that after a power cut the
/// database is not found to lie in a folder that was never there.
fn create_folder(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|path| !path.exists()).collect();
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    for path in missing.into_iter().rev().filter(|path| !path.as_os_str().is_empty()) {
        match builder.create(path) {
            // Another ralph may be starting at the same moment.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        if let Some(parent) = path.parent() {
            sync_folder(parent)?;
        }
    }
    Ok(())
}

/// Makes the database under another name and gives it its own when it is whole and synced, so that
/// nobody ever finds half of it, and of two who make it at once the first wins. The name itself
/// becomes durable with the first append, because SQLite syncs the folder of a new log.
fn create_database(path: &Path) -> Result<(), StoreError> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let unfinished = with_suffix(path, &format!(".new-{}-{made}", std::process::id()));
    let failed = StoreError::file(path, "create");
    create_private(&unfinished).map_err(&failed)?;
    let named = fill(&unfinished).and_then(|()| {
        match fs::hard_link(&unfinished, path) {
            Err(_) if path.exists() => Ok(()),
            // Some file systems have no links.
            Err(_) => fs::rename(&unfinished, path),
            Ok(()) => Ok(()),
        }
        .map_err(&failed)
    });
    // What matters is told by the line above; a leftover is only untidy.
    let _ = fs::remove_file(&unfinished);
    named
}

/// A file without a name needs one sync, at its end. The log is switched on last: what goes through it reaches the file
/// when it closes, and closing tells of no failure.
fn fill(unfinished: &Path) -> Result<(), StoreError> {
    let failed = StoreError::sqlite(unfinished, "create");
    let mut conn = Connection::open_with_flags(unfinished, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(&failed)?;
    conn.execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY").map_err(&failed)?;
    migrate::bring_up_to_date(&mut conn, unfinished, migrate::MIGRATIONS)?;
    use_the_log(&conn, unfinished)?;
    conn.close().map_err(|(_, error)| failed(error))?;
    File::open(unfinished).and_then(|file| file.sync_all()).map_err(StoreError::file(unfinished, "create"))
}

/// An empty file for its owner only; SQLite gives its log and index files the same mode.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Makes names in a folder durable. Only Unix lets a folder be opened for that.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{entries, id, noted, row, rows};
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt;

    /// Names and contents of everything in a folder, except SQLite's index of the log, which is
    /// shared memory and not stored state.
    fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let names = fs::read_dir(folder).unwrap().map(|entry| name(entry.unwrap()));
        names.filter(|name| !name.ends_with("-shm")).map(|n| (n.clone(), fs::read(folder.join(n)).unwrap())).collect()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn nobody_else_may_look_into_the_folder_or_its_files() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("state/ralph/project");
        let mut store = Store::open(&folder).unwrap();
        store.append(&[noted(1, "x")], &row(&id("r1"), 1), &[], Durability::Written).unwrap();
        for made in ["state", "state/ralph", "state/ralph/project"] {
            assert_eq!(mode(&dir.path().join(made)), 0o700, "{made}");
        }
        for made in ["ralph.db", "ralph.db-wal", "ralph.db-shm"] {
            assert_eq!(mode(&folder.join(made)), 0o600, "{made}");
        }
        drop(store);
        assert_eq!(contents(&folder).into_keys().collect::<Vec<_>>(), ["ralph.db"]);
    }

    #[test]
    fn looking_where_nothing_is_makes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Store::open_existing(&dir.path().join("none")).unwrap().is_none());
        assert!(Store::open_existing(dir.path()).unwrap().is_none());
        assert!(contents(dir.path()).is_empty());
    }

    #[test]
    fn looking_changes_nothing_beside_a_writer_after_its_end_or_after_its_death() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let look = |folder: &Path| {
            let before = contents(folder);
            let mut reader = Store::open_existing(folder).unwrap().unwrap();
            assert_eq!(entries(&reader, &run).unwrap(), [noted(1, "x")]);
            let refused = reader.append(&[noted(2, "y")], &row(&run, 1), &[], Durability::Written).unwrap_err();
            assert!(refused.class() == crate::Class::Machine && refused.to_string().contains("read-only"), "{refused}");
            drop(reader);
            assert_eq!(contents(folder), before);
        };
        let live = dir.path().join("live");
        let mut writer = Store::open(&live).unwrap();
        writer.append(&[noted(1, "x")], &row(&run, 1), &[], Durability::Written).unwrap();
        look(&live);
        let dead = dir.path().join("dead");
        fs::create_dir(&dead).unwrap();
        for name in [FILE, "ralph.db-wal"] {
            fs::copy(live.join(name), dead.join(name)).unwrap();
        }
        look(&dead);
        drop(writer);
        look(&live);
    }

    #[test]
    fn all_who_open_a_new_folder_at_once_get_the_same_database() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("project");
        let names: Vec<String> = (0..8).map(|n| format!("run{n}")).collect();
        std::thread::scope(|scope| {
            for name in &names {
                scope.spawn(|| {
                    let mut store = Store::open(&folder).unwrap();
                    store.append(&[noted(1, name)], &row(&id(name), 1), &[], Durability::Written).unwrap();
                });
            }
        });
        assert_eq!(rows(&Store::open(&folder).unwrap()).unwrap().len(), names.len());
        assert_eq!(contents(&folder).len(), 1, "nothing unfinished is left");
    }

    #[test]
    fn a_file_that_is_no_database_is_named_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE), "my notes, which are longer than a header".repeat(40)).unwrap();
        let before = contents(dir.path());
        for error in [Store::open(dir.path()).unwrap_err(), Store::open_existing(dir.path()).unwrap_err()] {
            assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
            assert!(error.class() != crate::Class::Internal && error.to_string().contains("ralph.db"), "{error}");
        }
        assert_eq!(contents(dir.path()), before);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let error = Store::open(&dir.path().join("file/project")).unwrap_err();
        assert!(error.class() != crate::Class::Internal && error.to_string().contains("file/project"), "{error}");
    }
}
