//! opencode's stream: steps, with texts and finished tools in them. It has no last event: a run is over when a step
//! ended for another reason than a tool's call and no further one began. The text of that step is the answer.

use crate::advice::Help;
use crate::complaint::{Complaint, status_of};
use crate::dialect::{End, Told};
use crate::json::{Loose, fields};
use crate::stream::{Outcome, Stream, say, unknown};
use crate::todo;
use crate::tool::{self, Input, Went};
use crate::usage::{self, Counter};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::{Failure, FailureClass, Tokens};

fields! {
    pub(super) struct Line<'a> {
        kind = "type", session = "sessionID",
        part: Loose<Part<'a>>,
        error: Loose<ErrorObject<'a>>,
    }

    pub(super) struct Part<'a> {
        text, tool, call = "callID",
        state: Loose<State<'a>>,
        reason,
        tokens: Loose<Usage<'a>>,
        cost,
    }

    pub(super) struct State<'a> {
        status,
        input: Loose<Input<'a>>,
        output, error,
        metadata: Loose<Metadata<'a>>,
    }

    pub(super) struct Metadata<'a> {
        exit,
    }

    pub(super) struct Usage<'a> {
        input, output, reasoning,
        cache: Loose<Cache<'a>>,
    }

    pub(super) struct Cache<'a> {
        read, write,
    }

    pub(super) struct ErrorObject<'a> {
        name,
        data: Loose<ErrorData<'a>>,
    }

    pub(super) struct ErrorData<'a> {
        message, status = "statusCode",
        headers: Loose<Headers<'a>> = "responseHeaders",
        body = "responseBody",
    }

    pub(super) struct Headers<'a> {
        /// Seconds or a date, in a string.
        retry_after = "retry-after",
    }
}

#[derive(Default)]
pub(super) struct Steps {
    greeted: bool,
    answer: String,
    over: bool,
    trouble: Option<Trouble>,
    cost: f64,
    tokens: Tokens,
}

#[derive(Debug)]
enum Trouble {
    Stated(Complaint),
    Asked(String),
}

impl Stream for Steps {
    type Line<'a> = Line<'a>;

    fn object(&mut self, line: &Line<'_>, out: &mut Told) {
        match (line.kind.word(), &line.part) {
            ("step_start", _) => self.begin(line, out),
            ("text", Loose(Some(part))) => {
                self.answer = part.text.text();
                say(self.answer.clone(), Voice::Main, out);
            }
            ("reasoning", Loose(Some(part))) => say(part.text.text(), Voice::Thinking, out),
            ("tool_use", Loose(Some(part))) => self.tool(part, out),
            ("step_finish", Loose(Some(part))) => self.finish(part, out),
            ("error", _) => self.complain(line, out),
            ("text" | "reasoning" | "tool_use" | "step_finish", _) => {}
            (kind, _) => out.push(unknown("opencode message type", kind)),
        }
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn outcome(&self, end: &End<'_>, help: Help) -> Outcome {
        let trouble = self.trouble.as_ref().map(|trouble| match trouble {
            Trouble::Stated(complaint) => complaint.failure(help, end),
            Trouble::Asked(message) => Failure::new(FailureClass::Other, message.clone()),
        });
        match (self.over, trouble) {
            // It came behind the answer: what came before it was over with the step.
            (true, Some(failure)) => Outcome::Failed(failure),
            (true, None) => Outcome::of_answer(&self.answer),
            (false, trouble) => Outcome::Unfinished(trouble),
        }
    }
}

impl Steps {
    fn begin(&mut self, line: &Line<'_>, out: &mut Told) {
        self.over = false;
        self.trouble = None;
        self.answer.clear();
        if !std::mem::replace(&mut self.greeted, true) {
            out.push(AgentEvent::Progress { text: format!("session: {}", line.session.text_within(200)) });
        }
    }

    /// Tools are told of when they have ended.
    fn tool(&mut self, part: &Part<'_>, out: &mut Told) {
        let Some(state) = &part.state.0 else { return };
        // A call of a tool that does not exist is rewritten to one that always succeeds.
        let failed = state.status.is("error") || part.tool.is("invalid");
        let input = state.input.0.as_ref();
        if part.tool.is("todowrite") && !failed {
            return out.extend(input.and_then(|input| todo::event(&input.todos)));
        }
        if state.status.is("error") {
            let refused = state.error.text_within(300);
            let message = format!(
                "the agent stopped after a tool failed: {refused}; nobody is there to be asked, so `--auto` is needed"
            );
            self.trouble = Some(Trouble::Asked(message)).filter(|_| refused.contains("rejected"));
        }
        out.tool_began(part.call.text(), part.tool.text(), input);
        let exit = state.metadata.0.as_ref().and_then(|metadata| tool::exit_code(metadata.exit));
        let went = exit.map_or(Went::badly_if(failed), Went::Exited);
        out.tool_failed_with(part.call.text(), state.output, state.error, went);
    }

    fn finish(&mut self, part: &Part<'_>, out: &mut Told) {
        let mut counter = Counter::default();
        if let Some(stated) = &part.tokens.0 {
            let cache = stated.cache.0.as_ref();
            self.tokens = self.tokens.plus(usage::with_cache_beside(Tokens {
                input: counter.count(stated.input),
                output: counter.count(stated.output).saturating_add(counter.count(stated.reasoning)),
                cache_read: cache.map_or(0, |cache| counter.count(cache.read)),
                cache_write: cache.map_or(0, |cache| counter.count(cache.write)),
            }));
        }
        self.cost += counter.money(part.cost);
        usage::tell(counter.suspect, out);
        // A model whose price is not known costs 0 in every step.
        let (cost_usd, tokens) = ((self.cost > 0.0).then_some(self.cost), Some(self.tokens));
        self.over = !matches!(part.reason.word(), "tool-calls" | "unknown" | "error");
        if self.over {
            self.trouble = None;
        }
        out.push(match self.over {
            true => AgentEvent::Result { text: self.answer.clone(), is_error: false, cost_usd, tokens },
            false => AgentEvent::Spent { cost_usd, tokens },
        });
    }

    fn complain(&mut self, line: &Line<'_>, out: &mut Told) {
        let Some(error) = &line.error.0 else { return };
        let data = error.data.0.as_ref();
        let sentence = data.and_then(|data| tool::given(data.message)).unwrap_or_else(|| error.name.text_within(200));
        let mut complaint = Complaint::new(&sentence);
        if let Some(data) = data {
            let retry_after = data.headers.0.as_ref().map(|headers| headers.retry_after.text_within(60));
            complaint = complaint.with_body(&data.body.text()).with_status(status_of(data.status));
            complaint = complaint.with_retry_after(&retry_after.unwrap_or_default());
        }
        // `APIError` says less than the provider's own word.
        let complaint = complaint.with_kind(&error.name.text_within(100));
        complaint.tell(out);
        self.trouble = Some(Trouble::Stated(complaint));
    }
}
