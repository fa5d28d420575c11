//! The review fields of a known story: what each mode may decide.

use super::comparison::Comparison;
use super::{Bench, Decision};
use crate::plan::document::{Fix, quoted};
use crate::plan::story::{COUNT, DECISION, FEEDBACK, NOTES, PASSES, Raw, STATUS, Story};
use crate::plan::words::{ReviewFault, Rule};
use crate::plan::{AUTO_APPROVED, Mode, ReviewStatus};

/// What ralph notes on a story that the cap approves and nobody wrote notes for.
const NOTE_AT_CAP: &str = "Approved at the review cap.";

/// The review fields after the iteration; `None` is no value for the field.
struct State<'n> {
    status: Option<Option<ReviewStatus>>,
    passes: Option<bool>,
    count: Option<u32>,
    feedback: Option<&'n str>,
    /// Notes as they will stand there.
    notes_blank: bool,
}

impl<'b> Bench<'b> {
    pub(super) fn decide(&mut self, comparison: &mut Comparison<'b>, raw: Raw<'b, 'b>, was: &Story) {
        let notes = raw.string(NOTES).or("").filter(|_| !comparison.is_undone(NOTES)).unwrap_or(&was.notes);
        let now = State {
            status: raw.status().known().filter(|_| !comparison.is_undone(STATUS)),
            passes: raw.bool(PASSES).known().filter(|_| !comparison.is_undone(PASSES)),
            count: raw.count().known().filter(|_| !comparison.is_undone(COUNT)),
            feedback: raw.string(FEEDBACK).known().filter(|_| !comparison.is_undone(FEEDBACK)),
            notes_blank: notes.trim().is_empty(),
        };
        let own = was.id == self.turn.story;
        match self.turn.mode {
            Mode::Review if own => self.review(comparison, &now, was),
            Mode::Implement if own => self.submit(comparison, &now, was),
            Mode::ReviewFix if own => self.resubmit(comparison, &now, was),
            _ => {}
        }
        // What no decision above took for its own has to be as it was.
        for key in changed(&now, was) {
            let lawful = match (&self.decision, own) {
                (Decision::Submitted { .. }, true) => key == STATUS,
                (Decision::Passes, true) => key == PASSES || key == STATUS && submits(&now, was),
                (Decision::Resubmitted, true) => key == STATUS || key == FEEDBACK,
                (Decision::Approved { .. } | Decision::ChangesRequested, true) => true,
                _ => false,
            };
            if !lawful {
                comparison.undo(key, self.against(key, &now, own), &mut self.violations);
            }
        }
    }

    /// The law against a change of a review field.
    fn against(&self, key: &str, now: &State<'_>, own: bool) -> Rule {
        let mode = self.turn.mode;
        let approves = match key {
            PASSES => now.passes == Some(true),
            STATUS => now.status == Some(Some(ReviewStatus::Approved)),
            _ => false,
        };
        match mode {
            Mode::Review => Rule::ReviewChanges { reviewed: self.turn.story.clone() },
            _ if key == PASSES && self.rules.skip_review && !own => {
                Rule::PassesOther { worked: self.turn.story.clone() }
            }
            _ if approves => Rule::Approval { mode },
            _ => Rule::ReviewField { mode },
        }
    }

    fn submit(&mut self, comparison: &mut Comparison<'b>, now: &State<'_>, was: &Story) {
        let passes = self.rules.skip_review && now.passes == Some(true) && !was.passes;
        let submits = submits(now, was);
        if !self.turn.ended_well {
            for key in [(STATUS, submits), (PASSES, passes)].into_iter().filter(|(_, is)| *is).map(|(key, _)| key) {
                comparison.undo(key, Rule::DidNotEndWell, &mut self.violations);
            }
        } else if passes && !now.notes_blank {
            self.decision = Decision::Passes;
        } else {
            if passes {
                comparison.undo(PASSES, Rule::EmptyNotes, &mut self.violations);
            }
            if submits {
                self.decision = Decision::Submitted { story: was.id.clone() };
            }
        }
    }

    fn resubmit(&mut self, comparison: &mut Comparison<'b>, now: &State<'_>, was: &Story) {
        let awaits = now.status == Some(Some(ReviewStatus::NeedsReview));
        if was.status != Some(ReviewStatus::ChangesRequested) || !awaits {
            return;
        }
        if !self.turn.ended_well {
            for key in changed(now, was).filter(|key| [STATUS, FEEDBACK].contains(key)) {
                comparison.undo(key, Rule::DidNotEndWell, &mut self.violations);
            }
        } else if now.feedback.is_some_and(|feedback| feedback.trim().is_empty()) {
            self.decision = Decision::Resubmitted;
        } else {
            comparison.undo(STATUS, Rule::FeedbackNotCleared, &mut self.violations);
        }
    }

