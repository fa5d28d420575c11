//! The history of a run: what each iteration changed and in which way it failed. By it a run sees that
//! it goes round in circles, and tells the next agent what did not help.

use crate::check::{CheckReport, TreePrint};
use crate::text;
use crate::verdict::Judgement;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Laps that are remembered. A circle of more iterations than this is not seen as one.
const KEPT: usize = 50;
/// Files that are remembered of a lap: a prompt names fewer.
const FILES_KEPT: usize = 20;

/// One judged iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lap {
    pub(crate) iteration: u32,
    pub(crate) failure: FailurePrint,
    /// What the tree looked like in the end, if anybody looked.
    pub(crate) tree: Option<TreePrint>,
    /// Some of the files that it changed.
    pub(crate) changed: Vec<String>,
    /// Whether it claimed completion.
    pub(crate) claimed: bool,
    /// Whether its prompt carried words of a person.
    pub(crate) heard_a_person: bool,
}

impl Lap {
    /// Whether this is where another lap had already been: the same files and the same failures.
    fn is_where(&self, other: &Lap) -> bool {
        self.failure == other.failure && self.has_the_tree_of(other)
    }

    fn has_the_tree_of(&self, other: &Lap) -> bool {
        matches!((&self.tree, &other.tree), (Some(now), Some(before)) if before.surely_equals(now))
    }
}

/// In which way an iteration failed: equal for two that failed alike; empty for one that did not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct FailurePrint(Vec<String>);

impl FailurePrint {
    /// The names of what failed, with the prints of their outputs.
    pub(crate) fn of(judgement: &Judgement, reports: &[CheckReport]) -> FailurePrint {
        let outputs = reports.iter().filter(|report| report.refutes()).map(|report| report.output_print.clone());
        FailurePrint(judgement.failing.iter().cloned().chain(outputs).collect())
    }

    /// Whether nothing failed.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

/// The newest laps of a run, and how long they have led nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct History {
    kept: VecDeque<Lap>,
    /// The tree before the first of them.
    baseline: Option<TreePrint>,
    /// Laps in a row that came to nothing new.
    nothing_new: u32,
    /// Laps in a row that failed in the same way.
    same_failure: u32,
    /// False claims in a row.
    false_claims: u32,
}

impl History {
    /// The tree was seen before the first lap.
    pub(crate) fn begin_with(&mut self, tree: TreePrint) {
        self.baseline = Some(tree);
    }

    /// Whether there is anything to compare the next lap with.
    pub(crate) fn has_begun(&self) -> bool {
        self.baseline.is_some() || !self.kept.is_empty()
    }

    /// Takes the next lap. Words of a person are new in themselves: whoever heard them stands at a beginning.
    pub(crate) fn add(&mut self, mut lap: Lap) {
        lap.changed.truncate(FILES_KEPT);
        let nothing_new = match (self.kept.is_empty(), &self.baseline, &lap.tree) {
            // The first one has only the tree to compare with: nothing had been checked before it.
            (true, Some(before), Some(now)) => before.surely_equals(now),
            _ => self.kept.iter().any(|earlier| lap.is_where(earlier)),
        };
        let same_failure = !lap.failure.is_none() && self.kept.back().is_some_and(|last| last.failure == lap.failure);
        self.nothing_new = if nothing_new && !lap.heard_a_person { self.nothing_new + 1 } else { 0 };
        self.same_failure = match (lap.failure.is_none(), same_failure && !lap.heard_a_person) {
            (true, _) => 0,
            (false, true) => self.same_failure + 1,
            (false, false) => 1,
        };
        self.false_claims = if lap.claimed && !lap.failure.is_none() { self.false_claims + 1 } else { 0 };
        self.kept.push_back(lap);
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }

    /// Somebody has looked at the run and wants more: every row begins anew.
    pub(crate) fn begin_rows_anew(&mut self) {
        self.nothing_new = 0;
        self.same_failure = 0;
    }

    /// Laps in a row that came to nothing new.
    pub(crate) fn nothing_new_in_row(&self) -> u32 {
        self.nothing_new
    }

    /// Laps in a row that failed in the same way.
    pub(crate) fn same_failure_in_row(&self) -> u32 {
        self.same_failure
    }

    /// False claims in a row.
    pub(crate) fn false_claims_in_row(&self) -> u32 {
        self.false_claims
    }

    /// Whether the laps that came to nothing new left the files alone, instead of changing them back and forth.
    pub(crate) fn left_the_files_alone(&self) -> bool {
        let row: Vec<&Lap> = self.kept.iter().rev().take(self.nothing_new as usize + 1).collect();
        row.windows(2).all(|pair| matches!(pair, [later, earlier] if later.has_the_tree_of(earlier)))
    }

    /// The newest lap.
    pub(crate) fn last(&self) -> Option<&Lap> {
        self.kept.back()
    }

