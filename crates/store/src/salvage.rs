//! Reading what is left of a damaged database, page by page and without SQLite, which stops at the first
//! page that leads nowhere and writes to what it reads.
//!
//! Every entry carries a checksum over its stream, its number and its text, so whatever is found anywhere in
//! the file or its log either proves itself or does not count: nothing is guessed. A stream's entries count
//! from the first one up to the first that is missing or cannot prove itself.
//!
//! Only leaves of tables are looked at. They hold the entries, and what stands above them only leads there.

use crate::migrate::lacking;
use crate::open::{FILE, with_suffix};
use crate::rows::{DamagedRow, MOST_STREAMS, Which};
use crate::streams::{SEQ_MASK, checksum, entry_checksum, place, proven_name};
use crate::{Store, StoreError};
use ralph_core::event::Entry;
use ralph_core::stream::{Row, StreamId};
use ralph_core::time::{Millis, WallTime};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

#[derive(Debug, Clone, PartialEq)]
pub struct Remains<E> {
    /// Its name; `None` if nothing proves one.
    pub stream: Option<StreamId>,
    pub no: i64,
    /// Its entries from the first on, each of them proven.
    pub entries: Vec<Entry<E>>,
    pub promised: u64,
    /// Why there are no more; `None` if they are all there.
    pub lost: Option<String>,
    /// Whether the next entry proves itself, and only a newer ralph understands it.
    pub is_newer: bool,
}

/// The readable pages of a database.
#[derive(Debug)]
pub struct Salvage {
    pages: Pages,
    /// Where the entries stand, by their place; a page may be there in several versions.
    cells: BTreeMap<i64, Vec<Cell>>,
    /// Names that a row proves, with the number of entries that it promises.
    proven: BTreeMap<i64, BTreeMap<StreamId, u64>>,
    /// Names that a row states; an entry may prove them.
    stated: BTreeMap<i64, BTreeSet<StreamId>>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    page: Image,
    at: usize,
}

/// A page's bytes: where they begin, and in which file.
#[derive(Debug, Clone, Copy)]
enum Image {
    Database(u64),
    Log(u64),
}

#[derive(Debug)]
struct Pages {
    database: Option<File>,
    log: Option<File>,
    size: usize,
    newest: HashMap<u32, Image>,
    count: u32,
}

