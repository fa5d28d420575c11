//! Which check went how in which iteration.

use super::super::story::{Chapter, Story};
use ralph_core::check::{CheckEnding, CheckKind};
use ralph_core::time::Millis;

/// All checks of a run over its iterations.
pub struct Matrix<'s, 'a> {
    /// The checks, in the order in which they first were told.
    pub checks: Vec<Name>,
    /// An iteration with one place for each check; a later check may be missing at the end.
    pub rows: Vec<(&'s Chapter<'a>, Vec<Option<Cell<'s>>>)>,
}

/// A check. One that stands in the settings twice has two columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// Its kind.
    pub kind: CheckKind,
    /// Its command or name.
    pub name: String,
}

/// How a check went.
pub struct Cell<'s> {
    /// How.
    pub how: How,
    /// How long it took.
    pub duration: Millis,
    /// Where its output is, if it has one.
    pub log: Option<&'s str>,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// Not found, killed, timed out: it says nothing about the work.
    CouldNotRun,
}

impl How {
    /// How an executed check went.
    pub fn of(ending: &CheckEnding) -> How {
        match ending.passed() {
            true => How::Passed,
            false if ending.ran() => How::Failed,
            false => How::CouldNotRun,
        }
    }

    /// The word as it stands in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            How::Passed => "passed",
            How::Failed => "failed",
            How::CouldNotRun => "could-not-run",
        }
    }
}

impl<'s, 'a> Matrix<'s, 'a> {
    /// The checks of a run.
    pub fn of(story: &'s Story<'a>) -> Matrix<'s, 'a> {
        let rules = story.machine.policy().guardrails.iter();
        let checks = rules.map(|rule| Name { kind: CheckKind::Guardrail, name: rule.command.clone() }).collect();
        let mut matrix = Matrix { checks, rows: Vec::new() };
        for chapter in &story.chapters {
            matrix.add(chapter);
        }
        matrix
    }

    fn add(&mut self, chapter: &'s Chapter<'a>) {
        let executed = chapter.counted().map(|check| {
            let report = check.report;
            let cell = Cell { how: How::of(&report.ending), duration: report.duration, log: Some(report.log.as_str()) };
            (check.kind, report.spec.command.as_str(), cell)
        });
        let found = chapter.findings.iter().map(|finding| {
            let how = if finding.passed { How::Passed } else { How::Failed };
            let cell = Cell { how, duration: finding.duration, log: finding.log.as_deref() };
            (finding.kind, finding.name.as_str(), cell)
        });
        let mut row: Vec<Option<Cell<'s>>> = Vec::new();
        for (kind, name, cell) in executed.chain(found) {
            let column = self.column(kind, name, &row);
            if row.len() <= column {
                row.resize_with(column + 1, || None);
            }
            if let Some(place) = row.get_mut(column) {
                *place = Some(cell);
            }
        }
        if !row.is_empty() {
            self.rows.push((chapter, row));
        }
    }

    /// The first place of this name that is still free in a row.
    fn column(&mut self, kind: CheckKind, name: &str, row: &[Option<Cell<'s>>]) -> usize {
        let free = |index: usize| row.get(index).is_none_or(Option::is_none);
        let is_it = |(index, check): (usize, &Name)| check.kind == kind && check.name == name && free(index);
        self.checks.iter().enumerate().position(is_it).unwrap_or_else(|| {
            self.checks.push(Name { kind, name: name.to_owned() });
            self.checks.len() - 1
        })
    }
}
