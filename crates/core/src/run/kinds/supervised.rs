//! A root agent that is started again, whatever its exit code, until DONE stands in the task folder, the restarts
//! are used up, or somebody stops it.
//!
//! ```text
//! Opening (markers) ──► Working ──► Waiting (pause) ──► Opening (next start)
//!    │                     │            ▲
//!    └────── DONE ◄────────┘            └ shorter when a marker appears
//!              └──► Closing: child runs, another look, the completion fact, the end
//! ```

use super::super::opening::Opening;
use super::super::{Continuation, Pause, Phase, Run, RunStep, ends};
use super::KindState;
use crate::activity::{Act, Activity, AgentLog, Keep, MarkerUse, Role};
use crate::bus::{Kind, TASK_BUS};
use crate::claim::Claim;
use crate::id::RunId;
use crate::machine::Step;
use crate::notice::VerdictWord;
use crate::observation::{Ending, Marker, Markers, Observation};
use crate::outcome::StopReason;
use crate::supervise::{self, StartLimit, WAIT_EXIT, how, last_words, went_well};
use crate::text;
use crate::verdict::{self, Condition, Done};
use crate::words::{Cause, Note, Reason, listed};
use serde::{Deserialize, Serialize};

/// An agent that was told so often what people want, and says nothing to it, does not hear it.
const MOST_REFUSED: u32 = 5;
/// Starts whose output is kept: as many as there are unless somebody asks for more.
const LOGS_KEPT: u32 = 100;

/// What only a supervised run remembers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Supervised {
    /// Failures that came at once.
    start_limit: StartLimit,
    /// Somebody has just wanted the agent to run.
    fresh: bool,
    /// How often in a row DONE did not count.
    refused_done: u32,
    /// The last start was cut off, and is made again under its number.
    cut_off: bool,
}

impl Default for Supervised {
    fn default() -> Supervised {
        Supervised { start_limit: StartLimit::default(), fresh: true, refused_done: 0, cut_off: false }
    }
}

/// What became of the child runs when DONE was there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(in super::super) struct Children {
    /// They live on.
    pub(in super::super) left: Vec<RunId>,
    /// They ended, or crashed.
    pub(in super::super) ended: Vec<(RunId, Option<StopReason>)>,
}

