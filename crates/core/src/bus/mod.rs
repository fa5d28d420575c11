//! Messages between people, agents and runs, and how they stand in a bus file.
//!
//! A bus is a text file to which entries are appended, so that people can read it and any program can
//! follow it:
//!
//! ```text
//! ---
//! id: m7f3a9k2mq1xw
//! at: 2026-11-15T08:45:01.123Z
//! type: USER_REQUEST
//! task: checkout
//! from: anna
//! bytes: 17
//! ---
//! please add a test
//! <!-- end m7f3a9k2mq1xw -->
//!
//! ```
//!
//! The header says how many bytes the body has, so that a body may hold anything. One that holds the
//! beginning of an entry is *quoted*: `> ` stands before each of its lines and `quoted: yes` in the header, so
//! that not even half of it can be taken for a message. The end line repeats the id, so that the last bytes of a file show whether its last entry is whole. Header
//! lines that are not known are passed over: the format is additive. What the file says about a sender is
//! what its writer said; whoever can write the file can write that, so no privilege hangs on it.

mod scan;

pub use scan::{End, LONGEST_END, Piece, Scan, begins_as_entry, ends_whole};

use crate::id::{MessageId, NotAName, RunId, TaskName, plain_name};
use crate::text;
use crate::time::WallTime;
use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// The bus of a task, in its folder.
pub const TASK_BUS: &str = "TASK-MESSAGE-BUS.md";
/// The bus of a project, in `.ralph`.
pub const PROJECT_BUS: &str = "PROJECT-MESSAGE-BUS.md";
/// The longest body. A megabyte must pass; this is far more, and bounds what a reader has to hold.
pub const LARGEST_BODY: usize = 16 << 20;
pub const LARGEST_ENTRY: usize = LARGEST_HEADER + LARGEST_BODY + LONGEST_END;
/// The longest header with its two lines of dashes: room for a thousand parents.
pub const LARGEST_HEADER: usize = 16 << 10;
const LONGEST_KIND: usize = 64;
const LONGEST_SENDER: usize = 80;

const START: &str = "---\nid: ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub at: WallTime,
    pub kind: Kind,
    pub project: Option<String>,
    pub task: Option<TaskName>,
    pub run: Option<RunId>,
    pub parents: Vec<MessageId>,
    /// Who posted it, as ralph saw it.
    pub from: String,
    pub body: String,
}

impl Message {
    /// A message about nothing in particular.
    pub fn new(id: MessageId, at: WallTime, kind: Kind, from: &str, body: impl Into<String>) -> Message {
        Message {
            id,
            at,
            kind,
            project: None,
            task: None,
            run: None,
            parents: Vec::new(),
            from: from.to_owned(),
            body: body.into(),
        }
    }

    /// The entry in the file, or why it would not be read back.
    pub fn encode(&self) -> Result<String, TooLarge> {
        let quoted = scan::could_be_an_entry(&self.body).then(|| scan::quote(&self.body));
        let body = quoted.as_deref().unwrap_or(&self.body);
        let mut entry = self.header();
        let quoted = if quoted.is_some() { "quoted: yes\n" } else { "" };
        let _ = write!(entry, "{quoted}bytes: {}\n---\n", body.len());
        let too_large = [("header", entry.len(), LARGEST_HEADER), ("body", body.len(), LARGEST_BODY)]
            .into_iter()
            .find(|(_, bytes, most)| bytes > most);
        if let Some((part, bytes, most)) = too_large {
            return Err(TooLarge { part, bytes, most });
        }
        entry.reserve(body.len() + LONGEST_END);
        entry.push_str(body);
        let _ = write!(entry, "\n{}{}{}\n\n", scan::END_BEGINS, self.id, scan::END_ENDS);
        Ok(entry)
    }

    /// The lines that say what it is; those about the body follow.
    fn header(&self) -> String {
        let mut header = String::with_capacity(256);
        let _ = write!(header, "{START}{}\nat: {}\ntype: {}\n", self.id, self.at.rfc3339(), self.kind);
        let mut line = |key: &str, value: &str| {
            if !value.is_empty() {
                let _ = writeln!(header, "{key}: {value}");
            }
        };
        line("project", &one_line(self.project.as_deref().unwrap_or_default()));
        line("task", self.task.as_ref().map_or("", TaskName::as_str));
        line("run", self.run.as_ref().map_or("", RunId::as_str));
        if !self.parents.is_empty() {
            let parents: Vec<&str> = self.parents.iter().map(MessageId::as_str).collect();
            line("parents", &format!("[{}]", parents.join(", ")));
        }
        line("from", &one_line(&self.from));
        header
    }
}

