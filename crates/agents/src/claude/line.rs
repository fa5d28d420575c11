//! The shapes of Claude Code's stream and of those that are like it, as far as they are read.
//!
//! One struct holds the fields of all kinds of lines: the kind is a field like the others, and the
//! line with the result states it behind eighteen others.

use crate::json::{List, Loose, Raw};
use crate::tool::Input;
use serde::Deserialize;

/// One object of the stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Raw<'a>,
    #[serde(borrow)]
    pub(crate) subtype: Raw<'a>,
    #[serde(borrow)]
    pub(crate) session_id: Raw<'a>,

    // assistant, user
    #[serde(borrow)]
    pub(crate) message: Loose<Message<'a>>,
    /// The tool call of the agent that started this one; absent for the main agent.
    #[serde(borrow)]
    pub(crate) parent_tool_use_id: Raw<'a>,
    /// The client wrote this user line itself: feedback of a hook, a nudge to go on.
    #[serde(borrow, rename = "isSynthetic")]
    pub(crate) synthetic: Raw<'a>,
    /// The client wrote this assistant line itself: the provider's error in a sentence.
    #[serde(borrow)]
    pub(crate) is_api_error_message: Raw<'a>,

    /// What the client itself knows about a tool's end.
    #[serde(borrow)]
    pub(crate) tool_use_result: Raw<'a>,

    // errors, on assistant lines, retries and results
    #[serde(borrow)]
    pub(crate) error: Raw<'a>,
    #[serde(borrow)]
    pub(crate) api_error: Raw<'a>,
    #[serde(borrow)]
    pub(crate) api_error_status: Raw<'a>,

    #[serde(borrow)]
    pub(crate) api_error_params: Loose<ErrorParams<'a>>,

    // system
    #[serde(borrow)]
    pub(crate) attempt: Raw<'a>,
    #[serde(borrow)]
    pub(crate) max_retries: Raw<'a>,
    #[serde(borrow)]
    pub(crate) retry_delay_ms: Raw<'a>,
    #[serde(borrow)]
    pub(crate) error_status: Raw<'a>,
    #[serde(borrow)]
    pub(crate) tool_name: Raw<'a>,
    #[serde(borrow)]
    pub(crate) content: Raw<'a>,
    #[serde(borrow)]
    pub(crate) text: Raw<'a>,
    #[serde(borrow)]
    pub(crate) summary: Raw<'a>,

    // rate_limit_event
    #[serde(borrow)]
    pub(crate) rate_limit_info: Loose<LimitInfo<'a>>,

    // result
    #[serde(borrow)]
    pub(crate) is_error: Raw<'a>,
    #[serde(borrow)]
    pub(crate) result: Raw<'a>,
    #[serde(borrow)]
    pub(crate) errors: Raw<'a>,
    #[serde(borrow)]
    pub(crate) total_cost_usd: Raw<'a>,
    #[serde(borrow)]
    pub(crate) usage: Loose<Usage<'a>>,
    #[serde(borrow)]
    pub(crate) model_usage_since_last_result: Raw<'a>,
}

/// A message of the model or to it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) model: Raw<'a>,
    #[serde(borrow)]
    pub(crate) content: List<Block<'a>>,
}

/// A part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Raw<'a>,
    #[serde(borrow)]
    pub(crate) text: Raw<'a>,

    // tool_use
    #[serde(borrow)]
    pub(crate) id: Raw<'a>,
    #[serde(borrow)]
    pub(crate) name: Raw<'a>,
    #[serde(borrow)]
    pub(crate) input: Loose<Input<'a>>,

    // tool_result
    #[serde(borrow)]
    pub(crate) tool_use_id: Raw<'a>,
    /// A string or an array of blocks; unread until its size is known.
    #[serde(borrow)]
    pub(crate) content: Raw<'a>,
    #[serde(borrow)]
    pub(crate) is_error: Raw<'a>,
}

/// What the client itself knows about a tool's end.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ToolUseResult<'a> {
    #[serde(borrow)]
    pub(crate) task: Loose<Task<'a>>,
}

/// A task of the todo list that was just made.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Task<'a> {
    #[serde(borrow)]
    pub(crate) id: Raw<'a>,
}

/// What a shell printed, where a client passes it on as an object in a string.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ShellOutput<'a> {
    #[serde(borrow)]
    pub(crate) exit_code: Raw<'a>,
}

/// What the client knows about an error.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ErrorParams<'a> {
    #[serde(borrow)]
    pub(crate) rate_limit_info: Loose<LimitInfo<'a>>,
}

/// The provider's word on a limit.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct LimitInfo<'a> {
    #[serde(borrow)]
    pub(crate) status: Raw<'a>,
    #[serde(borrow)]
    pub(crate) resets_at: Raw<'a>,
    #[serde(borrow)]
    pub(crate) rate_limit_type: Raw<'a>,
    #[serde(borrow)]
    pub(crate) is_using_overage: Raw<'a>,
}

/// Tokens of one result.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Usage<'a> {
    #[serde(borrow)]
    pub(crate) input_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(crate) output_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(crate) cache_read_input_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(crate) cache_creation_input_tokens: Raw<'a>,
}

/// Tokens and money of one model since the last result.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ModelUsage<'a> {
    #[serde(borrow)]
    pub(crate) input_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(crate) output_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(crate) cache_read_input_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(crate) cache_creation_input_tokens: Raw<'a>,
    #[serde(borrow, rename = "costUSD")]
    pub(crate) cost_usd: Raw<'a>,
}
