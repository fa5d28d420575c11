//! When a shell ends, and with which status: `exit`, `false` and what stands around them.
//!
//! Everything here errs on one side: what is not certain is answered so that less is proved.

use super::parse::literal;
use brush_parser::ast::{
    AndOr, AndOrList, Command, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, CompoundListItem, Pipeline,
    SeparatorOperator, SimpleCommand,
};

/// Whether a chain ends the shell with a failure unless it succeeded, as `npm test || exit 1` does.
pub(super) fn ends_the_shell_unless_it_succeeded(chain: &AndOrList) -> bool {
    let Some(AndOr::Or(rescue)) = chain.additional.last() else { return false };
    let exits = |command: &SimpleCommand| name(command).as_deref() == Some("exit");
    always_fails(rescue) && last_simple(rescue).is_some_and(exits)
}

/// Whether a pipeline that is run because something failed fails as well.
pub(super) fn always_fails(rescue: &Pipeline) -> bool {
    match only(rescue) {
        // Without a number the status is that of what failed.
        Some(Command::Simple(command)) => fails(command) || passes_status_on(command),
        Some(Command::Compound(CompoundCommand::BraceGroup(group), _)) => always_fails_at_its_end(&group.list),
        Some(Command::Compound(CompoundCommand::Subshell(shell), _)) => always_fails_at_its_end(&shell.list),
        _ => false,
    }
}

fn always_fails_at_its_end(list: &CompoundList) -> bool {
    let Some((CompoundListItem(last, SeparatorOperator::Sequence), before)) = list.0.split_last() else { return false };
    let fails = matches!(only(&last.first), Some(Command::Simple(command)) if fails(command));
    last.additional.is_empty() && fails && !before.iter().any(|CompoundListItem(chain, _)| may_leave(chain))
}

/// Whether a chain may end the shell with success, so that what follows is never reached.
pub(super) fn may_leave(chain: &AndOrList) -> bool {
    let later = chain.additional.iter().map(|member| match member {
        AndOr::And(pipeline) => (false, pipeline),
        AndOr::Or(pipeline) => (true, pipeline),
    });
    let mut members = std::iter::once((false, &chain.first)).chain(later);
    members.any(|(is_rescue, pipeline)| !(is_rescue && always_fails(pipeline)) && pipeline_may_leave(pipeline))
}

/// Whether a pipeline may end the shell with success. The members of a longer one have their own shells.
pub(super) fn pipeline_may_leave(pipeline: &Pipeline) -> bool {
    match only_or_inverted(pipeline) {
        Some(Command::Simple(command)) => leaves(command),
        Some(Command::Compound(CompoundCommand::Subshell(_), _)) => false,
        Some(Command::Compound(compound, _)) => bodies(compound).into_iter().any(list_may_leave),
        // Whether a function is called is not followed: to define it is enough.
        Some(Command::Function(function)) => bodies(&function.body.0).into_iter().any(list_may_leave),
        _ => false,
    }
}

fn list_may_leave(list: &CompoundList) -> bool {
    list.0.iter().any(|CompoundListItem(chain, _)| may_leave(chain))
}

/// Whether a command ends the shell with the status of the command before it.
pub(super) fn passes_status_on(command: &SimpleCommand) -> bool {
    let status = arguments(command);
    name(command).as_deref() == Some("exit") && (status.is_empty() || status == ["$?"] || status == ["\"$?\""])
}

/// The lists of commands inside a compound command.
pub(crate) fn bodies(compound: &CompoundCommand) -> Vec<&CompoundList> {
    match compound {
        CompoundCommand::BraceGroup(group) => vec![&group.list],
        CompoundCommand::Subshell(shell) => vec![&shell.list],
        CompoundCommand::ForClause(clause) => vec![&clause.body.list],
        CompoundCommand::ArithmeticForClause(clause) => vec![&clause.body.list],
        CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => vec![&clause.0, &clause.1.list],
        CompoundCommand::CaseClause(clause) => clause.cases.iter().filter_map(|case| case.cmd.as_ref()).collect(),
        CompoundCommand::IfClause(clause) => {
            let elses = clause.elses.iter().flatten();
            let elses = elses.flat_map(|other| other.condition.iter().chain(std::iter::once(&other.body)));
            [&clause.condition, &clause.then].into_iter().chain(elses).collect()
        }
        CompoundCommand::Arithmetic(_) | CompoundCommand::Coprocess(_) => Vec::new(),
    }
}

/// The name of a command, if it is known before the shell runs.
pub(super) fn name(command: &SimpleCommand) -> Option<String> {
    command.word_or_name.as_ref().and_then(|word| literal(&word.value))
}

/// The arguments of a command as they are written.
pub(super) fn arguments(command: &SimpleCommand) -> Vec<&str> {
    let items = command.suffix.iter().flat_map(|suffix| suffix.0.iter());
    let text = |item| match item {
        &CommandPrefixOrSuffixItem::Word(ref word) | &CommandPrefixOrSuffixItem::AssignmentWord(_, ref word) => {
            Some(word.value.as_str())
        }
        // The file that it stands for has a name that nobody knows.
        CommandPrefixOrSuffixItem::ProcessSubstitution(..) => Some("$"),
        CommandPrefixOrSuffixItem::IoRedirect(_) => None,
    };
    items.filter_map(text).collect()
}

/// The one command of a pipeline whose status is the pipeline's.
pub(super) fn only(pipeline: &Pipeline) -> Option<&Command> {
    only_or_inverted(pipeline).filter(|_| !pipeline.bang)
}

fn only_or_inverted(pipeline: &Pipeline) -> Option<&Command> {
    match pipeline.seq.as_slice() {
        [command] => Some(command),
        _ => None,
    }
}

fn last_simple(pipeline: &Pipeline) -> Option<&SimpleCommand> {
    match only(pipeline)? {
        Command::Simple(command) => Some(command),
        Command::Compound(CompoundCommand::BraceGroup(group), _) => last_simple(&group.list.0.last()?.0.first),
        _ => None,
    }
}

/// Whether a command's status is surely a failure.
fn fails(command: &SimpleCommand) -> bool {
    match name(command).as_deref() {
        Some("false") => true,
        Some("exit" | "return") => is_failure(&arguments(command)),
        _ => false,
    }
}

/// Whether a command may end the shell with success.
fn leaves(command: &SimpleCommand) -> bool {
    let arguments = arguments(command);
    match name(command).as_deref() {
        Some("exit" | "return") => !is_failure(&arguments),
        Some("exec") => !arguments.is_empty(),
        // It changes the status at the very end.
        Some("trap") => arguments.iter().any(|argument| argument.contains("exit")),
        _ => false,
    }
}

/// Statuses are cut to eight bits, so 256 would be a success.
fn is_failure(status: &[&str]) -> bool {
    matches!(status, [status] if status.parse::<u8>().is_ok_and(|status| status > 0))
}
