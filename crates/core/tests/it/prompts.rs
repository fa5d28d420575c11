//! The exact text that an agent gets.

use crate::sim::{Agent, FAIL, PASS, Turn, World, guardrail, guardrails, play, policy, turn, turns};
use ralph_core::check::Ground;
use ralph_core::claim::{Claim, Completion, Patterns, Scanner};
use ralph_core::guardrail::{FailAction, Guardrail, GuardrailFailure, failure_message, slug};
use ralph_core::id::CheckId;
use ralph_core::policy::{Passes, Policy, StopCriteria};
use ralph_core::prompt::{Ingredients, compose};
use ralph_core::text::truncate;
use serde_json::Value;

fn cases() -> Value {
    serde_json::from_str(include_str!("../cases/guardrails.json")).unwrap()
}

fn table(name: &str) -> Vec<Value> {
    cases()[name].as_array().unwrap().clone()
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_default()
}

#[test]
fn guardrail_words_follow_the_table() {
    for case in table("fail_action") {
        let action = FailAction::parse(text(&case, "action")).unwrap();
        assert_eq!(action.apply(text(&case, "prompt"), text(&case, "failure")), text(&case, "output"));
    }
    for case in table("failure_message") {
        let rule = Guardrail {
            command: text(&case, "command").to_owned(),
            fail_action: FailAction::parse(text(&case, "fail_action")).unwrap(),
            hint: text(&case, "hint").to_owned(),
            ..Guardrail::default()
        };
        let problem = format!("failed with exit code {}", case["exit_code"]);
        let limit = usize::try_from(case["limit"].as_u64().unwrap()).unwrap();
        let check = rule.spec(CheckId::new("x"), 1, Ground::Project, limit);
        let message = failure_message(&check, &problem, text(&case, "log_file"), text(&case, "raw_output"));
        assert_eq!(message, text(&case, "message"));
    }
    for case in table("slug") {
        assert_eq!(slug(text(&case, "in")), text(&case, "out"));
    }
    for case in table("truncate") {
        let limit = usize::try_from(case["limit"].as_u64().unwrap()).unwrap();
        assert_eq!(truncate(text(&case, "input"), limit), text(&case, "output"));
    }
}

#[test]
fn several_failures_change_the_next_prompt_in_their_order() {
    for case in table("several") {
        let mut policy = policy();
        policy.prompt = ralph_core::policy::PromptSource::Text(text(&case, "prompt").to_owned());
        let actions = case["actions"].as_array().unwrap().iter().map(|action| action.as_str().unwrap());
        let rules = ["g1", "g2"].into_iter().zip(actions);
        policy.guardrails =
            rules.map(|(command, action)| guardrail(command, FailAction::parse(action).unwrap())).collect();
        policy.limits.max_iterations = 2;
        let sim = play(World::new(policy, vec![Turn { checks: vec![FAIL], ..turn(Agent::Works) }]));
        let log = |n: u32| format!(".ralph/guardrail_001_g{n}.log");
        let expected = text(&case, "output").replace("L1", &log(1)).replace("L2", &log(2));
        assert_eq!(sim.prompts()[1], format!("{expected}\n"));
    }
}

#[test]
fn a_failure_is_told_once_and_not_again_when_it_is_repaired() {
    let red = Turn { checks: vec![FAIL], ..turn(Agent::Works) };
    let mut policy = policy();
    policy.guardrails = guardrails(&["make test"]);
    policy.limits.max_iterations = 3;
    let sim = play(World::new(policy, vec![red, Turn { checks: vec![PASS], ..turn(Agent::Works) }]));
    assert!(sim.prompts()[1].contains("Guardrail \"make test\" failed with exit code 1."));
    assert_eq!(sim.prompts()[2], "Fix the login.\n");
}

#[test]
fn a_plain_prompt_is_the_base_text_alone() {
    let sim = play(World::new(policy(), turns(&[Agent::Claims])));
    assert_eq!(sim.prompts(), ["Fix the login.\n"]);
}

#[test]
fn the_iteration_line_stands_first() {
    let policy = Policy { iteration_line: true, ..policy() };
    let sim = play(World::new(policy, turns(&[Agent::Works, Agent::Claims])));
    assert_eq!(
        sim.prompts(),
        ["Iteration 1 of 10, 9 remaining.\n\nFix the login.\n", "Iteration 2 of 10, 8 remaining.\n\nFix the login.\n"]
    );
}

#[test]
fn a_single_pass_is_the_last_iteration_whatever_the_limit() {
    let policy = Policy { iteration_line: true, passes: Passes::Single, ..policy() };
    let sim = play(World::new(policy, turns(&[Agent::Claims])));
    assert_eq!(sim.prompts(), ["Iteration 1 of 1, 0 remaining.\n\nFix the login.\n"]);
}

const PROTOCOL: &str = "## Completion protocol

- When the whole task is finished, end your answer with the text DONE between an opening and a closing XML tag named response. Your work is then checked; if a check fails you will be told.
- If you cannot go on without a person, print the word BLOCKED, a colon and the reason between an opening and a closing XML tag named ralph.
- Print these tags for no other purpose.";

