//! The texts of a plan: the files that a new plan begins with, and the prompt of each iteration, which is the person's
//! template with its variables filled in and below it what ralph has decided. Nothing here knows the rules of a plan.

use crate::memory::{fence, without_claims};
use crate::plan::archive;
use crate::text;
use jiff::civil::Date;
use std::borrow::Cow;
use std::fmt::Write as _;

const PROMPT: &str = include_str!("texts/prompt.md");
const PRD: &str = include_str!("texts/prd.md");
const TASKS: &str = include_str!("texts/tasks.json");
const PROGRESS: &str = include_str!("texts/progress.txt");

/// What a new plan is made from.
#[derive(Debug, Clone, Copy)]
pub struct NewPlan<'a> {
    pub project: &'a str,
    /// What the branch is named after.
    pub name: &'a str,
    /// The plan's folder, as seen from the project's root.
    pub dir: &'a str,
    /// Today, where the person is.
    pub date: Date,
}

/// The files of a new plan, by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFiles {
    pub prd: String,
    pub tasks: String,
    pub progress: String,
    pub prompt: String,
}

impl NewPlan<'_> {
    pub fn files(&self) -> NewFiles {
        let project = one_line(self.project);
        let dir = self.dir.trim_end_matches('/');
        let string = |text: &str| serde_json::Value::from(text).to_string();
        let tasks = TASKS
            .replacen("\"branchName\": \"\"", &format!("\"branchName\": {}", string(&branch(self.name))), 1)
            .replacen("\"project\": \"\"", &format!("\"project\": {}", string(&project)), 1);
        NewFiles {
            prd: PRD.replacen("{{PROJECT_NAME}}", &project, 1),
            tasks,
            progress: PROGRESS
                .replacen("{{DATE}}", &self.date.to_string(), 1)
                .replacen("{{PROJECT_NAME}}", &project, 1),
            prompt: PROMPT.replace("{{PLAN_DIR}}", if dir.is_empty() { "." } else { dir }),
        }
    }
}

/// The branch of a plan of this name; git accepts it, whatever the name is.
pub fn branch(name: &str) -> String {
    let name = archive::safe_name(name);
    let name = name.trim_matches(['.', '-']).replace("..", "--");
    // git reserves this ending for its own lock files.
    let name = name.strip_suffix(".lock").unwrap_or(&name).trim_end_matches('.');
    format!("ralph/{}", if name.is_empty() { "plan" } else { name })
}

/// Whether nobody has written requirements into this `prd.md` yet: it is empty, or its Summary holds nothing but
/// comments.
pub fn is_unwritten(prd: &str) -> bool {
    let prd = without_comments(prd.strip_prefix('\u{feff}').unwrap_or(prd));
    let mut summary = prd.lines().skip_while(|line| !is_summary(line));
    match summary.next().and_then(heading) {
        Some((level, _)) => summary
            .take_while(|line| heading(line).is_none_or(|(next, _)| next > level))
            .all(|line| line.trim().is_empty()),
        None => prd.lines().all(|line| line.trim().is_empty() || heading(line).is_some()),
    }
}

fn is_summary(line: &str) -> bool {
    let numbering = |c: char| c.is_ascii_digit() || c == '.' || c == ')' || c.is_whitespace();
    heading(line).is_some_and(|(_, words)| words.trim_start_matches(numbering).eq_ignore_ascii_case("summary"))
}

/// The level and the words of a Markdown heading.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start_matches(' ');
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    let is_heading = (1..=6).contains(&level) && (words.is_empty() || words.starts_with([' ', '\t']));
    // Signs behind a blank close the heading; those of "C#" do not.
    let open = words.trim_end().trim_end_matches('#');
    let words = if open.is_empty() || open.ends_with([' ', '\t']) { open } else { words };
    is_heading.then(|| (level, words.trim()))
}

/// A Markdown text without HTML comments; one that is never closed reaches to the end.
pub(super) fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("<!--") {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, behind)| behind);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// What the variables of a template stand for, besides mode and story, which [`Told`] knows.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    pub iteration: u32,
    pub max_iterations: u32,
    pub review_cap: u32,
    /// Reviews of the story so far.
    pub review_count: u32,
    pub skip_review: bool,
    /// The commits of the story as git takes them, such as `3f2a1bc..HEAD`; empty if there are none.
    pub diff_range: &'a str,
}

