//! What one iteration of an agent amounted to: the fold of its events, its exit and its markers.
//!
//! This is the only trace of the agent's stream in the journal. The raw bytes are on disk.

use crate::agent_event::{AgentEvent, Voice};
use crate::claim::{Claim, Patterns, Scanner};
use crate::evidence::TestsRan;
use crate::id::RunId;
use crate::memory::LAST_OUTPUT_CHARS;
use crate::outcome::exit;
use crate::text;
use crate::time::Millis;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Tokens, with one meaning for all agents: dialects bring what programs state into this form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Tokens read, including those from the provider's cache.
    pub input: u64,
    pub output: u64,
    /// The part of the input that came from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache; not part of the input.
    pub cache_write: u64,
}

impl Tokens {
    /// The sum of both, stopping at the largest number instead of wrapping.
    pub fn plus(self, other: Tokens) -> Tokens {
        self.with(other, u64::saturating_add)
    }

    /// The larger of both in every place: counters of one process only grow.
    pub fn max(self, other: Tokens) -> Tokens {
        self.with(other, u64::max)
    }

    fn with(self, other: Tokens, join: fn(u64, u64) -> u64) -> Tokens {
        Tokens {
            input: join(self.input, other.input),
            output: join(self.output, other.output),
            cache_read: join(self.cache_read, other.cache_read),
            cache_write: join(self.cache_write, other.cache_write),
        }
    }

    /// What a token budget counts: everything that was read, written to the cache, or said.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.cache_write).saturating_add(self.output)
    }

    pub fn fresh_input(self) -> u64 {
        self.input.saturating_sub(self.cache_read)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Ending {
    /// By itself, with this code.
    Exited { code: i32 },
    /// By a signal that ralph did not send.
    Signalled { signal: i32 },
    NotStarted {
        /// What the system said, with the path that was tried.
        reason: String,
        #[serde(default, skip_serializing_if = "StartFault::is_programs")]
        fault: StartFault,
    },
    /// It ran longer than an iteration may.
    TimedOut { limit: Millis },
    /// It neither printed nor computed for longer than allowed.
    Idle { limit: Millis },
    /// It had given its final result and did not exit; the iteration is valid.
    Lingered,
    /// ralph ended it: interrupt, cancellation, wall time or budget.
    Stopped,
    /// The process that watches over the agent died; nothing is known about the agent's own end.
    KeeperLost,
}

/// Why a program did not start: what has to be mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartFault {
    /// The program: it is missing, or nothing that this machine can execute.
    #[default]
    Program,
    /// The folder in which it should start is gone.
    Folder,
    /// The machine: no descriptors, processes or memory are left.
    Machine,
    /// The program is there and may not be executed.
    NotExecutable,
    /// The program is there and its arguments, the prompt among them, are longer than the system takes.
    Arguments,
}

impl StartFault {
    fn is_programs(&self) -> bool {
        *self == StartFault::Program
    }

    /// The exit code of a run that ends by it.
    pub const fn exit_code(self) -> u8 {
        match self {
            StartFault::Program | StartFault::NotExecutable | StartFault::Arguments => exit::AGENT,
            StartFault::Folder => exit::USAGE,
            StartFault::Machine => exit::IO,
        }
    }
}

/// The class of an agent's failure, which decides what happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Missing, not executable, not logged in, out of credit: no iteration can help.
    CannotRun,
    /// A structured rate or usage limit: wait, then repeat the iteration.
    Limited,
    /// Network, 5xx, overloaded: back off, then repeat the iteration.
    Transient,
    /// It ended by itself and said nothing: counts as an iteration.
    Silent,
    /// Anything else: counts as an iteration.
    Other,
}

/// An agent's failure, as its dialect or its process shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub class: FailureClass,
    pub message: String,
    /// When a limit ends, as seconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resets_at: Option<i64>,
}

impl Failure {
    pub fn new(class: FailureClass, message: impl Into<String>) -> Failure {
        Failure { class, message: message.into(), resets_at: None }
    }

    /// That of an agent which ended by itself and said nothing.
    pub fn silent() -> Failure {
        Failure::new(FailureClass::Silent, "empty answer")
    }
}

/// The DONE file in the task folder.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Marker {
    #[default]
    Absent,
    Present,
    /// Something else: a directory, link, pipe or device.
    WrongKind(String),
}

