//! What the helper inside the snapshot is told, as a file in trusted state.

use crate::process::path;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// Everything that is done before the program is executed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Order {
    /// Overlays, those that contain others first.
    pub(super) layers: Vec<Layer>,
    /// The tree that the check sees.
    #[serde(with = "path")]
    pub(super) tree: PathBuf,
    /// Where the live tree can be read while another one stands in its place, if anybody has to.
    pub(super) aside: Option<OsString>,
    /// Sockets that are the live ones.
    pub(super) sockets: Vec<OsString>,
    pub(super) puts: Vec<Put>,
    /// Files below the tree's root that cannot be changed from inside.
    pub(super) fixed: Vec<OsString>,
    pub(super) caches: Vec<Cache>,
    /// Folders that cannot be written to from inside.
    pub(super) sealed: Vec<OsString>,
    /// The program and its arguments; none to try only whether everything can be done.
    pub(super) program: Vec<OsString>,
    /// Where the program begins.
    #[serde(with = "path")]
    pub(super) start: PathBuf,
}

/// A folder of which processes inside see a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Layer {
    /// Where the copy is seen.
    #[serde(with = "path")]
    pub(super) at: PathBuf,
    /// What it is a copy of.
    #[serde(with = "path")]
    pub(super) lower: PathBuf,
    /// Holds what is written, in `upper`, and what the kernel needs for that, in `work`.
    #[serde(with = "path")]
    pub(super) store: PathBuf,
}

impl Layer {
    /// Where the file system keeps what differs from the lower folder.
    pub(super) fn upper(&self) -> PathBuf {
        self.store.join("upper")
    }

    pub(super) fn work(&self) -> PathBuf {
        self.store.join("work")
    }
}

/// A cache folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cache {
    /// Its place in trusted state.
    #[serde(with = "path")]
    pub(super) from: PathBuf,
    /// Its place in the tree.
    #[serde(with = "path")]
    pub(super) to: PathBuf,
}

/// What a path of the tree must be for a check, whatever it is in the live tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    /// Below the tree's root.
    #[serde(with = "path")]
    pub path: PathBuf,
    pub what: Judge,
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Judge {
    /// A file with this content.
    File {
        content: Vec<u8>,
        executable: bool,
    },
    /// A file whose content is kept in trusted state.
    Kept {
        #[serde(with = "path")]
        file: PathBuf,
        executable: bool,
    },
    /// A symbolic link.
    Link {
        target: OsString,
    },
    Nothing,
}
