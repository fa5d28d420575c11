//! The stories of a plan, one iteration at a time: ralph chooses what each does, judges what it made of the plan, and
//! puts back what it had no right to change. The law itself stands in `core::plan`.
//!
//! ```text
//! Opening (plan, branch, judges) ──► Prompting ──► Working ──► Inspecting (plan, put back, checks, files left) ──► Opening
//! ```
//!
//! What an iteration did is judged against the plan before it, however often it is looked at: judging what was put back
//! finds nothing more to undo, so that a crash between the two changes nothing.

mod judging;
mod opening;
mod settling;
mod telling;

pub(in super::super) use judging::PlanInspection;

use super::super::inspecting::Inspection;
use super::super::{Run, RunStep};
use super::KindState;
use crate::activity::PlanRead;
use crate::check::CheckReport;
use crate::judges::Unknown;
use crate::machine::Step;
use crate::plan::stats::StoryFigures;
use crate::plan::{
    AUTO_APPROVED, Content, Decision, Dirty, GitSeen, Mode, Plan, PlanPolicy, ReviewStatus, Rules, Story, StoryId,
    VerifyCommand,
};
use crate::policy::{AgentPolicy, Kind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What only the run of a plan remembers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(in super::super) struct Planned {
    /// The plan that counts, once it was read.
    plan: Option<Plan>,
    /// It was read since the run began or went on: from then on nobody but the run's own agents edits it.
    is_read: bool,
    /// It went to its branch, once: the plan there may name another one.
    has_switched: bool,
    /// Somebody changed the rules, and the plan has to fit them.
    rules_changed: bool,
    prd: Option<Content>,
    template: Option<Content>,
    progress: Option<Content>,
    git: Option<GitSeen>,
    /// What was not committed when the run began, or went on.
    began: Vec<Dirty>,
    /// The iteration that runs, or the last one.
    turn: Option<Turn>,
    /// The work tree before a review, as git knows it.
    tree: Option<String>,
    /// HEAD before the first iteration that implemented a story.
    bases: BTreeMap<StoryId, String>,
    /// What was done for each story.
    work: BTreeMap<StoryId, Work>,
    /// Stories in the order in which they were done.
    done: Vec<StoryId>,
    /// What the last iteration did that was undone, one sentence each.
    undone: Vec<String>,
    /// The checks as ralph ran them last.
    ran: Vec<Ran>,
    /// Answers in a row that said and did nothing.
    empty: u32,
    /// Files that the next iteration has to commit, and nothing else.
    closing: Vec<String>,
    /// There was such an iteration.
    has_closed: bool,
    /// Variables of the template that nobody knows, as far as they were told.
    told_unknown: Vec<String>,
    /// Verify commands whose judges were learned.
    learned: Vec<String>,
}

/// An iteration of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Turn {
    mode: Mode,
    story: StoryId,
    /// It only commits what is left.
    closes: bool,
    /// Everything as it stood before it.
    before: Plan,
    progress: Option<Content>,
    git: Option<GitSeen>,
}

/// What was done for a story.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Work {
    iterations: u32,
    sent_back: u32,
    cost: Option<f64>,
}

/// A check as the next prompt tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Ran {
    command: String,
    passed: bool,
    ending: String,
    log: String,
    excerpt: String,
}

impl Ran {
    fn of(report: &CheckReport) -> Ran {
        let passed = report.passed();
        let ending = if passed { "exit code 0".to_owned() } else { report.problem() };
        let command = report.spec.name().to_owned();
        // Of a hidden check agents learn no more than that it failed.
        if report.spec.terms.hidden {
            let (ending, excerpt) = (if passed { ending } else { "failed".to_owned() }, report.spec.hint.clone());
            return Ran { command, passed, ending, log: String::new(), excerpt };
        }
        let excerpt = if passed { String::new() } else { report.excerpt.within(report.spec.output_chars.max(1000)) };
        Ran { command, passed, ending, log: report.log.clone(), excerpt }
    }
}

impl Planned {
    /// A story, by its id.
    fn story(&self, id: &StoryId) -> Option<&Story> {
        self.plan.as_ref()?.story(id.as_str())
    }

    fn is_done(&self, rules: Rules) -> bool {
        let Some(plan) = &self.plan else { return false };
        !plan.stories().is_empty() && plan.stories().iter().all(|story| story.is_done(rules.skip_review))
    }

    /// The story that was done last, of those that are.
    fn last_done(&self, rules: Rules) -> Option<StoryId> {
        let is_done = |id: &&StoryId| self.story(id).is_some_and(|story| story.is_done(rules.skip_review));
        let known = self.done.iter().rev().find(is_done);
        known.or_else(|| self.plan.as_ref()?.stories().iter().map(|story| &story.id).rfind(is_done)).cloned()
    }

