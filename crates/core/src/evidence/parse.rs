//! A shell parser that text from an agent cannot bring down.
//!
//! The parser is somebody else's and was written for scripts that people mean. Some short lines
//! make it panic, which ends a release build; some make it backtrack for years. So a line is looked
//! at before it is split into tokens, and the tokens before they are parsed. A line that could do
//! harm is not understood, which proves nothing and costs nothing.

use super::heredoc::without_here_documents;
use brush_parser::ast::Program;
use brush_parser::{ParserOptions, Token, parse_tokens, uncached_tokenize_str};

/// Bytes of a line that is still read. An observation keeps the first 4096 bytes of a command and
/// never cuts inside a character, so anything above this may be the beginning of something longer.
const LONGEST: usize = 4092;
/// `$(`, `${` and `$[` in a line: the tokenizer calls itself for each. People nest two or three.
const MOST_EXPANSIONS: usize = 32;
/// Tokens that open something: the parser calls itself for each.
const MOST_OPENERS: usize = 32;
/// Parentheses inside parentheses: the parser tries each open one in two ways, so the time doubles
/// with each. With this number and the next, the worst line of the longest length takes 20 ms.
const DEEPEST: usize = 6;
/// `case` is tried in two ways as well, and a parenthesis in it closes none.
const MOST_CASES: usize = 2;
/// `[` in a word that looks like an array element, where the parser reads an arithmetic expression.
const MOST_BRACKETS: usize = 8;
/// Digits of a file descriptor that fit the parser's integer.
const MOST_DIGITS: usize = 9;

/// What the line says, if it can be read safely.
pub(crate) fn parse(line: &str) -> Option<Program> {
    if line.len() > LONGEST || expansions(line) > MOST_EXPANSIONS {
        return None;
    }
    let line = without_here_documents(line)?;
    let options = ParserOptions::default();
    let tokens = uncached_tokenize_str(&line, &options.tokenizer_options()).ok()?;
    is_harmless(&tokens).then(|| parse_tokens(&tokens, &options).ok()).flatten()
}

fn expansions(line: &str) -> usize {
    let opens = |after: &str| after.starts_with(['(', '{', '[']);
    line.split('$').skip(1).filter(|after| opens(after)).count()
}

/// Whether parsing the tokens is quick and cannot panic.
fn is_harmless(tokens: &[Token]) -> bool {
    let openers = tokens.iter().filter(|token| opens(token)).count();
    let cases = tokens.iter().filter(|token| matches!(token, Token::Word(word, _) if word == "case")).count();
    openers <= MOST_OPENERS
        && depth(tokens) <= DEEPEST
        && cases <= MOST_CASES
        && !tokens.iter().any(is_wild_subscript)
        && !tokens.windows(2).any(is_wild_descriptor)
}

