//! Waiting: the provider refused or the network failed, so the same iteration is tried again, later
//! or by another agent. It counts as neither failure nor progress.

use super::stopping::StopWish;
use super::{Continuation, Phase, Run};
use crate::claim::Claim;
use crate::effect::Effect;
use crate::notice::{Notice, VerdictWord};
use crate::observation::{Failure, Observation};
use crate::outcome::{StopReason, exit};
use crate::policy::AgentPolicy;
use crate::text;
use crate::time::{Millis, WallTime};

/// The first back-off.
const FIRST_WAIT_MS: i64 = 10_000;
/// The longest back-off.
const LONGEST_WAIT_MS: i64 = 360_000;
/// A reset is stated to the minute at best, so work begins a minute behind it.
const RESET_MARGIN_MS: i64 = 60_000;
/// No stated reset is believed beyond this: the longest limits are weekly ones.
const LONGEST_RESET_MS: i64 = 8 * 86_400_000;
/// Transient failures in a row that are waited for, about two hours; the next one is no longer called transient.
const MOST_TRANSIENT: u32 = 24;
/// An agent that cannot run at all is not asked again.
const NEVER: WallTime = WallTime(i64::MAX);

impl Run {
    /// Who works now.
    pub(super) fn agent_now(&self) -> &AgentPolicy {
        self.agent_at(self.agent)
    }

    fn agent_at(&self, index: usize) -> &AgentPolicy {
        let fallback = index.checked_sub(1).and_then(|index| self.policy.fallback.get(index));
        fallback.unwrap_or(&self.policy.agent)
    }

    /// The first agent in the order of preference that is not refused at this moment.
    fn free_agent(&self) -> Option<usize> {
        (0..=self.policy.fallback.len())
            .find(|index| self.refused.get(index).is_none_or(|until| *until <= self.updated_at))
    }

    /// Takes the most preferred agent that may work, and tells if it is another one than before.
    pub(super) fn choose_agent(&mut self) -> Vec<Effect> {
        // If all are refused, the wait was for this one, or its clock says otherwise than ours.
        let chosen = self.free_agent().unwrap_or(self.agent);
        if chosen == self.agent {
            return Vec::new();
        }
        let back = chosen < self.agent;
        self.agent = chosen;
        let name = &self.agent_now().command;
        let text =
            if back { format!("{name} may work again and goes on") } else { format!("{name} goes on meanwhile") };
        vec![Effect::Tell(Notice::Note { text })]
    }

    /// The provider refuses: another agent goes on, or all wait for the first that may.
    pub(super) fn limited(&mut self, seen: &Observation, failure: &Failure) -> Vec<Effect> {
        if let Some(end) = self.stop_before_waiting() {
            return end;
        }
        self.waits_in_row += 1;
        self.transient_in_row = 0;
        let until = self.wake_time(failure);
        self.refused.insert(self.agent, until);
        self.another_or_wait(seen, failure)
    }

    /// A fallback turned out to be unusable; it is passed over from now on.
    pub(super) fn give_up_fallback(&mut self, seen: &Observation, failure: &Failure) -> Vec<Effect> {
        if let Some(end) = self.stop_before_waiting() {
            return end;
        }
        self.refused.insert(self.agent, NEVER);
        self.another_or_wait(seen, failure)
    }

    /// The network failed or the provider is overloaded.
    pub(super) fn failed_for_now(&mut self, seen: &Observation, failure: &Failure) -> Vec<Effect> {
        if let Some(end) = self.stop_before_waiting() {
            return end;
        }
        self.waits_in_row += 1;
        self.transient_in_row += 1;
        if self.transient_in_row > MOST_TRANSIENT {
            let times = self.transient_in_row;
            let message = format!("{} failed {times} times in a row: {}", self.agent_now().command, failure.message);
            return self.finish_with_code(StopReason::Error, exit::AGENT, message, Continuation::SameIteration);
        }
        let until = self.wake_time(failure);
        self.wait(until, seen, failure)
    }

