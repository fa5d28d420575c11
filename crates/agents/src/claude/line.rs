//! The shapes of Claude Code's stream, as far as they are read.
//!
//! One struct holds the fields of all kinds of lines: the kind is a field like the others, and the
//! line with the result states it behind eighteen others.

use crate::json::{List, Loose, Raw};
use serde::Deserialize;

/// One object of the stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Raw<'a>,
    #[serde(borrow)]
    pub(super) subtype: Raw<'a>,
    #[serde(borrow)]
    pub(super) session_id: Raw<'a>,

    // assistant, user
    #[serde(borrow)]
    pub(super) message: Loose<Message<'a>>,
    /// The tool call of the agent that started this one; absent for the main agent.
    #[serde(borrow)]
    pub(super) parent_tool_use_id: Raw<'a>,
    /// The client wrote this user line itself: feedback of a hook, a nudge to go on.
    #[serde(borrow, rename = "isSynthetic")]
    pub(super) synthetic: Raw<'a>,
    /// The client wrote this assistant line itself: the provider's error in a sentence.
    #[serde(borrow)]
    pub(super) is_api_error_message: Raw<'a>,

    // errors, on assistant lines, retries and results
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
    #[serde(borrow)]
    pub(super) api_error: Raw<'a>,
    #[serde(borrow)]
    pub(super) api_error_status: Raw<'a>,

    #[serde(borrow)]
    pub(super) api_error_params: Loose<ErrorParams<'a>>,

    // system
    #[serde(borrow)]
    pub(super) attempt: Raw<'a>,
    #[serde(borrow)]
    pub(super) max_retries: Raw<'a>,
    #[serde(borrow)]
    pub(super) retry_delay_ms: Raw<'a>,
    #[serde(borrow)]
    pub(super) error_status: Raw<'a>,
    #[serde(borrow)]
    pub(super) tool_name: Raw<'a>,
    #[serde(borrow)]
    pub(super) content: Raw<'a>,
    #[serde(borrow)]
    pub(super) text: Raw<'a>,
    #[serde(borrow)]
    pub(super) summary: Raw<'a>,

    // rate_limit_event
    #[serde(borrow)]
    pub(super) rate_limit_info: Loose<LimitInfo<'a>>,

    // result
    #[serde(borrow)]
    pub(super) is_error: Raw<'a>,
    #[serde(borrow)]
    pub(super) result: Raw<'a>,
    #[serde(borrow)]
    pub(super) errors: Raw<'a>,
    #[serde(borrow)]
    pub(super) total_cost_usd: Raw<'a>,
    #[serde(borrow)]
    pub(super) usage: Loose<Usage<'a>>,
    #[serde(borrow)]
    pub(super) model_usage_since_last_result: Raw<'a>,
}

/// A message of the model or to it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) model: Raw<'a>,
    #[serde(borrow)]
    pub(super) content: List<Block<'a>>,
}

/// A part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Raw<'a>,
    #[serde(borrow)]
    pub(super) text: Raw<'a>,

    // tool_use
    #[serde(borrow)]
    pub(super) id: Raw<'a>,
    #[serde(borrow)]
    pub(super) name: Raw<'a>,
    #[serde(borrow)]
    pub(super) input: Loose<Input<'a>>,

    // tool_result
    #[serde(borrow)]
    pub(super) tool_use_id: Raw<'a>,
    /// A string or an array of blocks; unread until its size is known.
    #[serde(borrow)]
    pub(super) content: Raw<'a>,
    #[serde(borrow)]
    pub(super) is_error: Raw<'a>,
}

/// What tools are called with, as far as it is shown or counts as evidence.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    pub(super) file_path: Raw<'a>,
    #[serde(borrow)]
    pub(super) notebook_path: Raw<'a>,
    #[serde(borrow)]
    pub(super) command: Raw<'a>,
    #[serde(borrow)]
    pub(super) run_in_background: Raw<'a>,
    #[serde(borrow)]
    pub(super) pattern: Raw<'a>,
    #[serde(borrow)]
    pub(super) url: Raw<'a>,
    #[serde(borrow)]
    pub(super) query: Raw<'a>,
    #[serde(borrow)]
    pub(super) description: Raw<'a>,
    #[serde(borrow)]
    pub(super) subject: Raw<'a>,
    #[serde(borrow)]
    pub(super) path: Raw<'a>,
    #[serde(borrow)]
    pub(super) todos: List<Todo<'a>>,
}

/// One item of a todo list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Todo<'a> {
    #[serde(borrow)]
    pub(super) content: Raw<'a>,
    #[serde(borrow)]
    pub(super) subject: Raw<'a>,
    #[serde(borrow)]
    pub(super) status: Raw<'a>,
    #[serde(borrow)]
    pub(super) priority: Raw<'a>,
}

/// What the client knows about an error.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorParams<'a> {
    #[serde(borrow)]
    pub(super) rate_limit_info: Loose<LimitInfo<'a>>,
}

/// The provider's word on a limit.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct LimitInfo<'a> {
    #[serde(borrow)]
    pub(super) status: Raw<'a>,
    #[serde(borrow)]
    pub(super) resets_at: Raw<'a>,
    #[serde(borrow)]
    pub(super) rate_limit_type: Raw<'a>,
    #[serde(borrow)]
    pub(super) is_using_overage: Raw<'a>,
}

/// Tokens of one result.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage<'a> {
    #[serde(borrow)]
    pub(super) input_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(super) output_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(super) cache_read_input_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(super) cache_creation_input_tokens: Raw<'a>,
}

/// Tokens and money of one model since the last result.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelUsage<'a> {
    #[serde(borrow)]
    pub(super) input_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(super) output_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(super) cache_read_input_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(super) cache_creation_input_tokens: Raw<'a>,
    #[serde(borrow, rename = "costUSD")]
    pub(super) cost_usd: Raw<'a>,
}
