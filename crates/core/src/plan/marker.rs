//! `.ralph-active` in the project's root: what a plan run is doing, for prompts and for people's eyes. ralph believes
//! nothing in it, since agents can write to it too.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the file.
pub const FILE: &str = ".ralph-active";

/// What stands in the file. The names are those that plugins for such plans read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// RFC 3339, in UTC.
    pub timestamp: String,
    pub pid: u32,
    pub max_iterations: u32,
    pub mode: Isolation,
    #[serde(rename = "skipReview")]
    pub skip_review: bool,
    #[serde(rename = "reviewCap")]
    pub review_cap: u32,
    /// `implement`, `review` or `review-fix`.
    #[serde(rename = "iterationMode")]
    pub iteration_mode: String,
    /// The state of every story before the iteration.
    #[serde(rename = "preIterationSnapshot")]
    pub before: BTreeMap<String, StoryState>,
    /// What isolates the agent, such as `bwrap`; `none` if nothing does.
    pub backend: String,
    pub run: String,
    /// The story of the iteration.
    pub story: String,
}

/// Whether the agent is confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    Sandbox,
    Direct,
}

/// The fields of a story that a review is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoryState {
    pub passes: bool,
    pub review_status: Option<String>,
    pub review_count: u32,
}

/// A `.gitignore` that ignores the marker; nothing if this one does already.
pub fn ignored_by(gitignore: &str) -> Option<String> {
    let is_named = |line: &str| line.trim_end().strip_prefix('/').unwrap_or(line.trim_end()) == FILE;
    if gitignore.lines().any(is_named) {
        return None;
    }
    let end = if gitignore.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if gitignore.is_empty() || gitignore.ends_with('\n') { "" } else { end };
    Some(format!("{gitignore}{gap}{FILE}{end}"))
}

impl Marker {
    /// The text of the file.
    pub fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// Whose marker a file is: its process and its run. Nothing if it says neither, as one that somebody edited may.
    pub fn owner(text: &[u8]) -> Option<Owner> {
        serde_json::from_slice(text).ok()
    }
}

/// Who wrote a marker.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Owner {
    pub pid: u32,
    /// Absent in markers of other programs.
    #[serde(default)]
    pub run: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_the_names_that_plugins_read() -> Result<(), serde_json::Error> {
        let state = |passes, status: Option<&str>, review_count| StoryState {
            passes,
            review_status: status.map(str::to_owned),
            review_count,
        };
        let marker = Marker {
            timestamp: "2026-11-06T10:30:00Z".to_owned(),
            pid: 12345,
            max_iterations: 15,
            mode: Isolation::Sandbox,
            skip_review: false,
            review_cap: 5,
            iteration_mode: "review-fix".to_owned(),
            before: [("US-002", state(true, Some("approved"), 1)), ("US-001", state(false, None, 0))]
                .map(|(id, state)| (id.to_owned(), state))
                .into(),
            backend: "bwrap".to_owned(),
            run: "7h2kq0ab".to_owned(),
            story: "US-001".to_owned(),
        };
        let text = marker.text()?;
        insta::assert_snapshot!(text, @r#"
        {
          "timestamp": "2026-11-06T10:30:00Z",
          "pid": 12345,
          "max_iterations": 15,
          "mode": "sandbox",
          "skipReview": false,
          "reviewCap": 5,
          "iterationMode": "review-fix",
          "preIterationSnapshot": {
            "US-001": {
              "passes": false,
              "reviewStatus": null,
              "reviewCount": 0
            },
            "US-002": {
              "passes": true,
              "reviewStatus": "approved",
              "reviewCount": 1
            }
          },
          "backend": "bwrap",
          "run": "7h2kq0ab",
          "story": "US-001"
        }
        "#);
        assert_eq!(serde_json::from_str::<Marker>(&text)?, marker);
        Ok(())
    }

    #[test]
    fn the_marker_is_ignored_once_and_lines_end_as_they_did() {
        for (before, after) in [
            ("", Some(".ralph-active\n")),
            ("target\n", Some("target\n.ralph-active\n")),
            ("target", Some("target\n.ralph-active\n")),
            ("a\r\nb", Some("a\r\nb\r\n.ralph-active\r\n")),
            ("# .ralph-active\n", Some("# .ralph-active\n.ralph-active\n")),
            ("a\n.ralph-active\nb\n", None),
            ("/.ralph-active \r\n", None),
        ] {
            assert_eq!(ignored_by(before).as_deref(), after, "{before}");
        }
    }

    #[test]
    fn a_marker_that_cannot_be_read_has_no_owner() {
        let owner = |pid, run: Option<&str>| Some(Owner { pid, run: run.map(str::to_owned) });
        for (text, expected) in [
            ("{\"pid\":7,\"run\":\"a\",\"more\":[1]}", owner(7, Some("a"))),
            ("{\"pid\":7}", owner(7, None)),
            ("{\"pid\":-7}", None),
            ("{\"run\":\"a\"}", None),
            ("{\"pid\":7", None),
            ("", None),
            ("\u{0}", None),
        ] {
            assert_eq!(Marker::owner(text.as_bytes()), expected, "{text}");
        }
    }
}
