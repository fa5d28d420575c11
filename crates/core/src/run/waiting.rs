//! Waiting: the provider refused or the network failed, so the same iteration is tried again, later
//! or by another agent. It counts as neither failure nor progress.

use super::{Continuation, Pause, Phase, Run, RunStep};
use crate::activity::Activity;
use crate::claim::Claim;
use crate::machine::Step;
use crate::notice::{Notice, VerdictWord};
use crate::observation::{Failure, Observation};
use crate::text;
use crate::time::{Millis, WallTime};
use crate::words::{Cause, Note, Reason};

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

impl Run {
    /// Takes the most preferred agent that may work, and tells if it is another one than before.
    pub(super) fn choose_agent(&mut self) -> RunStep {
        let Some(back) = self.crew.choose(&self.policy, self.now.at) else { return Step::default() };
        let agent = self.crew.agent(&self.policy).command.clone();
        Run::note(if back { Note::AgentReturns { agent } } else { Note::AgentTakesOver { agent } })
    }

    /// The provider refuses: another agent goes on, or all wait for the first that may.
    pub(super) fn limited(&mut self, seen: &Observation, failure: &Failure) -> RunStep {
        if let Some(end) = self.stop_before_waiting() {
            return end;
        }
        self.crew.count_limit();
        let until = self.wake_time(failure);
        self.crew.refuse_until(until);
        self.another_or_wait(seen, failure)
    }

    /// A fallback turned out to be unusable; it is passed over from now on.
    pub(super) fn give_up_fallback(&mut self, seen: &Observation, failure: &Failure) -> RunStep {
        if let Some(end) = self.stop_before_waiting() {
            return end;
        }
        self.crew.refuse_for_good();
        self.another_or_wait(seen, failure)
    }

    /// The network failed or the provider is overloaded.
    pub(super) fn failed_for_now(&mut self, seen: &Observation, failure: &Failure) -> RunStep {
        if let Some(end) = self.stop_before_waiting() {
            return end;
        }
        let times = self.crew.count_transient();
        if times > MOST_TRANSIENT {
            let agent = self.crew.agent(&self.policy).command.clone();
            let cause = Cause::Transient { agent, times, why: failure.message.clone() };
            return self.finish(cause, Continuation::SameIteration);
        }
        self.wait(self.wake_time(failure), seen, failure)
    }

    fn stop_before_waiting(&mut self) -> Option<RunStep> {
        self.wish.cause().map(|cause| self.finish_stopped(cause, Continuation::SameIteration))
    }

    fn another_or_wait(&mut self, seen: &Observation, failure: &Failure) -> RunStep {
        if self.crew.has_another(&self.policy, self.now.at) {
            self.count.begin_again();
            return self.not_counted(VerdictWord::Retry, seen, failure).then(self.gather());
        }
        if !self.policy.limits.wait {
            return self.finish(Cause::NotWaited(failure.message.clone()), Continuation::SameIteration);
        }
        self.wait(self.crew.soonest(), seen, failure)
    }

    fn wait(&mut self, until: WallTime, seen: &Observation, failure: &Failure) -> RunStep {
        self.phase = Phase::Waiting(Pause::Until(until));
        let iteration = self.count.iteration();
        let waiting = Notice::Waiting { iteration, until, why: failure.message.clone() };
        let told = self.not_counted(VerdictWord::Wait, seen, failure).then(Step::telling([waiting]));
        told.then(self.warn_of_wall_time(until)).then(Step::start(Activity::Wait { until }))
    }

    /// Whoever goes to bed now should know that this wait will lead to nothing.
    fn warn_of_wall_time(&self, until: WallTime) -> RunStep {
        let long = Millis(u64::try_from(until.0.saturating_sub(self.now.at.0)).unwrap_or(0));
        if self.wall_left().is_none_or(|left| long <= left) {
            return Step::default();
        }
        Run::note(Note::WallTimeBeforeReset {
            wall: self.policy.limits.wall,
            run: self.about.id.clone(),
            enough: self.now.elapsed.plus(long).doubled(),
        })
    }

    /// The end of a try that will be repeated under its number.
    fn not_counted(&self, verdict: VerdictWord, seen: &Observation, failure: &Failure) -> RunStep {
        self.tell_iteration(seen, Claim::None, verdict, vec![Reason::AgentFailed { message: failure.message.clone() }])
    }

    /// Tells how the current iteration went.
    pub(super) fn tell_iteration(
        &self,
        seen: &Observation,
        claim: Claim,
        verdict: VerdictWord,
        reasons: Vec<Reason>,
    ) -> RunStep {
        Step::telling([Notice::IterationFinished {
            iteration: self.count.iteration(),
            claim,
            verdict,
            reasons,
            cost_usd: seen.cost_usd,
            tokens: seen.tokens,
            leaked: seen.process.leaked_count,
            duration: self.count.spent(self.now.elapsed),
        }])
    }

    fn wake_time(&self, failure: &Failure) -> WallTime {
        let now = self.now.at.0;
        if let Some(reset) = failure.resets_at {
            let wanted = reset.saturating_mul(1000).saturating_add(RESET_MARGIN_MS);
            // A reset in the past says nothing; falling through to the back-off avoids a busy loop.
            if wanted > now {
                return WallTime(wanted.min(now.saturating_add(LONGEST_RESET_MS)));
            }
        }
        let doublings = self.crew.waits_in_row().saturating_sub(1).min(10);
        let full = (FIRST_WAIT_MS << doublings).min(LONGEST_WAIT_MS);
        WallTime(now.saturating_add(full / 2 + full / 2 * i64::from(self.jitter()) / 256))
    }

    /// A number from 0 to 255 that differs between runs and tries, and is the same on replay.
    fn jitter(&self) -> u8 {
        let seed = format!("{} {} {}", self.about.id, self.count.iteration(), self.crew.waits_in_row());
        text::hash(seed.as_bytes()).bytes().fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte))
    }

    pub(super) fn on_woke(&mut self) -> Option<RunStep> {
        match self.phase {
            Phase::Waiting(Pause::Until(_)) => {
                self.count.begin_again();
                Some(self.gather())
            }
            Phase::Waiting(Pause::Between) => Some(self.open()),
            _ => None,
        }
    }
}
