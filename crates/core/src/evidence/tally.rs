//! How many tests an output says were run.
//!
//! `cargo test no_such_test` succeeds, and so do `jest --passWithNoTests` and `go test` of a folder without tests:
//! the exit status proves nothing if no test ran. Each runner says so in words of its own, which stand here as
//! shapes of a line. One suite without tests is no matter as long as another one ran some, so numbers are added up
//! over the whole output; an output without any known line says nothing, and then the exit status decides, unless a runner
//! is known to have been called that always says it.

use super::report::{self, CARGO_TEST, LIBTEST_BEGINS, LIBTEST_ENDS, NODE_FILE, NODE_TEST, PLAINLY};
use super::words::is_one_of;
use crate::text;
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// What an output says about the number of tests that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestsRan {
    /// Nothing that is understood.
    #[default]
    Unsaid,
    /// None ran.
    None,
    /// At least one ran.
    Some,
}

impl TestsRan {
    /// Whether nothing is said.
    pub fn is_unsaid(&self) -> bool {
        *self == TestsRan::Unsaid
    }

    /// What a whole text says. Where something was left out of it, the tests may have run there.
    pub fn said_in(text: &str) -> TestsRan {
        let mut tally = Tally::default();
        tally.feed(text.as_bytes());
        match tally.finish() {
            TestsRan::None if text.contains("truncated") || text.contains("omitted") => TestsRan::Unsaid,
            said => said,
        }
    }
}

/// How a line of some shape is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// It says that no test ran.
    None,
    /// It says that a test ran.
    Some,
    /// Its numbers stand before their words: `5 passed, 2 skipped`.
    Before,
    /// Its numbers stand behind their words: `Tests run: 5, Skipped: 2`.
    Behind,
    /// It takes back tests that an earlier line counted.
    Less,
    /// A suite begins whose own words may be of any kind.
    Begins,
}

/// What may stand before a line's shape: blanks, the level of a log, the package that a monorepo's runner names.
const PREFIX: &str =
    r"^\s*(?:\[(?i:info|warn|warning|error)\]\s+|[\w@./-]+:[\w:.-]*test[\w:.-]*:\s+|[\w@./-]+ test[\w:.-]*:\s+)?";

/// The end of cargo's own suites, which answers a [`Says::Begins`].
const CARGO_RESULT: &str = "(?:test|Test|Suite) result: ";

