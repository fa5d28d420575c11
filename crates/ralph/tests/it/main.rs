//! The tests of the binary, as a user would use it: real processes, real git, real SQLite. One
//! binary, one module per group; a test that covers a fault of the catalogue begins with its id.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
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
mod init;
mod limits;
mod locks;
mod net;
mod output;
mod process;
mod protect;
mod real_clients;
mod report;
mod resources;
mod scm;
mod shell;
mod signals;
mod sizes;
mod story;
mod streams;
mod supervise;
mod tree;
mod usage;

use ralph_testkit::TestEnv;

/// A fresh environment around the binary under test.
fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_ralph"))
}
