//! Reading the log of a run, while it grows and after a crash.

use super::{INDEX, Stream, log_name};
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How much of an index's end is read to find its last line: damage may have made some lines of it unreadable.
const TAIL: usize = 100 * Entry::LENGTH;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) iteration: u32,
    pub(super) log: u32,
    pub(super) offset: u64,
}

impl Entry {
    pub(super) const LENGTH: usize = 10 + 1 + 10 + 1 + 20 + 1;

    fn parse(line: &[u8]) -> Option<Entry> {
        let [iteration, log, offset] = words(line)?;
        Some(Entry { iteration: iteration.parse().ok()?, log: log.parse().ok()?, offset: offset.parse().ok()? })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:010} {:010} {:020}", self.iteration, self.log, self.offset)
    }
}

/// The line before a record's bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) iteration: u32,
    pub(super) stream: Stream,
    pub(super) length: usize,
}

impl Header {
    const LENGTH: usize = 1 + 10 + 1 + 6 + 1 + 10 + 2;

    fn parse(line: &[u8]) -> Option<Header> {
        let [iteration, stream, length] = words(line.strip_prefix(b"[")?.strip_suffix(b"]\n")?)?;
        Some(Header {
            iteration: iteration.parse().ok()?,
            stream: Stream::ALL.into_iter().find(|known| known.to_string() == stream)?,
            length: length.parse().ok()?,
        })
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "[{:010} {} {:010}]", self.iteration, self.stream, self.length)
    }
}

fn words<const N: usize>(line: &[u8]) -> Option<[&str; N]> {
    <[&str; N]>::try_from(std::str::from_utf8(line).ok()?.split_ascii_whitespace().collect::<Vec<_>>()).ok()
}

/// The entries of an index from a byte on, without unreadable ones, and where the next one would stand.
pub(super) fn entries(run_folder: &Path, from: u64) -> io::Result<(Vec<Entry>, u64)> {
    let mut file = match File::open(run_folder.join(INDEX)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), from)),
        file => file?,
    };
    let mut lines = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.read_to_end(&mut lines)?;
    let whole = lines.len() - lines.len() % Entry::LENGTH;
    Ok((lines.chunks_exact(Entry::LENGTH).filter_map(Entry::parse).collect(), from + whole as u64))
}

pub(super) fn last_entry(run_folder: &Path) -> Option<Entry> {
    let written = std::fs::metadata(run_folder.join(INDEX)).ok()?.len();
    let whole = written - written % Entry::LENGTH as u64;
    entries(run_folder, whole.saturating_sub(TAIL as u64)).ok()?.0.pop()
}

/// The last iteration whose agent was started, by the log in a run's folder.
pub fn last_logged(run_folder: &Path) -> Option<u32> {
    last_entry(run_folder).map(|last| last.iteration)
}

pub fn last_output(run_folder: &Path) -> Option<SystemTime> {
    std::fs::metadata(run_folder.join(log_name(last_entry(run_folder)?.log))).ok()?.modified().ok()
}

/// Reads one stream of one iteration, with all its repetitions, and again what has come since.
#[derive(Debug)]
pub struct LogReader {
    folder: PathBuf,
    iteration: u32,
    stream: Stream,
    entries: Vec<Entry>,
    index: u64,
    /// The entry whose records are being read.
    current: usize,
    file: Option<File>,
    /// Where in that file the next bytes are.
    at: u64,
    left: usize,
}

impl LogReader {
    pub fn new(run_folder: &Path, iteration: u32, stream: Stream) -> LogReader {
        let folder = run_folder.to_owned();
        LogReader { folder, iteration, stream, entries: Vec::new(), index: 0, current: 0, file: None, at: 0, left: 0 }
    }

    pub fn has_any(mut self) -> io::Result<bool> {
        Ok(self.read(&mut [0])? > 0)
    }

    pub fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(entry) = self.entries.get(self.current).copied() else {
                if self.look_at_index()? {
                    continue;
                }
                return Ok(0);
            };
            let until = match self.entries.get(self.current + 1) {
                Some(next) if next.log == entry.log => next.offset,
                Some(_) => u64::MAX,
                // A process has its entry before its first record, so what stands behind the last entry is its own.
                None => {
                    let length = std::fs::metadata(self.folder.join(log_name(entry.log))).map_or(0, |log| log.len());
                    if self.look_at_index()? {
                        continue;
                    }
                    length
                }
            };
            if entry.iteration == self.iteration {
                match self.read_from(entry, until, into)? {
                    0 => {}
                    read => return Ok(read),
                }
            }
            if self.current + 1 == self.entries.len() {
                return Ok(0);
            }
            self.current += 1;
            (self.file, self.left) = (None, 0);
        }
    }

    fn look_at_index(&mut self) -> io::Result<bool> {
        let (entries, index) = entries(&self.folder, self.index)?;
        self.index = index;
        let some = !entries.is_empty();
        self.entries.extend(entries);
        Ok(some)
    }

    /// Reads the records behind an entry, up to where those of the next one begin.
    fn read_from(&mut self, entry: Entry, until: u64, into: &mut [u8]) -> io::Result<usize> {
        let file = match &self.file {
            Some(file) => file,
            None => match File::open(self.folder.join(log_name(entry.log))) {
                // Old output is deleted.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
                file => {
                    self.at = entry.offset;
                    self.file.insert(file?)
                }
            },
        };
        while self.left == 0 {
            let mut line = [0; Header::LENGTH];
            if self.at + line.len() as u64 > until || file.read_at(&mut line, self.at)? < line.len() {
                return Ok(0);
            }
            // What a crash has torn has no beginning of a record at its end.
            let Some(header) = Header::parse(&line) else { return Ok(0) };
            self.at += line.len() as u64;
            if header.iteration == self.iteration && header.stream == self.stream {
                self.left = header.length;
            } else {
                self.at += header.length as u64;
            }
        }
        let room = usize::try_from(until.saturating_sub(self.at)).unwrap_or(usize::MAX).min(self.left).min(into.len());
        let read = file.read_at(into.get_mut(..room).unwrap_or_default(), self.at)?;
        self.at += read as u64;
        self.left -= read;
        Ok(read)
    }
}
