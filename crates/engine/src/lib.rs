//! ralph carries.
//!
//! [`Carrier`] is the one event loop, for any machine: an event gets its number and time, goes to the machine, into
//! the journal, and what the machine wants done is done; the answer is the next event. Nothing here decides
//! anything about tasks, limits or verdicts. [`run`] holds the hands of a run: each activity becomes calls of host,
//! and their result an event.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod carry;
mod journal;
pub mod run;

pub use carry::{Carrier, EngineError, Hands, Links, Listener, Senses};
pub use journal::{Batch, Extent, Remembers};
