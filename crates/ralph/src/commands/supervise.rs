//! `ralph supervise`: keeps a root agent running until it is DONE.

use crate::cli::Global;
use crate::error::CommandError;
use crate::project::{self, Project};
use crate::session;
use clap::Args;
use ralph_core::id::{LONGEST_TASK_NAME, TaskName, plain_name};
use ralph_core::supervise::{self, Restarts, Supervision};
use ralph_core::text;
use ralph_core::time::Millis;
use std::path::{Path, PathBuf};

/// Keep a root agent running until the file DONE stands in its task folder.
///
/// The command is started again whatever its exit code, until it has written DONE, the restarts are
/// used up, or somebody stops it. It ends without a restart if it exits with 42, writes the file
/// WAIT_WITHOUT_RESTART, or posts a message of type wait_without_restart; `ralph resume` goes on then.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph supervise -- ./agent.sh\n  ralph supervise --task fix-login --max-restarts 20 -- claude -p 'fix the login'\n  ralph supervise --task-dir work/task-001 --timeout 30m -- python root_agent.py\n\nThe agent finds its task folder in TASK_FOLDER and its bus in MESSAGE_BUS."
)]
pub struct SuperviseArgs {
    /// The task folder, where DONE is looked for; .ralph/tasks/TASK if left out
    #[arg(long, value_name = "DIR")]
    task_dir: Option<PathBuf>,
    /// The project, as messages name it; the project folder's name if left out
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// The task, as messages name it; the task folder's name if left out
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// How often the command may be started
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true)]
    max_restarts: i64,
    /// The pause between two starts, like 250ms, 5s or 1m; 0 for none
    #[arg(long, value_name = "TIME", default_value = "1s", allow_hyphen_values = true)]
    restart_delay: Millis,
    /// How long DONE waits for child runs, more than 0
    #[arg(long, value_name = "TIME", default_value = "300s", allow_hyphen_values = true)]
    wait_timeout: Millis,
    /// How often is looked for DONE where the file system does not tell of changes
    #[arg(long, value_name = "TIME", default_value = "1s", allow_hyphen_values = true)]
    poll_interval: Millis,
    /// How long the agent may run after each start; 0 for no limit
    #[arg(long, value_name = "TIME", default_value = "0", allow_hyphen_values = true)]
    timeout: Millis,
    /// How long the agent may neither print nor compute; 0 for no limit
    #[arg(long, value_name = "TIME", default_value = "0", allow_hyphen_values = true)]
    idle_timeout: Millis,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

/// Looking more often than this would be work, and finds nothing that is not told anyway.
const SHORTEST_POLL: Millis = Millis(10);

pub fn run(global: &Global, args: &SuperviseArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let most = u32::try_from(args.max_restarts).ok().filter(|&most| most > 0).ok_or_else(|| {
        CommandError::usage(format!(
            "--max-restarts {} is not possible: it needs a number of at least 1",
            args.max_restarts
        ))
    })?;
    if args.poll_interval < SHORTEST_POLL {
        return Err(CommandError::usage(format!("--poll-interval needs at least {SHORTEST_POLL}")));
    }
    if args.wait_timeout.is_off() {
        return Err(CommandError::usage("--wait-timeout 0 is not possible: DONE must wait for child runs")
            .hint("for a short wait: --wait-timeout 1s"));
    }
    if args.command.first().is_none_or(|program| program.trim().is_empty()) {
        return Err(CommandError::usage("the command is empty").hint("for example: ralph supervise -- ./agent.sh"));
    }
    let name = match &args.project {
        Some(name) => id("--project", name)?.to_owned(),
        None => project.project_name(),
    };
    let (task, task_folder) = task(args, &project)?;
    let restarts = Restarts { most, timeout: args.timeout, idle: args.idle_timeout, child_wait: args.wait_timeout };
    let supervision = Supervision {
        project: name,
        task_folder: journalled(&task_folder)?,
        folder: journalled(&project.cwd)?,
        restart_delay: args.restart_delay,
        poll: args.poll_interval,
    };
    let policy = supervise::policy(task, &args.command, restarts, supervision);
    let display = project.settings().map(|loaded| loaded.display()).unwrap_or_default();
    let face = global.face(&project, true, &display);
    session::begin_run(face, &project, session::started(&project, project::parent_run(), policy))
}

/// A task's name, and where its folder is. The same command finds the same folder again.
fn task(args: &SuperviseArgs, project: &Project) -> Result<(TaskName, PathBuf), CommandError> {
    let given = args.task.as_deref().map(|task| id("--task", task).map(TaskName::from_text)).transpose()?;
    if let Some(folder) = &args.task_dir {
        let folder = resolved(&project.cwd.join(folder))?;
        let name = folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        return Ok((given.unwrap_or_else(|| TaskName::from_text(&name)), folder));
    }
    let task = given.unwrap_or_else(|| {
        let program = args.command.first().map(Path::new).and_then(Path::file_stem).unwrap_or_default();
        let hash = text::short_hash(args.command.join("\0").as_bytes());
        TaskName::from_text(&format!("{}-{hash}", program.to_string_lossy()))
    });
    let folder = project.root.join(project::TASKS).join(task.as_str());
    Ok((task, folder))
}

/// Where a task folder is, whether it is there yet or not; its parent must be.
fn resolved(folder: &Path) -> Result<PathBuf, CommandError> {
    if let Ok(there) = folder.canonicalize() {
        return if there.is_dir() {
            Ok(there)
        } else {
            Err(CommandError::usage(format!("the task folder {} is not a folder", folder.display()))
                .hint("give a folder with --task-dir, or leave it out"))
        };
    }
    let parent = folder.parent().unwrap_or(Path::new("/"));
    let (Ok(parent), Some(name)) = (parent.canonicalize(), folder.file_name()) else {
        return Err(CommandError::usage(format!(
            "the task folder {} cannot be made: there is no {}",
            folder.display(),
            parent.display()
        ))
        .hint(format!("make it first: mkdir -p {}", parent.display())));
    };
    Ok(parent.join(name))
}

/// Ids stand in headers and name folders, so only plain ones are taken, and none is bent into shape.
fn id<'a>(flag: &str, text: &'a str) -> Result<&'a str, CommandError> {
    plain_name(text, LONGEST_TASK_NAME).map_err(|why| {
        CommandError::usage(format!("{flag} `{}` cannot be an id: {why}", text::cut(text, 40, "...")))
            .hint(format!("for example: {flag} fix-login"))
    })?;
    Ok(text)
}

/// The journal is text.
fn journalled(path: &Path) -> Result<String, CommandError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| CommandError::usage(format!("the name of the folder {} is not UTF-8", path.display())))
}
