//! Asking: what people want of a running loop, heard on its bus, and how it is acknowledged.

use super::Run;
use crate::bus::Kind;
use crate::effect::{BusName, Effect, Post};
use crate::id::MessageId;
use crate::inbox::{Heard, Request, Requests};
use crate::notice::Notice;
use crate::observation::Observation;

impl Run {
    pub(super) fn on_heard(&mut self, messages: &[Heard]) -> Vec<Effect> {
        let told = |request: &Request| Effect::Tell(Notice::Note { text: format!("request {}", request.words()) });
        self.inbox.hear(messages).map(told).collect()
    }

    /// What the agent acknowledged in its answer is told to everybody who reads the bus.
    pub(super) fn take_acks(&mut self, seen: &Observation) -> Vec<Effect> {
        let acknowledged = self.inbox.acknowledge(&seen.acks);
        let told = acknowledged.into_iter().flat_map(|request| {
            let post = Post {
                bus: BusName::Task,
                key: format!("{} ack {}", self.id, request.id),
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
    pub fn open_requests(&self) -> &Requests {
        self.inbox.open()
    }
}
