//! Programs that the tests need beside cargo: found, else installed where that is allowed, else named.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use crate::step::Step;

struct Tool {
    program: &'static str,
    from: Source,
    reason: &'static str,
}

enum Source {
    /// A package of Debian and its relatives.
    Apt(&'static str),
    /// A component of the Rust toolchain.
    Rustup(&'static str),
    /// A package of crates.io with the program's name. Unoptimised: it compiles in half the time and
    /// spends its own waiting for others.
    Cargo,
}

const TOOLS: [Tool; 6] = [
    Tool { program: "cargo-fmt", from: Source::Rustup("rustfmt"), reason: "the code is formatted" },
    Tool { program: "cargo-clippy", from: Source::Rustup("clippy"), reason: "the lints hold" },
    Tool { program: "cargo-nextest", from: Source::Cargo, reason: "it runs the tests" },
    Tool { program: "cargo-deny", from: Source::Cargo, reason: "licences and sources of dependencies" },
    Tool { program: "git", from: Source::Apt("git"), reason: "every test project is a repository" },
    Tool { program: "strace", from: Source::Apt("strace"), reason: "faults at chosen system calls" },
];

/// Installs what is missing. Where that fails and a note is enough, the tests that need it say that they
/// did nothing.
pub fn provide() -> Result<(), String> {
    let mut missing = Vec::new();
    for tool in TOOLS.iter().filter(|tool| !is_installed(tool.program)) {
        println!("==> {} is missing ({})", tool.program, tool.reason);
        let installed = match tool.from {
            Source::Apt(package) => install_with_apt(package),
            Source::Rustup(component) => Step::new(&format!("rustup component add {component}")).run(),
            Source::Cargo => Step::new(&format!("cargo install --locked --debug {}", tool.program)).run(),
        };
        if let Err(error) = installed {
            println!("note: could not install {}: {error}", tool.program);
            missing.push(tool.program);
        }
    }
    settle(missing)
}

/// What is missing is a failure in CI (`CI=true`) and a note elsewhere.
pub fn settle(missing: Vec<&str>) -> Result<(), String> {
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(", ");
    if std::env::var_os("CI").is_some_and(|ci| ci == "true") {
        return Err(format!("missing: {list}"));
    }
    println!("note: going on without {list}");
    Ok(())
}

/// Whether the program is found on the `PATH`.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn install_with_apt(package: &str) -> Result<(), String> {
    if !is_installed("apt-get") {
        return Err("there is no apt-get here".to_owned());
    }
    if !is_root() {
        return Err(format!("not root; try: sudo apt-get install {package}"));
    }
    let install = || {
        Step::new(&format!("apt-get install --yes --no-install-recommends {package}"))
            .env("DEBIAN_FRONTEND", "noninteractive")
            .run()
    };
    // The lists of packages may be absent or old: they cost a minute, so only where they are needed.
    if knows(package)
        && let Ok(()) = install()
    {
        return Ok(());
    }
    Step::new("apt-get update").run()?;
    install()
}

fn knows(package: &str) -> bool {
    let mut command = Command::new("apt-cache");
    command.args(["show", "--quiet", package]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The owner of `/proc/self` is the user of this process.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
