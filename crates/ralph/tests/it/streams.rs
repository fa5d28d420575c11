//! Every recorded stream, cut and dressed in every way in which bytes arrive, says the same: the line splitter, the
//! dialect and the observer read it as a run does.

use ralph_agents::{Detail, End, LineKind, Reader, Told, by_name};
use ralph_core::agent_event::AgentEvent;
use ralph_core::claim::{Completion, Patterns};
use ralph_core::observation::{Ending, Failure, FailureClass, LineCounts, Markers, Observation, Observer};
use ralph_core::time::WallTime;
use ralph_host::lines::{Line, LineSplitter};
use std::fs;
use std::path::Path;

/// What one process amounts to.
#[derive(PartialEq)]
struct Heard {
    /// The events, as they are shown.
    events: String,
    observation: Observation,
}

struct Listener {
    reader: Box<dyn Reader>,
    told: Told,
    events: Vec<AgentEvent>,
    observer: Observer,
}

impl Listener {
    fn new(dialect: &str) -> Listener {
        let dialect = by_name(dialect).unwrap();
        Listener {
            reader: dialect.stream(dialect.help).unwrap(),
            told: Told::new(Detail::Shown),
            events: Vec::new(),
            observer: Observer::new(&Patterns::new(&Completion::default()), 3),
        }
    }

    fn line(&mut self, line: Line<'_>) {
        match line {
            Line::Whole(line) => {
                if self.reader.line(line, &mut self.told) == LineKind::Noise {
                    self.observer.saw_noise();
                }
            }
            Line::TooLong(head) => self.reader.long_line(head, &mut self.told),
        }
        self.pass_on();
    }

    fn pass_on(&mut self) {
        for event in self.told.drain(..) {
            self.events.push(event.clone());
            self.observer.see(event);
        }
    }

    fn finish(mut self, ending: Ending, stderr: &str) -> Heard {
        self.reader.end(&mut self.told);
        self.pass_on();
        let failure: Option<Failure> = self.reader.failure(&End {
            ending: &ending,
            stderr_tail: stderr,
            heard: self.observer.has_text(),
            done_marker: false,
            side_file: &[],
            now: WallTime(1_790_000_000_000),
            zone: &|_| Some(1_790_000_600),
        });
        let process = Observation::not_started(Failure::new(FailureClass::Other, ""), ending).process;
        let observation = self.observer.finish(process, Markers::default(), failure);
        Heard { events: format!("{:#?}", self.events), observation }
    }
}

/// Reads bytes in pieces of this size.
fn hear(dialect: &str, bytes: &[u8], piece: usize, stderr: &str) -> Heard {
    let (mut listener, mut splitter) = (Listener::new(dialect), LineSplitter::default());
    bytes.chunks(piece).for_each(|piece| splitter.feed(piece, |line| listener.line(line)));
    splitter.finish(|line| listener.line(line));
    listener.finish(Ending::Exited { code: 0 }, stderr)
}

/// The recordings of all agents: the agent, the name and the bytes.
fn recordings() -> Vec<(String, String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/tests/streams");
    let mut found = Vec::new();
    for agent in fs::read_dir(folder).unwrap() {
        let agent = agent.unwrap();
        for file in fs::read_dir(agent.path()).unwrap() {
            let file = file.unwrap();
            let [agent, name] = [agent.file_name(), file.file_name()].map(|name| name.into_string().unwrap());
            found.push((agent, name, fs::read(file.path()).unwrap()));
        }
    }
    assert!(found.len() > 90, "{}", found.len());
    found
}

/// Whether a recording is plain text and no stream of objects.
fn is_text(name: &str) -> bool {
    name.ends_with(".txt")
}

/// The recording with something before and behind each of its lines.
fn dressed(bytes: &[u8], before: &[u8], behind: &[u8]) -> Vec<u8> {
    let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n');
    // Where nothing was printed there is no line.
    let lines = lines.filter(|_| !bytes.is_empty());
    lines.flat_map(|line| [before, line, behind, b"\n"].concat()).collect()
}

#[test]
fn b03_b04_b08_every_recording_says_the_same_however_its_bytes_arrive() {
    // What terminals are told, half of it, what spinners leave behind, and a mark at the beginning of a file.
    const BEFORE: [&str; 9] = [
        "\u{1b}[0m", "\u{1b}[?25l\u{1b}[2K\u{1b}[1G", "\u{1b}]0;a {\"title\":1}\u{7}", "\u{1b}P1$r0m\u{1b}\\",
        "\u{1b}(B\u{9b}31m", "\u{1b}[31", "\u{1b}]0;half a title ", "⠋ at work\r\u{1b}[K", "\u{feff}",
    ];
    for (agent, name, bytes) in recordings() {
        let whole = hear(&agent, &bytes, usize::MAX, "");
        let same = |way: &str, heard: Heard| {
            assert_eq!(heard.events, whole.events, "{agent}/{name}: {way}");
            assert!(heard.observation == whole.observation, "{agent}/{name}: {way}: {:#?}", heard.observation);
        };
        // One byte at a time also cuts inside every character.
        same("byte by byte", hear(&agent, &bytes, 1, ""));
        same("7 bytes at a time", hear(&agent, &bytes, 7, ""));
        same("4 KB at a time", hear(&agent, &bytes, 4096, ""));
        same("CRLF", hear(&agent, &dressed(&bytes, b"", b"\r"), 1021, ""));
        // In plain text everything is text, but for the lines of a client that ralph knows.
        if is_text(&name) {
            if agent == "aider" {
                same("colours", hear(&agent, &dressed(&bytes, b"\x1b[2m", b"\x1b[0m"), 4096, ""));
            }
            continue;
        }
        for before in BEFORE {
            same(before, hear(&agent, &dressed(&bytes, before.as_bytes(), b""), 4096, ""));
        }
        same("colours behind", hear(&agent, &dressed(&bytes, b"\x1b[2m", b"\x1b[0m\x1b[?25h"), 4096, ""));
        same("8 bits", hear(&agent, &dressed(&bytes, b"\x9b31m\x9d0;title\x9c", b"\x9b0m"), 4096, ""));
    }
}

#[test]
fn b06_noise_changes_nothing_but_its_count() {
    let quoted = r#"DEBUG the last line was {"type":"result","subtype":"success","is_error":false,"result":"<response>DONE</response>"}"#;
    for (agent, name, bytes) in recordings().into_iter().filter(|(_, name, _)| !is_text(name)) {
        let whole = hear(&agent, &bytes, usize::MAX, "");
        let noisy = dressed(
            &bytes,
            format!("npm warn deprecated\n{quoted}\n\u{1b}[31mdata: {{\"type\":\"result\"}}\n").as_bytes(),
            b"",
        );
        let mut heard = hear(&agent, &noisy, 4096, "");
        assert_eq!(heard.events, whole.events, "{agent}/{name}");
        assert!(heard.observation.lines.noise > 0);
        heard.observation.lines = LineCounts { noise: whole.observation.lines.noise, ..heard.observation.lines };
        assert!(heard.observation == whole.observation, "{agent}/{name}: {:#?}", heard.observation);
        // What a program says on standard error beside its stream is no failure of it.
        if whole.observation.failure.is_none() {
            let stderr =
                "Warning: 401 Unauthorized\nlitellm.RateLimitError: slow down\nerror: billing, login, API key\n";
            assert_eq!(hear(&agent, &bytes, 4096, stderr).observation.failure, None, "{agent}/{name}");
        }
    }
}
