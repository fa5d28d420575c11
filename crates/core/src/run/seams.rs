//! What differs by kind: one exhaustive match per seam, each arm one call into `kinds`. A new kind of loop is a
//! new file there and an arm in every match here; nothing else in the machine asks for the kind.

use super::inspecting::{Inspect, Inspection};
use super::{Run, RunStep};
use crate::activity::{Act, HookUse, Keep, MarkerUse, Role};
use crate::check::{CheckSpec, Ground};
use crate::claim::Claim;
use crate::event::Gathered;
use crate::machine::Step;
use crate::observation::{Markers, Observation};
use crate::policy::{AgentPolicy, Kind};
use crate::verdict::{self, Condition, Judgement};
use std::sync::Arc;

impl Run {
    /// Opening: whatever comes before the next iteration, and then its beginning.
    pub(super) fn open(&mut self) -> RunStep {
        match &self.policy.kind {
            Kind::Prompt => self.open_prompt(),
            Kind::Plan(_) => self.open_plan(),
            Kind::Supervised(_) => self.open_supervised(),
        }
    }

    /// Opening, as far as marker files go.
    pub(super) fn open_by_markers(&mut self, markers: &Markers) -> Option<RunStep> {
        match &self.policy.kind {
            Kind::Prompt | Kind::Plan(_) => None,
            Kind::Supervised(_) => Some(self.before_start(markers)),
        }
    }

    /// Brief: what the agent is told.
    pub(super) fn prompt(&self) -> String {
        match &self.policy.kind {
            _ if self.unheard => String::new(),
            Kind::Prompt => self.brief.prompt(&self.policy, self.count.iteration(), self.inbox.open()),
            Kind::Plan(_) => self.plan_prompt(),
            Kind::Supervised(_) => self.supervised_prompt(),
        }
    }

    /// What the agent is there for, what is kept of it, and what its marker files mean.
    pub(super) fn manner(&self) -> (Role, Keep, MarkerUse) {
        match &self.policy.kind {
            Kind::Prompt | Kind::Plan(_) => self.manner_of_worker(),
            Kind::Supervised(_) => self.manner_of_root(),
        }
    }

    /// Which hooks an agent's program is told of.
    pub(super) fn hooks_of(&self, role: Role) -> HookUse {
        match (&self.policy.kind, role) {
            (Kind::Plan(_), Role::Worker) => HookUse::Plan,
            (Kind::Plan(_) | Kind::Prompt | Kind::Supervised(_), _) => HookUse::None,
        }
    }

    /// What is done at once when an agent is started: the bus is told, and files that only say what it is for.
    pub(super) fn acts_at_start(&self) -> Vec<Act> {
        match &self.policy.kind {
            _ if self.unheard => Vec::new(),
            Kind::Prompt => Vec::new(),
            Kind::Supervised(_) => vec![self.supervised_start()],
            Kind::Plan(_) => self.plan_start(),
        }
    }

    /// What is done at once when the run ends.
    pub(super) fn act_at_end(&self) -> Option<Act> {
        match &self.policy.kind {
            Kind::Prompt | Kind::Supervised(_) => None,
            Kind::Plan(_) => Some(Act::RemoveActive),
        }
    }

    /// Who is started: whoever works now, or for a review somebody else.
    pub(super) fn agent(&self) -> &AgentPolicy {
        match &self.policy.kind {
            Kind::Prompt | Kind::Supervised(_) => self.crew.agent(&self.policy),
            Kind::Plan(_) => self.reviewer().unwrap_or_else(|| self.crew.agent(&self.policy)),
        }
    }

    /// Takes what was read for a prompt, and says what is worth a line.
    pub(super) fn gather_for_kind(&mut self, gathered: &Gathered) -> RunStep {
        match &self.policy.kind {
            Kind::Prompt | Kind::Supervised(_) => Step::default(),
            Kind::Plan(_) => {
                let base = gathered.base.as_ref().and_then(|base| base.as_deref().ok());
                self.gather_plan(base, gathered.tree.as_ref())
            }
        }
    }

    /// What an inspection begins with, once nothing works in the tree any more.
    pub(super) fn inspection_begins(&self) -> Vec<Inspect> {
        match &self.policy.kind {
            Kind::Prompt | Kind::Supervised(_) => Vec::new(),
            Kind::Plan(_) => Run::plan_steps(),
        }
    }

