//! Which tests that were there when a run began it changed or deleted. Tests are work, so that an agent may change them;
//! but whoever reads `verified` wants to know which.

use crate::text;
use serde::{Deserialize, Serialize};

/// Files that are named for programs; beyond them only their number is known.
const MOST_NAMED: usize = 1000;
/// Files that a sentence names.
const NAMED_FOR_PEOPLE: usize = 5;

/// The tests that were there when a run began, as they were recorded in trusted state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestsRecord {
    pub count: u64,
    /// Hash of the record, without which it is not believed.
    pub hash: String,
}

/// Existing tests that are not as they were when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TestsChanged {
    /// By their names, and not all of them where there are very many.
    pub files: Vec<TestChange>,
    /// All of them.
    pub count: u64,
}

/// An existing test that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestChange {
    /// Relative to the project.
    pub path: String,
    /// It is gone, or has another name now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl TestsChanged {
    /// Adds one that differs.
    pub fn add(&mut self, path: String, deleted: bool) {
        self.count += 1;
        if self.files.len() < MOST_NAMED {
            self.files.push(TestChange { path, deleted });
        }
    }

    /// For people, those that are gone first; `None` if every test is as it was.
    pub fn words(&self) -> Option<String> {
        let gone = self.files.iter().filter(|file| file.deleted).map(|file| format!("{} (deleted)", file.path));
        let other = self.files.iter().filter(|file| !file.deleted).map(|file| file.path.clone());
        let named: Vec<String> = gone.chain(other).take(NAMED_FOR_PEOPLE).collect();
        let more = match self.count.saturating_sub(named.len() as u64) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let said = format!("{} changed: {}{more}", text::count(self.count, "existing test"), named.join(", "));
        (self.count > 0).then(|| text::without_controls(&said.replace('\n', " ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(files: &[(&str, bool)]) -> TestsChanged {
        let mut changed = TestsChanged::default();
        files.iter().for_each(|(path, deleted)| changed.add((*path).to_owned(), *deleted));
        changed
    }

    #[test]
    fn a_sentence_names_at_most_five_tests_and_those_that_are_gone_first() {
        assert_eq!(changed(&[]).words(), None);
        assert_eq!(
            changed(&[("tests/a.py", false)]).words().unwrap_or_default(),
            "1 existing test changed: tests/a.py"
        );
        let two = changed(&[("tests/a.py", false), ("tests/b\n.py", true)]);
        assert_eq!(two.words().unwrap_or_default(), "2 existing tests changed: tests/b .py (deleted), tests/a.py");
        let seven = ["a", "b", "c", "d", "e", "f", "g"].map(|name| (name, false));
        assert_eq!(changed(&seven).words().unwrap_or_default(), "7 existing tests changed: a, b, c, d, e and 2 more");
    }

    #[test]
    fn ten_thousand_changed_tests_are_counted_and_a_thousand_named() {
        let mut all = TestsChanged::default();
        (0..10_000).for_each(|number| all.add(format!("tests/{number}.py"), false));
        assert_eq!((all.files.len(), all.count), (1000, 10_000));
        assert!(all.words().unwrap_or_default().ends_with("and 9995 more"));
    }
}
