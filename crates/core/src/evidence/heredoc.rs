//! Here-documents, taken out of a line before it is parsed.
//!
//! They are only what a command reads, so nothing that is looked for can stand in them, while
//! anything else can: whole scripts, commit messages with a single quote. The parser's tokenizer
//! panics on some of them and never ends on others, so it does not get to see any.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::CharIndices;

/// The line without its here-documents, or nothing if one cannot be told from its surroundings.
pub(super) fn without_here_documents(line: &str) -> Option<Cow<'_, str>> {
    if !line.contains("<<") {
        return Some(Cow::Borrowed(line));
    }
    let mut cut = Cut { line, kept: String::with_capacity(line.len()), pending: Vec::new() };
    cut.run()?;
    (!may_begin_one(&cut.kept)).then_some(Cow::Owned(cut.kept))
}

/// Whether any `<<` is left that a tokenizer may take for an operator. Three `<` are a here-string;
/// a backslash may take one away.
fn may_begin_one(line: &str) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        let escaped = rest.get(..at).is_some_and(|before| before.ends_with('\\'));
        let run = rest.get(at..).unwrap_or_default();
        rest = run.trim_start_matches('<');
        let left = (run.len() - rest.len()) % 3;
        if left == 2 || (escaped && left == 0) {
            return true;
        }
    }
    false
}

/// What the scanner stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    /// `$'…'`, where a backslash escapes.
    Ansi,
    Double,
}

/// A here-document whose text begins after the next newline.
struct Pending {
    name: String,
    /// `<<-`: tabs before the name do not count.
    indented: bool,
}

struct Cut<'a> {
    line: &'a str,
    kept: String,
    pending: Vec<Pending>,
}

impl Cut<'_> {
    fn run(&mut self) -> Option<()> {
        let mut quote = Quote::None;
        // Whether a command may stand inside the double quotes: `"$(cat <<E`.
        let mut substitutes = false;
        let mut before = '\n';
        let mut chars = self.line.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            self.kept.push(c);
            let next = chars.peek().map(|(_, next)| *next);
            match (quote, c) {
                (Quote::None | Quote::Ansi | Quote::Double, '\\') => {
                    self.kept.extend(chars.next().map(|(_, escaped)| escaped));
                }
                (Quote::Single | Quote::Ansi, '\'') => quote = Quote::None,
                (Quote::None, '\'') => quote = if before == '$' { Quote::Ansi } else { Quote::Single },
                (Quote::None, '"') => (quote, substitutes) = (Quote::Double, false),
                (Quote::Double, '"') => quote = Quote::None,
                (Quote::Double, '$') if next == Some('(') => substitutes = true,
                (Quote::None, '#') if before.is_ascii_whitespace() || ";&|(".contains(before) => {
                    self.kept.pop();
                    while chars.next_if(|(_, c)| *c != '\n').is_some() {}
                }
                (Quote::None, '<') => self.operator(at, &mut chars)?,
                (Quote::Double, '<') if substitutes => self.operator(at, &mut chars)?,
                (Quote::None | Quote::Double, '\n') => self.skip_documents(at + 1, &mut chars)?,
                _ => {}
            }
            before = c;
        }
        self.pending.is_empty().then_some(())
    }

    /// Takes a run of `<` and, if it begins a here-document, the name that ends it.
    fn operator(&mut self, at: usize, chars: &mut Peekable<CharIndices<'_>>) -> Option<()> {
        let run = self.line.get(at..)?;
        let after = run.trim_start_matches('<');
        let length = run.len() - after.len();
        if length % 3 != 2 {
            self.kept.extend(std::iter::repeat_n('<', length - 1));
            pass(chars, at + length);
            return Some(());
        }
        let indented = after.starts_with('-');
        let word = after.strip_prefix('-').unwrap_or(after).trim_start_matches([' ', '\t']);
        let (name, rest) = name(word)?;
        self.kept.pop();
        self.pending.push(Pending { name: name.to_owned(), indented });
        pass(chars, self.line.len() - rest.len());
        Some(())
    }

    /// Passes over the documents that begin here.
    fn skip_documents(&mut self, at: usize, chars: &mut Peekable<CharIndices<'_>>) -> Option<()> {
        let mut rest = self.line.get(at..)?;
        for document in self.pending.drain(..) {
            loop {
                let (text, after) = rest.split_once('\n').unwrap_or((rest, ""));
                let is_last = after.is_empty() && !rest.ends_with('\n');
                let text = if document.indented { text.trim_start_matches('\t') } else { text };
                rest = after;
                if text == document.name {
                    break;
                }
                if is_last {
                    return None;
                }
            }
        }
        pass(chars, self.line.len() - rest.len());
        Some(())
    }
}

/// The name of a here-document without its quotes, and what follows. Only plain names are taken.
fn name(word: &str) -> Option<(&str, &str)> {
    let quote = word.chars().next().filter(|c| matches!(c, '\'' | '"' | '\\'));
    let text = word.trim_start_matches(|c| Some(c) == quote);
    // Two quotes at once would be an empty name.
    if word.len() - text.len() > 1 {
        return None;
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '!'));
    let name = text.get(..text.len() - rest.len()).filter(|name| !name.is_empty())?;
    let rest = match quote {
        Some(quote @ ('\'' | '"')) => rest.strip_prefix(quote)?,
        _ => rest,
    };
    let ends = |c: char| c.is_ascii_whitespace() || "<>|&;()".contains(c);
    (rest.is_empty() || rest.starts_with(ends)).then_some((name, rest))
}

fn pass(chars: &mut Peekable<CharIndices<'_>>, end: usize) {
    while chars.next_if(|(at, _)| *at < end).is_some() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn here_documents_are_taken_out() {
        for (line, left) in [
            ("npm test", "npm test"),
            ("cat <<'E' > x\nit's $(\nE\nnpm test", "cat  > x\nnpm test"),
            ("cat <<-E | cat << \"F\"; a\n1\n\tE\n2\nF\nb", "cat  | cat ; a\nb"),
            (
                "git commit -m \"$(cat <<'EOF'\ndon't \"\nEOF\n)\" && npm test",
                "git commit -m \"$(cat \n)\" && npm test",
            ),
            ("cat <<E\nE", "cat \n"),
            ("cat <<< x && grep '<<<<<<< HEAD' y", "cat <<< x && grep '<<<<<<< HEAD' y"),
            ("a # don't <<E\nb", "a \nb"),
            ("a $'it\\'s' <<\\E\nE\nb", "a $'it\\'s' \nb"),
            ("a ' # b' <<E\n1\nE\nc", "a ' # b' \nc"),
            ("a \" # b\" <<E\n1\nE\nc", "a \" # b\" \nc"),
            ("a#b <<E\n1\nE\nc", "a#b \nc"),
        ] {
            assert_eq!(without_here_documents(line).as_deref(), Some(left), "{line}");
        }
    }

    #[test]
    fn what_only_resembles_one_is_not_understood() {
        for line in [
            "a <<", "a <<E", "a <<''\n\n", "a <<$E\n$E\n", "a <<\"E F\"\nE F\n", "echo '<<'", "a \\<<<b",
            "$((1 << 2))", "echo '\\<<<'", "echo \"$x <<E\nE\n\"", "echo \"<<E\nE\n\"", "a <<E\nb", "a <<E\nb\n",
        ] {
            assert_eq!(without_here_documents(line), None, "{line}");
        }
    }
}