#[rustfmt::skip]
const SHAPES: &[(Says, &str)] = &[
    // Most runners have a sentence for it.
    (Says::None, r"[=*\s]*(?i:(?:error|warning|info|testing: warning)?:? ?(?:there (?:are|were) )?(?:no|zero) (?:matching )?(?:tests?|specs?|examples?|scenarios?)(?: (?:files?|suites?|modules?|targets?|cases?|classes))? (?:were |was |is |are |have been |to be |to )?(?:run|ran|found|executed|match(?:ed|es)?|available|defined|collected|selected|specified)\b)"),
    (Says::None, r"(?i:all (?:tests|examples|specs) (?:were |have been )?(?:excluded|skipped|filtered))"),
    (Says::None, r"(?i:tests are skipped)"), (Says::None, r"Running 0 tests"), (Says::None, r"0 scenarios$"),
    (Says::None, r"Tests:?\s+no tests"), (Says::None, r"Result: NOTESTS"), (Says::None, r"1\.\.0\b"),
    (Says::None, r"g?make: Nothing to be done for ['`][\w-]*(?:test|check|spec|verify)[\w-]*'"),
    (Says::None, r"g?make: ['`][\w-]*(?:test|check|spec|verify)[\w-]*' is up to date"),
    // cargo, nextest, forge
    (Says::Before, CARGO_RESULT), (Says::Before, r"Summary \["),
    (Says::Begins, r"(?:Running .*\(.*[/\\]deps[/\\].*\)|Doc-tests \S+)$"),
    // pytest, unittest, Django, trial, bun, Clojure
    (Says::Before, r"=*\s*[0-9]+ (?:passed|failed|skipped|deselected|xfailed|xpassed|errors?|warnings?|rerun|tests? collected)\b.* in [0-9.]+"),
    // bun counts those that it left out, too.
    (Says::None, r"Ran [0-9]+ tests? across "),
    (Says::Before, r"Ran [0-9]+ tests?\b"), (Says::Less, r"(?:OK|PASSED) \(.*skip(?:ped|s)=[0-9]+"),
    // Jest, Vitest, Pest; Mocha, Cypress; Playwright, bun; Deno; AVA; web-test-runner; Jasmine, Ginkgo; Karma
    (Says::Before, r"Tests:?\s+[0-9]+ (?:passed|failed|skipped|todo|pending)"), (Says::Before, r"[0-9]+ passing\b"),
    (Says::Before, r"[0-9]+ (?:passed|pass|skipped)(?: \([0-9.]+ ?m?s?\))?$"), (Says::Before, r"(?:ok|FAILED) \| [0-9]+ passed"),
    (Says::Before, r"[0-9]+ tests? (?:passed|skipped)\b"), (Says::Before, r".*test files \| [0-9]+ passed"),
    (Says::Some, r"Ran [1-9][0-9]* of [0-9]+ [Ss]pecs"), (Says::None, r"Ran 0 of [0-9]+ [Ss]pecs"),
    (Says::Some, r".*\bExecuted [1-9][0-9]* of [0-9]+"), (Says::None, r".*\bExecuted 0 of [0-9]+"),
    // node --test, tape, TAP, prove
    (Says::Behind, r"(?:#|ℹ)\s+pass\s+[0-9]+$"), (Says::Some, r"ok [0-9]+\b[^#]*$"), (Says::Behind, r"Files=[0-9]+, Tests=[0-9]+"),
    // Go, gotestsum
    (Says::Some, r"ok\s+\S+\s+(?:\(cached\)|[0-9.]+s)(?:\s+coverage:.*)?\s*$"), (Says::None, r"ok\s+\S+\s.*\[no tests to run\]"),
    (Says::None, r"\?\s+\S+\s+\[no test files\]"), (Says::None, r"\S+\s+coverage: 0\.0% of statements"),
    (Says::Some, r"--- PASS: "), (Says::Some, r#"\{.*"Action":"pass".*"Test":"#), (Says::Before, r"DONE [0-9]+ tests?"),
    // Maven, Gradle, sbt, .NET
    (Says::Behind, r"Tests run: [0-9]+, Failures"), (Says::Behind, r"Passed: Total [0-9]+, Failed"), (Says::Behind, r"Total number of tests run: [0-9]+"),
    (Says::Some, r"> Task :(?:\S+:)?(?:\w*Test|test)(?: (?:UP-TO-DATE|FROM-CACHE|FAILED))?\s*$"),
    (Says::None, r"> Task :(?:\S+:)?(?:\w*Test|test) (?:NO-SOURCE|SKIPPED)"),
    (Says::Behind, r"(?:Passed|Failed|Skipped)!\s+- Failed:\s+[0-9]+, Passed:"), (Says::Behind, r"Test summary: total: [0-9]+"), (Says::Behind, r"Total tests: [0-9]+"),
    // RSpec, Minitest, ExUnit, Cucumber, behave, Robot, bats, Crystal; PHPUnit; busted; gleam
    (Says::Before, r"(?:[0-9]+ \w+, )*[0-9]+ (?:examples?|runs?|tests?|specs?|scenarios?)(?:,? \(?[0-9]+ | passed, [0-9]+ )"),
    (Says::Before, r"OK \([0-9]+ tests?, "), (Says::Behind, r"Tests: [0-9]+, Assertions: [0-9]+"), (Says::Before, r"[0-9]+ success(?:es)? / "), (Says::Before, r"[0-9]+ passed, no failures"),
    // CTest, GoogleTest, doctest, Catch2, Meson; Swift, Xcode; Dart; Zig, Tasty, EUnit; Bazel; Elm, uvu
    (Says::Some, r"[0-9]+% tests passed, [0-9]+ tests? failed out of [1-9]"), (Says::Before, r"\[\s*PASSED\s*\] [0-9]+ tests?"), (Says::Before, r"\[doctest\] test cases:"),
    (Says::Behind, r"Ok:\s+[0-9]+\s*$"), (Says::Before, r"Executed [0-9]+ tests?, with"), (Says::Before, r".{0,6}Test run with [0-9]+ tests?"),
    (Says::Some, r"(?:[0-9:]+ \+[1-9][0-9]*.*: )?All tests passed"), (Says::Before, r"All [0-9]+ tests? passed"),
    (Says::Some, r"Executed [0-9]+ out of [1-9][0-9]* tests?"), (Says::Behind, r"Passed:\s+[0-9]+$"),
];

// Without Unicode tables, which would make the shapes a hundred times as large.
static KNOWN: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    let shapes = SHAPES.iter().map(|(_, shape)| format!("^(?:{shape})"));
    RegexSetBuilder::new(shapes).unicode(false).build().ok()
});

