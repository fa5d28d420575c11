//! The loop machine.
//!
//! A run is the fold of its entries: [`Run::step`] takes one and says what to do next. There is one
//! file per phase; each holds the transitions out of that phase. An event that does not fit the
//! phase changes nothing, so no order of events can break a run.
//!
//! ```text
//! Prompting ──► Working ──► Checking ──► Prompting (next iteration)
//!     ▲            │            │
//!     └─ Waiting ◄─┘            └──► Ended     (every phase can end; an end can be resumed)
//! ```

mod asking;
mod beginning;
mod budget;
mod checking;
mod committing;
mod progress;
mod prompting;
mod protecting;
mod row;
mod stopping;
mod supervising;
mod waiting;
mod working;

pub use row::RunRow;

use crate::bus::Kind;
use crate::effect::Effect;
use crate::event::{Entry, Event, Resumed, Spent, Started};
use crate::guardrail::GuardrailFailure;
use crate::history::History;
use crate::id::RunId;
use crate::inbox::Inbox;
use crate::memory::Memory;
use crate::notice::{Notice, ResumeKind};
use crate::observation::Tokens;
use crate::outcome::Outcome;
use crate::policy::{Policy, PromptSource};
use crate::protect::Pins;
use crate::supervise::StartLimit;
use crate::time::{Millis, WallTime};
use beginning::Beginning;
use checking::Checking;
use std::collections::BTreeMap;
use std::sync::Arc;
use stopping::{StopCause, StopWish};
use supervising::Finishing;

/// A run, as its entries have made it.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    id: RunId,
    parent: Option<RunId>,
    policy: Policy,
    phase: Phase,
    /// The project's folder, for hints.
    root: String,
    /// Number of the last entry, so that a reader can go on behind it.
    seq: u64,
    started_at: WallTime,
    updated_at: WallTime,
    elapsed: Millis,
    /// The iteration that is being worked on, or was last.
    iteration: u32,
    /// Repeats of that number, from 1.
    attempt: u32,
    iteration_began: Millis,
    /// Iterations that were judged.
    judged: u32,
    wish: StopWish,
    cost_usd: Option<f64>,
    tokens: Tokens,
    memory: Memory,
    /// The base text of the last prompt.
    base: String,
    /// What people wrote, as the last prompt carried it.
    human: String,
    /// ralph's words about the last iteration.
    feedback: String,
    guardrail_failures: Vec<GuardrailFailure>,
    messages: Vec<String>,
    failures_in_row: u32,
    /// Who works: 0 for the agent itself, then the fallbacks in their order.
    agent: usize,
    /// Until when each of them is refused; those that never were have no entry.
    refused: BTreeMap<usize, WallTime>,
    /// What other runs of the same task used.
    task_spent: Spent,
    /// It was said that a budget cannot be kept, because the agent does not state what it uses.
    price_missed: bool,
    waits_in_row: u32,
    /// Those of them that no limit explains.
    transient_in_row: u32,
    history: History,
    /// The files whose state counts, once they were looked at.
    pins: Option<Arc<Pins>>,
    /// Which checks passed before the first iteration, if that was wanted.
    baseline: Option<Vec<bool>>,
    /// The task of version control that failed last, as a sentence; nothing if the last one went well.
    scm_failure: Option<String>,
    /// What was undone in this iteration, for the agent.
    undone: Option<String>,
    /// It was said how a file can be taken out of protection.
    way_out_told: bool,
    /// It was said that the tree cannot be seen.
    blind_told: bool,
    /// Changes of protected files that were told and allowed.
    allowed: Option<String>,
    last_check: Option<(String, bool)>,
    last_judged: LastJudged,
    /// A settings file that was edited while this run keeps its own.
    settings_edited: Option<String>,
    /// What was heard on the bus.
    inbox: Inbox,
    /// Failures of a supervised agent that came at once.
    start_limit: StartLimit,
    /// Somebody has just wanted a supervised agent to run.
    fresh: bool,
    /// How often in a row its DONE did not count.
    refused_done: u32,
    /// The last attempt of a supervised agent was cut off, and is made again under its number.
    cut_off: bool,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq)]
