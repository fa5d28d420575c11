//! The replies of a provider, in their order; the last one is repeated for ever.

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::Value;

/// What the provider says, one reply for each request of the conversation.
#[derive(Debug, Clone)]
pub struct Scenario {
    next: Reply,
    later: VecDeque<Reply>,
}

/// One reply. In JSON it is a refusal if it has a `status`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Reply {
    /// An HTTP error.
    Refusal(Refusal),
    /// The model's words and tool calls.
    Answer(Answer),
}

/// An HTTP error.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The status, such as 429.
    pub status: u16,
    /// The body, as the protocol's provider would write it.
    #[serde(default)]
    pub body: Value,
    /// Further headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// The model's words and tool calls; without any it is the empty answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// What it thinks first.
    pub thinking: String,
    /// What it says.
    pub text: String,
    /// Commands that it runs, by the shell tool that the request offers.
    pub shell: Vec<String>,
    /// Calls of other tools, by the client's own names.
    pub tools: Vec<ToolCall>,
    /// How a streamed answer ends.
    pub close: Close,
}

/// A call of a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The client's name for the tool.
    pub name: String,
    /// What it is called with.
    pub input: Value,
}

/// How a streamed answer ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Close {
    /// As it should.
    #[default]
    Well,
    /// The connection breaks in the middle.
    Drop,
    /// Nothing comes after the middle, and the connection stays.
    Stall,
}

impl Scenario {
    /// Reads a JSON array of replies.
    pub fn parse(json: &str) -> Result<Scenario, String> {
        let replies: Vec<Reply> = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Scenario::of(replies).ok_or_else(|| "a scenario has at least one reply".to_owned())
    }

    fn of(replies: Vec<Reply>) -> Option<Scenario> {
        let mut later = VecDeque::from(replies);
        later.pop_front().map(|next| Scenario { next, later })
    }

    pub(super) fn current(&self) -> &Reply {
        &self.next
    }

    pub(super) fn take(&mut self) -> Reply {
        match self.later.pop_front() {
            Some(later) => std::mem::replace(&mut self.next, later),
            None => self.next.clone(),
        }
    }
}

impl From<Vec<Reply>> for Scenario {
    fn from(replies: Vec<Reply>) -> Scenario {
        Scenario::of(replies).expect("a scenario has at least one reply")
    }
}

impl Reply {
    /// Words.
    pub fn text(text: &str) -> Reply {
        Reply::Answer(Answer { text: text.to_owned(), ..Answer::default() })
    }

    /// A command to be run.
    pub fn shell(command: &str) -> Reply {
        Reply::Answer(Answer { shell: vec![command.to_owned()], ..Answer::default() })
    }

    /// The empty answer.
    pub fn empty() -> Reply {
        Reply::Answer(Answer::default())
    }

    /// An HTTP error.
    pub fn refusal(status: u16, body: Value) -> Refusal {
        Refusal { status, body, headers: BTreeMap::new() }
    }
}

impl Refusal {
    /// Adds a header.
    pub fn header(mut self, name: &str, value: impl ToString) -> Refusal {
        self.headers.insert(name.to_owned(), value.to_string());
        self
    }

    pub(super) fn headers(&self) -> Vec<(&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Reply {
        Reply::Refusal(refusal)
    }
}
