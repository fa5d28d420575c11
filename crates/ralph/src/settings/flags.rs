//! Flags as the topmost layers of settings, one layer for each, so that each is named as an origin.

use super::layers::{Layers, Origin};
use ralph_agents::base_name;
use ralph_core::time::Millis;
use serde_json::{Number, Value, json};

/// The flags of a run that stand over settings and are judged like them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flags {
    pub agent: Option<String>,
    pub model: Option<String>,
    /// `--maximum-iterations`; signed, so that a negative number gets the same answer as in a file.
    pub max_iterations: Option<i64>,
    pub completion_response: Option<String>,
    /// `--stream-agent-output` or `--no-stream-agent-output`.
    pub stream: Option<bool>,
    pub strict: bool,
    pub max_wall_time: Option<Millis>,
    pub iteration_timeout: Option<Millis>,
    pub idle_timeout: Option<Millis>,
    pub max_cost: Option<f64>,
    pub max_tokens: Option<u64>,
    pub no_wait: bool,
    /// `--once`. No key says this; the policy asks for it.
    pub once: bool,
    /// `--plan`, with which `--maximum-iterations` means those of a plan.
    pub plan: bool,
    /// `--skip-review` or `--no-skip-review`.
    pub skip_review: Option<bool>,
    /// `--review-cap`; signed like `max_iterations`.
    pub review_cap: Option<i64>,
    pub review_agent: Option<String>,
    pub review_model: Option<String>,
}

impl Flags {
    /// Lays the flags over the settings and returns what to warn of.
    pub(super) fn lay_over(&self, layers: &mut Layers) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(agent) = &self.agent {
            let (value, dropped) = another_agent(agent, &layers.merged());
            layers.add(Origin::Flag("--agent"), value);
            if !dropped.is_empty() {
                warnings.push(format!(
                    "flag --agent: {} in the settings is for another agent and is not used",
                    dropped.join(", ")
                ));
            }
        }
        for (flag, value) in self.plain_layers() {
            layers.add(Origin::Flag(flag), value);
        }
        warnings
    }

    fn plain_layers(&self) -> Vec<(&'static str, Value)> {
        let strict = json!({
            "requirePassingTests": true, "requireLint": true, "requireTsc": true, "requireNoErrors": true, "strict": true
        });
        let stream = if self.stream == Some(true) { "--stream-agent-output" } else { "--no-stream-agent-output" };
        let skipping = if self.skip_review == Some(true) { "--skip-review" } else { "--no-skip-review" };
        let layers = [
            self.model.as_ref().map(|model| ("--model", json!({"agent": {"model": model}}))),
            self.max_iterations.map(|n| ("--maximum-iterations", self.iterations(n))),
            self.completion_response
                .as_ref()
                .map(|text| ("--completion-response", json!({"completionResponse": text}))),
            self.stream.map(|on| (stream, json!({"streamAgentOutput": on}))),
            self.strict.then(|| ("--strict", json!({"loop": {"stopCriteria": strict}}))),
            self.max_wall_time.map(|time| ("--max-wall-time", json!({"loop": {"maxWallTimeMs": time}}))),
            self.iteration_timeout.map(|time| ("--iteration-timeout", json!({"loop": {"iterationTimeoutMs": time}}))),
            self.idle_timeout.map(|time| ("--idle-timeout", json!({"loop": {"idleTimeoutMs": time}}))),
            self.max_cost.map(|cost| ("--max-cost", json!({"limits": {"maxCostUsd": number(cost)}}))),
            self.max_tokens.map(|tokens| ("--max-tokens", json!({"limits": {"maxTokens": tokens}}))),
            self.no_wait.then(|| ("--no-wait", json!({"limits": {"waitForReset": false}}))),
            self.skip_review.map(|skip| (skipping, json!({"plan": {"skipReview": skip}}))),
            self.review_cap.map(|cap| ("--review-cap", json!({"plan": {"reviewCap": cap}}))),
            self.review_agent.as_ref().map(|agent| ("--review-agent", json!({"plan": {"review": {"agent": agent}}}))),
            self.review_model.as_ref().map(|model| ("--review-model", json!({"plan": {"review": {"model": model}}}))),
        ];
        layers.into_iter().flatten().collect()
    }

    fn iterations(&self, most: i64) -> Value {
        let key = json!({"maximumIterations": most});
        if self.plan { json!({"plan": key}) } else { key }
    }
}

/// What `--agent` says, and which given keys it drops. How to start one program and how to read it
/// says nothing about another one: Claude's flags would only make Codex fail.
fn another_agent(agent: &str, merged: &Value) -> (Value, Vec<&'static str>) {
    let mut value = json!({"command": agent});
    let mut dropped = Vec::new();
    let given = merged.get("agent");
    let configured = given.and_then(|agent| agent.get("command")).and_then(Value::as_str);
    if configured.is_some_and(|configured| base_name(configured) != base_name(agent))
        && let Some(value) = value.as_object_mut()
    {
        let of_the_program = [
            ("flags", "agent.flags", Value::Null),
            ("dialect", "agent.dialect", Value::Null),
            ("format", "agent.format", Value::Null),
            ("model", "agent.model", Value::Null),
            ("promptVia", "agent.promptVia", Value::from("auto")),
        ];
        for (key, path, default) in of_the_program {
            let says_something = |given: &&Value| **given != default && !is_empty(given);
            if given.and_then(|agent| agent.get(key)).filter(says_something).is_some() {
                value.insert(key.to_owned(), default);
                dropped.push(path);
            }
        }
    }
    (json!({"agent": value}), dropped)
}

