//! Files that an agent must leave alone: what people protect, and the scripts by which their checks
//! judge. They are looked at before the first iteration and after every agent.

mod losses;
mod repository;
mod scripts;

pub use losses::test_losses;
pub use repository::{GitFile, GitPins, GitSetting, IgnoreRules, RepositoryIdentity};
pub use scripts::{PACKAGE, hidden_by, pinned_content, script_candidates, words};

use crate::check::{Blindness, TreePrint};
use crate::id::CheckId;
use crate::text;
use serde::{Deserialize, Serialize};

/// What is protected, and what a change leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProtectPolicy {
    /// Globs, relative to the project.
    pub paths: Vec<String>,
    /// Whether the scripts that guardrails name are pinned too; runs that began before there were pins say no.
    #[serde(default)]
    pub scripts: bool,
    pub on_change: OnChange,
}

/// What follows when an agent changes or deletes what is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnChange {
    /// No claim is accepted until it is as it was.
    #[default]
    Fail,
    /// It is put back before the checks run.
    Restore,
    /// It is told, and used as it is now.
    Allow,
}

/// Everything whose state at the start counts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pins {
    pub files: Vec<Pinned>,
    /// Programs that checks find by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<PinnedProgram>,
    /// Whether there was a repository that shows the tree.
    #[serde(default)]
    pub tree_seen: bool,
    /// What git needs to read the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repository: Vec<RepositoryPart>,
    /// What of git itself counts.
    #[serde(default)]
    pub git: GitPins,
}

/// A file or folder of the repository without which git does not work, as it was at the start. By these an
/// agent that damages a repository is told apart from a machine on which git fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryPart {
    pub path: String,
    /// What people call its kind.
    pub kind: String,
    /// Who may read it.
    pub mode: u32,
    /// Hash of its content, where no ordinary work changes that in a way that stops git; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
}

/// Why nothing can be pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinFailure {
    pub why: String,
    /// Whether the machine is to blame, and not what was asked for.
    pub fault: bool,
}

/// A file whose state at the start counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinned {
    pub path: String,
    pub state: PinnedState,
    /// The checks whose script it is; none for a file that is only protected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts_of: Vec<CheckId>,
}

/// What stands at a path, as far as it counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PinnedState {
    /// A plain file.
    File {
        /// Whether anybody may execute it.
        executable: bool,
        /// Hash of what counts of its content.
        hash: String,
    },
    /// A symbolic link.
    Link {
        /// Where it leads, in hexadecimal digits: a path need not be text.
        target: String,
    },
    /// A folder, a pipe, something that cannot be read.
    Other { name: String },
    /// Nothing at all.
    Nothing,
}

/// A program, as it was found by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedProgram {
    pub name: String,
    pub file: String,
    /// What cannot stay the same when the file is replaced or written to, and does when the machine starts
    /// anew: its inode and the time of its last change, in seconds and nanoseconds.
    pub stamp: (u64, i64, i64),
}

/// How something pinned differs from its state at the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedChange {
    pub path: String,
    pub how: Change,
}

/// What happened to something pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    Content {
        /// What that did to the tests in it; empty if nothing can be seen.
        losses: String,
    },
    /// Only its executable bit.
    Mode,
    /// It is gone.
    Deleted,
    /// It is there, and was not.
    Added,
    /// Something else stands there.
    Replaced { by: String },
    /// The same program's file.
    Program,
    /// The program's name leads to another file.
    Hidden { by: String },
    /// It can no longer be looked at.
    Unseen { why: String },
    /// It is something that whoever opens it waits for.
    Blocks { what: String },
    /// It leads to where everything is removed or rewritten by ralph.
    Leads { to: String },
    /// It is another repository, which does not have this commit.
    Anew { commit: String },
    /// It was changed, added or deleted, and a command undoes that.
    Undoable { did: String, undo: String },
}

impl PinnedChange {
    /// As the part of a sentence.
    pub fn words(&self) -> String {
        let how = match &self.how {
            Change::Content { losses } if losses.is_empty() => "was changed".to_owned(),
            Change::Content { losses } => format!("was changed ({losses})"),
            Change::Mode => "was made executable, or no longer".to_owned(),
            Change::Deleted => "was deleted".to_owned(),
            Change::Added => "was added".to_owned(),
            Change::Replaced { by } => format!("was replaced by a {by}"),
            Change::Program => "was changed".to_owned(),
            Change::Hidden { by } => format!("was hidden by {by}"),
            Change::Unseen { why } => format!("was made unreadable ({why})"),
            Change::Blocks { what } => format!("is a {what}, which git would wait for: remove it"),
            Change::Leads { to } => {
                format!(
                    "leads into ralph's own folder ({to}), which goes with the run: put the thing itself in its place"
                )
            }
            Change::Anew { commit } => {
                let commit = text::cut(commit, 12, "");
                format!(
                    "was replaced by another repository: the commit {commit}, where the run began, is not in it; \
                     bring it back with git fetch, or move the old .git back"
                )
            }
            Change::Undoable { did, undo } => format!("was {did}; undo it: {undo}"),
        };
        text::without_controls(&format!("{} {how}", self.path))
    }

    /// Whether it is held against the agent. A program of the system that is another one now was updated:
    /// that happens at night, and no agent can or should undo it.
    fn counts(&self) -> bool {
        let of_the_system = ["/usr/", "/bin/", "/sbin/", "/lib/", "/opt/", "/nix/", "/snap/"]
            .iter()
            .any(|folder| self.path.starts_with(folder));
        self.how != Change::Program || !of_the_system || self.path.starts_with("/usr/local/")
    }
}

impl Pins {
    /// What of a look counts, with what the look itself shows: a repository that is gone hides every other change.
    /// A look that failed is no change.
    pub fn violations(&self, print: &TreePrint, changes: &[PinnedChange]) -> Vec<PinnedChange> {
        let lost = match print {
            TreePrint::Unknown { why, cause: Blindness::NoRepository } if self.tree_seen => {
                Some(PinnedChange { path: ".git".to_owned(), how: Change::Unseen { why: why.clone() } })
            }
            _ => None,
        };
        changes.iter().filter(|change| change.counts()).cloned().chain(lost).collect()
    }

    /// Whether this is a file that can be put back.
    pub fn holds(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_of_the_system_and_a_tree_that_never_was_seen_are_nobodys_lie() {
        let change = |path: &str, how: Change| PinnedChange { path: path.to_owned(), how };
        let hidden = Change::Hidden { by: "/tmp/make".to_owned() };
        let changes = [
            change("/usr/bin/git", Change::Program),
            change("/usr/local/bin/npm", Change::Program),
            change("/home/me/.local/bin/npm", Change::Program),
            change("/usr/bin/make", hidden),
            change("check.sh", Change::Deleted),
        ];
        let seen = TreePrint::Seen { tree: String::new(), head: String::new() };
        let gone = TreePrint::Unknown { why: "no git".to_owned(), cause: Blindness::NoRepository };
        let failed = TreePrint::fault("git was killed");
        let count = |tree_seen, print| Pins { tree_seen, ..Pins::default() }.violations(print, &changes).len();
        assert_eq!((count(true, &seen), count(false, &gone), count(true, &gone)), (4, 4, 5));
        assert_eq!(count(true, &failed), 4, "a machine that fails is no deed of the agent");
    }
}
