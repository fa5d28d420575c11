//! The rules of one run, resolved from defaults, settings and flags, with no `Option` left to guess.
//!
//! The policy is pinned: it stands in the run's first journal entry, and nothing that is edited
//! later changes the run.

mod differences;

use crate::check::{CheckSpec, Ground};
use crate::claim::Completion;
use crate::evidence::Extra;
use crate::guardrail::{self, Guardrail};
use crate::id::TaskName;
use crate::plan::PlanPolicy;
use crate::protect::ProtectPolicy;
use crate::scm::ScmPolicy;
use crate::supervise::Supervision;
use crate::time::Millis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a run is for, with what only runs of that kind need.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A prompt, given as text or as a file, until its completion is verified.
    #[default]
    Prompt,
    /// A root agent that is kept running until it is DONE.
    Supervised(Supervision),
    /// The stories of a plan, until all of them are done and reviewed.
    Plan(Box<PlanPolicy>),
}

impl Kind {
    /// The kind without what belongs to it.
    pub const fn name(&self) -> LoopKind {
        match self {
            Kind::Prompt => LoopKind::Prompt,
            Kind::Supervised(_) => LoopKind::Supervise,
            Kind::Plan(_) => LoopKind::Plan,
        }
    }
}

/// The name of a run's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopKind {
    Prompt,
    /// A supervised root agent.
    Supervise,
    Plan,
}

impl LoopKind {
    /// The word as it stands in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            LoopKind::Prompt => "prompt",
            LoopKind::Supervise => "supervise",
            LoopKind::Plan => "plan",
        }
    }

    /// What people call one process of the agent.
    pub const fn step(self) -> &'static str {
        match self {
            LoopKind::Prompt | LoopKind::Plan => "iteration",
            LoopKind::Supervise => "start",
        }
    }
}

/// Where the base text of each prompt comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptSource {
    /// This text, every time.
    Text(String),
    /// This file, read anew for every iteration.
    File(String),
}

/// Whether a run goes round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passes {
    /// Until done or at a limit.
    Loop,
    /// Once.
    Single,
}

/// How far a run may go. Zero switches a limit off, except for iterations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    pub max_iterations: u32,
    pub wall: Millis,
    pub iteration: Millis,
    /// Neither output nor work of one agent process.
    pub idle: Millis,
    /// A process that lives on after its final result.
    pub linger: Millis,
    /// Money of the whole run.
    pub max_cost_usd: f64,
    /// Tokens of the whole run.
    pub max_tokens: u64,
    /// Money of all runs of the task together.
    pub task_cost_usd: f64,
    /// Tokens of all runs of the task together.
    pub task_tokens: u64,
    /// Whether a provider's limit is waited for; if not, it ends the run.
    pub wait: bool,
    /// Iterations in a row without any change.
    pub stall_after: u32,
    /// Failed iterations in a row.
    pub max_consecutive_failures: u32,
    /// Iterations in a row in which the same checks fail in the same way, whatever else changes.
    pub max_same_failures: u32,
    /// How long child runs are waited for; zero leaves them alone.
    pub child_wait: Millis,
}

/// Long enough for a child run to come to its checks, short enough for whoever waits for the parent.
pub const CHILD_WAIT: Millis = Millis::from_secs(300);

impl Default for Limits {
    /// One iteration, and nothing else is limited.
    fn default() -> Limits {
        Limits {
            max_iterations: 1,
            wall: Millis::ZERO,
            iteration: Millis::ZERO,
            idle: Millis::ZERO,
            linger: Millis::ZERO,
            max_cost_usd: 0.0,
            max_tokens: 0,
            task_cost_usd: 0.0,
            task_tokens: 0,
            wait: true,
            stall_after: 0,
            max_consecutive_failures: 0,
            max_same_failures: 0,
            child_wait: CHILD_WAIT,
        }
    }
}

fn is_no(flag: &bool) -> bool {
    !flag
}

/// What must have been seen in the agent's own tool runs before a claim counts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StopCriteria {
    /// The last test command passed.
    pub passing_tests: bool,
    /// The last lint command passed.
    pub lint: bool,
    /// The last typecheck command passed.
    pub typecheck: bool,
    /// No error is left unrepaired.
    pub no_errors: bool,
    /// Every unrepaired failing command is an error, not only recognised ones.
    pub strict: bool,
}

