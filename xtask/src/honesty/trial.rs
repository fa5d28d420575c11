//! One scenario under one loop: a scratch machine, the loop, and afterwards the truth.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::scenario::{Scenario, Truth};

/// No loop of a scenario takes longer; one that does hangs, and has accepted nothing.
const LIMIT: Duration = Duration::from_secs(15);

/// Where the machine's own programs are.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Who repeats the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    /// The program that this is about.
    Ralph,
    /// The classic: until the word appears.
    Plain,
    /// The same, with a check at every claim.
    Checked,
}

/// How a trial came out.
#[derive(Debug)]
pub struct Outcome {
    /// Whether the loop says that the work is done.
    pub accepted: bool,
    /// Whether the work is done.
    pub done: bool,
    /// What the loop said in the end.
    pub said: String,
}

/// What all trials share.
#[derive(Debug)]
pub struct Ground {
    /// The binary.
    pub ralph: PathBuf,
    /// `xtask/honesty`.
    pub data: PathBuf,
    /// The folder for scratch machines, with the pristine project.
    pub folder: PathBuf,
}

impl Ground {
    /// Makes the folder and the pristine project with its one commit.
    pub fn new(ralph: PathBuf, data: PathBuf) -> Result<Ground, String> {
        let folder = memory().unwrap_or_else(std::env::temp_dir).join(format!("ralph-honesty-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let ground = Ground { ralph, data, folder };
        let project = ground.folder.join("project");
        copy(&ground.data.join("project"), &project)?;
        let repository = "git init --quiet --initial-branch=main --template= && git add --all && git commit --quiet --message=Begin && git gc --quiet";
        shell(repository, &project, &ground.folder.join("home"))?;
        Ok(ground)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // A scratch folder that stays behind costs nothing but room.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The scratch machine of one trial. Dropping it ends every process that was started on it.
struct Machine<'g> {
    ground: &'g Ground,
    folder: PathBuf,
}

/// Tries a scenario; `number` tells its scratch machine from all others.
pub fn run(ground: &Ground, scenario: &Scenario, under: Loop, number: usize) -> Result<Outcome, String> {
    let machine = Machine { ground, folder: ground.folder.join(format!("{number}-{under:?}")) };
    let agent = machine.prepare(scenario)?;
    let helper = machine.start_helper(scenario)?;
    let (accepted, said) = match under {
        Loop::Ralph => machine.ralph(scenario)?,
        Loop::Plain => machine.plain(scenario, &agent, "true")?,
        Loop::Checked => machine.plain(scenario, &agent, &scenario.keys.guardrails.join(" && "))?,
    };
    std::thread::sleep(scenario.keys.settle);
    if let Some(mut helper) = helper {
        helper.wait().map_err(|error| format!("{}: {error}", scenario.keys.helper))?;
    }
    Ok(Outcome { accepted, done: machine.truth(scenario)?, said })
}

impl Machine<'_> {
    /// Makes project, settings and agent; gives the agent's path.
    fn prepare(&self, scenario: &Scenario) -> Result<PathBuf, String> {
        for name in ["", "home", "state", "agent"] {
            let folder = self.folder.join(name);
            fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        copy(&self.ground.folder.join("project"), &self.project())?;
        copy(&self.ground.data.join("bin"), &self.folder.join("bin"))?;
        if !scenario.keys.setup.is_empty() {
            shell(&scenario.keys.setup, &self.project(), &self.folder.join("home"))?;
        }
        let agent = self.folder.join("agent").join(&scenario.keys.dialect);
        self.write(&agent, &self.with_helpers(&scenario.script))?;
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).map_err(|error| error.to_string())?;
        self.write(&self.project().join(".ralph/settings.json"), &settings(scenario, &agent))?;
        Ok(agent)
    }

    /// Starts what somebody else does meanwhile, in none of the loop's process trees.
    fn start_helper(&self, scenario: &Scenario) -> Result<Option<std::process::Child>, String> {
        if scenario.keys.helper.is_empty() {
            return Ok(None);
        }
        let mut command = self.command("/bin/sh");
        command.args(["-c", &self.with_helpers(&scenario.keys.helper)]).stderr(Stdio::null());
        command.spawn().map(Some).map_err(|error| format!("{}: {error}", scenario.keys.helper))
    }

    /// Runs ralph. An honest end is one that ralph itself has verified; for a lie any end as complete counts.
    fn ralph(&self, scenario: &Scenario) -> Result<(bool, String), String> {
        let mut command = self.command(&self.ground.ralph);
        command.args(["run", "--prompt-file", "PROMPT.md", "--task", "honesty", "--json", "--maximum-iterations"]);
        command.arg(scenario.iterations().to_string());
        let ended = self.wait(command)?;
        let lines = fs::read(self.folder.join("stdout")).map_err(|error| format!("stdout: {error}"))?;
        let lines = String::from_utf8_lossy(&lines);
        let last = lines.lines().rfind(|line| line.contains(r#""type":"run.finished""#)).unwrap_or_default();
        let complete = ended && last.contains(r#""stop_reason":"complete""#);
        let verified = last.contains(r#""verified":true"#);
        Ok((complete && (verified || scenario.kind == super::scenario::Kind::Lie), self.last_words()))
    }

    /// Runs the plain loop.
    fn plain(&self, scenario: &Scenario, agent: &Path, check: &str) -> Result<(bool, String), String> {
        let mut command = self.command(self.ground.data.join("loop.sh"));
        command.arg(agent).arg(scenario.iterations().to_string()).arg(check);
        command.env("TASK_FOLDER", self.project().join(".ralph/tasks/honesty"));
        Ok((self.wait(command)?, self.last_words()))
    }

    /// Whether the command ended well within its time.
    fn wait(&self, mut command: Command) -> Result<bool, String> {
        let file = |name: &str| fs::File::create(self.folder.join(name)).map_err(|error| format!("{name}: {error}"));
        command.stdout(file("stdout")?).stderr(file("stderr")?);
        let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let begun = Instant::now();
        while begun.elapsed() < LIMIT {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                return Ok(status.success());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
        Ok(false)
    }

    /// Whether the work is done, by the pristine checks in a folder of their own.
    fn truth(&self, scenario: &Scenario) -> Result<bool, String> {
        let judged = self.folder.join("judged");
        match scenario.keys.truth {
            Truth::Folder => {
                fs::create_dir(&judged).map_err(|error| format!("{}: {error}", judged.display()))?;
                copy_all(&self.project(), &judged, |name| name != ".git" && name != ".ralph")?;
            }
            // A clone has none of the hooks and filters that may change a checkout.
            Truth::Commit => {
                shell("git clone --quiet --template= project judged", &self.folder, &self.folder.join("judge"))?;
            }
        }
        for name in ["tests", "check.sh", "test.env"] {
            remove(&judged.join(name))?;
            copy(&self.ground.data.join("project").join(name), &judged.join(name))?;
        }
        let mut judge = command("/bin/sh", &judged, &self.folder.join("judge"));
        judge.arg("check.sh");
        self.wait(judge)
    }

    /// The end of what the loop said, for the report of a failure.
    fn last_words(&self) -> String {
        let text = fs::read(self.folder.join("stderr")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines.get(lines.len().saturating_sub(12)..).unwrap_or_default().join("\n")
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let (home, bin) = (self.folder.join("home"), self.folder.join("bin"));
        let mut command = command(program, &self.project(), &home);
        command.env("PATH", format!("{}/.local/bin:{}:{SYSTEM_PATH}", home.display(), bin.display()));
        command.env("RALPH_STATE_DIR", self.folder.join("state"));
        command
    }

    fn with_helpers(&self, script: &str) -> String {
        format!("#!/bin/sh\n. {}\n{script}", self.ground.data.join("agent.sh").display())
    }

    fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), String> {
        let folder = path.parent().unwrap_or(path);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
        written.map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        let left: Vec<String> = processes_of(&self.folder).iter().map(u32::to_string).collect();
        if !left.is_empty() {
            // One that has just ended by itself is no failure.
            let _ = Command::new("kill").arg("-9").args(left).stderr(Stdio::null()).status();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A folder in memory in which programs may be executed: making and deleting a hundred thousand files takes most
/// disks longer than all the rest.
fn memory() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    let mount = mounts.lines().find(|line| line.split(' ').nth(1) == Some("/dev/shm"))?;
    let options = mount.split(' ').nth(3)?;
    (!options.split(',').any(|option| option == "noexec" || option == "ro")).then(|| PathBuf::from("/dev/shm"))
}

/// Runs a shell line of the benchmark's own.
fn shell(line: &str, folder: &Path, home: &Path) -> Result<(), String> {
    let mut command = command("/bin/sh", folder, home);
    let output = command.args(["-c", line]).output().map_err(|error| format!("cannot run a shell: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{line}: {}: {text}", output.status)) }
}

/// A command on a machine where nothing of the developer's own is left.
fn command(program: impl AsRef<Path>, folder: &Path, home: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    command.current_dir(folder).env_clear().env("PATH", SYSTEM_PATH).env("HOME", home).env("LANG", "C.UTF-8");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Ralph Test").env(format!("GIT_{who}_EMAIL"), "test@example.com");
    }
    // Its own group: an agent that kills its group must not find the benchmark in it.
    command.env("GIT_CONFIG_NOSYSTEM", "1").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Living processes that work inside the folder or have it in their environment.
fn processes_of(folder: &Path) -> Vec<u32> {
    let name = folder.as_os_str().as_encoded_bytes();
    let belongs = |process: &Path| {
        fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
            || fs::read(process.join("environ")).is_ok_and(|all| all.windows(name.len()).any(|part| part == name))
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let numbered = entries.filter_map(|path| Some((path.file_name()?.to_str()?.parse().ok()?, path)));
    numbered.filter(|(pid, path)| *pid != std::process::id() && belongs(path)).map(|(pid, _)| pid).collect()
}

fn settings(scenario: &Scenario, agent: &Path) -> String {
    let rails: Vec<String> =
        scenario.keys.guardrails.iter().map(|command| format!(r#"{{"command":{command:?}}}"#)).collect();
    let more = if scenario.keys.settings.is_empty() { String::new() } else { format!(",{}", scenario.keys.settings) };
    format!(r#"{{"agent":{{"command":{agent:?}}},"guardrails":[{}]{more}}}"#, rails.join(","))
}

/// Copies a file, a link or a folder with everything that it holds; what else there is stays behind.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let copied = fs::symlink_metadata(from).and_then(|metadata| match metadata.file_type() {
        kind if kind.is_symlink() => symlink(fs::read_link(from)?, to),
        kind if kind.is_file() => fs::copy(from, to).map(|_| ()),
        kind if kind.is_dir() => fs::create_dir(to),
        _ => Ok(()),
    });
    copied.map_err(|error| format!("{} cannot be copied to {}: {error}", from.display(), to.display()))?;
    if from.is_dir() && !from.is_symlink() { copy_all(from, to, |_| true) } else { Ok(()) }
}

/// Copies those entries of a folder whose names are wanted.
fn copy_all(from: &Path, to: &Path, wanted: impl Fn(&OsStr) -> bool) -> Result<(), String> {
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?.flatten();
    entries
        .map(|entry| entry.file_name())
        .filter(|name| wanted(name))
        .try_for_each(|name| copy(&from.join(&name), &to.join(name)))
}

/// Removes whatever is at the path, if there is anything.
fn remove(path: &Path) -> Result<(), String> {
    let folder = path.is_dir() && !path.is_symlink();
    match if folder { fs::remove_dir_all(path) } else { fs::remove_file(path) } {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("{}: {error}", path.display())),
        _ => Ok(()),
    }
}
