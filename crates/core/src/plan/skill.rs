//! The plugin for Claude Code as data: the skill that plans, and hooks that apply a run's rules while the agent works.

use crate::text::in_quotes;
use serde_json::{Map, Value, json};

/// The skill `ralph-plan`, with its head.
const SKILL: &str = include_str!("texts/SKILL.md");

/// What the plugin calls itself, and the marketplace that offers it alone.
const PLUGIN: &str = "ralph";
const MARKETPLACE: &str = "ralph-loop";
const DESCRIPTION: &str = "Plans features for ralph, and applies a run's rules while the agent works";

/// A hook has milliseconds to do; a client waits this many seconds before it goes on without an answer.
const TIMEOUT_SECONDS: u32 = 10;

/// The files of the plugin, by their paths below its folder. `binary` is the absolute path of ralph.
pub fn files(binary: &str, version: &str) -> [(&'static str, String); 4] {
    let owner = json!({ "name": "The ralph developers" });
    let manifest = json!({
        "name": PLUGIN,
        "version": version,
        "description": DESCRIPTION,
        "author": owner,
        "license": env!("CARGO_PKG_LICENSE"),
    });
    let marketplace = json!({
        "name": MARKETPLACE,
        "owner": owner,
        "description": DESCRIPTION,
        "plugins": [{ "name": PLUGIN, "source": "./", "description": DESCRIPTION }],
    });
    [
        // `hooks/hooks.json` is found by itself; naming it here too would make the client refuse the plugin.
        (".claude-plugin/plugin.json", file(&manifest)),
        (".claude-plugin/marketplace.json", file(&marketplace)),
        ("hooks/hooks.json", file(&hooks(binary))),
        ("skills/ralph-plan/SKILL.md", SKILL.to_owned()),
    ]
}

/// What somebody wants to be planned, and where.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// In the words of the person; may be empty.
    pub text: &'a str,
    /// The plan's folder, as seen from the project's root.
    pub dir: &'a str,
    /// Somebody has written requirements already.
    pub has_prd: bool,
}

/// The skill as a prompt, for any client.
pub fn as_prompt(wanted: &Wanted<'_>) -> String {
    let text = SKILL.split_once("\n---\n").map_or(SKILL, |(_, text)| text);
    let person = if wanted.text.trim().is_empty() { "ask them." } else { wanted.text.trim() };
    let mode = match wanted.has_prd {
        true => "`prd.md` is written: leave it as it is, and go on with *Deriving the tasks*.",
        false => "nobody has written `prd.md` yet: go on with *Full planning*.",
    };
    let text = text.trim().replacen("$ARGUMENTS", person, 1);
    format!("{text}\n\n## From ralph\n\nThe plan's folder is `{}/`, and {mode}\n", wanted.dir)
}

fn file(json: &Value) -> String {
    format!("{json:#}\n")
}

/// The hooks, in the shape of the client's settings and of `hooks/hooks.json`.
pub fn hooks(binary: &str) -> Value {
    let entry = |name: &str, every_tool: bool| {
        let command = json!({ "type": "command", "command": hook_command(binary, name), "timeout": TIMEOUT_SECONDS });
        match every_tool {
            true => json!([{ "matcher": "*", "hooks": [command] }]),
            false => json!([{ "hooks": [command] }]),
        }
    };
    json!({ "hooks": {
        "SessionStart": entry("session-start", false),
        "PreToolUse": entry("guard", true),
        "PostToolUse": entry("context", true),
        "Stop": entry("stop", false),
    } })
}

/// The client's settings with the hooks, beside those that a person gives it; `None` if theirs are no settings.
pub fn settings(given: Option<&str>, binary: &str) -> Option<String> {
    let mut ours = hooks(binary);
    let Some(given) = given else { return Some(ours.to_string()) };
    let mut settings: Map<String, Value> = serde_json::from_str(given.trim_start_matches('\u{feff}')).ok()?;
    let theirs = settings.entry("hooks").or_insert_with(|| Map::new().into()).as_object_mut()?;
    for (event, list) in ours.get_mut("hooks").and_then(Value::as_object_mut).into_iter().flatten() {
        let theirs = theirs.entry(event).or_insert_with(|| Value::Array(Vec::new())).as_array_mut()?;
        theirs.append(list.as_array_mut()?);
    }
    Some(Value::Object(settings).to_string())
}

/// The shell line of a hook. Outside a run, and where ralph is gone, it starts nothing and says nothing: another
/// program called ralph may be on the PATH.
pub fn hook_command(binary: &str, name: &str) -> String {
    let path = in_quotes(binary);
    format!(
        "if [ -z \"$RALPH_RUN_ID\" ]; then exit 0; \
         elif [ -f {path} ] && [ -x {path} ]; then exec {path} hook {name}; \
         elif command -v ralph >/dev/null 2>&1; then exec ralph hook {name}; fi"
    )
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::panic, reason = "tests")]
mod tests {
    use super::*;
    use crate::plan::import::{Options, Source, import};

