//! Where a command works: the project around the current folder, and its folder in the state
//! directory. The only file besides `main` that reads the environment.

use crate::error::CommandError;
use crate::settings::{self, Loaded, SettingsError};
use crate::terminal::page;
use ralph_core::id::{LONGEST_TASK_NAME, RunId, TaskName, plain_name};
use ralph_host::child_runs::{self, FOLDER_VARIABLE, Origin, PARENT_VARIABLE};
use ralph_host::identity::RUN_VARIABLE;
use ralph_host::process::find_program;
use ralph_host::temp::RunTemp;
use ralph_host::watch::SettingsWatch;
use ralph_host::{look, state_dir, tree};
use ralph_view::Suggest;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

pub const TASKS: &str = ".ralph/tasks";

#[derive(Debug, Clone)]
pub struct Project {
    pub cwd: PathBuf,
    /// The project: the nearest folder upward with `.ralph` or `.git`, else the current one.
    pub root: PathBuf,
    pub git_root: Option<PathBuf>,
    pub state: PathBuf,
    pub locks: PathBuf,
    /// Where the user's own settings are, if there are any.
    pub user_settings: Option<PathBuf>,
}

impl Project {
    pub fn find(start: Option<&Path>) -> Result<Project, CommandError> {
        let here = std::env::current_dir().map_err(|error| {
            CommandError::usage("the current folder cannot be found; it may have been deleted").because(&error)
        })?;
        let wanted = start.map_or_else(|| here.clone(), |start| here.join(start));
        let cwd = wanted.canonicalize().map_err(|error| {
            CommandError::usage(format!("the folder {} cannot be opened", wanted.display())).because(&error)
        })?;
        if !cwd.is_dir() {
            return Err(CommandError::usage(format!("{} is not a folder", cwd.display())));
        }
        let root = project_around(&cwd).to_owned();
        let state_root = state_root()?;
        Ok(Project {
            git_root: tree::git_root(&root),
            state: state_of(&state_root, &root),
            locks: state_root.join("locks"),
            user_settings: user_settings(),
            root,
            cwd,
        })
    }

    /// The settings that hold here, as they were found.
    pub fn settings(&self) -> Result<Loaded, SettingsError> {
        Loaded::read(&self.root, self.user_settings.as_deref())
    }

    /// The files that settings come from, whether they are there or not, as they stand now.
    pub fn watch_settings(&self) -> Result<SettingsWatch, CommandError> {
        let files = settings::FILES.iter().map(|file| self.root.join(file)).chain(self.user_settings.clone());
        SettingsWatch::new(files.collect())
            .map_err(|error| CommandError::io("what the settings hold cannot be remembered", &error))
    }

    /// How commands about this project are typed where the caller stands.
    pub fn suggest(&self) -> Suggest {
        let here = std::env::current_dir().and_then(|here| here.canonicalize());
        let is_found = here.is_ok_and(|here| project_around(&here) == self.root);
        if is_found { Suggest::default() } else { Suggest::elsewhere(&self.root) }
    }

    /// The tree that one loop may own.
    pub fn work_tree(&self) -> &Path {
        self.git_root.as_deref().unwrap_or(&self.root)
    }

