//! Tests of ralph drive the real binary with real processes; this crate gives them the ground to stand on.
//!
//! [`TestEnv`] is a scratch machine: a home, a state folder, a project with one commit, and an
//! environment in which nothing of the developer's own is left. [`Invocation`] states what one run of
//! ralph must print and how it must end: output that a test did not state must be empty. The binary
//! `scripted-agent` stands where a coding agent would; its opening lines explain its script, and
//! `ACTIONS.md` beside this crate lists every action. Real agent programs stand there too: [`client`]
//! finds them, and [`model_server`] is the provider that they talk to.
//!
//! ```no_run
//! # use ralph_testkit::TestEnv;
//! # let path_of_ralph = "target/debug/ralph";
//! let env = TestEnv::new(path_of_ralph); // env!("CARGO_BIN_EXE_ralph")
//! env.script("claim").guardrail("true");
//! env.ralph(["run", "-p", "x"]).ends("complete · verified").run();
//! ```
//!
//! There are no sleeps here: tests wait for something ([`Running::wait_for_stderr`],
//! [`Running::wait_for_file`], [`eventually`]), and every wait has an end.

// A test that cannot go on must stop and say where: here a panic is the message.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod binaries;
mod capture;
mod child;
mod clients;
mod environment;
mod expectation;
mod fuzz;
mod invocation;
pub mod model_server;
mod narration;
mod output;
mod processes;
mod repository;
mod running;
mod stable;
mod strace;
mod sys;
mod terminal;

pub use clients::{Client, client};
pub use environment::TestEnv;
pub use fuzz::fuzz;
pub use invocation::Invocation;
pub use output::Output;
pub use processes::{Process, alive, eventually, processes_with_env};
pub use running::{Finished, Running, json_lines};
pub use strace::{Fault, has_tool};
pub use terminal::Terminal;
