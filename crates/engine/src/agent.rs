//! One agent process: the dialect says how to start it and what its lines mean, host runs it, and
//! what it amounted to comes back as one observation.

use crate::activity::{Links, World};
use crate::face::Face;
use ralph_agents::{CommandLine, Delivery, End, LineKind, Reader, SideFile};
use ralph_core::agent_event::AgentEvent;
use ralph_core::effect::{Launch, Purpose};
use ralph_core::event::Event;
use ralph_core::observation::{Marker, Observation, Observer, ProcessFacts};
use ralph_core::policy::Policy;
use ralph_host::clock::{self, Clock};
use ralph_host::lines::{Line, LineSplitter};
use ralph_host::marker;
use ralph_host::process::Command;
use ralph_host::process::drive::{Job, Sink, Streams, drive};
use ralph_host::raw_log::RawLog;
use ralph_host::side_file;
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use tokio::sync::mpsc::UnboundedSender;

/// Runs the agent once.
pub(crate) async fn run(world: &mut World, policy: &Policy, launch: &Launch, links: Links<'_>) -> Vec<Event> {
    let Links { face, orders, alarm } = links;
    let mut events = Vec::new();
    if launch.purpose == Purpose::Work {
        events.extend(remove_old_marker(world));
    }
    let prompt_file = world.folder.write_prompt(launch.iteration, launch.purpose, &launch.prompt);
    if let Err(error) = &prompt_file {
        events.push(Event::Noted { text: format!("the prompt could not be written to .ralph: {error}") });
    }
    let dialect = ralph_agents::for_agent(&launch.agent);
    let line = dialect.command(&launch.agent);
    let (command, stdin) = command(world, launch, line, prompt_file.ok());
    // What is asked for beside the work is answered by the last message alone.
    let (messages, log) = match launch.purpose {
        Purpose::Work => (policy.memory.last_messages, ""),
        Purpose::CommitMessage => (1, "commit."),
    };
    let mut sink = AgentSink {
        iteration: launch.iteration,
        reader: dialect.reader(&launch.agent, &launch.prompt),
        observer: Observer::new(&world.patterns, messages),
        splitter: LineSplitter::default(),
        events: Vec::new(),
        stdout_log: RawLog::new(&world.run_folder, launch.iteration, &format!("{log}stdout")),
        stderr_log: RawLog::new(&world.run_folder, launch.iteration, &format!("{log}stderr")),
        face,
        clock: world.clock.clone(),
        shows: face.borrow().wants_agent_events(),
        budget: Budget { cost_left: launch.cost_left, tokens_left: launch.tokens_left, alarm, told: false },
    };
    let job = Job {
        command: &command,
        stdin: &stdin,
        streams: Streams::Apart,
        timeout: launch.timeout,
        idle: launch.idle,
        linger: launch.linger,
    };
    let facts = drive(&mut world.keeper, &job, &mut sink, orders).await;
    events.extend(world.notes());
    let marker = match launch.purpose {
        Purpose::Work => marker::look(world.folder.task_folder()),
        Purpose::CommitMessage => Marker::Absent,
    };
    let read_side_file = |file: &SideFile| side_file_of(world, &command, file);
    events.push(Event::AgentEnded(Box::new(sink.finish(facts, marker, read_side_file))));
    events
}

/// A marker from before this process is not this process's claim.
fn remove_old_marker(world: &World) -> Option<Event> {
    let text = match marker::remove(world.folder.task_folder()) {
        Ok(false) => return None,
        Ok(true) => "a DONE file left from earlier was removed: only this iteration's own counts".to_owned(),
        Err(error) => format!("a DONE from earlier could not be removed: {error}"),
    };
    Some(Event::Noted { text })
}

/// The end of a file that the agent's program wrote, where the agent itself would look for it.
fn side_file_of(world: &World, command: &Command, file: &SideFile) -> Vec<u8> {
    let variable = |name: &str| {
        let set = command.set.iter().rev().find(|(set, _)| set == name).map(|(_, value)| value.clone());
        let removed = command.remove.iter().any(|removed| removed == name);
        set.or_else(|| (world.variable)(name).filter(|_| !removed)).filter(|value| !value.is_empty()).map(PathBuf::from)
    };
    let folder = variable(file.variable).or_else(|| Some(variable("HOME")?.join(file.below_home)));
    folder.map(|folder| side_file::tail(&folder.join(file.folder), &file.suffix)).unwrap_or_default()
}

