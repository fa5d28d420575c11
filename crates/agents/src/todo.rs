//! Todo lists, in the forms in which agents write them.

use crate::dialect::Told;
use crate::json::{List, fields};
use ralph_core::agent_event::{AgentEvent, TodoItem, TodoStatus};

fields! {
    /// One item of a list. Every program has its own word for what is to be done.
    pub(crate) struct Todo<'a> {
        content, subject, description, text, title, status, completed, priority,
    }
}

pub(crate) fn event(list: &List<Todo<'_>>) -> Option<AgentEvent> {
    let mut items: Vec<TodoItem> = list.items.iter().filter_map(item).collect();
    items.extend(list.text.lines().filter_map(checkbox));
    told(items)
}

pub(crate) fn told(items: Vec<TodoItem>) -> Option<AgentEvent> {
    (!items.is_empty()).then_some(AgentEvent::Todo { items })
}

pub(crate) fn status(word: &str) -> TodoStatus {
    match word {
        "completed" | "done" => TodoStatus::Completed,
        "in_progress" => TodoStatus::InProgress,
        _ => TodoStatus::Pending,
    }
}

/// Lists whose writing has begun, by the call that writes each; the newest few. A list is shown once its tool has ended
/// well: one that was refused replaces nothing. Where the stream tells no end, the end of the turn stands in for it.
#[derive(Debug, Default)]
pub(crate) struct Held(Vec<(String, Option<AgentEvent>)>);

impl Held {
    pub(crate) fn began(&mut self, call: String, list: Option<AgentEvent>) {
        // Parallel calls are few; a forgotten one only shows a line more.
        self.0.truncate(15);
        self.0.insert(0, (call, list));
    }

    /// A call ended; says whether it wrote a list and needs no more telling.
    pub(crate) fn ended(&mut self, call: &str, failed: bool, out: &mut Told) -> bool {
        let Some(at) = self.0.iter().position(|(begun, _)| begun == call) else { return false };
        let (_, list) = self.0.remove(at);
        if !failed {
            out.extend(list);
        }
        !failed
    }

    /// Nothing more comes about the calls that are left.
    pub(crate) fn let_go(&mut self, out: &mut Told) {
        out.extend(self.0.drain(..).rev().filter_map(|(_, list)| list));
    }
}

fn item(todo: &Todo<'_>) -> Option<TodoItem> {
    let words = [todo.content, todo.subject, todo.description, todo.text, todo.title];
    let content = words.iter().map(|words| words.text()).find(|text| !text.is_empty())?;
    let status = if todo.completed.is_true() { TodoStatus::Completed } else { status(todo.status.word()) };
    let priority = Some(todo.priority.text()).filter(|text| !text.is_empty());
    Some(TodoItem { content, status, priority })
}

/// A line of a list in Markdown: `- [x] first`.
fn checkbox(line: &str) -> Option<TodoItem> {
    let (mark, content) =
        line.trim_start().strip_prefix(['-', '*'])?.trim_start().strip_prefix('[')?.split_once(']')?;
    let status = match mark {
        "x" | "X" => TodoStatus::Completed,
        " " | "" => TodoStatus::Pending,
        _ => TodoStatus::InProgress,
    };
    let content = content.trim().to_owned();
    (!content.is_empty()).then_some(TodoItem { content, status, priority: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    #[test]
    fn every_form_of_a_list_is_read() {
        use TodoStatus::{Completed, InProgress, Pending};
        for (json, expected) in [
            (
                r#"[{"content":"a","status":"completed"},{"subject":"b","status":"in_progress"},{"status":"pending"}]"#,
                vec![("a", Completed), ("b", InProgress)],
            ),
            (r#"[{"description":"a","status":"later"}]"#, vec![("a", Pending)]),
            (
                r#"[{"text":"a","completed":true},{"text":"b","completed":false}]"#,
                vec![("a", Completed), ("b", Pending)],
            ),
            (
                r#""Plan\n- [x] a\n* [ ] b\n  - [~] c\n- [ ]\n- d""#,
                vec![("a", Completed), ("b", Pending), ("c", InProgress)],
            ),
            ("[]", vec![]),
            ("7", vec![]),
        ] {
            let list: List<Todo<'_>> = read(json).unwrap();
            let items = match event(&list) {
                Some(AgentEvent::Todo { items }) => items,
                None => Vec::new(),
                other => panic!("{other:?}"),
            };
            let read: Vec<_> = items.iter().map(|item| (item.content.as_str(), item.status)).collect();
            assert_eq!(read, expected, "{json}");
        }
    }
}
