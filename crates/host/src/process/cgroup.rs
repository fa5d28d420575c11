//! A control group per run, where the system lets us have one: it names every process of a run
//! even after ralph and its keeper are both gone. Best effort: without it the tree and the marker in
//! the environment still find everything.

use super::tree;
use ralph_core::id::RunId;
use std::collections::HashSet;
use std::path::PathBuf;

/// Moves this process, and so all that it will start from now on, into the run's group.
pub(super) fn enter(run: &RunId) -> Option<PathBuf> {
    // One for each keeper: that of a crashed ralph may still be ending its own when the run goes on.
    let folder = around()?.join(format!("{}{}", prefix(run), std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    if std::fs::write(folder.join("cgroup.procs"), "0").is_err() {
        let _ = std::fs::remove_dir(&folder);
        return None;
    }
    Some(folder)
}

/// Takes another process into the run's group; one that is gone already needs it no more.
pub(super) fn take_in(folder: &std::path::Path, pid: i32) {
    let _ = std::fs::write(folder.join("cgroup.procs"), pid.to_string());
}

/// Processes in the run's group other than this one.
pub(super) fn members(folder: &std::path::Path) -> Vec<i32> {
    let own = std::process::id().cast_signed();
    let list = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    list.lines().filter_map(|line| line.parse().ok()).filter(|pid| *pid != own && *pid > 1).collect()
}

/// Leaves the run's group for the one around it, and removes it: a ralph that was killed cannot.
pub(super) fn leave(folder: &std::path::Path) {
    if let Some(around) = folder.parent() {
        let _ = std::fs::write(around.join("cgroup.procs"), "0");
        let _ = std::fs::remove_dir(folder);
    }
}

/// Leaves the group of the run inside which this process was started, if it is in one: a child run is
/// no member of its parent.
pub(super) fn leave_foreign() {
    if let Some(around) = around().filter(|_| is_inside_one()) {
        // Where this is refused, those who end the group's members know whom to spare.
        let _ = std::fs::write(around.join("cgroup.procs"), "0");
    }
}

/// Whether this process is in the group of a run.
pub(super) fn is_inside_one() -> bool {
    std::fs::read_to_string("/proc/self/cgroup")
        .is_ok_and(|own| own.lines().filter_map(|line| line.strip_prefix("0::/")).any(|group| group.contains("ralph-")))
}

/// Ends whatever is left in the run's groups but for those who are spared, and removes them.
pub(super) fn remove(run: &RunId, spared: impl Fn() -> HashSet<i32>) {
    for folder in folders(run) {
        let members = members(&folder);
        let spared = if members.is_empty() { HashSet::new() } else { spared() };
        if members.iter().any(|pid| spared.contains(pid)) {
            let victims = members.iter().filter(|pid| !spared.contains(pid));
            victims.for_each(|pid| tree::signal(*pid, rustix::process::Signal::KILL));
        } else if !members.is_empty() {
            let _ = std::fs::write(folder.join("cgroup.kill"), "1");
        }
        let _ = std::fs::remove_dir(folder);
    }
}

/// The run's groups: one for each keeper that it had and that could not remove its own.
pub(super) fn folders(run: &RunId) -> Vec<PathBuf> {
    let Some(listing) = around().and_then(|around| std::fs::read_dir(around).ok()) else { return Vec::new() };
    let prefix = prefix(run);
    let is_of_run = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&prefix);
    listing.flatten().filter(is_of_run).map(|entry| entry.path()).collect()
}

/// What the names of a run's groups begin with; the keeper's number follows.
fn prefix(run: &RunId) -> String {
    format!("ralph-{run}-")
}

/// `<mount of cgroup v2>/<own group>`, where groups of runs are made.
fn around() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        after.starts_with("cgroup2 ").then(|| before.split(' ').nth(4))?
    })?;
    let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    // A keeper that was started from inside a run's group must not nest ever deeper.
    let own = own.split("ralph-").next().unwrap_or_default();
    Some(PathBuf::from(mount).join(own))
}