    pub fn name(&self) -> String {
        self.root.file_name().map_or("/".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// The project's name in messages: the folder's, made safe as that of a task would be.
    pub fn project_name(&self) -> String {
        TaskName::from_text(&self.name()).to_string()
    }

    /// The state folders of projects that are not where they were, and where that was.
    pub fn homeless(&self) -> Vec<(PathBuf, PathBuf)> {
        let state_root = self.locks.parent().unwrap_or(&self.locks);
        state_dir::homeless(state_root).into_iter().map(|(folder, home)| (folder, home.root)).collect()
    }

    pub fn run_folder(&self, run: &RunId) -> PathBuf {
        self.state.join("runs").join(run.as_str())
    }

    /// The folders of the runs that this process comes from. The one whose agent started it may be
    /// another project's, and then only its environment tells where it is.
    pub fn origin(&self) -> Origin {
        let around = run_in(RUN_VARIABLE).map(|run| {
            let told = variable(FOLDER_VARIABLE).map(PathBuf::from);
            let told = told.filter(|folder| folder.is_absolute() && folder.file_name() == Some(run.as_str().as_ref()));
            told.unwrap_or_else(|| self.run_folder(&run))
        });
        let named = run_in(PARENT_VARIABLE).filter(|named| run_in(RUN_VARIABLE).as_ref() != Some(named));
        let parent = named.map(|named| self.run_folder(&named)).or_else(|| around.clone());
        Origin { parent, started_in: around }
    }

    /// Whether this process was started inside that run, however deep.
    pub fn is_inside(&self, run: &RunId) -> bool {
        let above = || self.origin().parent.map(|parent| child_runs::ancestors(&parent)).unwrap_or_default();
        parent_run().as_ref() == Some(run) || above().contains(run)
    }
}

/// The project's folder in the state directory. One that was moved brings its runs along, and says so.
fn state_of(state_root: &Path, root: &Path) -> PathBuf {
    let usual = state_dir::project_folder(state_root, root);
    if usual.symlink_metadata().is_ok() {
        return usual;
    }
    let Some((folder, home)) = state_dir::moved_to(state_root, root) else { return usual };
    page::say(&format!("note: this project was at {} and was moved; its runs go on here", home.root.display()));
    match state_dir::adopt(&folder, &usual, root) {
        Ok(()) => usual,
        // They can be looked at where they are.
        Err(_) => folder,
    }
}

fn project_around(folder: &Path) -> &Path {
    let is_project = |folder: &&Path| folder.join(".ralph").is_dir() || folder.join(".git").exists();
    folder.ancestors().find(is_project).unwrap_or(folder)
}

/// `$RALPH_STATE_DIR`, else `$XDG_STATE_HOME/ralph`, else `~/.local/state/ralph`.
fn state_root() -> Result<PathBuf, CommandError> {
    let set = |name: &str| variable(name).map(PathBuf::from);
    let root = set("RALPH_STATE_DIR")
        .or_else(|| set("XDG_STATE_HOME").map(|folder| folder.join("ralph")))
        .or_else(|| set("HOME").map(|folder| folder.join(".local/state/ralph")))
        .ok_or_else(|| {
            CommandError::usage(
                "there is no place for ralph's state: none of RALPH_STATE_DIR, XDG_STATE_HOME and HOME is set",
            )
            .hint("export RALPH_STATE_DIR=/a/folder/outside/the/project")
        })?;
    std::path::absolute(&root)
        .map_err(|error| CommandError::usage("the state directory has no absolute path").because(&error))
}

/// `$XDG_CONFIG_HOME/ralph/settings.json`, else `~/.config/ralph/settings.json`.
fn user_settings() -> Option<PathBuf> {
    let set = |name: &str| variable(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")));
    folder.map(|folder| folder.join("ralph/settings.json"))
}

pub fn parent_run() -> Option<RunId> {
    run_in(PARENT_VARIABLE).or_else(|| run_in(RUN_VARIABLE))
}

fn run_in(name: &str) -> Option<RunId> {
    variable(name).and_then(|id| RunId::parse(id.to_str()?))
}

/// Where temporary folders of runs are made. Inside a run, not in the run's own: that goes with it.
pub fn temp_folder() -> PathBuf {
    let folder = std::env::temp_dir();
    let of_run = run_in(RUN_VARIABLE).map(|run| RunTemp::name(&run));
    match (folder.file_name(), folder.parent(), of_run) {
        (Some(name), Some(around), Some(of_run)) if *name == *of_run => around.to_owned(),
        _ => folder,
    }
}

/// What the environment says to somebody who posts or reads messages: the run around, and who types.
#[derive(Debug, Default)]
pub struct RunAround {
    pub bus: Option<PathBuf>,
    pub task_folder: Option<PathBuf>,
    pub run: Option<RunId>,
    pub task: Option<TaskName>,
    pub project: Option<String>,
    pub user: String,
}

impl RunAround {
    /// Who says what is said here, as far as ralph can tell.
    pub fn sender(&self) -> String {
        self.run.as_ref().map_or_else(|| self.user.clone(), |run| format!("run {run}"))
    }

    pub fn find() -> RunAround {
        let text = |name: &str| std::env::var(name).ok();
        let user = text("USER").filter(|user| !user.is_empty());
        RunAround {
            bus: variable("MESSAGE_BUS").map(PathBuf::from),
            task_folder: variable("RALPH_TASK_DIR").map(PathBuf::from),
            run: text("RALPH_RUN_ID").and_then(|id| RunId::parse(&id)),
            task: text("RALPH_TASK_ID").and_then(|task| TaskName::parse(&task).ok()),
            project: text("RALPH_PROJECT_ID").filter(|name| plain_name(name, LONGEST_TASK_NAME).is_ok()),
            user: user.unwrap_or_else(|| format!("user {}", rustix::process::getuid().as_raw())),
        }
    }
}

/// A variable that is set to something, for those who must not read it themselves.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The file that a program's name means in `folder`, if it can be executed.
pub fn program(name: &str, folder: &Path) -> io::Result<PathBuf> {
    program_on(std::env::var_os("PATH").as_deref(), name, folder)
}

pub fn program_on(path: Option<&OsStr>, name: &str, folder: &Path) -> io::Result<PathBuf> {
    let file = find_program(name.as_ref(), folder, path)?;
    look::may_execute(&file).map(|()| file)
}

pub fn is_colorless() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var("TERM").is_ok_and(|term| term == "dumb")
}

/// Whether the locale has emoji. Where none is set, as in most containers, the terminal usually does.
pub fn shows_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    locale.is_none_or(|locale| is_utf8(&locale.to_string_lossy()))
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

pub fn term() -> Option<String> {
    std::env::var("TERM").ok()
}
