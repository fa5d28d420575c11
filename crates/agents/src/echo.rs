//! Dropping the prompt where an agent without a dialect prints it back.
//!
//! A prompt often names the very words that would claim completion, and many programs begin by
//! showing what they were asked. Lines that follow the prompt from its first line are held back; a
//! whole copy is dropped, and anything that turns out to be no copy is let go as what it is. Held
//! lines need no memory, because they equal the prompt's. Single lines of the prompt are never
//! dropped: an agent may well say what it was asked to say.

use crate::dialect::Told;
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::text;
use std::ops::Range;

#[derive(Debug)]
pub(crate) struct EchoFilter {
    prompt: Box<str>,
    /// The prompt's lines that are not blank. Programs add and lose blank lines when they print.
    lines: Vec<Range<usize>>,
    /// By how many lines matched: how many of the last of them begin a copy as well. With it a copy
    /// that begins inside a failed one is found in one pass (Knuth, Morris, Pratt).
    borders: Vec<usize>,
    /// Lines held back.
    matched: usize,
    /// Blank lines after the last one held back.
    blanks: usize,
    /// A prompt of one line was dropped once: from here on the same line is the agent's own.
    done: bool,
}

impl EchoFilter {
    /// A filter, unless the prompt holds nothing that could be taken for a claim.
    pub(crate) fn for_prompt(prompt: &str) -> Option<EchoFilter> {
        if !prompt.contains('<') {
            return None;
        }
        let mut lines = Vec::new();
        let mut start = 0;
        for line in prompt.split_inclusive('\n') {
            let end = start + line.trim_end().len();
            if end > start {
                lines.push(start..end);
            }
            start += line.len();
        }
        let mut filter =
            EchoFilter { prompt: prompt.into(), lines, borders: vec![0, 0], matched: 0, blanks: 0, done: false };
        let mut border = 0;
        for at in 1..filter.lines.len() {
            while border > 0 && filter.expected(border) != filter.expected(at) {
                border = filter.border(border);
            }
            border += usize::from(filter.expected(border) == filter.expected(at));
            filter.borders.push(border);
        }
        Some(filter)
    }

    /// Takes a line, and pushes what is known to be the agent's own.
    pub(crate) fn line(&mut self, line: &[u8], out: &mut Told) {
        if self.done {
            return push_text(line, out);
        }
        if self.matched > 0 && matches!(line.trim_ascii(), b"" | b">" | b"|") {
            self.blanks += 1;
            return;
        }
        let plain = plain(line);
        let compared = plain.as_deref().map_or(line, str::as_bytes);
        loop {
            if let Some(rest) = self.continues(compared) {
                if !rest.is_empty() {
                    push_text(rest, out);
                }
                return self.advance();
            }
            if self.matched == 0 {
                return push_text(line, out);
            }
            self.let_go(self.border(self.matched), out);
        }
    }

    /// The output ended: half a copy is no copy.
    pub(crate) fn end(&mut self, out: &mut Told) {
        if self.matched > 0 {
            self.let_go(0, out);
        }
    }

    fn advance(&mut self) {
        self.matched += 1;
        self.blanks = 0;
        if self.matched == self.lines.len() {
            self.matched = 0;
            self.done = self.lines.len() == 1;
        }
    }

    /// Whether the line is the next one of a copy; if so, what stands behind the copy on this line.
    /// Programs that print a prompt without a final newline go on in its last line.
    fn continues<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let expected = self.expected(self.matched)?;
        let line = line.trim_ascii();
        let unquoted = match line {
            [b'>' | b'|', b' ', rest @ ..] => rest.trim_ascii(),
            _ => line,
        };
        if line == expected || unquoted == expected {
            return Some(&[]);
        }
        if self.matched == 0 && unquoted.strip_suffix(expected).is_some_and(is_label) {
            return Some(&[]);
        }
        if self.matched + 1 == self.lines.len() {
            return line.strip_prefix(expected).or_else(|| unquoted.strip_prefix(expected));
        }
        None
    }

    /// Lets all held lines go but the last `kept`, which may still become a copy.
    fn let_go(&mut self, kept: usize, out: &mut Told) {
        let start = self.lines.first().map_or(0, |first| first.start);
        let end = match kept {
            0 => self.lines.get(self.matched.saturating_sub(1)).map(|last| last.end),
            _ => self.lines.get(self.matched.saturating_sub(kept)).map(|next| next.start),
        };
        let gone = self.prompt.get(start..end.unwrap_or(start)).unwrap_or_default();
        gone.lines().for_each(|line| push_text(line.as_bytes(), out));
        if kept == 0 {
            (0..std::mem::take(&mut self.blanks)).for_each(|_| push_text(&[], out));
        }
        self.matched = kept;
    }

    fn expected(&self, at: usize) -> Option<&[u8]> {
        self.prompt.get(self.lines.get(at)?.clone()).map(|line| line.as_bytes().trim_ascii())
    }

    fn border(&self, matched: usize) -> usize {
        self.borders.get(matched).copied().unwrap_or(0)
    }
}

