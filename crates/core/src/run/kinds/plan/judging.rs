//! After an agent: which of its edits count. What has no right to be there is put back, and said to everybody.

use super::super::super::inspecting::{Inspect, Inspection};
use super::super::super::{Continuation, Phase, Run, RunStep};
use super::{Turn, notes};
use crate::activity::{Activity, KeptTree, PutBack};
use crate::claim::Claim;
use crate::event::PlanPutBack;
use crate::machine::Step;
use crate::notice::{Notice, VerdictWord};
use crate::observation::{FailureClass, Marker, Observation};
use crate::plan::choice::Budget;
use crate::plan::{
    self, Content, Decision, Mode, PRD, PROGRESS, Plan, PlanPolicy, PlanSeen, Sight, TASKS, TEMPLATE, progress,
};
use crate::words::{Cause, Note, Reason};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What an agent that says nothing is asked again.
const MOST_EMPTY: u32 = 3;
/// The subject of the commit that undoes what an agent committed.
const UNDO: &str = "ralph: undo illegal plan edits";
/// What a review may change beside the plan's own files, from the project's folder.
const MEMORY: [&str; 3] = ["CLAUDE.md", "AGENTS.md", ".claude/rules/**"];

/// What the inspection of an iteration knows of its plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(in super::super::super) struct PlanInspection {
    /// Nobody worked: it is only looked whether the plan is complete.
    pub(in super::super::super) agentless: bool,
    pub(super) decision: Decision,
    /// What the agent did against the rules.
    pub(in super::super::super) undone: Vec<Reason>,
    /// It said nothing and did nothing.
    empty: bool,
    /// What was approved was taken back, if it had to be.
    pub(super) settled: bool,
    /// Its own files were committed.
    pub(super) committed: bool,
    /// Files that are not committed, once that was looked at.
    pub(in super::super::super) uncommitted: Option<Vec<String>>,
    /// Why only a person can help.
    pub(in super::super::super) blocked: Option<Reason>,
}

/// What an agent made of the files of a plan.
struct Judged {
    plan: Plan,
    decision: Decision,
    undone: Vec<Reason>,
    put_back: PutBack,
    splits: Vec<plan::Split>,
    progress: Option<Content>,
    template: Option<Content>,
    unchanged: bool,
}

impl Run {
    /// The agent is gone: what it did to the plan is looked at first, however it ended.
    pub(in super::super::super) fn inspect_plan(&mut self, seen: &Arc<Observation>) -> RunStep {
        let first = self.inspection_begins();
        // Whoever said nothing may have done something; whether it did is seen by the plan.
        let is_silent = seen.failure.as_ref().is_some_and(|failure| failure.class == FailureClass::Silent);
        let spoken = |seen: &Observation| Arc::new(Observation { failure: None, ..seen.clone() });
        let judged = if is_silent { spoken(seen) } else { Arc::clone(seen) };
        let inspection = Box::new(Inspection::of(judged, self.looks_at_the_tree(), first));
        if let Marker::WrongKind(kind) = &seen.marker {
            return self.finish_by_wrong_marker("DONE", kind, Continuation::Inspection(inspection));
        }
        self.go_on(inspection)
    }

    /// What an inspection of this plan begins with.
    pub(in super::super::super) fn plan_steps() -> Vec<Inspect> {
        vec![Inspect::Plan, Inspect::AfterPlan]
    }

    pub(in super::super::super) fn read_plan_again(&mut self, at: Box<Inspection>) -> RunStep {
        let Some((state, policy)) = self.of_plan() else { return self.go_on(at) };
        let read = state.read(policy);
        self.inspect_by(at, Activity::ReadPlan(read))
    }

