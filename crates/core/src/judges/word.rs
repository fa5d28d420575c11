//! What a word of a shell text stands for, as far as that is known before it runs.
//!
//! A variable may hold one of several values, because branches and loops are not followed: a word has alternatives.
//! What is only known when the shell runs becomes [`UNKNOWN`] in the word.

use super::premises::{Premises, UNKNOWN, is_known, parent, place};
use super::shell::plain_commands;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// Alternatives of a word that are followed.
const MOST_VALUES: usize = 32;
/// Substitutions inside substitutions that are followed.
const DEEPEST: usize = 6;

/// What the words of a text may refer to.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    pub(super) premises: &'a dyn Premises,
    /// The folder that the shell is in: relative to the project or absolute.
    pub(super) folder: String,
    /// The script that is read, absolute; empty for a command line.
    pub(super) script: String,
    /// Its arguments; `None` if nobody knows them.
    pub(super) arguments: Option<Vec<String>>,
    pub(super) variables: BTreeMap<String, Vec<String>>,
    pub(super) depth: usize,
}

/// What became of a word.
#[derive(Default)]
pub(super) struct Expanded {
    /// Each thing that it may stand for.
    pub(super) values: Vec<String>,
    /// The texts of the commands that are substituted in it.
    pub(super) inner: Vec<String>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(premises: &'a dyn Premises, folder: &str) -> Scope<'a> {
        let (script, folder) = (String::new(), folder.to_owned());
        Scope { premises, folder, script, arguments: Some(Vec::new()), variables: BTreeMap::new(), depth: 0 }
    }

    /// A path as it is from the shell's folder.
    pub(super) fn place(&self, path: &str) -> String {
        if is_known(path) && (is_known(&self.folder) || path.starts_with('/')) {
            place(self.premises.root(), &self.folder, path)
        } else {
            UNKNOWN.to_string()
        }
    }

    /// A path of the project as programs see it.
    pub(super) fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.premises.root()) }
    }

    /// A variable may be set to this, too.
    pub(super) fn set(&mut self, name: &str, values: Vec<String>) {
        let known = self.variables.entry(name.to_owned()).or_default();
        let new: Vec<String> = values.into_iter().filter(|value| !known.contains(value)).collect();
        known.extend(new);
        known.truncate(MOST_VALUES);
    }

    /// The words that one word becomes: `"$@"` is all arguments, and an unquoted variable is split at its spaces.
    pub(super) fn words(&self, raw: &str, inner: &mut Vec<String>) -> Vec<Vec<String>> {
        if let ("$@" | "\"$@\"" | "$*", Some(arguments)) = (raw, &self.arguments) {
            return arguments.iter().map(|argument| vec![argument.clone()]).collect();
        }
        let expanded = self.expand(raw);
        inner.extend(expanded.inner);
        match expanded.values.as_slice() {
            [value] if raw.starts_with('$') && value.contains(char::is_whitespace) => {
                value.split_whitespace().map(|word| vec![word.to_owned()]).collect()
            }
            [value] if raw.starts_with('$') && value.is_empty() => Vec::new(),
            _ => vec![expanded.values],
        }
    }

    /// Everything that a word may stand for.
    pub(super) fn expand(&self, raw: &str) -> Expanded {
        let mut expansion = Expansion { scope: self, values: vec![String::new()], inner: Vec::new() };
        if raw == "~" || raw.starts_with("~/") {
            expansion.push(self.premises.variable("HOME").as_deref().unwrap_or("\0"));
            expansion.run(raw.trim_start_matches('~'));
        } else {
            expansion.run(raw);
        }
        Expanded { values: expansion.values, inner: expansion.inner }
    }

    fn value_of(&self, name: &str) -> Vec<String> {
        let one = |value: String| vec![value];
        let unknown = || one(UNKNOWN.to_string());
        let argument =
            |index: usize| self.arguments.as_ref().map(|all| all.get(index - 1).cloned().unwrap_or_default());
        match name.split('[').next().unwrap_or(name) {
            "0" | "BASH_SOURCE" if !self.script.is_empty() => one(self.script.clone()),
            "PWD" if is_known(&self.folder) => one(self.absolute(&self.folder).trim_end_matches('/').to_owned()),
            "@" | "*" => self.arguments.as_ref().map_or_else(unknown, |all| one(all.join(" "))),
            name => match (self.variables.get(name), name.parse::<usize>()) {
                (Some(values), _) => values.clone(),
                (None, Ok(index)) if index > 0 => argument(index).map_or_else(unknown, one),
                (None, _) => self.premises.variable(name).map_or_else(unknown, one),
            },
        }
    }

    /// What a substituted command prints, for those few that only say where something is.
    fn printed(&self, text: &str) -> Option<String> {
        if self.depth > DEEPEST {
            return None;
        }
        let mut inside = self.clone();
        inside.depth += 1;
        let mut printed = None;
        for words in plain_commands(text)? {
            let words: Vec<String> = words.iter().map(|word| inside.one(word)).collect::<Option<_>>()?;
            let mut words =
                words.iter().map(String::as_str).filter(|word| !word.starts_with("--") || *word == "--show-toplevel");
            let (name, args) = (words.next()?, words.filter(|word| !is_option(word)).collect::<Vec<_>>());
            printed = match (name, args.as_slice()) {
                ("cd", [folder]) => {
                    inside.folder = inside.place(folder);
                    None
                }
                ("cd", []) => return None,
                ("pwd", []) => Some(inside.absolute(&inside.folder)),
                ("dirname", [path]) => Some(if path.contains('/') { parent(path).to_owned() } else { ".".to_owned() }),
                ("basename", [path]) => Some(super::premises::name(path).to_owned()),
                ("readlink" | "realpath", [path]) => Some(inside.absolute(&inside.place(path))),
                ("ls", [pattern]) if pattern.contains('*') => Some((*pattern).to_owned()),
                ("ls", [_]) => Some("*".to_owned()),
                ("echo", [text]) | ("printf", ["%s", text]) => Some((*text).to_owned()),
                ("which", [name]) | ("command", [name]) => Some((*name).to_owned()),
                ("git", ["rev-parse", "--show-toplevel"]) => {
                    let is_here = inside.premises.standing(".git") != super::Standing::Nothing;
                    is_here.then(|| inside.premises.root().to_owned())
                }
                _ => return None,
            };
        }
        printed.filter(|text| is_known(text))
    }

    /// What a word stands for, if that is one thing.
    pub(super) fn one(&self, raw: &str) -> Option<String> {
        let values = self.expand(raw).values;
        match values.as_slice() {
            [value] if is_known(value) => Some(value.clone()),
            _ => None,
        }
    }
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1 && word != "--show-toplevel"
}

