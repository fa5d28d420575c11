//! ralph translates: a [`Dialect`] turns what ralph wants into a program's command line, and a [`Reader`] turns what
//! the program prints into [`ralph_core::agent_event::AgentEvent`]s and its end into a
//! [`ralph_core::observation::Failure`]. Nothing here starts a process, opens a file, reads a clock or knows whether a
//! loop goes on.
//!
//! A new agent is one file with its dialect, a recording of its stream among the tests, and one row in the table of
//! [`dialect`]. Its name is compared nowhere else.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod advice;
mod aider;
mod amp;
mod claude;
mod cline;
mod cn;
mod codex;
mod command;
mod complaint;
mod copilot;
mod cursor_agent;
pub mod dialect;
mod echo;
mod ending;
mod gemini;
mod generic;
mod grok;
mod hooks;
mod interactive;
mod json;
mod kimi;
mod login;
mod opencode;
mod pi;
mod plain;
mod qwen;
mod reset;
mod stream;
mod terminal;
mod todo;
mod tool;
mod usage;

pub use advice::Help;
pub use dialect::{
    CommandLine, Delivery, Detail, Dialect, End, LineKind, Reader, SideFile, Told, base_name, by_name, for_agent,
    names, programs,
};
pub use interactive::interactive;
pub use login::{Login, LoginFile, Unseen};
