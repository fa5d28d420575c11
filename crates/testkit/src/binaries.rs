//! Finding the scripted agent, and building it where cargo has not.
//!
//! Cargo builds the binaries of the package under test, not those of its dependencies: in a test of
//! ralph the agent may be missing or older than its source. It is then built once, next to ralph, in
//! the same profile; a file lock lets the other test processes wait instead of building too.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

const NAME: &str = "scripted-agent";

/// The path of the scripted agent in the folder of the given binary.
pub fn scripted_agent(beside: &Path) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    let folder = beside.parent().expect("the binary is in a folder");
    let agent = folder.join(NAME);
    BUILT.get_or_init(|| {
        let lock = File::create(folder.join(".scripted-agent.lock")).unwrap();
        lock.lock().unwrap();
        if !is_current(&agent) {
            build(folder);
        }
    });
    assert!(agent.exists(), "{} is missing and could not be built", agent.display());
    agent
}

/// Whether the binary is there and no source of it is newer.
fn is_current(agent: &Path) -> bool {
    let Ok(built) = fs::metadata(agent).and_then(|metadata| metadata.modified()) else { return false };
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin").join(NAME);
    newest(&sources).is_none_or(|changed| changed <= built)
}

fn newest(folder: &Path) -> Option<SystemTime> {
    fs::read_dir(folder).ok()?.flatten().filter_map(|entry| entry.metadata().ok()?.modified().ok()).max()
}

/// `folder` is `target/debug`, `target/release`, or the same below a target triple.
fn build(folder: &Path) {
    let profile = folder.file_name().and_then(|name| name.to_str()).unwrap_or("debug");
    let above = folder.parent().expect("the profile's folder is in the target folder");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--bin", NAME]);
    command.args(["--profile", if profile == "debug" { "dev" } else { profile }]);
    // Cargo marks its target folder with this file; where it is missing, a triple lies between.
    if above.join("CACHEDIR.TAG").exists() {
        command.arg("--target-dir").arg(above);
    } else if let (Some(triple), Some(target)) = (above.file_name(), above.parent()) {
        command.arg("--target").arg(triple).arg("--target-dir").arg(target);
    }
    let status = command.status().expect("cargo is needed to build the scripted agent");
    assert!(status.success(), "{command:?} failed");
}
