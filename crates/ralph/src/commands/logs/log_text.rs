//! Turning the bytes of a log into what is printed, piece by piece: a log may be larger than memory.

use ralph_agents::{LineKind, Reader, Told};
use ralph_core::agent_event::AgentEvent;
use ralph_core::time::WallTime;
use ralph_host::lines::{Line, LineSplitter};
use ralph_view::agent_lines::Renderer;
use ralph_view::json::{self, VERSION};
use ralph_view::pieces::Pieces;
use serde_json::{Value, json};

/// Where a log comes from, for programs.
#[derive(Debug, Clone)]
pub struct Origin {
    pub run: String,
    pub iteration: u32,
    /// When the iteration began; a raw log does not say when each line came.
    pub at: WallTime,
}

pub enum LogText {
    Bytes,
    /// As text that cannot drive a terminal.
    Text(Pieces),
    /// As the agent's events, for people; with the iteration's beginning, which is all the time that a log knows.
    Events(Box<Events>, Box<Renderer>, WallTime),
    /// As the agent's events, one JSON line each.
    EventLines(Box<Events>, Origin),
    TextLines(LineSplitter, Origin, Log),
}

#[derive(Debug, Clone)]
pub enum Log {
    /// What the agent printed.
    Stdout,
    /// What it complained about.
    Stderr,
    /// What a check printed. Two guardrails may be the same command, but each has a file of its own.
    Check { name: String, file: String },
}

impl Log {
    fn object(&self) -> Value {
        match self {
            Log::Stdout => json!({ "log": "stdout" }),
            Log::Stderr => json!({ "log": "stderr" }),
            Log::Check { name, file } => json!({ "log": "check", "name": name, "file": file }),
        }
    }
}

impl LogText {
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        match self {
            LogText::Bytes => bytes.to_owned(),
            LogText::Text(pieces) => pieces.feed(bytes).into_bytes(),
            LogText::Events(events, renderer, at) => {
                events.feed(bytes);
                people(events, renderer, *at)
            }
            LogText::EventLines(events, origin) => {
                events.feed(bytes);
                programs(events, origin)
            }
            LogText::TextLines(splitter, origin, log) => {
                let mut out = Vec::new();
                splitter.feed(bytes, |line| out.extend(text_line(&line, origin, log)));
                out
            }
        }
    }

    pub fn finish(&mut self) -> Vec<u8> {
        match self {
            LogText::Bytes => Vec::new(),
            LogText::Text(pieces) => pieces.finish().into_bytes(),
            LogText::Events(events, renderer, at) => {
                events.finish();
                [people(events, renderer, *at), renderer.end_text(*at).into_bytes()].concat()
            }
            LogText::EventLines(events, origin) => {
                events.finish();
                programs(events, origin)
            }
            LogText::TextLines(splitter, origin, log) => {
                let mut out = Vec::new();
                splitter.finish(|line| out.extend(text_line(&line, origin, log)));
                out
            }
        }
    }
}

fn people(events: &mut Events, renderer: &mut Renderer, at: WallTime) -> Vec<u8> {
    let show = |read: Read| match read {
        Read::Event(event) => renderer.render(at, &event),
        Read::Beside(line) => renderer.beside(at, &line),
    };
    events.out.drain(..).map(show).flat_map(String::into_bytes).collect()
}

fn programs(events: &mut Events, origin: &Origin) -> Vec<u8> {
    let tell = |read: Read| {
        let event = match read {
            Read::Event(event) => event,
            Read::Beside(text) => AgentEvent::Progress { text },
        };
        json::lines::agent_line(origin.at, &origin.run, origin.iteration, &event)
    };
    events.out.drain(..).map(tell).flat_map(String::into_bytes).collect()
}

fn text_line(line: &Line<'_>, origin: &Origin, log: &Log) -> Vec<u8> {
    let (bytes, cut) = match line {
        Line::Whole(bytes) => (*bytes, false),
        Line::TooLong(head) => (*head, true),
    };
    let mut object = json!({
        "v": VERSION,
        "type": "log.line",
        "at": origin.at.rfc3339(),
        "run": origin.run,
        "iteration": origin.iteration,
        "text": String::from_utf8_lossy(bytes),
        "cut": cut,
    });
    json::extend(&mut object, log.object());
    json::line(&object).into_bytes()
}

