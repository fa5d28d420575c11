//! ralph decides.
//!
//! Everything here is a pure function of its arguments: there is no clock, no file, no process, no
//! environment and no async. What happens comes in as an [`event::Event`], what should be done goes
//! out as an [`activity::Activity`], and what people and programs are told goes out as a
//! [`notice::Notice`]. The state of a run is the fold of its events, so any run can be replayed.

pub mod activity;
pub mod agent_event;
pub mod bus;
pub mod check;
pub mod claim;

pub mod event;
pub mod evidence;
pub mod excerpt;
mod feedback;
pub mod guardrail;
mod history;
pub mod id;
pub mod inbox;
pub mod judges;
pub mod machine;
pub mod memory;
pub mod notice;
pub mod observation;
pub mod outcome;
pub mod plan;
pub mod policy;
pub mod prompt;
pub mod protect;
pub mod receipt;
pub mod request;
pub mod run;
pub mod scm;
pub mod stream;
pub mod supervise;
pub mod tests_changed;
pub mod text;
pub mod time;
pub mod trust;
pub mod verdict;
pub mod words;
