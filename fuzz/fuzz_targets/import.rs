//! A plan of any tool.
#![no_main]

#[path = "../../crates/core/tests/it/fuzz.rs"]
mod core_fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| core_fuzz::import(bytes));
