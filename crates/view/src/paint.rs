//! Colour by meaning, from the sixteen that every terminal has, and always beside a word.

use crate::{Mark, Marks};
use anstyle::{AnsiColor, Style};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Head,
    Dim,
    Good,
    Bad,
    /// It waits, or is going on.
    Waiting,
}

/// Colours and marks for one end: a terminal, a pipe or a file. By default there is no colour.
#[derive(Debug, Clone, Copy, Default)]
pub struct Paint {
    pub on: bool,
    pub marks: Marks,
}

impl Paint {
    pub fn check(self, passed: bool) -> String {
        if passed { self.green(self.mark(true)) } else { self.red(self.mark(false)) }
    }

    /// The mark before a check, without colour.
    pub fn mark(self, passed: bool) -> &'static str {
        if passed { self.marks.of(Mark::CheckPassed) } else { self.marks.of(Mark::CheckFailed) }
    }

    fn wrap(self, style: impl Into<Style>, text: &str) -> String {
        let style = style.into();
        if self.on { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    pub fn tone(self, tone: Tone, line: &str) -> String {
        match tone {
            Tone::Plain => line.to_owned(),
            _ if line.is_empty() => String::new(),
            Tone::Head => self.bold(line),
            Tone::Dim => self.dim(line),
            Tone::Good => self.green(line),
            Tone::Bad => self.red(line),
            Tone::Waiting => self.yellow(line),
        }
    }

    pub fn bold(self, text: &str) -> String {
        self.wrap(Style::new().bold(), text)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap(Style::new().dimmed(), text)
    }

    pub fn green(self, text: &str) -> String {
        self.wrap(AnsiColor::Green.on_default(), text)
    }

    pub fn red(self, text: &str) -> String {
        self.wrap(AnsiColor::Red.on_default(), text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.wrap(AnsiColor::Yellow.on_default(), text)
    }

    pub fn cyan(self, text: &str) -> String {
        self.wrap(AnsiColor::Cyan.on_default(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_the_sequence_that_every_terminal_knows() {
        let paint = Paint { on: true, marks: Marks::Words };
        assert_eq!(paint.bold("a") + &paint.dim("b"), "\u{1b}[1ma\u{1b}[0m\u{1b}[2mb\u{1b}[0m");
        assert_eq!(paint.check(true), "\u{1b}[32m[OK]\u{1b}[0m");
        assert_eq!(paint.red("x") + &paint.yellow("y"), "\u{1b}[31mx\u{1b}[0m\u{1b}[33my\u{1b}[0m");
        assert_eq!(Paint::default().cyan("x"), "x");
    }
}
