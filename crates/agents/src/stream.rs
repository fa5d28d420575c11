//! A stream of JSON objects, one a line, as all dialects with events read it: splitting a line, reading around what is
//! broken, and weighing the exit against the last word of the stream.

use crate::advice::{Cause, Help};
use crate::complaint::Complaint;
use crate::dialect::{End, LineKind, Reader, SideFile, Told};
use crate::ending::{blamed, cause_of_code, ended_badly, ended_from_outside, reason_to_refuse};
use crate::json::{Cursor, Fields, List, Loose, Value};
use crate::terminal;
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::{Ending, Failure, FailureClass};
use ralph_core::text;

/// How often a line may be begun again: a spinner's turns. Each time all of the rest may have to be read.
const OVERWRITTEN: u32 = 1000;

/// Lines at the end of standard error that are looked at: a stack trace and what stands around it.
const STDERR_LINES: usize = 40;

pub(crate) trait Stream: Send {
    type Line<'a>: Fields<'a>;

    fn object(&mut self, line: &Self::Line<'_>, out: &mut Told);

    /// Standard output ended; pushes what was held back.
    fn end(&mut self, _out: &mut Told) {}

    /// Whether there was more than a greeting, which some programs print before they look around.
    fn has_begun(&self) -> bool {
        true
    }

    /// Whether the last turn is over and no other one has begun.
    fn is_over(&self) -> bool;

    /// How the last turn ended; `help` is about the program that was started.
    fn outcome(&self, end: &End<'_>, help: Help) -> Outcome;

    /// A file that says more than the stream about how it ended.
    fn side_file(&self) -> Option<SideFile> {
        None
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Answered,
    /// Without an error and without a word.
    Empty,
    Failed(Failure),
    /// Not at all: the stream broke off, and may have said why.
    Unfinished(Option<Failure>),
}

impl Outcome {
    pub(crate) fn of_answer(answer: &str) -> Outcome {
        if answer.trim().is_empty() { Outcome::Empty } else { Outcome::Answered }
    }
}

/// How a turn stands, in streams that say so in one place.
#[derive(Debug, Default)]
pub(crate) enum Turn {
    #[default]
    Open,
    Ended,
    Failed(Complaint),
}

pub(crate) struct StreamReader<S> {
    dialect: &'static str,
    help: Help,
    stream: S,
    lines: u64,
    /// Objects that the dialect knows.
    understood: u64,
    worked: bool,
    /// The beginning of the first line that was no event of this dialect.
    stranger: Option<String>,
}

impl<S: Stream> StreamReader<S> {
    pub(crate) fn new(dialect: &'static str, help: Help, stream: S) -> StreamReader<S> {
        StreamReader { dialect, help, stream, lines: 0, understood: 0, worked: false, stranger: None }
    }
}

impl<S: Stream> Reader for StreamReader<S> {
    fn line(&mut self, line: &[u8], out: &mut Told) -> LineKind {
        let line = line.trim_ascii();
        if terminal::behind(line).is_empty() {
            return LineKind::Event;
        }
        self.lines += 1;
        if self.objects(line, out) {
            return LineKind::Event;
        }
        // Stray control characters are no JSON, but what stands around them may be.
        match without_controls(line) {
            Some(mended) if self.objects(&mended, out) => LineKind::Event,
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

    fn end(&mut self, out: &mut Told) {
        self.stream.end(out);
    }

    fn has_result(&self) -> bool {
        self.stream.is_over()
    }

    fn side_file(&self) -> Option<SideFile> {
        self.stream.side_file()
    }

    /// The last turn, the exit code and the words must all agree that nothing failed.
    fn failure(&self, end: &End<'_>) -> Option<Failure> {
        let other = |message| Some(Failure::new(FailureClass::Other, message));
        let from_outside =
            ended_from_outside(end.ending, self.help).map(|failure| match self.stream.outcome(end, self.help) {
                Outcome::Unfinished(cause) => {
                    blamed(failure, end.ending, cause.or_else(|| self.refused_on_stderr(end)))
                }
                _ => failure,
            });
        from_outside.or_else(|| match (self.stream.outcome(end, self.help), ended_badly(end.ending, end.stderr_tail)) {
            (Outcome::Failed(failure), _) => Some(failure),
            (Outcome::Answered | Outcome::Empty, Some(failure)) => Some(failure),
            (Outcome::Empty, None) if !end.done_marker => Some(Failure::silent()),
            (Outcome::Answered | Outcome::Empty, None) => None,
            (Outcome::Unfinished(cause), failure) => cause
                .or_else(|| if self.has_begun() { None } else { refused_to_start(end, self.help, self.printed()) })
                .or_else(|| self.is_another_format(failure.as_ref()))
                .or(failure)
                .or_else(|| other("the agent ended without a result")),
        })
    }
}

impl<S: Stream> StreamReader<S> {
    /// Reads the objects of a line, or of one array around all of them; says whether there was any. Before an object
    /// may stand only what tells a terminal something, and what it writes over.
    fn objects(&mut self, text: &[u8], out: &mut Told) -> bool {
        let (mut rest, mut line, mut any) = (text, Loose::<S::Line<'_>>::default(), false);
        let mut overwritten = 0;
        loop {
            rest = terminal::behind(rest);
            let mut cursor = Cursor::new(rest);
            let read = match rest {
                [b'{', ..] => line.take(&mut cursor).and(line.0.as_ref()).map(|line| self.object(line, text, out)),
                [b'[', ..] => self.array(&mut cursor, text, out),
                _ => None,
            };
            any |= read.is_some();
            rest = match read {
                Some(()) => cursor.rest(),
                None => match terminal::behind_overwritten(rest).filter(|_| overwritten < OVERWRITTEN) {
                    Some(rest) => {
                        overwritten += 1;
                        rest
                    }
                    None => return any,
                },
            };
        }
    }

    fn array<'a>(&mut self, cursor: &mut Cursor<'a>, text: &[u8], out: &mut Told) -> Option<()> {
        let mut all = List::<S::Line<'a>>::default();
        all.take(cursor)?;
        all.items.iter().for_each(|line| self.object(line, text, out));
        (!all.items.is_empty()).then_some(())
    }

    fn object(&mut self, line: &S::Line<'_>, text: &[u8], out: &mut Told) {
        let before = out.len();
        self.stream.object(line, out);
        let works = |event: &AgentEvent| matches!(event, AgentEvent::ToolStart { .. } | AgentEvent::Text { .. });
        self.worked = self.worked || out.iter().skip(before).any(works);
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

    /// Why nothing was said or done at all: some programs repeat a refused request for as long as they may, and tell of it
    /// on standard error only. What stands there after work has begun is over, as far as anybody knows.
    fn refused_on_stderr(&self, end: &End<'_>) -> Option<Failure> {
        let complaints =
            end.stderr_tail.lines().rev().take(STDERR_LINES).map(|line| match line.split_once("APICallError: ") {
                Some((_, sentence)) => Complaint::new(sentence),
                None => Complaint::new(line).by_fields(),
            });
        let mut causes = complaints.filter(|complaint| matches!(complaint.cause(), Cause::Limit | Cause::Transient));
        causes.next().filter(|_| !self.worked).map(|complaint| complaint.failure(self.help, end))
    }

    fn printed(&self) -> Printed {
        if self.lines > self.understood { Printed::SomethingElse } else { Printed::Nothing }
    }

    fn has_begun(&self) -> bool {
        self.understood > 0 && self.stream.has_begun()
    }

    /// Nothing of what was printed belongs to this dialect.
    fn is_another_format(&self, ended_badly: Option<&Failure>) -> Option<Failure> {
        let stranger = self.stranger.as_ref().filter(|_| self.understood == 0)?;
        let ended = ended_badly.map_or(String::new(), |failure| format!("{}; ", failure.message));
        let dialect = self.dialect;
        let message = format!(
            "{ended}the output is not what the dialect `{dialect}` expects, it begins with `{stranger}`: set \
             `agent.dialect` to the dialect of the program, or to `generic` with `agent.format` for what it prints"
        );
        Some(Failure::new(FailureClass::Other, message))
    }
}

/// A reader for one process of a program whose stream needs nothing to begin with.
pub(crate) fn reader<S: Stream + Default + 'static>(dialect: &'static str, help: Help) -> Box<dyn Reader> {
    Box::new(StreamReader::new(dialect, help, S::default()))
}

/// What a program printed before it exited without having begun.
#[derive(PartialEq)]
enum Printed {
    /// Nothing, or a greeting.
    Nothing,
    SomethingElse,
}

/// Why a program failed that exited before it printed anything: all programs say that alike.
pub(crate) fn failure_of_silence(help: Help, end: &End<'_>) -> Option<Failure> {
    refused_to_start(end, help, Printed::Nothing).or_else(|| ended_badly(end.ending, end.stderr_tail))
}

/// A wrong flag, a version that is too old, root without a sandbox, a session inside a session:
/// programs say so on standard error and exit before they print anything, and would do so every time.
fn refused_to_start(end: &End<'_>, help: Help, printed: Printed) -> Option<Failure> {
    // 126 and 127 are a shell's or a loader's; 1 and 2 are what argument parsers use; 41, 42 and 52 are login, input and settings by the
    // documentation of Gemini CLI and its descendants.
    let refused = matches!(end.ending, Ending::Exited { code: 1 | 2 | 41 | 42 | 52 | 126 | 127 });
    let reason = reason_to_refuse(end.stderr_tail).filter(|_| refused)?;
    let complaint = Complaint::new(&reason);
    let cause = match (cause_of_code(end.ending), end.ending) {
        (Some(cause), _) => cause,
        (None, Ending::Exited { code: 41 }) => Cause::Login,
        _ if holds(&reason, UNKNOWN_FLAG) => Cause::Flag,
        _ if holds(&reason, TOO_OLD) => Cause::Version,
        _ => complaint.cause(),
    };
    if matches!(cause, Cause::Transient | Cause::Limit) {
        return Some(complaint.failure(help, end));
    }
    // Another format is explained elsewhere, and a crash says nothing about the next start.
    if cause == Cause::Other && (printed == Printed::SomethingElse || holds(end.stderr_tail, CRASHED)) {
        return None;
    }
    let sentence = format!("the agent refused to start: {reason}");
    Some(Failure::new(FailureClass::CannotRun, cause.advise(&sentence, help)))
}

const UNKNOWN_FLAG: &[&str] =
    &["unexpected argument", "unknown option", "unknown argument", "unrecognized", "unknown flag", "invalid option"];
/// What programs say of themselves, or of what they run on, if it is too old.
const TOO_OLD: &[&str] =
    &["requires node", "node.js version", "node version", "minimum version", "please update", "unsupported engine"];

/// What programs, shells and runtimes say of a process that broke down.
const CRASHED: &[&str] = &[
    "segmentation fault", "core dumped", "bus error", "illegal instruction", "aborted (", "out of memory",
    "cannot allocate memory", "panicked at", "traceback (most recent call last)", "\n    at ", "uncaught exception",
    "enospc", "no space left on device", "emfile", "too many open files", "enomem", "eagain",
];

fn holds(reason: &str, words: &[&str]) -> bool {
    let reason = reason.to_lowercase();
    words.iter().any(|words| reason.contains(words))
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
