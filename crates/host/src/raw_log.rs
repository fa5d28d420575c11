//! What a process printed, byte for byte, in the run's folder.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The most that a log may hold; a process that prints more is cut there with a note.
pub const LONGEST_LOG: u64 = 256 << 20;

/// A raw log that exists only once there is something in it.
#[derive(Debug)]
pub struct RawLog {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
}

impl RawLog {
    /// The log of one stream of one iteration.
    pub fn new(run_folder: &Path, iteration: u32, stream: &str) -> RawLog {
        RawLog { path: run_folder.join(format!("{iteration:03}.{stream}.log")), file: None, bytes: 0 }
    }

    /// Writes what came.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.bytes == 0 {
            // A repeated iteration goes on in the same file: nothing that an agent said is thrown away.
            self.file = OpenOptions::new().create(true).append(true).open(&self.path).ok();
        }
        write_bounded(&mut self.file, self.bytes, bytes);
        self.bytes += bytes.len() as u64;
    }
}

/// Writes to a log that may be cut, or given up when the disk is full: a log is worth less than the
/// run. `before` is how much came earlier.
pub fn write_bounded(log: &mut Option<File>, before: u64, bytes: &[u8]) {
    let Some(file) = log else { return };
    let room = usize::try_from(LONGEST_LOG.saturating_sub(before)).unwrap_or(usize::MAX).min(bytes.len());
    let written = file.write_all(bytes.get(..room).unwrap_or_default());
    let cut = written.is_ok() && room < bytes.len();
    if cut {
        let _ = writeln!(file, "\n[ralph] the log ends here: it is longer than {} MiB", LONGEST_LOG >> 20);
    }
    if cut || written.is_err() {
        *log = None;
    }
}
