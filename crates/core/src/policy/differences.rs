//! In what the rules of a run and those of the settings differ, in words: one line each.

use super::{AgentPolicy, Kind, Limits, Policy};
use crate::guardrail::Guardrail;
use crate::protect::OnChange;
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
        found.extend(self.missing_criteria(settings));
        found
    }
}

impl Policy {
    /// What these settings ask for and this run does not: by what it passes, it would not be verified today. Limits,
    /// prompts and agents verify nothing.
    pub fn weaknesses(&self, settings: &Policy) -> Vec<String> {
        let mut found = self.missing_criteria(settings);
        let same = |one: &Guardrail, other: &Guardrail| one.command == other.command && one.terms == other.terms;
        for asked in &settings.guardrails {
            if !self.guardrails.iter().any(|own| same(own, asked)) {
                let named = shown(&asked.command);
                let has_command = self.guardrails.iter().any(|own| own.command == asked.command);
                let how =
                    if has_command { "has other terms in the settings than" } else { "is in the settings and not" };
                found.push(format!("guardrail \"{named}\" {how} in this run"));
            }
        }
        if settings.guardrails.is_empty() && !self.guardrails.is_empty() {
            found.push("this run has guardrails and the settings have none".to_owned());
        }
        let (ours, theirs) = (&self.protect, &settings.protect);
        let unprotected = theirs.paths.iter().filter(|path| !ours.paths.contains(path));
        found.extend(unprotected.map(|path| format!("the settings protect {} and this run does not", shown(path))));
        let off =
            |is_weaker: bool, what: &str| is_weaker.then(|| format!("{what} in this run and not in the settings"));
        let allows = |policy: &Policy| policy.protect.on_change == OnChange::Allow;
        let counted = self.verify.commands.iter().any(|own| !settings.verify.commands.contains(own));
        found.extend(off(theirs.scripts && !ours.scripts, "protect.scripts is off"));
        found.extend(off(allows(self) && !allows(settings), "protect.onChange is allow"));
        found.extend(off(self.verify.live && !settings.verify.live, "verify.snapshot is off"));
        found.extend(off(settings.verify.clean_checkout && !self.verify.clean_checkout, "verify.cleanCheckout is off"));
        found.extend(off(counted, "verify.commands has a command"));
        found
    }

    /// Equal for rules that judge equally. Limits, the agent and how a plan is reviewed may be others when the run
    /// goes on.
    pub fn print(&self) -> String {
        let mut rules = Policy { limits: Limits::default(), agent: AgentPolicy::default(), ..self.clone() };
        if let Kind::Plan(plan) = &mut rules.kind {
            (plan.rules, plan.reviewer, plan.commands) = Default::default();
        }
        text::hash(&serde_json::to_vec(&rules).unwrap_or_default())
    }

    /// `--strict` adds criteria, and no flag takes one away.
    fn missing_criteria(&self, settings: &Policy) -> Vec<String> {
        let (ours, theirs) = (&self.criteria, &settings.criteria);
        let criteria = [
            ("passing tests", ours.passing_tests, theirs.passing_tests),
            ("lint", ours.lint, theirs.lint),
            ("typecheck", ours.typecheck, theirs.typecheck),
            ("no errors", ours.no_errors, theirs.no_errors),
            ("strict", ours.strict, theirs.strict),
        ];
        let missing = criteria.into_iter().filter(|(_, ours, theirs)| *theirs && !ours);
        missing.map(|(name, ..)| format!("criteria: {name} is required by the settings and not in this run")).collect()
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
    fn a_run_that_asks_for_less_than_the_settings_is_weaker_and_one_that_asks_for_more_is_not() {
        let settings = policy(&["make test"]);
        let mut run = policy(&["make test", "make lint"]);
        run.protect.paths = vec!["tests/**".to_owned()];
        run.limits.max_iterations = 9;
        run.guardrails.iter_mut().for_each(|rule| rule.timeout = Millis(5));
        assert_eq!(run.weaknesses(&settings), Vec::<String>::new());
        type Edit = fn(&mut Policy);
        let weaker: [(Edit, Edit, &str); 8] = [
            (|run| run.guardrails.truncate(0), |_| (), "guardrail \"make test\" is in the settings"),
            (|run| run.guardrails.iter_mut().for_each(|rule| rule.terms.writes = true), |_| (), "other terms"),
            (|_| (), |settings| settings.guardrails.clear(), "the settings have none"),
            (|_| (), |settings| settings.protect.paths = vec!["src/**".to_owned()], "the settings protect src/**"),
            (|_| (), |settings| settings.protect.scripts = true, "protect.scripts is off"),
            (|run| run.protect.on_change = OnChange::Allow, |_| (), "protect.onChange is allow"),
            (|run| run.verify.live = true, |_| (), "verify.snapshot is off"),
            (|_| (), |settings| settings.verify.clean_checkout = true, "verify.cleanCheckout is off"),
        ];
        for (of_run, of_settings, words) in weaker {
            let (mut run, mut settings) = (run.clone(), settings.clone());
            of_run(&mut run);
            of_settings(&mut settings);
            let told = run.weaknesses(&settings);
            assert!(told.len() == 1 && told.iter().all(|line| line.contains(words)), "{words}: {told:#?}");
        }
    }

    #[test]
    fn limits_and_agents_are_no_rules_by_which_a_run_is_known() {
        let run = policy(&["make test"]);
        let mut other = run.clone();
        (other.limits.max_cost_usd, other.agent.command) = (0.1, "codex".to_owned());
        assert_eq!(run.print(), other.print());
        assert_ne!(run.print(), policy(&["true"]).print());
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
