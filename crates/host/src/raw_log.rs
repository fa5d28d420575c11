//! What the agents of a run printed, byte for byte, in one growing log: no start of an agent makes a file.
//!
//! The log is a sequence of records, each a line of fixed length that says which iteration printed how many bytes on
//! which stream, and then those bytes. The index has a line of fixed length for each start of an agent: the
//! iteration, and where its records begin. It is written before the start, so that a run is known to have come so far
//! even if its agent says nothing and the journal is lost. Nothing is synced: a crash may tear the last record, and
//! the next start begins behind it, where the index says.
//!
//! A log that has grown large is left and another one begun, so that old output can be deleted.

mod reader;

pub use reader::{LogReader, last_logged, last_output};

use crate::process::drive::Chunk;
use reader::{Entry, entries};
use std::collections::VecDeque;
use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, IoSlice, Write};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The most that is kept of one stream of one process; one that prints more is cut there with a note.
pub const LONGEST_LOG: u64 = 256 << 20;
const CUT: &str = "\n[ralph] the log ends here: it is longer than 256 MiB\n";
const GAP: &str = "\n[ralph] output is missing here: it could not be written\n";
/// From here on a process's output is a stream, and writing it would hold up reading it.
const STREAM: u64 = 1 << 20;
/// Chunks that may wait for the stream's writer: at most two megabytes.
const QUEUE: usize = 16;
/// How long the stream's writer sleeps when it has nothing to do: a flood brings some chunks meanwhile.
const NAP: Duration = Duration::from_micros(500);
/// A log of this size gets no further process's output.
const LARGE: u64 = 64 << 20;

const INDEX: &str = "raw.index";

fn log_name(number: u32) -> String {
    if number == 0 { "raw.log".to_owned() } else { format!("raw.{number}.log") }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
    /// Standard output of the agent that writes a commit message.
    CommitStdout,
    CommitStderr,
}

impl Stream {
    const ALL: [Stream; 4] = [Stream::Stdout, Stream::Stderr, Stream::CommitStdout, Stream::CommitStderr];
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
            Stream::CommitStdout => "cm-out",
            Stream::CommitStderr => "cm-err",
        })
    }
}

#[derive(Debug)]
pub struct RawLog {
    folder: PathBuf,
    /// What is open while no process's output is being written.
    files: Option<Files>,
}

#[derive(Debug)]
struct Files {
    index: File,
    log: File,
    number: u32,
    end: u64,
    /// Logs that were left because they were large, each with the last iteration in it.
    left: VecDeque<(u32, u32)>,
    iteration: u32,
}

impl RawLog {
    /// The log in this folder, whose files are made when the first process begins.
    pub fn new(run_folder: &Path) -> RawLog {
        RawLog { folder: run_folder.to_owned(), files: None }
    }

    /// Begins with the output of one process. A repeated iteration is appended: nothing is thrown away.
    pub fn begin(&mut self, iteration: u32) -> ProcessLog {
        let mut problem = None;
        let in_place = self.files.take().filter(Files::is_in_place);
        let files = match in_place.map_or_else(|| self.open(&mut problem), Ok) {
            Ok(files) => files,
            Err(error) => {
                let problem = format!("the log in {} could not be opened: {error}", self.folder.display());
                return ProcessLog { log: Log::Lost, problems: vec![problem] };
            }
        };
        let records = Records { files, iteration, kept: Default::default() };
        let mut begun = ProcessLog { log: Log::Direct(records), problems: problem.into_iter().collect() };
        if let Log::Direct(records) = &mut begun.log
            && let Err(error) = records.files.begin(&self.folder, iteration)
        {
            begun.problems.push(format!("{} could not be written: {error}", self.folder.join(INDEX).display()));
        }
        begun
    }

    /// Ends with the output of a process; everything is in the file then. Says what went wrong, if anything did.
    pub fn end(&mut self, process: ProcessLog) -> Vec<String> {
        let ProcessLog { log, mut problems } = process;
        let records = match log {
            Log::Direct(records) => Some(records),
            Log::Behind(mut writer) => writer.finish(),
            Log::Lost => None,
        };
        let Some(Records { files, iteration, kept }) = records else { return problems };
        for (stream, kept) in Stream::ALL.into_iter().zip(&kept) {
            problems.extend(kept.problem(&format!("the {stream} of iteration {iteration}")));
        }
        self.files = Some(files);
        problems
    }

