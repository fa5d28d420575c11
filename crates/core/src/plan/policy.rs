//! How a plan is run: what of the settings only this kind of loop needs, and what `resume` may change of it.

use super::context::Gauge;
use super::{Plan, Rules, StoryId};
use crate::check::{CheckKind, CheckSpec, Ground};
use crate::guardrail::{self, OutputPart};
use crate::id::CheckId;
use crate::policy::AgentPolicy;
use crate::time::Millis;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// The folder of a plan, unless told otherwise.
pub const DIR: &str = "ralph";
/// The files in it.
pub const TASKS: &str = "tasks.json";
pub const PRD: &str = "prd.md";
pub const TEMPLATE: &str = "prompt.md";
pub const PROGRESS: &str = "progress.txt";

/// How a plan is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanPolicy {
    /// The plan's folder, as seen from the project's root, without a slash at its end.
    pub dir: String,
    pub rules: Rules,
    pub branch: BranchUse,
    /// Who reviews; whoever implements, if nobody is named.
    pub reviewer: Option<AgentPolicy>,
    /// How long one verify command may run.
    pub verify_timeout: Millis,
    /// How often the stop hook sends one agent process back to work.
    pub max_stop_blocks: u32,
    /// By what the context hook tells how full a window is.
    pub context: Gauge,
    /// The verify commands of the plan, each once, as it was read last. Nobody but the machine fills them in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<VerifyCommand>,
}

/// A shell line that must be green.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyCommand {
    pub command: String,
    /// The stories that name it; none if it is the plan's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stories: Vec<StoryId>,
}

impl VerifyCommand {
    /// All of a plan, in their order; a line that stands there twice is one command.
    pub fn of(plan: &Plan) -> Vec<VerifyCommand> {
        let own = plan.verify_commands().iter().map(|command| (command, None));
        let stories = plan.stories().iter();
        let of_stories =
            stories.flat_map(|story| story.verify_commands.iter().map(move |command| (command, Some(story))));
        let mut all: Vec<VerifyCommand> = Vec::new();
        for (command, story) in own.chain(of_stories) {
            match (all.iter_mut().find(|known| known.command == *command), story) {
                (None, _) => {
                    let stories = story.map(|story| story.id.clone()).into_iter().collect();
                    all.push(VerifyCommand { command: command.clone(), stories });
                }
                // Whatever the whole plan asks for, no story asks for besides.
                (Some(known), Some(story)) if !known.stories.is_empty() => known.stories.push(story.id.clone()),
                (Some(_), _) => {}
            }
        }
        all
    }

    /// Whether it is executed in an iteration that works on this story.
    pub fn is_due(&self, story: Option<&StoryId>) -> bool {
        self.stories.is_empty() || story.is_some_and(|story| self.stories.contains(story))
    }
}

impl Default for PlanPolicy {
    fn default() -> PlanPolicy {
        PlanPolicy {
            dir: DIR.to_owned(),
            rules: Rules::default(),
            branch: BranchUse::default(),
            reviewer: None,
            verify_timeout: Millis::ZERO,
            max_stop_blocks: 5,
            context: Gauge::default(),
            commands: Vec::new(),
        }
    }
}

impl PlanPolicy {
    /// The path of one of the plan's files, as seen from the project's root.
    pub fn path(&self, name: &str) -> String {
        if self.dir.is_empty() || self.dir == "." { name.to_owned() } else { format!("{}/{name}", self.dir) }
    }

    /// The verify commands as checks, in their order. Their ids stay the same whichever stories name them.
    pub fn specs(&self, iteration: u32, ground: Ground, output_chars: usize) -> Vec<CheckSpec> {
        let mut specs: Vec<CheckSpec> = Vec::with_capacity(self.commands.len());
        for VerifyCommand { command, .. } in &self.commands {
            let stem = guardrail::slug(command);
            let named = std::iter::once(stem.clone()).chain((1..).map(|number| format!("{stem}_{number}")));
            // No guardrail has such an id: a slug has no hyphen.
            let mut free = named.filter(|name| !specs.iter().any(|spec| spec.id.as_str() == format!("verify-{name}")));
            let name = free.next().unwrap_or_default();
            specs.push(CheckSpec {
                source: CheckKind::Verify,
                log_name: format!("verify_{iteration:03}_{name}.log"),
                timeout: self.verify_timeout,
                ground,
                output: OutputPart::Decisive,
                output_chars,
                ..CheckSpec::new(CheckId::new(format!("verify-{name}")), command.clone())
            });
        }
        specs
    }

    /// Takes what somebody wants otherwise from now on.
    pub fn change(&mut self, changes: &PlanChanges) {
        self.rules.skip_review = changes.skip_review.unwrap_or(self.rules.skip_review);
        self.rules.cap = changes.review_cap.unwrap_or(self.rules.cap);
        if let Some(reviewer) = &changes.reviewer {
            self.reviewer = Some(reviewer.clone());
        }
    }
}

/// What becomes of `branchName`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchUse {
    /// It is said if HEAD is another branch.
    #[default]
    Check,
    /// The run works on it, and makes it if it is not there.
    Create,
    Ignore,
}

/// What `resume` changes of a plan's run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanChanges {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_review: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_cap: Option<NonZeroU32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<AgentPolicy>,
}

impl PlanChanges {
    pub fn is_empty(&self) -> bool {
        *self == PlanChanges::default()
    }
}
