//! Layers of settings: defaults, then the user's file and the project's two, then flags. Objects merge, everything else
//! replaces what lies below, but for the user's guardrails, which no project takes away. Each layer keeps its own value, so that the origin of any value can be told.

use super::key_path::{KeyPath, Step};
use super::keys::Settings;
use serde_json::{Map, Value};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    Defaults,
    /// The user's own file, by its path.
    User(String),
    /// A file of the project, by its path from the root.
    File(&'static str),
    /// A flag, as it is typed.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Defaults => f.write_str("defaults"),
            Origin::User(file) => f.write_str(file),
            Origin::File(file) => f.write_str(file),
            Origin::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

const GUARDRAILS: &str = "guardrails";

#[derive(Debug, Clone, Default)]
pub(super) struct Layers(Vec<(Origin, Value)>);

impl Layers {
    pub(super) fn add(&mut self, origin: Origin, value: Value) {
        self.0.push((origin, value));
    }

    /// All layers in one. Defaults come last, so that a section which one file spoils and another mends has them.
    pub(super) fn merged(&self) -> Value {
        overlay(defaults(), self.alone())
    }

    /// Each file as if there were no other layer.
    pub(super) fn files(&self) -> impl Iterator<Item = Layers> {
        self.0
            .iter()
            .filter(|(origin, _)| matches!(origin, Origin::File(_) | Origin::User(_)))
            .map(|layer| Layers(vec![layer.clone()]))
    }

    /// The layers without the defaults.
    pub(super) fn alone(&self) -> Value {
        let mut all = self.0.iter().fold(Value::Object(Map::new()), |below, (_, value)| overlay(below, value.clone()));
        let own = self.guardrails_of(true);
        if let (Some(map), false) = (all.as_object_mut(), own.is_empty()) {
            let listed = self.guardrails_of(false).into_iter().chain(own);
            // A project that says something else there than a list is told so.
            if map.get(GUARDRAILS).is_none_or(|said| said.is_array() || said.is_null()) {
                map.insert(GUARDRAILS.to_owned(), listed.map(|(_, _, guardrail)| guardrail.clone()).collect());
            }
        }
        all
    }

    /// The guardrails that hold, each with the file that it stands in and its place in that.
    pub(super) fn guardrails(&self) -> Vec<(&Origin, usize, &Value)> {
        [self.guardrails_of(false), self.guardrails_of(true)].concat()
    }

    fn guardrails_of(&self, user: bool) -> Vec<(&Origin, usize, &Value)> {
        let mut layers = self.0.iter().rev().filter(|(origin, _)| matches!(origin, Origin::User(_)) == user);
        let said = layers.find_map(|(origin, value)| Some((origin, value.get(GUARDRAILS)?)));
        let list = said.and_then(|(origin, list)| Some((origin, list.as_array()?)));
        let each = |(origin, list): (_, &'_ Vec<Value>)| (0..list.len()).map(move |place| (origin, place));
        let places = list.into_iter().flat_map(each);
        places
            .zip(list.into_iter().flat_map(|(_, list)| list))
            .map(|((origin, place), one)| (origin, place, one))
            .collect()
    }

    /// Whether a flag says at this place what these layers say there.
    pub(super) fn repeats_by_flag(&self, path: &KeyPath, others: &Layers) -> bool {
        let says = |layers: &Layers| at(&layers.alone(), path.steps()).cloned();
        matches!(self.origin(path), Origin::Flag(_)) && says(self) == says(others)
    }

    /// The file below all others, from which a missing key is missing.
    pub(super) fn lowest_file(&self) -> Option<&'static str> {
        self.0.iter().find_map(|(origin, _)| match origin {
            Origin::File(file) => Some(*file),
            Origin::Defaults | Origin::User(_) | Origin::Flag(_) => None,
        })
    }

    /// The same for people. Guardrails may come from two files.
    pub(super) fn told_origin(&self, path: &KeyPath) -> String {
        let mut origins: Vec<String> = match path.to_string() == GUARDRAILS {
            true => self.guardrails().iter().map(|(origin, ..)| origin.to_string()).collect(),
            false => Vec::new(),
        };
        origins.dedup();
        if origins.len() < 2 { self.origin(path).to_string() } else { origins.join(" and ") }
    }

    /// Where the value that stands at `path` in the merged settings comes from.
    pub(super) fn origin(&self, path: &KeyPath) -> Origin {
        for (origin, value) in self.0.iter().rev() {
            match look(value, path.steps()) {
                Look::Holds => return origin.clone(),
                Look::Shows => {}
                Look::Hides => return Origin::Defaults,
            }
        }
        Origin::Defaults
    }
}

fn defaults() -> Value {
    // Serialising plain data cannot fail; if it could, the typed reading would fill in the same defaults.
    serde_json::to_value(Settings::default()).unwrap_or_default()
}

fn overlay(below: Value, above: Value) -> Value {
    match (below, above) {
        (Value::Object(mut merged), Value::Object(above)) => {
            for (key, value) in above {
                match merged.get_mut(&key) {
                    Some(slot) => *slot = overlay(slot.take(), value),
                    None => {
                        merged.insert(key, value);
                    }
                }
            }
            Value::Object(merged)
        }
        (_, above) => above,
    }
}

fn at<'a>(value: &'a Value, steps: &[Step]) -> Option<&'a Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    })
}