    fn stop_before_waiting(&mut self) -> Option<Vec<Effect>> {
        match self.wish {
            StopWish::None => None,
            StopWish::AfterActivity(cause) | StopWish::Now(cause) => {
                Some(self.finish_stopped(cause, Continuation::SameIteration))
            }
        }
    }

    fn another_or_wait(&mut self, seen: &Observation, failure: &Failure) -> Vec<Effect> {
        if self.free_agent().is_some_and(|free| free != self.agent) {
            self.attempt += 1;
            let mut effects = vec![self.not_counted(VerdictWord::Retry, seen, failure)];
            effects.extend(self.gather());
            return effects;
        }
        let until = self.refused.values().min().copied().unwrap_or(NEVER);
        if !self.policy.limits.wait {
            let message = format!("{}; not waited for, as --no-wait or limits.waitForReset says", failure.message);
            return self.finish_with_code(StopReason::Error, exit::AGENT, message, Continuation::SameIteration);
        }
        self.wait(until, seen, failure)
    }

    fn wait(&mut self, until: WallTime, seen: &Observation, failure: &Failure) -> Vec<Effect> {
        self.phase = Phase::Waiting(until);
        let waiting = Notice::Waiting { iteration: self.iteration, until, why: failure.message.clone() };
        let mut effects = vec![self.not_counted(VerdictWord::Wait, seen, failure), Effect::Tell(waiting)];
        let long = Millis(u64::try_from(until.0.saturating_sub(self.updated_at.0)).unwrap_or(0));
        // Whoever goes to bed now should know that this wait will lead to nothing.
        if self.wall_left().is_some_and(|left| long > left) {
            let (run, wall) = (&self.id, self.policy.limits.wall);
            let text = format!(
                "the wall time of {wall} will end this run before the wait is over; to let it go on: interrupt it, then \
                 ralph resume {run} --max-wall-time {}",
                self.elapsed.plus(long).doubled()
            );
            effects.push(Effect::Tell(Notice::Note { text }));
        }
        effects.push(Effect::Wait { until });
        effects
    }

    /// The end of a try that will be repeated under its number.
    fn not_counted(&self, verdict: VerdictWord, seen: &Observation, failure: &Failure) -> Effect {
        Effect::Tell(Notice::IterationFinished {
            iteration: self.iteration,
            claim: Claim::None,
            verdict,
            reasons: vec![failure.message.clone()],
            cost_usd: seen.cost_usd,
            tokens: seen.tokens,
            leaked: seen.process.leaked_count,
            duration: self.elapsed.minus(self.iteration_began),
        })
    }

    fn wake_time(&self, failure: &Failure) -> WallTime {
        let now = self.updated_at.0;
        if let Some(reset) = failure.resets_at {
            let wanted = reset.saturating_mul(1000).saturating_add(RESET_MARGIN_MS);
            // A reset in the past says nothing; falling through to the back-off avoids a busy loop.
            if wanted > now {
                return WallTime(wanted.min(now.saturating_add(LONGEST_RESET_MS)));
            }
        }
        let doublings = self.waits_in_row.saturating_sub(1).min(10);
        let full = (FIRST_WAIT_MS << doublings).min(LONGEST_WAIT_MS);
        WallTime(now.saturating_add(full / 2 + full / 2 * i64::from(self.jitter()) / 256))
    }

    /// A number from 0 to 255 that differs between runs and tries, and is the same on replay.
    fn jitter(&self) -> u8 {
        let seed = format!("{} {} {}", self.id, self.iteration, self.waits_in_row);
        text::hash(seed.as_bytes()).bytes().fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte))
    }

    pub(super) fn on_woke(&mut self) -> Vec<Effect> {
        match self.phase {
            Phase::Waiting(_) => {
                self.attempt += 1;
                self.gather()
            }
            Phase::Resting => self.look_at_markers(),
            _ => Vec::new(),
        }
    }
}
