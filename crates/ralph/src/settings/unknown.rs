//! Unknown keys: each is told with the nearest known one and dropped, so that it is neither shown, judged nor hashed.

use super::key_path::KeyPath;
use super::schema::{self, Child, Key, Node};
use ralph_core::text;
use serde_json::Value;

/// The most warnings told of one file; whoever has more of them has some other file there.
const MOST_TOLD: usize = 20;

/// Drops the unknown keys from the content of `file` and returns a warning for each.
pub(super) fn drop_unknown(file: &str, value: &mut Value, schema: Node<'_>) -> Vec<String> {
    let mut search =
        Search { file, known: schema::keys(schema, ""), path: KeyPath::default(), warnings: vec![], found: 0 };
    search.visit(schema, value);
    if search.found > MOST_TOLD {
        search.warnings.push(format!("{file}: {} more unknown keys are ignored", search.found - MOST_TOLD));
    }
    search.warnings
}

struct Search<'a> {
    file: &'a str,
    known: Vec<Key<'a>>,
    path: KeyPath,
    warnings: Vec<String>,
    found: usize,
}

impl Search<'_> {
    fn visit(&mut self, node: Node<'_>, value: &mut Value) {
        match value {
            Value::Object(map) => map.retain(|key, value| {
                self.path.push_key(key);
                let child = node.child(key);
                match child {
                    Child::Known(child) => self.visit(child, value),
                    Child::Free => {}
                    Child::Unknown => self.warn(node, key),
                }
                self.path.pop();
                !matches!(child, Child::Unknown)
            }),
            Value::Array(list) => {
                let Some(items) = node.items() else { return };
                for (index, item) in list.iter_mut().enumerate() {
                    self.path.push_index(index);
                    self.visit(items, item);
                    self.path.pop();
                }
            }
            _ => {}
        }
    }

    fn warn(&mut self, section: Node<'_>, key: &str) {
        self.found += 1;
        if self.found > MOST_TOLD {
            return;
        }
        let advice = match self.nearest(section, key) {
            Some(known) => format!("; did you mean `{known}`?"),
            None => String::new(),
        };
        self.warnings.push(format!("{}: unknown key `{}` is ignored{advice}", self.file, self.path));
    }

    /// The known key that was probably meant: the same word in this section, then the same word
    /// elsewhere, then a similar word in this section, then a very similar one elsewhere.
    fn nearest(&self, section: Node<'_>, key: &str) -> Option<String> {
        let here: Vec<&str> = section.properties().map(|(name, _)| name).collect();
        let in_section = |name: &str| {
            let mut path = self.path.clone();
            path.pop();
            path.push_key(name);
            path.to_string()
        };
        let same_here = here.iter().find(|name| plain(name) == plain(key)).copied();
        // Somebody may also have written `"agent.command": …` in one word.
        let same_elsewhere = || self.known.iter().find(|known| plain(known.name) == plain(key) || known.path == key);
        let similar_here = || most_similar(key, here.iter().copied(), 0.6);
        let similar_elsewhere = || {
            let name = most_similar(key, self.known.iter().map(|known| known.name), 0.8)?;
            self.known.iter().find(|known| known.name == name)
        };
        same_here
            .map(in_section)
            .or_else(|| same_elsewhere().map(|known| known.path.clone()))
            .or_else(|| similar_here().map(in_section))
            .or_else(|| similar_elsewhere().map(|known| known.path.clone()))
    }
}

/// A key without what other styles of writing would change.
fn plain(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

fn most_similar<'a>(key: &str, names: impl Iterator<Item = &'a str>, least: f64) -> Option<&'a str> {
    // Comparing costs the product of the lengths, and no known key is longer than this.
    let key = plain(&text::cut(key, 40, ""));
    let scored = names.map(|name| (strsim::normalized_damerau_levenshtein(&key, &plain(name)), name));
    let best = scored.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(score, _)| *score >= least).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn warnings(mut value: Value) -> (Vec<String>, Value) {
        let schema = schema::schema();
        let warnings = drop_unknown("f", &mut value, Node(&schema));
        (warnings, value)
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        for (value, key, meant) in [
            (json!({"maximumIteration": 1}), "maximumIteration", Some("maximumIterations")),
            (json!({"maximum_iterations": 1}), "maximum_iterations", Some("maximumIterations")),
            (json!({"maxIterations": 1}), "maxIterations", Some("maximumIterations")),
            (json!({"agent": {"comand": "x"}}), "agent.comand", Some("agent.command")),
            (json!({"agent": {"Flags": []}}), "agent.Flags", Some("agent.flags")),
            (
                json!({"guardrails": [{}, {"failaction": 1}]}),
                "guardrails[1].failaction",
                Some("guardrails[1].failAction"),
            ),
            (json!({"guardrails": [{"timeout": 1}]}), "guardrails[0].timeout", Some("guardrails[0].timeoutMs")),
            (json!({"maxWallTimeMs": 1}), "maxWallTimeMs", Some("loop.maxWallTimeMs")),
            (json!({"loop": {"maximumIterations": 1}}), "loop.maximumIterations", Some("maximumIterations")),
            (json!({"loop": {"requireLint": true}}), "loop.requireLint", Some("loop.stopCriteria.requireLint")),
            (json!({"command": "x"}), "command", Some("agent.command")),
            (json!({"agent.command": "x"}), r#"["agent.command"]"#, Some("agent.command")),
            (json!({"tasks": {"a": {"enable": true}}}), "tasks.a.enable", Some("tasks.a.enabled")),
            (json!({"gaurdrails": []}), "gaurdrails", Some("guardrails")),
            (json!({"idleTimeout": 1}), "idleTimeout", Some("loop.idleTimeoutMs")),
            (json!({"xyzzy": 1}), "xyzzy", None),
        ] {
            let advice = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            assert_eq!(warnings(value).0, [format!("f: unknown key `{key}` is ignored{advice}")]);
        }
    }

    #[test]
    fn known_keys_free_names_and_unread_sections_give_no_warning() {
        let value = json!({
            "$schema": "s", "agent": {"env": {"ANY": "x"}}, "tasks": {"any-name": {"enabled": true}},
            "verify": {"baseline": true}, "protect": {"paths": ["x"]}, "plan": {"review": {"agent": {"env": {"ANY": "x"}}}}, "pipeline": {"a": 1},
            "sandbox": {"mode": "x"}, "agents": {"fallback": ["x", {"env": {"ANY": "x"}}]}, "notify": {"a": 1}, "scm": "wrong, but not unknown"
        });
        assert_eq!(warnings(value.clone()), (vec![], value));
    }

    #[test]
    fn unknown_keys_are_dropped_and_their_warnings_bounded() {
        let mut value = json!({"maximumIterations": 3});
        for n in 0..1000 {
            value[format!("key{n}")] = json!(n);
        }
        let (warnings, value) = warnings(value);
        assert_eq!(value, json!({"maximumIterations": 3}));
        assert_eq!(warnings.len(), MOST_TOLD + 1);
        assert_eq!(warnings.last().map(String::as_str), Some("f: 980 more unknown keys are ignored"));
    }
}
