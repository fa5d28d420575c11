//! `ralph judges`: what checks are made of.

use crate::cli::Global;
use crate::error::CommandError;
use crate::judging;
use crate::project::Project;
use crate::terminal::page;
use clap::Args;
use ralph_core::outcome::exit;

/// Say what the checks are made of, why, and what is not known.
///
/// Files and programs that judge are pinned when a run begins; a change by the agent is refused. A check of
/// which something is not known proves less: a run that only it speaks for is not verified.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph judges\n  ralph judges --json | jq '.checks[] | select(.known == false) | .unknown'"
)]
pub struct JudgesArgs {}

pub fn run(global: &Global, _: &JudgesArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let settings = project.settings()?.check_without_agent()?;
    let found = judging::look(&project, &settings)?;
    page::answer(global, || found.judging.for_programs(), || found.judging.for_people(page::paint(global)))?;
    Ok(exit::OK)
}
