//! Versions as programs print them: among other words, with a `v`, or with a build behind a dash.

use std::fmt;

/// Numbers with dots between them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(Vec<u64>);

impl Version {
    pub(super) fn find(text: &str) -> Option<Version> {
        text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '/' | '@')).find_map(Version::read)
    }

    fn read(word: &str) -> Option<Version> {
        let word = word.strip_prefix(['v', 'V']).unwrap_or(word);
        let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
        let (numbers, rest) = word.split_at_checked(end)?;
        // What follows may be a build, but not the rest of a name.
        if !rest.is_empty() && !rest.starts_with(['-', '+', ':', ';']) {
            return None;
        }
        let numbers = numbers.trim_end_matches('.').split('.').map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
        (numbers.len() > 1).then_some(Version(numbers))
    }

    /// Whether it comes before the other one; `2.1` and `2.1.0` are the same.
    pub(super) fn is_older_than(&self, other: &Version) -> bool {
        let length = self.0.len().max(other.0.len());
        let padded = |version: &Version| {
            let mut numbers = version.0.clone();
            numbers.resize(length, 0);
            numbers
        };
        padded(self) < padded(other)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_among_other_words() {
        for (text, version) in [
            ("2.1.325 (Claude Code)", Some("2.1.325")),
            ("codex-cli 0.166.0", Some("0.166.0")),
            ("0.0.1790142911-g7618fb (released 2026-11-01, 3d ago)", Some("0.0.1790142911")),
            ("GitHub Copilot CLI 1.0.102.\nCommit: abc", Some("1.0.102")),
            ("v1.18.33", Some("1.18.33")),
            ("git version 2.39.5 (Apple Git-154)", Some("2.39.5")),
            ("warning: node 20\n0.24.4", Some("0.24.4")),
            ("bubblewrap 0.8.0", Some("0.8.0")),
            ("", None),
            ("hello", None),
            ("20", None),
            ("1.2x", None),
            ("...", None),
            ("99999999999999999999999.1", None),
        ] {
            assert_eq!(Version::find(text).map(|version| version.to_string()).as_deref(), version, "{text}");
        }
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let version = |text| Version::find(text).unwrap();
        for (one, other, older) in [
            ("2.0.9", "2.1", true),
            ("2.1.0", "2.1", false),
            ("2.1", "2.1.0", false),
            ("2.10", "2.9", false),
            ("0.166.0", "0.166", false),
            ("0.99.0", "0.166", true),
            ("10.0", "2.1", false),
        ] {
            assert_eq!(version(one).is_older_than(&version(other)), older, "{one} {other}");
        }
    }
}