/// The command as host starts it, and what to write to its standard input.
fn command(world: &World, launch: &Launch, line: CommandLine, prompt_file: Option<PathBuf>) -> (Command, Vec<u8>) {
    let mut args: Vec<OsString> = line.args.into_iter().map(OsString::from).collect();
    let mut stdin = Vec::new();
    match (line.delivery, prompt_file) {
        (Delivery::File, Some(path)) => args.push(path.into()),
        (Delivery::LastArg, _) => args.push(launch.prompt.clone().into()),
        (Delivery::Stdin | Delivery::File, _) => stdin = launch.prompt.clone().into_bytes(),
    }
    let task_folder = world.folder.task_folder();
    let mut set: Vec<(OsString, OsString)> = vec![
        ("RALPH_RUN_ID".into(), world.run.as_str().into()),
        ("RALPH_ITERATION".into(), launch.iteration.to_string().into()),
        ("RALPH_TASK_DIR".into(), task_folder.into()),
        ("TASK_FOLDER".into(), task_folder.into()),
        ("MESSAGE_BUS".into(), task_folder.join("TASK-MESSAGE-BUS.md").into()),
    ];
    set.extend(world.temp.as_ref().map(|temp| ("TMPDIR".into(), temp.path().into())));
    let remove =
        line.env_remove.into_iter().chain(launch.agent.env_remove.iter().cloned()).map(OsString::from).collect();
    set.extend(line.env.into_iter().map(|(name, value)| (name.into(), value.into())));
    // What a person wrote in the settings stands last and so wins.
    set.extend(launch.agent.env.iter().map(|(name, value)| (name.into(), value.into())));
    (Command { program: line.program.into(), args, folder: world.root.clone(), set, remove }, stdin)
}

struct AgentSink<'a> {
    iteration: u32,
    reader: Box<dyn Reader>,
    observer: Observer,
    splitter: LineSplitter,
    events: Vec<AgentEvent>,
    stdout_log: RawLog,
    stderr_log: RawLog,
    face: &'a RefCell<dyn Face>,
    clock: Clock,
    shows: bool,
    budget: Budget<'a>,
}

/// Raises the alarm once when a running agent passes what is left of the budget.
struct Budget<'a> {
    cost_left: f64,
    tokens_left: u64,
    alarm: &'a UnboundedSender<Event>,
    told: bool,
}

impl Budget<'_> {
    fn watch(&mut self, observer: &Observer) {
        let (cost, tokens) = observer.spent();
        let over = self.cost_left > 0.0 && cost.is_some_and(|cost| cost > self.cost_left)
            || self.tokens_left > 0 && tokens.total() > self.tokens_left;
        if over && !self.told {
            self.told = true;
            let _ = self.alarm.send(Event::BudgetUp);
        }
    }
}

impl AgentSink<'_> {
    fn finish(mut self, facts: ProcessFacts, marker: Marker, read: impl Fn(&SideFile) -> Vec<u8>) -> Observation {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.finish(|line| self.read_line(line));
        self.reader.end(&mut self.events);
        self.pass_on();
        let side_file = self.reader.side_file().map(|file| read(&file)).unwrap_or_default();
        let failure = self.reader.failure(&End {
            ending: &facts.ending,
            stderr_tail: &facts.stderr_tail,
            heard: self.observer.has_text(),
            done_marker: marker == Marker::Present,
            side_file: &side_file,
            now: self.clock.now(),
            zone: &clock::epoch_seconds,
        });
        self.observer.finish(facts, marker, failure)
    }

    /// A line's events are gone before those of the next are made: they take the same memory again.
    fn read_line(&mut self, line: Line<'_>) {
        match line {
            Line::Whole(line) => {
                if self.reader.line(line, &mut self.events) == LineKind::Noise {
                    self.observer.saw_noise();
                }
            }
            Line::TooLong(head) => {
                self.observer.saw_long_line();
                self.reader.long_line(head, &mut self.events);
            }
        }
        self.pass_on();
    }

    fn pass_on(&mut self) {
        for event in &self.events {
            self.observer.see(event);
        }
        if self.shows && !self.events.is_empty() {
            let at = self.clock.now();
            let mut face = self.face.borrow_mut();
            for event in &self.events {
                face.agent_event(at, self.iteration, event);
            }
        }
        self.events.clear();
    }
}

impl Sink for AgentSink<'_> {
    fn stdout(&mut self, bytes: &[u8]) {
        self.stdout_log.write(bytes);
        self.face.borrow_mut().heard(self.clock.now());
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.feed(bytes, |line| self.read_line(line));
        self.splitter = splitter;
        // After the final result the process is as good as gone, and its work is worth judging.
        if !self.reader.has_result() {
            self.budget.watch(&self.observer);
        }
    }

    fn stderr(&mut self, bytes: &[u8]) {
        self.stderr_log.write(bytes);
        let mut face = self.face.borrow_mut();
        face.heard(self.clock.now());
        face.agent_stderr(bytes);
    }

    fn has_result(&self) -> bool {
        self.reader.has_result()
    }
}