    fn read(&self, policy: &PlanPolicy) -> PlanRead {
        let print = |content: &Option<Content>| content.as_ref().map(Content::print);
        PlanRead {
            dir: policy.dir.clone(),
            tasks: self.plan.as_ref().map(|plan| crate::text::hash(plan.text().as_bytes())),
            prd: print(&self.prd),
            template: print(&self.template),
            progress: print(&self.progress),
        }
    }
}

impl Run {
    /// Changes what only the run of a plan remembers.
    fn planned<T: Default>(&mut self, look: impl FnOnce(&mut Planned) -> T) -> T {
        match &mut self.kind {
            KindState::Plan(state) => look(state),
            KindState::Prompt | KindState::Supervised(_) => T::default(),
        }
    }

    /// What only the run of a plan remembers, with its rules.
    fn of_plan(&self) -> Option<(&Planned, &PlanPolicy)> {
        match (&self.kind, &self.policy.kind) {
            (KindState::Plan(state), Kind::Plan(policy)) => Some((state, policy)),
            _ => None,
        }
    }

    /// The plan that counts, if this run has one and it was read.
    pub fn plan(&self) -> Option<&Plan> {
        self.of_plan().and_then(|(state, _)| state.plan.as_ref())
    }

    /// Whether every story is done; `None` if the run has no plan.
    pub(in super::super) fn is_plan_done(&self) -> Option<bool> {
        self.of_plan().map(|(state, policy)| state.is_done(policy.rules))
    }

    /// The story that is worked on, or was last.
    pub(in super::super) fn story_in_hand(&self) -> Option<&StoryId> {
        self.of_plan().and_then(|(state, _)| state.turn.as_ref()).map(|turn| &turn.story)
    }

    /// Takes another plan for the one that counts, with its verify commands.
    fn adopt(&mut self, plan: Plan) {
        let commands = VerifyCommand::of(&plan);
        if let Kind::Plan(policy) = &self.policy.kind
            && policy.commands != commands
            && let Kind::Plan(policy) = &mut Arc::make_mut(&mut self.policy).kind
        {
            policy.commands = commands;
        }
        self.planned(|state| state.plan = Some(plan));
        self.doubt_added_commands();
    }

    /// A verify command that came with a new story is executed like the others, and proves nothing: whoever wrote it could
    /// have written what it is made of.
    fn doubt_added_commands(&mut self) {
        let Some((state, policy)) = self.of_plan() else { return };
        if self.integrity.known().is_none() || state.learned.is_empty() {
            return;
        }
        let specs = policy.specs(0, self.policy.ground(), 0).into_iter();
        let added = specs.filter(|spec| !state.learned.contains(&spec.command)).map(|spec| Unknown {
            what: format!("what \"{}\" is made of, which came into the plan during the run", spec.command),
            check: spec.id,
            varies: false,
            made: true,
        });
        let added = added.collect();
        self.integrity.see_added(added);
    }

    /// Who reviews, if that is somebody else than who implements.
    pub(in super::super) fn reviewer(&self) -> Option<&AgentPolicy> {
        let (state, policy) = self.of_plan()?;
        let reviews = state.turn.as_ref().is_some_and(|turn| turn.mode == Mode::Review && !turn.closes);
        policy.reviewer.as_ref().filter(|_| reviews && !self.crew.is_fallback())
    }

    /// What is known of every story.
    pub fn story_figures(&self) -> Vec<StoryFigures> {
        let Some((state, policy)) = self.of_plan() else { return Vec::new() };
        let stories = state.plan.iter().flat_map(Plan::stories);
        let figures = stories.map(|story| {
            let Work { iterations, sent_back, cost } = state.work.get(&story.id).cloned().unwrap_or_default();
            StoryFigures {
                id: story.id.to_string(),
                title: story.title.clone(),
                done: story.is_done(policy.rules.skip_review),
                reviews: story.count,
                sent_back,
                auto_approved: story.is_approved() && story.feedback.starts_with(AUTO_APPROVED),
                iterations,
                cost,
            }
        });
        figures.collect()
    }

    /// An iteration was judged: what it cost and decided belongs to its story.
    pub(in super::super) fn book_story(&mut self, at: &Inspection) {
        let (cost, sent_back) = (at.seen.cost_usd, at.plan.decision == Decision::ChangesRequested);
        self.planned(|state| {
            let Some(turn) = &state.turn else { return };
            let work = state.work.entry(turn.story.clone()).or_default();
            work.iterations += 1;
            work.sent_back += u32::from(sent_back);
            work.cost = match (work.cost, cost) {
                (Some(sum), Some(cost)) => Some(sum + cost),
                (sum, cost) => sum.or(cost),
            };
        });
    }

    /// Where a story stands, in a word.
    fn standing(story: &Story) -> &'static str {
        story.status.map_or("not begun", ReviewStatus::as_str)
    }
}

/// Notes, one line each.
fn notes(notes: impl IntoIterator<Item = crate::words::Note>) -> RunStep {
    notes.into_iter().fold(Step::default(), |told: RunStep, note| told.then(Run::note(note)))
}
