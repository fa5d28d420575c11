//! What a text must be like beyond being text: the `format`s of the schema, by their names.

use super::problem::found;
use ralph_core::claim;
use ralph_core::guardrail::FailAction;
use serde_json::Value;
use std::path::{Component, Path};

/// Names that mean something in the task folder: a memory file of that name would end runs.
const TAKEN: [&str; 2] = ["DONE", "TASK-MESSAGE-BUS.md"];

/// The longest file name that the common file systems allow, in bytes.
const LONGEST_FILE_NAME: usize = 255;

/// Judges `text` by a format; `Err` says what was expected and what was found. A format that is not
/// listed here is about numbers, and their bounds stand in the schema.
pub(super) fn judge(format: &str, text: &str, dialects: &[&str]) -> Result<(), String> {
    let expected = |what: &str| Err(format!("expected {what}, found {}", found(&Value::from(text))));
    match format {
        "rust-regex" => regex(text),
        "file-name" if text.is_empty() || text == "." || text == ".." || text.contains(['/', '\\']) => {
            expected("the name of a file, without a folder")
        }
        "file-name" if TAKEN.iter().any(|taken| taken.eq_ignore_ascii_case(text)) => {
            expected("a name that has no other meaning in the task folder")
        }
        "file-name" if text.len() > LONGEST_FILE_NAME => {
            expected(&format!("a file name of at most {LONGEST_FILE_NAME} bytes"))
        }
        "variable" if text.is_empty() || text.contains('=') => {
            expected("the name of an environment variable, not empty and without `=`")
        }
        "fail-action" if FailAction::parse(text).is_none() => expected("APPEND, PREPEND or REPLACE"),
        "glob" => ralph_host::pins::judge_glob(text).map_err(|reason| format!("expected a glob: {reason}")),
        "folder" if !is_inside(text) => expected("a folder in the project, such as `coverage`"),
        "dialect" if !dialects.contains(&text) => expected(&format!("one of {}", dialects.join(", "))),
        "stream-format" if text != "text" && !dialects.contains(&text) => {
            expected(&format!("text or one of {}", dialects.join(", ")))
        }
        _ => Ok(()),
    }
}

/// Whether a path means a folder below the project's.
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components().filter(|part| *part != Component::CurDir).peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_))) && !path.contains('*')
}

fn regex(pattern: &str) -> Result<(), String> {
    let refused =
        |reason: &str| Err(format!("expected a regular expression, found {}: {reason}", found(&Value::from(pattern))));
    match claim::marker_regex(pattern) {
        // Such a marker stands in every output, even in an empty one.
        Ok(regex) if regex.is_match("") => refused("it matches the empty text, so any output would match"),
        Ok(_) => Ok(()),
        Err(error) => {
            // The engine draws its reason over several lines; the last one says it.
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            refused(last.trim_start_matches("error: "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &str, good: &[&str], bad: &[(&str, &str)]) {
        for text in good {
            assert_eq!(judge(format, text, &["claude", "codex"]), Ok(()), "{format} {text}");
        }
        for (text, reason) in bad {
            assert_eq!(judge(format, text, &["claude", "codex"]).unwrap_err(), *reason, "{format} {text}");
        }
    }

    #[test]
    fn regular_expressions() {
        check(
            "rust-regex",
            &["<ralph>COMPLETE</ralph>", "BLOCKED:(.*?)$", "(?i)done!"],
            &[
                ("(", r#"expected a regular expression, found "(": unclosed group"#),
                ("a{2", r#"expected a regular expression, found "a{2": unclosed counted repetition"#),
                (
                    "x*",
                    r#"expected a regular expression, found "x*": it matches the empty text, so any output would match"#,
                ),
            ],
        );
        assert!(judge("rust-regex", "(a{1000}){1000}", &[]).unwrap_err().contains("size limit"));
        assert!(judge("rust-regex", "", &[]).unwrap_err().contains("any output"));
    }

    #[test]
    fn globs() {
        let outside = |glob: &str| {
            format!("expected a glob: `{glob}` is outside; it is relative to the project, such as `tests/**`")
        };
        check(
            "glob",
            &["tests/**", "./tests", "tests/", "a..b/*", "**/*.snap"],
            &[
                ("/tests/**", &outside("/tests/**")),
                ("../x/tests/**", &outside("../x/tests/**")),
                ("tests/../src", &outside("tests/../src")),
            ],
        );
    }

    #[test]
    fn folders() {
        let inside = |found: &str| format!("expected a folder in the project, such as `coverage`, found \"{found}\"");
        check(
            "folder",
            &["coverage", "./a/b/", "a..b", "app/[id]"],
            &[".", "", "/tmp/x", "../x", "a/../../x", "reports/*"]
                .map(|bad| (bad, inside(bad)))
                .each_ref()
                .map(|(bad, why)| (*bad, why.as_str())),
        );
    }

    #[test]
    fn file_names() {
        let folder = |name: &str| format!("expected the name of a file, without a folder, found {name}");
        let taken = "expected a name that has no other meaning in the task folder, found \"done\"";
        check(
            "file-name",
            &["ralph-summary.md", "..x", "总结.md"],
            &[
                ("", &folder(r#""""#)),
                (".", &folder(r#"".""#)),
                ("..", &folder(r#""..""#)),
                ("a/b", &folder(r#""a/b""#)),
                (r"a\b", &folder(r#""a\\b""#)),
                ("done", taken),
            ],
        );
        assert!(judge("file-name", &"x".repeat(256), &[]).is_err());
    }

    #[test]
    fn names_of_variables_actions_and_dialects() {
        let variable = "expected the name of an environment variable, not empty and without `=`, found";
        check(
            "variable",
            &["PATH", "a b"],
            &[("", &format!("{variable} \"\"")), ("A=B", &format!("{variable} \"A=B\""))],
        );
        let action = "expected APPEND, PREPEND or REPLACE, found \"NOPE\"";
        check("fail-action", &["APPEND", "append", "Replace", "pRePend"], &[("NOPE", action)]);
        check("dialect", &["claude"], &[("cloud", "expected one of claude, codex, found \"cloud\"")]);
        let format = "expected text or one of claude, codex, found \"xml\"";
        check("stream-format", &["text", "codex"], &[("xml", format)]);
        check("uint32", &["anything"], &[]);
    }
}