enum Phase {
    /// Something is looked at before the first iteration.
    Beginning(Beginning),
    /// The inputs of the next prompt are being read.
    Prompting,
    /// An agent process runs.
    Working,
    /// The agent is gone; checks run.
    Checking(Box<Checking>),
    /// The same iteration will be tried again, at this time.
    Waiting(WallTime),
    /// The markers of a supervised agent are looked at, before an attempt.
    Looking,
    /// A pause between two attempts.
    Resting,
    /// DONE is there.
    Finishing(Finishing),
    /// It has ended, and could go on like this.
    Ended(Box<Outcome>, Continuation),
}

/// How an ended run would go on.
#[derive(Debug, Clone, PartialEq)]
enum Continuation {
    NextIteration,
    SameIteration,
    Checks(Box<Checking>),
    /// It is complete.
    Nothing,
}

/// What the state file says about the iteration that was judged last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct LastJudged {
    claimed: bool,
    errors: Vec<String>,
    /// Pinned files that were not as they had been; empty if none was.
    violations: String,
}

/// Why a journal is not a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It has no entries.
    #[error("the journal is empty")]
    Empty,
    /// Its first entry does not begin a run.
    #[error("the journal does not begin with the start of a run")]
    NoStart,
}

impl Run {
    /// Begins a run with its first entry.
    pub fn begin(entry: &Entry) -> Result<(Run, Vec<Effect>), ReplayError> {
        let Event::Started(started) = &entry.event else { return Err(ReplayError::NoStart) };
        let Started { run, parent, policy, .. } = started.as_ref().clone();
        let mut machine = Run {
            id: run,
            parent,
            policy,
            phase: Phase::Prompting,
            seq: entry.seq,
            root: started.root.clone(),
            started_at: entry.at,
            updated_at: entry.at,
            elapsed: entry.elapsed,
            iteration: 0,
            attempt: 1,
            iteration_began: entry.elapsed,
            judged: 0,
            wish: StopWish::None,
            cost_usd: None,
            tokens: Tokens::default(),
            memory: Memory::default(),
            base: String::new(),
            human: String::new(),
            feedback: String::new(),
            guardrail_failures: Vec::new(),
            messages: Vec::new(),
            failures_in_row: 0,
            agent: 0,
            refused: BTreeMap::new(),
            task_spent: started.task_spent,
            price_missed: false,
            waits_in_row: 0,
            transient_in_row: 0,
            history: History::default(),
            pins: None,
            baseline: None,
            scm_failure: None,
            undone: None,
            way_out_told: false,
            blind_told: false,
            allowed: None,
            last_check: None,
            last_judged: LastJudged::default(),
            settings_edited: None,
            inbox: Inbox::default(),
            start_limit: StartLimit::default(),
            fresh: true,
            refused_done: 0,
            cut_off: false,
        };
        if let PromptSource::Text(text) = &machine.policy.prompt {
            machine.base.clone_from(text);
        }
        let mut effects = vec![machine.announce(None)];
        effects.extend(started.inherited.iter().map(|text| Effect::Tell(Notice::Note { text: text.clone() })));
        effects.extend(machine.next_iteration());
        Ok((machine, effects))
    }

    /// Folds a whole journal, telling `each` what every entry led to.
    pub fn replay(entries: &[Entry], mut each: impl FnMut(&Entry, Vec<Effect>)) -> Result<Run, ReplayError> {
        let (first, rest) = entries.split_first().ok_or(ReplayError::Empty)?;
        let (mut machine, effects) = Run::begin(first)?;
        each(first, effects);
        for entry in rest {
            let effects = machine.step(entry);
            each(entry, effects);
        }
        Ok(machine)
    }

    /// Takes one entry and says what to do next.
    pub fn step(&mut self, entry: &Entry) -> Vec<Effect> {
        self.seq = entry.seq;
        self.updated_at = entry.at;
        self.elapsed = self.elapsed.max(entry.elapsed);
        let effects = self.on_event(&entry.event);
        self.keep_last_check(&effects);
        effects
    }

