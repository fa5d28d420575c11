//! What `ralph doctor` found, for people and for programs.

use crate::Paint;
use crate::json::VERSION;
use ralph_core::outcome::exit;
use ralph_core::text;
use serde_json::{Value, json};
use std::fmt::Write as _;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    check: String,
    status: Status,
    detail: String,
    fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Ok,
    /// Worth knowing; a run could start all the same.
    Note,
    Problem(u8),
}

impl Status {
    const fn word(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Note => "note",
            Status::Problem(_) => "problem",
        }
    }

    fn painted(self, paint: Paint, text: &str) -> String {
        match self {
            Status::Ok => paint.green(text),
            Status::Note => paint.yellow(text),
            Status::Problem(_) => paint.red(text),
        }
    }
}

impl Finding {
    fn new(check: impl Into<String>, status: Status, detail: impl Into<String>) -> Finding {
        Finding { check: check.into(), status, detail: detail.into(), fix: None }
    }

    pub fn ok(check: impl Into<String>, detail: impl Into<String>) -> Finding {
        Finding::new(check, Status::Ok, detail)
    }

    pub fn note(check: impl Into<String>, detail: impl Into<String>) -> Finding {
        Finding::new(check, Status::Note, detail)
    }

    pub fn problem(check: impl Into<String>, detail: impl Into<String>, code: u8) -> Finding {
        Finding::new(check, Status::Problem(code), detail)
    }

    pub fn fix(self, fix: impl Into<String>) -> Finding {
        Finding { fix: Some(fix.into()), ..self }
    }
}

/// Everything that was found, in the order in which it matters.
pub struct Report(pub Vec<Finding>);

/// The width of the longest word for a status, and of the names that most checks have.
const COLUMNS: (usize, usize) = (7, 14);

impl Report {
    /// That of the first problem that is told; the others would come to light one after the other.
    pub fn exit_code(&self) -> u8 {
        let code = |finding: &Finding| match finding.status {
            Status::Problem(code) => Some(code),
            Status::Ok | Status::Note => None,
        };
        self.0.iter().find_map(code).unwrap_or(exit::OK)
    }

    pub fn for_people(&self, paint: Paint) -> String {
        let mut page = String::new();
        let margin = " ".repeat(COLUMNS.0 + COLUMNS.1 + 4);
        for Finding { check, status, detail, fix } in &self.0 {
            let word = status.painted(paint, &format!("{:<1$}", status.word(), COLUMNS.0));
            let detail = text::for_terminal(detail.trim_end()).replace('\n', &format!("\n{margin}"));
            let _ = writeln!(page, "{word}  {:<1$}  {detail}", check, COLUMNS.1);
            if let Some(fix) = fix {
                let _ = writeln!(page, "{margin}fix: {}", paint.cyan(&text::for_terminal(fix)));
            }
        }
        let problems = self.0.iter().filter(|finding| matches!(finding.status, Status::Problem(_))).count();
        let verdict = match problems {
            0 => paint.green("A run could start here."),
            _ => paint.red(&format!("No run could start here: {}.", text::count(problems as u64, "problem"))),
        };
        let _ = writeln!(page, "\n{verdict}");
        page
    }

    pub fn for_programs(&self) -> Value {
        let object = |finding: &Finding| {
            json!({
                "check": finding.check,
                "status": finding.status.word(),
                "detail": finding.detail,
                "fix": finding.fix,
            })
        };
        json!({
            "v": VERSION,
            "ok": self.exit_code() == exit::OK,
            "exit_code": self.exit_code(),
            "checks": self.0.iter().map(object).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_problem_gives_the_code_and_notes_give_none() {
        let note = || Finding::note("n", "d").fix("f");
        for (findings, code) in [
            (vec![], exit::OK),
            (vec![Finding::ok("a", "d"), note()], exit::OK),
            (vec![note(), Finding::problem("a", "d", 5), Finding::problem("b", "d", 75)], 5),
        ] {
            let report = Report(findings);
            assert_eq!(report.exit_code(), code);
            assert_eq!(report.for_programs().get("ok"), Some(&Value::from(code == exit::OK)));
        }
    }

    #[test]
    fn what_programs_printed_cannot_drive_the_terminal() {
        let report = Report(vec![Finding::note("x", "a\u{1b}[2Jb\nc")]);
        let page = report.for_people(Paint::default());
        assert!(page.starts_with("note     x               ab\n                         c\n"), "{page}");
    }
}
