//! What proves anything: the checks over the iterations, and their receipts.

use super::content::{NONE, number, section, table};
use super::matrix::{Cell, How, Matrix, Row};
use super::{Block, Look, Piece, Section, Table};
use crate::explanation::Explanation;
use crate::run_view::Check;
use crate::words;
use ralph_core::text;

pub fn checks(case: &Explanation) -> Section {
    let matrix = Matrix::of(&case.view);
    let width = matrix.checks.len();
    let mut heads = vec![Piece::plain("iteration")];
    heads.extend(matrix.checks.iter().map(|check| Piece::code(check.title())));
    let row = |row: &Row<'_>| {
        let piece = |cell: &Cell<'_>| Piece::new(look(cell.how), cell.duration.to_string());
        let cell = |column: usize| row.cells.get(column).and_then(Option::as_ref).map_or(Piece::plain(NONE), piece);
        let mut pieces = vec![Piece::plain(number(row.iteration, row.attempt))];
        pieces.extend((0..width).map(cell));
        pieces
    };
    let rows: Vec<Vec<Piece>> = matrix.rows.iter().map(row).collect();
    let mut blocks = Vec::new();
    if !rows.is_empty() {
        blocks.push(Block::Table(Table { heads, rows }));
        blocks.push(Block::Line(vec![
            Piece::new(Look::Good, "passed"),
            Piece::new(Look::Bad, "failed"),
            Piece::new(Look::Unsure, "could not run: not found, killed or timed out"),
            Piece::plain(format!("{NONE} not executed")),
        ]));
    } else if case.view.machine.policy().guardrails.is_empty() {
        blocks.push(Block::Line(vec![Piece::plain("No check was configured.")]));
    }
    section("Checks", blocks)
}

fn look(how: How) -> Look {
    match how {
        How::Passed => Look::Good,
        How::Failed => Look::Bad,
        How::CouldNotRun => Look::Unsure,
    }
}

pub fn receipts(case: &Explanation) -> Section {
    let rows = case.view.executed().map(|check| receipt(check, case.view.settings())).collect();
    let heads = ["iteration", "command", "result", "exit code", "time", "output", "size", "tree", "settings", "log"];
    section("Receipts", table(&heads, rows))
}

fn receipt(check: &Check, settings: &str) -> Vec<Piece> {
    let report = &check.report;
    let how = if report.passed() { "passed".to_owned() } else { report.problem() };
    let look = if check.set_aside.is_some() { Look::Unsure } else { look(How::of(report)) };
    let how = check.set_aside.map_or(how.clone(), |why| format!("{how}, does not count: {why}"));
    vec![
        Piece::plain(number(check.iteration, check.attempt)),
        Piece::code(report.spec.name()),
        Piece::new(look, how),
        Piece::plain(report.ending.code().map_or(NONE.to_owned(), |code| code.to_string())),
        Piece::plain(report.duration.to_string()),
        Piece::code(words::short(&report.output_hash)),
        Piece::plain(text::count(report.output_bytes, "byte")),
        Piece::plain(words::tree_of(check)),
        Piece::code(words::short(settings)),
        Piece::code(report.log.as_str()),
    ]
}
