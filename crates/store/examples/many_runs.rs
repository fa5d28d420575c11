//! Makes a project's state folder large: `many_runs FOLDER RUNS` fills it up with copies of its newest run, and
//! `many_runs FOLDER RUN ITERATIONS` repeats the iterations of a run until it has so many.
#![allow(clippy::expect_used, reason = "a tool for measuring; whoever starts it reads what went wrong")]
fn main() {}
