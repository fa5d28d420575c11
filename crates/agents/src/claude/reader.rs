//! Claude Code's stream: one JSON object a line, from `system/init` to `result`.
//!
//! Only the main agent's own words become its text. Thinking, the prompt, what tools print, what
//! the client writes in the model's place and what sub-agents say are something else, and a claim
//! in them is none.

use super::account::Account;
use super::line::{Block, Line, Message};
use super::tool;
use super::turn::Turn;
use crate::dialect::{LineKind, Reader};
use crate::json::{List, Loose};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::{Ending, Failure};
use ralph_core::text;
use std::borrow::Cow;

/// Reads one process.
#[derive(Debug, Default)]
pub(super) struct StreamReader {
    account: Account,
    turn: Turn,
    /// Calls of the todo tool, whose results say nothing; the newest few.
    todo_calls: Vec<String>,
}

impl Reader for StreamReader {
    fn line(&mut self, line: &[u8], out: &mut Vec<AgentEvent>) -> LineKind {
        // Nearly every line is valid, and checking that is many times faster than looking for repairs.
        let text = std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return LineKind::Event;
        }
        self.turn.printed();
        if self.objects(text, out) {
            return LineKind::Event;
        }
        // Stray control characters are no JSON, but what stands around them may be.
        match without_controls(text) {
            Cow::Owned(mended) if self.objects(mended.trim(), out) => LineKind::Event,
            _ => LineKind::Noise,
        }
    }

    fn long_line(&mut self, _head: &[u8], out: &mut Vec<AgentEvent>) {
        // What a tool's end says last is whether it failed, so its beginning alone proves nothing.
        self.turn.printed();
        out.push(AgentEvent::Progress { text: "a line too long to be read was passed over".to_owned() });
    }

    fn end(&mut self, _out: &mut Vec<AgentEvent>) {}

    fn has_result(&self) -> bool {
        self.turn.is_over()
    }

    fn failure(&self, ending: &Ending, stderr_tail: &str, _heard: bool, done_marker: bool) -> Option<Failure> {
        self.turn.failure(ending, stderr_tail, done_marker)
    }
}