impl Salvage {
    /// Looks at all pages of the database in the folder; there may be none.
    pub fn read(folder: &Path) -> Result<Salvage, StoreError> {
        let path = folder.join(FILE);
        let failed = StoreError::file(&path, "read");
        let open = |path: &Path| match path.metadata() {
            Ok(found) if found.is_file() => File::open(path).map(Some),
            // What is no file holds no pages.
            Ok(_) => Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        let (database, log) = (open(&path).map_err(&failed)?, open(&with_suffix(&path, "-wal")).map_err(&failed)?);
        let (pages, images) = Pages::find(database, log).map_err(&failed)?;
        let freed = pages.freed();
        let mut salvage = Salvage { pages, cells: BTreeMap::new(), proven: BTreeMap::new(), stated: BTreeMap::new() };
        for (number, image) in images {
            if !freed.contains(&number) {
                salvage.index(number, image);
            }
        }
        Ok(salvage)
    }

    /// The numbers of the streams of which anything is left, in the order in which they began.
    pub fn streams(&self) -> Vec<i64> {
        let of_entries = self.cells.keys().map(|place| place >> 32);
        of_entries.chain(self.proven.keys().copied()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub fn remains<E: DeserializeOwned>(&self, no: i64) -> Remains<E> {
        let mut names = self.proven.get(&no).cloned().unwrap_or_default();
        if !(0..=MOST_STREAMS).contains(&no) {
            // Its places would be those of another stream.
            let (stream, promised) = names.pop_first().map_or((None, 0), |(stream, promised)| (Some(stream), promised));
            let lost = Some("its number is damaged".to_owned());
            return Remains { stream, no, entries: Vec::new(), promised, lost, is_newer: false };
        }
        for name in self.candidates(place(no, 0)).filter_map(|fields| fields.proven_name()) {
            names.entry(name).or_insert(0);
        }
        if names.is_empty() {
            names.extend(self.stated_and_proven(no).map(|stream| (stream, 0)));
        }
        let last = self.cells.range(place(no, 0)..=place(no, SEQ_MASK)).next_back();
        let last = last.map_or(0, |(place, _)| place.cast_unsigned() & SEQ_MASK);
        let all = names.into_iter().map(|(stream, promised)| self.entries(stream, no, promised.max(last)));
        all.max_by_key(|remains| remains.entries.len()).unwrap_or_else(|| Remains {
            stream: None,
            no,
            entries: Vec::new(),
            promised: last,
            lost: Some("nothing that can be read tells what it is".to_owned()),
            is_newer: false,
        })
    }

    /// The name that a row states and any entry proves.
    fn stated_and_proven(&self, no: i64) -> Option<StreamId> {
        let proves = |stream: &StreamId, place: i64| {
            let seq = place.cast_unsigned() & SEQ_MASK;
            self.candidates(place).any(|fields| fields.proves(stream, seq))
        };
        let places = || self.cells.range(place(no, 1)..=place(no, SEQ_MASK)).map(|(place, _)| *place);
        self.stated.get(&no)?.iter().find(|stream| places().any(|place| proves(stream, place))).cloned()
    }

    fn entries<E: DeserializeOwned>(&self, stream: StreamId, no: i64, promised: u64) -> Remains<E> {
        let mut remains = Remains { stream: None, no, entries: Vec::new(), promised, lost: None, is_newer: false };
        for seq in 1..=promised {
            let mut found = false;
            let proven = self.candidates(place(no, seq)).inspect(|_| found = true).find(|f| f.proves(&stream, seq));
            match proven.map(|fields| fields.entry(seq)) {
                Some(Ok(entry)) => remains.entries.push(entry),
                Some(Err(error)) => {
                    remains.is_newer = true;
                    remains.lost =
                        Some(format!("entry {seq} is there, but this ralph does not understand it: {error}"));
                }
                None if found => remains.lost = Some(format!("entry {seq} is damaged")),
                None => remains.lost = Some(format!("entry {seq} is missing")),
            }
            if remains.lost.is_some() {
                break;
            }
        }
        Remains { stream: Some(stream), ..remains }
    }

    fn index(&mut self, number: u32, page: Image) {
        let Some(bytes) = self.pages.bytes(page) else { return };
        // The first page begins with the header of the file.
        let start = if number == 1 { 100 } else { 0 };
        if bytes.get(start) != Some(&LEAF) {
            return;
        }
        let count = big_endian(&bytes, start + 3, 2).unwrap_or(0);
        for index in 0..count {
            let Some(at) = big_endian(&bytes, start + 8 + 2 * index, 2) else { return };
            let cell = Cell { page, at };
            let Some((rowid, kinds)) = self.pages.head(&bytes, at) else { continue };
            match kinds.as_slice() {
                [Kind::Null, at, elapsed, Kind::Text(_), sum]
                    if [at, elapsed, sum].iter().all(|kind| kind.is_number()) =>
                {
                    self.cells.entry(rowid).or_default().push(cell);
                }
                [Kind::Null, Kind::Text(_), Kind::Text(_), last_seq, Kind::Text(_), sum, ..]
                    if last_seq.is_number() && sum.is_number() =>
                {
                    self.pages.values(cell).iter().for_each(|values| self.note_row(rowid, values));
                }
                _ => {}
            }
        }
    }

    fn note_row(&mut self, no: i64, values: &[Value]) {
        let [
            _,
            Value::Text(kind),
            Value::Text(id),
            Value::Integer(last_seq),
            Value::Text(row),
            Value::Integer(sum),
            ..,
        ] = values
        else {
            return;
        };
        let (Some(stream), last_seq) = (StreamId::parse(kind, id), last_seq.cast_unsigned()) else { return };
        if checksum(&stream, &[last_seq], row) == *sum {
            let promised = self.proven.entry(no).or_default().entry(stream).or_insert(0);
            *promised = (*promised).max(last_seq);
        } else {
            self.stated.entry(no).or_default().insert(stream);
        }
    }

    fn candidates(&self, place: i64) -> impl Iterator<Item = Fields> + '_ {
        let cells = self.cells.get(&place).map(Vec::as_slice).unwrap_or_default();
        cells.iter().flat_map(|cell| self.pages.values(*cell)).filter_map(Fields::of)
    }
}

struct Fields {
    at: WallTime,
    elapsed: Millis,
    event: String,
    checksum: i64,
}

impl Fields {
    fn proves(&self, stream: &StreamId, seq: u64) -> bool {
        let entry = Entry { seq, at: self.at, elapsed: self.elapsed, event: () };
        entry_checksum(stream, &entry, &self.event) == self.checksum
    }

    /// The name that it tells as an entry 0.
    fn proven_name(&self) -> Option<StreamId> {
        proven_name(self.at, self.elapsed, &self.event, self.checksum)
    }

    fn entry<E: DeserializeOwned>(&self, seq: u64) -> serde_json::Result<Entry<E>> {
        Ok(Entry { seq, at: self.at, elapsed: self.elapsed, event: serde_json::from_str(&self.event)? })
    }

    fn of(values: Vec<Value>) -> Option<Fields> {
        let [Value::Null, Value::Integer(at), Value::Integer(elapsed), Value::Text(event), Value::Integer(checksum)] =
            <[Value; 5]>::try_from(values).ok()?
        else {
            return None;
        };
        Some(Fields { at: WallTime(at), elapsed: Millis(elapsed.cast_unsigned()), event, checksum })
    }
}

const LEAF: u8 = 0x0d;
/// Bytes before the first frame of a log, and before the page of each frame.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;
/// What SQLite makes where nobody says otherwise.
const USUAL_PAGE: usize = 4096;
const MAGIC: &[u8] = b"SQLite format 3\0";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    /// Bytes.
    Integer(usize),
    /// The numbers 0 and 1 take no room.
    Bit(bool),
    /// Bytes.
    Text(usize),
}

impl Kind {
    fn is_number(self) -> bool {
        matches!(self, Kind::Integer(_) | Kind::Bit(_))
    }
}

#[derive(Debug)]
enum Value {
    Null,
    Integer(i64),
    Text(String),
}

impl Pages {
    /// Finds the size of the pages, and all versions of all of them.
    fn find(database: Option<File>, log: Option<File>) -> std::io::Result<(Pages, Vec<(u32, Image)>)> {
        let length = |file: &Option<File>| file.as_ref().map_or(Ok(0), |file| file.metadata().map(|found| found.len()));
        let (length, log_length) = (length(&database)?, length(&log)?);
        let stated = |file: &Option<File>, at: u64, bytes: usize| {
            let mut buffer = vec![0; bytes];
            file.as_ref()?.read_exact_at(&mut buffer, at).ok()?;
            // The largest page does not fit into two bytes, and is written as 1.
            let size = big_endian(&buffer, 0, bytes).map(|size| if size == 1 { 1 << 16 } else { size })?;
            (size.is_power_of_two() && (512..=1 << 16).contains(&size)).then_some(size)
        };
        let mut magic = [0; MAGIC.len()];
        let has_header =
            database.as_ref().is_some_and(|file| file.read_exact_at(&mut magic, 0).is_ok() && magic == MAGIC);
        let size = stated(&database, 16, 2).filter(|_| has_header).or_else(|| stated(&log, 8, 4)).unwrap_or(USUAL_PAGE);
        let count = u32::try_from(length.div_ceil(size as u64)).unwrap_or(u32::MAX);
        let mut pages = Pages { database, log, size, newest: HashMap::new(), count };
        let mut images: Vec<(u32, Image)> =
            (1..=count).map(|number| (number, Image::Database(u64::from(number - 1) * size as u64))).collect();
        let mut at = LOG_HEADER;
        while at + FRAME_HEADER < log_length {
            let mut number = [0; 4];
            let image = Image::Log(at + FRAME_HEADER);
            if let Some(log) = &pages.log
                && log.read_exact_at(&mut number, at).is_ok()
            {
                let number = u32::from_be_bytes(number);
                images.push((number, image));
                pages.newest.insert(number, image);
            }
            at += FRAME_HEADER + size as u64;
        }
        Ok((pages, images))
    }

