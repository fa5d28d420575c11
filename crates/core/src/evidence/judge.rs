//! The stop criteria, judged on the tool runs of one iteration.
//!
//! The last command of a kind decides, because an agent may well break things before it mends them.
//! A failure that was repaired later is no error; one that nobody looked at again is.

use super::{Extra, Purpose, TestsRan, shell::Sighting, sightings};
use crate::observation::{ToolResult, ToolRun};
use crate::policy::StopCriteria;
use crate::text;
use serde::{Deserialize, Serialize};

/// What became of one required criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub criterion: Criterion,
    pub passed: bool,
    /// One sentence for people and for the next prompt.
    pub reason: String,
}

/// What can be required of the agent's tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Criterion {
    /// The last command of this purpose passed.
    LastOf(Purpose),
    /// No error is left.
    NoErrors,
}

impl Criterion {
    /// The word as it stands in JSON and for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Criterion::LastOf(Purpose::Test) => "tests",
            Criterion::LastOf(Purpose::Lint) => "lint",
            Criterion::LastOf(Purpose::Typecheck) => "typecheck",
            Criterion::NoErrors => "errors",
        }
    }
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
        (criteria.passing_tests, Purpose::Test),
        (criteria.lint, Purpose::Lint),
        (criteria.typecheck, Purpose::Typecheck),
    ];
    let required = kinds.into_iter().filter(|(required, _)| *required);
    let mut findings: Vec<Finding> = required.map(|(_, purpose)| last_of_a_kind(purpose, &runs)).collect();
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

    /// Whether it succeeded without having run a test: for tests that is no success.
    fn is_empty(&self) -> bool {
        self.tool.result == ToolResult::Passed && self.tool.tests == TestsRan::None && self.speaks_for(Purpose::Test)
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

fn last_of_a_kind(purpose: Purpose, runs: &[Run<'_>]) -> Finding {
    let criterion = Criterion::LastOf(purpose);
    let kind = match purpose {
        Purpose::Test => "test",
        Purpose::Lint => "lint",
        Purpose::Typecheck => "typecheck",
    };
    let Some(run) = runs.iter().rfind(|run| run.speaks_for(purpose)) else {
        let hidden = |run: &&Run<'_>| run.sightings.iter().any(|sighting| sighting.purpose == purpose);
        let reason = match runs.iter().rfind(hidden) {
            Some(run) => {
                format!(
                    "No {kind} command counts: the exit status of {} does not tell how it went; run it alone.",
                    run.quoted()
                )
            }
            None => format!("No {kind} command was seen."),
        };
        return Finding { criterion, passed: false, reason };
    };
    let empty = purpose == Purpose::Test && run.is_empty();
    let outcome = match run.tool.result {
        ToolResult::Passed if empty => "ran no test",
        ToolResult::Passed => "passed",
        ToolResult::Failed => "failed",
        ToolResult::Unfinished => "did not finish",
        ToolResult::CouldNotRun => "could not run",
    };
    let passed = run.tool.result == ToolResult::Passed && !empty;
    Finding { criterion, passed, reason: format!("The last {kind} command, {}, {outcome}.", run.quoted()) }
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
            ToolResult::CouldNotRun if has_gone_on(criteria, run, later) => return None,
            ToolResult::CouldNotRun => "could not run",
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
        return Finding { criterion: Criterion::NoErrors, passed: true, reason: "No error is left.".to_owned() };
    };
    let verb = if more == 0 { "is" } else { "are" };
    let count = text::count(left.len() as u64, "error");
    let unnamed = left.len().saturating_sub(ERRORS_NAMED);
    left.truncate(ERRORS_NAMED);
    let rest = if unnamed == 0 { String::new() } else { format!("; and {unnamed} more") };
    let reason = format!("{count} {verb} left: {}{rest}.", left.join("; "));
    Finding { criterion: Criterion::NoErrors, passed: false, reason }
}

/// Whether a failed run still counts as an error after all that followed it.
fn is_error(criteria: &StopCriteria, run: &Run<'_>, later: &[Run<'_>]) -> bool {
    if criteria.strict {
        return !is_run_again(run, later);
    }
    run.shown().next().is_some() && !is_repaired(run, later)
}