static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| RegexBuilder::new(PREFIX).unicode(false).build().ok());

/// Words for tests that ran.
const RAN: &str = "passed|passing|pass|ok|success|successes|succeeded|measured|xfailed|xpassed";
/// Words for all tests, those among them that did not run included.
const ALL: &str =
    "test|tests|run|runs|example|examples|spec|specs|scenario|scenarios|doctest|doctests|property|properties";
/// Words for tests that did not run.
const NOT: &str =
    "skipped|skips|skip|pending|ignored|excluded|omissions|incomplete|todo|deselected|collected|filtered|invalid";

/// The longest line that a runner sums up with.
const LONGEST: usize = 400;

/// Adds up what the lines of an output say, in memory that does not depend on it.
#[derive(Debug, Default)]
pub struct Tally {
    /// The line that is being written, as far as it is looked at.
    line: Vec<u8>,
    said: bool,
    ran: i64,
    /// A line says that there was no test.
    none: bool,
    /// A line counts tests that failed.
    failed: bool,
    /// Suites that began and did not end with a line that is understood.
    open: i64,
    /// Runners that must say that tests ran.
    expected: Vec<Expected>,
}

/// A runner that is called, and what it said.
#[derive(Debug)]
struct Expected {
    name: &'static str,
    says: Option<Regex>,
    calls: i64,
    said: i64,
    /// Whatever began within it, and did not end.
    broken: i64,
}

impl Expected {
    fn new(runner: &'static report::Runner) -> Expected {
        let says = pattern(&format!("(?:{}|{PLAINLY})", runner.says));
        Expected { name: runner.name, says, calls: 1, said: 0, broken: 0 }
    }

    fn read(&mut self, line: &str) {
        let fits =
            |shape: &LazyLock<Option<Regex>>| shape.as_ref().is_some_and(|shape| shape.is_match(line.as_bytes()));
        let begins = self.name == CARGO_TEST && fits(&BEGINS);
        let ends = self.name == CARGO_TEST && fits(&ENDS);
        let is_file = self.name == NODE_TEST && fits(&FILE);
        self.broken += i64::from(begins || is_file) - i64::from(ends && self.broken > 0);
        let says = self.says.as_ref().is_none_or(|says| says.is_match(line.as_bytes()));
        // Words that libtest cuts short are not its own.
        self.said += i64::from(says && (self.name != CARGO_TEST || ends || !line.starts_with("test result")));
    }

    /// Whether some call of it ended without a word.
    const fn is_silent(&self) -> bool {
        self.said < self.calls || self.broken > 0
    }
}

static FAILED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shape = r"\b[1-9][0-9]* (?:failed|failing|failures?|errors?)\b|(?:Failures|Failed|Errors): *[1-9]";
    RegexBuilder::new(shape).unicode(false).build().ok()
});
static BEGINS: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(LIBTEST_BEGINS));
static ENDS: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(LIBTEST_ENDS));
static FILE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(NODE_FILE));

