//! What can go wrong with the database, sorted by what a person can do about it.

use ralph_core::stream::StreamId;
use rusqlite::ErrorCode;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk, the file system or the permissions are to blame.
    #[error("cannot {doing} {}: {problem}", path.display())]
    Io { path: PathBuf, doing: &'static str, problem: IoProblem, source: Source },
    /// A write failed earlier, and its pages may be lost: nothing more is written before the database is read anew.
    #[error("an earlier write to {} failed, so nothing more is written to it", path.display())]
    Suspect { path: PathBuf },
    #[error("{} was deleted or replaced, so what happens from here on could not be remembered", path.display())]
    Gone { path: PathBuf },
    /// The file is not a database, or its structure is damaged.
    #[error("{} is damaged", path.display())]
    Corrupt { path: PathBuf, source: Source },
    #[error("{} was written by a newer ralph: its format is {found}, this ralph knows formats up to {known}", path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("entry {seq} of {stream} is damaged: {why}")]
    Damaged { stream: StreamId, seq: u64, why: String },
    #[error("{stream} goes on with entry {expected}, not {found}")]
    Gap {
        stream: StreamId,
        /// The number that would have continued it.
        expected: u64,
        found: u64,
    },
    /// Another process kept the database locked for longer than is waited.
    #[error("{} is locked by another process", path.display())]
    Busy { path: PathBuf },
    #[error("cannot {doing} {}", path.display())]
    Internal { path: PathBuf, doing: &'static str, source: Source },
}

/// The cause of an error, with the type of whoever raised it kept at home.
pub type Source = Box<dyn Error + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoProblem {
    DiskFull,
    ReadOnly,
    /// The file cannot be opened or the folder cannot be made.
    CannotOpen,
    /// The file system has no shared memory between processes, as some network ones.
    NoSharedMemory,
    NothingLeft,
    Failed,
}

impl fmt::Display for IoProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IoProblem::DiskFull => "no space is left",
            IoProblem::ReadOnly => "it is read-only",
            IoProblem::CannotOpen => "it cannot be opened",
            IoProblem::NoSharedMemory => "its file system lacks what several processes need to share a database",
            IoProblem::NothingLeft => "the machine is out of memory or file descriptors",
            IoProblem::Failed => "reading or writing failed",
        })
    }
}

/// What an error asks of a person; every variant has one, so that no exit code or hint is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The machine is to blame: mend it, or wait, and type the same again.
    Machine,
    /// What is stored is damaged, and can be repaired.
    Damage,
    Newer,
    Internal,
}

impl StoreError {
    pub fn class(&self) -> Class {
        match self {
            StoreError::Io { .. } | StoreError::Suspect { .. } | StoreError::Gone { .. } | StoreError::Busy { .. } => {
                Class::Machine
            }
            StoreError::Corrupt { .. } | StoreError::Damaged { .. } => Class::Damage,
            StoreError::Newer { .. } => Class::Newer,
            StoreError::Gap { .. } | StoreError::Internal { .. } => Class::Internal,
        }
    }

    /// What is wrong with the one stream that it is about, if all others can be used.
    pub fn of_one_stream(&self) -> Option<String> {
        match self {
            StoreError::Damaged { seq: 1, why, .. } => Some(format!("its first entry is damaged: {why}")),
            StoreError::Damaged { seq, why, .. } => Some(format!("entry {seq} is damaged: {why}")),
            _ => None,
        }
    }

    /// Turns SQLite's errors into ours; made once per call, so that `?` stays short.
    pub(crate) fn sqlite(path: &Path, doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
        move |source| {
            let path = path.to_owned();
            let problem = match source.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => IoProblem::DiskFull,
                Some(ErrorCode::ReadOnly) => IoProblem::ReadOnly,
                Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => IoProblem::CannotOpen,
                Some(
                    ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed | ErrorCode::NoLargeFileSupport,
                ) => IoProblem::Failed,
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => return StoreError::Busy { path },
                Some(ErrorCode::OutOfMemory) => IoProblem::NothingLeft,
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    return StoreError::Corrupt { path, source: source.into() };
                }
                // The tables are not the ones that every ralph has made.
                Some(ErrorCode::Unknown) if source.to_string().contains("no such ") => {
                    return StoreError::Corrupt { path, source: source.into() };
                }
                // Tables are STRICT: a value of another type was not written by anybody.
                None if is_conversion(&source) => return StoreError::Corrupt { path, source: source.into() },
                _ => return StoreError::Internal { path, doing, source: source.into() },
            };
            StoreError::Io { path, doing, problem, source: source.into() }
        }
    }

    /// The same for the few files and folders that are touched without SQLite.
    pub(crate) fn file(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> StoreError {
        move |source| {
            let problem = match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => IoProblem::DiskFull,
                io::ErrorKind::ReadOnlyFilesystem => IoProblem::ReadOnly,
                io::ErrorKind::OutOfMemory => IoProblem::NothingLeft,
                _ => IoProblem::CannotOpen,
            };
            StoreError::Io { path: path.to_owned(), doing, problem, source: source.into() }
        }
    }
}

fn is_conversion(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    matches!(error, FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..))
}
