//! What is wrong with settings, collected as data and told once, all of it.

use ralph_core::outcome::exit;
use ralph_core::text;
use serde_json::Value;
use std::fmt;

/// Why settings cannot be used: all problems at once, a line each, then the hints.
#[derive(Debug, Default, thiserror::Error)]
#[error("{}", self.lines().join("\n"))]
pub struct SettingsError(Vec<Problem>);

/// One problem: where it is, what is there, what should be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Problem {
    pub(super) place: String,
    /// The key, or nothing if it is about the whole file.
    pub(super) key: String,
    pub(super) reason: String,
    /// The line in question with a caret below it, or nothing.
    pub(super) excerpt: String,
    pub(super) hint: String,
    /// Whether the machine is to blame, and not whoever wrote the settings.
    pub(super) machine: bool,
}

/// The most problems told at once; whoever has more of them has one mistake, made many times.
const MOST_TOLD: usize = 40;

impl SettingsError {
    pub(super) fn add(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn code(&self) -> u8 {
        if self.0.iter().any(|problem| problem.machine) { exit::IO } else { exit::USAGE }
    }

    pub fn errors(&self) -> Vec<String> {
        let mut errors: Vec<String> = self.0.iter().take(MOST_TOLD).map(Problem::to_string).collect();
        let untold = self.0.len().saturating_sub(MOST_TOLD);
        errors.extend((untold > 0).then(|| format!("… and {untold} more")));
        errors
    }

    /// What to do about them, each once.
    pub fn hints(&self) -> Vec<&str> {
        let mut hints = Vec::new();
        for problem in &self.0 {
            if !problem.hint.is_empty() && !hints.contains(&problem.hint.as_str()) {
                hints.push(problem.hint.as_str());
            }
        }
        hints
    }

    fn lines(&self) -> Vec<String> {
        let hints = self.hints().into_iter().map(|hint| format!("hint: {hint}"));
        self.errors().into_iter().chain(hints).collect()
    }
}

impl Problem {
    pub(super) fn with_file(file: &str, reason: impl Into<String>) -> Problem {
        Problem { place: file.to_owned(), reason: reason.into(), ..Problem::default() }
    }

    /// A file that the system did not give.
    pub(super) fn unreadable(file: &str, error: &std::io::Error) -> Problem {
        let machine = ralph_host::look::is_fault_of_the_machine(error);
        Problem { machine, ..Problem::with_file(file, format!("cannot be read: {error}")) }
    }

    pub(super) fn at_key(self, key: impl Into<String>) -> Problem {
        Problem { key: key.into(), ..self }
    }

    pub(super) fn hinting(self, hint: &str) -> Problem {
        Problem { hint: hint.to_owned(), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "{}", self.reason)?;
        if !self.excerpt.is_empty() {
            write!(f, "\n{}", self.excerpt)?;
        }
        Ok(())
    }
}

/// The longest value that is quoted whole in a problem.
const SHOWN_VALUE: usize = 60;

/// A value as a problem quotes it: short, on one line, harmless to a terminal.
pub(super) fn found(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => found_kind(value).to_owned(),
        scalar => text::for_terminal(&text::cut(&scalar.to_string(), SHOWN_VALUE, "…")),
    }
}

/// What kind of value it is, where the value itself may be a secret.
pub(super) fn found_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(text) if text.trim().is_empty() => "a blank string",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_tells_each_hint_once_and_does_not_flood_the_screen() {
        let mut report = SettingsError::default();
        for n in 0..60 {
            report.add(Problem::with_file("f", format!("wrong {n}")).at_key("k").hinting("do it right"));
        }
        let text = report.to_string();
        assert!(text.starts_with("f: k: wrong 0\nf: k: wrong 1\n"));
        assert!(text.ends_with("wrong 39\n… and 20 more\nhint: do it right"));
        assert_eq!(text.lines().count(), MOST_TOLD + 2);
    }

    #[test]
    fn quoted_values_are_short_and_harmless() {
        assert_eq!(found(&Value::from("\u{1b}[2J\n")), r#""\u001b[2J\n""#);
        assert_eq!(found(&Value::from("\u{9b}2Jx")), r#""x""#);
        assert_eq!(found(&Value::from("x".repeat(500))).chars().count(), SHOWN_VALUE + 1);
        assert_eq!(found(&serde_json::json!([1])), "a list");
    }
}
