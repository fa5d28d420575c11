//! Resuming: a run goes on after an end, a crash or a limit.

use super::opening::Opening;
use super::stopping::StopWish;
use super::{Continuation, Pause, Phase, Run, RunStep};
use crate::event::Resumed;
use crate::machine::Step;
use crate::notice::ResumeKind;
use crate::outcome::StopReason;
use crate::words::Note;
use std::sync::Arc;

impl Run {
    /// Goes on after an end or a crash. What was in flight is in doubt: an agent is started again
    /// under the same number, a check is executed again, and nothing that was finished is repeated.
    pub(super) fn on_resumed(&mut self, resumed: &Resumed) -> Option<RunStep> {
        let continuation = self.continuation();
        // Its iteration was judged, and only the last look was cut. Whoever stopped it, or raised what was used up, wants
        // it to go on.
        let by_a_limit = |reason| {
            use StopReason::{Budget, Cancelled, Interrupted, MaxIterations, MaxWallTime};
            matches!(reason, Budget | Cancelled | Interrupted | MaxIterations | MaxWallTime)
        };
        if let Some(ending) = self.ending().filter(|ending| !by_a_limit(ending.outcome.reason)) {
            let kind = ResumeKind::Checks(self.count.iteration());
            return Some(Step::telling([self.announce(Some(kind))]).then(self.close_as(ending)));
        }
        if continuation == Continuation::Nothing {
            return None;
        }
        let ruled = self.raise_limits(resumed);
        self.wish = StopWish::None;
        self.no_repository = resumed.no_repository;
        self.integrity.forget_unpinned();
        self.integrity.doubt_rules(resumed.doubts.clone());
        let doubts = resumed.doubts.iter().map(|what| Note::RulesDoubted { what: what.clone() });
        let doubts = doubts.fold(Step::default(), |told: RunStep, note| told.then(Run::note(note)));
        if matches!(self.phase, Phase::Ended(..)) {
            // Somebody has looked at the end and wants more, so every row begins anew. A crash says
            // nothing about the agent: if it cut a row, crashing often enough would outrun every limit.
            self.count.begin_rows_anew();
            self.crew.begin_anew();
            self.history.begin_rows_anew();
            self.begin_rows_anew();
        }
        let (kind, then) = match continuation {
            Continuation::Inspection(inspection) => {
                let inspection = Box::new(inspection.anew(self.looks_at_the_tree(), self.inspection_begins()));
                (ResumeKind::Checks(self.count.iteration()), self.go_on(inspection))
            }
            Continuation::SameIteration => (ResumeKind::SameIteration(self.count.iteration()), self.begin_again()),
            Continuation::NextIteration | Continuation::Nothing => {
                (ResumeKind::NextIteration(self.count.next()), self.open())
            }
        };
        let (used_up, told) = self.resumed();
        let kind = if used_up || self.decided().is_some() { ResumeKind::AtALimit } else { kind };
        Some(Step::telling([self.announce(Some(kind))]).then(ruled).then(doubts).then(Step::acting(told)).then(then))
    }

    /// How the run would go on from where it stands.
    pub(super) fn continuation(&self) -> Continuation {
        match &self.phase {
            Phase::Ended(_, continuation) => continuation.clone(),
            Phase::Closing(super::Closing::Tests(ending)) => ending.then.clone(),
            // Nobody worked, so that there is nothing to go on with but the next look.
            Phase::Inspecting(inspection) if inspection.plan.agentless => Continuation::NextIteration,
            Phase::Inspecting(inspection) => Continuation::Inspection(inspection.clone()),
            Phase::Working
            | Phase::Waiting(Pause::Until(_))
            | Phase::Prompting
            | Phase::Opening(Opening::Leftover | Opening::LeftoverWrite)
                if self.count.iteration() > 0 =>
            {
                Continuation::SameIteration
            }
            _ => Continuation::NextIteration,
        }
    }

    fn raise_limits(&mut self, resumed: &Resumed) -> RunStep {
        self.spend.others_used(resumed.task_spent);
        let policy = Arc::make_mut(&mut self.policy);
        if let Some(agent) = &resumed.agent {
            policy.agent.command.clone_from(agent);
            policy.agent.dialect.clear();
            self.crew.renew_first();
        }
        let limits = &mut policy.limits;
        limits.wait = resumed.wait.unwrap_or(limits.wait);
        limits.max_iterations = resumed.max_iterations.unwrap_or(limits.max_iterations);
        limits.wall = resumed.wall.unwrap_or(limits.wall);
        limits.iteration = resumed.iteration.unwrap_or(limits.iteration);
        limits.idle = resumed.idle.unwrap_or(limits.idle);
        limits.max_cost_usd = resumed.max_cost_usd.unwrap_or(limits.max_cost_usd);
        limits.max_tokens = resumed.max_tokens.unwrap_or(limits.max_tokens);
        self.change_plan_rules(&resumed.plan)
    }
}
