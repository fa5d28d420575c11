//! `ralph plan archive`: keeps a finished plan, and begins with an empty one.

use super::{Place, init};
use crate::error::CommandError;
use crate::project;
use crate::session::event_loop;
use crate::terminal::page;
use clap::Args;
use jiff::civil::Date;
use ralph_core::id::RunId;
use ralph_core::outcome::exit;
use ralph_core::plan::archive::{self, Summary};
use ralph_core::plan::stats::{StoryFigures, Totals};
use ralph_core::plan::{PRD, PROGRESS, Plan, StoryId, TASKS};
use ralph_core::time::Millis;
use ralph_host::clock;
use ralph_host::plan_files::{self, Stands};
use ralph_host::process::Keeper;
use ralph_host::scm::{self, OwnCommit};
use ralph_host::temp::RunTemp;
use ralph_view::json::VERSION;
use ralph_view::quoted;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Keep a finished plan, and begin with an empty one.
///
/// prd.md, tasks.json and progress.txt move to ralph-archive/DATE-LABEL/, with a summary beside them; prompt.md
/// stays. In a git repository this is one commit of exactly these files.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph plan archive\n  ralph plan archive --label order-status\n  ralph plan archive --force      although stories are open\n\nExit codes: 0 kept; 1 kept, but git could not commit it; 2 no plan, a broken one, or open stories;\n75 a run works on it."
)]
pub struct ArchiveArgs {
    /// What the archive is called; the last part of the plan's branch, or the project, if left out
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,
    /// Although stories are open
    #[arg(long)]
    force: bool,
}

/// What becomes part of the archive, besides the summary.
const KEPT: [&str; 3] = [PRD, TASKS, PROGRESS];
const SUMMARY: &str = "summary.md";

/// How long one call of git may take: a filter of the repository may have to think.
const PATIENCE: Millis = Millis::from_secs(120);

/// Stories that are named when the plan is not finished.
const NAMED: usize = 10;

pub(super) fn run(place: &Place<'_>, args: &ArchiveArgs) -> Result<u8, CommandError> {
    let _lock = place.lock()?;
    let plan = place.folder.plan(place.rules())?;
    let stories = place.figures(&plan);
    let totals = Totals::of(&stories);
    if totals.done < totals.stories && !args.force {
        return Err(unfinished(place, &plan, totals));
    }
    let archived = Archive::new(place, args, &plan, &stories)?;
    archived.keep(place)?;
    begin_anew(place, &plan)?;
    let subject = archive::commit_subject(&archived.label, totals.done, totals.stories);
    let committed = commit(place, &archived.paths(place), &subject);
    let object = || {
        let commit = committed.as_ref().ok().and_then(Option::as_ref);
        json!({ "v": VERSION, "folder": archived.name, "done": totals.done, "stories": totals.stories, "commit": commit })
    };
    page::answer(place.global, object, || format!("{}\n", archived.name))?;
    match &committed {
        Ok(Some(id)) => {
            page::narrate(place.global, &format!("committed as {}: {subject}", ralph_view::words::short(id)))
        }
        Ok(None) if place.project.git_root.is_none() => {
            page::narrate(place.global, "no git repository here, so nothing was committed");
        }
        Ok(None) => page::narrate(place.global, "git ignores these files, so nothing was committed"),
        Err(why) => {
            page::say(&format!("warning: the archive is not committed: {why}"));
            let files = archived.paths(place).iter().map(|path| quoted(&path.to_string_lossy())).collect::<Vec<_>>();
            let typed = format!("git add -- {0} && git commit -m {1} -- {0}", files.join(" "), quoted(&subject));
            page::say(&format!("hint: in {}: {typed}", place.project.work_tree().display()));
            return Ok(exit::USED_UP);
        }
    }
    Ok(exit::OK)
}

fn unfinished(place: &Place<'_>, plan: &Plan, totals: Totals) -> CommandError {
    let open = plan.stories().iter().filter(|story| !story.is_done(place.rules().skip_review)).map(|story| &story.id);
    let open: Vec<&str> = open.map(StoryId::as_str).collect();
    let named = open.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = if open.len() > NAMED { format!(" and {} more", open.len() - NAMED) } else { String::new() };
    let flag = place.folder.flag();
    CommandError::usage(format!(
        "the plan in {}/ is not finished: {} of {} stories are done; open: {named}{more}",
        place.folder.dir(),
        totals.done,
        totals.stories
    ))
    .hint(format!("go on with it: ralph plan status{flag}"))
    .hint(format!("keep it as it is: ralph plan archive --force{flag}"))
}

