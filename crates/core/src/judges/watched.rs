//! What a watched run of a check showed.

use serde::{Deserialize, Serialize};

/// Everything that the processes of one check executed and opened, each once, in the order in which it came first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Watched {
    pub executed: Vec<Executed>,
    /// Files that were opened for reading and were there.
    pub opened: Vec<Opened>,
    /// Files that were looked for and not found, unless the check itself made them later.
    pub missed: Vec<Opened>,
    /// Files that the check itself wrote, made or moved there, and folders that it moved: absolute.
    #[serde(default)]
    pub made: Vec<String>,
    /// Why something may be missing here; empty if nothing is.
    pub gap: String,
}

/// A program that was started.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Executed {
    /// Absolute, as the kernel was told, with the process's folder before a relative path.
    pub program: String,
    pub args: Vec<String>,
    /// The process's folder.
    pub folder: String,
}

/// A file, and who opened it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Opened {
    /// Absolute.
    pub path: String,
    /// The program of the process that opened it.
    pub by: String,
}
