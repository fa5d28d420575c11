//! Stopping: who asked for it, how soon, and the one place where a run gets its outcome.

use super::beginning::Beginning;
use super::{Continuation, Phase, Run};
use crate::bus::Kind;
use crate::bus::TASK_BUS;
use crate::effect::Effect;
use crate::memory::StateView;
use crate::notice::Notice;
use crate::outcome::{Outcome, StopReason, exit};
use crate::text;
use std::fmt::Write as _;

/// Whether somebody wants the run to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopWish {
    None,
    /// When what runs now has ended by itself.
    AfterActivity(StopCause),
    /// At once: what runs is being ended.
    Now(StopCause),
}

/// Who wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopCause {
    Interrupted,
    Cancelled,
    WallTime,
    Budget,
}

impl Run {
    /// Somebody wants the run to stop. A first interrupt is patient; everything else is not.
    pub(super) fn on_stop(&mut self, cause: StopCause) -> Vec<Effect> {
        if matches!(self.phase, Phase::Ended(..)) {
            return Vec::new();
        }
        let patient = cause == StopCause::Interrupted && self.wish == StopWish::None;
        let mut effects = Vec::new();
        if matches!(cause, StopCause::Interrupted | StopCause::Cancelled) {
            effects.push(Effect::Tell(Notice::Stopping { now: !patient }));
        }
        let something_runs = match &self.phase {
            Phase::Working => true,
            Phase::Checking(checking) => checking.runs_a_command(),
            Phase::Beginning(Beginning::Checks(_)) => true,
            _ => false,
        };
        if !something_runs {
            let continuation = match &self.phase {
                Phase::Checking(checking) => Continuation::Checks(checking.clone()),
                Phase::Beginning(_) | Phase::Looking | Phase::Resting | Phase::Finishing(_) => {
                    Continuation::NextIteration
                }
                _ => Continuation::SameIteration,
            };
            effects.extend(self.finish_stopped(cause, continuation));
        } else if patient {
            self.wish = StopWish::AfterActivity(cause);
        } else {
            // The first cause to be impatient names the end; later ones only repeat the order.
            if !matches!(self.wish, StopWish::Now(_)) {
                self.wish = StopWish::Now(cause);
            }
            effects.push(Effect::EndActivity);
        }
        effects
    }

    /// Ends the run because somebody asked for it.
    pub(super) fn finish_stopped(&mut self, cause: StopCause, continuation: Continuation) -> Vec<Effect> {
        let step = self.policy.kind.step();
        let (reason, message) = match cause {
            StopCause::Interrupted => {
                (StopReason::Interrupted, format!("interrupted in {step} {}; nothing is lost", self.iteration))
            }
            StopCause::Cancelled => (StopReason::Cancelled, format!("cancelled in {step} {}", self.iteration)),
            StopCause::WallTime => {
                (StopReason::MaxWallTime, format!("the wall time of {} is used up", self.policy.limits.wall))
            }
            StopCause::Budget => {
                let message = self.budget_reached().unwrap_or_else(|| "the budget is used up".to_owned());
                (StopReason::Budget, message)
            }
        };
        let told = self.supervises().then(|| self.post(Kind::INFO, format!("task stopped: {message}")));
        told.into_iter().chain(self.finish(reason, message, continuation)).collect()
    }

    /// Ends the run with the exit code that its reason usually has.
    pub(super) fn finish(&mut self, reason: StopReason, message: String, continuation: Continuation) -> Vec<Effect> {
        let code = match reason {
            StopReason::Complete => exit::OK,
            StopReason::Blocked => exit::BLOCKED,
            StopReason::MaxIterations | StopReason::MaxRestarts | StopReason::SinglePass => exit::USED_UP,
            StopReason::MaxWallTime | StopReason::Budget => exit::LIMIT,
            StopReason::Error => exit::AGENT,
            StopReason::Waiting => exit::WAITING,
            StopReason::Stalled => exit::STALLED,
            StopReason::Cancelled | StopReason::Interrupted => exit::INTERRUPTED,
        };
        self.finish_with_code(reason, code, message, continuation)
    }

    /// Ends the run.
    pub(super) fn finish_with_code(
        &mut self,
        reason: StopReason,
        code: u8,
        message: String,
        continuation: Continuation,
    ) -> Vec<Effect> {
        self.end(Ending { reason, code, message, verified: false }, continuation)
    }

    /// Ends the run and writes the last state of its views.
    pub(super) fn end(&mut self, ending: Ending, continuation: Continuation) -> Vec<Effect> {
        let Ending { reason, code, mut message, verified } = ending;
        if let Some(failure) = &self.scm_failure {
            message += &format!("; but {failure}");
        }
        if !self.inbox.open().is_empty() {
            message += &format!("; not acknowledged: {}", self.inbox.open().words());
        }
        let outcome = Outcome {
            reason,
            next: self.next_commands(reason, code, verified, &continuation),
            message,
            verified,
            iterations: self.judged,
            exit_code: code,
            cost_usd: self.cost_usd,
            tokens: self.tokens,
        };
        let mut effects = Vec::new();
        if self.policy.memory.enabled && self.judged > 0 {
            // What people wrote is used up with the iteration that carried it. One that is begun again carries
            // it again, and one that is still to be judged uses it up then.
            let seen_human = match continuation {
                Continuation::NextIteration | Continuation::Nothing => self.human.clone(),
                Continuation::SameIteration | Continuation::Checks(_) => String::new(),
            };
            effects.push(self.write_views(Some((reason, &outcome.message)), seen_human));
        }
        effects.push(Effect::Tell(Notice::RunFinished { outcome: outcome.clone(), elapsed: self.elapsed }));
        effects.push(Effect::Finish);
        self.phase = Phase::Ended(Box::new(outcome), continuation);
        effects
    }

