//! Colour by meaning, from the sixteen that every terminal has, and always beside a word.

use super::render::Marks;
use std::io::IsTerminal;

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal that can, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What a line means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// What somebody says.
    Plain,
    /// The beginning of something.
    Head,
    /// What matters less.
    Dim,
    /// It went well.
    Good,
    /// It failed.
    Bad,
    /// It waits, or is going on.
    Waiting,
}

/// A brush that may be dry.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    on: bool,
    marks: Marks,
}

impl Paint {
    /// A brush for an end. A choice is a choice: only where there is none does `colorless` count.
    pub fn for_end(choice: ColorChoice, end: &impl IsTerminal, colorless: bool) -> Paint {
        Paint {
            on: match choice {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => end.is_terminal() && !colorless,
            },
            marks: Marks::Emoji,
        }
    }

    /// The same with other marks.
    pub fn with(self, marks: Marks) -> Paint {
        Paint { marks, ..self }
    }

    /// What stands before a check by how it went.
    pub fn check(self, passed: bool) -> String {
        if passed { self.green(self.mark(true)) } else { self.red(self.mark(false)) }
    }

    /// The same without colour.
    pub fn mark(self, passed: bool) -> &'static str {
        if passed { self.marks.passed() } else { self.marks.failed() }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// A whole line by its meaning.
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

    /// Heads.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// What matters less.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// Good.
    pub fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Bad.
    pub fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// Waiting, or not certain.
    pub fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// Something to type.
    pub fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }
}
