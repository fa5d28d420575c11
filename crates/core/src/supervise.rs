//! Supervision: how a root agent is kept running, and the words that go with it. The loop itself is the
//! one that every run goes through; `run::kinds::supervised` holds its transitions.

use crate::id::TaskName;
use crate::inbox::{self, Requests};
use crate::observation::{Ending, Observation};
use crate::policy::{AgentPolicy, Kind, Limits, Policy, PromptVia};
use crate::text;
use crate::time::Millis;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A process that wrote DONE and lives on has this long to end by itself, like any agent after its result.
const LINGER: Millis = Millis::from_secs(30);
/// Characters of a failed process's last line: enough for any error's first sentence.
const LAST_WORDS: usize = 300;
/// The exit code by which an agent asks not to be started again.
pub const WAIT_EXIT: i32 = 42;
/// A command that fails sooner than this has not worked at all.
const AT_ONCE: Millis = Millis::from_secs(1);
/// So many of those…
const START_LIMIT: usize = 5;
/// …within this time are enough to know that the next will fail too.
const START_SPAN: Millis = Millis::from_secs(60);

/// How a root agent is kept running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supervision {
    /// The project, as messages name it.
    pub project: String,
    /// The task folder, where DONE and the bus are.
    pub task_folder: String,
    pub folder: String,
    /// The pause between two starts.
    pub restart_delay: Millis,
    /// How often the markers are looked at where nothing tells that they changed.
    pub poll: Millis,
}

/// The limits of a supervised run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restarts {
    /// How many starts there may be, at least 1.
    pub most: u32,
    /// How long one may run; zero for no limit.
    pub timeout: Millis,
    /// How long one may neither print nor compute; zero for no limit.
    pub idle: Millis,
    /// How long child runs are waited for.
    pub child_wait: Millis,
}

/// The policy of a supervised run: no prompt, no checks, no memory, and DONE alone ends it well.
pub fn policy(task: TaskName, command: &[String], restarts: Restarts, supervision: Supervision) -> Policy {
    let (program, flags) =
        command.split_first().map_or((String::new(), &[][..]), |(first, rest)| (first.clone(), rest));
    Policy {
        kind: Kind::Supervised(supervision),
        limits: Limits {
            max_iterations: restarts.most,
            iteration: restarts.timeout,
            idle: restarts.idle,
            linger: LINGER,
            child_wait: restarts.child_wait,
            ..Limits::default()
        },
        agent: AgentPolicy {
            command: program,
            flags: flags.to_vec(),
            whole_flags: true,
            dialect: "generic".to_owned(),
            prompt_via: PromptVia::Stdin,
            stream: true,
            ..AgentPolicy::default()
        },
        ..Policy::new(task)
    }
}

/// Whether a start went well: only the process's own end says it.
pub(crate) fn went_well(seen: &Observation) -> bool {
    matches!(seen.process.ending, Ending::Exited { code: 0 | WAIT_EXIT })
}

/// The last line that a process wrote to standard error.
pub(crate) fn last_words(seen: &Observation) -> Option<String> {
    let line = seen.process.stderr_tail.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(text::cut(text::without_controls(line).trim(), LAST_WORDS, "..."))
}

/// How a start went, in a few words.
pub(crate) fn how(ending: &Ending) -> String {
    match ending {
        Ending::Exited { code } => format!("exit {code}"),
        Ending::Signalled { signal } => format!("signal {signal}"),
        Ending::NotStarted { reason, .. } => reason.clone(),
        Ending::TimedOut { limit } => format!("timeout after {limit}"),
        Ending::Idle { limit } => format!("idle for {limit}"),
        Ending::Lingered => "did not end after DONE".to_owned(),
        Ending::Stopped => "stopped".to_owned(),
        Ending::KeeperLost => "its keeper was killed".to_owned(),
    }
}

/// The last failures that came at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct StartLimit {
    failed_at: VecDeque<Millis>,
}

impl StartLimit {
    /// Takes a start that ended at `now`; says whether the next one would be in vain.
    pub(crate) fn reached(&mut self, seen: &Observation, now: Millis) -> bool {
        if went_well(seen) || seen.process.duration >= AT_ONCE {
            return false;
        }
        if self.failed_at.len() == START_LIMIT {
            self.failed_at.pop_front();
        }
        self.failed_at.push_back(now);
        let first = self.failed_at.front().filter(|_| self.failed_at.len() == START_LIMIT);
        first.is_some_and(|&first| now.minus(first) <= START_SPAN)
    }

    /// Why nothing is started any more.
    pub(crate) fn words(last: &Ending) -> String {
        format!(
            "the command failed at once {START_LIMIT} times within {START_SPAN} ({}), so it is not started again",
            how(last)
        )
    }
}

/// What a start is told on standard input: nothing the first time, unless somebody wants something.
/// One that was begun before has its number and the most that there may be.
pub(crate) fn prompt(again: Option<(u32, u32)>, requests: &Requests) -> String {
    let mut parts = Vec::new();
    if let Some((number, most)) = again {
        parts.push(format!(
            "You continue: this is start {number} of at most {most}. Earlier ones did not complete the task; look \
             at what they left in the task folder, and go on from it."
        ));
    }
    if !requests.is_empty() {
        parts.push(inbox::section(requests));
    }
    if parts.is_empty() { String::new() } else { parts.join("\n\n") + "\n" }
}
