//! Version control after green guardrails: what is asked of the agent, and what is executed.

use crate::check::CheckEnding;
use crate::text;
use crate::time::Millis;
use serde::{Deserialize, Serialize};

/// The one question that is asked for a commit.
pub const MESSAGE_PROMPT: &str =
    "Provide a short imperative commit message for the changes. Output only the message, no explanation.";

/// The task that needs a message.
const COMMIT: &str = "commit";
/// The task that makes new files part of the next commit.
const ADD: &str = "add";

/// What is done with version control once all guardrails passed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ScmPolicy {
    pub command: String,
    /// Its tasks, in order; none means: do nothing.
    pub tasks: Vec<String>,
}

impl ScmPolicy {
    /// Whether a commit is among the tasks, so that a message will be needed.
    pub fn commits(&self) -> bool {
        self.tasks.iter().any(|task| is_commit(task))
    }

    /// Whether new files become part of the commit.
    fn adds(&self) -> bool {
        self.tasks.iter().take_while(|task| !is_commit(task)).any(|task| task.split_whitespace().next() == Some(ADD))
    }

    /// Whether nothing at all waits to be committed, as far as a commit without further tasks goes.
    pub fn is_nothing(pending: Pending) -> bool {
        matches!(pending, Pending::Seen { tracked: false, .. })
    }

    /// Whether a commit would hold anything.
    pub fn would_commit(&self, pending: Pending) -> bool {
        match pending {
            Pending::Unknown => true,
            Pending::Seen { tracked, untracked } => tracked || (untracked && self.adds()),
        }
    }

    /// Whether a commit would leave new files out.
    pub fn leaves_out(&self, pending: Pending) -> bool {
        matches!(pending, Pending::Seen { untracked: true, .. }) && !self.adds()
    }

    /// The task at this place as something to execute.
    pub fn spec(&self, index: usize, message: &str) -> Option<ScmSpec> {
        let task = self.tasks.get(index)?;
        let args = if is_commit(task) {
            vec![COMMIT.to_owned(), "-am".to_owned(), message.to_owned()]
        } else {
            shlex::split(task).unwrap_or_else(|| vec![task.clone()])
        };
        Some(ScmSpec { index, task: task.clone(), program: self.command.clone(), args })
    }
}

/// Whether this task is the one that needs a message. One with flags of its own is passed through.
pub fn is_commit(task: &str) -> bool {
    task.trim() == COMMIT
}

/// Whether this task makes a commit, in whatever words.
pub fn makes_commit(task: &str) -> bool {
    task.split_whitespace().next() == Some(COMMIT)
}

/// What waits to be committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pending {
    /// It was looked at.
    Seen {
        /// Changes of files that version control knows.
        tracked: bool,
        /// Files that it does not know.
        untracked: bool,
    },
    /// It cannot be told: another program than git, or git did not answer.
    Unknown,
}

/// One task to execute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScmSpec {
    /// Its place among the tasks.
    pub index: usize,
    /// The task as it stands in the settings.
    pub task: String,
    pub program: String,
    /// Its arguments; a message is one of them, and no shell reads it.
    pub args: Vec<String>,
}

/// How a task went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScmReport {
    pub spec: ScmSpec,
    pub ending: CheckEnding,
    pub duration: Millis,
    pub output: String,
    /// What stood in its way and what to type about it; empty if nothing is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
    /// Of a commit that was made: files that it holds otherwise than they were checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
    /// Why a commit that was made could not be compared with what was checked; empty if it could.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uncompared: String,
    /// Of a commit that was made: files of the work that it does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// It was a commit, and nothing waited to be committed: that is no failure, whatever its exit code.
    #[serde(default, skip_serializing_if = "is_no")]
    pub nothing: bool,
}

fn is_no(flag: &bool) -> bool {
    !flag
}

impl ScmReport {
    /// Whether it did what there was to do.
    pub fn went_well(&self) -> bool {
        (self.ending.succeeded() && self.differs.is_empty() || self.nothing) && self.uncompared.is_empty()
    }

    /// The line that says why it failed: the first that calls itself an error, for git puts advice behind it;
    /// else the last.
    pub fn why(&self) -> String {
        let said = text::without_controls(&self.output);
        let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
        let is_error = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
        let why = lines.clone().find(is_error).or_else(|| lines.next_back());
        why.unwrap_or_default().to_owned()
    }
}

