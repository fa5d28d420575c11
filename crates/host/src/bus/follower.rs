//! Reading a bus again and again, without a lock.

use super::{Bus, BusError};
use ralph_core::bus::{End, LARGEST_ENTRY, Message, Piece, Scan};
use rustix::fs::OFlags;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

/// How much is read at a time; more only for an entry that is longer.
const PART: usize = 256 << 10;
/// How many bytes before the offset are known again: an end line, whose id no other file has.
const MARK: usize = 64;

/// A reader that knows how far it has come. A file that is not there is empty; one that was replaced or
/// became shorter is read from its beginning, so that a message may come twice, but none is missed.
#[derive(Debug)]
pub struct Follower {
    bus: Bus,
    offset: u64,
    mark: Vec<u8>,
    skipped: u64,
    /// The file that was read last, which may be moved or deleted by now.
    last: Option<File>,
}

impl Follower {
    pub(super) fn new(bus: Bus) -> Follower {
        Follower { bus, offset: 0, mark: Vec::new(), skipped: 0, last: None }
    }

    pub fn offset(&self) -> u64 {
        self.offset
    }

    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Hands on every message that became whole since the last call.
    pub fn read(&mut self, mut each: impl FnMut(Message)) -> Result<(), BusError> {
        let file = self.open()?;
        // What was posted just before somebody moved the file away is still in it.
        if let Some(moved) = self.last.take().filter(|last| file.as_ref().is_none_or(|file| inode(file) != inode(last)))
        {
            self.read_file(&moved, &mut each)?;
        }
        match &file {
            Some(file) => self.read_file(file, each)?,
            None => self.begin_anew(),
        }
        self.last = file;
        Ok(())
    }

    pub(super) fn read_file(&mut self, file: &File, mut each: impl FnMut(Message)) -> Result<(), BusError> {
        if !self.is_the_same(file).map_err(self.bus.failed("read"))? {
            self.begin_anew();
        }
        let mut size = PART;
        loop {
            let (bytes, end) = part(file, self.offset, size).map_err(self.bus.failed("read"))?;
            let mut scan = Scan::new(&bytes, end);
            for piece in scan.by_ref() {
                match piece {
                    Piece::Message(message) => each(message),
                    Piece::Skipped(bytes) => self.skipped += bytes as u64,
                }
            }
            let come = scan.offset();
            self.advance(bytes.get(..come).unwrap_or_default());
            match end {
                End::OfFile => return Ok(()),
                End::OfPart if come == 0 => size = (size * 4).min(2 * LARGEST_ENTRY),
                End::OfPart => size = PART,
            }
        }
    }

    fn open(&self) -> Result<Option<File>, BusError> {
        match self.bus.open(OFlags::RDONLY) {
            Ok((file, _)) => Ok(Some(file)),
            Err(BusError::Io { source, .. }) if is_missing(&source) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether what was read still stands where it was.
    fn is_the_same(&self, file: &File) -> io::Result<bool> {
        let mut found = vec![0; self.mark.len()];
        match file.read_exact_at(&mut found, self.offset - self.mark.len() as u64) {
            Ok(()) => Ok(found == self.mark),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn begin_anew(&mut self) {
        (self.offset, self.skipped) = (0, 0);
        self.mark.clear();
    }

    fn advance(&mut self, read: &[u8]) {
        self.offset += read.len() as u64;
        self.mark.extend_from_slice(read.get(read.len().saturating_sub(MARK)..).unwrap_or_default());
        let old = self.mark.len().saturating_sub(MARK);
        self.mark.drain(..old);
    }
}

fn inode(file: &File) -> Option<(u64, u64)> {
    file.metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Up to `size` bytes from an offset on, and whether the file ends there.
fn part(file: &File, offset: u64, size: usize) -> io::Result<(Vec<u8>, End)> {
    let mut bytes = vec![0; size];
    let mut filled = 0;
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match file.read_at(room, offset + filled as u64) {
            Ok(0) => {
                bytes.truncate(filled);
                return Ok((bytes, End::OfFile));
            }
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((bytes, End::OfPart))
}
