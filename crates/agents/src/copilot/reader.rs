//! GitHub Copilot CLI's stream: dotted names, most of them the client's own bookkeeping. Of the messages only the
//! assistant's are read, and only as a whole.

use crate::advice::Help;
use crate::complaint::{Complaint, status_of};
use crate::dialect::{End, Told};
use crate::json::{Loose, Raw, fields, read};
use crate::stream::{Outcome, Stream, say, unknown};
use crate::todo::{self, Held};
use crate::tool::{self, Input, Went};
use crate::usage::{self, Counter};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::Tokens;

fields! {
    pub(super) struct Line<'a> {
        kind = "type",
        data: Loose<Data<'a>>,
        /// What is not kept in the session's file either.
        ephemeral,
        session = "sessionId", exit_code = "exitCode",
    }

    pub(super) struct Data<'a> {
        content, tool_call_id = "toolCallId", tool_name = "toolName",
        /// The call of the agent that started this one; absent for the main agent.
        parent_tool_call_id = "parentToolCallId",
        arguments: Loose<Input<'a>>,
        success,
        result: Loose<ToolResult<'a>>,
        error,
        shell_execution: Loose<ShellExecution<'a>> = "shellExecution",
        error_type = "errorType", error_code = "errorCode", error_message = "errorMessage", message, status_code = "statusCode", reason,
        input_tokens = "inputTokens", output_tokens = "outputTokens", cache_read_tokens = "cacheReadTokens",
        cache_write_tokens = "cacheWriteTokens",
    }

    pub(super) struct ToolResult<'a> {
        content,
    }

    pub(super) struct ShellExecution<'a> {
        exit_code = "exitCode",
    }
}

#[derive(Default)]
pub(super) struct Events {
    answer: String,
    lists: Held,
    /// The last error of the session, or of a call to the model.
    trouble: Option<Complaint>,
    /// Somebody stopped it; its result says nevertheless that it exits with 0.
    aborted: bool,
    result: Option<i32>,
    tokens: Option<Tokens>,
}

impl Stream for Events {
    type Line<'a> = Line<'a>;

    fn object(&mut self, line: &Line<'_>, out: &mut Told) {
        let nothing = Data::default();
        let data = line.data.0.as_ref().unwrap_or(&nothing);
        match line.kind.word() {
            "assistant.turn_start" => (self.result, self.aborted) = (None, false),
            "abort" => self.aborted = true,
            "assistant.message" => self.message(data, out),
            "assistant.reasoning" => say(data.content.text(), Voice::Thinking, out),
            "assistant.usage" => self.spend(data, out),
            "tool.execution_start" => self.tool_start(data, out),
            "tool.execution_complete" => self.tool_end(data, out),
            "session.error" => self.complain(data, out),
            "session.info" | "session.warning" => {
                out.push(AgentEvent::Progress { text: data.message.text_within(2000) });
            }
            "assistant.turn_retry" => {
                out.push(AgentEvent::Progress { text: format!("retry: {}", data.reason.text_within(200)) });
            }
            "result" => self.end_of_run(line, out),
            "model.call_failure" => {
                let sentence = data.error_message.text_within(8000);
                let quoted: Option<Raw<'_>> = read(&sentence).filter(|_| sentence.starts_with('"'));
                let sentence = quoted.map(Raw::text).unwrap_or_else(|| sentence.clone());
                self.trouble = Some(Complaint::new(&sentence).with_status(status_of(data.status_code)));
            }
            "user.message" | "assistant.turn_end" | "system.message" => {}
            // What the client notes for itself, and pieces of what follows as a whole.
            kind if kind.starts_with("session.") || line.ephemeral.is_true() => {}
            kind => out.push(unknown("copilot message type", kind)),
        }
    }

    fn is_over(&self) -> bool {
        self.result.is_some()
    }

    fn end(&mut self, out: &mut Told) {
        self.lists.let_go(out);
    }

    fn outcome(&self, end: &End<'_>, help: Help) -> Outcome {
        let failure = self.trouble.as_ref().map(|complaint| complaint.failure(help, end));
        match (self.result, failure) {
            (None, failure) => Outcome::Unfinished(failure),
            (Some(_), failure) if self.aborted => Outcome::Unfinished(failure),
            (Some(0), _) => Outcome::of_answer(&self.answer),
            (Some(_), Some(failure)) => Outcome::Failed(failure),
            (Some(code), None) => {
                Outcome::Failed(Complaint::new(&format!("the agent reports exit code {code}")).failure(help, end))
            }
        }
    }
}

impl Events {
    fn message(&mut self, data: &Data<'_>, out: &mut Told) {
        if !data.parent_tool_call_id.is_absent() {
            return say(data.content.text(), Voice::Sub, out);
        }
        self.trouble = None;
        self.answer = data.content.text();
        say(self.answer.clone(), Voice::Main, out);
    }

    fn tool_start(&mut self, data: &Data<'_>, out: &mut Told) {
        let input = data.arguments.0.as_ref();
        if !data.parent_tool_call_id.is_absent() {
            let summary = input.map(tool::summary).unwrap_or_default();
            let text = format!("sub-agent: {}({summary})", data.tool_name.text_within(200));
            return out.push(AgentEvent::Progress { text });
        }
        if data.tool_name.is("update_todo") {
            return self.lists.began(data.tool_call_id.text(), input.and_then(|input| todo::event(&input.todos)));
        }
        out.tool_began(data.tool_call_id.text(), data.tool_name.text(), input);
    }

    fn tool_end(&mut self, data: &Data<'_>, out: &mut Told) {
        let failed = !data.success.is_true();
        let of_a_list = self.lists.ended(&data.tool_call_id.text(), failed, out);
        if !data.parent_tool_call_id.is_absent() || of_a_list {
            return;
        }
        let printed = data.result.0.as_ref().map(|result| result.content).unwrap_or_default();
        // A command that failed is a success of the tool.
        let exit = data.shell_execution.0.as_ref().and_then(|shell| tool::exit_code(shell.exit_code));
        let went = exit.map_or(Went::badly_if(failed), Went::Exited);
        out.tool_failed_with(data.tool_call_id.text(), printed, data.error, went);
    }

    fn spend(&mut self, data: &Data<'_>, out: &mut Told) {
        let mut counter = Counter::default();
        let counts = [data.input_tokens, data.output_tokens, data.cache_read_tokens, data.cache_write_tokens];
        let tokens = self.tokens.unwrap_or_default().plus(usage::with_cache_inside(counter.tokens(counts)));
        usage::tell(counter.suspect, out);
        self.tokens = Some(tokens);
        out.push(AgentEvent::Spent { cost_usd: None, tokens: self.tokens });
    }

    fn complain(&mut self, data: &Data<'_>, out: &mut Told) {
        let complaint = Complaint::new(&data.message.text_within(8000))
            .with_status(status_of(data.status_code))
            .with_kind(&data.error_code.text_within(100))
            .with_kind(&data.error_type.text_within(100));
        complaint.tell(out);
        self.trouble = Some(complaint);
    }

    fn end_of_run(&mut self, line: &Line<'_>, out: &mut Told) {
        self.lists.let_go(out);
        out.push(AgentEvent::Progress { text: format!("session: {}", line.session.text_within(200)) });
        // A result without a code would be a change of the format, and no error by itself.
        let code = tool::exit_code(line.exit_code).unwrap_or_default();
        self.result = Some(code);
        let is_error = code != 0;
        let text = if is_error { String::new() } else { self.answer.clone() };
        out.push(AgentEvent::Result { text, is_error, cost_usd: None, tokens: self.tokens });
    }
}
