//! Whether a tag says something where it stands, or is only mentioned there.
//!
//! An agent that is done puts the tag on a line of its own or at the end of its last one. One that denies, plans or
//! quotes it has it inside a sentence, in a quotation, a table or a listing. So what stands around a tag is read as far
//! as it belongs to the same sentence, and no further: "I did not touch the API. <response>DONE</response>" claims.

use super::{LINE_END, find_ignoring_case};
use crate::text;

/// A text in which tags are looked at.
pub(super) struct Page<'a> {
    text: &'a str,
    before: Context,
    /// Where the lines begin that open or close a code fence, in their order.
    fences: Vec<usize>,
}

impl<'a> Page<'a> {
    /// The text, with what is known of what precedes it.
    pub(super) fn new(text: &'a str, before: Context) -> Page<'a> {
        Page { text, before, fences: fences(text).collect() }
    }

    /// Whether the tag from `start` to `end` says what it holds.
    pub(super) fn says(&self, start: usize, end: usize) -> bool {
        ends_its_line(self.text, end) && self.is_said_at(start, end)
    }

    /// Whether a marker of the settings that looks like a tag says something: nothing but a word right behind it makes
    /// it part of a sentence.
    pub(super) fn marks(&self, start: usize, end: usize) -> bool {
        let rest = self.text.get(end..).unwrap_or_default().lines().next().unwrap_or_default();
        let goes_on = visible(rest).find(|c| !c.is_whitespace()).is_some_and(char::is_alphanumeric);
        !goes_on && self.is_said_at(start, end)
    }

    fn is_fenced(&self, at: usize) -> bool {
        self.before.fenced ^ (self.fences.partition_point(|&fence| fence < at) % 2 == 1)
    }

    fn is_said_at(&self, start: usize, end: usize) -> bool {
        let above = self.text.get(..start).unwrap_or_default();
        let line_start = above.rfind('\n').map_or(0, |newline| newline + 1);
        let (above, line) = above.split_at(line_start);
        if self.is_fenced(line_start) && !is_alone_in_its_fence(above, line, self.text.get(end..).unwrap_or_default()) {
            return false;
        }
        let line = plain(text::suffix(line, LINE_END));
        let opening = line.trim_start();
        if opening.starts_with('>') {
            let behind = self.text.get(end..).unwrap_or_default();
            return !self.before.cut && is_alone_in_its_quotation(above, opening, behind);
        }
        // A table, an addition in a diff, an item that is still to be done.
        if opening.starts_with(['|', '+']) || opening.contains("[ ]") {
            return false;
        }
        let said = without_bullet(opening);
        let place = if said.len() < opening.len() { Place::AboveTheList } else { Place::Above };
        if said.contains(char::is_alphanumeric) {
            return !is_denied(said, Place::SameLine);
        }
        if line_start == 0 && self.before.cut {
            return false;
        }
        // On a line of its own, it belongs to the sentence above only if that leads to it.
        let mut blank = false;
        for line in above.lines().rev().take(LINES_AROUND) {
            let line = plain(text::suffix(line, LINE_END));
            let item = line.trim_start();
            if item.is_empty() || is_fence(item) {
                blank |= item.is_empty();
            } else if without_bullet(item).len() == item.len() {
                let leads = item.trim_end_matches(is_wrapping).ends_with([':', '：']) || (!blank && leads_on(item));
                return !(leads && is_denied(item, place));
            }
        }
        true
    }
}

/// What is known of the text before the one that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Context {
    /// Something stood there, and the first line may be the rest of a longer one.
    pub(super) cut: bool,
    /// The text begins inside a code fence.
    pub(super) fenced: bool,
}

impl Context {
    /// What is known once this much of the text is taken away.
    pub(super) fn after(self, gone: &str) -> Context {
        Context { cut: self.cut || !gone.is_empty(), fenced: self.fenced ^ (fences(gone).count() % 2 == 1) }
    }
}

