//! `cargo xtask test`: everything that must be green, the quick answers first.

use std::time::Instant;

use crate::clients;
use crate::docs;
use crate::honesty;
use crate::macos;
use crate::step::Step;
use crate::tidy;
use crate::tools;

/// Stops at the first failure. The workspace is always tested as a whole: one package at a time would
/// build its dependencies again with other features.
pub fn run() -> Result<(), String> {
    let begun = Instant::now();
    tidy::check()?;
    tools::provide()?;
    Step::new("cargo fmt --all --check").run()?;
    if tools::is_installed("cargo-deny") {
        Step::new("cargo deny check bans licenses sources").run()?;
    }
    Step::new("cargo clippy --workspace --all-targets -- -D warnings").run()?;
    macos::check()?;
    // `.config/nextest.toml` says in which order and how many at a time.
    // A snapshot that differs is a failure here; `cargo xtask record` takes it anew.
    let used = tidy::snapshots_in_use()?;
    Step::new("cargo nextest run --profile whole --workspace -- --skip real_clients::")
        .env("INSTA_UPDATE", "no")
        .env("INSTA_SNAPSHOT_REFERENCES_FILE", &used.display().to_string())
        .run()?;
    tidy::check_snapshots(&used)?;
    // nextest runs no documentation tests.
    Step::new("cargo test --workspace --doc --quiet").run()?;
    Step::new("cargo doc --workspace --no-deps").env("RUSTDOCFLAGS", "-Dwarnings").run()?;
    docs::check()?;
    honesty::check()?;
    // The slowest at the end: most of their time is the clients' own, and a failure elsewhere explains theirs.
    clients::provide()?;
    Step::new("cargo nextest run --profile whole --workspace real_clients::").run()?;
    println!("all green in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Takes the snapshots and the recorded journals anew. What changed is for the next commit, after somebody
/// looked at it.
pub fn record() -> Result<(), String> {
    let net = Step::new("cargo nextest run --package ralph-loop net::");
    net.env("INSTA_UPDATE", "always").env("RALPH_RECORD", "1").run()?;
    let folds = Step::new("cargo nextest run --package ralph-loop-core composed:: journals::");
    folds.env("INSTA_UPDATE", "always").run()?;
    Step::new("git status --short -- *.snap *.jsonl").run()
}
