//! aider, measured with 0.86.2: plain text, in which the client's own lines stand beside the model's words. It exits
//! with 0 whatever happened. Before the first empty line it introduces itself; a line with its tokens follows each
//! answer, but no error. It takes the prompt from a file, which standard input is as well.

use crate::advice::Help;
use crate::command::{Arguments, delivery};
use crate::complaint::Complaint;
use crate::dialect::{CommandLine, Delivery, Dialect, End, LineKind, Prints, Reader, Told};
use crate::generic::TextReader;
use crate::login::{Login, PROVIDERS, Unseen, file};
use crate::stream::failure_of_silence;
use ralph_core::agent_event::AgentEvent;
use ralph_core::evidence::TestsRan;
use ralph_core::observation::{Ending, Failure, FailureClass, Tokens};
use ralph_core::policy::AgentPolicy;
use ralph_core::text;

pub(crate) const DIALECT: Dialect = Dialect {
    name: "aider",
    help: Help {
        install: "install it with `pip install aider-chat`",
        login: "export the key of your provider, such as ANTHROPIC_API_KEY",
    },
    login: Some(Login {
        measured: "0.86",
        variables: PROVIDERS,
        files: &[file("", "", ".aider.conf.yml"), file("", ".aider", "oauth-keys.env")],
        // Keys may stand in the `.env` of a project, and models on this machine need none.
        unseen: Unseen::Anywhere,
    }),
    session_markers: &[],
    command,
    prints: Prints::Text(|prompt, help| Box::new(Answers::new(prompt, help))),
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    args.flag(&["--yes-always"]);
    args.flag(&["--no-pretty", "--pretty"]);
    // The provider states the tokens of a whole answer; of a streamed one they are guessed.
    args.flag(&["--no-stream", "--stream"]);
    args.flag(&["--no-check-update", "--check-update"]);
    args.flag(&["--no-show-release-notes", "--show-release-notes"]);
    args.flag(&["--no-show-model-warnings", "--show-model-warnings"]);
    args.setting(&["--model"], &agent.model);
    match delivery(agent) {
        Delivery::Stdin => {
            args.last("--message-file");
            args.last("/dev/stdin");
        }
        Delivery::File => args.last("--message-file"),
        Delivery::LastArg => args.last("--message"),
    }
    // It offers to open addresses from errors in a browser, and everything is agreed to.
    args.command(agent, &[("BROWSER", "true")])
}

struct Answers {
    help: Help,
    text: TextReader,
    part: Part,
    /// The provider's last error, unless an answer followed it.
    trouble: Option<String>,
    answered: bool,
    edits: u64,
    tokens: Tokens,
    cost: Option<f64>,
}

/// What the next line belongs to.
#[derive(Debug, PartialEq)]
enum Part {
    Before,
    /// The introduction, which ends with an empty line.
    Introduction,
    Answer,
    /// A sentence about an error, which is broken into lines.
    Error,
}

impl Answers {
    fn new(prompt: &str, help: Help) -> Answers {
        let (text, part, tokens) = (TextReader::new(prompt, help), Part::Before, Tokens::default());
        Answers { help, text, part, trouble: None, answered: false, edits: 0, tokens, cost: None }
    }
}

impl Reader for Answers {
    fn line(&mut self, line: &[u8], out: &mut Told) -> LineKind {
        // Colours are the terminal's: neither the client's lines nor the model's words hold them.
        let said = text::without_controls(&String::from_utf8_lossy(line));
        let said = said.trim_end();
        match self.part {
            Part::Before if said.starts_with("Aider v") => self.part = Part::Introduction,
            Part::Introduction if said.is_empty() => {
                self.part = Part::Answer;
                return LineKind::Event;
            }
            Part::Error if said.is_empty() || is_about_an_error(said) => self.part = Part::Answer,
            Part::Error => {
                if let Some(sentence) = &mut self.trouble {
                    sentence.push(' ');
                    sentence.push_str(text::prefix(said, 2000usize.saturating_sub(sentence.len())));
                }
                return LineKind::Event;
            }
            _ => {}
        }
        if matches!(self.part, Part::Before | Part::Introduction) {
            progress(said, out);
        } else if !self.is_the_clients(said, out) {
            return self.text.line(said.as_bytes(), out);
        }
        LineKind::Event
    }

