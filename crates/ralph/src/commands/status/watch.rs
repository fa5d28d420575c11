//! `ralph status --watch`: the same, again and again.

use super::{advice, screen, table};
use crate::cli::Global;
use crate::error::CommandError;
use crate::project::{self, Project};
use crate::session;
use crate::terminal::page;
use ralph_core::outcome::exit;
use ralph_host::signals::{self, Sign};
use ralph_view::status::Runs;
use ralph_view::table::cut_to;
use serde_json::Value;
use std::time::Duration;

/// Time between two looks: ages are shown in seconds.
const LOOK: Duration = Duration::from_secs(1);

/// Shows what is taken until somebody interrupts, or nobody reads.
pub(super) fn watch(
    global: &Global,
    project: &Project,
    mut take: impl FnMut() -> Result<Runs, CommandError>,
) -> Result<u8, CommandError> {
    let in_place =
        !global.json && !global.plain && screen().is_some() && project::term().is_none_or(|term| term != "dumb");
    let mut show = if in_place { Show::InPlace { drawn: 0 } } else { Show::Changes { last: Value::Null } };
    let runtime = session::event_loop()?;
    runtime.block_on(async {
        let mut signals = session::signals()?;
        loop {
            show.show(global, project, &take()?)?;
            page::pause(Duration::ZERO)?;
            match tokio::time::timeout(LOOK, signals.next()).await {
                Ok(Sign::Interrupt) => return Ok(exit::OK),
                Ok(Sign::Suspend) => signals::suspend_self(),
                Ok(Sign::Resized) => show.forget(),
                Ok(Sign::LookForRequests) | Err(_) => {}
            }
        }
    })
}

enum Show {
    /// Over what was there before.
    InPlace { drawn: usize },
    /// Below it, and only if it is different.
    Changes { last: Value },
}

impl Show {
    fn show(&mut self, global: &Global, project: &Project, runs: &Runs) -> Result<(), CommandError> {
        match self {
            Show::InPlace { drawn } => {
                let frame = frame(global, project, runs);
                let up = if *drawn > 0 { format!("\u{1b}[{drawn}A") } else { String::new() };
                *drawn = frame.len();
                // Each line is wiped only behind what is new of it, so that nothing flickers.
                let lines: String = frame.iter().map(|line| format!("{line}\u{1b}[K\n")).collect();
                page::put(format!("\r{up}{lines}\u{1b}[J").as_bytes())
            }
            Show::Changes { last } => {
                let now = runs.without_age();
                if *last == now {
                    return Ok(());
                }
                *last = now;
                if global.json {
                    return page::put(ralph_view::json::line(&runs.json()).as_bytes());
                }
                advice(runs, project).iter().for_each(|line| page::narrate(global, line));
                page::put(table(runs, global).as_bytes())
            }
        }
    }

    /// The terminal has another size and has broken the lines anew: begin at its top.
    fn forget(&mut self) {
        if let Show::InPlace { drawn } = self {
            *drawn = 0;
            let _ = page::put(b"\x1b[H\x1b[2J");
        }
    }
}

/// The lines that fit on the screen, with one left for the cursor.
fn frame(global: &Global, project: &Project, runs: &Runs) -> Vec<String> {
    let (columns, lines) = screen().unwrap_or((usize::MAX, usize::MAX));
    let table = table(runs, global);
    let advice = if global.quiet { Vec::new() } else { advice(runs, project) };
    let advice = advice.iter().map(|line| cut_to(line, columns));
    table.lines().map(str::to_owned).chain(advice).take(lines.saturating_sub(1)).collect()
}