struct Expansion<'s, 'a> {
    scope: &'s Scope<'a>,
    values: Vec<String>,
    inner: Vec<String>,
}

impl Expansion<'_, '_> {
    fn push(&mut self, text: &str) {
        self.values.iter_mut().for_each(|value| value.push_str(text));
    }

    fn push_one_of(&mut self, several: &[String]) {
        if several.is_empty() || self.values.len() * several.len() > MOST_VALUES {
            return self.push("\0");
        }
        let both = |value: &String| several.iter().map(|one| format!("{value}{one}")).collect::<Vec<_>>();
        self.values = self.values.iter().flat_map(both).collect();
    }

    fn run(&mut self, raw: &str) {
        let mut chars = raw.chars().peekable();
        let mut quoted = false;
        while let Some(c) = chars.next() {
            match c {
                '\'' if !quoted => {
                    chars.by_ref().take_while(|&c| c != '\'').for_each(|c| self.push(c.encode_utf8(&mut [0; 4])))
                }
                '"' => quoted = !quoted,
                '\\' => match chars.next() {
                    None | Some('\n') => {}
                    Some(escaped) => {
                        if quoted && !matches!(escaped, '$' | '`' | '"' | '\\') {
                            self.push("\\");
                        }
                        self.push(escaped.encode_utf8(&mut [0; 4]));
                    }
                },
                '`' => {
                    let text: String = chars.by_ref().take_while(|&c| c != '`').collect();
                    self.substitute(&text);
                }
                '$' => self.dollar(&mut chars),
                c => self.push(c.encode_utf8(&mut [0; 4])),
            }
        }
    }

