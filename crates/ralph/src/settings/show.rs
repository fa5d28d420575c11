//! Settings as `config show` prints them: what there is, right or wrong, with secrets covered.

use super::Loaded;
use super::key_path::KeyPath;
use ralph_core::text;
use serde_json::{Map, Value};

const COVERED: &str = "(hidden)";

/// Words in the name of a variable that make its value a secret.
const SECRET_WORDS: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH"];

impl Loaded {
    /// The merged settings with defaults, for programs; values of secret variables and hidden guardrails are covered.
    pub fn show_json(&self) -> Value {
        let mut merged = self.layers.merged();
        for agent in ["/agent", "/plan/review/agent"] {
            merged.pointer_mut(agent).into_iter().for_each(cover_secrets);
        }
        let fallback = merged.pointer_mut("/agents/fallback").and_then(Value::as_array_mut);
        fallback.into_iter().flatten().for_each(cover_secrets);
        let guardrails = merged.get_mut("guardrails").and_then(Value::as_array_mut);
        for guardrail in guardrails.into_iter().flatten().filter_map(Value::as_object_mut) {
            // Agents may ask for the settings too.
            if guardrail.get("hidden") == Some(&Value::Bool(true)) {
                guardrail.insert("command".to_owned(), Value::from(COVERED));
            }
        }
        merged
    }

    /// The same with `origins` beside it: where the value of each key comes from. No setting has that name.
    pub fn show_json_with_origin(&self) -> Value {
        let mut merged = self.show_json();
        let mut origins = Map::new();
        each_leaf(&merged, &mut KeyPath::default(), &mut |path, _| {
            origins.insert(path.to_string(), Value::from(self.layers.told_origin(path)));
        });
        if let Value::Object(merged) = &mut merged {
            merged.insert("origins".to_owned(), Value::Object(origins));
        }
        merged
    }

    /// The merged settings for people: as JSON, or one line a value, `key = value  # origin`. A list is one value.
    pub fn show(&self, with_origin: bool) -> String {
        if !with_origin {
            // `{:#}` of a JSON value is the pretty form, and formatting a value cannot fail.
            return text::for_terminal(&format!("{:#}", self.show_json()));
        }
        let mut lines = Vec::new();
        each_leaf(&self.show_json(), &mut KeyPath::default(), &mut |path, value| {
            lines.push(text::for_terminal(&format!("{path} = {value}  # {}", self.layers.told_origin(path))));
        });
        lines.join("\n")
    }

    /// SHA-256 of the merged settings. The order of keys does not matter.
    pub fn hash(&self) -> String {
        let mut merged = self.layers.merged();
        merged.sort_all_objects();
        text::hash(merged.to_string().as_bytes())
    }
}

/// Covers the values of secret variables in the environment of an agent.
fn cover_secrets(agent: &mut Value) {
    let Some(Value::Object(env)) = agent.get_mut("env") else { return };
    for (name, value) in env {
        let name = name.to_uppercase();
        if SECRET_WORDS.iter().any(|word| name.contains(word)) {
            *value = Value::from(COVERED);
        }
    }
}

fn each_leaf(value: &Value, path: &mut KeyPath, visit: &mut impl FnMut(&KeyPath, &Value)) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                path.push_key(key);
                each_leaf(value, path, visit);
                path.pop();
            }
        }
        value => visit(path, value),
    }
}

#[cfg(test)]
mod tests {
    use super::super::layers::Origin;
    use super::*;
    use serde_json::json;

    fn loaded(value: Value) -> Loaded {
        let mut loaded = Loaded::default();
        loaded.layers.add(Origin::File("f"), value);
        loaded
    }

    #[test]
    fn each_value_is_shown_with_its_origin() {
        let mut loaded = loaded(json!({"agent": {"command": "c", "flags": ["a"]}, "sandbox": {"mode": "x"}}));
        loaded.layers.add(Origin::Flag("--maximum-iterations"), json!({"maximumIterations": 3}));
        let shown = loaded.show(true);
        for line in [
            "maximumIterations = 3  # flag --maximum-iterations",
            "completionResponse = \"DONE\"  # defaults",
            "agent.command = \"c\"  # f",
            "agent.flags = [\"a\"]  # f",
            "agent.env = {}  # defaults",
            "guardrails = null  # defaults",
            "loop.stopCriteria.requireNoErrors = true  # defaults",
            "sandbox.mode = \"x\"  # f",
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
        }
        assert!(loaded.show(false).starts_with("{\n  \"maximumIterations\": 3,\n"));
        let mut told = loaded.show_json_with_origin();
        let origins = told.as_object_mut().and_then(|told| told.remove("origins")).unwrap();
        assert_eq!(told, loaded.show_json(), "the settings stand where they stand without origins");
        assert_eq!(origins.as_object().unwrap().len(), shown.lines().count());
        for (key, origin) in [
            ("maximumIterations", "flag --maximum-iterations"),
            ("agent.command", "f"),
            ("loop.stopCriteria.requireNoErrors", "defaults"),
        ] {
            assert_eq!(origins[key], origin, "{key}");
        }
    }

    #[test]
    fn secrets_are_covered_and_count_for_the_hash() {
        let one = loaded(json!({"agent": {"env": {"API_KEY": "s3cret", "github_token": "s3cret", "LANG": "C"}}}));
        let two = loaded(json!({"agent": {"env": {"API_KEY": "other", "github_token": "s3cret", "LANG": "C"}}}));
        assert_eq!(one.show_json()["agent"]["env"], json!({"API_KEY": COVERED, "github_token": COVERED, "LANG": "C"}));
        assert!(!one.show(true).contains("s3cret") && !one.show(false).contains("s3cret"));
        assert_ne!(one.hash(), two.hash());
    }

    #[test]
    fn the_hash_does_not_depend_on_the_order_of_keys() {
        let one = loaded(json!({"agent": {"command": "c", "env": {"A": "1", "B": "2"}}, "tasks": {"x": {}, "y": {}}}));
        let two = loaded(json!({"tasks": {"y": {}, "x": {}}, "agent": {"env": {"B": "2", "A": "1"}, "command": "c"}}));
        assert_eq!(one.hash(), two.hash());
        assert_eq!(one.hash().len(), 64);
        assert_ne!(one.hash(), loaded(json!({})).hash());
    }
}
