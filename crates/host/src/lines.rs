//! Cutting a byte stream into lines, in memory that depends on the limit and never on the stream.

use memchr::memchr;

/// The longest line that is parsed. Real clients print whole tool outputs on one line (400 KB have
/// been seen); beyond this a line is not an event any more, and only its beginning is looked at.
pub const LONGEST_LINE: usize = 16 << 20;
/// How much of an overlong line is kept for whoever wants to know what it was.
const HEAD: usize = 64 << 10;

#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    Whole(&'a [u8]),
    TooLong(&'a [u8]),
}

/// Collects pieces of lines that span several reads.
#[derive(Debug)]
pub struct LineSplitter {
    pending: Vec<u8>,
    limit: usize,
    /// The current line passed the limit; the rest of it is skipped.
    skipping: bool,
}

impl Default for LineSplitter {
    fn default() -> LineSplitter {
        LineSplitter::with_limit(LONGEST_LINE)
    }
}

impl LineSplitter {
    pub fn with_limit(limit: usize) -> LineSplitter {
        LineSplitter { pending: Vec::new(), limit, skipping: false }
    }

    /// Takes bytes and hands out every line that they complete.
    pub fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.pending.is_empty() && !self.skipping && line.len() <= self.limit {
                each(Line::Whole(line));
                continue;
            }
            self.hold(line);
            self.hand_out(&mut each);
        }
        self.hold(bytes);
    }

    /// The stream ended; a last line without newline counts.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.pending.is_empty() || self.skipping {
            self.hand_out(&mut each);
        }
    }

    fn hold(&mut self, piece: &[u8]) {
        if self.skipping {
            return;
        }
        if self.pending.len() + piece.len() > self.limit {
            self.skipping = true;
            let room = HEAD.saturating_sub(self.pending.len());
            self.pending.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
            self.pending.truncate(HEAD);
            // The memory of a huge line is given back at once, not at the end of the run.
            self.pending.shrink_to(HEAD);
            return;
        }
        self.pending.extend_from_slice(piece);
    }

    fn hand_out(&mut self, each: &mut impl FnMut(Line<'_>)) {
        each(if self.skipping { Line::TooLong(&self.pending) } else { Line::Whole(&self.pending) });
        self.pending.clear();
        self.pending.shrink_to(1 << 20);
        self.skipping = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&[u8]], limit: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let mut splitter = LineSplitter::with_limit(limit);
        let mut each = |line: Line<'_>| {
            lines.push(match line {
                Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Line::TooLong(bytes) => format!("long:{}", bytes.len()),
            });
        };
        for piece in pieces {
            splitter.feed(piece, &mut each);
        }
        splitter.finish(&mut each);
        lines
    }

    #[test]
    fn lines_are_the_same_wherever_the_stream_is_cut() {
        let stream = "one\n\nthree é漢\nlast".as_bytes();
        let whole = split(&[stream], 100);
        assert_eq!(whole, ["one", "", "three é漢", "last"]);
        for a in 0..stream.len() {
            for b in a..stream.len() {
                assert_eq!(split(&[&stream[..a], &stream[a..b], &stream[b..]], 100), whole);
            }
        }
    }

    #[test]
    fn b02_an_overlong_line_is_skipped_and_the_next_one_is_whole() {
        assert_eq!(split(&[b"12345678901", b"234567890\nnext\n"], 10), ["long:11", "next"]);
        assert_eq!(split(&[b"1234567890\nnext"], 10), ["1234567890", "next"]);
    }

    #[test]
    fn b01_memory_stays_bounded_without_newlines() {
        let mut splitter = LineSplitter::with_limit(1 << 20);
        let chunk = vec![b'x'; 1 << 18];
        for _ in 0..100 {
            splitter.feed(&chunk, |_| panic!("no line has ended"));
            assert!(splitter.pending.capacity() <= 3 << 20);
        }
        let mut seen = 0;
        splitter.feed(b"\nok\n", |line| {
            seen += usize::from(matches!(line, Line::TooLong(_)) || line == Line::Whole(b"ok"));
        });
        assert_eq!(seen, 2);
    }
}
