//! Working: the agent's process is gone, and its end says whether the iteration counts, is tried
//! again, or ends the run.

use super::stopping::StopWish;
use super::{Continuation, Phase, Run, RunStep};
use crate::machine::Step;
use crate::notice::Notice;
use crate::observation::{Ending, Failure, FailureClass, Observation, StartFault};
use crate::outcome::exit;
use crate::words::{Cause, Note};
use std::sync::Arc;

impl Run {
    pub(super) fn on_agent_ended(&mut self, seen: &Observation) -> Option<RunStep> {
        let seen = &Arc::new(as_failed_if_ended(seen));
        match &self.phase {
            Phase::Working => {}
            Phase::Inspecting(inspection) if inspection.asks_for_message() => {
                let inspection = inspection.clone();
                return Some(self.on_message(inspection, seen));
            }
            _ => return None,
        }
        self.spend.add(seen);
        self.last.end(seen);
        // An agent that ralph itself ended has said nothing: its iteration will be begun again.
        let cut_off = match (&self.wish, &seen.process.ending) {
            (StopWish::Now(cause), Ending::Stopped) => Some(*cause),
            _ => None,
        };
        let told = self.tell_end(seen);
        Some(told.then(match cut_off {
            Some(cause) => self.finish_stopped(cause, Continuation::SameIteration),
            None => self.inspect(seen),
        }))
    }

    fn tell_end(&mut self, seen: &Observation) -> RunStep {
        let (how, well) = self.end_of(seen);
        let ended = Notice::AgentEnded {
            iteration: self.count.iteration(),
            how,
            well,
            lines: seen.lines,
            duration: seen.process.duration,
        };
        let missing = self.spend.missing_price(seen, &self.policy.limits);
        let agent = || self.crew.agent(&self.policy).command.clone();
        let missing = missing.map(|states| Note::BudgetUnkept { agent: agent(), states });
        let notes = leaked(seen).into_iter().chain(missing).map(Notice::Note);
        let told = Step::telling(std::iter::once(ended).chain(notes)).then(self.take_acks(seen));
        self.brief.keep_errors(seen.all_errors());
        told
    }

    /// What follows an agent that could not work: it is tried again, another one goes on, or the run ends. `None`
    /// if it worked, well or not.
    pub(super) fn not_worked(&mut self, seen: &Observation) -> Option<RunStep> {
        let step = seen.failure.as_ref().and_then(|failure| {
            // Another agent or another try would find the same folder and the same machine.
            if let Ending::NotStarted { fault: fault @ (StartFault::Folder | StartFault::Machine), .. } =
                seen.process.ending
            {
                let cause = Cause::Agent { message: failure.message.clone(), code: fault.exit_code() };
                return Some(self.finish(cause, Continuation::SameIteration));
            }
            match failure.class {
                FailureClass::CannotRun => Some(self.cannot_run(seen, failure)),
                FailureClass::Limited => Some(self.limited(seen, failure)),
                FailureClass::Transient => Some(self.failed_for_now(seen, failure)),
                FailureClass::Silent | FailureClass::Other => None,
            }
        });
        if step.is_none() {
            self.crew.end_row();
        }
        step
    }

    fn cannot_run(&mut self, seen: &Observation, failure: &Failure) -> RunStep {
        if self.crew.is_fallback() {
            return self.give_up_fallback(seen, failure);
        }
        let cause = Cause::Agent { message: failure.message.clone(), code: exit::AGENT };
        self.finish(cause, Continuation::SameIteration)
    }
}

/// A process that did not come to its own end has failed, whatever a dialect made of its stream:
/// nothing that it claimed may count.
fn as_failed_if_ended(seen: &Observation) -> Observation {
    let class = match &seen.process.ending {
        Ending::Exited { .. } | Ending::Lingered => None,
        Ending::NotStarted {
            fault: StartFault::Program | StartFault::NotExecutable | StartFault::Arguments, ..
        } => Some(FailureClass::CannotRun),
        Ending::Signalled { .. }
        | Ending::TimedOut { .. }
        | Ending::Idle { .. }
        | Ending::Stopped
        | Ending::NotStarted { .. }
        | Ending::KeeperLost => Some(FailureClass::Other),
    };
    let mut seen = seen.clone();
    if let (None, Some(class)) = (&seen.failure, class) {
        seen.failure = Some(Failure::new(class, "the agent did not come to its own end"));
    }
    seen
}

/// What had to be ended after the agent, if anything.
fn leaked(seen: &Observation) -> Option<Note> {
    let commands = || seen.process.leaked.iter().take(3).map(|leaked| leaked.command.clone()).collect();
    let count = seen.process.leaked_count;
    (count > 0).then(|| Note::Leaked { count, commands: commands() })
}
