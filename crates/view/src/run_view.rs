//! A run as its journal tells it: one [`AttemptView`] per agent process, with what it did, how it was checked and
//! what was made of it. The machine that decided folds the entries again, so that a view cannot tell another story
//! than the one that happened. Entries are taken one by one, so a view can follow a run that goes on.

mod fold;

use crate::liveness::State;
use crate::words::between;
use ralph_core::check::{CheckKind, CheckReport, CheckSpec, TreePrint};
use ralph_core::claim::Claim;
use ralph_core::event::{Entry, Event, Started};
use ralph_core::notice::{Notice, PlanTurn, ResumeKind, VerdictWord};
use ralph_core::observation::{Observation, Tokens};
use ralph_core::outcome::Outcome;
use ralph_core::policy::PromptSource;
use ralph_core::run::{ReplayError, Run};
use ralph_core::scm::ScmSpec;
use ralph_core::time::{Millis, WallTime};
use ralph_core::words::Reason;

pub struct RunView {
    pub started: Started,
    pub machine: Run,
    /// How the checks were before the first iteration, if the settings ask for that.
    pub baseline: Vec<Check>,
    /// One for every agent process that was started, oldest first.
    pub attempts: Vec<AttemptView>,
    pub notes: Vec<(WallTime, String)>,
    /// Every wait for a provider's limit or for trouble to pass, oldest first.
    pub waits: Vec<Wait>,
    in_flight: Option<InFlight>,
    prompts: Prompts,
    tree: Option<TreePrint>,
    /// The base text of the last prompt that was read from a file.
    asked: String,
    /// When the wait began that is not over yet, as time that the run was worked on.
    waiting_since: Option<Millis>,
}

/// Whose prompts are kept: a thousand of them need not fit into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompts {
    None,
    Of(u32),
    Newest,
}

#[derive(Default)]
pub struct AttemptView {
    pub iteration: u32,
    pub attempt: u32,
    pub at: WallTime,
    /// The exact prompt; empty unless this iteration's was asked for.
    pub prompt: String,
    pub program: String,
    /// What it was for, in a plan.
    pub turn: Option<Box<PlanTurn>>,
    /// What the agent did; `None` if its end was never seen.
    pub agent: Option<AgentEnd>,
    pub checks: Vec<Check>,
    /// What was judged without a command of its own, as far as it was told: what tool runs show, files.
    pub findings: Vec<Finding>,
    /// Commands of version control, and what there is to know about them.
    pub scm: Vec<ScmCommand>,
    /// The tree as it was last looked at after the agent.
    pub tree: Option<TreePrint>,
    /// The tree after the checks, where it was looked at again.
    pub look_after: Option<TreePrint>,
    /// What was made of it; `None` if it was never judged.
    pub judged: Option<Judged>,
}

pub struct AgentEnd {
    pub seen: Box<Observation>,
    pub how: String,
    pub well: bool,
}

pub struct Check {
    pub iteration: u32,
    pub attempt: u32,
    pub kind: CheckKind,
    pub report: Box<CheckReport>,
    pub tree: Option<TreePrint>,
    pub at: WallTime,
    /// Why it does not count; `None` if it does.
    pub set_aside: Option<&'static str>,
}

/// A check that executed nothing: something holds or does not hold.
pub struct Finding {
    pub kind: CheckKind,
    pub name: String,
    pub passed: bool,
    pub problem: String,
    pub duration: Millis,
    pub log: Option<String>,
}

pub struct ScmCommand {
    pub name: String,
    pub passed: bool,
    /// Why not, or what there is to know.
    pub detail: String,
    pub exit_code: Option<i32>,
    pub duration: Millis,
}

pub struct Wait {
    pub iteration: u32,
    pub at: WallTime,
    pub until: WallTime,
    pub why: String,
    /// How long it was; `None` if its end was never seen.
    pub waited: Option<Millis>,
}

pub struct Judged {
    pub claim: Claim,
    pub verdict: VerdictWord,
    pub reasons: Vec<Reason>,
    pub accepted: bool,
    /// Money, the question for a commit message included.
    pub cost_usd: Option<f64>,
    pub tokens: Tokens,
    /// Processes that outlived the agent.
    pub leaked: u32,
    /// The whole iteration, checks included.
    pub duration: Millis,
}

#[derive(Debug, Clone, PartialEq)]
pub enum InFlight {
    Prompt,
    Agent,
    Tree,
    Check(Box<CheckSpec>),
    Scm(ScmSpec),
    Wait(WallTime),
    /// It paused between two starts of a supervised agent.
    Rest,
    Children,
    /// It was telling the project that the task is complete.
    Fact,
}

impl RunView {
    pub fn of(entries: Vec<Entry>, prompts: Prompts) -> Result<RunView, ReplayError> {
        let mut entries = entries.into_iter();
        let mut view = RunView::begin(entries.next().ok_or(ReplayError::Empty)?, prompts)?;
        entries.for_each(|entry| view.apply(entry));
        Ok(view)
    }