impl Marker {
    pub fn is_absent(&self) -> bool {
        *self == Marker::Absent
    }
}

/// The files in the task folder that say something by existing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Markers {
    pub done: Marker,
    /// What tells this `DONE` from one that is written later; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub done_stamp: String,
    #[serde(default, skip_serializing_if = "Marker::is_absent")]
    pub wait: Marker,
}

/// A tool that the agent ran, as far as evidence needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRun {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    pub result: ToolResult,
    /// What its output says about tests.
    #[serde(default, skip_serializing_if = "TestsRan::is_unsaid")]
    pub tests: TestsRan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolResult {
    /// It began and no end was seen.
    Unfinished,
    Passed,
    Failed,
    /// Its command was not found or may not be executed.
    CouldNotRun,
}

impl ToolResult {
    /// What the end of a tool says. A shell tells with 126 and 127 that it could not run a command.
    fn of(error: bool, exit_code: Option<i32>) -> ToolResult {
        match exit_code {
            Some(126 | 127) => ToolResult::CouldNotRun,
            Some(code) if code != 0 => ToolResult::Failed,
            _ if error => ToolResult::Failed,
            _ => ToolResult::Passed,
        }
    }
}

/// A process that outlived the agent and had to be ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaked {
    /// Its process id, for the log only.
    pub pid: i32,
    pub command: String,
}

/// What the lines of a stream were worth besides their events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LineCounts {
    pub noise: u64,
    pub unknown: u64,
    /// Lines beyond the length that is parsed.
    pub too_long: u64,
    pub suspect_usage: u64,
}

/// The facts of one process's life that host brings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessFacts {
    pub ending: Ending,
    pub duration: Millis,
    pub bytes: u64,
    pub leaked: Vec<Leaked>,
    /// How many outlived it; the list above is cut.
    pub leaked_count: u32,
    pub stderr_tail: String,
    /// The child runs of this run that live on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<RunId>,
}

/// Everything that the verdict, the memory and the budget need to know about one agent process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub process: ProcessFacts,
    /// What it claims, before anybody asks whether it ended well.
    pub claim: Claim,
    pub marker: Marker,
    /// The file by which a supervised agent asks to wait.
    #[serde(default, skip_serializing_if = "Marker::is_absent")]
    pub wait: Marker,
    /// Requests that the agent acknowledged in its answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acks: Vec<String>,
    pub failure: Option<Failure>,
    pub cost_usd: Option<f64>,
    pub tokens: Tokens,
    /// Tools in their order; the oldest are dropped beyond [`TOOLS_KEPT`].
    pub tools: Vec<ToolRun>,
    /// Errors that the agent or its stream reported.
    pub errors: Vec<String>,
    /// Files that tools said they wrote.
    pub files: Vec<String>,
    /// The agent's last message, without the middle of a long one.
    pub last_text: String,
    pub messages: Vec<String>,
    pub lines: LineCounts,
}

impl Observation {
    /// Whether a claim of this iteration counts: only an agent that ended well has said anything.
    pub fn ended_well(&self) -> bool {
        self.failure.is_none()
    }

    /// Everything that went wrong: why it failed, and the errors that it reported besides.
    pub fn all_errors(&self) -> Vec<String> {
        let failure = self.failure.iter().map(|failure| &failure.message);
        let others = self.errors.iter().filter(|error| self.failure.as_ref().is_none_or(|it| it.message != **error));
        failure.chain(others).cloned().collect()
    }

    /// Of nobody: no agent was started, and nothing went wrong.
    pub fn nothing() -> Observation {
        let nobody = Failure::new(FailureClass::Other, "");
        Observation { failure: None, ..Observation::not_started(nobody, Ending::Exited { code: 0 }) }
    }

    pub fn not_started(failure: Failure, ending: Ending) -> Observation {
        Observation {
            process: ProcessFacts {
                ending,
                duration: Millis::ZERO,
                bytes: 0,
                leaked: Vec::new(),
                leaked_count: 0,
                stderr_tail: String::new(),
                children: Vec::new(),
            },
            claim: Claim::None,
            marker: Marker::Absent,
            wait: Marker::Absent,
            acks: Vec::new(),
            failure: Some(failure),
            cost_usd: None,
            tokens: Tokens::default(),
            tools: Vec::new(),
            errors: Vec::new(),
            files: Vec::new(),
            last_text: String::new(),
            messages: Vec::new(),
            lines: LineCounts::default(),
        }
    }
}

