//! `ralph plan import`: makes a plan of another tool's file.

use super::{Place, init, is_written, stories};
use crate::error::CommandError;
use crate::terminal::page;
use clap::Args;
use ralph_core::outcome::exit;
use ralph_core::plan::import::{self, Imported, LARGEST, Options};
use ralph_core::plan::{PRD, PROGRESS, TASKS};
use ralph_core::text;
use ralph_host::look;
use ralph_host::plan_files::{self, Stands};
use ralph_view::json::VERSION;
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Make a plan of another tool's file.
///
/// FILE is a prd.json of snarktank/ralph, a fix_plan.md or another Markdown check-list, a Markdown plan with task
/// headings, what `gh issue list --json number,title,body,labels,state` prints, a tasks.json, or a folder with one.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph plan import scripts/ralph/prd.json\n  ralph plan import fix_plan.md --reopen\n  gh issue list --json number,title,body,labels,state | ralph plan import -\n  ralph plan import ../shop/ralph/ --force\n\nExit codes: 0 imported; 2 nothing could be imported, or there is a plan already; 75 a run works here."
)]
pub struct ImportArgs {
    /// The file or folder; `-` reads standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// Although there is a plan already; its tasks.json is kept as tasks.json.old
    #[arg(long)]
    force: bool,
    /// Open stories again that came as done
    #[arg(long)]
    reopen: bool,
}

const CAN_IMPORT: &str = "see what can be imported: ralph plan import --help";

pub(super) fn run(place: &Place<'_>, args: &ImportArgs) -> Result<u8, CommandError> {
    let given = Given::read(place, &args.file)?;
    let project = place.project.name();
    let options = Options { project: &project, reopen: args.reopen };
    let imported = import::import(&given.tasks, &options).map_err(|error| {
        CommandError::usage(format!("{} cannot be imported", given.shown)).because(&error).hint(CAN_IMPORT)
    })?;
    let _lock = place.lock()?;
    if !args.force && has_plan(place) {
        let (name, flag) = (place.folder.name(TASKS), place.folder.flag());
        return Err(CommandError::usage(format!("there is a plan already: {name}"))
            .hint(format!("look at it: ralph plan status{flag}"))
            .hint("put the imported one in its place, with the old one beside it: --force"));
    }
    let kept = write(place, &given, &imported)?;
    // It may be imported and still not be a plan that a run could begin with: a person should know at once.
    let problems = place.folder.check(place.rules()).err().unwrap_or_default();
    let object = || object_of(place, &imported, &kept);
    page::answer(place.global, object, || {
        let Imported { source, stories: all, done, .. } = &imported;
        let name = place.folder.name(TASKS);
        let done =
            if args.reopen { format!("{done} of them were done and are open again") } else { format!("{done} done") };
        let mut page = format!("imported {} ({done}) from {} into {name}\n", stories(*all), source.words());
        kept.iter().for_each(|file| page.push_str(&format!("kept the old one as {}\n", place.folder.name(file))));
        page
    })?;
    if !place.global.json {
        for sentence in &imported.unmapped {
            page::say(&format!("note: {}", text::for_terminal(sentence)));
        }
        for problem in &problems {
            page::say(&format!("warning: {}", text::for_terminal(problem.words())));
        }
        let flag = place.folder.flag();
        page::narrate(place.global, &place.project.suggest().line(&format!("next: ralph plan check{flag}")));
    }
    Ok(exit::OK)
}

/// What somebody wants to be imported.
struct Given {
    shown: String,
    tasks: Vec<u8>,
    /// Requirements and log, if they came in a folder.
    beside: Vec<(&'static str, Vec<u8>)>,
}

impl Given {
    fn read(place: &Place<'_>, file: &Path) -> Result<Given, CommandError> {
        let shown = text::for_terminal(&file.display().to_string());
        if file == Path::new("-") {
            let mut tasks = Vec::new();
            // One byte more than can be imported shows that it is too much.
            let read = std::io::stdin().lock().take(1 + LARGEST as u64).read_to_end(&mut tasks);
            read.map_err(|error| CommandError::io("standard input cannot be read", &error))?;
            return Ok(Given { shown: "standard input".to_owned(), tasks, beside: Vec::new() });
        }
        let path = place.project.cwd.join(file);
        let is_folder = path.is_dir();
        let tasks = if is_folder { path.join(TASKS) } else { path.clone() };
        let failed = |error: &std::io::Error| {
            CommandError::usage(format!("{} cannot be read", text::for_terminal(&tasks.display().to_string())))
                .because(error)
                .hint(CAN_IMPORT)
        };
        let mut bytes = Vec::new();
        let read = look::open(&tasks).and_then(|open| open.take(1 + LARGEST as u64).read_to_end(&mut bytes));
        read.map_err(|error| failed(&error))?;
        let beside = |file: &'static str| match plan_files::read(&path.join(file)) {
            Stands::Bytes(bytes) if is_folder => Some((file, bytes)),
            _ => None,
        };
        Ok(Given { shown, tasks: bytes, beside: [PRD, PROGRESS].into_iter().filter_map(beside).collect() })
    }
}

/// Whether there is something that an import would take away: a file that `plan init` wrote and nobody edited is not.
fn has_plan(place: &Place<'_>) -> bool {
    match place.folder.read(TASKS) {
        Stands::Gone => false,
        Stands::Bytes(bytes) => is_written(TASKS, &bytes),
        _ => true,
    }
}

/// Writes the plan, and what else a plan has and is missing. Returns the names of what it took the place of.
fn write(place: &Place<'_>, given: &Given, imported: &Imported) -> Result<Vec<String>, CommandError> {
    init::make_folder(place)?;
    let files = init::new_files(place, None, None);
    let mut kept = Vec::new();
    for (file, fresh) in init::named(&files) {
        let came = given.beside.iter().find(|(name, _)| *name == file).map(|(_, bytes)| String::from_utf8_lossy(bytes));
        match (file, came) {
            (TASKS, _) => kept.extend(place.replace(TASKS, &imported.tasks)?),
            (file, Some(text)) => kept.extend(place.replace(file, &text)?),
            (file, None) if place.folder.read(file) == Stands::Gone => place.folder.write(file, fresh.as_bytes())?,
            (_, None) => {}
        }
    }
    if let Err(why) = init::ignore_marker(place) {
        page::say(&format!("note: .gitignore is as it was: {why}"));
    }
    Ok(kept)
}

fn object_of(place: &Place<'_>, imported: &Imported, kept: &[String]) -> Value {
    let kept: Vec<String> = kept.iter().map(|file| place.folder.name(file)).collect();
    json!({
        "v": VERSION,
        "dir": place.folder.dir(),
        "source": imported.source.words(),
        "stories": imported.stories,
        "done": imported.done,
        "unmapped": imported.unmapped,
        "kept": kept,
    })
}
