//! The keys of the sections `loop`, `limits`, `memory` and `history`; [`super::keys`] says how keys are written.

use super::keys::LONGEST_MS;
use ralph_core::claim::{BLOCKED_REGEX, SUCCESS_REGEX};
use ralph_core::policy::{CHILD_WAIT, HistoryPolicy};
use ralph_core::time::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// 2^53 - 1: beyond it other readers of JSON no longer tell neighbouring whole numbers apart.
const LARGEST_COUNT: u64 = 9_007_199_254_740_991;

/// How the loop goes round and when it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Loop {
    /// Go round until the work is done; false makes a single pass. A value in `tasks` and `--once` win.
    pub enabled: bool,
    /// How long a whole run may take, in milliseconds; 0 means without limit.
    #[schemars(with = "u64", range(min = 0, max = LONGEST_MS))]
    pub max_wall_time_ms: Millis,
    /// How long one iteration may take, in milliseconds; 0 means without limit.
    #[schemars(with = "u64", range(min = 0, max = LONGEST_MS))]
    pub iteration_timeout_ms: Millis,
    /// How long the agent may neither print nor compute, in milliseconds; 0 means without limit. It
    /// computes if everything it started, taken together, uses at least a tenth of one core, or reads and writes at
    /// least 64 KiB a second, on average over this time; an agent that only waits for its provider uses less.
    #[schemars(with = "u64", range(min = 0, max = LONGEST_MS))]
    pub idle_timeout_ms: Millis,
    /// End the run as stalled after this many iterations in a row that come to nothing new in files, commits
    /// and failures; 0 means never.
    #[schemars(range(min = 0, max = u32::MAX))]
    pub stall_after: u32,
    /// End the run after this many failed iterations in a row; 0 means never.
    #[schemars(range(min = 0, max = u32::MAX))]
    pub max_consecutive_failures: u32,
    /// End the run as stalled after this many iterations in a row in which the same checks fail in the same
    /// way, whatever else changes; 0 means never.
    #[schemars(range(min = 0, max = u32::MAX))]
    pub max_same_failures: u32,
    /// End each prompt with the words by which the agent says that it is done or blocked.
    pub prompt_protocol: bool,
    /// What the agent's own tool runs must show before its claim counts.
    pub stop_criteria: StopCriteriaSettings,
    /// What an iteration is told of the one before it.
    pub context: Context,
}

impl Default for Loop {
    fn default() -> Loop {
        Loop {
            enabled: true,
            max_wall_time_ms: Millis(3_600_000),
            iteration_timeout_ms: Millis(3_600_000),
            idle_timeout_ms: Millis(900_000),
            stall_after: 0,
            max_consecutive_failures: 3,
            max_same_failures: 0,
            prompt_protocol: true,
            stop_criteria: StopCriteriaSettings::default(),
            context: Context::default(),
        }
    }
}

/// What the agent's own tool runs must show before its claim counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct StopCriteriaSettings {
    /// The last test command of the iteration passed.
    pub require_passing_tests: bool,
    /// The last lint command of the iteration passed.
    pub require_lint: bool,
    /// The last typecheck command of the iteration passed.
    pub require_tsc: bool,
    /// No error of the iteration is left unrepaired.
    pub require_no_errors: bool,
    /// Count every unrepaired failing command as an error, not only tests, lint and typecheck.
    pub strict: bool,
    /// Regular expression for the marker by which the agent says that it is done; ignores case.
    #[schemars(extend("format" = "rust-regex"))]
    pub success_regex: String,
    /// Regular expression for the marker by which the agent says that it is blocked; ignores case, and
    /// its first group is the reason.
    #[schemars(extend("format" = "rust-regex"))]
    pub blocked_regex: String,
}

impl Default for StopCriteriaSettings {
    fn default() -> StopCriteriaSettings {
        StopCriteriaSettings {
            require_passing_tests: false,
            require_lint: false,
            require_tsc: false,
            require_no_errors: true,
            strict: false,
            success_regex: SUCCESS_REGEX.to_owned(),
            blocked_regex: BLOCKED_REGEX.to_owned(),
        }
    }
}

/// What an iteration is told of the one before it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Context {
    /// How many of the agent's last messages of the previous iteration go into the prompt.
    #[schemars(range(min = 0, max = u32::MAX))]
    pub include_last_n_messages: u32,
}

/// Limits of money, tokens and patience.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct LimitSettings {
    /// How long an agent may live on after its final result, in milliseconds; 0 means without limit.
    #[schemars(with = "u64", range(min = 0, max = LONGEST_MS))]
    pub linger_ms: Millis,
    /// How long child runs are waited for before the checks, in milliseconds; those that live on then are interrupted.
    /// 0 means that they are left alone.
    #[schemars(with = "u64", range(min = 0, max = LONGEST_MS))]
    pub child_wait_ms: Millis,
    /// What a whole run may cost, in US dollars; 0 means without limit.
    #[schemars(range(min = 0))]
    pub max_cost_usd: f64,
    /// How many tokens a whole run may use: read, with the cached part, written to the cache, and said; 0 means without limit.
    #[schemars(range(min = 0, max = LARGEST_COUNT))]
    pub max_tokens: u64,
    /// What all runs of one task together may cost, in US dollars; 0 means without limit.
    #[schemars(range(min = 0))]
    pub task_max_cost_usd: f64,
    /// How many tokens all runs of one task together may use, counted alike; 0 means without limit.
    #[schemars(range(min = 0, max = LARGEST_COUNT))]
    pub task_max_tokens: u64,
    /// Wait until a provider's limit is over, and then repeat the iteration; false ends the run instead.
    pub wait_for_reset: bool,
}

impl Default for LimitSettings {
    fn default() -> LimitSettings {
        LimitSettings {
            linger_ms: Millis(30_000),
            child_wait_ms: CHILD_WAIT,
            max_cost_usd: 0.0,
            max_tokens: 0,
            task_max_cost_usd: 0.0,
            task_max_tokens: 0,
            wait_for_reset: true,
        }
    }
}

/// What is remembered from one iteration to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct MemorySettings {
    /// Keep a summary and feedback in the task folder and give them to each new iteration.
    pub enabled: bool,
    /// The size of the summary in characters.
    #[schemars(range(min = 1, max = u32::MAX))]
    pub max_chars: u32,
    /// The summary's file name in the task folder.
    #[schemars(extend("format" = "file-name", "pattern" = "^[^/\\\\]+$"))]
    pub summary_file_name: String,
    /// The feedback's file name in the task folder.
    #[schemars(extend("format" = "file-name", "pattern" = "^[^/\\\\]+$"))]
    pub feedback_file_name: String,
    /// The state's file name in the task folder.
    #[schemars(extend("format" = "file-name", "pattern" = "^[^/\\\\]+$"))]
    pub state_file_name: String,
}

impl Default for MemorySettings {
    fn default() -> MemorySettings {
        MemorySettings {
            enabled: true,
            max_chars: 20_000,
            summary_file_name: "ralph-summary.md".to_owned(),
            feedback_file_name: "ralph-feedback.md".to_owned(),
            state_file_name: "ralph-iteration.json".to_owned(),
        }
    }
}

/// What is kept in the project for people to read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct HistorySettings {
    /// How many of the last prompts stand in `.ralph/prompt_NNN.txt`; `ralph show RUN/N --prompt` prints every one.
    #[schemars(range(min = 1, max = 10_000))]
    pub prompts: u32,
}

impl Default for HistorySettings {
    fn default() -> HistorySettings {
        HistorySettings { prompts: HistoryPolicy::default().prompts }
    }
}
