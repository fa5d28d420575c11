//! Every key that settings may hold, with its type, its bounds and its default.
//!
//! This is the one source: the JSON Schema, the checks, the warnings about unknown keys, the
//! defaults in `config show` and the reference page all come from these types, and the doc comments
//! are the documentation. So a doc comment on a key speaks to whoever writes settings, not to whoever
//! reads the code. What a bound cannot say stands as a `format` that [`super::formats`] knows. The
//! larger sections are in [`super::loop_keys`] and [`super::display_keys`].

use super::display_keys::DisplaySettings;
use super::guardrail_keys::GuardrailEntry;
use super::loop_keys::{HistorySettings, LimitSettings, Loop, MemorySettings};
use super::plan_keys::PlanSettings;
use super::verify_keys::VerifyCommand;
use ralph_core::policy::{PromptVia, TREE_TIMEOUT};
use ralph_core::protect::OnChange;
use ralph_core::time::Millis;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Ten years. Clocks can add this to now without overflow; whoever means longer means 0, off.
pub(super) const LONGEST_MS: u64 = 315_360_000_000;

/// The settings of ralph, in `.ralph/settings.json`, for one person's machine in
/// `.ralph/settings.local.json`, and for one person's projects in `~/.config/ralph/settings.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[schemars(title = "ralph settings")]
pub struct Settings {
    /// The address of a JSON Schema, for editors; ralph itself does not read it.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// How many iterations a run may use.
    #[schemars(range(min = 1, max = u32::MAX))]
    pub maximum_iterations: u32,
    /// What the agent writes into `<response>…</response>` when it is done; compared without regard
    /// to case and surrounding space.
    #[schemars(length(min = 1))]
    pub completion_response: String,
    /// How many characters of a failed guardrail's output go into the next prompt; the log keeps all.
    #[schemars(range(min = 1, max = u32::MAX))]
    pub output_truncate_chars: u32,
    /// Ask the agent for a stream of events and show its output as it comes.
    pub stream_agent_output: bool,
    /// Begin each prompt with `Iteration X of Y, Z remaining.`
    pub include_iteration_count_in_prompt: bool,
    /// The agent and how to start it.
    pub agent: Agent,
    /// Commands that must pass after every iteration, each a string or an object; null means none.
    /// Those of the user's settings are added to the project's.
    #[schemars(schema_with = "super::guardrail_keys::list")]
    pub guardrails: Option<Vec<GuardrailEntry>>,
    /// What to do with version control when all guardrails pass.
    pub scm: Scm,
    /// How the loop goes round and when it ends.
    #[serde(rename = "loop")]
    pub looping: Loop,
    /// Limits of money, tokens and patience.
    pub limits: LimitSettings,
    /// What is remembered from one iteration to the next.
    pub memory: MemorySettings,
    /// What is kept in the project for people to read.
    pub history: HistorySettings,
    /// How the agent's output is shown to people.
    pub display: DisplaySettings,
    /// Settings for single tasks, by the name that `--task` gives them.
    pub tasks: BTreeMap<String, Task>,
    /// How claims are verified beyond the guardrails.
    pub verify: Verify,
    /// Files that the agent must leave alone.
    pub protect: Protect,
    /// How a plan is worked through.
    pub plan: PlanSettings,
    /// Reserved for the stages of the pipeline. Not read by this version.
    #[serde(skip_serializing_if = "Unread::is_empty")]
    pub pipeline: Unread,
    /// Reserved for the sandbox. Not read by this version.
    #[serde(skip_serializing_if = "Unread::is_empty")]
    pub sandbox: Unread,
    /// Other agents than the first.
    pub agents: Agents,
    /// Reserved for notifications. Not read by this version.
    #[serde(skip_serializing_if = "Unread::is_empty")]
    pub notify: Unread,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            schema: None,
            maximum_iterations: 10,
            completion_response: "DONE".to_owned(),
            output_truncate_chars: 5000,
            stream_agent_output: true,
            include_iteration_count_in_prompt: false,
            agent: Agent::default(),
            guardrails: None,
            scm: Scm::default(),
            looping: Loop::default(),
            limits: LimitSettings::default(),
            memory: MemorySettings::default(),
            history: HistorySettings::default(),
            display: DisplaySettings::default(),
            tasks: BTreeMap::new(),
            verify: Verify::default(),
            protect: Protect::default(),
            plan: PlanSettings::default(),
            pipeline: Unread::default(),
            sandbox: Unread::default(),
            agents: Agents::default(),
            notify: Unread::default(),
        }
    }
}

/// The agent and how to start it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Agent {
    /// The agent's program, by name or path. Required, here or by `--agent`.
    #[serde(serialize_with = "null_if_empty")]
    #[schemars(length(min = 1))]
    pub command: String,
    /// Arguments for the program, beside those that ralph adds; null means none.
    pub flags: Option<Vec<String>>,
    /// The dialect that the program speaks; null means: by the program's name.
    #[schemars(extend("format" = "dialect"))]
    pub dialect: Option<String>,
    /// What a program of the dialect `generic` prints: `text`, or the name of the dialect whose stream of
    /// events it is, such as `claude` for a wrapper that prints Claude Code's; null means `text`.
    #[schemars(extend("format" = "stream-format"))]
    pub format: Option<String>,
    /// The model to ask for; null means the agent's own choice.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// How the prompt reaches the agent: `auto` as its dialect says, `stdin` on standard input, `arg`
    /// as the last argument, `file` as the path of a file that holds it.
    #[schemars(schema_with = "prompt_via")]
    pub prompt_via: PromptVia,
    /// Variables to set in the agent's environment.
    #[schemars(extend("propertyNames" = { "format": "variable", "pattern": "^[^=]+$" }))]
    pub env: BTreeMap<String, String>,
    /// Variables to remove from the agent's environment.
    #[schemars(extend("items" = { "type": "string", "format": "variable", "pattern": "^[^=]+$" }))]
    pub env_remove: Vec<String>,
}