fn pattern(shape: &str) -> Option<Regex> {
    RegexBuilder::new(&format!("^(?:{shape})")).unicode(false).build().ok()
}

impl Tally {
    /// One that wants to hear of each call of these runners that tests ran.
    pub fn expecting(mut self, runners: &[String]) -> Tally {
        for runner in runners.iter().filter_map(|name| report::by_name(name)) {
            match self.expected.iter_mut().find(|known| known.name == runner.name) {
                Some(known) => known.calls += 1,
                None => self.expected.push(Expected::new(runner)),
            }
        }
        self
    }

    /// Takes the next piece of the output.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        // A progress line that is written over itself ends with a carriage return.
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let (line, tail) = rest.split_at(end);
            self.keep(line);
            self.end_line();
            rest = tail.get(1..).unwrap_or_default();
        }
        self.keep(rest);
    }

    fn keep(&mut self, piece: &[u8]) {
        // One byte more than is looked at shows that the line is too long.
        let room = (LONGEST + 1).saturating_sub(self.line.len()).min(piece.len());
        self.line.extend_from_slice(piece.get(..room).unwrap_or_default());
    }

    fn end_line(&mut self) {
        if !self.line.is_empty() && self.line.len() <= LONGEST {
            let line = text::without_controls(&String::from_utf8_lossy(&self.line));
            self.read(line.trim_end());
        }
        self.line.clear();
    }

    fn read(&mut self, line: &str) {
        let (Some(known), Some(before)) = (KNOWN.as_ref(), BEFORE.as_ref()) else { return };
        let prefix = before.find(line.as_bytes()).map_or(0, |found| found.end());
        let line = line.get(prefix..).unwrap_or_default();
        self.expected.iter_mut().for_each(|runner| runner.read(line));
        // The first shape that fits decides: one line is counted once.
        let fits = known.matches(line.as_bytes()).iter().next();
        let Some(&(says, shape)) = fits.and_then(|at| SHAPES.get(at)) else { return };
        self.said |= says != Says::Begins;
        self.none |= says == Says::None;
        self.failed |= FAILED.as_ref().is_some_and(|failed| failed.is_match(line.as_bytes()));
        self.open -= i64::from(shape == CARGO_RESULT);
        self.ran += match says {
            Says::None => 0,
            Says::Some => 1,
            Says::Before => tests(line, true).max(0),
            Says::Behind => tests(line, false).max(0),
            Says::Less => tests(line, false).min(0),
            Says::Begins => {
                self.open += 1;
                0
            }
        };
    }

    /// Whether the output of a check that failed says that there was no test: none passed, and none failed.
    pub fn found_none(&mut self) -> bool {
        self.end_line();
        self.none && self.ran <= 0 && !self.failed
    }

    /// What the output said.
    pub fn finish(mut self) -> TestsRan {
        self.end_line();
        if self.expected.iter().any(Expected::is_silent) {
            return TestsRan::None;
        }
        match (self.said, self.ran > 0) {
            (_, true) => TestsRan::Some,
            // A suite with a harness of its own, as cargo allows, says it in words of its own.
            (true, false) if self.open <= 0 => TestsRan::None,
            _ => TestsRan::Unsaid,
        }
    }
}

