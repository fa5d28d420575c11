//! Before an iteration: the plan is read where a person may have edited it, the run gets to its branch, and the next
//! turn is chosen.

use super::super::super::inspecting::{Inspect, Inspection};
use super::super::super::opening::Opening;
use super::super::super::{Continuation, Now, Phase, Run, RunStep};
use super::{Turn, notes};
use crate::activity::{Activity, PutBack};
use crate::event::{Gathered, Started};
use crate::machine::Step;
use crate::notice::Notice;
use crate::observation::Observation;
use crate::plan::choice::{self, Budget, Next};
use crate::plan::{
    BranchUse, Change, Content, Mode, Plan, PlanChanges, PlanSeen, Problem, Sight, StoryId, TASKS, TEMPLATE,
    VerifyCommand, newly_dirty,
};
use crate::policy::Kind;
use crate::text;
use crate::time::{Millis, WallTime};
use crate::words::{Cause, Note, Reason};
use std::sync::Arc;

/// Changes that one line tells; the journal has all.
const CHANGES_TOLD: usize = 10;

/// What comes next in a plan.
enum Turning {
    Work(Mode, StoryId),
    /// Commit what is left, and nothing else.
    Close(StoryId),
    /// Every story is done: only ralph itself has something to do.
    Check,
    /// Nothing can be done.
    End(Cause),
}

impl Run {
    /// Begins the next iteration of a plan, unless a cap forbids it or something must be looked at first.
    pub(in super::super::super) fn open_plan(&mut self) -> RunStep {
        let Some((state, policy)) = self.of_plan() else { return self.open_prompt() };
        if !state.is_read {
            let read = state.read(policy);
            self.phase = Phase::Opening(if state.inherited { Opening::Leftover } else { Opening::Plan });
            return Step::start(Activity::ReadPlan(read));
        }
        let turning = self.turning();
        let begins = matches!(turning, Turning::Work(..) | Turning::Close(_));
        if begins && let Some(end) = self.stop_at_cap(self.count.next(), Continuation::NextIteration) {
            return end;
        }
        if let Turning::End(cause) = turning {
            return self.finish(cause, Continuation::NextIteration);
        }
        if let Some(first) = self.look_first() {
            return first;
        }
        self.planned(|state| {
            if state.learned.is_empty() {
                state.learned = state.plan.iter().flat_map(VerifyCommand::of).map(|verify| verify.command).collect();
            }
        });
        match turning {
            Turning::Work(mode, story) => self.take_turn(mode, story, false),
            // Whatever it writes into the plan is undone like the edits of a review that nobody asked for.
            Turning::Close(story) => self.take_turn(Mode::Review, story, true),
            Turning::Check | Turning::End(_) => self.check_without_agent(),
        }
    }

    /// The prompt with which a run of this plan would begin; `None` if it would start no agent.
    pub fn first_prompt_of_plan(
        started: &Started,
        at: WallTime,
        seen: &PlanSeen,
        gathered: &Gathered,
    ) -> Option<String> {
        let mut run = Run::new(started, Now { seq: 1, at, elapsed: Millis::ZERO });
        run.phase = Phase::Opening(Opening::Plan);
        run.on_plan_seen(seen);
        let Turning::Work(mode, story) = run.turning() else { return None };
        run.count.begin_next();
        run.begin_turn(mode, story, false);
        run.brief.gather(&run.policy, gathered, true);
        Some(run.prompt())
    }

    fn turning(&self) -> Turning {
        let Some((state, policy)) = self.of_plan() else { return Turning::Check };
        let Some(plan) = &state.plan else { return Turning::Check };
        match choice::next(plan, policy.rules) {
            Next::Work { mode, story } => Turning::Work(mode, story),
            Next::Complete => match state.last_done(policy.rules).filter(|_| !state.closing.is_empty()) {
                Some(story) => Turning::Close(story),
                None => Turning::Check,
            },
            Next::Empty => Turning::End(self.plan_broken(vec!["tasks.json has no story".to_owned()])),
            Next::Stuck(stories) => {
                let waits = stories.iter().map(|(story, waits)| match waits.as_slice() {
                    [] => format!("{story} is {}", state.story(story).map_or("gone", Run::standing)),
                    waits => format!("{story} waits for {}", waits.join(", ")),
                });
                Turning::End(Cause::Blocked(Reason::PlanStuck { waits: waits.collect() }))
            }
        }
    }

    fn take_turn(&mut self, mode: Mode, story: StoryId, closes: bool) -> RunStep {
        self.count.begin_next();
        self.begin_turn(mode, story, closes);
        self.gather()
    }