/// Other agents than the first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Agents {
    /// Who works while `agent` is limited by its provider, in the order of preference; `agent` goes on as
    /// soon as it may. Each is the name of a program, or an object with the keys of `agent`.
    #[schemars(schema_with = "fallback")]
    pub fallback: Vec<Fallback>,
}

/// Another agent, by its program alone or with everything that `agent` may say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fallback {
    /// The program.
    Command(String),
    /// The program and how to start it.
    Agent(Box<Agent>),
}

impl Fallback {
    /// All of it.
    pub fn agent(&self) -> Agent {
        match self {
            Fallback::Command(command) => Agent { command: command.clone(), ..Agent::default() },
            Fallback::Agent(agent) => agent.as_ref().clone(),
        }
    }
}

/// What to do with version control when all guardrails pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Scm {
    /// The version control program.
    #[schemars(length(min = 1))]
    pub command: String,
    /// Its subcommands, in order, such as `commit` and `push`; an empty list means: do nothing.
    #[schemars(inner(length(min = 1)))]
    pub tasks: Vec<String>,
}

impl Default for Scm {
    fn default() -> Scm {
        Scm { command: "git".to_owned(), tasks: Vec::new() }
    }
}

/// How claims are verified beyond the guardrails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Verify {
    /// Run the guardrails once before the first iteration, so that what was red already is told apart from
    /// what the agent broke.
    pub baseline: bool,
    /// Run the guardrails in a throw-away checkout of the commit, so that only what is committed counts.
    pub clean_checkout: bool,
    /// Commands of this project that count as tests, lint or typecheck when the agent runs them, beside
    /// those that ralph knows.
    pub commands: Vec<VerifyCommand>,
    /// Where guardrails run: `auto` on a snapshot of the project, where the machine can make one, `off` always in the
    /// project itself.
    #[schemars(schema_with = "snapshot")]
    pub snapshot: Snapshot,
    /// How long one look at the files of the work tree may take, in milliseconds; 0 means without limit. Where it is
    /// not enough, claims are accepted as `claimed, not verified`; the next look goes on where this one was cut.
    #[schemars(with = "u64", range(min = 0, max = LONGEST_MS))]
    pub tree_timeout_ms: Millis,
}

impl Default for Verify {
    fn default() -> Verify {
        Verify {
            baseline: false,
            clean_checkout: false,
            commands: Vec::new(),
            snapshot: Snapshot::Auto,
            tree_timeout_ms: TREE_TIMEOUT,
        }
    }
}

/// Whether guardrails run on snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Snapshot {
    Auto,
    Off,
}

impl Default for Protect {
    fn default() -> Protect {
        Protect { paths: Vec::new(), scripts: true, on_change: OnChange::default() }
    }
}

/// Files that the agent must leave alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Protect {
    /// Globs of files that may be neither changed nor deleted, relative to the project, such as `tests/**`;
    /// adding files is allowed.
    #[schemars(inner(length(min = 1)), extend("items" = { "type": "string", "minLength": 1, "format": "glob" }))]
    pub paths: Vec<String>,
    /// Protect what guardrails are made of as well: scripts, recipes, runners and what configures them, as `ralph judges`
    /// lists it.
    pub scripts: bool,
    /// What follows a change: `fail` accepts no claim until the file is as it was, `restore` puts it back
    /// before the checks run, `allow` only tells it.
    #[schemars(schema_with = "on_change")]
    pub on_change: OnChange,
}

/// Settings for one task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Task {
    /// Whether this task loops; wins over `loop.enabled`. Null means: as `loop.enabled` says.
    pub enabled: Option<bool>,
}

/// A section whose name is known and whose content is not read yet: any object is accepted there,
/// without warnings, so that one settings file serves an older ralph beside a newer one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Unread(Map<String, Value>);

impl Unread {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A required text that is not there is shown as null, as other things are that nobody gave.
fn null_if_empty<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    Some(text).filter(|text| !text.is_empty()).serialize(serializer)
}

fn on_change(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["fail", "restore", "allow"] })
}

fn snapshot(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["auto", "off"] })
}

fn prompt_via(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["auto", "stdin", "arg", "file"] })
}

/// Objects like `agent`, or only their command.
fn fallback(generator: &mut SchemaGenerator) -> Schema {
    let mut item = Agent::json_schema(generator);
    item.insert("type".to_owned(), Value::from(vec!["string", "object"]));
    item.insert("minLength".to_owned(), Value::from(1));
    item.insert("required".to_owned(), Value::from(vec!["command"]));
    json_schema!({ "type": "array", "items": item, "default": [] })
}
