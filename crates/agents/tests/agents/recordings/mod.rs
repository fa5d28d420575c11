//! What the real programs printed, and what it amounts to.
//!
//! The recordings are whole and unchanged, one file here for each program.

mod claude;
mod later;
mod others;

use crate::hear;
use ralph_core::agent_event::AgentEvent;
use ralph_core::claim::Claim;
use ralph_core::observation::{Ending, FailureClass};

/// One recorded process.
struct Recording {
    agent: &'static str,
    name: &'static str,
    stdout: &'static [u8],
    stderr: &'static str,
    ending: Ending,
    expected: Expected,
}

/// What is to be read from it.
#[derive(Debug, PartialEq)]
struct Expected {
    /// The failure's class and a piece of its sentence.
    failure: Option<(FailureClass, &'static str)>,
    /// Whether completion is claimed; counts only without a failure.
    claimed: bool,
    cost_usd: Option<f64>,
    tokens_in_out: (u64, u64),
    /// Tools begun, ended, and ended in error.
    tools: [usize; 3],
    /// Errors reported.
    errors: usize,
}

macro_rules! recordings {
    ($agent:literal: $($row:tt)*) => { $crate::recordings::recordings![$agent in ".jsonl": $($row)*] };
    ($agent:literal in $ending_of_name:literal: $($name:literal $ending:ident($code:expr) $stderr:literal => $failure:expr, $claimed:literal, $cost:expr, $tokens:expr, $tools:expr, $errors:literal;)*) => {
        &[$(Recording {
            agent: $agent,
            name: $name,
            stdout: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/streams/", $agent, "/", $name, $ending_of_name)),
            stderr: $stderr,
            ending: $ending($code),
            expected: Expected {
                failure: $failure, claimed: $claimed, cost_usd: $cost, tokens_in_out: $tokens, tools: $tools, errors: $errors,
            },
        },)*]
    };
}

const fn exit(code: i32) -> Ending {
    Ending::Exited { code }
}

const fn signal(signal: i32) -> Ending {
    Ending::Signalled { signal }
}

use FailureClass::{CannotRun, Limited, Other, Silent, Transient};
pub(crate) use recordings;

const ALL: &[&[Recording]] = &[
    claude::RECORDINGS,
    others::CODEX,
    others::GEMINI,
    others::OPENCODE,
    others::QWEN,
    others::COPILOT,
    others::PI,
    later::GROK,
    later::CLINE,
    later::KIMI,
    later::AIDER,
    later::CN,
];

#[test]
fn every_recording_is_read_as_the_table_says() {
    for recording in ALL.iter().copied().flatten() {
        let heard = hear(recording.agent, "", recording.stdout);
        let observation = heard.observation(&recording.ending);
        let failure = heard.failure(&recording.ending, recording.stderr);
        let is_error = |event: &AgentEvent| matches!(event, AgentEvent::ToolEnd { error: true, .. });
        let read = Expected {
            failure: failure.as_ref().map(|failure| {
                let piece = recording.expected.failure.map_or("no failure", |(_, piece)| piece);
                (failure.class, if failure.message.contains(piece) { piece } else { "another sentence" })
            }),
            claimed: observation.claim == Claim::Complete,
            cost_usd: observation.cost_usd,
            tokens_in_out: (observation.tokens.input, observation.tokens.output),
            tools: [
                heard.count(|event| matches!(event, AgentEvent::ToolStart { .. })),
                heard.count(|event| matches!(event, AgentEvent::ToolEnd { .. })),
                heard.count(is_error),
            ],
            errors: observation.errors.len(),
        };
        let name = format!("{} {}", recording.agent, recording.name);
        assert_eq!(read, recording.expected, "{name}: {failure:?}");
        assert_eq!((heard.noise, observation.lines.unknown), (0, 0), "{name}: {:#?}", heard.events);
        let results = heard.count(|event| matches!(event, AgentEvent::Result { .. }));
        assert_eq!(heard.reader.has_result(), results > 0, "{name}");
    }
}
