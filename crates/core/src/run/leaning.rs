//! Leaning: whether a check passes only with a file that can tell it what to do and that was made during the run. All
//! checks have passed and the claim stands; those that speak for it are tried once more without such files. What they pass
//! without says nothing. New tests may need what was made for them, so that a check which fails is tried a second time
//! without new tests; what the tests need that were there is nobody's word, and the run is not verified by them.

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

    pub(super) fn on_made_seen(
        &mut self,
        made: &[(CheckId, Vec<String>)],
        problem: &str,
        tests: &[String],
    ) -> Option<RunStep> {
        let mut at = self.inspecting(|step| *step == Inspect::Made)?;
        at.new_tests = tests.to_vec();
        at.see_fault(problem);
        let without = |spec: &CheckSpec| {
            let (_, files) = made.iter().find(|(check, files)| *check == spec.id && !files.is_empty())?;
            Some(CheckSpec { without: files.clone(), terms: spec.terms.without_writing(), ..spec.clone() })
        };
        let tried: Vec<CheckSpec> = at.reports.iter().filter_map(|report| without(&report.spec)).collect();
        let files: BTreeSet<String> = tried.iter().flat_map(|spec| spec.without.iter().cloned()).collect();
        let told = (!files.is_empty()).then(|| Run::note(Note::TriedWithout { files: files.into_iter().collect() }));
        at.first(tried.into_iter().map(|spec| Inspect::TryWithout(Box::new(spec))).collect::<Vec<_>>());
        Some(told.unwrap_or_default().then(self.go_on(at)))
    }

    /// A check has run without what was made during the run.
    pub(super) fn on_tried_without(&mut self, mut at: Box<Inspection>, report: &CheckReport) -> RunStep {
        if report.ending == CheckEnding::Stopped {
            at.first([Inspect::TryWithout(Box::new(report.spec.clone()))]);
            return self.stop_between(&at).unwrap_or_else(|| self.go_on(at));
        }
        let further: Vec<String> =
            at.new_tests.iter().filter(|test| !report.spec.without.contains(test)).cloned().collect();
        let is_second = further.is_empty() && !at.new_tests.is_empty();
        // Where no test is left, all of them are the work.
        let stands = report.passed() || is_second && report.empty;
        if report.live.is_empty() && !stands && !further.is_empty() {
            let without = [report.spec.without.as_slice(), &further].concat();
            at.first([Inspect::TryWithout(Box::new(CheckSpec { without, ..report.spec.clone() }))]);
        } else if !stands || !report.live.is_empty() {
            let tests = &at.new_tests;
            let made = report.spec.without.iter().filter(|path| !tests.contains(path)).cloned().collect();
            at.leaning.push((report.spec.id.clone(), made));
        }
        self.stop_between(&at).unwrap_or_else(|| self.go_on(at))
    }
}
