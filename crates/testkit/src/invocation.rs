//! One run of ralph: its arguments, its surroundings, and what must come of it.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use crate::capture::Capture;
use crate::child::Child;
use crate::environment::TestEnv;
use crate::expectation::{End, Expectation, Free};
use crate::model_server::{Handover, ModelServer, Network};
use crate::narration;
use crate::running::{Finished, Plan, Running};
use crate::strace::{Fault, Injection};
use crate::sys::{self, Preparation};
use crate::terminal::{self, Terminal};

/// No run of a test takes longer; one that does hangs.
const LIMIT: Duration = Duration::from_secs(30);

/// A run that has not begun. Nothing stated about a stream means that it must stay empty; nothing stated
/// about the end means exit code 0.
#[must_use = "nothing runs until `run`, `spawn` or `spawn_on_terminal`"]
pub struct Invocation<'e> {
    env: &'e TestEnv,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, Option<OsString>)>,
    stdin: Option<Vec<u8>>,
    folder: PathBuf,
    limit: Duration,
    preparations: Vec<Preparation>,
    wrapper: Vec<OsString>,
    injection: Option<Injection>,
    model: Option<ModelServer>,
    expected: Expectation,
}

impl<'e> Invocation<'e> {
    pub(crate) fn new(env: &'e TestEnv, arguments: Vec<OsString>) -> Invocation<'e> {
        Invocation {
            env,
            arguments,
            variables: Vec::new(),
            stdin: None,
            folder: env.project(),
            limit: LIMIT,
            preparations: vec![Preparation::CleanStart],
            wrapper: Vec::new(),
            injection: None,
            model: None,
            expected: Expectation::default(),
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Sets a variable of its environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Takes a variable out of its environment.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.as_ref().to_owned(), None));
        self
    }