#[test]
fn the_protocol_stands_last_with_the_stop_rules() {
    let plain = Policy { protocol: true, ..policy() };
    let ingredients = Ingredients { iteration: 1, base: "Fix the login.\n\n", ..Ingredients::default() };
    assert_eq!(compose(&plain, &ingredients), format!("Fix the login.\n\n{PROTOCOL}\n"));

    let criteria = StopCriteria { passing_tests: true, lint: true, typecheck: true, no_errors: true, strict: true };
    let strict = Policy { criteria, ..plain };
    assert_eq!(
        compose(&strict, &ingredients),
        format!(
            "Fix the login.\n\n{PROTOCOL}
- Run tests and ensure they pass before completion.
- Run lint and fix all lint errors before completion.
- Run typecheck (tsc) and fix all errors before completion.
- Do not declare completion if any tool or execution errors occurred.\n"
        )
    );
}

#[test]
fn every_part_has_its_place() {
    let policy = Policy { protocol: true, iteration_line: true, ..policy() };
    let failures = [
        GuardrailFailure { action: FailAction::Append, message: "lost".to_owned() },
        GuardrailFailure { action: FailAction::Replace, message: "Repair the tests.".to_owned() },
        GuardrailFailure { action: FailAction::Prepend, message: "Lint first.".to_owned() },
    ];
    let prompt = compose(
        &policy,
        &Ingredients {
            iteration: 4,
            base: "Fix the login.",
            failures: &failures,
            summary: "# Ralph Loop Summary\n",
            feedback: "Iteration 3 was not accepted.\n",
            human: "please use tabs",
            messages: &["one".to_owned(), "two ``` three".to_owned()],
            requests: Default::default(),
        },
    );
    assert_eq!(
        prompt,
        format!(
            "Iteration 4 of 10, 6 remaining.

## Task

Lint first.

Repair the tests.

## Ralph Summary

# Ralph Loop Summary

## Ralph Feedback

Iteration 3 was not accepted.

please use tabs

## Last Messages Of The Previous Iteration

```text
one
```

````text
two ``` three
````

{PROTOCOL}
"
        )
    );
}

#[test]
fn the_task_gets_a_heading_only_beside_memory() {
    let policy = policy();
    let with =
        |summary, feedback, human| Ingredients { base: "Fix it.", summary, feedback, human, ..Ingredients::default() };
    let table = [
        (with("", "", ""), "Fix it.\n"),
        (with("sum", "", ""), "## Task\n\nFix it.\n\n## Ralph Summary\n\nsum\n"),
        (with("", "red", ""), "## Task\n\nFix it.\n\n## Ralph Feedback\n\nred\n"),
        (with("", "", "tabs"), "## Task\n\nFix it.\n\n## Ralph Feedback\n\ntabs\n"),
    ];
    for (ingredients, prompt) in table {
        assert_eq!(compose(&policy, &ingredients), prompt);
    }
}

#[test]
fn b12_the_protocol_itself_claims_nothing_whatever_the_settings_call_a_claim() {
    let claim_of = |completion: &Completion, text: &str| {
        let mut scanner = Scanner::new(&Patterns::new(completion));
        scanner.feed(text);
        scanner.message_ended();
        scanner.claim()
    };
    let defaults = Completion::default;
    let response = |response: &str| Completion { response: response.to_owned(), ..defaults() };
    let success = |regex: &str| Completion { success_regex: regex.to_owned(), ..defaults() };
    let blocked = |regex: &str| Completion { blocked_regex: regex.to_owned(), ..defaults() };
    let table = [
        (response("DONE"), "DONE "),
        (response("  all done "), "all done "),
        (response("<response>x"), "<response>x "),
        (response("<response>x</response>"), "<response>x</response> "),
        (response("</response>"), "</response> "),
        (response("<ralph>"), "<ralph> "),
        // Settings that make the response itself a claim: it is spelt.
        (response("<ralph>COMPLETE</ralph>"), "< r a l p h > C O M P L E T E < / r a l p h > "),
        (response("<ralph>BLOCKED: x</ralph>"), "< r a l p h > B L O C K E D :   x < / r a l p h > "),
        (success("done"), "D O N E "),
        (success(r"\bDONE\b"), "D O N E "),
        // Settings that make a claim of ordinary words: better no protocol than one that claims.
        (success("task"), ""),
        (success("the "), ""),
        (blocked("BLOCKED(.*)"), ""),
    ];
    for (completion, told) in table {
        let policy = Policy { protocol: true, completion, ..policy() };
        let prompt = compose(&policy, &Ingredients { base: "", ..Ingredients::default() });
        assert_eq!(claim_of(&policy.completion, &prompt), Claim::None, "{:?}", policy.completion);
        let said = prompt.contains(&format!("with the text {told}")) && !told.is_empty();
        assert!(said || (told.is_empty() && !prompt.contains("protocol")), "{prompt}");
    }
}
