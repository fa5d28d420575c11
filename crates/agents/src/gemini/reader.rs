//! Gemini CLI's stream: messages in pieces, tools, and a result that holds no text.
//!
//! The prompt stands in it as a message of the user. A shell command that failed is called a success
//! and its exit code is nowhere, so the commands of this program prove nothing and are not passed on
//! as evidence.

use crate::complaint::{Complaint, ErrorObject};
use crate::dialect::{End, Told};
use crate::json::{Loose, fields};
use crate::stream::{Outcome, Stream, Turn, say, say_piece, unknown};
use crate::todo;
use crate::tool::{self, Calls, Input, Went};
use crate::usage::{self, Counter};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::{Ending, FailureClass, Tokens};
use ralph_core::text;
use ralph_core::time::Millis;

fields! {
    /// One object of the stream.
    pub(super) struct Line<'a> {
        kind = "type", session_id, role, content, delta, tool_name, tool_id,
        parameters: Loose<Input<'a>>,
        status, output,
        error: Loose<ErrorObject<'a>>,
        severity, message,
        stats: Loose<Stats<'a>>,
    }

    pub(super) struct Stats<'a> {
        input_tokens, output_tokens, cached,
    }
}

/// The end of an answer that is kept: a stream without end must not fill the memory.
const ANSWER_BYTES: usize = 1 << 16;

/// Reads one process.
pub(super) struct Deltas {
    hint: &'static str,
    /// What was said since the last tool.
    answer: String,
    /// Calls that only write the todo list, whose ends say nothing.
    todo_calls: Calls,
    /// The last error that the client reported.
    trouble: Option<String>,
    turn: Turn,
}

impl Deltas {
    /// For one process; `hint` says how to get the program.
    pub(super) fn new(hint: &'static str) -> Deltas {
        Deltas { hint, answer: String::new(), todo_calls: Calls::default(), trouble: None, turn: Turn::Open }
    }
}

impl Stream for Deltas {
    type Line<'a> = Line<'a>;

    fn object(&mut self, line: &Line<'_>, out: &mut Told) {
        match line.kind.word() {
            "init" => {
                self.turn = Turn::Open;
                out.push(AgentEvent::Progress { text: format!("session: {}", line.session_id.text_within(200)) });
            }
            "message" if line.role.is("assistant") => self.hear(line, out),
            "message" => {}
            "tool_use" => self.tool_use(line, out),
            "tool_result" => self.tool_result(line, out),
            "error" => {
                let message = line.message.text_within(2000);
                if line.severity.is("warning") {
                    return out.push(AgentEvent::Progress { text: message });
                }
                self.trouble = Some(message.clone());
                out.push(AgentEvent::Error { message });
            }
            "result" => self.result(line, out),
            kind => out.push(unknown("gemini message type", kind)),
        }
    }

    fn is_over(&self) -> bool {
        !matches!(self.turn, Turn::Open)
    }

    fn outcome(&self, end: &End<'_>) -> Outcome {
        let failure =
            |sentence: &String| Complaint::new(sentence).with_status(status_behind(end.ending)).failure(self.hint);
        match &self.turn {
            Turn::Failed(sentence) => {
                let mut failure = failure(sentence);
                if failure.class == FailureClass::Limited {
                    failure.resets_at = reset(sentence).map(|span| (end.now.0 / 1000).saturating_add(span));
                }
                Outcome::Failed(failure)
            }
            Turn::Ended => Outcome::of_answer(&self.answer),
            Turn::Open => Outcome::Unfinished(self.trouble.as_ref().map(failure)),
        }
    }
}

impl Deltas {
    fn hear(&mut self, line: &Line<'_>, out: &mut Told) {
        self.trouble = None;
        let piece = line.content.text();
        self.answer.push_str(&piece);
        if self.answer.len() > 2 * ANSWER_BYTES {
            self.answer = text::suffix(&self.answer, ANSWER_BYTES).to_owned();
        }
        match line.delta.is_true() {
            true => say_piece(piece, out),
            false => say(piece, Voice::Main, out),
        }
    }

    fn tool_use(&mut self, line: &Line<'_>, out: &mut Told) {
        self.answer.clear();
        let input = line.parameters.0.as_ref();
        if line.tool_name.is("write_todos") {
            self.todo_calls.began(line.tool_id.text());
            return out.extend(input.and_then(|input| todo::event(&input.todos)));
        }
        out.tool_began(line.tool_id.text(), line.tool_name.text(), input);
        if let Some(AgentEvent::ToolStart { command, .. }) = out.last_mut() {
            *command = None;
        }
    }

    fn tool_result(&mut self, line: &Line<'_>, out: &mut Told) {
        let failed = line.status.is("error");
        if self.todo_calls.ended(&line.tool_id.text()) && !failed {
            return;
        }
        let printed = match &line.error.0 {
            Some(error) if line.output.is_absent() => error.message,
            _ => line.output,
        };
        out.tool_ended(line.tool_id.text(), printed, Went::badly_if(failed));
    }

    fn result(&mut self, line: &Line<'_>, out: &mut Told) {
        let mut counter = Counter::default();
        let tokens = line.stats.0.as_ref().map(|stats| Tokens {
            input: counter.count(stats.input_tokens),
            output: counter.count(stats.output_tokens),
            cache_read: counter.count(stats.cached),
            cache_write: 0,
        });
        usage::tell(counter.suspect, out);
        let is_error = !line.status.is("success");
        if is_error {
            let stated = line.error.0.as_ref().and_then(|error| tool::given(error.message));
            // The error before it was told when it came.
            if let Some(sentence) = &stated {
                Complaint::new(sentence).tell(out);
            }
            let sentence = stated.or_else(|| self.trouble.take());
            self.turn = Turn::Failed(sentence.unwrap_or_else(|| "the agent reports an error".to_owned()));
        } else {
            self.turn = Turn::Ended;
        }
        let text = if is_error { String::new() } else { self.answer.clone() };
        out.push(AgentEvent::Result { text, is_error, cost_usd: None, tokens });
    }
}

/// In how many seconds a quota is filled again: `Your quota will reset after 2h15m3s.`
fn reset(sentence: &str) -> Option<i64> {
    let (_, rest) = sentence.split_once("reset after ")?;
    let span = rest.split_whitespace().next()?.trim_end_matches(['.', ',', ']']);
    i64::try_from(span.parse::<Millis>().ok()?.0 / 1000).ok()
}

/// The HTTP status that the program tried to exit with; the system keeps its lowest eight bits.
fn status_behind(ending: &Ending) -> Option<u16> {
    const STATUSES: [u16; 12] = [400, 401, 402, 403, 404, 408, 429, 500, 502, 503, 504, 529];
    let Ending::Exited { code } = ending else { return None };
    STATUSES.into_iter().find(|status| i32::from(status % 256) == *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a16_an_exit_code_is_the_rest_of_a_status() {
        for (code, status) in
            [(145, Some(401)), (173, Some(429)), (244, Some(500)), (17, Some(529)), (0, None), (1, None)]
        {
            assert_eq!(status_behind(&Ending::Exited { code }), status);
        }
        assert_eq!(status_behind(&Ending::Signalled { signal: 9 }), None);
    }
}
