//! One agent process: the dialect says how to start it and what its lines mean, host runs it, and
//! what it amounted to comes back as one observation.

use super::RunHands;
use super::face::Face;
use crate::carry::{Links, at};
use ralph_agents::{CommandLine, Delivery, Detail, End, LineKind, Reader, SideFile, Told};
use ralph_core::activity::{AgentLog, HookUse, Launch, MarkerUse};
use ralph_core::event::Event;
use ralph_core::id::RunId;
use ralph_core::observation::{Marker, Markers, Observation, Observer, ProcessFacts};
use ralph_core::plan::skill;
use ralph_core::policy::AgentPolicy;
use ralph_core::words::Note;
use ralph_host::clock::{self, Clock};
use ralph_host::folder_watch::FolderWatch;
use ralph_host::lines::{Line, LineSplitter};
use ralph_host::marker;
use ralph_host::process::Command;
use ralph_host::process::drive::{Chunk, Job, Order, Sink, Streams, drive_started, start};
use ralph_host::raw_log::{ProcessLog, Stream};
use ralph_host::views::ViewError;
use ralph_host::{child_runs, identity, look, side_file};
use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::Instant;

/// Most agents end at once after DONE, and nothing need be said then.
const SOON: Duration = Duration::from_secs(1);

/// Runs the agent once.
pub(super) async fn run(hands: &mut RunHands<'_>, launch: &Launch, mut links: Links<Event>) -> Vec<Event> {
    let (face, alarm) = (hands.face, &links.alarm);
    let mut events = Vec::new();
    if launch.markers == MarkerUse::Claim {
        events.extend(remove_old_marker(hands));
    }
    let prompt_file = show_prompt(hands, launch, &mut events);
    let dialect = ralph_agents::for_agent(&launch.agent);
    let line = command_line(&hands.root, &launch.agent, launch.hooks);
    let (command, stdin) = command(hands, launch, line, prompt_file);
    let job = Job {
        command: &command,
        stdin,
        streams: Streams::Apart,
        timeout: launch.limits.timeout,
        idle: launch.limits.idle,
        linger: launch.limits.linger,
    };
    let start = start(&mut hands.keeper, &job);
    // From here on the process takes its time to begin, and nobody waits for what is done meanwhile.
    let log = hands.raw_log.begin(launch.iteration);
    let streams = match launch.keep.log {
        AgentLog::Work => (Stream::Stdout, Stream::Stderr),
        AgentLog::CommitMessage => (Stream::CommitStdout, Stream::CommitStderr),
    };
    let done = Cell::new(false);
    let shows = face.borrow().wants_agent_events();
    let mut sink = AgentSink {
        iteration: launch.iteration,
        reader: dialect.reader(&launch.agent, &launch.prompt),
        observer: Observer::new(&hands.patterns, launch.keep.messages),
        splitter: LineSplitter::default(),
        events: Told::new(if shows { Detail::Shown } else { Detail::Unseen }),
        log,
        streams,
        face,
        clock: hands.clock.clone(),
        shows,
        done: &done,
        budget: Budget {
            cost_left: launch.limits.cost_left,
            tokens_left: launch.limits.tokens_left,
            alarm,
            told: false,
        },
    };
    let facts = {
        let (pass_on, mut passed_on) = unbounded_channel();
        let mut tell_at = None;
        let mut driving = pin!(drive_started(&mut hands.keeper, start, &mut sink, &mut passed_on));
        loop {
            tokio::select! {
                biased;
                facts = &mut driving => break facts,
                Some(order) = links.orders.recv() => drop(pass_on.send(order)),
                () = marked(&mut hands.watch, hands.folder.task_folder()), if !done.get() => {
                    done.set(true);
                    tell_at = Some(Instant::now() + SOON);
                    let _ = pass_on.send(Order::LookForResult);
                }
                () = at(tell_at), if tell_at.is_some() => {
                    tell_at = None;
                    let _ = alarm.send(Event::Noted { note: Note::DoneSeen { linger: launch.limits.linger } });
                }
            }
        }
    };
    let problems = hands.raw_log.end(std::mem::take(&mut sink.log));
    events.extend(problems.into_iter().map(|text| Event::Noted { note: Note::Machine { text } }));
    events.extend(hands.news());
    if launch.keep.logs > 0 {
        hands.raw_log.forget(launch.iteration.saturating_sub(launch.keep.logs));
    }
    let markers = look_at_markers(hands, launch.markers);
    let read_side_file = |file: &SideFile| side_file_of(hands, &command, file);
    events.push(Event::AgentEnded(Box::new(sink.finish(facts, markers, read_side_file))));
    events
}