impl StreamReader {
    /// Reads the objects of a line, or the one array that `--output-format json --verbose` prints;
    /// says whether there was any.
    fn objects(&mut self, text: &str, out: &mut Vec<AgentEvent>) -> bool {
        if text.starts_with('[') {
            let all: List<Line<'_>> = serde_json::from_str(text).unwrap_or_default();
            all.items.iter().for_each(|line| self.object(line, out));
            return !all.items.is_empty();
        }
        if !text.starts_with('{') {
            return false;
        }
        let mut any = false;
        for line in serde_json::Deserializer::from_str(text).into_iter::<Loose<Line<'_>>>() {
            let Ok(Loose(Some(line))) = line else { break };
            self.object(&line, out);
            any = true;
        }
        any
    }

    fn object(&mut self, line: &Line<'_>, out: &mut Vec<AgentEvent>) {
        let main = line.parent_tool_use_id.is_absent();
        match (line.kind.word(), &line.message) {
            ("assistant", Loose(Some(message))) if main => self.main_agent(line, message, out),
            ("assistant", Loose(Some(message))) => sub_agent(message, out),
            ("user", Loose(Some(message))) if main && !line.synthetic.is_true() => self.tool_results(message, out),
            ("system", _) => self.system(line, out),
            ("rate_limit_event", _) => self.limit(line, out),
            ("result", _) => self.result(line, out),
            // Pieces of messages, which follow as a whole; what the client or a sub-agent was told; every half
            // minute a word that a tool is still at work.
            ("stream_event" | "assistant" | "user" | "tool_progress", _) => {}
            (kind, _) => out.push(unknown("message type", kind)),
        }
    }

    fn main_agent(&mut self, line: &Line<'_>, message: &Message<'_>, out: &mut Vec<AgentEvent>) {
        let texts = message.content.items.iter().filter(|block| block.kind.is("text")).map(|block| block.text.text());
        if message.model.is("<synthetic>") || line.is_api_error_message.is_true() {
            let sentence = texts.collect::<Vec<_>>().join("\n");
            out.push(AgentEvent::Progress { text: sentence.clone() });
            return self.turn.client_complains(line, sentence);
        }
        self.turn.model_speaks();
        push_words(message.content.text.clone(), Voice::Main, out);
        for block in &message.content.items {
            if block.kind.is("text") {
                push_words(block.text.text(), Voice::Main, out);
            } else if block.kind.is("tool_use") && block.name.is("TodoWrite") {
                self.todo(block, out);
            } else if block.kind.is("tool_use") {
                out.push(tool::start(block));
            }
        }
    }

    fn todo(&mut self, block: &Block<'_>, out: &mut Vec<AgentEvent>) {
        // Parallel calls are few; a forgotten one only shows a line more.
        self.todo_calls.truncate(15);
        self.todo_calls.insert(0, block.id.text());
        let items = block.input.0.as_ref().map(|input| tool::todos(&input.todos)).unwrap_or_default();
        if !items.is_empty() {
            out.push(AgentEvent::Todo { items });
        }
    }

    fn tool_results(&mut self, message: &Message<'_>, out: &mut Vec<AgentEvent>) {
        for block in message.content.items.iter().filter(|block| block.kind.is("tool_result")) {
            let of_a_list = self.todo_calls.iter().any(|call| block.tool_use_id.is(call));
            if !of_a_list || block.is_error.is_true() {
                out.push(tool::end(block));
            }
        }
    }

    fn system(&mut self, line: &Line<'_>, out: &mut Vec<AgentEvent>) {
        let text = match line.subtype.word() {
            "" | "init" => {
                self.turn.begins();
                format!("session: {}", line.session_id.text_within(200))
            }
            "api_retry" => retry(line),
            "permission_denied" => format!("permission denied: {}", line.tool_name.text_within(200)),
            "informational" => line.content.text_within(2000),
            "notification" => line.text.text_within(2000),
            "task_notification" => line.summary.text_within(2000),
            "compact_boundary" => "the conversation was compacted".to_owned(),
            "hook_started" | "hook_progress" | "hook_response" | "status" | "thinking_tokens" => return,
            "task_started" | "task_progress" | "task_updated" | "background_tasks_changed" => return,
            other => return out.push(unknown("system message", other)),
        };
        out.push(AgentEvent::Progress { text });
    }

    fn limit(&mut self, line: &Line<'_>, out: &mut Vec<AgentEvent>) {
        let Some(info) = &line.rate_limit_info.0 else { return };
        let (rejected, resets_at) = self.turn.limit_stated(info);
        if !info.status.is("allowed") {
            out.push(AgentEvent::Limit { scope: info.rate_limit_type.text_within(100), rejected, resets_at });
        }
    }

    fn result(&mut self, line: &Line<'_>, out: &mut Vec<AgentEvent>) {
        let spent = self.account.take(line);
        if spent.suspect {
            out.push(AgentEvent::Unknown { what: "usage that cannot be true".to_owned() });
        }
        let text = line.result.text();
        let error = self.turn.ends(line, &text);
        let is_error = error.is_some();
        out.extend(error.map(|message| AgentEvent::Error { message }));
        out.push(AgentEvent::Result { text, is_error, cost_usd: spent.cost_usd, tokens: spent.tokens });
    }
}

/// What a sub-agent says and does: to be seen, but neither claim nor evidence.
fn sub_agent(message: &Message<'_>, out: &mut Vec<AgentEvent>) {
    for block in &message.content.items {
        if block.kind.is("text") {
            push_words(block.text.text(), Voice::Sub, out);
        } else if block.kind.is("tool_use") {
            let input = block.input.0.as_ref().map(tool::summary).unwrap_or_default();
            out.push(AgentEvent::Progress { text: format!("sub-agent: {}({input})", block.name.text_within(200)) });
        }
    }
}

fn push_words(text: String, voice: Voice, out: &mut Vec<AgentEvent>) {
    if !text.is_empty() {
        out.push(AgentEvent::Text { text, voice });
    }
}

fn unknown(what: &str, name: &str) -> AgentEvent {
    AgentEvent::Unknown { what: format!("unknown {what}: {}", text::prefix(name, 100)) }
}

fn retry(line: &Line<'_>) -> String {
    let [attempt, most, status] =
        [line.attempt, line.max_retries, line.error_status].map(|number| number.text_within(20));
    let seconds = line.retry_delay_ms.number().unwrap_or_default() / 1000.0;
    let status = if status.is_empty() { status } else { format!(" ({status})") };
    format!("retry {attempt} of {most} in {seconds:.1}s: {}{status}", line.error.text_within(200))
}

fn without_controls(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_ascii_control() && c != '\t';
    if text.contains(is_control) { Cow::Owned(text.replace(is_control, " ")) } else { Cow::Borrowed(text) }
}
