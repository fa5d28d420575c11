//! Strings as they stand in JSON: how to read the beginning of one, and how to measure all of it.

use ralph_core::text;
use std::borrow::Cow;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Lines; a final newline begins no further one.
    pub(crate) lines: u64,
    /// Characters, newlines included.
    pub(crate) chars: u64,
}

/// The text of a JSON string, up to so many bytes. A lone surrogate becomes U+FFFD, and so does what is no text.
pub(super) fn unescape(quoted: &[u8], limit: usize) -> String {
    let mut text = String::with_capacity(quoted.len().min(limit));
    let mut rest = quoted;
    loop {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        let (head, tail) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
        let head = lossy(head);
        let fitting = text::prefix(&head, limit - text.len());
        text.push_str(fitting);
        let Some((c, length)) = escape(tail) else { return text };
        if fitting.len() < head.len() || text.len() + c.len_utf8() > limit {
            return text;
        }
        text.push(c);
        rest = tail.get(length..).unwrap_or_default();
    }
}

/// Text, with U+FFFD for what is none. Checking is many times faster than looking for repairs.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The character of the escape that the text begins with, and the escape's length.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let c = match text.get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return Some(unicode_escape(text)),
        // The quote, the slash and the backslash stand for themselves.
        &byte => char::from(byte),
    };
    Some((c, 2))
}

fn unicode_escape(text: &[u8]) -> (char, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(high @ 0xd800..0xdc00), Some(low @ 0xdc00..0xe000)) => {
            let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        (unit, _) => (unit.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
    }
}

/// Counts without unescaping: every escape is one character, whatever its length.
pub(super) fn measure(quoted: &[u8]) -> Size {
    let mut chars = lossy(quoted).chars().count();
    let mut newlines = 0;
    let mut rest = quoted;
    let mut open_line = !quoted.is_empty();
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let tail = rest.get(at..).unwrap_or_default();
        let Some((c, length)) = escape(tail) else { break };
        chars = chars.saturating_sub(length - 1);
        rest = tail.get(length..).unwrap_or_default();
        if c == '\n' {
            newlines += 1;
            open_line = !rest.is_empty();
        }
    }
    Size { lines: newlines + u64::from(open_line), chars: u64::try_from(chars).unwrap_or(u64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    #[test]
    fn texts_are_measured_as_if_they_had_been_built() {
        for text in ["", "a", "a\n", "\n", "a\nb", "a\\nb", "\\", "\\\n", "é漢🎉\n\u{1}\"", "a\n\n"] {
            let json = serde_json::to_string(text).unwrap();
            let size = Size { lines: text.lines().count() as u64, chars: text.chars().count() as u64 };
            assert_eq!(Raw(json.as_bytes()).size(), size, "{json}");
        }
        assert_eq!(Raw(br#""\ud83c\udf89\u000a""#).size(), Size { lines: 1, chars: 2 });
        assert_eq!(Raw(b"7").size(), Size::default());
    }
}
