//! What differs between the programs that print streams like Claude Code's.

use super::line::{Block, Line};
use super::messages::{self, Messages};
use crate::advice::Help;
use crate::complaint::Complaint;
use crate::dialect::{Reader, Told};
use crate::stream::{Speaker, StreamReader};

/// One program's way to print this kind of stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flavour {
    /// The dialect's name.
    pub(crate) dialect: &'static str,
    /// How to get the program and log in.
    pub(crate) help: Help,
    /// What an object of an unknown kind is called.
    pub(crate) unknown: &'static str,
    /// Tools that do nothing but write the todo list.
    pub(crate) todo_tools: &'static [&'static str],
    /// Whether a tool's description is too long to be shown as its input.
    pub(crate) hides_description: bool,
    /// What the client's sentence in the place of an error means, where no field says it.
    pub(crate) sentence: fn(&str) -> Complaint,
    /// Whether the stated input includes what was read from the cache.
    pub(crate) input_with_cache: bool,
}

impl Flavour {
    /// A reader for one process; `help` is about the program that is really started.
    pub(crate) fn reader(self, help: Help) -> Box<dyn Reader> {
        self.reader_with(help, Habits::default())
    }

    /// The same for a program with habits of its own.
    pub(crate) fn reader_with(self, help: Help, habits: Habits) -> Box<dyn Reader> {
        let flavour = Flavour { help, ..self };
        Box::new(StreamReader::new(Speaker { dialect: self.dialect, help }, Messages::new(flavour, habits)))
    }
}

/// What one program does in another way than Claude Code.
#[derive(Clone, Copy)]
pub(crate) struct Habits {
    /// Tools that start sub-agents whose words are printed as the main agent's. From the first such call on only the
    /// result is known to be the main agent's own.
    pub(crate) sub_agents: &'static [&'static str],
    /// Whether a cost of 0 means that nobody knows it.
    pub(crate) cost_may_be_unknown: bool,
    /// Tells how a tool ended.
    pub(crate) tool_ended: fn(&Block<'_>, &mut Told),
    /// Takes an object that Claude Code does not print; says whether it is known.
    pub(crate) other: fn(&Line<'_>, &mut Told) -> bool,
}

impl Default for Habits {
    fn default() -> Habits {
        let (tool_ended, other) = (messages::tool_ended, |_: &Line<'_>, _: &mut Told| false);
        Habits { sub_agents: &[], cost_may_be_unknown: false, tool_ended, other }
    }
}
