//! Who waits for whom after an iteration: known ids, no cycles, and the parts in place of a story that was split.

use super::comparison::Comparison;
use super::{Bench, Entry};
use crate::plan::document::{Document, Edits, Fix, like, quoted_list};
use crate::plan::graph::Graph;
use crate::plan::story::{DEPENDS, FIELDS, Story};
use crate::plan::words::Rule;
use std::collections::{HashMap, HashSet};

/// Rounds in which only the stories of a cycle are set back; after that all are, so that no plan takes long.
const ROUNDS: usize = 4;

/// A story that stays in the plan, and what it waits for.
struct Waiting<'b> {
    id: &'b str,
    wants: Vec<&'b str>,
    /// What it waited for before; a new story waited for nothing.
    base: Vec<&'b str>,
    rule: Option<Rule>,
}

impl<'b> Bench<'b> {
    /// Settles `dependsOn` of all stories, and returns the texts of those that are put back.
    pub(super) fn dependencies(&mut self, entries: &mut [Entry<'b>], put_back: &[&'b Story]) -> Vec<String> {
        let splits = self.splits.clone();
        let parts: HashMap<&str, Vec<&'b str>> = self.parts_by_story(entries, &splits);
        let mapped = |story: &'b Story| replaced(&story.depends_on, &parts);
        let known = |id: &'b str, entry: &Entry<'b>| {
            let base = entry.was.map(mapped).unwrap_or_default();
            let wants = entry.wants.as_ref().map_or_else(|| base.clone(), |wants| wanted(entry, wants, &parts));
            Waiting { id, wants, base, rule: None }
        };
        let mut waiting: Vec<_> =
            entries.iter().map(|entry| known(entry.raw.id().known().unwrap_or_default(), entry)).collect();
        waiting.extend(put_back.iter().map(|story| {
            let base = mapped(story);
            Waiting { id: story.id.as_str(), wants: base.clone(), base, rule: None }
        }));
        let ids: HashSet<&str> = waiting.iter().map(|story| story.id).collect();
        for (story, entry) in waiting.iter_mut().zip(entries.iter()) {
            if let Some(id) = story.wants.iter().find(|id| !ids.contains(*id)) {
                story.rule = Some(Rule::UnknownDependency { id: (*id).to_owned() });
                match entry.was {
                    Some(_) => story.wants.clone_from(&story.base),
                    None => story.wants.retain(|id| ids.contains(id)),
                }
            }
        }
        untie(&mut waiting);
        for (story, entry) in waiting.iter().zip(entries.iter_mut()) {
            self.settle(story, entry);
        }
        let texts = waiting.iter().skip(entries.len()).zip(put_back);
        texts.map(|(story, was)| self.text_of(was, &story.wants)).collect()
    }

