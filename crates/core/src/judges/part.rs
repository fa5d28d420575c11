//! What of a judge's content counts, in a form that is equal if and only if it says the same.

use super::{Format, Part, just, make, rake, taskfile};
use crate::judges::scripts::pattern;
use regex::Regex;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What counts of a file's content. A file that cannot be read as what it should be counts as a whole.
pub fn counted<'a>(part: &Part, content: &'a [u8]) -> Cow<'a, [u8]> {
    let text = || std::str::from_utf8(content).ok();
    let counted = match part {
        Part::Ending { ending } if ending == ".pth" => text().map(start_lines),
        Part::Whole | Part::Ending { .. } | Part::Announced { .. } | Part::Output => None,
        Part::Package { scripts, sections } => text().and_then(|text| package(text, scripts, sections)),
        Part::Recipes { tool, goals } => text().and_then(|text| match tool.as_str() {
            "make" | make::INCLUDING => Some(make::counted(text, goals, tool)),
            "just" => Some(just::counted(text, goals)),
            "task" => Some(taskfile::counted(text, goals)),
            "rake" => rake::counted(text, goals),
            _ => None,
        }),
        Part::Sections { format, names } => text().and_then(|text| match format {
            Format::Toml => toml::from_str::<Value>(text).ok().map(|value| picked(&value, names)),
            Format::Json => serde_json::from_str::<Value>(text).ok().map(|value| picked(&value, names)),
            Format::Ini => Some(ini(text, names)),
            Format::GoMod => Some(go_mod(text, names)),
            Format::Xml | Format::Gradle => None,
        }),
        Part::Without { format, names } => text().and_then(|text| match format {
            Format::Xml => xml_without(text, names),
            Format::Gradle => Some(gradle_without(text, names)),
            _ => None,
        }),
    };
    counted.map_or(Cow::Borrowed(content), |text| Cow::Owned(text.into_bytes()))
}

/// What Python executes of a `.pth` file at every start: a line that only names a folder loads nothing, and those of
/// setuptools and virtualenv are known.
fn start_lines(text: &str) -> String {
    const KNOWN: [&str; 2] = [
        "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; enabled and __import__('_distutils_hack').add_shim();",
        "import _virtualenv",
    ];
    let executed = text.lines().map(str::trim).filter(|line| line.starts_with("import") && !KNOWN.contains(line));
    executed.collect::<Vec<_>>().join("\n")
}

/// The scripts with those that run before and after them, and the sections; what is not there counts as well.
fn package(text: &str, scripts: &[String], sections: &[String]) -> Option<String> {
    let package: Map<String, Value> = serde_json::from_str(text).ok()?;
    let own = package.get("scripts");
    let around = scripts.iter().flat_map(|name| [format!("pre{name}"), name.clone(), format!("post{name}")]);
    let script = |name: String| {
        let value = own.and_then(|own| own.get(&name)).cloned().unwrap_or_default();
        (name, value)
    };
    let scripts: BTreeMap<String, Value> = around.map(script).collect();
    Some(format!(
        "{} {}",
        canonical(&Value::Object(scripts.into_iter().collect())),
        picked(&Value::Object(package), sections)
    ))
}

/// Sections by their names, each with what it holds.
fn picked(value: &Value, names: &[String]) -> String {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    sorted.dedup();
    let line = |name: &&String| match name.split_once('=') {
        None if name.ends_with('?') => {
            format!("{name}: {}\n", !at(value, name.trim_end_matches('?')).is_null())
        }
        Some((list, item)) => {
            let holds =
                at(value, list).as_array().is_some_and(|items| items.iter().any(|own| own.as_str() == Some(item)));
            format!("{name}: {holds}\n")
        }
        None => format!("{name}: {}\n", canonical(&at(value, name))),
    };
    sorted.iter().map(line).collect()
}

/// What stands at a path with dots; a star takes something from each element that has it.
fn at(value: &Value, path: &str) -> Value {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let inner = |value: &Value| rest.map_or_else(|| value.clone(), |rest| at(value, rest));
    match (first, value) {
        ("*", Value::Array(items)) => {
            // An element that says nothing of it is as good as none.
            let found: Vec<Value> = items.iter().map(inner).filter(|found| !found.is_null()).collect();
            if found.is_empty() { Value::Null } else { found.into() }
        }
        (first, Value::Object(members)) => members.get(first).map(inner).unwrap_or_default(),
        _ => Value::Null,
    }
}

