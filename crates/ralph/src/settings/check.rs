//! Judges settings: walks each file and the merged value beside the schema, and collects every problem. A value that a
//! flag or another file hides is wrong all the same: the next run would fail by it.

use super::formats;
use super::key_path::KeyPath;
use super::keys::Settings;
use super::layers::{Layers, Origin};
use super::problem::{Problem, SettingsError, found, found_kind};
use super::schema::{Child, Node};
use serde_json::{Map, Number, Value};

/// Where a key is missing if there is no file from which it could be.
const NO_FILE: &str = "no settings file";

const NO_AGENT: &str =
    "pass --agent NAME to `ralph run`, or write settings with `ralph init`, or try `ralph demo` to see it work";

const HIDDEN_ELSEWHERE: &str =
    "write hidden guardrails into the user's settings, ~/.config/ralph/settings.json; they are added to the project's";

/// Judges the merged settings and reads them into their type.
pub(super) fn check(layers: &Layers, schema: Node<'_>, dialects: &[&str]) -> Result<Settings, SettingsError> {
    let merged = layers.merged();
    let mut report = SettingsError::default();
    for file in layers.files() {
        let part = Part::OneFile { below: layers };
        let mut walk = Walk { layers: &file, dialects, path: KeyPath::default(), report, part };
        walk.value(schema, &file.alone());
        report = walk.report;
    }
    let mut walk = Walk { layers, dialects, path: KeyPath::default(), report, part: Part::AboveFiles };
    walk.value(schema, &merged);
    walk.file_names_differ(&merged);
    guardrails(layers, &mut walk.report);
    if walk.report.is_empty() {
        // Where the schema and the type disagree, the type is right and names the place as well.
        match serde_path_to_error::deserialize(&merged) {
            Ok(settings) => return Ok(settings),
            Err(error) => {
                walk.path = KeyPath::from(error.path());
                walk.problem(error.inner().to_string());
            }
        }
    }
    Err(walk.report)
}

/// Names that stand twice, and hidden guardrails where the agent can read them.
fn guardrails(layers: &Layers, report: &mut SettingsError) {
    let mut names: Vec<&str> = Vec::new();
    for (origin, place, guardrail) in layers.guardrails() {
        let mut problem = |key: &str, reason: String, hint: &str| {
            let told = Problem::with_file(&origin.to_string(), reason);
            report.add(told.at_key(format!("guardrails[{place}].{key}")).hinting(hint));
        };
        let name = guardrail.get("name").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty());
        if let Some(name) = name {
            if names.contains(&name) {
                problem("name", format!("expected a name of its own, found {} twice", found(&name.into())), "");
            }
            names.push(name);
        }
        if guardrail.get("hidden") == Some(&Value::Bool(true)) && !matches!(origin, Origin::User(_)) {
            problem("hidden", "expected false: the agent can read this file".to_owned(), HIDDEN_ELSEWHERE);
        }
    }
}

struct Walk<'a> {
    layers: &'a Layers,
    dialects: &'a [&'a str],
    path: KeyPath,
    report: SettingsError,
    part: Part<'a>,
}

#[derive(Clone, Copy)]
enum Part<'a> {
    /// What one file says, below all of these. What it leaves out another layer may say.
    OneFile { below: &'a Layers },
    /// What no file says, or all of them together.
    AboveFiles,
}