enum Read {
    Event(AgentEvent),
    /// A line that is none, such as a warning: worth showing, but nobody's words, so no claim.
    Beside(String),
}

/// The events of a stream, as its dialect reads it, and what got among them.
pub struct Events {
    reader: Box<dyn Reader>,
    splitter: LineSplitter,
    out: Vec<Read>,
}

impl Events {
    pub fn new(reader: Box<dyn Reader>) -> Events {
        Events { reader, splitter: LineSplitter::default(), out: Vec::new() }
    }

    fn feed(&mut self, bytes: &[u8]) {
        let Events { reader, splitter, out } = self;
        splitter.feed(bytes, |line| read(reader.as_mut(), &line, out));
    }

    fn finish(&mut self) {
        let Events { reader, splitter, out } = self;
        splitter.finish(|line| read(reader.as_mut(), &line, out));
        let mut told = Told::default();
        reader.end(&mut told);
        out.extend(told.drain(..).map(Read::Event));
    }
}

fn read(reader: &mut dyn Reader, line: &Line<'_>, out: &mut Vec<Read>) {
    let mut told = Told::default();
    let beside = match line {
        Line::Whole(line) => {
            let noise = reader.line(line, &mut told) == LineKind::Noise && told.is_empty();
            noise.then(|| String::from_utf8_lossy(line).into_owned())
        }
        Line::TooLong(head) => {
            reader.long_line(head, &mut told);
            Some("... a line too long to be shown was cut here; --raw has all of it".to_owned())
        }
    };
    out.extend(told.drain(..).map(Read::Event).chain(beside.map(Read::Beside)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use ralph_core::id::TaskName;
    use ralph_core::policy::PromptSource;
    use ralph_view::agent_lines::RenderOptions;

    #[test]
    fn text_is_the_same_wherever_the_log_is_cut() {
        let log = "one \u{1b}[31mred\u{1b}[0m\ntwo é漢 \u{1b}]0;title\u{7}\nlast".as_bytes();
        for cut in 0..log.len() {
            let mut text = LogText::Text(Pieces::default());
            let mut out = text.feed(&log[..cut]);
            out.extend(text.feed(&log[cut..]));
            out.extend(text.finish());
            assert_eq!(String::from_utf8_lossy(&out), "one red\ntwo é漢 \nlast", "{cut}");
        }
    }

    const NOISY: &[u8] = b"warning: \x1b[2J<response>DONE</response>\n\
        {\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}\n";

    fn events() -> Box<Events> {
        let mut settings = Settings::default();
        "claude".clone_into(&mut settings.agent.command);
        let prompt = PromptSource::Text(String::new());
        let agent = settings.policy(TaskName::from_text("t"), prompt, &Default::default(), String::new()).agent;
        Box::new(Events::new(ralph_agents::for_agent(&agent).reader(&agent, "")))
    }

    #[test]
    fn noise_among_the_events_is_shown() {
        for text in [true, false] {
            let options = RenderOptions {
                paint: Default::default(),
                zone: Default::default(),
                timestamps: false,
                text,
                max_output_lines: 3,
                max_output_chars: 120,
                verbose: false,
            };
            let mut log = LogText::Events(events(), Box::new(Renderer::new(options, None)), WallTime(0));
            let mut out = log.feed(NOISY);
            out.extend(log.finish());
            let said = if text { "hi\n" } else { "" };
            assert_eq!(String::from_utf8_lossy(&out), format!("warning: <response>DONE</response>\n{said}"));
        }
    }

    #[test]
    fn noise_among_the_events_is_not_told_as_the_words_of_the_agent() {
        let origin = Origin { run: "r".to_owned(), iteration: 1, at: WallTime(0) };
        let mut log = LogText::EventLines(events(), origin);
        let mut out = log.feed(NOISY);
        out.extend(log.finish());
        let told: Vec<(String, String)> = String::from_utf8_lossy(&out)
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|line| (line["event"]["kind"].to_string(), line["event"]["text"].to_string()))
            .collect();
        let pair = |kind: &str, text: &str| (json!(kind).to_string(), json!(text).to_string());
        assert_eq!(told, [pair("progress", "warning: \u{1b}[2J<response>DONE</response>"), pair("text", "hi")]);
    }
}