    /// The readable views as they are now.
    pub(super) fn write_views(&self, stopped: Option<(StopReason, &str)>, seen_human: String) -> Effect {
        let state = StateView {
            task_id: self.policy.task.as_str(),
            started_at: self.started_at,
            updated_at: self.updated_at,
            iteration: self.judged,
            stop_reason: stopped.map(|(reason, _)| reason.as_str()),
            stop_message: stopped.map_or("", |(_, message)| message),
            completion_promise_matched: self.last_judged.claimed,
            errors: &self.last_judged.errors,
        };
        let views = self.memory.views(&self.policy.memory, &self.base, self.feedback.clone(), seen_human, &state);
        Effect::WriteViews(Box::new(views))
    }

    /// A marker that is no file says nothing, and only a person can know what it was meant for.
    pub(super) fn finish_by_wrong_marker(&mut self, name: &str, kind: &str, then: Continuation) -> Vec<Effect> {
        let message = format!("{} is a {kind}, not a file; remove it and resume", self.in_task_folder(name));
        self.finish_with_code(StopReason::Error, exit::USAGE, message, then)
    }

    /// The path of a file in the task's folder.
    fn in_task_folder(&self, name: &str) -> String {
        match &self.policy.supervision {
            Some(supervision) => format!("{}/{name}", supervision.task_folder),
            None => format!("{}/.ralph/tasks/{}/{name}", self.root, self.policy.task),
        }
    }

    /// The flags that raise every limit that is used up: a hint that ends at once would be none.
    fn raised(&self, reason: StopReason, repeats: bool) -> String {
        let limits = &self.policy.limits;
        let (cost, tokens) = (self.cost_usd.unwrap_or(0.0), self.tokens.total());
        let mut flags = String::new();
        // An iteration that is begun again needs no further one.
        if !repeats && self.iteration >= limits.max_iterations {
            let _ = write!(flags, " -m {}", self.iteration.saturating_mul(2));
        }
        if reason == StopReason::MaxWallTime || !limits.wall.is_off() && self.elapsed >= limits.wall {
            let enough = if limits.wall.plus(limits.wall) > self.elapsed { limits.wall } else { self.elapsed };
            let _ = write!(flags, " --max-wall-time {}", enough.doubled());
        }
        if limits.max_cost_usd > 0.0 && cost >= limits.max_cost_usd {
            let _ = write!(flags, " --max-cost {}", text::money(cost * 2.0));
        }
        if limits.max_tokens > 0 && tokens >= limits.max_tokens {
            let _ = write!(flags, " --max-tokens {}", tokens.saturating_mul(2));
        }
        flags
    }

    /// What a person would type next, most useful first.
    fn next_commands(&self, reason: StopReason, code: u8, verified: bool, then: &Continuation) -> Vec<String> {
        let run = &self.id;
        let show = format!("ralph show {run}");
        let explain = format!("ralph explain {run}");
        let repeats = matches!(then, Continuation::SameIteration);
        let more = self.raised(reason, repeats);
        match reason {
            StopReason::Complete if verified => vec![show],
            StopReason::Complete => vec![explain],
            StopReason::Budget if self.task_budget_reached() => {
                vec![
                    "ralph config show --origin  # raise limits.taskMaxCostUsd or limits.taskMaxTokens, then run again"
                        .to_owned(),
                    explain,
                ]
            }
            StopReason::MaxIterations | StopReason::MaxRestarts | StopReason::MaxWallTime | StopReason::Budget => {
                vec![format!("ralph resume {run}{more}"), explain]
            }
            // Its agent was told often enough; somebody else can say that it is done.
            StopReason::Stalled if self.supervises() => {
                let bus = text::in_quotes(&self.in_task_folder(TASK_BUS));
                let first = self.inbox.open().first().0.next();
                let ack = first.map(|request| {
                    format!("ralph bus post --bus {bus} --type ACK --parent {} 'what was done' && ", request.id)
                });
                vec![format!("{}ralph resume {run}{more}", ack.unwrap_or_default()), explain]
            }
            StopReason::Blocked | StopReason::Stalled => {
                let feedback = text::in_quotes(&self.in_task_folder(&self.policy.memory.feedback_file));
                vec![format!("echo 'your answer' >> {feedback} && ralph resume {run}{more}"), explain]
            }
            StopReason::SinglePass if code == exit::OK => vec![show],
            // What is left is version control, and resuming does only that.
            StopReason::Error if code == exit::USED_UP => vec![format!("ralph resume {run}"), explain],
            // The agent is pinned like everything else, so another one must be named.
            StopReason::Error if code == exit::AGENT && repeats => {
                vec![format!("ralph resume {run}"), format!("ralph resume {run} --agent OTHER"), explain]
            }
            StopReason::Error | StopReason::SinglePass | StopReason::Waiting => {
                vec![explain, format!("ralph resume {run}{more}")]
            }
            StopReason::Cancelled | StopReason::Interrupted => vec![format!("ralph resume {run}")],
        }
    }
}

/// How a run ends, before it is counted and told.
pub(super) struct Ending {
    pub(super) reason: StopReason,
    pub(super) code: u8,
    pub(super) message: String,
    pub(super) verified: bool,
}
