//! In what the rules of a run and those of the settings differ, in words: one line each.

use super::Policy;
use crate::text;
use serde_json::Value;

/// What flags may have changed, and what is not in the settings at all.
const BEYOND_THE_SETTINGS: [&str; 9] =
    ["kind", "task", "prompt", "passes", "config_hash", "completion", "criteria", "limits", "agent"];
/// The same without what the settings say too.
const NOT_IN_THE_SETTINGS: usize = 5;
/// Characters of a value in a line.
const VALUE_CHARS: usize = 120;

impl Policy {
    /// Everything in which this run differs from what the settings say, flags included.
    pub fn differences(&self, settings: &Policy) -> Vec<String> {
        let beyond = BEYOND_THE_SETTINGS.get(..NOT_IN_THE_SETTINGS).unwrap_or_default();
        differences(self, settings, beyond)
    }

    /// In what this run differs from the very settings that it came from. No flag reaches that far, so whatever is
    /// told here was written into the journal by somebody else.
    pub fn forgeries(&self, settings: &Policy) -> Vec<String> {
        let mut found = differences(self, settings, &BEYOND_THE_SETTINGS);
        let (ours, theirs) = (&self.criteria, &settings.criteria);
        let weakened = [
            ("passing tests", ours.passing_tests, theirs.passing_tests),
            ("lint", ours.lint, theirs.lint),
            ("typecheck", ours.typecheck, theirs.typecheck),
            ("no errors", ours.no_errors, theirs.no_errors),
            ("strict", ours.strict, theirs.strict),
        ];
        // `--strict` adds criteria, and no flag takes one away.
        let weakened = weakened.into_iter().filter(|(_, ours, theirs)| *theirs && !ours);
        found.extend(
            weakened.map(|(name, ..)| format!("criteria: {name} is required by the settings and not in this run")),
        );
        found
    }
}

fn differences(run: &Policy, settings: &Policy, beyond: &[&str]) -> Vec<String> {
    let (Ok(Value::Object(mut run)), Ok(Value::Object(mut settings))) =
        (serde_json::to_value(run), serde_json::to_value(settings))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let [ours, theirs] = [&mut run, &mut settings].map(|rules| rules.remove("guardrails").unwrap_or_default());
    guardrails(&ours, &theirs, &mut found);
    for key in beyond {
        run.remove(*key);
        settings.remove(*key);
    }
    compare("", &Value::Object(run), &Value::Object(settings), &mut found);
    found
}

fn guardrails(run: &Value, settings: &Value, found: &mut Vec<String>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let command = |rule: &Value| rule.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
    let named = |rule: &Value| format!("guardrail \"{}\"", shown(&command(rule)));
    let mut theirs = list(settings);
    for ours in list(run) {
        match theirs.iter().position(|rule| command(rule) == command(&ours)) {
            Some(at) => compare(&named(&ours), &ours, &theirs.remove(at), found),
            None => found.push(format!("{} is in this run and not in the settings", named(&ours))),
        }
    }
    found.extend(theirs.iter().map(|rule| format!("{} is in the settings and not in this run", named(rule))));
}

/// One line for each value that differs.
fn compare(name: &str, run: &Value, settings: &Value, found: &mut Vec<String>) {
    if run == settings {
        return;
    }
    let (Value::Object(ours), Value::Object(theirs)) = (run, settings) else {
        found.push(format!("{name} is {} in this run and {} in the settings", value(run), value(settings)));
        return;
    };
    let keys = ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key)));
    for key in keys {
        let words = key.replace('_', " ");
        let name = if name.is_empty() { words } else { format!("{name}: {words}") };
        // What stands in an environment may be a secret.
        if key == "env" && ours.get(key) != theirs.get(key) {
            found.push(format!("{name} differs"));
            continue;
        }
        let of = |rules: &serde_json::Map<String, Value>| rules.get(key).cloned().unwrap_or_default();
        compare(&name, &of(ours), &of(theirs), found);
    }
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        other => shown(&other.to_string()),
    }
}

fn shown(value: &str) -> String {
    text::cut(&text::for_terminal(value).replace('\n', " "), VALUE_CHARS, "...")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guardrail::Guardrail;
    use crate::id::TaskName;
    use crate::time::Millis;

    fn policy(commands: &[&str]) -> Policy {
        let rule = |command: &&str| Guardrail { command: (*command).to_owned(), ..Guardrail::default() };
        Policy { guardrails: commands.iter().map(rule).collect(), ..Policy::new(TaskName::from_text("t")) }
    }

    #[test]
    fn every_difference_is_one_line() {
        let (mut run, mut settings) = (policy(&["make test", "true"]), policy(&["make lint", "make test"]));
        assert_eq!(run.differences(&run), Vec::<String>::new());
        settings.protect.paths = vec!["tests/**".to_owned()];
        settings.limits.max_iterations = 7;
        run.guardrails.iter_mut().take(1).for_each(|rule| rule.timeout = Millis(5));
        run.agent.command = "claude".to_owned();
        let fixed = [
            "guardrail \"make test\": timeout is 5 in this run and 0 in the settings",
            "guardrail \"true\" is in this run and not in the settings",
            "guardrail \"make lint\" is in the settings and not in this run",
            "protect: paths is [] in this run and [\"tests/**\"] in the settings",
        ];
        assert_eq!(run.forgeries(&settings), fixed);
        let all = run.differences(&settings);
        assert!(fixed.iter().all(|line| all.iter().any(|told| told == line)), "{all:#?}");
        assert!(
            all.contains(&"agent: command is \"claude\" in this run and \"\" in the settings".to_owned()),
            "{all:#?}"
        );
        assert!(all.contains(&"limits: max iterations is 1 in this run and 7 in the settings".to_owned()), "{all:#?}");
        assert_eq!(all.len(), 6, "{all:#?}");
    }

    #[test]
    fn a_flag_adds_criteria_and_takes_none_away() {
        let (mut run, mut settings) = (policy(&[]), policy(&[]));
        run.criteria.passing_tests = true;
        assert_eq!(run.forgeries(&settings), Vec::<String>::new());
        settings.criteria.lint = true;
        let told = ["criteria: lint is required by the settings and not in this run"];
        assert_eq!(run.forgeries(&settings), told);
    }
}
