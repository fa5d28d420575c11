//! The keys of `verify.commands`; [`super::keys`] says how keys are written.

use ralph_core::evidence::Purpose;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A command that counts as evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VerifyCommand {
    /// What its success shows.
    #[schemars(schema_with = "purpose")]
    pub purpose: Purpose,
    /// The program and its first words, such as `scripts/ci.sh unit`; a vertical bar stands between
    /// alternatives of a word, and a word that begins with a dash may stand anywhere.
    #[schemars(length(min = 1))]
    pub command: String,
}

fn purpose(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["test", "lint", "typecheck"] })
}
