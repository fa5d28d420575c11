//! Tools: what one was called with, in short, and what it printed. Programs learned from each other, so a few names and
//! fields serve for all of them.

use crate::complaint::ErrorObject;
use crate::dialect::{Detail, Told};
use crate::json::{List, Loose, Raw, Size, fields, read};
use crate::todo::Todo;
use ralph_core::agent_event::{AgentEvent, OUTPUT_KEPT};
use ralph_core::evidence::TestsRan;
use ralph_core::text;

fields! {
    /// What tools are called with, as far as it is shown or counts as evidence.
    pub(crate) struct Input<'a> {
        file_path, camel_path = "filePath", notebook_path, command, cmd, run_in_background, is_background, background, pattern,
        url, query, description, subject, path, target_file,
        todos: List<Todo<'a>>,
        task_id = "taskId", status,
    }
}

impl Told {
    pub(crate) fn tool_began(&mut self, id: String, name: String, input: Option<&Input<'_>>) {
        let nothing = Input::default();
        let input = input.unwrap_or(&nothing);
        let (command, writes) = evidence(&name, input);
        if command.is_some() {
            self.shells.began(id.clone());
        }
        let input = if self.detail == Detail::Shown { summary(input) } else { String::new() };
        self.push(AgentEvent::ToolStart { id, name, input, command, writes });
    }

    /// A tool ended that printed this: a string, or an array of blocks.
    pub(crate) fn tool_ended(&mut self, id: String, printed: Raw<'_>, went: Went) {
        self.tool_failed_with(id, printed, Raw::default(), went);
    }

    /// A tool ended that printed this and may state an error: a string, or an object with a message.
    pub(crate) fn tool_failed_with(&mut self, id: String, printed: Raw<'_>, error: Raw<'_>, went: Went) {
        let shown = if self.detail == Detail::Shown { with_error(output(printed), error) } else { Default::default() };
        let (output, Size { lines, chars }) = shown;
        let (error, exit_code) = match went {
            Went::Well => (false, None),
            Went::Badly => (true, None),
            Went::Exited(code) => (code != 0, Some(code)),
        };
        let tests = if self.shells.ended(&id) { tests_ran(printed) } else { TestsRan::Unsaid };
        self.push(AgentEvent::ToolEnd { id, output, lines, chars, error, exit_code, tests });
    }
}

/// What the whole output of a shell line says about tests. Some clients wrap it into an object of their own.
fn tests_ran(printed: Raw<'_>) -> TestsRan {
    let text = printed.json();
    let whole = if text.starts_with(b"[") {
        let blocks: List<Block<'_>> = read(text).unwrap_or_default();
        blocks.items.iter().map(|block| block.text.text()).collect::<Vec<_>>().join("\n")
    } else {
        printed.text()
    };
    let wrapped = whole.starts_with('{');
    TestsRan::said_in(&if wrapped { whole.replace("\\n", "\n") } else { whole })
}