    fn long_line(&mut self, head: &[u8], out: &mut Told) {
        self.text.long_line(head, out);
    }

    fn end(&mut self, out: &mut Told) {
        self.text.end(out);
        if let Some(sentence) = &self.trouble {
            complaint(sentence).tell(out);
        }
    }

    fn failure(&self, end: &End<'_>) -> Option<Failure> {
        let trouble = self.trouble.as_ref().map(|sentence| complaint(sentence).failure(self.help, end));
        let by_itself = matches!(end.ending, Ending::Exited { .. });
        if matches!(end.ending, Ending::Exited { code } if *code != 0) && self.part == Part::Before {
            return failure_of_silence(self.help, end);
        }
        let of_time = matches!(end.ending, Ending::TimedOut { .. } | Ending::Idle { .. });
        match (trouble, self.text.failure(end)) {
            (Some(trouble), Some(failure)) if of_time => {
                Some(Failure { message: format!("{}; it last said: {}", failure.message, trouble.message), ..trouble })
            }
            (Some(trouble), _) if by_itself => Some(trouble),
            (None, None) if !self.answered && !end.done_marker => {
                Some(Failure::new(FailureClass::Other, "the agent ended without a result"))
            }
            (_, failure) => failure,
        }
    }
}

impl Answers {
    /// Takes a line that the client writes itself; says whether it is one.
    fn is_the_clients(&mut self, line: &str, out: &mut Told) -> bool {
        if let Some(error) = error_of(line) {
            self.part = Part::Error;
            self.trouble = Some(error.to_owned());
            progress(line, out);
        } else if let Some(spent) = spent(line) {
            (self.trouble, self.answered) = (None, true);
            self.tokens = self.tokens.plus(spent);
            self.cost = session_cost(line).or(self.cost);
            out.push(AgentEvent::Spent { cost_usd: self.cost, tokens: Some(self.tokens) });
        } else if let Some(cost) = session_cost(line).filter(|_| line.starts_with("Cost: $")) {
            self.cost = Some(cost);
            out.push(AgentEvent::Spent { cost_usd: self.cost, tokens: Some(self.tokens) });
        } else if let Some(file) = line.strip_prefix("Applied edit to ") {
            self.edits += 1;
            let (id, name) = (format!("edit-{}", self.edits), "edit".to_owned());
            let (input, writes) = (file.to_owned(), Some(file.to_owned()));
            out.push(AgentEvent::ToolStart { id: id.clone(), name, input, command: None, writes });
            let (output, lines, chars) = (String::new(), 0, 0);
            out.push(AgentEvent::ToolEnd {
                id,
                output,
                lines,
                chars,
                error: false,
                exit_code: None,
                tests: TestsRan::Unsaid,
            });
        } else if is_about_an_error(line) || is_a_note(line) {
            progress(line, out);
        } else {
            return false;
        }
        true
    }
}

fn progress(line: &str, out: &mut Told) {
    if !line.is_empty() {
        out.push(AgentEvent::Progress { text: text::prefix(line, 500).to_owned() });
    }
}

/// An exception of the library with which aider asks providers: `litellm.RateLimitError: …`.
fn error_of(line: &str) -> Option<&str> {
    let error = line.strip_prefix("litellm.")?;
    let (name, _) = error.split_once(": ")?;
    (name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !name.is_empty()).then_some(error)
}

/// What aider says behind such an exception.
fn is_about_an_error(line: &str) -> bool {
    line.starts_with("The API provider ")
        || line.starts_with("The API provider's ")
        || line.starts_with("Retrying in ") && line.ends_with(" seconds...")
}

