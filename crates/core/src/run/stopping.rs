//! Stopping: who asked for it, how soon, and the one place where a run gets its outcome.

use super::closing::Ending;
use super::opening::Opening;
use super::{Continuation, Phase, Run, RunStep};
use crate::activity::Act;
use crate::machine::{Next, Step};
use crate::memory::StateView;
use crate::notice::Notice;
use crate::outcome::{Outcome, StopReason, Verification, exit};
use crate::policy::PromptSource;
use crate::words::{Budget, Cause};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Whether somebody wants the run to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum StopWish {
    None,
    /// When what runs now has ended by itself.
    AfterActivity(StopCause),
    /// At once: what runs is being ended.
    Now(StopCause),
}

impl StopWish {
    /// Who wants it, however soon.
    pub(super) const fn cause(self) -> Option<StopCause> {
        match self {
            StopWish::None => None,
            StopWish::AfterActivity(cause) | StopWish::Now(cause) => Some(cause),
        }
    }
}

/// Who wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum StopCause {
    Interrupted,
    Cancelled,
    WallTime,
    Budget,
}

impl Run {
    /// Somebody wants the run to stop. A first interrupt is patient; everything else is not.
    pub(super) fn on_stop(&mut self, cause: StopCause) -> Option<RunStep> {
        if matches!(self.phase, Phase::Ended(..)) {
            return None;
        }
        // It ends anyway, and whoever is impatient gets that end without the last look.
        if let Some(ending) = self.ending() {
            return Some(self.end(ending));
        }
        let patient = cause == StopCause::Interrupted && self.wish == StopWish::None;
        let by_a_person = matches!(cause, StopCause::Interrupted | StopCause::Cancelled);
        let told = Step::telling(by_a_person.then_some(Notice::Stopping { now: !patient }));
        let something_runs = match &self.phase {
            Phase::Working | Phase::Opening(Opening::Checks(_)) => true,
            Phase::Inspecting(inspection) => inspection.runs_a_command(),
            _ => false,
        };
        if !something_runs {
            return Some(told.then(self.finish_stopped(cause, self.continuation()).instead()));
        }
        if patient {
            self.wish = StopWish::AfterActivity(cause);
            return Some(told);
        }
        // The first cause to be impatient names the end; later ones only repeat the order.
        if !matches!(self.wish, StopWish::Now(_)) {
            self.wish = StopWish::Now(cause);
        }
        Some(Step { next: Next::EndRunning, ..told })
    }

    /// A run that crashed is cancelled: nothing of it runs, so nothing is waited for.
    pub(super) fn on_cancelled_uncarried(&mut self) -> Option<RunStep> {
        if matches!(self.phase, Phase::Ended(..)) {
            return None;
        }
        let end = match self.ending() {
            Some(_) => Step::default(),
            None => self.finish_stopped(StopCause::Cancelled, self.continuation()),
        };
        // Nobody is there who could take a last look.
        Some(match self.ending() {
            Some(ending) => end.then(self.end(ending)),
            None => end,
        })
    }

    /// Ends the run because somebody asked for it.
    pub(super) fn finish_stopped(&mut self, cause: StopCause, continuation: Continuation) -> RunStep {
        let (step, number) = (self.policy.kind.name().step(), self.count.iteration());
        let cause = match cause {
            StopCause::Interrupted => Cause::Interrupted { step, number },
            StopCause::Cancelled => Cause::Cancelled { step, number },
            StopCause::WallTime => Cause::WallTime(self.policy.limits.wall),
            StopCause::Budget => {
                let used_up = self.spend.used_up(&self.policy.limits, &self.policy.task);
                Cause::Budget(used_up.unwrap_or(Budget::Unsaid))
            }
        };
        Step::acting(self.post_stop(&cause.to_string())).then(self.finish(cause, continuation))
    }

    /// Decides how the run ends: the one place where it gets its outcome.
    pub(super) fn finish(&mut self, cause: Cause, continuation: Continuation) -> RunStep {
        let ((reason, code), verification, mut message) = (cause.ends_as(), cause.verification(), cause.to_string());
        if let Some(failure) = &self.scm_failure {
            message += &format!("; but {failure}");
        }
        if !self.inbox.open().is_empty() {
            message += &format!("; not acknowledged: {}", self.inbox.open().words());
        }
        let outcome = Outcome {
            reason,
            next: self.next_commands((reason, code, verification), &continuation),
            message,
            verification,
            iterations: self.count.judged(),
            exit_code: code,
            cost_usd: self.spend.cost_usd(),
            tokens: self.spend.tokens(),
            tests_changed: None,
        };
        // What people wrote is used up with the iteration that carried it. One that is begun again carries
        // it again, and one that is still to be judged uses it up then.
        let seen_human = match continuation {
            Continuation::NextIteration | Continuation::Nothing => self.brief.human().to_owned(),
            Continuation::SameIteration | Continuation::Inspection(_) => String::new(),
        };
        self.close_as(Ending { outcome, then: continuation, seen_human })
    }

