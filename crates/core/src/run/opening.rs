//! Opening: what is looked at before an iteration, so that later looks have something to be compared with: files
//! whose state counts, the tree, the checks as they were, and marker files.

use super::{Continuation, Phase, Run, RunStep};
use crate::activity::{Activity, Look, Pinning};
use crate::check::{CheckEnding, CheckReport, CheckSpec, Ground, TreePrint};
use crate::id::CheckId;
use crate::machine::Step;
use crate::notice::Notice;
use crate::observation::Markers;
use crate::protect::{self, PinFailure, Pins};
use crate::words::{Cause, Note};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is being looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Opening {
    /// The files whose state counts.
    Pins,
    /// The tree, so that a stall can be seen from the first iteration on.
    Tree,
    /// The checks; those that ended so far, and the one that runs.
    Checks(Vec<CheckReport>),
    /// The marker files.
    Markers,
}

impl Run {
    /// The next thing to look at before the first iteration; `None` if all is seen.
    pub(super) fn look_first(&mut self) -> Option<RunStep> {
        if self.policy.pins() && !self.integrity.is_pinned() {
            self.phase = Phase::Opening(Opening::Pins);
            return Some(Step::start(Activity::Pin(self.pinning())));
        }
        if self.policy.limits.stall_after > 0 && !self.history.has_begun() {
            self.phase = Phase::Opening(Opening::Tree);
            return Some(Step::start(self.look()));
        }
        let wants_baseline = self.policy.verify.baseline && !self.policy.guardrails.is_empty();
        (wants_baseline && self.integrity.baseline().is_none()).then(|| self.check_first(Vec::new()))
    }

    /// A look at the tree after an agent.
    pub(super) fn look(&self) -> Activity {
        Activity::LookAtTree(Look { patience: self.policy.tree_patience(), pins: self.pins() })
    }

    fn pinning(&self) -> Pinning {
        let globs = self.policy.protect.paths.clone();
        if !self.policy.pins_scripts() {
            return Pinning { globs, ..Pinning::default() };
        }
        let mut candidates: BTreeMap<String, Vec<CheckId>> = BTreeMap::new();
        let mut words = Vec::new();
        for check in self.policy.checks(0, Ground::Project) {
            words.extend(protect::words(&check.command));
            for name in protect::script_candidates(&check.command) {
                candidates.entry(name).or_default().push(check.id.clone());
            }
        }
        Pinning { globs, candidates: candidates.into_iter().collect(), programs: Some(words) }
    }

    pub(super) fn on_pinned(&mut self, pins: &Result<Pins, PinFailure>) -> Option<RunStep> {
        if self.phase != Phase::Opening(Opening::Pins) {
            return None;
        }
        Some(match pins {
            Ok(pins) => {
                self.integrity.pin(pins.clone());
                self.open()
            }
            Err(PinFailure { why, fault }) => {
                let cause = Cause::PinsUnreadable { why: why.clone(), fault: *fault };
                self.finish(cause, Continuation::NextIteration)
            }
        })
    }

    pub(super) fn on_first_tree(&mut self, print: &TreePrint) -> RunStep {
        self.history.begin_with(print.clone());
        self.open()
    }

    /// The check that comes behind these.
    fn first_check(&self, reports: &[CheckReport]) -> Option<CheckSpec> {
        self.policy.checks(0, Ground::Project).into_iter().nth(reports.len())
    }

    fn check_first(&mut self, reports: Vec<CheckReport>) -> RunStep {
        let Some(spec) = self.first_check(&reports) else {
            let failed = reports.iter().filter(|report| !report.passed()).count();
            let told = Run::note(Note::Baseline { failed, checks: reports.len() });
            let passed = reports.into_iter().map(|report| (report.spec.id.clone(), report.passed()));
            self.integrity.begin_with(passed.collect());
            return told.then(self.open());
        };
        self.phase = Phase::Opening(Opening::Checks(reports));
        self.start_check(spec)
    }

    /// Executes a check, and tells that it begins.
    pub(super) fn start_check(&self, spec: CheckSpec) -> RunStep {
        let iteration = self.count.iteration();
        let started = Notice::CheckStarted { iteration, name: spec.command.clone() };
        Step::telling([started]).then(Step::start(Activity::Check(Box::new(spec))))
    }

    pub(super) fn on_first_check_ended(
        &mut self,
        mut reports: Vec<CheckReport>,
        report: &CheckReport,
    ) -> Option<RunStep> {
        if self.first_check(&reports).is_none_or(|spec| spec.id != report.spec.id) {
            return None;
        }
        // Nothing is kept of a beginning that was stopped: it is looked at again on resume.
        if let Some(cause) = self.wish.cause() {
            return Some(self.finish_stopped(cause, Continuation::NextIteration));
        }
        let told = self.tell_executed(0, report);
        if report.ending != CheckEnding::Stopped {
            reports.push(report.clone());
        }
        Some(told.then(self.check_first(reports)))
    }

    pub(super) fn on_markers_seen(&mut self, markers: &Markers, problem: Option<&str>) -> Option<RunStep> {
        let opens = self.phase == Phase::Opening(Opening::Markers);
        if !opens && !self.looks_while_closing() {
            return None;
        }
        if let Some(problem) = problem {
            let cause = Cause::TaskFolder(problem.to_owned());
            return Some(self.finish(cause, Continuation::NextIteration));
        }
        if opens { self.open_by_markers(markers) } else { self.close_by_markers(markers) }
    }
}
