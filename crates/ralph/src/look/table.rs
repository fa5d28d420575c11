//! The table of runs: one line each, in columns that fit what is in them.

use super::live::Live;
use super::state::State;
use super::words;
use crate::face::local_time;
use crate::face::paint::Paint;
use crate::place::Place;
use ralph_core::run::RunRow;
use ralph_core::time::{Millis, WallTime};
use std::time::UNIX_EPOCH;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The widest task and check in the table.
const NAME_WIDTH: usize = 32;

/// A run as it looks at this moment.
pub struct Seen<'a> {
    /// What is stored about it.
    pub row: &'a RunRow,
    /// Whether it runs.
    pub state: State,
    /// How long ago it did anything.
    quiet: Millis,
    now: WallTime,
}

impl<'a> Seen<'a> {
    /// Looks at a run.
    pub fn of(row: &'a RunRow, live: &Live<'_>, place: &Place, now: WallTime) -> Seen<'a> {
        let state = live.state(row);
        let journal = words::between(row.updated_at, now);
        // Between two entries of the journal, an agent that prints is not silent.
        let quiet = match state {
            State::Running => log_age(place, row, now).map_or(journal, |log| log.min(journal)),
            _ => journal,
        };
        Seen { row, state, quiet, now }
    }

    fn cells(&self) -> [String; 9] {
        let Seen { row, state, quiet, now } = self;
        let end = if *state == State::Running { *now } else { row.updated_at };
        let check = row
            .last_check
            .as_ref()
            .map_or("-".to_owned(), |(name, passed)| format!("{} {}", if *passed { "✓" } else { "✗" }, one_cell(name)));
        [
            row.run.to_string(),
            state.words(row.verified).to_owned(),
            format!("{}/{}", row.iteration, row.max_iterations),
            local_time::short(row.started_at, *now),
            words::between(row.started_at, end).to_string(),
            if *state == State::Running {
                format!("quiet {}", words::age(*quiet))
            } else {
                format!("{} ago", words::age(*quiet))
            },
            row.cost_usd.map_or("-".to_owned(), |cost| format!("${cost:.2}")),
            one_cell(row.task.as_str()),
            check,
        ]
    }
}

const HEADS: [&str; 9] = ["RUN", "STATE", "ITER", "STARTED", "TIME", "ACTIVE", "COST", "TASK", "LAST CHECK"];

/// The table; on a terminal no line is wider than it.
pub fn table(seen: &[Seen<'_>], paint: Paint, width: Option<usize>) -> String {
    let rows: Vec<[String; 9]> = seen.iter().map(Seen::cells).collect();
    let heads = HEADS.map(str::to_owned);
    let mut widths = [0; 9];
    for cells in rows.iter().chain([&heads]) {
        widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = cell.width().max(*width));
    }
    let mut text = line(&heads, &widths, width, |_, head| paint.dim(head));
    for (seen, cells) in seen.iter().zip(&rows) {
        let passed = seen.row.last_check.as_ref().map(|(_, passed)| *passed);
        text += &line(cells, &widths, width, |column, cell| match (HEADS.get(column), passed) {
            (Some(&"STATE"), _) => seen.state.painted(seen.row.verified, paint, cell),
            (Some(&"LAST CHECK"), Some(true)) => paint.green(cell),
            (Some(&"LAST CHECK"), Some(false)) => paint.red(cell),
            _ => cell.to_owned(),
        });
    }
    text
}

/// One line of the table. Colour comes last: it has no width.
fn line(cells: &[String], widths: &[usize], limit: Option<usize>, brush: impl Fn(usize, &str) -> String) -> String {
    let mut left = limit.unwrap_or(usize::MAX);
    let mut line = String::new();
    let last = cells.len().saturating_sub(1);
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if left == 0 {
            break;
        }
        let shown = cut_to(cell, left);
        line.push_str(&brush(column, &shown));
        left = left.saturating_sub(width + 2);
        if column < last && left > 0 {
            line.push_str(&" ".repeat(width - shown.width() + 2));
        }
    }
    line + "\n"
}

fn cut_to(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let mut cut = String::new();
    for c in line.chars() {
        if cut.width() + c.width().unwrap_or(0) >= width {
            break;
        }
        cut.push(c);
    }
    cut + "…"
}

fn one_cell(name: &str) -> String {
    cut_to(&words::one_line(name).replace('\t', " "), NAME_WIDTH)
}

/// How long ago the agent printed anything, by its raw logs.
fn log_age(place: &Place, row: &RunRow, now: WallTime) -> Option<Millis> {
    let folder = place.run_folder(&row.run);
    let age = |stream: &str| {
        let log = std::fs::metadata(folder.join(format!("{:03}.{stream}.log", row.iteration))).ok()?;
        let written = log.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(words::between(WallTime(i64::try_from(written.as_millis()).ok()?), now))
    };
    ["stdout", "stderr"].into_iter().filter_map(age).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::face::paint::ColorChoice;
    use ralph_core::id::{RunId, TaskName};
    use ralph_core::observation::Tokens;
    use ralph_core::outcome::StopReason;
    use ralph_core::policy::LoopKind;

    fn row(run: &str, stop_reason: Option<StopReason>) -> Option<RunRow> {
        Some(RunRow {
            run: RunId::parse(run)?,
            parent: None,
            kind: LoopKind::Prompt,
            task: TaskName::from_text("login"),
            agent: "claude".to_owned(),
            stop_reason,
            message: String::new(),
            verified: stop_reason == Some(StopReason::Complete),
            exit_code: None,
            iteration: 3,
            max_iterations: 10,
            started_at: WallTime(0),
            updated_at: WallTime(372_000),
            last_check: Some(("cargo test".to_owned(), stop_reason.is_some())),
            cost_usd: Some(0.5),
            tokens: Tokens::default(),
        })
    }

    #[test]
    fn the_table_is_aligned_and_says_what_matters() {
        let rows: Vec<RunRow> =
            [row("aaaa", Some(StopReason::Complete)), row("bbbbbb", None)].into_iter().flatten().collect();
        let now = WallTime(400_000);
        let seen: Vec<Seen<'_>> =
            rows.iter().map(|row| Seen { row, state: State::of(row, false), quiet: Millis(28_000), now }).collect();
        let plain = Paint::for_end(ColorChoice::Never, &std::io::stdout(), true);
        let shown = table(&seen, plain, None);
        let lines: Vec<Vec<&str>> = shown
            .lines()
            .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
            .collect();
        let without_clock = |line: &[&str]| {
            line.iter().enumerate().filter(|(n, _)| *n != 3).map(|(_, cell)| (*cell).to_owned()).collect::<Vec<_>>()
        };
        let cells: Vec<Vec<String>> = lines.iter().map(|line| without_clock(line)).collect();
        assert_eq!(
            cells,
            [
                ["RUN", "STATE", "ITER", "TIME", "ACTIVE", "COST", "TASK", "LAST CHECK"],
                ["aaaa", "complete", "3/10", "6m12s", "28s ago", "$0.50", "login", "✓ cargo test"],
                ["bbbbbb", "crashed", "3/10", "6m12s", "28s ago", "$0.50", "login", "✗ cargo test"],
            ]
        );
    }

    #[test]
    fn a_narrow_terminal_cuts_lines_and_no_character() {
        assert_eq!(cut_to("漢字漢字", 5), "漢字…");
        assert_eq!(cut_to("short", 5), "short");
        assert_eq!(one_cell("a\nb\u{1b}[2J"), "a b");
    }
}
