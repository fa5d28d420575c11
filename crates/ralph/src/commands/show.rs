//! `ralph show`: a run, or one of its iterations, as the journal tells it.

use super::pick::{self, Wanted};
use crate::cli::Global;
use crate::error::CommandError;
use crate::live::Live;
use crate::project::Project;
use crate::terminal::page;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_core::run::RunRow;
use ralph_core::text;
use ralph_host::clock::Clock;
use ralph_view::json::{self, VERSION};
use ralph_view::run_view::{AttemptView, Prompts, RunView};
use ralph_view::{attempt_page, run_page};
use serde_json::json;
use std::io::IsTerminal;

/// Show a run, or one of its iterations.
///
/// Everything comes from the journal, folded again: the prompt, what the agent did and claimed, and
/// the receipt of every check that ralph executed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph show                      the newest run\n  ralph show 7f3a9k2m\n  ralph show 7f3a9k2m/3           its third iteration\n  ralph show 7f3a9k2m/3 --prompt  the exact prompt of that iteration\n  ralph show --json | jq .receipts"
)]
pub struct ShowArgs {
    /// The run by its id or the beginning of it, and the iteration behind a slash; the newest run if left out
    #[arg(value_name = "RUN[/ITERATION]")]
    target: Option<Wanted>,
    /// Print only the exact prompt of the iteration; of the newest one if none is named
    #[arg(long)]
    prompt: bool,
}

pub fn run(global: &Global, args: &ShowArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let store = pick::store(&project)?;
    let (typed, iteration) =
        args.target.as_ref().map_or((None, None), |wanted| (wanted.run.as_deref(), wanted.iteration));
    let row = pick::run(&store, typed, &project)?;
    let prompts = match (iteration, args.prompt) {
        (Some(number), _) => Prompts::Of(number),
        (None, true) => Prompts::Newest,
        (None, false) => Prompts::None,
    };
    let view = pick::view(&store, &row.run, prompts)?;
    let (state, style) = (Live::look(&project).state(&row), page::style(global, project.suggest()));
    let text = if prompts == Prompts::None {
        let worked = view.worked(state, Clock::start().now());
        match global.json {
            true => json::line(&json::whole(&view, state, worked, &style.suggest)),
            false => run_page::for_people(&view, &row, state, worked, &style),
        }
    } else {
        let attempt = find(&view, &row, iteration)?;
        let (number, prompt) = (attempt.iteration, &attempt.prompt);
        match (args.prompt, global.json) {
            (true, false) => exact_prompt(prompt),
            (true, true) => json::line(&json!({ "v": VERSION, "run": row.run, "iteration": number, "prompt": prompt })),
            (false, true) => json::line(&attempt_page::as_json(&view, attempt)),
            (false, false) => attempt_page::for_people(&view, attempt, &style),
        }
    };
    page::print(&text)?;
    Ok(exit::OK)
}

/// The newest process of an iteration, or of all.
pub fn find<'v>(view: &'v RunView, row: &RunRow, number: Option<u32>) -> Result<&'v AttemptView, CommandError> {
    view.attempt(number).ok_or_else(|| match (view.attempts.last(), number) {
        (Some(last), Some(number)) => {
            CommandError::usage(format!("run {} has no iteration {number}: it has 1 to {}", row.run, last.iteration))
                .hint(format!("list them: ralph show {}", row.run))
        }
        _ => CommandError::usage(format!("run {} has not begun an iteration", row.run))
            .hint(format!("why: ralph explain {}", row.run)),
    })
}

/// A terminal is spared what would drive it; everything else gets the very bytes.
fn exact_prompt(prompt: &str) -> String {
    if std::io::stdout().is_terminal() { text::for_terminal(prompt) } else { prompt.to_owned() }
}