    /// Deletes what was printed up to this iteration, as far as it stands in logs that grow no more.
    pub fn forget(&mut self, iteration: u32) {
        let Some(files) = &mut self.files else { return };
        while let Some((number, _)) = files.left.pop_front_if(|(_, last)| *last <= iteration) {
            // It may have been deleted before a crash.
            let _ = std::fs::remove_file(self.folder.join(log_name(number)));
        }
    }

    fn open(&self, problem: &mut Option<String>) -> io::Result<Files> {
        Files::open(&self.folder).or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(error);
            }
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            *problem = Some(format!("{} was deleted; it was made again", self.folder.display()));
            Files::open(&self.folder)
        })
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// A crash or a full disk may have torn the last line of the index.
fn cut_torn_line(index: &File) -> io::Result<()> {
    let written = index.metadata()?.len();
    index.set_len(written - written % Entry::LENGTH as u64)
}

impl Files {
    fn open(folder: &Path) -> io::Result<Files> {
        let index = open(&folder.join(INDEX))?;
        cut_torn_line(&index)?;
        let last = reader::last_entry(folder);
        let (number, iteration) = last.map_or((0, 0), |last| (last.log, last.iteration));
        let mut left = VecDeque::new();
        if number > 0 {
            for entry in entries(folder, 0)?.0.into_iter().filter(|entry| entry.log < number) {
                left.pop_back_if(|(log, _)| *log == entry.log);
                left.push_back((entry.log, entry.iteration));
            }
        }
        let log = open(&folder.join(log_name(number)))?;
        Ok(Files { index, end: log.metadata()?.len(), log, number, left, iteration })
    }

    fn is_in_place(&self) -> bool {
        [&self.index, &self.log].iter().all(|file| file.metadata().is_ok_and(|file| file.nlink() > 0))
    }

    fn begin(&mut self, folder: &Path, iteration: u32) -> io::Result<()> {
        if self.end >= LARGE {
            self.log = open(&folder.join(log_name(self.number + 1)))?;
            self.left.push_back((self.number, self.iteration));
            self.number += 1;
            self.end = self.log.metadata()?.len();
        }
        self.iteration = iteration;
        let line = Entry { iteration, log: self.number, offset: self.end }.to_string();
        self.index.write_all(line.as_bytes()).inspect_err(|_| _ = cut_torn_line(&self.index))
    }

    /// Adds a record as a whole or not at all.
    fn append(&mut self, iteration: u32, stream: Stream, parts: [&[u8]; 3]) -> io::Result<()> {
        let length = parts.iter().map(|part| part.len()).sum();
        let header = reader::Header { iteration, stream, length }.to_string();
        let [gap, bytes, cut] = parts;
        let mut slices = [header.as_bytes(), gap, bytes, cut].map(IoSlice::new);
        let mut rest = &mut slices[..];
        let mut left = header.len() + length;
        while left > 0 {
            match self.log.write_vectored(rest) {
                Ok(written @ 1..) => {
                    left -= written;
                    IoSlice::advance_slices(&mut rest, written);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                stopped => {
                    self.log.set_len(self.end)?;
                    return stopped.and(Err(io::ErrorKind::WriteZero.into()));
                }
            }
        }
        self.end += (header.len() + length) as u64;
        Ok(())
    }
}

/// The log while one process prints.
#[derive(Debug)]
pub struct ProcessLog {
    log: Log,
    problems: Vec<String>,
}

#[derive(Debug)]
enum Log {
    /// What comes is written at once.
    Direct(Records),
    /// A flood is written behind its reader's back.
    Behind(Writer),
    Lost,
}

impl Default for ProcessLog {
    fn default() -> ProcessLog {
        ProcessLog { log: Log::Lost, problems: Vec::new() }
    }
}

impl ProcessLog {
    /// Writes what came: at once for an agent that talks, behind its reader's back for a flood.
    pub fn write(&mut self, stream: Stream, bytes: &Chunk) {
        self.log = match std::mem::replace(&mut self.log, Log::Lost) {
            Log::Direct(records) if records.is_flood() => Log::Behind(Writer::start(records)),
            same => same,
        };
        match &mut self.log {
            Log::Direct(records) => records.write(stream, bytes),
            Log::Behind(writer) => writer.write(stream, bytes),
            Log::Lost => {}
        }
    }
}

#[derive(Debug)]
struct Records {
    files: Files,
    iteration: u32,
    /// In the order of [`Stream::ALL`].
    kept: [Kept; 4],
}

impl Records {
    fn is_flood(&self) -> bool {
        self.kept.iter().any(|kept| kept.bytes >= STREAM)
    }

    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        let Records { files, iteration, kept } = self;
        if let Some(kept) = kept.get_mut(stream as usize) {
            kept.write(bytes, |parts| files.append(*iteration, stream, parts));
        }
    }
}

