//! Finds claims in what an agent says: a claim makes ralph look, never believe. Text may be of any length and come in
//! any pieces, so the scanner keeps a window and not the text.

mod standing;

use self::standing::{Context, Page};
use crate::text;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "claim", rename_all = "snake_case")]
pub enum Claim {
    #[default]
    None,
    Complete,
    Blocked {
        reason: String,
    },
    /// It wants to be left alone for now.
    Wait,
}

impl Claim {
    /// The word as it stands in JSON and SQL.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Claim::None => "none",
            Claim::Complete => "complete",
            Claim::Blocked { .. } => "blocked",
            Claim::Wait => "wait",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// What must stand in every `<response>` tag.
    pub response: String,
    pub success_regex: String,
    /// Matches a blocked marker; its first group is the reason.
    pub blocked_regex: String,
}

pub const SUCCESS_REGEX: &str = "<ralph>COMPLETE</ralph>";
/// The same for the agents of a plan, whose template asks for another tag.
pub const PLAN_SUCCESS_REGEX: &str = r"<ralph>COMPLETE</ralph>|<promise>\s*COMPLETE\s*</promise>";
pub const BLOCKED_REGEX: &str = "<ralph>BLOCKED:(.*?)</ralph>";

impl Default for Completion {
    fn default() -> Completion {
        Completion {
            response: "DONE".to_owned(),
            success_regex: SUCCESS_REGEX.to_owned(),
            blocked_regex: BLOCKED_REGEX.to_owned(),
        }
    }
}

/// Compiles a marker regex as the settings mean it: ignoring case, a dot crossing lines.
pub fn marker_regex(pattern: &str) -> Result<Regex, regex::Error> {
    // The size limit keeps a hostile pattern from costing memory; real markers need a few kilobytes.
    RegexBuilder::new(pattern).case_insensitive(true).dot_matches_new_line(true).size_limit(1 << 20).build()
}

const RESPONSE_OPENS: &str = "<response>";
const RESPONSE_CLOSES: &str = "</response>";

/// The ids in `<ack>` tags, each once.
pub fn acks(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = find_ignoring_case(rest, "<ack>") {
        rest = rest.get(start + "<ack>".len()..).unwrap_or_default();
        let Some(end) = rest.find('<') else { break };
        let id = rest.get(..end).unwrap_or_default().trim();
        let closes = find_ignoring_case(rest, "</ack>") == Some(end);
        let plain = (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if closes && plain && !found.iter().any(|known| known == id) {
            found.push(id.to_owned());
        }
    }
    found
}

fn find_ignoring_case(text: &str, tag: &str) -> Option<usize> {
    let here = |&(at, _): &(usize, &str)| {
        text.as_bytes().get(at..at + tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag.as_bytes()))
    };
    text.match_indices('<').find(here).map(|(at, _)| at)
}

/// How far back a marker may begin when its end arrives; a reason longer than this is no sentence.
const WINDOW: usize = 64 * 1024;

/// The most bytes of blanks, punctuation and markup behind a tag: more is no end of a line, and looking at it
/// for each of many tags would cost the square of the line's length.
const LINE_END: usize = 4096;

/// Markers of one window that are looked at: whoever prints more of them means none.
const MARKERS_LOOKED_AT: usize = 200;

/// The reason of an agent that is blocked and does not say why.
pub const NO_REASON: &str = "Blocked";

/// What a scanner looks for, compiled once: compiling costs as much as starting a process.
#[derive(Debug, Clone)]
pub struct Patterns(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    response: String,
    success: Option<Regex>,
    blocked: Option<Regex>,
    /// Whether both begin with a tag, as the response does.
    only_tags: bool,
}

impl Patterns {
    /// The settings were checked, so every pattern compiles; one that did not would match nothing.
    pub fn new(completion: &Completion) -> Patterns {
        Patterns(Arc::new(Compiled {
            response: completion.response.trim().to_lowercase(),
            success: marker_regex(&completion.success_regex).ok(),
            blocked: marker_regex(&completion.blocked_regex).ok(),
            only_tags: begins_with_tag(&completion.success_regex) && begins_with_tag(&completion.blocked_regex),
        }))
    }
}