/// Tools kept for evidence: the last one of a kind decides, so the newest matter.
pub const TOOLS_KEPT: usize = 400;
/// Errors kept; the first ones name the cause.
const ERRORS_KEPT: usize = 20;
const ERROR_BYTES: usize = 500;
/// Files kept for the summary.
const FILES_KEPT: usize = 50;
/// Bytes that are kept of each end of a message.
const MESSAGE_BYTES: usize = 8192;
/// Bytes of a shell line kept as evidence: longer ones are scripts that prove nothing by themselves.
const COMMAND_BYTES: usize = 4096;

/// Folds an agent's events, in bounded memory whatever the stream's size.
#[derive(Debug)]
pub struct Observer {
    scanner: Scanner,
    messages_wanted: usize,
    cost_usd: Option<f64>,
    tokens: Tokens,
    /// What was stated since the last result, which knows better.
    tokens_guessed: Tokens,
    tools: VecDeque<(String, ToolRun)>,
    errors: Vec<String>,
    files: Vec<String>,
    /// The message that is being said; empty if the last one has ended.
    saying: Message,
    said: Message,
    messages: VecDeque<String>,
    lines: LineCounts,
}

impl Observer {
    pub fn new(patterns: &Patterns, messages_wanted: usize) -> Observer {
        Observer {
            scanner: Scanner::new(patterns),
            messages_wanted,
            cost_usd: None,
            tokens: Tokens::default(),
            tokens_guessed: Tokens::default(),
            tools: VecDeque::new(),
            errors: Vec::new(),
            files: Vec::new(),
            saying: Message::default(),
            said: Message::default(),
            messages: VecDeque::new(),
            lines: LineCounts::default(),
        }
    }

    pub fn see(&mut self, event: AgentEvent) {
        // A message in pieces ends where something else happens, but for words of sub-agents and what is spent.
        let goes_on = matches!(
            event,
            AgentEvent::Text { voice: Voice::Sub | Voice::Thinking, .. }
                | AgentEvent::Text { delta: true, .. }
                | AgentEvent::Spent { .. }
                | AgentEvent::Unknown { .. }
        );
        if !goes_on {
            self.end_message();
        }
        match event {
            AgentEvent::Text { text, voice: Voice::Main, delta } => {
                self.hear(&text);
                if !delta {
                    self.saying.flows = true;
                    self.end_message();
                }
            }
            AgentEvent::Text { voice: Voice::Sub | Voice::Thinking, .. }
            | AgentEvent::Todo { .. }
            | AgentEvent::Progress { .. }
            | AgentEvent::Limit { .. } => {}
            AgentEvent::ToolStart { id, name, command, writes, .. } => {
                if self.tools.len() == TOOLS_KEPT {
                    self.tools.pop_front();
                }
                let command = command.map(|command| cut(command, COMMAND_BYTES));
                self.tools.push_back((
                    id,
                    ToolRun { name, command, result: ToolResult::Unfinished, tests: TestsRan::Unsaid },
                ));
                if let Some(file) = writes
                    && self.files.len() < FILES_KEPT
                    && !self.files.contains(&file)
                {
                    self.files.push(file);
                }
            }
            AgentEvent::ToolEnd { id, error, exit_code, tests, .. } => {
                if let Some((_, tool)) = self.tools.iter_mut().rev().find(|(known, _)| *known == id) {
                    tool.result = ToolResult::of(error, exit_code);
                    tool.tests = tests;
                }
            }
            AgentEvent::Result { text, cost_usd, tokens, .. } => {
                // The final text usually repeats the last message.
                if !self.said.repeats(&text) {
                    self.hear(&text);
                    self.end_message();
                }
                self.take_cost(cost_usd);
                if let Some(tokens) = tokens {
                    self.tokens = self.tokens.max(tokens);
                    self.tokens_guessed = Tokens::default();
                }
            }
            AgentEvent::Spent { cost_usd, tokens } => {
                self.take_cost(cost_usd);
                self.tokens_guessed = self.tokens_guessed.max(tokens.unwrap_or_default());
            }
            AgentEvent::Error { message } => {
                if self.errors.len() < ERRORS_KEPT {
                    self.errors.push(cut(message, ERROR_BYTES));
                }
            }
            AgentEvent::Unknown { .. } => self.lines.unknown += 1,
        }
    }