/// Where the lines begin that open or close a code fence.
fn fences(text: &str) -> impl Iterator<Item = usize> + '_ {
    let starts = text.split_inclusive('\n').scan(0, |next, line| {
        let start = *next;
        *next += line.len();
        Some((start, line))
    });
    starts.filter(|(_, line)| is_fence(line)).map(|(start, _)| start)
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether nothing but blanks, punctuation and markup follows on the line: "I will not print
/// <response>DONE</response> before it works" claims nothing.
fn ends_its_line(text: &str, end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default().lines().next().unwrap_or_default();
    if rest.len() > LINE_END {
        return false;
    }
    // Colours are markup too.
    let plain = text::without_controls(rest);
    let mut rest = plain.as_str();
    while let Some((before, tag)) = rest.split_once('<') {
        if before.contains(char::is_alphanumeric) {
            return false;
        }
        rest = behind_markup(tag);
    }
    !rest.contains(char::is_alphanumeric)
}

/// What stands behind a tag that was just opened: one of ralph's own with its content, any other without.
fn behind_markup(tag: &str) -> &str {
    let own = ["response", "ralph", "promise", "ack"].into_iter().find_map(|name| {
        let closes = format!("</{name}>");
        let opens = tag.get(..name.len() + 1).is_some_and(|word| word.eq_ignore_ascii_case(&format!("{name}>")));
        let end = find_ignoring_case(tag, &closes).filter(|_| opens)?;
        tag.get(end + closes.len()..)
    });
    let is_tag = tag.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/' || first == '!');
    own.or_else(|| tag.split_once('>').filter(|_| is_tag).map(|(_, behind)| behind)).unwrap_or(tag)
}

/// Lines above a tag in which its sentence may begin, for a list may stand between them; and below one in which its
/// fence may end.
const LINES_AROUND: usize = 40;

/// Whether a fence holds nothing but the tag: then the fence is markup, and otherwise a listing.
fn is_alone_in_its_fence(above: &str, line: &str, behind: &str) -> bool {
    let says_something = |line: &&str| !line.trim().is_empty();
    let opens = above.lines().rev().take(LINES_AROUND).find(says_something).is_some_and(is_fence);
    let closes = behind.lines().skip(1).take(LINES_AROUND).find(says_something).is_some_and(is_fence);
    opens && closes && !line.contains(char::is_alphanumeric)
}

/// Whether a quotation is markup: it holds nothing but the tag, ends the text, and what stands above neither leads to it
/// nor speaks of what is quoted.
fn is_alone_in_its_quotation(above: &str, line: &str, behind: &str) -> bool {
    let is_bare = line.chars().all(|c| c == '>' || is_wrapping(c));
    let is_last = behind.lines().skip(1).all(|line| line.trim().is_empty());
    let continues = above.lines().next_back().is_some_and(|line| line.trim_start().starts_with('>'));
    let said = above.lines().rev().take(LINES_AROUND).map(plain).find(|line| !line.trim().is_empty());
    let leads = said.is_some_and(|line| {
        let line = line.to_lowercase().replace('’', "'");
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
        line.trim_end_matches(is_wrapping).ends_with([':', '：'])
            || words.any(|word| is_negation(word) || CONDITIONS.contains(&word) || MENTIONS.contains(&word))
            || CHINESE_CONDITIONS.iter().any(|word| line.contains(word))
    });
    is_bare && is_last && !continues && !leads
}

/// The characters that can be seen: others may hide where a word ends.
fn visible(text: &str) -> impl DoubleEndedIterator<Item = char> + '_ {
    text.chars().filter(|&c| !text::misleads(c) && c != '\u{200d}' && c != '\u{fe0f}')
}

/// A line without colours, invisible characters and the tags of a page, ralph's own with what they hold.
fn plain(line: &str) -> String {
    let line: String = visible(&text::without_controls(line)).collect();
    let mut said = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some((before, tag)) = rest.split_once('<') {
        said.push_str(before);
        rest = behind_markup(tag);
    }
    said.push_str(rest);
    said
}

/// The line without the sign of a list's item.
fn without_bullet(line: &str) -> &str {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marked =
        if digits.len() < line.len() { digits.strip_prefix(['.', ')']) } else { line.strip_prefix(['-', '*', '•']) };
    marked.filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t'])).map_or(line, str::trim_start)
}

/// Blanks, emphasis and quotes around a tag or a sentence.
fn is_wrapping(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '*' | '_' | '`' | '~' | '#' | '"' | '\'' | '“' | '”' | '‘' | '’' | '«' | '»' | '„' | '「' | '」')
}