/// Whether what could not run is an error no more. Of a program that is not installed an agent may well
/// try another one, so it is enough that the same tool has run well since; of tests, lint and typecheck it
/// is not, nor in strict mode.
fn has_gone_on(criteria: &StopCriteria, run: &Run<'_>, later: &[Run<'_>]) -> bool {
    if criteria.strict {
        return is_run_again(run, later);
    }
    if run.shown().next().is_some() {
        return is_repaired(run, later);
    }
    passed(later).any(|other| other.tool.name == run.tool.name)
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
    runs.iter().filter(|run| run.tool.result == ToolResult::Passed && !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `npm test: failed`, or a tool's name in brackets: `[Read]: failed`.
    fn runs(lines: &[&str]) -> Vec<ToolRun> {
        let run = |line: &&str| {
            let (what, result) = line.rsplit_once(": ").unwrap_or((line, "passed"));
            let tests = if result == "no test" { TestsRan::None } else { TestsRan::Unsaid };
            let tool = what.strip_prefix('[').and_then(|what| what.strip_suffix(']'));
            let result = match result {
                "failed" => ToolResult::Failed,
                "unfinished" => ToolResult::Unfinished,
                "could not run" => ToolResult::CouldNotRun,
                _ => ToolResult::Passed,
            };
            let command = tool.is_none().then(|| what.to_owned());
            ToolRun { name: tool.unwrap_or("Bash").to_owned(), command, result, tests }
        };
        lines.iter().map(run).collect()
    }

    const NONE: StopCriteria =
        StopCriteria { passing_tests: false, lint: false, typecheck: false, no_errors: false, strict: false };

    #[test]
    fn the_last_command_of_a_kind_decides() {
        let criteria = StopCriteria { passing_tests: true, ..NONE };
        for (lines, passed, reason) in [
            (&["npm test"] as &[&str], true, "The last test command, `npm test`, passed."),
            (&["npm test: failed", "npm test"], true, "The last test command, `npm test`, passed."),
            (&["npm test", "pytest: failed"], false, "The last test command, `pytest`, failed."),
            (&["npm test", "npm  test\n: unfinished"], false, "The last test command, `npm test`, did not finish."),
            (
                &["npm test", "npm test | tail: failed", "ls: failed"],
                true,
                "The last test command, `npm test`, passed.",
            ),
            (&["cd x && npm test: failed"], false, "The last test command, `cd x && npm test`, failed."),
            (&["npm test", "npm test: could not run"], false, "The last test command, `npm test`, could not run."),
            (&["npm run lint", "[Read]"], false, "No test command was seen."),
            (&["npm test", "npm test -- x: no test"], false, "The last test command, `npm test -- x`, ran no test."),
            (&["npm test -- x: no test", "npm test"], true, "The last test command, `npm test`, passed."),
            (
                &["npm test | tail"],
                false,
                "No test command counts: the exit status of `npm test | tail` does not tell how it went; run it alone.",
            ),
        ] {
            let expected = Finding { criterion: Criterion::LastOf(Purpose::Test), passed, reason: reason.to_owned() };
            assert_eq!(judge(&criteria, &runs(lines), &[]), [expected], "{lines:?}");
        }
    }

    #[test]
    fn there_is_one_finding_for_each_required_criterion() {
        assert_eq!(judge(&NONE, &runs(&["npm test: failed"]), &["boom".to_owned()]), []);
        let all = StopCriteria { passing_tests: true, lint: true, typecheck: true, no_errors: true, strict: false };
        let found = judge(&all, &runs(&["npm test && eslint .", "tsc: failed"]), &[]);
        let verdicts: Vec<_> = found.iter().map(|finding| (finding.criterion.as_str(), finding.passed)).collect();
        assert_eq!(verdicts, [("tests", true), ("lint", true), ("typecheck", false), ("errors", false)]);
    }

    #[test]
    fn a_repaired_failure_is_no_error() {
        let criteria = StopCriteria { no_errors: true, ..NONE };
        let strict = StopCriteria { strict: true, ..criteria.clone() };
        for (lines, passes, passes_strictly) in [
            (&["npm test"] as &[&str], true, true),
            (&["npm test: failed"], false, false),
            (&["npm test: failed", "npm  test "], true, true),
            (&["npm test", "npm test: failed"], false, false),
            (&["npm test: failed", "npm test: no test"], false, false),
            (&["npm test -- x: no test"], true, true),
            (&["npm run lint: failed", "npm run lint: no test"], true, true),
            (&["npm run test:unit: failed", "npm test"], true, false),
            (&["npm test: failed", "npm run lint"], false, false),
            (&["npm test: failed", "npx vitest run"], false, false),
            (&["npm test: failed", "npm test || true"], false, false),
            (&["npm run lint && npm test: failed", "npm test"], false, false),
            (&["npm run lint && npm test: failed", "npm test", "npm run lint"], true, false),
            (&["npm test: unfinished", "npm test"], true, true),
            (&["sleep 9: unfinished"], false, false),
            (&["[Task]: unfinished"], false, false),
            (&["[Task]: unfinished", "[Task]"], true, true),
            (&["grep x y: failed"], true, false),
            (&["grep x y: failed", "grep x y"], true, true),
            (&["npm test ': failed"], true, false),
            (&["rg x: could not run"], false, false),
            (&["rg x: could not run", "grep x y"], true, false),
            (&["rg x: could not run", "[Read]"], false, false),
            (&["rg x: could not run", "rg x"], true, true),
            (&["npm test: could not run", "ls"], false, false),
            (&["npm test: could not run", "npm test"], true, true),
            (&["npx vitest run: could not run", "npm test"], false, false),
            (&["[Read]: failed"], true, false),
            (&["[Read]: failed", "[Read]"], true, true),
            (&["[Read]: failed", "[Write]"], true, false),
        ] {
            let passed = |criteria| judge(criteria, &runs(lines), &[]).iter().all(|finding| finding.passed);
            assert_eq!((passed(&criteria), passed(&strict)), (passes, passes_strictly), "{lines:?}");
        }
    }

    #[test]
    fn errors_are_named_and_counted() {
        let criteria = StopCriteria { no_errors: true, strict: true, ..NONE };
        let reason = |lines: &[&str], errors: &[&str]| {
            let errors: Vec<String> = errors.iter().map(|&error| error.to_owned()).collect();
            judge(&criteria, &runs(lines), &errors).pop().map(|finding| finding.reason).unwrap_or_default()
        };
        assert_eq!(reason(&[], &[]), "No error is left.");
        assert_eq!(reason(&["a: failed", "a: failed"], &[]), "1 error is left: `a` failed.");
        assert_eq!(
            reason(&["a: failed", "b: unfinished", "c: failed"], &["over\u{1b}[31mloaded\n529"]),
            "4 errors are left: the agent reported “overloaded 529”; `a` failed; `b` did not finish; and 1 more."
        );
        assert!(reason(&[&format!("{}: failed", "x".repeat(5000))], &[]).len() < 200);
    }
}
