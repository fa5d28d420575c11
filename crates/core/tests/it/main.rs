//! The loop machine, seen from outside: entries go in, steps come out, and no process is needed
//! for either.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod asking;
mod bus;
mod claims;
mod committing;
mod composed;
mod ends;
mod feedback;
mod fuzz;
mod inspecting;
mod journals;
mod machine;
mod memory;
mod plans;
mod prompts;
mod properties;
mod protecting;
mod sim;
mod stops;
mod supervising;
mod tests_changed;
mod waits;
mod worlds;