    #[test]
    fn the_plugin_has_the_files_that_the_client_looks_for() {
        let files = files("/opt/ralph/bin/ralph", "1.2.3");
        let json: Vec<Value> =
            files.iter().take(3).map(|(_, text)| serde_json::from_str(text).unwrap_or_default()).collect();
        let [manifest, marketplace, hooks] = json.as_slice() else { panic!("{files:?}") };
        assert_eq!(manifest["name"], "ralph");
        assert_eq!(manifest["version"], "1.2.3");
        assert_eq!(manifest.get("hooks"), None, "hooks/hooks.json would be loaded twice");
        assert_eq!(marketplace["plugins"][0]["name"], manifest["name"]);
        assert_eq!(marketplace["plugins"][0]["source"], "./");
        assert!(marketplace["owner"]["name"].is_string());
        let events: Vec<&String> = hooks["hooks"].as_object().into_iter().flat_map(|events| events.keys()).collect();
        assert_eq!(events, ["SessionStart", "PreToolUse", "PostToolUse", "Stop"]);
        for event in events {
            let command = &hooks["hooks"][event][0]["hooks"][0];
            assert_eq!(command["type"], "command");
            assert!(command["command"].as_str().is_some_and(|line| line.contains("'/opt/ralph/bin/ralph' hook ")));
        }
    }

    #[test]
    fn the_skill_is_a_prompt_for_any_client() {
        let wanted = Wanted { text: " a cart ", dir: "plans/cart", has_prd: false };
        let prompt = as_prompt(&wanted);
        assert!(prompt.starts_with("# Plan a feature for ralph\n"), "{prompt}");
        assert!(prompt.contains("\nWhat the person wants: a cart\n"), "{prompt}");
        assert!(
            prompt.contains("folder is `plans/cart/`, and nobody has written `prd.md` yet: go on with *Full"),
            "{prompt}"
        );
        let prompt = as_prompt(&Wanted { text: "", has_prd: true, ..wanted });
        assert!(prompt.contains("\nWhat the person wants: ask them.\n"), "{prompt}");
        assert!(prompt.contains("`prd.md` is written: leave it as it is"), "{prompt}");
    }

    #[test]
    fn the_example_in_the_skill_is_a_plan() {
        let example = SKILL.split_once("```json\n").and_then(|(_, behind)| behind.split_once("```"));
        let example = example.map(|(example, _)| example).unwrap_or_default();
        let imported = import(example.as_bytes(), &Options { project: "", reopen: false });
        let imported = imported.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((imported.source, imported.stories, imported.unmapped), (Source::Plugin, 1, Vec::new()));
        let value: Value = serde_json::from_str(example).unwrap_or_default();
        assert_eq!(serde_json::from_str::<Value>(&imported.tasks).unwrap_or_default(), value, "nothing was missing");
    }

    #[test]
    fn hooks_are_added_to_those_that_a_person_gives() {
        let read = |given| -> Option<Value> {
            settings(given, "/r").map(|text| serde_json::from_str(&text).unwrap_or_default())
        };
        assert_eq!(read(None), Some(hooks("/r")));
        let merged =
            read(Some("\u{feff}{\"model\": \"m\", \"hooks\": {\"Stop\": [1], \"X\": [2]}}")).unwrap_or_default();
        assert_eq!((&merged["model"], &merged["hooks"]["X"]), (&json!("m"), &json!([2])));
        assert_eq!(merged["hooks"]["Stop"], json!([1, hooks("/r")["hooks"]["Stop"][0]]));
        assert_eq!(merged["hooks"]["PreToolUse"], hooks("/r")["hooks"]["PreToolUse"]);
        assert_eq!(read(Some("{}")), Some(hooks("/r")));
        for broken in ["", "{", "[]", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": 1}}"] {
            assert_eq!(read(Some(broken)), None, "{broken}");
        }
    }

    #[test]
    fn a_path_is_quoted_for_the_shell() {
        let line = hook_command("/home/o'neil/my $HOME/ralph", "stop");
        let words = shlex::split(&line).unwrap_or_default();
        assert_eq!(words.iter().filter(|word| *word == "/home/o'neil/my $HOME/ralph").count(), 3, "{line}");
    }

    #[test]
    fn the_skill_has_a_head_with_its_name_and_when_to_use_it() {
        let head = SKILL.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n")).map(|(head, _)| head);
        let lines: Vec<&str> = head.unwrap_or_default().lines().collect();
        assert_eq!(lines.first(), Some(&"name: ralph-plan"));
        for phrase in ["/ralph-plan", "plan this feature for ralph", "create a ralph prd", "generate tasks for ralph"] {
            assert!(lines.get(1).is_some_and(|line| line.starts_with("description: ") && line.contains(phrase)));
        }
        // A colon and a blank in an unquoted value would end the head for a YAML parser.
        assert!(lines.iter().all(|line| line.matches(": ").count() == 1), "{lines:?}");
        assert!(SKILL.contains("run ralph plan init first"));
    }
}