/// Whether whatever a marker regex matches begins with `<`, as far as that is plain to see.
fn begins_with_tag(pattern: &str) -> bool {
    let rest = pattern.strip_prefix('<');
    rest.is_some_and(|rest| !rest.starts_with(['?', '*', '{']) && !rest.contains('|'))
}

/// Looks for claims in messages that come in pieces.
#[derive(Debug)]
pub struct Scanner {
    patterns: Patterns,
    window: String,
    /// A tag or marker stood where it counts.
    complete: bool,
    /// A `<response>` tag held something else.
    otherwise: bool,
    blocked_reason: Option<String>,
    acks: Vec<String>,
    /// What is known of the text before the window.
    before: Context,
    /// Bytes at the beginning of the window whose tags were judged, with more around them than is there now.
    judged: usize,
}

/// Acknowledgements that are kept of one process: nobody answers more requests at once.
const ACKS_KEPT: usize = 200;

impl Scanner {
    pub fn new(patterns: &Patterns) -> Scanner {
        Scanner {
            patterns: patterns.clone(),
            window: String::new(),
            complete: false,
            otherwise: false,
            blocked_reason: None,
            acks: Vec::new(),
            before: Context::default(),
            judged: 0,
        }
    }

    pub fn feed(&mut self, piece: &str) {
        self.window.push_str(piece);
        // Looking again at each piece would cost the square of a message's length.
        if self.window.len() > 2 * WINDOW {
            // The last line is still being written, and what follows a tag decides whether it counts.
            let whole_lines = self.window.rfind('\n').map_or(0, |newline| newline + 1);
            self.scan(whole_lines);
            let keep = text::suffix(&self.window, WINDOW).len();
            let gone = self.window.len() - keep;
            self.before = self.before.after(self.window.get(..gone).unwrap_or_default());
            self.judged = whole_lines.saturating_sub(gone);
            self.window.drain(..gone);
        }
    }

    /// The message ended: a marker cannot go on in the next one.
    pub fn message_ended(&mut self) {
        self.scan(self.window.len());
        self.window.clear();
        (self.before, self.judged) = Default::default();
    }

    pub fn claim(&self) -> Claim {
        match &self.blocked_reason {
            Some(reason) => Claim::Blocked { reason: reason.clone() },
            None if self.complete && !self.otherwise => Claim::Complete,
            None => Claim::None,
        }
    }

    /// Requests that were acknowledged so far, by their ids.
    pub fn into_acks(self) -> Vec<String> {
        self.acks
    }

    /// Looks at the first `end` bytes of the window, perhaps again: findings do not change.
    fn scan(&mut self, end: usize) {
        let (fresh, patterns) = (self.window.get(..end).unwrap_or_default(), &self.patterns.0);
        // Most messages hold no tag at all, and one look at them says so.
        if patterns.only_tags && memchr::memchr(b'<', fresh.as_bytes()).is_none() {
            return;
        }
        for ack in acks(fresh) {
            if self.acks.len() < ACKS_KEPT && !self.acks.contains(&ack) {
                self.acks.push(ack);
            }
        }
        let page = Page::new(fresh, self.before);
        for tag in response_tags(fresh).into_iter().filter(|tag| tag.end > self.judged) {
            let start = tag.content.start - RESPONSE_OPENS.len();
            let answer = text::without_controls(fresh.get(tag.content).unwrap_or_default());
            if answer.trim().to_lowercase() != patterns.response {
                self.otherwise = true;
            } else if !self.complete {
                self.complete = page.says(start, tag.end);
            }
        }
        if self.blocked_reason.is_none()
            && let Some(found) = patterns.blocked.as_ref().and_then(|regex| regex.captures(fresh))
        {
            let reason = found.get(1).map_or("", |group| group.as_str()).trim();
            let reason = if reason.is_empty() { NO_REASON } else { reason };
            self.blocked_reason = Some(text::truncate(reason, 2000));
        }
        // A marker is whatever the settings say, and where it must stand is theirs to say, unless it is a tag.
        let judged = self.judged;
        let marks = |found: regex::Match<'_>| {
            let is_tag = found.as_str().starts_with('<') && found.as_str().ends_with('>');
            !is_tag || (found.end() > judged && page.marks(found.start(), found.end()))
        };
        self.complete = self.complete
            || patterns.success.as_ref().is_some_and(|regex| regex.find_iter(fresh).take(MARKERS_LOOKED_AT).any(marks));
    }
}

