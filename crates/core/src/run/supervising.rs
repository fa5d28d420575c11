//! Supervising: a root agent that is started again, whatever its exit code, until DONE stands in the
//! task folder, the restarts are used up, or somebody stops it.
//!
//! ```text
//! Looking ──► Working ──► Resting ──► Looking (next attempt)
//!    │           │            ▲
//!    └── DONE ◄──┘            └ also when a marker appears
//!         └──► Finishing: child runs, then the completion fact, then the end
//! ```

use super::stopping::{Ending, StopWish};
use super::working::leak_note;
use super::{Continuation, Phase, Run};
use crate::claim::Claim;
use crate::effect::{BusName, Effect, Leftover, Post};
use crate::id::RunId;
use crate::notice::{Notice, VerdictWord};
use crate::observation::{self, Marker, Markers, Observation};
use crate::outcome::{StopReason, exit};
use crate::supervise::{self, StartLimit, WAIT_EXIT, how, went_well};
use crate::text;
use crate::verdict::{self, Done};

/// What still stands between DONE and the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finishing {
    /// Child runs are waited for.
    Children,
    /// The completion fact is posted; these child runs live on.
    Fact(Vec<RunId>),
}

impl Run {
    /// Whether a root agent is kept running.
    pub(super) fn supervises(&self) -> bool {
        self.policy.supervision.is_some()
    }

    /// Looks for DONE before the next attempt.
    pub(super) fn look_at_markers(&mut self) -> Vec<Effect> {
        self.phase = Phase::Looking;
        vec![Effect::LookAtMarkers]
    }

    pub(super) fn on_markers_seen(&mut self, markers: &Markers) -> Vec<Effect> {
        if self.phase != Phase::Looking {
            return Vec::new();
        }
        self.judge_done(&markers.done).unwrap_or_else(|| self.next_attempt())
    }

    /// What follows from DONE; nothing if it is not there.
    fn judge_done(&mut self, marker: &Marker) -> Option<Vec<Effect>> {
        match verdict::judge_done(marker, self.inbox.open(), self.judged) {
            Done::NotYet => None,
            Done::NotAFile(kind) => Some(self.wrong_marker("DONE", kind)),
            Done::Premature => Some(self.done_too_early()),
            Done::Complete => {
                self.phase = Phase::Finishing(Finishing::Children);
                Some(vec![Effect::AwaitChildren { span: self.policy.limits.child_wait, then: Leftover::Leave }])
            }
        }
    }

    fn wrong_marker(&mut self, name: &str, kind: &str) -> Vec<Effect> {
        let message = format!("{name} is a {kind}, not a file; remove it and resume");
        self.finish_with_code(StopReason::Error, exit::USAGE, message, Continuation::NextIteration)
    }

    fn next_attempt(&mut self) -> Vec<Effect> {
        if self.iteration >= self.policy.limits.max_iterations {
            return self.restarts_used_up();
        }
        self.iteration += 1;
        self.attempt = 1;
        self.inbox.take_wait();
        // What is left from an earlier wait is no word of this attempt.
        let mut effects = if self.judged == 0 || self.waited { vec![Effect::RemoveWait] } else { Vec::new() };
        self.waited = false;
        effects.extend(self.gather());
        effects
    }

    fn restarts_used_up(&mut self) -> Vec<Effect> {
        let most = self.policy.limits.max_iterations;
        let mut effects = vec![
            self.note(format!("Attempt {}: Max restarts exceeded, stopping", self.iteration)),
            self.post("ERROR", format!("task failed: max restarts ({most}) exceeded")),
        ];
        let message = format!("max restarts exceeded: {} without DONE", text::count(self.iteration.into(), "attempt"));
        effects.extend(self.finish(StopReason::MaxRestarts, message, Continuation::NextIteration));
        effects
    }

    pub(super) fn on_attempt_ended(&mut self, seen: &Observation) -> Vec<Effect> {
        let mut effects = vec![Effect::Tell(Notice::AgentEnded {
            iteration: self.iteration,
            how: how(&seen.process.ending),
            well: went_well(seen),
            lines: seen.lines,
            duration: seen.process.duration,
        })];
        effects.extend(leak_note(seen));
        effects.extend(self.take_acks(seen));
        effects.extend(self.after_attempt(seen));
        effects
    }