/// The commit message in an agent's answer: what its response tag holds, else its first line that
/// says something.
pub fn message(answer: &str) -> Option<String> {
    let lower = answer.to_ascii_lowercase();
    let tagged = lower.find("<response>").and_then(|open| {
        let begin = open + "<response>".len();
        let end = begin + lower.get(begin..)?.find("</response>")?;
        answer.get(begin..end)
    });
    let text = match tagged {
        Some(inside) => inside,
        None => answer.lines().find(|line| !line.trim().is_empty())?,
    };
    let clean = text::without_controls(text).trim().to_owned();
    (!clean.is_empty()).then_some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_what_the_tag_holds_or_the_first_line() {
        for (answer, expected) in [
            ("Fix the login", Some("Fix the login")),
            ("\n\n  Fix it  \nbecause", Some("Fix it")),
            (
                "Sure!\n<response>Add \"quotes\", $HOME and\n\na body</response>",
                Some("Add \"quotes\", $HOME and\n\na body"),
            ),
            ("<RESPONSE> É x </Response> tail", Some("É x")),
            ("<response></response>", None),
            ("<response>never closed", Some("<response>never closed")),
            ("\u{1b}[31mred\u{1b}[0m", Some("red")),
            ("", None),
            (" \n\t\n", None),
        ] {
            assert_eq!(message(answer).as_deref(), expected, "{answer:?}");
        }
    }

    #[test]
    fn a_failure_is_told_by_the_line_that_calls_itself_an_error() {
        for (output, why) in [
            ("", ""),
            ("said\nlast words\n\n", "last words"),
            (
                "fatal: No configured push destination.\nEither specify\n\n    git push <name>\n",
                "fatal: No configured push destination.",
            ),
            (
                "To /r\n ! [rejected] a -> a\n\u{1b}[31merror:\u{1b}[0m failed to push\nhint: pull first\n",
                "error: failed to push",
            ),
            ("no error: in the middle\nbye", "bye"),
        ] {
            let spec = ScmSpec { index: 0, task: "push".to_owned(), program: "git".to_owned(), args: Vec::new() };
            let (ending, duration) = (CheckEnding::Exited { code: 1 }, Millis::ZERO);
            let report = ScmReport {
                spec,
                ending,
                duration,
                output: output.to_owned(),
                advice: String::new(),
                nothing: false,
                differs: Vec::new(),
                uncompared: String::new(),
                left_out: Vec::new(),
            };
            assert_eq!(report.why(), why, "{output}");
            let made = ScmReport { ending: CheckEnding::Exited { code: 0 }, ..report };
            assert!(made.went_well());
            let nothing = ScmReport { nothing: true, ..made.clone() };
            let uncompared = "git was killed".to_owned();
            assert!(!ScmReport { uncompared: uncompared.clone(), ..made }.went_well());
            assert!(!ScmReport { uncompared, ..nothing }.went_well());
        }
    }

    #[test]
    fn tasks_become_arguments_without_a_shell() {
        let scm = ScmPolicy {
            command: "git".to_owned(),
            tasks: ["add -A", " commit ", "push 'my remote' main", "commit --amend", "tag 'open"]
                .map(str::to_owned)
                .into(),
        };
        let args = |index| scm.spec(index, "a $(b)\n'c'").map(|spec| spec.args);
        let words = |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(args(0), words(&["add", "-A"]));
        assert_eq!(args(1), words(&["commit", "-am", "a $(b)\n'c'"]));
        assert_eq!(args(2), words(&["push", "my remote", "main"]));
        assert_eq!(args(3), words(&["commit", "--amend"]));
        assert_eq!(args(4), words(&["tag 'open"]));
        assert_eq!(args(5), None);
        assert!(scm.commits() && scm.would_commit(Pending::Unknown));
    }

    #[test]
    fn new_files_are_worth_a_commit_only_if_they_are_added() {
        let tasks = |tasks: &[&str]| ScmPolicy {
            command: "git".to_owned(),
            tasks: tasks.iter().map(|&task| task.to_owned()).collect(),
        };
        let new_files = Pending::Seen { tracked: false, untracked: true };
        assert!(!tasks(&["commit", "add -A"]).would_commit(new_files));
        assert!(tasks(&["add -A", "commit"]).would_commit(new_files));
        assert!(tasks(&["commit"]).would_commit(Pending::Seen { tracked: true, untracked: false }));
        assert!(!tasks(&["push"]).commits());
    }
}
