//! Opening: what is looked at before an iteration, so that later looks have something to be compared with: files
//! whose state counts, the tree, the checks as they were, and marker files.

use super::{Continuation, Phase, Run, RunStep};
use crate::activity::{Activity, Look, Pinning, Watch};
use crate::check::{CheckEnding, CheckReport, CheckSpec, Ground, TreePrint};
use crate::judges::{Known, Made, Subject, Unknown};
use crate::machine::Step;
use crate::notice::Notice;
use crate::observation::Markers;
use crate::outcome::Verification;
use crate::protect::{OnChange, PinFailure, Pins};
use crate::trust::Untrusted;
use crate::words::{Cause, Note};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// What is being looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Opening {
    /// What checks are made of, by reading them.
    Learning,
    /// The same, by watching these checks, one after the other.
    Watching(Vec<CheckSpec>),
    /// The files whose state counts.
    Pins,
    /// The tree, so that a stall can be seen from the first iteration on.
    Tree,
    /// The checks; those that ended so far, and the one that runs.
    Checks(Vec<CheckReport>),
    /// The marker files.
    Markers,
    /// A plan, as a person left it.
    Plan,
    /// It is written as other rules make it.
    PlanWrite,
    /// The branch of a plan is switched to.
    Branch,
    /// What an agent did to a plan that nobody saw end.
    Leftover,
    /// What of it has no right to be there is put back.
    LeftoverWrite,
}

impl Run {
    /// The next thing to look at before the first iteration; `None` if all is seen.
    pub(super) fn look_first(&mut self) -> Option<RunStep> {
        if self.policy.pins_scripts() && !self.integrity.is_pinned() && self.integrity.known().is_none() {
            self.phase = Phase::Opening(Opening::Learning);
            return Some(Step::start(Activity::Learn(self.subjects(), self.policy.ground())));
        }
        if (self.policy.pins() || self.policy.tells_tests()) && !self.integrity.is_pinned() {
            self.phase = Phase::Opening(Opening::Pins);
            return Some(Step::start(Activity::Pin(self.pinning())));
        }
        if self.policy.limits.stall_after > 0 && self.looks_at_the_tree() && !self.history.has_begun() {
            self.phase = Phase::Opening(Opening::Tree);
            return Some(Step::start(self.look()));
        }
        let wants_baseline = self.policy.verify.baseline && self.policy.has_checks();
        (wants_baseline && self.integrity.baseline().is_none()).then(|| self.check_first(Vec::new()))
    }

    pub(super) fn looks_at_the_tree(&self) -> bool {
        self.policy.looks_at_the_tree(!self.no_repository)
    }

    /// A look at the tree after an agent.
    pub(super) fn look(&self) -> Activity {
        Activity::LookAtTree(Look { patience: self.policy.tree_patience(), pins: self.pins() })
    }

    fn pinning(&self) -> Pinning {
        let (globs, known) = (self.policy.protect.paths.clone(), self.integrity.known());
        let subjects = if known.is_some() { self.subjects() } else { Vec::new() };
        let tests = self.policy.tells_tests().then(|| self.policy.tree_patience());
        Pinning { globs, subjects, known, tests }
    }

    /// The checks, as far as their judges depend on them.
    fn subjects(&self) -> Vec<Subject> {
        self.policy.checks(0, Ground::Project).iter().map(CheckSpec::subject).collect()
    }

    /// What reading leaves open, a watched run of the check may tell.
    pub(super) fn on_learned(&mut self, known: &Known, live: &str) -> Option<RunStep> {
        match &self.phase {
            Phase::Opening(Opening::Learning) => {
                self.integrity.learn(known.clone(), live.to_owned());
                let open = |check: &CheckSpec| known.unknown.iter().any(|one| one.check == check.id && !one.varies);
                let checks: Vec<CheckSpec> = self.policy.checks(0, Ground::Project).into_iter().filter(open).collect();
                let told = match live {
                    // Who asked for it knows it.
                    _ if self.policy.verify.live => Step::default(),
                    "" => Step::default(),
                    why => Run::note(Note::LiveTree { why: why.to_owned() }),
                };
                Some(told.then(self.watch_next(checks)))
            }
            Phase::Opening(Opening::Watching(_)) => {
                self.integrity.learn(known.clone(), live.to_owned());
                Some(Step::default())
            }
            _ => None,
        }
    }

    /// Watches the first of these checks.
    fn watch_next(&mut self, checks: Vec<CheckSpec>) -> RunStep {
        let Some(spec) = checks.first().cloned() else { return self.open() };
        self.phase = Phase::Opening(Opening::Watching(checks));
        // It judges nothing, so that nobody is told how it ended.
        let told = Run::note(Note::Watching { check: spec.name().to_owned() });
        let known = self.integrity.known().unwrap_or_default();
        let watch = Watch { subject: spec.subject(), spec, known };
        told.then(Step::start(Activity::Watch(Box::new(watch))))
    }

