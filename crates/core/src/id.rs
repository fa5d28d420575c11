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
        const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let letter = |place: u32| {
            let index = (bits >> (5 * place)) & 31;
            ALPHABET.get(index as usize).copied().map_or('0', char::from)
        };
        RunId((0..8).map(letter).collect())
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

/// The name of a task, safe as a folder name: it picks the task folder, and with it the memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskName(String);

/// The longest task name in bytes, well below the 255 that file systems allow for one name.
const LONGEST_TASK_NAME: usize = 80;

impl TaskName {
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
