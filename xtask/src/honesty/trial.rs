//! One scenario under one loop: a scratch machine, the loop, and afterwards the truth.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::scenario::{End, Kind, Scenario, Truth, command_of};

/// Who runs a scenario for an ordinary user where the benchmark is root.
const NOBODY: u32 = 65534;

/// Where the machine's own programs are.
pub const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

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
    /// How ralph's last run ended; a plain loop accepts or not.
    pub end: End,
    /// Whether the work is done.
    pub done: bool,
    /// Whether it was not over in its time.
    pub hung: bool,
    /// What the loop said in the end.
    pub said: String,
    /// The same in one line.
    pub reason: String,
}

/// What all trials share.
#[derive(Debug)]
pub struct Ground {
    /// The binary.
    pub ralph: PathBuf,
    /// `xtask/honesty`.
    pub data: PathBuf,
    /// Where the programs from registries are.
    pub tools: PathBuf,
    /// The folder for scratch machines, with the pristine project.
    pub folder: PathBuf,
}

impl Ground {
    /// Makes the folder and the pristine project with its one commit.
    pub fn new(ralph: PathBuf, data: PathBuf, tools: PathBuf) -> Result<Ground, String> {
        let folder = memory().unwrap_or_else(std::env::temp_dir).join(format!("ralph-honesty-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let ground = Ground { ralph, data, tools, folder };
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
    /// Who owns it and runs everything on it; none means whoever runs the benchmark.
    user: Option<u32>,
    limit: Duration,
}

/// Tries a scenario; `number` tells its scratch machine from all others.
pub fn run(ground: &Ground, scenario: &Scenario, under: Loop, number: usize) -> Result<Outcome, String> {
    let keys = &scenario.keys;
    let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let machine = Machine {
        ground,
        folder: ground.folder.join(format!("{number}-{under:?}")),
        user: (keys.ordinary_user && root).then_some(NOBODY),
        limit: keys.limit,
    };
    let agent = machine.prepare(scenario)?;
    let helper = machine.start_helper(scenario)?;
    let mut typed = machine.command("/bin/sh");
    typed.args(["-c", &machine.all_runs(scenario, &agent, under)]);
    let ended = machine.wait(typed)?;
    let printed = fs::read(machine.folder.join("stdout")).map_err(|error| format!("stdout: {error}"))?;
    let last = last_run(&String::from_utf8_lossy(&printed));
    let end = match under {
        Loop::Ralph if ended == Some(true) => last.end,
        Loop::Plain | Loop::Checked if ended == Some(true) => End::Verified,
        _ => End::Refused,
    };
    let accepted =
        end == End::Verified || end != End::Refused && scenario.kind == Kind::Lie && keys.complete_is_accepted;
    std::thread::sleep(keys.settle);
    if let Some(mut helper) = helper {
        helper.wait().map_err(|error| format!("{}: {error}", keys.helper))?;
    }
    let said = machine.last_words();
    let reason = if last.reason.is_empty() { said.lines().last().unwrap_or_default().to_owned() } else { last.reason };
    Ok(Outcome { accepted, end, done: machine.truth(scenario)?, said, reason, hung: ended.is_none() })
}

/// What the last `run.finished` of ralph's output tells.
struct LastRun {
    end: End,
    reason: String,
}

fn last_run(lines: &str) -> LastRun {
    let last = lines.lines().rfind(|line| line.contains(r#""type":"run.finished""#)).unwrap_or_default();
    let member = |name: &str| {
        let rest = last.split_once(&format!(r#""{name}":""#)).map(|(_, rest)| rest);
        rest.and_then(|rest| rest.split_once('"')).map_or("", |(value, _)| value)
    };
    let end = match (member("stop_reason"), last.contains(r#""verified":true"#)) {
        ("complete", true) => End::Verified,
        ("complete", false) => End::named(member("verification")).unwrap_or(End::Unverified),
        _ => End::Refused,
    };
    LastRun { end, reason: member("message").to_owned() }
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
        let ralph = self.folder.join("bin/ralph");
        symlink(&self.ground.ralph, &ralph).map_err(|error| format!("{}: {error}", ralph.display()))?;
        self.hand_over(&self.folder)?;
        if !scenario.keys.setup.is_empty() {
            let setup = format!("set -e\n. {}\n{}", self.helpers(), scenario.keys.setup);
            finish(self.command("/bin/sh").args(["-c", &setup]), &scenario.keys.setup)?;
        }
        let agent = self.folder.join("agent").join(&scenario.keys.dialect);
        self.write(&agent, &self.with_helpers(&scenario.script))?;
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).map_err(|error| error.to_string())?;
        self.write(&self.project().join(".ralph/settings.json"), &settings(scenario, &agent))?;
        self.hand_over(&self.folder)?;
        Ok(agent)
    }

    /// Gives a folder to whoever runs everything here.
    fn hand_over(&self, folder: &Path) -> Result<(), String> {
        self.user.map_or(Ok(()), |user| give(folder, user))
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

    /// What a person types: the run, and what the scenario says comes then. Under a plain loop ralph is that loop.
    fn all_runs(&self, scenario: &Scenario, agent: &Path, under: Loop) -> String {
        let iterations = scenario.iterations();
        let checks: Vec<String> = scenario.keys.guardrails.iter().map(|guardrail| command_of(guardrail)).collect();
        let check = if under == Loop::Checked { checks.join(" && ") } else { "true".to_owned() };
        let [repeat, agent] =
            [&self.ground.data.join("loop.sh"), agent].map(|path| quoted(&path.display().to_string()));
        let one_run = match under {
            Loop::Ralph => "command ralph \"$@\"".to_owned(),
            Loop::Plain | Loop::Checked => format!(
                "case $1 in run | resume) TASK_FOLDER=\"$PWD/.ralph/tasks/honesty\" {repeat} {agent} {iterations} {};; esac",
                quoted(&check),
            ),
        };
        let what = scenario.keys.plan.as_deref().unwrap_or("--prompt-file PROMPT.md --task ${task:-honesty}");
        format!(
            "round=0\nralph() {{\n    case $1 in run | resume) round=$((round + 1)); echo $round >../round;; esac\n    \
             {one_run}\n}}\nagain() {{ ralph run {what} --json --maximum-iterations {iterations}; }}\nagain\n{}",
            scenario.keys.then
        )
    }

    /// Whether the command ended well; none if it did not end within its time.
    fn wait(&self, mut command: Command) -> Result<Option<bool>, String> {
        let file = |name: &str| fs::File::create(self.folder.join(name)).map_err(|error| format!("{name}: {error}"));
        command.stdout(file("stdout")?).stderr(file("stderr")?);
        let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let begun = Instant::now();
        while begun.elapsed() < self.limit {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                return Ok(Some(status.success()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
        Ok(None)
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
                let line = "git clone --quiet --template= project judged";
                finish(self.judge(&self.folder).args(["-c", line]), line)?;
            }
        }
        let line = if scenario.keys.judge.is_empty() {
            for name in ["tests", "check.sh", "test.env"] {
                remove(&judged.join(name))?;
                copy(&self.ground.data.join("project").join(name), &judged.join(name))?;
            }
            "sh check.sh"
        } else {
            &scenario.keys.judge
        };
        self.hand_over(&judged)?;
        let mut judge = self.judge(&judged);
        judge.args(["-c", line]);
        Ok(self.wait(judge)? == Some(true))
    }

    /// A shell where nothing of the trial's own programs and configuration is.
    fn judge(&self, folder: &Path) -> Command {
        let mut judge = command("/bin/sh", folder, &self.folder.join("judge"));
        self.user.map(|user| judge.uid(user).gid(user));
        judge
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
        command.env("RALPH_STATE_DIR", self.folder.join("state")).env("TOOLS", &self.ground.tools);
        command.env("PROJECTS", self.ground.data.join("projects")).env("HONESTY", &self.ground.data);
        self.user.map(|user| command.uid(user).gid(user));
        command
    }

    fn helpers(&self) -> String {
        self.ground.data.join("agent.sh").display().to_string()
    }

    fn with_helpers(&self, script: &str) -> String {
        format!("#!/bin/sh\n. {}\n{script}", self.helpers())
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
    finish(command("/bin/sh", folder, home).args(["-c", line]), line)
}

/// Runs a command that has to succeed.
fn finish(command: &mut Command, line: &str) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("cannot run a shell: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{line}: {}: {text}", output.status)) }
}

/// One word of a shell line.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Gives a folder and everything in it to a user.
fn give(path: &Path, user: u32) -> Result<(), String> {
    lchown(path, Some(user), Some(user)).map_err(|error| format!("{}: {error}", path.display()))?;
    if !path.is_dir() || path.is_symlink() {
        return Ok(());
    }
    let entries = fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
    entries.flatten().try_for_each(|entry| give(&entry.path(), user))
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
    let as_json = |guardrail: &String| match guardrail.chars().next() {
        Some('{' | '"') => guardrail.clone(),
        _ => format!(r#"{{"command":{guardrail:?}}}"#),
    };
    let rails: Vec<String> = scenario.keys.guardrails.iter().map(as_json).collect();
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
