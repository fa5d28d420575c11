//! Any program that takes a prompt and prints text. Its whole output is its own text, less an echoed prompt; its exit
//! code says how it went, and what it says about a failure counts as [`crate::plain`] tells.

use crate::advice::Help;
use crate::command::Arguments;
use crate::dialect::{Dialect, End, LineKind, Prints, Reader, Told};
use crate::echo::{EchoFilter, push_text};
use crate::ending::{blamed, cause_of_code, ended_badly, ended_from_outside};
use crate::plain::Printed;
use ralph_core::agent_event::AgentEvent;
use ralph_core::observation::{Ending, Failure, FailureClass};

/// The dialect of any other command.
pub(crate) const DIALECT: Dialect = Dialect {
    name: "generic",
    help: Help {
        install: "a program that is there can be named with --agent, and for later runs with `agent.command`",
        login: "start the program once by hand, or set its key in `agent.env`",
    },
    login: None,
    session_markers: &[],
    command: |agent| Arguments::of(agent).command(agent, &[]),
    prints: Prints::Named,
};

/// Reads plain text; also for agents that were asked for text instead of their stream.
pub(crate) struct TextReader {
    echo: Option<EchoFilter>,
    printed: Printed,
    help: Help,
    /// What the program says of its failure in a way of its own.
    stated: fn(&End<'_>, Help) -> Option<Failure>,
}

impl TextReader {
    pub(crate) fn new(prompt: &str, help: Help) -> TextReader {
        TextReader { echo: EchoFilter::for_prompt(prompt), printed: Printed::default(), help, stated: |_, _| None }
    }

    /// The same for a program that states its failures in a way of its own.
    pub(crate) fn stating(self, stated: fn(&End<'_>, Help) -> Option<Failure>) -> TextReader {
        TextReader { stated, ..self }
    }
}

impl Reader for TextReader {
    fn line(&mut self, line: &[u8], out: &mut Told) -> LineKind {
        let before = out.len();
        match &mut self.echo {
            Some(echo) => echo.line(line, out),
            None => push_text(line, out),
        }
        self.look_at(before, out);
        LineKind::Event
    }

    fn long_line(&mut self, head: &[u8], out: &mut Told) {
        // Longer than any line of a prompt, so whatever is held back is no copy.
        self.end(out);
        let before = out.len();
        push_text(head, out);
        self.look_at(before, out);
    }

    fn end(&mut self, out: &mut Told) {
        let before = out.len();
        if let Some(echo) = &mut self.echo {
            echo.end(out);
        }
        self.look_at(before, out);
    }

    fn failure(&self, end: &End<'_>) -> Option<Failure> {
        if let Some(failure) = (self.stated)(end, self.help) {
            return Some(failure);
        }
        let other = |message| Some(Failure::new(FailureClass::Other, message));
        if let Some(failure) = ended_from_outside(end.ending, self.help) {
            let cause = self.printed.only_error().map(|complaint| complaint.failure(self.help, end));
            return Some(blamed(failure, end.ending, cause));
        }
        let Some(ended) = ended_badly(end.ending, end.stderr_tail) else {
            return match end.ending {
                Ending::Lingered => other("the agent did not end by itself"),
                _ if end.done_marker => None,
                _ => self.silent_error(end).or_else(|| if end.heard { None } else { Some(Failure::silent()) }),
            };
        };
        // A shell or a loader that found no program to run.
        if let Some(cause) = cause_of_code(end.ending).filter(|_| !end.heard) {
            return Some(Failure::new(cause.class(), cause.advise(&ended.message, self.help)));
        }
        let stated = self.printed.error(end.stderr_tail).filter(|_| matches!(end.ending, Ending::Exited { .. }));
        let Some(complaint) = stated else { return Some(ended) };
        let bare = ended_badly(end.ending, "").map_or(String::new(), |ended| format!("{}: ", ended.message));
        Some(complaint.failure_of(&format!("{bare}{}", complaint.message), self.help, end))
    }
}

impl TextReader {
    fn look_at(&mut self, before: usize, out: &Told) {
        for event in out.get(before..).unwrap_or_default() {
            if let AgentEvent::Text { text, .. } = event {
                self.printed.line(text);
            }
        }
    }