    /// What it reads on stdin; without this stdin is empty.
    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    /// Runs in another folder than the project; relative to it.
    pub fn current_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = self.env.path(folder);
        self
    }

    /// Another time limit than 30 s.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Starts with this signal ignored, as `nohup` and careless parents do.
    pub fn ignoring(mut self, signal: i32) -> Self {
        self.preparations.push(Preparation::Ignore(signal));
        self
    }

    /// Starts with this signal blocked.
    pub fn blocking(mut self, signal: i32) -> Self {
        self.preparations.push(Preparation::Block(signal));
        self
    }

    /// Starts with room for only so many open files, as `ulimit -n`.
    pub fn open_files(mut self, number: u64) -> Self {
        self.preparations.push(Preparation::OpenFiles(number));
        self
    }

    /// Runs below another command, such as `unshare --net`.
    pub fn under<I>(mut self, words: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        self.wrapper.extend(words.into_iter().map(|word| word.as_ref().to_owned()));
        self
    }

    /// Runs under strace, which spoils a system call of ralph and of every process below it: `when` is
    /// `3` for the third such call, `3+` for it and all later ones. Each process counts its own calls.
    pub fn inject(mut self, syscall: &str, when: impl ToString, fault: Fault) -> Self {
        self.injection = Some(Injection::new(syscall, when.to_string(), fault, self.env.root()));
        self
    }

    /// With [`Self::inject`]: spoils only the calls of ralph's main thread.
    pub fn without_following(mut self) -> Self {
        self.injection.as_mut().expect("`inject` comes first").follow = false;
        self
    }

    /// Cuts it off from every network but its own loopback, where this server answers.
    pub fn with_model(mut self, server: &ModelServer) -> Self {
        self.model = Some(server.clone());
        self
    }

    /// States the whole of stdout; `[..]` stands for anything within a line.
    pub fn stdout(mut self, text: impl Into<String>) -> Self {
        self.expected.stdout.exactly(text.into());
        self
    }

    /// States a part of stdout; may be repeated.
    pub fn stdout_has(mut self, text: &str) -> Self {
        self.expected.stdout.has(text);
        self
    }

    /// States what stdout does not contain; may be repeated.
    pub fn stdout_lacks(mut self, text: &str) -> Self {
        self.expected.stdout.lacks(text);
        self
    }

    /// States how the block begins that tells how a run ended: `complete · verified`, `max-iterations`.
    pub fn ends(self, words: &str) -> Self {
        self.stdout_has(&format!("\n{words}[..]\n  "))
    }

    /// States the whole of stderr; `[..]` stands for anything within a line.
    pub fn stderr(mut self, text: impl Into<String>) -> Self {
        self.expected.stderr.exactly(text.into());
        self
    }

    /// States a part of stderr; may be repeated.
    pub fn stderr_has(mut self, text: &str) -> Self {
        self.expected.stderr.has(text);
        self
    }

    /// States what stderr does not contain; may be repeated.
    pub fn stderr_lacks(mut self, text: &str) -> Self {
        self.expected.stderr.lacks(text);
        self
    }

    /// Leaves stderr open, for this reason.
    pub fn stderr_unchecked(mut self, reason: &'static str) -> Self {
        self.expected.stderr.unchecked(reason);
        self
    }

    /// States the exit code.
    pub fn code(mut self, code: i32) -> Self {
        self.expected.end = End::Code(code);
        self
    }

    /// States that a signal ends it.
    pub fn killed_by(mut self, signal: i32) -> Self {
        self.expected.end = End::Signal(signal);
        self
    }

    /// Leaves open how it ends.
    pub fn any_end(mut self) -> Self {
        self.expected.end = End::Any;
        self
    }

    /// Runs it to its end and checks everything that was stated.
    #[track_caller]
    pub fn run(self) -> Finished {
        self.spawn().finish()
    }

    /// Starts it; [`Running::finish`] checks what was stated.
    #[track_caller]
    pub fn spawn(mut self) -> Running<'e> {
        let stdin = self.stdin.take();
        let mut command = self.command();
        command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let network = self.own_network();
        sys::prepare(&mut command, std::mem::take(&mut self.preparations));
        let (child, pipes) = Child::start(&mut command).unwrap_or_else(|error| panic!("{command:?}: {error}"));
        if let Some((server, handover)) = network {
            server.serve(handover.listener().expect("the run's network has a socket"));
        }
        if let (Some(mut pipe), Some(text)) = (pipes.stdin, stdin) {
            // In a thread: a program that does not read must not hold the test. A closed pipe is its choice.
            std::thread::spawn(move || pipe.write_all(&text));
        }
        let (stdout, stderr) = (Capture::of(pipes.stdout.unwrap()), Capture::of(pipes.stderr.unwrap()));
        self.running(child, stdout, stderr)
    }

    /// Starts it on a terminal of this size. All it prints there is its stdout; `TERM` is set.
    #[track_caller]
    pub fn spawn_on_terminal(mut self, columns: u16, rows: u16) -> Terminal<'e> {
        assert!(self.model.is_none(), "a model server is for runs without a terminal");
        if !self.variables.iter().any(|(name, _)| name == "TERM") {
            self.variables.insert(0, ("TERM".into(), Some("xterm-256color".into())));
        }
        let (mut command, preparations) = (self.command(), std::mem::take(&mut self.preparations));
        let (child, screen) = terminal::start(&mut command, preparations, columns, rows);
        let nothing = Capture::of(std::io::empty());
        let output = screen.output.clone();
        Terminal::new(self.running(child, output, nothing), screen)
    }

    /// Prepares the network of this run, if it is to have its own.
    fn own_network(&mut self) -> Option<(ModelServer, Handover)> {
        let server = self.model.take().filter(|server| matches!(server.network(), Network::Own))?;
        let handover = Handover::new().expect("a pair of sockets can be opened");
        self.preparations.push(handover.preparation());
        Some((server, handover))
    }

    fn running(self, child: Child, stdout: Capture, stderr: Capture) -> Running<'e> {
        let title = self.title();
        let trace = self.injection.map(|injection| injection.file);
        let narrates = narration::is_told_by(self.arguments.iter().filter_map(|argument| argument.to_str()));
        let free = if narrates { Free::Narration } else { Free::None };
        let plan = Plan { expected: Mutex::new(self.expected), free, title, limit: self.limit, trace };
        Running::new(self.env, child, [stdout, stderr], plan)
    }

    fn command(&self) -> Command {
        let traced = self.injection.iter().flat_map(Injection::words);
        let mut words = self.wrapper.iter().cloned().chain(traced).chain([self.env.ralph_path().into()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command.args(&self.arguments).current_dir(&self.folder).env_clear().envs(self.env.variables());
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// The command line as a person would type it, for the report of a failure.
    fn title(&self) -> String {
        let mut title = "ralph".to_owned();
        for argument in &self.arguments {
            let _ = write!(title, " {}", argument.to_string_lossy());
        }
        title
    }
}