enum Look {
    Holds,
    /// The layer says nothing about it; what lies below shows through.
    Shows,
    /// The layer has something else than an object on the way, which hides the layers below.
    Hides,
}

fn look(value: &Value, steps: &[Step]) -> Look {
    match (steps.split_first(), value) {
        (None, _) | (Some((Step::Index(_), _)), Value::Array(_)) => Look::Holds,
        (Some((Step::Key(key), rest)), Value::Object(map)) => map.get(key).map_or(Look::Shows, |next| look(next, rest)),
        _ => Look::Hides,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn layers(base: Value, local: Value) -> Layers {
        let mut layers = Layers::default();
        layers.add(Origin::File("base"), base);
        layers.add(Origin::File("local"), local);
        layers
    }

    #[test]
    fn objects_merge_and_everything_else_replaces() {
        let layers = layers(
            json!({"agent": {"command": "claude", "flags": ["a", "b"], "env": {"A": "1", "B": "2"}}, "guardrails": [{"command": "x"}]}),
            json!({"agent": {"flags": ["c"], "env": {"B": "3"}}, "guardrails": []}),
        );
        let merged = layers.merged();
        assert_eq!(merged["agent"]["command"], json!("claude"));
        assert_eq!(merged["agent"]["flags"], json!(["c"]));
        assert_eq!(merged["agent"]["env"], json!({"A": "1", "B": "3"}));
        assert_eq!(merged["guardrails"], json!([]));
        let origin = |keys: &[&str]| layers.origin(&KeyPath::new(keys.iter().copied())).to_string();
        assert_eq!(origin(&["agent", "command"]), "base");
        assert_eq!(origin(&["agent", "flags"]), "local");
        assert_eq!(origin(&["agent", "env", "A"]), "base");
        assert_eq!(origin(&["agent", "env", "B"]), "local");
        assert_eq!(origin(&["agent", "model"]), "defaults");
    }

    #[test]
    fn a_place_in_a_list_has_the_origin_of_the_list() {
        let layers = layers(json!({"guardrails": [{"command": "a"}]}), json!({"maximumIterations": 3}));
        let mut path = KeyPath::new(["guardrails"]);
        path.push_index(0);
        path.push_key("failAction");
        assert_eq!(layers.origin(&path), Origin::File("base"));
    }

    #[test]
    fn a_section_that_the_next_file_repairs_has_its_defaults() {
        let mut layers = layers(json!({"agent": {"flags": ["x"]}}), json!({"agent": "spoilt"}));
        layers.add(Origin::Flag("--agent"), json!({"agent": {"command": "c"}}));
        let merged = layers.merged();
        assert_eq!(merged["agent"]["promptVia"], json!("auto"));
        assert_eq!(merged["agent"]["flags"], Value::Null);
        assert_eq!(layers.origin(&KeyPath::new(["agent", "flags"])), Origin::Defaults);
        assert_eq!(layers.origin(&KeyPath::new(["agent", "command"])).to_string(), "flag --agent");
    }
}