    fn parts_by_story<'s>(&self, entries: &[Entry<'b>], splits: &'s [super::Split]) -> HashMap<&'s str, Vec<&'b str>> {
        let mut parts: HashMap<&str, Vec<&'b str>> =
            splits.iter().map(|split| (split.story.as_str(), Vec::new())).collect();
        for entry in entries.iter().filter(|entry| entry.was.is_none()) {
            let from = entry.raw.split_from().known().flatten();
            if let (Some(parts), Some(id)) = (from.and_then(|from| parts.get_mut(from)), entry.raw.id().known()) {
                parts.push(id);
            }
        }
        parts
    }

    fn settle(&mut self, story: &Waiting<'b>, entry: &mut Entry<'b>) {
        let comparison = &mut entry.comparison;
        let written = entry.raw.strings(DEPENDS).or(Vec::new());
        if story.rule.is_none() && written.as_ref() == Some(&story.wants) && !comparison.is_undone(DEPENDS) {
            return;
        }
        if comparison.is_unread() {
            // The story is unchanged, and only a split made its dependencies others.
            *comparison = Comparison::story(story.id, (self.before, entry.was), self.document, entry.raw);
        }
        self.violations.extend(story.rule.clone().map(|rule| comparison.violation(DEPENDS, rule)));
        let same_as_before = entry.was.is_some_and(|was| was.depends_on == story.wants);
        let fix = match comparison.old(DEPENDS) {
            Some(old) if same_as_before => Fix::Set(old.to_owned()),
            None if story.wants.is_empty() && entry.was.is_some() => Fix::Remove,
            _ => Fix::Set(quoted_list(story.wants.iter().copied())),
        };
        comparison.set(DEPENDS, fix);
    }

    fn text_of(&self, was: &Story, wants: &[&str]) -> String {
        let text = self.before.text();
        let raw = text.get(was.span.clone()).unwrap_or_default();
        if was.depends_on == wants {
            return like(self.document.text, raw).into_owned();
        }
        let mut edits = Edits::default();
        if let Ok(document) = Document::parse(raw) {
            let fix = (DEPENDS.to_owned(), Fix::Set(quoted_list(wants.iter().copied())));
            edits.object(raw, &document.root, &[fix], &FIELDS.map(str::to_owned));
        }
        like(self.document.text, &edits.apply(raw)).into_owned()
    }
}

/// Dependencies with the parts in place of stories that were split.
fn replaced<'b>(ids: &'b [String], parts: &HashMap<&str, Vec<&'b str>>) -> Vec<&'b str> {
    if parts.is_empty() {
        return ids.iter().map(String::as_str).collect();
    }
    let mut seen = HashSet::new();
    let all = ids.iter().flat_map(|id| parts.get(id.as_str()).cloned().unwrap_or_else(|| vec![id.as_str()]));
    all.filter(|id| seen.insert(*id)).collect()
}

/// What the agent wrote, with all parts where it named the whole, or where it named some of the parts of a story
/// that was waited for before. A part does not wait for itself by way of the whole: that name stays unknown.
fn wanted<'b>(entry: &Entry<'b>, wants: &[&'b str], parts: &HashMap<&str, Vec<&'b str>>) -> Vec<&'b str> {
    if parts.is_empty() {
        return wants.to_vec();
    }
    let part_of = entry.raw.split_from().known().flatten().filter(|_| entry.was.is_none());
    let mut all = Vec::with_capacity(wants.len());
    for want in wants {
        match parts.get(want) {
            Some(parts) if part_of != Some(*want) => all.extend(parts),
            _ => all.push(*want),
        }
    }
    let named: HashSet<&str> = all.iter().copied().collect();
    for parts in entry.was.iter().flat_map(|was| &was.depends_on).filter_map(|whole| parts.get(whole.as_str())) {
        if parts.iter().any(|part| named.contains(part)) {
            all.extend(parts);
        }
    }
    let mut seen = HashSet::new();
    let changed = all != wants;
    all.retain(|id| seen.insert(*id) || !changed);
    all
}

/// Sets stories of a cycle back to what they waited for before: that had no cycle, and new stories waited for
/// nothing.
fn untie(waiting: &mut [Waiting<'_>]) {
    for round in 0..=ROUNDS {
        let ids: Vec<_> = waiting.iter().map(|story| story.id).collect();
        let graph = Graph::new(&ids, waiting.iter().map(|story| story.wants.clone()));
        let knots = graph.knots();
        if knots.is_empty() {
            return;
        }
        for knot in knots {
            let path: Vec<_> =
                graph.cycle(&knot).iter().filter_map(|at| ids.get(*at)).map(|id| (*id).to_owned()).collect();
            let all = if round < ROUNDS { knot } else { (0..ids.len()).collect() };
            for at in all {
                if let Some(story) = waiting.get_mut(at).filter(|story| story.wants != story.base) {
                    story.wants.clone_from(&story.base);
                    story.rule = Some(Rule::Cycle { path: path.clone() });
                }
            }
        }
    }
}
