//! Cutting, cleaning and hashing text that came from somewhere else.
//!
//! Nothing here knows what the text means. The rules are: never cut inside a character, never let a
//! control sequence through, always say when something was left out.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// What seed users expect behind text that was cut.
pub const TRUNCATED: &str = "... [truncated]";

/// The first `limit` characters, followed by `... [truncated]` only if something was cut.
pub fn truncate(text: &str, limit: usize) -> String {
    cut(text, limit, TRUNCATED)
}

/// The first `limit` characters, followed by `mark` only if something was cut.
pub fn cut(text: &str, limit: usize, mark: &str) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}{mark}", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The longest prefix of `text` that is at most `bytes` long and ends between characters.
pub fn prefix(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default()
}

/// The longest suffix of `text` that is at most `bytes` long and begins between characters.
pub fn suffix(text: &str, bytes: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(bytes))..).unwrap_or_default()
}

/// Removes control characters other than newline and tab, and whole escape sequences with them.
pub fn without_controls(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut state = Escape::None;
    for c in text.chars() {
        state = state.next(c, |c| clean.push(c));
    }
    clean
}

/// Makes agent text safe for a terminal: escape sequences and other controls vanish, and characters
/// that reorder or hide text are shown by their number.
pub fn for_terminal(text: &str) -> String {
    TerminalText::default().feed(text)
}

/// The same for text that comes in pieces: a sequence may begin in one and end in another. Nothing is
/// held back but where in a sequence the last piece ended.
#[derive(Debug, Default)]
pub struct TerminalText {
    state: Escape,
}

impl TerminalText {
    /// The next piece, made safe.
    pub fn feed(&mut self, piece: &str) -> String {
        let harmless = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
        if self.state == Escape::None && piece.bytes().all(harmless) {
            return piece.to_owned();
        }
        let mut clean = String::with_capacity(piece.len());
        for c in piece.chars() {
            self.state = self.state.next(c, |c| {
                if misleads(c) {
                    let _ = write!(clean, "⟨U+{:04X}⟩", c as u32);
                } else {
                    clean.push(c);
                }
            });
        }
        clean
    }
}

