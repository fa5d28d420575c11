//! Which lines of an output look like errors. Generous with what fails and strict with what says that nothing failed: a
//! wrong line costs a little room, a missed one the reason.

use regex::bytes::Regex;
use std::sync::LazyLock;

pub(super) fn looks_like_an_error(line: &[u8]) -> bool {
    SIGNS.as_ref().is_some_and(|signs| signs.is_match(line))
        && (COUNTED.as_ref().is_some_and(|counted| counted.is_match(line))
            || !HARMLESS.as_ref().is_some_and(|harmless| harmless.is_match(line)))
}

/// Where in these lines the first sign of an error is.
pub(super) fn find(lines: &[u8]) -> Option<usize> {
    SIGNS.as_ref().and_then(|signs| signs.find(lines)).map(|found| found.start())
}

/// Words and forms with which compilers, test programs and shells tell a failure.
static SIGNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?m-u)(?i:\b(?:errors?|fail(?:ed|ure|ures|s)?|fatal|panicked|exception|traceback|expected|assert(?:ion)?",
        r"|undefined|unresolved|cannot|can't|could not|not found|no such|denied|refused|timed out|segmentation fault",
        r"|core dumped|aborted|killed|unexpected|invalid|mismatch(?:ed)?|missing)\b)",
        // AssertionError, TypeError, NullPointerException, KeyError: the name ends with it.
        r"|[a-z](?:Error|Exception)\b",
        // error[E0308], TS2304, E501: the codes of compilers and linters.
        r"|\b(?:TS|E|F|W)[0-9]{3,5}\b",
        // src/lib.rs:12:5, tests/test_a.py:12: the place of something.
        r"|[[:alnum:]_\-]\.[[:alpha:]]{1,5}:[0-9]+(?::[0-9]+)?\b",
        // What test programs draw before a test that failed, and pytest before what it found.
        "|^[ \\t]*(?:\u{2717}|\u{2718}|\u{d7}|\u{25cf}|\u{274c}|E  |not ok\\b|--- FAIL|>> )",
    ))
    .ok()
});

/// A number of failures that is not zero, whatever else the line says.
static COUNTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)(?i:\b[1-9][0-9]* (?:tests? )?(?:failed|failures?|errors?|problems?)\b)").ok());

/// Lines that have such a word and tell of nothing bad.
static HARMLESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u)(?i:\b(?:0|no) (?:tests? )?(?:errors?|failed|failures?|problems?|issues?)\b)",
        r"|(?:errors?|failed|failures?)(?::|=) ?0\b",
        r"|\.\.\. ?(?:ok|ignored)$|\bPASS(?:ED)?\b|^\s*(?:ok|PASS)\b",
        "|^\\s*(?:\u{2713}|\u{2714}|\u{221a}|\u{2705})",
        r"|^\s*(?:Compiling|Checking|Downloaded|Downloading|Installing|Running|Finished|Fetching|Building) ",
    ))
    .ok()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_from_what_only_speaks_of_them() {
        for (looks, line) in [
            (true, "error[E0308]: mismatched types"),
            (true, "  --> src/lib.rs:12:5"),
            (true, "thread 'main' panicked at src/main.rs:3:5:"),
            (true, "test tests::adds ... FAILED"),
            (true, "test result: FAILED. 3 passed; 1 failed; 0 ignored"),
            (true, "E       AssertionError: assert 1 == 2"),
            (true, "FAILED tests/test_a.py::test_b - ValueError: x"),
            (true, "src/a.ts(3,5): error TS2304: Cannot find name 'x'."),
            (true, "  ✗ adds numbers"),
            (true, "  ● sums › adds"),
            (true, "    Expected: 3"),
            (true, "sh: 1: eslint: not found"),
            (true, "npm ERR! code ELIFECYCLE\nnpm error Missing script"),
            (true, "--- FAIL: TestAdd (0.00s)"),
            (true, "a.go:4:2: undefined: x"),
            (true, "Segmentation fault (core dumped)"),
            (true, "java.lang.NullPointerException"),
            (true, "Tests: 1 failed, 0 errors"),
            (true, "Process finished: 0 errors, 2 failures"),
            (true, "./a.py:1:1: E501 line too long"),
            (false, ""),
            (false, "running 5 tests"),
            (false, "test error_handling::works ... ok"),
            (false, "test result: ok. 5 passed; 0 failed; 0 ignored"),
            (false, "   Compiling thiserror v2.0.17"),
            (false, "   Compiling error-chain v0.12"),
            (false, "tests/test_error.py::test_fails PASSED [ 50%]"),
            (false, "  ✓ fails on invalid input (3 ms)"),
            (false, "Found 0 errors."),
            (false, "no problems found"),
            (false, "errors: 0, warnings: 3"),
            (false, "ok 3 - refuses an invalid name"),
            (false, "Done in 3.21s."),
        ] {
            assert_eq!(looks_like_an_error(line.as_bytes()), looks, "{line}");
        }
    }
}
