//! Stories that are gone: replaced by parts, or put back.

use super::{Bench, Entry, places};
use crate::plan::Mode;
use crate::plan::document::Node;
use crate::plan::story::{Field, Raw, Story, StoryId, TITLE};
use crate::plan::words::{Rule, shown};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Parts of one story. Everybody who waited for it waits for all of them: without a bound, a plan of thousands could
/// be blown up to gigabytes.
const MOST_PARTS: usize = 100;

/// A story that was replaced by others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    pub story: StoryId,
    /// In the order of the file.
    pub parts: Vec<StoryId>,
}

impl<'b> Bench<'b> {
    /// Notes lawful splits, drops what came with unlawful ones, and returns the stories that must be put back, each
    /// with the item behind which it belongs.
    pub(super) fn vanished(
        &mut self,
        items: &'b [Node<'b>],
        entries: &mut Vec<Entry<'b>>,
        dropped: &mut [bool],
    ) -> Vec<(&'b Story, Option<usize>)> {
        let places = places(items);
        let mut parts: HashMap<&str, Vec<Raw<'b, 'b>>> = HashMap::new();
        for entry in entries.iter().filter(|entry| entry.was.is_none()) {
            if let Field::Is(Some(from)) = entry.raw.split_from() {
                parts.entry(from).or_default().push(entry.raw);
            }
        }
        let mut gone = Vec::new();
        let mut last = None;
        for story in self.before.stories() {
            if let Some(at) = places.get(story.id.as_str()) {
                last = Some(*at);
                continue;
            }
            let parts = parts.get(story.id.as_str()).map(Vec::as_slice).unwrap_or_default();
            match self.against_split(story, parts) {
                None => {
                    let parts = parts.iter().filter_map(|part| StoryId::new(part.id().known()?)).collect();
                    self.splits.push(Split { story: story.id.clone(), parts });
                    self.replaced.insert(story.id.as_str());
                }
                Some(rule) => {
                    self.whole(story.id.as_str(), Some(&story.title), None, rule);
                    gone.push((story, last));
                }
            }
        }
        self.drop_with(&gone, &places, entries, dropped);
        gone
    }

    /// Why a story may not disappear.
    fn against_split(&self, story: &Story, parts: &[Raw<'b, 'b>]) -> Option<Rule> {
        if parts.is_empty() {
            return Some(Rule::Vanished);
        }
        if self.turn.mode != Mode::Implement {
            return Some(Rule::SplitOutsideImplement { mode: self.turn.mode });
        }
        if story.passes || story.is_approved() {
            return Some(Rule::SplitFinished);
        }
        if parts.len() > MOST_PARTS {
            return Some(Rule::SplitTooFine { most: MOST_PARTS });
        }
        let all = |read: fn(Raw<'b, 'b>) -> Field<Vec<&'b str>>| -> HashSet<&'b str> {
            parts.iter().filter_map(|part| read(*part).known()).flatten().collect()
        };
        let (criteria, commands) = (all(Raw::criteria), all(Raw::commands));
        let criterion = story.criteria.iter().find(|text| !criteria.contains(text.as_str()));
        let command = story.verify_commands.iter().find(|line| !commands.contains(line.as_str()));
        criterion.or(command).map(|missing| Rule::SplitIncomplete { missing: shown(missing) })
    }

    /// Drops the parts of splits that were undone, and stories that have the title of one that was put back.
    fn drop_with(
        &mut self,
        gone: &[(&'b Story, Option<usize>)],
        places: &HashMap<&str, usize>,
        entries: &mut Vec<Entry<'b>>,
        dropped: &mut [bool],
    ) {
        let by_id: HashMap<&str, &StoryId> = gone.iter().map(|(story, _)| (story.id.as_str(), &story.id)).collect();
        let by_title: HashMap<&str, &StoryId> = gone.iter().map(|(story, _)| (story.title.trim(), &story.id)).collect();
        entries.retain(|entry| {
            let part = entry.raw.split_from().known().flatten().and_then(|from| by_id.get(from));
            let renamed = entry.raw.words(TITLE).known().and_then(|title| by_title.get(title.trim()));
            // A lawful part may be called as it likes: without it, its whole would be gone.
            let replaces = entry.raw.split_from().known().flatten().is_some_and(|from| self.replaced.contains(from));
            let rule = match (entry.was, part, renamed) {
                (None, None, Some(_)) if replaces => return true,
                (None, Some(whole), _) => Rule::PartOf { story: (*whole).clone() },
                (None, _, Some(from)) => Rule::Renamed { from: (*from).clone() },
                _ => return true,
            };
            let id = entry.raw.id().known().unwrap_or_default();
            if let Some(flag) = places.get(id).and_then(|at| dropped.get_mut(*at)) {
                *flag = true;
            }
            self.whole(id, None, Some(self.document.raw(entry.raw.0)), rule);
            false
        });
    }
}
