//! `ralph completions`: a script by which a shell completes ralph's commands and flags.

use crate::cli::Cli;
use crate::error::CommandError;
use crate::terminal::page;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use ralph_core::outcome::exit;

/// Print the completions of a shell.
///
/// The script knows every command and flag of this version; make it anew after an upgrade.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph completions bash > ~/.local/share/bash-completion/completions/ralph\n  ralph completions zsh > ~/.zfunc/_ralph            (with ~/.zfunc in fpath, before compinit)\n  ralph completions fish > ~/.config/fish/completions/ralph.fish\n  ralph completions powershell >> $PROFILE"
)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(args: &CompletionsArgs) -> Result<u8, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut without_hidden(&Cli::command()), "ralph", &mut script);
    page::put(&script)?;
    Ok(exit::OK)
}

fn without_hidden(command: &clap::Command) -> clap::Command {
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned();
    clap::Command::new("ralph")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_version_flag(true)
        .args(command.get_arguments().cloned())
        .subcommands(shown)
}
