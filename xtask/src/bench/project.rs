//! A scratch project in which ralph is measured, and what `/proc` says about a process.

use super::fail;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A folder with settings, a state directory beside it, and the programs.
pub(super) struct Project {
    pub(super) ralph: PathBuf,
    pub(super) agent: PathBuf,
    folder: PathBuf,
}

impl Project {
    pub(super) fn new(ralph: &Path, agent: &Path) -> Result<Project, String> {
        Project::below(&std::env::temp_dir(), ralph, agent)
    }

    /// Another one for the same programs, on another file system.
    pub(super) fn beside(&self, parent: &Path) -> Result<Project, String> {
        Project::below(parent, &self.ralph, &self.agent)
    }

    fn below(parent: &Path, ralph: &Path, agent: &Path) -> Result<Project, String> {
        let stamp = Instant::now();
        let folder =
            parent.join(format!("ralph-bench-{}-{stamp:?}", std::process::id()).replace([' ', '{', '}', ':', ','], ""));
        std::fs::create_dir_all(folder.join("project/.ralph")).map_err(fail("the scratch project cannot be made"))?;
        Ok(Project { ralph: ralph.to_owned(), agent: agent.to_owned(), folder })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn root(&self) -> PathBuf {
        self.path("project")
    }

    pub(super) fn settings(&self, json: &str) -> Result<(), String> {
        self.write("project/.ralph/settings.json", json)
    }

    /// Settings for the scripted agent with this script.
    pub(super) fn script(&self, script: &str, more: &str) -> Result<(), String> {
        self.write("script", script)?;
        let (agent, script) = (self.agent.display(), self.path("script"));
        let script = script.display();
        self.settings(&format!(r#"{{"agent":{{"command":"{agent}","flags":["--script","{script}"]}}{more}}}"#))
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        std::fs::write(self.path(name), text).map_err(fail(name))
    }

    /// A call of ralph in the project; output goes nowhere unless the caller says otherwise.
    pub(super) fn call(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.ralph);
        command.args(args).current_dir(self.root()).env("RALPH_STATE_DIR", self.path("state"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // A scratch folder that stays behind costs nothing but room.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A process that is ended when it goes out of scope.
pub(super) struct Running(pub(super) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A number from `/proc/<pid>/status`, in megabytes.
pub(super) fn memory(pid: u32, field: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

/// Ticks that a process has computed.
pub(super) fn ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.get(stat.rfind(')')? + 2..)?.split(' ').collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

/// The children of a process.
pub(super) fn children(pid: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Waits for something, asking every millisecond.
pub(super) fn wait_for(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < limit {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

pub(super) fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}
