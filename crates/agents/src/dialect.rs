//! What every dialect offers, and the one table that knows them all.

use crate::claude::Claude;
use crate::generic::Generic;
use crate::login::{self, Login};
use ralph_core::agent_event::AgentEvent;
use ralph_core::observation::{Ending, Failure};
use ralph_core::policy::AgentPolicy;

/// One agent program: how it is started and how its output is read.
pub trait Dialect: Sync {
    /// The name in settings, which is also the program's base name.
    fn name(&self) -> &'static str;

    /// The command line for one iteration; the prompt is not part of it.
    fn command(&self, agent: &AgentPolicy) -> CommandLine;

    /// A reader for one process that was started by [`Dialect::command`] with the same policy.
    fn reader(&self, agent: &AgentPolicy, prompt: &str) -> Box<dyn Reader>;

    /// How to install the program and log in, as the end of a sentence.
    fn hint(&self) -> &'static str;

    /// Variables by which this program marks what runs inside its own session. They are removed for
    /// every agent that ralph starts: a fresh process must not believe that it is nested.
    fn session_markers(&self) -> &'static [&'static str] {
        &[]
    }

    /// How to tell from outside whether the program is logged in and new enough; `None` if nobody
    /// can say, as of a program that ralph does not know.
    fn login(&self) -> Option<&'static Login> {
        login::of(self.name())
    }
}

/// Reads one process's standard output, line by line, in bounded memory.
pub trait Reader: Send {
    /// Takes a line without its newline and pushes its events.
    fn line(&mut self, line: &[u8], out: &mut Vec<AgentEvent>) -> LineKind;

    /// A line longer than is parsed passed by; its beginning, at most 64 KiB, is given.
    fn long_line(&mut self, head: &[u8], out: &mut Vec<AgentEvent>);

    /// Standard output ended.
    fn end(&mut self, out: &mut Vec<AgentEvent>);

    /// Whether the final result was seen, so that the process may be given only a linger time. It
    /// can become false again: some programs wake up and begin another turn.
    fn has_result(&self) -> bool;

    /// Why the process failed, or `None` if it ended well. `heard`: it said something;
    /// `done_marker`: it wrote the DONE file.
    fn failure(&self, ending: &Ending, stderr_tail: &str, heard: bool, done_marker: bool) -> Option<Failure>;
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
    /// Variables to set.
    pub env: Vec<(String, String)>,
    /// Variables to remove; none of them is in `env`.
    pub env_remove: Vec<String>,
    /// How the prompt gets in.
    pub delivery: Delivery,
}

/// Every dialect there is.
static DIALECTS: &[&dyn Dialect] = &[&Claude, &Generic];

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
            dialect: String::new(),
            model: String::new(),
            prompt_via: PromptVia::Auto,
            env: BTreeMap::new(),
            env_remove: Vec::new(),
            stream: true,
        }
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
        assert!(names().all(|name| by_name(name).is_some_and(|dialect| !dialect.hint().is_empty())));
    }
}