/// The tests that ran, by the numbers of a line.
fn tests(line: &str, number_first: bool) -> i64 {
    let words: Vec<&str> = line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let (mut ran, mut all, mut not) = (None, 0_i64, 0_i64);
    for (at, word) in words.iter().enumerate() {
        let Ok(number) = word.parse::<u32>() else { continue };
        let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map(|word| word.to_ascii_lowercase());
        let said = word(if number_first { at.checked_add(1) } else { at.checked_sub(1) }).unwrap_or_default();
        // `3 tests skipped`
        let further = word(at.checked_add(2)).filter(|_| number_first && is_one_of(&said, ALL)).unwrap_or_default();
        let number = i64::from(number);
        if is_one_of(&said, NOT) || is_one_of(&further, NOT) {
            not += number;
        } else if is_one_of(&said, RAN) {
            ran = Some(ran.unwrap_or(0) + number);
        } else if is_one_of(&said, ALL) {
            all += number;
        }
    }
    ran.unwrap_or(all - not)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_failed_without_any_test_is_told_from_one_whose_tests_failed() {
        for (output, expected) in [
            ("no tests ran in 0.01s\n", true),
            ("No tests found, exiting with code 1\n", true),
            ("No test files found, exiting with code 1\n", true),
            ("1 failed in 0.02s\n", false),
            ("no tests ran in 0.01s\n1 error in 0.02s\n", false),
            ("2 passed in 0.02s\nno tests ran in 0.01s\n", false),
            ("make: *** [Makefile:2: test] Error 1\n", false),
        ] {
            let mut tally = Tally::default();
            tally.feed(output.as_bytes());
            assert_eq!(tally.found_none(), expected, "{output}");
        }
    }

    /// What real runners print, and what it says.
    #[rustfmt::skip]
    const OUTPUTS: &[(TestsRan, &str)] = &[
        // cargo
        (TestsRan::None, "     Running unittests src/lib.rs (target/debug/deps/a-1)\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n"),
        (TestsRan::None, "running 2 tests\ntest a ... ignored\ntest b ... ignored\n\ntest result: ok. 0 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out"),
        (TestsRan::Some, "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored\n   Doc-tests a\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n"),
        (TestsRan::Some, "test result: ok. 0 passed; 0 failed; 0 ignored; 4 measured; 0 filtered out"),
        (TestsRan::Unsaid, "     Running tests/own.rs (target/debug/deps/own-1)\nall is fine\n   Doc-tests a\ntest result: ok. 0 passed; 0 failed\n"),
        (TestsRan::None, "    Starting 0 tests across 1 binary\n     Summary [   0.002s] 0 tests run: 0 passed, 5 skipped\nerror: no tests to run\n"),
        (TestsRan::Some, "     Summary [   0.002s] 5 tests run: 5 passed, 2 skipped\n"),
        // Python
        (TestsRan::None, "collected 0 items\n\n============ no tests ran in 0.01s ============\n"),
        (TestsRan::None, "============ 3 deselected in 0.01s ============"), (TestsRan::None, "3 skipped, 1 warning in 0.02s\n"),
        (TestsRan::None, "<Function test_a>\n\n==== 3 tests collected in 0.01s ===="), (TestsRan::Some, "2 passed, 3 skipped in 1.10s"),
        (TestsRan::Some, "\u{1b}[32m==== \u{1b}[32m\u{1b}[1m2 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m\u{1b}[32m ====\u{1b}[0m"), (TestsRan::Some, "1 xfailed in 0.02s"),
        (TestsRan::None, "\n----\nRan 0 tests in 0.000s\n\nOK\n"), (TestsRan::None, "Ran 0 tests in 0.000s\n\nNO TESTS RAN"),
        (TestsRan::None, "sss\n----\nRan 3 tests in 0.000s\n\nOK (skipped=3)"), (TestsRan::Some, "Ran 3 tests in 0.000s\n\nOK (skipped=2)"),
        (TestsRan::None, "Found 0 test(s).\nRan 0 tests in 0.000s\n\nOK"),
        // JavaScript
        (TestsRan::None, "No tests found, exiting with code 0\n"), (TestsRan::None, "Test Suites: 1 skipped, 0 of 1 total\nTests:       3 skipped, 3 total\nSnapshots:   0 total"),
        (TestsRan::Some, "Test Suites: 2 passed, 2 total\nTests:       1 skipped, 4 passed, 5 total\n"), (TestsRan::None, "No test files found, exiting with code 0"),
        (TestsRan::None, " Test Files  1 skipped (1)\n      Tests  3 skipped (3)\n"), (TestsRan::Some, "      Tests  5 passed | 1 skipped (6)\n"),
        (TestsRan::None, "\n  0 passing (1ms)\n"), (TestsRan::Some, "\n  2 passing (9ms)\n  1 pending\n"), (TestsRan::None, "  3 skipped\n"), (TestsRan::Some, "  1 skipped\n  5 passed (1.2s)\n"),
        (TestsRan::None, "\u{2139} tests 0\n\u{2139} pass 0\n\u{2139} fail 0"), (TestsRan::Some, "# tests 2\n# pass  2"), (TestsRan::None, "ok 1 - a # SKIP\n1..1\n# pass 0"),
        (TestsRan::None, " 0 pass\n 3 filtered out\n 0 fail\nRan 0 tests across 1 file. [8.00ms]"), (TestsRan::Some, " 5 pass\n 0 fail\nRan 5 tests across 1 file."),
        (TestsRan::None, "ok | 0 passed | 0 failed | 3 filtered out (2ms)"), (TestsRan::Some, "ok | 3 passed | 0 failed (2ms)"), (TestsRan::None, "error: No test modules found"),
        (TestsRan::Some, "Executed 0 of 2\rExecuted 2 of 2 SUCCESS\r"), (TestsRan::None, "Chrome: Executed 0 of 0 SUCCESS"), (TestsRan::None, "Ran 0 of 5 specs"), (TestsRan::Some, "5 specs, 0 failures"),
        (TestsRan::Some, "api:test: No tests found, exiting with code 0\nweb:test:       Tests  5 passed (5)\n"), (TestsRan::None, "packages/a test: No test files found, exiting with code 0\n"),
        // Go
        (TestsRan::None, "?   \texample.com/a\t[no test files]\n"), (TestsRan::None, "testing: warning: no tests to run\nPASS\nok  \texample.com/a\t0.002s [no tests to run]\n"),
        (TestsRan::Some, "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t(cached)\n"), (TestsRan::Some, "ok  \texample.com/b\t0.004s\tcoverage: 71.4% of statements\n"),
        (TestsRan::None, "\texample.com/a\t\tcoverage: 0.0% of statements\n"), (TestsRan::None, "DONE 0 tests in 0.1s"), (TestsRan::Some, "DONE 5 tests, 1 skipped in 0.1s"),
        // JVM, .NET
        (TestsRan::None, "[INFO] No tests to run."), (TestsRan::None, "[INFO] Tests are skipped."), (TestsRan::None, "[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 3"),
        (TestsRan::Some, "[INFO] No tests to run.\n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1"), (TestsRan::None, "> Task :compileTestJava NO-SOURCE\n> Task :test NO-SOURCE\n"),
        (TestsRan::Some, "> Task :a:test NO-SOURCE\n> Task :b:test\n"), (TestsRan::Some, "> Task :test UP-TO-DATE"), (TestsRan::Unsaid, "> Task :compileTestJava\n> Task :testClasses\n"),
        (TestsRan::None, "No test matches the given testcase filter `x` in /a/b.dll"), (TestsRan::None, "No test is available in /a/b.dll."), (TestsRan::None, "Skipped!  - Failed:     0, Passed:     0, Skipped:     3, Total:     3"),
        (TestsRan::Some, "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5"), (TestsRan::None, "Test summary: total: 0, failed: 0, succeeded: 0, skipped: 0"),
        (TestsRan::None, "[info] Total number of tests run: 0"), (TestsRan::Some, "[info] Passed: Total 5, Failed 0, Errors 0, Passed 5"),
        // Ruby, PHP, Elixir, C++, Swift, Dart and others
        (TestsRan::None, "No examples found.\n\n0 examples, 0 failures"), (TestsRan::None, "All examples were filtered out\n0 examples, 0 failures"), (TestsRan::Some, "5 examples, 0 failures, 1 pending"),
        (TestsRan::None, "3 examples, 0 failures, 3 pending"), (TestsRan::None, "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips"), (TestsRan::Some, "2 runs, 4 assertions, 0 failures, 0 errors, 0 skips"),
        (TestsRan::None, " 0 pass\n 4 skip\n 0 fail\nRan 4 tests across 1 file. [5.00ms]"), (TestsRan::Some, " 4 pass\n 0 fail\nRan 4 tests across 1 file."),
        (TestsRan::None, "make: 'test' is up to date."), (TestsRan::None, "make: Nothing to be done for 'check'."), (TestsRan::Unsaid, "make: 'lib.a' is up to date.\nall well"),
        (TestsRan::None, "No tests executed!"), (TestsRan::Some, "OK (5 tests, 7 assertions)"), (TestsRan::None, "OK, but some tests were skipped!\nTests: 3, Assertions: 0, Skipped: 3."),
        (TestsRan::None, "There are no tests to run"), (TestsRan::Some, "3 doctests, 2 tests, 0 failures, 1 excluded"), (TestsRan::None, "2 tests, 0 failures, 2 excluded"),
        (TestsRan::None, "No tests were found!!!"), (TestsRan::Some, "100% tests passed, 0 tests failed out of 5"), (TestsRan::None, "[  PASSED  ] 0 tests."), (TestsRan::Some, "[  PASSED  ] 2 tests."),
        (TestsRan::None, "Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.000) seconds"), (TestsRan::None, "Executed 3 tests, with 3 tests skipped and 0 failures"),
        (TestsRan::Some, "Executed 0 tests, with 0 failures\n\u{2714} Test run with 2 tests passed after 0.001 seconds."), (TestsRan::None, "No tests ran."), (TestsRan::Some, "00:01 +5: All tests passed!"),
        (TestsRan::None, "0 successes / 0 failures / 0 errors / 0 pending"), (TestsRan::None, "1..0"), (TestsRan::Some, "1..2\nok 1 a\nok 2 b"), (TestsRan::Some, "3 scenarios (3 passed)"), (TestsRan::None, "0 scenarios"),
        (TestsRan::Some, "3 scenarios passed, 0 failed, 0 skipped"), (TestsRan::None, "0 scenarios passed, 0 failed, 3 skipped"), (TestsRan::None, "All 0 tests passed."), (TestsRan::Some, "Executed 0 out of 2 tests: 2 tests pass."),
        // What no runner said.
        (TestsRan::Unsaid, ""), (TestsRan::Unsaid, "all good\n"), (TestsRan::Unsaid, "No test failures found\n"), (TestsRan::Unsaid, "I found 0 tests in the folder"), (TestsRan::Unsaid, "0 errors, 0 warnings"),
    ];

    #[test]
    fn outputs_say_how_many_tests_ran() {
        let wrong: Vec<_> = OUTPUTS.iter().filter(|(said, output)| TestsRan::said_in(output) != *said).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn an_output_says_the_same_in_whatever_pieces_it_comes() {
        for (said, output) in OUTPUTS {
            let mut tally = Tally::default();
            output.as_bytes().iter().for_each(|byte| tally.feed(std::slice::from_ref(byte)));
            assert_eq!(tally.finish(), *said, "{output}");
        }
    }

    #[test]
    fn a_long_line_is_not_kept_and_says_nothing() {
        let mut tally = Tally::default();
        for _ in 0..1000 {
            tally.feed(&[b'0'; 1000]);
            assert!(tally.line.capacity() <= 4 * LONGEST);
        }
        tally.feed(b"\nRan 0 tests\n");
        assert_eq!(tally.finish(), TestsRan::None);
    }

    #[test]
    fn a_line_that_is_longer_than_any_summary_says_nothing_however_it_begins() {
        let ran_none = |length: usize| format!("Ran 0 tests{}", " ".repeat(length - "Ran 0 tests".len()));
        assert_eq!(TestsRan::said_in(&ran_none(LONGEST)), TestsRan::None);
        assert_eq!(TestsRan::said_in(&ran_none(LONGEST + 1)), TestsRan::Unsaid);
    }

    #[test]
    fn what_an_output_said_outlives_the_journal_and_silence_takes_no_room_there() {
        use crate::observation::{ToolResult, ToolRun};
        let run = |tests| ToolRun { name: "Bash".to_owned(), command: None, result: ToolResult::Passed, tests };
        for tests in [TestsRan::Unsaid, TestsRan::None, TestsRan::Some] {
            let text = serde_json::to_string(&run(tests)).unwrap_or_default();
            assert_eq!(text.contains("tests"), tests != TestsRan::Unsaid, "{text}");
            assert_eq!(serde_json::from_str::<ToolRun>(&text).ok(), Some(run(tests)));
        }
    }

    #[test]
    fn a_runner_that_ends_without_its_own_words_ran_no_test() {
        const RESULT: &str =
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let after = |text: &str| format!("running 2 tests\n{text}");
        for (runner, output, ran) in [
            ("pytest", "", TestsRan::None),
            ("pytest", "all is well\n", TestsRan::None),
            ("pytest", "..   [100%]\n2 passed in 0.01s\n", TestsRan::Some),
            ("pytest", "==== 1 failed, 2 passed, 1 warning in 0.01s ====\n", TestsRan::Some),
            ("pytest", "Results (0.04s):\n       2 passed\n", TestsRan::Some),
            ("pytest", "3 skipped in 0.02s\n", TestsRan::None),
            ("unittest", "import failed quietly\n", TestsRan::None),
            ("unittest", ".\n----\nRan 1 test in 0.000s\n\nOK\n", TestsRan::Some),
            ("jest", "  console.log\n    jest: process.exit called with \"0\"\n", TestsRan::None),
            ("jest", "Tests:       1 skipped, 4 passed, 5 total\n", TestsRan::Some),
            ("vitest", "      Tests  5 passed | 1 skipped (6)\n", TestsRan::Some),
            ("mocha", "", TestsRan::None),
            ("mocha", "\n  2 passing (9ms)\n", TestsRan::Some),
            ("cargo test", "running 2 tests\n", TestsRan::None),
            ("cargo test", &after("test result: ok. 2 passed; 0 failed; 0 ignored\n"), TestsRan::None),
            ("cargo test", &after(RESULT), TestsRan::Some),
            ("cargo test", &after(&format!("{RESULT}running 1 test\n")), TestsRan::None),
            ("node:test", "ok 1 - small\n# tests 1\n# pass 1\n", TestsRan::Some),
            ("node:test", "ok 1 - /p/test/add.test.js\n# tests 1\n# pass 1\n", TestsRan::None),
            ("node:test", "ok 1\nok 2\nok 3\n", TestsRan::None),
            ("node:test", "ok 1 - lib/add.js\n# tests 1\n# pass 1\n", TestsRan::Some),
            ("node:test", "\u{2714} test/add.test.mjs (40.1ms)\n\u{2139} tests 1\n\u{2139} pass 1\n", TestsRan::None),
            ("prove", "t/a.t .. ok\nAll tests successful.\nFiles=1, Tests=2,  0 wallclock secs\n", TestsRan::Some),
            ("phpunit", "OK (5 tests, 7 assertions)\n", TestsRan::Some),
            ("rspec", "5 examples, 0 failures\n", TestsRan::Some),
            ("nextest", "     Summary [   0.002s] 5 tests run: 5 passed, 2 skipped\n", TestsRan::Some),
        ] {
            let mut tally = Tally::default().expecting(&[runner.to_owned()]);
            tally.feed(output.as_bytes());
            assert_eq!(tally.finish(), ran, "{runner}: {output}");
        }
    }

    #[test]
    fn each_call_of_a_runner_must_say_it() {
        for (output, ran) in
            [("2 passed in 1s\n", TestsRan::None), ("2 passed in 1s\n1 passed in 1s\n", TestsRan::Some)]
        {
            let mut tally = Tally::default().expecting(&["pytest".to_owned(), "pytest".to_owned()]);
            tally.feed(output.as_bytes());
            assert_eq!(tally.finish(), ran, "{output}");
        }
    }

    #[test]
    fn an_output_with_something_left_out_does_not_say_that_nothing_ran() {
        assert_eq!(TestsRan::said_in("Ran 0 tests\n... [12 lines truncated] ...\n"), TestsRan::Unsaid);
    }
}
