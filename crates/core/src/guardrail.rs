//! Guardrails: commands that must pass after every iteration, and the exact words in which a
//! failure is told to the agent.

use crate::check::{CheckSpec, Ground, Terms};
use crate::id::CheckId;
use crate::text;
use crate::time::Millis;
use serde::{Deserialize, Serialize};

/// One guardrail.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Guardrail {
    /// What people call it; empty means: by its command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub command: String,
    /// What its failure does to the next prompt.
    pub fail_action: FailAction,
    /// Guidance for the agent, never cut; empty means none.
    pub hint: String,
    /// How long it may run.
    pub timeout: Millis,
    /// Which part of its output the next prompt shows.
    #[serde(default)]
    pub output: OutputPart,
    #[serde(default, skip_serializing_if = "Terms::are_none")]
    pub terms: Terms,
}

/// Which part of a failed guardrail's output the next prompt shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputPart {
    /// The first characters.
    #[default]
    First,
    /// The lines that tell most: errors, the end, the beginning.
    Decisive,
}

/// What a guardrail's failure does to the next prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FailAction {
    /// The failure stands behind the text.
    #[default]
    Append,
    /// The failure stands before the text.
    Prepend,
    /// The failure stands instead of the text.
    Replace,
}

impl FailAction {
    /// Reads the action in any case.
    pub fn parse(text: &str) -> Option<FailAction> {
        match text.to_ascii_uppercase().as_str() {
            "APPEND" => Some(FailAction::Append),
            "PREPEND" => Some(FailAction::Prepend),
            "REPLACE" => Some(FailAction::Replace),
            _ => None,
        }
    }

    /// The word as settings write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            FailAction::Append => "APPEND",
            FailAction::Prepend => "PREPEND",
            FailAction::Replace => "REPLACE",
        }
    }

    /// Applies one failure to a prompt; parts are separated by one blank line.
    pub fn apply(self, prompt: &str, failure: &str) -> String {
        match self {
            FailAction::Append => format!("{prompt}\n\n{failure}"),
            FailAction::Prepend => format!("{failure}\n\n{prompt}"),
            FailAction::Replace => failure.to_owned(),
        }
    }
}

/// The longest slug in a log's name.
const SLUG_CHARS: usize = 50;

/// A command as part of a file name: runs of other characters than ASCII letters and digits become
/// one underscore, none at the ends.
pub fn slug(command: &str) -> String {
    let words: Vec<&str> =
        command.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("_").chars().take(SLUG_CHARS).collect()
}

/// The ids of these guardrails, in their order; equal names get `_1`, `_2` and so on.
pub fn ids(guardrails: &[Guardrail]) -> Vec<CheckId> {
    let mut ids: Vec<CheckId> = Vec::with_capacity(guardrails.len());
    for guardrail in guardrails {
        let stem = slug(guardrail.shown());
        let named = std::iter::once(stem.clone()).chain((1..).map(|n| format!("{stem}_{n}")));
        let free = named.map(CheckId::new).find(|id| !ids.contains(id));
        ids.extend(free);
    }
    ids
}

impl Guardrail {
    /// What it is called wherever it is shown.
    pub fn shown(&self) -> &str {
        if self.name.is_empty() { &self.command } else { &self.name }
    }

    /// The guardrail as a check to execute in this iteration.
    pub fn spec(&self, id: CheckId, iteration: u32, ground: Ground, output_chars: usize) -> CheckSpec {
        CheckSpec {
            log_name: format!("guardrail_{iteration:03}_{id}.log"),
            name: self.name.clone(),
            timeout: self.timeout,
            ground,
            fail_action: self.fail_action,
            hint: self.hint.clone(),
            output: self.output,
            output_chars,
            terms: self.terms.clone(),
            ..CheckSpec::new(id, self.command.clone())
        }
    }
}

/// A guardrail that failed, as the next prompt tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardrailFailure {
    pub action: FailAction,
    pub message: String,
}

/// The words for a failed guardrail. `problem` is `failed with exit code 2` or why it could not run.
pub fn failure_message(check: &CheckSpec, problem: &str, log: &str, output: &str) -> String {
    let name = check.name();
    if check.terms.hidden {
        let hint = if check.hint.is_empty() { String::new() } else { format!("\nHint: {}", check.hint) };
        return format!("Guardrail \"{name}\" failed. What it looks at is not shown.{hint}");
    }
    let hint = if check.hint.is_empty() { String::new() } else { format!("Hint: {}\n", check.hint) };
    let output = text::truncate(&text::without_controls(output), check.output_chars);
    let part = match check.output {
        OutputPart::First => "truncated",
        OutputPart::Decisive => "decisive lines",
    };
    // Parts of a prompt stand one blank line apart, however many newlines a program ends with.
    let message = format!("Guardrail \"{name}\" {problem}.\n{hint}Output file: {log}\nOutput ({part}):\n{output}");
    message.trim_end_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guardrail(command: &str) -> Guardrail {
        Guardrail { command: command.to_owned(), ..Guardrail::default() }
    }

    #[test]
    fn slugs_follow_the_table() {
        for (command, expected) in [
            ("@#$test@#$", "test"),
            ("CamelCase/Path.js", "CamelCase_Path_js"),
            ("___test___", "test"),
            ("a  b\tc\nd", "a_b_c_d"),
            ("cargo test --all -- --nocapture", "cargo_test_all_nocapture"),
            ("./mvnw clean install -T 2C", "mvnw_clean_install_T_2C"),
        ] {
            assert_eq!(slug(command), expected);
        }
        assert_eq!(slug(&"long ".repeat(40)).chars().count(), 50);
    }

    #[test]
    fn equal_log_names_are_told_apart() {
        let rules = [guardrail("make test"), guardrail("make  test"), guardrail("make test")];
        let specs = rules.iter().zip(ids(&rules)).map(|(rule, id)| rule.spec(id, 3, Ground::Project, 10));
        let names: Vec<String> = specs.map(|spec| spec.log_name).collect();
        assert_eq!(
            names,
            ["guardrail_003_make_test.log", "guardrail_003_make_test_1.log", "guardrail_003_make_test_2.log"]
        );
    }

    #[test]
    fn the_failure_message_keeps_its_exact_form() {
        let lint = Guardrail { hint: "Fix lint errors only.".to_owned(), ..guardrail("make lint") };
        let message = failure_message(
            &lint.spec(CheckId::new("make_lint"), 3, Ground::Project, 10),
            "failed with exit code 2",
            ".ralph/guardrail_003_make_lint.log",
            &"x".repeat(30),
        );
        assert_eq!(
            message,
            "Guardrail \"make lint\" failed with exit code 2.\nHint: Fix lint errors only.\nOutput file: .ralph/guardrail_003_make_lint.log\nOutput (truncated):\nxxxxxxxxxx... [truncated]"
        );
    }

    #[test]
    fn fail_actions_place_the_failure() {
        assert_eq!(FailAction::Append.apply("base prompt", "error output"), "base prompt\n\nerror output");
        assert_eq!(FailAction::Prepend.apply("base prompt", "error output"), "error output\n\nbase prompt");
        assert_eq!(FailAction::Replace.apply("base prompt", "error output"), "error output");
        assert_eq!(FailAction::parse("Prepend"), Some(FailAction::Prepend));
        assert_eq!(FailAction::parse("nope"), None);
    }
}