/// An archive in the making.
struct Archive {
    label: String,
    /// From the project's root.
    name: String,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl Archive {
    fn new(
        place: &Place<'_>,
        args: &ArchiveArgs,
        plan: &Plan,
        stories: &[StoryFigures],
    ) -> Result<Archive, CommandError> {
        let mut files = Vec::new();
        for file in KEPT {
            match place.folder.read(file) {
                Stands::Bytes(bytes) => files.push((file, bytes)),
                Stands::Gone => {}
                _ => {
                    let why = format!("{} cannot be kept: it is not a plain file", place.folder.name(file));
                    return Err(CommandError::usage(why).hint("move it away, or put the file back"));
                }
            }
        }
        let label = archive::label(args.label.as_deref(), plan.branch(), plan.project());
        let today = init::today();
        let entries = std::fs::read_dir(place.project.root.join(archive::FOLDER)).into_iter().flatten().flatten();
        let existing: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        let folder = archive::folder(today, &label, existing.iter().map(String::as_str));
        let progress = files.iter().find(|(file, _)| *file == PROGRESS).map(|(_, bytes)| bytes.as_slice());
        let summary = Summary {
            project: plan.project(),
            label: &label,
            description: plan.description(),
            started: progress.and_then(started),
            archived: today,
            stories,
        };
        files.push((SUMMARY, summary.markdown().into_bytes()));
        Ok(Archive { name: format!("{}/{folder}", archive::FOLDER), label, files })
    }

    /// Writes everything. If that fails, the plan is as it was and nothing is left behind.
    fn keep(&self, place: &Place<'_>) -> Result<(), CommandError> {
        let folder = place.project.root.join(&self.name);
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(place.project.root.join(archive::FOLDER))?;
            std::fs::create_dir(&folder)?;
            self.files.iter().try_for_each(|(file, bytes)| plan_files::write(&folder.join(file), bytes))
        };
        write().map_err(|error| {
            // Only what was just made is in it.
            let _ = std::fs::remove_dir_all(&folder);
            CommandError::usage(format!("{} cannot be written; the plan is as it was", self.name)).because(&error)
        })
    }

    /// Everything that the commit is about, from the top of the work tree.
    fn paths(&self, place: &Place<'_>) -> Vec<PathBuf> {
        let root = place.project.root.strip_prefix(place.project.work_tree()).unwrap_or(Path::new(""));
        let kept = self.files.iter().map(|(file, _)| format!("{}/{file}", self.name));
        kept.chain(KEPT.map(|file| place.folder.name(file))).map(|path| root.join(path)).collect()
    }
}

/// The day that stands in the head of `progress.txt`.
fn started(progress: &[u8]) -> Option<Date> {
    let text = String::from_utf8_lossy(progress);
    text.lines().find_map(|line| line.strip_prefix("Started:")?.trim().get(..10)?.parse().ok())
}

/// Fresh files in place of those that were kept; the template of the prompt stays.
fn begin_anew(place: &Place<'_>, plan: &Plan) -> Result<(), CommandError> {
    let files = init::new_files(place, None, Some(plan.project()));
    let mut fresh = init::named(&files).into_iter().filter(|(file, _)| KEPT.contains(file));
    fresh.try_for_each(|(file, text)| place.folder.write(file, text.as_bytes()))
}

/// One commit of exactly these paths; `None` if there is no repository or nothing to commit.
fn commit(place: &Place<'_>, paths: &[PathBuf], message: &str) -> Result<Option<String>, String> {
    let Some(root) = &place.project.git_root else { return Ok(None) };
    let name = RunId::from_random(clock::random_bits());
    let scratch = RunTemp::create(&project::temp_folder(), &name).map_err(|error| error.to_string())?;
    let runtime = event_loop().map_err(|error| error.words())?;
    runtime.block_on(async {
        let mut keeper = Keeper::start_alone(&name).map_err(|error| error.to_string())?;
        let wanted = OwnCommit { root, paths, message, scratch: scratch.path(), patience: PATIENCE };
        let made = scm::commit(&mut keeper, wanted).await;
        keeper.close();
        made.map_err(|error| error.to_string())
    })
}
