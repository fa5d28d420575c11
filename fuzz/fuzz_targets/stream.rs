//! The reader of agents' JSON beside serde_json.
#![no_main]
#![allow(dead_code, unused_imports, missing_docs)]

#[path = "../../crates/agents/src/json/mod.rs"]
mod json;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| json::fuzz::beside_serde_json(bytes));
