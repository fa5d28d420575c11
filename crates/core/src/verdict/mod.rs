//! The verdict: claim, evidence and checks under the policy. The only place that knows what "done"
//! means.

mod condition;

pub use condition::{About, Condition, State, conditions, conditions_of_done};

use crate::check::{CheckReport, CheckSpec};
use crate::claim::Claim;
use crate::guardrail::{self, GuardrailFailure, OutputPart};
use crate::id::CheckId;
use crate::inbox::Requests;
use crate::judges::Unknown;
use crate::observation::{Marker, Observation};
use crate::outcome::Verification;
use crate::plan::{Plan, Rules};
use crate::policy::Policy;
use crate::protect::PinnedChange;
use crate::words::{Reason, named};
use std::collections::BTreeMap;

/// Everything that a verdict rests on, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    pub policy: &'a Policy,
    /// What the agent did and said; `None` if its end was not seen.
    pub seen: Option<&'a Observation>,
    pub checks: &'a [CheckSpec],
    /// What ralph executed of them on the tree as it is now.
    pub reports: &'a [CheckReport],
    /// Pinned files that are not as they were at the start; `None` if nobody has to look at them, or did.
    pub violations: Option<&'a [PinnedChange]>,
    /// What is not part of the commit that was checked, empty if all is; `None` if nobody has to look, or did.
    pub uncommitted: Option<&'a str>,
    /// Which checks passed before the first iteration, if that is known.
    pub baseline: Option<&'a BTreeMap<CheckId, bool>>,
    /// What people want and nobody has acknowledged.
    pub requests: &'a Requests,
    /// Whether the tree stood still while the checks ran.
    pub tree: TreeState<'a>,
    /// Why the machine could not show that tree; empty if it could.
    pub unseen: &'a str,
    /// What is not known of the checks.
    pub unknown: &'a [Unknown],
    /// Checks that do not pass without files that were made during the run and can tell them what to do, or that they
    /// use beside the tree.
    pub leaning: &'a [(CheckId, Vec<String>)],
    /// What judges and was changed by an agent of an earlier run, one part of a sentence each.
    pub untrusted: &'a [String],
    /// Why nobody can believe the rules of a run that went on, one part of a sentence each.
    pub doubted_rules: &'a [String],
    /// Whether checks run on the live tree anyway.
    pub live: bool,
    /// Where the plan stands, if the run has one: then its stories say whether the work is done, and no claim does.
    pub plan: Option<PlanCase<'a>>,
}

/// Where a plan stands.
#[derive(Debug, Clone, Copy)]
pub struct PlanCase<'a> {
    pub plan: &'a Plan,
    pub rules: Rules,
    /// What the iteration did against the rules, and left undecided.
    pub undone: &'a [Reason],
    /// Files that are not committed, once that was looked at.
    pub uncommitted: &'a [String],
    /// Why only a person can help.
    pub blocked: Option<&'a Reason>,
}

impl PlanCase<'_> {
    /// The stories that are not done.
    fn open(&self) -> Vec<String> {
        let open = self.plan.stories().iter().filter(|story| !story.is_done(self.rules.skip_review));
        open.map(|story| story.id.to_string()).collect()
    }
}

/// Whether the tree stood still while the checks ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeState<'a> {
    /// It did.
    Still,
    /// Nobody looked again, or it cannot be seen.
    Unseen,
    /// It kept changing, so no check speaks for what is there now; some of the files.
    Changing(&'a [String]),
    /// Every file is as it was checked, but something came and went in these folders whenever the checks ran.
    Restless(&'a [String]),
}

/// What follows from a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// What the agent claimed, where it counts.
    pub claim: Claim,
    pub decision: Decision,
    pub reasons: Vec<Reason>,
    /// Everything that was needed, and whether it was so.
    pub conditions: Vec<Condition>,
    /// How well the completion is proven, if it is complete, and what is missing; nothing is if it is verified.
    pub verification: (Verification, String),
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
    NotYet,
    /// It is there, and people still want something: the agent must go on.
    Premature,
    /// The task is complete.
    Complete,
    /// Something else stands in its place.
    NotAFile(&'a str),
}

/// Judges DONE. Before the first start it means done, whatever people want: nobody was there to hear it.
pub fn judge_done<'a>(marker: &'a Marker, requests: &Requests, starts: u32) -> Done<'a> {
    match marker {
        Marker::Absent => Done::NotYet,
        Marker::WrongKind(kind) => Done::NotAFile(kind),
        Marker::Present if !requests.is_empty() && starts > 0 => Done::Premature,
        Marker::Present => Done::Complete,
    }
}