    /// Ends the run and writes the last state of its views.
    pub(super) fn end(&mut self, ending: Ending) -> RunStep {
        let Ending { outcome, then, seen_human } = ending;
        let views = (self.has_views() && self.count.judged() > 0)
            .then(|| self.write_views(Some((outcome.reason, &outcome.message)), seen_human));
        self.phase = Phase::Ended(Box::new(outcome.clone()), then);
        let told = Notice::RunFinished { outcome: outcome.clone(), elapsed: self.now.elapsed };
        let pinned = self.policy.supervision().is_none().then(|| Act::RememberPinned(self.pins()));
        let acts = views.into_iter().chain(pinned).chain(self.act_at_end()).collect();
        Step { tell: vec![told], acts, next: Next::Finished(outcome), durable: true, receipts: Vec::new() }
    }

    pub(super) fn has_views(&self) -> bool {
        self.policy.memory.enabled && !self.unheard
    }

    /// The readable views as they are now.
    pub(super) fn write_views(&self, stopped: Option<(StopReason, &str)>, seen_human: String) -> Act {
        let state = StateView {
            task_id: self.policy.task.as_str(),
            started_at: self.about.started_at,
            updated_at: self.now.at,
            iteration: self.count.judged(),
            stop_reason: stopped.map(|(reason, _)| reason.as_str()),
            stop_message: stopped.map_or("", |(_, message)| message),
            completion_promise_matched: false,
            errors: &[],
        };
        Act::WriteViews(Box::new(self.brief.views(&self.policy, seen_human, state)))
    }

    /// A marker that is no file says nothing, and only a person can know what it was meant for.
    pub(super) fn finish_by_wrong_marker(&mut self, name: &str, kind: &str, then: Continuation) -> RunStep {
        let cause = Cause::NotAFile { path: self.in_task_folder(name), kind: kind.to_owned() };
        self.finish(cause, then)
    }

    /// The flags that raise every limit that is used up: a hint that ends at once would be none.
    fn raised(&self, reason: StopReason, repeats: bool) -> String {
        let (limits, iteration, elapsed) = (&self.policy.limits, self.count.iteration(), self.now.elapsed);
        let mut flags = String::new();
        // An iteration that is begun again needs no further one.
        if !repeats && iteration >= limits.max_iterations {
            let _ = write!(flags, " -m {}", iteration.saturating_mul(2));
        }
        if reason == StopReason::MaxWallTime || !limits.wall.is_off() && elapsed >= limits.wall {
            let enough = if limits.wall.plus(limits.wall) > elapsed { limits.wall } else { elapsed };
            let _ = write!(flags, " --max-wall-time {}", enough.doubled());
        }
        flags + &self.spend.raised(limits)
    }

    /// What a person would type next, most useful first.
    fn next_commands(&self, ended: (StopReason, u8, Option<Verification>), then: &Continuation) -> Vec<String> {
        let (reason, code, verification) = ended;
        let run = &self.about.id;
        let show = format!("ralph show {run}");
        let explain = format!("ralph explain {run}");
        let repeats = matches!(then, Continuation::SameIteration);
        let more = self.raised(reason, repeats);
        match reason {
            StopReason::Complete if self.plan().is_some() && verification == Some(Verification::Verified) => {
                vec![show, "ralph plan archive".to_owned()]
            }
            StopReason::Complete if self.plan().is_some() => vec![explain, "ralph plan archive".to_owned()],
            StopReason::Complete if verification == Some(Verification::Verified) => vec![show],
            StopReason::Complete if verification == Some(Verification::Unpinned) => {
                vec!["ralph judges".to_owned(), explain]
            }
            StopReason::Complete if !self.integrity.doubted_rules().is_empty() => {
                let anew = match &self.policy.prompt {
                    PromptSource::File(file) => format!("ralph run -f {file}"),
                    PromptSource::Text(_) => "ralph run -p 'make the tests pass'".to_owned(),
                };
                vec![anew, explain]
            }
            StopReason::Complete if verification == Some(Verification::Untrusted) => {
                vec!["ralph trust --show".to_owned(), explain]
            }
            StopReason::Complete => vec![explain],
            StopReason::Budget if self.spend.task_used_up(&self.policy.limits) => {
                vec![
                    "ralph config show --origin  # raise limits.taskMaxCostUsd or limits.taskMaxTokens, then run again"
                        .to_owned(),
                    explain,
                ]
            }
            StopReason::MaxIterations | StopReason::MaxRestarts | StopReason::MaxWallTime | StopReason::Budget => {
                vec![format!("ralph resume {run}{more}"), explain]
            }
            StopReason::Stalled => vec![self.way_on(&more), explain],
            StopReason::Blocked => vec![self.answer_by_feedback(&more), explain],
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
