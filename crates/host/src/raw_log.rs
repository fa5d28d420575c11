//! What a process printed, byte for byte, in the run's folder.

use crate::process::drive::Chunk;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The most that a log may hold; a process that prints more is cut there with a note.
pub const LONGEST_LOG: u64 = 256 << 20;
/// From here on a log is a stream, and writing it would hold up reading it.
const STREAM: u64 = 1 << 20;
/// Chunks that may wait for the stream's writer: at most two megabytes.
const QUEUE: usize = 16;
/// How long the stream's writer sleeps when it has nothing to do: a flood brings some chunks meanwhile.
const NAP: Duration = Duration::from_micros(500);

/// A raw log that exists only once there is something in it.
#[derive(Debug)]
pub struct RawLog {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
    writer: Option<Writer>,
}

impl RawLog {
    /// The log of one stream of one iteration.
    pub fn new(run_folder: &Path, iteration: u32, stream: &str) -> RawLog {
        RawLog { path: run_folder.join(format!("{iteration:03}.{stream}.log")), file: None, bytes: 0, writer: None }
    }

    /// Writes what came. What a talking agent says is in the file when this returns; only a flood is
    /// written behind its reader's back.
    pub fn write(&mut self, bytes: &Chunk) {
        if self.bytes == 0 {
            // A repeated iteration goes on in the same file: nothing that an agent said is thrown away.
            self.file = OpenOptions::new().create(true).append(true).open(&self.path).ok();
        }
        if self.bytes >= STREAM && self.writer.is_none() {
            self.writer = self.file.take().map(|file| Writer::start(file, self.bytes));
        }
        match &mut self.writer {
            Some(writer) => writer.write(bytes),
            None => write_bounded(&mut self.file, self.bytes, bytes),
        }
        self.bytes += bytes.len() as u64;
    }
}

/// Deletes the logs of an iteration.
pub fn forget(run_folder: &Path, iteration: u32) {
    for stream in ["stdout", "stderr"] {
        // Most processes say nothing on one of them.
        let _ = std::fs::remove_file(RawLog::new(run_folder, iteration, stream).path);
    }
}

/// A thread that writes a log while the next bytes are being read.
#[derive(Debug)]
struct Writer {
    full: Option<SyncSender<Chunk>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    fn start(file: File, before: u64) -> Writer {
        let (full, chunks) = sync_channel(QUEUE);
        let thread = std::thread::spawn(move || {
            let (mut log, mut before) = (Some(file), before);
            while let Some(chunk) = next(&chunks) {
                write_bounded(&mut log, before, &chunk);
                before += chunk.len() as u64;
            }
        });
        Writer { full: Some(full), thread: Some(thread) }
    }

    fn write(&mut self, bytes: &Chunk) {
        // The thread ends only when this sender is gone.
        let _ = self.full.as_ref().map(|full| full.send(bytes.clone()));
    }
}

/// What is to be written next; `None` when nothing more will come. While a flood lasts, the writer looks up by itself
/// now and then: to be woken for every chunk would cost the reader more than the chunk does.
fn next(chunks: &Receiver<Chunk>) -> Option<Chunk> {
    let ready = chunks.try_recv().or_else(|_| {
        std::thread::sleep(NAP);
        chunks.try_recv()
    });
    ready.ok().or_else(|| chunks.recv().ok())
}

impl Drop for Writer {
    /// Waits until everything is in the file.
    fn drop(&mut self) {
        self.full = None;
        let _ = self.thread.take().map(JoinHandle::join);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b01_a_flood_is_in_the_file_in_its_order_when_the_log_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = RawLog::new(folder.path(), 7, "stdout");
        let mut expected = Vec::new();
        for number in 0..40_000_u32 {
            let piece = format!("{number} {}\n", "x".repeat((number % 97) as usize));
            expected.extend_from_slice(piece.as_bytes());
            log.write(&Chunk::new(piece.into_bytes()));
        }
        assert!(log.writer.is_some(), "{} bytes are a stream", expected.len());
        drop(log);
        assert_eq!(std::fs::read(folder.path().join("007.stdout.log")).unwrap(), expected);
    }
}
