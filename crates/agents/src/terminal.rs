//! What terminals are told between the lines of a stream: colours, titles, cursor moves, and halves of them. Nothing
//! else may stand before an object: one that follows words is one that somebody mentions.

const MARK: &[u8] = "\u{feff}".as_bytes();

/// The text from its first byte on that neither is blank nor tells a terminal something.
pub(crate) fn behind(mut text: &[u8]) -> &[u8] {
    loop {
        text = match text {
            [0x1b, rest @ ..] => behind_escape(rest),
            // The same sequences, begun by one byte of eight bits or by that character in UTF-8.
            [byte @ 0x80..=0x9f, rest @ ..] | [0xc2, byte @ 0x80..=0x9f, rest @ ..] => {
                behind_introducer(byte - 0x40, rest)
            }
            [byte, rest @ ..] if byte.is_ascii_control() || *byte == b' ' => rest,
            _ if text.starts_with(MARK) => text.get(MARK.len()..).unwrap_or_default(),
            _ => return text,
        };
    }
}

/// The text behind the next place where something begins to be written over: a carriage return, or a sequence that
/// erases the line or goes back to its beginning. Spinners stand before such places.
pub(crate) fn behind_overwritten(text: &[u8]) -> Option<&[u8]> {
    let starts_over = |rest: &&[u8]| match rest {
        [0x1b, b'[', rest @ ..] => {
            let parameters = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            matches!(rest.get(parameters), Some(b'K' | b'G'))
        }
        rest => rest.first() == Some(&b'\r'),
    };
    memchr::memchr2_iter(b'\r', 0x1b, text).filter_map(|at| text.get(at..)).find(starts_over)
}

fn behind_escape(text: &[u8]) -> &[u8] {
    match text {
        [byte @ (b'[' | b']' | b'P' | b'X' | b'^' | b'_'), rest @ ..] => behind_introducer(*byte, rest),
        // A key, or one character of another set.
        [b'N' | b'O', byte, rest @ ..] if byte.is_ascii_alphanumeric() => rest,
        _ => {
            let between = text.iter().take_while(|byte| (0x20..0x30).contains(*byte)).count();
            last_of_sequence(text.get(between..).unwrap_or_default())
        }
    }
}

/// What follows the byte that says which kind of sequence it is, as it is written behind an escape.
fn behind_introducer(kind: u8, text: &[u8]) -> &[u8] {
    match kind {
        b'[' => {
            let inner = text.iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
            last_of_sequence(text.get(inner..).unwrap_or_default())
        }
        b']' | b'P' | b'X' | b'^' | b'_' => behind_string(text),
        _ => text,
    }
}

/// The text behind the byte that ends a sequence. No sequence in use ends with a brace, and none with a bracket before
/// one: there stands an object, behind half a sequence.
fn last_of_sequence(text: &[u8]) -> &[u8] {
    match text {
        [b'{', ..] | [b'[', b'{', ..] => text,
        [0x30..=0x7e, rest @ ..] => rest,
        _ => text,
    }
}

/// The text behind a title or another string; behind half of one, from the first object on.
fn behind_string(text: &[u8]) -> &[u8] {
    // Inside a character of UTF-8 the byte 0x9c ends nothing.
    let is_apart = |at: usize| {
        at.checked_sub(1).and_then(|before| text.get(before)).is_none_or(|byte| *byte < 0x80 || *byte == 0xc2)
    };
    let end = (0..text.len()).find(|&at| match text.get(at) {
        Some(0x07 | 0x1b) => true,
        Some(0x9c) => is_apart(at),
        _ => false,
    });
    let whole = end.and_then(|at| match text.get(at..)? {
        [0x07 | 0x9c, rest @ ..] | [0x1b, b'\\', rest @ ..] => Some(rest),
        _ => None,
    });
    whole.unwrap_or_else(|| {
        let object = memchr::memchr(b'{', text).unwrap_or(text.len()).min(end.unwrap_or(text.len()));
        let (title, object) = text.split_at_checked(object).unwrap_or_default();
        // The bracket of a list of objects.
        if title.ends_with(b"[") { text.get(title.len() - 1..).unwrap_or_default() } else { object }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_sequences_and_halves_are_passed_over() {
        for before in [
            "", " \t\0\r", "\u{feff}", "\x1b[31m", "\x1b[0;1;38;5;200m", "\x1b[?25l\x1b[2K\x1b[1G", "\x1b[200~",
            "\x1b[201~", "\x1b[H\x1b[2J", "\x1b]0;a title\x07", "\x1b]8;;https://x\x1b\\", "\x1b]0;{\"a\":1}\x07",
            "\x1bP1$r0m\x1b\\", "\x1b_Gf=100;AAAA\x1b\\", "\x1b(B", "\x1b)0", "\x1b=", "\x1b>", "\x1b7\x1b8", "\x1bOA",
            "\x1bc", "\u{9b}31m", "\u{9d}0;title\u{9c}", "\x1b", "\x1b[", "\x1b[31", "\x1b[3;", "\x1b]0;half a title",
            "\x1b]", "\x1b(", "\x1b]0;half\x1b[0m", "\x07\x08\x7f",
        ] {
            let text = format!("{before}{{\"a\":1}}");
            assert_eq!(behind(text.as_bytes()), b"{\"a\":1}", "{before:?}");
        }
        assert_eq!(behind(b"\x9b31m\x9d0;x\x9c{}"), b"{}");
        assert_eq!(behind("\x1b]0;✓ done {}\x07{\"a\":1}".as_bytes()), b"{\"a\":1}");
        for before in ["\x1b[31m", "\x1b[31", "\x1b(", "\u{9b}", "\x1b]0;half a title"] {
            assert_eq!(behind(format!("{before}[{{}}]").as_bytes()), b"[{}]", "{before:?}");
        }
        for words in ["log {}", "data: {}", "31m{}", "\u{e9}{}"] {
            assert_eq!(behind(words.as_bytes()), words.as_bytes());
        }
    }

    #[test]
    fn what_is_written_over_ends_where_the_line_begins_again() {
        for text in ["⠋ at work\r{}", "⠋ at work\x1b[2K{}", "⠙ x\x1b[1G{}", "half {\"a\r\x1b[K{}"] {
            let rest = behind_overwritten(text.as_bytes()).map(behind);
            assert_eq!(rest, Some(&b"{}"[..]), "{text:?}");
        }
        assert_eq!(behind_overwritten(b"log {} \x1b[31m{}"), None);
    }
}
