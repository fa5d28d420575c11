//! `cargo xtask test`: everything that must be green, the quick answers first.

use std::fs;
use std::time::Instant;

use crate::step::{Step, root};
use crate::tools;

/// Fast tests first: pure rooms, then those with files and processes, at the end whole runs of ralph.
/// A crate that is not named here comes just before the last.
const ORDER: [&str; 7] = ["core", "agents", "store", "host", "engine", "testkit", "ralph"];

/// Stops at the first failure.
pub fn run() -> Result<(), String> {
    let begun = Instant::now();
    tools::provide()?;
    Step::new("cargo fmt --all --check").run()?;
    Step::new("cargo clippy --workspace --all-targets -- -D warnings").run()?;
    for package in packages()? {
        Step::new(&format!("cargo test --package {package}")).run()?;
    }
    Step::new("cargo doc --workspace --no-deps").env("RUSTDOCFLAGS", "-Dwarnings").run()?;
    println!("all green in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// The packages of the workspace in the order of their tests. They are tested one by one, which also
/// shows that each states the features it needs.
fn packages() -> Result<Vec<String>, String> {
    let crates = root().join("crates");
    let entries = fs::read_dir(&crates).map_err(|error| format!("{}: {error}", crates.display()))?;
    let mut found: Vec<(usize, String)> = entries
        .flatten()
        .filter(|entry| entry.path().join("Cargo.toml").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|name| (rank(&name), name))
        .collect();
    found.sort();
    Ok(["xtask".to_owned()].into_iter().chain(found.into_iter().map(|(_, name)| package(&name))).collect())
}

/// Folders are named by their room, packages so that they can be published.
fn package(folder: &str) -> String {
    if folder == "ralph" { "ralph-loop".to_owned() } else { format!("ralph-loop-{folder}") }
}

fn rank(folder: &str) -> usize {
    // Twice the place, so that there is room before the last.
    let last = 2 * (ORDER.len() - 1);
    ORDER.iter().position(|name| *name == folder).map_or(last - 1, |at| 2 * at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_nobody_ranked_is_tested_before_whole_runs() {
        let mut names = ["ralph", "web", "testkit", "core"];
        names.sort_by_key(|name| rank(name));
        assert_eq!(names, ["core", "testkit", "web", "ralph"]);
    }
}
