//! Folders that count as a whole: one hash over the names and contents in them.
//!
//! Contents count, so what was installed again in the same version is the same. A file whose inode, size and times are
//! as they were is not read again: the time of its last change of state is the kernel's and cannot be set back.

use crate::plain_file::{self, Links};
use ralph_core::text;
use rustix::fs::{CWD, FileType, Stat};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Files of one folder; a runner's package has hundreds.
const MOST_FILES: usize = 50_000;
/// The largest file that is read.
const LARGEST: u64 = 256 << 20;
/// What runners leave in any folder, other packages inside a package, and what systems add.
const NOT_COUNTED: [&str; 9] =
    ["__pycache__", "node_modules", ".cache", ".pytest_cache", ".git", ".DS_Store", "target", ".vite", ".turbo"];

/// By which a file's content is known again: device and inode, size, and the times of the last change of content and
/// of state, in nanoseconds.
pub(crate) type Stamp = (u64, u64, u64, i64, i64);

/// Hashes of contents that were read, with the stamps that they belong to.
#[derive(Debug, Clone, Default)]
pub(super) struct Folders {
    read: Arc<Mutex<HashMap<PathBuf, (Stamp, String)>>>,
}

/// A file's stamp.
#[allow(clippy::unnecessary_cast, reason = "the fields' widths differ between systems")]
pub(crate) fn stamp(stat: &Stat) -> Stamp {
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    let (device, inode) = plain_file::inode(stat);
    let changed = nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64);
    let touched = nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64);
    (device, inode, stat.st_size.cast_unsigned(), changed, touched)
}

impl Folders {
    /// A hash over everything below a folder that counts. Links count by where they lead.
    pub(super) fn whole(&self, folder: &Path) -> io::Result<String> {
        let mut entries: Vec<String> = Vec::new();
        let mut waiting = vec![folder.to_owned()];
        while let Some(inner) = waiting.pop() {
            for entry in std::fs::read_dir(&inner)? {
                let entry = entry?;
                let name = entry.file_name();
                let is_left_out =
                    NOT_COUNTED.iter().any(|own| name == *own) || name.as_encoded_bytes().ends_with(b".pyc");
                if is_left_out {
                    continue;
                }
                let path = entry.path();
                if entry.file_type()?.is_dir() {
                    waiting.push(path);
                    continue;
                }
                let inside = path.strip_prefix(folder).unwrap_or(&path);
                entries.push(format!("{} {}", text::hex(inside.as_os_str().as_encoded_bytes()), self.content(&path)?));
                if entries.len() > MOST_FILES {
                    return Err(io::Error::other(format!("it holds more than {MOST_FILES} files")));
                }
            }
        }
        entries.sort();
        Ok(text::hash(entries.join("\n").as_bytes()))
    }

    /// A hash over the files of a folder with this ending. A folder that is not there holds none.
    pub(super) fn with_ending(&self, folder: &Path, ending: &str) -> io::Result<String> {
        let listing = match std::fs::read_dir(folder) {
            Ok(listing) => listing,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(text::hash(b""));
            }
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        for entry in listing {
            let entry = entry?;
            let name = entry.file_name();
            if name.as_encoded_bytes().ends_with(ending.as_bytes()) && !entry.file_type()?.is_dir() {
                entries.push(format!("{} {}", text::hex(name.as_encoded_bytes()), self.content(&entry.path())?));
            }
        }
        entries.sort();
        Ok(text::hash(entries.join("\n").as_bytes()))
    }

    /// A hash of what a file holds, or what else stands there. Pipes and devices are never opened.
    fn content(&self, path: &Path) -> io::Result<String> {
        let stat = rustix::fs::lstat(path)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Symlink => return Ok(text::hex(std::fs::read_link(path)?.as_os_str().as_encoded_bytes())),
            other => return Ok(plain_file::kind(other).to_owned()),
        }
        let stamp = stamp(&stat);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, hash)) = read.get(path).filter(|(known, _)| *known == stamp) {
            return Ok(hash.clone());
        }
        let hash = text::hash(&plain_file::read(CWD, path, Links::Refuse, LARGEST)?.bytes);
        // Written to while it was read, it is read again the next time.
        if rustix::fs::lstat(path).is_ok_and(|now| self::stamp(&now) == stamp) {
            read.insert(path.to_owned(), (stamp, hash.clone()));
        }
        Ok(hash)
    }
}
