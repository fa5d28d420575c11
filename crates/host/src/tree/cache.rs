//! What looks at a tree have learned, in the order in which git lists files: which state of a file holds which
//! content. Each look reads it along with the listing and writes what has become of it, so that its size in memory
//! does not depend on the tree. What is not listed any more is left out by that.
//!
//! It lies in trusted state, is put in place by renaming, and is believed only whole: a look that comes to its end
//! and finds the sum wrong has learned nothing from it and is made again without it. What this process wrote itself
//! must have the sum that it had then.

use super::seen::{FileState, Hash};
use crate::plain_file::{self, Links};
use rustix::fs::CWD;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The form of what follows; another form begins otherwise.
const FORM: &[u8; 16] = b"ralph tree  v3\n\n";
const SUM: u64 = 32;
/// Bytes read or written at once.
const CHUNK: usize = 64 << 10;
/// No path is longer on any system; a length beyond it is damage.
const LONGEST_KEY: usize = 1 << 16;

/// The cache of one tree: in a file, or in memory only.
#[derive(Debug, Default)]
pub(super) struct Cache {
    place: Option<PathBuf>,
    stored: Option<Stored>,
}

/// A file as a look found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Where it stands in the order of a look.
    pub(super) key: Vec<u8>,
    /// Differs when anything differs that counts.
    pub(super) print: u64,
    /// Differs when it was written, whatever it holds.
    pub(super) stamp: u64,
    /// Its content, if the state tells it.
    pub(super) known: Option<(FileState, Hash)>,
}

/// Why a cache is of no use.
#[derive(Debug)]
pub(super) struct Damaged;

#[derive(Debug)]
struct Stored {
    bytes: Bytes,
    length: u64,
    /// The sum that this process wrote; of what it found it believes the sum that stands there.
    sum: Option<Hash>,
}

#[derive(Debug, Clone)]
enum Bytes {
    Memory(Arc<Vec<u8>>),
    File(Arc<File>),
}

impl Cache {
    /// The cache in this file, which may not be there yet.
    pub(super) fn at(place: &Path) -> Cache {
        Cache { place: Some(place.to_owned()), stored: None }
    }

    /// The same, as if nothing had been read yet.
    pub(super) fn anew(&self) -> Cache {
        Cache { place: self.place.clone(), stored: None }
    }

    /// Takes what an earlier process left; a file of another form is as good as none.
    pub(super) fn load(&mut self) {
        let Some(place) = &self.place else { return };
        let Ok(file) = plain_file::open(CWD, place.as_path(), Links::Refuse) else { return };
        let length = file.metadata().map_or(0, |meta| meta.len());
        let bytes = Bytes::File(Arc::new(file));
        let mut form = [0; FORM.len()];
        if length >= FORM.len() as u64 + SUM && bytes.read_at(&mut form, 0).is_ok() && form == *FORM {
            self.stored = Some(Stored { bytes, length, sum: None });
        }
    }

    /// Forgets everything: it turned out to be damaged.
    pub(super) fn forget(&mut self) {
        self.stored = None;
    }

    /// Begins to go through it along with a listing.
    pub(super) fn merge(&self) -> Merge {
        let old = self.stored.as_ref().map(Reader::new);
        let identical = old.is_some();
        Merge { place: self.place.clone(), old, writer: None, identical, end_of_same: FORM.len() as u64 }
    }

