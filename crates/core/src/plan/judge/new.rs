//! A story that was not there before: it is kept, and starts clean.

use super::comparison::Comparison;
use super::{Bench, Decision, Entry};
use crate::plan::document::Fix;
use crate::plan::story::{
    COUNT, CRITERIA, DEPENDS, DESCRIPTION, FEEDBACK, Field, NOTES, PASSES, PRIORITY, Raw, SPLIT, STATUS, StoryId,
    TITLE, VERIFY,
};
use crate::plan::words::{Change, Fault, Problem, Rule, Violation};
use crate::plan::{Mode, ReviewStatus};

/// Why a new story cannot be kept: nobody but its author can say what it is about.
pub(super) fn unusable(raw: Raw<'_, '_>, who: &str) -> Option<Rule> {
    let why = raw.faults().into_iter().find(|(field, _)| [TITLE, CRITERIA].contains(field));
    why.map(|(field, fault)| super::unusable(who, field, fault))
}

impl<'b> Bench<'b> {
    pub(super) fn clean(&mut self, entry: &mut Entry<'b>) {
        let raw = entry.raw;
        let who = raw.id().known().unwrap_or_default();
        entry.comparison = Comparison::story(who, (self.before, None), self.document, raw);
        let comparison = &mut entry.comparison;
        comparison.doubled_keys(&mut self.violations);
        let faults = raw.faults();
        let starts = [
            (PASSES, "false", raw.bool(PASSES) == Field::Is(false)),
            (STATUS, "null", raw.status() == Field::Is(None)),
            (COUNT, "0", raw.count() == Field::Is(0)),
            (FEEDBACK, "\"\"", raw.string(FEEDBACK) == Field::Is("")),
        ];
        for (key, start, clean) in starts {
            if clean && !comparison.is_undone(key) || key == STATUS && self.comes_submitted(raw, who) {
                continue;
            }
            let found = faults.iter().find(|(field, _)| *field == key);
            let rule = match found {
                Some((_, fault)) => invalid(who, key, fault),
                None if key == STATUS && !self.turn.ended_well => Rule::DidNotEndWell,
                None => Rule::NewStory,
            };
            let change = Change::new(Some(who), key, Some(start), comparison.now(key));
            self.violations.push(Violation { change, rule });
            comparison.set(key, Fix::Set(start.to_owned()));
        }
        for (key, fault) in faults.iter().filter(|(key, _)| [DESCRIPTION, NOTES, DEPENDS, SPLIT, VERIFY].contains(key))
        {
            // Notes are missing only where `passes` was set, and that is undone above.
            if *fault != Fault::EmptyNotes {
                comparison.undo(key, invalid(who, key, fault), &mut self.violations);
            }
        }
        if let Some((_, fault)) = faults.iter().find(|(key, _)| *key == PRIORITY) {
            let least = self.before.stories().iter().map(|story| story.priority.floor()).fold(0.0, f64::max) + 1.0;
            self.violations.push(comparison.violation(PRIORITY, invalid(who, PRIORITY, fault)));
            comparison.set(PRIORITY, Fix::Set(format!("{least}")));
        }
        if let Field::Is(Some(from)) = raw.split_from()
            && !self.replaced.contains(from)
        {
            comparison.undo(SPLIT, Rule::SplitsNothing, &mut self.violations);
        }
        entry.wants = raw.strings(DEPENDS).or(Vec::new()).filter(|_| !comparison.is_undone(DEPENDS));
    }

    /// Of the parts of the story that was worked on, one may await review in its place.
    fn comes_submitted(&mut self, raw: Raw<'_, '_>, who: &str) -> bool {
        let awaits = raw.status() == Field::Is(Some(ReviewStatus::NeedsReview));
        let own = self.turn.story.as_str();
        let part = raw.split_from() == Field::Is(Some(own)) && self.replaced.contains(own);
        let may = self.turn.mode == Mode::Implement && self.turn.ended_well && self.decision == Decision::None;
        if !(awaits && part && may) {
            return false;
        }
        if let Some(story) = StoryId::new(who) {
            self.decision = Decision::Submitted { story };
        }
        true
    }
}

fn invalid(who: &str, key: &str, fault: &Fault) -> Rule {
    Rule::Invalid { why: Problem::of(who, key, fault.clone()).words() }
}
