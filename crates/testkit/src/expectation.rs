//! What a test states about the end of a run, and the comparison.
//!
//! In stated text `[..]` stands for anything within one line, and the environment's folders are
//! `[PROJECT]`, `[STATE]`, `[HOME]` and `[ROOT]`: run ids, times and temporary paths differ from run to
//! run, everything else is compared to the letter.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Everything stated about one run.
#[derive(Debug, Clone, Default)]
pub struct Expectation {
    /// About stdout.
    pub stdout: Stated,
    /// About stderr.
    pub stderr: Stated,
    /// How it ends.
    pub end: End,
}

/// What is stated about a stream.
#[derive(Debug, Clone, Default)]
pub enum Stated {
    /// Nothing: then nothing may be printed.
    #[default]
    Nothing,
    /// The whole text.
    Exactly(String),
    /// Parts that occur and parts that do not.
    Parts {
        /// Each of these occurs.
        has: Vec<String>,
        /// None of these does.
        lacks: Vec<String>,
    },
}

/// How a process ends.
#[derive(Debug, Clone, Copy)]
pub enum End {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// In any way.
    Any,
}

impl Default for End {
    fn default() -> End {
        End::Code(0)
    }
}

impl Stated {
    /// Adds a part that occurs.
    pub fn has(&mut self, text: &str) {
        self.parts().0.push(text.to_owned());
    }

    /// Adds a part that does not occur.
    pub fn lacks(&mut self, text: &str) {
        self.parts().1.push(text.to_owned());
    }

    /// Allows anything that is not otherwise stated.
    pub fn any(&mut self) {
        self.parts();
    }

    fn parts(&mut self) -> (&mut Vec<String>, &mut Vec<String>) {
        if !matches!(self, Stated::Parts { .. }) {
            *self = Stated::Parts { has: Vec::new(), lacks: Vec::new() };
        }
        match self {
            Stated::Parts { has, lacks } => (has, lacks),
            _ => unreachable!("just made so"),
        }
    }

    /// What is wrong with the stream, if anything; `normalise` names the folders in both texts.
    pub fn complaint(&self, stream: &str, actual: &str, normalise: impl Fn(&str) -> String) -> Option<String> {
        let actual = normalise(actual);
        match self {
            Stated::Nothing if actual.is_empty() => None,
            Stated::Nothing => Some(format!("{stream} is not empty and nothing was stated about it")),
            Stated::Exactly(text) => {
                let text = normalise(text);
                (!matches_exactly(&text, &actual)).then(|| format!("{stream} is not as stated:\n{text}"))
            }
            Stated::Parts { has, lacks } => {
                let missing = has.iter().find(|text| !occurs(&normalise(text), &actual));
                let unwanted = lacks.iter().find(|text| occurs(&normalise(text), &actual));
                let missing = missing.map(|text| format!("{stream} lacks: {text}"));
                missing.or_else(|| unwanted.map(|text| format!("{stream} should lack: {text}")))
            }
        }
    }
}

impl End {
    /// What is wrong with the end, if anything.
    pub fn complaint(self, status: ExitStatus) -> Option<String> {
        let right = match self {
            End::Code(code) => status.code() == Some(code),
            End::Signal(signal) => status.signal() == Some(signal),
            End::Any => true,
        };
        (!right).then(|| format!("it ended with {status}, stated was {self:?}"))
    }
}

fn matches_exactly(pattern: &str, text: &str) -> bool {
    let (patterns, lines): (Vec<&str>, Vec<&str>) = (pattern.split('\n').collect(), text.split('\n').collect());
    patterns.len() == lines.len() && patterns.iter().zip(lines).all(|(pattern, line)| matches_line(pattern, line))
}

fn occurs(pattern: &str, text: &str) -> bool {
    if !pattern.contains("[..]") {
        return text.contains(pattern);
    }
    let around = format!("[..]{pattern}[..]");
    let width = around.split('\n').count();
    let lines: Vec<&str> = text.split('\n').collect();
    lines.windows(width).any(|window| matches_exactly(&around, &window.join("\n")))
}

/// `[..]` is any text, the rest is itself.
fn matches_line(pattern: &str, line: &str) -> bool {
    let Some((before, after)) = pattern.split_once("[..]") else { return pattern == line };
    let Some(rest) = line.strip_prefix(before) else { return false };
    // The ends of characters, from the shortest reading of `[..]` to the longest.
    let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    ends.into_iter().any(|at| matches_line(after, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_text_may_leave_gaps_within_lines_only() {
        let cases = [
            ("run [..] ended\n", "run 01J9 ended\n", true),
            ("run [..] ended\n", "run  ended\n", true),
            ("run [..] ended\n", "run 1\n2 ended\n", false),
            ("a[..]b[..]c", "a-b-b-c", true),
            ("a[..]b[..]c", "a-c-b", false),
            ("ünd[..]", "ündé", true),
            ("same", "same ", false),
        ];
        for (pattern, text, fits) in cases {
            assert_eq!(matches_exactly(pattern, text), fits, "{pattern:?} and {text:?}");
        }
        assert!(occurs("b [..] d\ne", "a\nb c d\nef\n"));
        assert!(!occurs("b [..] d\nf", "a\nb c d\nef\n"));
    }

    #[test]
    fn output_that_nobody_stated_is_a_complaint() {
        let same = |text: &str| text.to_owned();
        assert!(Stated::Nothing.complaint("stdout", "", same).is_none());
        assert!(Stated::Nothing.complaint("stdout", "x", same).is_some());
        let mut stated = Stated::Nothing;
        stated.any();
        assert!(stated.complaint("stdout", "x", same).is_none());
        stated.lacks("x");
        assert!(stated.complaint("stdout", "x", same).is_some());
    }
}