    fn on_event(&mut self, event: &Event) -> Vec<Effect> {
        match event {
            Event::Started(_) => Vec::new(),
            Event::Resumed(resumed) => self.on_resumed(resumed),
            Event::Gathered(gathered) => self.on_gathered(gathered),
            Event::AgentEnded(seen) => self.on_agent_ended(seen),
            Event::TreeSeen { print, changed, pinned } => self.on_tree_seen(print, changed.as_deref(), pinned),
            Event::Pinned { pins } => self.on_pinned(pins),
            Event::PinnedRestored { problems } => self.on_pinned_restored(problems),
            Event::CheckedOut { commit, fault, uncommitted, pinned } => {
                self.on_checked_out((commit, *fault), uncommitted, pinned)
            }
            Event::CheckEnded(report) => self.on_check_ended(report),
            Event::ScmLooked { pending } => self.on_scm_looked(*pending),
            Event::ScmEnded(report) => self.on_scm_ended(report),
            Event::MarkersSeen { markers, problem } => self.on_markers_seen(markers, problem.as_deref()),
            Event::Heard { messages } => self.on_heard(messages),
            Event::ChildrenSeen { left, ended } => self.on_children_seen(left, ended),
            Event::Posted { problem } => self.on_posted(problem.as_deref()),
            Event::Woke => self.on_woke(),
            Event::Interrupted => self.on_stop(StopCause::Interrupted),
            Event::Cancelled => self.on_stop(StopCause::Cancelled),
            Event::WallTimeUp => self.on_stop(StopCause::WallTime),
            Event::BudgetUp => self.on_stop(StopCause::Budget),
            Event::SettingsEdited { file } => self.on_settings_edited(file),
            Event::Noted { text } => vec![Effect::Tell(Notice::Note { text: text.clone() })],
        }
    }

    fn on_settings_edited(&mut self, file: &str) -> Vec<Effect> {
        self.settings_edited = Some(file.to_owned());
        let text = format!("{file} was edited; this run keeps the settings it began with");
        vec![Effect::Tell(Notice::Note { text })]
    }

    /// What was changed during this run of that by which agents are judged, and counted for nothing in it. A run that
    /// comes after it takes everything as it stands, so somebody should have looked at that.
    fn left_changed(&self) -> Vec<String> {
        let files = Some(self.last_judged.violations.clone()).filter(|words| !words.is_empty());
        let settings = self.settings_edited.as_ref().map(|file| format!("{file} was edited"));
        files.into_iter().chain(settings).collect()
    }

    /// The last check is the last one that was told, whatever its kind.
    fn keep_last_check(&mut self, effects: &[Effect]) {
        let told = effects.iter().rev().find_map(|effect| match effect {
            Effect::Tell(Notice::CheckFinished { name, passed, .. }) => Some((name.clone(), *passed)),
            _ => None,
        });
        self.last_check = told.or(self.last_check.take());
    }

    /// The run's id.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// The run's rules, with limits as raised since.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The number of the last entry.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Time that the run has been worked on.
    pub fn elapsed(&self) -> Millis {
        self.elapsed
    }

