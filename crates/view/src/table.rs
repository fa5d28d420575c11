//! The table of runs: one line each, in columns that fit what is in them.

use crate::liveness::{Beat, Heartbeat, State};
use crate::tree::Grown;
use crate::{Style, words};
use ralph_core::time::WallTime;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const NAME_WIDTH: usize = 32;

#[derive(Debug)]
pub struct Seen {
    pub state: State,
    pub heartbeat: Option<Heartbeat>,
    /// Whether it runs though the run inside which it was started is gone.
    pub orphan: bool,
}

pub struct Line<'a> {
    pub run: Grown<'a>,
    pub seen: &'a Seen,
}

impl Line<'_> {
    fn cells(&self, now: WallTime, style: &Style) -> [String; 9] {
        let Line { run: Grown { row, branch, parent_elsewhere }, seen } = self;
        let check = row.last_check.as_ref();
        let check =
            check.map_or("-".to_owned(), |(name, passed)| format!("{} {}", style.paint.mark(*passed), one_cell(name)));
        let parent = parent_elsewhere.map_or(String::new(), |parent| format!(" in {parent}"));
        let orphan = if seen.orphan { ", parent gone" } else { "" };
        [
            format!("{branch}{}{parent}", row.run),
            format!("{}{orphan}", seen.state.words(row)),
            format!("{}/{}", row.iteration, row.max_iterations),
            style.zone.short(row.started_at, now),
            seen.state.worked(row, now).to_string(),
            seen.heartbeat
                .map_or_else(|| format!("{} ago", words::age(words::between(row.updated_at, now))), Heartbeat::words),
            row.cost_usd.map_or("-".to_owned(), words::money),
            one_cell(row.task.as_str()),
            check,
        ]
    }
}

const HEADS: [&str; 9] = ["RUN", "STATE", "ITER", "STARTED", "TIME", "ACTIVE", "COST", "TASK", "LAST CHECK"];

/// The table; on a terminal no line is wider than it.
pub fn table(lines: &[Line<'_>], now: WallTime, style: &Style, width: Option<usize>) -> String {
    let paint = style.paint;
    let rows: Vec<[String; 9]> = lines.iter().map(|line| line.cells(now, style)).collect();
    let heads = HEADS.map(str::to_owned);
    let mut widths = [0; 9];
    for cells in rows.iter().chain([&heads]) {
        widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = cell.width().max(*width));
    }
    let mut text = line(&heads, &widths, width, |_, head| paint.dim(head));
    for (Line { run: Grown { row, .. }, seen }, cells) in lines.iter().zip(&rows) {
        let passed = row.last_check.as_ref().map(|(_, passed)| *passed);
        let beat = seen.heartbeat.map(|heartbeat| heartbeat.beat);
        text += &line(cells, &widths, width, |column, cell| match (HEADS.get(column), passed) {
            (Some(&"STATE"), _) if seen.orphan => paint.yellow(cell),
            (Some(&"STATE"), _) => seen.state.painted(row, paint, cell),
            (Some(&"ACTIVE"), _) if beat == Some(Beat::Stale) => paint.yellow(cell),
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

pub fn cut_to(line: &str, width: usize) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::tree::grow;
    use ralph_core::id::RunId;
    use ralph_core::outcome::StopReason;
    use ralph_core::run::RunRow;
    use ralph_core::time::Millis;

    #[test]
    fn the_table_is_aligned_and_says_what_matters() {
        let child = RunRow { parent: RunId::parse("aaaa"), ..sample::row("cccc", None) };
        // It was resumed five minutes after it had stopped.
        let resumed = RunRow { elapsed: Some(Millis(72_000)), ..sample::row("aaaa", Some(StopReason::Complete)) };
        let rows = [resumed, RunRow { elapsed: None, ..sample::row("bbbbbb", None) }, child];
        let heartbeat = Heartbeat { age: Millis(28_000), beat: Beat::Quiet };
        let orphan = Seen { state: State::Running, heartbeat: Some(heartbeat), orphan: true };
        let alone = |row: &RunRow| Seen { state: State::of(row, false), heartbeat: None, orphan: false };
        let now = WallTime(400_000);
        let seen = [alone(&rows[0]), alone(&rows[1]), orphan];
        let grown = grow(&rows.iter().collect::<Vec<_>>(), crate::Marks::Emoji);
        let lines: Vec<Line<'_>> =
            grown.into_iter().zip([0, 2, 1]).map(|(run, at)| Line { run, seen: &seen[at] }).collect();
        let shown = table(&lines, now, &Style::default(), None);
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
                ["aaaa", "complete", "3/10", "1m12s", "28s ago", "$0.50", "login", "✓ cargo test"],
                ["└─ cccc", "running, parent gone", "3/10", "6m40s", "quiet 28s", "$0.50", "login", "✗ cargo test"],
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
