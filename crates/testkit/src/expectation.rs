//! What a test states about the end of a run, and the comparison.
//!
//! In stated text `[..]` stands for anything within one line, and the environment's folders are
//! `[PROJECT]`, `[STATE]`, `[HOME]` and `[ROOT]`: run ids, times and temporary paths differ from run to
//! run, everything else is compared to the letter.
//!
//! What nobody stated must not be printed:
//!
//! - on stderr every line must be stated. What is indented below a stated line belongs to it, unless it
//!   tells a failure (`✗`); the ordinary course of a run ([`narration`]) needs no statement;
//! - on stdout a stated part vouches for the page that it stands on, but not for a line that begins as
//!   in [`ALARMS`]. A test that states nothing must read stdout ([`Output`](crate::Output)).

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::narration;

/// How lines begin that nobody may overlook.
const ALARMS: [&str; 4] = ["error:", "hint:", "note:", "warning:"];

/// How clap ends its message; the error before it must be stated.
const MISUSE: [&str; 2] = ["Usage: ralph", "For more information, try '--help'."];

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

/// What is stated about a stream. Nothing stated means that nothing may be printed.
#[derive(Debug, Clone, Default)]
pub struct Stated {
    /// The whole text.
    whole: Option<String>,
    /// Each of these occurs.
    has: Vec<String>,
    /// None of these does.
    lacks: Vec<String>,
    /// Why nothing can be stated about the rest.
    unchecked: Option<&'static str>,
}

