//! `ralph status`: the runs of this project, newest first.

use crate::cli::Global;
use crate::error::CommandError;
use crate::face::paint::Paint;
use crate::look::live::Live;
use crate::look::words::{self, State};
use crate::look::{json, page, pick};
use crate::place::Place;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_core::run::RunRow;
use ralph_core::text;
use ralph_core::time::{Millis, WallTime};
use ralph_host::clock::Clock;
use ralph_store::Store;
use serde_json::json;
use std::io::IsTerminal;
use unicode_width::UnicodeWidthStr;

/// List the runs of this project, newest first.
///
/// A run counts as running only while a living ralph holds the work tree's lock for it. One that
/// neither runs nor ended has crashed, and can be resumed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph status\n  ralph status --all\n  ralph status --json | jq -r '.runs[] | select(.state == \"running\") | .run'"
)]
pub struct StatusArgs {
    /// Also the runs beyond the newest twenty
    #[arg(long)]
    all: bool,
}

/// What fits on a screen. Programs get all of them.
const SHOWN: usize = 20;
/// Crashed runs that get a line of advice; older ones are history.
const ADVISED: usize = 3;
/// The widest task and check in the table.
const NAME_WIDTH: usize = 32;

/// Runs the command.
pub fn run(global: &Global, args: &StatusArgs) -> Result<u8, CommandError> {
    let place = Place::find(global.directory.as_deref())?;
    let rows = match Store::open_existing(&place.state)? {
        Some(store) => {
            let rows = store.runs()?.into_iter().map(|row| pick::mended(&store, row));
            rows.collect::<Result<Vec<RunRow>, _>>()?
        }
        None => Vec::new(),
    };
    let live = Live::look(&place);
    if global.json {
        let runs: Vec<_> = rows.iter().map(|row| json::run(row, live.state(row))).collect();
        page::print_json(&json!({ "runs": runs }))?;
        return Ok(exit::OK);
    }
    if rows.is_empty() {
        page::narrate(global, &format!("no runs in {} yet; begin one: ralph run -p 'make the tests pass'", place.root.display()));
        return Ok(exit::OK);
    }
    let shown = if args.all { rows.len() } else { rows.len().min(SHOWN) };
    let now = Clock::start().now();
    let seen: Vec<Seen<'_>> = rows.iter().take(shown).map(|row| Seen::of(row, &live, &place, now)).collect();
    page::print(&table(&seen, page::paint(global), width()))?;
    advise(global, &seen, rows.len() - shown);
    Ok(exit::OK)
}

/// What to type about what the table shows.
fn advise(global: &Global, seen: &[Seen<'_>], older: usize) {
    let crashed = seen.iter().filter(|seen| seen.state == State::Crashed);
    for Seen { row, .. } in crashed.take(ADVISED) {
        page::narrate(global, &format!("run {0} crashed, resume with: ralph resume {0}", row.run));
    }
    if older > 0 {
        page::narrate(global, &format!("{} more: ralph status --all", text::count(older as u64, "older run")));
    }
}

/// A run as it looks at this moment.
struct Seen<'a> {
    row: &'a RunRow,
    state: State,
    /// How long ago it did anything.
    quiet: Millis,
    now: WallTime,
}

impl<'a> Seen<'a> {
    fn of(row: &'a RunRow, live: &Live, place: &Place, now: WallTime) -> Seen<'a> {
        let state = live.state(row);
        let journal = words::between(row.updated_at, now);
        // Between two entries of the journal, an agent that prints is not silent.
        let quiet = match state {
            State::Running => log_age(place, row).map_or(journal, |log| log.min(journal)),
            _ => journal,
        };
        Seen { row, state, quiet, now }
    }

    fn cells(&self) -> [String; 9] {
        let Seen { row, state, quiet, now } = self;
        let end = if *state == State::Running { *now } else { row.updated_at };
        let check = row.last_check.as_ref().map_or("-".to_owned(), |(name, passed)| {
            format!("{} {}", if *passed { "✓" } else { "✗" }, one_cell(name))
        });
        [
            row.run.to_string(),
            state.words(row.verified).to_owned(),
            format!("{}/{}", row.iteration, row.max_iterations),
            words::local_short(row.started_at, *now),
            words::between(row.started_at, end).to_string(),
            if *state == State::Running { format!("quiet {}", words::age(*quiet)) } else { format!("{} ago", words::age(*quiet)) },
            row.cost_usd.map_or("-".to_owned(), |cost| format!("${cost:.2}")),
            one_cell(row.task.as_str()),
            check,
        ]
    }
}

const HEADS: [&str; 9] = ["RUN", "STATE", "ITER", "STARTED", "TIME", "ACTIVE", "COST", "TASK", "LAST CHECK"];

/// The table; on a terminal no line is wider than it.
fn table(seen: &[Seen<'_>], paint: Paint, width: Option<usize>) -> String {
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
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate().take_while(|_| left > 0) {
        let shown = cut_to(cell, left);
        line.push_str(&brush(column, &shown));
        left = left.saturating_sub(width + 2);
        if column < last && left > 0 {
            line.push_str(&" ".repeat(width - shown.width() + 2));
        }
    }
    line + "\n"
}

/// The width of the terminal that the table goes to.
fn width() -> Option<usize> {
    let stdout = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&stdout).ok().filter(|_| stdout.is_terminal())?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

fn cut_to(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let mut cut = String::new();
    for c in line.chars() {
        if cut.width() + unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) >= width {
            break;
        }
        cut.push(c);
    }
    cut + "…"
}

fn one_cell(name: &str) -> String {
    let clean = text::for_terminal(name).replace(['\n', '\t'], " ");
    cut_to(&clean, NAME_WIDTH)
}

/// How long ago the agent printed anything, by its raw logs.
fn log_age(place: &Place, row: &RunRow) -> Option<Millis> {
    let folder = place.run_folder(&row.run);
    let age = |stream: &str| {
        let log = std::fs::metadata(folder.join(format!("{:03}.{stream}.log", row.iteration))).ok()?;
        log.modified().ok()?.elapsed().ok().map(Millis::from)
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
        let rows: Vec<RunRow> = [row("aaaa", Some(StopReason::Complete)), row("bbbbbb", None)].into_iter().flatten().collect();
        let now = WallTime(400_000);
        let seen: Vec<Seen<'_>> = rows
            .iter()
            .map(|row| Seen { row, state: State::of(row, false), quiet: Millis(28_000), now })
            .collect();
        let plain = Paint::for_end(ColorChoice::Never, &std::io::stdout(), true);
        let shown = table(&seen, plain, None);
        let lines: Vec<Vec<&str>> = shown.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect();
        let without_clock = |line: &[&str]| line.iter().enumerate().filter(|(n, _)| *n != 3).map(|(_, cell)| (*cell).to_owned()).collect::<Vec<_>>();
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
