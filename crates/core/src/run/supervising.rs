//! Supervising: a root agent that is started again, whatever its exit code, until DONE stands in the
//! task folder, the restarts are used up, or somebody stops it.
//!
//! ```text
//! Looking ──► Working ──► Resting ──► Looking (next attempt)
//!    │           │            ▲
//!    └── DONE ◄──┘            └ also when a marker appears
//!         └──► Finishing: child runs, another look, the completion fact, the end
//! ```

use super::stopping::{Ending, StopWish};
use super::working::leak_note;
use super::{Continuation, Phase, Run};
use crate::bus::{Kind, TASK_BUS};
use crate::claim::Claim;
use crate::effect::{BusName, Effect, Leftover, Post};
use crate::id::RunId;
use crate::notice::{Notice, VerdictWord};
use crate::observation::{self, Marker, Markers, Observation};
use crate::outcome::{StopReason, exit};
use crate::supervise::{self, StartLimit, WAIT_EXIT, how, last_words, went_well};
use crate::text;
use crate::verdict::{self, Done};

/// An agent that was told so often what people want, and says nothing to it, does not hear it.
const MOST_REFUSED: u32 = 5;

/// What still stands between DONE and the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finishing {
    /// Child runs are waited for.
    Children,
    /// DONE is looked at again, because waiting took its time; these child runs live on.
    Look(Children),
    /// The completion fact is posted.
    Fact(Children),
}

/// What became of the child runs when DONE was there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Children {
    /// They live on.
    pub(super) left: Vec<RunId>,
    /// They ended, or crashed.
    pub(super) ended: Vec<(RunId, Option<StopReason>)>,
}

impl Children {
    /// The task is complete; what is not is named.
    fn words(&self) -> String {
        let unfinished = self.ended.iter().filter(|(_, end)| *end != Some(StopReason::Complete));
        let unfinished = unfinished.map(|(run, end)| format!("{run} ({})", end.map_or("crashed", StopReason::as_str)));
        let unfinished = unfinished.collect::<Vec<_>>().join(", ");
        let parts = [("child runs still active", listed(&self.left)), ("child runs not complete", unfinished)];
        let parts: Vec<String> =
            parts.iter().filter(|(_, runs)| !runs.is_empty()).map(|(what, runs)| format!("{what}: {runs}")).collect();
        let children = if parts.is_empty() { "no active children".to_owned() } else { parts.join("; ") };
        format!("task completed (DONE marker present, {children})")
    }
}

impl Run {
    /// Whether a root agent is kept running.
    pub(super) fn supervises(&self) -> bool {
        self.policy.supervision.is_some()
    }

    /// Looks for DONE before the next attempt.
    pub(super) fn look_at_markers(&mut self) -> Vec<Effect> {
        self.phase = Phase::Looking;
        // Somebody wants it to run now, so an earlier wish to wait is over.
        let forget = self.fresh.then_some(Effect::RemoveWait);
        forget.into_iter().chain([Effect::LookAtMarkers]).collect()
    }

    pub(super) fn on_markers_seen(&mut self, markers: &Markers, problem: Option<&str>) -> Vec<Effect> {
        if let (Phase::Looking | Phase::Finishing(Finishing::Look(_)), Some(problem)) = (&self.phase, problem) {
            let message = format!("the task folder cannot be used: {problem}");
            return self.finish_with_code(StopReason::Error, exit::USAGE, message, Continuation::NextIteration);
        }
        match &self.phase {
            Phase::Looking => self.before_attempt(markers),
            Phase::Finishing(Finishing::Look(children)) => {
                let children = children.clone();
                let post = |run: &mut Run| run.post_fact(children, &markers.done_stamp);
                self.judge_done(&markers.done, post).unwrap_or_else(|| self.done_taken_back())
            }
            _ => Vec::new(),
        }
    }

