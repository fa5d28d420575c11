//! A stream of JSON objects, one a line: what all dialects with events read alike.
//!
//! A dialect names the shape of its lines and says what an object means. Splitting a line, reading
//! around what is broken, counting what is no event and weighing the exit against the last word of
//! the stream is the same for all of them and stands here.

use crate::complaint::Complaint;
use crate::dialect::{End, LineKind, Reader, SideFile, Told};
use crate::ending::{ended_badly, ended_from_outside, reason_to_refuse};
use crate::json::{Cursor, Fields, List, Loose, Value, read};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::{Ending, Failure, FailureClass};
use ralph_core::text;

/// What one dialect makes of the objects in its stream.
pub(crate) trait Stream: Send {
    /// The fields of an object, as far as they are read.
    type Line<'a>: Fields<'a>;

    /// Takes one object and pushes its events.
    fn object(&mut self, line: &Self::Line<'_>, out: &mut Told);

    /// Whether there was more than a greeting, which some programs print before they look around.
    fn has_begun(&self) -> bool {
        true
    }

    /// Whether the last turn is over and no other one has begun.
    fn is_over(&self) -> bool;

    /// How the last turn ended.
    fn outcome(&self, end: &End<'_>) -> Outcome;

    /// A file that says more than the stream about how it ended.
    fn side_file(&self) -> Option<SideFile> {
        None
    }
}

/// How the last turn of a process ended, by its stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// With an answer.
    Answered,
    /// Without an error and without a word.
    Empty,
    /// With an error.
    Failed(Failure),
    /// Not at all: the stream broke off, and may have said why.
    Unfinished(Option<Failure>),
}

impl Outcome {
    /// The outcome of a turn that ended without an error.
    pub(crate) fn of_answer(answer: &str) -> Outcome {
        if answer.trim().is_empty() { Outcome::Empty } else { Outcome::Answered }
    }
}

/// How a turn stands, in streams that say so in one place.
#[derive(Debug, Default)]
pub(crate) enum Turn {
    /// It is going on.
    #[default]
    Open,
    /// It ended well.
    Ended,
    /// It ended with this error.
    Failed(String),
}

/// Whose stream is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Speaker {
    /// The dialect's name.
    pub(crate) dialect: &'static str,
    /// How to get the program and log in.
    pub(crate) hint: &'static str,
}

/// Reads one process.
pub(crate) struct StreamReader<S> {
    speaker: Speaker,
    stream: S,
    /// Lines that hold something.
    lines: u64,
    /// Objects that the dialect knows.
    understood: u64,
    /// The beginning of the first line that was no event of this dialect.
    stranger: Option<String>,
}

impl<S: Stream> StreamReader<S> {
    /// A reader for one process.
    pub(crate) fn new(speaker: Speaker, stream: S) -> StreamReader<S> {
        StreamReader { speaker, stream, lines: 0, understood: 0, stranger: None }
    }
}

impl<S: Stream> Reader for StreamReader<S> {
    fn line(&mut self, line: &[u8], out: &mut Told) -> LineKind {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return LineKind::Event;
        }
        self.lines += 1;
        if self.objects(line, out) {
            return LineKind::Event;
        }
        // Stray control characters are no JSON, but what stands around them may be.
        match without_controls(line) {
            Some(mended) if self.objects(mended.trim_ascii(), out) => LineKind::Event,
            _ => {
                self.is_strange(line);
                LineKind::Noise
            }
        }
    }

    fn long_line(&mut self, _head: &[u8], out: &mut Told) {
        // What a tool's end says last is whether it failed, so its beginning alone proves nothing.
        self.lines += 1;
        out.push(AgentEvent::Progress { text: "a line too long to be read was passed over".to_owned() });
    }

    fn end(&mut self, _out: &mut Told) {}

    fn has_result(&self) -> bool {
        self.stream.is_over()
    }

    fn side_file(&self) -> Option<SideFile> {
        self.stream.side_file()
    }

    /// The last turn, the exit code and the words must all agree that nothing failed.
    fn failure(&self, end: &End<'_>) -> Option<Failure> {
        let other = |message| Some(Failure::new(FailureClass::Other, message));
        let from_outside = ended_from_outside(end.ending, self.speaker.hint).map(|failure| self.blamed(failure, end));
        from_outside.or_else(|| match (self.stream.outcome(end), ended_badly(end.ending, end.stderr_tail)) {
            (Outcome::Failed(failure), _) => Some(failure),
            (Outcome::Answered | Outcome::Empty, Some(failure)) => Some(failure),
            (Outcome::Empty, None) if !end.done_marker => other("empty answer"),
            (Outcome::Answered | Outcome::Empty, None) => None,
            (Outcome::Unfinished(cause), failure) => cause
                .or_else(|| self.refused_to_start(end))
                .or_else(|| self.is_another_format(failure.as_ref()))
                .or(failure)
                .or_else(|| other("the agent ended without a result")),
        })
    }
}