    /// An attempt is over. DONE outweighs everything that its process did; a wish to wait outweighs its
    /// exit code.
    fn after_attempt(&mut self, seen: &Observation) -> Vec<Effect> {
        if let (StopWish::Now(cause), observation::Ending::Stopped) = (&self.wish, &seen.process.ending) {
            let cause = *cause;
            return self.finish_stopped(cause, Continuation::SameIteration);
        }
        if let observation::Ending::NotStarted { reason } = &seen.process.ending {
            let mut effects = vec![self.post("ERROR", format!("fatal error: {reason}"))];
            let message = format!("Fatal error: {reason}");
            effects.extend(self.finish_with_code(StopReason::Error, exit::AGENT, message, Continuation::SameIteration));
            return effects;
        }
        self.judged += 1;
        let too_fast = self.start_limit.reached(seen, self.elapsed);
        let wait = self.inbox.take_wait();
        if let Some(then) = self.judge_done(&seen.marker) {
            let line = if went_well(seen) { "Agent succeeded" } else { "Agent failed, but DONE is there" };
            let verdict = match self.phase {
                Phase::Finishing(_) | Phase::Ended(..) => VerdictWord::Stop,
                _ => VerdictWord::Continue,
            };
            let mut effects = vec![self.attempt_finished(seen, Claim::Complete, verdict, line)];
            effects.extend(then);
            return effects;
        }
        if let Marker::WrongKind(kind) = &seen.wait {
            return self.wrong_marker("WAIT_WITHOUT_RESTART", kind);
        }
        let asked = match (&seen.process.ending, &seen.wait, wait) {
            (observation::Ending::Exited { code: WAIT_EXIT }, ..) => Some(format!("exit {WAIT_EXIT}")),
            (_, Marker::Present, _) => Some("the file WAIT_WITHOUT_RESTART".to_owned()),
            (_, _, Some(said)) => Some(format!("on the bus: {}", text::without_controls(&said))),
            _ => None,
        };
        if let Some(asked) = asked {
            return self.wait_without_restart(seen, &asked);
        }
        let mut effects = self.tell_attempt(seen);
        effects.extend(self.restart(seen, too_fast));
        effects
    }

    fn wait_without_restart(&mut self, seen: &Observation, asked: &str) -> Vec<Effect> {
        self.waited = true;
        let line = "Wait-without-restart signal detected";
        let mut effects = vec![self.attempt_finished(seen, Claim::Wait, VerdictWord::Stop, line)];
        effects.push(self.post("INFO", format!("task stopped: the agent waits ({asked})")));
        let message = format!("the agent asked to wait ({asked}), so it is not started again");
        effects.extend(self.finish(StopReason::Waiting, message, Continuation::NextIteration));
        effects
    }

    /// The attempt's line, and for the bus what failed.
    fn tell_attempt(&self, seen: &Observation) -> Vec<Effect> {
        let last = self.iteration >= self.policy.limits.max_iterations;
        let then = if last { "" } else { ", restarting..." };
        let ending = how(&seen.process.ending);
        if went_well(seen) {
            let line = format!("Agent succeeded without DONE{then}");
            return vec![self.attempt_finished(seen, Claim::None, VerdictWord::Continue, &line)];
        }
        let line = format!("Agent failed ({ending}){then}");
        let body = format!("root agent failed on restart #{}: {ending}", self.iteration.saturating_sub(1));
        vec![self.attempt_finished(seen, Claim::None, VerdictWord::Continue, &line), self.post("WARNING", body)]
    }

    fn restart(&mut self, seen: &Observation, too_fast: bool) -> Vec<Effect> {
        if let Some(end) = self.end_between_attempts() {
            return end;
        }
        if too_fast {
            let message = StartLimit::words(&seen.process.ending);
            let mut effects = vec![self.post("ERROR", format!("task failed: {message}"))];
            effects.extend(self.finish(StopReason::Error, message, Continuation::NextIteration));
            return effects;
        }
        self.rest()
    }

    fn rest(&mut self) -> Vec<Effect> {
        let delay = self.policy.supervision.as_ref().map(|supervision| supervision.restart_delay);
        match delay.filter(|delay| !delay.is_off()) {
            Some(span) => {
                self.phase = Phase::Resting;
                vec![Effect::Rest { span }]
            }
            None => self.look_at_markers(),
        }
    }

