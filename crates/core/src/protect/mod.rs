//! Files that an agent must leave alone: what people protect, and what their checks are made of. They are looked at
//! before the first iteration and after every agent.

mod losses;
mod repository;

pub use losses::test_losses;
pub use repository::{GIT, GIT_SETTING, GitFile, GitPins, GitSetting, IgnoreRules, RepositoryIdentity, setting_prints};

use crate::check::{Blindness, TreePrint};
use crate::id::CheckId;
use crate::judges::{Cache, Made, Part, Unknown, Why};
use crate::tests_changed::TestsRecord;
use crate::text;
use crate::time::WallTime;
use crate::trust::{Span, Standing};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// What is protected, and what a change leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProtectPolicy {
    /// Globs, relative to the project.
    pub paths: Vec<String>,
    /// Whether the scripts that guardrails name are pinned too; runs that began before there were pins say no.
    #[serde(default)]
    pub scripts: bool,
    /// Whether the end tells which existing tests changed; runs that began before it did say no.
    #[serde(default)]
    pub tests: bool,
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
    /// What is not known of the checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Unknown>,
    /// Folders that only checks fill.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<Cache>,
    /// Files that checks make by themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<Made>,
    /// What of git itself counts.
    #[serde(default)]
    pub git: GitPins,
    /// The tests that were there; they may change, and the end tells which did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestsRecord>,
    /// The files that somebody looks for by their names, as they stood then, by their paths in the work tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looked_for: Vec<String>,
    /// When all this was looked at: what was written later was written during the run. Earlier versions did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<WallTime>,
    /// When agents of earlier runs worked, as far as nobody has accepted what they did outside of the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worked: Vec<Span>,
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

/// A file or folder whose state at the start counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinned {
    /// Relative to the project, absolute outside of it.
    pub path: String,
    /// What of it counts.
    #[serde(default)]
    pub part: Part,
    pub state: PinnedState,
    pub why: Why,
    /// Where an agent of an earlier run changed it: the print of the state that a person accepted. Putting that back is no
    /// violation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
    /// The checks that it judges for; none for a file that is only protected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<CheckId>,
}

/// What stands at a path, as far as it counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PinnedState {
    /// A plain file.
    File {
        /// Whether anybody may execute it; `None` if that does not count, because it is never executed directly.
        executable: Option<bool>,
        /// Hash of what counts of its content.
        hash: String,
    },
    /// A symbolic link; what it leads to is pinned by itself.
    Link {
        /// Where it leads, in hexadecimal digits: a path need not be text.
        target: String,
    },
    /// A folder of which everything, or every file with an ending, counts.
    Folder {
        /// Hash over the names and contents in it.
        hash: String,
    },
    /// A pipe, a device, something that cannot be read.
    Other { name: String },
    /// Nothing at all.
    Nothing,
}

/// A program, as it was found by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedProgram {
    pub name: String,
    pub file: String,
    /// Hash of its content; empty for one that is too large to be read at every start.
    pub hash: String,
    /// While this is the same, so is the content: device and inode, size, and the times of the last change of content
    /// and of state, in nanoseconds.
    pub stamp: (u64, u64, u64, i64, i64),
}

/// How a change of something pinned can be undone, as far as its kind tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WayOut {
    /// The content can be put back: from version control where it is tracked, else by hand.
    PutBack,
    /// What was added can be removed.
    Remove,
    /// The runner can be installed again.
    Install { runner: String },
    /// A program outside of the project: only a person can say that it is meant.
    Trust,
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
    /// An agent of an earlier run had changed it, and it is again as a person accepted it.
    PutBack,
}

impl PinnedState {
    /// Equal for equal states, and short: what is remembered over many runs.
    pub fn print(&self) -> String {
        text::hash(format!("{self:?}").as_bytes())
    }
}

impl Pinned {
    /// What tells it from other parts of the same file.
    pub fn key(&self) -> String {
        match &self.part {
            Part::Whole => self.path.clone(),
            part => format!("{} {part:?}", self.path),
        }
    }

