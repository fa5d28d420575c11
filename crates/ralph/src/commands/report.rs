//! `ralph report`: a run as one document, to be kept or sent to somebody.

use super::pick;
use crate::cli::Global;
use crate::error::CommandError;
use crate::project::Project;
use crate::terminal::page;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_view::Marks;
use ralph_view::report::{content, html, json, markdown};
use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Write a report on a run: what was asked, how it ended, and everything that proves it.
///
/// Iterations, checks, receipts, cost, version control, waits and notes, with small plots. Everything
/// comes from the journal, also while the run goes on or after a crash. Markdown leaves out the middle
/// of long tables; HTML is one file without scripts that needs no network; --json leaves out nothing.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph report                            the newest run as Markdown\n  ralph report 7f3a9k2m --html -o run.html\n  ralph report --plain > run.md           without other letters than ASCII in plots and marks\n  ralph report --json | jq '.checks[] | {name, results: [.iterations[].result]}'"
)]
pub struct ReportArgs {
    /// The run by its id or the beginning of it; the newest if left out
    run: Option<String>,
    /// Write HTML instead of Markdown
    #[arg(long, conflicts_with = "json")]
    html: bool,
    /// Write to this file, whole or not at all, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(global: &Global, args: &ReportArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let (explanation, style) =
        (pick::explanation(&project, args.run.as_deref())?, page::style(global, project.suggest()));
    let marks = if global.plain { Marks::Words } else { Marks::Emoji };
    let text = match (global.json, args.html) {
        (true, _) => ralph_view::json::line(&json::of(&explanation, &style)),
        (false, true) => html::render(&content::of(&explanation, &style)),
        (false, false) => markdown::render(&content::of(&explanation, &style), marks),
    };
    match &args.output {
        None => page::print(&text)?,
        Some(file) => {
            let path = project.cwd.join(file);
            write_whole(&path, &text).map_err(|error| {
                CommandError::io(format!("the report cannot be written to {}", path.display()), &error)
                    .hint("name a file in a folder that exists: ralph report -o report.md")
            })?;
            page::narrate(global, &format!("report on run {} in {}", explanation.row.run, path.display()));
        }
    }
    Ok(exit::OK)
}

/// Writes a file under its name only once all of it is there, so that nobody ever reads half a report.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A folder, pipe or device under this name is somebody's, and not ours to replace.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("it exists and is no file"));
    }
    // Like any file that a program writes; what the person's umask forbids stays forbidden.
    let permissions = Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().prefix(".ralph-report-").permissions(permissions).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