/// What ralph tells the agent below the template, whatever that says.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    pub story: Story<'a>,
    pub task: Task<'a>,
    /// What the previous iteration did and ralph undid, a sentence each.
    pub undone: &'a [String],
    /// The verify commands as ralph ran them last.
    pub ran: &'a [Ran<'a>],
}

/// The story of the iteration.
#[derive(Debug, Clone, Copy)]
pub struct Story<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub description: &'a str,
    pub criteria: &'a [String],
}

/// What is to be done with the story. A review has no field for what its implementer wrote, so no prompt of a reviewer
/// can carry it.
#[derive(Debug, Clone, Copy)]
pub enum Task<'a> {
    Implement { notes: &'a str },
    Review,
    ReviewFix { notes: &'a str, feedback: &'a str },
}

impl Task<'_> {
    /// The mode, as prompts and `.ralph-active` name it.
    pub const fn mode(&self) -> &'static str {
        match self {
            Task::Implement { .. } => "implement",
            Task::Review => "review",
            Task::ReviewFix { .. } => "review-fix",
        }
    }
}

/// A verify command that ralph executed.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    pub command: &'a str,
    pub passed: bool,
    /// How it ended, such as `exit code 1`.
    pub ending: &'a str,
    /// The log's path, relative to the project.
    pub log: &'a str,
    /// The decisive lines of its output.
    pub excerpt: &'a str,
}

/// A prompt, and the variables in its template that ralph does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    pub text: String,
    /// Each once, in their order.
    pub unknown: Vec<String>,
}

/// The prompt of one iteration: the template with its variables filled in, and below it what ralph decided.
pub fn compose(template: &str, values: &Values<'_>, told: &Told<'_>) -> Composed {
    let (template, unknown) = substitute(template, |name| value_of(name, values, told));
    let mut parts = vec![template.trim_end().to_owned(), assignment(values, told)];
    if let Task::ReviewFix { feedback, .. } = told.task {
        // Whole, however long it is: a point that was cut off could not be settled.
        parts.push(format!("## From ralph: the feedback to settle, every point of it\n\n{}", fence(feedback)));
    }
    if !told.undone.is_empty() {
        parts.push(undone(told.undone));
    }
    parts.extend(verify_commands(told));
    parts.retain(|part| !part.is_empty());
    Composed { text: parts.join("\n\n") + "\n", unknown }
}

/// The names of all variables, for messages.
pub const VARIABLES: [&str; 9] = [
    "RALPH_ITERATION", "RALPH_MAX_ITERATIONS", "RALPH_MODE", "RALPH_STORY_ID", "RALPH_STORY_TITLE", "RALPH_REVIEW_CAP",
    "RALPH_REVIEW_COUNT", "RALPH_SKIP_REVIEW", "RALPH_DIFF_RANGE",
];

/// What is said once about a variable that stays as it is.
pub fn unknown_variable(name: &str) -> String {
    format!("{name} is not replaced; write one of these as {{{{NAME}}}} or $NAME: {}", VARIABLES.join(", "))
}

fn value_of<'a>(name: &str, values: &Values<'a>, told: &Told<'a>) -> Option<Cow<'a, str>> {
    Some(match name {
        "RALPH_ITERATION" => values.iteration.to_string().into(),
        "RALPH_MAX_ITERATIONS" => values.max_iterations.to_string().into(),
        "RALPH_MODE" => told.task.mode().into(),
        "RALPH_STORY_ID" => one_line(told.story.id).into(),
        "RALPH_STORY_TITLE" => one_line(told.story.title).into(),
        "RALPH_REVIEW_CAP" => values.review_cap.to_string().into(),
        "RALPH_REVIEW_COUNT" => values.review_count.to_string().into(),
        "RALPH_SKIP_REVIEW" => values.skip_review.to_string().into(),
        "RALPH_DIFF_RANGE" => values.diff_range.into(),
        _ => return None,
    })
}

/// Text from a file as part of a line: nothing in it breaks the line or claims anything.
pub(super) fn one_line(text: &str) -> String {
    let clean = text::without_controls(text);
    let words: Vec<&str> = clean.split_whitespace().collect();
    without_claims(&words.join(" "))
}

