//! The place of a value in settings, as people write it: `guardrails[0].failAction`.

use ralph_core::text;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The steps from the top to a value. Walkers push before they go down and pop when they come back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct KeyPath(Vec<Step>);

impl KeyPath {
    pub(super) fn new<'a>(keys: impl IntoIterator<Item = &'a str>) -> KeyPath {
        KeyPath(keys.into_iter().map(|key| Step::Key(key.to_owned())).collect())
    }

    pub(super) fn push_key(&mut self, key: &str) {
        self.0.push(Step::Key(key.to_owned()));
    }

    pub(super) fn push_index(&mut self, index: usize) {
        self.0.push(Step::Index(index));
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.0
    }

    pub(super) fn is_in_a_list(&self) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Index(_)))
    }

    /// Whether this is a place inside the object or list at `keys`.
    pub(super) fn is_inside(&self, keys: &[&str]) -> bool {
        self.0.len() > keys.len()
            && self.0.iter().zip(keys).all(|(step, key)| matches!(step, Step::Key(name) if name == key))
    }
}

/// The longest key that is shown whole: longer than any known one, shorter than a line.
const SHOWN_KEY: usize = 60;

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_plain(key) => write!(f, "{}{key}", if place == 0 { "" } else { "." })?,
                // A key with a dot in it would look like two; quoted, nothing in it is taken for more.
                Step::Key(key) => {
                    let quoted = serde_json::Value::from(text::cut(key, SHOWN_KEY, "…")).to_string();
                    write!(f, "[{}]", text::for_terminal(&quoted))?;
                }
            }
        }
        Ok(())
    }
}

fn is_plain(key: &str) -> bool {
    (1..=SHOWN_KEY).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"$_-".contains(&b))
}

impl From<&serde_path_to_error::Path> for KeyPath {
    fn from(path: &serde_path_to_error::Path) -> KeyPath {
        use serde_path_to_error::Segment;
        let step = |segment: &Segment| match segment {
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Map { key } => Some(Step::Key(key.clone())),
            Segment::Enum { variant } => Some(Step::Key(variant.clone())),
            Segment::Unknown => None,
        };
        KeyPath(path.iter().filter_map(step).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_as_people_write_it() {
        let mut path = KeyPath::new(["guardrails"]);
        path.push_index(0);
        path.push_key("failAction");
        assert_eq!(path.to_string(), "guardrails[0].failAction");
        assert!(path.is_inside(&["guardrails"]) && !path.is_inside(&["agent"]));
        for (key, shown) in [
            ("fix-login", "tasks.fix-login"),
            ("a.b", r#"tasks["a.b"]"#),
            ("", r#"tasks[""]"#),
            ("\u{1b}[31mred", r#"tasks["\u001b[31mred"]"#),
            ("\u{9b}31mred", r#"tasks["red"]"#),
        ] {
            assert_eq!(KeyPath::new(["tasks", key]).to_string(), shown);
        }
    }
}
