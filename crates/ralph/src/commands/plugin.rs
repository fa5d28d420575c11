//! `ralph plugin export`: the plugin for Claude Code.

use crate::cli::Global;
use crate::error::CommandError;
use crate::terminal::page;
use clap::Subcommand;
use ralph_core::outcome::exit;
use ralph_core::plan::skill;
use ralph_host::plan_files;
use ralph_view::json::VERSION;
use ralph_view::quoted;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The plugin for Claude Code: a skill that plans, and hooks that apply a run's rules while the agent works.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  ralph plugin export ~/ralph-plugin && claude --plugin-dir ~/ralph-plugin")]
pub enum PluginCommand {
    /// Write the plugin into a folder
    #[command(
        after_help = "Examples:\n  ralph plugin export ~/ralph-plugin\n  claude --plugin-dir ~/ralph-plugin              for one session\n  claude plugin marketplace add ~/ralph-plugin    for all, then: claude plugin install ralph@ralph-loop\n\nExit codes: 0 written; 2 the folder holds something else, or cannot be written."
    )]
    Export {
        /// The folder; it is made if it is missing
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Although other files stand there; those of the plugin are overwritten, and no others
        #[arg(long)]
        force: bool,
    },
}

pub fn run(global: &Global, command: &PluginCommand) -> Result<u8, CommandError> {
    let PluginCommand::Export { folder, force } = command;
    let here = std::env::current_dir()
        .map_err(|error| CommandError::usage("the current folder cannot be found").because(&error))?;
    let target = here.join(global.directory.as_deref().unwrap_or(Path::new(""))).join(folder);
    let binary =
        std::env::current_exe().map_err(|error| CommandError::io("ralph cannot find its own program", &error))?;
    let binary = binary.to_str().ok_or_else(|| CommandError::usage("the path of ralph's program is not UTF-8"))?;
    let files = skill::files(binary, env!("CARGO_PKG_VERSION"));
    refuse_to_mix(&target, *force)?;
    for (name, text) in &files {
        let path = target.join(name);
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| plan_files::write(&path, text.as_bytes()))
            .map_err(|error| CommandError::usage(format!("{} cannot be written", path.display())).because(&error))?;
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let object = || json!({ "v": VERSION, "folder": target, "files": names });
    page::answer(global, object, || {
        names.iter().map(|name| format!("wrote {}\n", target.join(name).display())).collect()
    })?;
    if !global.json {
        let typed = quoted(&target.to_string_lossy());
        page::narrate(global, &format!("try it: claude --plugin-dir {typed}"));
    }
    Ok(exit::OK)
}

/// A folder with other things in it is probably not the one that was meant.
fn refuse_to_mix(target: &Path, force: bool) -> Result<(), CommandError> {
    let own = |name: &str| [".claude-plugin", "hooks", "skills"].contains(&name);
    let entries = match std::fs::read_dir(target) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(CommandError::usage(format!("{} cannot be used", target.display())).because(&error));
        }
    };
    let mut names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    match names.find(|name| !own(name)).filter(|_| !force) {
        None => Ok(()),
        Some(name) => Err(CommandError::usage(format!("{} holds something else: {name}", target.display()))
            .hint("name an empty folder, or one that is not there")
            .hint("put the plugin beside it: --force")),
    }
}
