//! What has been seen so far: each item once, in the order in which it came first, within bounds.

use ralph_core::judges::{Executed, Opened, Used, Watched};
use std::collections::{HashMap, HashSet};

/// Items that are kept. A check of a large project opens some ten thousand files, and looks for more that are not there.
const MOST_ITEMS: usize = 200_000;
/// Bytes of all their text, so that long arguments cannot fill the memory.
const MOST_BYTES: usize = 64 << 20;
/// Files that were used beside the tree: so many that were changed there are not made unseen one by one.
const MOST_USED: usize = 5_000;
/// Gaps that are told: one is enough to doubt, a few help to mend.
const MOST_GAPS: usize = 8;

/// Something that a process did with a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Item {
    Executed(Executed),
    Opened(Opened),
    Missed(Opened),
    Made(String),
}

#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Each item with its place in the order.
    items: HashMap<Item, usize>,
    bytes: usize,
    used: Vec<Used>,
    gaps: Vec<String>,
}

impl Record {
    pub(crate) fn note(&mut self, item: Item) {
        if self.items.contains_key(&item) {
            return;
        }
        let bytes = self.bytes.saturating_add(item.bytes());
        if self.items.len() >= MOST_ITEMS || bytes > MOST_BYTES {
            self.gap("the check executed and opened more than is kept".to_owned());
            return;
        }
        self.bytes = bytes;
        self.items.insert(item, self.items.len());
    }

    /// Keeps a file beside the tree; the caller asks once for each.
    pub(crate) fn note_use(&mut self, used: Used) {
        if self.used.len() < MOST_USED {
            self.used.push(used);
        }
    }

    /// Says why something may be missing.
    pub(crate) fn gap(&mut self, why: String) {
        if self.gaps.len() < MOST_GAPS && !self.gaps.contains(&why) {
            self.gaps.push(why);
        }
    }

    pub(crate) fn watched(&self) -> Watched {
        let mut watched = Watched { gap: self.gaps.join("; "), used: self.used.clone(), ..Watched::default() };
        let mut items: Vec<_> = self.items.iter().collect();
        items.sort_unstable_by_key(|(_, place)| **place);
        for (item, _) in items {
            match item.clone() {
                Item::Executed(executed) => watched.executed.push(executed),
                Item::Opened(opened) => watched.opened.push(opened),
                Item::Missed(missed) => watched.missed.push(missed),
                Item::Made(path) => watched.made.push(path),
            }
        }
        // What is looked for and then made is the check's own output.
        let made: HashSet<&str> = watched.made.iter().map(String::as_str).collect();
        watched.missed.retain(|missed| !made.contains(missed.path.as_str()));
        watched
    }
}

impl Item {
    fn bytes(&self) -> usize {
        match self {
            Item::Executed(Executed { program, args, folder }) => {
                program.len() + folder.len() + args.iter().map(String::len).sum::<usize>()
            }
            Item::Opened(opened) | Item::Missed(opened) => opened.path.len() + opened.by.len(),
            Item::Made(path) => path.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_stands_once_where_it_came_first_and_what_the_check_made_was_not_missed() {
        let mut record = Record::default();
        let by_shell = |path: &str| Opened { path: path.to_owned(), by: "/bin/sh".to_owned() };
        ["/b", "/a", "/b"].iter().for_each(|path| record.note(Item::Opened(by_shell(path))));
        record.note(Item::Missed(by_shell("/a")));
        record.note(Item::Missed(by_shell("/output")));
        record.note(Item::Made("/output".to_owned()));
        let watched = record.watched();
        let opened: Vec<&str> = watched.opened.iter().map(|opened| opened.path.as_str()).collect();
        assert_eq!((opened, watched.missed.len(), watched.gap.as_str()), (vec!["/b", "/a"], 1, ""));
    }

    #[test]
    fn what_goes_beyond_the_bounds_is_a_gap() {
        let mut record = Record::default();
        for number in 0..=MOST_ITEMS {
            record.note(Item::Made(number.to_string()));
        }
        assert_eq!(record.watched().made.len(), MOST_ITEMS);
        assert!(record.watched().gap.contains("more than is kept"));
        let mut record = Record::default();
        record.note(Item::Made("x".repeat(MOST_BYTES)));
        record.note(Item::Made("y".to_owned()));
        assert_eq!(record.watched().made.len(), 1);
        assert!(record.watched().gap.contains("more than is kept"));
    }

    #[test]
    fn gaps_are_told_once_and_not_without_end() {
        let mut record = Record::default();
        (0..100).for_each(|number| record.gap(format!("gap {}", number % 20)));
        assert_eq!(record.watched().gap.split("; ").count(), MOST_GAPS);
    }
}