/// How an agent's program is started, less the prompt. Hooks name this very program; where it has no path any more, it
/// is looked for.
pub fn command_line(root: &Path, agent: &AgentPolicy, hooks: HookUse) -> CommandLine {
    let dialect = ralph_agents::for_agent(agent);
    let line = dialect.command(agent);
    if hooks == HookUse::None {
        return line;
    }
    let binary = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_default();
    dialect.hooked(line, |given| {
        let text = match given {
            Some(file) if !file.trim_start().starts_with('{') => Some(look::text(&root.join(file))?),
            given => given.map(str::to_owned),
        };
        skill::settings(text.as_deref(), &binary)
    })
}

/// Writes the readable file with the prompt, where one is wanted, and says where it is.
fn show_prompt(hands: &mut RunHands<'_>, launch: &Launch, events: &mut Vec<Event>) -> Option<PathBuf> {
    let shown = hands.folder.write_prompt(launch.keep.prompt_file.as_ref()?, &launch.prompt);
    let unwritten = |error: ViewError| Event::Noted { note: Note::PromptUnwritten { error: error.to_string() } };
    shown.map_err(|error| events.push(unwritten(error))).ok()
}

fn look_at_markers(hands: &mut RunHands<'_>, used: MarkerUse) -> Markers {
    match used {
        MarkerUse::Ignored => Markers::default(),
        MarkerUse::Claim => {
            // A folder that cannot be used holds no marker; whoever writes there next says why.
            let _ = hands.folder.look();
            Markers { done: hands.folder.marker(marker::DONE), ..Markers::default() }
        }
        MarkerUse::Standing => marker::look_at_all(hands.folder.task_folder()),
    }
}

/// Returns when DONE appears, where somebody watches for it.
async fn marked(watch: &mut Option<FolderWatch>, task_folder: &Path) {
    let Some(watch) = watch else { return std::future::pending().await };
    while marker::look(task_folder, marker::DONE) != Marker::Present {
        watch.changed().await;
    }
}

/// A marker from before this process is not this process's claim.
fn remove_old_marker(hands: &mut RunHands<'_>) -> Option<Event> {
    let note = match hands.folder.remove_marker(marker::DONE) {
        Ok(false) => return None,
        Ok(true) => Note::OldDoneRemoved,
        Err(error) => Note::OldDoneStays { error: error.to_string() },
    };
    Some(Event::Noted { note })
}

/// The end of a file that the agent's program wrote, where the agent itself would look for it.
fn side_file_of(hands: &RunHands<'_>, command: &Command, file: &SideFile) -> Vec<u8> {
    let variable = |name: &str| {
        let set = command.set.iter().rev().find(|(set, _)| set == name).map(|(_, value)| value.clone());
        let removed = command.remove.iter().any(|removed| removed == name);
        set.or_else(|| (hands.variable)(name).filter(|_| !removed)).filter(|value| !value.is_empty()).map(PathBuf::from)
    };
    let folder = variable(file.variable).or_else(|| Some(variable("HOME")?.join(file.below_home)));
    folder.map(|folder| side_file::tail(&folder.join(file.folder), &file.suffix)).unwrap_or_default()
}