/// Which lines of a stream need no statement of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Free {
    /// None.
    None,
    /// Those of the ordinary course of a run.
    Narration,
    /// All but alarms.
    Page,
    /// All: the test reads them itself.
    All,
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
    /// States the whole text.
    pub fn exactly(&mut self, text: String) {
        self.whole = Some(text);
    }

    /// Adds a part that occurs; an empty one says nothing, which is handy in tables of cases.
    pub fn has(&mut self, text: &str) {
        self.has.extend((!text.is_empty()).then(|| text.to_owned()));
    }

    /// Adds a part that does not occur.
    pub fn lacks(&mut self, text: &str) {
        self.lacks.push(text.to_owned());
    }

    /// Allows anything that is not otherwise stated; the reason is for whoever reads the test.
    pub fn unchecked(&mut self, reason: &'static str) {
        self.unchecked = Some(reason);
    }

    /// Whether it says what is printed.
    pub fn says_something(&self) -> bool {
        self.whole.is_some() || !self.has.is_empty() || self.unchecked.is_some()
    }

    /// What is wrong with the stream, if anything; `normalise` names the folders in both texts.
    pub fn complaint(
        &self,
        stream: &str,
        free: Free,
        text: &str,
        normalise: impl Fn(&str) -> String,
    ) -> Option<String> {
        let text = normalise(text);
        if let Some(whole) = self.whole.as_deref().map(&normalise) {
            return (!matches_exactly(&whole, &text)).then(|| format!("{stream} is not as stated:\n{whole}"));
        }
        let lines: Vec<&str> = text.split('\n').collect();
        let mut stated = vec![false; lines.len()];
        for part in &self.has {
            if !mark(&normalise(part), &lines, &mut stated) {
                return Some(format!("{stream} lacks: {part}"));
            }
        }
        if let Some(part) = self.lacks.iter().find(|part| mark(&normalise(part), &lines, &mut vec![false; lines.len()]))
        {
            return Some(format!("{stream} should lack: {part}"));
        }
        let is_free = |line: &str| match free {
            Free::Narration if narration::is_ordinary(line) => true,
            Free::None | Free::Narration => MISUSE.iter().any(|start| line.starts_with(start)),
            Free::Page => !is_alarm(line),
            Free::All => true,
        };
        let mut unstated = Vec::new();
        // How far the last stated line is indented, as long as only its own lines follow.
        let mut above = None;
        for (line, stated) in lines.into_iter().zip(stated).filter(|(line, _)| !line.is_empty()) {
            let indent = line.len() - line.trim_start_matches(' ').len();
            if stated {
                above = Some(indent.min(above.unwrap_or(indent)));
            } else if line.trim_start().starts_with('✗') || above.is_none_or(|above| indent <= above) {
                above = None;
                unstated.extend((!is_free(line)).then_some(line));
            }
        }
        let complains = !unstated.is_empty() && self.unchecked.is_none();
        complains.then(|| format!("{stream} has what the test does not state:\n{}", unstated.join("\n")))
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

fn is_alarm(line: &str) -> bool {
    // What a terminal shows may stand behind a live line that was wiped.
    let line = narration::without_colour(line);
    line.split('\r').any(|part| ALARMS.iter().any(|word| part.starts_with(word)))
}

fn matches_exactly(pattern: &str, text: &str) -> bool {
    let (patterns, lines): (Vec<&str>, Vec<&str>) = (pattern.split('\n').collect(), text.split('\n').collect());
    patterns.len() == lines.len() && patterns.iter().zip(lines).all(|(pattern, line)| matches_line(pattern, line))
}

/// Marks the lines that a part stands on, everywhere that it occurs; false if it occurs nowhere.
fn mark(part: &str, lines: &[&str], stated: &mut [bool]) -> bool {
    let pieces: Vec<&str> = part.split('\n').collect();
    let last = pieces.len() - 1;
    let fits = |(at, (piece, line)): (usize, (&&str, &&str))| match (at == 0, at == last) {
        (true, true) if !piece.contains("[..]") => line.contains(piece),
        (true, true) => matches_line(&format!("[..]{piece}[..]"), line),
        (true, false) if !piece.contains("[..]") => line.ends_with(piece),
        (true, false) => matches_line(&format!("[..]{piece}"), line),
        (false, true) => matches_line(&format!("{piece}[..]"), line),
        (false, false) => matches_line(piece, line),
    };
    let mut occurs = false;
    for (start, window) in lines.windows(pieces.len()).enumerate() {
        if pieces.iter().zip(window).enumerate().all(fits) {
            occurs = true;
            let marks = stated.iter_mut().skip(start).zip(&pieces);
            marks.filter(|(_, piece)| !piece.is_empty()).for_each(|(mark, _)| *mark = true);
        }
    }
    occurs
}

/// `[..]` is any text, the rest is itself.
pub fn matches_line(pattern: &str, line: &str) -> bool {
    let Some((before, after)) = pattern.split_once("[..]") else { return pattern == line };
    let Some(rest) = line.strip_prefix(before) else { return false };
    if after.is_empty() {
        return true;
    }
    // The ends of characters, from the shortest reading of `[..]` to the longest.
    let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    ends.into_iter().any(|at| matches_line(after, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(stated: &Stated, free: Free, text: &str) -> Option<String> {
        stated.complaint("stderr", free, text, str::to_owned)
    }

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
    }

    #[test]
    fn a_part_states_the_lines_that_it_stands_on_and_no_other() {
        for (part, text, marks) in [
            ("b [..] d\ne", "a\nb c d\nef\n", vec![false, true, true, false]),
            ("b [..] d\nf", "a\nb c d\nef\n", vec![false; 4]),
            ("a\n", "xa\nb", vec![true, false]),
            ("\nb", "a\nbc\nb", vec![false, true, true]),
            ("same", "the same\nother\nsame", vec![true, false, true]),
        ] {
            let lines: Vec<&str> = text.split('\n').collect();
            let mut stated = vec![false; lines.len()];
            assert_eq!(mark(part, &lines, &mut stated), marks.contains(&true), "{part:?} in {text:?}");
            assert_eq!(stated, marks, "{part:?} in {text:?}");
        }
    }

    #[test]
    fn output_that_nobody_stated_is_a_complaint() {
        let mut stated = Stated::default();
        assert!(complaint(&stated, Free::None, "").is_none());
        assert!(complaint(&stated, Free::None, "x\n").is_some());
        stated.lacks("y");
        assert!(!stated.says_something(), "what is absent says nothing about what is there");
        assert!(complaint(&stated, Free::None, "x\n").is_some());
        assert!(complaint(&stated, Free::All, "y\n").is_some());
        stated.has("x");
        assert!(complaint(&stated, Free::None, "x\n").is_none());
        assert!(complaint(&stated, Free::None, "x\nmore\n").unwrap().ends_with("\nmore"));
        assert!(complaint(&stated, Free::Page, "x\nmore\n").is_none());
        assert!(complaint(&stated, Free::Page, "x\ny\n").is_some());
        assert!(complaint(&stated, Free::None, "x\n\n  of x\n").is_none());
        assert!(complaint(&stated, Free::None, "x\n  ✗ agent: no\n").is_some());
        assert!(complaint(&stated, Free::None, "x\n  of x\nmore\n  of more\n").is_some());
        stated.unchecked("it is killed at any time");
        assert!(complaint(&stated, Free::None, "x\nmore\n").is_none());
        assert!(complaint(&stated, Free::None, "more\n").is_some(), "what is stated holds all the same");
    }

    #[test]
    fn an_alarm_is_overlooked_neither_on_a_page_nor_in_the_course_of_a_run() {
        let mut stated = Stated::default();
        stated.has("x");
        for alarm in
            ["error: a", "hint: a", "note: a", "\r\u{1b}[Klive\r\u{1b}[K\u{1b}[33mnote:\u{1b}[0m a", "warning: a"]
        {
            for free in [Free::Page, Free::Narration] {
                assert!(complaint(&stated, free, &format!("x\n{alarm}\n")).is_some(), "{alarm:?}");
            }
        }
        stated.has("note: a");
        assert!(complaint(&stated, Free::Page, "x\nnote: a b\n").is_none());
    }
}