    /// Judges the files against what they were before the turn.
    fn judge_plan(&self, seen: &PlanSeen, ended_well: bool) -> Option<Judged> {
        let (state, policy) = self.of_plan()?;
        let turn = state.turn.as_ref()?;
        let known = state.plan.as_ref().map(|plan| Content::new(plan.text()));
        let tasks = seen.tasks.seen(known.as_ref());
        let asked = plan::Turn { mode: turn.mode, story: turn.story.clone(), ended_well: ended_well && !turn.closes };
        let judgement = plan::judge(&turn.before, tasks, &asked, policy.rules);
        let mut undone: Vec<Reason> = judgement.violations.iter().cloned().map(Reason::PlanEdit).collect();
        let mut put_back = PutBack::default();
        let stands = matches!(tasks, plan::Seen::Bytes(bytes) if bytes == judgement.plan.text().as_bytes());
        if judgement.rewrite || !stands {
            put_back.writes.push((policy.path(TASKS), Content::new(judgement.plan.text())));
        }
        let mut frozen = |name: &str, sight: &Sight, known: Option<&Content>| {
            let Some(known) = known else { return };
            if sight.content(Some(known)) == Some(known) {
                return;
            }
            let how = if sight.problem().is_empty() { "was changed".to_owned() } else { sight.problem() };
            undone.push(Reason::PlanFile { path: policy.path(name), how });
            put_back.writes.push((policy.path(name), known.clone()));
        };
        frozen(PRD, &seen.prd, state.prd.as_ref());
        // An implementer may change the template, and nobody may take it away.
        let template = seen.template.content(state.template.as_ref());
        let reviews = turn.mode == Mode::Review;
        if template.is_none() || reviews {
            frozen(TEMPLATE, &seen.template, state.template.as_ref());
        }
        let template = template.filter(|_| !reviews).or(state.template.as_ref()).cloned();
        let written = seen.progress.content(state.progress.as_ref());
        let log = turn.progress.as_ref().and_then(|was| progress::repair(was.bytes(), written.map(Content::bytes)));
        let progress = match log {
            Some(repaired) => {
                let how = "lost entries of its log".to_owned();
                undone.push(Reason::PlanFile { path: policy.path(PROGRESS), how });
                let repaired = Content::new(repaired);
                put_back.writes.push((policy.path(PROGRESS), repaired.clone()));
                Some(repaired)
            }
            None => written.cloned(),
        };
        if reviews
            && !turn.closes
            && let Some(id) = &state.tree
        {
            put_back.tree = Some(KeptTree { id: id.clone(), spare: spared(policy) });
        }
        if !put_back.writes.is_empty() || put_back.tree.is_some() {
            put_back.subject = UNDO.to_owned();
        }
        let unchanged = judgement.plan == turn.before && progress == turn.progress && seen.git == turn.git;
        Some(Judged {
            plan: judgement.plan,
            decision: judgement.decision,
            undone,
            put_back,
            splits: judgement.splits,
            progress,
            template,
            unchanged,
        })
    }

    /// Takes a judgement: from now on its plan counts. Returns what has to be put back, if anything.
    fn take_judged(&mut self, judged: &Judged, seen: &PlanSeen) -> Option<PutBack> {
        self.adopt(judged.plan.clone());
        let undone: Vec<String> = judged.undone.iter().map(ToString::to_string).collect();
        self.planned(|state| {
            state.undone = undone;
            state.progress.clone_from(&judged.progress);
            state.template.clone_from(&judged.template);
            if seen.git.is_some() {
                state.git.clone_from(&seen.git);
            }
            for split in &judged.splits {
                let base = state.bases.get(&split.story).cloned();
                for (part, base) in split.parts.iter().filter_map(|part| Some((part, base.clone()?))) {
                    state.bases.entry(part.clone()).or_insert(base);
                }
            }
        });
        let PutBack { writes, tree, .. } = &judged.put_back;
        (!writes.is_empty() || tree.is_some()).then(|| judged.put_back.clone())
    }

    pub(super) fn on_plan_after_agent(&mut self, mut at: Box<Inspection>, seen: &PlanSeen) -> RunStep {
        let Some(judged) = self.judge_plan(seen, at.seen.ended_well()) else { return self.go_on(at) };
        at.plan.empty = judged.unchanged && said_nothing(&at.seen);
        at.plan.decision = judged.decision.clone();
        at.plan.undone.clone_from(&judged.undone);
        at.plan.undone.extend(self.undecided(&at));
        let put_back = self.take_judged(&judged, seen);
        self.planned(|state| state.is_read = !state.rules_changed);
        at.first(put_back.map(|put_back| Inspect::PutBack(Box::new(put_back))));
        self.go_on(at)
    }

    /// What an agent left that nobody saw end.
    pub(super) fn on_leftover(&mut self, seen: &PlanSeen) -> RunStep {
        let Some(judged) = self.judge_plan(seen, false) else { return self.open() };
        let put_back = self.take_judged(&judged, seen);
        let told = notes(judged.undone.iter().map(|reason| Note::PlanUndone { what: reason.to_string() }));
        match put_back {
            Some(put_back) => {
                self.phase = Phase::Opening(super::super::super::opening::Opening::LeftoverWrite);
                told.then(Step::start(Activity::PutBack(Box::new(put_back))))
            }
            None => told.then(self.turn_again()),
        }
    }

    /// The same iteration again, or another one where other rules hold.
    fn turn_again(&mut self) -> RunStep {
        if self.planned(|state| std::mem::take(&mut state.inherited)) {
            self.planned(|state| state.turn = None);
            return self.open();
        }
        self.count.begin_again();
        let rechoose = self.planned(|state| std::mem::take(&mut state.rules_changed));
        self.planned(|state| state.is_read = true);
        if !rechoose {
            return self.gather();
        }
        let (Some(plan), Some(rules)) = (self.plan().cloned(), self.policy.plan().map(|plan| plan.rules)) else {
            return self.gather();
        };
        let (plan, _) = plan.under(rules);
        self.adopt(plan.clone());
        match plan::choice::next(&plan, rules) {
            plan::choice::Next::Work { mode, story } => {
                self.begin_turn(mode, story, false);
                self.gather()
            }
            _ => self.open(),
        }
    }

