//! Stories and issues as JSON. Tools name the same things differently, so each field has the names under which it was
//! seen; what is left over is kept.

use super::Source;
use super::draft::{Draft, Review, Story, Unmapped};
use super::markdown;
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// Where the list of stories stands.
const LISTS: [&str; 7] = ["userStories", "user_stories", "stories", "tasks", "features", "items", "issues"];

/// The value of a JSON text. Several in a row are one list: `gh` prints an array for each page, or an object a line.
pub(super) fn parse(text: &str) -> serde_json::Result<Value> {
    let mut values: Vec<Value> = serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>()?;
    if values.len() == 1 {
        return Ok(values.remove(0));
    }
    let entries = values.into_iter().flat_map(|value| match value {
        Value::Array(entries) => entries,
        single => vec![single],
    });
    Ok(entries.collect())
}

/// The plan in a JSON value; nothing if there are no stories in it.
pub(super) fn read(value: Value, unmapped: &mut Unmapped) -> Option<(Source, Draft)> {
    let (mut top, entries) = match value {
        Value::Array(entries) => (Object::new(), entries),
        Value::Object(mut top) => match LISTS.iter().find_map(|name| take_list(&mut top, name)) {
            Some(entries) => (top, entries),
            // One issue, as `gh issue view --json` prints it.
            None if is_issue(&top) => (Object::new(), vec![Value::Object(top)]),
            None => return None,
        },
        _ => return None,
    };
    let mut objects: Vec<Object> = Vec::with_capacity(entries.len());
    for (number, entry) in (1..).zip(entries) {
        match entry {
            Value::Object(object) => objects.push(object),
            _ => unmapped.add("Entries that are no objects and were left out", format!("entry {number}")),
        }
    }
    let are_issues = !objects.is_empty() && objects.iter().all(is_issue);
    let has_reviews =
        objects.iter().any(|story| story.contains_key("reviewStatus") || story.contains_key("reviewCount"));
    let source = match (are_issues, has_reviews) {
        (true, _) => Source::Issues,
        (false, true) => Source::Plugin,
        (false, false) => Source::PrdJson,
    };
    let stories = if are_issues {
        issues(objects, unmapped)
    } else {
        objects.into_iter().filter_map(|object| story(object, unmapped)).collect()
    };
    let draft = Draft {
        project: take_text(&mut top, &["project", "projectName", "name", "title"]),
        branch: take_text(&mut top, &["branchName", "branch"]),
        description: take_text(&mut top, &["description", "summary"]),
        verify: take_texts(&mut top, &["verifyCommands", "verificationCommands", "verify_commands"], TEXT, unmapped),
        stories,
        numbered: !are_issues,
        more: top,
    };
    (!draft.stories.is_empty()).then_some((source, draft))
}

fn take_list(top: &mut Object, name: &str) -> Option<Vec<Value>> {
    match top.get_mut(name)? {
        Value::Array(list) => {
            let list = std::mem::take(list);
            top.shift_remove(name);
            Some(list)
        }
        _ => None,
    }
}

fn story(mut object: Object, unmapped: &mut Unmapped) -> Option<Story> {
    if object.is_empty() {
        unmapped.add("Entries without anything in them were left out", "{}");
        return None;
    }
    let object = &mut object;
    let review = Review {
        status: take_text(object, &["reviewStatus"]),
        count: object.shift_remove("reviewCount").and_then(|count| count.as_u64()).unwrap_or(0),
        feedback: take_text(object, &["reviewFeedback"]),
    };
    let mut story = Story {
        id: take_text(object, &["id", "key", "number"]),
        title: take_text(object, &["title", "name", "summary"]),
        description: take_text(object, &["description", "body", "details"]),
        criteria: take_texts(
            object,
            &["acceptanceCriteria", "acceptance_criteria", "criteria", "steps"],
            TEXT,
            unmapped,
        ),
        priority: take_priority(object),
        done: take_done(object),
        notes: take_text(object, &["notes"]),
        depends: take_texts(object, &["dependsOn", "depends_on", "dependencies", "blockedBy"], NAME, unmapped),
        verify: take_texts(object, &["verifyCommands", "verify_commands"], TEXT, unmapped),
        ..Story::default()
    };
    // It names a story that is gone, and only a split that ralph saw may say so.
    if let Some(from) = object.shift_remove("splitFrom").filter(|from| !from.is_null()) {
        unmapped.add("What a story was split from is not kept", format!("{} from {}", story.id, shown(&from)));
    }
    story.review = Some(review);
    story.more = std::mem::take(object);
    Some(story)
}

/// The first text or number under one of these names.
fn take_text(object: &mut Object, names: &[&str]) -> String {
    for name in names {
        let text = match object.get(*name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Null) => String::new(),
            _ => continue,
        };
        object.shift_remove(*name);
        if !text.trim().is_empty() {
            return text;
        }
    }
    String::new()
}