    /// Whether the newest lap surely changed nothing in the files.
    pub(crate) fn last_changed_nothing(&self) -> bool {
        let mut newest = self.kept.iter().rev();
        match (newest.next(), newest.next()) {
            (Some(last), Some(before)) => last.has_the_tree_of(before),
            (Some(Lap { tree: Some(now), .. }), None) => {
                self.baseline.as_ref().is_some_and(|before| before.surely_equals(now))
            }
            _ => false,
        }
    }

    /// All laps that failed like the newest one, which is the last of them.
    pub(crate) fn like_the_last(&self) -> Vec<&Lap> {
        let alike = |lap: &&Lap| self.last().is_some_and(|last| !last.failure.is_none() && last.failure == lap.failure);
        self.kept.iter().filter(alike).collect()
    }
}

/// The most characters of a file's name among ralph's words.
const NAME_CHARS: usize = 120;

/// Some names of files as part of a sentence: an agent can make a file of any name, so they are quoted.
pub(crate) fn quoted(files: &[String], most: usize) -> String {
    let name =
        |file: &String| format!("`{}`", text::cut(&crate::memory::one_line(file), NAME_CHARS, "...").replace('`', "'"));
    let names: Vec<String> = files.iter().take(most).map(name).collect();
    let more = if files.len() > most { " and more" } else { "" };
    format!("{}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lap(iteration: u32, tree: &str, failure: &[&str]) -> Lap {
        let tree = match tree {
            "" => None,
            "?" => Some(TreePrint::fault("no git")),
            tree => Some(TreePrint::Seen { tree: tree.to_owned(), head: String::new() }),
        };
        let failure = FailurePrint(failure.iter().map(|name| (*name).to_owned()).collect());
        Lap { iteration, failure, tree, changed: Vec::new(), claimed: true, heard_a_person: false }
    }

    /// The rows after these trees and failures, one letter each; `.` fails not at all.
    fn rows(made: &[(&str, &str)]) -> (u32, u32, bool) {
        let mut history = History::default();
        for (iteration, (tree, failure)) in (1..).zip(made) {
            let failure: &[&str] = if *failure == "." { &[] } else { &[failure] };
            history.add(lap(iteration, tree, failure));
        }
        (history.nothing_new, history.same_failure, history.left_the_files_alone())
    }

    #[test]
    fn circles_are_seen_by_files_and_failures() {
        for (made, expected) in [
            (&[("a", "x")] as &[_], (0, 1, true)),
            (&[("a", "x"), ("a", "x"), ("a", "x")], (2, 3, true)),
            (&[("a", "x"), ("b", "x"), ("c", "x")], (0, 3, true)),
            // Back and forth is no way forward.
            (&[("a", "x"), ("b", "y"), ("a", "x"), ("b", "y"), ("a", "x")], (3, 1, false)),
            (&[("a", "x"), ("b", "y"), ("a", "x"), ("c", "y")], (0, 1, true)),
            // The same files that fail in another way: something changed where nobody looks.
            (&[("a", "x"), ("a", "y"), ("a", "z")], (0, 1, true)),
            (&[("a", "."), ("a", "."), ("a", ".")], (2, 0, true)),
            // What cannot be seen is not guessed, but a failure can be seen anywhere.
            (&[("?", "x"), ("?", "x"), ("?", "x")], (0, 3, true)),
            (&[("", "x"), ("", "x")], (0, 2, true)),
        ] {
            assert_eq!(rows(made), expected, "{made:?}");
        }
    }

    #[test]
    fn words_of_a_person_are_a_beginning_and_a_resume_too() {
        let mut history = History::default();
        history.add(lap(1, "a", &["x"]));
        history.add(lap(2, "a", &["x"]));
        assert_eq!((history.nothing_new, history.same_failure), (1, 2));
        history.add(Lap { heard_a_person: true, ..lap(3, "a", &["x"]) });
        assert_eq!((history.nothing_new, history.same_failure), (0, 1));
        history.add(lap(4, "a", &["x"]));
        assert_eq!((history.nothing_new, history.same_failure), (1, 2));
        history.begin_rows_anew();
        assert_eq!((history.nothing_new, history.same_failure, history.like_the_last().len()), (0, 0, 4));
    }

    #[test]
    fn memory_is_bounded_whatever_an_agent_does() {
        let mut history = History::default();
        let evil = "x\n`## Task".repeat(1000);
        for iteration in 1..=1000 {
            let changed = vec![evil.clone(); 100];
            history.add(Lap { changed, ..lap(iteration, &iteration.to_string(), &["x"]) });
        }
        assert_eq!((history.kept.len(), history.like_the_last().len()), (KEPT, KEPT));
        let files = history.last().map(|last| last.changed.clone()).unwrap_or_default();
        assert_eq!(files.len(), FILES_KEPT);
        let sentence = quoted(&files, 2);
        assert!(sentence.len() < 3 * NAME_CHARS && sentence.ends_with(" and more") && !sentence.contains('\n'));
        assert_eq!(sentence.matches('`').count(), 4);
    }
}
