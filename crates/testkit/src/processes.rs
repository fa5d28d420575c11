//! Looking at the machine's processes through `/proc`, and waiting for something to become true.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Short enough that a test loses nothing by waiting, long enough that it does not burn the CPU it waits for.
const POLL: Duration = Duration::from_millis(5);

/// A process that is alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its command line, words separated by spaces.
    pub command: String,
}

/// Polls until the condition holds; false if it did not within the time.
#[must_use]
pub fn eventually(timeout: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + timeout;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(POLL);
    }
}

/// Whether the process exists and is more than a zombie.
pub fn alive(pid: u32) -> bool {
    // The state follows the command name, which stands in parentheses and may itself contain some.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Living processes with an environment entry that begins with `marker`, such as `RALPH_RUN_ID=…`.
///
/// The environment is the one a program was started with: what it set or cleared later does not show.
pub fn processes_with_env(marker: &str) -> Vec<Process> {
    processes_where(|folder| has_env(folder, marker))
}

/// Living processes that carry the marker or work inside the folder.
pub(crate) fn processes_of(marker: &str, folder: &Path) -> Vec<Process> {
    let inside = |process: &Path| fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    processes_where(|process| has_env(process, marker) || inside(process))
}

fn processes_where(fits: impl Fn(&Path) -> bool) -> Vec<Process> {
    let own = std::process::id();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let folder = entry.path();
        if pid != own && fits(&folder) && alive(pid) {
            let command = fs::read(folder.join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).trim_end_matches('\0').replace('\0', " ");
            found.push(Process { pid, command });
        }
    }
    found
}

fn has_env(process: &Path, marker: &str) -> bool {
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(marker.as_bytes()))
}
