//! Leaning: whether a check passes only with a file that can tell it what to do and that was made during the run. All
//! checks have passed and the claim stands; those that speak for it are tried once more without such files. What they pass
//! without says nothing; what they need is nobody's word, so that the run is not verified by them.

use super::inspecting::{Inspect, Inspection};
use super::{Run, RunStep};
use crate::check::{CheckEnding, CheckReport, CheckSpec};
use crate::id::CheckId;
use crate::words::Note;
use std::collections::BTreeSet;

impl Run {
    /// Whether anybody could have told checks what to do without being seen.
    pub(super) fn looks_for_made(&self) -> bool {
        let on_snapshots = self.integrity.has_snapshots() && !self.policy.verify.clean_checkout;
        on_snapshots && self.policy.pins_scripts() && self.pins().began.is_some()
    }

    pub(super) fn on_made_seen(&mut self, made: &[(CheckId, Vec<String>)], problem: &str) -> Option<RunStep> {
        let mut at = self.inspecting(|step| *step == Inspect::Made)?;
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
        if !report.passed() || !report.live.is_empty() {
            at.leaning.push((report.spec.id.clone(), report.spec.without.clone()));
        }
        self.stop_between(&at).unwrap_or_else(|| self.go_on(at))
    }
}
