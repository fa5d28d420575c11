//! What a check is made of: which files and programs judge, why, and what nobody knows.
//!
//! What a check executes or is told to interpret by name is a judge: scripts, recipes, package scripts, and what they
//! call in turn, with what configures and what implements the runners among them. What a runner collects, sources and
//! tests, is work; so is the program that a check is there to try. The rule for that stands in [`learn`].

mod calls;
mod cargo;
mod collected;
mod directing;
mod installed;
mod just;
mod learn;
mod make;
mod outside;
mod package;
mod part;
mod pieces;
mod premises;
mod rake;
mod reported;
mod scripts;
mod shadowing;
mod shell;
mod table;
mod taskfile;
#[cfg(test)]
mod tests;
mod watched;
mod word;

pub use collected::is_test;
pub use directing::{Direction, directs, directs_nothing};
pub use learn::learn;
pub use outside::{Packages, Store, Used, counted_outside, stores};
pub use part::counted;
pub use premises::{Premises, Standing};
pub use shadowing::{is_module, shadowing};
pub use watched::{Executed, Opened, Watched, learn_watched};

use crate::check::CheckSpec;
use crate::id::CheckId;
use serde::{Deserialize, Serialize};

/// A check, as far as its judges depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub id: CheckId,
    /// The shell command.
    pub command: String,
    /// Globs of files that people declared to be judges.
    pub judges: Vec<String>,
    /// Globs of files that people declared to be the work, whatever else speaks for a judge.
    pub work: Vec<String>,
}

/// Something about a check that nobody knows, so that what passes proves less.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    pub check: CheckId,
    /// What is not known, as the part of a sentence: "what `$TOOL` in check.sh executes".
    pub what: String,
    /// Whether it stays unknown whatever a watched run shows: the next run may do something else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub varies: bool,
    /// Whether it was made during the run, so that nothing could have been said about it before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made: bool,
}

impl Unknown {
    /// As the part of a sentence; of a hidden check only its name is told.
    pub fn told(&self, check: &CheckSpec) -> String {
        match check.terms.hidden {
            true => format!("what \"{}\" is made of", check.name()),
            false => self.what.clone(),
        }
    }
}

/// What checks are made of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Known {
    pub judges: Vec<Judge>,
    /// Names by which checks find programs in the search path.
    pub programs: Vec<Program>,
    pub unknown: Vec<Unknown>,
    pub caches: Vec<Cache>,
    /// Files that checks execute and that are the work nevertheless, because a check is there to try them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<String>,
    /// Files that a check makes by itself and then executes or reads as a program, so that none need be there before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<Made>,
    /// Calls of runners that have happened if a check succeeds, and whose report says that tests ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runners: Vec<Reporting>,
}

/// A file that a check makes by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    pub check: CheckId,
    /// Relative to the project.
    pub path: String,
    /// Whether one that is there may stay as it is: make builds nothing again that is newer than its sources.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stays: bool,
}

impl Made {
    /// What is not known of it where it cannot be tried without what stands there.
    pub(crate) fn unknown(&self) -> Option<Unknown> {
        let what = format!("whether {} is built anew, which may be newer than its sources", self.path);
        self.stays.then(|| Unknown { check: self.check.clone(), what, varies: true, made: false })
    }

    /// What is not known of one that the check keeps in a cache.
    pub(crate) fn unknown_in_cache(&self) -> Unknown {
        let what = format!("what wrote {}, which the check executes and keeps in its cache", self.path);
        Unknown { check: self.check.clone(), what, varies: true, made: false }
    }
}

/// A call of a runner whose report says that tests ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reporting {
    pub check: CheckId,
    /// The runner, as [`crate::evidence`] knows it.
    pub name: String,
}

/// A file or folder that judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judge {
    /// Relative to the project, absolute outside of it. It need not exist: then it must stay away.
    pub path: String,
    pub part: Part,
    pub why: Why,
    /// The checks that it judges for.
    pub of: Vec<CheckId>,
    /// Whether it is executed directly, so that its executable bit counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executed: bool,
}

/// A name by which checks find a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub name: String,
    pub of: Vec<CheckId>,
}

/// A folder that a check's tools fill for the next time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    pub check: CheckId,
    /// Relative to the project; empty if only the variable tells the tool where it is.
    pub path: String,
    /// The environment variable that tells the tool another place; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variable: String,
}

