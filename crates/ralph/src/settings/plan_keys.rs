//! The keys of the section `plan`; [`super::keys`] says how keys are written.

use super::keys::{Agent, Fallback};
use ralph_core::plan::context::Gauge;
use ralph_core::plan::{BranchUse, DIR, Rules};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::num::{NonZeroU32, NonZeroU64};

/// How a plan is worked through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PlanSettings {
    /// The plan's folder, relative to the project.
    #[schemars(length(min = 1), extend("format" = "folder"))]
    pub dir: String,
    /// How many iterations a run of a plan may use; `maximumIterations` is for prompts only.
    #[schemars(range(min = 1, max = u32::MAX))]
    pub maximum_iterations: u32,
    /// How many reviews a story may have; the last one approves it, and says so.
    #[schemars(with = "u32", range(min = 1, max = u32::MAX))]
    pub review_cap: NonZeroU32,
    /// Work without reviews: whoever implements a story says that it passes.
    pub skip_review: bool,
    /// Who reviews.
    pub review: ReviewSettings,
    /// What to do if another branch than the plan's `branchName` is checked out: `check` says it, `create` switches to
    /// that branch and makes it where there is none, `ignore` does nothing.
    #[schemars(schema_with = "branch")]
    pub branch: BranchUse,
    /// How often the stop hook may send one agent process back to work. It is not the gate: ralph judges the iteration
    /// afterwards in any case. 0 means never.
    #[schemars(range(min = 0, max = u32::MAX))]
    pub max_stop_blocks: u32,
    /// When an agent is told that its context window fills up; for loops without a plan too.
    pub context: ContextSettings,
}

impl Default for PlanSettings {
    fn default() -> PlanSettings {
        let rules = Rules::default();
        PlanSettings {
            dir: DIR.to_owned(),
            maximum_iterations: 15,
            review_cap: rules.cap,
            skip_review: rules.skip_review,
            review: ReviewSettings::default(),
            branch: BranchUse::Check,
            max_stop_blocks: 5,
            context: ContextSettings::default(),
        }
    }
}

impl PlanSettings {
    /// The rules of a run, as far as the settings say.
    pub fn rules(&self) -> Rules {
        Rules { cap: self.review_cap, skip_review: self.skip_review }
    }
}

/// Who reviews.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ReviewSettings {
    /// The agent that reviews: the name of a program, or an object with the keys of `agent`; null means the agent that
    /// implements.
    #[schemars(schema_with = "reviewer")]
    pub agent: Option<Fallback>,
    /// The model to ask the reviewer for; null means: as `plan.review.agent` or `agent` says.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
}

/// When an agent is told that its context window fills up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ContextSettings {
    /// How many tokens the context window holds, unless the variable `CLAUDE_CONTEXT_WINDOW` says it.
    #[schemars(with = "u64", range(min = 1, max = u32::MAX))]
    pub window: NonZeroU64,
    /// How many bytes of an agent's transcript count as one token.
    #[schemars(with = "u32", range(min = 1, max = u32::MAX))]
    pub chars_per_token: NonZeroU32,
    /// At which percentages of the window something is said, each once; an empty list means never.
    #[schemars(schema_with = "thresholds")]
    pub thresholds: Vec<u32>,
}

impl Default for ContextSettings {
    fn default() -> ContextSettings {
        let Gauge { window, chars_per_token, thresholds } = Gauge::default();
        ContextSettings { window, chars_per_token, thresholds }
    }
}

impl ContextSettings {
    pub fn gauge(&self) -> Gauge {
        let ContextSettings { window, chars_per_token, thresholds } = self.clone();
        Gauge { window, chars_per_token, thresholds }
    }
}

fn branch(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["check", "create", "ignore"] })
}

fn thresholds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "integer", "minimum": 1, "maximum": 100 } })
}

/// Nobody, a program, or an object like `agent`.
fn reviewer(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = Agent::json_schema(generator);
    schema.insert("type".to_owned(), Value::from(vec!["null", "string", "object"]));
    schema.insert("minLength".to_owned(), Value::from(1));
    schema.insert("required".to_owned(), Value::from(vec!["command"]));
    schema
}
