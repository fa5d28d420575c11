//! `ralph plan`: writes, checks, shows and keeps plans.

mod archive;
mod check;
mod draft;
mod import;
mod init;
mod status;

pub(super) use init::today;

use super::pick;
use crate::cli::Global;
use crate::error::CommandError;
use crate::plan_folder::PlanFolder;
use crate::project::Project;
use crate::runs::Listing;
use crate::session;
use crate::settings::Settings;
use crate::terminal::page;
use clap::{Args, Subcommand};
use ralph_core::plan::stats::StoryFigures;
use ralph_core::plan::{PRD, Plan, Rules, TASKS, template};
use ralph_core::policy::LoopKind;
use ralph_host::lock::WorkTreeLock;
use ralph_host::plan_files::Stands;
use ralph_store::{Store, Which};
use ralph_view::plan_status;
use serde_json::Value;
use std::path::PathBuf;

/// Write, check, show and keep plans.
///
/// A plan is a folder with requirements (prd.md), stories and their state (tasks.json), a log (progress.txt) and
/// the template of the prompt (prompt.md). `ralph run --plan` works through the stories.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph plan init --name order-status\n  ralph plan draft 'customers see the status of their orders'\n  ralph plan check && ralph run --plan\n  ralph plan status\n  ralph plan archive"
)]
pub struct PlanArgs {
    /// The plan's folder; the one of the settings if left out (`plan.dir`, usually `ralph`)
    #[arg(long, value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
    #[command(subcommand)]
    command: PlanCommand,
}

/// What can be done with a plan.
#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Write the four files of a new plan
    Init(init::InitArgs),
    /// Say what is wrong with a plan: exit 0 if a run could begin with it
    Check(check::CheckArgs),
    /// Show the stories by state, and what the next iteration would do
    Status(status::StatusArgs),
    /// Write requirements and stories together with an agent
    Draft(draft::DraftArgs),
    /// Make a plan of another tool's file
    Import(import::ImportArgs),
    /// Keep a finished plan, and begin with an empty one
    Archive(archive::ArchiveArgs),
}

pub fn run(global: &Global, args: &PlanArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let loaded = project.settings()?;
    for warning in loaded.warnings() {
        page::say(&format!("warning: {warning}"));
    }
    let settings = loaded.check_without_agent()?;
    let folder = PlanFolder::find(&project, args.dir.as_deref(), &settings.plan.dir)?;
    let place = Place { global, project: &project, settings: &settings, folder };
    match &args.command {
        PlanCommand::Init(args) => init::run(&place, args),
        PlanCommand::Check(_) => check::run(&place),
        PlanCommand::Status(_) => status::run(&place),
        PlanCommand::Draft(args) => draft::run(&place, args),
        PlanCommand::Import(args) => import::run(&place, args),
        PlanCommand::Archive(args) => archive::run(&place, args),
    }
}

/// Runs of the project that are asked what they did for a plan: more than any plan takes.
const RUNS_LOOKED_AT: usize = 200;

/// Where a command about a plan works.
struct Place<'a> {
    global: &'a Global,
    project: &'a Project,
    settings: &'a Settings,
    folder: PlanFolder,
}

impl Place<'_> {
    fn rules(&self) -> Rules {
        self.settings.plan.rules()
    }

    /// What each story took, as the file and the journals of the runs tell it.
    fn figures(&self, plan: &Plan) -> Vec<StoryFigures> {
        let mut figures = plan_status::figures(plan, self.rules());
        if let Err(error) = self.add_runs(&mut figures) {
            page::say(&format!("note: what the runs took is not counted: {}", error.words()));
        }
        figures
    }

    fn add_runs(&self, figures: &mut [StoryFigures]) -> Result<(), CommandError> {
        let Some(store) = Store::open_existing(&self.project.state)? else { return Ok(()) };
        let rows = Listing::newest(&store, Which::All, RUNS_LOOKED_AT)?.runs;
        for row in rows.iter().filter(|row| row.kind == LoopKind::Plan) {
            plan_status::add_run(figures, &pick::machine(&store, &row.run)?.story_figures());
        }
        Ok(())
    }

    /// Keeps runs away from the plan while its files are exchanged; refuses where one works on it already.
    fn lock(&self) -> Result<WorkTreeLock, CommandError> {
        session::own_tree(self.project)
    }

    /// Writes a file of the plan. What somebody wrote there before is kept beside it, and its name is told.
    fn replace(&self, file: &str, text: &str) -> Result<Option<String>, CommandError> {
        let kept = match self.folder.read(file) {
            Stands::Gone => None,
            Stands::Bytes(bytes) if bytes == text.as_bytes() => return Ok(None),
            Stands::Bytes(bytes) if !is_written(file, &bytes) => None,
            _ => Some(self.set_aside(file)?),
        };
        self.folder.write(file, text.as_bytes())?;
        Ok(kept)
    }

    /// Gives a file a name that nobody uses yet.
    fn set_aside(&self, file: &str) -> Result<String, CommandError> {
        let numbered = (2_u32..).map(|number| format!("{file}.old-{number}"));
        let mut names = std::iter::once(format!("{file}.old")).chain(numbered);
        let free = names.find(|name| self.folder.file(name).symlink_metadata().is_err()).unwrap_or_default();
        std::fs::rename(self.folder.file(file), self.folder.file(&free)).map_err(|error| {
            CommandError::usage(format!("{} cannot be set aside", self.folder.name(file))).because(&error)
        })?;
        Ok(free)
    }
}

/// Whether somebody wrote something into a file of a plan: one that `plan init` wrote is no loss.
fn is_written(file: &str, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    match file {
        PRD => !template::is_unwritten(&text),
        TASKS => {
            let tasks = serde_json::from_slice::<Value>(bytes).unwrap_or_default();
            let stories = tasks.get("userStories").and_then(Value::as_array);
            let blank =
                |story: &Value| story.get("title").and_then(Value::as_str).is_some_and(|it| it.trim().is_empty());
            !stories.is_some_and(|stories| stories.iter().all(blank))
        }
        _ => !text.trim().is_empty(),
    }
}

fn stories(number: usize) -> String {
    if number == 1 { "1 story".to_owned() } else { format!("{number} stories") }
}
