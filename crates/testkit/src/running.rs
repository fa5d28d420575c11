//! A run in progress, and what is known when it has ended.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::capture::Capture;
use crate::child::Child;
use crate::environment::TestEnv;
use crate::expectation::{Expectation, Free};
use crate::output::Output;
use crate::processes::eventually;

/// After its end nothing of ralph's may hold its output open; the kernel needs a moment, not this long.
const DRAIN: Duration = Duration::from_secs(2);

/// A started run, which [`Self::finish`] must end. Every wait ends with the run's time limit, and the run
/// of a test that fails is killed.
pub struct Running<'e> {
    env: &'e TestEnv,
    child: Child,
    stdout: Capture,
    stderr: Capture,
    plan: Plan,
    begun: Instant,
    finished: bool,
}

/// What a run was started with.
pub(crate) struct Plan {
    /// What must come of it.
    pub expected: Mutex<Expectation>,
    /// Which lines of its stderr need no statement.
    pub free: Free,
    /// Its command line, for people.
    pub title: String,
    /// When it counts as hung.
    pub limit: Duration,
    /// Where strace writes, if it runs under strace.
    pub trace: Option<PathBuf>,
}

impl<'e> Running<'e> {
    pub(crate) fn new(env: &'e TestEnv, child: Child, [stdout, stderr]: [Capture; 2], plan: Plan) -> Running<'e> {
        Running { env, child, stdout, stderr, plan, begun: Instant::now(), finished: false }
    }

    /// Its process id (under strace: that of strace).
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Sends a signal to the process alone; false if it has ended.
    pub fn signal(&self, signal: i32) -> bool {
        self.child.signal(signal)
    }

    /// Kills it as a crash would: SIGKILL, to it alone.
    pub fn kill9(&self) {
        self.child.signal(libc::SIGKILL);
    }

    /// What it has printed to stdout so far.
    pub fn stdout_so_far(&self) -> String {
        self.stdout.text()
    }

    /// What it has printed to stderr so far.
    pub fn stderr_so_far(&self) -> String {
        self.stderr.text()
    }

    /// Waits until stdout has this text, which is thereby stated; fails the test if it ends without.
    #[track_caller]
    pub fn wait_for_stdout(&self, text: &str) {
        self.plan.expected.lock().unwrap().stdout.has(text);
        if !self.stdout.wait_for(text, self.deadline()) {
            self.fail(&format!("stdout never had: {text}"));
        }
    }

    /// Waits until stderr has this text, which is thereby stated; fails the test if it ends without.
    #[track_caller]
    pub fn wait_for_stderr(&self, text: &str) {
        self.plan.expected.lock().unwrap().stderr.has(text);
        if !self.stderr.wait_for(text, self.deadline()) {
            self.fail(&format!("stderr never had: {text}"));
        }
    }

    /// Waits until the file exists, relative to the project; fails the test if the run ends without.
    #[track_caller]
    pub fn wait_for_file(&self, path: impl AsRef<Path>) {
        let mut ended = false;
        let appeared = || self.env.exists(&path);
        // The end is noticed before the last look: the file may be the last thing the run does.
        let decided = eventually(self.deadline() - Instant::now(), || {
            let over = ended;
            ended = self.child.wait(Instant::now()).is_some();
            appeared() || over
        });
        if !decided || !appeared() {
            self.fail(&format!("{} never appeared", path.as_ref().display()));
        }
    }

    /// Waits until the condition holds; `what` names it in the report of a failure.
    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: impl FnMut() -> bool) {
        if !eventually(self.deadline() - Instant::now(), condition) {
            self.fail(&format!("never: {what}"));
        }
    }

