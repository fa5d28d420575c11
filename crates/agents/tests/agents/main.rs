//! Dialects against what the real programs printed, and against what should never be printed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod alike;
mod cases;
mod faults;
mod recordings;

use ralph_agents::{Detail, End, LineKind, Reader, Told, by_name};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::claim::{Completion, Patterns};
use ralph_core::observation::{Ending, Failure, Markers, Observation, Observer, ProcessFacts};
use ralph_core::policy::{AgentPolicy, PromptVia};
use ralph_core::time::{LocalTime, Millis, WallTime};

/// A process's output, read to its end.
struct Heard {
    events: Vec<AgentEvent>,
    noise: usize,
    reader: Box<dyn Reader>,
}

/// Reads a whole stream in the dialect of that name.
fn hear(dialect: &str, prompt: &str, stdout: &[u8]) -> Heard {
    let [shown, unseen] = [Detail::Shown, Detail::Unseen].map(|detail| hear_in_detail(dialect, prompt, stdout, detail));
    let counts = |heard: &Heard| heard.events.iter().cloned().map(what_counts).collect::<Vec<_>>();
    let (counted, told) = (counts(&shown), counts(&unseen));
    // A sum of money that is no number is not even equal to itself.
    assert!(counted == told || format!("{counted:?}") == format!("{told:?}"), "it matters who looks: {dialect}");
    shown
}

/// An event without what is only for show.
fn what_counts(mut event: AgentEvent) -> AgentEvent {
    match &mut event {
        AgentEvent::ToolStart { input, .. } => input.clear(),
        AgentEvent::ToolEnd { output, lines, chars, .. } => {
            output.clear();
            (*lines, *chars) = (0, 0);
        }
        _ => {}
    }
    event
}

fn hear_in_detail(dialect: &str, prompt: &str, stdout: &[u8], detail: Detail) -> Heard {
    let agent = AgentPolicy {
        command: dialect.to_owned(),
        flags: Vec::new(),
        whole_flags: false,
        dialect: String::new(),
        format: String::new(),
        model: String::new(),
        prompt_via: PromptVia::Auto,
        env: Default::default(),
        env_remove: Vec::new(),
        stream: true,
    };
    let mut reader = by_name(dialect).unwrap().reader(&agent, prompt);
    let mut events = Told::new(detail);
    let mut noise = 0;
    for line in stdout.strip_suffix(b"\n").unwrap_or(stdout).split(|&byte| byte == b'\n') {
        noise += usize::from(reader.line(line, &mut events) == LineKind::Noise);
    }
    reader.end(&mut events);
    Heard { events: events.drain(..).collect(), noise, reader }
}

/// Reads lines of claude's stream.
fn claude(stdout: &str) -> Heard {
    hear("claude", "", stdout.as_bytes())
}

impl Heard {
    fn failure(&self, ending: &Ending, stderr: &str) -> Option<Failure> {
        self.failure_with(ending, stderr, b"")
    }

    fn failure_with(&self, ending: &Ending, stderr_tail: &str, side_file: &[u8]) -> Option<Failure> {
        let heard = !self.text().trim().is_empty();
        let now = WallTime(1_790_000_000_000);
        self.reader.failure(&End { ending, stderr_tail, heard, done_marker: false, side_file, now, zone: &utc })
    }

    /// What core makes of it.
    fn observation(&self, ending: &Ending) -> Observation {
        let mut observer = Observer::new(&Patterns::new(&Completion::default()), 0);
        self.events.iter().cloned().for_each(|event| observer.see(event));
        let process = ProcessFacts {
            ending: ending.clone(),
            duration: Millis::ZERO,
            bytes: 0,
            leaked: Vec::new(),
            leaked_count: 0,
            stderr_tail: String::new(),
            children: Vec::new(),
        };
        observer.finish(process, Markers::default(), self.failure(ending, ""))
    }

    /// The main agent's own words, message by message; pieces of one are put together.
    fn text(&self) -> String {
        let (mut messages, mut goes_on): (Vec<String>, bool) = (Vec::new(), false);
        for event in &self.events {
            match (event, messages.last_mut()) {
                (AgentEvent::Text { text, voice: Voice::Main, .. }, Some(message)) if goes_on => message.push_str(text),
                (AgentEvent::Text { text, voice: Voice::Main, .. }, _) => messages.push(text.clone()),
                _ => {}
            }
            goes_on = matches!(event, AgentEvent::Text { delta: true, .. });
        }
        messages.join("|")
    }

    fn count(&self, wanted: impl Fn(&AgentEvent) -> bool) -> usize {
        self.events.iter().filter(|event| wanted(event)).count()
    }
}

/// The zone of these tests.
fn utc(at: LocalTime) -> Option<i64> {
    let (year, month, day) = at.date?;
    let days_before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][usize::try_from(month).unwrap() - 1];
    let years = i64::from(year) - 1970;
    // Right for years of three hundred and sixty-five days, which 2027 is.
    let days = years * 365 + (years + 1) / 4 + days_before + i64::from(day) - 1;
    Some((days * 24 + i64::from(at.hour)) * 3600 + i64::from(at.minute) * 60)
}
