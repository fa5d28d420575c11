//! What one command is for, judged by its words.
//!
//! This file knows how the tables are matched and how a wrapper is taken off; it does not know
//! anything about shells except how they are given a line.

use super::table::{
    COMMANDS, GOALS, IDLE, IDLE_FOR, RUNNERS, Reach, SCRIPT_IDLE, SCRIPT_NAMES, SCRIPT_WORDS, VALUED, WRAPPERS, Wraps,
};
use super::{Extra, Purpose};

/// What a command turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing that proves anything.
    Nothing,
    /// A recognised program, with what it is for.
    Known {
        /// The program's name without path and version.
        program: String,
        /// Each purpose once.
        purposes: Vec<Purpose>,
    },
    /// A shell that is given a line.
    Shell {
        /// The line.
        line: String,
        /// The options that it begins with.
        options: Vec<String>,
    },
}

/// Wrappers inside wrappers that are taken off; `sudo env timeout 9 uv run python -m pytest` has five.
const MOST_WRAPPERS: usize = 8;

/// Finds what a command is for, through everything that it is wrapped in.
pub(super) fn meaning(words: &[String], extra: &[Extra]) -> Meaning {
    let mut words = words;
    for _ in 0..MOST_WRAPPERS {
        let Some((first, args)) = words.split_first() else { return Meaning::Nothing };
        let program = program_name(first);
        if is_one_of(program, "bash|sh|dash|zsh|ksh|ash") {
            return shell(args);
        }
        let purposes = purposes(program, args, extra);
        if !purposes.is_empty() {
            let idle = is_idle(program, args);
            return if idle { Meaning::Nothing } else { Meaning::Known { program: program.to_owned(), purposes } };
        }
        match unwrap(program, args) {
            Some((rest, Wraps::Command)) => words = rest,
            Some((rest, Wraps::Line)) => {
                return rest
                    .first()
                    .map_or(Meaning::Nothing, |line| Meaning::Shell { line: line.clone(), options: Vec::new() });
            }
            None => return Meaning::Nothing,
        }
    }
    Meaning::Nothing
}

/// A program's name without folder, version, interpreter number and file ending.
pub(super) fn program_name(word: &str) -> &str {
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

/// The words before which a command is not worth parsing.
pub(super) fn known_programs() -> impl Iterator<Item = &'static str> {
    let commands = COMMANDS.iter().flat_map(|(_, patterns)| patterns.iter().copied());
    let goals = GOALS.iter().map(|(pattern, ..)| *pattern);
    let runners = RUNNERS.iter().map(|(pattern, ..)| *pattern);
    let programs = |pattern: &'static str| pattern.split(' ').next().unwrap_or(pattern).split('|');
    commands.chain(goals).chain(runners).flat_map(programs)
}

/// What the tables say about a program with these arguments, without looking inside it.
fn purposes(program: &str, args: &[String], extra: &[Extra]) -> Vec<Purpose> {
    if let Some(entry) = extra.iter().find(|entry| matches(&entry.words, program, args).is_some()) {
        return vec![entry.purpose];
    }
    let rows = COMMANDS.iter().flat_map(|(purpose, patterns)| patterns.iter().map(move |pattern| (*purpose, *pattern)));
    let best = rows.filter_map(|(purpose, pattern)| matches(pattern, program, args).map(|words| (words, purpose)));
    if let Some((_, purpose)) = best.max_by_key(|(words, _)| *words) {
        return vec![purpose];
    }
    let mut found = goals(program, args);
    found.extend(scripts(program, args));
    let mut each: Vec<Purpose> = Vec::new();
    for purpose in found {
        if !each.contains(&purpose) {
            each.push(purpose);
        }
    }
    each
}

/// The number of words of a pattern, if the command is one of its kind.
fn matches(pattern: &str, program: &str, args: &[String]) -> Option<usize> {
    let (name, words) = pattern.split_once(' ').unwrap_or((pattern, ""));
    if !name.split('|').any(|name| program_name(name) == program) {
        return None;
    }
    let (flags, leading): (Vec<&str>, Vec<&str>) = words.split_whitespace().partition(|word| word.starts_with('-'));
    follow(&leading, program, args)?;
    let given = |flag: &&str| flag.split('|').any(|flag| args.iter().any(|arg| is_flag(arg, flag)));
    flags.iter().all(given).then(|| 1 + leading.len() + flags.len())
}

/// What follows the words, which come in this order with nothing but options between them.
fn follow<'a>(words: &[&str], program: &str, args: &'a [String]) -> Option<&'a [String]> {
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
fn pass_option<'a>(program: &str, args: &'a [String]) -> Option<&'a [String]> {
    let (first, tail) = args.split_first()?;
    let is_option = first.starts_with('-') || (program == "cargo" && first.starts_with('+'));
    if !is_option {
        return None;
    }
    let takes_value = lookup(VALUED, program).any(|options| options.split(' ').any(|option| option == first));
    Some(if takes_value { tail.get(1..).unwrap_or_default() } else { tail })
}

/// The arguments that are no options.
fn positionals<'a>(program: &str, args: &'a [String]) -> Vec<&'a String> {
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

fn goals(program: &str, args: &[String]) -> Vec<Purpose> {
    let named = |names: &str| {
        positionals(program, args).into_iter().any(|goal| {
            let goal = goal.split_whitespace().next().unwrap_or_default();
            is_one_of(goal, names) || is_one_of(goal.rsplit(':').next().unwrap_or_default(), names)
        })
    };
    GOALS
        .iter()
        .filter(|(on, _, names)| is_one_of(program, on) && named(names))
        .map(|(_, purpose, _)| *purpose)
        .collect()
}

