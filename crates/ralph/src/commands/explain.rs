//! `ralph explain`: why a run ended, with the evidence.

use super::pick;
use crate::cli::Global;
use crate::error::CommandError;
use crate::project::Project;
use crate::terminal::page;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_view::explanation;

/// Say why a run ended, with the evidence.
///
/// Every condition that `complete` needed is listed with the receipt that met or missed it, and for
/// each that was missed what would have had to be true instead.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph explain\n  ralph explain 7f3a9k2m\n  ralph explain --json | jq '.conditions[] | select(.met == false) | .needed'"
)]
pub struct ExplainArgs {
    /// The run by its id or the beginning of it; the newest if left out
    run: Option<String>,
}

pub fn run(global: &Global, args: &ExplainArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let (explanation, style) =
        (pick::explanation(&project, args.run.as_deref())?, page::style(global, project.suggest()));
    let object = || explanation::for_programs(&explanation, "explain", &style);
    page::answer(global, object, || explanation::for_people(&explanation, &style))?;
    Ok(exit::OK)
}
