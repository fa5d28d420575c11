//! An agent's events as lines for people: tools folded to one line, results to a few.

use ralph_core::agent_event::{AgentEvent, TodoItem, TodoStatus, Voice};
use ralph_core::observation::Tokens;
use ralph_core::text;
use std::collections::HashMap;
use std::fmt::Write as _;

/// How much of a tool's output is shown.
const OUTPUT_LINES: usize = 3;
const OUTPUT_CHARS: usize = 120;
/// The longest tool input on a line.
const INPUT_CHARS: usize = 80;
/// Tools whose end has not come yet; an agent runs few at a time.
const OPEN_TOOLS: usize = 200;

/// Renders events, remembering which tool a result belongs to.
#[derive(Debug, Default)]
pub struct Renderer {
    verbose: bool,
    names: HashMap<String, String>,
    tools: u64,
    errors: u64,
}

impl Renderer {
    /// A renderer for one iteration.
    pub fn new(verbose: bool) -> Renderer {
        Renderer { verbose, ..Renderer::default() }
    }

    /// The lines for one event, each with its newline; empty if it has none.
    pub fn render(&mut self, event: &AgentEvent) -> String {
        match event {
            AgentEvent::Text { text, voice: Voice::Main | Voice::Thinking } => with_newline(&text::for_terminal(text)),
            AgentEvent::ToolStart { id, name, input, .. } => {
                self.tools += 1;
                if self.names.len() < OPEN_TOOLS {
                    self.names.insert(id.clone(), name.clone());
                }
                format!("⏺ {}({})\n", text::for_terminal(name), one_line(input, INPUT_CHARS))
            }
            AgentEvent::ToolEnd { id, output, lines, chars, error, .. } => {
                self.errors += u64::from(*error);
                let name =
                    self.names.remove(id).map_or(String::new(), |name| format!(" ← {}", text::for_terminal(&name)));
                let word = if *error { "❌ Error" } else { "✅ Result" };
                format!("{word}{name} ({lines} lines, {chars} chars)\n{}", excerpt(output, *lines))
            }
            AgentEvent::Todo { items } => todo(items),
            AgentEvent::Result { is_error: false, cost_usd, tokens, .. } => self.complete(*cost_usd, *tokens),
            // The error itself was told before it.
            AgentEvent::Result { text, .. } if text.is_empty() => String::new(),
            AgentEvent::Result { text, .. } => format!("❌ {}\n", one_line(text, 400)),
            AgentEvent::Limit { scope, rejected: true, .. } => format!("⏸️ limit reached: {}\n", one_line(scope, 100)),
            AgentEvent::Error { message } => format!("❌ {}\n", one_line(message, 400)),
            AgentEvent::Progress { text } if self.verbose => format!("· {}\n", one_line(text, 200)),
            AgentEvent::Unknown { what } if self.verbose => format!("· {}\n", one_line(what, 200)),
            AgentEvent::Text { voice: Voice::Sub, .. }
            | AgentEvent::Spent { .. }
            | AgentEvent::Limit { .. }
            | AgentEvent::Progress { .. }
            | AgentEvent::Unknown { .. } => String::new(),
        }
    }

    fn complete(&self, cost_usd: Option<f64>, tokens: Option<Tokens>) -> String {
        let mut parts = Vec::new();
        parts.extend(cost_usd.map(|cost| format!("cost: ${cost:.2}")));
        parts.extend(tokens.map(token_words));
        parts.push(format!("tools: {}", self.tools));
        parts.push(format!("errors: {}", self.errors));
        format!("✅ Complete ({})\n", parts.join(", "))
    }
}

/// What an event says in a few words, for the status line; `None` if it changes nothing there.
pub fn in_a_few_words(event: &AgentEvent) -> Option<String> {
    match event {
        AgentEvent::ToolStart { name, input, .. } => {
            Some(format!("{name} {}", one_line(input, 40)).trim_end().to_owned())
        }
        AgentEvent::ToolEnd { .. } | AgentEvent::Text { voice: Voice::Main | Voice::Thinking, .. } => {
            Some("thinking".to_owned())
        }
        AgentEvent::Result { .. } => Some("finishing".to_owned()),
        _ => None,
    }
}

/// Tokens as people read them.
pub fn token_words(tokens: Tokens) -> String {
    let cached = if tokens.cache_read > 0 { format!(" ({} cached)", short(tokens.cache_read)) } else { String::new() };
    format!("tokens: {} in{cached} / {} out", short(tokens.input), short(tokens.output))
}

/// `500`, `25K`, `1.2M`.
fn short(count: u64) -> String {
    match count {
        0..=999 => count.to_string(),
        #[allow(clippy::cast_precision_loss, reason = "one decimal is shown")]
        1000..=999_999 => format!("{:.0}K", count as f64 / 1e3),
        #[allow(clippy::cast_precision_loss, reason = "one decimal is shown")]
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

fn excerpt(output: &str, lines: u64) -> String {
    let mut shown = String::new();
    for (index, line) in output.trim_end_matches('\n').lines().take(OUTPUT_LINES).enumerate() {
        let lead = if index == 0 { "  ⎿  " } else { "      " };
        let _ = writeln!(shown, "{lead}{}", one_line(line, OUTPUT_CHARS));
    }
    if lines > OUTPUT_LINES as u64 {
        let _ = writeln!(shown, "  ⎿  ... {} more lines", lines - OUTPUT_LINES as u64);
    }
    shown
}

fn todo(items: &[TodoItem]) -> String {
    let mut text = "📋 Todo List\n".to_owned();
    for item in items {
        let (mark, tail) = match item.status {
            TodoStatus::Completed => ("✅", ""),
            TodoStatus::InProgress => ("🔄", " ← ACTIVE"),
            TodoStatus::Pending => ("⏸️", ""),
        };
        let priority =
            item.priority.as_ref().map_or(String::new(), |priority| format!(" [{}]", one_line(priority, 20)));
        let _ = writeln!(text, "  {mark} {}{tail}{priority}", one_line(&item.content, 200));
    }
    text
}

fn one_line(text: &str, chars: usize) -> String {
    let clean = text::for_terminal(text.lines().next().unwrap_or_default());
    if clean.chars().count() <= chars { clean } else { text::cut(&clean, chars.saturating_sub(3), "...") }
}

fn with_newline(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_and_their_results_find_each_other() {
        let mut renderer = Renderer::new(false);
        let start = AgentEvent::ToolStart {
            id: "t1".to_owned(),
            name: "Read".to_owned(),
            input: "/test.go".to_owned(),
            command: None,
            writes: None,
        };
        assert_eq!(renderer.render(&start), "⏺ Read(/test.go)\n");
        let end = AgentEvent::ToolEnd {
            id: "t1".to_owned(),
            output: "line1\nline2\nline3\nline4\nline5".to_owned(),
            lines: 5,
            chars: 29,
            error: false,
            exit_code: None,
        };
        let shown = renderer.render(&end);
        assert_eq!(
            shown,
            "✅ Result ← Read (5 lines, 29 chars)\n  ⎿  line1\n      line2\n      line3\n  ⎿  ... 2 more lines\n"
        );
    }

    #[test]
    fn o01_agent_text_cannot_drive_the_terminal() {
        let mut renderer = Renderer::new(false);
        let text = AgentEvent::Text { text: "\u{1b}[2Jhi\r\u{1b}]0;x\u{7}".to_owned(), voice: Voice::Main };
        assert_eq!(renderer.render(&text), "hi\n");
    }
}
