//! The tests of the binary, as a user would use it: real processes, real git, real SQLite. One
//! binary, one module per group; a test that covers a fault of the catalogue begins with its id.
#![allow(
    clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing,
    missing_docs
)]

mod agents;
mod bad_input;
mod bus;
mod child_runs;
mod clock;
mod crash;
mod damage;
mod disk;
mod display;
mod doctor;
mod feedback;
mod hooks;
mod init;
mod judges;
mod limits;
mod locks;
mod net;
mod output;
mod plan_commands;
mod plans;
mod process;
mod protect;
mod real_clients;
mod report;
mod resources;
mod scm;
mod shell;
mod signals;
mod sizes;
#[cfg(target_os = "linux")]
mod snapshot;
mod story;
mod streams;
mod supervise;
mod tests_changed;
mod tree;
mod usage;
mod watching;

use ralph_testkit::TestEnv;

/// What a run is told while another one works on the same tree.
const OWNED: &str = "error: another ralph owns [..]\nhint: look at it: ralph status\nhint: stop it: ralph cancel ";

/// What `resume` says of a run that is complete.
const COMPLETE: &str = "error: run [..] is complete: there is nothing to go on with\n\
                        hint: look at it: ralph show [..]\nhint: begin a new one: ralph ";

/// A fresh environment around the binary under test.
fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_ralph"))
}
