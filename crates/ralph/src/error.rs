//! What a command says when it cannot do its work: what happened, to which thing, why, and the next
//! command to type.

use crate::settings::SettingsError;
use crate::typing::Typing;
use ralph_core::outcome::exit;
use ralph_engine::EngineError;
use ralph_store::StoreError;
use std::fmt::Write as _;

/// A command's failure, with the exit code that the documentation promises for it.
#[derive(Debug)]
pub struct CommandError {
    /// The exit code.
    pub code: u8,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl CommandError {
    /// A failure with this code.
    pub fn new(code: u8, message: impl Into<String>) -> CommandError {
        CommandError { code, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// A wrong call, setting or file.
    pub fn usage(message: impl Into<String>) -> CommandError {
        CommandError::new(exit::USAGE, message)
    }

    /// A failing disk or descriptor.
    pub fn io(message: impl Into<String>, cause: &dyn std::error::Error) -> CommandError {
        CommandError::new(exit::IO, message).because(cause)
    }

    /// Settings that cannot be used; their text says everything already.
    pub fn settings(error: &SettingsError) -> CommandError {
        CommandError::usage(error.to_string())
    }

    /// Adds the chain of causes.
    pub fn because(mut self, cause: &dyn std::error::Error) -> CommandError {
        let mut next = Some(cause);
        while let Some(cause) = next {
            let text = cause.to_string();
            // Many errors end with the words of their cause already.
            if !self.causes.last().unwrap_or(&self.message).ends_with(&text) {
                self.causes.push(text);
            }
            next = cause.source();
        }
        self
    }

    /// Adds what to type or do next.
    pub fn hint(mut self, hint: impl Into<String>) -> CommandError {
        self.hints.push(hint.into());
        self
    }

    /// The whole text, with its last newline.
    pub fn text(&self, typing: &Typing) -> String {
        let mut text = format!("error: {}\n", self.message);
        for cause in &self.causes {
            let _ = writeln!(text, "  caused by: {cause}");
        }
        for hint in &self.hints {
            let _ = writeln!(text, "hint: {}", typing.line(hint));
        }
        text
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> CommandError {
        let code = if error.is_io() { exit::IO } else { exit::USAGE };
        CommandError::new(code, error.to_string()).because(&error)
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> CommandError {
        match error {
            EngineError::Store(error @ StoreError::Gone { .. }) => CommandError::from(error)
                .hint("the agent was ended, and nothing is left of this run's journal; the files are as it left them")
                .hint("begin anew: ralph run -p 'make the tests pass'"),
            EngineError::Store(error) => CommandError::from(error)
                .hint("whatever ran was ended; the journal holds everything up to its last whole step")
                .hint("make room or mend the disk, then look what can be resumed: ralph status"),
            EngineError::Process(error) => CommandError::io("no process can be started", &error),
            EngineError::Replay(error) => {
                CommandError::new(exit::INTERNAL, "the run's journal cannot be read back").because(&error)
            }
        }
    }
}
