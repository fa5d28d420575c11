//! Runs as trees: each below the run inside which it was started.

use crate::Marks;
use ralph_core::id::RunId;
use ralph_core::run::RunRow;
use std::collections::{HashMap, HashSet};

/// Fork, last fork, passing by, nothing.
fn pieces(marks: Marks) -> [&'static str; 4] {
    match marks {
        Marks::Emoji => ["├─ ", "└─ ", "│  ", "   "],
        Marks::Words => ["|- ", "`- ", "|  ", "   "],
    }
}

/// A run in its place.
#[derive(Debug)]
pub struct Grown<'a> {
    /// What is stored about it.
    pub row: &'a RunRow,
    /// The branches before its name.
    pub branch: String,
    /// Its parent, if that does not stand above it.
    pub parent_elsewhere: Option<&'a RunId>,
}

/// Puts runs below their parents, as far as those are among them; otherwise in the order given.
pub fn grow<'a>(rows: &[&'a RunRow], marks: Marks) -> Vec<Grown<'a>> {
    let known: HashSet<&RunId> = rows.iter().map(|row| &row.run).collect();
    let mut forest = Forest { below: HashMap::new(), pieces: pieces(marks), grown: Vec::new() };
    for row in rows {
        let parent = row.parent.as_ref().filter(|parent| known.contains(parent));
        forest.below.entry(parent).or_default().push(row);
    }
    for root in forest.below.remove(&None).unwrap_or_default() {
        forest.grown.push(Grown { row: root, branch: String::new(), parent_elsewhere: root.parent.as_ref() });
        forest.plant_below(root, "");
    }
    // Parents come from the environment, so runs may name each other as parents: such runs are below no root.
    let planted: HashSet<&RunId> = forest.grown.iter().map(|grown| &grown.row.run).collect();
    let lost = rows.iter().filter(|row| !planted.contains(&row.run));
    let lost = lost.map(|row| Grown { row, branch: String::new(), parent_elsewhere: row.parent.as_ref() });
    forest.grown.extend(lost.collect::<Vec<_>>());
    forest.grown
}

struct Forest<'a> {
    below: HashMap<Option<&'a RunId>, Vec<&'a RunRow>>,
    pieces: [&'static str; 4],
    grown: Vec<Grown<'a>>,
}

impl<'a> Forest<'a> {
    fn plant_below(&mut self, parent: &'a RunRow, before: &str) {
        let [fork, last_fork, passing, nothing] = self.pieces;
        let mut children = self.below.remove(&Some(&parent.run)).unwrap_or_default().into_iter().peekable();
        while let Some(row) = children.next() {
            let (here, further) = if children.peek().is_some() { (fork, passing) } else { (last_fork, nothing) };
            self.grown.push(Grown { row, branch: format!("{before}{here}"), parent_elsewhere: None });
            self.plant_below(row, &format!("{before}{further}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// Runs as `name` or `name<parent`.
    fn rows(runs: &[&str]) -> Vec<RunRow> {
        let row = |text: &&str| {
            let (run, parent) = text.split_once('<').unwrap_or((text, ""));
            RunRow { parent: RunId::parse(parent), ..sample::row(run, None) }
        };
        runs.iter().map(row).collect()
    }

    fn drawn(runs: &[&str], marks: Marks) -> Vec<String> {
        let rows = rows(runs);
        let rows: Vec<&RunRow> = rows.iter().collect();
        let told = |grown: &Grown<'_>| {
            let parent = grown.parent_elsewhere.map_or(String::new(), |parent| format!(" in {parent}"));
            format!("{}{}{parent}", grown.branch, grown.row.run)
        };
        grow(&rows, marks).iter().map(told).collect()
    }

    #[test]
    fn children_stand_below_their_parents() {
        let runs = ["new", "a2<a1", "b<old", "a1<old", "far<elsewhere", "old"];
        assert_eq!(drawn(&runs, Marks::Emoji), ["new", "far in elsewhere", "old", "├─ b", "└─ a1", "   └─ a2"]);
        assert_eq!(drawn(&runs, Marks::Words)[3..], ["|- b", "`- a1", "   `- a2"]);
        assert_eq!(drawn(&["x<top", "y<b", "b<top", "top"], Marks::Emoji), ["top", "├─ x", "└─ b", "   └─ y"]);
        assert_eq!(drawn(&["y<b", "b<top", "x<top", "top"], Marks::Emoji), ["top", "├─ b", "│  └─ y", "└─ x"]);
    }

    #[test]
    fn nobody_is_lost_in_a_ring() {
        assert_eq!(drawn(&["a<b", "b<a", "c<c", "d"], Marks::Emoji), ["d", "a in b", "b in a", "c in c"]);
    }
}
