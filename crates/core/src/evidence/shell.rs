//! Which commands of a shell line its exit status speaks for.
//!
//! A line is walked as a shell would run it. Every recognised command is noted as *shown*: if the
//! line succeeds, it has run and succeeded. Whatever stands around it that breaks this hides it
//! again: `||`, `;`, `&`, `!`, a pipe, a condition, a loop, an `exit 0` before it.

use super::command::{Meaning, meaning};
use super::exit::{
    always_fails, arguments, bodies, ends_the_shell_unless_it_succeeded, may_leave, name, only, passes_status_on,
    pipeline_may_leave,
};
use super::parse::{literal, parse};
use super::{Extra, Purpose};
use brush_parser::ast::{
    AndOrList, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundListItem, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect, Pipeline, PipelineOperator, SeparatorOperator, SimpleCommand,
};
use std::collections::BTreeSet;

/// A recognised command in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sighting {
    pub(super) purpose: Purpose,
    /// The program's name.
    pub(super) program: String,
    /// Whether the line's status speaks for it.
    pub(super) shown: bool,
    /// Whether it is there for tests and nothing else.
    pub(super) only_tests: bool,
}

/// Every recognised command of a line, in order.
pub(super) fn sightings(line: &str, extra: &[Extra]) -> Vec<Sighting> {
    let mut walk = Walk { extra, found: Vec::new(), calls: Vec::new(), functions: Vec::new(), depth: 0 };
    walk.line(line, Mode::default());
    walk.found
}

/// The commands of a text, as they are written, that have run if it succeeds, and whose output is the text's.
pub(super) fn certain(text: &str) -> BTreeSet<String> {
    let mut walk = Walk { extra: &[], found: Vec::new(), calls: Vec::new(), functions: Vec::new(), depth: MOST_SHELLS };
    walk.line(text, Mode::default());
    // `exec >log`, and variables that tell runners how to report.
    if ["exec >", "exec 1>", "exec &>", "ADDOPTS", "REPORTER"].iter().any(|words| text.contains(words)) {
        return BTreeSet::new();
    }
    let (certain, other): (Vec<_>, Vec<_>) = walk.calls.into_iter().partition(|(_, shown)| *shown);
    // What stands there twice must be certain twice.
    let other: BTreeSet<String> = other.into_iter().map(|(call, _)| call).collect();
    certain.into_iter().map(|(call, _)| call).filter(|call| !other.contains(call)).collect()
}

/// Shells inside shells that are looked into; agents wrap once, people twice.
const MOST_SHELLS: usize = 4;

/// A word whose text is only known when the shell runs. No word of any table equals it.
const UNKNOWN: &str = "\0";

/// The options of a shell that change what its status means.
#[derive(Debug, Clone, Copy, Default)]
struct Mode {
    /// `set -e`: a failing command ends the shell.
    errexit: bool,
    /// `set -o pipefail`: a pipeline fails if any of its members fails.
    pipefail: bool,
    /// Inside all but the last member of a chain, where shells do not heed `errexit`.
    unheeded: bool,
}

impl Mode {
    /// Takes the arguments of `set`, or those that a shell was started with.
    fn set<'a>(&mut self, arguments: impl IntoIterator<Item = &'a str>) {
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next().filter(|argument| *argument != "--") {
            let (on, letters) = match (argument.strip_prefix('-'), argument.strip_prefix('+')) {
                (Some(letters), _) => (true, letters),
                (_, Some(letters)) => (false, letters),
                _ => return,
            };
            for letter in letters.chars().take_while(|&letter| letter != '-') {
                match (letter, if letter == 'o' { arguments.next() } else { None }) {
                    ('e', _) | ('o', Some("errexit")) => self.errexit = on,
                    ('o', Some("pipefail")) => self.pipefail = on,
                    _ => {}
                }
            }
        }
    }

    /// What is still on after something ran that may have switched it off.
    fn keep(&mut self, after: Mode) {
        self.errexit &= after.errexit;
        self.pipefail &= after.pipefail;
    }
}

struct Walk<'a> {
    extra: &'a [Extra],
    found: Vec<Sighting>,
    /// Every command as it is written, and whether the line's status speaks for it and its output is the line's.
    calls: Vec<(String, bool)>,
    /// Functions that the line defines: a program of the same name is no longer what it seems.
    functions: Vec<String>,
    depth: usize,
}