    pub fn saw_noise(&mut self) {
        self.lines.noise += 1;
    }

    pub fn saw_long_line(&mut self) {
        self.lines.too_long += 1;
    }

    /// Money spent so far by this process: a running iteration is stopped when it passes the budget.
    pub fn spent(&self) -> (Option<f64>, Tokens) {
        (self.cost_usd, self.tokens.max(self.tokens_guessed))
    }

    pub fn has_text(&self) -> bool {
        [&self.saying, &self.said].iter().any(|message| message.says_something)
    }

    fn hear(&mut self, piece: &str) {
        self.scanner.feed(piece);
        self.saying.add(piece);
    }

    fn end_message(&mut self) {
        self.scanner.message_ended();
        let message = std::mem::take(&mut self.saying);
        if !message.says_something {
            return;
        }
        if self.messages_wanted > 0 {
            if self.messages.len() == self.messages_wanted {
                self.messages.pop_front();
            }
            self.messages.push_back(message.head.clone());
        }
        self.said = message;
    }

    fn take_cost(&mut self, cost_usd: Option<f64>) {
        if let Some(cost) = cost_usd {
            if cost.is_finite() && (0.0..1e9).contains(&cost) {
                self.cost_usd = Some(self.cost_usd.unwrap_or(0.0).max(cost));
            } else {
                self.lines.suspect_usage += 1;
            }
        }
    }

    /// Closes the fold with what host knows and with the dialect's judgement of the failure.
    pub fn finish(mut self, process: ProcessFacts, markers: Markers, failure: Option<Failure>) -> Observation {
        self.end_message();
        Observation {
            process,
            claim: self.scanner.claim(),
            acks: self.scanner.into_acks(),
            marker: markers.done,
            wait: markers.wait,
            failure,
            cost_usd: self.cost_usd,
            tokens: self.tokens.max(self.tokens_guessed),
            tools: self.tools.into_iter().map(|(_, tool)| tool).collect(),
            errors: self.errors,
            files: self.files,
            last_text: self.said.in_short(),
            messages: self.messages.into(),
            lines: self.lines,
        }
    }
}

/// One message of the agent, of which both ends are kept.
#[derive(Debug, Default)]
struct Message {
    head: String,
    /// The end of what stands behind the head.
    tail: String,
    /// It holds something other than blanks.
    says_something: bool,
    /// It is no plain text, which comes line by line.
    flows: bool,
}

impl Message {
    fn add(&mut self, piece: &str) {
        self.says_something = self.says_something || !piece.trim_ascii().is_empty();
        self.flows = self.flows || !piece.ends_with('\n');
        let room = if self.tail.is_empty() { MESSAGE_BYTES.saturating_sub(self.head.len()) } else { 0 };
        let begins = text::prefix(piece, room);
        self.head.push_str(begins);
        let rest = piece.get(begins.len()..).unwrap_or_default();
        self.tail.push_str(text::suffix(rest, MESSAGE_BYTES));
        // Twice as much is kept for a while, so that not every piece moves all of it.
        if self.tail.len() > MESSAGE_BYTES * 2 {
            let kept = text::suffix(&self.tail, MESSAGE_BYTES).len();
            self.tail.drain(..self.tail.len() - kept);
        }
    }

    /// Whether a final text only says once more what this message said.
    fn repeats(&self, text: &str) -> bool {
        let text = text.trim();
        text.is_empty() || self.both_ends().trim_end().ends_with(text::suffix(text, MESSAGE_BYTES))
    }

    /// What is remembered of it: all of a short message; the beginning and the end of a long one; of lines of
    /// plain text, which hold everything that a program printed, the last ones.
    fn in_short(&self) -> String {
        let ends = self.both_ends();
        if !self.flows {
            const CUT: &str = "...\n";
            let lines = last_lines(&ends, LAST_OUTPUT_CHARS - CUT.len());
            return if lines.len() < ends.len() { format!("{CUT}{lines}") } else { lines };
        }
        if ends.len() > MESSAGE_BYTES {
            let half = MESSAGE_BYTES / 2;
            return format!("{}\n[...]\n{}", text::prefix(&ends, half), text::suffix(&ends, half));
        }
        ends
    }

