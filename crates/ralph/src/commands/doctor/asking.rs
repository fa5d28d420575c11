//! Asks programs about themselves, all at once, and no longer than a person waits.

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

pub(super) struct Asking {
    folder: PathBuf,
    commands: Vec<Command>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Question(usize);

pub(super) struct Answers(Vec<Answer>);

impl Asking {
    /// Programs are asked in this folder.
    pub(super) fn new(folder: &Path) -> Asking {
        Asking { folder: folder.to_owned(), commands: Vec::new() }
    }

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

    pub(super) fn add_command(&mut self, command: Command) -> Question {
        self.commands.push(command);
        Question(self.commands.len() - 1)
    }

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
    pub(super) fn to(&self, question: Question) -> &Answer {
        self.0.get(question.0).unwrap_or(&Answer::Silent)
    }

    pub(super) fn text(&self, question: Question) -> Option<&str> {
        match self.to(question) {
            Answer::Said { code: 0, text } => Some(text.trim()),
            _ => None,
        }
    }
}