    pub fn begin(entry: Entry, prompts: Prompts) -> Result<RunView, ReplayError> {
        let (machine, step) = Run::begin(&entry)?;
        let Event::Started(started) = &entry.event else { return Err(ReplayError::NoStart) };
        let mut view = RunView {
            started: started.as_ref().clone(),
            machine,
            baseline: Vec::new(),
            attempts: Vec::new(),
            notes: Vec::new(),
            waits: Vec::new(),
            in_flight: None,
            prompts,
            tree: None,
            asked: String::new(),
            waiting_since: None,
        };
        view.take(entry, step);
        Ok(view)
    }

    pub fn apply(&mut self, entry: Entry) {
        let step = self.machine.step(&entry);
        self.take(entry, step);
    }

    /// The text that was asked for, as it was last read.
    pub fn asked(&self) -> &str {
        match &self.started.policy.prompt {
            PromptSource::Text(text) => text,
            PromptSource::File(_) => &self.asked,
        }
    }

    /// What was being done when the journal ends; `None` once the run has ended.
    pub fn in_flight(&self) -> Option<&InFlight> {
        self.in_flight.as_ref().filter(|_| self.outcome().is_none())
    }

    /// The hash of the settings that were pinned when the run began.
    pub fn settings(&self) -> &str {
        &self.machine.policy().config_hash
    }

    /// Every check with a receipt, in the order in which they ended.
    pub fn executed(&self) -> impl Iterator<Item = &Check> {
        self.baseline.iter().chain(self.attempts.iter().flat_map(|attempt| &attempt.checks))
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        self.machine.outcome()
    }

    pub fn attempt(&self, iteration: Option<u32>) -> Option<&AttemptView> {
        self.attempts.iter().rev().find(|attempt| iteration.is_none_or(|wanted| wanted == attempt.iteration))
    }

    pub fn counted(&self) -> impl Iterator<Item = &AttemptView> {
        let counts = |judged: &Judged| matches!(judged.verdict, VerdictWord::Continue | VerdictWord::Stop);
        self.attempts.iter().filter(move |attempt| attempt.judged.as_ref().is_some_and(counts))
    }

    pub fn judged(&self) -> u32 {
        u32::try_from(self.counted().count()).unwrap_or(u32::MAX)
    }

    pub fn waited(&self) -> Millis {
        self.waits.iter().filter_map(|wait| wait.waited).fold(Millis::ZERO, Millis::plus)
    }

    /// The last wait is still going on, and lasted until now.
    pub fn goes_on_waiting(&mut self, now: WallTime) {
        if let Some(wait) = self.waits.last_mut() {
            wait.waited = Some(between(wait.at, now));
        }
    }

    pub fn worked(&self, state: State, now: WallTime) -> Millis {
        state.worked(&self.machine.row(), now)
    }

    pub fn on_resume(&self) -> OnResume {
        let mut machine = self.machine.clone();
        let entry = Entry {
            seq: machine.seq() + 1,
            at: machine.row().updated_at,
            elapsed: machine.elapsed(),
            event: Event::Resumed(Box::default()),
        };
        let step = machine.step(&entry);
        let kind = step.tell.iter().find_map(|notice| match notice {
            Notice::RunStarted { resumed, .. } => *resumed,
            _ => None,
        });
        match (kind, machine.decided()) {
            (None, _) => OnResume::Nothing,
            (Some(_), Some(outcome)) => OnResume::EndsAtOnce(outcome.message.clone()),
            (Some(kind), None) => OnResume::GoesOn(kind),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnResume {
    Nothing,
    /// The limit that ended it would end it again.
    EndsAtOnce(String),
    GoesOn(ResumeKind),
}

impl AttemptView {
    pub fn counted(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.set_aside.is_none())
    }

    /// Drops what an earlier round found about this.
    fn forget(&mut self, kind: CheckKind, name: &str) {
        self.findings.retain(|finding| finding.kind != kind || finding.name != name);
    }

    pub fn tally(&self) -> (usize, usize) {
        let executed = self.counted().map(|check| check.report.passed());
        let all: Vec<bool> = executed.chain(self.findings.iter().map(|finding| finding.passed)).collect();
        let passed = all.iter().filter(|passed| **passed).count();
        (passed, all.len() - passed)
    }

    /// How long it took with its checks; without them if it was never judged.
    pub fn duration(&self) -> Option<Millis> {
        let judged = self.judged.as_ref().map(|judged| judged.duration);
        judged.or(self.agent.as_ref().map(|agent| agent.seen.process.duration))
    }

    pub fn cost_usd(&self) -> Option<f64> {
        match &self.judged {
            Some(judged) => judged.cost_usd,
            None => self.agent.as_ref().and_then(|agent| agent.seen.cost_usd),
        }
    }

    pub fn tokens(&self) -> Option<Tokens> {
        let tokens = match &self.judged {
            Some(judged) => judged.tokens,
            None => self.agent.as_ref().map(|agent| agent.seen.tokens).unwrap_or_default(),
        };
        (tokens.total() > 0).then_some(tokens)
    }
}

#[cfg(test)]
mod tests;
