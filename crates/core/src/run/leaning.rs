//! Leaning: whether a check passes only with a file that can tell it what to do and that was made during the run. All
//! checks have passed and the claim stands; those that speak for it are tried once more without such files. What they pass
//! without says nothing; what they need is nobody's word, so that the run is not verified by them.

use super::inspecting::{Inspect, Inspection};
use super::{Run, RunStep};
use crate::check::{CheckEnding, CheckReport, CheckSpec};
use crate::machine::Step;
use crate::words::Note;
use std::collections::BTreeSet;

impl Run {
    /// Whether anybody could have told checks what to do without being seen.
    pub(super) fn looks_for_made(&self) -> bool {
        let on_snapshots = self.integrity.has_snapshots() && !self.policy.verify.clean_checkout;
        on_snapshots && self.policy.pins_scripts() && self.pins().began.is_some()
    }

    /// What people declared to be work in any check.
    pub(super) fn declared_work(&self, at: &Inspection) -> Vec<String> {
        let work = at.reports.iter().flat_map(|report| report.spec.terms.work.iter().cloned());
        work.collect::<BTreeSet<String>>().into_iter().collect()
    }

    pub(super) fn on_made_seen(&mut self, paths: &[String]) -> Option<RunStep> {
        let mut at = self.inspecting(|step| *step == Inspect::Made)?;
        let speak = at.reports.iter().filter(|report| report.supports()).map(|report| &report.spec);
        let tried: Vec<Inspect> = speak
            .map(|spec| CheckSpec { without: paths.to_vec(), terms: spec.terms.without_writing(), ..spec.clone() })
            .map(|spec| Inspect::TryWithout(Box::new(spec)))
            .collect();
        if paths.is_empty() || tried.is_empty() {
            return Some(self.go_on(at));
        }
        at.first(tried);
        Some(Run::note(Note::TriedWithout { files: paths.to_vec() }).then(self.go_on(at)))
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
        Step::default().then(self.stop_between(&at).unwrap_or_else(|| self.go_on(at)))
    }
}
