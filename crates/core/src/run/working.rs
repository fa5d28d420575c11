//! Working: the agent's process is gone, and its end says whether the iteration counts, is tried
//! again, or ends the run.

use super::checking::{Checking, Stage};
use super::stopping::StopWish;
use super::{Continuation, Phase, Run};
use crate::effect::Effect;
use crate::notice::Notice;
use crate::observation::{Ending, Failure, FailureClass, Marker, Observation, StartFault};
use crate::outcome::{StopReason, exit};

impl Run {
    pub(super) fn on_agent_ended(&mut self, seen: &Observation) -> Vec<Effect> {
        let seen = &as_failed_if_ended(seen);
        match &self.phase {
            Phase::Working => {}
            Phase::Checking(checking) if checking.stage == Stage::Message => {
                let checking = checking.clone();
                return self.on_message(checking, seen);
            }
            _ => return Vec::new(),
        }
        self.add_usage(seen);
        if self.supervises() {
            return self.on_attempt_ended(seen);
        }
        let how = seen.failure.as_ref().map_or("finished".to_owned(), |failure| failure.message.clone());
        let mut effects = vec![Effect::Tell(Notice::AgentEnded {
            iteration: self.iteration,
            how,
            well: seen.ended_well(),
            lines: seen.lines,
            duration: seen.process.duration,
        })];
        effects.extend(leak_note(seen));
        effects.extend(self.tell_missing_price(seen));
        effects.extend(self.take_acks(seen));
        self.last_judged.errors = seen.all_errors();
        effects.extend(self.after_agent(seen));
        effects
    }

    fn after_agent(&mut self, seen: &Observation) -> Vec<Effect> {
        // An agent that ralph itself ended has said nothing: its iteration will be begun again.
        if let (StopWish::Now(cause), Ending::Stopped) = (&self.wish, &seen.process.ending) {
            let cause = *cause;
            return self.finish_stopped(cause, Continuation::SameIteration);
        }
        if let Some(failure) = &seen.failure {
            // Another agent or another try would find the same folder and the same machine.
            if let Ending::NotStarted { fault: fault @ (StartFault::Folder | StartFault::Machine), .. } =
                seen.process.ending
            {
                let (code, message) = (fault.exit_code(), failure.message.clone());
                return self.finish_with_code(StopReason::Error, code, message, Continuation::SameIteration);
            }
            match failure.class {
                FailureClass::CannotRun => return self.cannot_run(seen, failure),
                FailureClass::Limited => return self.limited(seen, failure),
                FailureClass::Transient => return self.failed_for_now(seen, failure),
                FailureClass::Other => {}
            }
        }
        self.waits_in_row = 0;
        self.transient_in_row = 0;
        let checking = Box::new(Checking::new(seen.clone()));
        if let Marker::WrongKind(kind) = &seen.marker {
            return self.finish_by_wrong_marker("DONE", kind, Continuation::Checks(checking));
        }
        // A first interrupt lets the agent finish; what it said is journalled and judged on resume.
        if let StopWish::AfterActivity(cause) | StopWish::Now(cause) = self.wish {
            return self.finish_stopped(cause, Continuation::Checks(checking));
        }
        self.go_on_checking(checking)
    }

    fn cannot_run(&mut self, seen: &Observation, failure: &Failure) -> Vec<Effect> {
        if self.agent > 0 {
            return self.give_up_fallback(seen, failure);
        }
        let message = failure.message.clone();
        self.finish_with_code(StopReason::Error, exit::AGENT, message, Continuation::SameIteration)
    }

    pub(super) fn add_usage(&mut self, seen: &Observation) {
        self.tokens = self.tokens.plus(seen.tokens);
        if let Some(cost) = seen.cost_usd {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost);
        }
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
pub(super) fn leak_note(seen: &Observation) -> Option<Effect> {
    (seen.process.leaked_count > 0).then(|| Effect::Tell(Notice::Note { text: leak_sentence(seen) }))
}

fn leak_sentence(seen: &Observation) -> String {
    let count = match seen.process.leaked_count {
        1 => "a process".to_owned(),
        more => format!("{more} processes"),
    };
    let commands: Vec<&str> = seen.process.leaked.iter().take(3).map(|leaked| leaked.command.as_str()).collect();
    format!("the agent left {count} behind, ended now: {}", commands.join("; "))
}
