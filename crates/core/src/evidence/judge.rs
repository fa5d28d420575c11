//! The stop criteria, judged on the tool runs of one iteration.
//!
//! The last command of a kind decides, because an agent may well break things before it mends them.
//! A failure that was repaired later is no error; one that nobody looked at again is.

use super::{Extra, Purpose, shell::Sighting, sightings};
use crate::observation::{ToolResult, ToolRun};
use crate::policy::StopCriteria;
use crate::text;

/// What became of one required criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// `tests`, `lint`, `typecheck` or `errors`.
    pub name: &'static str,
    /// Whether it is met.
    pub passed: bool,
    /// One sentence for people and for the next prompt.
    pub reason: String,
}

/// Judges the criteria on the tool runs of one iteration, in order, and the errors that the stream
/// reported. There is one finding for each criterion that is required.
pub fn judge(criteria: &StopCriteria, tools: &[ToolRun], errors: &[String]) -> Vec<Finding> {
    judge_with(criteria, tools, errors, &[])
}

/// The same, with commands that a project has added.
pub fn judge_with(criteria: &StopCriteria, tools: &[ToolRun], errors: &[String], extra: &[Extra]) -> Vec<Finding> {
    let runs: Vec<Run<'_>> = tools.iter().map(|tool| Run::read(tool, extra)).collect();
    let kinds = [
        (criteria.passing_tests, "tests", Purpose::Test),
        (criteria.lint, "lint", Purpose::Lint),
        (criteria.typecheck, "typecheck", Purpose::Typecheck),
    ];
    let required = kinds.into_iter().filter(|(required, ..)| *required);
    let mut findings: Vec<Finding> = required.map(|(_, name, purpose)| last_of_a_kind(name, purpose, &runs)).collect();
    if criteria.no_errors {
        findings.push(errors_left(criteria, &runs, errors));
    }
    findings
}

/// A tool run with what was seen in its shell line.
struct Run<'a> {
    tool: &'a ToolRun,
    /// The shell line with each stretch of white space as one space.
    line: Option<String>,
    sightings: Vec<Sighting>,
}

impl<'a> Run<'a> {
    fn read(tool: &'a ToolRun, extra: &[Extra]) -> Run<'a> {
        let line = tool.command.as_deref();
        let spaced = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let sightings = line.map(|line| sightings(line, extra)).unwrap_or_default();
        Run { tool, line: line.map(spaced), sightings }
    }

    fn shown(&self) -> impl Iterator<Item = &Sighting> {
        self.sightings.iter().filter(|sighting| sighting.shown)
    }

    fn speaks_for(&self, purpose: Purpose) -> bool {
        self.shown().any(|sighting| sighting.purpose == purpose)
    }

    /// The command, or the tool that runs none, in a form that fits into a sentence.
    fn quoted(&self) -> String {
        let what = self.line.as_deref().unwrap_or(&self.tool.name);
        format!("`{}`", text::cut(&text::without_controls(what), QUOTED_CHARS, "…"))
    }
}

/// Characters of a command or message in a sentence: enough to know it again.
const QUOTED_CHARS: usize = 120;
/// Errors that one sentence names; the rest are counted.
const ERRORS_NAMED: usize = 3;

fn last_of_a_kind(name: &'static str, purpose: Purpose, runs: &[Run<'_>]) -> Finding {
    let kind = match purpose {
        Purpose::Test => "test",
        Purpose::Lint => "lint",
        Purpose::Typecheck => "typecheck",
    };
    let Some(run) = runs.iter().rfind(|run| run.speaks_for(purpose)) else {
        let hidden = |run: &&Run<'_>| run.sightings.iter().any(|sighting| sighting.purpose == purpose);
        let reason = match runs.iter().rfind(hidden) {
            Some(run) => {
                format!("No {kind} command counts: the exit status of {} does not tell how it went.", run.quoted())
            }
            None => format!("No {kind} command was seen."),
        };
        return Finding { name, passed: false, reason };
    };
    let outcome = match run.tool.result {
        ToolResult::Passed => "passed",
        ToolResult::Failed => "failed",
        ToolResult::Unfinished => "did not finish",
    };
    let passed = run.tool.result == ToolResult::Passed;
    Finding { name, passed, reason: format!("The last {kind} command, {}, {outcome}.", run.quoted()) }
}

fn errors_left(criteria: &StopCriteria, runs: &[Run<'_>], errors: &[String]) -> Finding {
    let reported = errors.iter().map(|error| {
        let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("the agent reported “{}”", text::cut(&text::without_controls(&error), QUOTED_CHARS, "…"))
    });
    let unrepaired = runs.iter().enumerate().filter_map(|(at, run)| {
        let later = runs.get(at + 1..).unwrap_or_default();
        let outcome = match run.tool.result {
            ToolResult::Passed => return None,
            ToolResult::Unfinished if is_repaired(run, later) => return None,
            ToolResult::Unfinished => "did not finish",
            ToolResult::Failed if !is_error(criteria, run, later) => return None,
            ToolResult::Failed => "failed",
        };
        Some(format!("{} {outcome}", run.quoted()))
    });
    let mut left: Vec<String> = Vec::new();
    for error in reported.chain(unrepaired) {
        if !left.contains(&error) {
            left.push(error);
        }
    }
    let Some(more) = left.len().checked_sub(1) else {
        return Finding { name: "errors", passed: true, reason: "No error is left.".to_owned() };
    };
    let verb = if more == 0 { "is" } else { "are" };
    let count = text::count(left.len() as u64, "error");
    let unnamed = left.len().saturating_sub(ERRORS_NAMED);
    left.truncate(ERRORS_NAMED);
    let rest = if unnamed == 0 { String::new() } else { format!("; and {unnamed} more") };
    Finding { name: "errors", passed: false, reason: format!("{count} {verb} left: {}{rest}.", left.join("; ")) }
}

/// Whether a failed run still counts as an error after all that followed it.
fn is_error(criteria: &StopCriteria, run: &Run<'_>, later: &[Run<'_>]) -> bool {
    if criteria.strict {
        return !is_run_again(run, later);
    }
    run.shown().next().is_some() && !is_repaired(run, later)
}

/// Whether the same line succeeded later or, for each purpose that it speaks for, the same program.
fn is_repaired(run: &Run<'_>, later: &[Run<'_>]) -> bool {
    let mended = |old: &Sighting| {
        let mut shown = passed(later).flat_map(Run::shown);
        shown.any(|new| new.purpose == old.purpose && new.program == old.program)
    };
    is_run_again(run, later) || (run.shown().next().is_some() && run.shown().all(mended))
}

/// Whether the same line succeeded later, or the same tool if it runs no line.
fn is_run_again(run: &Run<'_>, later: &[Run<'_>]) -> bool {
    passed(later).any(|other| match &run.line {
        Some(line) => other.line.as_ref() == Some(line),
        None => other.line.is_none() && other.tool.name == run.tool.name,
    })
}

fn passed<'a, 'b>(runs: &'a [Run<'b>]) -> impl Iterator<Item = &'a Run<'b>> {
    runs.iter().filter(|run| run.tool.result == ToolResult::Passed)
}
