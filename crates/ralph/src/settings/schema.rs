//! The JSON Schema of settings, made from the types of the keys: for editors, for checks, unknown keys and the
//! reference page. It stays within the few keywords that [`Node`] reads; a test sees to that.

use super::keys::Settings;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The JSON Schema of settings, with defaults and descriptions.
pub fn schema() -> Value {
    // Inlined, the schema has the shape of the settings, and a walk needs no references.
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = generator.into_root_schema_for::<Settings>().to_value();
    tidy(&mut schema);
    schema
}

/// Takes out what a reader would stumble over: the defaults of whole sections, which only repeat those
/// of their keys; the "default" null of a text that must be given; line ends inside descriptions.
fn tidy(schema: &mut Value) {
    let null_is_wrong = !Node(schema).allows("null");
    let Some(map) = schema.as_object_mut() else { return };
    if map.contains_key("properties") || (null_is_wrong && map.get("default") == Some(&Value::Null)) {
        map.remove("default");
    }
    if let Some(Value::String(description)) = map.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(tidy);
    }
    for inner in ["items", "additionalProperties"] {
        map.get_mut(inner).into_iter().for_each(tidy);
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a>(pub(super) &'a Value);

pub(super) enum Child<'a> {
    Known(Node<'a>),
    /// Anything may stand here, and nobody looks at it.
    Free,
    Unknown,
}

impl<'a> Node<'a> {
    pub(super) fn get(self, keyword: &str) -> Option<&'a Value> {
        self.0.get(keyword)
    }

    pub(super) fn text(self, keyword: &str) -> &'a str {
        self.get(keyword).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn texts(self, keyword: &str) -> Vec<&'a str> {
        self.get(keyword).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }

    pub(super) fn allows(self, kind: &str) -> bool {
        self.text("type") == kind || self.texts("type").contains(&kind)
    }

    pub(super) fn items(self) -> Option<Node<'a>> {
        self.get("items").map(Node)
    }

    /// What the entries of an object with free names are like.
    pub(super) fn entries(self) -> Option<Node<'a>> {
        self.get("additionalProperties").filter(|entries| entries.is_object()).map(Node)
    }

    pub(super) fn properties(self) -> impl Iterator<Item = (&'a str, Node<'a>)> {
        let map = self.get("properties").and_then(Value::as_object);
        map.into_iter().flat_map(Map::iter).map(|(name, node)| (name.as_str(), Node(node)))
    }

    pub(super) fn child(self, key: &str) -> Child<'a> {
        let known = self.get("properties").and_then(|properties| properties.get(key)).map(Node);
        match known.or(self.entries()) {
            Some(node) => Child::Known(node),
            None if self.get("additionalProperties") == Some(&Value::Bool(false)) => Child::Unknown,
            None => Child::Free,
        }
    }

    /// What may stand here, as a sentence goes on after "expected".
    pub(super) fn expectation(self) -> String {
        let words = [self.texts("enum"), self.texts("examples")].concat();
        let what = match words.split_last() {
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => self.expected_kind(),
        };
        if self.allows("null") { format!("{what} or null") } else { what }
    }

    fn expected_kind(self) -> String {
        let minimum = self.get("minimum").map_or_else(String::new, |minimum| format!(" of at least {minimum}"));
        let items = self.items().map_or("", |items| match (items.allows("string"), items.allows("object")) {
            (true, true) => " of strings or objects",
            (false, true) => " of objects",
            _ => " of strings",
        });
        if self.allows("boolean") {
            "true or false".to_owned()
        } else if self.allows("integer") {
            format!("a whole number{minimum}")
        } else if self.allows("number") {
            format!("a number{minimum}")
        } else if self.allows("array") {
            format!("a list{items}")
        } else if self.allows("object") && self.allows("string") {
            "a string that is not blank, or an object".to_owned()
        } else if self.allows("object") {
            "an object".to_owned()
        } else if self.get("minLength").is_some() {
            "a string that is not blank".to_owned()
        } else {
            "a string".to_owned()
        }
    }
}

/// One key as documentation and suggestions name it: `guardrails[].hint`, `tasks.<name>.enabled`.
#[derive(Debug, Clone)]
pub(super) struct Key<'a> {
    pub(super) path: String,
    pub(super) name: &'a str,
    pub(super) node: Node<'a>,
    pub(super) required: bool,
}

/// All keys below `node`, sections before what is in them.
pub(super) fn keys<'a>(node: Node<'a>, prefix: &str) -> Vec<Key<'a>> {
    let mut found = Vec::new();
    for (name, child) in node.properties() {
        let path = format!("{prefix}{name}");
        // Two layers make one value, so the schema of either file cannot list `agent.command` as required.
        let required = child.allows("string") && !child.allows("null") && child.get("default").is_none();
        found.push(Key { path: path.clone(), name, node: child, required });
        found.extend(keys(child, &format!("{path}.")));
        found.extend(child.items().into_iter().flat_map(|items| keys(items, &format!("{path}[]."))));
        found.extend(child.entries().into_iter().flat_map(|entries| keys(entries, &format!("{path}.<name>."))));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every keyword that stands in the schema is one that something here reads, or that only editors need.
    #[test]
    fn the_schema_stays_within_the_keywords_that_are_read() {
        fn walk(node: &Value, path: &str) {
            let read = ["type", "properties", "items", "additionalProperties", "propertyNames", "required", "enum"];
            let also = ["minimum", "maximum", "minLength", "format", "default", "description", "examples", "pattern"];
            let top = ["$schema", "title"];
            for (keyword, value) in node.as_object().unwrap() {
                let known = [read.as_slice(), &also, &top].concat().contains(&keyword.as_str());
                assert!(known, "{path}: {keyword}");
                match keyword.as_str() {
                    "properties" => {
                        value.as_object().unwrap().iter().for_each(|(name, node)| walk(node, &format!("{path}.{name}")))
                    }
                    "items" | "additionalProperties" if value.is_object() => walk(value, &format!("{path}[]")),
                    _ => {}
                }
            }
        }
        walk(&schema(), "");
    }

    #[test]
    fn every_default_is_in_the_schema_and_every_key_is_explained() {
        let schema = schema();
        let keys = keys(Node(&schema), "");
        fn leaves(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
            match value {
                Value::Object(map) if !map.is_empty() => {
                    map.iter().for_each(|(key, value)| leaves(value, &format!("{path}.{key}"), found))
                }
                value => found.push((path.trim_start_matches('.').to_owned(), value.clone())),
            }
        }
        let mut defaults = Vec::new();
        leaves(&serde_json::to_value(Settings::default()).unwrap(), "", &mut defaults);
        for (path, default) in defaults {
            let key = keys.iter().find(|key| key.path == path).unwrap();
            let stated = key.node.get("default").cloned().unwrap_or_default();
            assert_eq!(stated, default, "{path}");
        }
        for key in &keys {
            assert!(key.node.text("description").trim_end_matches('`').ends_with('.'), "{}", key.path);
            assert!(!key.node.text("description").contains('\n'), "{}", key.path);
        }
        assert!(keys.iter().any(|key| key.path == "guardrails[].timeoutMs" && key.node.0["default"] == 600_000));
        assert!(keys.iter().any(|key| key.path == "tasks.<name>.enabled"));
        assert_eq!(schema["properties"]["agent"]["properties"]["command"].get("default"), None);
    }
}
