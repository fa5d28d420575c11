//! What differs by kind: one exhaustive match per seam, each arm one call into `kinds`. A new kind of loop is a
//! new file there and an arm in every match here; nothing else in the machine asks for the kind.

use super::{Run, RunStep};
use crate::activity::{Act, Keep, MarkerUse, Role};
use crate::observation::{Markers, Observation};
use crate::policy::Kind;
use crate::verdict::Condition;
use std::sync::Arc;

impl Run {
    /// Opening: whatever comes before the next iteration, and then its beginning.
    pub(super) fn open(&mut self) -> RunStep {
        match &self.policy.kind {
            Kind::Prompt | Kind::Plan(_) => self.open_prompt(),
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
            Kind::Prompt | Kind::Plan(_) => self.brief.prompt(&self.policy, self.count.iteration(), self.inbox.open()),
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

    /// What the bus is told when an agent is started.
    pub(super) fn post_start(&self) -> Option<Act> {
        match &self.policy.kind {
            Kind::Prompt | Kind::Plan(_) => None,
            Kind::Supervised(_) => Some(self.supervised_start()),
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
            Kind::Prompt | Kind::Plan(_) => self.inspect_work(seen),
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
            Kind::Prompt | Kind::Plan(_) => self.repeat_prompt(),
            Kind::Supervised(_) => self.repeat_start(),
        }
    }

    /// Resume: somebody has looked at the end and wants more, so that whatever was counted in a row begins anew.
    pub(super) fn begin_rows_anew(&mut self) {
        match &self.policy.kind {
            Kind::Prompt | Kind::Plan(_) => {}
            Kind::Supervised(_) => self.forget_starts(),
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