/// The command as host starts it, and what to write to its standard input.
fn command<'l>(
    hands: &RunHands<'_>,
    launch: &'l Launch,
    line: CommandLine,
    prompt_file: Option<PathBuf>,
) -> (Command, &'l [u8]) {
    let mut args: Vec<OsString> = line.args.into_iter().map(OsString::from).collect();
    let mut stdin: &[u8] = &[];
    match (line.delivery, prompt_file) {
        (Delivery::File, Some(path)) => args.push(path.into()),
        (Delivery::LastArg, _) => args.push(launch.prompt.clone().into()),
        (Delivery::Stdin | Delivery::File, _) => stdin = launch.prompt.as_bytes(),
    }
    let task_folder = hands.folder.task_folder();
    let mut set: Vec<(OsString, OsString)> = vec![
        (identity::RUN_VARIABLE.into(), hands.run.as_str().into()),
        (child_runs::FOLDER_VARIABLE.into(), hands.run_folder.as_path().into()),
        ("RUN_FOLDER".into(), hands.run_folder.as_path().into()),
        ("RALPH_ITERATION".into(), launch.iteration.to_string().into()),
        (child_runs::PROJECT_VARIABLE.into(), hands.root.as_path().into()),
        ("RALPH_TASK_DIR".into(), task_folder.into()),
        ("TASK_FOLDER".into(), task_folder.into()),
        ("MESSAGE_BUS".into(), hands.buses.names().task_bus.as_path().into()),
    ];
    set.extend(line_of_descent(hands, launch));
    set.extend(hands.temp.as_ref().map(|temp| ("TMPDIR".into(), temp.path().into())));
    let unwanted = line.env_remove.into_iter().chain(launch.agent.env_remove.iter().cloned());
    // This run's parent is no parent of what its agent starts.
    let remove = unwanted.map(OsString::from).chain([child_runs::PARENT_VARIABLE.into()]).collect();
    set.extend(line.env.into_iter().map(|(name, value)| (name.into(), value.into())));
    // What a person wrote in the settings stands last and so wins.
    set.extend(launch.agent.env.iter().map(|(name, value)| (name.into(), value.into())));
    (Command { program: line.program.into(), args, folder: hands.root.clone(), set, remove, starts_runs: true }, stdin)
}

/// Whose process this is, by ralph's names and by those of seed 003. All are set for every agent: an agent of a
/// child run would else inherit its parent's.
fn line_of_descent(hands: &RunHands<'_>, launch: &Launch) -> Vec<(OsString, OsString)> {
    let names = hands.buses.names();
    let parent = hands.parent.as_ref().map_or("", RunId::as_str);
    let continues = launch.iteration > 1 || launch.attempt > 1;
    let set = [
        ("RALPH_PROJECT_ID", names.project.as_str()),
        ("RALPH_TASK_ID", names.task.as_str()),
        ("RALPH_PARENT_ID", parent),
        ("RALPH_CONTINUES", if continues { "1" } else { "0" }),
        ("JRUN_PROJECT_ID", names.project.as_str()),
        ("JRUN_TASK_ID", names.task.as_str()),
        ("JRUN_ID", names.run.as_str()),
        ("JRUN_PARENT_ID", parent),
    ];
    set.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

struct AgentSink<'a> {
    iteration: u32,
    reader: Box<dyn Reader>,
    observer: Observer,
    splitter: LineSplitter,
    events: Told,
    log: ProcessLog,
    /// Its standard output and standard error.
    streams: (Stream, Stream),
    face: &'a RefCell<dyn Face>,
    clock: Clock,
    shows: bool,
    /// DONE was seen while the process runs.
    done: &'a Cell<bool>,
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
    fn finish(mut self, facts: ProcessFacts, markers: Markers, read: impl Fn(&SideFile) -> Vec<u8>) -> Observation {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.finish(|line| self.read_line(line));
        self.reader.end(&mut self.events);
        self.pass_on();
        let side_file = self.reader.side_file().map(|file| read(&file)).unwrap_or_default();
        let failure = self.reader.failure(&End {
            ending: &facts.ending,
            stderr_tail: &facts.stderr_tail,
            heard: self.observer.has_text(),
            done_marker: markers.done == Marker::Present,
            side_file: &side_file,
            now: self.clock.now(),
            zone: &clock::epoch_seconds,
        });
        self.observer.finish(facts, markers, failure)
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
        if self.shows && !self.events.is_empty() {
            let at = self.clock.now();
            let mut face = self.face.borrow_mut();
            for event in self.events.iter() {
                face.agent_event(at, self.iteration, event);
            }
        }
        for event in self.events.drain(..) {
            self.observer.see(event);
        }
    }
}

impl Sink for AgentSink<'_> {
    fn stdout(&mut self, bytes: &Chunk) {
        self.log.write(self.streams.0, bytes);
        self.face.borrow_mut().heard(self.clock.now());
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.feed(bytes, |line| self.read_line(line));
        self.splitter = splitter;
        // After the final result the process is as good as gone, and its work is worth judging.
        if !self.reader.has_result() {
            self.budget.watch(&self.observer);
        }
    }

    fn stderr(&mut self, bytes: &Chunk) {
        self.log.write(self.streams.1, bytes);
        let mut face = self.face.borrow_mut();
        face.heard(self.clock.now());
        face.agent_stderr(bytes);
    }

    fn has_result(&self) -> bool {
        self.done.get() || self.reader.has_result()
    }
}