/// Replaces `{{NAME}}` and `$NAME` where `value` knows the name; everything else stays byte for byte, `$$` included.
/// What was put in is not looked at again. Returns the names beginning with `RALPH_` that stay, each once.
fn substitute<'v>(template: &str, value: impl Fn(&str) -> Option<Cow<'v, str>>) -> (String, Vec<String>) {
    let mut text = String::with_capacity(template.len());
    let mut unknown: Vec<String> = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['$', '{']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let written = Variable::at(from);
        // Where nothing is replaced, the next variable may begin at the next character.
        let length = match written.and_then(|variable| Some((variable.length, value(variable.name?)?))) {
            Some((length, value)) => {
                text.push_str(&value);
                length
            }
            None => {
                if let Some(name) = written.and_then(|variable| variable.unknown_name(from))
                    && !unknown.iter().any(|known| known == name)
                {
                    unknown.push(name.to_owned());
                }
                text.push_str(from.get(..1).unwrap_or_default());
                1
            }
        };
        rest = from.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    (text, unknown)
}

/// Something that looks like a variable.
#[derive(Clone, Copy)]
struct Variable<'a> {
    /// Its name, if it is written as variables are: `${NAME}` is left to shells.
    name: Option<&'a str>,
    inner: &'a str,
    length: usize,
}

