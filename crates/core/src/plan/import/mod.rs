//! Reads the plans of other tools and writes them as `tasks.json`. Which tool a file comes from is told by its content.
//! Whatever comes in, what goes out is a valid plan; what could not be mapped is said in sentences.

mod draft;
mod json;
mod markdown;

use self::draft::Unmapped;
use thiserror::Error;

/// How a file is imported.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The project's name, for files that name none.
    pub project: &'a str,
    /// Stories that are done are opened again.
    pub reopen: bool,
}

/// A plan that was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub source: Source,
    /// The text of `tasks.json`.
    pub tasks: String,
    pub stories: usize,
    /// How many of them came as done; they are open if they were to be opened again.
    pub done: usize,
    /// What could not be mapped, a sentence each.
    pub unmapped: Vec<String>,
}

/// What a file was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Stories that pass or do not, as `prd.json` of snarktank/ralph has them.
    PrdJson,
    /// Stories with reviews, as the ralph plugin for Claude Code has them.
    Plugin,
    /// What `gh issue list --json` prints.
    Issues,
    /// A Markdown list of boxes, such as `fix_plan.md`.
    CheckList,
    /// A Markdown plan with a heading for each task.
    Headings,
}

impl Source {
    /// What a person is told.
    pub const fn words(self) -> &'static str {
        match self {
            Source::PrdJson => "a prd.json with stories",
            Source::Plugin => "a tasks.json with reviews",
            Source::Issues => "a list of GitHub issues",
            Source::CheckList => "a Markdown check-list",
            Source::Headings => "a Markdown plan with task headings",
        }
    }
}

/// The largest file that is imported, in bytes: no plan of people is near it.
pub const LARGEST: usize = 16 * 1024 * 1024;

/// Why a file cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    #[error("the file has {bytes} bytes, more than the {LARGEST} that a plan may have")]
    TooLarge { bytes: usize },
    #[error("the file is not text in UTF-8 (byte {at})")]
    NotText { at: usize },
    #[error("the file begins like JSON but is not valid JSON: {what}")]
    Json { what: String },
    #[error(
        "there are no tasks in the file; ralph imports prd.json, fix_plan.md, Markdown plans with boxes or task \
         headings, `gh issue list --json number,title,body,labels,state`, and tasks.json"
    )]
    NoTasks,
}

/// Reads a file and writes it as `tasks.json`.
pub fn import(bytes: &[u8], options: &Options<'_>) -> Result<Imported, ImportError> {
    if bytes.len() > LARGEST {
        return Err(ImportError::TooLarge { bytes: bytes.len() });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| ImportError::NotText { at: error.valid_up_to() })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut unmapped = Unmapped::default();
    let parsed = text.trim_start().starts_with(['{', '[']).then(|| json::parse(text));
    let (source, draft) = match parsed {
        Some(Ok(value)) => json::read(value, &mut unmapped).ok_or(ImportError::NoTasks)?,
        // A Markdown text may begin with a bracket too.
        Some(Err(error)) => markdown::read(text, &mut unmapped).ok_or(ImportError::Json { what: error.to_string() })?,
        None => markdown::read(text, &mut unmapped).ok_or(ImportError::NoTasks)?,
    };
    let (stories, done) = (draft.stories.len(), draft.stories.iter().filter(|story| story.done).count());
    let tasks = draft.write(options, &mut unmapped);
    Ok(Imported { source, tasks, stories, done, unmapped: unmapped.sentences() })
}

#[cfg(test)]
mod tests;
