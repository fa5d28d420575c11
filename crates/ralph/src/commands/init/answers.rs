//! What was answered, and the first settings file that it makes.

use ralph_core::guardrail::FailAction;
use serde_json::{Value, json};

pub(super) const MAXIMUM_ITERATIONS: i64 = 10;
pub(super) const COMPLETION_RESPONSE: &str = "DONE";
/// How much of a guardrail's output goes into a prompt; nobody is asked.
const OUTPUT_TRUNCATE_CHARS: u32 = 5000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) agent: String,
    pub(super) flags: Vec<String>,
    /// Signed, so that a negative number gets the same answer as in a file.
    pub(super) maximum_iterations: i64,
    pub(super) completion_response: String,
    pub(super) guardrails: Vec<Guardrail>,
    pub(super) scm: Option<Scm>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guardrail {
    command: String,
    fail_action: FailAction,
    hint: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scm {
    pub(super) command: String,
    pub(super) tasks: Vec<String>,
}

impl Guardrail {
    /// A guardrail; an empty hint is none.
    pub(super) fn new(command: &str, fail_action: FailAction, hint: &str) -> Guardrail {
        Guardrail { command: command.to_owned(), fail_action, hint: hint.to_owned() }
    }
}

impl Answers {
    pub(super) fn settings(&self) -> Value {
        let mut settings = json!({
            "maximumIterations": self.maximum_iterations,
            "completionResponse": self.completion_response,
            "outputTruncateChars": OUTPUT_TRUNCATE_CHARS,
            "streamAgentOutput": true,
            "includeIterationCountInPrompt": false,
            "agent": { "command": self.agent, "flags": self.flags },
            "guardrails": self.guardrails.iter().map(guardrail).collect::<Vec<_>>(),
        });
        if let (Some(scm), Value::Object(settings)) = (&self.scm, &mut settings) {
            settings.insert("scm".to_owned(), json!({ "command": scm.command, "tasks": scm.tasks }));
        }
        settings
    }
}

fn guardrail(guardrail: &Guardrail) -> Value {
    let mut value = json!({ "command": guardrail.command, "failAction": guardrail.fail_action });
    if let (false, Value::Object(value)) = (guardrail.hint.is_empty(), &mut value) {
        value.insert("hint".to_owned(), guardrail.hint.clone().into());
    }
    value
}

/// The parts of a list that was typed with commas.
pub(super) fn list(typed: &str) -> Vec<String> {
    typed.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Loaded;

    #[test]
    fn the_keys_stand_in_their_order_and_nothing_empty_is_written() {
        let mut answers = Answers {
            agent: "claude".to_owned(),
            flags: list(" --model , opus,, "),
            maximum_iterations: 3,
            completion_response: "OK".to_owned(),
            guardrails: vec![
                Guardrail::new("make lint", FailAction::Prepend, "Fix \"lint\" only."),
                Guardrail::new("make test", FailAction::Append, ""),
            ],
            scm: Some(Scm { command: "git".to_owned(), tasks: list("commit,push") }),
        };
        let expected = r#"{"maximumIterations":3,"completionResponse":"OK","outputTruncateChars":5000,"streamAgentOutput":true,"includeIterationCountInPrompt":false,"agent":{"command":"claude","flags":["--model","opus"]},"guardrails":[{"command":"make lint","failAction":"PREPEND","hint":"Fix \"lint\" only."},{"command":"make test","failAction":"APPEND"}],"scm":{"command":"git","tasks":["commit","push"]}}"#;
        assert_eq!(answers.settings().to_string(), expected);
        answers.scm = None;
        assert!(!answers.settings().to_string().contains("scm"));
        Loaded::of(answers.settings()).check().unwrap();
    }
}
