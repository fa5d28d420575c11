//! Asking: what people want of a running loop, heard on its bus, and how it is acknowledged.

use super::{Run, RunStep};
use crate::activity::{Act, BusName, Post};
use crate::bus::Kind;
use crate::id::MessageId;
use crate::inbox::{Heard, Request, Requests};
use crate::machine::Step;
use crate::notice::Notice;
use crate::observation::Observation;
use crate::words::Note;

impl Run {
    pub(super) fn on_heard(&mut self, messages: &[Heard]) -> RunStep {
        let told = |request: &Request| Notice::Note(Note::Request { words: request.words() });
        Step::telling(self.inbox.hear(messages).map(told))
    }

    /// What the agent acknowledged in its answer is told to everybody who reads the bus.
    pub(super) fn take_acks(&mut self, seen: &Observation) -> RunStep {
        let (step, iteration) = (self.policy.kind.name().step(), self.count.iteration());
        let acknowledged = self.inbox.acknowledge(&seen.acks).into_iter();
        acknowledged.fold(Step::default(), |told, request| {
            let post = Post {
                bus: BusName::Task,
                key: format!("{} ack {}", self.about.id, request.id),
                kind: Kind::ACK,
                body: format!("acknowledged in {step} {iteration}"),
                parents: vec![request.id.clone()],
            };
            let note = Run::note(Note::RequestAcknowledged { words: request.words() });
            told.then(note).then(Step::acting([Act::Post(post)]))
        })
    }

    /// A message on the task's bus for this entry of the journal; no entry posts two of a kind.
    pub(super) fn post(&self, kind: Kind, body: String) -> Act {
        Act::Post(Post {
            bus: BusName::Task,
            key: format!("{} entry {}", self.about.id, self.now.seq),
            kind,
            parents: Vec::new(),
            body,
        })
    }

    /// Whether a request was heard, acknowledged or not.
    pub fn has_heard(&self, id: &MessageId) -> bool {
        self.inbox.knows(id.as_str())
    }

    /// What people want and nobody has acknowledged.
    pub fn open_requests(&self) -> &Requests {
        self.inbox.open()
    }
}
