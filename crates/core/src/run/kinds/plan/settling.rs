//! Before an iteration of a plan is judged for good: an approval on red is taken back, and what is complete must be
//! committed.

use super::super::super::inspecting::{Inspect, Inspection};
use super::super::super::{Continuation, Run, RunStep};
use super::{PlanInspection, Planned};
use crate::activity::PutBack;
use crate::check::{CheckKind, CheckSpec};
use crate::machine::Step;
use crate::plan::{Decision, PROGRESS, PlanPolicy, PlanSeen, Rules, StoryId, TASKS, newly_dirty};
use crate::text;
use crate::verdict::{self, About, Condition, Judgement, PlanCase};
use crate::words::{Cause, Note, Reason};

/// The subject of the commit of the plan's own files, once everything else is done.
const LAST_STATE: &str = "ralph: commit the plan's state";
/// Characters of a red command's decisive lines in the feedback that it becomes.
const EXCERPT_CHARS: usize = 1500;

impl Run {
    /// What has to be done before the judgement counts; `None` if nothing has.
    pub(in super::super::super) fn settle_plan(&mut self, at: &Inspection, judgement: &Judgement) -> Option<RunStep> {
        let (state, policy) = self.of_plan()?;
        let rules = policy.rules;
        match judgement.decision {
            verdict::Decision::NotYet if !at.plan.settled && at.plan.uncommitted.as_ref().is_none_or(Vec::is_empty) => {
                let story = to_take_back(state, rules, at, &judgement.conditions)?;
                Some(self.take_back(at, &story, rules, judgement))
            }
            verdict::Decision::Complete if at.plan.uncommitted.is_none() && state.git.is_some() => {
                let mut at = Box::new(at.clone());
                at.first([Inspect::Uncommitted]);
                Some(self.go_on(at))
            }
            _ => None,
        }
    }

    /// Sends a story back to work, or ends the run where its reviews are used up.
    fn take_back(&mut self, at: &Inspection, story: &StoryId, rules: Rules, judgement: &Judgement) -> RunStep {
        let mut at = Box::new(at.clone());
        at.plan.settled = true;
        let checks: Vec<&Reason> = unmet_checks(&judgement.conditions).flat_map(Condition::reasons).collect();
        let reasons = if checks.is_empty() { judgement.reasons.iter().collect() } else { checks };
        let why = reasons.first().map(ToString::to_string).unwrap_or_default();
        let last = self
            .of_plan()
            .and_then(|(state, _)| state.story(story))
            .is_some_and(|story| story.count >= rules.cap.get());
        if last && !rules.skip_review {
            at.plan.blocked = Some(Reason::RedAtCap { story: story.to_string(), why });
            return self.conclude(&at);
        }
        let feedback = feedback(&reasons, &at);
        let plan = self.plan().and_then(|plan| match rules.skip_review {
            true => plan.reopen(story),
            false => plan.withdraw(story, &feedback),
        });
        let Some(plan) = plan else {
            at.plan.blocked = Some(Reason::RedAtCap { story: story.to_string(), why });
            return self.conclude(&at);
        };
        let put_back = self.write_tasks(&plan);
        self.adopt(plan);
        self.planned(|state| {
            state.done.retain(|done| done != story);
            state.work.entry(story.clone()).or_default().sent_back += u32::from(!rules.skip_review);
        });
        at.first([Inspect::PutBack(Box::new(put_back))]);
        let note = Note::Withdrawn { story: story.to_string(), why, reviewed: !rules.skip_review };
        Run::note(note).then(self.go_on(at))
    }

    /// What is complete must be committed: the plan's own files by ralph, everything else by one more iteration.
    pub(super) fn on_uncommitted_seen(&mut self, mut at: Box<Inspection>, seen: &PlanSeen) -> RunStep {
        let Some((state, policy)) = self.of_plan() else { return self.go_on(at) };
        let now = seen.git.as_ref().map(|git| git.dirty.as_slice()).unwrap_or_default();
        let files = newly_dirty(now, &state.began);
        let own = [TASKS, PROGRESS].map(|name| policy.path(name));
        // What is dirty is named from the top of the work tree.
        let prefix = seen.git.as_ref().map_or("", |git| git.prefix.as_str());
        let is_own = |file: &String| {
            let file = file.strip_prefix(prefix).map(|file| file.trim_start_matches('/'));
            file.is_some_and(|file| own.iter().any(|own| own == file))
        };
        if files.iter().any(is_own) && !at.plan.committed {
            at.plan.committed = true;
            let commit = PutBack { paths: own.to_vec(), subject: LAST_STATE.to_owned(), ..PutBack::default() };
            at.first([Inspect::PutBack(Box::new(commit)), Inspect::Uncommitted]);
            return self.go_on(at);
        }
        let has_closed = state.has_closed;
        self.planned(|state| state.closing = if has_closed { Vec::new() } else { files.clone() });
        let told = if files.is_empty() {
            Step::default()
        } else if has_closed {
            at.plan.blocked = Some(Reason::PlanUncommitted { files: files.clone() });
            Step::default()
        } else {
            Run::note(Note::ClosingIteration { files: files.clone() })
        };
        at.plan.uncommitted = Some(files);
        told.then(self.go_on(at))
    }