    /// DONE is there, and people still want something.
    fn done_too_early(&mut self) -> Vec<Effect> {
        let text = format!("DONE was removed: not acknowledged: {}", self.requests_in_words());
        let mut effects = vec![self.note(text), Effect::RemoveDone];
        effects.extend(match self.end_between_attempts() {
            Some(end) => end,
            None => self.rest(),
        });
        effects
    }

    /// Ends the run between two attempts, if somebody wants that or no further one is allowed.
    fn end_between_attempts(&mut self) -> Option<Vec<Effect>> {
        if let StopWish::AfterActivity(cause) | StopWish::Now(cause) = self.wish {
            return Some(self.finish_stopped(cause, Continuation::NextIteration));
        }
        (self.iteration >= self.policy.limits.max_iterations).then(|| self.restarts_used_up())
    }

    /// No child lives any more, or they were waited for long enough: the fact goes to the project's bus.
    pub(super) fn on_done_children(&mut self, left: &[RunId]) -> Vec<Effect> {
        self.phase = Phase::Finishing(Finishing::Fact(left.to_vec()));
        let fact = Post {
            bus: BusName::Project,
            key: "complete".to_owned(),
            kind: "FACT",
            parents: Vec::new(),
            body: self.completion_fact(left),
        };
        vec![self.post("INFO", completed(left)), Effect::PostSafely(fact)]
    }

    fn completion_fact(&self, left: &[RunId]) -> String {
        let Some(supervision) = &self.policy.supervision else { return String::new() };
        let mut body = format!(
            "task {} of {} completed\n\nruns: {}\nlast run: {} (attempt {})\ntime: {}\n",
            self.policy.task, supervision.project, self.judged, self.id, self.iteration, self.elapsed
        );
        if !left.is_empty() {
            body.push_str(&format!("child runs still active: {}\n", listed(left)));
        }
        for fact in self.inbox.facts() {
            body.push_str(&format!("fact: {}\n", text::without_controls(&fact.replace('\n', " "))));
        }
        let folder = &supervision.task_folder;
        body.push_str(&format!(
            "\ntask folder: {folder}\nbus: {folder}/TASK-MESSAGE-BUS.md\nmore: ralph show {}",
            self.id
        ));
        body
    }

    pub(super) fn on_posted(&mut self, problem: Option<&str>) -> Vec<Effect> {
        let Phase::Finishing(Finishing::Fact(left)) = &self.phase else { return Vec::new() };
        let message = completed(left);
        let mut effects = Vec::new();
        if let Some(problem) = problem {
            effects.push(self.note(format!("the completion fact could not be posted: {problem}")));
        }
        let ending = Ending { reason: StopReason::Complete, code: exit::OK, message, verified: false };
        effects.extend(self.end(ending, Continuation::Nothing));
        effects
    }

    fn attempt_finished(&self, seen: &Observation, claim: Claim, verdict: VerdictWord, line: &str) -> Effect {
        Effect::Tell(Notice::IterationFinished {
            iteration: self.iteration,
            claim,
            verdict,
            reasons: vec![format!("Attempt {}: {line}", self.iteration)],
            cost_usd: seen.cost_usd,
            tokens: seen.tokens,
            leaked: seen.process.leaked_count,
            duration: self.elapsed.minus(self.iteration_began),
        })
    }

    /// What an attempt is told.
    pub(super) fn supervised_prompt(&self) -> String {
        supervise::prompt(self.iteration, self.policy.limits.max_iterations, self.inbox.open())
    }

    fn note(&self, text: String) -> Effect {
        Effect::Tell(Notice::Note { text })
    }

    /// One message for this entry of the journal; no entry posts two of a kind.
    fn post(&self, kind: &'static str, body: String) -> Effect {
        Effect::Post(Post { bus: BusName::Task, key: format!("entry {}", self.seq), kind, parents: Vec::new(), body })
    }
}

fn completed(left: &[RunId]) -> String {
    match left.len() {
        0 => "task completed (DONE marker present, no active children)".to_owned(),
        _ => format!("task completed (DONE marker present, child runs still active: {})", listed(left)),
    }
}

pub(super) fn listed(runs: &[RunId]) -> String {
    runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(", ")
}