/// What of a judge counts; the rest may change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// All of it; of a folder, everything below it but caches.
    #[default]
    Whole,
    /// Of a package's description these scripts, with those that run before and after them, and these sections.
    Package { scripts: Vec<String>, sections: Vec<String> },
    /// Of a file with recipes what these goals need: everything but the rules of other goals.
    Recipes { tool: String, goals: Vec<String> },
    /// These sections. A name is a path with dots; `*` stands for every element of a list, `a.b=c` for whether the
    /// list `a.b` holds `c`, and `a.b?` for whether there is such a section.
    Sections { format: Format, names: Vec<String> },
    /// Everything but these sections, in which ordinary work is done.
    Without { format: Format, names: Vec<String> },
    /// Of a folder the files with this ending, and which there are; of `.pth` files what Python executes.
    Ending { ending: String },
    /// Nothing of what it holds: only that it is a plain file that can be written, or absent. A check writes it and
    /// compares it.
    Output,
    /// Of a folder those folders whose file of this name holds this text, by that file: plugins announce themselves so.
    Announced { file: String, text: String },
}

/// How a file is written of which only a part counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Toml,
    Ini,
    Json,
    Xml,
    Gradle,
    GoMod,
}

/// Why something is a judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Why {
    /// People declared it: `guardrails[].judges`.
    Declared,
    /// People protect it: `protect.paths`.
    Protected,
    /// The command names it, or `by`, which the command names.
    Named { by: String },
    /// It configures this runner; where it is absent, it must stay so.
    Configures { runner: String },
    /// It is part of this runner's installation.
    Installed { runner: String },
    /// A watched run of the check executed or interpreted it.
    Watched,
    /// It belongs to an environment of this runner that is not there yet. Nobody is forbidden to make one.
    Environment {
        runner: String,
        /// Whether the runner makes one where there is none, so that checks need not see what an agent made.
        own: bool,
    },
}

impl Known {
    /// What is known where nobody could read what these checks are made of.
    pub fn nothing_of(subjects: &[Subject]) -> Known {
        let unknown = subjects.iter().map(|check| {
            let what = format!("what `{}` is made of, because reading it failed", check.command);
            Unknown { check: check.id.clone(), what, varies: true, made: false }
        });
        Known { unknown: unknown.collect(), ..Known::default() }
    }

    /// Adds a judge, or the check and what counts for it to one that is known.
    pub(crate) fn judge(&mut self, judge: Judge) {
        let mut same = self.judges.iter_mut().filter(|known| known.path == judge.path);
        let Some(known) = same.find_map(|known| known.part.takes_in(&judge.part).then_some(known)) else {
            return self.judges.push(judge);
        };
        known.executed |= judge.executed;
        let new = judge.of.into_iter().filter(|id| !known.of.contains(id)).collect::<Vec<_>>();
        known.of.extend(new);
    }

    /// Adds a program's name.
    pub(crate) fn program(&mut self, name: &str, of: &CheckId) {
        match self.programs.iter_mut().find(|known| known.name == name) {
            Some(known) if known.of.contains(of) => {}
            Some(known) => known.of.push(of.clone()),
            None => self.programs.push(Program { name: name.to_owned(), of: vec![of.clone()] }),
        }
    }

    /// Whether a check passes over what git ignores.
    pub fn obeys_git(&self) -> bool {
        let runners = self.judges.iter().filter_map(|judge| match &judge.why {
            Why::Configures { runner } => Some(runner.as_str()),
            _ => None,
        });
        runners.chain(self.programs.iter().map(|program| program.name.as_str())).any(table::obeys_git)
    }

    /// Whether a check asks git.
    pub fn asks_git(&self) -> bool {
        self.programs.iter().any(|program| program.name == "git")
    }

    /// Whether everything about a check is known.
    pub fn knows(&self, check: &CheckId) -> bool {
        !self.unknown.iter().any(|unknown| unknown.check == *check)
    }
}

impl Part {
    /// Makes this part hold another one, if both can be said at once.
    fn takes_in(&mut self, other: &Part) -> bool {
        fn join(into: &mut Vec<String>, from: &[String]) {
            let new: Vec<String> = from.iter().filter(|name| !into.contains(name)).cloned().collect();
            into.extend(new);
        }
        match (&mut *self, other) {
            (Part::Whole, Part::Ending { .. } | Part::Announced { .. } | Part::Output) => return false,
            (Part::Whole, _) => {}
            (Part::Package { scripts, sections }, Part::Package { scripts: more, sections: others }) => {
                join(scripts, more);
                join(sections, others);
            }
            (Part::Recipes { tool, goals }, Part::Recipes { tool: same, goals: more }) if tool == same => {
                join(goals, more);
            }
            (Part::Sections { format, names }, Part::Sections { format: same, names: more }) if format == same => {
                join(names, more);
            }
            (own, other) => return own == other,
        }
        true
    }
}