    fn dollar(&mut self, chars: &mut Peekable<Chars<'_>>) {
        match chars.peek().copied() {
            Some('(') => {
                chars.next();
                let text = until(chars, '(', ')');
                if text.starts_with('(') { self.push("\0") } else { self.substitute(&text) }
            }
            Some('{') => {
                chars.next();
                let text = until(chars, '{', '}');
                self.parameter(&text);
            }
            Some('\'' | '"') => {}
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                self.push_one_of(&self.scope.value_of(&name));
            }
            Some(c) if c.is_ascii_digit() || matches!(c, '@' | '*') => {
                chars.next();
                self.push_one_of(&self.scope.value_of(&c.to_string()));
            }
            Some('#' | '?' | '-' | '$' | '!' | '[') => {
                chars.next();
                self.push("\0");
            }
            _ => self.push("$"),
        }
    }

    fn substitute(&mut self, text: &str) {
        self.inner.push(text.to_owned());
        let printed = self.scope.printed(text);
        self.push(printed.as_deref().unwrap_or("\0"));
    }

    /// What stands between `${` and `}`.
    fn parameter(&mut self, text: &str) {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        let (name, rest) = text.split_at(if end == 0 { text.len().min(1) } else { end });
        let rest = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(rest, |(_, rest)| rest);
        let values = self.scope.value_of(name);
        let all_known = values.iter().all(|value| is_known(value) && !value.is_empty());
        let operator = rest.trim_start_matches(':').chars().next();
        match operator {
            None => self.push_one_of(&values),
            Some('-' | '=') => {
                let default = rest.trim_start_matches(':').get(1..).unwrap_or_default();
                let default = self.scope.expand(default);
                self.inner.extend(default.inner);
                self.push_one_of(if all_known { &values } else { &default.values });
            }
            Some('?') => self.push_one_of(&values),
            Some('%' | '#') if all_known => {
                let cut: Option<Vec<String>> = values.iter().map(|value| cut(value, rest)).collect();
                self.push_one_of(&cut.unwrap_or_else(|| vec![UNKNOWN.to_string()]));
            }
            _ => self.push("\0"),
        }
    }
}

/// A value without what a pattern means at its beginning or end, for the patterns that paths are cut with.
fn cut(value: &str, rest: &str) -> Option<String> {
    let kept = match rest {
        "%/*" => value.rsplit_once('/').map_or(value, |(folder, _)| folder),
        "##*/" => super::premises::name(value),
        "%.*" => value.rsplit_once('.').map_or(value, |(stem, _)| stem),
        rest => {
            let (from_end, pattern) = match (rest.trim_start_matches('%'), rest.trim_start_matches('#')) {
                (pattern, same) if pattern.len() < same.len() => (true, pattern),
                (_, pattern) => (false, pattern),
            };
            if pattern.contains(['*', '?', '[', '$']) {
                return None;
            }
            let cut = if from_end { value.strip_suffix(pattern) } else { value.strip_prefix(pattern) };
            cut.unwrap_or(value)
        }
    };
    Some(kept.to_owned())
}

/// What stands before the bracket that closes the one that is open; quotes hide brackets.
fn until(chars: &mut Peekable<Chars<'_>>, open: char, close: char) -> String {
    let mut text = String::new();
    let mut depth = 0_usize;
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (_, '\\') => {
                text.push(c);
                text.extend(chars.next());
                continue;
            }
            (Some(open), c) if c == open => quote = None,
            (None, '\'') => quote = Some(c),
            // Inside double quotes another substitution may hold double quotes of its own.
            (None, c) if c == open => depth += 1,
            (None, c) if c == close && depth == 0 => return text,
            (None, c) if c == close => depth -= 1,
            _ => {}
        }
        text.push(c);
    }
    text
}