/// What the named scripts are for. A name that says nothing may still be a program that the runner
/// finds, as in `pnpm vitest`.
fn scripts(program: &str, args: &[String]) -> Vec<Purpose> {
    let Some((rest, reach)) = after(RUNNERS, program, args) else { return Vec::new() };
    let mut names = positionals(program, rest).into_iter();
    if reach == Reach::Every {
        return names.filter_map(|name| script_purpose(name)).collect();
    }
    names.next().and_then(|name| script_purpose(name)).into_iter().collect()
}

/// What a script is for, by its name.
pub(super) fn script_purpose(name: &str) -> Option<Purpose> {
    let name = name.to_ascii_lowercase().replace([':', '_', '.', '/'], "-");
    let mut parts = name.split('-').filter(|part| !part.is_empty());
    if parts.clone().any(|part| is_one_of(part, SCRIPT_IDLE)) {
        return None;
    }
    let whole = SCRIPT_NAMES.iter().find(|(_, names)| is_one_of(name.trim_matches('-'), names));
    let first = parts.next()?;
    let last = parts.next_back().unwrap_or(first);
    let by_part = |part: &str| SCRIPT_WORDS.iter().find(|(_, words)| is_one_of(part, words));
    whole.or_else(|| by_part(first)).or_else(|| by_part(last)).map(|(purpose, _)| *purpose)
}

/// What a wrapper wraps, or what a runner may find as a program.
fn unwrap<'a>(program: &str, args: &'a [String]) -> Option<(&'a [String], Wraps)> {
    let found = after(WRAPPERS, program, args).or_else(|| {
        let (rest, reach) = after(RUNNERS, program, args)?;
        (reach == Reach::First).then_some((rest, Wraps::Command))
    });
    let (rest, wraps) = found?;
    // A wrapper that only looks something up runs nothing: `command -v jest`.
    let own = args.get(..args.len().checked_sub(rest.len())?)?;
    (!is_idle(program, own)).then_some((rest, wraps))
}

/// The entry with the most words that fits, with what follows the program's own arguments.
fn after<'a, T: Copy>(table: &[(&str, usize, T)], program: &str, args: &'a [String]) -> Option<(&'a [String], T)> {
    let fits = table.iter().filter_map(|(pattern, skip, kind)| {
        let mut words = pattern.split(' ');
        if !is_one_of(program, words.next()?) {
            return None;
        }
        let words: Vec<&str> = words.collect();
        let mut rest = pass_own(program, follow(&words, program, args)?);
        for _ in 0..*skip {
            rest = pass_own(program, rest.get(1..)?);
        }
        Some((words.len(), rest, *kind))
    });
    fits.max_by_key(|(words, ..)| *words).map(|(_, rest, kind)| (rest, kind))
}

/// What follows options, `--`, assignments and the word `run`.
fn pass_own<'a>(program: &str, args: &'a [String]) -> &'a [String] {
    let mut rest = args;
    while let Some((first, tail)) = rest.split_first() {
        rest = match pass_option(program, rest) {
            _ if first == "--" => return tail,
            Some(after) => after,
            None if is_assignment(first) || is_one_of(first, "run|run-script") => tail,
            None => break,
        };
    }
    rest
}

fn is_assignment(word: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Whether the arguments keep a program from running anything, or from saying how it went.
fn is_idle(program: &str, args: &[String]) -> bool {
    let mut flags = IDLE.split(' ').chain(lookup(IDLE_FOR, program).flat_map(|words| words.split(' ')));
    let first = positionals(program, args).first().map(|word| word.as_str());
    flags.any(|flag| match flag.starts_with('-') {
        true => args.iter().enumerate().any(|(at, arg)| {
            let denied = args.get(at + 1).is_some_and(|next| is_one_of(next, "false|0"));
            is_flag(arg, flag) && !denied
        }),
        false => first == Some(flag),
    })
}

/// Whether an argument is this flag, by itself or with a value that does not deny it.
fn is_flag(arg: &str, flag: &str) -> bool {
    let value = arg.strip_prefix(flag).and_then(|rest| rest.strip_prefix('='));
    arg == flag || value.is_some_and(|value| !is_one_of(value, "false|0|no|off"))
}

/// The line that a shell is given, if it is given one to run.
fn shell(args: &[String]) -> Meaning {
    let mut options = Vec::new();
    let mut has_line = false;
    let mut rest = args;
    while let Some((first, tail)) = rest.split_first() {
        let cluster = first.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        // `-n` reads without running.
        if cluster.is_some_and(|letters| letters.contains('n')) {
            return Meaning::Nothing;
        }
        has_line |= cluster.is_some_and(|letters| letters.contains('c'));
        if !first.starts_with(['-', '+']) {
            break;
        }
        options.push(first.clone());
        rest = tail;
        let value = first.ends_with('o') && !first.starts_with("--") || is_one_of(first, "--rcfile|--init-file");
        if let Some((value, tail)) = rest.split_first().filter(|_| value) {
            options.push(value.clone());
            rest = tail;
        }
    }
    match rest.first() {
        Some(line) if has_line => Meaning::Shell { line: line.clone(), options },
        _ => Meaning::Nothing,
    }
}

fn lookup(table: &'static [(&str, &str)], program: &str) -> impl Iterator<Item = &'static str> {
    table.iter().filter(move |(names, _)| is_one_of(program, names)).map(|(_, words)| *words)
}

/// Whether a word is one of several that are written with `|` between them.
fn is_one_of(word: &str, several: &str) -> bool {
    several.split('|').any(|one| one == word)
}
