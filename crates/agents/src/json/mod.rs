//! Reading JSON that somebody else shapes and changes: a dialect names the fields it reads, and one of another type is
//! absent. Strings stay as they are in the line until somebody wants them: megabytes are measured, not copied.

mod cursor;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod shape;
mod string;

pub(crate) use cursor::{Cursor, Value};
pub(crate) use shape::{Entries, Fields, List, Loose, fields};
pub(crate) use string::Size;
use string::{measure, unescape};

/// Reads a text that is one value from its beginning to its end.
pub(crate) fn read<'a, T: Value<'a> + Default>(text: &'a (impl AsRef<[u8]> + ?Sized)) -> Option<T> {
    let (mut value, mut cursor) = (T::default(), Cursor::new(text.as_ref()));
    value.take(&mut cursor)?;
    cursor.peek().is_none().then_some(value)
}

/// Any value, as it stands in the line; empty if there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a [u8]);

impl<'a> Value<'a> for Raw<'a> {
    fn take(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        self.0 = cursor.skip()?;
        Some(())
    }
}

impl<'a> Raw<'a> {
    pub(crate) fn json(self) -> &'a [u8] {
        self.0
    }

    /// Whether there is nothing, or `null`.
    pub(crate) fn is_absent(self) -> bool {
        matches!(self.0, b"" | b"null")
    }

    pub(crate) fn is_true(self) -> bool {
        self.0 == b"true"
    }

    /// The string as it is written, for words that need no escapes; empty for anything else.
    pub(crate) fn word(self) -> &'a str {
        self.quoted().and_then(|quoted| std::str::from_utf8(quoted).ok()).unwrap_or_default()
    }

    pub(crate) fn is(self, word: &str) -> bool {
        self.quoted() == Some(word.as_bytes())
    }

    /// The number, which may be infinite if it was too large.
    pub(crate) fn number(self) -> Option<f64> {
        // Only what JSON calls a number: `parse` would also take `inf` and `nan`.
        let number = std::str::from_utf8(self.0).ok()?;
        number.starts_with(|c: char| c == '-' || c.is_ascii_digit()).then(|| number.parse().ok()).flatten()
    }

    /// The string, or a number or truth value as it is written; empty for anything else.
    pub(crate) fn text(self) -> String {
        self.text_within(usize::MAX)
    }

    /// As [`Raw::text`], but no more than about so many bytes; never cut inside a character.
    pub(crate) fn text_within(self, bytes: usize) -> String {
        match self.quoted() {
            Some(quoted) => unescape(quoted, bytes),
            None if self.is_absent() || matches!(self.0, [b'{' | b'[', ..]) => String::new(),
            // What is no string, but JSON, needs no escapes either.
            None => unescape(self.0, bytes),
        }
    }

    /// How long the string is, without building it.
    pub(crate) fn size(self) -> Size {
        match self.quoted() {
            Some(quoted) => measure(quoted),
            None => Size::default(),
        }
    }

    fn quoted(self) -> Option<&'a [u8]> {
        self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b04_strings_are_unescaped_and_lone_surrogates_replaced() {
        for (json, text) in [
            (r#""plain""#, "plain"),
            (r#""a\n\t\"\\\/\r\b\f""#, "a\n\t\"\\/\r\u{8}\u{c}"),
            (r#""\u00e9 \ud83c\udf89 é""#, "é 🎉 é"),
            (r#""\ud800 x""#, "\u{fffd} x"),
            (r#""\udc00\ud83c""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83c\ud83c\udf89""#, "\u{fffd}🎉"),
            (r#""\u0000""#, "\0"),
            ("42", "42"),
            ("true", "true"),
            ("null", ""),
            ("{}", ""),
            ("[\"a\"]", ""),
        ] {
            assert_eq!(Raw(json.as_bytes()).text(), text, "{json}");
            for limit in 0..text.len() + 2 {
                let cut = Raw(json.as_bytes()).text_within(limit);
                assert!(
                    cut.len() <= limit && text.starts_with(&cut) && text.len().min(limit) < cut.len() + 4,
                    "{json}"
                );
            }
        }
    }

    #[test]
    fn only_numbers_are_numbers() {
        assert_eq!(Raw(b"-1.5e1").number(), Some(-15.0));
        assert_eq!(Raw(b"1e999").number(), Some(f64::INFINITY));
        for raw in ["\"1\"", "null", "", "true", "inf", "[]"] {
            assert_eq!(Raw(raw.as_bytes()).number(), None, "{raw}");
        }
    }
}