    pub(super) fn begin_turn(&mut self, mode: Mode, story: StoryId, closes: bool) {
        self.planned(|state| {
            let Some(before) = state.plan.clone() else { return };
            if mode == Mode::Implement
                && let Some(git) = &state.git
            {
                state.bases.entry(story.clone()).or_insert_with(|| git.head.clone());
            }
            state.tree = None;
            state.has_closed = closes;
            if !closes {
                state.closing.clear();
            }
            let (progress, git) = (state.progress.clone(), state.git.clone());
            state.turn = Some(Turn { mode, story, closes, before, progress, git });
        });
    }

    /// Looks whether a plan whose stories are all done is complete.
    fn check_without_agent(&mut self) -> RunStep {
        let mut at = Box::new(Inspection::of(Arc::new(Observation::nothing()), self.looks_at_the_tree(), Vec::new()));
        at.plan.agentless = true;
        self.go_on(at)
    }

    /// Resume: whatever the agent that was in flight did to the plan is judged by its mode; it decided nothing.
    pub(in super::super::super) fn repeat_plan(&mut self) -> RunStep {
        match self.of_plan() {
            Some((state, policy)) if state.turn.is_some() => {
                let read = state.read(policy);
                self.phase = Phase::Opening(Opening::Leftover);
                Step::start(Activity::ReadPlan(read))
            }
            _ => self.open(),
        }
    }

    /// Resume: people may have edited the plan, and other rules may hold. Says which.
    pub(in super::super::super) fn change_plan_rules(&mut self, changes: &PlanChanges) -> RunStep {
        let policy = Arc::make_mut(&mut self.policy);
        let Kind::Plan(plan) = &mut policy.kind else { return Step::default() };
        let before = plan.clone();
        plan.change(changes);
        let mut told = Vec::new();
        if before.rules.cap != plan.rules.cap {
            told.push(format!("at most {} of a story", text::count(plan.rules.cap.get().into(), "review")));
        }
        if before.rules.skip_review != plan.rules.skip_review {
            told.push(if plan.rules.skip_review { "no reviews" } else { "reviews" }.to_owned());
        }
        if before.reviewer != plan.reviewer {
            let reviewer = plan.reviewer.as_ref().unwrap_or(&policy.agent);
            let model = if reviewer.model.is_empty() { String::new() } else { format!(" ({})", reviewer.model) };
            told.push(format!("reviews by {}{model}", reviewer.command));
        }
        let changed = before.rules != plan.rules;
        self.planned(|state| {
            state.is_read = false;
            state.rules_changed |= changed;
        });
        notes((!told.is_empty()).then_some(Note::PlanRules { changes: told }))
    }

    /// Somebody looked at the end and wants more: rows begin anew, and what is left may be asked for again.
    pub(in super::super::super) fn forget_empty_answers(&mut self) {
        self.planned(|state| (state.empty, state.has_closed) = (0, false));
    }

    pub(in super::super::super) fn on_plan_seen(&mut self, seen: &PlanSeen) -> Option<RunStep> {
        match &self.phase {
            Phase::Opening(Opening::Plan) => Some(self.on_plan_read(seen)),
            Phase::Opening(Opening::Leftover) => Some(self.on_leftover(seen)),
            Phase::Inspecting(_) => {
                if let Some(at) = self.inspecting(|step| *step == Inspect::Plan) {
                    return Some(self.on_plan_after_agent(at, seen));
                }
                let at = self.inspecting(|step| *step == Inspect::Uncommitted)?;
                Some(self.on_uncommitted_seen(at, seen))
            }
            _ => None,
        }
    }

    fn plan_broken(&self, problems: Vec<String>) -> Cause {
        let dir = self.policy.plan().map_or(String::new(), |plan| plan.dir.clone());
        Cause::PlanBroken { dir, problems }
    }

