//! `ralph plan init`: the files of a new plan.

use super::Place;
use crate::error::CommandError;
use crate::terminal::page;
use clap::Args;
use jiff::civil::Date;
use ralph_core::outcome::exit;
use ralph_core::plan::template::{NewFiles, NewPlan};
use ralph_core::plan::{PRD, PROGRESS, TASKS, TEMPLATE, marker};
use ralph_host::clock::Clock;
use ralph_host::plan_files::{self, Stands};
use ralph_view::json::VERSION;
use serde_json::json;
use std::fmt::Write as _;

/// Write the four files of a new plan.
///
/// Nothing that is there is overwritten, unless --force says so, and then it is kept beside the new file.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph plan init\n  ralph plan init --name order-status\n  ralph plan init --missing      only those files that are not there\n\nExit codes: 0 written; 2 there is a plan already, or it cannot be written; 75 a run works here."
)]
pub struct InitArgs {
    /// What the plan is called, which names its branch: ralph/NAME; the project's name if left out
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Begin anew where there is a plan already; its files are kept as FILE.old
    #[arg(long, conflicts_with = "missing")]
    force: bool,
    /// Write only those files that are not there
    #[arg(long)]
    missing: bool,
}

/// The files of a plan by their names.
pub(super) fn named(files: &NewFiles) -> [(&'static str, &str); 4] {
    [(PRD, &files.prd), (TASKS, &files.tasks), (PROGRESS, &files.progress), (TEMPLATE, &files.prompt)]
}

/// Today, where the person is.
pub(in crate::commands) fn today() -> Date {
    page::zone().date(Clock::start().now())
}

/// The files of a new plan here.
pub(super) fn new_files(place: &Place<'_>, name: Option<&str>, project: Option<&str>) -> NewFiles {
    let own = place.project.name();
    let project = project.unwrap_or(&own);
    let date = today();
    NewPlan { project, name: name.unwrap_or(project), dir: place.folder.dir(), date }.files()
}

pub(super) fn run(place: &Place<'_>, args: &InitArgs) -> Result<u8, CommandError> {
    if args.name.as_deref().is_some_and(|name| name.trim().is_empty()) {
        return Err(CommandError::usage("--name needs a name").hint("for example: ralph plan init --name order-status"));
    }
    let files = new_files(place, args.name.as_deref(), None);
    let stands = |file: &str| place.folder.read(file) != Stands::Gone;
    let there: Vec<&str> = named(&files).iter().map(|(file, _)| *file).filter(|file| stands(file)).collect();
    if !there.is_empty() && !args.force && !args.missing {
        let folder = &place.folder;
        return Err(CommandError::usage(format!("there is a plan already: {}/{}", folder.dir(), there.join(", ")))
            .hint(format!("look at it: ralph plan status{}", folder.flag()))
            .hint(format!("keep it, and begin with an empty one: ralph plan archive{}", folder.flag()))
            .hint(format!("write only what is missing: ralph plan init --missing{}", folder.flag()))
            .hint(format!(
                "begin anew, with the old files beside the new ones: ralph plan init --force{}",
                folder.flag()
            )));
    }
    let _lock = place.lock()?;
    make_folder(place)?;
    let (mut written, mut kept) = (Vec::new(), Vec::new());
    for (file, text) in named(&files) {
        if args.missing && there.contains(&file) {
            continue;
        }
        kept.extend(place.replace(file, text)?);
        written.push(place.folder.name(file));
    }
    let ignored = ignore_marker(place);
    let object = || {
        let kept: Vec<String> = kept.iter().map(|file| place.folder.name(file)).collect();
        json!({ "v": VERSION, "dir": place.folder.dir(), "written": written, "kept": kept })
    };
    page::answer(place.global, object, || {
        let mut page = String::new();
        written.iter().for_each(|file| _ = writeln!(page, "wrote {file}"));
        kept.iter().for_each(|file| _ = writeln!(page, "kept the old one as {}", place.folder.name(file)));
        page
    })?;
    if let Err(why) = ignored {
        page::say(&format!("note: {} was not added to .gitignore: {why}", marker::FILE));
    }
    if !place.global.json {
        page::narrate(place.global, &next_steps(place));
    }
    Ok(exit::OK)
}

/// The folder of a plan, made if it is missing.
pub(super) fn make_folder(place: &Place<'_>) -> Result<(), CommandError> {
    std::fs::create_dir_all(place.folder.path())
        .map_err(|error| CommandError::usage(format!("{} cannot be made", place.folder.dir())).because(&error))
}

/// The marker of a run is nobody's work.
pub(super) fn ignore_marker(place: &Place<'_>) -> Result<(), String> {
    let path = place.project.root.join(".gitignore");
    let text = match plan_files::read(&path) {
        Stands::Bytes(bytes) => String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?,
        Stands::Gone => String::new(),
        _ => return Err("it is not a plain file".to_owned()),
    };
    match marker::ignored_by(&text) {
        Some(text) => plan_files::write(&path, text.as_bytes()).map_err(|error| error.to_string()),
        None => Ok(()),
    }
}

fn next_steps(place: &Place<'_>) -> String {
    let (suggest, flag) = (place.project.suggest(), place.folder.flag());
    let (prd, tasks) = (place.folder.name(PRD), place.folder.name(TASKS));
    let run = if flag.is_empty() {
        "ralph run --plan".to_owned()
    } else {
        format!("ralph run --plan {}", place.folder.dir())
    };
    let steps = [
        format!("write {prd} and the stories in {tasks}, or let an agent ask you: ralph plan draft{flag}"),
        format!("check it: ralph plan check{flag}"),
        format!("commit it: git add {} .gitignore && git commit -m 'plan'", place.folder.dir()),
        format!("start it: {run}"),
    ];
    let lines = steps.iter().enumerate().map(|(at, step)| format!("  {}. {}", at + 1, suggest.line(step)));
    format!("next:\n{}", lines.collect::<Vec<_>>().join("\n"))
}
