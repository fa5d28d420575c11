//! Putting a repaired database in the place of a damaged one, which is kept aside whole.
//!
//! A database is up to three files, and no call of the system exchanges three at once. So what is to be done
//! is written down before it begins, and whoever opens the database next brings it to its end: at no instant
//! can a process find the new file beside the old log, or the old file without it.

use crate::open::{FILE, sync_folder, with_suffix};
use crate::{Store, StoreError};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What is to be done, while it is being done.
const INTENT: &str = "ralph.db.repair";
/// The log and its index come first: the database without them is only ever seen by whoever finishes this.
const PARTS: [&str; 3] = ["-shm", "-wal", ""];
/// Where repaired databases are made.
const WORKSHOP: &str = "repair-";

#[derive(Debug)]
pub struct Replacement {
    folder: PathBuf,
    stamp: String,
}

impl Replacement {
    /// Begins one beside the damaged database. The stamp names it, and what is put aside for it; it must be
    /// new. What an interrupted attempt left is removed: it only holds copies.
    pub fn begin(folder: &Path, stamp: &str) -> Result<Replacement, StoreError> {
        finish(folder)?;
        let left = fs::read_dir(folder).map_err(StoreError::file(folder, "read"))?.flatten();
        for left in left.filter(|left| left.file_name().to_string_lossy().starts_with(WORKSHOP)) {
            fs::remove_dir_all(left.path()).map_err(StoreError::file(&left.path(), "remove"))?;
        }
        Ok(Replacement { folder: folder.to_owned(), stamp: stamp.to_owned() })
    }

    pub fn store(&self) -> Result<Store, StoreError> {
        Store::open(&workshop(&self.folder, &self.stamp))
    }

    /// Puts the old database aside and the new, closed one into its place; returns what was put aside.
    pub fn put_in_place(self) -> Result<Vec<PathBuf>, StoreError> {
        let new = workshop(&self.folder, &self.stamp).join(FILE);
        let failed = StoreError::file(&new, "write to");
        if with_suffix(&new, "-wal").exists() {
            return Err(failed(io::Error::other("its log could not be closed")));
        }
        File::open(&new).and_then(|file| file.sync_all()).map_err(&failed)?;
        sync_folder(&workshop(&self.folder, &self.stamp)).map_err(&failed)?;
        let (intent, unfinished) = (self.folder.join(INTENT), self.folder.join(format!("{INTENT}.new")));
        let write = || {
            let mut file = File::create(&unfinished)?;
            file.write_all(self.stamp.as_bytes())?;
            file.sync_all()?;
            fs::rename(&unfinished, &intent)?;
            sync_folder(&self.folder)
        };
        write().map_err(StoreError::file(&intent, "write to"))?;
        finish(&self.folder)?;
        let aside = aside(&self.folder, &self.stamp);
        Ok(PARTS.iter().rev().map(|part| with_suffix(&aside, part)).filter(|part| exists(part)).collect())
    }
}

pub(crate) fn finish(folder: &Path) -> Result<(), StoreError> {
    let intent = folder.join(INTENT);
    let stamp = match fs::read_to_string(&intent) {
        Ok(stamp) => stamp,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        Err(error) => return Err(StoreError::file(&intent, "read")(error)),
    };
    let exchange = || {
        let (path, aside) = (folder.join(FILE), aside(folder, &stamp));
        let new = workshop(folder, &stamp).join(FILE);
        if exists(&new) {
            for part in PARTS {
                let (from, to) = (with_suffix(&path, part), with_suffix(&aside, part));
                if exists(&from) && !exists(&to) {
                    gone_is_fine(fs::rename(from, to))?;
                }
            }
            sync_folder(folder)?;
            gone_is_fine(fs::rename(new, path))?;
            sync_folder(folder)?;
        }
        // Only copies are left in it.
        gone_is_fine(fs::remove_dir_all(workshop(folder, &stamp)))?;
        gone_is_fine(fs::remove_file(&intent))
    };
    exchange().map_err(StoreError::file(&folder.join(FILE), "replace"))
}

/// Another process may finish the same replacement at this moment.
fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn workshop(folder: &Path, stamp: &str) -> PathBuf {
    folder.join(format!("{WORKSHOP}{stamp}"))
}

fn aside(folder: &Path, stamp: &str) -> PathBuf {
    folder.join(format!("{FILE}.damaged-{stamp}"))
}
