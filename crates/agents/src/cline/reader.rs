//! Cline's stream: what hooks would be told, what the agent does, and the result of the run.
//!
//! Sub-agents and teammates print as the main agent does. Only the hooks say when they begin and end: in between nobody
//! can tell whose words are whose, so none of them are the main agent's; its final text stands in the result.

use crate::advice::Help;
use crate::complaint::{Complaint, ErrorObject};
use crate::dialect::{End, Told};
use crate::json::{List, Loose, Raw, fields, read};
use crate::stream::{Outcome, Stream, Turn, say, unknown};
use crate::tool::{self, Input, Went};
use crate::usage::{self, Counter};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::Tokens;

fields! {
    pub(super) struct Line<'a> {
        kind = "type",
        event: Loose<Event<'a>>,

        // hook_event
        hook = "hookEventName", agent = "agentId", parent = "parentAgentId",

        // run_result, run_aborted
        finish_reason = "finishReason", text, message,
        usage: Loose<Usage<'a>>,
        all_usage: Loose<Usage<'a>> = "aggregateUsage",
    }

    pub(super) struct Event<'a> {
        kind = "type", content = "contentType", text, reasoning, message,
        tool = "toolName", call = "toolCallId", input, output,
        /// A sentence at the end of a tool, an object if the agent itself is in trouble.
        error,
        error_class = "errorClass", recoverable,
        input_tokens = "inputTokens", output_tokens = "outputTokens", cache_read_tokens = "cacheReadTokens",
        cache_write_tokens = "cacheWriteTokens", total_cost = "totalCost",
    }

    pub(super) struct Usage<'a> {
        input_tokens = "inputTokens", output_tokens = "outputTokens", cache_read_tokens = "cacheReadTokens",
        cache_write_tokens = "cacheWriteTokens", total_cost = "totalCost",
    }

    struct Commands<'a> {
        commands: Vec<Raw<'a>>,
    }

    /// How one part of a call went: a command, a file.
    struct Part<'a> {
        result, error, success,
    }
}

#[derive(Default)]
pub(super) struct Events {
    /// Agents below the main one that are at work.
    others: Vec<String>,
    /// Shell calls under way, by how many commands they run.
    shells: Vec<(String, usize)>,
    trouble: Option<Complaint>,
    turn: Turn,
    answer: String,
    /// The sums of what single requests used; the result leaves out those of sub-agents.
    tokens: Tokens,
    cost: f64,
}

impl Stream for Events {
    type Line<'a> = Line<'a>;

    fn object(&mut self, line: &Line<'_>, out: &mut Told) {
        match (line.kind.word(), &line.event) {
            ("agent_event", Loose(Some(event))) => self.event(event, out),
            ("hook_event", _) => self.hook(line),
            ("run_result", _) => self.result(line, out),
            ("run_aborted", _) => {
                self.turn = Turn::Open;
                out.push(AgentEvent::Progress { text: line.message.text_within(500) });
            }
            ("agent_event" | "run_start" | "team_event" | "error", _) => {}
            (kind, _) => out.push(unknown("cline message type", kind)),
        }
    }

    fn is_over(&self) -> bool {
        !matches!(self.turn, Turn::Open)
    }

    fn outcome(&self, end: &End<'_>, help: Help) -> Outcome {
        let failure = |complaint: &Complaint| complaint.failure(help, end);
        match &self.turn {
            Turn::Open => Outcome::Unfinished(self.trouble.as_ref().map(failure)),
            Turn::Ended => Outcome::of_answer(&self.answer),
            Turn::Failed(complaint) => Outcome::Failed(failure(complaint)),
        }
    }
}

impl Events {
    fn event(&mut self, event: &Event<'_>, out: &mut Told) {
        match (event.kind.word(), event.content.word()) {
            ("iteration_start", _) => self.turn = Turn::Open,
            ("content_start", "tool") => self.tool_began(event, out),
            ("content_end", "tool") => self.tool_ended(event, out),
            ("content_end", "text") => {
                self.trouble = None;
                let voice = if self.others.is_empty() { Voice::Main } else { Voice::Sub };
                say(event.text.text(), voice, out);
            }
            ("content_end", "reasoning") => say(event.reasoning.text(), Voice::Thinking, out),
            ("usage", _) => self.spend(event, out),
            ("error", _) => self.complains(event, out),
            ("notice", _) => out.push(AgentEvent::Progress { text: event.message.text_within(500) }),
            // Pieces of what follows as a whole, and what the result says again.
            ("content_start" | "content_update" | "content_end" | "iteration_end" | "done", _) => {}
            (kind, _) => out.push(unknown("cline event", kind)),
        }
    }

    fn hook(&mut self, line: &Line<'_>) {
        if line.parent.is_absent() {
            return;
        }
        let agent = line.agent.text_within(200);
        self.others.retain(|other| *other != agent);
        if !matches!(line.hook.word(), "agent_end" | "agent_error") {
            self.others.push(agent);
        }
    }

