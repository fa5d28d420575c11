//! Claude Code's stream, and those like it: one JSON object a line, from `system/init` to `result`. Only the main
//! agent's own words become its text: a claim in thinking, the prompt, tools, the client's or a sub-agent's words is
//! none.

use super::account::Account;
use super::flavour::Flavour;
use super::line::{Block, Line, Message, ShellOutput};
use super::tasks::Tasks;
use super::turn::Turn;
use crate::advice::Help;
use crate::dialect::{End, Told};
use crate::json::{Loose, read};
use crate::stream::{Outcome, Stream, say, unknown};
use crate::tool::{self, Went};
use crate::usage;
use ralph_core::agent_event::{AgentEvent, Voice};

pub(super) struct Messages {
    flavour: Flavour,
    /// Sub-agents speak with the main agent's voice from now on.
    delegated: bool,
    account: Account,
    turn: Turn,
    tasks: Tasks,
}

impl Messages {
    pub(super) fn new(flavour: Flavour) -> Messages {
        let (account, turn, tasks) = (Account::new(flavour.input_with_cache), Turn::default(), Tasks::default());
        Messages { flavour, delegated: false, account, turn, tasks }
    }
}

impl Stream for Messages {
    type Line<'a> = Line<'a>;

    fn object(&mut self, line: &Line<'_>, out: &mut Told) {
        let main = line.parent_tool_use_id.is_absent();
        if let Some(tokens) = line.message.0.as_ref().and_then(|message| self.account.guess(message)) {
            out.push(AgentEvent::Spent { cost_usd: None, tokens: Some(tokens) });
        }
        match (line.kind.word(), &line.message) {
            ("assistant", Loose(Some(message))) if main => self.main_agent(line, message, out),
            ("assistant", Loose(Some(message))) => sub_agent(message, out),
            ("user", Loose(Some(message))) if main && !line.synthetic.is_true() => {
                self.tool_results(line, message, out);
            }
            ("system", _) => self.system(line, out),
            ("rate_limit_event", _) => self.limit(line, out),
            ("result", _) => self.result(line, out),
            // Pieces of messages, which follow as a whole; what the client or a sub-agent was told; every half
            // minute a word that a tool is still at work.
            ("stream_event" | "assistant" | "user" | "tool_progress", _) => {}
            _ if (self.flavour.other)(line, out) => self.turn.model_speaks(),
            (kind, _) => out.push(unknown(self.flavour.unknown, kind)),
        }
    }

    fn is_over(&self) -> bool {
        self.turn.is_over()
    }

    fn outcome(&self, end: &End<'_>, help: Help) -> Outcome {
        self.turn.outcome(&self.flavour, end, help)
    }

    fn end(&mut self, out: &mut Told) {
        self.tasks.let_go(out);
    }
}

impl Messages {
    fn main_agent(&mut self, line: &Line<'_>, message: &Message<'_>, out: &mut Told) {
        let texts = message.content.items.iter().filter(|block| block.kind.is("text")).map(|block| block.text.text());
        if message.model.is("<synthetic>") || line.is_api_error_message.is_true() {
            let sentence = texts.collect::<Vec<_>>().join("\n");
            out.push(AgentEvent::Progress { text: sentence.clone() });
            return self.turn.client_complains(line, sentence);
        }
        self.turn.model_speaks();
        let voice = if self.delegated { Voice::Sub } else { Voice::Main };
        say(message.content.text.clone(), voice, out);
        for block in &message.content.items {
            self.delegated |= self.flavour.sub_agents.contains(&block.name.word());
            if block.kind.is("text") {
                say(block.text.text(), voice, out);
            } else if block.kind.is("tool_use") && !self.tasks.called(block, self.flavour.todo_tools) {
                self.tool_start(block, out);
            }
        }
    }

    fn tool_start(&self, block: &Block<'_>, out: &mut Told) {
        out.tool_began(block.id.text(), block.name.text(), block.input.0.as_deref());
        if let (Some(AgentEvent::ToolStart { input, .. }), Loose(Some(given))) = (out.last_mut(), &block.input)
            && self.flavour.hides_description
            && *input == tool::summary(&tool::Input { description: given.description, ..tool::Input::default() })
        {
            input.clear();
        }
    }

    fn tool_results(&mut self, line: &Line<'_>, message: &Message<'_>, out: &mut Told) {
        for block in message.content.items.iter().filter(|block| block.kind.is("tool_result")) {
            if !self.tasks.ended(line, block, out) {
                (self.flavour.tool_ended)(block, out);
            }
        }
    }

