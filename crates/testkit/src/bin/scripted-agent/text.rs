//! Reading the words of a line: escapes, variables, numbers, durations, sizes.

use std::str::FromStr;
use std::time::Duration;

use crate::actions::Stop;

/// The first word and what follows the one space after it.
pub fn split_word(line: &str) -> (&str, &str) {
    line.split_once(' ').unwrap_or((line, ""))
}

/// A whole number.
pub fn number<T: FromStr>(word: &str) -> Result<T, Stop> {
    word.trim().parse().map_err(|_| Stop::Wrong(format!("not a number: {word:?}")))
}

/// `250ms`, `2s`, `1m`.
pub fn duration(word: &str) -> Result<Duration, Stop> {
    let word = word.trim();
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let amount: u64 = number(digits)?;
    match word.get(digits.len()..) {
        Some("ms") => Ok(Duration::from_millis(amount)),
        Some("s") => Ok(Duration::from_secs(amount)),
        Some("m") => Ok(Duration::from_secs(amount * 60)),
        _ => Err(Stop::Wrong(format!("not a duration: {word:?}"))),
    }
}

/// `500`, `64k`, `100m`, `2g`; powers of 1024.
pub fn size(word: &str) -> Result<u64, Stop> {
    let word = word.trim();
    let (digits, shift) = match word.as_bytes().last() {
        Some(b'k') => (&word[..word.len() - 1], 10),
        Some(b'm') => (&word[..word.len() - 1], 20),
        Some(b'g') => (&word[..word.len() - 1], 30),
        _ => (word, 0),
    };
    Ok(number::<u64>(digits)? << shift)
}

/// `\n \t \r \e \0 \xHH \\`; anything else after a backslash is a mistake.
pub fn unescape(text: &str) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'e') => 0x1b,
            Some(b'0') => 0,
            Some(b'\\') => b'\\',
            Some(b'x') => hex(rest.next(), rest.next()).ok_or_else(|| wrong_escape(text))?,
            _ => return Err(wrong_escape(text)),
        });
    }
    Ok(bytes)
}

/// Replaces `$NAME` and `${NAME}` by the environment; an unset name is a mistake, never an empty path.
pub fn expand(text: &str) -> Result<String, Stop> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (name, tail) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some(braced) => braced,
            None => after.split_at(after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len())),
        };
        out.push_str(&std::env::var(name).map_err(|_| Stop::Wrong(format!("${name} is not set: {text}")))?);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

fn hex(high: Option<u8>, low: Option<u8>) -> Option<u8> {
    let digit = |byte: Option<u8>| (byte? as char).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

fn wrong_escape(text: &str) -> Stop {
    Stop::Wrong(format!("wrong escape in {text:?}"))
}
