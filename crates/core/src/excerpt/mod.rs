//! The lines of a check's output that tell most: what looks like an error, and the end. Where a build
//! prints a megabyte, the reason of its failure is seldom in the first five thousand characters.
//!
//! [`Excerpter`] takes the output as it comes, in memory that does not depend on it, and also makes the
//! print by which two failures can be told apart. Nothing here knows what the text is used for.

mod signs;
mod varying;

use crate::text;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::VecDeque;

/// The most bytes of a line that are looked at: what follows in a longer one is seldom for people.
const LINE_BYTES: usize = 2000;
/// The most characters of a line that are kept: enough for a message with its path.
const LINE_CHARS: usize = 300;
/// Errors that are kept; the first ones name the cause, later ones mostly follow from them.
const ERRORS_KEPT: u32 = 12;
/// Lines behind an error that are kept with it: compilers tell the place there, and tests both values.
const AFTER_ERROR: u32 = 2;
/// Lines of the beginning, which say what ran.
const HEAD_LINES: u64 = 3;
/// Lines of the end, where most programs sum up.
const TAIL_LINES: usize = 12;
/// Errors that count for the print; beyond this an output is a flood, and the same flood.
const ERRORS_PRINTED: u32 = 5000;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Excerpt {
    pub lines: Vec<ExcerptLine>,
    pub total: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcerptLine {
    pub number: u64,
    /// Its text without control characters, cut if it is long.
    pub text: String,
    pub part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Error,
    After,
    Head,
    Tail,
}

impl Excerpt {
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The first line that looks like an error, which names a cause in few words.
    pub fn first_error(&self) -> Option<&str> {
        self.lines.iter().find(|line| line.part == Part::Error).map(|line| line.text.trim())
    }

    /// What fits into so many characters, in the order of the output, with a mark where lines are missing.
    /// Errors go first and get two thirds, the end gets the rest, the beginning what is left.
    pub fn within(&self, chars: usize) -> String {
        let mut choice = Choice {
            lines: &self.lines,
            chosen: vec![false; self.lines.len()],
            // One more gap than lines may have to be marked.
            room: chars.saturating_sub(GAP_CHARS),
        };
        let errors = |line: &ExcerptLine| matches!(line.part, Part::Error | Part::After);
        let forward = 0..self.lines.len();
        choice.take(forward.clone(), errors, chars / 3);
        choice.take(forward.clone().rev(), |line| line.part == Part::Tail, 0);
        choice.take(forward.clone(), errors, 0);
        choice.take(forward, |line| line.part == Part::Head, 0);
        self.render(&choice.chosen)
    }

    fn render(&self, chosen: &[bool]) -> String {
        let mut shown = String::new();
        let mut next = 1;
        for (line, _) in self.lines.iter().zip(chosen).filter(|(_, taken)| **taken) {
            push_gap(&mut shown, line.number.saturating_sub(next));
            shown.push_str(&line.text);
            shown.push('\n');
            next = line.number.saturating_add(1);
        }
        push_gap(&mut shown, self.total.saturating_add(1).saturating_sub(next));
        shown
    }
}

struct Choice<'a> {
    lines: &'a [ExcerptLine],
    chosen: Vec<bool>,
    room: usize,
}

impl Choice<'_> {
    /// Takes wanted lines until one does not fit; all but the first leave `spare` for others.
    fn take(&mut self, order: impl Iterator<Item = usize>, wanted: impl Fn(&ExcerptLine) -> bool, spare: usize) {
        let mut left_for_others = 0;
        for index in order {
            let (Some(line), Some(taken)) = (self.lines.get(index), self.chosen.get_mut(index)) else { continue };
            if *taken || !wanted(line) {
                continue;
            }
            // Each line may need a mark of a gap before it.
            let size = line.text.chars().count() + 1 + GAP_CHARS;
            if self.room < size + left_for_others {
                return;
            }
            self.room -= size;
            *taken = true;
            left_for_others = spare;
        }
    }
}

const GAP_CHARS: usize = 30;

fn push_gap(shown: &mut String, missing: u64) {
    if missing > 0 {
        shown.push_str(&format!("[{} left out]\n", text::count(missing, "line")));
    }
}

#[derive(Debug, Default)]
pub struct Excerpter {
    /// The beginning of a line whose end has not come.
    pending: Option<Vec<u8>>,
    total: u64,
    head: Vec<ExcerptLine>,
    errors: Vec<ExcerptLine>,
    errors_seen: u32,
    after: u32,
    tail: VecDeque<ExcerptLine>,
    print: Sum,
}

