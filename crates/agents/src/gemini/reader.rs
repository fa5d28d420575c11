//! Gemini CLI's stream: messages in pieces, tools, and a result without text. A shell command that failed is called a
//! success without an exit code, so commands of this program are not passed on as evidence.

use crate::advice::Help;
use crate::complaint::{Complaint, ErrorObject};
use crate::dialect::{End, Told};
use crate::ending::ended_badly;
use crate::json::{Loose, Raw, fields, read};
use crate::stream::{Outcome, Stream, Turn, say, say_piece, unknown};
use crate::todo::{self, Held};
use crate::tool::{self, Input, Went};
use crate::usage::{self, Counter};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::Ending;
use ralph_core::text;

fields! {
    pub(super) struct Line<'a> {
        kind = "type", session_id, role, content, delta, tool_name, tool_id,
        parameters: Loose<Input<'a>>,
        status, output,
        error, severity, message,
        stats: Loose<Stats<'a>>,
    }

    pub(super) struct Stats<'a> {
        input_tokens, output_tokens, cached,
    }
}

/// The end of an answer that is kept: a stream without end must not fill the memory.
const ANSWER_BYTES: usize = 1 << 16;

#[derive(Default)]
pub(super) struct Deltas {
    /// What was said since the last tool.
    answer: String,
    lists: Held,
    trouble: Option<Complaint>,
    turn: Turn,
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
                self.trouble = Some(Complaint::new(&message));
                out.push(AgentEvent::Error { message });
            }
            "result" => self.result(line, out),
            kind => out.push(unknown("gemini message type", kind)),
        }
    }

    fn is_over(&self) -> bool {
        !matches!(self.turn, Turn::Open)
    }

    fn outcome(&self, end: &End<'_>, help: Help) -> Outcome {
        let status = status_behind(end.ending);
        let failure = |complaint: &Complaint| complaint.clone().with_status(status).failure(help, end);
        match &self.turn {
            Turn::Failed(complaint) => Outcome::Failed(failure(complaint)),
            Turn::Ended => Outcome::of_answer(&self.answer),
            Turn::Open => Outcome::Unfinished(match &self.trouble {
                Some(complaint) => Some(failure(complaint)),
                // It said nothing about its end, but the exit code does.
                None => status
                    .and(ended_badly(end.ending, end.stderr_tail))
                    .map(|ended| failure(&Complaint::stated(None, Vec::new(), &ended.message))),
            }),
        }
    }

    fn end(&mut self, out: &mut Told) {
        self.lists.let_go(out);
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
            return self.lists.began(line.tool_id.text(), input.and_then(|input| todo::event(&input.todos)));
        }
        out.tool_began(line.tool_id.text(), line.tool_name.text(), input);
        if let Some(AgentEvent::ToolStart { command, .. }) = out.last_mut() {
            *command = None;
        }
    }

    fn tool_result(&mut self, line: &Line<'_>, out: &mut Told) {
        let failed = line.status.is("error") || !line.error.is_absent();
        if !self.lists.ended(&line.tool_id.text(), failed, out) {
            out.tool_failed_with(line.tool_id.text(), line.output, line.error, Went::badly_if(failed));
        }
    }

    fn result(&mut self, line: &Line<'_>, out: &mut Told) {
        self.lists.let_go(out);
        let mut counter = Counter::default();
        let tokens = line.stats.0.as_ref().map(|stats| {
            let counts = [stats.input_tokens, stats.output_tokens, stats.cached, Raw::default()];
            usage::with_cache_inside(counter.tokens(counts))
        });
        usage::tell(counter.suspect, out);
        let is_error = !line.status.is("success");
        if is_error {
            let Loose(error): Loose<ErrorObject<'_>> = read(line.error.json()).unwrap_or_default();
            let in_words = tool::given(line.error).map(|sentence| Complaint::new(&sentence));
            let stated = error.and_then(|error| error.complaint()).or(in_words);
            // The error before it was told when it came.
            if let Some(complaint) = &stated {
                complaint.tell(out);
            }
            let complaint = stated.or_else(|| self.trouble.take());
            self.turn = Turn::Failed(complaint.unwrap_or_else(|| Complaint::new("the agent reports an error")));
        } else {
            self.turn = Turn::Ended;
        }
        let text = if is_error { String::new() } else { self.answer.clone() };
        out.push(AgentEvent::Result { text, is_error, cost_usd: None, tokens });
    }
}

/// The HTTP status that the program tried to exit with; the system keeps its lowest eight bits.
fn status_behind(ending: &Ending) -> Option<u16> {
    const STATUSES: [u16; 13] = [400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529];
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