impl Children {
    /// The task is complete; what is not is named.
    pub(in super::super) fn words(&self) -> String {
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
    /// Reads or changes what only a supervised run remembers.
    fn supervised<T: Default>(&mut self, look: impl FnOnce(&mut Supervised) -> T) -> T {
        match &mut self.kind {
            KindState::Supervised(state) => look(state),
            KindState::Prompt | KindState::Plan(_) => T::default(),
        }
    }

    /// Looks for DONE before the next start.
    pub(in super::super) fn open_supervised(&mut self) -> RunStep {
        self.phase = Phase::Opening(Opening::Markers);
        // Somebody wants it to run now, so an earlier wish to wait is over.
        let forget = self.supervised(|state| state.fresh).then_some(Act::RemoveWait);
        Step::acting(forget).then(Step::start(Activity::LookAtMarkers))
    }

    pub(in super::super) fn before_start(&mut self, markers: &Markers) -> RunStep {
        let fresh = self.supervised(|state| std::mem::take(&mut state.fresh));
        let said = self.inbox.take_wait().filter(|_| !fresh);
        if let Some(then) = self.judge_done(&markers.done, Run::close) {
            return then;
        }
        if let Marker::WrongKind(kind) = &markers.wait {
            return self.finish_by_wrong_marker("WAIT_WITHOUT_RESTART", kind, Continuation::NextIteration);
        }
        match wish_to_wait(None, &markers.wait, said).filter(|_| !fresh) {
            Some(asked) => self.stop_waiting(&asked),
            None => self.next_start(),
        }
    }

    /// What follows from DONE; nothing if it is not there.
    pub(in super::super) fn judge_done(
        &mut self,
        marker: &Marker,
        complete: impl FnOnce(&mut Run) -> RunStep,
    ) -> Option<RunStep> {
        match verdict::judge_done(marker, self.inbox.open(), self.count.judged()) {
            Done::NotYet => None,
            Done::NotAFile(kind) => Some(self.finish_by_wrong_marker("DONE", kind, Continuation::NextIteration)),
            Done::Premature => Some(self.done_too_early()),
            Done::Complete => Some(complete(self)),
        }
    }

    pub(in super::super) fn conditions_of_done(&self) -> Vec<Condition> {
        let complete = self.is_complete();
        verdict::conditions_of_done(complete, self.last.seen().map(|seen| &seen.marker), self.inbox.open())
    }

    fn next_start(&mut self) -> RunStep {
        if self.supervised(|state| std::mem::take(&mut state.cut_off)) {
            self.count.begin_again();
            return self.gather();
        }
        if self.starts_used_up() {
            return self.end_by_restarts();
        }
        self.count.begin_next();
        self.gather()
    }

    fn starts_used_up(&self) -> bool {
        self.count.iteration() >= self.policy.limits.max_iterations
    }

    fn end_by_restarts(&mut self) -> RunStep {
        let (most, starts) = (self.policy.limits.max_iterations, self.count.iteration());
        let told = Run::note(Note::RestartsUsedUp { start: starts });
        let posted = self.post(Kind::ERROR, format!("task failed: max restarts ({most}) exceeded"));
        let refused = self.supervised(|state| state.refused_done) > 0;
        let end = self.finish(Cause::Restarts { starts, refused }, Continuation::NextIteration);
        told.then(Step::acting([posted])).then(end)
    }

    pub(in super::super) fn manner_of_root(&self) -> (Role, Keep, MarkerUse) {
        // Several supervised agents may share a project, and what they are told stands in the journal.
        let keep = Keep {
            prompt_file: None,
            log: AgentLog::Work,
            messages: self.policy.memory.last_messages,
            logs: LOGS_KEPT,
        };
        (Role::Root, keep, MarkerUse::Standing)
    }

    pub(in super::super) fn end_of_root(seen: &Observation) -> (String, bool) {
        (how(&seen.process.ending), went_well(seen))
    }

    /// A start is over. DONE outweighs everything that its process did; a wish to wait outweighs its exit code.
    pub(in super::super) fn after_start(&mut self, seen: &Observation) -> RunStep {
        if let Ending::NotStarted { reason, fault } = &seen.process.ending {
            let posted = self.post(Kind::ERROR, format!("fatal error: {reason}"));
            let cause = Cause::Fatal { why: reason.clone(), code: fault.exit_code() };
            let end = self.finish(cause, Continuation::SameIteration);
            return Step::acting([posted]).then(end);
        }
        self.count.judge(true, true);
        let elapsed = self.now.elapsed;
        let too_fast = self.supervised(|state| state.start_limit.reached(seen, elapsed));
        let said = self.inbox.take_wait();
        let (claim, then) = if let Some(then) = self.judge_done(&seen.marker, Run::close) {
            (if seen.marker == Marker::Present { Claim::Complete } else { Claim::None }, then)
        } else if let Marker::WrongKind(kind) = &seen.wait {
            (Claim::None, self.finish_by_wrong_marker("WAIT_WITHOUT_RESTART", kind, Continuation::NextIteration))
        } else if let Some(asked) = wish_to_wait(Some(&seen.process.ending), &seen.wait, said) {
            (Claim::Wait, self.stop_waiting(&asked))
        } else {
            (Claim::None, self.restart(seen, too_fast))
        };
        let told = self.tell_start(seen, claim);
        let children = &seen.process.children;
        let left = (!children.is_empty() && ends(&then)).then(|| Note::ChildrenLiveOn { runs: children.clone() });
        told.then(left.map(Run::note).unwrap_or_default()).then(then)
    }

    /// The line of a start, and for the bus what failed.
    fn tell_start(&self, seen: &Observation, claim: Claim) -> RunStep {
        let number = self.count.iteration();
        let goes_on = !matches!(self.phase, Phase::Closing(_) | Phase::Ended(..));
        let then = if goes_on { ", restarting..." } else { "" };
        let (ending, well) = Run::end_of_root(seen);
        let line = match (&claim, well) {
            (Claim::Wait, _) => "Wait-without-restart signal detected".to_owned(),
            _ if seen.process.ending == Ending::Lingered => {
                format!("Agent did not end after DONE and was ended{then}")
            }
            (Claim::Complete, true) => format!("Agent succeeded{then}"),
            (Claim::Complete, false) => format!("Agent failed ({ending}), but DONE is there{then}"),
            (_, true) => format!("Agent succeeded without DONE{then}"),
            (_, false) => format!("Agent failed ({ending}){then}"),
        };
        let failed = !well && claim == Claim::None;
        let last_words = last_words(seen).filter(|_| failed);
        let mut reasons = vec![Reason::Start { number, line }];
        reasons.extend(last_words.clone().map(Reason::Stderr));
        let verdict = if goes_on { VerdictWord::Continue } else { VerdictWord::Stop };
        let told = self.tell_iteration(seen, claim, verdict, reasons);
        let more = last_words.map_or(String::new(), |words| format!("; stderr: {words}"));
        let body = || format!("root agent failed on restart #{}: {ending}{more}", number.saturating_sub(1));
        told.then(Step::acting(failed.then(|| self.post(Kind::WARNING, body()))))
    }

    /// Ends the run because the agent asked to be left alone.
    fn stop_waiting(&mut self, asked: &str) -> RunStep {
        let posted = self.post(Kind::INFO, format!("task stopped: the agent waits ({asked})"));
        Step::acting([posted]).then(self.finish(Cause::Waits(asked.to_owned()), Continuation::NextIteration))
    }

    fn restart(&mut self, seen: &Observation, too_fast: bool) -> RunStep {
        self.supervised(|state| state.refused_done = 0);
        if let Some(end) = self.end_between_starts() {
            return end;
        }
        if too_fast {
            let message = StartLimit::words(&seen.process.ending);
            let posted = self.post(Kind::ERROR, format!("task failed: {message}"));
            let end = self.finish(Cause::AtOnce(message), Continuation::NextIteration);
            return Step::acting([posted]).then(end);
        }
        self.rest()
    }

    fn rest(&mut self) -> RunStep {
        let delay = self.policy.supervision().map(|supervision| supervision.restart_delay);
        match delay.filter(|delay| !delay.is_off()) {
            Some(span) => {
                self.phase = Phase::Waiting(Pause::Between);
                Step::start(Activity::Rest { span })
            }
            None => self.open(),
        }
    }

    /// DONE is there, and people still want something.
    fn done_too_early(&mut self) -> RunStep {
        let times = self.supervised(|state| {
            state.refused_done += 1;
            state.refused_done
        });
        let open = self.inbox.open().words();
        let note = Note::DoneTooEarly { requests: open };
        let posted = self.post(Kind::WARNING, note.to_string());
        let told = Run::note(note).then(Step::acting([posted, Act::RemoveDone]));
        if times >= MOST_REFUSED {
            return told.then(self.finish(Cause::DoneRefused(times), Continuation::NextIteration));
        }
        told.then(self.end_between_starts().unwrap_or_else(|| self.rest()))
    }

    /// DONE was there, and is no more.
    pub(in super::super) fn done_taken_back(&mut self) -> RunStep {
        let told = Run::note(Note::DoneTakenBack);
        told.then(self.end_between_starts().unwrap_or_else(|| self.rest()))
    }

    /// Ends the run between two starts, if somebody wants that or no further one is allowed.
    fn end_between_starts(&mut self) -> Option<RunStep> {
        if let Some(cause) = self.wish.cause() {
            return Some(self.finish_stopped(cause, Continuation::NextIteration));
        }
        self.starts_used_up().then(|| self.end_by_restarts())
    }

    pub(in super::super) fn supervised_start(&self) -> Act {
        let restart = self.count.iteration().saturating_sub(1);
        self.post(Kind::INFO, format!("starting root agent (restart #{restart})"))
    }

    pub(in super::super) fn supervised_stop(&self, message: &str) -> Act {
        self.post(Kind::INFO, format!("task stopped: {message}"))
    }

    /// What a start is told.
    pub(in super::super) fn supervised_prompt(&self) -> String {
        let numbers = (self.count.iteration(), self.policy.limits.max_iterations);
        supervise::prompt(self.count.continues().then_some(numbers), self.inbox.open())
    }

    pub(in super::super) fn repeat_start(&mut self) -> RunStep {
        self.supervised(|state| state.cut_off = true);
        self.open()
    }

    pub(in super::super) fn forget_starts(&mut self) {
        self.supervised(|state| *state = Supervised { cut_off: state.cut_off, ..Supervised::default() });
    }

    pub(in super::super) fn supervised_resumed(&self) -> (bool, Option<Act>) {
        let cut_off = matches!(&self.kind, KindState::Supervised(state) if state.cut_off);
        let used_up = !cut_off && self.starts_used_up() && self.phase == Phase::Opening(Opening::Markers);
        let told = self.post(Kind::INFO, format!("task resumed after start {}", self.count.iteration()));
        (used_up, Some(told))
    }

    /// Its agent was told often enough; somebody else can say that it is done.
    pub(in super::super) fn answer_by_ack(&self, more: &str) -> String {
        let bus = text::in_quotes(&self.in_task_folder(TASK_BUS));
        let first = self.inbox.open().first().0.next();
        let ack = first.map(|request| {
            format!("ralph bus post --bus {bus} --type ACK --parent {} 'what was done' && ", request.id)
        });
        format!("{}ralph resume {}{more}", ack.unwrap_or_default(), self.about.id)
    }
}

/// How an agent asked to be left alone, if it did.
fn wish_to_wait(ending: Option<&Ending>, file: &Marker, said: Option<String>) -> Option<String> {
    match (ending, file, said) {
        (Some(Ending::Exited { code: WAIT_EXIT }), ..) => Some(format!("exit {WAIT_EXIT}")),
        (_, Marker::Present, _) => Some("the file WAIT_WITHOUT_RESTART".to_owned()),
        (_, _, Some(said)) => Some(format!("on the bus: {}", text::without_controls(&said))),
        _ => None,
    }
}