    /// Waits for the end and checks everything that was stated.
    #[track_caller]
    pub fn finish(mut self) -> Finished {
        let Some(status) = self.child.wait(self.deadline()) else {
            self.fail(&format!("it did not end within {:?}", self.plan.limit));
        };
        let took = self.begun.elapsed();
        let deadline = Instant::now() + DRAIN;
        if !self.stdout.wait_for_end(deadline) || !self.stderr.wait_for_end(deadline) {
            self.fail(&format!("it ended with {status}, and something still holds its output"));
        }
        let expected = self.plan.expected.lock().unwrap().clone();
        let normalise = |text: &str| self.env.normalise(text);
        let (stdout, stderr) = (self.stdout.text(), self.stderr.text());
        // Whoever stated nothing about stdout may still read it.
        let (page, unread) = match expected.stdout.says_something() {
            true => (Free::Page, None),
            false => (Free::All, Some(format!("{}: $ {}", Location::caller(), self.plan.title))),
        };
        let complaint = (expected.end.complaint(status))
            .or_else(|| expected.stdout.complaint("stdout", page, &stdout, normalise))
            .or_else(|| expected.stderr.complaint("stderr", self.plan.free, &stderr, normalise));
        if let Some(complaint) = complaint {
            self.fail(&complaint);
        }
        self.finished = true;
        let trace = self.plan.trace.as_ref().map(|file| fs::read_to_string(file).unwrap_or_default());
        let stdout = Output::new(self.stdout.bytes(), unread);
        Finished { status, stdout, stderr, took, trace }
    }

    /// Kills it as a crash would, and waits until everything that it had started is gone too: until then
    /// nobody knows whether the next run will find something left alive.
    #[track_caller]
    pub fn crash(self) {
        let env = self.env;
        self.kill9();
        self.finish();
        assert!(eventually(DRAIN * 3, || env.processes().is_empty()), "alive: {:?}", env.processes());
    }

    fn deadline(&self) -> Instant {
        (self.begun + self.plan.limit).max(Instant::now())
    }

    /// Fails the test with everything that is known. The run and all it started die with it.
    #[track_caller]
    fn fail(&self, complaint: &str) -> ! {
        let mut report = format!("{complaint}\n\n$ {}\n", self.plan.title);
        let status = self.child.wait(Instant::now());
        let _ = writeln!(
            report,
            "after {:?}: {}",
            self.begun.elapsed(),
            status.map_or("running".into(), |s| s.to_string())
        );
        let _ = writeln!(report, "--- stdout\n{}", self.env.normalise(&self.stdout.text()));
        let _ = writeln!(report, "--- stderr\n{}", self.env.normalise(&self.stderr.text()));
        for process in self.env.processes() {
            let _ = writeln!(report, "--- alive: {} {}", process.pid, self.env.normalise(&process.command));
        }
        let _ = writeln!(report, "--- [PROJECT]/.ralph\n{}", tree(&self.env.path(".ralph")));
        let _ = writeln!(report, "--- [STATE]\n{}", tree(&self.env.state()));
        self.end();
        panic!("{report}");
    }

    fn end(&self) {
        self.child.kill_group();
        self.env.end_processes();
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.end();
            self.child.wait(Instant::now() + DRAIN);
            assert!(std::thread::panicking(), "nobody waited for the end of: {}", self.plan.title);
        }
    }
}

/// A run that has ended as stated.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// All of stdout. If the test did not state it, it must read it.
    pub stdout: Output,
    /// All of stderr, wrong UTF-8 replaced. Reading it states nothing.
    pub stderr: String,
    /// From start to end.
    pub took: Duration,
    /// What strace wrote, if it ran under strace.
    pub trace: Option<String>,
}

impl Finished {
    /// The exit code; 128 and the signal's number if a signal ended it.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// The signal that ended it.
    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    /// The objects of stdout, one a line.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        json_lines(&self.stdout)
    }
}

/// Reads one JSON value a line; fails the test at a line that is none.
#[track_caller]
pub fn json_lines(text: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in line: {line}"));
    text.lines().map(parse).collect()
}

/// The files below a folder with their sizes, one a line.
fn tree(folder: &Path) -> String {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(metadata) = entry.metadata() else { continue };
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            if metadata.is_dir() {
                folders.push(path);
            } else {
                found.push(format!("{name} ({} bytes)", metadata.len()));
            }
        }
    }
    found.sort();
    if found.is_empty() { "(nothing)".to_owned() } else { found.join("\n") }
}
