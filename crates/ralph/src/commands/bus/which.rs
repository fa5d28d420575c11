//! Which bus is meant: said by flags, by the run around the command, or by the folder.

use crate::error::CommandError;
use crate::project::{Project, RunAround};
use clap::Args;
use ralph_core::bus::{PROJECT_BUS, TASK_BUS};
use ralph_core::id::{NotAName, TaskName, plain_name};
use ralph_core::outcome::exit;
use ralph_host::bus::Bus;
use ralph_host::look;
use ralph_host::views::{self, ViewError};
use std::path::PathBuf;

/// The longest name of a project, as of a task.
const LONGEST_PROJECT: usize = ralph_core::id::LONGEST_TASK_NAME;

/// The flags that name a bus.
#[derive(Debug, Args)]
pub struct WhichArgs {
    /// This bus file
    #[arg(long, value_name = "FILE")]
    pub bus: Option<PathBuf>,
    /// The bus of this task
    #[arg(long, value_name = "NAME", value_parser = TaskName::parse)]
    pub task: Option<TaskName>,
    /// The project's bus, under this name for the project
    #[arg(long, value_name = "NAME", value_parser = project)]
    pub project: Option<String>,
}

/// A bus, and how it was found.
#[derive(Debug, PartialEq, Eq)]
pub enum Which {
    /// Named outright, by a flag or by the run around.
    File(PathBuf),
    Task(TaskName),
    Project,
}

impl WhichArgs {
    pub fn find(&self, project: &Project, around: &RunAround) -> Which {
        // Whatever stands there is the bus: if it is no file, that is told.
        let upward =
            || project.cwd.ancestors().map(|folder| folder.join(TASK_BUS)).find(|file| look::kind(file).is_some());
        let of_run = || around.task_folder.as_ref().map(|folder| folder.join(TASK_BUS));
        match (&self.bus, &self.task, &self.project) {
            (Some(file), ..) => Which::File(project.cwd.join(file)),
            (None, Some(task), _) => Which::Task(task.clone()),
            (None, None, Some(_)) => Which::Project,
            (None, None, None) => {
                let found = around.bus.clone().or_else(of_run).map(|file| project.cwd.join(file)).or_else(upward);
                found.map_or(Which::Project, Which::File)
            }
        }
    }
}

impl Which {
    pub fn bus(&self, project: &Project) -> Bus {
        Bus::at(match self {
            Which::File(file) => file.clone(),
            Which::Task(task) => project.root.join(crate::project::TASKS).join(task.as_str()).join(TASK_BUS),
            Which::Project => project.root.join(".ralph").join(PROJECT_BUS),
        })
    }

    /// Makes the folder in which it is to be, if that is one of ralph's.
    pub fn make_folder(&self, project: &Project) -> Result<(), CommandError> {
        let task = match self {
            Which::File(_) => return Ok(()),
            Which::Task(task) => Some(task),
            Which::Project => None,
        };
        views::make_folder(&project.root, task).map_err(|error| match error {
            ViewError::Io { .. } => CommandError::new(exit::IO, error.to_string()),
            error => CommandError::usage(error.to_string()),
        })
    }

    /// The task whose bus this is, as its folder says.
    pub fn task(&self) -> Option<TaskName> {
        match self {
            Which::File(file) if file.file_name().is_some_and(|name| name == TASK_BUS) => {
                TaskName::parse(file.parent()?.file_name()?.to_str()?).ok()
            }
            Which::Task(task) => Some(task.clone()),
            Which::File(_) | Which::Project => None,
        }
    }
}

fn project(text: &str) -> Result<String, NotAName> {
    plain_name(text, LONGEST_PROJECT).map(|()| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn project(cwd: &Path) -> Project {
        let (cwd, root) = (cwd.to_owned(), cwd.to_owned());
        Project { cwd, root, git_root: None, state: PathBuf::new(), locks: PathBuf::new(), user_settings: None }
    }

    fn args(bus: Option<&str>, task: Option<&str>, project: Option<&str>) -> WhichArgs {
        let task = task.and_then(|task| TaskName::parse(task).ok());
        WhichArgs { bus: bus.map(PathBuf::from), task, project: project.map(str::to_owned) }
    }

    fn around(bus: Option<&str>, folder: Option<&str>) -> RunAround {
        RunAround { bus: bus.map(PathBuf::from), task_folder: folder.map(PathBuf::from), ..RunAround::default() }
    }

    #[test]
    fn what_is_said_nearest_counts() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("a/b");
        std::fs::create_dir_all(&cwd).unwrap();
        let project = project(&cwd);
        let (no_args, nothing) = (args(None, None, None), RunAround::default());
        let find = |args: &WhichArgs, around: &RunAround| args.find(&project, around).bus(&project).path().to_owned();
        assert_eq!(find(&no_args, &nothing), cwd.join(".ralph/PROJECT-MESSAGE-BUS.md"));
        std::fs::write(folder.path().join(TASK_BUS), "").unwrap();
        assert_eq!(find(&no_args, &nothing), folder.path().join(TASK_BUS), "upward");
        assert_eq!(find(&no_args, &around(None, Some("/t"))), Path::new("/t").join(TASK_BUS));
        let run = around(Some("/m.md"), Some("/t"));
        assert_eq!(find(&no_args, &run), Path::new("/m.md"));
        assert_eq!(find(&args(None, None, Some("shop")), &run), cwd.join(".ralph/PROJECT-MESSAGE-BUS.md"));
        let task_bus = cwd.join(".ralph/tasks/x/TASK-MESSAGE-BUS.md");
        assert_eq!(find(&args(None, Some("x"), Some("shop")), &run), task_bus);
        assert_eq!(find(&args(Some("f.md"), Some("x"), None), &run), cwd.join("f.md"));
    }
}
