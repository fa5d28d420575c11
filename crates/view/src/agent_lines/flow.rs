//! Text that comes in pieces, put together to lines: the status line would wipe away half a line.

use ralph_core::text::TerminalText;

/// A line longer than this is let go unfinished, so that text without a newline needs no memory.
const LONGEST: usize = 16 << 10;

#[derive(Debug, Default)]
pub struct Flow {
    clean: TerminalText,
    held: String,
}

impl Flow {
    /// Takes a piece and gives the lines that it makes whole, without the last newline.
    pub fn feed(&mut self, piece: &str) -> Option<String> {
        self.held.push_str(&self.clean.feed(piece));
        let end = self.held.rfind('\n');
        if end.is_none() && self.held.len() > LONGEST {
            return Some(std::mem::take(&mut self.held));
        }
        let rest = self.held.split_off(end? + 1);
        let mut lines = std::mem::replace(&mut self.held, rest);
        lines.pop();
        Some(lines)
    }

    pub fn end(&mut self) -> Option<String> {
        self.clean = TerminalText::default();
        Some(std::mem::take(&mut self.held)).filter(|rest| !rest.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o02_pieces_make_the_same_lines_wherever_they_are_cut() {
        let text = "one \u{1b}[2Jtwo\nthr\u{1b}]0;title\u{7}ee é漢\n\nlast";
        for cut in (0..=text.len()).filter(|&cut| text.is_char_boundary(cut)) {
            let mut flow = Flow::default();
            let (head, tail) = text.split_at(cut);
            let lines: Vec<String> = [flow.feed(head), flow.feed(tail), flow.end()].into_iter().flatten().collect();
            assert_eq!(lines.join("\n"), "one two\nthree é漢\n\nlast", "cut at {cut}");
        }
    }

    #[test]
    fn b01_text_without_a_newline_needs_no_memory() {
        let mut flow = Flow::default();
        let mut shown = 0;
        for _ in 0..100_000 {
            shown += flow.feed("漢字").map_or(0, |line| line.len());
            assert!(flow.held.len() <= LONGEST);
        }
        assert_eq!(shown + flow.end().map_or(0, |line| line.len()), 600_000);
    }

    #[test]
    fn a_sequence_that_never_ends_is_over_with_its_message() {
        let mut flow = Flow::default();
        assert_eq!((flow.feed("a\u{1b}]0;"), flow.feed("hidden"), flow.end()), (None, None, Some("a".to_owned())));
        assert_eq!((flow.feed("seen"), flow.end()), (None, Some("seen".to_owned())));
        assert_eq!(flow.end(), None);
    }
}
