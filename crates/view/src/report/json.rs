//! A report for programs: everything that `show` and `explain` tell, with the checks over the
//! iterations and the waits, and nothing left out.

use super::matrix::{Cell, Matrix, Name, Row};
use crate::Style;
use crate::explanation::{self, Explanation};
use crate::json;
use crate::json::extend;
use crate::run_view::Wait;
use serde_json::{Value, json};

pub fn of(case: &Explanation, style: &Style) -> Value {
    let view = &case.view;
    let mut object = json::whole(view, case.state, case.worked, &style.suggest);
    extend(&mut object, explanation::for_programs(case, "report", style));
    let more = json!({
        "asked": view.asked(),
        "checks": checks(&Matrix::of(view)),
        "waits": view.waits.iter().map(wait).collect::<Vec<_>>(),
        "waited_ms": view.waited().0,
    });
    extend(&mut object, more);
    object
}

/// One object for a check, with every iteration in which it was made.
fn checks(matrix: &Matrix<'_>) -> Vec<Value> {
    let made = |column: usize| {
        let cells = matrix.rows.iter().filter_map(move |row| Some((row, row.cells.get(column)?.as_ref()?)));
        cells.map(|(row, cell)| self::cell(row, cell)).collect::<Vec<_>>()
    };
    let checks = matrix.checks.iter().enumerate();
    let object = |(column, check): (usize, &Name)| json!({ "check": check.kind.as_str(), "name": check.name, "iterations": made(column) });
    checks.map(object).collect()
}

fn cell(row: &Row<'_>, cell: &Cell<'_>) -> Value {
    json!({
        "iteration": row.iteration,
        "attempt": row.attempt,
        "result": cell.how.as_str(),
        "duration_ms": cell.duration.0,
        "log": cell.log,
    })
}

fn wait(wait: &Wait) -> Value {
    json!({
        "iteration": wait.iteration,
        "at": wait.at.rfc3339(),
        "until": wait.until.rfc3339(),
        "why": wait.why,
        "waited_ms": wait.waited.map(|waited| waited.0),
    })
}
