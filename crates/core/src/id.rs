//! Names that identify things, each a type of its own so that none is taken for another.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The id of a run: eight characters of Crockford's base 32, enough to be typed and not to clash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// Makes an id from 40 bits of randomness that the caller brings.
    pub fn from_random(bits: u64) -> RunId {
        RunId(base32(bits, 8))
    }

    /// Takes an id that somebody typed or that was stored; `None` if it could not be one.
    pub fn parse(text: &str) -> Option<RunId> {
        let plain = (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        plain.then(|| RunId(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a check: what its command is called in file names, with a number where two would be called alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckId(String);

impl CheckId {
    /// The id of this name.
    pub fn new(name: impl Into<String>) -> CheckId {
        CheckId(name.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CheckId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// This many characters of Crockford's base 32, five bits each.
fn base32(bits: u64, places: u32) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let letter = |place: u32| {
        let index = (bits >> (5 * place)) & 31;
        ALPHABET.get(index as usize).copied().map_or('0', char::from)
    };
    (0..places).map(letter).collect()
}

/// The id of a message on the bus: `m` and twelve characters of base 32.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(String);

impl MessageId {
    /// Makes an id from 60 bits of randomness that the caller brings.
    pub fn from_random(bits: u64) -> MessageId {
        MessageId(format!("m{}", base32(bits, 12)))
    }

    /// The id of a message that must be posted once only: whoever means the same thing, says the same
    /// text and gets the same id.
    pub fn from_meaning(text: &str) -> MessageId {
        let hash = crate::text::hash(text.as_bytes());
        // 15 hexadecimal digits are 60 bits, and always a number.
        MessageId::from_random(hash.get(..15).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0))
    }

    /// Takes an id that somebody typed or that stands in a file.
    pub fn parse(text: &str) -> Result<MessageId, NotAName> {
        plain_name(text, LONGEST_MESSAGE_ID).map(|()| MessageId(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The longest message id that is read: other programs may make longer ones than ralph does.
pub const LONGEST_MESSAGE_ID: usize = 64;

/// Why a text cannot be a name. Names become parts of paths and lines of headers, so only plain ones are taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAName {
    /// There is nothing.
    #[error("it is empty")]
    Empty,
    /// It would not fit.
    #[error("it has {length} bytes, and {longest} is the most")]
    TooLong {
        /// Its bytes.
        length: usize,
        /// The most.
        longest: usize,
    },
    /// It would be hidden, or lead elsewhere.
    #[error("it begins with `{0}`")]
    Beginning(char),
    /// It holds something else than letters, digits, `-`, `_` and `.`.
    #[error("it holds {0:?}; letters, digits, `-`, `_` and `.` can stand in it")]
    Character(char),
}

/// Whether a text is a plain name: ASCII letters, digits, `-`, `_` and `.`, beginning with a letter, digit or `_`.
pub fn plain_name(text: &str, longest: usize) -> Result<(), NotAName> {
    let strange = |c: &char| !c.is_ascii_alphanumeric() && !['-', '_', '.'].contains(c);
    match (text.chars().next(), text.chars().find(strange)) {
        (None, _) => Err(NotAName::Empty),
        _ if text.len() > longest => Err(NotAName::TooLong { length: text.len(), longest }),
        (_, Some(strange)) => Err(NotAName::Character(strange)),
        (Some(first @ ('.' | '-')), _) => Err(NotAName::Beginning(first)),
        _ => Ok(()),
    }
}

/// The name of a task, safe as a folder name: it picks the task folder, and with it the memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskName(String);

/// The longest task name in bytes, well below the 255 that file systems allow for one name.
pub const LONGEST_TASK_NAME: usize = 80;

impl TaskName {
    /// Takes the name of a task as it is, or says why it cannot be one.
    pub fn parse(text: &str) -> Result<TaskName, NotAName> {
        plain_name(text, LONGEST_TASK_NAME).map(|()| TaskName(text.to_owned()))
    }

    /// Makes a name from any text: what cannot stand in a folder name becomes `-`, and a name that
    /// had to be changed or cut gets a hash of the original, so that two texts never share a folder.
    pub fn from_text(text: &str) -> TaskName {
        let mut slug = String::new();
        for c in text.trim().chars() {
            if c.is_ascii_alphanumeric() || c == '_' || c == '.' {
                slug.push(c);
            } else if !slug.ends_with('-') {
                slug.push('-');
            }
        }
        let slug = slug.trim_matches(['-', '.']);
        if slug == text && slug.len() <= LONGEST_TASK_NAME && !slug.is_empty() {
            return TaskName(slug.to_owned());
        }
        let short: String = slug.chars().take(LONGEST_TASK_NAME - 9).collect();
        let hash = crate::text::short_hash(text.as_bytes());
        TaskName(if short.is_empty() { format!("task-{hash}") } else { format!("{short}-{hash}") })
    }

    /// The name for a prompt given as text: the same text finds the same memory again.
    pub fn from_prompt_text(prompt: &str) -> TaskName {
        TaskName(format!("prompt-{}", crate::text::short_hash(prompt.as_bytes())))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_ids_are_eight_plain_characters() {
        let id = RunId::from_random(0x1234_5678_9abc);
        assert_eq!(id.as_str().len(), 8);
        assert_eq!(RunId::parse(id.as_str()), Some(id));
        for bad in ["", "../x", "a b", "a/b", "é"] {
            assert_eq!(RunId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn message_ids_are_drawn_or_follow_from_what_they_mean() {
        let id = MessageId::from_random(0x0fff_ffff_ffff_ffff);
        assert_eq!(id.as_str(), "mzzzzzzzzzzzz");
        assert_eq!(MessageId::parse(id.as_str()), Ok(id));
        assert_eq!(MessageId::from_meaning("run x is done"), MessageId::from_meaning("run x is done"));
        assert_ne!(MessageId::from_meaning("run x is done"), MessageId::from_meaning("run y is done"));
    }

    #[test]
    fn l02_names_that_lead_elsewhere_are_refused_with_the_reason() {
        let long = "x".repeat(300);
        for (text, why) in [
            ("", "empty"),
            (".", "begins with `.`"),
            ("..", "begins with `.`"),
            (".hidden", "begins with `.`"),
            ("-flag", "begins with `-`"),
            ("a/b", "'/'"),
            ("../x", "'/'"),
            ("🎉", "'🎉'"),
            ("a b", "' '"),
            ("a\nb", "'\\n'"),
            (&long, "300 bytes"),
        ] {
            let error = TaskName::parse(text).err().map_or(String::new(), |error| error.to_string());
            assert!(error.contains(why), "{text}: {error}");
            assert!(MessageId::parse(text).is_err(), "{text}");
        }
        assert_eq!(TaskName::parse("fix_login-2.b").map(|name| name.to_string()), Ok("fix_login-2.b".to_owned()));
    }

    #[test]
    fn l02_task_names_are_safe_folder_names() {
        assert_eq!(TaskName::from_text("fix-login").as_str(), "fix-login");
        let long = "x".repeat(300);
        for text in ["", ".", "..", "../../etc", "a/b", "emoji 🎉 only", "  ", "CON:", &long, "a\0b"] {
            let name = TaskName::from_text(text);
            assert!(name.as_str().len() <= LONGEST_TASK_NAME, "{name}");
            assert!(name.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)), "{name}");
            assert!(!name.as_str().starts_with('.') && !name.as_str().is_empty(), "{name}");
        }
        assert_ne!(TaskName::from_text("a/b"), TaskName::from_text("a:b"));
    }
}