impl Excerpter {
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut whole = bytes;
        if self.pending.is_some() {
            let Some(end) = position_of_newline(bytes) else { return self.hold(bytes) };
            let (rest_of_line, behind) = bytes.split_at(end);
            self.hold(rest_of_line);
            let line = self.pending.take().unwrap_or_default();
            self.line(&line);
            whole = behind.get(1..).unwrap_or_default();
        }
        let end = whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (lines, begun) = whole.split_at(end);
        self.lines(lines);
        if !begun.is_empty() {
            self.hold(begun);
        }
    }

    /// Keeps what will be looked at of a line whose end has not come.
    fn hold(&mut self, piece: &[u8]) {
        let pending = self.pending.get_or_insert_default();
        let room = LINE_BYTES.saturating_sub(pending.len()).min(piece.len());
        pending.extend_from_slice(piece.get(..room).unwrap_or_default());
    }

    /// Takes whole lines. Most outputs are long and dull, so they are searched as one and not line by line.
    fn lines(&mut self, mut lines: &[u8]) {
        // Colours and progress bars hide words and their beginnings.
        let plain = !lines.iter().any(|byte| *byte < b' ' && !matches!(byte, b'\n' | b'\t'));
        while let Some(end) = position_of_newline(lines) {
            let one_by_one = !plain || self.after > 0 || self.total < HEAD_LINES;
            let (dull, end) = if one_by_one {
                (0, end)
            } else {
                let found = if self.errors_seen < ERRORS_PRINTED { signs::find(lines) } else { None };
                let Some(found) = found else { return self.pass_over(lines) };
                let begin = lines.get(..found).and_then(|before| before.iter().rposition(|byte| *byte == b'\n'));
                let begin = begin.map_or(0, |newline| newline + 1);
                let end = position_of_newline(lines.get(begin..).unwrap_or_default()).unwrap_or_default();
                (begin, begin + end)
            };
            self.pass_over(lines.get(..dull).unwrap_or_default());
            self.line(lines.get(dull..end).unwrap_or_default());
            lines = lines.get(end + 1..).unwrap_or_default();
        }
    }

    /// Takes whole lines in which nothing was found: they are counted, and the last of them may be the end.
    fn pass_over(&mut self, lines: &[u8]) {
        let Some(lines) = lines.strip_suffix(b"\n") else { return };
        let count = 1 + lines.iter().filter(|byte| **byte == b'\n').count();
        let newest: Vec<&[u8]> = lines.rsplit(|byte| *byte == b'\n').take(TAIL_LINES).collect();
        self.total += (count - newest.len()) as u64;
        for line in newest.iter().rev() {
            self.total += 1;
            self.keep_at_the_end(kept(self.total, &cleaned(line), Part::Tail));
        }
    }

    fn line(&mut self, bytes: &[u8]) {
        self.total += 1;
        let line = cleaned(bytes);
        let part = match () {
            () if signs::looks_like_an_error(line.as_bytes()) => Part::Error,
            () if self.after > 0 => Part::After,
            () if self.total <= HEAD_LINES => Part::Head,
            () => Part::Tail,
        };
        let kept = kept(self.total, &line, part);
        if part == Part::Error {
            self.errors_seen = self.errors_seen.saturating_add(1);
            if self.errors_seen <= ERRORS_PRINTED {
                self.print.add(&varying::without(&kept.text));
            }
        }
        match part {
            Part::Error if self.errors_seen <= ERRORS_KEPT => {
                self.after = AFTER_ERROR;
                self.errors.push(kept.clone());
            }
            Part::After => {
                self.after -= 1;
                self.errors.push(kept.clone());
            }
            Part::Head => self.head.push(kept.clone()),
            Part::Error | Part::Tail => {}
        }
        self.keep_at_the_end(kept);
    }

    fn keep_at_the_end(&mut self, line: ExcerptLine) {
        if self.tail.len() == TAIL_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }

    /// What is left of the output, and its print: equal for outputs that fail in the same way, though their
    /// durations, addresses and places in files may differ. The errors make it, or else the last lines.
    pub fn finish(mut self) -> (Excerpt, String) {
        if let Some(last) = self.pending.take() {
            self.line(&last);
        }
        let mut lines = self.head;
        lines.append(&mut self.errors);
        let mut print = self.print;
        for line in self.tail {
            if self.errors_seen == 0 {
                print.add(&varying::without(&line.text));
            }
            if lines.iter().all(|known| known.number != line.number) {
                let part = if line.part == Part::Error { Part::Error } else { Part::Tail };
                lines.push(ExcerptLine { part, ..line });
            }
        }
        lines.sort_by_key(|line| line.number);
        // Empty lines at the end say nothing, and are not worth the mark of a gap.
        let mut total = self.total;
        while lines.last().is_some_and(|line| line.text.is_empty() && line.number == total) {
            lines.pop();
            total -= 1;
        }
        (Excerpt { lines, total }, print.hex())
    }
}

fn kept(number: u64, line: &str, part: Part) -> ExcerptLine {
    ExcerptLine { number, text: text::cut(line.trim_end(), LINE_CHARS, "..."), part }
}

fn position_of_newline(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}

/// A line as people would see it: without escape sequences, and of a progress bar the last state.
fn cleaned(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.get(..LINE_BYTES).unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let shown = bytes.rsplit(|byte| *byte == b'\r').next().unwrap_or(bytes);
    match String::from_utf8_lossy(shown) {
        line if line.chars().any(|c| c.is_control() && c != '\t') => Cow::Owned(text::without_controls(&line)),
        line => line,
    }
}

/// A sum of hashes: the same lines in another order, as parallel tests print them, make the same sum.
#[derive(Debug, Default)]
struct Sum(u128);

impl Sum {
    fn add(&mut self, line: &str) {
        let digest: [u8; 32] = Sha256::digest(line.as_bytes()).into();
        let half = digest.first_chunk::<16>().copied().unwrap_or_default();
        self.0 = self.0.wrapping_add(u128::from_le_bytes(half));
    }

    fn hex(&self) -> String {
        text::hex(&self.0.to_be_bytes())
    }
}

#[cfg(test)]
mod tests;
