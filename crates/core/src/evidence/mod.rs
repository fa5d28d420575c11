//! What an agent's tool runs prove about tests, lint and types.
//!
//! An agent says that the tests pass; its stream shows which shell lines it ran and how they ended.
//! A line counts only if its exit status speaks for the command in it, so lines are parsed and not
//! searched: `cd web && npm test` proves something, `npm test || true` and `echo npm test` do not.
//! What is not understood proves nothing.
//!
//! Nothing here knows agents, prompts or the loop. Evidence is weaker than a check that ralph runs
//! itself: a stream can be wrong, and a project can name a script `test` that tests nothing.

mod command;
mod exit;
mod heredoc;
mod judge;
mod parse;
mod report;
mod shell;
mod table;
mod tally;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use command::{ShellInput, shell_input, wrapped};
pub(crate) use exit::bodies;
pub use judge::{Criterion, Finding, judge, judge_with};
pub(crate) use parse::parse;
pub(crate) use report::{NODE_TEST, by_name as runner_by_name, reporting};
pub use tally::{Tally, TestsRan};
pub(crate) use words::{is_assignment, is_idle, is_one_of, pass_option, positionals, program_name};

use serde::{Deserialize, Serialize};

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Runs tests.
    Test,
    /// Looks for faults of style and habit.
    Lint,
    /// Looks whether the types fit, or whether it compiles.
    Typecheck,
}

/// A command that a project adds to the known ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extra {
    pub purpose: Purpose,
    /// The program and its first words, as in `scripts/ci.sh unit`; alternatives are separated by
    /// `|`, and a word that begins with a dash may stand anywhere.
    pub words: String,
}

/// Which purposes a shell line's exit status speaks for: its success proves them, its failure disproves them.
pub fn purposes(line: &str) -> Vec<Purpose> {
    purposes_with(line, &[])
}

/// The same, with commands that a project has added.
pub fn purposes_with(line: &str, extra: &[Extra]) -> Vec<Purpose> {
    let mut found = Vec::new();
    for sighting in sightings(line, extra) {
        if sighting.shown && !found.contains(&sighting.purpose) {
            found.push(sighting.purpose);
        }
    }
    found
}

/// What counts the tests of a check, if it is there to run some. A goal like `check` or `verify` is there for more, and
/// may well find none.
pub fn tally_of(line: &str) -> Option<Tally> {
    sightings(line, &[]).iter().any(|sighting| sighting.only_tests).then(Tally::default)
}

/// The commands of a text, as they are written, that have run if it succeeds, and whose output is the text's.
pub(crate) fn certain(text: &str) -> std::collections::BTreeSet<String> {
    shell::certain(text)
}

/// Recognised commands of a line. Most lines have none, and are not parsed to find that out.
fn sightings(line: &str, extra: &[Extra]) -> Vec<shell::Sighting> {
    if names_a_program(line, extra) { shell::sightings(line, extra) } else { Vec::new() }
}

/// Whether the name of any recognised program stands in the line, in whatever role.
fn names_a_program(line: &str, extra: &[Extra]) -> bool {
    let mut words = line.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.' | '@'));
    words.any(|word| !word.is_empty() && command::is_known(words::program_name(word), extra))
}
