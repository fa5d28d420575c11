//! What a command says when it fails: what happened, to which thing, why, and the next command to type.

use crate::settings::SettingsError;
use ralph_core::outcome::exit;
use ralph_engine::EngineError;
use ralph_host::look;
use ralph_store::{Class, StoreError};
use ralph_view::Suggest;
use ralph_view::missing::REPAIR;
use std::fmt::Write as _;

/// A command's failure, with the exit code that the documentation promises for it.
#[derive(Debug)]
pub struct CommandError {
    pub code: u8,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl CommandError {
    pub fn new(code: u8, message: impl Into<String>) -> CommandError {
        CommandError { code, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// Nobody reads what is printed any more, which ends a command and is no failure.
    pub fn unheard() -> CommandError {
        CommandError::new(exit::OK, "")
    }

    pub fn usage(message: impl Into<String>) -> CommandError {
        CommandError::new(exit::USAGE, message)
    }

    pub fn io(message: impl Into<String>, cause: &(dyn std::error::Error + 'static)) -> CommandError {
        CommandError::new(exit::IO, message).because(cause)
    }

    /// Adds the chain of causes. Where the machine is found in it, the call and the settings are not to blame.
    pub fn because(mut self, cause: &(dyn std::error::Error + 'static)) -> CommandError {
        let mut next = Some(cause);
        while let Some(cause) = next {
            if self.code == exit::USAGE && cause.downcast_ref().is_some_and(look::is_fault_of_the_machine) {
                self.code = exit::IO;
            }
            let text = cause.to_string();
            // Many errors end with the words of their cause already.
            if !self.causes.last().unwrap_or(&self.message).ends_with(&text) {
                self.causes.push(text);
            }
            next = cause.source();
        }
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> CommandError {
        self.hints.push(hint.into());
        self
    }

    /// What happened and why, on one line.
    pub fn words(&self) -> String {
        std::iter::once(&self.message).chain(&self.causes).cloned().collect::<Vec<_>>().join(": ")
    }

    /// The whole text, with its last newline.
    pub fn text(&self, suggest: &Suggest) -> String {
        let mut text = format!("error: {}\n", self.message);
        for cause in &self.causes {
            let _ = writeln!(text, "  caused by: {cause}");
        }
        for hint in &self.hints {
            let _ = writeln!(text, "hint: {}", suggest.line(hint));
        }
        text
    }
}

pub fn store_code(error: &StoreError) -> u8 {
    match error.class() {
        Class::Machine | Class::Damage => exit::IO,
        Class::Newer => exit::USAGE,
        Class::Internal => exit::INTERNAL,
    }
}

impl From<SettingsError> for CommandError {
    /// The text of settings that cannot be used says everything already.
    fn from(error: SettingsError) -> CommandError {
        CommandError::new(error.code(), error.to_string())
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> CommandError {
        let told = CommandError::new(store_code(&error), error.to_string()).because(&error);
        match error.class() {
            Class::Damage => told.hint(format!("put it aside and keep what is left of it: {REPAIR}")),
            Class::Newer => told.hint(
                "use that ralph; if no newer one was ever used here, the number is damaged: ralph doctor --repair",
            ),
            Class::Machine | Class::Internal => told,
        }
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> CommandError {
        match error {
            EngineError::Store(error @ StoreError::Gone { .. }) => CommandError::from(error)
                .hint("the agent was ended, and nothing is left of this run's journal; the files are as it left them")
                .hint("begin anew: ralph run -p 'make the tests pass'"),
            EngineError::Store(error) => {
                let (is_busy, class) = (matches!(error, StoreError::Busy { .. }), error.class());
                let told = CommandError::from(error)
                    .hint("whatever ran was ended; the journal holds everything up to its last whole step");
                match class {
                    Class::Machine if is_busy => {
                        told.hint("end the process that holds it, then look what can be resumed: ralph status")
                    }
                    Class::Machine => {
                        told.hint("make room or mend the disk, then look what can be resumed: ralph status")
                    }
                    Class::Damage | Class::Newer | Class::Internal => told,
                }
            }
            EngineError::Process(error) => CommandError::io("no process can be started", &error),
            EngineError::Idle | EngineError::Second => CommandError::new(exit::INTERNAL, error.to_string())
                .hint("the journal is intact; go on with: ralph resume"),
            EngineError::Replay(error) => {
                CommandError::new(exit::INTERNAL, "the run's journal cannot be read back").because(&error)
            }
        }
    }
}
