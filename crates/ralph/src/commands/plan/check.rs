//! `ralph plan check`: whether a run could begin with the plan.

use super::{Place, stories};
use crate::error::CommandError;
use crate::plan_folder::Finding;
use crate::terminal::page;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_core::plan::Plan;
use ralph_core::text;
use ralph_view::json::VERSION;
use serde_json::json;

/// Say what is wrong with a plan: its form, ids, dependencies and criteria.
///
/// Every message names the file, the story and the field.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph plan check && ralph run --plan\n  ralph plan check --json | jq -r '.problems[].message'\n\nExit codes: 0 a run could begin with it; 2 it could not."
)]
pub struct CheckArgs {}

pub(super) fn run(place: &Place<'_>) -> Result<u8, CommandError> {
    place.folder.must_exist()?;
    match place.folder.check(place.rules()) {
        Ok(plan) => {
            let warnings = place.folder.warnings(&plan);
            tell(place, &plan, &warnings)?;
            Ok(exit::OK)
        }
        Err(findings) if place.global.json => {
            let problems: Vec<_> = findings.iter().map(Finding::object).collect();
            page::print_json(&json!({ "v": VERSION, "ok": false, "problems": problems, "warnings": [] }))?;
            Ok(exit::USAGE)
        }
        Err(findings) => Err(place.folder.broken(&findings)),
    }
}

fn tell(place: &Place<'_>, plan: &Plan, warnings: &[Finding]) -> Result<(), CommandError> {
    let listed: Vec<_> = warnings.iter().map(Finding::object).collect();
    let object =
        || json!({ "v": VERSION, "ok": true, "problems": [], "warnings": listed, "stories": plan.stories().len() });
    if !place.global.json {
        for warning in warnings {
            page::narrate(place.global, &format!("warning: {}", text::for_terminal(warning.words())));
        }
    }
    let stories = stories(plan.stories().len());
    page::answer(place.global, object, || format!("the plan in {}/ is fine ({stories})\n", place.folder.dir()))
}
