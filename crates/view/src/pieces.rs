//! Text that comes as pieces of bytes, made safe for a terminal: a log may be larger than memory.

use ralph_core::text::TerminalText;

/// Cuts bytes into text at line ends, so that no character is cut, and makes it safe for a terminal; a
/// line that is longer than can be held is let go between characters.
#[derive(Debug, Default)]
pub struct Pieces {
    held: Vec<u8>,
    clean: TerminalText,
}

/// How much of a line without an end is held.
const HELD: usize = 256 << 10;

impl Pieces {
    pub fn feed(&mut self, bytes: &[u8]) -> String {
        // What is held has no line end, so only what is new is searched.
        let end = bytes.iter().rposition(|&byte| byte == b'\n').map(|newline| self.held.len() + newline + 1);
        self.held.extend_from_slice(bytes);
        let end = match end {
            Some(end) => end,
            None if self.held.len() < HELD => 0,
            None => self.held.len() - unfinished(&self.held),
        };
        let rest = self.held.split_off(end);
        let ready = std::mem::replace(&mut self.held, rest);
        self.clean.feed(&String::from_utf8_lossy(&ready))
    }

    pub fn finish(&mut self) -> String {
        let Pieces { held, mut clean } = std::mem::take(self);
        clean.feed(&String::from_utf8_lossy(&held))
    }
}

/// How many bytes at the end begin a character that is not whole yet.
fn unfinished(bytes: &[u8]) -> usize {
    let starts_one = |&byte: &u8| byte >= 0b1100_0000;
    let back = bytes.iter().rev().take(3).position(starts_one).map_or(0, |at| at + 1);
    let tail = bytes.get(bytes.len() - back..).unwrap_or_default();
    if std::str::from_utf8(tail).is_ok() { 0 } else { back }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b01_a_log_without_a_line_end_passes_in_bounded_memory() {
        let mut pieces = Pieces::default();
        let log = "aé漢🎉".repeat(100_000).into_bytes();
        let mut shown = String::new();
        for piece in log.chunks(7) {
            shown.push_str(&pieces.feed(piece));
            assert!(pieces.held.len() <= HELD);
        }
        shown.push_str(&pieces.finish());
        assert_eq!(shown.into_bytes(), log, "no character was cut");
    }

    #[test]
    fn o02_a_sequence_longer_than_can_be_held_does_not_get_through() {
        let mut pieces = Pieces::default();
        let log = format!("a\u{1b}]0;{}\u{7}b\n", "x".repeat(2 * HELD));
        let shown: String = log.as_bytes().chunks(1000).map(|chunk| pieces.feed(chunk)).collect();
        assert_eq!(shown, "ab\n");
    }
}
