//! Reading entries back from bytes that anybody may have written.
//!
//! Nothing in a file is believed: an entry counts if its header is whole, its end line stands where the
//! header says, and both name the same id. Everything else is passed over, up to the next place where
//! such an entry begins. Each byte is looked at a bounded number of times, whatever it claims.
//!
//! An entry that reaches beyond the end of the file is being written at this moment, or was torn, or lies
//! about its length. No body holds the beginning of another entry (see [`super::Message::encode`]), so if a
//! whole one stands behind it, it is not going to be finished; else the scan stops there and waits.

use super::{Kind, LARGEST_BODY, LARGEST_HEADER, Message, START};
use crate::id::{LONGEST_MESSAGE_ID, MessageId, RunId, TaskName};
use crate::time::WallTime;
use memchr::memmem;

/// How an end line begins; the id follows.
pub(super) const END_BEGINS: &str = "<!-- end ";
/// What follows the id in an end line.
pub(super) const END_ENDS: &str = " -->";

/// What stands before each line of a quoted body.
const QUOTE: &str = "> ";

/// What the end of the bytes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The end of the file, as it is now.
    OfFile,
    /// Only the end of what was read so far.
    OfPart,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Message(Message),
    /// So many bytes that are no whole entry.
    Skipped(usize),
}

#[derive(Debug)]
pub struct Scan<'a> {
    bytes: &'a [u8],
    offset: usize,
    end: End,
}

impl<'a> Scan<'a> {
    /// Scans bytes that begin where an entry may begin.
    pub fn new(bytes: &'a [u8], end: End) -> Scan<'a> {
        Scan { bytes, offset: 0, end }
    }

    /// Up to where everything has been returned as a piece. What follows may become an entry.
    pub fn offset(&self) -> usize {
        self.offset
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.offset..).unwrap_or_default()
    }

    /// How far it is to the next entry that is whole, or may become so.
    fn to_next_entry(&self) -> usize {
        let rest = self.rest();
        let mut unfinished = None;
        for at in memmem::find_iter(rest, START) {
            match Entry::read(rest.get(at..).unwrap_or_default()) {
                Ok(_) => return at,
                // Whether a whole one follows is known only at the end of the file.
                Err(Unread::Short) if self.end == End::OfPart => return at,
                Err(Unread::Short) => unfinished = unfinished.or(Some(at)),
                Err(Unread::No) => {}
            }
        }
        unfinished.unwrap_or(rest.len() - begun_start(rest))
    }
}

impl Iterator for Scan<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        // The blank line between entries belongs to nobody.
        self.offset += self.rest().iter().take_while(|byte| **byte == b'\n').count();
        if let Ok(entry) = Entry::read(self.rest()) {
            self.offset += entry.length;
            return Some(Piece::Message(entry.message()));
        }
        let skipped = self.to_next_entry();
        self.offset += skipped;
        (skipped > 0).then_some(Piece::Skipped(skipped))
    }
}

/// The most bytes at the end of a file that [`ends_whole`] has to see.
pub const LONGEST_END: usize = "\n".len() + END_BEGINS.len() + LONGEST_MESSAGE_ID + END_ENDS.len() + "\n\n".len();

/// Whether bytes end with the end line of an entry and its blank line.
pub fn ends_whole(bytes: &[u8]) -> bool {
    let line = bytes.strip_suffix(b"\n\n").unwrap_or_default();
    let line = line.get(line.len().saturating_sub(LONGEST_END)..).unwrap_or_default();
    let line = memchr::memrchr(b'\n', line).and_then(|newline| line.get(newline + 1..)).unwrap_or_default();
    let id = line.strip_prefix(END_BEGINS.as_bytes()).and_then(|line| line.strip_suffix(END_ENDS.as_bytes()));
    id.and_then(|id| std::str::from_utf8(id).ok()).is_some_and(|id| MessageId::parse(id).is_ok())
}

/// Whether bytes begin as an entry does.
pub fn begins_as_entry(bytes: &[u8]) -> bool {
    bytes.starts_with(START.as_bytes())
}

/// How many bytes at the end may be the first ones of an entry.
fn begun_start(bytes: &[u8]) -> usize {
    let longest = bytes.len().min(START.len() - 1);
    let is_begun =
        |length: &usize| bytes.get(bytes.len() - length..).is_some_and(|end| START.as_bytes().starts_with(end));
    (1..=longest).rev().find(is_begun).unwrap_or(0)
}

/// Why no whole entry stands at a place.
enum Unread {
    /// The bytes end before the entry does.
    Short,
    No,
}

