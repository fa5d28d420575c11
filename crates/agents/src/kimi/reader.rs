//! Kimi Code's stream: chat messages as a provider is sent them, and between them what the client has to say.
//!
//! The hint how to resume the session is printed last, and only if all went well: it is the end of the turn. Why there is
//! none stands on standard error, where tools print as well. Nothing states how a tool went, but for the line behind the
//! output of a command that failed, so commands are shown and are no evidence. No tokens are stated.

use crate::advice::Help;
use crate::complaint::{Complaint, status_of};
use crate::dialect::{End, Told};
use crate::json::{List, Loose, fields, read};
use crate::stream::{Outcome, Stream, say, unknown};
use crate::todo;
use crate::tool::{self, Input, Went};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::{Ending, Failure, FailureClass};

fields! {
    pub(super) struct Line<'a> {
        role, kind = "type",

        // assistant, tool
        content,
        tool_calls: List<Call<'a>>,
        tool_call_id,

        // meta
        session_id, error_message, status_code, next_attempt, max_attempts, delay_ms,
    }

    pub(super) struct Call<'a> {
        id,
        function: Loose<Function<'a>>,
    }

    pub(super) struct Function<'a> {
        name,
        /// JSON in a string.
        arguments,
    }
}

#[derive(Default)]
pub(super) struct Messages {
    answer: String,
    /// A todo list that was handed in and not yet taken, by its call.
    todo: Option<(String, AgentEvent)>,
    trouble: Option<Complaint>,
    /// Whether anything followed the version, which is printed before the settings are looked at.
    begun: bool,
    over: bool,
}

impl Stream for Messages {
    type Line<'a> = Line<'a>;

    fn object(&mut self, line: &Line<'_>, out: &mut Told) {
        self.begun |= !line.role.is("meta");
        match (line.role.word(), line.kind.word()) {
            ("assistant", _) => self.message(line, out),
            ("tool", _) => self.tool_ended(line, out),
            ("meta", "turn.step.retrying") => self.retries(line, out),
            ("meta", "session.resume_hint") => self.ends(line, out),
            ("meta", "system.version" | "goal.summary") => {}
            ("meta", kind) => out.push(unknown("kimi message type", kind)),
            (role, _) => out.push(unknown("kimi role", role)),
        }
    }

    fn has_begun(&self) -> bool {
        self.begun
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn outcome(&self, end: &End<'_>, help: Help) -> Outcome {
        if self.over {
            return Outcome::of_answer(&self.answer);
        }
        let repeated = || self.trouble.as_ref().map(|complaint| complaint.failure(help, end));
        Outcome::Unfinished(last_word(end, help).or_else(repeated))
    }
}

impl Messages {
    fn message(&mut self, line: &Line<'_>, out: &mut Told) {
        (self.over, self.trouble) = (false, None);
        self.answer = line.content.text();
        say(self.answer.clone(), Voice::Main, out);
        for call in &line.tool_calls.items {
            let Loose(Some(function)) = &call.function else { continue };
            let arguments = function.arguments.text();
            let Loose(input): Loose<Input<'_>> = read(&arguments).unwrap_or_default();
            match input.as_ref().and_then(|input| todo::event(&input.todos)) {
                Some(list) if function.name.is("TodoList") => self.todo = Some((call.id.text(), list)),
                _ => {
                    out.tool_began(call.id.text(), function.name.text(), input.as_ref());
                    if let Some(AgentEvent::ToolStart { command, .. }) = out.last_mut() {
                        *command = None;
                    }
                }
            }
        }
    }

    fn tool_ended(&mut self, line: &Line<'_>, out: &mut Told) {
        let id = line.tool_call_id.text();
        match self.todo.take_if(|(call, _)| *call == id) {
            Some((_, list)) if line.content.word().starts_with("Todo list updated.") => out.push(list),
            Some(_) => out.push(AgentEvent::Progress { text: line.content.text_within(500) }),
            None => {
                let code = tool::code_behind(line.content.json(), "Command failed with exit code: ");
                out.tool_ended(id, line.content, code.map_or(Went::Well, Went::Exited));
            }
        }
    }

    fn retries(&mut self, line: &Line<'_>, out: &mut Told) {
        let complaint = Complaint::new(&line.error_message.text_within(2000)).with_status(status_of(line.status_code));
        let (attempt, most) = (line.next_attempt.text_within(20), line.max_attempts.text_within(20));
        let seconds = line.delay_ms.number().unwrap_or_default() / 1000.0;
        let text = format!("attempt {attempt} of {most} in {seconds:.1}s: {}", complaint.message);
        out.push(AgentEvent::Progress { text });
        self.trouble = Some(complaint);
    }

    fn ends(&mut self, line: &Line<'_>, out: &mut Told) {
        self.over = true;
        out.push(AgentEvent::Progress { text: format!("session: {}", line.session_id.text_within(200)) });
        out.push(AgentEvent::Result { text: self.answer.clone(), is_error: false, cost_usd: None, tokens: None });
    }
}

/// Its last line before exit code 1: `error: failed to run prompt: provider.auth_error: 401 no such key`.
fn last_word(end: &End<'_>, help: Help) -> Option<Failure> {
    let Ending::Exited { code: 1 } = end.ending else { return None };
    let said = end.stderr_tail.lines().rev().find_map(|line| line.strip_prefix("error: failed to run prompt: "))?;
    let is_a_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || b"._".contains(&byte));
    let (kind, sentence) = said.split_once(": ").filter(|(kind, _)| is_a_word(kind)).unwrap_or(("", said));
    // The provider did answer: with nothing, which is no trouble of the network whatever the client calls it.
    if sentence.contains("empty response") {
        return Some(Failure::new(FailureClass::Other, Complaint::new(sentence).message));
    }
    let status = match kind {
        "provider.auth_error" => Some(401),
        "provider.connection_error" | "provider.overloaded" => Some(503),
        _ => None,
    };
    let complaint = Complaint::new(sentence);
    let status = complaint.status.or(status);
    Some(complaint.with_status(status).with_kind(kind).failure(help, end))
}
