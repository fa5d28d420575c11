//! The demonstration of a plan: one story, an agent that approves its own work, and a review that reads the criteria.

use super::{BROKEN, CHECK, MENDED, Show, git, say};
use crate::commands::plan::today;
use crate::error::CommandError;
use ralph_core::plan::template::NewPlan;
use ralph_core::plan::{DIR, PRD, PROGRESS, TASKS, TEMPLATE, marker};
use ralph_core::policy::PromptSource;
use serde_json::json;
use std::path::Path;

const STORIES: &str = r#"{
  "project": "greetings",
  "branchName": "ralph/greetings",
  "description": "A program that greets.",
  "verifyCommands": ["sh check.sh"],
  "userStories": [
    {
      "id": "US-001",
      "title": "Greet by name",
      "description": "Whoever gives a name is greeted by it.",
      "acceptanceCriteria": [
        "`sh greet.sh World` prints: Hello, World!",
        "`sh greet.sh` without a name prints: Hello, stranger!"
      ],
      "priority": 1,
      "passes": false,
      "reviewStatus": null,
      "reviewCount": 0,
      "reviewFeedback": "",
      "notes": "",
      "dependsOn": []
    }
  ]
}
"#;
const REQUIREMENTS: &str = "# Greetings\n\n## Summary\n\n`sh greet.sh NAME` greets by name, and strangers too.\n";
const REWORKED: &str = "#!/bin/sh\necho \"Hello, ${1:-stranger}!\"\n";
const FEEDBACK: &str = "`sh greet.sh` without a name prints `Hello, !`: greet.sh needs a word for strangers.";
const WHAT_HAPPENED: &str = "
What you saw: the agent approved its own story in iteration 1; ralph undid that, because only a review
approves, and told the next one. The check was green, but the review read the criteria, tried them, and
asked for changes. After the rework a second review approved, ralph ran the check itself, and only then
the plan was complete and verified.";

pub(super) fn show() -> Show {
    let new = NewPlan { project: "greetings", name: "greetings", dir: DIR, date: today() }.files();
    let in_plan = |file: &str, text: &str| (format!("{DIR}/{file}"), text.to_owned());
    Show {
        files: vec![
            ("greet.sh".to_owned(), BROKEN.to_owned()),
            ("check.sh".to_owned(), CHECK.to_owned()),
            (".gitignore".to_owned(), format!("{}\n", marker::FILE)),
            in_plan(PRD, REQUIREMENTS),
            in_plan(TASKS, STORIES),
            in_plan(PROGRESS, &new.progress),
            in_plan(TEMPLATE, &new.prompt),
        ],
        prompt: PromptSource::File(format!("{DIR}/{TEMPLATE}")),
        plan: Some(DIR),
        agent: &["--plan"],
        settings: json!({}),
        before: [
            "ralph/tasks.json is a plan of one story with two criteria; `sh check.sh` looks at the first of them only.",
            "An agent (a scripted one, inside ralph) implements it, and reviews it as a stranger would.",
            "It will approve its own work before anybody looked. Watch what ralph makes of that.",
        ]
        .map(str::to_owned),
        after: WHAT_HAPPENED,
        look: "2 --prompt  what the second agent was told",
        then: "ralph plan init",
    }
}

/// One iteration of the scripted agent, which finds in its prompt what it is for.
pub(super) fn work(prompt: &str) -> Result<(), CommandError> {
    let is = |words: &str| prompt.contains(words);
    let subject = if is("Mode: review-fix") {
        say("The review is right: without a name there is nothing to greet.");
        write("greet.sh", REWORKED)?;
        set(&[("reviewStatus", "\"needs_review\""), ("reviewFeedback", "\"\"")])?;
        "fix: [US-001] - address review feedback"
    } else if is("Mode: review") && read("greet.sh")? == MENDED {
        say("Reading the criteria, one by one. `sh greet.sh World`: right. `sh greet.sh`: Hello, !");
        say("The second criterion is not met. I request changes.");
        set(&[
            ("reviewCount", "1"),
            ("reviewStatus", "\"changes_requested\""),
            ("reviewFeedback", &json!(FEEDBACK).to_string()),
        ])?;
        "review: [US-001] - changes requested"
    } else if is("Mode: review") {
        say("Trying both criteria: Hello, World! and Hello, stranger! Approved.");
        set(&[("reviewCount", "2"), ("reviewStatus", "\"approved\""), ("passes", "true")])?;
        "review: [US-001] - approved"
    } else if read("greet.sh")? == BROKEN {
        say("Editing greet.sh. The check is green.");
        say("I am sure that it is right, so I approve it myself and save everybody the review.");
        write("greet.sh", MENDED)?;
        set(&[("reviewCount", "1"), ("reviewStatus", "\"approved\""), ("passes", "true")])?;
        "feat: [US-001] - Greet by name"
    } else {
        say("I was told that only a review approves. I hand the story over.");
        set(&[("reviewStatus", "\"needs_review\""), ("notes", "\"greet.sh prints the name\"")])?;
        "feat: [US-001] - Greet by name"
    };
    if Path::new(".git").exists() {
        git(Path::new("."), &[&["add", "--all"]], subject)?;
    }
    Ok(())
}

/// Writes new values of a story's fields into the plan, of which every field has a line of its own.
fn set(fields: &[(&str, &str)]) -> Result<(), CommandError> {
    let path = format!("{DIR}/{TASKS}");
    let edit = |line: &str| {
        let (blank, rest) = line.split_at(line.len() - line.trim_start().len());
        let field = fields.iter().find(|(name, _)| rest.starts_with(&format!("\"{name}\":")));
        let comma = if rest.ends_with(',') { "," } else { "" };
        field.map_or_else(|| format!("{line}\n"), |(name, value)| format!("{blank}\"{name}\": {value}{comma}\n"))
    };
    write(&path, &read(&path)?.lines().map(edit).collect::<String>())
}

fn read(path: &str) -> Result<String, CommandError> {
    std::fs::read_to_string(path).map_err(|error| CommandError::io(format!("{path} cannot be read"), &error))
}

fn write(path: &str, text: &str) -> Result<(), CommandError> {
    std::fs::write(path, text).map_err(|error| CommandError::io(format!("{path} cannot be written"), &error))
}
