//! Codex's stream: threads, turns and the items in them. Only the end of the turn decides: an `error` is a retry that
//! goes on, and an item of that name a warning. Reasoning is shown, but is no answer.

use super::limit;
use super::line::{Item, Line};
use crate::advice::Help;
use crate::complaint::Complaint;
use crate::dialect::{End, SideFile, Told};
use crate::json::Loose;
use crate::stream::{Outcome, Stream, Turn, say, unknown};
use crate::todo;
use crate::tool::{self, Calls, Went};
use crate::usage::{self, Counter};
use ralph_core::agent_event::{AgentEvent, Voice};
use ralph_core::observation::{Failure, FailureClass};
use ralph_core::text;

#[derive(Default)]
pub(super) struct Items {
    thread: String,
    answer: String,
    /// Items whose beginning was told; older clients tell only of the end.
    begun: Calls,
    /// What the client last complained about, until the turn goes on.
    trouble: Option<Complaint>,
    turn: Turn,
}

impl Stream for Items {
    type Line<'a> = Line<'a>;

    fn object(&mut self, line: &Line<'_>, out: &mut Told) {
        match (line.kind.word(), &line.item) {
            ("thread.started", _) => {
                self.thread = line.thread_id.text_within(200);
                out.push(AgentEvent::Progress { text: format!("session: {}", self.thread) });
            }
            ("turn.started", _) => {
                self.turn = Turn::Open;
                self.answer.clear();
            }
            ("item.started", Loose(Some(item))) => self.started(item, out),
            ("item.updated", Loose(Some(item))) if item.kind.is("todo_list") => out.extend(todo::event(&item.items)),
            ("item.completed", Loose(Some(item))) => self.completed(item, out),
            ("item.started" | "item.updated" | "item.completed", _) => {}
            ("error", _) => {
                let text = line.message.text_within(2000);
                self.trouble = Some(Complaint::new(&text));
                out.push(AgentEvent::Progress { text });
            }
            ("turn.completed", _) => self.turn_completed(line, out),
            ("turn.failed", _) => self.turn_failed(line, out),
            (kind, _) => out.push(unknown("codex message type", kind)),
        }
    }

    fn is_over(&self) -> bool {
        !matches!(self.turn, Turn::Open)
    }

    fn outcome(&self, end: &End<'_>, help: Help) -> Outcome {
        match &self.turn {
            Turn::Failed(complaint) => Outcome::Failed(failure(complaint, end, help)),
            Turn::Ended => Outcome::of_answer(&self.answer),
            Turn::Open => Outcome::Unfinished(self.trouble.as_ref().map(|complaint| failure(complaint, end, help))),
        }
    }

    fn side_file(&self) -> Option<SideFile> {
        let Turn::Failed(complaint) = &self.turn else { return None };
        let wanted = complaint.class() == FailureClass::Limited && !complaint.says_when();
        (wanted && !self.thread.is_empty()).then(|| SideFile {
            variable: "CODEX_HOME",
            below_home: ".codex",
            folder: "sessions",
            suffix: format!("-{}.jsonl", self.thread),
        })
    }
}

impl Items {
    fn started(&mut self, item: &Item<'_>, out: &mut Told) {
        self.trouble = None;
        match item.kind.word() {
            "command_execution" => {
                let command = tool::given(item.command);
                let input = text::cut(command.as_deref().unwrap_or_default(), 200, "...");
                out.push(AgentEvent::ToolStart {
                    id: item.id.text(),
                    name: "Bash".to_owned(),
                    input,
                    command,
                    writes: None,
                });
            }
            "todo_list" => out.extend(todo::event(&item.items)),
            _ => {
                self.begun.began(item.id.text());
                begin(item, out);
            }
        }
    }

    fn completed(&mut self, item: &Item<'_>, out: &mut Told) {
        if !item.kind.is("error") {
            self.trouble = None;
        }
        let failed = item.status.is("failed") || item.status.is("declined");
        match item.kind.word() {
            "agent_message" => {
                self.answer = item.text.text();
                say(self.answer.clone(), Voice::Main, out);
            }
            "reasoning" => say(item.text.text(), Voice::Thinking, out),
            "command_execution" => {
                let went = tool::exit_code(item.exit_code).map_or(Went::badly_if(failed), Went::Exited);
                out.tool_ended(item.id.text(), item.aggregated_output, went);
            }
            "todo_list" => out.extend(todo::event(&item.items)),
            // A warning, such as one about the name of the model.
            "error" => out.push(AgentEvent::Progress { text: item.message.text_within(2000) }),
            "file_change" | "mcp_tool_call" | "web_search" => {
                if !self.begun.ended(&item.id.text()) {
                    begin(item, out);
                }
                let printed = item.result.0.as_ref().map(|result| result.content).unwrap_or_default();
                for (id, _) in names(item) {
                    out.tool_failed_with(id, printed, item.error, Went::badly_if(failed || !item.error.is_absent()));
                }
            }
            kind => out.push(unknown("codex item type", kind)),
        }
    }

    fn turn_completed(&mut self, line: &Line<'_>, out: &mut Told) {
        self.turn = Turn::Ended;
        let mut counter = Counter::default();
        // A resumed thread counts on from where it was; every iteration begins a new one.
        let tokens = line.usage.0.as_ref().map(|usage| {
            let [read, written] = [usage.cached_input_tokens, usage.cache_write_input_tokens];
            usage::with_cache_inside(counter.tokens([usage.input_tokens, usage.output_tokens, read, written]))
        });
        usage::tell(counter.suspect, out);
        out.push(AgentEvent::Result { text: self.answer.clone(), is_error: false, cost_usd: None, tokens });
    }

    fn turn_failed(&mut self, line: &Line<'_>, out: &mut Told) {
        let stated = line.error.0.as_ref().and_then(|error| error.complaint());
        let complaint = stated.or_else(|| self.trouble.take()).unwrap_or_else(|| Complaint::new("the turn failed"));
        complaint.tell(out);
        out.push(AgentEvent::Result { text: String::new(), is_error: true, cost_usd: None, tokens: None });
        self.turn = Turn::Failed(complaint);
    }
}

fn failure(complaint: &Complaint, end: &End<'_>, help: Help) -> Failure {
    let failure = complaint.failure(help, end);
    let beside = || limit::reset(&complaint.message, end);
    let limited = failure.class == FailureClass::Limited;
    Failure { resets_at: failure.resets_at.or_else(|| if limited { beside() } else { None }), ..failure }
}

/// The beginnings of what an item does, one for each file.
fn begin(item: &Item<'_>, out: &mut Told) {
    let name = match item.kind.word() {
        "mcp_tool_call" => format!("{}.{}", item.server.text_within(100), item.tool.text_within(100)),
        kind @ ("file_change" | "web_search") => kind.to_owned(),
        _ => return,
    };
    out.extend(names(item).into_iter().map(|(id, input)| {
        let writes = item.kind.is("file_change").then(|| input.clone());
        AgentEvent::ToolStart { id, name: name.clone(), input, command: None, writes }
    }));
}

/// The ids of what an item does, and what each is about: a change of several files is several things.
fn names(item: &Item<'_>) -> Vec<(String, String)> {
    let id = item.id.text();
    if item.changes.items.is_empty() {
        return vec![(id, item.query.text_within(200))];
    }
    let numbered = |at: usize| if at == 0 { id.clone() } else { format!("{id}.{at}") };
    item.changes.items.iter().enumerate().map(|(at, change)| (numbered(at), change.path.text())).collect()
}