    fn before_attempt(&mut self, markers: &Markers) -> Vec<Effect> {
        let fresh = std::mem::take(&mut self.fresh);
        let said = self.inbox.take_wait().filter(|_| !fresh);
        if let Some(then) = self.judge_done(&markers.done, Run::wait_for_children) {
            return then;
        }
        if let Marker::WrongKind(kind) = &markers.wait {
            return self.finish_by_wrong_marker("WAIT_WITHOUT_RESTART", kind, Continuation::NextIteration);
        }
        match wish_to_wait(None, &markers.wait, said).filter(|_| !fresh) {
            Some(asked) => self.stop_waiting(&asked),
            None => self.next_attempt(),
        }
    }

    /// What follows from DONE; nothing if it is not there.
    fn judge_done(&mut self, marker: &Marker, complete: impl FnOnce(&mut Run) -> Vec<Effect>) -> Option<Vec<Effect>> {
        match verdict::judge_done(marker, self.inbox.open(), self.judged) {
            Done::NotYet => None,
            Done::NotAFile(kind) => Some(self.finish_by_wrong_marker("DONE", kind, Continuation::NextIteration)),
            Done::Premature => Some(self.done_too_early()),
            Done::Complete => Some(complete(self)),
        }
    }

    fn next_attempt(&mut self) -> Vec<Effect> {
        if std::mem::take(&mut self.cut_off) {
            self.attempt += 1;
            return self.gather();
        }
        if self.iteration >= self.policy.limits.max_iterations {
            return self.restarts_used_up();
        }
        self.iteration += 1;
        self.attempt = 1;
        self.gather()
    }

    fn restarts_used_up(&mut self) -> Vec<Effect> {
        let most = self.policy.limits.max_iterations;
        let mut effects = vec![
            self.note(format!("Attempt {}: Max restarts exceeded, stopping", self.iteration)),
            self.post(Kind::ERROR, format!("task failed: max restarts ({most}) exceeded")),
        ];
        let without = if self.refused_done > 0 { "an accepted DONE" } else { "DONE" };
        let attempts = text::count(self.iteration.into(), "attempt");
        let message = format!("max restarts exceeded: {attempts} without {without}");
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
        if let observation::Ending::NotStarted { reason, fault } = &seen.process.ending {
            let mut effects = vec![self.post(Kind::ERROR, format!("fatal error: {reason}"))];
            let message = format!("Fatal error: {reason}");
            let (code, then) = (fault.exit_code(), Continuation::SameIteration);
            effects.extend(self.finish_with_code(StopReason::Error, code, message, then));
            return effects;
        }
        self.judged += 1;
        // Going on takes the next number.
        let attempt = self.iteration;
        let too_fast = self.start_limit.reached(seen, self.elapsed);
        let said = self.inbox.take_wait();
        let (claim, then) = if let Some(then) = self.judge_done(&seen.marker, Run::wait_for_children) {
            (if seen.marker == Marker::Present { Claim::Complete } else { Claim::None }, then)
        } else if let Marker::WrongKind(kind) = &seen.wait {
            (Claim::None, self.finish_by_wrong_marker("WAIT_WITHOUT_RESTART", kind, Continuation::NextIteration))
        } else if let Some(asked) = wish_to_wait(Some(&seen.process.ending), &seen.wait, said) {
            (Claim::Wait, self.stop_waiting(&asked))
        } else {
            (Claim::None, self.restart(seen, too_fast))
        };
        let mut effects = self.tell_attempt(attempt, seen, claim);
        let children = &seen.process.children;
        if !children.is_empty() && matches!(self.phase, Phase::Ended(..)) {
            effects.push(self.note(format!("child runs live on: {}", listed(children))));
        }
        effects.extend(then);
        effects
    }