/// Where the sentence stands that comes before a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    SameLine,
    Above,
    /// Above a list of which the tag is an item.
    AboveTheList,
}

/// Whether the sentence that comes right before a tag takes it back: it denies it, makes it depend on something, or
/// only speaks of it. On another line it must have led to the tag to be asked at all.
fn is_denied(line: &str, place: Place) -> bool {
    let line = line.trim_end_matches(is_wrapping);
    let is_over = line.ends_with(ENDS) && !["e.g.", "i.e."].iter().any(|short| line.ends_with(short));
    let sentence = last_sentence(if is_over { line.trim_end_matches(ENDS) } else { line });
    let lower = sentence.to_lowercase().replace('’', "'");
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let any = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let negated = words.iter().any(|word| is_negation(word));
    if is_over {
        // What stands in a sentence of its own is taken back only by the opposite.
        return negated && any(&["done", "finished", "complete", "completed", "ready", "yet"]);
    }
    let spoken_of = place == Place::SameLine && !line.ends_with([':', '：', ';', '—', '–', '-', '→']);
    negated
        || any(CONDITIONS)
        || words.last() == Some(&"no")
        || CHINESE_CONDITIONS.iter().any(|word| lower.contains(word))
        || (spoken_of && any(MENTIONS))
        || (place == Place::AboveTheList && any(PLANS))
}

/// What ends a sentence.
const ENDS: [char; 7] = ['.', '!', '?', '…', '。', '！', '？'];

/// What follows the last end of a sentence; a dot inside a word ends none.
fn last_sentence(line: &str) -> &str {
    let rest_behind = |(at, c): (usize, char)| {
        let rest = line.get(at + c.len_utf8()..)?;
        (ENDS.contains(&c) && (rest.starts_with(char::is_whitespace) || !c.is_ascii())).then_some(rest)
    };
    line.char_indices().rev().find_map(rest_behind).unwrap_or(line)
}

/// Whether the last word of a line needs something behind it.
fn leads_on(line: &str) -> bool {
    let lower = line.to_lowercase();
    let last = lower
        .trim_end_matches(is_wrapping)
        .rsplit(|c: char| !c.is_alphanumeric() && c != '\'')
        .next()
        .unwrap_or_default();
    is_negation(last)
        || MENTIONS.contains(&last)
        || ["the", "a", "with", "is", "be", "of", "my", "your"].contains(&last)
}

fn is_negation(word: &str) -> bool {
    word.ends_with("n't")
        || ["not", "never", "cannot", "cant", "dont", "wont", "nor", "neither", "unable", "without", "refuse"]
            .contains(&word)
}

/// Words that make what follows depend on something, or put it off.
#[rustfmt::skip]
const CONDITIONS: &[&str] = &[
    "until", "till", "unless", "before", "once", "when", "whenever", "if", "whether", "will", "i'll", "we'll", "it'll", "would", "i'd", "should", "shall",
    "could", "might", "must", "going", "gonna", "need", "needs", "want", "wants", "yet", "later", "soon", "todo", "next", "remaining", "remains", "almost",
    "nearly", "instead", "example", "template", "premature", "prematurely", "pretend", "falsely", "wrongly",
];

/// Words that speak of the tag or of who wants it, where the sentence goes straight on into it.
#[rustfmt::skip]
const MENTIONS: &[&str] = &[
    "print", "prints", "printing", "printed", "output", "outputs", "say", "says", "saying", "answer", "reply", "respond", "write", "emit", "type", "send",
    "use", "tag", "tags", "word", "words", "marker", "signal", "string", "literal", "phrase", "called", "like", "see", "eg", "ie", "g", "e", "claim", "claiming",
    "asked", "told", "instructed", "instructions", "expected", "expects", "supposed", "wanted", "protocol", "prompt", "format", "false", "wrong",
];

/// Words for a list of what is still to be done, of which the tag is an item.
const PLANS: &[&str] = &["plan", "plans", "steps", "tasks", "checklist"];

/// The same in Chinese, which has no blanks between words.
const CHINESE_CONDITIONS: &[&str] = &["不", "没", "未", "无法", "如果", "若", "等", "会", "将", "之后", "以后", "才能"];
