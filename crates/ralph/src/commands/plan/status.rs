//! `ralph plan status`: where a plan stands.

use super::Place;
use crate::error::CommandError;
use crate::live::Live;
use crate::terminal::page;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_core::text;
use ralph_view::plan_status::PlanStatus;

/// Show the stories by state with their reviews, what the next iteration would do, and how many are needed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph plan status\n  ralph plan status --json | jq -r '.stories[] | select(.state != \"done\") | .id'\n\nExit codes: 0 shown; 2 there is no plan, or it is broken."
)]
pub struct StatusArgs {}

pub(super) fn run(place: &Place<'_>) -> Result<u8, CommandError> {
    let rules = place.rules();
    let plan = place.folder.plan(rules)?;
    if !place.global.json {
        for warning in place.folder.warnings(&plan) {
            page::narrate(place.global, &format!("warning: {}", text::for_terminal(warning.words())));
        }
    }
    let figures = place.figures(&plan);
    let live = Live::look(place.project);
    let status = PlanStatus {
        dir: place.folder.dir(),
        plan: &plan,
        rules,
        allowed: place.settings.plan.maximum_iterations,
        figures: &figures,
        live: live.owner().and_then(|owner| owner.run.as_ref()),
    };
    page::answer(place.global, || status.for_programs(), || status.for_people(page::paint(place.global)))?;
    Ok(exit::OK)
}
