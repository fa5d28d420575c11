//! pi's stream: sessions, turns, messages and tools. Only whole messages are read. The program exits with 0 whatever
//! happened: its last message says whether it was an error.

use crate::advice::Help;
use crate::complaint::Complaint;
use crate::dialect::{End, Told};
use crate::json::{List, Loose, Raw, fields};
use crate::stream::{Outcome, Stream, say, unknown};
use crate::tool::{self, Input, Went};
use crate::usage::{self, Counter};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::Tokens;

fields! {
    pub(super) struct Line<'a> {
        kind = "type", id,
        message: Loose<Message<'a>>,
        call = "toolCallId", tool = "toolName",
        args: Loose<Input<'a>>,
        result: Loose<ToolResult<'a>>,
        is_error = "isError", error = "errorMessage",
    }

    pub(super) struct Message<'a> {
        role,
        content: List<Block<'a>>,
        usage: Loose<Usage<'a>>,
        stop_reason = "stopReason", error = "errorMessage",
    }

    pub(super) struct Block<'a> {
        kind = "type", text, thinking,
    }

    pub(super) struct Usage<'a> {
        input, output, cache_read = "cacheRead", cache_write = "cacheWrite",
        cost: Loose<Cost<'a>>,
    }

    pub(super) struct Cost<'a> {
        total,
    }

    pub(super) struct ToolResult<'a> {
        content,
    }
}

#[derive(Default)]
pub(super) struct Turns {
    answer: String,
    trouble: Option<String>,
    /// Whether anything followed the session's line, which comes before the login is looked at.
    begun: bool,
    over: bool,
    /// A turn ended with an error that is still to be told: only if the program does not repeat it.
    untold: bool,
    cost: f64,
    tokens: Tokens,
}

impl Stream for Turns {
    type Line<'a> = Line<'a>;

    fn object(&mut self, line: &Line<'_>, out: &mut Told) {
        self.begun |= !line.kind.is("session");
        self.untold &= !line.kind.is("auto_retry_start");
        self.end(out);
        match (line.kind.word(), &line.message) {
            ("session", _) => {
                out.push(AgentEvent::Progress { text: format!("session: {}", line.id.text_within(200)) });
            }
            ("agent_start", _) => self.over = false,
            ("message_end", Loose(Some(message))) if message.role.is("assistant") => self.message(message, out),
            ("tool_execution_start", _) => {
                out.tool_began(line.call.text(), line.tool.text(), line.args.0.as_ref());
            }
            ("tool_execution_end", _) => {
                let printed = line.result.0.as_ref().map(|result| result.content).unwrap_or_default();
                out.tool_ended(line.call.text(), printed, went(printed, line.is_error.is_true()));
            }
            ("auto_retry_start", _) => {
                out.push(AgentEvent::Progress { text: format!("retry: {}", line.error.text_within(500)) });
            }
            ("agent_end", _) => self.end_of_turn(out),
            // Pieces of messages, which follow as a whole, and the client's own bookkeeping.
            ("turn_start" | "turn_end" | "message_start" | "message_update" | "message_end", _)
            | ("tool_execution_update" | "auto_retry_end" | "queue_update", _)
            | ("auto_compaction_start" | "auto_compaction_end" | "compaction_start" | "compaction_end", _) => {}
            (kind, _) => out.push(unknown("pi message type", kind)),
        }
    }

    fn end(&mut self, out: &mut Told) {
        if std::mem::take(&mut self.untold) {
            self.tell_end(out);
        }
    }

    fn has_begun(&self) -> bool {
        self.begun
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn outcome(&self, end: &End<'_>, help: Help) -> Outcome {
        let failure = self.trouble.as_ref().map(|sentence| Complaint::new(sentence).failure(help, end));
        match failure {
            failure if !self.over => Outcome::Unfinished(failure),
            Some(failure) => Outcome::Failed(failure),
            None => Outcome::of_answer(&self.answer),
        }
    }
}

impl Turns {
    fn message(&mut self, message: &Message<'_>, out: &mut Told) {
        self.answer.clear();
        for block in &message.content.items {
            if block.kind.is("text") {
                let text = block.text.text();
                self.answer.push_str(&text);
                say(text, Voice::Main, out);
            } else if block.kind.is("thinking") {
                say(block.thinking.text(), Voice::Thinking, out);
            }
        }
        let failed = message.stop_reason.is("error") || message.stop_reason.is("aborted");
        self.trouble = failed.then(|| tool::given(message.error).unwrap_or_else(|| message.stop_reason.text()));
        self.spend(message, out);
    }

    fn spend(&mut self, message: &Message<'_>, out: &mut Told) {
        let Some(stated) = &message.usage.0 else { return };
        let mut counter = Counter::default();
        let counts = [stated.input, stated.output, stated.cache_read, stated.cache_write];
        self.tokens = self.tokens.plus(usage::with_cache_beside(counter.tokens(counts)));
        self.cost += stated.cost.0.as_ref().map_or(0.0, |cost| counter.money(cost.total));
        usage::tell(counter.suspect, out);
        out.push(AgentEvent::Spent { cost_usd: self.cost_usd(), tokens: Some(self.tokens) });
    }

    fn end_of_turn(&mut self, out: &mut Told) {
        self.over = true;
        self.untold = self.trouble.is_some();
        if !self.untold {
            self.tell_end(out);
        }
    }

    fn tell_end(&self, out: &mut Told) {
        let is_error = self.trouble.is_some();
        if let Some(sentence) = &self.trouble {
            Complaint::new(sentence).tell(out);
        }
        let text = if is_error { String::new() } else { self.answer.clone() };
        let (cost_usd, tokens) = (self.cost_usd(), Some(self.tokens));
        out.push(AgentEvent::Result { text, is_error, cost_usd, tokens });
    }

    /// A model whose price is not known costs 0 in every message.
    fn cost_usd(&self) -> Option<f64> {
        (self.cost > 0.0).then_some(self.cost)
    }
}

/// How a tool went. The shell states the exit code of a failed command behind its output.
fn went(printed: Raw<'_>, failed: bool) -> Went {
    let code = if failed { tool::code_behind(printed.json(), "Command exited with code ") } else { None };
    code.map_or(Went::badly_if(failed), Went::Exited)
}