    /// The attempt's line, and for the bus what failed.
    fn tell_attempt(&self, attempt: u32, seen: &Observation, claim: Claim) -> Vec<Effect> {
        let goes_on = !matches!(self.phase, Phase::Finishing(_) | Phase::Ended(..));
        let then = if goes_on { ", restarting..." } else { "" };
        let (well, ending) = (went_well(seen), how(&seen.process.ending));
        let line = match (&claim, well) {
            (Claim::Wait, _) => "Wait-without-restart signal detected".to_owned(),
            _ if seen.process.ending == observation::Ending::Lingered => {
                format!("Agent did not end after DONE and was ended{then}")
            }
            (Claim::Complete, true) => format!("Agent succeeded{then}"),
            (Claim::Complete, false) => format!("Agent failed ({ending}), but DONE is there{then}"),
            (_, true) => format!("Agent succeeded without DONE{then}"),
            (_, false) => format!("Agent failed ({ending}){then}"),
        };
        let mut reasons = vec![format!("Attempt {attempt}: {line}")];
        let last_words = last_words(seen).filter(|_| !well && claim == Claim::None);
        reasons.extend(last_words.iter().map(|words| format!("stderr: {words}")));
        let failed = !well && claim == Claim::None;
        let mut effects = vec![Effect::Tell(Notice::IterationFinished {
            iteration: attempt,
            claim,
            verdict: if goes_on { VerdictWord::Continue } else { VerdictWord::Stop },
            reasons,
            cost_usd: seen.cost_usd,
            tokens: seen.tokens,
            leaked: seen.process.leaked_count,
            duration: self.elapsed.minus(self.iteration_began),
        })];
        if failed {
            let more = last_words.map_or(String::new(), |words| format!("; stderr: {words}"));
            let body = format!("root agent failed on restart #{}: {ending}{more}", attempt.saturating_sub(1));
            effects.push(self.post(Kind::WARNING, body));
        }
        effects
    }

    /// Ends the run because the agent asked to be left alone.
    fn stop_waiting(&mut self, asked: &str) -> Vec<Effect> {
        let mut effects = vec![self.post(Kind::INFO, format!("task stopped: the agent waits ({asked})"))];
        let message = format!("the agent asked to wait ({asked}), so it is not started again");
        effects.extend(self.finish(StopReason::Waiting, message, Continuation::NextIteration));
        effects
    }