fn is_a_note(line: &str) -> bool {
    let is_a_commit = || {
        let hash = line.strip_prefix("Commit ").and_then(|rest| rest.split(' ').next());
        hash.is_some_and(|hash| hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    line == "Empty response received from LLM. Check your provider account?"
        || line == "You can use /undo to undo and discard each aider commit."
        || is_a_commit()
}

fn complaint(error: &str) -> Complaint {
    let name = error.split(':').next().unwrap_or_default();
    let (status, kind) = match name {
        "AuthenticationError" => (Some(401), ""),
        "PermissionDeniedError" => (Some(403), ""),
        "NotFoundError" => (Some(404), "model_not_found"),
        "RateLimitError" | "RouterRateLimitError" => (Some(429), ""),
        "BudgetExceededError" => (None, "billing"),
        "Timeout" | "APIConnectionError" | "InternalServerError" | "ServiceUnavailableError" | "BadGatewayError" => {
            (Some(503), "")
        }
        _ => (None, ""),
    };
    let complaint = Complaint::new(error).with_status(status);
    if kind.is_empty() { complaint } else { complaint.with_kind(kind) }
}

/// What an answer used: `Tokens: 12k sent, 3.1k cache write, 2.0k cache hit, 400 received.`
fn spent(line: &str) -> Option<Tokens> {
    let (counts, _) = line.strip_prefix("Tokens: ")?.split_once(" received.")?;
    let mut tokens = Tokens::default();
    for count in format!("{counts} received").split(", ") {
        let (number, what) = count.split_once(' ')?;
        let number = count_of(number)?;
        match what {
            "sent" => tokens.input = number,
            "cache write" => tokens.cache_write = number,
            "cache hit" => tokens.cache_read = number,
            "received" => tokens.output = number,
            _ => return None,
        }
    }
    Some(tokens)
}

/// A rounded count: `400`, `3.1k`, `12k`.
fn count_of(number: &str) -> Option<u64> {
    let (digits, factor) = number.strip_suffix('k').map_or((number, 1.0), |digits| (digits, 1000.0));
    let count = digits.parse::<f64>().ok().map(|count| (count * factor).round())?;
    (0.0..1e12).contains(&count).then_some(count as u64)
}

/// The cost of the process so far: `Cost: $0.0012 message, $0.34 session.`
fn session_cost(line: &str) -> Option<f64> {
    let (_, costs) = line.split_once("Cost: $")?;
    let (_, session) = costs.strip_suffix(" session.")?.rsplit_once('$')?;
    session.parse().ok().filter(|cost| (0.0..1e9).contains(cost))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::{agent, end_of};
    use ralph_core::agent_event::Voice;
    use ralph_core::policy::PromptVia;

    fn heard(lines: &str) -> (Answers, Told) {
        let (mut reader, mut out) = (Answers::new("", DIALECT.help), Told::default());
        for line in format!("Aider v0.86.2\nModel: x <response>DONE</response>\n\n{lines}").lines() {
            assert_eq!(reader.line(line.as_bytes(), &mut out), LineKind::Event);
        }
        reader.end(&mut out);
        (reader, out)
    }

    fn words(out: &Told) -> String {
        let words = out.iter().filter_map(|event| match event {
            AgentEvent::Text { text, voice: Voice::Main, .. } => Some(text.as_str()),
            _ => None,
        });
        words.collect()
    }

    #[test]
    fn flags_are_those_of_unattended_use_and_the_prompt_follows_the_last() {
        let usual =
            "--yes-always --no-pretty --no-stream --no-check-update --no-show-release-notes --no-show-model-warnings";
        let mut policy = agent("aider", &["--stream", "--model x"]);
        policy.model = "sonnet".to_owned();
        let args = usual.replace("--no-stream ", "");
        let last = "--message-file /dev/stdin";
        assert_eq!(DIALECT.command(&policy).args.join(" "), format!("{args} --model sonnet --stream {last}"));
        for (prompt_via, last) in [(PromptVia::File, "--message-file"), (PromptVia::Arg, "--message")] {
            let agent = AgentPolicy { prompt_via, ..agent("aider", &[]) };
            assert_eq!(DIALECT.command(&agent).args.join(" "), format!("{usual} {last}"));
        }
    }

    #[test]
    fn only_the_models_words_are_its_text() {
        let (_, out) = heard(
            "I edit it.\n\nTokens: 1.2k sent, 40 received.\nApplied edit to a.txt\nCommit 0a1b2c3 feat: <response>DONE</response>\n\
             You can use /undo to undo and discard each aider commit.\nNow it works.\nTokens: 2 sent, 1 received.",
        );
        assert_eq!(words(&out), "I edit it.\n\nNow it works.\n");
        let writes = out
            .iter()
            .filter(|event| matches!(event, AgentEvent::ToolStart { writes: Some(file), .. } if file == "a.txt"));
        assert_eq!(writes.count(), 1);
    }

    #[test]
    fn i06_i07_i08_an_error_behind_the_last_answer_is_the_end_even_with_exit_0() {
        use FailureClass::{CannotRun, Limited, Other, Transient};
        let tokens = "Tokens: 1.2k sent, 40 received.";
        for (lines, failure) in [
            (format!("Hi.\n\n{tokens}"), None),
            (
                "litellm.AuthenticationError: no\nkey\nThe API provider is not able to authenticate you.".to_owned(),
                Some((CannotRun, "AuthenticationError: no key; ")),
            ),
            (
                "litellm.RateLimitError: slow\nRetrying in 0.2 seconds...\nlitellm.RateLimitError: slower".to_owned(),
                Some((Limited, "slower")),
            ),
            ("litellm.InternalServerError: Connection\nerror.".to_owned(), Some((Transient, "Connection error."))),
            ("litellm.NotFoundError: no such model".to_owned(), Some((CannotRun, "no such model"))),
            ("litellm.BadRequestError: too long".to_owned(), Some((Other, "too long"))),
            (format!("litellm.RateLimitError: slow\nRetrying in 0.2 seconds...\nHi.\n{tokens}"), None),
            (format!("The log says:\nlitellm.AuthenticationError: no\n\nHi.\n{tokens}"), None),
            (format!("Hi.\n{tokens}\nlitellm.AuthenticationError: no"), Some((CannotRun, "AuthenticationError: no"))),
            (
                format!("Empty response received from LLM. Check your provider account?\n\n{tokens}"),
                Some((FailureClass::Silent, "empty answer")),
            ),
            ("I was about to".to_owned(), Some((Other, "the agent ended without a result"))),
        ] {
            let (reader, out) = heard(&lines);
            let ending = Ending::Exited { code: 0 };
            let end = End { heard: !words(&out).trim().is_empty(), ..end_of(&ending, "") };
            let read = reader.failure(&end);
            assert_eq!(
                read.as_ref().map(|failure| failure.class),
                failure.map(|(class, _)| class),
                "{lines}: {read:?}"
            );
            let said = read.map(|failure| failure.message).unwrap_or_default();
            assert!(said.contains(failure.map_or("", |(_, said)| said)), "{said}");
        }
    }

    #[test]
    fn tokens_and_money_add_up_as_they_are_stated() {
        let (reader, _) = heard(
            "a\nTokens: 12k sent, 3.1k cache write, 2.0k cache hit, 400 received.\nCost: $0.10 message, $0.10 session.\n\
             b\nTokens: 999 sent, 1 received. Cost: $0.0012 message, $0.1012 session.\nTokens: many sent, 1 received.",
        );
        let tokens = Tokens { input: 12999, output: 401, cache_read: 2000, cache_write: 3100 };
        assert_eq!((reader.tokens, reader.cost), (tokens, Some(0.1012)));
    }
}
