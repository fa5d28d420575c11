//! What a check is made of: which files and programs judge, why, and what nobody knows.
//!
//! What a check executes or is told to interpret by name is a judge: scripts, recipes, package scripts, and what they
//! call in turn. What a runner collects, sources and tests, is work.

mod collected;
mod watched;

pub use collected::is_test;
pub use watched::{Executed, Opened, Watched};

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
}

/// What of a judge counts; the rest may change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// All of it.
    #[default]
    Whole,
    /// Of a package's description these scripts, with those that run before and after them, and these sections.
    Package { scripts: Vec<String>, sections: Vec<String> },
    /// Of a file with recipes what these goals need: everything but the rules of other goals.
    Recipes { tool: String, goals: Vec<String> },
    /// Of a TOML, INI or XML file these sections.
    Sections { names: Vec<String> },
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
}
