//! The shapes of Claude Code's stream and of those like it. One struct holds the fields of all kinds of lines, because
//! the kind is a field like the others and may stand behind eighteen of them.

use crate::json::{Entries, List, Loose, Raw, fields};
use crate::tool::Input;

fields! {
    pub(crate) struct Line<'a> {
        kind = "type", subtype, session_id,

        // assistant, user
        message: Loose<Message<'a>>,
        /// The tool call of the agent that started this one; absent for the main agent.
        parent_tool_use_id,
        /// The client wrote this user line itself: feedback of a hook, a nudge to go on.
        synthetic = "isSynthetic",
        /// The client wrote this assistant line itself: the provider's error in a sentence.
        is_api_error_message,
        /// What the client itself knows about a tool's end.
        tool_use_result: Loose<ToolUseResult<'a>>,

        // errors, on assistant lines, retries and results
        error, api_error, api_error_type, api_error_status,
        api_error_params: Loose<ErrorParams<'a>>,

        // system
        attempt, max_retries, retry_delay_ms, error_status, tool_name, content, text, summary,

        // rate_limit_event
        rate_limit_info: Loose<LimitInfo<'a>>,

        // result
        is_error, result,
        errors: Vec<Raw<'a>>,
        total_cost_usd,
        usage: Loose<Usage<'a>>,
        model_usage_since_last_result: Entries<ModelUsage<'a>>,

        // tool_call, of Cursor's agent
        call_id, tool_call,
    }

    pub(crate) struct Message<'a> {
        id, model,
        usage: Loose<Usage<'a>>,
        content: List<Block<'a>>,
    }

    pub(crate) struct Block<'a> {
        kind = "type", text,

        // tool_use
        id, name,
        input: Loose<Box<Input<'a>>>,

        // tool_result
        tool_use_id,
        /// A string or an array of blocks; unread until its size is known.
        content, error,
        is_error,
    }

    pub(crate) struct ToolUseResult<'a> {
        task: Loose<Task<'a>>,
        success,
    }

    pub(crate) struct Task<'a> {
        id,
    }

    /// What a shell printed, where a client passes it on as an object in a string.
    pub(crate) struct ShellOutput<'a> {
        exit_code = "exitCode",
    }

    pub(crate) struct ErrorParams<'a> {
        rate_limit_info: Loose<LimitInfo<'a>>,
    }

    pub(crate) struct LimitInfo<'a> {
        status, resets_at = "resetsAt", rate_limit_type = "rateLimitType", is_using_overage = "isUsingOverage",
    }

    pub(crate) struct Usage<'a> {
        input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens,
    }

    pub(crate) struct ModelUsage<'a> {
        input_tokens = "inputTokens", output_tokens = "outputTokens",
        cache_read_input_tokens = "cacheReadInputTokens", cache_creation_input_tokens = "cacheCreationInputTokens",
        cost_usd = "costUSD",
    }
}
