//! The scratch machine of one test.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::invocation::Invocation;
use crate::processes::{Process, eventually, processes_of};
use crate::{binaries, repository, sys};

/// A temporary folder with `home/`, `state/`, `bin/` (first in PATH) and `project/`, which has one commit
/// and settings that name the scripted agent. Dropping it ends every process that was started in it.
pub struct TestEnv {
    _folder: TempDir,
    root: PathBuf,
    ralph: PathBuf,
    agent: PathBuf,
    settings: Mutex<Value>,
}

impl TestEnv {
    /// A machine for this binary: tests of ralph pass `env!("CARGO_BIN_EXE_ralph")`.
    pub fn new(ralph: impl AsRef<Path>) -> TestEnv {
        let ralph = fs::canonicalize(ralph.as_ref()).expect("the binary under test exists");
        let agent = binaries::scripted_agent(&ralph);
        let mut folder = tempfile::Builder::new().prefix("ralph-test-").tempdir().unwrap();
        // To look around in afterwards: RALPH_TEST_KEEP=1 cargo test …
        folder.disable_cleanup(std::env::var_os("RALPH_TEST_KEEP").is_some());
        let root = fs::canonicalize(folder.path()).unwrap();
        for name in ["home", "state", "bin", "project"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        repository::create(&root.join("project"));
        fs::write(root.join("script"), "").unwrap();
        let settings = Mutex::new(json!({ "agent": { "command": agent } }));
        let env = TestEnv { _folder: folder, root, ralph, agent, settings };
        env.write_settings();
        env
    }

    /// The project is no git repository.
    pub fn without_git(self) -> TestEnv {
        fs::remove_dir_all(self.path(".git")).unwrap();
        self
    }

    /// The project has no `.ralph` folder.
    pub fn without_settings(self) -> TestEnv {
        fs::remove_dir_all(self.path(".ralph")).unwrap();
        self
    }

    /// What the scripted agent does from now on.
    pub fn script(&self, script: &str) -> &TestEnv {
        fs::write(self.script_path(), script).unwrap();
        self
    }

    /// Merges these settings over those in force, as ralph merges its own files: objects merge, arrays
    /// and scalars replace.
    pub fn settings(&self, settings: Value) -> &TestEnv {
        merge(&mut self.settings.lock().unwrap(), settings);
        self.write_settings();
        self
    }

    /// Checks run in the project itself, so that what they write there can be seen.
    pub fn live(&self) -> &TestEnv {
        self.settings(json!({ "verify": { "snapshot": "off" } }))
    }

    /// Adds a guardrail with fail action APPEND.
    pub fn guardrail(&self, command: &str) -> &TestEnv {
        let mut guardrails = self.settings.lock().unwrap().get("guardrails").cloned().unwrap_or_else(|| json!([]));
        guardrails.as_array_mut().unwrap().push(json!({ "command": command, "failAction": "APPEND" }));
        self.settings(json!({ "guardrails": guardrails }))
    }

    /// The scripted agent stands under the name of a real one (`claude`, `codex`, …) and thus speaks
    /// its dialect; it is also found by that name in PATH.
    pub fn agent_as(&self, name: &str) -> &TestEnv {
        let path = self.root.join("bin").join(name);
        symlink(&self.agent, &path).unwrap();
        self.settings(json!({ "agent": { "command": path } }))
    }

    /// Puts a small program into PATH.
    pub fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.join("bin").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// One run of the binary, in the project.
    pub fn ralph<I>(&self, arguments: I) -> Invocation<'_>
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        Invocation::new(self, arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect())
    }

    /// Runs git in the project and gives its stdout; fails the test if git fails.
    #[track_caller]
    pub fn git<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> String {
        repository::git(&self.project(), &self.root.join("home"), arguments)
    }

    /// A file's text; the path is relative to the project.
    #[track_caller]
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.path(path);
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Writes a file, with its folders; the path is relative to the project.
    pub fn write(&self, path: impl AsRef<Path>, text: &str) -> &TestEnv {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Whether anything is at the path, which is relative to the project.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        fs::symlink_metadata(self.path(path)).is_ok()
    }

    /// The number that a script's `pidfile`, `daemonise` and the like wrote.
    #[track_caller]
    pub fn read_pid(&self, path: impl AsRef<Path>) -> u32 {
        let mut pid = None;
        // A shell makes the file before it writes into it.
        let is_there = eventually(Duration::from_secs(10), || {
            pid = self.read(&path).trim().parse().ok();
            pid.is_some()
        });
        assert!(is_there, "no process id: {:?}", self.read(&path));
        pid.unwrap_or_default()
    }

    /// Living processes that were started by runs in this environment, directly or not.
    pub fn processes(&self) -> Vec<Process> {
        processes_of(&format!("RALPH_TEST_SCRIPT={}", self.script_path().display()), &self.root)
    }

    /// Kills them all.
    pub fn end_processes(&self) {
        for process in self.processes() {
            sys::signal(process.pid, libc::SIGKILL);
        }
    }

    /// A path inside the project; an absolute one stays as it is.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.project().join(path)
    }

    /// The folder that holds everything.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The project: where ralph runs.
    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// `$RALPH_STATE_DIR`.
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// `$HOME`.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The script's file, for an agent that is to find it by `--script`.
    pub fn script_path(&self) -> PathBuf {
        self.root.join("script")
    }

    /// The scripted agent itself.
    pub fn agent_path(&self) -> &Path {
        &self.agent
    }

    /// The binary under test.
    pub(crate) fn ralph_path(&self) -> &Path {
        &self.ralph
    }

    /// The whole environment of a run.
    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut path = self.root.join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
        let mut all: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), path),
            ("HOME".into(), self.home().into()),
            ("RALPH_STATE_DIR".into(), self.state().into()),
            ("RALPH_TEST_SCRIPT".into(), self.script_path().into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
        ];
        all.extend(repository::IDENTITY.map(|(name, value)| (name.into(), value.into())));
        all
    }

    /// The text with this environment's folders under names that do not change from run to run.
    pub(crate) fn normalise(&self, text: &str) -> String {
        let named = [("project", "[PROJECT]"), ("state", "[STATE]"), ("home", "[HOME]")];
        let text = named.iter().fold(text.to_owned(), |text, (folder, name)| {
            text.replace(&*self.root.join(folder).to_string_lossy(), name)
        });
        text.replace(&*self.root.to_string_lossy(), "[ROOT]")
    }

    fn write_settings(&self) {
        let text = serde_json::to_string_pretty(&*self.settings.lock().unwrap()).unwrap();
        self.write(".ralph/settings.json", &(text + "\n"));
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        self.end_processes();
    }
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}