    /// A plan as a person left it.
    fn on_plan_read(&mut self, seen: &PlanSeen) -> RunStep {
        let Some((state, policy)) = self.of_plan() else { return self.open() };
        let rules = policy.rules;
        let known = state.plan.clone();
        let known_text = known.as_ref().map(|plan| Content::new(plan.text()));
        let words = |problems: Vec<Problem>| problems.iter().map(Problem::words).collect::<Vec<_>>();
        let (plan, reviewed) = match Plan::seen(seen.tasks.seen(known_text.as_ref())) {
            Ok(plan) if state.rules_changed => plan.under(rules),
            Ok(plan) => (plan, Vec::new()),
            Err(problems) => {
                let cause = self.plan_broken(words(problems));
                return self.finish(cause, Continuation::NextIteration);
            }
        };
        let mut problems = words(plan.broken_invariants(rules, known.as_ref()));
        if plan.stories().is_empty() {
            problems.push("tasks.json has no story".to_owned());
        }
        let template = seen.template.content(state.template.as_ref()).or(state.template.as_ref()).cloned();
        if template.is_none() {
            problems.push(format!("{TEMPLATE} {}", seen.template.problem()));
        }
        if !problems.is_empty() {
            let cause = self.plan_broken(problems);
            return self.finish(cause, Continuation::NextIteration);
        }
        let mut told = Vec::new();
        let before = known.as_ref().filter(|known| known.text() != plan.text());
        if let Some(before) = before.filter(|_| seen.tasks != Sight::Same) {
            let changes = before.changes(&plan);
            let more = changes.len().saturating_sub(CHANGES_TOLD);
            let mut changes: Vec<String> = changes.iter().take(CHANGES_TOLD).map(Change::words).collect();
            changes.extend((more > 0).then(|| format!("and {more} more")));
            told.push(Note::PlanEdited { changes });
        }
        if known.is_none() {
            told.extend(plan.warnings().iter().map(|problem| Note::PlanDoubt { problem: problem.words() }));
        }
        if !seen.problem.is_empty() {
            told.push(Note::PlanGit { why: seen.problem.clone() });
        }
        let prd = seen.prd.content(state.prd.as_ref()).cloned();
        let progress = seen.progress.content(state.progress.as_ref()).cloned();
        let commands =
            |plan: &Plan| -> Vec<String> { VerifyCommand::of(plan).into_iter().map(|verify| verify.command).collect() };
        let relearn = known.as_ref().is_some_and(|known| commands(known) != commands(&plan));
        // What is dirty now and was not when the run's own agents had ended is a person's.
        let last = state.git.as_ref().map(|git| git.dirty.clone()).unwrap_or_default();
        let own = |path: &String| !newly_dirty(&last, &state.began).contains(path);
        let now = seen.git.as_ref().map(|git| git.dirty.clone()).unwrap_or_default();
        let began = now.into_iter().filter(|dirty| state.git.is_none() || own(&dirty.path)).collect();
        if relearn {
            // What judges must be learned anew, with what a person asks for now.
            self.integrity.forget_all();
            self.planned(|state| state.learned.clear());
        }
        self.adopt(plan.clone());
        self.planned(|state| {
            state.is_read = true;
            // What other rules make of it counts once it is written.
            state.rules_changed &= !reviewed.is_empty();
            (state.prd, state.template, state.progress) = (prd, template, progress);
            state.git.clone_from(&seen.git);
            state.began = began;
        });
        let told = notes(told);
        if reviewed.is_empty() {
            return told.then(self.get_to_branch());
        }
        self.phase = Phase::Opening(Opening::PlanWrite);
        told.then(Step::start(Activity::PutBack(Box::new(self.write_tasks(&plan)))))
    }

    /// The plan as it counts, into its file.
    pub(super) fn write_tasks(&self, plan: &Plan) -> PutBack {
        let path = self.policy.plan().map_or(String::new(), |policy| policy.path(TASKS));
        PutBack { writes: vec![(path, Content::new(plan.text()))], ..PutBack::default() }
    }

    /// Gets to the branch of the plan, or says that it is another one.
    pub(super) fn get_to_branch(&mut self) -> RunStep {
        let Some((state, policy)) = self.of_plan() else { return self.open() };
        let branch = state.plan.as_ref().and_then(Plan::branch).map(str::to_owned);
        let actual = state.git.as_ref().map(|git| git.branch.clone());
        let (Some(expected), Some(actual)) = (branch, actual) else { return self.announce_plan() };
        if expected == actual || policy.branch == BranchUse::Ignore {
            return self.announce_plan();
        }
        if policy.branch == BranchUse::Check || state.has_switched {
            return Run::note(Note::PlanBranch { expected, actual }).then(self.announce_plan());
        }
        self.phase = Phase::Opening(Opening::Branch);
        Step::start(Activity::SwitchBranch { name: expected })
    }

    /// The branch may hold another plan than the one that was read.
    pub(in super::super::super) fn on_branch_switched(&mut self, problem: Option<&str>) -> Option<RunStep> {
        if self.phase != Phase::Opening(Opening::Branch) {
            return None;
        }
        Some(match problem {
            Some(problem) => self.finish(Cause::Branch(problem.to_owned()), Continuation::NextIteration),
            None => {
                self.planned(|state| (state.is_read, state.has_switched) = (false, true));
                self.open()
            }
        })
    }

    /// Says what is left to do.
    fn announce_plan(&mut self) -> RunStep {
        let Some((state, policy)) = self.of_plan() else { return self.open() };
        let budget = state.plan.as_ref().map(|plan| Budget::of(plan, policy.rules));
        let allowed = self.policy.limits.max_iterations;
        let told = Step::telling(budget.map(|budget| Notice::PlanStarted { budget, allowed }));
        told.then(self.open())
    }
}