struct Entry<'a> {
    header: Header,
    body: &'a [u8],
    length: usize,
}

impl<'a> Entry<'a> {
    fn read(bytes: &'a [u8]) -> Result<Entry<'a>, Unread> {
        let header = Header::read(bytes)?;
        let end = header.length + header.body;
        let body = bytes.get(header.length..end).ok_or(Unread::Short)?;
        let mut expected = Vec::with_capacity(LONGEST_END);
        for part in ["\n", END_BEGINS, header.message.id.as_str(), END_ENDS, "\n"] {
            expected.extend_from_slice(part.as_bytes());
        }
        let rest = bytes.get(end..).unwrap_or_default();
        if rest.starts_with(&expected) {
            Ok(Entry { header, body, length: end + expected.len() })
        } else if expected.starts_with(rest) {
            Err(Unread::Short)
        } else {
            Err(Unread::No)
        }
    }

    /// The message. Only somebody else's writer can have put in what is no UTF-8.
    fn message(self) -> Message {
        let body = String::from_utf8_lossy(self.body);
        let body = if self.header.quoted { unquote(&body) } else { body.into_owned() };
        Message { body, ..self.header.message }
    }
}

/// A header that has everything an entry needs.
struct Header {
    /// The message, but for its body.
    message: Message,
    quoted: bool,
    body: usize,
    length: usize,
}

impl Header {
    /// The header that begins here, or what there is instead.
    fn read(bytes: &[u8]) -> Result<Header, Unread> {
        if !begins_as_entry(bytes) {
            return Err(Unread::No);
        }
        let (mut id, mut at, mut kind, mut body) = (None, None, None, None);
        let (mut project, mut task, mut run, mut from, mut parents) = (None, None, None, String::new(), Vec::new());
        let mut quoted = false;
        let mut length = "---\n".len();
        loop {
            let rest = bytes.get(length..bytes.len().min(LARGEST_HEADER)).unwrap_or_default();
            let Some(end) = memchr::memchr(b'\n', rest) else {
                return Err(if bytes.len() < LARGEST_HEADER { Unread::Short } else { Unread::No });
            };
            length += end + 1;
            let line = rest.get(..end).and_then(|line| std::str::from_utf8(line).ok()).ok_or(Unread::No)?;
            if line == "---" {
                break;
            }
            let (key, value) = line.split_once(':').ok_or(Unread::No)?;
            let value = value.trim();
            match key {
                // The beginning of another entry. Stopping here keeps the time linear, too.
                "id" if id.is_some() => return Err(Unread::No),
                "id" => id = Some(MessageId::parse(value).map_err(|_| Unread::No)?),
                "at" => at = WallTime::parse(value),
                "type" => kind = Kind::parse(value).ok(),
                "project" => project = Some(value.to_owned()),
                "task" => task = TaskName::parse(value).ok(),
                "run" => run = RunId::parse(value),
                "from" => value.clone_into(&mut from),
                "quoted" => quoted = value == "yes",
                "parents" => parents = parents_in(value),
                "bytes" => body = value.parse().ok().filter(|body| *body <= LARGEST_BODY),
                _ => {}
            }
        }
        match (id, at, kind, body) {
            (Some(id), Some(at), Some(kind), Some(body)) => {
                let message = Message { id, at, kind, project, task, run, parents, from, body: String::new() };
                Ok(Header { message, quoted, body, length })
            }
            _ => Err(Unread::No),
        }
    }
}

/// `[a, b]`; what is no id is left out.
fn parents_in(list: &str) -> Vec<MessageId> {
    let inner = list.trim_start_matches('[').trim_end_matches(']');
    inner.split(',').filter_map(|id| MessageId::parse(id.trim()).ok()).collect()
}

/// Whether the beginning of an entry is somewhere in a body, or at its seam with the header.
pub(super) fn could_be_an_entry(body: &str) -> bool {
    body.starts_with("id: ") || memmem::find(body.as_bytes(), START.as_bytes()).is_some()
}

/// A body with a mark before each line, so that no line of it can be the first of an entry.
pub(super) fn quote(body: &str) -> String {
    let mut quoted = String::with_capacity(body.len() + body.len() / 16 + QUOTE.len());
    for line in body.split_inclusive('\n') {
        quoted.push_str(QUOTE);
        quoted.push_str(line);
    }
    quoted
}

fn unquote(quoted: &str) -> String {
    quoted.split_inclusive('\n').map(|line| line.strip_prefix(QUOTE).unwrap_or(line)).collect()
}
