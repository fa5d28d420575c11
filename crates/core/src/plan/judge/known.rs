//! A story that was there before: each field by the law of the mode.

use super::comparison::Comparison;
use super::{Bench, Entry};
use crate::plan::story::{CRITERIA, DEPENDS, DESCRIPTION, FIELDS, Field, NOTES, PRIORITY, SPLIT, Story, TITLE, VERIFY};
use crate::plan::words::{Fault, Problem, Rule};
use std::collections::HashMap;

impl<'b> Bench<'b> {
    pub(super) fn known(&mut self, entry: &mut Entry<'b>, was: &'b Story) {
        if self.before.text().get(was.span.clone()) == Some(self.document.raw(entry.raw.0)) {
            entry.wants = Some(was.depends_on.iter().map(String::as_str).collect());
            return;
        }
        let raw = entry.raw;
        let own = was.id == self.turn.story;
        entry.comparison = Comparison::story(was.id.as_str(), (self.before, Some(was)), self.document, raw);
        let comparison = &mut entry.comparison;
        comparison.doubled_keys(&mut self.violations);
        let review = self.is_review().then(|| Rule::ReviewChanges { reviewed: self.turn.story.clone() });

        let mut undo = |key: &str, rule: Rule| comparison.undo(key, rule, &mut self.violations);
        if raw.words(TITLE).known() != Some(&was.title) {
            undo(TITLE, Rule::Frozen);
        }
        if raw.commands().or(Vec::new()).is_none_or(|lines| lines != was.verify_commands) {
            undo(VERIFY, Rule::Frozen);
        }
        if raw.split_from().or(None).is_none_or(|id| id != was.split_from.as_deref()) {
            undo(SPLIT, Rule::Frozen);
        }
        let criteria = match raw.criteria() {
            Field::Is(now) if now == was.criteria => None,
            Field::Is(now) if holds(&now, &was.criteria) => review.clone(),
            _ => Some(Rule::CriteriaWeakened),
        };
        if let Some(rule) = criteria {
            undo(CRITERIA, rule);
        }
        // Fields that may change, each with whether it did; `None` is no value at all.
        let notes = raw.string(NOTES).or("");
        let wants = raw.strings(DEPENDS).or(Vec::new());
        let changes = [
            (DESCRIPTION, raw.string(DESCRIPTION).or("").map(|now| now != was.description), false),
            (PRIORITY, raw.priority().known().map(|now| now.total_cmp(&was.priority).is_ne()), false),
            (NOTES, notes.map(|now| now != was.notes), own),
            (DEPENDS, wants.as_ref().map(|now| *now != was.depends_on), false),
        ];
        for (key, changed, even_in_review) in changes {
            match (changed, &review) {
                (None, _) => undo(key, Rule::Invalid { why: fault(was, key, raw.faults()) }),
                (Some(true), Some(rule)) if !even_in_review => undo(key, rule.clone()),
                _ => {}
            }
        }
        if was.passes && notes.is_some_and(|notes| notes.trim().is_empty()) {
            undo(NOTES, Rule::EmptyNotes);
        }
        entry.wants = wants.filter(|_| !comparison.is_undone(DEPENDS));
        let rule = if own { review } else { review.or(Some(Rule::OthersField)) };
        comparison.others(&FIELDS, rule.as_ref(), &mut self.violations);
        self.decide(comparison, raw, was);
    }
}

/// What is wrong with one field.
fn fault(story: &Story, key: &str, faults: Vec<(&'static str, Fault)>) -> String {
    let fault = faults.into_iter().find(|(field, _)| *field == key).map_or(Fault::Missing, |(_, fault)| fault);
    Problem::of(story.id.as_str(), key, fault).words()
}

/// Whether every criterion still stands there, as often as before.
fn holds(now: &[&str], before: &[String]) -> bool {
    let mut left: HashMap<&str, usize> = HashMap::with_capacity(now.len());
    for criterion in now {
        *left.entry(criterion).or_default() += 1;
    }
    before.iter().all(|criterion| match left.get_mut(criterion.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    })
}