    /// The error of a program that calls it a success.
    fn silent_error(&self, end: &End<'_>) -> Option<Failure> {
        let on_stderr = if end.heard { None } else { self.printed.error(end.stderr_tail) };
        let complaint = self.printed.only_error().cloned().or(on_stderr)?;
        Some(complaint.failure(self.help, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Delivery;
    use crate::dialect::tests::{agent, end_of};
    use ralph_core::agent_event::Voice;
    use ralph_core::policy::{AgentPolicy, PromptVia};

    #[test]
    fn the_command_is_run_as_it_stands() {
        let mut agent = agent("./my agent.sh", &["-c", "echo hi; cat", "--model opus"]);
        let command = DIALECT.command(&agent);
        assert_eq!(command.program, "./my agent.sh");
        assert_eq!(command.args, ["-c", "echo hi; cat", "--model", "opus"]);
        assert_eq!(command.delivery, Delivery::Stdin);
        for (via, delivery) in [
            (PromptVia::Stdin, Delivery::Stdin),
            (PromptVia::Arg, Delivery::LastArg),
            (PromptVia::File, Delivery::File),
        ] {
            agent.prompt_via = via;
            assert_eq!(DIALECT.command(&agent).delivery, delivery);
        }
    }

    #[test]
    fn b04_any_bytes_become_text_line_by_line() {
        let mut reader = TextReader::new("no tags here", DIALECT.help);
        let mut out = Told::default();
        for line in [&b"caf\xc3\xa9\r"[..], b"\xff\xfe\0", b"", b"no tags here"] {
            assert_eq!(reader.line(line, &mut out), LineKind::Event);
        }
        reader.long_line(b"head", &mut out);
        reader.end(&mut out);
        let text = |text: &str| AgentEvent::Text { text: text.to_owned(), voice: Voice::Main, delta: true };
        let expected = ["café\n", "\u{fffd}\u{fffd}\0\n", "\n", "no tags here\n", "head\n"].map(text);
        assert_eq!(*out, expected);
    }

    #[test]
    fn the_format_names_the_stream_that_is_read() {
        for (format, kind) in [
            ("", LineKind::Event),
            ("text", LineKind::Event),
            ("claude", LineKind::Noise),
            ("generic", LineKind::Event),
        ] {
            let agent = AgentPolicy { format: format.to_owned(), ..agent("x", &["--output-format text"]) };
            assert_eq!(DIALECT.reader(&agent, "").line(b"plain text", &mut Told::default()), kind, "{format}");
        }
    }

    #[test]
    fn only_an_exit_of_zero_with_something_said_is_a_success() {
        let reader = TextReader::new("", DIALECT.help);
        let exited = |code| Ending::Exited { code };
        for (ending, heard, done_marker, message) in [
            (exited(0), true, false, None),
            (exited(0), false, true, None),
            (exited(0), false, false, Some("empty answer")),
            (exited(3), true, true, Some("the agent exited with code 3: last words")),
            (
                Ending::Signalled { signal: 9 },
                true,
                false,
                Some("the agent was killed by SIGKILL (exit code 137): last words"),
            ),
            (Ending::Lingered, true, false, Some("the agent did not end by itself")),
            (Ending::Stopped, true, true, Some("stopped by ralph")),
        ] {
            let end = End { heard, done_marker, ..end_of(&ending, "first\nlast words\n") };
            let failure = reader.failure(&end);
            assert_eq!(failure.map(|failure| failure.message).as_deref(), message, "{ending:?}");
        }
        let missing = reader
            .failure(&end_of(&Ending::NotStarted { reason: "gone".to_owned(), fault: Default::default() }, ""))
            .unwrap();
        assert_eq!(missing.class, FailureClass::CannotRun);
        assert!(missing.message.contains(DIALECT.help.install), "{}", missing.message);
    }
}