/// A thread that writes a log while the next bytes are being read.
#[derive(Debug)]
struct Writer {
    full: Option<SyncSender<(Stream, Chunk)>>,
    thread: Option<JoinHandle<Records>>,
}

impl Writer {
    fn start(mut records: Records) -> Writer {
        let (full, chunks) = sync_channel::<(Stream, Chunk)>(QUEUE);
        let thread = std::thread::spawn(move || {
            while let Some((stream, chunk)) = next(&chunks) {
                records.write(stream, &chunk);
            }
            records
        });
        Writer { full: Some(full), thread: Some(thread) }
    }

    fn write(&mut self, stream: Stream, bytes: &Chunk) {
        // The thread ends only when this sender is gone.
        let _ = self.full.as_ref().map(|full| full.send((stream, bytes.clone())));
    }

    fn finish(&mut self) -> Option<Records> {
        self.full = None;
        self.thread.take()?.join().ok()
    }
}

/// What is to be written next; `None` when nothing more will come. While a flood lasts, the writer looks up by itself
/// now and then: to be woken for every chunk would cost the reader more than the chunk does.
fn next<T>(chunks: &Receiver<T>) -> Option<T> {
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

/// What came on one stream, how much of it is kept, and the gaps that a full disk left in it.
#[derive(Debug, Default)]
struct Kept {
    /// What came, whether it is in the file or not.
    bytes: u64,
    /// The last bytes are missing.
    gap: bool,
    /// Why the first that are missing could not be written.
    missing: Option<io::Error>,
}

impl Kept {
    /// Has what came written, up to the longest that a log may be, with a note of what is missing before and after it.
    fn write(&mut self, bytes: &[u8], put: impl FnOnce([&[u8]; 3]) -> io::Result<()>) {
        let before = self.bytes;
        self.bytes += bytes.len() as u64;
        if before > LONGEST_LOG {
            return;
        }
        let room = usize::try_from(LONGEST_LOG - before).unwrap_or(usize::MAX).min(bytes.len());
        let gap = if self.gap { GAP } else { "" };
        let cut = if room < bytes.len() { CUT } else { "" };
        let written = put([gap.as_bytes(), bytes.get(..room).unwrap_or_default(), cut.as_bytes()]);
        self.gap = written.is_err();
        if let Err(error) = written {
            self.missing.get_or_insert(error);
        }
    }

    /// Says of the log of this name what is missing in it, if anything is.
    fn problem(&self, name: &str) -> Option<String> {
        self.missing.as_ref().map(|why| format!("output is missing in {name}: {why}"))
    }
}

#[derive(Debug)]
pub struct LogFile {
    file: File,
    kept: Kept,
}

impl LogFile {
    pub fn new(file: File) -> LogFile {
        LogFile { file, kept: Kept::default() }
    }

    /// Writes what came, up to the longest that a log may be.
    pub fn write(&mut self, bytes: &[u8]) {
        let LogFile { file, kept } = self;
        kept.write(bytes, |parts| parts.into_iter().try_for_each(|part| file.write_all(part)));
    }

    /// Says of the log of this name what is missing in it, if anything is.
    pub fn problem(&self, name: &str) -> Option<String> {
        self.kept.problem(name)
    }
}

#[cfg(test)]
mod tests;
