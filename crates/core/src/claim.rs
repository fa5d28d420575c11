//! Finding claims in what an agent says.
//!
//! A claim is only a claim: it makes ralph look, never believe. The text may be of any length and
//! come in any pieces, so the scanner keeps a window and not the text.

use crate::text;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What an agent says about its work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "claim", rename_all = "snake_case")]
pub enum Claim {
    /// Nothing.
    #[default]
    None,
    /// The work is done.
    Complete,
    /// A person is needed.
    Blocked {
        /// Why, in the agent's words.
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

/// How an agent says that it is done or blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// What must stand in the first `<response>` tag.
    pub response: String,
    /// Matches a completion marker.
    pub success_regex: String,
    /// Matches a blocked marker; its first group is the reason.
    pub blocked_regex: String,
}

/// The default of [`Completion::success_regex`].
pub const SUCCESS_REGEX: &str = "<ralph>COMPLETE</ralph>";
/// The default of [`Completion::blocked_regex`].
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

/// The content of the first `<response>` tag, trimmed.
pub fn response_tag(text: &str) -> Option<&str> {
    let start = find_ignoring_case(text, "<response>")? + "<response>".len();
    let rest = text.get(start..)?;
    let end = find_ignoring_case(rest, "</response>")?;
    rest.get(..end).map(str::trim)
}

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
    /// Compiles. The settings were checked when they were read, so a pattern that does not compile
    /// cannot reach this; it would match nothing.
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

/// Looks for claims in text that comes in pieces.
#[derive(Debug)]
pub struct Scanner {
    patterns: Patterns,
    window: String,
    first_response: Option<bool>,
    complete: bool,
    blocked_reason: Option<String>,
    acks: Vec<String>,
}

/// Acknowledgements that are kept of one process: nobody answers more requests at once.
const ACKS_KEPT: usize = 200;

impl Scanner {
    /// A scanner for one agent process.
    pub fn new(patterns: &Patterns) -> Scanner {
        Scanner {
            patterns: patterns.clone(),
            window: String::new(),
            first_response: None,
            complete: false,
            blocked_reason: None,
            acks: Vec::new(),
        }
    }

    /// Takes the next piece of text.
    pub fn feed(&mut self, piece: &str) {
        self.window.push_str(piece);
        // Looking again at each piece would cost the square of a message's length.
        if self.window.len() > 2 * WINDOW {
            self.scan();
            let keep = text::suffix(&self.window, WINDOW).len();
            self.window.drain(..self.window.len() - keep);
        }
    }

    /// The message ended: a marker cannot go on in the next one.
    pub fn message_ended(&mut self) {
        self.scan();
        self.window.clear();
    }

    /// What was claimed so far.
    pub fn claim(&self) -> Claim {
        match &self.blocked_reason {
            Some(reason) => Claim::Blocked { reason: reason.clone() },
            None if self.complete || self.first_response == Some(true) => Claim::Complete,
            None => Claim::None,
        }
    }

    /// Requests that were acknowledged so far, by their ids.
    pub fn into_acks(self) -> Vec<String> {
        self.acks
    }

    fn scan(&mut self) {
        let (fresh, patterns) = (&self.window, &self.patterns.0);
        // Most messages hold no tag at all, and one look at them says so.
        if patterns.only_tags && memchr::memchr(b'<', fresh.as_bytes()).is_none() {
            return;
        }
        for ack in acks(fresh) {
            if self.acks.len() < ACKS_KEPT && !self.acks.contains(&ack) {
                self.acks.push(ack);
            }
        }
        if self.first_response.is_none()
            && let Some(answer) = response_tag(fresh)
        {
            self.first_response = Some(answer.to_lowercase() == patterns.response);
        }
        if self.blocked_reason.is_none()
            && let Some(found) = patterns.blocked.as_ref().and_then(|regex| regex.captures(fresh))
        {
            let reason = found.get(1).map_or("", |group| group.as_str()).trim();
            let reason = if reason.is_empty() { NO_REASON } else { reason };
            self.blocked_reason = Some(text::truncate(reason, 2000));
        }
        self.complete |= patterns.success.as_ref().is_some_and(|regex| regex.is_match(fresh));
    }
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
    fn the_first_response_tag_decides() {
        let cases = [
            ("<response>  DONE  </response>", Some("DONE")),
            ("<response>FIRST</response> text <response>SECOND</response>", Some("FIRST")),
            ("<response></response>", Some("")),
            ("<response>line1\nline2\nline3</response>", Some("line1\nline2\nline3")),
            ("a</response>", None),
            ("<response><response>x</response></response>", Some("<response>x")),
        ];
        for (text, answer) in cases {
            assert_eq!(response_tag(text), answer, "{text}");
        }
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
        ];
        for (text, response, claim) in cases {
            assert_eq!(claim_of(text, response), claim, "{text}");
        }
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
        let text = "wörk… <response>DONE</response> end";
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
        scanner.feed("NE</response>");
        for _ in 0..20 {
            scanner.feed(&filler);
            assert!(scanner.window.len() <= 2 * WINDOW + filler.len());
        }
        assert_eq!(scanner.claim(), Claim::Complete);
    }
}
