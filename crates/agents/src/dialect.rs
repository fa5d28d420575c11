//! What every dialect offers, and the one table that knows them all.

use crate::advice::Help;
use crate::command::{arguments, value_of};
use crate::generic::{self, TextReader};
use crate::login::Login;
use crate::tool::Calls;
use crate::{aider, amp, claude, cline, cn, codex, copilot, cursor_agent, gemini, grok, kimi, opencode, pi, qwen};
use ralph_core::agent_event::AgentEvent;
use ralph_core::observation::{Ending, Failure};
use ralph_core::policy::AgentPolicy;
use ralph_core::time::{LocalTime, WallTime};
use std::ops::{Deref, DerefMut};

/// One agent program: how it is started and how its output is read.
pub struct Dialect {
    /// The name in settings, which is also the program's base name.
    pub name: &'static str,
    pub help: Help,
    /// The signs of a login and of a version that is too old; `None` for a program that ralph does not know.
    pub login: Option<Login>,
    /// Variables by which this program marks what runs inside its own session. They are removed for
    /// every agent that ralph starts: a fresh process must not believe that it is nested.
    pub session_markers: &'static [&'static str],
    pub(crate) command: fn(&AgentPolicy) -> CommandLine,
    pub(crate) prints: Prints,
}

pub(crate) enum Prints {
    /// A stream of events if it is asked for one, else plain text.
    Stream { asked_by: Asked, read: fn(Help) -> Box<dyn Reader> },
    /// Text in a form of its own; a copy of the prompt in it is none of the agent's words.
    Text(fn(prompt: &str, Help) -> Box<dyn Reader>),
    /// Whatever the settings say: the stream of the dialect that they name, or plain text.
    Named,
}

/// How the user's flags ask for a stream.
pub(crate) enum Asked {
    /// By one of these values of a flag, given here by its names. Without the flag, the policy decides.
    Value(&'static [&'static str], &'static [&'static str]),
    /// By one of these flags, which only add to what the policy says.
    Flag(&'static [&'static str]),
}

impl Dialect {
    /// The command line for one iteration; the prompt is not part of it.
    pub fn command(&self, agent: &AgentPolicy) -> CommandLine {
        (self.command)(agent)
    }

    /// A reader for one process that was started by [`Dialect::command`] with the same policy.
    pub fn reader(&self, agent: &AgentPolicy, prompt: &str) -> Box<dyn Reader> {
        let stream = match self.prints {
            Prints::Text(read) => return read(prompt, self.help),
            Prints::Stream { .. } if !self.prints_stream(agent) => None,
            Prints::Stream { .. } => self.stream(self.help),
            Prints::Named => by_name(&agent.format).and_then(|dialect| dialect.stream(self.help)),
        };
        stream.unwrap_or_else(|| Box::new(TextReader::new(prompt, self.help)))
    }

    /// A reader of the program's own format, if it has one. `help` is about the program that prints it.
    pub fn stream(&self, help: Help) -> Option<Box<dyn Reader>> {
        match self.prints {
            Prints::Stream { read, .. } => Some(read(help)),
            Prints::Text(read) => Some(read("", help)),
            Prints::Named => None,
        }
    }

    /// Whether the command line asks for the program's stream of events.
    pub(crate) fn prints_stream(&self, agent: &AgentPolicy) -> bool {
        let (Prints::Stream { asked_by, .. }, flags) = (&self.prints, arguments(&agent.flags)) else { return false };
        match asked_by {
            Asked::Value(names, values) => {
                value_of(&flags, names).map_or(agent.stream, |value| values.contains(&value))
            }
            Asked::Flag(names) => agent.stream || flags.iter().any(|flag| names.contains(&flag.as_str())),
        }
    }
}

/// Reads one process's standard output, line by line, in bounded memory.
pub trait Reader: Send {
    /// Takes a line without its newline and pushes its events.
    fn line(&mut self, line: &[u8], out: &mut Told) -> LineKind;

    /// A line longer than is parsed passed by; its beginning, at most 64 KiB, is given.
    fn long_line(&mut self, head: &[u8], out: &mut Told);

    fn end(&mut self, out: &mut Told);

    /// Whether the final result was seen, so that the process may be given only a linger time. It
    /// can become false again: some programs wake up and begin another turn.
    fn has_result(&self) -> bool {
        false
    }

    /// A file that says more about the end than the stream did; asked for after the end, and only then.
    fn side_file(&self) -> Option<SideFile> {
        None
    }

    fn failure(&self, end: &End<'_>) -> Option<Failure>;
}

#[derive(Debug, Default)]
pub struct Told {
    events: Vec<AgentEvent>,
    pub(crate) detail: Detail,
    /// Shell lines that have not ended yet.
    pub(crate) shells: Calls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    #[default]
    Shown,
    /// Nothing but what counts as evidence: nobody looks.
    Unseen,
}

impl Told {
    pub fn new(detail: Detail) -> Told {
        Told { detail, ..Told::default() }
    }
}

impl Deref for Told {
    type Target = Vec<AgentEvent>;

