//! Asking a program something small, such as its version: its beginning of output, and never longer
//! than a few seconds, whatever it does. What it started is ended with it.

use crate::process::drive::{Chunk, Job, Sink, Streams, drive};
use crate::process::{Command, Keeper};
use ralph_core::id::RunId;
use ralph_core::observation::Ending;
use ralph_core::time::Millis;
use std::time::Duration;
use tokio::sync::mpsc;

/// Answers are a line or two.
const LONGEST_ANSWER: usize = 16 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It ended by itself, having printed this on either stream.
    Said { code: i32, text: String },
    /// It was ended by a signal, or took longer than it was given and was cut.
    Silent,
    /// It could not be started.
    NotStarted { reason: String },
}

/// Asks one program, with a keeper of its own under this name, so that several can be asked at once.
pub async fn ask(name: &RunId, command: &Command, patience: Duration) -> Answer {
    let mut keeper = match Keeper::start_alone(name) {
        Ok(keeper) => keeper,
        Err(error) => return Answer::NotStarted { reason: error.to_string() },
    };
    let mut sink = Beginning::default();
    let (_silent, mut orders) = mpsc::unbounded_channel();
    let no_limit = Millis::ZERO;
    let streams = Streams::Together;
    let job = Job { command, stdin: b"", streams, timeout: no_limit, idle: no_limit, linger: no_limit };
    // The keeper ends the tree of a ralph that is gone faster than the stop ladder: a version saves no work.
    let facts = tokio::time::timeout(patience, drive(&mut keeper, &job, &mut sink, &mut orders)).await;
    keeper.close();
    match facts.map(|facts| facts.ending) {
        Ok(Ending::Exited { code }) => Answer::Said { code, text: String::from_utf8_lossy(&sink.bytes).into_owned() },
        Ok(Ending::NotStarted { reason, .. }) => Answer::NotStarted { reason },
        Ok(_) | Err(_) => Answer::Silent,
    }
}

#[derive(Default)]
struct Beginning {
    bytes: Vec<u8>,
}

impl Sink for Beginning {
    fn stdout(&mut self, bytes: &Chunk) {
        let room = LONGEST_ANSWER.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or_default());
    }

    fn stderr(&mut self, bytes: &Chunk) {
        self.stdout(bytes);
    }
}