/// Whether a character reorders the text around it, breaks its line, or cannot be seen.
pub(crate) fn misleads(c: char) -> bool {
    match c {
        // Emoji sequences need the joiner; it can hide nothing by itself.
        '\u{200d}' => false,
        '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// Where in an escape sequence the cleaner stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Escape {
    #[default]
    None,
    /// After ESC.
    Begun,
    /// After ESC [ or C1 CSI: parameters until a letter.
    Csi,
    /// After ESC ], P, X, ^, _: a string until BEL or ESC \.
    String,
    /// An ESC inside such a string.
    StringEnding,
}

impl Escape {
    fn next(self, c: char, mut keep: impl FnMut(char)) -> Escape {
        match (self, c) {
            (Escape::StringEnding, '\\') | (Escape::String, '\u{7}' | '\u{9c}') => Escape::None,
            // A newline ends an unterminated string, so that one bad sequence cannot swallow a log.
            (Escape::String | Escape::StringEnding | Escape::Csi | Escape::Begun, '\n') => {
                keep('\n');
                Escape::None
            }
            (Escape::String | Escape::StringEnding, '\u{1b}') => Escape::StringEnding,
            (Escape::String | Escape::StringEnding, _) => Escape::String,
            (Escape::Begun, '[') => Escape::Csi,
            (Escape::Begun, ']' | 'P' | 'X' | '^' | '_') => Escape::String,
            (Escape::Begun, ' '..='/') => Escape::Begun,
            (Escape::Begun, '\u{1b}') => Escape::Begun,
            (Escape::Begun, _) => Escape::None,
            (Escape::Csi, ' '..='?') => Escape::Csi,
            (Escape::Csi, _) => Escape::None,
            (Escape::None, '\u{1b}') => Escape::Begun,
            (Escape::None, '\u{9b}') => Escape::Csi,
            (Escape::None, '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => Escape::String,
            (Escape::None, c) => {
                if !c.is_control() || c == '\n' || c == '\t' {
                    keep(c);
                }
                Escape::None
            }
        }
    }
}

/// JSON as one line in everybody's eyes: U+0085, U+2028 and U+2029 need no escape in JSON, and end a line for many
/// readers of text. They can stand in strings only, where an escape means the same.
pub fn json_line(json: String) -> String {
    if !json.contains(LINE_ENDS) {
        return json;
    }
    LINE_ENDS.iter().fold(json, |json, &end| json.replace(end, &format!("\\u{:04x}", end as u32)))
}

/// Characters beside the newline that end a line for some readers.
pub const LINE_ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// SHA-256 as lower-case hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Eight hexadecimal digits of the hash, for names.
pub fn short_hash(bytes: &[u8]) -> String {
    hash(bytes).get(..8).unwrap_or_default().to_owned()
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What [`hex`] wrote.
pub fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).unwrap_or_default();
    text.as_bytes().chunks(2).map(|pair| pair.iter().fold(0, |sum, byte| (sum << 4) | digit(*byte))).collect()
}

/// `1 iteration`, `2 iterations`.
pub fn count(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// An amount of money without its sign: in cents, unless that would make another amount of a small one.
pub fn money(amount: f64) -> String {
    /// Less than any price of a single token.
    const MOST_DIGITS: usize = 12;
    let shown = |digits: usize| format!("{amount:.digits$}");
    // Off by more than a twentieth, it would be another amount.
    let is_near = |text: &String| text.parse().is_ok_and(|told: f64| (told - amount).abs() <= amount.abs() / 20.0);
    (2..MOST_DIGITS).map(shown).find(is_near).unwrap_or_else(|| shown(MOST_DIGITS))
}

/// A word in quotes, as a POSIX shell takes it whole.
pub fn in_quotes(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b05_cuts_never_fall_inside_a_character() {
        let text = "aé漢🎉b";
        for limit in 0..8 {
            assert!(truncate(text, limit).starts_with(&text.chars().take(limit).collect::<String>()));
        }
        for bytes in 0..=text.len() + 1 {
            assert!(text.starts_with(prefix(text, bytes)));
            assert!(text.ends_with(suffix(text, bytes)));
        }
        assert_eq!(truncate("exact1", 5), "exact... [truncated]");
        assert_eq!(truncate("exact", 5), "exact");
        assert_eq!(truncate("", 5), "");
    }

    #[test]
    fn money_is_told_in_cents_unless_it_is_less() {
        for (amount, told) in [
            (0.0, "0.00"),
            (12.5, "12.50"),
            (0.126, "0.13"),
            (0.015, "0.015"),
            (0.0123, "0.012"),
            (0.000_001, "0.000001"),
            (f64::MIN_POSITIVE, "0.000000000000"),
        ] {
            assert_eq!(money(amount), told);
        }
    }

    #[test]
    fn json_is_one_line_in_everybodys_eyes() {
        let told = "a\u{85}b\u{2028}c\u{2029}d\ne\u{2027}";
        let line = json_line(serde_json::to_string(told).unwrap_or_default());
        assert_eq!(line, "\"a\\u0085b\\u2028c\\u2029d\\ne\u{2027}\"");
        assert_eq!(serde_json::from_str::<String>(&line).ok().as_deref(), Some(told));
        for end in LINE_ENDS {
            assert!(!for_terminal(&format!("a{end}b")).contains(end));
        }
    }

    #[test]
    fn control_sequences_do_not_survive() {
        for (dirty, clean) in [
            ("a\u{1b}[31mb\u{1b}[0m", "ab"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]52;c;aGk=\u{1b}\\y", "y"),
            ("one\rtwo\u{8}", "onetwo"),
            ("keep\ttabs\nand lines", "keep\ttabs\nand lines"),
            ("\u{1b}]never ended\nnext", "\nnext"),
            ("\u{9b}31mred", "red"),
        ] {
            assert_eq!(without_controls(dirty), clean);
            assert_eq!(for_terminal(dirty), clean);
        }
        for c in ['\u{202e}', '\u{2066}', '\u{2069}', '\u{61c}', '\u{200b}', '\u{2028}', '\u{feff}', '\u{e0041}'] {
            assert_eq!(for_terminal(&format!("a{c}b")), format!("a⟨U+{:04X}⟩b", c as u32));
        }
        assert_eq!(for_terminal("⏸️ 👩‍💻"), "⏸️ 👩‍💻", "emoji need their joiners");
    }

    #[test]
    fn o02_sequences_do_not_survive_wherever_the_text_is_cut() {
        let dirty = "a\u{1b}[31mb\u{1b}]52;c;aGk=\u{1b}\\c\u{9b}2Jd\u{1b}Pq\u{1b}\\e\u{1b}]0;never\nf\rg";
        for first in 0..=dirty.len() {
            for second in first..=dirty.len() {
                let pieces = (dirty.get(..first), dirty.get(first..second), dirty.get(second..));
                let (Some(head), Some(middle), Some(tail)) = pieces else { continue };
                let mut text = TerminalText::default();
                let clean: String = [head, middle, tail].iter().map(|piece| text.feed(piece)).collect();
                assert_eq!(clean, "abcde\nfg", "cut at {first} and {second}");
            }
        }
    }
}
