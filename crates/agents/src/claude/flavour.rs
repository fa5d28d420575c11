//! What differs between the programs that print streams like Claude Code's.

use super::line::{Block, Line};
use super::messages::{self, Messages};
use crate::advice::Help;
use crate::complaint::Complaint;
use crate::dialect::{Reader, Told};
use crate::stream::StreamReader;

#[derive(Clone, Copy)]
pub(crate) struct Flavour {
    /// What an object of an unknown kind is called.
    pub(crate) unknown: &'static str,
    pub(crate) todo_tools: &'static [&'static str],
    /// Whether a tool's description is too long to be shown as its input.
    pub(crate) hides_description: bool,
    /// What the client's sentence in the place of an error means, where no field says it.
    pub(crate) sentence: fn(&str) -> Complaint,
    /// Whether the stated input includes what was read from the cache.
    pub(crate) input_with_cache: bool,
    /// Tools that start sub-agents whose words look like the main agent's: from then on only the result is its own.
    pub(crate) sub_agents: &'static [&'static str],
    /// Whether a cost of 0 means that nobody knows it.
    pub(crate) cost_may_be_unknown: bool,
    pub(crate) tool_ended: fn(&Block<'_>, &mut Told),
    /// Takes an object that Claude Code does not print; says whether it is known.
    pub(crate) other: fn(&Line<'_>, &mut Told) -> bool,
}

/// What most of them do.
pub(crate) const USUAL: Flavour = Flavour {
    unknown: "message type",
    todo_tools: &[],
    hides_description: false,
    sentence: Complaint::new,
    input_with_cache: false,
    sub_agents: &[],
    cost_may_be_unknown: false,
    tool_ended: messages::tool_ended,
    other: |_, _| false,
};

impl Flavour {
    /// A reader for one process; `help` is about the program that is really started.
    pub(crate) fn reader(self, dialect: &'static str, help: Help) -> Box<dyn Reader> {
        Box::new(StreamReader::new(dialect, help, Messages::new(self)))
    }
}