    /// Whether a person accepted another state of it than the one that is pinned.
    pub fn is_untrusted(&self) -> bool {
        self.accepted.as_ref().is_some_and(|accepted| *accepted != self.state.print())
    }
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
            Change::PutBack => "was put back as a person accepted it".to_owned(),
        };
        text::without_controls(&format!("{} {how}", self.path))
    }

    /// Whether it is held against the agent. A program of the system that is another one now was updated:
    /// that happens at night, and no agent can or should undo it.
    fn counts(&self) -> bool {
        let of_the_system = ["/usr/", "/bin/", "/sbin/", "/lib/", "/opt/", "/nix/", "/snap/"]
            .iter()
            .any(|folder| self.path.starts_with(folder));
        match self.how {
            Change::PutBack => false,
            Change::Program => !of_the_system || self.path.starts_with("/usr/local/"),
            _ => true,
        }
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
        let is_free = |change: &PinnedChange| self.environment(change).is_some();
        changes.iter().filter(|change| change.counts() && !is_free(change)).cloned().chain(lost).collect()
    }

    /// The pinned file behind a change that only means that somebody made an environment.
    fn environment(&self, change: &PinnedChange) -> Option<&Pinned> {
        let is_it = |file: &&Pinned| file.path == change.path && matches!(file.why, Why::Environment { .. });
        self.files.iter().find(is_it).filter(|_| change.how == Change::Added)
    }

    /// What was made during the run and is used by checks: nobody knows what it is.
    pub fn made(&self, changes: &[PinnedChange], live: bool) -> Vec<Unknown> {
        let is_used = |file: &&Pinned| live || !matches!(file.why, Why::Environment { own: true, .. });
        let files = changes.iter().filter_map(|change| self.environment(change)).filter(is_used);
        let unknown = |file: &Pinned| {
            let what = format!("{}, which was made during the run", file.path);
            let of = file.of.clone().into_iter();
            of.map(move |check| Unknown { check, what: what.clone(), varies: true, made: true }).collect::<Vec<_>>()
        };
        files.flat_map(unknown).collect()
    }

    /// Whether a file outside of the project is compared by its content with the one at the start.
    pub fn pins_outside(&self, path: &str) -> bool {
        let is_file = |file: &Pinned| match &file.state {
            PinnedState::File { .. } | PinnedState::Link { .. } => file.path == path && file.part == Part::Whole,
            PinnedState::Folder { .. } if file.part == Part::Whole => {
                path.strip_prefix(&file.path).is_some_and(|below| below.starts_with('/'))
            }
            _ => false,
        };
        self.files.iter().any(is_file)
            || self.programs.iter().any(|program| program.file == path && !program.hash.is_empty())
    }

    /// What judges, as it stands, for whoever remembers it over many runs.
    pub fn standings(&self) -> Vec<Standing> {
        let files = self.files.iter();
        let files = files.map(|file| Standing { path: file.path.clone(), key: file.key(), print: file.state.print() });
        let programs = self.programs.iter().map(|program| {
            let print = text::hash(format!("{} {}", program.file, program.hash).as_bytes());
            Standing { path: program.file.clone(), key: program.name.clone(), print }
        });
        files.chain(programs).chain(self.git.standings()).collect()
    }

    /// Equal for equal pins. The tests may change, so that which ones there were pins nothing.
    pub fn print(&self) -> String {
        let pinning = Pins { tests: None, ..self.clone() };
        text::hash(&serde_json::to_vec(&pinning).unwrap_or_default())
    }

    /// How many of the files are there; the others must stay away.
    pub fn present(&self) -> usize {
        self.files.iter().filter(|file| file.state != PinnedState::Nothing).count()
    }

    /// The files that can be put back, by their paths.
    pub fn restorable(&self) -> HashSet<&str> {
        let can_be_made = |file: &&Pinned| {
            !file.path.starts_with('/') && !matches!(file.state, PinnedState::Folder { .. } | PinnedState::Other { .. })
        };
        self.files.iter().filter(can_be_made).map(|file| file.path.as_str()).collect()
    }

    /// How a change can be undone.
    pub fn way_out(&self, change: &PinnedChange) -> WayOut {
        let pinned = self.files.iter().find(|file| file.path == change.path);
        match (pinned.map(|file| &file.why), &change.how) {
            (None, _) => WayOut::Trust,
            (Some(_), Change::Added) => WayOut::Remove,
            (Some(Why::Installed { runner }), _) => WayOut::Install { runner: runner.clone() },
            (Some(_), _) => WayOut::PutBack,
        }
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
            change("tests/a", Change::PutBack),
        ];
        let seen = TreePrint::Seen { tree: String::new(), head: String::new() };
        let gone = TreePrint::Unknown { why: "no git".to_owned(), cause: Blindness::NoRepository };
        let failed = TreePrint::fault("git was killed");
        let held = |tree_seen, print| -> Vec<String> {
            let pins = Pins { tree_seen, ..Pins::default() };
            pins.violations(print, &changes).into_iter().map(|change| change.path).collect()
        };
        let done = ["/usr/local/bin/npm", "/home/me/.local/bin/npm", "/usr/bin/make", "check.sh"];
        assert_eq!((held(true, &seen), held(false, &gone)), (done.map(str::to_owned).into(), held(true, &seen)));
        assert_eq!(held(true, &gone), [&done[..], &[".git"]].concat());
        assert_eq!(held(true, &failed), done, "a machine that fails is no deed of the agent");
    }

    #[test]
    fn two_parts_of_one_file_stand_apart() {
        let pinned = |part: Part, hash: &str| Pinned {
            path: "Makefile".to_owned(),
            part,
            state: PinnedState::File { executable: None, hash: hash.to_owned() },
            accepted: None,
            why: Why::Declared,
            of: Vec::new(),
        };
        let recipes = Part::Recipes { tool: "make".to_owned(), goals: vec!["test".to_owned()] };
        let pins = Pins { files: vec![pinned(Part::Whole, "a"), pinned(recipes, "b")], ..Pins::default() };
        let standings = pins.standings();
        let differ = |of: fn(&Standing) -> &String| standings.first().map(of) != standings.last().map(of);
        assert_eq!((standings.len(), differ(|one| &one.path), differ(|one| &one.key)), (2, false, true));
        let mut trust = crate::trust::Trust::default();
        trust.accept_all(&standings);
        assert!(trust.differing(&standings).is_empty());
    }

    fn file(path: &str, hash: &str, why: Why) -> Pinned {
        let state = PinnedState::File { executable: None, hash: hash.to_owned() };
        Pinned { path: path.to_owned(), part: Part::Whole, state, why, accepted: None, of: Vec::new() }
    }

    #[test]
    fn states_are_remembered_by_prints_that_tell_them_apart() {
        let states = [
            file("a", "1", Why::Declared).state,
            file("a", "2", Why::Declared).state,
            PinnedState::File { executable: Some(true), hash: "1".to_owned() },
            PinnedState::Folder { hash: "1".to_owned() },
            PinnedState::Nothing,
        ];
        let prints: std::collections::BTreeSet<String> = states.iter().map(PinnedState::print).collect();
        assert_eq!(prints.len(), states.len());
        assert!(states.iter().all(|state| prints.contains(&state.clone().print())));
    }

    #[test]
    fn a_change_is_told_with_what_it_did_to_the_tests() {
        let change = |losses: &str| Change::Content { losses: losses.to_owned() };
        let words = |how| PinnedChange { path: "tests/a".to_owned(), how }.words();
        assert_eq!(words(change("")), "tests/a was changed");
        assert_eq!(words(change("1 test fewer")), "tests/a was changed (1 test fewer)");
    }

    #[test]
    fn the_way_out_is_that_of_the_file_that_was_changed() {
        let installed = Why::Installed { runner: "pytest".to_owned() };
        let files = vec![file("check.sh", "1", Why::Declared), file(".venv/lib", "1", installed)];
        let pins = Pins { files, ..Pins::default() };
        let way_out = |path: &str, how| pins.way_out(&PinnedChange { path: path.to_owned(), how });
        assert_eq!(way_out("check.sh", Change::Deleted), WayOut::PutBack);
        assert_eq!(way_out("check.sh", Change::Added), WayOut::Remove);
        assert_eq!(way_out(".venv/lib", Change::Mode), WayOut::Install { runner: "pytest".to_owned() });
        assert_eq!(way_out("/home/me/bin/npm", Change::Program), WayOut::Trust);
    }
}