/// A value that cannot begin another line of the header.
fn one_line(value: &str) -> Cow<'_, str> {
    let plain = |c: char| !c.is_control() && !text::LINE_ENDS.contains(&c);
    if value.len() <= LONGEST_SENDER && value.chars().all(plain) && value.trim() == value {
        return Cow::Borrowed(value);
    }
    let clean: String = value.chars().map(|c| if plain(c) { c } else { ' ' }).collect();
    Cow::Owned(text::prefix(clean.trim(), LONGEST_SENDER).trim().to_owned())
}

/// What a message is: a word that people and programs agree on. `user-request` is `USER_REQUEST`.
#[derive(Debug, Clone)]
pub struct Kind(Cow<'static, str>);

impl Kind {
    /// A person wants something of a running loop.
    pub const USER_REQUEST: Kind = Kind(Cow::Borrowed("USER_REQUEST"));
    /// Its parents were seen and dealt with.
    pub const ACK: Kind = Kind(Cow::Borrowed("ACK"));
    /// A supervised agent is not to be started again before something happens.
    pub const WAIT_WITHOUT_RESTART: Kind = Kind(Cow::Borrowed("wait_without_restart"));
    /// Something that became true.
    pub const FACT: Kind = Kind(Cow::Borrowed("FACT"));
    pub const INFO: Kind = Kind(Cow::Borrowed("INFO"));
    pub const WARNING: Kind = Kind(Cow::Borrowed("WARNING"));
    pub const ERROR: Kind = Kind(Cow::Borrowed("ERROR"));
    /// What is left of an entry whose writer did not get to its end.
    pub const TORN: Kind = Kind(Cow::Borrowed("TORN"));

    /// Takes a type that somebody typed, or says why it cannot be one.
    pub fn parse(text: &str) -> Result<Kind, NotAName> {
        plain_name(text, LONGEST_KIND)?;
        match text.chars().next() {
            Some(first) if !first.is_ascii_alphabetic() => Err(NotAName::Beginning(first)),
            _ => Ok(Kind(Cow::Owned(text.to_owned()))),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        let letter = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
        self.0.bytes().map(letter).eq(other.0.bytes().map(letter))
    }
}

impl Eq for Kind {}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a message cannot stand on a bus.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the message's {part} has {bytes} bytes, and {most} is the most: put it into a file and post its path")]
pub struct TooLarge {
    pub part: &'static str,
    pub bytes: usize,
    pub most: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &str) -> Message {
        let id = MessageId::from_random(7);
        Message::new(id, WallTime(1_794_732_301_123), Kind::INFO, "anna", body)
    }

    #[test]
    fn an_entry_reads_like_a_letter() {
        let mut full = message("please add a test");
        full.kind = Kind::USER_REQUEST;
        full.project = Some("shop".to_owned());
        full.task = TaskName::parse("checkout").ok();
        full.run = RunId::parse("7f3a9k2m");
        full.parents = vec![MessageId::from_random(1), MessageId::from_random(2)];
        let expected = "---\nid: m700000000000\nat: 2026-11-15T08:45:01.123Z\ntype: USER_REQUEST\nproject: shop\n\
                        task: checkout\nrun: 7f3a9k2m\nparents: [m100000000000, m200000000000]\nfrom: anna\n\
                        bytes: 17\n---\nplease add a test\n<!-- end m700000000000 -->\n\n";
        assert_eq!(full.encode().as_deref(), Ok(expected));
    }

    #[test]
    fn o08_a_sender_cannot_write_header_lines() {
        let mut forged = message("x");
        forged.from = "eve\nrun: 7f3a9k2m\u{2028}bytes: 0\u{2029}---\n".to_owned();
        forged.project = Some(format!("{}\u{1b}[2J", "p".repeat(300)));
        let entry = forged.encode().unwrap_or_default();
        assert!(entry.contains("\nfrom: eve run: 7f3a9k2m bytes: 0 ---\n"), "{entry}");
        assert!(!entry.contains('\u{1b}') && !entry.contains("\nrun:"), "{entry}");
    }

    #[test]
    fn types_are_the_same_in_any_spelling() {
        for spelling in ["USER_REQUEST", "user-request", "User_Request"] {
            assert_eq!(Kind::parse(spelling), Ok(Kind::USER_REQUEST), "{spelling}");
        }
        assert_ne!(Kind::parse("USERREQUEST"), Ok(Kind::USER_REQUEST));
        let long = "x".repeat(65);
        for text in ["", "9lives", "_x", "-x", ".x", "a b", "a/b", "é", "a\nb", &long] {
            assert!(Kind::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_could_not_be_read_back_is_not_written() {
        assert!(message(&"x".repeat(LARGEST_BODY)).encode().is_ok());
        let error = message(&"x".repeat(LARGEST_BODY + 1)).encode().map_err(|error| error.part);
        assert_eq!(error, Err("body"));
        let mut many = message("x");
        many.parents = (0..2000).map(MessageId::from_random).collect();
        assert_eq!(many.encode().map_err(|error| error.part), Err("header"));
    }
}