/// Pushes a line of text with its newline: a piece of the one message that plain text is.
pub(crate) fn push_text(line: &[u8], out: &mut Told) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut text = String::with_capacity(line.len() + 1);
    match std::str::from_utf8(line) {
        Ok(line) => text.push_str(line),
        Err(_) => text.push_str(&String::from_utf8_lossy(line)),
    }
    text.push('\n');
    out.push(AgentEvent::Text { text, voice: Voice::Main, delta: true });
}

/// The line without colours, if it has any.
fn plain(line: &[u8]) -> Option<String> {
    memchr::memchr(0x1b, line).map(|_| text::without_controls(&String::from_utf8_lossy(line)))
}

/// Whether this is a name in front of a prompt: `User: `, `[user] `, `prompt> `. A phrase is none.
fn is_label(prefix: &[u8]) -> bool {
    let label = prefix.trim_ascii();
    // Longer than any role's name; a bound keeps ordinary sentences out.
    label.len() <= 24
        && label.last().is_some_and(|last| b":>]|".contains(last))
        && !label.iter().any(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(prompt: &str, output: &str) -> String {
        let mut filter = EchoFilter::for_prompt(prompt).unwrap();
        let mut out = Told::default();
        output.lines().for_each(|line| filter.line(line.as_bytes(), &mut out));
        filter.end(&mut out);
        out.drain(..)
            .map(|event| match event {
                AgentEvent::Text { text, voice: Voice::Main, .. } => text,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn b12_an_echoed_prompt_is_no_text() {
        let prompt = "# Task\n\n  Do it.\n<response>DONE</response>\n";
        for (output, text) in [
            ("# Task\n\n  Do it.\n<response>DONE</response>\nHello\n", "Hello\n"),
            ("Hi\n# Task\nDo it.\n\n\n<response>DONE</response>\r\nHello", "Hi\nHello\n"),
            ("> # Task\n>\n> Do it.\n> <response>DONE</response>\nHello", "Hello\n"),
            ("User: # Task\nDo it.\n<response>DONE</response>", ""),
            ("[user] # Task\nDo it.\n<response>DONE</response>", ""),
            ("\u{1b}[1mUser:\u{1b}[0m # Task\nDo it.\n<response>DONE</response>", ""),
            ("# Task\nDo it.\n<response>DONE</response>I am done", "I am done\n"),
            ("# Task\nDo it.\n<response>DONE</response>\n# Task\nDo it.\n<response>DONE</response>", ""),
        ] {
            assert_eq!(filtered(prompt, output), text, "{output}");
        }
    }

    #[test]
    fn what_is_no_whole_copy_is_the_agents_own() {
        let prompt = "# Task\n\nDo it.\n<response>DONE</response>\n";
        for output in [
            "<response>DONE</response>\n",
            "# Task\n\nDo it.\n",
            "# Task\n\n\nnever asked\n",
            "Do it.\n<response>DONE</response>\n",
            "All done, see # Task\nDo it.\n<response>DONE</response>\n",
            "\n\n",
        ] {
            assert_eq!(filtered(prompt, output), output);
        }
        let echo_then_claim = format!("{prompt}<response>DONE</response>\n");
        assert_eq!(filtered(prompt, &echo_then_claim), "<response>DONE</response>\n");
    }

    #[test]
    fn a_prompt_of_one_line_is_dropped_once() {
        let prompt = "<response>DONE</response>";
        assert_eq!(filtered(prompt, prompt), "");
        assert_eq!(filtered(prompt, &format!("{prompt}\n{prompt}\n")), format!("{prompt}\n"));
        assert_eq!(filtered(prompt, &format!("All done: {prompt}\n")), format!("All done: {prompt}\n"));
        assert_eq!(filtered(prompt, &format!("{prompt}{prompt}\n")), format!("{prompt}\n"));
    }

    #[test]
    fn a_copy_that_begins_inside_a_failed_one_is_found() {
        assert_eq!(filtered("a\na\n<b>", "a\na\na\n<b>\n"), "a\n");
        assert_eq!(filtered("a\nb\na\nb\n<c>", "a\nb\na\nb\na\nb\n<c>\nx"), "a\nb\nx\n");
        assert_eq!(filtered("a\n\na\n<b>", "a\n\na\n\na\n"), "a\n\na\n\na\n");
    }

    #[test]
    fn a_prompt_without_a_tag_needs_no_filter() {
        assert!(EchoFilter::for_prompt("Do it.\nThen stop.").is_none());
        assert!(EchoFilter::for_prompt("").is_none());
    }
}
