//! Lines as they are printed: each with its time if that is wanted, and coloured whole.

use crate::{Paint, Tone};
use ralph_core::text;

#[derive(Debug)]
pub struct Lines {
    paint: Paint,
    stamp: String,
    text: String,
}

impl Lines {
    /// No lines yet. `stamp` is the time to begin each with.
    pub fn new(paint: Paint, stamp: Option<String>) -> Lines {
        let stamp = stamp.map_or(String::new(), |time| format!("[{time}] "));
        Lines { paint, stamp, text: String::new() }
    }

    /// Adds a line. It is clean already: nothing in it may drive the terminal.
    pub fn add(&mut self, tone: Tone, line: &str) {
        let line = format!("{}{line}", self.stamp);
        let line = if line == self.stamp { line.trim_end() } else { &line };
        self.text.push_str(&self.paint.tone(tone, line));
        self.text.push('\n');
    }

    pub fn add_text(&mut self, tone: Tone, text: &str) {
        text.split('\n').for_each(|line| self.add(tone, line));
    }

    pub fn into_text(self) -> String {
        self.text
    }
}

/// The first line of a text from elsewhere, clean and not too long.
pub fn one_line(text: &str, chars: usize) -> String {
    let clean = text::for_terminal(text.lines().next().unwrap_or_default());
    shorten(&clean, chars)
}

pub fn shorten(line: &str, chars: usize) -> String {
    if line.chars().count() <= chars { line.to_owned() } else { text::cut(line, chars.saturating_sub(3), "...") }
}
