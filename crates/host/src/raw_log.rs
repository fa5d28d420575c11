//! What a process printed, byte for byte, in the run's folder.

use crate::process::drive::Chunk;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The most that a log may hold; a process that prints more is cut there with a note.
pub const LONGEST_LOG: u64 = 256 << 20;
const CUT: &str = "\n[ralph] the log ends here: it is longer than 256 MiB\n";
/// From here on a log is a stream, and writing it would hold up reading it.
const STREAM: u64 = 1 << 20;
/// Chunks that may wait for the stream's writer: at most two megabytes.
const QUEUE: usize = 16;
/// How long the stream's writer sleeps when it has nothing to do: a flood brings some chunks meanwhile.
const NAP: Duration = Duration::from_micros(500);

/// What stands where bytes are missing.
const GAP: &str = "\n[ralph] output is missing here: it could not be written\n";

/// Whether the agent of this iteration has printed anything.
pub fn is_logged(run_folder: &Path, iteration: u32) -> bool {
    ["stdout", "stderr"].iter().any(|stream| path(run_folder, iteration, stream).exists())
}

fn path(run_folder: &Path, iteration: u32, stream: &str) -> PathBuf {
    run_folder.join(format!("{iteration:03}.{stream}.log"))
}

/// The last iteration whose agent has printed anything, by the logs in a run's folder.
pub fn last_logged(run_folder: &Path) -> Option<u32> {
    let files = std::fs::read_dir(run_folder).into_iter().flatten().flatten();
    let iteration = |name: &str| name.strip_suffix(".log")?.split_once('.')?.0.parse().ok();
    files.filter_map(|file| iteration(file.file_name().to_str()?)).max()
}

/// A raw log that exists only once there is something in it.
#[derive(Debug)]
pub struct RawLog {
    path: PathBuf,
    log: Log,
    problem: Option<String>,
}

#[derive(Debug, Default)]
enum Log {
    /// Nothing came yet.
    #[default]
    Empty,
    /// What came is written at once.
    Direct(LogFile),
    /// A flood is written behind its reader's back.
    Behind(Writer),
    /// It could not be opened.
    Lost,
}

impl RawLog {
    /// The log of one stream of one iteration.
    pub fn new(run_folder: &Path, iteration: u32, stream: &str) -> RawLog {
        RawLog { path: path(run_folder, iteration, stream), log: Log::Empty, problem: None }
    }

    /// The same log with its file made at once: by it a run is known to have come so far, even if its agent says
    /// nothing and the journal is lost.
    #[must_use]
    pub fn begun(mut self) -> RawLog {
        self.log = self.open();
        self
    }

    /// Writes what came. What a talking agent says is in the file when this returns; only a flood is
    /// written behind its reader's back.
    pub fn write(&mut self, bytes: &Chunk) {
        self.log = match std::mem::take(&mut self.log) {
            Log::Empty => self.open(),
            Log::Direct(file) if file.bytes >= STREAM => Log::Behind(Writer::start(file)),
            same => same,
        };
        match &mut self.log {
            Log::Direct(file) => file.write(bytes),
            Log::Behind(writer) => writer.write(bytes),
            Log::Empty | Log::Lost => {}
        }
    }

    /// Closes the log; everything is in the file then. Says what went wrong, if anything did.
    pub fn close(&mut self) -> Vec<String> {
        let file = match std::mem::take(&mut self.log) {
            Log::Direct(file) => Some(file),
            Log::Behind(mut writer) => writer.finish(),
            Log::Empty | Log::Lost => None,
        };
        let missing = file.and_then(|file| file.problem(&self.path.display().to_string()));
        self.problem.take().into_iter().chain(missing).collect()
    }

    fn open(&mut self) -> Log {
        // A repeated iteration goes on in the same file: nothing that an agent said is thrown away.
        let open = || OpenOptions::new().create(true).append(true).open(&self.path);
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let opened = open().or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(error);
            }
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            self.problem = Some(format!("{} was deleted; it was made again", folder.display()));
            open()
        });
        opened.map(|file| Log::Direct(LogFile::new(file))).unwrap_or_else(|error| {
            self.problem = Some(format!("{} could not be written: {error}", self.path.display()));
            Log::Lost
        })
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
    thread: Option<JoinHandle<LogFile>>,
}

