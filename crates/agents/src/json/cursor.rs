//! Walking over JSON from left to right, once.
//!
//! A stream is to be read as fast as a pipe carries it, and most of it is long strings that nobody
//! wants: so nothing is built on the way, a string is passed over by the search for its end, and
//! what is wanted is read in its place instead of being handed up. Up to a depth that nobody reaches,
//! JSON is what serde_json takes for it; the tests hold the two side by side.

use super::string::unescape;
use memchr::memchr2;

/// How deep brackets may stand in each other: no real line comes near, and the stack bears it.
const DEEPEST: u16 = 512;

/// Something that can be read.
pub(crate) trait Value<'a> {
    /// Takes the next value in the place of what was here; `None` if there is no JSON.
    fn take(&mut self, cursor: &mut Cursor<'a>) -> Option<()>;
}

/// A place in a text. A `None` of any method says that the text is no JSON; there is no way on from there.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: u16,
    /// Whether there is any control character, so that strings must be searched for them.
    controls: bool,
}

impl<'a> Cursor<'a> {
    /// At the beginning of a text.
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        // The least of all bytes is found many at a time, the first of some kind one by one.
        let controls = text.bytes().fold(u8::MAX, u8::min) < b' ';
        Cursor { text, at: 0, depth: 0, controls }
    }

    /// What comes next behind blanks; `None` at the end.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Passes over any value and returns it as it stands.
    pub(super) fn skip(&mut self) -> Option<&'a str> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => drop(self.string()?),
            b'{' => self.object(|_, cursor| cursor.skip().map(drop))?,
            b'[' => self.array(|cursor| cursor.skip().map(drop))?,
            b't' => self.word("true")?,
            b'f' => self.word("false")?,
            b'n' => self.word("null")?,
            _ => self.number()?,
        }
        self.text.get(start..self.at)
    }

    /// Hands over the name of each field, with the cursor before its value.
    pub(super) fn object(&mut self, mut each: impl FnMut(&str, &mut Cursor<'a>) -> Option<()>) -> Option<()> {
        self.between(*b"{}", |cursor| {
            let name = cursor.string()?;
            cursor.expect(b':')?;
            match name.contains('\\') {
                false => each(name, cursor),
                true => each(&unescape(name, usize::MAX), cursor),
            }
        })
    }

    /// Hands over the cursor before each element.
    pub(super) fn array(&mut self, each: impl FnMut(&mut Cursor<'a>) -> Option<()>) -> Option<()> {
        self.between(*b"[]", each)
    }

    /// The string that comes next, as it is written between its quotes.
    pub(super) fn string(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let end = memchr2(b'"', b'\\', rest)?;
            self.at += end + 1;
            if rest.get(end) == Some(&b'"') {
                break;
            }
            let length = match self.byte()? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 1,
                b'u' if self.text.get(self.at + 1..self.at + 5)?.bytes().all(|c| c.is_ascii_hexdigit()) => 5,
                _ => return None,
            };
            self.at += length;
        }
        let string = self.text.get(start..self.at - 1)?;
        (!self.controls || !string.bytes().any(|byte| byte < b' ')).then_some(string)
    }

    fn between(&mut self, [open, close]: [u8; 2], mut each: impl FnMut(&mut Cursor<'a>) -> Option<()>) -> Option<()> {
        self.expect(open)?;
        self.depth = Some(self.depth + 1).filter(|&depth| depth <= DEEPEST)?;
        if self.peek()? != close {
            each(self)?;
            while self.peek()? == b',' {
                self.at += 1;
                each(self)?;
            }
        }
        self.depth -= 1;
        self.expect(close)
    }

    fn number(&mut self) -> Option<()> {
        self.eats(b'-');
        // A zero at the front stands alone.
        if !self.eats(b'0') {
            self.digits()?;
        }
        if self.eats(b'.') {
            self.digits()?;
        }
        if self.eats(b'e') || self.eats(b'E') {
            let _sign = self.eats(b'+') || self.eats(b'-');
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.text.as_bytes().get(self.at..)?.starts_with(word.as_bytes()).then_some(())?;
        self.at += word.len();
        Some(())
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then_some(())?;
        self.at += 1;
        Some(())
    }

    fn eats(&mut self, byte: u8) -> bool {
        let is_next = self.byte() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IgnoredAny;

    fn is_json(text: &str) -> bool {
        let mut cursor = Cursor::new(text);
        cursor.skip().is_some() && cursor.peek().is_none()
    }

    #[test]
    fn json_is_what_serde_json_calls_so() {
        let whole =
            r#" {"a\u00e9\n\"\\\/\b\f\r\t":[1,-0.5e+3,0,10E2,true,false,null,"","é漢"],"b":{},"c":[[],{"d":-0}]} "#;
        let pieces =
            ["", "\"", "\\", "\\u00g0", "\\ud800", "\t", "\0", "0", "-", ".", "e", ",", ":", "[", "]", "}", " ", "x"];
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
    fn b02_brackets_without_end_are_no_json_and_no_overflow() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_json(&nested(usize::from(DEEPEST))));
        assert!(!is_json(&nested(1_000_000)));
    }
}
