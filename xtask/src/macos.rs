//! Whether ralph still compiles for macOS. Nothing is linked, so neither its C compiler nor its SDK is needed.

use crate::step::{Step, root};
use crate::tools;

const TARGET: &str = "aarch64-apple-darwin";

/// Checks the binary and everything below it. Where the standard library of the target cannot be installed, that is
/// said, and fails in CI.
pub fn check() -> Result<(), String> {
    if cfg!(target_os = "macos") {
        return Ok(());
    }
    if !is_there() && Step::new(&format!("rustup target add {TARGET}")).run().is_err() {
        println!("note: without Rust's standard library for {TARGET} nobody knows whether ralph compiles for macOS");
        return tools::settle(vec![TARGET]);
    }
    let stand_in = root().join("xtask/macos/no-compiler").display().to_string();
    Step::new(&format!("cargo check --package ralph-loop --target {TARGET}"))
        .env("CC_aarch64_apple_darwin", &stand_in)
        .env("AR_aarch64_apple_darwin", &stand_in)
        .env("RUSTFLAGS", "-Dwarnings")
        .run()
}

/// Whether the toolchain in use has the target's standard library.
fn is_there() -> bool {
    let rustc = std::process::Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    rustc.is_ok_and(|said| std::path::Path::new(String::from_utf8_lossy(&said.stdout).trim()).is_dir())
}