    fn deref(&self) -> &Vec<AgentEvent> {
        &self.events
    }
}

impl DerefMut for Told {
    fn deref_mut(&mut self) -> &mut Vec<AgentEvent> {
        &mut self.events
    }
}

pub struct End<'a> {
    pub ending: &'a Ending,
    pub stderr_tail: &'a str,
    pub heard: bool,
    pub done_marker: bool,
    /// The end of its [`SideFile`]; empty if there is none.
    pub side_file: &'a [u8],
    pub now: WallTime,
    /// The zone in which programs on this machine state times: seconds since the epoch.
    pub zone: &'a dyn Fn(LocalTime) -> Option<i64>,
}

/// A file that a program writes about its session, by the place where it keeps such files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideFile {
    /// The variable that names the program's folder.
    pub variable: &'static str,
    /// That folder below the home folder, if the variable is not set.
    pub below_home: &'static str,
    /// The folder inside it, which holds folders by year, month and day.
    pub folder: &'static str,
    pub suffix: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Something of the expected form, or blank. It may have no event worth telling.
    Event,
    /// Something else that got among the events: a warning, half a line, another format.
    Noise,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// On standard input, which is then closed.
    Stdin,
    LastArg,
    /// In a file, whose path the engine appends as the last argument.
    File,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    pub program: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Variables to remove; none of them is in `env`.
    pub env_remove: Vec<String>,
    pub delivery: Delivery,
}

static DIALECTS: &[Dialect] = &[
    claude::DIALECT,
    codex::DIALECT,
    amp::DIALECT,
    opencode::DIALECT,
    gemini::DIALECT,
    qwen::DIALECT,
    copilot::DIALECT,
    pi::DIALECT,
    grok::DIALECT,
    cline::DIALECT,
    kimi::DIALECT,
    cursor_agent::DIALECT,
    aider::DIALECT,
    cn::DIALECT,
    generic::DIALECT,
];

/// All dialects' names, for messages and the settings' schema.
pub fn names() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().map(|dialect| dialect.name)
}

/// The programs that have a dialect of their own and its name, in the order in which they are proposed.
pub fn programs() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().filter(|dialect| dialect.login.is_some()).map(|dialect| dialect.name)
}

/// The dialect of that name, ignoring case.
pub fn by_name(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name.eq_ignore_ascii_case(name))
}

/// The dialect of an agent: the one it names, else the one of its program's base name, else generic.
pub fn for_agent(agent: &AgentPolicy) -> &'static Dialect {
    let by_program = || by_name(&base_name(&agent.command));
    let named = if agent.dialect.is_empty() { by_program() } else { by_name(&agent.dialect) };
    named.unwrap_or(&generic::DIALECT)
}

pub(crate) fn session_markers() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().flat_map(|dialect| dialect.session_markers.iter().copied())
}

/// The name of a program as dialects are chosen by it.
pub fn base_name(command: &str) -> String {
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ralph_core::policy::PromptVia;
    use std::collections::BTreeMap;

    /// An agent with nothing but a command and flags.
    pub(crate) fn agent(command: &str, flags: &[&str]) -> AgentPolicy {
        AgentPolicy {
            command: command.to_owned(),
            flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
            whole_flags: false,
            dialect: String::new(),
            format: String::new(),
            model: String::new(),
            prompt_via: PromptVia::Auto,
            env: BTreeMap::new(),
            env_remove: Vec::new(),
            stream: true,
        }
    }

    /// The end of a process that said nothing, where nobody knows the zone.
    pub(crate) fn end_of<'a>(ending: &'a Ending, stderr_tail: &'a str) -> End<'a> {
        let (heard, done_marker, now) = (false, false, WallTime(0));
        End { ending, stderr_tail, heard, done_marker, side_file: &[], now, zone: &|_| None }
    }

    #[test]
    fn the_dialect_is_the_named_one_or_that_of_the_base_name() {
        for (command, dialect, expected) in [
            ("claude", "", "claude"),
            ("/usr/local/bin/claude", "", "claude"),
            ("C:\\Tools\\Claude.EXE", "", "claude"),
            ("claude-wrapper", "", "generic"),
            ("claude-wrapper", "claude", "claude"),
            ("my-agent", "Claude", "claude"),
            ("claude", "generic", "generic"),
            ("claude", "no-such-dialect", "generic"),
            ("sh", "", "generic"),
            ("", "", "generic"),
        ] {
            let agent = AgentPolicy { dialect: dialect.to_owned(), ..agent(command, &[]) };
            assert_eq!(for_agent(&agent).name, expected, "{command} {dialect}");
        }
        assert!(by_name("no-such-dialect").is_none());
        assert!(names().all(|name| by_name(name).is_some_and(|dialect| !dialect.help.install.is_empty())));
    }
}
