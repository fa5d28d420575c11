//! Walking over JSON from left to right, once.
//!
//! A stream is to be read as fast as a pipe carries it, and most of it is long strings that nobody
//! wants: so nothing is built on the way, a string is passed over by the search for its end, and
//! what is wanted is read in its place instead of being handed up. Up to a depth that nobody reaches,
//! JSON is what serde_json takes for it, except that strings may hold any bytes: what is no text is
//! replaced where a string is taken, and control characters harm nobody. The tests hold the two side by side.

use super::string::unescape;
use memchr::memchr2;

/// How deep brackets may stand in each other: no real line comes near, and the stack bears it.
const DEEPEST: u16 = 512;

pub(crate) trait Value<'a> {
    /// Takes the next value in the place of what was here; `None` if there is no JSON.
    fn take(&mut self, cursor: &mut Cursor<'a>) -> Option<()>;
}

/// A place in a text. A `None` of any method says that the text is no JSON; there is no way on from there.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    depth: u16,
    /// Whether anything in the last string is escaped.
    escaped: bool,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: text, depth: 0, escaped: false }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// What comes next behind blanks; `None` at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.rest {
                [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] => self.rest = rest,
                rest => return rest.first().copied(),
            }
        }
    }

    /// Passes over any value and returns it as it stands.
    pub(super) fn skip(&mut self) -> Option<&'a [u8]> {
        let first = self.peek()?;
        let whole = self.rest;
        match first {
            b'"' => drop(self.string()?),
            b'{' => self.object(|_, cursor| cursor.pass_over())?,
            b'[' => self.array(|cursor| cursor.pass_over())?,
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            b'n' => self.word(b"null")?,
            _ => self.number()?,
        }
        whole.get(..whole.len() - self.rest.len())
    }

    pub(crate) fn pass_over(&mut self) -> Option<()> {
        self.skip().map(drop)
    }

    /// Hands over the name of each field, with the cursor before its value.
    pub(super) fn object(&mut self, mut each: impl FnMut(&[u8], &mut Cursor<'a>) -> Option<()>) -> Option<()> {
        self.between(*b"{}", |cursor| {
            let name = cursor.name()?;
            match cursor.escaped {
                false => each(name, cursor),
                true => each(unescape(name, usize::MAX).as_bytes(), cursor),
            }
        })
    }

    pub(super) fn array(&mut self, each: impl FnMut(&mut Cursor<'a>) -> Option<()>) -> Option<()> {
        self.between(*b"[]", each)
    }

    /// The name that comes next, as it is written; the cursor is before its value then.
    #[inline]
    fn name(&mut self) -> Option<&'a [u8]> {
        // Nearly every name is short, and nothing stands around it.
        if let [b'"', rest @ ..] = self.rest
            && let Some((name, [b'"', b':', rest @ ..])) = rest.split_at_checked(short_string(rest))
        {
            (self.rest, self.escaped) = (rest, false);
            return Some(name);
        }
        let name = self.string()?;
        self.expect(b':')?;
        Some(name)
    }

    /// The string that comes next, as it is written between its quotes.
    #[inline]
    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        match self.rest.split_at_checked(short_string(self.rest)) {
            Some((string, [b'"', rest @ ..])) => {
                (self.rest, self.escaped) = (rest, false);
                Some(string)
            }
            _ => self.long_string(),
        }
    }

    /// The string whose first quote is already behind us.
    fn long_string(&mut self) -> Option<&'a [u8]> {
        let whole = self.rest;
        self.escaped = false;
        loop {
            match self.rest.get(memchr2(b'"', b'\\', self.rest)?..)? {
                [b'"', rest @ ..] => {
                    self.rest = rest;
                    return whole.get(..whole.len() - rest.len() - 1);
                }
                [_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', rest @ ..] => self.rest = rest,
                [_, b'u', a, b, c, d, rest @ ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => {
                    self.rest = rest;
                }
                _ => return None,
            }
            self.escaped = true;
        }
    }

    fn between(&mut self, [open, close]: [u8; 2], mut each: impl FnMut(&mut Cursor<'a>) -> Option<()>) -> Option<()> {
        self.expect(open)?;
        self.depth = Some(self.depth + 1).filter(|&depth| depth <= DEEPEST)?;
        if self.peek()? != close {
            each(self)?;
            while self.peek()? == b',' {
                self.pass();
                each(self)?;
            }
        }
        self.depth -= 1;
        self.expect(close)
    }

    fn number(&mut self) -> Option<()> {
        self.eats(b"-");
        // A zero at the front stands alone.
        if !self.eats(b"0") {
            self.digits()?;
        }
        if self.eats(b".") {
            self.digits()?;
        }
        if self.eats(b"eE") {
            self.eats(b"+-");
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.rest = self.rest.get(count..)?;
        (count > 0).then_some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.pass())
    }

    fn eats(&mut self, bytes: &[u8]) -> bool {
        let is_next = self.rest.first().is_some_and(|next| bytes.contains(next));
        if is_next {
            self.pass();
        }
        is_next
    }

    fn pass(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }
}

/// Where a quote or a backslash stands within the next few bytes; past the end if there is none. Most names and words
/// end before a search for many bytes at once has begun: so the first bytes are looked at as one number.
#[inline]
fn short_string(bytes: &[u8]) -> usize {
    let (first, rest) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
    match quote_in(first) {
        Some(at) => at,
        None => rest.first_chunk().and_then(quote_in).map_or(usize::MAX, |at| at + 8),
    }
}

/// Where the first quote or backslash stands in eight bytes.
#[inline]
fn quote_in(bytes: &[u8; 8]) -> Option<usize> {
    let near = u64::from_le_bytes(*bytes);
    let found = zeros(near ^ (ONES * u64::from(b'"'))) | zeros(near ^ (ONES * u64::from(b'\\')));
    (found != 0).then(|| found.trailing_zeros() as usize / 8)
}

const ONES: u64 = u64::from_le_bytes([1; 8]);

/// A number whose lowest bit stands in the lowest of the bytes that are zero; zero if none is.
#[inline]
fn zeros(bytes: u64) -> u64 {
    bytes.wrapping_sub(ONES) & !bytes & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IgnoredAny;

    fn is_json(text: &str) -> bool {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.skip().is_some() && cursor.peek().is_none()
    }

    #[test]
    fn json_is_what_serde_json_calls_so() {
        let whole =
            r#" {"a\u00e9\n\"\\\/\b\f\r\t":[1,-0.5e+3,0,10E2,true,false,null,"","é漢"],"b":{},"c":[[],{"d":-0}]} "#;
        let pieces =
            ["", "\"", "\\", "\\u00g0", "\\ud800", "\u{7f}", "0", "-", ".", "e", ",", ":", "[", "]", "}", " ", "x"];
        let ends: Vec<usize> = (0..=whole.len()).filter(|&at| whole.is_char_boundary(at)).collect();
        let mut accepted = 0;
        for (from, to) in ends.iter().flat_map(|from| ends.iter().map(move |to| (*from, *to))) {
            // What is cut out of it, doubled in it, and with every piece at every place in it.
            let mixed = format!("{}{}", &whole[..from], &whole[to..]);
            let broken =
                pieces.iter().filter(|_| from == to).map(|piece| format!("{}{piece}{}", &whole[..from], &whole[to..]));
            for text in broken.chain([mixed]) {
                let expected = serde_json::from_str::<IgnoredAny>(&text).is_ok();
                assert_eq!(is_json(&text), expected, "{text}");
                accepted += usize::from(expected);
            }
        }
        assert!(accepted > 100, "{accepted}");
    }

    #[test]
    fn b04_strings_may_hold_any_bytes_and_nothing_else_may() {
        let is_json = |text: &[u8]| {
            let mut cursor = Cursor::new(text);
            cursor.skip().is_some() && cursor.peek().is_none()
        };
        for stray in [&b"\0"[..], b"\x1b", b"\x1b[0m", b"\xff", b"\xc3"] {
            assert!(is_json(&[b"{\"a", stray, b"\":\"", stray, b"\"}"].concat()), "{stray:?}");
            assert!(!is_json(&[b"{\"a\":", stray, b"\"\"}"].concat()), "{stray:?}");
            assert!(!is_json(&[b"[1", stray, b"]"].concat()), "{stray:?}");
        }
        assert!(is_json(b"{\t\"a\tb\"\t:\t\"\t\"\t}\t"));
    }

    #[test]
    fn strings_of_every_length_end_at_their_quote() {
        for length in 0..80 {
            for piece in ["x", "\\\"", "\\\\", "\\u0022", "é"] {
                for at in 0..length {
                    let string = format!("{}{piece}{}", "x".repeat(at), "x".repeat(length - at));
                    let text = format!("\"{string}\",\"next\"");
                    let mut cursor = Cursor::new(text.as_bytes());
                    assert_eq!(cursor.string(), Some(string.as_bytes()), "{text}");
                    assert_eq!(cursor.escaped, piece.starts_with('\\'), "{text}");
                    assert_eq!(cursor.rest, b",\"next\"", "{text}");
                }
            }
        }
    }

    #[test]
    fn b02_brackets_without_end_are_no_json_and_no_overflow() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_json(&nested(usize::from(DEEPEST))));
        assert!(!is_json(&nested(1_000_000)));
    }
}
