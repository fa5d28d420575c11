//! Settings from any bytes.
#![no_main]
#![allow(dead_code, unused_imports, missing_docs)]

#[path = "../../crates/ralph/src/settings/mod.rs"]
mod settings;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| settings::fuzz::any_bytes(bytes));
