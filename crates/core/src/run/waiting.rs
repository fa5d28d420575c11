//! Waiting: the provider refused or the network failed, so the same iteration is tried again later.
//! It counts as neither failure nor progress.

use super::{Continuation, Phase, Run};
use crate::effect::Effect;
use crate::notice::{Notice, VerdictWord};
use crate::observation::{Failure, FailureClass, Observation};
use crate::outcome::{StopReason, exit};
use crate::time::WallTime;

/// The first back-off.
const FIRST_WAIT_MS: i64 = 10_000;
/// The longest back-off.
const LONGEST_WAIT_MS: i64 = 360_000;
/// A reset is stated to the minute at best, so work begins a minute behind it.
const RESET_MARGIN_MS: i64 = 60_000;
/// No stated reset is believed beyond a day: weekly limits are asked about again.
const LONGEST_RESET_MS: i64 = 86_400_000;
/// Transient failures in a row that are waited for, about two hours; the next one is no longer called transient.
const MOST_TRANSIENT: u32 = 24;

impl Run {
    /// Waits after a limit or a transient failure.
    pub(super) fn wait_after(&mut self, seen: &Observation, failure: &Failure) -> Vec<Effect> {
        use super::stopping::StopWish;
        if let StopWish::AfterActivity(cause) | StopWish::Now(cause) = self.wish {
            return self.finish_stopped(cause, Continuation::SameIteration);
        }
        self.waits_in_row += 1;
        self.transient_in_row = if failure.class == FailureClass::Transient { self.transient_in_row + 1 } else { 0 };
        if self.transient_in_row > MOST_TRANSIENT {
            let times = self.transient_in_row;
            let message = format!("{} failed {times} times in a row: {}", self.policy.agent.command, failure.message);
            return self.finish_with_code(StopReason::Error, exit::AGENT, message, Continuation::SameIteration);
        }
        let until = self.wake_time(failure);
        self.phase = Phase::Waiting;
        let finished = Notice::IterationFinished {
            iteration: self.iteration,
            claim: crate::claim::Claim::None,
            verdict: VerdictWord::Wait,
            reasons: vec![failure.message.clone()],
            cost_usd: seen.cost_usd,
            tokens: seen.tokens,
            leaked: seen.process.leaked_count,
            duration: self.elapsed.minus(self.iteration_began),
        };
        let waiting = Notice::Waiting { iteration: self.iteration, until, why: failure.message.clone() };
        vec![Effect::Tell(finished), Effect::Tell(waiting), Effect::Wait { until }]
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
        crate::text::hash(seed.as_bytes()).bytes().fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte))
    }

    pub(super) fn on_woke(&mut self) -> Vec<Effect> {
        if self.phase != Phase::Waiting {
            return Vec::new();
        }
        self.attempt += 1;
        self.gather()
    }
}
