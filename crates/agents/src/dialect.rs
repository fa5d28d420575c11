//! What every dialect offers, and the one table that knows them all.

use crate::advice::Help;
use crate::aider::Aider;
use crate::amp::Amp;
use crate::claude::Claude;
use crate::cline::Cline;
use crate::cn::Cn;
use crate::codex::Codex;
use crate::copilot::Copilot;
use crate::cursor_agent::CursorAgent;
use crate::gemini::Gemini;
use crate::generic::{Generic, TextReader};
use crate::grok::Grok;
use crate::kimi::Kimi;
use crate::login::Login;
use crate::opencode::Opencode;
use crate::pi::Pi;
use crate::qwen::Qwen;
use crate::tool::Calls;
use ralph_core::agent_event::AgentEvent;
use ralph_core::observation::{Ending, Failure};
use ralph_core::policy::AgentPolicy;
use ralph_core::time::{LocalTime, WallTime};
use std::ops::{Deref, DerefMut};

/// One agent program: how it is started and how its output is read.
pub trait Dialect: Sync {
    /// The name in settings, which is also the program's base name.
    fn name(&self) -> &'static str;

    /// The command line for one iteration; the prompt is not part of it.
    fn command(&self, agent: &AgentPolicy) -> CommandLine;

    /// Whether that command line asks for the program's stream of events.
    fn prints_stream(&self, agent: &AgentPolicy) -> bool;

    /// A reader of the stream of events; `None` if there is none. `help` is about the program that prints it.
    fn stream(&self, help: Help) -> Option<Box<dyn Reader>>;

    /// A reader for one process that was started by [`Dialect::command`] with the same policy.
    fn reader(&self, agent: &AgentPolicy, prompt: &str) -> Box<dyn Reader> {
        let stream = if self.prints_stream(agent) { self.stream(self.help()) } else { None };
        stream.unwrap_or_else(|| Box::new(TextReader::new(prompt, self.help())))
    }

    /// How to install the program and how to log in.
    fn help(&self) -> Help;

    /// Variables by which this program marks what runs inside its own session. They are removed for
    /// every agent that ralph starts: a fresh process must not believe that it is nested.
    fn session_markers(&self) -> &'static [&'static str] {
        &[]
    }

    /// How to tell from outside whether the program is logged in and new enough; `None` if nobody
    /// can say, as of a program that ralph does not know.
    fn login(&self) -> Option<&'static Login> {
        None
    }
}

/// Reads one process's standard output, line by line, in bounded memory.
pub trait Reader: Send {
    /// Takes a line without its newline and pushes its events.
    fn line(&mut self, line: &[u8], out: &mut Told) -> LineKind;

    /// A line longer than is parsed passed by; its beginning, at most 64 KiB, is given.
    fn long_line(&mut self, head: &[u8], out: &mut Told);

    /// Standard output ended.
    fn end(&mut self, out: &mut Told);

    /// Whether the final result was seen, so that the process may be given only a linger time. It
    /// can become false again: some programs wake up and begin another turn.
    fn has_result(&self) -> bool;

    /// A file that says more about the end than the stream did; asked for after the end, and only then.
    fn side_file(&self) -> Option<SideFile> {
        None
    }

    /// Why the process failed, or `None` if it ended well.
    fn failure(&self, end: &End<'_>) -> Option<Failure>;
}

/// What a process told, event by event.
#[derive(Debug, Default)]
pub struct Told {
    events: Vec<AgentEvent>,
    /// How much is said about tools.
    pub(crate) detail: Detail,
    /// Shell lines that have not ended yet.
    pub(crate) shells: Calls,
}

/// How much of what a tool took and printed is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// As much as a person wants to see.
    #[default]
    Shown,
    /// Nothing but what counts as evidence: nobody looks.
    Unseen,
}

impl Told {
    /// Nothing yet.
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

/// Everything that is known when a process has ended.
pub struct End<'a> {
    pub ending: &'a Ending,
    /// The end of what it said on standard error.
    pub stderr_tail: &'a str,
    /// Whether it said something.
    pub heard: bool,
    /// Whether it wrote the DONE file.
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
    /// How the file's name ends.
    pub suffix: String,
}

/// What a line was worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Something of the expected form, or blank. It may have no event worth telling.
    Event,
    /// Something else that got among the events: a warning, half a line, another format.
    Noise,
}

/// How the prompt reaches the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// On standard input, which is then closed.
    Stdin,
    /// As the last argument.
    LastArg,
    /// In a file, whose path the engine appends as the last argument.
    File,
}

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program, by name or path.
    pub program: String,
    /// Its arguments, less the prompt.
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Variables to remove; none of them is in `env`.
    pub env_remove: Vec<String>,
    pub delivery: Delivery,
}

/// Every dialect there is.
static DIALECTS: &[&dyn Dialect] = &[
    &Claude,
    &Codex,
    &Amp,
    &Opencode,
    &Gemini,
    &Qwen,
    &Copilot,
    &Pi,
    &Grok,
    &Cline,
    &Kimi,
    &CursorAgent,
    &Aider,
    &Cn,
    &Generic,
];

/// All dialects' names, for messages and the settings' schema.
pub fn names() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().map(|dialect| dialect.name())
}

/// The programs that have a dialect of their own, in the order in which they are proposed; each
/// goes by its dialect's name.
pub fn programs() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().filter(|dialect| dialect.login().is_some()).map(|dialect| dialect.name())
}

/// The dialect of that name, ignoring case.
pub fn by_name(name: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name().eq_ignore_ascii_case(name)).copied()
}

/// The dialect of an agent: the one it names, else the one of its program's base name, else generic.
pub fn for_agent(agent: &AgentPolicy) -> &'static dyn Dialect {
    let by_program = || by_name(&base_name(&agent.command));
    let named = if agent.dialect.is_empty() { by_program() } else { by_name(&agent.dialect) };
    named.unwrap_or(&Generic)
}

/// The session markers of all dialects.
pub(crate) fn session_markers() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().flat_map(|dialect| dialect.session_markers().iter().copied())
}

fn base_name(command: &str) -> String {
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
            assert_eq!(for_agent(&agent).name(), expected, "{command} {dialect}");
        }
        assert!(by_name("no-such-dialect").is_none());
        assert!(names().all(|name| by_name(name).is_some_and(|dialect| !dialect.help().install.is_empty())));
    }
}
