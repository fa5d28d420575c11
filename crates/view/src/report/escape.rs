//! Text that came from somewhere else, made safe for a format: it is shown as it is, and cannot be
//! taken for markup, break out of its place, drive anything or call anybody.

use ralph_core::text;

/// The longest piece on one line; whole texts are in the journal and in `--json`.
const PIECE_CHARS: usize = 400;
const QUOTE_CHARS: usize = 8000;

/// Words on one line, without controls and of bounded length.
fn one_line(words: &str) -> String {
    let clean = text::for_terminal(words);
    let joined = clean.split(['\n', '\t']).map(str::trim_end).collect::<Vec<_>>().join(" ");
    text::cut(joined.trim(), PIECE_CHARS, "…")
}

/// A text of several lines, without controls and of bounded length.
fn lines(words: &str) -> String {
    text::cut(text::for_terminal(words).trim_end(), QUOTE_CHARS, "\n… (cut)")
}

/// Words for HTML, as content or between quotes.
pub fn html(words: &str) -> String {
    html_entities(&one_line(words))
}

pub fn html_lines(words: &str) -> String {
    html_entities(&lines(words))
}

fn html_entities(clean: &str) -> String {
    let mut safe = String::with_capacity(clean.len());
    for c in clean.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// Words for Markdown, in a paragraph, a list or a cell of a table.
pub fn markdown(words: &str) -> String {
    let clean = one_line(words);
    let mut safe = String::with_capacity(clean.len() + 8);
    let mut chars = clean.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let begins = safe.is_empty();
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '$' => safe.extend(['\\', c]),
            // An entity would be shown as another character.
            '&' if next.is_some_and(|next| next == '#' || next.is_ascii_alphanumeric()) => safe.push_str("\\&"),
            // At its beginning a line can be a heading, a list or a rule.
            '#' | '+' | '-' | '=' if begins => safe.extend(['\\', c]),
            '.' | ')' if next.is_none_or(char::is_whitespace) && is_number(&safe) => safe.extend(['\\', c]),
            // Forges notify people whose name follows this sign. An empty comment prevents that and is not shown.
            '@' if next.is_some_and(char::is_alphanumeric) && !before.is_some_and(char::is_alphanumeric) => {
                safe.push_str("@<!-- -->");
            }
            c => safe.push(c),
        }
        before = Some(c);
    }
    safe
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A command or path for Markdown; as plain words where it cannot stand in a code span.
pub fn markdown_code(words: &str) -> String {
    let clean = one_line(words);
    if clean.is_empty() || clean.contains(['`', '|']) { markdown(words) } else { format!("`{clean}`") }
}

/// Lines for Markdown, in a fence that nothing in them can end.
pub fn markdown_lines(words: &str) -> String {
    let clean = lines(words);
    let longest = clean.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{clean}\n{fence}\n")
}