/// A pair of `<response>` and `</response>`.
struct ResponseTag {
    content: Range<usize>,
    end: usize,
}

/// Every pair of response tags in a text. A closing tag belongs to the nearest open one before it; one that
/// is never closed, as in an answer that broke off and was begun again, is no tag.
fn response_tags(text: &str) -> Vec<ResponseTag> {
    let (mut open, mut found) = (Vec::new(), Vec::new());
    for (at, _) in text.match_indices('<') {
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        let is = |tag: &str| rest.get(..tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag.as_bytes()));
        if is(RESPONSE_OPENS) {
            open.push(at + RESPONSE_OPENS.len());
        } else if is(RESPONSE_CLOSES)
            && let Some(start) = open.pop()
        {
            found.push(ResponseTag { content: start..at, end: at + RESPONSE_CLOSES.len() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim_of(text: &str, response: &str) -> Claim {
        let mut scanner =
            Scanner::new(&Patterns::new(&Completion { response: response.to_owned(), ..Completion::default() }));
        scanner.feed(text);
        scanner.message_ended();
        scanner.claim()
    }

    #[test]
    fn claims_are_read_as_the_table_says() {
        let blocked = |reason: &str| Claim::Blocked { reason: reason.to_owned() };
        let cases = [
            ("<response>DONE</response>", "DONE", Claim::Complete),
            ("<response>UNDONE</response>", "DONE", Claim::None),
            ("<response>WORKING</response> later <response>DONE</response>", "DONE", Claim::None),
            ("ok\n<RESPONSE>All Done</RESPONSE>\n", "all done", Claim::Complete),
            ("<ralph>complete</ralph>", "DONE", Claim::Complete),
            ("I will print <ralph>COMPLETE once finished", "DONE", Claim::None),
            ("<ralph>BLOCKED:</ralph>", "DONE", blocked("Blocked")),
            ("<ralph>BLOCKED: no\nkey</ralph> <ralph>COMPLETE</ralph>", "DONE", blocked("no\nkey")),
            ("<ralph>BLOCKED: no key</ralph> Please give me one.", "DONE", blocked("no key")),
        ];
        for (text, response, claim) in cases {
            assert_eq!(claim_of(text, response), claim, "{text}");
        }
    }

    #[test]
    fn a_tag_claims_only_at_the_end_of_its_line() {
        for (text, complete) in [
            ("I will not print <response>DONE</response> before it works", false),
            ("I will not print <response>DONE</response> before it works.\n<response>DONE</response>", true),
            ("All is fine: <response>DONE</response>", true),
            ("**<response>DONE</response>**. \u{2705}", true),
            ("`<response>DONE</response>`\nGood night.", true),
            ("<response>\nDONE\n</response>\r\nGood night.", true),
            ("<div><response>DONE</response></div><br/>", true),
            ("<response>DONE</response> <!-- the end -->", true),
            (&format!("<response>DONE</response>{}", ".".repeat(LINE_END)), true),
            (&format!("<response>DONE</response>{}", ".".repeat(LINE_END + 1)), false),
            ("<response>DONE</response> <ack>m7f3</ack>", true),
            ("<response>DONE</response> <ack>m7f3", false),
            ("<response>DONE</response> <b>not yet</b>", false),
            ("<response>DONE</response> x < y", false),
            ("<response>DONE</response> \u{8fd8}\u{6ca1}\u{6709}", false),
            ("\u{1b}[32m<response>DONE</response>\u{1b}[0m\nGood night.", true),
            ("<response>DONE</response>\u{1b}[0m not yet", false),
            ("<response>\u{1b}[1mDONE\u{1b}[0m</response>\u{1b}[K\u{1b}[?25h\r", true),
            ("<ralph>COMPLETE</ralph> (DONE)", true),
            ("I will not print <ralph>COMPLETE</ralph> before it works", false),
            ("I cannot print <ralph>COMPLETE</ralph>.", false),
            ("All tests pass. <ralph>COMPLETE</ralph>", true),
        ] {
            assert_eq!(claim_of(text, "DONE") == Claim::Complete, complete, "{text}");
        }
    }

    #[test]
    fn a_tag_that_is_denied_put_off_quoted_or_listed_claims_nothing() {
        for (text, complete) in [
            // Said.
            ("All tests pass. <response>DONE</response>", true),
            ("Everything works now! <response>DONE</response>.", true),
            ("\u{2705} <response>DONE</response>", true),
            ("I did not change the API. <response>DONE</response>", true),
            ("There are no failures left.\n\n<response>DONE</response>", true),
            ("- tests were not changed\n- docs too\n\n<response>DONE</response>", true),
            ("## Summary\n<response>DONE</response>", true),
            ("Final answer: <response>DONE</response>", true),
            ("As you wished: \"<response>DONE</response>\".", true),
            ("Version 1.2 is ready: <response>DONE</response>", true),
            ("The tests did fail once. They pass now: <response>DONE</response>", true),
            ("I could not reproduce it at first.\nNow all tests pass.\n```\n<response>DONE</response>\n```", true),
            ("## <response>DONE</response>", true),
            ("Everything you asked for is done: <response>DONE</response>", true),
            ("All steps of the plan are done:\n\n<response>DONE</response>", true),
            ("not yet\n<response>DONE</response>", true),
            ("> quoted\n\n<response>DONE</response>", true),
            ("```\nlet x = 1;\n```\n<response>DONE</response>", true),
            ("__<response>DONE</response>__", true),
            ("```<response>DONE</response>```", true),
            ("There is nothing that I could not answer\n\n<response>DONE</response>", true),
            ("\u{5168}\u{90e8}\u{5b8c}\u{6210}\u{3002}<response>DONE</response>", true),
            // Denied.
            ("I cannot print <response>DONE</response> yet", false),
            ("I cannot print <response>DONE</response>", false),
            ("I can\u{2019}t answer <response>DONE</response>.", false),
            ("not <response>DONE</response>", false),
            ("NOT: <response>DONE</response>", false),
            ("not\u{200b} \u{200b}<response>DONE</response>", false),
            ("This is no <response>DONE</response>", false),
            ("no\u{200b}t <response>DONE</response>", false),
            ("no\u{200d}t <response>DONE</response>", false),
            ("no\u{fe0f}t <response>DONE</response>", false),
            ("I am not done yet. <response>DONE</response>", false),
            ("I don't think that this deserves **<response>DONE</response>**", false),
            ("I will not print:\n\n<response>DONE</response>", false),
            ("I cannot yet say\n<response>DONE</response>", false),
            ("I cannot yet print:\n```\n<response>DONE</response>\n```", false),
            ("\u{8fd8}\u{4e0d}\u{80fd}\u{8f93}\u{51fa}\u{ff1a}<response>DONE</response>", false),
            // Put off.
            ("once tests pass I will answer <response>DONE</response>", false),
            ("Once the tests pass, I'll answer: <response>DONE</response>", false),
            ("Next steps:\n1. fix the parser\n2. <response>DONE</response>", false),
            ("Remaining:\n- [ ] tests\n- [ ] <response>DONE</response>", false),
            ("If all is well: <response>DONE</response>", false),
            ("My plan:\n1. fix the parser\n\n2. <response>DONE</response>", false),
            ("My plan:\n- fix the parser\n- <response>DONE</response>", false),
            // Spoken of.
            ("The word is <response>DONE</response>", false),
            ("You asked for \"<response>DONE</response>\"", false),
            ("> <response>DONE</response>", true),
            ("All tests pass.\n\n> **<response>DONE</response>**\n", true),
            ("The prompt says:\n> <response>DONE</response>", false),
            ("The protocol wants this line, and the tests fail.\n> <response>DONE</response>", false),
            ("> When it works, print\n> <response>DONE</response>", false),
            ("> <response>DONE</response>\nI am far from that.", false),
            ("> I print <response>DONE</response>", false),
            ("> <response>DONE</response>\n> is what I shall print.", false),
            ("| end | <response>DONE</response> |", false),
            ("+ <response>DONE</response>", false),
            ("```diff\n-a\n+<response>DONE</response>\n```", false),
            ("```sh\necho '<response>DONE</response>'\n```", false),
            ("```\nlet x = 1;\n<response>DONE</response>\n```", false),
            ("```\n<response>DONE</response>\nlet x = 1;\n```", false),
            ("```\nPrint this when finished:\n\n<response>DONE</response>\n```", false),
            ("Use a tag, e.g. <response>DONE</response>", false),
            // No tag, or another one.
            ("&lt;response&gt;DONE&lt;/response&gt;", false),
            ("< response >DONE</ response >", false),
            ("<response>DO\u{200b}NE</response>", false),
            ("<response>NOT DONE</response>\n<response>DONE</response>", false),
        ] {
            assert_eq!(claim_of(text, "DONE") == Claim::Complete, complete, "{text}");
        }
    }

    #[test]
    fn what_stood_before_a_tag_counts_when_it_has_left_the_window() {
        for (before, complete) in [("", true), ("I cannot print:\n", false), ("```\nlisting\n", false)] {
            let mut scanner = Scanner::new(&Patterns::new(&Completion::default()));
            scanner.feed(before);
            scanner.feed("<response>DONE</response>\n");
            for _ in 0..40 {
                scanner.feed(&"x\n".repeat(5_000));
            }
            scanner.message_ended();
            assert_eq!(scanner.claim() == Claim::Complete, complete, "{before}");
            // The same with what comes before it far above.
            let mut scanner = Scanner::new(&Patterns::new(&Completion::default()));
            scanner.feed(before);
            for _ in 0..40 {
                scanner.feed(&"x\n".repeat(5_000));
            }
            scanner.feed("y.\n<response>DONE</response>\n");
            scanner.message_ended();
            assert_eq!(scanner.claim() == Claim::Complete, !before.starts_with("```"), "{before}");
            // A fence that begins far above is closed by the next.
            scanner = Scanner::new(&Patterns::new(&Completion::default()));
            scanner.feed(before);
            (0..40).for_each(|_| scanner.feed(&"x\n".repeat(5_000)));
            scanner.feed("```\ny.\n<response>DONE</response>\n");
            scanner.message_ended();
            assert_eq!(scanner.claim() == Claim::Complete, before.starts_with("```"), "{before}");
        }
    }

    #[test]
    fn one_tag_that_says_otherwise_anywhere_takes_the_claim_back() {
        for (text, complete) in [
            ("<response>DONE</response>\nwait\n<response>NOT DONE</response>", false),
            ("<response>NOT DONE</response>\nlater\n<response>DONE</response>", false),
            ("<ralph>COMPLETE</ralph>\n<response>NOT DONE</response>", false),
            ("I print <response>X</response> in the end.\n<response>DONE</response>", false),
            ("<response>DONE</response>\n<response>done</response>", true),
            // An answer that broke off and was begun again.
            ("All is <response>DO\nAll is <response>DONE</response>", true),
            ("<response>NOT DO\n<response>NOT DONE</response>", false),
            ("<response><response>DONE</response></response>", false),
            ("DONE</response>", false),
        ] {
            assert_eq!(claim_of(text, "DONE") == Claim::Complete, complete, "{text}");
        }
        let mut scanner = Scanner::new(&Patterns::new(&Completion::default()));
        for message in ["<response>DONE</response>", "<response>NOT DONE</response>"] {
            scanner.feed(message);
            scanner.message_ended();
        }
        assert_eq!(scanner.claim(), Claim::None, "in another message too");
    }

    #[test]
    fn a_marker_of_ones_own_needs_no_tag() {
        for (pattern, text, begins_with_tag) in [
            ("<done/>", "all <done/>", true),
            ("ALL DONE", "all done", false),
            ("<?ok>", "ok>", false),
            ("<*ok", "ok", false),
            ("<{0,1}ok", "ok", false),
            ("<ok>|fine", "fine", false),
        ] {
            let completion = Completion { success_regex: pattern.to_owned(), ..Completion::default() };
            let patterns = Patterns::new(&completion);
            assert_eq!(patterns.0.only_tags, begins_with_tag, "{pattern}");
            let mut scanner = Scanner::new(&patterns);
            scanner.feed(text);
            scanner.message_ended();
            assert_eq!(scanner.claim(), Claim::Complete, "{pattern}");
        }
    }

    #[test]
    fn a_marker_that_is_a_tag_says_nothing_inside_a_sentence() {
        let completion = Completion { success_regex: "<done/>".to_owned(), ..Completion::default() };
        for (text, complete) in [
            ("<done/>", true),
            ("<done/> (all of it)", true),
            ("<done/> later", false),
            ("<done/>later", false),
            ("not <done/>", false),
        ] {
            let mut scanner = Scanner::new(&Patterns::new(&completion));
            scanner.feed(text);
            scanner.message_ended();
            assert_eq!(scanner.claim() == Claim::Complete, complete, "{text}");
        }
    }

    #[test]
    fn acknowledgements_are_ids_in_tags() {
        for (text, ids) in [
            ("done <ack>m7f3</ack> and <ACK> m8-1 </ACK>", vec!["m7f3", "m8-1"]),
            ("<ack>m1</ack> <ack>m1</ack>", vec!["m1"]),
            ("<ack>m1 <ack>m2</ack>", vec!["m2"]),
            ("<ack></ack> <ack>two words</ack> <ack>open", vec![]),
        ] {
            assert_eq!(acks(text), ids, "{text}");
        }
    }

    #[test]
    fn a_claim_split_anywhere_is_still_found() {
        let text = "wörk… <response>DONE</response>\nend";
        for cut in (0..=text.len()).filter(|&i| text.is_char_boundary(i)) {
            let mut scanner = Scanner::new(&Patterns::new(&Completion::default()));
            scanner.feed(&text[..cut]);
            scanner.feed(&text[cut..]);
            scanner.message_ended();
            assert_eq!(scanner.claim(), Claim::Complete, "cut at {cut}");
        }
    }

    #[test]
    fn a_claim_is_found_in_any_amount_of_text_and_the_window_stays_small() {
        let mut scanner = Scanner::new(&Patterns::new(&Completion::default()));
        let filler = "x".repeat(50_000);
        for _ in 0..20 {
            scanner.feed(&filler);
        }
        scanner.feed("<response>DO");
        scanner.feed("NE</response>\n");
        for _ in 0..20 {
            scanner.feed(&filler);
            assert!(scanner.window.len() <= 2 * WINDOW + filler.len());
        }
        assert_eq!(scanner.claim(), Claim::Complete);
        // What follows on the line decides, however much later it comes.
        let mut scanner = Scanner::new(&Patterns::new(&Completion::default()));
        for piece in [filler.as_str(), "<response>DONE</response>", &" ".repeat(2 * WINDOW), "before it works"] {
            scanner.feed(piece);
        }
        scanner.message_ended();
        assert_eq!(scanner.claim(), Claim::None);
    }
}
