//! How arguments are read: options and their values, words in their order, flags that say nothing runs.
//!
//! No program is asked what its options mean. The tables know which of them take a value where that
//! matters; an option that they do not know makes a command unknown, never one that proves something.

use super::table::{IDLE, IDLE_FOR, RUN_IS_IMPLIED, VALUED};

/// A program's name without folder, version, interpreter number and file ending.
pub(crate) fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = name.find('@').filter(|&at| at > 0).and_then(|at| name.get(..at)).unwrap_or(name);
    let endings = [".exe", ".cmd", ".bat", ".phar", ".js", ".cjs", ".mjs"];
    let name = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "python" | "py" => "python",
        "pytest-" => "pytest",
        _ => name,
    }
}

/// What follows the words, which come in this order with nothing but options between them.
pub(super) fn follow<'a>(words: &[&str], program: &str, args: &'a [String]) -> Option<&'a [String]> {
    let mut rest = args;
    for word in words {
        loop {
            let (first, tail) = rest.split_first()?;
            if is_one_of(first, word) {
                rest = tail;
                break;
            }
            rest = pass_option(program, rest)?;
        }
    }
    Some(rest)
}

/// What follows an option and its value, if an option comes first. `+nightly` is one to cargo.
pub(crate) fn pass_option<'a>(program: &str, args: &'a [String]) -> Option<&'a [String]> {
    let (first, tail) = args.split_first()?;
    let is_option = first.starts_with('-') || (program == "cargo" && first.starts_with('+'));
    if !is_option {
        return None;
    }
    let takes_value = lookup(VALUED, program).any(|options| options.split(' ').any(|option| option == first));
    Some(if takes_value { tail.get(1..).unwrap_or_default() } else { tail })
}

/// The arguments that are no options.
pub(crate) fn positionals<'a>(program: &str, args: &'a [String]) -> Vec<&'a String> {
    let mut found = Vec::new();
    let mut rest = args;
    while let Some((first, tail)) = rest.split_first() {
        rest = pass_option(program, rest).unwrap_or_else(|| {
            found.push(first);
            tail
        });
    }
    found
}

/// What follows options, `--`, assignments and, where it only says what would happen anyway, `run`.
pub(super) fn pass_own<'a>(program: &str, args: &'a [String]) -> &'a [String] {
    let mut rest = args;
    while let Some((first, tail)) = rest.split_first() {
        rest = match pass_option(program, rest) {
            _ if first == "--" => return tail,
            Some(after) => after,
            None if is_assignment(first) => tail,
            None if is_one_of(first, "run|run-script") && is_one_of(program, RUN_IS_IMPLIED) => tail,
            None => break,
        };
    }
    rest
}

/// Whether a word is `NAME=value`.
pub(crate) fn is_assignment(word: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Whether the arguments keep a program from running anything, or from saying how it went.
pub(crate) fn is_idle(program: &str, args: &[String]) -> bool {
    let mut flags = IDLE.split(' ').chain(lookup(IDLE_FOR, program).flat_map(|words| words.split(' ')));
    let words: Vec<&str> = positionals(program, args).into_iter().map(String::as_str).collect();
    let (first, second) = (words.first(), words.get(1));
    flags.any(|flag| match flag.starts_with('-') {
        true => args.iter().enumerate().any(|(at, arg)| {
            let denied = args.get(at + 1).is_some_and(|next| is_one_of(next, "false|0"));
            is_flag(arg, flag) && !denied
        }),
        false => first == Some(&flag) || (first == Some(&"test") && second == Some(&flag)),
    }) || (is_one_of(program, "make|gmake") && args.iter().any(|arg| is_idle_cluster(arg)))
}

/// Whether several letters of make in one argument, as in `-kn`, have one among them that keeps it from running
/// recipes or from failing. Behind a letter that takes a value stands that value.
fn is_idle_cluster(arg: &str) -> bool {
    let letters = arg.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    letters.chars().take_while(|letter| !"CfIoWjlE".contains(*letter)).any(|letter| "nqti".contains(letter))
}

/// Whether an argument is this flag, by itself or with a value that does not deny it.
pub(super) fn is_flag(arg: &str, flag: &str) -> bool {
    let value = arg.strip_prefix(flag).and_then(|rest| rest.strip_prefix('='));
    arg == flag || value.is_some_and(|value| !is_one_of(value, "false|0|no|off"))
}

fn lookup(table: &'static [(&str, &str)], program: &str) -> impl Iterator<Item = &'static str> {
    table.iter().filter(move |(names, _)| is_one_of(program, names)).map(|(_, words)| *words)
}

/// Whether a word is one of several that are written with `|` between them.
pub(crate) fn is_one_of(word: &str, several: &str) -> bool {
    several.split('|').any(|one| one == word)
}