    pub(super) fn on_watched(&mut self, mut checks: Vec<CheckSpec>, report: &CheckReport) -> Option<RunStep> {
        if checks.first().is_none_or(|spec| spec.id != report.spec.id) {
            return None;
        }
        if let Some(cause) = self.wish.cause() {
            return Some(self.finish_stopped(cause, Continuation::NextIteration));
        }
        checks.remove(0);
        Some(self.watch_next(checks))
    }

    pub(super) fn on_pinned(
        &mut self,
        pins: &Result<Box<Pins>, PinFailure>,
        untrusted: &[Untrusted],
    ) -> Option<RunStep> {
        if self.phase != Phase::Opening(Opening::Pins) {
            return None;
        }
        Some(match pins {
            Ok(pins) => {
                let unknown: Vec<Unknown> =
                    pins.unknown.iter().cloned().chain(self.unknown_of_made(&pins.made)).collect();
                let told_unknown = self.told_unknown(&unknown).into_iter().map(|what| Note::Unpinned { what });
                let told = told_unknown.chain(untrusted.iter().map(|one| Note::Untrusted { what: one.words() }));
                let told = told.fold(Step::default(), |told: RunStep, note| told.then(Run::note(note)));
                let pinned = Notice::Pinned { files: pins.present(), programs: pins.programs.len() };
                self.integrity.pin((**pins).clone(), unknown, untrusted.to_vec());
                // Where nothing is protected, only the settings were looked at.
                let is_told = self.policy.pins_scripts() || !self.policy.protect.paths.is_empty();
                let pinned: RunStep = if is_told { Step::telling([pinned]) } else { Step::default() };
                pinned.then(told).then(self.open())
            }
            Err(PinFailure { why, fault }) => {
                let cause = Cause::PinsUnreadable { why: why.clone(), fault: *fault };
                self.finish(cause, Continuation::NextIteration)
            }
        })
    }

    /// What is not known of files that checks make by themselves: those in a cache are kept for the next time, whoever
    /// wrote them, and one that stays as it is must be tried without.
    fn unknown_of_made(&self, made: &[Made]) -> Vec<Unknown> {
        let (checks, can_try) = (self.policy.checks(0, Ground::Project), self.can_try_without());
        let is_cached = |one: &&Made| {
            let own = checks.iter().filter(|check| check.id == one.check);
            own.flat_map(|check| &check.terms.caches).any(|cache| Path::new(&one.path).starts_with(cache))
        };
        let cached = made.iter().filter(is_cached).map(Made::unknown_in_cache);
        cached.chain(made.iter().filter(|_| !can_try).filter_map(Made::unknown)).collect()
    }

    /// What is not known, as the parts of sentences. Of a hidden check only its name is told.
    fn told_unknown(&self, unknown: &[Unknown]) -> Vec<String> {
        let checks = self.policy.checks(0, Ground::Project);
        let mut told: Vec<String> = Vec::new();
        for one in unknown {
            let check = checks.iter().find(|check| check.id == one.check);
            let what = check.map_or_else(|| one.what.clone(), |check| one.told(check));
            if !told.contains(&what) {
                told.push(what);
            }
        }
        told
    }

    /// Why a complete run is less than verified, as far as its checks are to blame, one sentence each.
    pub fn doubts(&self) -> Vec<String> {
        match self.outcome().and_then(|outcome| outcome.verification) {
            Some(Verification::Unpinned) => {
                let unknown = self.told_unknown(self.integrity.unknown());
                unknown.into_iter().map(|what| format!("ralph does not know {what}: see ralph judges")).collect()
            }
            Some(Verification::Untrusted) => {
                let rules = self.integrity.doubted_rules().iter().map(|what| format!("{what}: begin a new run"));
                let judges = self.integrity.untrusted().iter().map(|what| format!("{what}: see ralph trust --show"));
                rules.chain(judges).collect()
            }
            _ => Vec::new(),
        }
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
    pub(super) fn start_check(&self, mut spec: CheckSpec) -> RunStep {
        spec.runners = self.integrity.runners(&spec.id);
        // What may change is used as it is.
        let pins = if self.policy.protect.on_change == OnChange::Allow { Arc::default() } else { self.pins() };
        let iteration = self.count.iteration();
        let started = Notice::CheckStarted { iteration, name: spec.name().to_owned() };
        Step::telling([started]).then(Step::start(Activity::Check(Box::new(spec), pins)))
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