impl Writer {
    fn start(mut file: LogFile) -> Writer {
        let (full, chunks) = sync_channel(QUEUE);
        let thread = std::thread::spawn(move || {
            while let Some(chunk) = next(&chunks) {
                file.write(&chunk);
            }
            file
        });
        Writer { full: Some(full), thread: Some(thread) }
    }

    fn write(&mut self, bytes: &Chunk) {
        // The thread ends only when this sender is gone.
        let _ = self.full.as_ref().map(|full| full.send(bytes.clone()));
    }

    /// Waits until everything is in the file.
    fn finish(&mut self) -> Option<LogFile> {
        self.full = None;
        self.thread.take()?.join().ok()
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
    fn drop(&mut self) {
        self.finish();
    }
}

/// A log that may be cut, and in which a full disk leaves gaps: a log is worth less than the run.
#[derive(Debug)]
pub struct LogFile {
    file: File,
    /// What came, whether it is in the file or not.
    bytes: u64,
    /// The last bytes are missing.
    gap: bool,
    /// Why the first that are missing could not be written.
    missing: Option<io::Error>,
}

impl LogFile {
    /// A log in this file.
    pub fn new(file: File) -> LogFile {
        LogFile { file, bytes: 0, gap: false, missing: None }
    }

    /// Writes what came, up to the longest that a log may be.
    pub fn write(&mut self, bytes: &[u8]) {
        let before = self.bytes;
        self.bytes += bytes.len() as u64;
        if before > LONGEST_LOG {
            return;
        }
        let room = usize::try_from(LONGEST_LOG - before).unwrap_or(usize::MAX).min(bytes.len());
        let gap = if self.gap { GAP } else { "" };
        let cut = if room < bytes.len() { CUT } else { "" };
        let parts = [gap.as_bytes(), bytes.get(..room).unwrap_or_default(), cut.as_bytes()];
        let written = parts.into_iter().try_for_each(|part| self.file.write_all(part));
        self.gap = written.is_err();
        if let Err(error) = written {
            self.missing.get_or_insert(error);
        }
    }

    /// Says of the log of this name what is missing in it, if anything is.
    pub fn problem(&self, name: &str) -> Option<String> {
        self.missing.as_ref().map(|why| format!("output is missing in {name}: {why}"))
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
        assert!(matches!(log.log, Log::Behind(_)), "{} bytes are a stream", expected.len());
        assert_eq!(log.close(), Vec::<String>::new());
        assert_eq!(std::fs::read(folder.path().join("007.stdout.log")).unwrap(), expected);
    }

    #[test]
    fn d01_what_cannot_be_written_leaves_a_gap_and_a_word() {
        let folder = tempfile::tempdir().unwrap();
        let (path, full) = (folder.path().join("log"), "/dev/full");
        let mut log = LogFile::new(OpenOptions::new().write(true).open(full).unwrap());
        log.write(b"lost");
        // The disk has room again.
        log.file = File::create(&path).unwrap();
        log.write(b"found");
        log.write(b" again");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{GAP}found again"));
        assert!(log.problem("the log").unwrap().starts_with("output is missing in the log: No space left"));
    }

    #[test]
    fn a_log_is_cut_where_it_is_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = LogFile { bytes: LONGEST_LOG - 3, ..LogFile::new(File::create(&path).unwrap()) };
        for piece in ["abc", "d", "e"] {
            log.write(piece.as_bytes());
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("abc{CUT}"));
        assert_eq!(log.problem("x"), None);
        assert_eq!(CUT.matches(&(LONGEST_LOG >> 20).to_string()).count(), 1);
    }

    #[test]
    fn a_folder_that_was_deleted_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        let mut log = RawLog::new(&gone, 1, "stdout");
        log.write(&Chunk::new(b"said".to_vec()));
        assert_eq!(log.close(), [format!("{} was deleted; it was made again", gone.display())]);
        assert_eq!(std::fs::read(gone.join("001.stdout.log")).unwrap(), b"said");
    }
}