    fn both_ends(&self) -> String {
        format!("{}{}", self.head, self.tail)
    }
}

/// The last lines of a text that have so many characters together; a line that is longer by itself is left whole.
fn last_lines(text: &str, chars: usize) -> String {
    let mut left = chars;
    let mut start = text.len();
    for line in text.split_inclusive('\n').rev() {
        let size = line.chars().count();
        if size > left && !text.get(start..).unwrap_or_default().trim().is_empty() {
            break;
        }
        left = left.saturating_sub(size);
        start -= line.len();
    }
    text.get(start..).unwrap_or_default().to_owned()
}

fn cut(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate(text::prefix(&text, bytes).len());
        text.shrink_to_fit();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Completion;

    fn piece(text: &str) -> AgentEvent {
        AgentEvent::Text { text: text.to_owned(), voice: Voice::Main, delta: true }
    }

    fn tool() -> AgentEvent {
        let [id, name, input] = [(); 3].map(|()| String::new());
        AgentEvent::ToolStart { id, name, input, command: None, writes: None }
    }

    fn result(text: &str) -> AgentEvent {
        AgentEvent::Result { text: text.to_owned(), is_error: false, cost_usd: None, tokens: None }
    }

    #[test]
    fn pieces_of_a_message_are_one_message() {
        let main = |text: &str| said(text, Voice::Main);
        let seen =
            observed(&[main("dropped"), main("one"), piece("I will lo"), piece("ok around."), tool(), piece("two")]);
        assert_eq!(seen.messages, ["one", "I will look around.", "two"]);
        let long: Vec<AgentEvent> = (0..100).map(|_| piece(&"x".repeat(1000))).collect();
        let seen = observed(&long);
        assert_eq!(seen.messages.len(), 1);
        assert!(seen.messages.iter().all(|message| message.len() <= MESSAGE_BYTES));
        assert!(seen.last_text.len() <= MESSAGE_BYTES + 10);
    }

    #[test]
    fn messages_do_not_run_into_each_other() {
        let main = |text: &str| said(text, Voice::Main);
        let error = || AgentEvent::Error { message: "the stream broke off".to_owned() };
        let todo = || AgentEvent::Todo { items: Vec::new() };
        let spent = || AgentEvent::Spent { cost_usd: None, tokens: None };
        for (name, events, complete) in [
            ("halves in two messages", vec![main("<response>DO"), main("NE</response>")], false),
            ("with line ends", vec![main("a <response>DO\n"), main("NE</response>\n")], false),
            ("halves around a tool", vec![piece("<response>DO"), tool(), piece("NE</response>")], false),
            ("halves around an error", vec![piece("<response>DO"), error(), piece("NE</response>")], false),
            ("halves around a list", vec![piece("<response>DO"), todo(), piece("NE</response>")], false),
            ("half a message and the result", vec![piece("<response>DO"), result("NE</response>")], false),
            ("pieces of one message", vec![piece("<response>DO"), spent(), piece("NE</response>")], true),
            (
                "a sub-agent in between",
                vec![piece("<response>DO"), said("x", Voice::Sub), piece("NE</response>")],
                true,
            ),
            ("repeated", vec![main("All is <response>DO"), main("All is <response>DONE</response>")], true),
            ("repeated in pieces", vec![piece("All <response>DO"), piece("All <response>DONE</response>")], true),
            ("lines of text", vec![piece("<response>\n"), piece("DONE\n"), piece("</response>\n")], true),
        ] {
            assert_eq!(observed(&events).claim == Claim::Complete, complete, "{name}");
        }
    }

    #[test]
    fn the_last_message_is_remembered_and_not_the_first() {
        let main = |text: &str| said(text, Voice::Main);
        let long = format!("First, the cause. {} In the end it works.", "x".repeat(3 * MESSAGE_BYTES));
        for (name, events, begins, ends) in [
            ("of many", vec![main(&"x".repeat(5000)), main("It works.")], "It works.", "It works."),
            ("before a blank one", vec![main("It works."), main(" \n")], "It works.", "It works."),
            ("the result", vec![main("Look:"), tool(), result("It works.")], "It works.", "It works."),
            ("a long one", vec![main(&long)], "First, the cause.", "In the end it works."),
            ("pieces", vec![piece("It wo"), piece("rks.")], "It works.", "It works."),
        ] {
            let last = observed(&events).last_text;
            assert!(last.starts_with(begins) && last.ends_with(ends), "{name}: {last}");
        }
        let lines: Vec<AgentEvent> = (1..=1000).map(|number| piece(&format!("line {number}\n"))).collect();
        let last = observed(&lines).last_text;
        assert!(
            last.starts_with("...\nline ") && last.ends_with("line 1000\n") && last.chars().count() <= 1200,
            "{last}"
        );
        assert_eq!(observed(&[piece(&format!("{}\n", "a".repeat(5000)))]).last_text.trim_end(), "a".repeat(5000));
    }

    fn observed(events: &[AgentEvent]) -> Observation {
        let mut observer = Observer::new(&Patterns::new(&Completion::default()), 3);
        events.iter().cloned().for_each(|event| observer.see(event));
        let ending = Ending::Exited { code: 0 };
        let process = Observation::not_started(Failure::new(FailureClass::Other, ""), ending).process;
        observer.finish(process, Markers::default(), None)
    }

    fn said(text: &str, voice: Voice) -> AgentEvent {
        AgentEvent::Text { text: text.to_owned(), voice, delta: false }
    }

    #[test]
    fn b12_only_the_main_agents_words_are_heard() {
        let claim = "<response>DONE</response>";
        for (voice, heard) in [(Voice::Main, true), (Voice::Sub, false), (Voice::Thinking, false)] {
            let seen = observed(&[said(claim, voice)]);
            assert_eq!(seen.claim == Claim::Complete, heard, "{voice:?}");
            assert_eq!((seen.last_text.is_empty(), seen.messages.len()), (!heard, usize::from(heard)), "{voice:?}");
        }
    }

    #[test]
    fn a_final_text_that_was_already_said_is_heard_once_whatever_its_length() {
        for length in [10, MESSAGE_BYTES, MESSAGE_BYTES + 10, MESSAGE_BYTES * 3] {
            let text = "x".repeat(length);
            let events = [said(&format!("{text}\n"), Voice::Main), result(&text)];
            assert_eq!(observed(&events).messages.len(), 1, "{length}");
        }
    }

    #[test]
    fn the_end_of_a_tool_says_whether_it_ran() {
        for (error, exit_code, result) in [
            (false, None, ToolResult::Passed),
            (true, None, ToolResult::Failed),
            (false, Some(0), ToolResult::Passed),
            (false, Some(1), ToolResult::Failed),
            (true, Some(0), ToolResult::Failed),
            (true, Some(126), ToolResult::CouldNotRun),
            (false, Some(127), ToolResult::CouldNotRun),
        ] {
            assert_eq!(ToolResult::of(error, exit_code), result, "{error} {exit_code:?}");
        }
    }

    #[test]
    fn what_is_spent_before_a_result_counts_once() {
        let tokens = |input| Some(Tokens { input, ..Tokens::default() });
        let spent = |cost: f64, input| AgentEvent::Spent { cost_usd: Some(cost), tokens: tokens(input) };
        let result =
            AgentEvent::Result { text: String::new(), is_error: false, cost_usd: Some(0.3), tokens: tokens(9) };
        let seen = observed(&[spent(0.1, 3), spent(0.2, 6), result]);
        assert_eq!((seen.cost_usd, seen.tokens.input), (Some(0.3), 9));
        let corrected = AgentEvent::Result { text: String::new(), is_error: false, cost_usd: None, tokens: tokens(4) };
        assert_eq!(observed(&[spent(0.1, 6), corrected.clone()]).tokens.input, 4, "the result knows better");
        assert_eq!(observed(&[corrected, spent(0.1, 6)]).tokens.input, 6, "another turn was broken off");
        let broken_off = observed(&[spent(0.1, 3), spent(0.2, 6)]);
        assert_eq!((broken_off.cost_usd, broken_off.tokens.input), (Some(0.2), 6));
    }
}