    pub(in super::super::super) fn on_plan_put_back(&mut self, done: &PlanPutBack) -> Option<RunStep> {
        use super::super::super::opening::Opening;
        let told = notes(done.problems.iter().map(|text| Note::Machine { text: text.clone() }));
        if !done.commit.is_empty() {
            self.planned(|state| {
                if let Some(git) = &mut state.git {
                    git.head.clone_from(&done.commit);
                }
            });
        }
        match &self.phase {
            Phase::Opening(Opening::PlanWrite) => {
                self.planned(|state| state.rules_changed = false);
                return Some(told.then(self.get_to_branch()));
            }
            Phase::Opening(Opening::LeftoverWrite) => {
                let files = (!done.files.is_empty()).then(|| Reason::ReviewEdits { files: done.files.clone() });
                let told = told.then(notes(files.map(|reason| Note::PlanUndone { what: reason.to_string() })));
                return Some(told.then(self.turn_again()));
            }
            _ => {}
        }
        let mut at = self.inspecting(|step| matches!(step, Inspect::PutBack(_)))?;
        if !done.files.is_empty() {
            let reason = Reason::ReviewEdits { files: done.files.clone() };
            self.planned(|state| state.undone.push(reason.to_string()));
            at.plan.undone.push(reason);
        }
        Some(told.then(self.go_on(at)))
    }

    /// The plan is judged and stands as it must. Whether anybody worked at all is asked only now: whoever did not end
    /// well may have edited the plan all the same.
    pub(in super::super::super) fn after_plan(&mut self, at: Box<Inspection>) -> RunStep {
        let told = self.tell_judged(&at);
        if let Some(step) = self.not_worked(&at.seen) {
            return told.then(step);
        }
        if at.plan.empty {
            return told.then(self.again_after_nothing(&at.seen));
        }
        let (decision, reviewed) = (at.plan.decision.clone(), self.story_in_hand().cloned());
        self.planned(|state| {
            state.empty = 0;
            if let (Decision::Approved { .. } | Decision::Passes, Some(story)) = (decision, reviewed) {
                state.done.retain(|done| *done != story);
                state.done.push(story);
            }
        });
        // A first interrupt lets the agent finish; what it said is journalled and judged on resume.
        let then = match self.wish.cause() {
            Some(cause) => self.finish_stopped(cause, Continuation::Inspection(at)),
            None => self.go_on(at),
        };
        told.then(then)
    }

    fn tell_judged(&self, at: &Inspection) -> RunStep {
        let Some((state, policy)) = self.of_plan() else { return Step::default() };
        let (Some(turn), Some(plan)) = (self.plan_turn(), &state.plan) else { return Step::default() };
        let cap = match &at.plan.decision {
            Decision::Approved { automatic: true, .. } => {
                let (story, reviews) = (turn.story.to_string(), turn.reviews.saturating_add(1));
                Some(Notice::Note(Note::ApprovedAtCap { story, reviews }))
            }
            _ => None,
        };
        let judged = Notice::PlanJudged {
            iteration: self.count.iteration(),
            turn: Box::new(turn),
            decision: at.plan.decision.clone(),
            undone: at.plan.undone.iter().map(ToString::to_string).collect(),
            budget: Budget::of(plan, policy.rules),
        };
        Step::telling(std::iter::once(judged).chain(cap))
    }

    /// An answer without a word and without an edit is none: the same iteration is asked again.
    fn again_after_nothing(&mut self, seen: &Observation) -> RunStep {
        let times = self.planned(|state| {
            state.empty += 1;
            state.empty
        });
        if times >= MOST_EMPTY {
            return self.finish(Cause::EmptyAnswers(times), Continuation::SameIteration);
        }
        if let Some(cause) = self.wish.cause() {
            return self.finish_stopped(cause, Continuation::SameIteration);
        }
        let told = Run::note(Note::EmptyAnswer { times });
        let reason = Reason::AgentFailed { message: "the agent said nothing and changed nothing".to_owned() };
        let told = told.then(self.tell_iteration(seen, Claim::None, VerdictWord::Retry, vec![reason]));
        self.count.begin_again();
        told.then(self.gather())
    }

    /// Why a review leaves its story where it was, if it does.
    fn undecided(&self, at: &Inspection) -> Option<Reason> {
        let Turn { mode, story, closes, .. } = self.of_plan()?.0.turn.as_ref()?;
        let decides = *mode == Mode::Review && !closes && !at.plan.agentless && at.seen.ended_well();
        (decides && at.plan.decision == Decision::None).then(|| Reason::Undecided { story: story.to_string() })
    }
}

fn said_nothing(seen: &Observation) -> bool {
    let words = seen.messages.iter().chain([&seen.last_text]).any(|text| !text.trim().is_empty());
    seen.ended_well() && !words && seen.tools.is_empty() && seen.claim == Claim::None
}

/// What a review may change.
fn spared(policy: &PlanPolicy) -> Vec<String> {
    let plan = [TASKS, PROGRESS].map(|name| policy.path(name));
    plan.into_iter().chain(MEMORY.map(str::to_owned)).collect()
}
