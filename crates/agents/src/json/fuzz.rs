//! The cursor beside serde_json, on any bytes: for the fuzz target `stream` and for a test of the same.

use super::{Cursor, Raw, read};
use serde::de::IgnoredAny;

/// What both call JSON is the same, and so are the strings in it.
pub(crate) fn beside_serde_json(bytes: &[u8]) {
    let mut cursor = Cursor::new(bytes);
    let is_json = cursor.skip().is_some() && cursor.peek().is_none();
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // Deeper than either follows, there is nothing to compare.
    if bytes.iter().filter(|byte| matches!(byte, b'[' | b'{')).count() >= 128 {
        return;
    }
    let theirs = serde_json::from_str::<IgnoredAny>(text).is_ok();
    // Strings may hold control characters here, and not there.
    let allows_more = bytes.iter().any(|byte| *byte < b' ');
    assert!(is_json == theirs || (is_json && allows_more), "{is_json} {theirs}");
    if let Ok(string) = serde_json::from_str::<String>(text) {
        let raw = read::<Raw<'_>>(bytes);
        assert_eq!(raw.map(Raw::text), Some(string.clone()));
        assert_eq!(raw.map(|raw| raw.size().chars), Some(string.chars().count() as u64));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_line_is_json_here_if_it_is_for_serde_json() {
        ralph_testkit::fuzz("stream", 20_000, super::beside_serde_json);
    }
}
