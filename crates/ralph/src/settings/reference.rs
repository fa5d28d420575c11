//! The reference page of settings, made from the schema, so that it cannot say anything else.

use super::schema::{Key, Node, keys, schema};
use serde_json::Value;
use std::fmt::Write as _;

const OPENING: &str = "\
# Settings

Settings are plain JSON. ralph reads the user's own `~/.config/ralph/settings.json` (or
`$XDG_CONFIG_HOME/ralph/settings.json`), lays the project's `.ralph/settings.json` and
`.ralph/settings.local.json` over it and then the flags of the command: objects merge, lists and single
values replace what lies below, except that the user's guardrails are added to the project's. A file that is
not there means defaults; null stands where nothing is given. A key that ralph does not know is ignored
with a warning; a value that is wrong is refused before anything runs.

`ralph config show --origin` prints what holds and where each value comes from, `ralph config check` judges
it, and `ralph config schema` prints the JSON Schema that this page was made from. To have an editor
complete and check settings, save that schema to a file and name it as `$schema`.

What guardrails are made of, and what their keys mean, with examples for many tools: [Checks](../checks.md).
";

pub fn reference_markdown() -> String {
    let schema = schema();
    let (sections, single): (Vec<_>, Vec<_>) = Node(&schema).properties().partition(|(_, node)| !is_single(*node));
    let (reserved, sections): (Vec<_>, Vec<_>) = sections.into_iter().partition(|(_, node)| is_reserved(*node));
    let all = keys(Node(&schema), "");
    let mut page = OPENING.to_owned();
    let named = |names: &[(&str, Node<'_>)]| -> Vec<&Key<'_>> {
        all.iter().filter(|key| names.iter().any(|(name, _)| key.path == *name)).collect()
    };
    table(&mut page, "Top level", "", &named(&single));
    for (name, node) in &sections {
        // The heading tells of the section itself; a list is also a value of its own and has a row.
        let inside = |key: &&Key<'_>| match key.path.strip_prefix(name) {
            Some("") => key.node.get("properties").is_none(),
            Some(rest) => rest.starts_with(['.', '[']),
            None => false,
        };
        table(
            &mut page,
            &format!("`{name}`"),
            node.text("description"),
            &all.iter().filter(inside).collect::<Vec<_>>(),
        );
    }
    table(&mut page, "Reserved sections", "Any object is accepted here, without warnings.", &named(&reserved));
    page
}

/// Whether a top-level key needs no section of its own.
fn is_single(node: Node<'_>) -> bool {
    !node.allows("object") && node.items().is_none()
}

fn is_reserved(node: Node<'_>) -> bool {
    node.get("additionalProperties") == Some(&Value::Bool(true))
}

fn table(page: &mut String, title: &str, about: &str, rows: &[&Key<'_>]) {
    let about = if about.is_empty() { String::new() } else { format!("{about}\n\n") };
    let _ = write!(page, "\n## {title}\n\n{about}| key | type | default | meaning |\n|---|---|---|---|\n");
    for key in rows {
        let expectation = key.node.expectation();
        let kind = expectation.trim_start_matches("a ").trim_start_matches("an ");
        let default = match key.node.get("default") {
            Some(default) => format!("`{default}`"),
            None if key.required => "required".to_owned(),
            None => String::new(),
        };
        let cells = [format!("`{}`", key.path), kind.to_owned(), default, key.node.text("description").to_owned()];
        let _ = writeln!(page, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_on_the_page_with_its_meaning() {
        let page = reference_markdown();
        let schema = schema();
        for key in keys(Node(&schema), "") {
            let rows = page.matches(&format!("| `{}` | ", key.path)).count();
            let headings = page.matches(&format!("## `{}`\n", key.path)).count();
            assert!(rows == 1 || rows == 0 && headings == 1, "{}", key.path);
            assert!(page.contains(key.node.text("description")), "{}", key.path);
        }
        for row in [
            "| `maximumIterations` | whole number of at least 1 | `10` | How many iterations a run may use. |",
            "| `agent.command` | string that is not blank | required |",
            "| `guardrails[].failAction` | APPEND, PREPEND or REPLACE | `\"APPEND\"` |",
            "| `tasks.<name>.enabled` | true or false or null | `null` |",
            "| `agent.promptVia` | auto, stdin, arg or file | `\"auto\"` |",
        ] {
            assert!(page.contains(row), "{row}\n{page}");
        }
    }

    #[test]
    fn rows_have_four_cells() {
        for line in reference_markdown().lines().filter(|line| line.starts_with('|')) {
            assert_eq!(line.replace("\\|", "").matches('|').count(), 5, "{line}");
        }
    }
}