    /// Keeps what a look has learned. An error is about keeping it between processes and concerns no look.
    pub(super) fn finish(&mut self, merge: Merge) -> Result<io::Result<()>, Damaged> {
        match merge.end()? {
            Ok(None) => Ok(Ok(())),
            Ok(Some(stored)) => {
                self.stored = Some(stored);
                Ok(Ok(()))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// How many files it knows the content of.
    #[cfg(test)]
    pub(super) fn known(&self) -> usize {
        let mut reader = self.stored.as_ref().map(Reader::new);
        let next = || reader.as_mut()?.next().unwrap();
        std::iter::from_fn(next).filter(|entry| entry.known.is_some()).count()
    }
}

/// One pass over the old entries and the new ones, both in the order of the listing. Nothing is written before
/// something differs.
pub(super) struct Merge {
    place: Option<PathBuf>,
    old: Option<Reader>,
    writer: Option<io::Result<Writer>>,
    identical: bool,
    end_of_same: u64,
}

impl Merge {
    /// The old entry of this key, if there is one; `passed` is told those before it, which are listed no more.
    pub(super) fn find(&mut self, key: &[u8], mut passed: impl FnMut(&Entry)) -> Result<Option<Entry>, Damaged> {
        let Some(old) = &mut self.old else { return Ok(None) };
        while let Some(entry) = old.peek()? {
            match entry.key.as_slice().cmp(key) {
                std::cmp::Ordering::Less => passed(entry),
                std::cmp::Ordering::Equal => return old.next(),
                std::cmp::Ordering::Greater => break,
            }
            self.identical = false;
            old.next()?;
        }
        Ok(None)
    }

    /// Takes the new entry in the place of the one that was found.
    pub(super) fn keep(&mut self, found: Option<&Entry>, entry: &Entry) {
        self.identical &= found == Some(entry);
        if self.identical {
            self.end_of_same = self.old.as_ref().map_or(self.end_of_same, Reader::behind_last);
        } else {
            self.write(entry);
        }
    }

    fn write(&mut self, entry: &Entry) {
        let begun = self.writer.get_or_insert_with(|| {
            let mut writer = Writer::begin(self.place.as_deref())?;
            match &self.old {
                Some(old) => writer.copy(&old.bytes, self.end_of_same)?,
                None => writer.add(FORM)?,
            }
            Ok(writer)
        });
        if let Ok(writer) = begun
            && let Err(error) = writer.entry(entry)
        {
            self.writer = Some(Err(error));
        }
    }

    /// Keeps all that is left as it is: the look was cut, and the next one goes on from here.
    pub(super) fn keep_rest(&mut self) -> Result<(), Damaged> {
        while let Some(entry) = match &mut self.old {
            Some(old) => old.next()?,
            None => None,
        } {
            if self.identical {
                self.end_of_same = self.old.as_ref().map_or(self.end_of_same, Reader::behind_last);
            } else {
                self.write(&entry);
            }
        }
        Ok(())
    }

    /// What is to be stored from now on; nothing if all is as it was.
    fn end(mut self) -> Result<io::Result<Option<Stored>>, Damaged> {
        let mut same = self.identical;
        if let Some(mut old) = self.old.take() {
            while old.next()?.is_some() {
                same = false;
            }
            let bytes = old.bytes.clone();
            old.check_sum()?;
            if same {
                return Ok(Ok(None));
            }
            // Entries were only left out behind the last one.
            if self.writer.is_none() {
                self.writer = Some(Writer::begin(self.place.as_deref()).and_then(|mut writer| {
                    writer.copy(&bytes, self.end_of_same)?;
                    Ok(writer)
                }));
            }
        }
        let writer = self.writer.unwrap_or_else(|| {
            let mut writer = Writer::begin(self.place.as_deref())?;
            writer.add(FORM)?;
            Ok(writer)
        });
        Ok(writer.and_then(Writer::finish).map(Some))
    }
}

struct Reader {
    bytes: Bytes,
    /// Where the entries end and the sum begins.
    end: u64,
    expected: Option<Hash>,
    /// What is read but not yet taken: from here on in the buffer.
    buffer: Vec<u8>,
    taken: usize,
    read: u64,
    sum: Sha256,
    ahead: Option<Entry>,
    /// Behind the entry that was returned last.
    behind_last: u64,
}

impl Reader {
    fn new(stored: &Stored) -> Reader {
        let mut sum = Sha256::new();
        sum.update(FORM);
        let begin = FORM.len() as u64;
        Reader {
            bytes: stored.bytes.clone(),
            end: stored.length.saturating_sub(SUM),
            expected: stored.sum,
            buffer: Vec::new(),
            taken: 0,
            read: begin,
            sum,
            ahead: None,
            behind_last: begin,
        }
    }

    fn behind_last(&self) -> u64 {
        self.behind_last
    }

    fn peek(&mut self) -> Result<Option<&Entry>, Damaged> {
        if self.ahead.is_none() {
            self.ahead = self.parse()?;
        }
        Ok(self.ahead.as_ref())
    }

    fn next(&mut self) -> Result<Option<Entry>, Damaged> {
        let entry = match self.ahead.take() {
            Some(entry) => Some(entry),
            None => self.parse()?,
        };
        self.behind_last = self.read - (self.buffer.len() - self.taken) as u64;
        Ok(entry)
    }

    fn parse(&mut self) -> Result<Option<Entry>, Damaged> {
        if self.read == self.end && self.taken == self.buffer.len() {
            return Ok(None);
        }
        let length = u32::from_le_bytes(self.array()?) as usize;
        if length > LONGEST_KEY {
            return Err(Damaged);
        }
        let key = self.take(length)?.to_vec();
        let print = u64::from_le_bytes(self.array()?);
        let stamp = u64::from_le_bytes(self.array()?);
        let known = match self.array()? {
            [0] => None,
            [1] => {
                let mut number = || self.array().map(u64::from_le_bytes);
                let (device, inode, size) = (number()?, number()?, number()?);
                let mut time = || Ok::<_, Damaged>((number()?.cast_signed(), number()?.cast_signed()));
                let state = FileState { device, inode, size, modified: time()?, changed: time()? };
                Some((state, self.array()?))
            }
            _ => return Err(Damaged),
        };
        Ok(Some(Entry { key, print, stamp, known }))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        self.take(N)?.try_into().map_err(|_| Damaged)
    }

    fn take(&mut self, count: usize) -> Result<&[u8], Damaged> {
        if self.buffer.len() - self.taken < count {
            self.fill(count)?;
        }
        let begin = self.taken;
        self.taken += count;
        self.buffer.get(begin..self.taken).ok_or(Damaged)
    }

    fn fill(&mut self, count: usize) -> Result<(), Damaged> {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let left = usize::try_from(self.end - self.read).unwrap_or(usize::MAX);
        let had = self.buffer.len();
        self.buffer.resize(had + left.min(CHUNK.max(count)), 0);
        let room = self.buffer.get_mut(had..).ok_or(Damaged)?;
        self.bytes.read_at(room, self.read).map_err(|_| Damaged)?;
        self.sum.update(&*room);
        self.read += room.len() as u64;
        if self.buffer.len() < count { Err(Damaged) } else { Ok(()) }
    }

    /// Whether what was read to its end is what was written.
    fn check_sum(self) -> Result<(), Damaged> {
        let mut written = [0; SUM as usize];
        self.bytes.read_at(&mut written, self.end).map_err(|_| Damaged)?;
        let sum: Hash = self.sum.finalize().into();
        let right = sum == written && self.expected.is_none_or(|expected| expected == sum);
        if right { Ok(()) } else { Err(Damaged) }
    }
}

struct Writer {
    /// Where it is put in the end, and where it is until then.
    place: Option<(PathBuf, PathBuf, File)>,
    buffer: Vec<u8>,
    length: u64,
    sum: Sha256,
}

impl Writer {
    fn begin(place: Option<&Path>) -> io::Result<Writer> {
        let open = |place: &Path| {
            let beside = place.with_extension("new");
            let file = File::options().read(true).write(true).create(true).truncate(false).open(&beside)?;
            // Another ralph of this project may be writing its own; one of the two is enough.
            file.try_lock()?;
            file.set_len(0)?;
            Ok::<_, io::Error>((place.to_owned(), beside, file))
        };
        Ok(Writer { place: place.map(open).transpose()?, buffer: Vec::new(), length: 0, sum: Sha256::new() })
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        self.length += bytes.len() as u64;
        self.sum.update(bytes);
        if let Some((_, _, file)) = &mut self.place
            && self.buffer.len() >= CHUNK
        {
            file.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn copy(&mut self, from: &Bytes, length: u64) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK];
        while self.length < length {
            let count = usize::try_from(length - self.length).unwrap_or(usize::MAX).min(CHUNK);
            let part = chunk.get_mut(..count).unwrap_or_default();
            from.read_at(part, self.length)?;
            self.add(part)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(entry.key.len() + 100);
        bytes.extend_from_slice(&u32::try_from(entry.key.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend_from_slice(&entry.key);
        bytes.extend_from_slice(&entry.print.to_le_bytes());
        bytes.extend_from_slice(&entry.stamp.to_le_bytes());
        bytes.push(u8::from(entry.known.is_some()));
        if let Some((state, content)) = &entry.known {
            for number in [state.device, state.inode, state.size] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            for (seconds, nanoseconds) in [state.modified, state.changed] {
                bytes.extend_from_slice(&seconds.to_le_bytes());
                bytes.extend_from_slice(&nanoseconds.to_le_bytes());
            }
            bytes.extend_from_slice(content);
        }
        self.add(&bytes)
    }

    fn finish(mut self) -> io::Result<Stored> {
        let sum: Hash = std::mem::take(&mut self.sum).finalize().into();
        self.add(&sum)?;
        let bytes = match self.place {
            None => Bytes::Memory(Arc::new(self.buffer)),
            Some((place, beside, mut file)) => {
                file.write_all(&self.buffer)?;
                // Nothing waits for the disk: what a power cut leaves of it has the wrong sum.
                std::fs::rename(beside, place)?;
                Bytes::File(Arc::new(file))
            }
        };
        Ok(Stored { bytes, length: self.length, sum: Some(sum) })
    }
}

impl Bytes {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Bytes::File(file) => file.read_exact_at(into, offset),
            Bytes::Memory(bytes) => {
                let begin = usize::try_from(offset).unwrap_or(usize::MAX);
                let part = begin.checked_add(into.len()).and_then(|end| bytes.get(begin..end));
                into.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}
