//! The folder of a plan, as commands see it: where it is, what stands in it, and what is wrong with that.

use crate::error::CommandError;
use crate::project::Project;
use ralph_core::plan::{DIR, PRD, PROGRESS, Plan, Problem, Rules, TASKS, TEMPLATE};
use ralph_core::text;
use ralph_host::plan_files::{self, Stands};
use ralph_view::quoted;
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

/// Problems that are told one by one: whoever mends twenty looks again anyway.
const MOST_TOLD: usize = 20;

/// Folders at the top of a project in which no plan can stand: git and ralph keep their own things there, and nobody
/// looks at what agents change in them.
const TAKEN: [&str; 2] = [".git", ".ralph"];

#[derive(Debug, Clone)]
pub struct PlanFolder {
    root: PathBuf,
    /// From the project's root, with slashes and without one at its end.
    dir: String,
}

/// Something wrong with a plan, as `plan check` tells it.
#[derive(Debug, Clone)]
pub struct Finding {
    file: String,
    story: Option<String>,
    field: Option<String>,
    words: String,
}

impl PlanFolder {
    /// The folder that was typed, as seen from where the caller stands, else that of the settings.
    pub fn find(project: &Project, typed: Option<&Path>, usual: &str) -> Result<PlanFolder, CommandError> {
        let shown = typed.map_or_else(|| usual.to_owned(), |typed| typed.display().to_string());
        let path = typed.map_or_else(|| project.root.join(usual), |typed| project.cwd.join(typed));
        let refuse = |why: &str| {
            CommandError::usage(format!("`{shown}` cannot be the folder of a plan: {why}"))
                .hint("give a folder inside the project: --dir ralph")
        };
        let real = path.canonicalize().unwrap_or_else(|_| plain(&path));
        let inside = real.strip_prefix(&project.root).map_err(|_| refuse("it is outside the project"))?;
        let dir = inside.to_str().ok_or_else(|| refuse("its name is not UTF-8"))?;
        match inside.components().next() {
            None => Err(refuse("it is the project itself")),
            Some(first) if TAKEN.iter().any(|taken| first.as_os_str() == *taken) => {
                Err(refuse("what stands there is not part of the project"))
            }
            Some(_) => Ok(PlanFolder { root: project.root.clone(), dir: dir.to_owned() }),
        }
    }

    /// From the project's root.
    pub fn dir(&self) -> &str {
        &self.dir
    }

    pub fn path(&self) -> PathBuf {
        self.root.join(&self.dir)
    }

    /// A file of the plan, from the project's root: as people are told, and as git is.
    pub fn name(&self, file: &str) -> String {
        format!("{}/{file}", self.dir)
    }

    pub fn file(&self, file: &str) -> PathBuf {
        self.path().join(file)
    }

    pub fn read(&self, file: &str) -> Stands {
        plan_files::read(&self.file(file))
    }

    pub fn write(&self, file: &str, bytes: &[u8]) -> Result<(), CommandError> {
        plan_files::write(&self.file(file), bytes)
            .map_err(|error| CommandError::usage(format!("{} cannot be written", self.name(file))).because(&error))
    }

    /// Refuses where there is no plan to work with.
    pub fn must_exist(&self) -> Result<(), CommandError> {
        let path = self.path();
        match path.metadata() {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(_) => Err(CommandError::usage(format!("{} is not a folder", self.dir)).hint("move it away")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(CommandError::usage(format!("there is no plan in {}/: run ralph plan init first", self.dir))
                    .hint(format!("make one: ralph plan init{}", self.flag())))
            }
            Err(error) => Err(CommandError::usage(format!("{} cannot be looked at", self.dir)).because(&error)),
        }
    }

    /// ` --dir FOLDER` for commands that would look for another one.
    pub fn flag(&self) -> String {
        if self.dir == DIR { String::new() } else { format!(" --dir {}", quoted(&self.dir)) }
    }

    /// The plan, if a run could begin with it; else everything that is wrong.
    pub fn check(&self, rules: Rules) -> Result<Plan, Vec<Finding>> {
        let tasks = self.read(TASKS);
        let mut findings: Vec<Finding> = [PRD, TEMPLATE].iter().filter_map(|file| self.missing(file)).collect();
        let plan = Plan::seen(tasks.seen()).and_then(|plan| match plan.broken_invariants(rules, None) {
            broken if broken.is_empty() => Ok(plan),
            broken => Err(broken),
        });
        match plan {
            Ok(plan) if plan.stories().is_empty() => {
                let (story, field) = (None, Some("userStories".to_owned()));
                let words = format!("{}: 'userStories' holds no story", self.name(TASKS));
                findings.insert(0, Finding { file: self.name(TASKS), story, field, words });
                Err(findings)
            }
            Ok(plan) if findings.is_empty() => Ok(plan),
            Ok(_) => Err(findings),
            Err(problems) => {
                findings.splice(..0, problems.iter().map(|problem| self.finding(problem)));
                Err(findings)
            }
        }
    }

    /// The plan, or the message of `plan check`.
    pub fn plan(&self, rules: Rules) -> Result<Plan, CommandError> {
        self.must_exist()?;
        self.check(rules).map_err(|findings| self.broken(&findings))
    }

    pub fn broken(&self, findings: &[Finding]) -> CommandError {
        let told: Vec<String> =
            findings.iter().take(MOST_TOLD).map(|finding| text::for_terminal(&finding.words)).collect();
        let message = match (told.as_slice(), findings.len()) {
            ([only], 1) => only.clone(),
            (told, all) => {
                let more = all - told.len();
                let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
                format!("the plan in {}/ has {all} problems:\n  {}{more}", self.dir, told.join("\n  "))
            }
        };
        CommandError::usage(message).hint(format!("mend it, then look again: ralph plan check{}", self.flag()))
    }

    /// What is no fault and may still not be meant.
    pub fn warnings(&self, plan: &Plan) -> Vec<Finding> {
        let mut warnings: Vec<Finding> = plan.warnings().iter().map(|problem| self.finding(problem)).collect();
        warnings.extend(self.missing(PROGRESS));
        warnings
    }

    fn finding(&self, problem: &Problem) -> Finding {
        let (words, file) = (problem.words(), self.name(TASKS));
        let words = match words.strip_prefix(TASKS) {
            Some(rest) => format!("{file}{rest}"),
            None => format!("{file}: {words}"),
        };
        Finding { words, story: problem.story.clone(), field: problem.field.clone(), file }
    }

    /// Why a file of the plan other than `tasks.json` cannot be used.
    fn missing(&self, file: &str) -> Option<Finding> {
        let why = match self.read(file) {
            Stands::Bytes(bytes) if file == TEMPLATE && bytes.trim_ascii().is_empty() => "is empty".to_owned(),
            Stands::Bytes(_) => return None,
            Stands::Gone => format!("is not there; write what is missing: ralph plan init --missing{}", self.flag()),
            Stands::Link => "is a symbolic link, not a file".to_owned(),
            Stands::Directory => "is a directory, not a file".to_owned(),
            Stands::TooLarge(bytes) => format!("has {bytes} bytes, which is too large"),
            Stands::Unreadable(why) => format!("could not be read: {why}"),
        };
        let file = self.name(file);
        Some(Finding { words: format!("{file} {why}"), story: None, field: None, file })
    }
}

impl Finding {
    pub fn words(&self) -> &str {
        &self.words
    }

    pub fn object(&self) -> Value {
        json!({ "file": self.file, "story": self.story, "field": self.field, "message": self.words })
    }
}

/// A path without `.` and `..`, for a folder that is not there yet.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
