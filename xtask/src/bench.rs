//! Measuring ralph.

/// Runs the benchmarks.
pub fn run() -> Result<(), String> {
    Err("there are no benchmarks yet".to_owned())
}
