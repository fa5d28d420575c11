//! Leaning: whether a check passes only with a file that can tell it what to do and that was made during the run, or that
//! it used beside the tree and was changed there. All checks have passed and the claim stands; those that speak for it are
//! tried once more without such files. What they pass without says nothing. New tests may need what was made for them, so
//! that a check which fails is tried a second time without new tests; what the tests need that were there is nobody's
//! word, and the run is not verified by them.

use super::inspecting::{Inspect, Inspection};
use super::{Run, RunStep};
use crate::check::{CheckEnding, CheckReport, CheckSpec};
use crate::id::CheckId;
use crate::words::Note;
use std::collections::BTreeSet;

impl Run {
    /// Whether anybody could have told checks what to do without being seen.
    pub(super) fn looks_for_made(&self) -> bool {
        self.can_try_without() && self.pins().began.is_some()
    }

    /// Whether checks can be tried without what was made during the run.
    pub(super) fn can_try_without(&self) -> bool {
        let on_snapshots = self.integrity.has_snapshots() && !self.policy.verify.clean_checkout;
        on_snapshots && self.policy.pins_scripts()
    }

    /// Whether what a check uses beside the tree is looked at: where somebody claims, so that nobody else pays for it.
    pub(super) fn watches(&self, at: &Inspection) -> bool {
        self.is_said_done(at) && self.policy.pins_scripts() && self.pins().began.is_some()
    }

    pub(super) fn on_made_seen(
        &mut self,
        made: &[(CheckId, Vec<String>)],
        problem: &str,
        tests: &[String],
    ) -> Option<RunStep> {
        let mut at = self.inspecting(|step| *step == Inspect::Made)?;
        at.new_tests = tests.to_vec();
        at.see_fault(problem);
        Some(self.try_without(at, made))
    }

    /// Tries each check that speaks for the claim without what was made for it, and without what it used beside the tree.
    pub(super) fn try_without(&mut self, mut at: Box<Inspection>, made: &[(CheckId, Vec<String>)]) -> RunStep {
        let mut tried = Vec::new();
        let mut files: BTreeSet<String> = BTreeSet::new();
        for report in at.reports.iter().filter(|report| report.supports()) {
            let spec = &report.spec;
            let of_check = made.iter().filter(|(check, _)| *check == spec.id).flat_map(|(_, files)| files);
            let without: Vec<String> = of_check.chain(&report.outside).cloned().collect();
            if without.is_empty() {
                continue;
            }
            files.extend(without.iter().filter(|_| !spec.terms.hidden).cloned());
            let (terms, watched) = (spec.terms.without_writing(), !report.outside.is_empty());
            tried.push(CheckSpec { without, terms, watched, ..spec.clone() });
        }
        let told = (!files.is_empty()).then(|| Run::note(Note::TriedWithout { files: files.into_iter().collect() }));
        at.first(tried.into_iter().map(|spec| Inspect::TryWithout(Box::new(spec))).collect::<Vec<_>>());
        told.unwrap_or_default().then(self.go_on(at))
    }

    /// A check has run without what was made during the run.
    pub(super) fn on_tried_without(&mut self, mut at: Box<Inspection>, report: &CheckReport) -> RunStep {
        if report.ending == CheckEnding::Stopped {
            at.first([Inspect::TryWithout(Box::new(report.spec.clone()))]);
            return self.stop_between(&at).unwrap_or_else(|| self.go_on(at));
        }
        at.see_fault(&report.unwatched);
        let further: Vec<String> =
            at.new_tests.iter().filter(|test| !report.spec.without.contains(test)).cloned().collect();
        let is_second = further.is_empty() && !at.new_tests.is_empty();
        // Where no test is left, all of them are the work.
        let stands = report.passed() || is_second && report.empty;
        // On the live tree it found what was made there.
        let found = !report.live.is_empty() && report.spec.without_inside().next().is_some();
        if report.live.is_empty() && !stands && !further.is_empty() {
            let without = [report.spec.without.as_slice(), &further].concat();
            at.first([Inspect::TryWithout(Box::new(CheckSpec { without, ..report.spec.clone() }))]);
        } else if !stands || found || !report.outside.is_empty() {
            let used = report.spec.without.iter().chain(&report.outside);
            let files: BTreeSet<&String> = used.filter(|path| !at.new_tests.contains(path)).collect();
            at.leaning.push((report.spec.id.clone(), files.into_iter().cloned().collect()));
        }
        self.stop_between(&at).unwrap_or_else(|| self.go_on(at))
    }
}
