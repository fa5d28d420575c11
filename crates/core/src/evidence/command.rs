//! What one command is for, judged by its words.
//!
//! This file knows how the tables are matched and how a wrapper is taken off. Of shells it only knows
//! how they are given a line.

use super::table::{
    COMMANDS, GOALS, RUNNERS, Reach, SCRIPT_IDLE, SCRIPT_NAMES, SCRIPT_WORDS, WIDE_GOALS, WRAPPERS, Wraps,
};
use super::words::{follow, is_flag, is_idle, is_one_of, pass_own, positionals, program_name};
use super::{Extra, Purpose};
use std::collections::HashSet;
use std::sync::LazyLock;

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
        /// Whether it is named as one that runs tests, and not only as one that checks or builds.
        only_tests: bool,
    },
    /// A shell that is given a line.
    Shell { line: String, options: Vec<String> },
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
            if is_idle(program, args) {
                return Meaning::Nothing;
            }
            let named: Vec<String> = args.iter().filter(|arg| !is_one_of(arg, WIDE_GOALS)).cloned().collect();
            let only_tests = self::purposes(program, &named, extra).contains(&Purpose::Test);
            return Meaning::Known { program: program.to_owned(), purposes, only_tests };
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

/// The programs that the tables say something about.
static PROGRAMS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let commands = COMMANDS.iter().flat_map(|(_, patterns)| patterns.iter().copied());
    let goals = GOALS.iter().map(|(pattern, ..)| *pattern);
    let runners = RUNNERS.iter().map(|(pattern, ..)| *pattern);
    let programs = |pattern: &'static str| pattern.split(' ').next().unwrap_or(pattern).split('|');
    commands.chain(goals).chain(runners).flat_map(programs).collect()
});

/// Whether the tables, or those of the project, say anything about a program of this name.
pub(super) fn is_known(program: &str, extra: &[Extra]) -> bool {
    let is_own = |entry: &Extra| entry.words.split([' ', '|']).any(|word| program_name(word) == program);
    PROGRAMS.contains(program) || extra.iter().any(is_own)
}

/// What the tables say about a program with these arguments, without looking inside it.
fn purposes(program: &str, args: &[String], extra: &[Extra]) -> Vec<Purpose> {
    if !is_known(program, extra) {
        return Vec::new();
    }
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

/// The number of words of a pattern behind the program's name, if the command is one of its kind.
pub(super) fn matches(pattern: &str, program: &str, args: &[String]) -> Option<usize> {
    let (name, words) = pattern.split_once(' ').unwrap_or((pattern, ""));
    if !name.split('|').any(|name| program_name(name) == program) {
        return None;
    }
    let (flags, leading): (Vec<&str>, Vec<&str>) = words.split_whitespace().partition(|word| word.starts_with('-'));
    follow(&leading, program, args)?;
    let given = |flag: &&str| flag.split('|').any(|flag| args.iter().any(|arg| is_flag(arg, flag)));
    flags.iter().all(given).then(|| leading.len() + flags.len())
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

/// The line that a shell is given, if it is given one to run.
fn shell(args: &[String]) -> Meaning {
    match shell_input(args) {
        ShellInput::Line { line, options, .. } => Meaning::Shell { line: line.clone(), options },
        ShellInput::Script { .. } | ShellInput::Nothing => Meaning::Nothing,
    }
}

/// What a shell is told to run.
pub(crate) enum ShellInput<'a> {
    /// The line after `-c`, with what stands before and behind it.
    Line { line: &'a String, options: Vec<String>, arguments: &'a [String] },
    /// A file.
    Script { path: &'a String, arguments: &'a [String] },
    /// Nothing, or what comes in.
    Nothing,
}

/// What a shell with these arguments is told to run.
pub(crate) fn shell_input(args: &[String]) -> ShellInput<'_> {
    let mut options = Vec::new();
    let mut has_line = false;
    let mut rest = args;
    while let Some((first, tail)) = rest.split_first() {
        let cluster = first.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        // `-n` reads without running.
        if cluster.is_some_and(|letters| letters.contains('n')) {
            return ShellInput::Nothing;
        }
        has_line |= cluster.is_some_and(|letters| letters.contains('c'));
        if !first.starts_with(['-', '+']) {
            break;
        }
        options.push(first.clone());
        rest = tail;
        if first == "--" {
            break;
        }
        let value = first.ends_with('o') && !first.starts_with("--") || is_one_of(first, "--rcfile|--init-file");
        if let Some((value, tail)) = rest.split_first().filter(|_| value) {
            options.push(value.clone());
            rest = tail;
        }
    }
    match rest.split_first() {
        Some((line, arguments)) if has_line => ShellInput::Line { line, options, arguments },
        Some((path, arguments)) => ShellInput::Script { path, arguments },
        None => ShellInput::Nothing,
    }
}

/// What stands behind a program that only runs another one: its words, or a line for a shell.
pub(crate) fn wrapped<'a>(program: &str, args: &'a [String]) -> Option<(&'a [String], bool)> {
    after(WRAPPERS, program, args).map(|(rest, wraps)| (rest, wraps == Wraps::Line))
}
