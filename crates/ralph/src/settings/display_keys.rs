//! The keys of the section `display`; [`super::keys`] says how keys are written. How a run is shown is
//! no rule of the run: it is not pinned with the policy, and `resume` and `logs` read it anew.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the agent's output is shown to people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DisplaySettings {
    /// Mark lines with emoji; false writes `[OK]` and `[ERR]` instead, as `--plain` does and a locale
    /// other than UTF-8.
    pub emoji: bool,
    /// Begin each line with the time, as `[HH:MM:SS]`.
    pub timestamps: bool,
    /// Show what the agent says; false shows its tools, its list and its result only.
    pub text: bool,
    /// How many lines of a tool's output are shown; 0 means none.
    #[schemars(range(min = 0, max = u32::MAX))]
    pub max_output_lines: u32,
    /// How many characters of each such line are shown.
    #[schemars(range(min = 4, max = u32::MAX))]
    pub max_output_chars: u32,
}

impl Default for DisplaySettings {
    fn default() -> DisplaySettings {
        DisplaySettings { emoji: true, timestamps: false, text: true, max_output_lines: 3, max_output_chars: 120 }
    }
}
