//! What an agent's stream says, in the words of no vendor.
//!
//! A dialect turns each line into these. They are shown, written as JSON lines, and folded into an
//! [`crate::observation::Observation`]; they are never journalled one by one.

use crate::evidence::TestsRan;
use crate::observation::Tokens;
use serde::{Deserialize, Serialize};

/// One thing that an agent said or did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentEvent {
    /// A tool began.
    ToolStart {
        id: String,
        /// The tool's name as the agent calls it.
        name: String,
        /// A short form of its input for display; empty where there is none.
        input: String,
        /// The whole shell line, for tools that run one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        command: Option<String>,
        /// The file that the tool writes, for tools that write one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        writes: Option<String>,
    },
    /// A tool ended.
    ToolEnd {
        id: String,
        /// The first part of its output, at most [`OUTPUT_KEPT`] bytes.
        output: String,
        /// Lines of the whole output.
        lines: u64,
        /// Characters of the whole output.
        chars: u64,
        /// Whether the tool failed.
        error: bool,
        /// The exit code of a shell line, where the agent states it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        exit_code: Option<i32>,
        /// What the whole output of a shell line says about tests.
        #[serde(skip_serializing_if = "TestsRan::is_unsaid", default)]
        tests: TestsRan,
    },
    /// The agent's own words.
    Text {
        /// A piece of text; pieces of one message follow each other.
        text: String,
        /// Whose words they are: only the main agent can claim anything.
        #[serde(skip_serializing_if = "Voice::is_main", default)]
        voice: Voice,
        /// Whether the message is still being written: the next text goes on where this one ends. Without
        /// it the text is a whole message.
        #[serde(skip_serializing_if = "is_false", default)]
        delta: bool,
    },
    /// A turn ended.
    Result {
        text: String,
        /// Whether the agent calls it an error.
        is_error: bool,
        /// Money of this process so far, where stated.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cost_usd: Option<f64>,
        /// Tokens of this process so far, where stated.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tokens: Option<Tokens>,
    },
    /// What was spent until now, where an agent states it before a turn ends.
    Spent {
        /// Money of this process so far, where stated.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cost_usd: Option<f64>,
        /// Tokens of this process so far, where stated.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tokens: Option<Tokens>,
    },
    /// The agent's list of what it means to do.
    Todo { items: Vec<TodoItem> },
    /// Something worth a dim line: a session began, a retry.
    Progress { text: String },
    /// The provider refuses or warns.
    Limit {
        /// Which limit, in the provider's word.
        scope: String,
        /// Whether work is refused now.
        rejected: bool,
        /// When it ends, as seconds since the epoch, where stated.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        resets_at: Option<i64>,
    },
    /// The agent or its stream reports an error.
    Error { message: String },
    /// A line that the dialect does not know: counted, shown with `-V`, never fatal.
    Unknown { what: String },
}

/// How much of a tool's output an event carries: enough for any display, little enough to pass around.
pub const OUTPUT_KEPT: usize = 4096;

/// Whose words a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// The main agent.
    #[default]
    Main,
    /// An agent that the main agent started.
    Sub,
    /// The main agent's thinking, where its program shows it: neither an answer nor a claim.
    Thinking,
}

impl Voice {
    /// Whether this is the main agent.
    pub fn is_main(&self) -> bool {
        *self == Voice::Main
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// One line of a todo list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    pub content: String,
    pub status: TodoStatus,
    /// The agent's word for its importance, if it gives one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority: Option<String>,
}

/// How far a todo item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}