/// Judges one iteration: it is complete if that was claimed, or the stories of its plan say so, and every condition holds.
pub fn judge(case: Case<'_>) -> Judgement {
    let claim = case.seen.map_or(Claim::None, counted_claim);
    let conditions = conditions(&case);
    let said_done = case.plan.as_ref().map_or(claim == Claim::Complete, |plan| plan.open().is_empty());
    let counts = |condition: &&Condition| match condition.about {
        About::Claimed => false,
        // Who claims what the stories deny is told so.
        About::PlanDone => claim == Claim::Complete,
        _ => said_done || !condition.is_about_a_claim(),
    };
    let undone = case.plan.iter().flat_map(|plan| plan.undone.iter().cloned());
    let found = conditions.iter().filter(counts).flat_map(|condition| condition.reasons().iter().cloned());
    let mut reasons: Vec<Reason> = undone.chain(found).collect();
    let stuck = case.plan.and_then(|plan| plan.blocked);
    let decision = match &claim {
        _ if stuck.is_some() => Decision::Blocked,
        Claim::Blocked { .. } => Decision::Blocked,
        _ if said_done && conditions.iter().all(Condition::holds) => Decision::Complete,
        _ => Decision::NotYet,
    };
    let last = conditions.last().map(Condition::reasons).unwrap_or_default();
    match (decision.clone(), stuck, &claim) {
        (Decision::Blocked, Some(stuck), _) => reasons.insert(0, stuck.clone()),
        (Decision::Blocked, None, Claim::Blocked { reason }) => reasons.insert(0, condition::blocked(reason)),
        (Decision::NotYet, ..) if reasons.is_empty() && case.plan.is_some() => reasons.extend(last.iter().cloned()),
        (Decision::NotYet, ..) if reasons.is_empty() => reasons.push(Reason::NotClaimed),
        _ => {}
    }
    Judgement {
        verification: verification(&case),
        failures: case.reports.iter().filter(|report| report.refutes()).map(for_next_prompt).collect(),
        failing: reasons.iter().filter_map(Reason::failing).collect(),
        claim,
        decision,
        reasons,
        conditions,
    }
}

/// How well the completion is proven, and what is missing. Which checks passed decides, not which were asked for.
fn verification(case: &Case<'_>) -> (Verification, String) {
    let mut supporting = case.reports.iter().filter(|report| report.supports()).peekable();
    if supporting.peek().is_none() {
        if case.plan.is_some_and(|plan| !plan.rules.skip_review) {
            return (Verification::Reviewed, "the plan has no verify command".to_owned());
        }
        let required = if case.reports.is_empty() { "" } else { "required " };
        return (Verification::Claimed, format!("no {required}check was configured"));
    }
    if !case.unseen.is_empty() {
        let why = format!("the checks passed, but the tree could not be looked at: {}", case.unseen);
        return (Verification::Unseen, why);
    }
    if let TreeState::Restless(folders) = case.tree {
        let folders = folders.join(", ");
        let why = format!(
            "the checks passed, but whenever they ran something came or went in {folders} beside them, and they may have \
             seen it; stop what writes there, then: ralph run"
        );
        return (Verification::Unseen, why);
    }
    if !case.doubted_rules.is_empty() {
        return (Verification::Untrusted, format!("{}; begin a new run", case.doubted_rules.join(", ")));
    }
    if !case.untrusted.is_empty() {
        let why = format!("{}; look at that, then: ralph trust", case.untrusted.join(", "));
        return (Verification::Untrusted, why);
    }
    let unknown = |report: &CheckReport| case.unknown.iter().find(|unknown| unknown.check == report.spec.id);
    let mut doubt = (Verification::Claimed, String::new());
    for report in supporting {
        if let Some((_, files)) = case.leaning.iter().find(|(check, _)| *check == report.spec.id) {
            doubt = (Verification::Unpinned, leans(&report.spec, files));
            continue;
        }
        doubt = match unknown(report) {
            Some(unknown) => {
                let what = unknown.told(&report.spec);
                let why = format!("ralph does not know {what}, so an agent could have changed it");
                let way_out = match unknown.made {
                    true => "look at it, then: ralph trust, and the next run knows it",
                    false => "name it in guardrails[].judges, or in guardrails[].work if it is the work",
                };
                (Verification::Unpinned, format!("{why}; {way_out}"))
            }
            // Snapshots can be made here, so that something in the tree stood in the way of this one.
            None if !report.live.is_empty() && !case.live => {
                let why = format!("guardrail \"{}\" had to run on the live tree: {}", report.spec.name(), report.live);
                (Verification::Unseen, why)
            }
            None => return (Verification::Verified, String::new()),
        };
    }
    doubt
}

/// Why a check that needs these files proves nothing.
fn leans(spec: &CheckSpec, files: &[String]) -> String {
    let (outside, inside): (Vec<String>, Vec<String>) = files.iter().cloned().partition(|file| file.starts_with('/'));
    let told = |files: &[String]| if spec.terms.hidden { String::new() } else { named(files) };
    let without = format!("guardrail \"{}\" does not pass without what was made", spec.name());
    if outside.is_empty() {
        let files = told(&inside);
        return format!(
            "{without} during the run and can tell it what to do{files}; if that is the work, name it in guardrails[].work"
        );
    }
    let files = told(&[outside, inside].concat());
    format!(
        "{without} or changed outside of the project while agents worked{files}; look at it, then: ralph trust, and the \
         next run knows it"
    )
}

/// A failed check as the next prompt tells it.
fn for_next_prompt(report: &CheckReport) -> GuardrailFailure {
    let output = match report.spec.output {
        OutputPart::First => report.output_head.clone(),
        OutputPart::Decisive => report.excerpt.within(report.spec.output_chars),
    };
    let message = guardrail::failure_message(&report.spec, &report.problem(), &report.log, &output);
    GuardrailFailure { action: report.spec.fail_action, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::{Heard, Inbox, Request};
    use crate::time::WallTime;

    #[test]
    fn done_before_the_first_start_means_done_whatever_people_want() {
        let mut inbox = Inbox::default();
        let (id, from, body) = ("m1".to_owned(), "anna".to_owned(), "use tabs".to_owned());
        let _ = inbox.hear(&[Heard::Request(Request { id, from, at: WallTime(0), body })]).count();
        let judged = |starts| judge_done(&Marker::Present, inbox.open(), starts);
        assert_eq!([0, 1].map(judged), [Done::Complete, Done::Premature]);
        assert_eq!(judge_done(&Marker::Present, &Requests::default(), 1), Done::Complete);
        assert_eq!(judge_done(&Marker::Absent, inbox.open(), 1), Done::NotYet);
    }
}
