//! `ralph man`: the manual pages, made from the command line itself.

use crate::cli::{Cli, Global};
use crate::error::CommandError;
use crate::terminal::page;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use ralph_core::outcome::exit;
use ralph_core::text;
use std::io;
use std::path::{Path, PathBuf};

/// Print the manual page, or write those of all commands.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph man | man -l -                       read it now\n  ralph man --dir ~/.local/share/man/man1    then: man ralph, man ralph-run"
)]
pub struct ManArgs {
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn run(global: &Global, args: &ManArgs) -> Result<u8, CommandError> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    match &args.dir {
        None => {
            page::print(&self::page(&command).map_err(|error| CommandError::io("the page cannot be made", &error))?)?
        }
        Some(folder) => {
            let failed = |error| CommandError::io(format!("no pages can be written to {}", folder.display()), &error);
            std::fs::create_dir_all(folder).map_err(failed)?;
            let written = write_all(&command, folder).map_err(failed)?;
            page::narrate(global, &format!("{} in {}", text::count(written, "page"), folder.display()));
        }
    }
    Ok(exit::OK)
}

/// Writes the pages of a command and of those below it, and says how many.
fn write_all(command: &Command, folder: &Path) -> io::Result<u64> {
    std::fs::write(folder.join(Man::new(command.clone()).get_filename()), page(command)?)?;
    let below = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    below.map(|sub| write_all(sub, folder)).try_fold(1, |sum, written| Ok(sum + written?))
}

/// One page. The examples of the help are a section of their own, in which lines stay lines.
fn page(command: &Command) -> io::Result<String> {
    let source = concat!("ralph ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("ralph manual");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for paragraph in help.split("\n\n") {
        let (head, lines) = paragraph.split_once(':').unwrap_or(("Notes", paragraph));
        let mut section = Roff::new();
        section.control("SH", [head.to_uppercase().as_str()]).control("nf", []);
        for line in lines.trim_matches('\n').lines() {
            section.text([roman(line.trim())]);
        }
        section.control("fi", []).to_writer(&mut page)?;
    }
    String::from_utf8(page).map_err(io::Error::other)
}