/// JSON with sorted keys.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<&String, String> =
                members.iter().map(|(key, value)| (key, canonical(value))).collect();
            let members: Vec<String> = sorted.iter().map(|(key, value)| format!("{key:?}:{value}")).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// Sections whose heads are these names; a star at the end of a name stands for anything.
fn ini(text: &str, names: &[String]) -> String {
    let mut counts = false;
    let mut counted = String::new();
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
        if let Some(head) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            let is_it = |name: &String| name.strip_suffix('*').map_or(head == name, |start| head.starts_with(start));
            counts = names.iter().any(is_it);
        }
        if counts {
            counted.push_str(line);
            counted.push('\n');
        }
    }
    counted
}

/// Directives of these names, in a line or in a block.
fn go_mod(text: &str, names: &[String]) -> String {
    let mut block = false;
    let mut counted = String::new();
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
        let word = line.split([' ', '(']).next().unwrap_or_default();
        let begins = names.iter().any(|name| name == word);
        if begins || block {
            counted.push_str(line);
            counted.push('\n');
        }
        block = (begins && line.ends_with('(') || block) && line != ")";
    }
    counted
}

/// An XML file without the elements at these paths and without what stands between elements for people.
fn xml_without(text: &str, paths: &[String]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut counted = String::new();
    let mut rest = text;
    let is_out = |open: &[&str]| {
        let here = open.join("/");
        paths
            .iter()
            .any(|path| here.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    while let Some((before, after)) = rest.split_once('<') {
        if !is_out(&open) && !before.trim().is_empty() {
            counted.push_str(before.trim());
        }
        if let Some(comment) = after.strip_prefix("!--") {
            rest = comment.split_once("-->")?.1;
            continue;
        }
        let (tag, behind) = after.split_once('>')?;
        rest = behind;
        let name =
            tag.trim_start_matches('/').split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
        if tag.starts_with(['?', '!']) {
            counted.push_str(tag);
            continue;
        }
        if !tag.starts_with('/') {
            open.push(name);
        }
        if !is_out(&open) {
            counted.push_str(&format!("\n<{}>", tag.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
        if (tag.starts_with('/') || tag.ends_with('/')) && open.pop() != Some(name) {
            return None;
        }
    }
    open.is_empty().then_some(counted)
}

static DEPENDENCY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // Only what declares something: any other line in such a block is a program.
    pattern(
        r#"^\s*(?:"?\w+"?[ (]+(?:(?:platform|enforcedPlatform|kotlin|project|testFixtures|npm|libs[\w.]*)\s*\(?\s*)?(?:\(?["':{][^;{}]*|libs[\w.]*|project\(["':\w.-]*\)|kotlin\(["'\w.-]*\)|group\s*:[^;{}]*)\)*|(?:mavenCentral|mavenLocal|google|gradlePluginPortal|jcenter)\(\)|maven\s*[({]\s*(?:url)?[^;]*[)}]|//.*)?\s*$"#,
    )
});
static DETAIL: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r#"^(?:version|group|description)\s*=?\s*["'][^"'$]*["']\s*$"#));

/// A Gradle build without the declarations in these blocks: code in them counts.
fn gradle_without(text: &str, blocks: &[String]) -> String {
    let mut depth = 0_usize;
    let mut block_at = None;
    let mut counted = String::new();
    for line in text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()) {
        let word = line.trim().split([' ', '{', '(']).next().unwrap_or_default();
        let opens_block = line.trim_end().ends_with('{') && blocks.iter().any(|block| block == word);
        let is_declaration = block_at.is_some() && DEPENDENCY.as_ref().is_some_and(|regex| regex.is_match(line));
        let is_detail = depth == 0 && DETAIL.as_ref().is_some_and(|regex| regex.is_match(line));
        let closes = block_at == Some(depth.saturating_sub(1)) && line.trim() == "}";
        if !(is_declaration || is_detail || opens_block && block_at.is_none() || closes) {
            counted.push_str(line.trim());
            counted.push('\n');
        }
        if opens_block && block_at.is_none() {
            block_at = Some(depth);
        }
        depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
        if block_at.is_some_and(|at| depth <= at) {
            block_at = None;
        }
    }
    counted
}
