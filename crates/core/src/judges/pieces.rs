//! A shell text in pieces that the parser takes one at a time.
//!
//! The parser takes short texts only, so a script is cut where nothing is open: no quote, bracket, block or
//! here-document. Each line is scanned a bounded number of times, whatever it holds. A piece that is too long, such as
//! the body of a large function, is opened: its first line by itself, and then what is inside.

use crate::evidence::parse;
use brush_parser::ast::Program;

/// Lines of one piece.
const MOST_LINES: usize = 120;
/// Lines of one text; the rest is told as not understood.
const MOST: usize = 10_000;
/// Places where nothing is open that are tried before a piece is opened.
const MOST_TRIES: usize = 3;

/// What a text consists of.
#[derive(Default)]
pub(super) struct Pieces {
    pub(super) programs: Vec<Program>,
    /// Lines that belong to none.
    pub(super) unread: Vec<String>,
    /// Functions of which only the first line was read as such.
    pub(super) functions: Vec<String>,
}

/// Cuts a text.
pub(super) fn pieces(text: &str) -> Pieces {
    let mut pieces = Pieces::default();
    if let Some(program) = parse(text) {
        pieces.programs.push(program);
        return pieces;
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if at >= MOST {
            pieces.unread.push(line.trim().to_owned());
            return pieces;
        }
        let rest = lines.get(at..).unwrap_or_default();
        match whole(rest) {
            Some((program, length)) => {
                pieces.programs.push(program);
                at += length;
            }
            None => {
                pieces.single(line);
                at += 1;
            }
        }
    }
    pieces
}

/// The first lines that are something by themselves, and how many they are.
fn whole(lines: &[&str]) -> Option<(Program, usize)> {
    let mut scanner = Scanner::default();
    let mut tries = 0;
    for (at, line) in lines.iter().take(MOST_LINES).enumerate() {
        scanner.line(line);
        if !scanner.is_open() {
            if let Some(program) = parse(&lines.get(..=at)?.join("\n")) {
                return Some((program, at + 1));
            }
            tries += 1;
            if tries >= MOST_TRIES {
                return None;
            }
        }
    }
    None
}

impl Pieces {
    /// A line that opens or closes something which is too long to be read as a whole: the command in it counts.
    fn single(&mut self, line: &str) {
        let line = line.trim();
        if let Some(name) = function_of(line) {
            return self.functions.push(name.to_owned());
        }
        let command = without_structure(line);
        match parse(command) {
            Some(program) => self.programs.push(program),
            None => self.unread.push(line.to_owned()),
        }
    }
}

