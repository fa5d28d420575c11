//! What the store keeps: streams of entries, each with one row beside it. A run is a stream, and so is a task.

use crate::id::{RunId, TaskName};
use crate::outcome::StopReason;
use crate::run::RunRow;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;

/// What a stream is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamKind {
    /// A run.
    Run,
    /// A task.
    Task,
}

impl StreamKind {
    /// All kinds.
    pub const ALL: [StreamKind; 2] = [StreamKind::Run, StreamKind::Task];

    /// Its name, for people and where it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            StreamKind::Run => "run",
            StreamKind::Task => "task",
        }
    }
}

/// Names one stream.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    kind: StreamKind,
    id: String,
}

impl StreamId {
    /// Takes a name that was stored; `None` if it could not be one.
    pub fn parse(kind: &str, id: &str) -> Option<StreamId> {
        let kind = StreamKind::ALL.into_iter().find(|known| known.as_str() == kind)?;
        let is_name = match kind {
            StreamKind::Run => RunId::parse(id).is_some(),
            StreamKind::Task => TaskName::parse(id).is_ok(),
        };
        is_name.then(|| StreamId { kind, id: id.to_owned() })
    }

    /// What it is about.
    pub fn kind(&self) -> StreamKind {
        self.kind
    }

    /// Its name among those of its kind.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The run that it is about, if it is one.
    pub fn run(&self) -> Option<RunId> {
        RunId::parse(&self.id).filter(|_| self.kind == StreamKind::Run)
    }
}

impl From<&RunId> for StreamId {
    fn from(run: &RunId) -> StreamId {
        StreamId { kind: StreamKind::Run, id: run.as_str().to_owned() }
    }
}

impl From<&TaskName> for StreamId {
    fn from(task: &TaskName) -> StreamId {
        StreamId { kind: StreamKind::Task, id: task.as_str().to_owned() }
    }
}

impl From<&StreamId> for StreamId {
    fn from(stream: &StreamId) -> StreamId {
        stream.clone()
    }
}

/// As people say it: `run 7f3a9k2m`.
impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.id)
    }
}

/// A stream at a glance: always equal to what folding its entries gives.
pub trait Row: Serialize + DeserializeOwned {
    /// What its stream is about.
    const KIND: StreamKind;

    /// Its stream.
    fn stream(&self) -> StreamId;

    /// By what it is found.
    fn keys(&self) -> Keys;
}

/// By what a row is found, and what is added up without reading it.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys {
    /// The task that it works on.
    pub task: TaskName,
    /// The run inside which it was started.
    pub parent: Option<RunId>,
    /// Whether it goes on.
    pub standing: Standing,
    /// Money that it has spent, where stated.
    pub cost_usd: f64,
    /// Tokens that it has used.
    pub tokens: u64,
}

/// Whether a stream goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has not come to an end: somebody carries it, or did until a crash.
    Open,
    /// It ended, and may go on.
    Stopped,
    /// It ended, and nothing is left to do.
    Finished,
}

impl Row for RunRow {
    const KIND: StreamKind = StreamKind::Run;

    fn stream(&self) -> StreamId {
        StreamId::from(&self.run)
    }

    fn keys(&self) -> Keys {
        Keys {
            task: self.task.clone(),
            parent: self.parent.clone(),
            standing: match self.stop_reason {
                None => Standing::Open,
                Some(StopReason::Complete) => Standing::Finished,
                Some(_) => Standing::Stopped,
            },
            cost_usd: self.cost_usd.unwrap_or(0.0),
            tokens: self.tokens.total(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_name_is_a_stream_of_a_known_kind_or_none() {
        let run = RunId::from_random(7);
        assert_eq!(StreamId::parse("run", run.as_str()), Some(StreamId::from(&run)));
        assert_eq!(StreamId::from(&run).run(), Some(run));
        let task = StreamId::from(&TaskName::from_text("fix.login_2"));
        assert_eq!(StreamId::parse("task", task.id()).as_ref(), Some(&task));
        assert_eq!((task.run(), task.to_string()), (None, format!("task {}", task.id())));
        for (kind, id) in [("run", ""), ("run", "a.b"), ("task", "../x"), ("stage", "abc"), ("Run", "abc")] {
            assert_eq!(StreamId::parse(kind, id), None, "{kind} {id}");
        }
    }
}