/// Whether a value says nothing: `init` writes `"flags": []`.
fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_str().is_some_and(str::is_empty)
}

/// A number that JSON cannot hold becomes a text, which the check refuses by its name.
fn number(value: f64) -> Value {
    Number::from_f64(value).map_or_else(|| Value::from(value.to_string()), Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid(settings: Value, flags: &Flags) -> (Value, Vec<String>) {
        let mut layers = Layers::default();
        layers.add(Origin::File("f"), settings);
        let warnings = flags.lay_over(&mut layers);
        (layers.merged(), warnings)
    }

    #[test]
    fn each_flag_sets_its_key() {
        let flags = Flags {
            agent: Some("codex".to_owned()),
            model: Some("m".to_owned()),
            max_iterations: Some(-3),
            completion_response: Some("OK".to_owned()),
            stream: Some(false),
            strict: true,
            max_wall_time: Some(Millis(1)),
            iteration_timeout: Some(Millis(2)),
            idle_timeout: Some(Millis(0)),
            max_cost: Some(1.5),
            max_tokens: Some(7),
            no_wait: true,
            once: true,
            plan: false,
            skip_review: Some(true),
            review_cap: Some(2),
            review_agent: Some("claude".to_owned()),
            review_model: Some("r".to_owned()),
        };
        let (merged, warnings) = laid(json!({}), &flags);
        assert!(warnings.is_empty());
        for (pointer, value) in [
            ("/agent/command", json!("codex")),
            ("/agent/model", json!("m")),
            ("/maximumIterations", json!(-3)),
            ("/completionResponse", json!("OK")),
            ("/streamAgentOutput", json!(false)),
            ("/loop/stopCriteria/requirePassingTests", json!(true)),
            ("/loop/stopCriteria/requireLint", json!(true)),
            ("/loop/stopCriteria/requireTsc", json!(true)),
            ("/loop/stopCriteria/requireNoErrors", json!(true)),
            ("/loop/stopCriteria/strict", json!(true)),
            ("/loop/maxWallTimeMs", json!(1)),
            ("/loop/iterationTimeoutMs", json!(2)),
            ("/loop/idleTimeoutMs", json!(0)),
            ("/limits/maxCostUsd", json!(1.5)),
            ("/limits/maxTokens", json!(7)),
            ("/limits/waitForReset", json!(false)),
            ("/plan/maximumIterations", json!(15)),
            ("/plan/skipReview", json!(true)),
            ("/plan/reviewCap", json!(2)),
            ("/plan/review/agent", json!("claude")),
            ("/plan/review/model", json!("r")),
        ] {
            assert_eq!(merged.pointer(pointer), Some(&value), "{pointer}");
        }
        let (merged, _) = laid(json!({}), &Flags { plan: true, ..flags });
        assert_eq!(merged.pointer("/plan/maximumIterations"), Some(&json!(-3)));
        assert_eq!(merged.pointer("/maximumIterations"), Some(&json!(10)), "those of prompts are not meant");
    }

    #[test]
    fn no_flags_change_nothing() {
        let settings = json!({"agent": {"command": "c", "flags": ["x"]}, "streamAgentOutput": false});
        assert_eq!(
            laid(settings.clone(), &Flags::default()),
            laid(settings, &Flags { once: true, ..Flags::default() })
        );
    }

    #[test]
    fn another_agent_does_not_inherit_what_was_meant_for_the_first() {
        let settings =
            json!({"agent": {"command": "/opt/Claude.exe", "flags": ["--x"], "dialect": "claude", "env": {"A": "1"}}});
        let agent = |name: &str| Flags { agent: Some(name.to_owned()), ..Flags::default() };
        let (merged, warnings) = laid(settings.clone(), &agent("codex"));
        assert_eq!(merged["agent"]["flags"], Value::Null);
        assert_eq!(merged["agent"]["dialect"], Value::Null);
        assert_eq!(merged["agent"]["env"], json!({"A": "1"}));
        assert_eq!(
            warnings,
            ["flag --agent: agent.flags, agent.dialect in the settings is for another agent and is not used"]
        );
        let (merged, warnings) = laid(settings, &agent("bin/claude"));
        assert_eq!(merged["agent"]["flags"], json!(["--x"]));
        assert!(warnings.is_empty());
        let empty = json!({"agent": {"command": "claude", "flags": [], "model": "", "promptVia": "auto"}});
        assert!(laid(empty, &agent("codex")).1.is_empty(), "nothing was lost");
    }
}
