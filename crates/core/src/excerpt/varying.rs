//! What differs between two runs of the same failing command: durations, times, addresses, ids, temporary paths, places
//! in files. Small numbers stay: three failures are not two, and exit code 1 is not 2.

use regex::{Captures, Regex};
use std::sync::LazyLock;

pub(super) fn without(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match VARYING.as_ref() {
        Some(varying) => varying.replace_all(&line, stand_in).into_owned(),
        None => line,
    }
}

/// A place keeps its file: an error that moved to another file is another one.
fn stand_in(found: &Captures<'_>) -> String {
    found.name("file").map_or_else(|| "~".to_owned(), |file| format!("{}:~", file.as_str()))
}

/// Longer forms stand before those that they begin with.
static VARYING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&[
        // Dates and times: 2027-01-15T08:00:00.123Z, 08:00:00.
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?",
        r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?",
        // Paths that are new in every run.
        r#"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm|proc)/[^\s'"`:,;)\]]+"#,
        r#"(?i:[A-Z]:\\[^\s'"]*\\Temp\\[^\s'"]+)"#,
        // Identifiers and addresses.
        r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
        r"\b0x[0-9a-fA-F]+",
        r"\b[0-9a-f]{8,}\b",
        // Places in files.
        r"(?P<file>[\w.\-/\\]+\.[A-Za-z]{1,5}):\d+(?::\d+)?",
        r"\b(?i:line|column|col) \d+(?:, (?i:column|col) \d+)?",
        // Durations, sizes, rates.
        r"\b\d+(?:\.\d+)? ?(?:ns|\u{b5}s|us|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b(?: ?\d+(?:\.\d+)?(?:ms|s|m)\b)*",
        r"\b\d+(?:\.\d+)? ?(?:[KMG]i?B|[kmg]b|bytes)(?:/s)?\b",
        // Numbers that name something, or that nobody counts to.
        r"(?i:\b(?:pid|process|thread|port|seed|worker|tid|job)[ =:#]+\d+)",
        r"\(\d{3,}\)",
        r"\b\d+\.\d{2,}\b",
        r"\b\d{5,}\b",
    ]
    .join("|"))
    .ok()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_taken_out() {
        for (one, other) in [
            ("test result: FAILED. 1 failed; finished in 0.03s", "test result: FAILED. 1 failed; finished in 12.41s"),
            ("FAIL in 1m 3s", "FAIL in 2m 59s"),
            ("[2027-01-15T08:00:00.123Z] error x", "[2027-01-16T09:10:11Z] error x"),
            ("08:00:01 error x", "17:59:59.999 error x"),
            ("error in /tmp/build-a8f/x.o: bad", "error in /tmp/build-77/x.o: bad"),
            ("open /private/var/folders/ab/T/x1: no such file", "open /var/folders/zz/T/y: no such file"),
            ("object at 0x7f001122", "object at 0xdeadbeef"),
            ("id 6f1d7a52-1111-4222-8333-444455556666", "id 00000000-aaaa-4bbb-8ccc-ddddeeeeffff"),
            ("commit a1b2c3d4e5f6 failed", "commit 1234567890abcdef failed"),
            ("src/lib.rs:12:5: error: x", "src/lib.rs:40:9: error: x"),
            ("File \"a.py\", line 3, in f: error", "File \"a.py\", line 99, in f: error"),
            ("thread 'main' (4711) panicked", "thread 'main' (2345) panicked"),
            ("process 77 failed", "process 9321 failed"),
            ("connect 127.0.0.1:54321 refused", "connect 127.0.0.1:40001 refused"),
            ("failed  with\terror", "failed with error"),
            ("failed after 3 KiB, 1.5 MB/s", "failed after 9 KiB, 2.5 MB/s"),
        ] {
            assert_eq!(without(one), without(other));
        }
    }

    #[test]
    fn what_tells_two_failures_apart_stays() {
        for (one, other) in [
            ("3 failed, 2 passed", "2 failed, 3 passed"),
            ("src/a.rs:1:1: error: x", "src/b.rs:1:1: error: x"),
            ("expected 3, got 4", "expected 3, got 5"),
            ("exit code 1", "exit code 2"),
            ("error[E0308]: x", "error[E0425]: x"),
            ("cannot find added", "cannot find decade"),
            ("test parse_1 failed", "test parse_2 failed"),
        ] {
            assert_ne!(without(one), without(other));
        }
    }
}