/// The name of the function that a line begins to define.
fn function_of(line: &str) -> Option<&str> {
    let line = line.trim_end_matches('{').trim_end();
    let name = match line.strip_prefix("function ") {
        Some(name) => name.trim().trim_end_matches("()").trim_end(),
        None => line.strip_suffix("()")?.trim_end(),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.');
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// What is left of a line without the words that only open or close something.
fn without_structure(line: &str) -> &str {
    const BEFORE: [&str; 8] = ["if ", "elif ", "while ", "until ", "then ", "else ", "do ", "{ "];
    const AFTER: [&str; 6] = ["; then", ";then", "; do", ";do", ";;", "; }"];
    const ALONE: [&str; 9] = ["then", "else", "do", "done", "fi", "esac", "{", "}", ";;"];
    let mut line = line;
    if ALONE.contains(&line) || line.starts_with("case ") && line.ends_with(" in") {
        return "";
    }
    // What stands behind the end of a block: a command after an operator, or a file that the block reads or writes.
    if let Some(rest) = ["done", "fi", "}", "esac"].iter().find_map(|word| line.strip_prefix(word)?.strip_prefix(' ')) {
        let operator = ["||", "&&", "|", ";"].iter().find_map(|operator| rest.trim_start().strip_prefix(operator));
        return operator.map_or("", str::trim);
    }
    if line.starts_with("for ") && (line.ends_with("do") || !line.contains(';')) {
        return "";
    }
    // A branch of a case: what stands behind its pattern.
    if let Some((pattern, behind)) = line.split_once(')')
        && !pattern.contains(['(', '`', '<', '>', ';', '$'])
        && ['\'', '"'].iter().all(|quote| pattern.matches(*quote).count() % 2 == 0)
    {
        line = behind.trim();
    }
    while let Some(rest) = BEFORE.iter().find_map(|word| line.strip_prefix(word)) {
        line = rest.trim_start();
    }
    while let Some(rest) = AFTER.iter().find_map(|word| line.strip_suffix(word)) {
        line = rest.trim_end();
    }
    line
}

/// What is open behind the lines so far.
#[derive(Default)]
struct Scanner {
    quote: Option<char>,
    /// Brackets and blocks.
    depth: usize,
    /// Names of here-documents whose text has not ended.
    documents: Vec<String>,
    /// Whether the last line goes on.
    goes_on: bool,
}

impl Scanner {
    fn is_open(&self) -> bool {
        self.quote.is_some() || self.depth > 0 || !self.documents.is_empty() || self.goes_on
    }

    fn line(&mut self, line: &str) {
        if let Some(name) = self.documents.first() {
            if line.trim_start_matches('\t') == name {
                self.documents.remove(0);
            }
            return;
        }
        let mut begun = Vec::new();
        let mut word = String::new();
        let mut is_first = self.quote.is_none();
        let mut chars = line.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match (self.quote, c) {
                (Some('\''), '\'') => self.quote = None,
                (Some('\''), _) => {}
                (_, '\\') => {
                    chars.next();
                    word.push(' ');
                }
                (Some(open), c) if c == open => self.quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"' | '`') => {
                    self.quote = Some(c);
                    word.push(c);
                }
                (None, '#')
                    if word.is_empty()
                        && (at == 0 || line.get(..at).is_some_and(|before| before.ends_with([' ', '\t', ';']))) =>
                {
                    break;
                }
                (None, '<')
                    if line.get(at..).is_some_and(|rest| rest.starts_with("<<") && !rest.starts_with("<<<")) =>
                {
                    let rest = line.get(at + 2..).unwrap_or_default().trim_start_matches('-').trim_start();
                    let name: String = rest
                        .chars()
                        .take_while(|c| !c.is_whitespace() && !";|&)>".contains(*c))
                        .filter(|c| !"'\"\\".contains(*c))
                        .collect();
                    begun.push(name);
                    chars.next();
                }
                (None, ' ' | '\t' | ';' | '&' | '|' | '(' | ')') => {
                    self.word(&word, &mut is_first);
                    word.clear();
                    is_first |= matches!(c, ';' | '&' | '|' | '(' | ')');
                    match c {
                        '(' => self.depth += 1,
                        ')' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                }
                (None, c) => word.push(c),
            }
        }
        self.word(&word, &mut is_first);
        self.documents.extend(begun);
        let end = line.trim_end();
        self.goes_on = end.ends_with('\\') || end.ends_with('|') || end.ends_with("&&");
    }

    /// A word that may open or close a block where a command may stand.
    fn word(&mut self, word: &str, is_first: &mut bool) {
        if word.is_empty() || !*is_first {
            return;
        }
        *is_first = matches!(word, "if" | "then" | "else" | "elif" | "do" | "while" | "until" | "{" | "!" | "time");
        match word {
            "if" | "case" | "while" | "until" | "for" | "select" | "{" => self.depth += 1,
            "fi" | "esac" | "done" | "}" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than the parser takes at once.
    fn padded(text: &str) -> String {
        format!("{text}\n{}", "echo 0123456789012345678901234567890123456789\n".repeat(120))
    }

    #[test]
    fn long_texts_are_cut_where_nothing_is_open() {
        for text in [
            "if a; then\n  b\nfi",
            "for x in 1 2\ndo\n  echo $x\ndone",
            "cat <<'E'\nif it's (\nE\nb",
            "case $1 in\n  a) b ;;\n  (c|d)\n    e\n    ;;\nesac",
            "a \\\n  b && \\\n  c",
            "echo 'one\ntwo; if' \"three\nfour\"",
            "f() {\n  g\n}\nf",
            "x=$(\n  a\n)\n(b;\n c)",
            "# it's a comment\na # if (\nb",
        ] {
            let pieces = pieces(&padded(text));
            assert_eq!(pieces.unread, Vec::<String>::new(), "{text}");
            assert!(pieces.functions.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_block_that_is_too_long_is_opened() {
        let body = "  if [ -f x ]; then\n    sh a.sh\n  fi\n".repeat(100);
        let cut = pieces(&format!("main() {{\n{body}}}\nmain \"$@\"\n"));
        assert_eq!((cut.unread, cut.functions), (Vec::<String>::new(), vec!["main".to_owned()]));
        let cut = pieces(&format!("case $1 in\n{}esac\n", "  a) sh a.sh ;;\n".repeat(400)));
        assert_eq!((cut.unread.len(), cut.programs.len()), (0, 402));
        let cut =
            pieces(&format!("case $1 in\n{}'')\n  b\n;;\nesac || sh b.sh\n", "  --a=*) sh a.sh ;;\n".repeat(400)));
        assert_eq!(cut.unread, Vec::<String>::new());
        assert_eq!(pieces(&"((".repeat(300)).unread.len(), 1);
        assert_eq!(pieces(&padded("echo 'never ends")).unread.len(), 1);
    }

    #[test]
    fn every_text_is_accounted_for_in_linear_time() {
        let texts = [
            "if a; then\n".repeat(3000),
            "case x in\n".repeat(3000),
            "echo '\n".repeat(3001),
            "( ".repeat(20_000),
            "cat <<E\n".repeat(3000),
        ];
        for text in texts {
            // Work that grows with the square of the lines would take minutes here.
            let cut = pieces(&text);
            assert!(!cut.unread.is_empty() || !cut.programs.is_empty());
        }
    }
}