impl Walk<'_> {
    fn value(&mut self, node: Node<'_>, value: &Value) {
        match value {
            Value::Null if node.allows("null") => {}
            Value::Null if self.layers.origin(&self.path) == Origin::Defaults => self.missing(node),
            Value::Bool(_) if node.allows("boolean") => {}
            Value::Number(number) if node.allows("integer") || node.allows("number") => self.number(node, number),
            Value::String(text) if node.allows("string") => self.text(node, text),
            Value::Array(list) if node.allows("array") => self.list(node, list),
            Value::Object(map) if node.allows("object") => self.object(node, map),
            _ => self.unexpected(&node.expectation(), value),
        }
    }

    fn number(&mut self, node: Node<'_>, number: &Number) {
        let value = Value::Number(number.clone());
        let whole = number.is_u64() || number.is_i64();
        let bound = |keyword| node.get(keyword).and_then(Value::as_f64);
        // Beyond 2^53 a float is rounded, but never back across a bound, for the bounds are exact.
        let size = number.as_f64().unwrap_or(f64::NAN);
        if node.allows("integer") && !whole || bound("minimum").is_some_and(|minimum| size < minimum) {
            self.unexpected(&node.expectation(), &value);
        } else if bound("maximum").is_some_and(|maximum| size > maximum) {
            let maximum = node.get("maximum").map(Value::to_string).unwrap_or_default();
            self.unexpected(&format!("a number of at most {maximum}"), &value);
        }
    }

    fn text(&mut self, node: Node<'_>, text: &str) {
        let value = Value::from(text);
        let words = node.texts("enum");
        // No program takes a NUL in an argument, a variable or a path.
        if text.contains('\0') {
            self.unexpected("text without a NUL character", &value);
        } else if !words.is_empty() && !words.contains(&text)
            || node.get("minLength").is_some() && text.trim().is_empty()
        {
            self.unexpected(&node.expectation(), &value);
        } else if let Err(reason) = formats::judge(node.text("format"), text, self.dialects) {
            self.problem(reason);
        }
    }

    fn list(&mut self, node: Node<'_>, list: &[Value]) {
        let Some(items) = node.items() else { return };
        for (index, item) in list.iter().enumerate() {
            self.path.push_index(index);
            self.value(items, item);
            self.path.pop();
        }
    }

    fn object(&mut self, node: Node<'_>, map: &Map<String, Value>) {
        // Lists replace each other, so what is missing in one is missing.
        let complete = matches!(self.part, Part::AboveFiles) || self.path.is_in_a_list();
        for required in node.texts("required").into_iter().filter(|_| complete) {
            if !map.contains_key(required)
                && let Child::Known(child) = node.child(required)
            {
                self.path.push_key(required);
                self.missing(child);
                self.path.pop();
            }
        }
        let names = node.get("propertyNames").map(|names| Node(names).text("format")).unwrap_or_default();
        for (key, value) in map {
            self.path.push_key(key);
            let name = if key.contains('\0') {
                Err("expected a name without a NUL character".to_owned())
            } else {
                formats::judge(names, key, self.dialects)
            };
            match name {
                Err(reason) => self.problem(reason),
                // Unknown keys were dropped when the file was read.
                Ok(()) => {
                    if let Child::Known(child) = node.child(key) {
                        self.value(child, value);
                    }
                }
            }
            self.path.pop();
        }
    }

    /// Two memory files under one name would overwrite each other. Some file systems ignore case.
    fn file_names_differ(&mut self, merged: &Value) {
        let Some(memory) = merged.get("memory").and_then(Value::as_object) else { return };
        let names: Vec<(&String, String)> = memory
            .iter()
            .filter(|(key, _)| key.ends_with("FileName"))
            .filter_map(|(key, name)| Some((key, name.as_str()?.to_lowercase())))
            .collect();
        for (place, (key, name)) in names.iter().enumerate() {
            if let Some((other, _)) = names.iter().take(place).find(|(_, earlier)| earlier == name) {
                self.path = KeyPath::new(["memory", key.as_str()]);
                // Of two equal names, the one that somebody wrote is the one to change.
                if self.layers.origin(&self.path) == Origin::Defaults {
                    self.path = KeyPath::new(["memory", other.as_str()]);
                }
                self.problem(format!(
                    "expected three different file names, found {} twice",
                    found(&name.as_str().into())
                ));
            }
        }
        self.path = KeyPath::default();
    }

    fn missing(&mut self, node: Node<'_>) {
        self.problem(format!("is missing, expected {}", node.expectation()));
    }

    fn unexpected(&mut self, expected: &str, value: &Value) {
        // What stands in an environment may be a secret.
        let agents: [&[&str]; 3] = [&["agent", "env"], &["agents", "fallback"], &["plan", "review", "agent"]];
        let hidden = agents.iter().any(|keys| self.path.is_inside(keys));
        let found = if hidden { found_kind(value).to_owned() } else { found(value) };
        self.problem(format!("expected {expected}, found {found}"));
    }

    fn problem(&mut self, reason: String) {
        let place = match (self.layers.origin(&self.path), self.part) {
            // Told when that file was judged.
            (Origin::File(_), Part::AboveFiles) if !self.report.is_empty() => return,
            // A flag that says the same is told instead: `init` writes what its flags say.
            (Origin::File(_), Part::OneFile { below }) if below.repeats_by_flag(&self.path, self.layers) => return,
            (origin, _) => origin,
        };
        let place = match place {
            Origin::Defaults => self.layers.lowest_file().unwrap_or(NO_FILE).to_owned(),
            origin => origin.to_string(),
        };
        let key = self.path.to_string();
        let hint = if key == "agent.command" { NO_AGENT } else { "" };
        self.report.add(Problem::with_file(&place, reason).at_key(key).hinting(hint));
    }
}
