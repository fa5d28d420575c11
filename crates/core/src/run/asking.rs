//! Asking: what people want of a running loop, heard on its bus, and how it is acknowledged.

use super::Run;
use crate::bus::Kind;
use crate::effect::{BusName, Effect, Post};
use crate::id::MessageId;
use crate::inbox::{Heard, Request};
use crate::notice::Notice;
use crate::observation::Observation;

impl Run {
    pub(super) fn on_heard(&mut self, messages: &[Heard]) -> Vec<Effect> {
        let before = self.inbox.open().len();
        self.inbox.hear(messages);
        let new = self.inbox.open().get(before..).unwrap_or_default();
        let told = |request: &Request| Effect::Tell(Notice::Note { text: format!("request {}", request.words()) });
        new.iter().map(told).collect()
    }

    /// What the agent acknowledged in its answer is told to everybody who reads the bus.
    pub(super) fn take_acks(&mut self, seen: &Observation) -> Vec<Effect> {
        let acknowledged = self.inbox.acknowledge(&seen.acks);
        let told = acknowledged.into_iter().flat_map(|request| {
            let post = Post {
                bus: BusName::Task,
                key: format!("ack {}", request.id),
                kind: Kind::ACK,
                body: format!("acknowledged in {} {}", self.policy.kind.step(), self.iteration),
                parents: vec![request.id.clone()],
            };
            let text = format!("the agent acknowledged request {}", request.words());
            [Effect::Tell(Notice::Note { text }), Effect::Post(post)]
        });
        told.collect()
    }

    /// Whether a request was heard, acknowledged or not.
    pub fn has_heard(&self, id: &MessageId) -> bool {
        self.inbox.knows(id.as_str())
    }

    /// What people want and nobody has acknowledged.
    pub fn open_requests(&self) -> &[Request] {
        self.inbox.open()
    }

    /// The open requests, as the end of a sentence.
    pub(super) fn requests_in_words(&self) -> String {
        self.inbox.open().iter().map(Request::words).collect::<Vec<_>>().join("; ")
    }
}
