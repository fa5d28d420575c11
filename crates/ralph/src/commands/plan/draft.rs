//! `ralph plan draft`: requirements and stories, written together with an agent.

use super::{Place, check, is_written};
use crate::error::CommandError;
use crate::project;
use crate::session::event_loop;
use crate::settings::Flags;
use crate::terminal::page;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_core::plan::PRD;
use ralph_core::plan::skill::{self, Wanted};
use ralph_host::plan_files::Stands;
use ralph_host::process::{Command, talk};
use std::io;

/// Write requirements and stories together with an agent, which asks you.
///
/// The agent of the settings is started on this terminal. If nobody has written prd.md yet, it asks until the
/// requirements are clear and writes prd.md and tasks.json; otherwise it leaves prd.md alone and derives the
/// stories. Afterwards the plan is checked.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph plan draft\n  ralph plan draft 'customers see the status of their orders'\n  ralph plan draft --agent claude\n\nExit codes: 0 the plan is fine; 2 there is no plan folder, or the plan is not fine yet; 5 the agent cannot\nrun."
)]
pub struct DraftArgs {
    /// What you want
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// The agent program, instead of the one in the settings
    #[arg(long, value_name = "COMMAND")]
    agent: Option<String>,
    /// The model to ask the agent for
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

pub(super) fn run(place: &Place<'_>, args: &DraftArgs) -> Result<u8, CommandError> {
    place.folder.must_exist()?;
    let flags = Flags { agent: args.agent.clone(), model: args.model.clone(), ..Flags::default() };
    let agent = place.project.settings()?.with_flags(&flags).check()?.agent_policy();
    let before = place.folder.read(PRD);
    let written = matches!(&before, Stands::Bytes(bytes) if is_written(PRD, bytes));
    let wanted = Wanted { text: args.text.as_deref().unwrap_or_default(), dir: place.folder.dir(), has_prd: written };
    let line = ralph_agents::interactive(&agent, &skill::as_prompt(&wanted));
    project::program(&line.program, &place.project.root).map_err(|error| cannot_run(&line.program, &error))?;
    let command = Command {
        program: line.program.clone().into(),
        args: line.args.into_iter().map(Into::into).collect(),
        folder: place.project.root.clone(),
        set: line.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        remove: line.env_remove.into_iter().map(Into::into).collect(),
        starts_runs: false,
    };
    let ended = event_loop()?.block_on(talk(&command)).map_err(|error| cannot_run(&line.program, &error))?;
    if !ended.success() {
        page::say(&format!("note: {} ended with {ended}", line.program));
    }
    if written && place.folder.read(PRD) != before {
        page::say(&format!("note: {} was written before and is changed now; look at it", place.folder.name(PRD)));
    }
    check::run(place)
}

fn cannot_run(program: &str, error: &io::Error) -> CommandError {
    CommandError::new(exit::AGENT, format!("the agent `{program}` cannot be started"))
        .because(error)
        .hint("name another one: ralph plan draft --agent claude")
        .hint("see which agents could run here: ralph doctor")
}