impl Walk<'_> {
    fn line(&mut self, line: &str, mut mode: Mode) {
        let Some(program) = parse(line) else { return };
        let items: Vec<&CompoundListItem> = program.complete_commands.iter().flat_map(|list| list.0.iter()).collect();
        self.list(&items, &mut mode);
    }

    const fn mark(&self) -> (usize, usize) {
        (self.found.len(), self.calls.len())
    }

    /// Takes back that anything seen since the mark is shown.
    fn hide(&mut self, (found, calls): (usize, usize)) {
        self.found.iter_mut().skip(found).for_each(|sighting| sighting.shown = false);
        self.silence(calls);
    }

    /// Takes back that the output of anything called since the mark is the line's.
    fn silence(&mut self, calls: usize) {
        self.calls.iter_mut().skip(calls).for_each(|(_, shown)| *shown = false);
    }

    /// Commands one after another: the last decides, and others only if the shell ends when they fail.
    fn list(&mut self, items: &[&CompoundListItem], mode: &mut Mode) {
        let deciding = deciding(items);
        let mut may_have_left = false;
        for (at, CompoundListItem(chain, separator)) in items.iter().enumerate() {
            let mark = self.mark();
            if matches!(separator, SeparatorOperator::Async) {
                self.chain(chain, &mut mode.clone());
                self.hide(mark);
                continue;
            }
            let heeded = mode.errexit && !mode.unheeded && is_heeded(chain);
            self.chain(chain, mode);
            let shown = at == deciding || heeded || ends_the_shell_unless_it_succeeded(chain);
            if may_have_left || !shown {
                self.hide(mark);
            }
            may_have_left |= may_leave(chain);
        }
    }

    /// Members with `&&` and `||` between them.
    fn chain(&mut self, chain: &AndOrList, mode: &mut Mode) {
        let start = self.mark();
        let mut current = *mode;
        let mut may_have_left = false;
        for (at, (operator, pipeline)) in chain.iter().enumerate() {
            let mark = self.mark();
            let mut own = Mode { unheeded: mode.unheeded || at < chain.additional.len(), ..current };
            self.pipeline(pipeline, &mut own);
            current = Mode { unheeded: mode.unheeded, ..own };
            let is_rescue = matches!(operator, PipelineOperator::Or);
            if is_rescue && always_fails(pipeline) {
                self.hide(mark);
                continue;
            }
            if is_rescue {
                self.hide(start);
            } else if may_have_left {
                self.hide(mark);
            }
            may_have_left |= pipeline_may_leave(pipeline);
            if at == 0 {
                *mode = current;
            }
        }
        // Later members may not have run: what they switch on is not relied on, what they switch off is.
        mode.keep(current);
    }

    fn pipeline(&mut self, pipeline: &Pipeline, mode: &mut Mode) {
        let start = self.mark();
        match pipeline.seq.as_slice() {
            [command] => self.command(command, mode),
            members => {
                for (at, member) in members.iter().enumerate() {
                    let mark = self.mark();
                    self.command(member, &mut mode.clone());
                    if !mode.pipefail && at + 1 < members.len() {
                        self.hide(mark);
                    }
                    if !members.iter().skip(at + 1).all(passes_output_on) {
                        self.silence(mark.1);
                    }
                }
            }
        }
        if pipeline.bang {
            self.hide(start);
        }
    }

    fn command(&mut self, command: &Command, mode: &mut Mode) {
        let start = self.calls.len();
        self.any_command(command, mode);
        if let Command::Compound(_, Some(redirects)) = command
            && redirects.0.iter().any(takes_output_away)
        {
            self.silence(start);
        }
    }

    fn any_command(&mut self, command: &Command, mode: &mut Mode) {
        match command {
            Command::Simple(command) => self.simple(command, mode),
            Command::Compound(CompoundCommand::BraceGroup(group), _) => {
                self.list(&group.list.0.iter().collect::<Vec<_>>(), mode);
            }
            Command::Compound(CompoundCommand::Subshell(shell), _) => {
                self.list(&shell.list.0.iter().collect::<Vec<_>>(), &mut mode.clone());
            }
            // Conditions hide what they ask, and bodies may run never or more than once.
            Command::Compound(compound, _) => {
                let mark = self.mark();
                for body in bodies(compound) {
                    let mut own = *mode;
                    self.list(&body.0.iter().collect::<Vec<_>>(), &mut own);
                    mode.keep(own);
                }
                self.hide(mark);
            }
            Command::Function(function) => self.functions.push(function.fname.value.clone()),
            Command::ExtendedTest(..) => {}
        }
    }

    fn simple(&mut self, command: &SimpleCommand, mode: &mut Mode) {
        let Some(name) = name(command) else { return };
        if self.functions.contains(&name) {
            return;
        }
        let written = command.word_or_name.iter().map(|word| word.value.as_str()).chain(arguments(command));
        self.calls.push((written.collect::<Vec<_>>().join(" "), !is_silent(command)));
        let arguments = arguments(command).into_iter().map(known);
        let words: Vec<String> = std::iter::once(name).chain(arguments).collect();
        if let Some(("set", arguments)) = words.split_first().map(|(first, rest)| (first.as_str(), rest)) {
            return mode.set(arguments.iter().map(String::as_str));
        }
        match meaning(&words, self.extra) {
            Meaning::Nothing => {}
            Meaning::Known { program, purposes, only_tests } => {
                let sighting = |purpose| Sighting { purpose, program: program.clone(), shown: true, only_tests };
                self.found.extend(purposes.into_iter().map(sighting));
            }
            Meaning::Shell { line, options } => {
                if self.depth < MOST_SHELLS {
                    let mut inner = Mode::default();
                    inner.set(options.iter().map(String::as_str));
                    self.depth += 1;
                    self.line(&line, inner);
                    self.depth -= 1;
                }
            }
        }
    }
}