/// The shell line that a tool runs, and the file that it writes.
fn evidence(name: &str, input: &Input<'_>) -> (Option<String>, Option<String>) {
    let first = |values: &[Raw<'_>]| values.iter().find_map(|&value| given(value));
    match name {
        // A command in the background ends with "started", which proves nothing about it.
        _ if [input.run_in_background, input.is_background, input.background].iter().any(|flag| flag.is_true()) => {
            (None, None)
        }
        "Bash" | "bash" | "shell" | "run_shell_command" | "run_terminal_command" | "run_commands" => {
            (first(&[input.command, input.cmd]), None)
        }
        "Write" | "Edit" | "MultiEdit" | "write" | "edit" | "multiedit" | "write_file" | "replace" | "create"
        | "create_file" | "edit_file" | "str_replace" | "search_replace" | "editor" => {
            (None, first(&[input.file_path, input.camel_path, input.path]))
        }
        "NotebookEdit" | "notebook_edit" => (None, given(input.notebook_path)),
        _ => (None, None),
    }
}

/// The tool's input in a few words; empty where nothing in it says much.
pub(crate) fn summary(input: &Input<'_>) -> String {
    // What matters most stands first: a search has a pattern and a path, a command a description.
    // The lengths of the first kinds are what users of ralph are used to.
    [
        (input.file_path, 200),
        (input.camel_path, 200),
        (input.notebook_path, 200),
        (input.command, 60),
        (input.cmd, 60),
        (input.pattern, 40),
        (input.url, 50),
        (input.query, 60),
        (input.subject, 60),
        (input.description, 60),
        (input.path, 200),
        (input.target_file, 200),
    ]
    .into_iter()
    .find_map(|(value, limit)| given(value).map(|text| clip(text, limit)))
    .unwrap_or_default()
}

pub(crate) enum Went {
    /// Well, or nothing else is known.
    Well,
    Badly,
    Exited(i32),
}

impl Went {
    pub(crate) fn badly_if(failed: bool) -> Went {
        if failed { Went::Badly } else { Went::Well }
    }
}

pub(crate) fn exit_code(number: Raw<'_>) -> Option<i32> {
    number.number().filter(|code| (-1e6..1e6).contains(code)).map(|code| code as i32)
}

pub(crate) fn code_at(text: &[u8]) -> Option<i32> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(text.get(..digits)?).ok()?.parse().ok()
}

/// The exit code behind the last place where these words stand.
pub(crate) fn code_behind(text: &[u8], words: &str) -> Option<i32> {
    code_at(text.get(memchr::memmem::rfind(text, words.as_bytes())? + words.len()..)?)
}

/// Calls of some kind whose ends are still to come; the newest few.
#[derive(Debug, Default)]
pub(crate) struct Calls(Vec<String>);

impl Calls {
    pub(crate) fn began(&mut self, id: String) {
        // Parallel calls are few; a forgotten one only shows a line more.
        self.0.truncate(15);
        self.0.insert(0, id);
    }

    pub(crate) fn ended(&mut self, id: &str) -> bool {
        let at = self.0.iter().position(|call| call == id);
        at.map(|at| self.0.remove(at)).is_some()
    }
}

fields! {
    struct Block<'a> {
        kind = "type", text,
    }
}

