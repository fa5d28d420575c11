//! `ralph config`: looks at the settings.

use crate::cli::Global;
use crate::error::CommandError;
use crate::project::Project;
use crate::settings::{self, SettingsError};
use crate::terminal::page;
use clap::{CommandFactory, Subcommand};
use ralph_core::outcome::exit;
use serde_json::json;
use std::path::Path;

/// Look at the settings.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  ralph config show --origin\n  ralph config check\n  ralph config schema > schema.json"
)]
pub enum ConfigCommand {
    /// Print the merged settings
    #[command(after_help = "Examples:\n  ralph config show --origin\n  ralph config show --json | jq .agent")]
    Show {
        /// With the origin of each value; with --json they stand in `origins`, by key
        #[arg(long)]
        origin: bool,
    },
    /// Print the JSON Schema of the settings
    #[command(after_help = "Example:\n  ralph config schema > settings.schema.json")]
    Schema,
    /// Judge the settings: exit 0 if a run could use them
    #[command(after_help = "Example:\n  ralph config check && ralph run -f PROMPT.md")]
    Check,
}

pub fn run(global: &Global, command: &ConfigCommand) -> Result<u8, CommandError> {
    if matches!(command, ConfigCommand::Schema) {
        page::print(&format!("{:#}\n", settings::schema()))?;
        return Ok(exit::OK);
    }
    let project = Project::find(global.directory.as_deref())?;
    let loaded = match (project.settings(), command) {
        (Ok(loaded), _) => loaded,
        (Err(error), ConfigCommand::Check) => return refuse(global, error, &[]),
        (Err(error), _) => return Err(error.into()),
    };
    for warning in loaded.warnings() {
        page::say(&format!("warning: {warning}"));
    }
    match command {
        ConfigCommand::Show { origin } => {
            let object = || if *origin { loaded.show_json_with_origin() } else { loaded.show_json() };
            page::answer(global, object, || format!("{}\n", loaded.show(*origin)))?;
        }
        ConfigCommand::Check => {
            if let Err(error) = loaded.check() {
                return refuse(global, error, loaded.warnings());
            }
            let files = if loaded.files().is_empty() { "defaults".to_owned() } else { loaded.files().join(", ") };
            let object = || json!({ "ok": true, "files": loaded.files(), "warnings": loaded.warnings() });
            page::answer(global, object, || format!("settings are fine ({files})\n"))?;
        }
        ConfigCommand::Schema => {}
    }
    Ok(exit::OK)
}

/// Settings that no run could use, for whoever asked.
fn refuse(global: &Global, error: SettingsError, warnings: &[String]) -> Result<u8, CommandError> {
    if !global.json {
        return Err(error.into());
    }
    let (errors, hints) = (error.errors(), error.hints());
    page::print_json(&json!({ "ok": false, "errors": errors, "hints": hints, "warnings": warnings }))?;
    Ok(error.code())
}

/// Writes the pages of the documentation that are made from the program itself.
pub fn write_docs(folder: &Path) -> Result<u8, CommandError> {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| CommandError::io(format!("{} cannot be written", path.display()), &error))
    };
    write("settings.md", settings::reference_markdown())?;
    write("settings.schema.json", format!("{:#}\n", settings::schema()))?;
    write("commands.md", commands_markdown())?;
    Ok(exit::OK)
}

fn commands_markdown() -> String {
    fn add(page: &mut String, command: &mut clap::Command, name: &str) {
        let help = command.clone().term_width(100).render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        page.push_str(&format!("\n## {name}\n\n```text\n{}\n```\n", help.join("\n").trim_end()));
        for sub in command.get_subcommands_mut().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
            let name = format!("{name} {}", sub.get_name());
            add(page, sub, &name);
        }
    }
    let mut page = "# Commands\n\nThis page is made from the program: `cargo xtask docs` writes it.\n".to_owned();
    let mut command = crate::cli::Cli::command();
    command.build();
    add(&mut page, &mut command, "ralph");
    page
}