    /// A decision stands or falls as a whole.
    fn review(&mut self, comparison: &mut Comparison<'b>, now: &State<'_>, was: &Story) {
        let changed: Vec<_> = changed(now, was).collect();
        if changed.is_empty() {
            return;
        }
        let (prefixed, feedback) = without_prefix(now.feedback.unwrap_or_default());
        let faults = if self.turn.ended_well { faults(now, was, feedback) } else { Vec::new() };
        if !faults.is_empty() || !self.turn.ended_well {
            let rest = if self.turn.ended_well { Rule::WithDecision } else { Rule::DidNotEndWell };
            for (key, why) in &faults {
                if changed.contains(key) && !comparison.is_undone(key) {
                    comparison.undo(key, Rule::Decision { why: *why }, &mut self.violations);
                } else {
                    self.violations.push(comparison.violation(key, Rule::Decision { why: *why }));
                }
            }
            for key in changed {
                comparison.undo(key, rest.clone(), &mut self.violations);
            }
            return;
        }
        let at_cap = was.count.saturating_add(1) >= self.rules.cap.get();
        let approved = now.status == Some(Some(ReviewStatus::Approved));
        if prefixed && !at_cap {
            self.violations.push(comparison.violation(FEEDBACK, Rule::PrefixBelowCap));
            comparison.set(FEEDBACK, Fix::Set(quoted(feedback)));
        }
        self.decision = match (approved, at_cap) {
            (true, _) => Decision::Approved { at_cap, automatic: prefixed && at_cap },
            (false, false) => Decision::ChangesRequested,
            (false, true) => {
                comparison.set(STATUS, Fix::Set(quoted(ReviewStatus::Approved.as_str())));
                comparison.set(PASSES, Fix::Set("true".to_owned()));
                if !prefixed {
                    comparison.set(FEEDBACK, Fix::Set(quoted(&format!("{AUTO_APPROVED} {feedback}"))));
                }
                if now.notes_blank {
                    comparison.set(NOTES, Fix::Set(quoted(NOTE_AT_CAP)));
                }
                Decision::Approved { at_cap, automatic: true }
            }
        };
    }
}

fn submits(now: &State<'_>, was: &Story) -> bool {
    was.status.is_none() && now.status == Some(Some(ReviewStatus::NeedsReview))
}

fn changed<'s>(now: &'s State<'_>, was: &'s Story) -> impl Iterator<Item = &'static str> + 's {
    DECISION.into_iter().filter(|key| match *key {
        STATUS => now.status != Some(was.status),
        PASSES => now.passes != Some(was.passes),
        COUNT => now.count != Some(was.count),
        _ => now.feedback != Some(&was.feedback),
    })
}

/// What is illegal about a decision, by field. `feedback` is without the prefix.
fn faults(now: &State<'_>, was: &Story, feedback: &str) -> Vec<(&'static str, ReviewFault)> {
    let mut faults = Vec::new();
    if was.status != Some(ReviewStatus::NeedsReview) {
        faults.push((STATUS, ReviewFault::NotAwaited));
    }
    if now.count.is_none() || now.count != was.count.checked_add(1) {
        faults.push((COUNT, ReviewFault::Count));
    }
    if now.feedback.is_none() {
        faults.push((FEEDBACK, ReviewFault::NotText));
    }
    match now.status.flatten() {
        Some(ReviewStatus::Approved) => {
            if now.passes != Some(true) {
                faults.push((PASSES, ReviewFault::OutOfSync));
            }
            if now.notes_blank {
                faults.push((NOTES, ReviewFault::EmptyNotes));
            }
        }
        Some(ReviewStatus::ChangesRequested) => {
            if now.passes != Some(false) {
                faults.push((PASSES, ReviewFault::OutOfSync));
            }
            if now.feedback.is_some() && feedback.trim().is_empty() {
                faults.push((FEEDBACK, ReviewFault::NoFeedback));
            }
        }
        _ => faults.push((STATUS, ReviewFault::Status)),
    }
    faults
}

/// Whether a feedback claims that the cap approved, and what else it says.
pub(in crate::plan) fn without_prefix(feedback: &str) -> (bool, &str) {
    let mut rest = feedback;
    while let Some(behind) = rest.trim_start().strip_prefix(AUTO_APPROVED) {
        rest = behind.trim_start();
    }
    (rest.len() != feedback.len(), rest)
}