    /// The shell tool runs several commands at once: each is a tool run of its own.
    fn tool_began(&mut self, event: &Event<'_>, out: &mut Told) {
        let (id, name) = (event.call.text(), event.tool.text());
        let commands = read(event.input.json()).and_then(|Loose(input): Loose<Commands<'_>>| input);
        let Some(Commands { commands }) = commands.filter(|input| name == "run_commands" && !input.commands.is_empty())
        else {
            let Loose(input): Loose<Input<'_>> = read(event.input.json()).unwrap_or_default();
            return out.tool_began(id, name, input.as_ref());
        };
        for (number, &command) in commands.iter().enumerate() {
            let input = Input { command, ..Input::default() };
            out.tool_began(part(&id, number), name.clone(), Some(&input));
        }
        // Parallel calls are few.
        self.shells.truncate(15);
        self.shells.insert(0, (id, commands.len()));
    }

    fn tool_ended(&mut self, event: &Event<'_>, out: &mut Told) {
        let id = event.call.text();
        let at = self.shells.iter().position(|(call, _)| *call == id);
        let count = at.map_or(1, |at| self.shells.remove(at).1);
        let Loose(whole): Loose<Part<'_>> = read(event.output.json()).unwrap_or_default();
        let parts: List<Part<'_>> = read(event.output.json()).unwrap_or_default();
        let mut parts: Vec<Part<'_>> = parts.items.into_iter().chain(whole).collect();
        if at.is_none() && parts.len() > 1 {
            // Of several files the one that could not be read says most.
            parts.sort_by_key(|part| !is_failure(part));
            parts.truncate(1);
        }
        for number in 0..count {
            let id = if at.is_some() { part(&id, number) } else { id.clone() };
            match parts.get(number) {
                Some(part) => out.tool_ended(id, printed(part, event), went(part, event, at.is_some())),
                None if event.error.is_absent() => out.tool_ended(id, event.output, Went::badly_if(at.is_some())),
                None => out.tool_ended(id, event.error, Went::Badly),
            }
        }
    }

    fn complains(&mut self, event: &Event<'_>, out: &mut Told) {
        let Loose(error): Loose<ErrorObject<'_>> = read(event.error.json()).unwrap_or_default();
        let message = error.map(|error| error.message.text_within(2000)).unwrap_or_default();
        if event.recoverable.is_true() {
            return out.push(AgentEvent::Progress { text: message });
        }
        let status = event.error_class.is("auth").then_some(401);
        let complaint = Complaint::new(&message).with_status(status);
        complaint.tell(out);
        self.trouble = Some(complaint);
    }

    fn spend(&mut self, event: &Event<'_>, out: &mut Told) {
        let mut counter = Counter::default();
        let counts = [event.input_tokens, event.output_tokens, event.cache_read_tokens, event.cache_write_tokens];
        self.tokens = self.tokens.plus(counter.tokens(counts));
        self.cost = self.cost.max(counter.money(event.total_cost));
        usage::tell(counter.suspect, out);
        out.push(AgentEvent::Spent { cost_usd: self.cost_usd(), tokens: Some(self.tokens) });
    }

    fn result(&mut self, line: &Line<'_>, out: &mut Told) {
        let mut counter = Counter::default();
        for usage in [&line.usage.0, &line.all_usage.0].into_iter().flatten() {
            let counts = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
            self.tokens = self.tokens.max(counter.tokens(counts));
            self.cost = self.cost.max(counter.money(usage.total_cost));
        }
        usage::tell(counter.suspect, out);
        let (said, reason) = (line.text.text(), line.finish_reason.text_within(100));
        let is_error = reason != "completed";
        let text = if is_error { String::new() } else { said.clone() };
        self.answer.clone_from(&text);
        self.turn = if is_error {
            let sentence = if said.trim().is_empty() { format!("the agent reports {reason}") } else { said };
            // The error before it knows the class; what it says is the same.
            let known = self.trouble.take().filter(|_| reason == "error");
            Turn::Failed(known.unwrap_or_else(|| Complaint::new(&sentence)))
        } else {
            Turn::Ended
        };
        let (cost_usd, tokens) = (self.cost_usd(), Some(self.tokens));
        out.push(AgentEvent::Result { text, is_error, cost_usd, tokens });
    }

    /// A model whose price is not known costs 0.
    fn cost_usd(&self) -> Option<f64> {
        (self.cost > 0.0).then_some(self.cost)
    }
}

fn part(call: &str, number: usize) -> String {
    if number == 0 { call.to_owned() } else { format!("{call}/{number}") }
}

fn is_failure(part: &Part<'_>) -> bool {
    !part.error.is_absent() || part.success.json() == b"false"
}

fn printed<'a>(part: &Part<'a>, event: &Event<'a>) -> Raw<'a> {
    let given = |raw: &Raw<'a>| !raw.is_absent() && raw.size().chars > 0;
    [part.result, part.error, event.error].into_iter().find(given).unwrap_or_default()
}

/// How a part of a call went. A command's success is stated; the exit code of a failed one stands in a sentence.
fn went(part: &Part<'_>, event: &Event<'_>, of_a_shell: bool) -> Went {
    let failed = is_failure(part) || !event.error.is_absent();
    match tool::code_behind(part.error.json(), "Command exited with code ").filter(|_| failed && of_a_shell) {
        Some(code) => Went::Exited(code),
        None if of_a_shell && part.success.is_true() && !failed => Went::Exited(0),
        None => Went::badly_if(failed),
    }
}
