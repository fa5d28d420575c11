//! The agent's list of what it means to do.

use super::lines::{Lines, one_line};
use crate::{Mark, Marks, Tone};
use ralph_core::agent_event::{TodoItem, TodoStatus};

/// The longest item and the longest word for its importance on a line.
const ITEM_CHARS: usize = 200;
const PRIORITY_CHARS: usize = 20;

pub fn add(lines: &mut Lines, marks: Marks, items: &[TodoItem]) {
    lines.add(Tone::Head, marks.of(Mark::TodoList));
    for item in items {
        let (tone, mark, active) = match item.status {
            TodoStatus::Completed => (Tone::Good, marks.of(Mark::Done), ""),
            TodoStatus::InProgress => (Tone::Waiting, marks.of(Mark::Active), " ← ACTIVE"),
            TodoStatus::Pending => (Tone::Dim, marks.of(Mark::Pending), ""),
        };
        let priority = item.priority.as_deref().map(|word| one_line(word, PRIORITY_CHARS)).unwrap_or_default();
        let priority = if priority.is_empty() { priority } else { format!(" [{priority}]") };
        lines.add(tone, &format!("  {mark} {}{active}{priority}", one_line(&item.content, ITEM_CHARS)));
    }
    lines.add(Tone::Plain, "");
    lines.add(Tone::Plain, &format!("  {}: {}", marks.of(Mark::Progress), progress(items)));
}

/// `1/3 (33%) | 1 active, 1 pending`.
fn progress(items: &[TodoItem]) -> String {
    let of = |status| items.iter().filter(|item| item.status == status).count();
    let done = of(TodoStatus::Completed);
    let percent = (done * 100).checked_div(items.len()).unwrap_or_default();
    let left: Vec<String> = [(of(TodoStatus::InProgress), "active"), (of(TodoStatus::Pending), "pending")]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let left = if left.is_empty() { String::new() } else { format!(" | {}", left.join(", ")) };
    format!("{done}/{} ({percent}%){left}", items.len())
}