    /// The current iteration.
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// How the run ended, if it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Ended(outcome, _) => Some(outcome),
            _ => None,
        }
    }

    /// Whether an ended run is complete, so that nothing is left to resume.
    pub fn is_complete(&self) -> bool {
        matches!(&self.phase, Phase::Ended(_, Continuation::Nothing))
    }

    /// What must be as it was at the start.
    pub fn pins(&self) -> Arc<Pins> {
        self.pins.clone().unwrap_or_default()
    }

    /// Wall time that is left; `None` if there is no such limit.
    pub fn wall_left(&self) -> Option<Millis> {
        let wall = self.policy.limits.wall;
        (!wall.is_off()).then(|| wall.minus(self.elapsed))
    }

    /// The run at a glance.
    pub fn row(&self) -> RunRow {
        let outcome = self.outcome();
        RunRow {
            run: self.id.clone(),
            parent: self.parent.clone(),
            kind: self.policy.kind,
            task: self.policy.task.clone(),
            agent: self.policy.agent.command.clone(),
            stop_reason: outcome.map(|outcome| outcome.reason),
            message: outcome.map(|outcome| outcome.message.clone()).unwrap_or_default(),
            verified: outcome.is_some_and(|outcome| outcome.verified),
            exit_code: outcome.map(|outcome| outcome.exit_code),
            iteration: self.iteration,
            max_iterations: self.policy.last_iteration(self.iteration),
            started_at: self.started_at,
            updated_at: self.updated_at,
            elapsed: Some(self.elapsed),
            waits_until: match self.phase {
                Phase::Waiting(until) => Some(until),
                _ => None,
            },
            last_check: self.last_check.clone(),
            cost_usd: self.cost_usd,
            tokens: self.tokens,
            idle: self.policy.limits.idle,
            left_changed: self.left_changed(),
        }
    }

    fn announce(&self, resumed: Option<ResumeKind>) -> Effect {
        Effect::Tell(Notice::RunStarted { run: self.id.clone(), policy: Box::new(self.policy.clone()), resumed })
    }

    /// Goes on after an end or a crash. What was in flight is in doubt: an agent is started again
    /// under the same number, a check is executed again, and nothing that was finished is repeated.
    fn on_resumed(&mut self, resumed: &Resumed) -> Vec<Effect> {
        let continuation = match &self.phase {
            Phase::Ended(_, continuation) => continuation.clone(),
            Phase::Checking(checking) => Continuation::Checks(checking.clone()),
            Phase::Working | Phase::Waiting(_) | Phase::Prompting if self.iteration > 0 => Continuation::SameIteration,
            _ => Continuation::NextIteration,
        };
        if continuation == Continuation::Nothing {
            return Vec::new();
        }
        self.raise_limits(resumed);
        self.wish = StopWish::None;
        if matches!(self.phase, Phase::Ended(..)) {
            // Somebody has looked at the end and wants more, so every row begins anew. A crash says
            // nothing about the agent: if it cut a row, crashing often enough would outrun every limit.
            self.failures_in_row = 0;
            self.waits_in_row = 0;
            self.transient_in_row = 0;
            self.history.begin_rows_anew();
            self.refused.clear();
            self.start_limit = StartLimit::default();
            self.fresh = true;
            self.refused_done = 0;
        }
        let (kind, then) = match continuation {
            Continuation::Checks(checking) => {
                (ResumeKind::Checks(self.iteration), self.go_on_checking(Box::new(checking.anew())))
            }
            Continuation::SameIteration if self.supervises() => {
                self.cut_off = true;
                (ResumeKind::SameIteration(self.iteration), self.look_at_markers())
            }
            Continuation::SameIteration => {
                self.attempt += 1;
                (ResumeKind::SameIteration(self.iteration), self.gather())
            }
            Continuation::NextIteration | Continuation::Nothing => {
                (ResumeKind::NextIteration(self.iteration + 1), self.next_iteration())
            }
        };
        let used_up = self.supervises() && !self.cut_off && self.iteration >= self.policy.limits.max_iterations;
        let at_a_limit = matches!(self.phase, Phase::Ended(..)) || (used_up && self.phase == Phase::Looking);
        let kind = if at_a_limit { ResumeKind::AtALimit } else { kind };
        let mut effects = vec![self.announce(Some(kind))];
        if self.supervises() {
            effects.push(self.post(Kind::INFO, format!("task resumed after attempt {}", self.iteration)));
        }
        effects.extend(then);
        effects
    }

    fn raise_limits(&mut self, resumed: &Resumed) {
        if let Some(agent) = &resumed.agent {
            self.policy.agent.command.clone_from(agent);
            self.policy.agent.dialect.clear();
            self.refused.remove(&0);
        }
        self.task_spent = resumed.task_spent;
        self.policy.limits.wait = resumed.wait.unwrap_or(self.policy.limits.wait);
        let limits = &mut self.policy.limits;
        limits.max_iterations = resumed.max_iterations.unwrap_or(limits.max_iterations);
        limits.wall = resumed.wall.unwrap_or(limits.wall);
        limits.iteration = resumed.iteration.unwrap_or(limits.iteration);
        limits.idle = resumed.idle.unwrap_or(limits.idle);
        limits.max_cost_usd = resumed.max_cost_usd.unwrap_or(limits.max_cost_usd);
        limits.max_tokens = resumed.max_tokens.unwrap_or(limits.max_tokens);
    }
}