    /// Judge: whether the work is said to be done, so that everything has to hold.
    pub(super) fn is_said_done(&self, at: &Inspection) -> bool {
        match &self.policy.kind {
            Kind::Prompt | Kind::Supervised(_) => verdict::counted_claim(&at.seen) == Claim::Complete,
            Kind::Plan(_) => self.is_plan_done() == Some(true),
        }
    }

    /// Judge: what has to be done before a judgement counts.
    pub(super) fn settle(&mut self, at: &Inspection, judgement: &Judgement) -> Option<RunStep> {
        match &self.policy.kind {
            Kind::Prompt | Kind::Supervised(_) => None,
            Kind::Plan(_) => self.settle_plan(at, judgement),
        }
    }

    /// Judge: the checks that an iteration needs, of all that there are.
    pub(super) fn checks_due(&self, ground: Ground) -> Vec<CheckSpec> {
        let all = self.policy.checks(self.count.iteration(), ground);
        match &self.policy.kind {
            Kind::Prompt | Kind::Supervised(_) => all,
            Kind::Plan(plan) => self.due_in_plan(plan, all),
        }
    }

    /// How an agent ended, in a few words, and whether it ended well.
    pub(super) fn end_of(&self, seen: &Observation) -> (String, bool) {
        match &self.policy.kind {
            Kind::Prompt | Kind::Plan(_) => Run::end_of_worker(seen),
            Kind::Supervised(_) => Run::end_of_root(seen),
        }
    }

    /// Inspection: what follows the end of an agent.
    pub(super) fn inspect(&mut self, seen: &Arc<Observation>) -> RunStep {
        match &self.policy.kind {
            Kind::Prompt => self.inspect_work(seen),
            Kind::Plan(_) => self.inspect_plan(seen),
            Kind::Supervised(_) => self.after_start(seen),
        }
    }

    /// Closing: what the bus is told when somebody stops the run.
    pub(super) fn post_stop(&self, message: &str) -> Option<Act> {
        match &self.policy.kind {
            Kind::Prompt | Kind::Plan(_) => None,
            Kind::Supervised(_) => Some(self.supervised_stop(message)),
        }
    }

    /// Closing: how a person gets a stalled run going again.
    pub(super) fn way_on(&self, more: &str) -> String {
        match &self.policy.kind {
            Kind::Prompt | Kind::Plan(_) => self.answer_by_feedback(more),
            Kind::Supervised(_) => self.answer_by_ack(more),
        }
    }

    /// Resume: the iteration that was in flight, from its beginning.
    pub(super) fn begin_again(&mut self) -> RunStep {
        match &self.policy.kind {
            Kind::Prompt => self.repeat_prompt(),
            Kind::Plan(_) => self.repeat_plan(),
            Kind::Supervised(_) => self.repeat_start(),
        }
    }

    /// Resume: somebody has looked at the end and wants more, so that whatever was counted in a row begins anew.
    pub(super) fn begin_rows_anew(&mut self) {
        match &self.policy.kind {
            Kind::Prompt => {}
            Kind::Supervised(_) => self.forget_starts(),
            Kind::Plan(_) => self.forget_empty_answers(),
        }
    }

    /// Resume: whether the limits leave nothing to do, and what the bus is told.
    pub(super) fn resumed(&self) -> (bool, Option<Act>) {
        match &self.policy.kind {
            Kind::Prompt | Kind::Plan(_) => (false, None),
            Kind::Supervised(_) => self.supervised_resumed(),
        }
    }

    /// Judge: what the newest iteration needed to be complete, and whether it was so.
    pub fn conditions(&self) -> Vec<Condition> {
        match &self.policy.kind {
            Kind::Prompt | Kind::Plan(_) => self.conditions_of_work(),
            Kind::Supervised(_) => self.conditions_of_done(),
        }
    }

    /// The path of a file in the task's folder.
    pub(super) fn in_task_folder(&self, name: &str) -> String {
        match &self.policy.kind {
            Kind::Prompt | Kind::Plan(_) => format!("{}/.ralph/tasks/{}/{name}", self.about.root, self.policy.task),
            Kind::Supervised(supervision) => format!("{}/{name}", supervision.task_folder),
        }
    }
}