    /// What a file still has of a page; the rest of a page that was cut off is zero.
    fn bytes(&self, image: Image) -> Option<Vec<u8>> {
        let (file, at) = match image {
            Image::Database(at) => (self.database.as_ref()?, at),
            Image::Log(at) => (self.log.as_ref()?, at),
        };
        let mut bytes = vec![0; self.size];
        let mut got = 0;
        while got < bytes.len() {
            match file.read_at(bytes.get_mut(got..)?, at + got as u64) {
                Ok(0) | Err(_) => break,
                Ok(more) => got += more,
            }
        }
        (got > 0).then_some(bytes)
    }

    /// The pages that are in use no more: what stands there was deleted. A list that does not add up is
    /// damaged, and then nothing is believed to be deleted.
    fn freed(&self) -> HashSet<u32> {
        let read = || {
            let first = self.bytes(self.newest.get(&1).copied().unwrap_or(Image::Database(0)))?;
            let promised = big_endian(&first, 36, 4)?;
            let (mut next, mut freed) = (big_endian(&first, 32, 4)?, HashSet::new());
            while next != 0 {
                let trunk = u32::try_from(next).ok().filter(|trunk| *trunk <= self.count && freed.insert(*trunk))?;
                let bytes = self.bytes(self.version(trunk, true))?;
                let leaves = big_endian(&bytes, 4, 4)?;
                for leaf in 0..leaves {
                    freed.insert(u32::try_from(big_endian(&bytes, 8 + 4 * leaf, 4)?).ok()?);
                }
                next = big_endian(&bytes, 0, 4)?;
            }
            (first.starts_with(MAGIC) && freed.len() == promised).then_some(freed)
        };
        read().unwrap_or_default()
    }

