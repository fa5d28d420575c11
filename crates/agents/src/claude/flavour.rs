//! What differs between the programs that print streams like Claude Code's.

use super::messages::Messages;
use crate::advice::Help;
use crate::complaint::Complaint;
use crate::dialect::Reader;
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
        let flavour = Flavour { help, ..self };
        Box::new(StreamReader::new(Speaker { dialect: self.dialect, help }, Messages::new(flavour)))
    }
}
