//! Composing a prompt: a pure function, so that it can be shown by a dry run and tested as data.

use crate::claim::{BLOCKED_REGEX, Claim, Completion, Patterns, SUCCESS_REGEX, Scanner};
use crate::guardrail::GuardrailFailure;
use crate::inbox::{self, Requests};
use crate::memory::fence;
use crate::policy::{Policy, StopCriteria};

/// Everything that a prompt is made from besides the policy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ingredients<'a> {
    /// The iteration's number.
    pub iteration: u32,
    pub base: &'a str,
    /// Guardrails that failed in the previous iteration, in their order.
    pub failures: &'a [GuardrailFailure],
    /// The summary; empty if there is no memory.
    pub summary: &'a str,
    /// What ralph says about the previous iteration; empty if nothing.
    pub feedback: &'a str,
    /// What people say; empty if nothing.
    pub human: &'a str,
    /// The last messages of the previous iteration, oldest first.
    pub messages: &'a [String],
    /// What people want, oldest first.
    pub requests: &'a Requests,
}

/// The exact prompt of one iteration.
pub fn compose(policy: &Policy, from: &Ingredients<'_>) -> String {
    let base = from.base.trim_end_matches('\n');
    let task =
        from.failures.iter().fold(base.to_owned(), |prompt, failure| failure.action.apply(&prompt, &failure.message));
    let mut parts: Vec<String> = Vec::new();
    if policy.iteration_line {
        let max = policy.last_iteration(from.iteration);
        parts.push(format!("Iteration {} of {max}, {} remaining.", from.iteration, max.saturating_sub(from.iteration)));
    }
    let has_memory =
        !(from.summary.is_empty() && from.feedback.is_empty() && from.human.is_empty() && from.messages.is_empty());
    parts.push(if has_memory { format!("## Task\n\n{task}") } else { task });
    if !from.summary.is_empty() {
        parts.push(format!("## Ralph Summary\n\n{}", from.summary.trim_end()));
    }
    if !from.feedback.is_empty() || !from.human.is_empty() {
        let mut feedback = "## Ralph Feedback".to_owned();
        for text in [from.feedback, from.human].into_iter().filter(|text| !text.is_empty()) {
            feedback.push_str("\n\n");
            feedback.push_str(text.trim_end());
        }
        parts.push(feedback);
    }
    if !from.messages.is_empty() {
        let messages: Vec<String> = from.messages.iter().map(|message| fence(message)).collect();
        parts.push(format!("## Last Messages Of The Previous Iteration\n\n{}", messages.join("\n\n")));
    }
    if !from.requests.is_empty() {
        parts.push(inbox::section(from.requests));
    }
    if policy.protocol {
        parts.extend(protocol(&policy.completion, &policy.criteria));
    }
    parts.last_mut().into_iter().for_each(|last| last.push('\n'));
    parts.join("\n\n")
}

/// Tells the agent how to claim, in words that themselves claim nothing: an agent that repeats its
/// prompt must not be done by that. Where the settings make a claim of the response itself, it is
/// spelt; where they make one of ralph's words, nothing is said.
fn protocol(completion: &Completion, criteria: &StopCriteria) -> Option<String> {
    let response = completion.response.trim();
    let letters: Vec<String> = response.chars().map(String::from).collect();
    let spelt = format!("{} (without the spaces between its characters)", letters.join(" "));
    // Alone as well: whoever breaks the lines of a prompt anew may put it at the end of one.
    let harmless = |response: &&&str| !claims(response, completion);
    let texts = [response, &spelt];
    let mut texts = texts.iter().filter(harmless).map(|response| protocol_text(response, criteria));
    texts.find(|text| !claims(text, completion))
}

fn claims(text: &str, completion: &Completion) -> bool {
    // The usual patterns all begin with a tag; compiling them for every prompt would cost more than the rest.
    let usual = completion.success_regex == SUCCESS_REGEX && completion.blocked_regex == BLOCKED_REGEX;
    if usual && !text.contains('<') {
        return false;
    }
    let mut scanner = Scanner::new(&Patterns::new(completion));
    scanner.feed(text);
    scanner.message_ended();
    scanner.claim() != Claim::None
}

fn protocol_text(response: &str, criteria: &StopCriteria) -> String {
    let mut text = format!(
        "## Completion protocol\n\n\
         - When the whole task is finished, end your answer with the text {response} between an opening and a closing XML tag named response. \
         Your work is then checked; if a check fails you will be told.\n\
         - If you cannot go on without a person, print the word BLOCKED, a colon and the reason between an opening and a closing XML tag named ralph.\n\
         - Print these tags for no other purpose."
    );
    let rules = [
        (criteria.passing_tests, "Run tests and ensure they pass before completion."),
        (criteria.lint, "Run lint and fix all lint errors before completion."),
        (criteria.typecheck, "Run typecheck (tsc) and fix all errors before completion."),
        (criteria.no_errors, "Do not declare completion if any tool or execution errors occurred."),
    ];
    for (_, rule) in rules.iter().filter(|(wanted, _)| *wanted) {
        text.push_str("\n- ");
        text.push_str(rule);
    }
    text
}