    fn version(&self, number: u32, of_the_log: bool) -> Image {
        let usual = Image::Database(u64::from(number.saturating_sub(1)) * self.size as u64);
        self.newest.get(&number).copied().filter(|_| of_the_log).unwrap_or(usual)
    }

    /// The number and the kinds of values of a record, as far as they stand on the page itself.
    fn head(&self, page: &[u8], at: usize) -> Option<(i64, Vec<Kind>)> {
        let (_, more) = varint(page, at)?;
        let (rowid, payload) = varint(page, at + more)?;
        kinds(page, at + more + payload).map(|(kinds, _)| (rowid, kinds))
    }

    /// A record's values; of one that goes on elsewhere, both with the pages of the log and with those of the database.
    fn values(&self, cell: Cell) -> Vec<Vec<Value>> {
        [true, false].into_iter().filter_map(|of_the_log| values(&self.payload(cell, of_the_log)?)).collect()
    }

    fn payload(&self, cell: Cell, of_the_log: bool) -> Option<Vec<u8>> {
        let page = self.bytes(cell.page)?;
        let (length, more) = varint(&page, cell.at)?;
        let (_, and_more) = varint(&page, cell.at + more)?;
        let length = usize::try_from(length).ok().filter(|length| *length / self.size < self.longest())?;
        let begin = cell.at + more + and_more;
        // How much of a long record stays on its page is a rule of the file format.
        let largest = self.size.checked_sub(35)?;
        if length <= largest {
            return page.get(begin..begin + length).map(<[u8]>::to_vec);
        }
        let least = (self.size - 12) * 32 / 255 - 23;
        let wanted = least + (length - least) % (self.size - 4);
        let local = if wanted <= largest { wanted } else { least };
        let mut payload = page.get(begin..begin + local)?.to_vec();
        let mut next = big_endian(&page, begin + local, 4)?;
        while payload.len() < length {
            let number = u32::try_from(next).ok().filter(|number| *number > 0)?;
            let bytes = self.bytes(self.version(number, of_the_log))?;
            let wanted = (length - payload.len()).min(self.size - 4);
            payload.extend_from_slice(bytes.get(4..4 + wanted)?);
            next = big_endian(&bytes, 0, 4)?;
        }
        Some(payload)
    }