impl<S: Stream> StreamReader<S> {
    /// Reads the objects of a line, or of one array around all of them, which some programs print
    /// when they are asked for JSON without a stream; says whether there was any.
    fn objects(&mut self, text: &[u8], out: &mut Told) -> bool {
        if text.starts_with(b"[") {
            let all: List<S::Line<'_>> = read(text).unwrap_or_default();
            all.items.iter().for_each(|line| self.object(line, text, out));
            return !all.items.is_empty();
        }
        let (mut line, mut cursor, mut any) = (Loose::<S::Line<'_>>::default(), Cursor::new(text), false);
        while line.take(&mut cursor).is_some() {
            let Some(line) = &line.0 else { break };
            self.object(line, text, out);
            any = true;
        }
        any
    }

    fn object(&mut self, line: &S::Line<'_>, text: &[u8], out: &mut Told) {
        let before = out.len();
        self.stream.object(line, out);
        let is_unknown = |event: &AgentEvent| matches!(event, AgentEvent::Unknown { .. });
        match out.get(before..) {
            Some([first, ..]) if is_unknown(first) => self.is_strange(text),
            _ => self.understood += 1,
        }
    }

    fn is_strange(&mut self, text: &[u8]) {
        // As much as fits into a sentence.
        let sentence = || text::cut(&text::without_controls(&String::from_utf8_lossy(text)), 80, "...");
        self.stranger.get_or_insert_with(sentence);
    }

    /// A client that only repeated a refused request until its time was up failed for that reason.
    fn blamed(&self, failure: Failure, end: &End<'_>) -> Failure {
        let of_time = matches!(end.ending, Ending::TimedOut { .. } | Ending::Idle { .. });
        match self.stream.outcome(end) {
            Outcome::Unfinished(Some(cause))
                if of_time && matches!(cause.class, FailureClass::Transient | FailureClass::Limited) =>
            {
                Failure { message: format!("{}; it last said: {}", failure.message, cause.message), ..cause }
            }
            _ => failure,
        }
    }

    /// A wrong flag, a version that is too old, root without a sandbox, a session inside a session:
    /// programs say so on standard error and exit before they print anything, and would do so every time.
    fn refused_to_start(&self, end: &End<'_>) -> Option<Failure> {
        // 126 and 127 are a shell's or a loader's; 1 and 2 are what argument parsers use; 41, 42 and 52 are login, input and settings by the
        // documentation of Gemini CLI and its descendants.
        let refused = matches!(end.ending, Ending::Exited { code: 1 | 2 | 41 | 42 | 52 | 126 | 127 });
        let reason = reason_to_refuse(end.stderr_tail).filter(|_| refused && !self.has_begun())?;
        let (complaint, hint) = (Complaint::new(&reason), self.speaker.hint);
        let class = complaint.class();
        if matches!(class, FailureClass::Transient | FailureClass::Limited) {
            return Some(complaint.failure(hint));
        }
        // What was printed instead of a stream may be another format, which is explained elsewhere.
        if self.lines > self.understood && class == FailureClass::Other {
            return None;
        }
        let advice = if is_about_a_flag(&reason) {
            format!(
                "; take the flag out of `agent.flags` if it stands there, else the installed version is not the one that ralph knows: {hint}"
            )
        } else if class == FailureClass::CannotRun {
            format!("; {hint}")
        } else {
            String::new()
        };
        Some(Failure::new(FailureClass::CannotRun, format!("the agent refused to start: {reason}{advice}")))
    }

    fn has_begun(&self) -> bool {
        self.understood > 0 && self.stream.has_begun()
    }

    /// Nothing of what was printed belongs to this dialect.
    fn is_another_format(&self, ended_badly: Option<&Failure>) -> Option<Failure> {
        let stranger = self.stranger.as_ref().filter(|_| self.understood == 0)?;
        let ended = ended_badly.map_or(String::new(), |failure| format!("{}; ", failure.message));
        let dialect = self.speaker.dialect;
        let message = format!(
            "{ended}the output is not what the dialect `{dialect}` expects, it begins with `{stranger}`: set \
             `agent.dialect` to the dialect of the program, or to `generic` with `agent.format` for what it prints"
        );
        Some(Failure::new(FailureClass::Other, message))
    }
}

/// Why a program failed that printed nothing before it exited: what all programs say then means the same, whatever they
/// would have printed.
pub(crate) fn failure_of_silence(speaker: Speaker, end: &End<'_>) -> Option<Failure> {
    StreamReader::new(speaker, Silence).failure(end)
}

/// A stream in which nothing stands.
struct Silence;

crate::json::fields! {
    struct NoLine<'a> {
        kind = "type",
    }
}

impl Stream for Silence {
    type Line<'a> = NoLine<'a>;

    fn object(&mut self, line: &NoLine<'_>, out: &mut Told) {
        out.push(unknown("message type", line.kind.word()));
    }

    fn is_over(&self) -> bool {
        false
    }

    fn outcome(&self, _end: &End<'_>) -> Outcome {
        Outcome::Unfinished(None)
    }
}

fn is_about_a_flag(reason: &str) -> bool {
    let reason = reason.to_lowercase();
    ["unexpected argument", "unknown option", "unknown argument", "unrecognized", "unknown flag", "invalid option"]
        .iter()
        .any(|words| reason.contains(words))
}

/// The line with blanks for its control characters, if it has any.
fn without_controls(line: &[u8]) -> Option<Vec<u8>> {
    let is_control = |byte: u8| byte.is_ascii_control() && byte != b'\t';
    let blanked = || line.iter().map(|&byte| if is_control(byte) { b' ' } else { byte }).collect();
    line.iter().any(|&byte| is_control(byte)).then(blanked)
}

/// An object of a kind that the dialect does not know; `what` ends before the colon.
pub(crate) fn unknown(what: &str, name: &str) -> AgentEvent {
    AgentEvent::Unknown { what: format!("unknown {what}: {}", text::prefix(name, 100)) }
}

/// Words of somebody, if there are any.
pub(crate) fn say(text: String, voice: Voice, out: &mut Told) {
    if !text.is_empty() {
        out.push(AgentEvent::Text { text, voice, delta: false });
    }
}

/// A piece of a message of the main agent, if there is anything in it.
pub(crate) fn say_piece(text: String, out: &mut Told) {
    if !text.is_empty() {
        out.push(AgentEvent::Text { text, voice: Voice::Main, delta: true });
    }
}
