//! What differs between the programs that print streams like Claude Code's.

use super::messages::Messages;
use crate::dialect::Reader;
use crate::stream::{Speaker, StreamReader};
use ralph_core::observation::FailureClass;

/// One program's way to print this kind of stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flavour {
    /// The dialect's name.
    pub(crate) dialect: &'static str,
    /// How to get the program and log in.
    pub(crate) hint: &'static str,
    /// What an object of an unknown kind is called.
    pub(crate) unknown: &'static str,
    /// Tools that do nothing but write the todo list.
    pub(crate) todo_tools: &'static [&'static str],
    /// Whether a tool's description is too long to be shown as its input.
    pub(crate) hides_description: bool,
    /// What the client's sentence in the place of an error means, where no field says it.
    pub(crate) class_of_sentence: fn(&str) -> FailureClass,
}

impl Flavour {
    /// A reader for one process; `hint` says how to get the program that is really started.
    pub(crate) fn reader(self, hint: &'static str) -> Box<dyn Reader> {
        let flavour = Flavour { hint, ..self };
        Box::new(StreamReader::new(Speaker { dialect: self.dialect, hint }, Messages::new(flavour)))
    }
}
