//! What hooks remember between their calls, in the run's folder: how often one agent process was sent back to work, and
//! which thresholds its session was told of. Each call is a process of its own, and several may run at once, so that
//! everything here is one file operation that the kernel does whole. Nobody else believes any of it.

use ralph_core::text;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The folder in the run's.
const FOLDER: &str = "hooks";

/// The memory of the hooks of one session.
#[derive(Debug)]
pub struct HookState {
    folder: PathBuf,
    /// A short hash: what a client calls its session is no file name.
    session: String,
}

impl HookState {
    pub fn of(run_folder: &Path, session: &str) -> HookState {
        HookState { folder: run_folder.join(FOLDER), session: text::short_hash(session.as_bytes()) }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}-{name}", self.session))
    }

    fn make_folder(&self) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// How often the agent process was sent back to work: one byte each.
    pub fn blocks(&self) -> u64 {
        self.file("stop").symlink_metadata().map_or(0, |found| found.len())
    }

    /// Remembers one more.
    pub fn add_block(&self) -> io::Result<()> {
        self.make_folder()?;
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(self.file("stop"));
        file?.write_all(b".")
    }

    /// The highest of these thresholds that the session was told of, or 0.
    pub fn told(&self, thresholds: &[u32]) -> u32 {
        let was_told = |threshold: &&u32| self.threshold(**threshold).symlink_metadata().is_ok();
        thresholds.iter().filter(was_told).copied().max().unwrap_or(0)
    }

    /// Remembers a threshold; false if another call did so first.
    pub fn tell(&self, threshold: u32) -> io::Result<bool> {
        self.make_folder()?;
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.threshold(threshold)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A session begins, or begins anew with an empty window: everything may be told again.
    pub fn rearm(&self) {
        let prefix = format!("{}-context-", self.session);
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)) {
            // One that stays only keeps its threshold from being told twice.
            let _ = std::fs::remove_file(entry.path());
        }
    }

    fn threshold(&self, threshold: u32) -> PathBuf {
        self.file(&format!("context-{threshold}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_session_counts_for_itself_and_is_armed_again() {
        let run = tempfile::tempdir().unwrap();
        let (one, two) = (HookState::of(run.path(), "../one"), HookState::of(run.path(), "two"));
        assert_eq!((one.blocks(), one.told(&[50, 60])), (0, 0));
        one.add_block().unwrap();
        one.add_block().unwrap();
        assert_eq!((one.blocks(), two.blocks()), (2, 0));
        assert!(one.tell(50).unwrap() && one.tell(70).unwrap() && !one.tell(70).unwrap());
        assert!(two.tell(60).unwrap());
        assert_eq!((one.told(&[50, 60, 70]), two.told(&[50, 60, 70])), (70, 60));
        one.rearm();
        assert_eq!((one.told(&[50, 60, 70]), two.told(&[50, 60, 70]), one.blocks()), (0, 60, 2));
        assert!(one.tell(70).unwrap());
    }
}
