//! Asking programs about themselves, all at once: the slowest one decides how long it takes, and
//! none may take longer than a person waits.

use crate::error::CommandError;
use crate::session::event_loop;
use ralph_core::id::RunId;
use ralph_host::clock;
use ralph_host::probe::{self, Answer};
use ralph_host::process::Command;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::LocalSet;

/// Programs that have to be compiled first take seconds for their version on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);

/// Questions that wait for each other.
pub(super) struct Asking {
    folder: PathBuf,
    commands: Vec<Command>,
}

/// A question that was asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question(usize);

/// All answers.
pub(super) struct Answers(Vec<Answer>);

impl Asking {
    /// Programs are asked in this folder.
    pub(super) fn new(folder: &Path) -> Asking {
        Asking { folder: folder.to_owned(), commands: Vec::new() }
    }

    /// Asks a program.
    pub(super) fn add<'a>(&mut self, program: &str, args: impl IntoIterator<Item = &'a str>) -> Question {
        let args = args.into_iter().map(Into::into).collect();
        let folder = self.folder.clone();
        self.add_command(Command {
            program: program.into(),
            args,
            folder,
            set: Vec::new(),
            remove: Vec::new(),
            starts_runs: false,
        })
    }

    /// Asks a program with an environment of its own.
    pub(super) fn add_command(&mut self, command: Command) -> Question {
        self.commands.push(command);
        Question(self.commands.len() - 1)
    }

    /// Waits for all answers.
    pub(super) fn wait(self) -> Result<Answers, CommandError> {
        let runtime = event_loop()?;
        let together = LocalSet::new();
        let answers = runtime.block_on(together.run_until(async {
            let asked: Vec<_> =
                self.commands.into_iter().map(|command| tokio::task::spawn_local(ask(command))).collect();
            let mut answers = Vec::with_capacity(asked.len());
            for answer in asked {
                answers.push(answer.await.unwrap_or(Answer::Silent));
            }
            answers
        }));
        Ok(Answers(answers))
    }
}

async fn ask(command: Command) -> Answer {
    probe::ask(&RunId::from_random(clock::random_bits()), &command, PATIENCE).await
}

impl Answers {
    /// What came of a question.
    pub(super) fn to(&self, question: Question) -> &Answer {
        self.0.get(question.0).unwrap_or(&Answer::Silent)
    }

    /// What a program printed if it ended well.
    pub(super) fn text(&self, question: Question) -> Option<&str> {
        match self.to(question) {
            Answer::Said { code: 0, text } => Some(text.trim()),
            _ => None,
        }
    }
}
