//! What was seen of a plan's files and of the repository around them. What is as the machine knows it already is not
//! told again, so that it stands in the journal once.

use super::Seen;
use crate::text;
use serde::{Deserialize, Serialize};

/// The bytes of a file. In the journal they are text, or hexadecimal digits where they are none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Content(Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Hex { hex: String },
}

impl Content {
    pub fn new(bytes: impl Into<Vec<u8>>) -> Content {
        Content(bytes.into())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, with a sign in place of what is none.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// By which it is known again.
    pub fn print(&self) -> String {
        text::hash(&self.0)
    }
}

impl From<Written> for Content {
    fn from(written: Written) -> Content {
        match written {
            Written::Text(text) => Content(text.into_bytes()),
            Written::Hex { hex } => Content(text::unhex(&hex)),
        }
    }
}

impl From<Content> for Written {
    fn from(content: Content) -> Written {
        match String::from_utf8(content.0) {
            Ok(text) => Written::Text(text),
            Err(error) => Written::Hex { hex: text::hex(&error.into_bytes()) },
        }
    }
}

/// What stands where a file should stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sight {
    /// What the machine knows already.
    Same,
    Holds(Content),
    Gone,
    Link,
    Directory,
    TooLarge(u64),
    /// In the words of the system.
    Unreadable(String),
}

impl Sight {
    /// As the rules of a plan take it; `known` is what the machine knows already.
    pub fn seen<'s>(&'s self, known: Option<&'s Content>) -> Seen<'s> {
        match self {
            Sight::Same => known.map_or(Seen::Gone, |known| Seen::Bytes(known.bytes())),
            Sight::Holds(content) => Seen::Bytes(content.bytes()),
            Sight::Gone => Seen::Gone,
            Sight::Link => Seen::Link,
            Sight::Directory => Seen::Directory,
            Sight::TooLarge(bytes) => Seen::TooLarge(*bytes),
            Sight::Unreadable(why) => Seen::Unreadable(why),
        }
    }

    /// What the file holds; `None` if there is no readable file.
    pub fn content<'s>(&'s self, known: Option<&'s Content>) -> Option<&'s Content> {
        match self {
            Sight::Same => known,
            Sight::Holds(content) => Some(content),
            _ => None,
        }
    }

    /// What is wrong with it, as the end of a sentence; empty if it is a file that can be read.
    pub fn problem(&self) -> String {
        match self {
            Sight::Same | Sight::Holds(_) => String::new(),
            Sight::Gone => "is not there".to_owned(),
            Sight::Link => "is a symbolic link, not a file".to_owned(),
            Sight::Directory => "is a directory, not a file".to_owned(),
            Sight::TooLarge(bytes) => format!("has {bytes} bytes, which is too large"),
            Sight::Unreadable(why) => format!("could not be read: {why}"),
        }
    }
}

/// The files of a plan and the repository around them, as they stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSeen {
    pub tasks: Sight,
    pub prd: Sight,
    pub template: Sight,
    pub progress: Sight,
    /// `None` where there is no repository, or git cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitSeen>,
    /// Why git cannot tell; empty if it can, or if there is no repository.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub problem: String,
}

/// Where a repository stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GitSeen {
    /// The commit; empty before the first one.
    pub head: String,
    /// Empty if HEAD is no branch.
    pub branch: String,
    /// The project's folder, from the top of the work tree; empty if that is it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// What `git status --porcelain` names, less ralph's own files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirty: Vec<Dirty>,
}

/// Something that is not committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dirty {
    /// As git names it, from the top of the work tree.
    pub path: String,
    /// Equal while its content is the same.
    pub print: String,
}

/// What of this is dirty and was not, or not like this, at the beginning.
pub fn newly_dirty(now: &[Dirty], began: &[Dirty]) -> Vec<String> {
    now.iter().filter(|dirty| !began.contains(dirty)).map(|dirty| dirty.path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_survive_the_journal() -> Result<(), serde_json::Error> {
        for bytes in [&b""[..], b"plain\n", "\u{feff}ä".as_bytes(), b"\xff\x00\x10a"] {
            let written = serde_json::to_string(&Content::new(bytes))?;
            assert_eq!(serde_json::from_str::<Content>(&written)?.bytes(), bytes, "{written}");
        }
        assert_eq!(serde_json::to_string(&Content::new(&b"plain"[..]))?, "\"plain\"");
        Ok(())
    }

    #[test]
    fn what_was_dirty_before_and_is_as_it_was_is_nobodys_work() {
        let dirty = |path: &str, print: &str| Dirty { path: path.to_owned(), print: print.to_owned() };
        let began = [dirty("a", "1"), dirty("b", "1")];
        let now = [dirty("a", "1"), dirty("b", "2"), dirty("c", "1")];
        assert_eq!(newly_dirty(&now, &began), ["b", "c"]);
    }
}