/// Memory between iterations.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MemoryPolicy {
    pub enabled: bool,
    /// The size of the summary in characters.
    pub max_chars: usize,
    /// The summary's file name in the task folder.
    pub summary_file: String,
    /// The feedback's file name in the task folder.
    pub feedback_file: String,
    /// The state's file name in the task folder.
    pub state_file: String,
    /// How many of the last messages of the previous iteration go into the prompt.
    pub last_messages: usize,
}

/// How long a look at the tree may take: a first look reads every file,
/// and one that is cut leaves what it read to the next.
pub const TREE_TIMEOUT: Millis = Millis::from_secs(600);

/// How claims are verified beyond the guardrails.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VerifyPolicy {
    /// The guardrails run once before the first iteration, to know what was red already.
    pub baseline: bool,
    /// They run in a fresh checkout of the commit, so that only what is committed counts.
    pub clean_checkout: bool,
    /// Commands of the project that count as tests, lint or typecheck when the agent runs them.
    pub commands: Vec<Extra>,
    /// How long one look at the tree may take.
    pub tree_timeout: Millis,
    /// Checks run in the project itself, and not on snapshots of it.
    #[serde(default, skip_serializing_if = "is_no")]
    pub live: bool,
}

/// What is kept in the project for people to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryPolicy {
    /// How many prompts stand in files; the journal has all of them.
    pub prompts: u32,
}

impl Default for HistoryPolicy {
    fn default() -> HistoryPolicy {
        HistoryPolicy { prompts: 20 }
    }
}

/// How a prompt reaches the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptVia {
    /// As the dialect says.
    #[default]
    Auto,
    /// On standard input.
    Stdin,
    /// As the last argument.
    Arg,
    /// As the path of a file that holds it, as the last argument.
    File,
}

/// The agent and how to start it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentPolicy {
    /// The program, by name or path.
    pub command: String,
    /// Its arguments, before those of the dialect.
    pub flags: Vec<String>,
    /// Each of them is one argument: they come from a command line, where a shell has split them already.
    #[serde(default, skip_serializing_if = "is_no")]
    pub whole_flags: bool,
    /// The dialect's name; empty means: by the program's base name.
    pub dialect: String,
    /// What a program of the generic dialect prints: the name of the dialect whose stream it is; empty
    /// means text.
    pub format: String,
    /// The model to ask for; empty means the agent's own choice.
    pub model: String,
    pub prompt_via: PromptVia,
    pub env: BTreeMap<String, String>,
    pub env_remove: Vec<String>,
    /// Whether its output is asked for as a stream of events and shown as it comes.
    pub stream: bool,
}

/// Everything that rules a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub kind: Kind,
    /// The task, which picks the task folder.
    pub task: TaskName,
    pub prompt: PromptSource,
    /// Once or until done.
    pub passes: Passes,
    /// How an agent says that it is done.
    pub completion: Completion,
    /// Whether the prompt ends with the completion protocol.
    pub protocol: bool,
    /// Whether the prompt begins with the iteration line.
    pub iteration_line: bool,
    /// Commands that must pass after every iteration.
    pub guardrails: Vec<Guardrail>,
    /// Characters of a failed guardrail's output in the next prompt.
    pub output_chars: usize,
    /// What the agent's tool runs must show.
    pub criteria: StopCriteria,
    /// How far the run may go.
    pub limits: Limits,
    /// Memory between iterations.
    pub memory: MemoryPolicy,
    pub agent: AgentPolicy,
    /// Who works while the agent is limited, in the order of preference.
    pub fallback: Vec<AgentPolicy>,
    /// Version control after green guardrails.
    pub scm: ScmPolicy,
    /// Files that the agent must leave alone.
    pub protect: ProtectPolicy,
    /// How claims are verified beyond the guardrails.
    pub verify: VerifyPolicy,
    /// What is kept for people to read.
    pub history: HistoryPolicy,
    /// SHA-256 of the settings that this came from.
    pub config_hash: String,
}