/// All texts under these names: a list, a table of them by name, or a single one.
/// Where an entry is an object, `keys` say under which of its names the text stands.
fn take_texts(object: &mut Object, names: &[&str], keys: &[&str], unmapped: &mut Unmapped) -> Vec<String> {
    let values = names.iter().filter_map(|name| object.shift_remove(*name)).flat_map(|value| match value {
        Value::Array(list) => list,
        Value::Object(table) => table.into_iter().map(|(_, value)| value).collect(),
        Value::Null => Vec::new(),
        single => vec![single],
    });
    let mut texts = Vec::new();
    for value in values {
        match text_of(&value, keys) {
            Some(text) if text.trim().is_empty() => {}
            Some(text) => texts.push(text.trim().to_owned()),
            None => unmapped.add("Values that are no text and were left out", shown(&value)),
        }
    }
    texts
}

/// The names under which an entry has its text, and those under which it has its id.
const TEXT: &[&str] = &["description", "text", "title", "criterion", "name", "command"];
const NAME: &[&str] = &["id", "name", "title"];

fn text_of(value: &Value, keys: &[&str]) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(object) => {
            let texts = keys.iter().filter_map(|key| text_of(object.get(*key)?, &[]));
            texts.into_iter().find(|text| !text.trim().is_empty())
        }
        _ => None,
    }
}

fn shown(value: &Value) -> String {
    crate::text::prefix(&value.to_string(), 200).to_owned()
}

fn take_priority(object: &mut Object) -> Option<f64> {
    let value = object.get("priority")?;
    let priority = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            text.trim().parse().ok().filter(|number: &f64| number.is_finite()).or_else(|| markdown::level(text))
        }
        _ => None,
    };
    // A priority in other words is kept as it is, in a field that ralph does not know by this name.
    let value = object.shift_remove("priority");
    if let (None, Some(value)) = (priority, value.filter(|value| !value.is_null())) {
        object.insert("importedPriority".to_owned(), value);
    }
    priority
}

/// Whether the entry says that it is done, in one of the ways that were seen.
fn take_done(object: &mut Object) -> bool {
    let flag = ["passes", "passed", "done", "completed"].iter().find_map(|name| {
        let flag = match object.get(*name)? {
            Value::Bool(flag) => *flag,
            Value::String(text) if text.eq_ignore_ascii_case("true") => true,
            Value::String(text) if text.eq_ignore_ascii_case("false") => false,
            _ => return None,
        };
        object.shift_remove(*name);
        Some(flag)
    });
    let status = object.get("status").or_else(|| object.get("state")).and_then(Value::as_str);
    flag.unwrap_or_else(|| status.is_some_and(markdown::is_done_word))
}

fn is_issue(object: &Object) -> bool {
    object.contains_key("title")
        && (object.contains_key("number") || object.contains_key("body"))
        && !object.contains_key("passes")
        && !object.contains_key("acceptanceCriteria")
}

/// Issues, the oldest first: `gh` lists the newest first, and older ones tend to come before newer ones.
fn issues(mut objects: Vec<Object>, unmapped: &mut Unmapped) -> Vec<Story> {
    objects.sort_by_key(|issue| issue.get("number").and_then(Value::as_u64));
    objects.into_iter().filter_map(|object| issue(object, unmapped)).collect()
}

fn issue(mut object: Object, unmapped: &mut Unmapped) -> Option<Story> {
    let object = &mut object;
    let number = take_text(object, &["number"]);
    let title = take_text(object, &["title"]);
    let state = take_text(object, &["state"]);
    let why = take_text(object, &["stateReason", "state_reason"]);
    let name = format!("#{number} {title}");
    if object.get("pull_request").is_some_and(|request| !request.is_null()) {
        unmapped.add("Pull requests were left out", name);
        return None;
    }
    if why.eq_ignore_ascii_case("not_planned") || why.eq_ignore_ascii_case("duplicate") {
        unmapped.add("Issues that were closed without being done were left out", name);
        return None;
    }
    let body = markdown::body(&take_text(object, &["body"]), unmapped);
    let mut labels = take_texts(object, &["labels"], &["name"], unmapped);
    let priority = labels.iter().find_map(|label| markdown::level(label));
    labels.retain(|label| markdown::level(label).is_none());
    let mut story = Story {
        id: if number.is_empty() { String::new() } else { format!("GH-{number}") },
        alias: format!("#{number}"),
        title,
        description: body.description,
        criteria: body.criteria,
        priority,
        done: state.eq_ignore_ascii_case("closed") || object.get("closed") == Some(&Value::Bool(true)),
        depends: body.depends.into_iter().map(|name| name.replace("Issue-", "#")).collect(),
        ..Story::default()
    };
    if !labels.is_empty() {
        story.more.insert("labels".to_owned(), labels.into());
    }
    for (name, value) in std::mem::take(object) {
        match name.as_str() {
            "url" | "html_url" if value.is_string() => {
                story.more.insert("url".to_owned(), value);
            }
            _ => unmapped.add_once("Fields of issues that were left out", &name),
        }
    }
    Some(story)
}