    fn system(&mut self, line: &Line<'_>, out: &mut Told) {
        let text = match line.subtype.word() {
            "" | "init" => {
                self.turn.begins();
                format!("session: {}", line.session_id.text_within(200))
            }
            "api_retry" => {
                self.turn.client_retries(line);
                retry(line)
            }
            "retry" => "retry".to_owned(),
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

    fn limit(&mut self, line: &Line<'_>, out: &mut Told) {
        let Some(info) = &line.rate_limit_info.0 else { return };
        let (rejected, resets_at) = self.turn.limit_stated(info);
        if !info.status.is("allowed") {
            out.push(AgentEvent::Limit { scope: info.rate_limit_type.text_within(100), rejected, resets_at });
        }
    }

    fn result(&mut self, line: &Line<'_>, out: &mut Told) {
        self.tasks.let_go(out);
        let spent = self.account.take(line);
        usage::tell(spent.suspect, out);
        let text = line.result.text();
        let error = self.turn.ends(&self.flavour, line, &text);
        let is_error = error.is_some();
        out.extend(error.map(|message| AgentEvent::Error { message }));
        let cost_usd = spent.cost_usd.filter(|cost| *cost != 0.0 || !self.flavour.cost_may_be_unknown);
        out.push(AgentEvent::Result { text, is_error, cost_usd, tokens: spent.tokens });
    }
}

pub(super) fn tool_ended(block: &Block<'_>, out: &mut Told) {
    out.tool_failed_with(block.tool_use_id.text(), block.content, block.error, went(block));
}

/// What a sub-agent says and does: to be seen, but neither claim nor evidence.
fn sub_agent(message: &Message<'_>, out: &mut Told) {
    for block in &message.content.items {
        if block.kind.is("text") {
            say(block.text.text(), Voice::Sub, out);
        } else if block.kind.is("tool_use") {
            let input = block.input.0.as_deref().map(tool::summary).unwrap_or_default();
            out.push(AgentEvent::Progress { text: format!("sub-agent: {}({input})", block.name.text_within(200)) });
        }
    }
}

fn retry(line: &Line<'_>) -> String {
    let [attempt, most, status] =
        [line.attempt, line.max_retries, line.error_status].map(|number| number.text_within(20));
    let seconds = line.retry_delay_ms.number().unwrap_or_default() / 1000.0;
    let status = if status.is_empty() { status } else { format!(" ({status})") };
    format!("retry {attempt} of {most} in {seconds:.1}s: {}{status}", line.error.text_within(200))
}

/// How a tool went. Claude Code states the exit code of a failed command before its output, Qwen Code
/// behind the output and of commands that it calls a success, Amp as a field beside it.
fn went(block: &Block<'_>) -> Went {
    let (printed, failed) = (block.content.json(), block.is_error.is_true() || !block.error.is_absent());
    let code = match printed {
        _ if failed => printed.strip_prefix(b"\"Exit code ").and_then(tool::code_at),
        _ if printed.starts_with(b"\"Command: ") => tool::code_behind(printed, "\\nExit Code: "),
        _ if printed.starts_with(b"\"{") => exit_code_field(&block.content.text()),
        _ => None,
    };
    code.map_or(Went::badly_if(failed), Went::Exited)
}

fn exit_code_field(output: &str) -> Option<i32> {
    let Loose(shell): Loose<ShellOutput<'_>> = read(output)?;
    tool::exit_code(shell?.exit_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_read_where_clients_state_them() {
        for (content, failed, error, exit_code) in [
            ("Exit code 3\\noops", true, true, Some(3)),
            ("Exit code 137", true, true, Some(137)),
            ("Exit code 3", false, false, None),
            ("Exit code none", true, true, None),
            ("Exit code 99999999999", true, true, None),
            (r"Command: x\nOutput: y\nExit Code: 3\nSignal: (none)", false, true, Some(3)),
            (r"Command: x\nOutput: y\nExit Code: 0\nSignal: (none)", false, false, Some(0)),
            (r"said\nExit Code: 3", false, false, None),
            (r#"{\"output\":\"\\\"exitCode\\\":7\",\"exitCode\":3}"#, false, true, Some(3)),
            (r#"{\"output\":\"ok\",\"exitCode\":0}"#, false, false, Some(0)),
            (r#"{\"exitCode\":\"three\"}"#, false, false, None),
            (r#"{\"exitCode\":3"#, false, false, None),
            ("", true, true, None),
        ] {
            let json = format!(r#"{{"content":"{content}","is_error":{failed}}}"#);
            let block = read::<Loose<Block<'_>>>(&json).unwrap().0.unwrap();
            let mut told = Told::default();
            told.tool_ended(String::new(), block.content, went(&block));
            match told.pop() {
                Some(AgentEvent::ToolEnd { error: read, exit_code: code, .. }) => {
                    assert_eq!((read, code), (error, exit_code), "{content}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
