//! Tools of Claude Code: what one was called with, in short, and what it printed.

use super::line::{Block, Input, Todo};
use crate::json::{List, Raw, Size};
use ralph_core::agent_event::{AgentEvent, OUTPUT_KEPT, TodoItem, TodoStatus};
use ralph_core::text;

/// The beginning of a tool.
pub(super) fn start(block: &Block<'_>) -> AgentEvent {
    let nothing = Input::default();
    let input = block.input.0.as_ref().unwrap_or(&nothing);
    let name = block.name.text();
    let (command, writes) = match name.as_str() {
        // A command in the background ends with "started", which proves nothing about it.
        "Bash" if !input.run_in_background.is_true() => (given(input.command), None),
        "Write" | "Edit" | "MultiEdit" => (None, given(input.file_path)),
        "NotebookEdit" => (None, given(input.notebook_path)),
        _ => (None, None),
    };
    AgentEvent::ToolStart { id: block.id.text(), name, input: summary(input), command, writes }
}

/// The tool's input in a few words; empty where nothing in it says much.
pub(super) fn summary(input: &Input<'_>) -> String {
    // What matters most stands first: a search has a pattern and a path, a command a description.
    // The lengths of the first kinds are what users of ralph are used to.
    [
        (input.file_path, 200),
        (input.notebook_path, 200),
        (input.command, 60),
        (input.pattern, 40),
        (input.url, 50),
        (input.query, 60),
        (input.subject, 60),
        (input.description, 60),
        (input.path, 200),
    ]
    .into_iter()
    .find_map(|(value, limit)| given(value).map(|text| clip(text, limit)))
    .unwrap_or_default()
}

/// The end of a tool.
pub(super) fn end(block: &Block<'_>) -> AgentEvent {
    let (output, Size { lines, chars }) = output(block.content);
    let error = block.is_error.is_true();
    let exit_code = if error { exit_code(&output) } else { None };
    AgentEvent::ToolEnd { id: block.tool_use_id.text(), output, lines, chars, error, exit_code }
}

/// The items of a todo list that say something.
pub(super) fn todos(list: &List<Todo<'_>>) -> Vec<TodoItem> {
    let item = |todo: &Todo<'_>| {
        let status = match () {
            () if todo.status.is("completed") => TodoStatus::Completed,
            () if todo.status.is("in_progress") => TodoStatus::InProgress,
            () => TodoStatus::Pending,
        };
        let content = given(todo.content).or_else(|| given(todo.subject))?;
        Some(TodoItem { content, status, priority: given(todo.priority) })
    };
    list.items.iter().filter_map(item).collect()
}

/// The beginning of what a tool printed, and the size of all of it.
fn output(content: Raw<'_>) -> (String, Size) {
    if !content.json().starts_with('[') {
        return (content.text_within(OUTPUT_KEPT), content.size());
    }
    let blocks: List<Block<'_>> = serde_json::from_str(content.json()).unwrap_or_default();
    let mut kept = String::new();
    let mut size = Size::default();
    for (index, block) in blocks.items.iter().enumerate() {
        let room = OUTPUT_KEPT.saturating_sub(kept.len());
        let separator = if index > 0 { "\n" } else { "" };
        kept.push_str(text::prefix(separator, room));
        let room = OUTPUT_KEPT.saturating_sub(kept.len());
        let part = if block.kind.is("text") {
            kept.push_str(&block.text.text_within(room));
            block.text.size()
        } else {
            // A picture or another thing that is no text: its kind tells that it was there.
            let shown = format!("[{}]", block.kind.text_within(40));
            kept.push_str(text::prefix(&shown, room));
            Size { lines: 1, chars: shown.chars().count() as u64 }
        };
        size.lines += part.lines;
        size.chars += part.chars + separator.len() as u64;
    }
    (kept, size)
}

/// The exit code that the client states before the output of a failed command.
fn exit_code(output: &str) -> Option<i32> {
    let rest = output.strip_prefix("Exit code ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn given(value: Raw<'_>) -> Option<String> {
    Some(value.text()).filter(|text| !text.is_empty())
}

fn clip(text: String, limit: usize) -> String {
    if text.chars().nth(limit).is_some() { text::cut(&text, limit - 3, "...") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(content: &str) -> (String, u64, u64, Option<i32>) {
        let json = format!(r#"{{"tool_use_id":"t","content":{content},"is_error":true}}"#);
        match end(&serde_json::from_str(&json).unwrap()) {
            AgentEvent::ToolEnd { output, lines, chars, exit_code, .. } => (output, lines, chars, exit_code),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn output_is_a_string_or_blocks() {
        for (content, text, lines, chars, code) in [
            (r#""a\nb""#, "a\nb", 2, 3, None),
            (r#"[{"type":"text","text":"a\nb"},{"type":"text","text":"c"}]"#, "a\nb\nc", 3, 5, None),
            (r#"[{"type":"image","source":{"data":"AAAA"}}]"#, "[image]", 1, 7, None),
            (r#"["x",{"type":"text","text":7}]"#, "7", 0, 0, None),
            (r#""Exit code 3\noops""#, "Exit code 3\noops", 2, 16, Some(3)),
            (r#""Exit code 137""#, "Exit code 137", 1, 13, Some(137)),
            (r#""Exit code none""#, "Exit code none", 1, 14, None),
            (r#""Exit code 99999999999""#, "Exit code 99999999999", 1, 21, None),
            ("null", "", 0, 0, None),
            ("{}", "", 0, 0, None),
            ("[]", "", 0, 0, None),
        ] {
            assert_eq!(ended(content), (text.to_owned(), lines, chars, code), "{content}");
        }
    }

    #[test]
    fn b02_large_output_is_measured_and_its_beginning_kept() {
        let part = "é\\n".repeat(100_000);
        let (kept, lines, chars, _) = ended(&format!("\"{part}\""));
        assert!(kept.len() <= OUTPUT_KEPT && kept.len() > OUTPUT_KEPT - 4);
        assert_eq!((lines, chars), (100_000, 200_000));
        let block = format!(r#"{{"type":"text","text":"{part}"}}"#);
        let (kept, lines, chars, _) = ended(&format!("[{block},{block}]"));
        assert!(kept.len() <= OUTPUT_KEPT && kept.len() > OUTPUT_KEPT - 4);
        assert_eq!((lines, chars), (200_000, 400_001));
    }
}
