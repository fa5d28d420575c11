//! What an iteration needs to be complete, condition by condition. The verdict is their conjunction, and whoever
//! explains it only renders them.

use super::{Case, PlanCase, TreeState, counted_claim};
use crate::check::{CheckKind, CheckReport};
use crate::claim::{Claim, NO_REASON};
use crate::evidence::{self, Criterion, Finding};
use crate::id::CheckId;
use crate::inbox::Requests;
use crate::observation::{Marker, Observation};
use crate::protect::PinnedChange;
use crate::words::Reason;
use serde::{Deserialize, Serialize};

/// One thing that must be so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    pub about: About,
    pub state: State,
}

/// What a condition is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum About {
    /// The agent ended well.
    AgentEnded,
    /// Pinned files are as they were.
    Protected,
    /// Everything is committed.
    Committed,
    /// A required check passes.
    Check(CheckId),
    /// The agent's own tool runs show this.
    Evidence(Criterion),
    /// Every request is acknowledged.
    Requests,
    /// The files stood still while the checks ran.
    TreeStill,
    /// The agent claimed completion.
    Claimed,
    /// DONE stands in the task folder.
    Done,
    /// Every story of the plan is done.
    PlanDone,
}

/// Whether a condition holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It does.
    Met,
    /// It does not.
    Unmet(Vec<Reason>),
    /// Nobody got as far as to look.
    Unseen,
}

impl Condition {
    fn new(about: About, state: State) -> Condition {
        Condition { about, state }
    }

    fn unless(about: About, reasons: Vec<Reason>) -> Condition {
        Condition::new(about, if reasons.is_empty() { State::Met } else { State::Unmet(reasons) })
    }

    /// Whether nothing stands in the way of completion here. A tree that nobody can see is accepted as it was
    /// checked; everything else must have been looked at.
    pub fn holds(&self) -> bool {
        match self.state {
            State::Met => true,
            State::Unmet(_) => false,
            State::Unseen => self.about == About::TreeStill,
        }
    }

    /// Why it does not hold, if that is known.
    pub fn reasons(&self) -> &[Reason] {
        match &self.state {
            State::Unmet(reasons) => reasons,
            State::Met | State::Unseen => &[],
        }
    }

    /// Whether it matters only once somebody claims that the work is done.
    pub(super) const fn is_about_a_claim(&self) -> bool {
        matches!(self.about, About::Evidence(_) | About::Requests | About::TreeStill | About::Claimed)
    }
}

/// The conditions of an iteration, in the order in which its reasons are told.
pub fn conditions(case: &Case<'_>) -> Vec<Condition> {
    let mut all = vec![agent_ended(case.seen)];
    all.extend(case.violations.map(protected));
    all.extend(case.uncommitted.map(committed));
    all.extend(case.plan.as_ref().and_then(plan_committed));
    all.extend(case.checks.iter().filter_map(|check| {
        // What was executed says itself whether it counts.
        let report = case.reports.iter().find(|report| report.spec.id == check.id);
        let required = report.map_or(check.required, |report| report.spec.required);
        let state = report.map_or(State::Unseen, |report| passed(case, report));
        required.then(|| Condition::new(About::Check(check.id.clone()), state))
    }));
    // In a plan nobody but ralph runs what counts.
    let seen = case.seen.filter(|_| case.plan.is_none());
    all.extend(seen.into_iter().flat_map(|seen| findings(case, seen)).map(evidence));
    all.extend((!case.requests.is_empty()).then(|| requests(case.requests)));
    all.extend((!case.checks.is_empty()).then(|| tree_still(case.tree)));
    all.push(case.plan.as_ref().map_or_else(|| claimed(case.seen), |plan| plan_done(plan, case.seen)));
    all
}

/// The conditions of a supervised agent, which needs nothing but its file. `marker` is what stood there last.
pub fn conditions_of_done(complete: bool, marker: Option<&Marker>, open: &Requests) -> Vec<Condition> {
    let state = match marker {
        _ if complete => State::Met,
        None => State::Unseen,
        Some(_) => State::Unmet(vec![Reason::NotClaimed]),
    };
    let wanted = (!open.is_empty()).then(|| requests(open));
    [Condition::new(About::Done, state)].into_iter().chain(wanted).collect()
}

fn agent_ended(seen: Option<&Observation>) -> Condition {
    let state = match seen.map(|seen| &seen.failure) {
        None => State::Unseen,
        Some(None) => State::Met,
        Some(Some(failure)) => State::Unmet(vec![Reason::AgentFailed { message: failure.message.clone() }]),
    };
    Condition::new(About::AgentEnded, state)
}

fn protected(violations: &[PinnedChange]) -> Condition {
    Condition::unless(About::Protected, violations.iter().cloned().map(Reason::Changed).collect())
}

fn committed(uncommitted: &str) -> Condition {
    let reason = (!uncommitted.is_empty()).then(|| Reason::Uncommitted { what: uncommitted.to_owned() });
    Condition::unless(About::Committed, reason.into_iter().collect())
}

