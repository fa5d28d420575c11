//! What a run's last iteration needed to be complete, condition by condition, each with the fact
//! that met or missed it. The verdict itself is core's; this only lays its grounds side by side.

use super::json;
use super::story::{Chapter, Story};
use super::words;
use ralph_core::check::TreePrint;
use ralph_core::claim::Claim;
use ralph_core::evidence;
use ralph_core::observation::Marker;
use serde_json::Value;

/// One thing that had to be so.
pub struct Condition {
    /// What, in a few words.
    pub name: String,
    /// Whether it was so; `None` if nobody got as far as to look.
    pub met: Option<bool>,
    /// How that is known.
    pub detail: String,
    /// The receipt of the check that says so.
    pub receipt: Option<Value>,
}

impl Condition {
    fn new(name: &str, met: Option<bool>, detail: impl Into<String>) -> Condition {
        Condition { name: name.to_owned(), met, detail: detail.into(), receipt: None }
    }
}

/// The conditions of the last iteration; none if there was none.
pub fn of(story: &Story<'_>) -> Vec<Condition> {
    let Some(chapter) = story.chapter(None) else { return Vec::new() };
    let mut all = vec![ended_well(chapter), claimed(story, chapter)];
    all.extend(guardrails(story, chapter));
    all.extend(findings(story, chapter));
    if !story.machine.policy().guardrails.is_empty() {
        all.push(tree_stood_still(chapter));
    }
    all
}

fn ended_well(chapter: &Chapter<'_>) -> Condition {
    const NAME: &str = "the agent ended well";
    match &chapter.agent {
        None => Condition::new(NAME, None, "its end was not seen"),
        Some(agent) => Condition::new(NAME, Some(agent.well), words::agent_end(agent)),
    }
}

fn claimed(story: &Story<'_>, chapter: &Chapter<'_>) -> Condition {
    const NAME: &str = "the agent claimed completion";
    let Some(agent) = &chapter.agent else { return Condition::new(NAME, None, "its end was not seen") };
    let response = &story.machine.policy().completion.response;
    let (met, detail) = match (&agent.seen.claim, &agent.seen.marker) {
        (Claim::Blocked { reason }, _) => (false, format!("it said that it is blocked: {reason}")),
        (Claim::Wait, _) => (false, "it asked to wait".to_owned()),
        (_, Marker::WrongKind(kind)) => (false, format!("DONE in the task folder is a {kind}, not a file")),
        (Claim::Complete, _) => (true, "it said so in its own text".to_owned()),
        (Claim::None, Marker::Present) => (true, "it wrote the DONE file".to_owned()),
        (Claim::None, Marker::Absent) => {
            (false, format!("its text has no <response>{response}</response> and there is no DONE file"))
        }
    };
    match (met, agent.well) {
        (true, false) => {
            Condition::new(NAME, Some(false), format!("{detail}, but it did not end well: no claim counts"))
        }
        _ => Condition::new(NAME, Some(met), detail),
    }
}

fn guardrails(story: &Story<'_>, chapter: &Chapter<'_>) -> Vec<Condition> {
    let rules = story.machine.policy().guardrails.iter().enumerate();
    let judge = |(index, rule): (usize, &ralph_core::guardrail::Guardrail)| {
        let name = format!("guardrail \"{}\"", rule.command);
        match chapter.counted().find(|check| check.report.spec.index == index) {
            None => Condition::new(&name, None, "it was not executed to its end in this iteration"),
            Some(check) => Condition {
                name,
                met: Some(check.report.ending.passed()),
                detail: format!("{} · {}", words::check_end(check), words::receipt(check)),
                receipt: Some(json::receipt(chapter, check)),
            },
        }
    };
    rules.map(judge).collect()
}

/// What the settings want to see in the agent's own tool runs.
fn findings(story: &Story<'_>, chapter: &Chapter<'_>) -> Vec<Condition> {
    let Some(agent) = &chapter.agent else { return Vec::new() };
    let policy = story.machine.policy();
    let found = evidence::judge_with(&policy.criteria, &agent.seen.tools, &agent.seen.errors, &policy.verify.commands);
    let judge = |finding: evidence::Finding| {
        let name = format!("evidence of the agent's tool runs: {}", finding.criterion.as_str());
        let detail = if finding.passed { "nothing against it".to_owned() } else { finding.reason };
        Condition::new(&name, Some(finding.passed), detail)
    };
    found.into_iter().map(judge).collect()
}

fn tree_stood_still(chapter: &Chapter<'_>) -> Condition {
    const NAME: &str = "the files stood still while the checks ran";
    match (chapter.tree_moved(), chapter.look_after) {
        (None, _) => Condition::new(NAME, None, "looked at only when a claim stands and every guardrail passed"),
        (Some(true), _) => Condition::new(NAME, Some(false), "they changed, so no check speaks for them"),
        (Some(false), Some(TreePrint::Unknown { why })) => {
            Condition::new(NAME, None, format!("they cannot be seen: {why}"))
        }
        (Some(false), print) => {
            Condition::new(NAME, Some(true), format!("tree {} before and after", words::tree(print)))
        }
    }
}