impl<'a> Variable<'a> {
    fn at(text: &'a str) -> Option<Variable<'a>> {
        let blanks = |text: &'a str| text.trim_start_matches([' ', '\t']);
        if let Some(inside) = text.strip_prefix("{{") {
            let name = identifier(blanks(inside))?;
            let behind = blanks(blanks(inside).get(name.len()..)?).strip_prefix("}}")?;
            return Some(Variable { name: Some(name), inner: name, length: text.len() - behind.len() });
        }
        let behind = text.strip_prefix('$')?;
        if let Some(inside) = behind.strip_prefix('{') {
            let inner = identifier(inside)?;
            inside.get(inner.len()..)?.strip_prefix('}')?;
            return Some(Variable { name: None, inner, length: inner.len() + 3 });
        }
        let name = identifier(behind)?;
        Some(Variable { name: Some(name), inner: name, length: name.len() + 1 })
    }

    /// What is reported about it, if it looks like one of ralph's: its name, or all of it where only the form is wrong.
    fn unknown_name(self, from: &'a str) -> Option<&'a str> {
        self.inner.strip_prefix("RALPH_").filter(|rest| !rest.is_empty())?;
        self.name.or_else(|| from.get(..self.length))
    }
}

/// The longest name at the beginning: `RALPH_MODEL` is not `RALPH_MODE` and an L.
fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
}

/// The most characters of a story's description and notes: what is longer stands in `tasks.json`.
const STORY_CHARS: usize = 12_000;

fn assignment(values: &Values<'_>, told: &Told<'_>) -> String {
    let story = &told.story;
    let mut known = format!("id: {}\ntitle: {}", one_line(story.id), one_line(story.title));
    let mut add = |name: &str, what: &str| {
        if !what.trim().is_empty() {
            let _ = write!(known, "\n{name}: {}", text::truncate(what.trim(), STORY_CHARS));
        }
    };
    add("description", story.description);
    if let Task::Implement { notes } | Task::ReviewFix { notes, .. } = told.task {
        add("notes", notes);
    }
    known.push_str("\nacceptance criteria:");
    for (number, criterion) in story.criteria.iter().enumerate() {
        let _ = write!(known, "\n{}. {}", number + 1, criterion.trim());
    }
    format!("## From ralph: this iteration\n\nMode: {}. {}\n\n{}", told.task.mode(), duty(values, told), fence(&known))
}

/// What the mode asks for, in a few sentences that hold whatever the template says.
fn duty(values: &Values<'_>, told: &Told<'_>) -> String {
    match told.task {
        Task::Implement { .. } if values.skip_review => {
            "Implement this story and no other. When it is done and the verify commands pass, set its `passes` to `true`."
                .to_owned()
        }
        Task::Implement { .. } => {
            "Implement this story and no other. When it is done, set its `reviewStatus` to `\"needs_review\"`; only a \
             review may approve it."
                .to_owned()
        }
        Task::Review => review_duty(values),
        Task::ReviewFix { .. } => {
            "Settle every point of the feedback below, then set the story's `reviewStatus` to `\"needs_review\"` and \
             empty its `reviewFeedback`; only a review may approve it."
                .to_owned()
        }
    }
}

fn review_duty(values: &Values<'_>) -> String {
    let number = values.review_count.saturating_add(1);
    let mut duty = format!(
        "Review this story: read it as a stranger's work and change no code. This is review {number} of at most {}. \
         Set `reviewCount` to {number} and decide: `reviewStatus` `\"approved\"` and `passes` `true`, or `reviewStatus` \
         `\"changes_requested\"` and what has to change in `reviewFeedback`.",
        values.review_cap
    );
    if !values.diff_range.is_empty() {
        let _ = write!(duty, " The story's whole change: `git diff {}`.", values.diff_range);
    }
    if values.review_count > 0 {
        duty.push_str(
            " A finding that breaks none of the criteria is a remark for `notes`, not a reason to request changes.",
        );
    }
    if number >= values.review_cap {
        duty.push_str(
            " It is the last one: if you request changes, ralph approves the story nevertheless and keeps your feedback \
             for people.",
        );
    }
    duty
}

/// The most sentences about what was undone, and the characters of each; the journal has all.
const UNDONE: usize = 50;
const UNDONE_CHARS: usize = 500;

fn undone(sentences: &[String]) -> String {
    let mut list: Vec<String> = sentences.iter().take(UNDONE).map(|s| text::truncate(s, UNDONE_CHARS)).collect();
    if let Some(more) = sentences.len().checked_sub(UNDONE).filter(|&more| more > 0) {
        list.push(format!("and {more} more"));
    }
    let list: Vec<String> = list.iter().map(|sentence| format!("- {}", one_line(sentence))).collect();
    format!(
        "## From ralph: what it undid\n\nThe previous iteration did this against the rules, and ralph undid it. Do not \
         repeat it.\n\n{}",
        fence(&list.join("\n"))
    )
}

/// The most failing commands that are shown, and the characters of each excerpt; the logs have all.
const RED_COMMANDS: usize = 10;
const EXCERPT_CHARS: usize = 4_000;

fn verify_commands(told: &Told<'_>) -> Vec<String> {
    let mut parts = Vec::new();
    let failed: Vec<&Ran<'_>> = told.ran.iter().filter(|ran| !ran.passed).collect();
    let mut red: Vec<String> = failed.iter().take(RED_COMMANDS).map(|ran| red_command(ran)).collect();
    if failed.len() > RED_COMMANDS {
        red.push(format!("And {} more.", failed.len() - RED_COMMANDS));
    }
    if !red.is_empty() {
        parts.push(format!(
            "## From ralph: verify commands that fail\n\nralph ran these itself. Nothing is approved while one of them \
             fails.\n\n{}",
            red.join("\n\n")
        ));
    }
    let green: Vec<String> = told
        .ran
        .iter()
        .filter(|ran| ran.passed && matches!(told.task, Task::Review))
        .map(|ran| format!("{} ({}), log: {}", one_line(ran.command), one_line(ran.ending), one_line(ran.log)))
        .collect();
    if !green.is_empty() {
        parts.push(format!(
            "## From ralph: verify commands that passed\n\nralph ran these itself.\n\n{}",
            fence(&green.join("\n"))
        ));
    }
    parts
}

fn red_command(ran: &Ran<'_>) -> String {
    let head = format!("{} ({}), log: {}", one_line(ran.command), one_line(ran.ending), one_line(ran.log));
    let excerpt = text::truncate(ran.excerpt.trim_end(), EXCERPT_CHARS);
    fence(&if excerpt.is_empty() { head } else { format!("{head}\n\n{excerpt}") })
}

/// The prompt of the iteration that asks for nothing but a commit: every story is approved, and these files are not
/// committed.
pub fn closing(files: &[String]) -> String {
    let list: Vec<String> = files.iter().map(|file| one_line(file)).collect();
    format!(
        "Every story of the plan is approved, but these files are not committed:\n\n{}\n\nCommit what belongs to the \
         stories. Delete what is left over from your work, or add it to `.gitignore`. Change nothing else, then stop.\n",
        fence(&list.join("\n"))
    )
}

#[cfg(test)]
mod tests;