    /// More pages than any record has: all of them.
    fn longest(&self) -> usize {
        self.count as usize + self.newest.len() + 1
    }
}

fn values(record: &[u8]) -> Option<Vec<Value>> {
    let (kinds, mut at) = kinds(record, 0)?;
    let mut values = Vec::with_capacity(kinds.len());
    for kind in kinds {
        values.push(match kind {
            Kind::Null => Value::Null,
            Kind::Bit(bit) => Value::Integer(bit.into()),
            Kind::Integer(bytes) => {
                let number = record.get(at..at + bytes)?.iter().fold(0_i64, |sum, byte| sum << 8 | i64::from(*byte));
                at += bytes;
                // The first bit is the sign.
                let unused = 64 - 8 * u32::try_from(bytes).ok()?;
                Value::Integer(number << unused >> unused)
            }
            Kind::Text(bytes) => {
                let text = record.get(at..at + bytes)?;
                at += bytes;
                Value::Text(std::str::from_utf8(text).ok()?.to_owned())
            }
        });
    }
    Some(values)
}

/// The kinds of a record's values and where they begin; `None` for kinds that no table of ours has.
fn kinds(record: &[u8], at: usize) -> Option<(Vec<Kind>, usize)> {
    let (length, mut next) = varint(record, at)?;
    let end = at.checked_add(usize::try_from(length).ok()?)?;
    next += at;
    let mut kinds = Vec::new();
    while next < end && kinds.len() < 16 {
        let (serial, more) = varint(record, next)?;
        next += more;
        kinds.push(match serial {
            0 => Kind::Null,
            1..=4 => Kind::Integer(usize::try_from(serial).ok()?),
            5 => Kind::Integer(6),
            // A fraction is as long; nobody reads one.
            6 | 7 => Kind::Integer(8),
            8 | 9 => Kind::Bit(serial == 9),
            text if text >= 13 && text % 2 == 1 => Kind::Text(usize::try_from((text - 13) / 2).ok()?),
            _ => return None,
        });
    }
    (next == end).then_some((kinds, end))
}

/// A number of up to nine bytes, and how many it has.
fn varint(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let mut number = 0_u64;
    for length in 1..=8 {
        let byte = *bytes.get(at + length - 1)?;
        number = number << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((number.cast_signed(), length));
        }
    }
    let last = *bytes.get(at + 8)?;
    Some(((number << 8 | u64::from(last)).cast_signed(), 9))
}

fn big_endian(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    Some(bytes.get(at..at.checked_add(length)?)?.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Damage {
    /// Its structure, as SQLite told it.
    pub structure: Vec<String>,
    /// Single streams, one sentence each; all others can be used.
    pub streams: Vec<String>,
}

impl Damage {
    pub fn is_none(&self) -> bool {
        self.structure.is_empty() && self.streams.is_empty()
    }
}

impl Store {
    /// All damage among streams of one kind; reads all of them. `judge` looks at entries that can be read.
    pub fn damage<R: Row, E: DeserializeOwned>(
        &self,
        judge: impl Fn(&[Entry<E>]) -> Option<String>,
    ) -> Result<Damage, StoreError> {
        let failed = StoreError::sqlite(&self.path, "read");
        let structure = || -> rusqlite::Result<Vec<String>> {
            self.conn.prepare("PRAGMA integrity_check(5)")?.query_map([], |row| row.get(0))?.collect()
        };
        let mut damage = Damage { structure: structure().map_err(&failed)?, streams: Vec::new() };
        damage.structure.retain(|told| told != "ok");
        damage.structure.extend(lacking(&self.conn).map_err(&failed)?);
        for row in self.newest::<R>(Which::All, usize::MAX)? {
            let (stream, why) = match row {
                Ok(row) => (row.stream(), None),
                Err(DamagedRow { stream: Some(stream), why, .. }) => (stream, Some(why)),
                Err(DamagedRow { stream: None, no, why }) => {
                    damage.streams.push(format!("{} number {no}: {why}", R::KIND.as_str()));
                    continue;
                }
            };
            let why = match self.entries(&stream) {
                Ok(entries) => judge(&entries).or(why),
                Err(error) => Some(error.of_one_stream().ok_or(error)?),
            };
            damage.streams.extend(why.map(|why| format!("{stream}: {why}")));
        }
        let rowless = || -> rusqlite::Result<Vec<i64>> {
            let sql = "SELECT DISTINCT place >> 32 FROM journal WHERE place >> 32 NOT IN (SELECT no FROM streams)";
            self.conn.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
        };
        let rowless = rowless().map_err(&failed)?;
        damage.streams.extend(rowless.into_iter().map(|no| format!("number {no}: it has entries and no row")));
        Ok(damage)
    }
}
