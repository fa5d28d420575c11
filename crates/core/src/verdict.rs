//! The verdict: claim, evidence and checks under the policy. The only place that knows what "done"
//! means.

use crate::check::CheckReport;
use crate::claim::{Claim, NO_REASON};
use crate::evidence::Finding;
use crate::guardrail::{self, GuardrailFailure, OutputPart};
use crate::id::CheckId;
use crate::inbox::Requests;
use crate::observation::{Marker, Observation};
use crate::policy::Policy;
use crate::protect::PinnedChange;
use crate::text;
use std::collections::BTreeMap;

/// Everything that a verdict rests on.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The rules.
    pub policy: &'a Policy,
    /// What the agent did and said.
    pub seen: &'a Observation,
    /// What ralph executed on the tree as it is now.
    pub reports: &'a [CheckReport],
    /// What the agent's tool runs show.
    pub findings: &'a [Finding],
    /// Pinned files that are not as they were at the start.
    pub violations: &'a [PinnedChange],
    /// What is not part of the commit that was checked; empty if all is.
    pub uncommitted: &'a str,
    /// Which checks passed before the first iteration, if that is known.
    pub baseline: Option<&'a BTreeMap<CheckId, bool>>,
    /// What people want and nobody has acknowledged.
    pub requests: &'a Requests,
    /// Whether the tree stood still while the checks ran.
    pub tree: Stability,
    /// What changed under them, as the end of a sentence.
    pub changed: &'a str,
    /// Why the machine could not show that tree; empty if it could.
    pub unseen: &'a str,
}

/// Whether the tree stood still while the checks ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stability {
    /// It did, or it cannot be seen.
    Still,
    /// It kept changing, so no check speaks for what is there now.
    Changing,
}

/// What follows from a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// What the agent claimed, where it counts.
    pub claim: Claim,
    /// What follows.
    pub decision: Decision,
    /// Why, one sentence each.
    pub reasons: Vec<String>,
    /// Whether a required check that ralph executed passed and none failed, on a tree that was seen.
    pub verified: bool,
    /// Why a complete task is not verified; empty if it is.
    pub unverified: String,
    /// Guardrail failures for the next prompt.
    pub failures: Vec<GuardrailFailure>,
    /// Names of what failed, to see whether two iterations fail alike.
    pub failing: Vec<String>,
}

/// What follows from a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Claimed, and everything required holds.
    Complete,
    /// The agent needs a person.
    Blocked,
    /// Neither.
    NotYet,
}

/// What an agent claimed that ended well; a failed, killed or timed-out one has claimed nothing.
pub fn counted_claim(seen: &Observation) -> Claim {
    match (&seen.claim, &seen.marker) {
        _ if !seen.ended_well() => Claim::None,
        (Claim::None, Marker::Present) => Claim::Complete,
        (claim, _) => claim.clone(),
    }
}

/// What DONE means in the task folder of a supervised agent, which is asked for nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done<'a> {
    /// It is not there.
    NotYet,
    /// It is there, and people still want something: the agent must go on.
    Premature,
    /// The task is complete.
    Complete,
    /// Something else stands in its place.
    NotAFile(&'a str),
}

/// Judges DONE. Before the first attempt it means done, whatever people want: nobody was there to hear it.
pub fn judge_done<'a>(marker: &'a Marker, requests: &Requests, attempts: u32) -> Done<'a> {
    match marker {
        Marker::Absent => Done::NotYet,
        Marker::WrongKind(kind) => Done::NotAFile(kind),
        Marker::Present if !requests.is_empty() && attempts > 0 => Done::Premature,
        Marker::Present => Done::Complete,
    }
}

/// Judges one iteration.
pub fn judge(case: Case<'_>) -> Judgement {
    let claim = counted_claim(case.seen);
    let mut reasons = Vec::new();
    let mut failures = Vec::new();
    let mut failing = Vec::new();
    if let Some(failure) = &case.seen.failure {
        reasons.push(failure.message.clone());
        failing.push("agent".to_owned());
    }
    for change in case.violations {
        let told = change.words();
        reasons.push(format!("{told}; it must be as it was at the start: put it back, and leave it alone"));
        failing.push(told);
    }
    if !case.uncommitted.is_empty() {
        reasons.push(format!("{}: only what is committed is checked", case.uncommitted));
        failing.push("clean tree".to_owned());
    }
    for report in case.reports.iter().filter(|report| report.refutes()) {
        reasons.push(why_refuted(report, case.baseline));
        failing.push(format!("{} {}", report.spec.command, report.ending.problem()));
        failures.push(for_next_prompt(report));
    }
    if claim == Claim::Complete {
        for finding in case.findings.iter().filter(|finding| !finding.passed) {
            reasons.push(finding.reason.clone());
            failing.push(finding.criterion.as_str().to_owned());
        }
        let (first, more) = case.requests.first();
        for request in first {
            reasons.push(format!("request {} is not acknowledged", request.name()));
            failing.push(format!("request {}", request.id));
        }
        if more > 0 {
            reasons.push(format!("{} not acknowledged", text::count(more as u64, "further request")));
        }
        if case.tree == Stability::Changing {
            reasons.push(format!(
                "files kept changing while the checks ran, so no check speaks for them{}; if a check writes them, or \
                 ralph's own output goes there, let git ignore them",
                case.changed
            ));
            failing.push("changing tree".to_owned());
        }
    }
    let all_ran = case.reports.len() == case.policy.guardrails.len();
    let decision = match &claim {
        Claim::Blocked { .. } => Decision::Blocked,
        Claim::Complete if reasons.is_empty() && all_ran => Decision::Complete,
        _ => Decision::NotYet,
    };
    if let Claim::Blocked { reason } = &claim {
        let why = if reason == NO_REASON { " and gave no reason".to_owned() } else { format!(": {reason}") };
        reasons.insert(0, format!("the agent is blocked{why}"));
    }
    if reasons.is_empty() && decision == Decision::NotYet {
        reasons.push("completion was not claimed".to_owned());
    }
    let unverified = if !case.reports.iter().any(CheckReport::supports) {
        let required = if case.reports.is_empty() { "" } else { "required " };
        format!("no {required}check was configured")
    } else if !case.unseen.is_empty() {
        format!("the checks passed, but the tree could not be looked at: {}", case.unseen)
    } else {
        String::new()
    };
    let verified = decision == Decision::Complete && unverified.is_empty();
    Judgement { claim, decision, reasons, verified, unverified, failures, failing }
}

/// Why a failed check refutes the work, as a reason.
fn why_refuted(report: &CheckReport, baseline: Option<&BTreeMap<CheckId, bool>>) -> String {
    let log = if report.log.is_empty() { String::new() } else { format!(" (see {})", report.log) };
    let before = match baseline.and_then(|baseline| baseline.get(&report.spec.id)) {
        Some(true) => "; it passed before the first iteration, so this run broke it",
        Some(false) => "; it failed before the first iteration too",
        None => "",
    };
    format!("guardrail \"{}\" {}{log}{before}", report.spec.command, report.ending.problem())
}

/// A failed check as the next prompt tells it.
fn for_next_prompt(report: &CheckReport) -> GuardrailFailure {
    let output = match report.spec.output {
        OutputPart::First => report.output_head.clone(),
        OutputPart::Decisive => report.excerpt.within(report.spec.output_chars),
    };
    let message = guardrail::failure_message(&report.spec, &report.ending.problem(), &report.log, &output);
    GuardrailFailure { action: report.spec.fail_action, message }
}