fn passed(case: &Case<'_>, report: &CheckReport) -> State {
    if report.passed() {
        return State::Met;
    }
    // Of a hidden check agents learn no more than that it failed.
    let (problem, log) = match report.spec.terms.hidden {
        true => ("failed".to_owned(), String::new()),
        false => (report.problem(), report.log.clone()),
    };
    let command = report.spec.name().to_owned();
    if report.spec.source == CheckKind::Verify {
        return State::Unmet(vec![Reason::VerifyFailed { command, problem, log }]);
    }
    State::Unmet(vec![Reason::CheckFailed {
        command,
        problem,
        log,
        before: case.baseline.and_then(|baseline| baseline.get(&report.spec.id)).copied(),
    }])
}

fn findings(case: &Case<'_>, seen: &Observation) -> Vec<Finding> {
    evidence::judge_with(&case.policy.criteria, &seen.tools, &seen.errors, &case.policy.verify.commands)
}

fn evidence(finding: Finding) -> Condition {
    let (criterion, text) = (finding.criterion, finding.reason);
    let reason = (!finding.passed).then_some(Reason::Evidence { criterion, text });
    Condition::unless(About::Evidence(criterion), reason.into_iter().collect())
}

fn requests(open: &Requests) -> Condition {
    let (first, more) = open.first();
    let mut reasons: Vec<Reason> =
        first.map(|request| Reason::RequestOpen { id: request.id.clone(), name: request.name() }).collect();
    reasons.extend((more > 0).then_some(Reason::MoreRequestsOpen(more as u64)));
    Condition::unless(About::Requests, reasons)
}

fn tree_still(tree: TreeState<'_>) -> Condition {
    let state = match tree {
        TreeState::Still => State::Met,
        TreeState::Unseen | TreeState::Restless(_) => State::Unseen,
        TreeState::Changing(files) => State::Unmet(vec![Reason::TreeChanging { files: files.to_vec() }]),
    };
    Condition::new(About::TreeStill, state)
}

fn claimed(seen: Option<&Observation>) -> Condition {
    let state = match seen.map(counted_claim) {
        None => State::Unseen,
        Some(Claim::Complete) => State::Met,
        Some(Claim::Blocked { reason }) => State::Unmet(vec![blocked(&reason)]),
        Some(Claim::None | Claim::Wait) => State::Unmet(vec![Reason::NotClaimed]),
    };
    Condition::new(About::Claimed, state)
}

/// A plan is complete only once its work is committed.
fn plan_committed(plan: &PlanCase<'_>) -> Option<Condition> {
    let files = plan.uncommitted.to_vec();
    let reasons = vec![Reason::PlanUncommitted { files }];
    (!plan.uncommitted.is_empty()).then(|| Condition::unless(About::Committed, reasons))
}

fn plan_done(plan: &PlanCase<'_>, seen: Option<&Observation>) -> Condition {
    let (open, stories) = (plan.open(), plan.plan.stories().len());
    let claimed = seen.map(counted_claim) == Some(Claim::Complete);
    let reason = (!open.is_empty()).then_some(Reason::StoriesOpen { open, stories, claimed });
    Condition::unless(About::PlanDone, reason.into_iter().collect())
}

/// Why an agent says that it is blocked.
pub(super) fn blocked(reason: &str) -> Reason {
    Reason::Blocked { reason: (reason != NO_REASON).then(|| reason.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::{Heard, Inbox, Request};
    use crate::time::WallTime;

    fn inbox(requests: usize) -> Inbox {
        let request = |number: usize| {
            let (id, from, body) = (format!("m{number:02}"), "anna".to_owned(), "use tabs".to_owned());
            Heard::Request(Request { id, from, at: WallTime(0), body })
        };
        let mut inbox = Inbox::default();
        let _ = inbox.hear(&(0..requests).map(request).collect::<Vec<_>>()).count();
        inbox
    }

    #[test]
    fn a_supervised_agent_needs_its_file_and_no_request_left_open() {
        let (none, one) = (inbox(0), inbox(1));
        let not_claimed = State::Unmet(vec![Reason::NotClaimed]);
        for (complete, marker, state) in [
            (true, Some(Marker::Present), State::Met),
            (true, None, State::Met),
            (false, None, State::Unseen),
            (false, Some(Marker::Absent), not_claimed),
        ] {
            let done = Condition::new(About::Done, state);
            assert_eq!(conditions_of_done(complete, marker.as_ref(), none.open()), std::slice::from_ref(&done));
            let abouts = conditions_of_done(complete, marker.as_ref(), one.open()).into_iter().map(|one| one.about);
            assert_eq!(abouts.collect::<Vec<_>>(), [About::Done, About::Requests]);
        }
    }

    #[test]
    fn requests_that_are_too_many_to_be_named_are_counted() {
        let last = |count| requests(inbox(count).open()).reasons().last().cloned();
        assert!(matches!(last(20), Some(Reason::RequestOpen { id, .. }) if id == "m19"));
        assert_eq!(last(23), Some(Reason::MoreRequestsOpen(3)));
    }
}