impl Policy {
    /// The rules of a run for this task that asks for nothing and limits nothing.
    pub fn new(task: TaskName) -> Policy {
        Policy {
            kind: Kind::Prompt,
            task,
            prompt: PromptSource::Text(String::new()),
            passes: Passes::Loop,
            completion: Completion::default(),
            protocol: false,
            iteration_line: false,
            guardrails: Vec::new(),
            output_chars: 0,
            criteria: StopCriteria::default(),
            limits: Limits::default(),
            memory: MemoryPolicy::default(),
            agent: AgentPolicy::default(),
            fallback: Vec::new(),
            scm: ScmPolicy::default(),
            protect: ProtectPolicy::default(),
            verify: VerifyPolicy::default(),
            history: HistoryPolicy::default(),
            config_hash: String::new(),
        }
    }

    /// Whether the tree's fingerprint is worth taking: for the verdict on checks, to commit exactly what was checked,
    /// and where it can be seen, to notice a stall or to remember what an iteration changed.
    pub fn looks_at_the_tree(&self, can_be_seen: bool) -> bool {
        self.tree_is_judged() || can_be_seen && (self.limits.stall_after > 0 || self.memory.enabled)
    }

    /// How long a look at the tree may take after an agent; zero for no limit.
    pub fn tree_patience(&self) -> Millis {
        let decides = self.tree_is_judged() || self.limits.stall_after > 0;
        if decides { self.verify.tree_timeout } else { self.patience_for_memory() }
    }

    /// How long a look may take that only tells what an agent changes: nobody waits long for that.
    pub fn patience_for_memory(&self) -> Millis {
        const SHORT: Millis = Millis::from_secs(5);
        if self.verify.tree_timeout.is_off() { SHORT } else { self.verify.tree_timeout.min(SHORT) }
    }

    fn tree_is_judged(&self) -> bool {
        self.has_checks() || self.scm.commits() || self.pins()
    }

    /// Whether ralph executes anything to judge the work.
    pub fn has_checks(&self) -> bool {
        !self.guardrails.is_empty() || self.plan().is_some_and(|plan| !plan.commands.is_empty())
    }

    /// How a root agent is kept running, where that is what the run is for.
    pub const fn supervision(&self) -> Option<&Supervision> {
        match &self.kind {
            Kind::Supervised(supervision) => Some(supervision),
            Kind::Prompt | Kind::Plan(_) => None,
        }
    }

    /// How a plan is run, where that is what the run is for.
    pub const fn plan(&self) -> Option<&PlanPolicy> {
        match &self.kind {
            Kind::Plan(plan) => Some(plan),
            Kind::Prompt | Kind::Supervised(_) => None,
        }
    }

    /// Where checks run that see the project as it is.
    pub const fn ground(&self) -> Ground {
        if self.verify.live { Ground::Live } else { Ground::Project }
    }

    /// The checks of one iteration, in their order.
    pub fn checks(&self, iteration: u32, ground: Ground) -> Vec<CheckSpec> {
        let ground = if ground == Ground::Project { self.ground() } else { ground };
        let rules = self.guardrails.iter().zip(guardrail::ids(&self.guardrails));
        let rules = rules.map(|(rule, id)| rule.spec(id, iteration, ground, self.output_chars));
        let verify = self.plan().into_iter().flat_map(|plan| plan.specs(iteration, ground, self.output_chars));
        rules.chain(verify).collect()
    }

    /// Whether the scripts of guardrails are pinned.
    pub fn pins_scripts(&self) -> bool {
        self.protect.scripts && self.has_checks()
    }

    /// Whether the end tells which existing tests changed.
    pub fn tells_tests(&self) -> bool {
        self.protect.tests && self.has_checks()
    }

    /// Whether it is looked at what must stay as it is. Settings that protect no scripts ask for it too: whether people
    /// trust the settings must not depend on what the settings say. What a plan asks for is known only when it is read.
    pub fn pins(&self) -> bool {
        self.has_checks() || !self.protect.paths.is_empty() || self.plan().is_some()
    }

    /// The last iteration there can be, seen from this one: a single pass has no other behind it.
    pub fn last_iteration(&self, iteration: u32) -> u32 {
        match self.passes {
            Passes::Loop => self.limits.max_iterations,
            Passes::Single => iteration.max(1),
        }
    }
}