fn depth(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for token in tokens {
        match token {
            Token::Operator(operator, _) if operator == "(" => depth += 1,
            Token::Operator(operator, _) if operator == ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn opens(token: &Token) -> bool {
    match token {
        Token::Operator(operator, _) => operator == "(",
        Token::Word(word, _) => matches!(
            word.as_str(),
            "!" | "[["
                | "{"
                | "case"
                | "coproc"
                | "do"
                | "elif"
                | "else"
                | "for"
                | "function"
                | "if"
                | "then"
                | "until"
                | "while"
        ),
    }
}

/// A word like `a[…` is parsed as an expression, in which a long number after `~` panics and each
/// parenthesis doubles the time.
fn is_wild_subscript(token: &Token) -> bool {
    let Token::Word(word, _) = token else { return false };
    let name = word.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    name.len() < word.len()
        && name.starts_with('[')
        && (name.contains(['$', '`', '(', '~', '"', '\'', '\\']) || name.matches('[').count() > MOST_BRACKETS)
}

/// `99999999999>x` panics, because the number is parsed into 32 bits; so does an empty number.
fn is_wild_descriptor(pair: &[Token]) -> bool {
    let [Token::Word(number, _), Token::Operator(operator, _)] = pair else { return false };
    operator.starts_with(['<', '>'])
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && (number.is_empty() || number.len() > MOST_DIGITS)
}

/// The text of a word after the shell has removed its quotes, if nothing in it is only known when
/// the shell runs. Patterns stand for themselves.
pub(crate) fn literal(word: &str) -> Option<String> {
    let mut text = String::with_capacity(word.len());
    let mut chars = word.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '\'' if !quoted => text.extend(chars.by_ref().take_while(|&c| c != '\'')),
            '"' => quoted = !quoted,
            '\\' => match chars.next()? {
                '\n' => {}
                escaped => {
                    if quoted && !matches!(escaped, '$' | '`' | '"' | '\\') {
                        text.push('\\');
                    }
                    text.push(escaped);
                }
            },
            '`' => return None,
            '$' if chars.peek().is_some_and(|&next| expands(next, quoted)) => return None,
            c => text.push(c),
        }
    }
    Some(text)
}

/// Whether a dollar sign before this character stands for something else.
fn expands(next: char, quoted: bool) -> bool {
    next.is_ascii_alphanumeric()
        || matches!(next, '_' | '{' | '(' | '[' | '@' | '*' | '#' | '?' | '-' | '$' | '!')
        || (!quoted && matches!(next, '\'' | '"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_would_break_the_parser_are_not_understood() {
        for line in [
            "npm test 99999999999>x".to_owned(),
            "npm test <<<<<\"\"<<<<| exit ".to_owned(),
            "npm test <<\r< ".to_owned(),
            "npm test <<'' ".to_owned(),
            "npm <<E$( || exit x ".to_owned(),
            "npm $(<<  ]] ".to_owned(),
            "a[${x:-~99999999999999999999999}]=1 npm test".to_owned(),
            "(".repeat(300),
            format!("[[ a =~ {}", "(".repeat(300)),
            "case x in x) ".repeat(200),
            "$(".repeat(1500),
            "{ ".repeat(1500),
            format!("npm test; [[ {} a ]]", "! ".repeat(1500)),
            format!("{}npm test", "if ".repeat(1000)),
            format!("{} {}", "(".repeat(DEEPEST + 1), "a ".repeat(1000)),
            format!("{}a{}", "( ".repeat(DEEPEST + 1), " )".repeat(DEEPEST + 1)),
            format!("echo {}", "$(a) ".repeat(MOST_EXPANSIONS + 1)),
            format!("echo a{}", "[1]".repeat(MOST_BRACKETS + 1)),
            format!("npm test {}", "x".repeat(LONGEST)),
        ] {
            assert!(parse(&line).is_none(), "{}", line.chars().take(60).collect::<String>());
        }
    }

    #[test]
    fn ordinary_lines_are_understood() {
        for line in [
            "npm test 2>&1 | tail -5",
            "grep '<<<<<<< HEAD' x <<< y && cat <<-\\E | cat <<\"F\"; npm test\nE\n1 << (2)\nF\n",
            "cat <<'E' > x\nif ((((((((((((((((((((\nE\nnpm test",
            "pytest 'tests/test_a.py::test_b[x-(1)]' test_b[x-1]",
            &format!("{}npm test{}", "( ".repeat(DEEPEST), " )".repeat(DEEPEST)),
            &format!("{}npm test{}", "{ ".repeat(MOST_OPENERS), "; }".repeat(MOST_OPENERS)),
            &format!("echo {}a{}", "$(".repeat(MOST_EXPANSIONS), ")".repeat(MOST_EXPANSIONS)),
            &"(a); ".repeat(DEEPEST + 1),
            &format!("echo a{} [\"b\"]", "[1]".repeat(MOST_BRACKETS)),
            "for f in $(ls \"${D:-.}\"); do (cd \"$f\" && { npm test || exit 1; }); done",
            "",
        ] {
            assert!(parse(line).is_some(), "{line}");
        }
    }

    #[test]
    fn quotes_are_removed_and_the_unknown_stays_unknown() {
        for (word, text) in [
            ("plain", Some("plain")),
            ("'npm test'", Some("npm test")),
            (r#""a \"b\" \$c \d""#, Some(r#"a "b" $c \d"#)),
            (r"a\ b", Some("a b")),
            ("a'b'\"c\"", Some("abc")),
            ("'$x'", Some("$x")),
            ("\"end$\"", Some("end$")),
            ("\"it's\"", Some("it's")),
            ("$x", None),
            ("\"$(ls)\"", None),
            ("`ls`", None),
            ("$'a'", None),
            ("trailing\\", None),
        ] {
            assert_eq!(literal(word).as_deref(), text, "{word}");
        }
    }
}