/// The beginning of what a tool printed, and the size of all of it.
fn output(content: Raw<'_>) -> (String, Size) {
    if !content.json().starts_with(b"[") {
        return (content.text_within(OUTPUT_KEPT), content.size());
    }
    let blocks: List<Block<'_>> = read(content.json()).unwrap_or_default();
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

/// What a tool printed with the error before it, unless one of them says it all.
fn with_error((printed, size): (String, Size), error: Raw<'_>) -> (String, Size) {
    let Loose(object): Loose<ErrorObject<'_>> = read(error.json()).unwrap_or_default();
    let message = object.map_or(error, |error| error.message).text_within(OUTPUT_KEPT);
    let (said, told) = (message.trim(), printed.trim());
    if said.is_empty() || told.contains(said) {
        return (printed, size);
    }
    let [lines, chars] = [said.lines().count(), said.chars().count()].map(|count| count as u64);
    if said.contains(told) {
        return (said.to_owned(), Size { lines, chars });
    }
    let whole = format!("{said}\n{printed}");
    (text::prefix(&whole, OUTPUT_KEPT).to_owned(), Size { lines: size.lines + lines, chars: size.chars + chars + 1 })
}

pub(crate) fn given(value: Raw<'_>) -> Option<String> {
    Some(value.text()).filter(|text| !text.is_empty())
}

fn clip(text: String, limit: usize) -> String {
    if text.chars().nth(limit).is_some() { text::cut(&text, limit - 3, "...") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(content: &str) -> (String, u64, u64) {
        let content: Raw<'_> = read(content).unwrap();
        let mut told = Told::default();
        told.tool_ended("t".to_owned(), content, Went::Badly);
        match told.pop() {
            Some(AgentEvent::ToolEnd { output, lines, chars, .. }) => (output, lines, chars),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn output_is_a_string_or_blocks() {
        for (content, text, lines, chars) in [
            (r#""a\nb""#, "a\nb", 2, 3),
            (r#"[{"type":"text","text":"a\nb"},{"type":"text","text":"c"}]"#, "a\nb\nc", 3, 5),
            (r#"[{"type":"image","source":{"data":"AAAA"}}]"#, "[image]", 1, 7),
            (r#"["x",{"type":"text","text":7}]"#, "7", 0, 0),
            ("null", "", 0, 0),
            ("{}", "", 0, 0),
            ("[]", "", 0, 0),
        ] {
            assert_eq!(ended(content), (text.to_owned(), lines, chars), "{content}");
        }
    }

    #[test]
    fn a_shell_line_says_whether_tests_ran_wherever_in_its_output_that_stands() {
        let long = "x\\n".repeat(OUTPUT_KEPT);
        for (tool, content, tests) in [
            ("Bash", format!(r#""{long}Ran 0 tests""#), TestsRan::None),
            ("Bash", r#"[{"type":"text","text":"Ran 2 tests"}]"#.to_owned(), TestsRan::Some),
            ("Bash", r#""{\"output\":\"a\\nRan 0 tests\\n\"}""#.to_owned(), TestsRan::None),
            ("Bash", r#""fine""#.to_owned(), TestsRan::Unsaid),
            ("Read", r#""Ran 0 tests""#.to_owned(), TestsRan::Unsaid),
        ] {
            for detail in [Detail::Shown, Detail::Unseen] {
                let mut told = Told::new(detail);
                let Loose(input): Loose<Input<'_>> = read(r#"{"command":"make test"}"#).unwrap();
                told.tool_began("t".to_owned(), tool.to_owned(), input.as_ref());
                told.tool_ended("t".to_owned(), read(&content).unwrap(), Went::Well);
                let Some(AgentEvent::ToolEnd { tests: said, .. }) = told.pop() else { panic!("{told:?}") };
                assert_eq!(said, tests, "{tool}: {}", text::suffix(&content, 40));
            }
        }
    }

    #[test]
    fn b02_large_output_is_measured_and_its_beginning_kept() {
        let part = "é\\n".repeat(100_000);
        let (kept, lines, chars) = ended(&format!("\"{part}\""));
        assert!(kept.len() <= OUTPUT_KEPT && kept.len() > OUTPUT_KEPT - 4);
        assert_eq!((lines, chars), (100_000, 200_000));
        let block = format!(r#"{{"type":"text","text":"{part}"}}"#);
        let (kept, lines, chars) = ended(&format!("[{block},{block}]"));
        assert!(kept.len() <= OUTPUT_KEPT && kept.len() > OUTPUT_KEPT - 4);
        assert_eq!((lines, chars), (200_000, 400_001));
    }

    #[test]
    fn shells_carry_their_line_and_writers_their_file() {
        let input =
            r#"{"command":"make","cmd":"make it","file_path":"f","filePath":"c","path":"p","notebook_path":"n"}"#;
        for (name, input, expected) in [
            ("Bash", input, (Some("make"), None)),
            ("run_shell_command", input, (Some("make"), None)),
            ("bash", r#"{"cmd":"make it"}"#, (Some("make it"), None)),
            ("bash", r#"{"command":"make","is_background":true}"#, (None, None)),
            ("Bash", r#"{"command":"make","run_in_background":true}"#, (None, None)),
            ("Write", input, (None, Some("f"))),
            ("edit", r#"{"filePath":"c"}"#, (None, Some("c"))),
            ("create", r#"{"path":"p"}"#, (None, Some("p"))),
            ("NotebookEdit", input, (None, Some("n"))),
            ("read_file", input, (None, None)),
        ] {
            let input = read::<Loose<Input<'_>>>(input).unwrap().0.unwrap();
            for detail in [Detail::Shown, Detail::Unseen] {
                let mut told = Told::new(detail);
                told.tool_began("t".to_owned(), name.to_owned(), Some(&input));
                let Some(AgentEvent::ToolStart { command, writes, input, .. }) = told.pop() else { panic!("{name}") };
                assert_eq!((command.as_deref(), writes.as_deref()), expected, "{name}");
                assert_eq!(input.is_empty(), detail == Detail::Unseen, "{name}");
            }
        }
    }
}
