//! Which check went how in which iteration.

use crate::run_view::{Check, Finding, RunView};
use ralph_core::check::{CheckKind, CheckReport, Ground};
use ralph_core::time::Millis;

pub struct Matrix<'s> {
    pub checks: Vec<Name>,
    pub rows: Vec<Row<'s>>,
}

pub struct Row<'s> {
    pub iteration: u32,
    pub attempt: u32,
    /// One place for each check; those behind the last one that was made may be missing.
    pub cells: Vec<Option<Cell<'s>>>,
}

/// A check. One that stands in the settings twice has two columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub kind: CheckKind,
    pub name: String,
}

impl Name {
    /// The command, or the kind and what was looked at.
    pub fn title(&self) -> String {
        match self.kind {
            CheckKind::Guardrail | CheckKind::Verify => self.name.clone(),
            kind => format!("{}: {}", kind.as_str(), self.name),
        }
    }
}

pub struct Cell<'s> {
    pub how: How,
    pub duration: Millis,
    pub log: Option<&'s str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Passed,
    Failed,
    /// Not found, killed, timed out: it says nothing about the work.
    CouldNotRun,
}

impl How {
    /// How an executed check went.
    pub fn of(report: &CheckReport) -> How {
        match report.passed() {
            true => How::Passed,
            false if report.ending.ran() => How::Failed,
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

impl<'s> Matrix<'s> {
    pub fn of(view: &'s RunView) -> Matrix<'s> {
        let rules = view.machine.policy().checks(0, Ground::Project).into_iter();
        let checks = rules.map(|spec| Name { kind: spec.source, name: spec.name().to_owned() }).collect();
        let mut matrix = Matrix { checks, rows: Vec::new() };
        matrix.add(0, 1, view.baseline.iter().map(executed));
        for attempt in &view.attempts {
            let made = attempt.counted().map(executed).chain(attempt.findings.iter().map(found));
            matrix.add(attempt.iteration, attempt.attempt, made);
        }
        matrix
    }

    fn add(&mut self, iteration: u32, attempt: u32, made: impl Iterator<Item = Made<'s>>) {
        let mut cells: Vec<Option<Cell<'s>>> = Vec::new();
        for Made { kind, name, cell } in made {
            let column = self.column(kind, name, &cells);
            if cells.len() <= column {
                cells.resize_with(column + 1, || None);
            }
            if let Some(place) = cells.get_mut(column) {
                *place = Some(cell);
            }
        }
        if !cells.is_empty() {
            self.rows.push(Row { iteration, attempt, cells });
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

/// A check on its way to its place.
struct Made<'s> {
    kind: CheckKind,
    name: &'s str,
    cell: Cell<'s>,
}

fn executed<'s>(check: &'s Check) -> Made<'s> {
    let report = &check.report;
    let cell = Cell { how: How::of(report), duration: report.duration, log: Some(report.log.as_str()) };
    Made { kind: check.kind, name: report.spec.name(), cell }
}

fn found(finding: &Finding) -> Made<'_> {
    let how = match (finding.passed, finding.kind) {
        (true, _) => How::Passed,
        // Without a receipt nothing was executed.
        (false, CheckKind::Guardrail | CheckKind::Verify) => How::CouldNotRun,
        (false, _) => How::Failed,
    };
    let cell = Cell { how, duration: finding.duration, log: finding.log.as_deref() };
    Made { kind: finding.kind, name: &finding.name, cell }
}