    /// Nobody worked: the plan is complete, or there is work to do again.
    pub(in super::super::super) fn conclude_without_agent(&mut self, judgement: Judgement) -> RunStep {
        self.last.judge(judgement.conditions);
        let next = Continuation::NextIteration;
        let reason = judgement.reasons.into_iter().next();
        match judgement.decision {
            verdict::Decision::Complete => {
                let (verification, why) = judgement.verification;
                let iterations = self.count.iteration();
                self.finish(Cause::Completed { iterations, verification, why }, Continuation::Nothing)
            }
            // Whatever it lacks, no story is open that an agent could be asked for.
            verdict::Decision::NotYet if self.is_plan_done() == Some(true) && !self.closes_next() => {
                self.finish(Cause::Blocked(reason.unwrap_or(Reason::Blocked { reason: None })), next)
            }
            verdict::Decision::NotYet => self.open(),
            verdict::Decision::Blocked => {
                self.finish(Cause::Blocked(reason.unwrap_or(Reason::Blocked { reason: None })), next)
            }
        }
    }

    fn closes_next(&self) -> bool {
        self.of_plan().is_some_and(|(state, _)| !state.closing.is_empty())
    }
}

impl Run {
    /// Where the plan stands, for the verdict.
    pub(in super::super::super) fn plan_case<'a>(&'a self, at: Option<&'a PlanInspection>) -> Option<PlanCase<'a>> {
        let (state, policy) = self.of_plan()?;
        Some(PlanCase {
            plan: state.plan.as_ref()?,
            rules: policy.rules,
            undone: at.map(|at| at.undone.as_slice()).unwrap_or_default(),
            uncommitted: at.and_then(|at| at.uncommitted.as_deref()).unwrap_or_default(),
            blocked: at.and_then(|at| at.blocked.as_ref()),
        })
    }

    /// The verify commands of the plan and of the story in hand; of all stories, where all are done.
    pub(in super::super::super) fn due_in_plan(&self, policy: &PlanPolicy, all: Vec<CheckSpec>) -> Vec<CheckSpec> {
        if self.is_plan_done() == Some(true) {
            return all;
        }
        let story = self.story_in_hand();
        let is_due = |spec: &CheckSpec| {
            let command = policy.commands.iter().find(|verify| verify.command == spec.command);
            spec.source != CheckKind::Verify || command.is_none_or(|verify| verify.is_due(story))
        };
        all.into_iter().filter(is_due).collect()
    }
}

/// The story whose approval does not hold: the one that was just approved while something is red, or the last one
/// where all are approved and that is not the end.
fn to_take_back(state: &Planned, rules: Rules, at: &Inspection, conditions: &[Condition]) -> Option<StoryId> {
    let turn = state.turn.as_ref().filter(|_| !at.plan.agentless);
    let approved = matches!(at.plan.decision, Decision::Approved { .. } | Decision::Passes);
    let own = turn.filter(|_| approved && unmet_checks(conditions).next().is_some()).map(|turn| turn.story.clone());
    // An agent that failed while it was asked to commit says nothing about the work.
    own.or_else(|| state.last_done(rules).filter(|_| state.is_done(rules) && at.seen.ended_well()))
}

fn unmet_checks(conditions: &[Condition]) -> impl Iterator<Item = &Condition> {
    conditions.iter().filter(|condition| matches!(condition.about, About::Check(_)) && !condition.holds())
}

/// What a story is sent back with: the reasons, and the decisive lines of the first red command.
fn feedback(reasons: &[&Reason], at: &Inspection) -> String {
    let mut feedback = reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let red = at.reports.iter().find(|report| report.refutes() && !report.spec.terms.hidden);
    if let Some(red) = red.filter(|red| !red.excerpt.is_empty()) {
        feedback.push_str("\n\n");
        feedback.push_str(text::without_controls(&red.excerpt.within(EXCERPT_CHARS)).trim_end());
    }
    feedback
}
