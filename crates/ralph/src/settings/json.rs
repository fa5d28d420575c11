//! JSON as settings want it: plain, and with every key only once, because readers differ in which of two they take.
//! Syntax errors show the line they are about.

use super::key_path::KeyPath;
use super::problem::Problem;
use ralph_core::text;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Number, Value};
use std::fmt;

/// What a syntax error always hints at, because these three are what people try.
const PLAIN: &str = "settings are plain JSON: no comments, no trailing commas, keys and text in double quotes";
const EMPTY: &str = "write {} into the file, or remove it";

/// Reads the text of `file`. The problem, if there is one, names line and column.
pub(super) fn parse(file: &str, text: &str) -> Result<Value, Box<Problem>> {
    if text.trim().is_empty() {
        return Err(Box::new(Problem::with_file(file, "syntax error: the file is empty").hinting(EMPTY)));
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let read: Result<Once, _> = serde_path_to_error::deserialize(&mut json);
    let (error, path) = match read {
        Ok(Once(value)) => match json.end() {
            Ok(()) => return Ok(value),
            Err(error) => (error, KeyPath::default()),
        },
        Err(error) => {
            let path = KeyPath::from(error.path());
            (error.into_inner(), path)
        }
    };
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
    let problem = match error.classify() {
        // The only error of this kind is the one that `Once` raises itself.
        Category::Data => {
            Problem::with_file(file, format!("{message} (line {line}, column {column})")).at_key(path.to_string())
        }
        _ => {
            Problem::with_file(file, format!("syntax error at line {line}, column {column}: {message}")).hinting(PLAIN)
        }
    };
    Err(Box::new(Problem { excerpt: excerpt(text, line, column), ..problem }))
}

/// How much of a line is shown on each side of the caret: together less than a terminal is wide.
const AROUND: usize = 36;

/// The line in question and a caret below the column; both count from 1, the column in bytes.
fn excerpt(text: &str, line: usize, column: usize) -> String {
    let Some(whole) = text.lines().nth(line.saturating_sub(1)) else { return String::new() };
    let at = whole.floor_char_boundary(column.saturating_sub(1));
    let (before, after) = whole.split_at_checked(at).unwrap_or((whole, ""));
    // One column for each character, so that the caret stands where it should.
    let clean = |part: &str| text::for_terminal(&part.replace('\t', " "));
    let before: Vec<char> = clean(before).chars().collect();
    let shown: String = before.iter().skip(before.len().saturating_sub(AROUND)).collect();
    let left = if before.len() > AROUND { "…" } else { "" };
    let caret = " ".repeat(left.chars().count() + before.len().min(AROUND));
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    format!("  {number} | {left}{shown}{}\n  {margin} | {caret}^", text::cut(&clean(after), AROUND, "…"))
}

/// A value in which every key stands once.
struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Once, D::Error> {
        deserializer.deserialize_any(OnceVisitor).map(Once)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Once(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{}` stands twice", KeyPath::new([key.as_str()]))));
            }
            let Once(value) = object.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> Problem {
        *parse("f", text).unwrap_err()
    }

    #[test]
    fn syntax_errors_name_line_and_column_and_show_them() {
        for (text, reason) in [
            ("{bad}", "syntax error at line 1, column 2: key must be a string"),
            ("nope", "syntax error at line 1, column 2: expected ident"),
            ("{\n  \"a\": 1,\n}", "syntax error at line 3, column 1: trailing comma"),
            ("{\n  // no\n  \"a\": 1\n}", "syntax error at line 2, column 3: key must be a string"),
            ("{\"a\": 1} x", "syntax error at line 1, column 10: trailing characters"),
            ("{\"a\": 'x'}", "syntax error at line 1, column 7: expected value"),
            ("{\"a\": 1e999}", "syntax error at line 1, column 11: number out of range"),
            ("{\"a\": ", "syntax error at line 1, column 6: EOF while parsing a value"),
        ] {
            let problem = problem(text);
            assert_eq!(problem.reason, reason, "{text}");
            assert_eq!(problem.hint, PLAIN, "{text}");
        }
        assert_eq!(problem("{\n  \"a\": 1,\n}").excerpt, "  3 | }\n    | ^");
        assert_eq!(problem("{\"ä\":\t'x'}").excerpt, "  1 | {\"ä\": 'x'}\n    |       ^");
        assert_eq!(problem(" \n").hint, EMPTY);
        assert!(problem(&"[".repeat(1000)).reason.contains("recursion limit exceeded"));
    }

    #[test]
    fn excerpts_of_long_lines_stay_short() {
        let text = format!("{{\"a\": \"{}\", x, \"{}\"}}", "y".repeat(5000), "z".repeat(5000));
        let excerpt = problem(&text).excerpt;
        let mut lines = excerpt.lines();
        let (shown, caret) = (lines.next().unwrap(), lines.next().unwrap());
        assert!(shown.chars().count() < 90, "{shown}");
        assert_eq!(shown.chars().nth(caret.chars().count() - 1), Some('x'));
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_with_its_place() {
        let problem = problem(r#"{"agent": {"command": "a", "command": "b"}}"#);
        assert_eq!(problem.key, "agent");
        assert_eq!(problem.reason, "the key `command` stands twice (line 1, column 36)");
    }

    #[test]
    fn values_come_through_unchanged() {
        let text = r#"{"b": [1, -2, 2.5, "x", null, true], "a": {"c": {}}}"#;
        assert_eq!(parse("f", text).unwrap().to_string(), text.replace(": ", ":").replace(", ", ","));
    }
}
