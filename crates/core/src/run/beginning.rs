//! Beginning: what is looked at once, before the first iteration, so that later looks have something to
//! be compared with: files whose state counts, the tree, and the checks as they were.

use super::stopping::StopWish;
use super::{Continuation, Phase, Run};
use crate::check::{CheckEnding, CheckReport, TreePrint};
use crate::effect::Effect;
use crate::notice::Notice;
use crate::outcome::{StopReason, exit};
use crate::protect::{self, PinFailure, Pins};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is being looked at.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Beginning {
    /// The files whose state counts.
    Pins,
    /// The tree, so that a stall can be seen from the first iteration on.
    Tree,
    /// The checks; those that ended so far.
    Checks(Vec<CheckReport>),
}

impl Run {
    /// The next thing to look at before the first iteration; `None` if all is seen.
    pub(super) fn look_first(&mut self) -> Option<Vec<Effect>> {
        if self.policy.pins() && self.pins.is_none() {
            self.phase = Phase::Beginning(Beginning::Pins);
            return Some(vec![Effect::Pin { candidates: self.script_candidates() }]);
        }
        if self.policy.limits.stall_after > 0 && !self.history.has_begun() {
            self.phase = Phase::Beginning(Beginning::Tree);
            return Some(vec![Effect::LookAtTree]);
        }
        if self.policy.verify.baseline && self.baseline.is_none() && !self.policy.guardrails.is_empty() {
            return Some(self.check_first(Vec::new()));
        }
        None
    }

    /// Names in the guardrails' commands, each with the places of the guardrails that name it.
    fn script_candidates(&self) -> Vec<(String, Vec<usize>)> {
        let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        if !self.policy.pins_scripts() {
            return Vec::new();
        }
        for (index, rule) in self.policy.guardrails.iter().enumerate() {
            for name in protect::script_candidates(&rule.command) {
                found.entry(name).or_default().push(index);
            }
        }
        found.into_iter().collect()
    }

    pub(super) fn on_pinned(&mut self, pins: &Result<Pins, PinFailure>) -> Vec<Effect> {
        if self.phase != Phase::Beginning(Beginning::Pins) {
            return Vec::new();
        }
        match pins {
            Ok(pins) => {
                self.pins = Some(Arc::new(pins.clone()));
                self.next_iteration()
            }
            Err(PinFailure { why, fault }) => {
                let message = format!("the files that must not change cannot be read: {why}");
                let code = if *fault { exit::IO } else { exit::USAGE };
                self.finish_with_code(StopReason::Error, code, message, Continuation::NextIteration)
            }
        }
    }

    pub(super) fn on_first_tree(&mut self, print: &TreePrint) -> Vec<Effect> {
        self.history.begin_with(print.clone());
        self.next_iteration()
    }

    fn check_first(&mut self, reports: Vec<CheckReport>) -> Vec<Effect> {
        self.phase = Phase::Beginning(Beginning::Checks(reports.clone()));
        match self.next_check(reports.len()) {
            Some(spec) => {
                let started = Notice::CheckStarted { iteration: 0, name: spec.command.clone() };
                vec![Effect::Tell(started), Effect::Check(spec)]
            }
            None => {
                let failed = reports.iter().filter(|report| !report.ending.passed()).count();
                let text = format!("before the first iteration {failed} of {} checks failed", reports.len());
                self.baseline = Some(reports.into_iter().map(|report| report.ending.passed()).collect());
                let mut effects = vec![Effect::Tell(Notice::Note { text })];
                effects.extend(self.next_iteration());
                effects
            }
        }
    }

    pub(super) fn on_first_check_ended(&mut self, mut reports: Vec<CheckReport>, report: &CheckReport) -> Vec<Effect> {
        if report.spec.index != reports.len() {
            return Vec::new();
        }
        // Nothing is kept of a beginning that was stopped: it is looked at again on resume.
        if let StopWish::AfterActivity(cause) | StopWish::Now(cause) = self.wish {
            return self.finish_stopped(cause, Continuation::NextIteration);
        }
        let mut effects = vec![Effect::Tell(Notice::executed(0, report, None))];
        if report.ending != CheckEnding::Stopped {
            reports.push(report.clone());
        }
        effects.extend(self.check_first(reports));
        effects
    }
}