/// Whether a command prints elsewhere, or is told by a variable how to print.
fn is_silent(command: &SimpleCommand) -> bool {
    let prefix = command.prefix.iter().flat_map(|prefix| prefix.0.iter());
    let mut items = prefix.chain(command.suffix.iter().flat_map(|suffix| suffix.0.iter()));
    items.any(|item| match item {
        Item::IoRedirect(redirect) => takes_output_away(redirect),
        Item::AssignmentWord(assignment, _) => {
            let name = assignment.name.to_string();
            ["OPT", "REPORTER", "FLAGS"].iter().any(|part| name.contains(part))
        }
        _ => false,
    })
}

/// Whether what is printed goes into a file.
fn takes_output_away(redirect: &IoRedirect) -> bool {
    match redirect {
        IoRedirect::OutputAndError(..) => true,
        IoRedirect::File(_, kind, target) => {
            let reads = matches!(kind, IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput);
            // `2>&1`
            let joins = matches!(kind, IoFileRedirectKind::DuplicateOutput)
                && !matches!(target, IoFileRedirectTarget::Filename(_) | IoFileRedirectTarget::ProcessSubstitution(..));
            !reads && !joins
        }
        IoRedirect::HereDocument(..) | IoRedirect::HereString(..) => false,
    }
}

/// Whether a member of a pipeline prints what comes in.
fn passes_output_on(command: &Command) -> bool {
    matches!(command, Command::Simple(command) if !is_silent(command) && matches!(name(command).as_deref(), Some("tee" | "cat")))
}

/// What is known of a word: all of it, or what stands before the value in `NAME=$VALUE`.
fn known(word: &str) -> String {
    let before = || word.split_once('=').and_then(|(name, _)| literal(name)).map(|name| name + "=");
    literal(word).or_else(before).unwrap_or_else(|| UNKNOWN.to_owned())
}

/// Which item's status a list ends with: the last one's, or the one's before a bare `exit`.
fn deciding(items: &[&CompoundListItem]) -> usize {
    let last = items.len().saturating_sub(1);
    let passes_on = items.last().is_some_and(|CompoundListItem(chain, _)| {
        let first = only(&chain.first);
        chain.additional.is_empty() && matches!(first, Some(Command::Simple(command)) if passes_status_on(command))
    });
    if passes_on { last.saturating_sub(1) } else { last }
}

/// Whether `errexit` ends the shell when this fails. Shells overlook a failure inside a chain, and
/// one that a group in braces passes on.
fn is_heeded(chain: &AndOrList) -> bool {
    let is_group = matches!(only(&chain.first), Some(Command::Compound(CompoundCommand::BraceGroup(_), _)));
    chain.additional.is_empty() && !is_group
}
