//! Runners whose report always says how many tests ran.
//!
//! The code under test can end its runner: `os._exit(0)` or `process.exit(0)` in a source, and the exit status says that
//! all is well although no test ran to its end. A runner of this table that ends without its own words did not run.

use super::command::matches;
use super::words::{is_idle, is_one_of};

/// A runner, and the words of its report.
#[derive(Debug)]
pub(crate) struct Runner {
    /// By what it is kept.
    pub(crate) name: &'static str,
    /// The command, as in the tables of commands.
    command: &'static str,
    /// Options with which it says something else, or nothing.
    unless: &'static str,
    /// A word of its configuration with which it may say something else.
    pub(crate) unless_configured: &'static str,
    /// The line that says that at least one test ran.
    pub(super) says: &'static str,
}

/// Tests of node without a reporter of their own, each in a file that uses `node:test`.
pub(crate) const NODE_TEST: &str = "node:test";
/// cargo with the harness of the standard library.
pub(super) const CARGO_TEST: &str = "cargo test";

#[rustfmt::skip]
const RUNNERS: &[Runner] = &[
    Runner { name: "pytest", command: "pytest|py.test", unless: "--no-summary|no:terminal", unless_configured: "addopts",
        says: r"[=\s]*(?:[0-9]+ \w+, )*[1-9][0-9]* (?:passed|xfailed|xpassed)\b" },
    Runner { name: "unittest", command: "unittest", unless: "", unless_configured: "", says: r"Ran [1-9][0-9]* tests?\b" },
    Runner { name: NODE_TEST, command: "node --test", unless: "--test-reporter|--test-reporter-destination|--watch",
        unless_configured: "", says: r"(?:#|ℹ) pass [1-9]" },
    Runner { name: "jest", command: "jest", unless: "--reporters|--json|--outputFile|--coverageReporters", unless_configured: "reporters",
        says: r"Tests:\s.*[1-9][0-9]* passed" },
    Runner { name: "vitest", command: "vitest run", unless: "--reporter", unless_configured: "reporter", says: r"Tests\s.*[1-9][0-9]* passed" },
    Runner { name: "mocha", command: "mocha", unless: "--reporter|-R|-O|--reporter-option|--reporter-options", unless_configured: "reporter",
        says: r"[1-9][0-9]* passing\b" },
    Runner { name: CARGO_TEST, command: "cargo test|t", unless: "--message-format|--format|-Z|--bench|--benches|--doc|--examples",
        unless_configured: "", says: r"test result: ok\. (?:[1-9][0-9]* passed|0 passed; 0 failed; [0-9]+ ignored; [1-9][0-9]* measured)" },
    Runner { name: "nextest", command: "cargo nextest run|r", unless: "--message-format", unless_configured: "",
        says: r"Summary \[.*\]\s+[1-9][0-9]* tests? run" },
    Runner { name: "prove", command: "prove", unless: "-Q|--QUIET|--formatter", unless_configured: "formatter", says: r"Files=[0-9]+, Tests=[1-9]" },
    Runner { name: "phpunit", command: "phpunit", unless: "--no-output|--no-results|--teamcity|--printer", unless_configured: "printer",
        says: r"OK \([1-9][0-9]* tests?, |Tests: [1-9][0-9]*, Assertions" },
    Runner { name: "rspec", command: "rspec", unless: "-f|--format|-o|--out", unless_configured: "--format", says: r"[1-9][0-9]* examples?, 0 failures" },
];

/// What a runner of any of these names may say as well: plugins change the rest of a summary, and never that.
pub(super) const PLAINLY: &str = r"[1-9][0-9]* (?i:passed)\b";

/// The end of a binary of libtest, in all its words.
pub(super) const LIBTEST_ENDS: &str =
    r"test result: (?:ok|FAILED)\. [0-9]+ passed; [0-9]+ failed; [0-9]+ ignored; [0-9]+ measured; [0-9]+ filtered out";
/// Its beginning.
pub(super) const LIBTEST_BEGINS: &str = r"running [1-9][0-9]* tests?$";

/// What node says of a file with tests that ended well and ran none. Suites are often named by a file that they try.
pub(super) const NODE_FILE: &str = r"(?:ok [0-9]+ - |✔ )\S*(?:[._-](?:test|spec)\.|[/\\]tests?[/\\]\S*\.|[/\\]test-\S*\.)[cm]?[jt]sx?(?: \([0-9.]+m?s\))?$";

/// The runner of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Runner> {
    RUNNERS.iter().find(|runner| runner.name == name)
}

/// The runner that a command is, if its report says how many tests ran.
pub(crate) fn reporting(program: &str, args: &[String]) -> Option<&'static Runner> {
    let runner = RUNNERS.iter().find(|runner| matches(runner.command, program, args).is_some())?;
    let changes = |arg: &String| {
        let option = arg.split('=').next().unwrap_or_default();
        is_one_of(option, runner.unless) || arg.contains('\0')
    };
    let is_quiet = runner.name == "pytest" && args.iter().map(|arg| quiet(arg)).sum::<usize>() > 1;
    (!is_quiet && !args.iter().any(changes) && !is_idle(program, args)).then_some(runner)
}

/// How much quieter an argument makes pytest: the second time it sums up nothing.
fn quiet(arg: &str) -> usize {
    match arg.strip_prefix('-').filter(|letters| !letters.starts_with('-')) {
        Some(letters) => letters.chars().take_while(|letter| letter.is_ascii_lowercase()).filter(|c| *c == 'q').count(),
        None => usize::from(arg == "--quiet"),
    }
}
