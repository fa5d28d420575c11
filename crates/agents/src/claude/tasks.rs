//! The todo list of the main agent, written as a whole or piece by piece. A call that only writes it is shown as the
//! list and not as a tool; a change counts once its tool has ended well.

use super::line::{Block, Line};
use crate::dialect::Told;
use crate::todo::{self, Held};
use crate::tool::given;
use ralph_core::agent_event::{TodoItem, TodoStatus};

/// Calls whose end is still to come. Parallel calls are few; a forgotten one only shows a line more.
const CALLS: usize = 16;
/// Items kept: more than anybody reads.
const ITEMS: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Tasks {
    whole: Held,
    calls: Vec<(String, Call)>,
    items: Vec<(String, TodoItem)>,
}

#[derive(Debug)]
enum Call {
    Create { subject: String },
    Update { task: String, status: String, subject: Option<String> },
}

impl Tasks {
    /// Takes a call of a tool; says whether it is about the list.
    pub(super) fn called(&mut self, block: &Block<'_>, todo_tools: &[&str]) -> bool {
        let input = block.input.0.as_ref();
        let call = match block.name.word() {
            name if todo_tools.contains(&name) => {
                self.whole.began(block.id.text(), input.and_then(|input| todo::event(&input.todos)));
                return true;
            }
            "TaskCreate" => Call::Create { subject: input.map(|input| input.subject.text()).unwrap_or_default() },
            "TaskUpdate" => Call::Update {
                task: input.map(|input| input.task_id.text()).unwrap_or_default(),
                status: input.map(|input| input.status.text()).unwrap_or_default(),
                subject: input.and_then(|input| given(input.subject)),
            },
            _ => return false,
        };
        self.calls.truncate(CALLS - 1);
        self.calls.insert(0, (block.id.text(), call));
        true
    }

    /// Takes the end of a tool; says whether it was about the list and needs no telling.
    pub(super) fn ended(&mut self, line: &Line<'_>, block: &Block<'_>, out: &mut Told) -> bool {
        // Some calls are answered with what went wrong instead of an error.
        let refused = line.tool_use_result.0.as_ref().is_some_and(|result| result.success.json() == b"false");
        let failed = block.is_error.is_true() || !block.error.is_absent() || refused;
        if self.whole.ended(&block.tool_use_id.text(), failed, out) {
            return true;
        }
        let Some(at) = self.calls.iter().position(|(call, _)| block.tool_use_id.is(call)) else { return false };
        let (_, call) = self.calls.remove(at);
        if failed {
            return false;
        }
        if self.apply(call, line, block) {
            out.extend(todo::told(self.items.iter().map(|(_, item)| item.clone()).collect()));
        }
        true
    }

    /// The turn is over: what was written without a word on its end is shown.
    pub(super) fn let_go(&mut self, out: &mut Told) {
        self.whole.let_go(out);
    }

    fn apply(&mut self, call: Call, line: &Line<'_>, block: &Block<'_>) -> bool {
        match call {
            Call::Create { subject } if subject.is_empty() || self.items.len() == ITEMS => false,
            Call::Create { subject } => {
                let stated = line.tool_use_result.0.as_ref().and_then(|result| result.task.0.as_ref());
                let id = stated.and_then(|task| given(task.id)).or_else(|| number_in(&block.content.text_within(200)));
                let id = id.unwrap_or_else(|| (self.items.len() + 1).to_string());
                self.items.push((id, TodoItem { content: subject, status: TodoStatus::Pending, priority: None }));
                true
            }
            Call::Update { task, status, .. } if status == "deleted" => {
                self.items.retain(|(id, _)| *id != task);
                true
            }
            Call::Update { task, status, subject } => {
                let Some((_, item)) = self.items.iter_mut().find(|(id, _)| *id == task) else { return false };
                if !status.is_empty() {
                    item.status = todo::status(&status);
                }
                item.content = subject.unwrap_or_else(|| std::mem::take(&mut item.content));
                true
            }
        }
    }
}

/// The number in `Task #3 created`.
fn number_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('#')?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}
