//! The keys of `guardrails`; [`super::keys`] says how keys are written.

use super::keys::LONGEST_MS;
use ralph_core::guardrail::{FailAction, OutputPart};
use ralph_core::time::Millis;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A guardrail, by its command alone or with everything that can be said about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum GuardrailEntry {
    /// The command.
    Command(String),
    /// The command and more.
    Guardrail(Box<GuardrailSettings>),
}

impl GuardrailEntry {
    /// All of it.
    pub fn guardrail(&self) -> GuardrailSettings {
        match self {
            GuardrailEntry::Command(command) => GuardrailSettings::new(command),
            GuardrailEntry::Guardrail(guardrail) => guardrail.as_ref().clone(),
        }
    }
}

/// One command that must pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GuardrailSettings {
    /// What people and agents call it; null means: by its command. No two guardrails have the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// The shell command; it fails if its exit code is not zero.
    #[schemars(length(min = 1))]
    pub command: String,
    /// Where a failure stands in the next prompt: `APPEND` behind the text, `PREPEND` before it,
    /// `REPLACE` instead of it. Any mix of upper and lower case.
    #[serde(default, deserialize_with = "in_any_case")]
    #[schemars(schema_with = "fail_action")]
    pub fail_action: FailAction,
    /// Guidance for the agent when this guardrail fails; null means none.
    #[serde(default)]
    pub hint: Option<String>,
    /// How long the command may run, in milliseconds; 0 means without limit.
    #[serde(default = "ten_minutes")]
    #[schemars(with = "u64", range(min = 0, max = LONGEST_MS))]
    pub timeout_ms: Millis,
    /// Which part of a failure's output goes into the next prompt: `first` its beginning, `decisive` the
    /// lines that look like errors, the end and the beginning. Both within `outputTruncateChars`.
    #[serde(default)]
    #[schemars(schema_with = "output_part")]
    pub output: OutputPart,
    /// Globs of files that judge the work, beside those that ralph finds by itself: the agent must leave them alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "globs")]
    pub judges: Vec<String>,
    /// Globs of files that the agent may change although the command executes them: they are the work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "globs")]
    pub work: Vec<String>,
    /// The command changes files, as formatters do: what it changes in tracked files becomes part of the work, and all
    /// guardrails run again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
    /// Folders whose contents are carried from the command's snapshot into the project, such as `coverage`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "folders")]
    pub keep: Vec<String>,
    /// Folders that only this command fills and that it finds again the next time, such as `target`, beside those that
    /// ralph knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "folders")]
    pub caches: Vec<String>,
    /// The agent sees neither the command nor its output, only its name, whether it passed, and the hint. Allowed in the
    /// user's settings only: the agent can read those of the project.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

impl GuardrailSettings {
    fn new(command: &str) -> GuardrailSettings {
        GuardrailSettings {
            name: None,
            command: command.to_owned(),
            fail_action: FailAction::default(),
            hint: None,
            timeout_ms: ten_minutes(),
            output: OutputPart::default(),
            judges: Vec::new(),
            work: Vec::new(),
            writes: false,
            keep: Vec::new(),
            caches: Vec::new(),
            hidden: false,
        }
    }
}

/// How long a check may run unless told otherwise.
pub(super) const fn ten_minutes() -> Millis {
    Millis::from_secs(600)
}

fn in_any_case<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FailAction, D::Error> {
    let text = String::deserialize(deserializer)?;
    FailAction::parse(&text).ok_or_else(|| serde::de::Error::unknown_variant(&text, &["APPEND", "PREPEND", "REPLACE"]))
}

/// Objects, or only their command.
pub(super) fn list(generator: &mut SchemaGenerator) -> Schema {
    let mut item = GuardrailSettings::json_schema(generator);
    item.insert("type".to_owned(), Value::from(vec!["string", "object"]));
    item.insert("minLength".to_owned(), Value::from(1));
    json_schema!({ "type": ["array", "null"], "items": item, "default": null })
}

fn globs(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "minLength": 1, "format": "glob" }, "default": [] })
}

fn folders(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "minLength": 1, "format": "folder" }, "default": [] })
}

fn output_part(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["first", "decisive"] })
}

/// An `enum` would refuse other mixes of case, so the pattern judges and the examples name the words.
fn fail_action(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "format": "fail-action",
        "pattern": "^([Aa][Pp]{2}[Ee][Nn][Dd]|[Pp][Rr][Ee][Pp][Ee][Nn][Dd]|[Rr][Ee][Pp][Ll][Aa][Cc][Ee])$",
        "examples": ["APPEND", "PREPEND", "REPLACE"]
    })
}