    fn restart(&mut self, seen: &Observation, too_fast: bool) -> Vec<Effect> {
        self.refused_done = 0;
        if let Some(end) = self.end_between_attempts() {
            return end;
        }
        if too_fast {
            let message = StartLimit::words(&seen.process.ending);
            let mut effects = vec![self.post(Kind::ERROR, format!("task failed: {message}"))];
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
        self.refused_done += 1;
        let open = self.inbox.open().words();
        let text = format!("DONE does not count and is removed: not acknowledged: {open}");
        let mut effects = vec![self.note(text.clone()), self.post(Kind::WARNING, text), Effect::RemoveDone];
        if self.refused_done >= MOST_REFUSED {
            let times = text::count(self.refused_done.into(), "time");
            let message = format!("the agent was DONE {times} in a row without acknowledging what people want");
            effects.extend(self.finish(StopReason::Stalled, message, Continuation::NextIteration));
            return effects;
        }
        effects.extend(self.end_between_attempts().unwrap_or_else(|| self.rest()));
        effects
    }

    /// DONE was there, and is no more.
    fn done_taken_back(&mut self) -> Vec<Effect> {
        let mut effects = vec![self.note("DONE was taken away while child runs were waited for".to_owned())];
        effects.extend(self.end_between_attempts().unwrap_or_else(|| self.rest()));
        effects
    }

    /// Ends the run between two attempts, if somebody wants that or no further one is allowed.
    fn end_between_attempts(&mut self) -> Option<Vec<Effect>> {
        if let StopWish::AfterActivity(cause) | StopWish::Now(cause) = self.wish {
            return Some(self.finish_stopped(cause, Continuation::NextIteration));
        }
        (self.iteration >= self.policy.limits.max_iterations).then(|| self.restarts_used_up())
    }

    fn wait_for_children(&mut self) -> Vec<Effect> {
        self.phase = Phase::Finishing(Finishing::Children);
        vec![Effect::AwaitChildren { span: self.policy.limits.child_wait, then: Leftover::Leave }]
    }

    /// No child lives any more, or they were waited for long enough.
    pub(super) fn on_done_children(&mut self, children: Children) -> Vec<Effect> {
        let timed_out = !children.left.is_empty() && self.wish == StopWish::None;
        let warning = timed_out.then(|| {
            let (span, left) = (self.policy.limits.child_wait, listed(&children.left));
            self.post(Kind::WARNING, format!("timeout waiting for children after {span}: {left}"))
        });
        self.phase = Phase::Finishing(Finishing::Look(children));
        warning.into_iter().chain([Effect::LookAtMarkers]).collect()
    }

    /// Both buses are told, once, whatever happens in between. The fact belongs to the DONE file: whoever
    /// supervises a task that is done already finds the same file, and the project has heard of it.
    fn post_fact(&mut self, children: Children, done_stamp: &str) -> Vec<Effect> {
        let post = |bus, key, kind, body| Post { bus, key, kind, parents: Vec::new(), body };
        let folder = self.policy.supervision.as_ref().map_or("", |supervision| supervision.task_folder.as_str());
        let posts = vec![
            post(BusName::Task, format!("{} complete", self.id), Kind::INFO, children.words()),
            post(BusName::Project, format!("{folder} {done_stamp}"), Kind::FACT, self.completion_fact(&children)),
        ];
        self.phase = Phase::Finishing(Finishing::Fact(children));
        vec![Effect::PostSafely(posts)]
    }

    fn completion_fact(&self, children: &Children) -> String {
        let Some(supervision) = &self.policy.supervision else { return String::new() };
        let mut body = format!(
            "task {} of {} completed\n\nruns: {}\nlast run: {} (attempt {})\ntime: {}\n",
            self.policy.task, supervision.project, self.judged, self.id, self.iteration, self.elapsed
        );
        body.push_str(&format!("end: {}\n", children.words()));
        for fact in self.inbox.facts() {
            body.push_str(&format!("fact: {}\n", text::without_controls(&fact.replace('\n', " "))));
        }
        let folder = &supervision.task_folder;
        body.push_str(&format!("\ntask folder: {folder}\nbus: {folder}/{TASK_BUS}\nmore: ralph show {}", self.id));
        body
    }

    pub(super) fn on_posted(&mut self, problem: Option<&str>) -> Vec<Effect> {
        let Phase::Finishing(Finishing::Fact(children)) = &self.phase else { return Vec::new() };
        let message = children.words();
        let mut effects = Vec::new();
        if let Some(problem) = problem {
            effects.push(self.note(format!("the completion fact could not be posted: {problem}")));
        }
        let ending = Ending { reason: StopReason::Complete, code: exit::OK, message, verified: false };
        effects.extend(self.end(ending, Continuation::Nothing));
        effects
    }

    /// Tells the bus that an attempt begins.
    pub(super) fn post_start(&self) -> Option<Effect> {
        let body = || format!("starting root agent (restart #{})", self.iteration.saturating_sub(1));
        self.supervises().then(|| self.post(Kind::INFO, body()))
    }

    /// What an attempt is told.
    pub(super) fn supervised_prompt(&self) -> String {
        let again = self.iteration > 1 || self.attempt > 1;
        supervise::prompt(again.then_some((self.iteration, self.policy.limits.max_iterations)), self.inbox.open())
    }

    fn note(&self, text: String) -> Effect {
        Effect::Tell(Notice::Note { text })
    }

    /// One message for this entry of the journal; no entry posts two of a kind.
    pub(super) fn post(&self, kind: Kind, body: String) -> Effect {
        Effect::Post(Post {
            bus: BusName::Task,
            key: format!("{} entry {}", self.id, self.seq),
            kind,
            parents: Vec::new(),
            body,
        })
    }
}

/// How an agent asked to be left alone, if it did.
fn wish_to_wait(ending: Option<&observation::Ending>, file: &Marker, said: Option<String>) -> Option<String> {
    match (ending, file, said) {
        (Some(observation::Ending::Exited { code: WAIT_EXIT }), ..) => Some(format!("exit {WAIT_EXIT}")),
        (_, Marker::Present, _) => Some("the file WAIT_WITHOUT_RESTART".to_owned()),
        (_, _, Some(said)) => Some(format!("on the bus: {}", text::without_controls(&said))),
        _ => None,
    }
}

pub(super) fn listed(runs: &[RunId]) -> String {
    runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(", ")
}
