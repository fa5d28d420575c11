//! `ralph doctor`: says whether a run could start here, and what to type where it could not. It changes nothing, and
//! asks agents for their version and never for work.

mod agents;
mod asking;
mod checks;
mod git;
mod isolation;
mod login;
mod repair;
mod runs;
mod storage;
mod version;

use crate::cli::Global;
use crate::error::CommandError;
use crate::project::Project;
use crate::settings::{Flags, Loaded, Settings, SettingsError};
use crate::terminal::page;
use asking::Asking;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_view::findings::{Finding, Report};
use serde_json::Value;

/// Say whether a run could start here, and what to do where it could not.
///
/// Looks at the settings, the agents, git, the disk, the lock, earlier runs and what the machine
/// offers for isolation. Nothing is changed, nothing is asked of a model, and no login is shown.
///
/// With --repair it mends the journal of this project instead: a damaged database is put aside whole, and what
/// is proven of it goes into a new one.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph doctor\n  ralph doctor --agent codex\n  ralph doctor --repair\n  ralph doctor --json | jq -r '.checks[] | select(.status == \"problem\") | .fix'\n\nExit codes: 0 a run could start; else that of the first problem: 2 settings or a folder that cannot be\nused, 5 no agent that could run, 74 disk, 75 another ralph owns the work tree."
)]
pub struct DoctorArgs {
    /// The agent program, instead of the one in the settings
    #[arg(long, value_name = "COMMAND")]
    agent: Option<String>,
    /// Put a damaged journal aside, whole, and keep all of it that can be proven; nothing is deleted
    #[arg(long, conflicts_with = "agent")]
    repair: bool,
}

pub fn run(global: &Global, args: &DoctorArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    if args.repair {
        return repair::run(global, &project);
    }
    let setup = Setup::read(&project, args);
    let mut asking = Asking::new(&project.root);
    let agents = agents::ask(&mut asking, &setup, &project);
    let git = git::ask(&mut asking, &setup);
    let isolation = isolation::ask(&mut asking, &project);
    let answers = asking.wait()?;
    let findings = [
        vec![setup.finding()],
        agents.findings(&answers),
        storage::findings(&project),
        runs::findings(&project),
        git.findings(&answers, &project),
        checks::findings(&project, setup.usable()),
        isolation.findings(&answers),
    ];
    let report = Report(findings.into_iter().flatten().collect());
    page::answer(global, || report.for_programs(), || report.for_people(page::paint(global)))?;
    Ok(report.exit_code())
}

/// The child that tries what the machine offers for isolation.
pub fn isolation_child() -> Result<u8, CommandError> {
    let measured = ralph_host::process::isolation::measure();
    let object = serde_json::to_value(measured)
        .map_err(|error| CommandError::new(exit::INTERNAL, "what was measured cannot be told").because(&error))?;
    page::print_json(&object)?;
    Ok(exit::OK)
}

struct Setup {
    settings: Result<(Loaded, Settings), SettingsError>,
    /// The agent that a run would start; `None` if nobody has named one.
    agent: Option<String>,
    flags: Flags,
}

impl Setup {
    fn read(project: &Project, args: &DoctorArgs) -> Setup {
        let flags = Flags { agent: args.agent.clone(), ..Flags::default() };
        let loaded = match project.settings() {
            Ok(loaded) => loaded.with_flags(&flags),
            Err(error) => return Setup { settings: Err(error), agent: args.agent.clone(), flags },
        };
        let shown = loaded.show_json();
        let agent = shown.pointer("/agent/command").and_then(Value::as_str).map(str::to_owned);
        Setup { settings: loaded.check_without_agent().map(|settings| (loaded, settings)), agent, flags }
    }

    fn usable(&self) -> Option<&Settings> {
        self.settings.as_ref().ok().map(|(_, settings)| settings)
    }

    fn finding(&self) -> Finding {
        let loaded = match &self.settings {
            Ok((loaded, _)) => loaded,
            Err(error) => {
                return Finding::problem("settings", error.to_string(), error.code()).fix("ralph config check");
            }
        };
        if !loaded.warnings().is_empty() {
            Finding::note("settings", loaded.warnings().join("\n")).fix("ralph config check")
        } else if loaded.files().is_empty() {
            Finding::note("settings", "no settings file; using defaults").fix("ralph init")
        } else {
            Finding::ok("settings", loaded.files().join(", "))
        }
    }
}
