//! A prompt, worked on by fresh agents until its completion is verified.

use super::super::inspecting::Inspection;
use super::super::{Continuation, Run, RunStep};
use crate::activity::{AgentLog, Keep, MarkerUse, Role};
use crate::observation::{Marker, Observation};
use crate::text;
use std::sync::Arc;

impl Run {
    /// Begins the next iteration, unless a cap forbids it or something must be looked at first.
    pub(in super::super) fn open_prompt(&mut self) -> RunStep {
        // The number is taken only when it is used, so that an end at a cap is the end of the iteration before.
        if let Some(end) = self.stop_at_cap(self.count.next(), Continuation::NextIteration) {
            return end;
        }
        if let Some(first) = self.look_first() {
            return first;
        }
        self.count.begin_next();
        self.gather()
    }

    pub(in super::super) fn manner_of_worker(&self) -> (Role, Keep, MarkerUse) {
        let keep = Keep {
            prompt_file: Some(self.prompt_file("")),
            log: AgentLog::Work,
            messages: self.policy.memory.last_messages,
            logs: 0,
        };
        (Role::Worker, keep, MarkerUse::Claim)
    }

    pub(in super::super) fn end_of_worker(seen: &Observation) -> (String, bool) {
        let how = seen.failure.as_ref().map_or("finished".to_owned(), |failure| failure.message.clone());
        (how, seen.ended_well())
    }

    /// The agent worked; what it did is inspected, unless somebody wants to stop here.
    pub(in super::super) fn inspect_work(&mut self, seen: &Arc<Observation>) -> RunStep {
        if let Some(step) = self.not_worked(seen) {
            return step;
        }
        let inspection = Box::new(Inspection::of(Arc::clone(seen), self.looks_at_the_tree(), self.inspection_begins()));
        if let Marker::WrongKind(kind) = &seen.marker {
            return self.finish_by_wrong_marker("DONE", kind, Continuation::Inspection(inspection));
        }
        // A first interrupt lets the agent finish; what it said is journalled and judged on resume.
        if let Some(cause) = self.wish.cause() {
            return self.finish_stopped(cause, Continuation::Inspection(inspection));
        }
        self.go_on(inspection)
    }

    pub(in super::super) fn answer_by_feedback(&self, more: &str) -> String {
        let feedback = text::in_quotes(&self.in_task_folder(&self.policy.memory.feedback_file));
        format!("echo 'your answer' >> {feedback} && ralph resume {}{more}", self.about.id)
    }

    pub(in super::super) fn repeat_prompt(&mut self) -> RunStep {
        self.count.begin_again();
        self.gather()
    }
}
