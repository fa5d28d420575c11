//! What a run's last iteration needed to be complete, condition by condition, each with the fact
//! that met or missed it and with what would have had to be true instead. The verdict itself is
//! core's; this only lays its grounds side by side.

use crate::run_view::{AttemptView, Check, Finding, RunView};
use crate::{json, words};
use ralph_core::check::{CheckKind, CheckSpec, Ground, TreePrint};
use ralph_core::claim::Claim;
use ralph_core::evidence::{self, Criterion};
use ralph_core::observation::Marker;
use ralph_core::outcome::StopReason;
use serde_json::{Value, json};

/// One thing that had to be so.
pub struct Condition {
    /// What, in a few words.
    pub name: String,
    /// Whether it was so; `None` if nobody got as far as to look.
    pub met: Option<bool>,
    /// How that is known.
    pub detail: String,
    /// What would have had to be true, as a sentence without its full stop; empty if it was met.
    pub needed: String,
    /// The receipt of the check that says so.
    pub receipt: Option<Value>,
}

impl Condition {
    fn new(name: &str, met: Option<bool>, detail: impl Into<String>) -> Condition {
        Condition { name: name.to_owned(), met, detail: detail.into(), needed: String::new(), receipt: None }
    }

    /// Adds what was needed, which nobody has to be told where it is so.
    fn needing(mut self, needed: impl Into<String>) -> Condition {
        if self.met != Some(true) {
            self.needed = needed.into();
        }
        self
    }

    /// The condition as a program reads it.
    pub fn as_json(&self) -> Value {
        let mut object = json!({
            "name": self.name,
            "met": self.met,
            "detail": self.detail,
            "needed": Some(&self.needed).filter(|needed| !needed.is_empty()),
        });
        if let Some(receipt) = &self.receipt {
            json::extend(&mut object, json!({ "receipt": receipt }));
        }
        object
    }
}

/// The conditions of the last iteration; none if there was none.
pub fn of(view: &RunView) -> Vec<Condition> {
    let Some(attempt) = view.attempt(None) else { return Vec::new() };
    if view.machine.policy().supervision().is_some() {
        return [done(view, attempt)].into_iter().chain(acknowledged(view)).collect();
    }
    let mut all = vec![ended_well(attempt), claimed(view, attempt)];
    all.extend(acknowledged(view));
    all.extend(guardrails(view, attempt));
    all.extend(evidence_of(view, attempt));
    all.extend(others(view, attempt));
    if !view.machine.policy().guardrails.is_empty() {
        all.push(tree_stood_still(attempt));
    }
    all
}

/// A supervised agent needs nothing but its file.
fn done(view: &RunView, attempt: &AttemptView) -> Condition {
    let complete = view.machine.outcome().is_some_and(|outcome| outcome.reason == StopReason::Complete);
    let (met, detail) = match attempt.agent.as_ref().map(|agent| &agent.seen.marker) {
        _ if complete => (Some(true), "it is there".to_owned()),
        None => (None, "the end of the last start was not seen".to_owned()),
        Some(Marker::WrongKind(kind)) => (Some(false), format!("DONE is a {kind}, not a file")),
        Some(Marker::Present | Marker::Absent) => {
            (Some(false), format!("it was not there after start {}", attempt.iteration))
        }
    };
    let folder = view.machine.policy().supervision().map_or("", |supervision| supervision.task_folder.as_str());
    Condition::new("the file DONE stands in the task folder", met, detail)
        .needing(format!("the agent, or somebody else, would have had to write {folder}/DONE"))
}

/// What people wanted, if anything of it is still open.
fn acknowledged(view: &RunView) -> Option<Condition> {
    let open = view.machine.open_requests();
    let needed = "each request would have had to be acknowledged: its id in an <ack> tag, or `ralph bus post --type ACK \
                  --parent ID TEXT`";
    (!open.is_empty())
        .then(|| Condition::new("every request is acknowledged", Some(false), open.words()).needing(needed))
}

fn ended_well(attempt: &AttemptView) -> Condition {
    const NAME: &str = "the agent ended well";
    let iteration = attempt.iteration;
    match &attempt.agent {
        None => Condition::new(NAME, None, "its end was not seen")
            .needing(format!("the agent of iteration {iteration} would have had to come to its end")),
        Some(agent) => {
            let how = words::agent_end(agent);
            Condition::new(NAME, Some(agent.well), how.as_str())
                .needing(format!("the agent would have had to end without a failure; iteration {iteration}: {how}"))
        }
    }
}

fn claimed(view: &RunView, attempt: &AttemptView) -> Condition {
    const NAME: &str = "the agent claimed completion";
    let policy = view.machine.policy();
    let claim = format!(
        "the agent would have had to claim completion: <response>{}</response> in its own text, or a file DONE in \
         .ralph/tasks/{}",
        policy.completion.response, policy.task
    );
    let Some(agent) = &attempt.agent else {
        return Condition::new(NAME, None, "its end was not seen").needing(claim);
    };
    let (met, detail) = match (&agent.seen.claim, &agent.seen.marker) {
        (Claim::Blocked { reason }, _) => (false, format!("it said that it is blocked: {reason}")),
        (Claim::Wait, _) => (false, "it asked to wait".to_owned()),
        (_, Marker::WrongKind(kind)) => (false, format!("DONE in the task folder is a {kind}, not a file")),
        (Claim::Complete, _) => (true, "it said so in its own text".to_owned()),
        (Claim::None, Marker::Present) => (true, "it wrote the DONE file".to_owned()),
        (Claim::None, Marker::Absent) => {
            let response = &policy.completion.response;
            (false, format!("its text has no <response>{response}</response> and there is no DONE file"))
        }
    };
    if met && !agent.well {
        let detail = format!("{detail}, but it did not end well: no claim counts");
        let needed = "the agent that claimed completion would have had to end without a failure";
        return Condition::new(NAME, Some(false), detail).needing(needed);
    }
    let needed = match (&agent.seen.claim, &agent.seen.marker) {
        (Claim::None, Marker::Absent) => claim,
        _ => format!("{claim}; instead {detail}"),
    };
    Condition::new(NAME, Some(met), detail).needing(needed)
}

fn guardrails(view: &RunView, attempt: &AttemptView) -> Vec<Condition> {
    let rules = view.machine.policy().checks(attempt.iteration, Ground::Project);
    let judge = |rule: CheckSpec| {
        let name = format!("guardrail \"{}\"", rule.command);
        let mut own = attempt.counted().filter(|check| check.kind == CheckKind::Guardrail);
        match own.find(|check| check.report.spec.id == rule.id) {
            Some(check) => executed(name, check, view),
            None => {
                let needed = format!(
                    "`{}` would have had to run to its end in iteration {} and exit 0",
                    rule.command, attempt.iteration
                );
                // A check that would prove nothing is not executed, and has not passed.
                match attempt.findings.iter().find(|finding| is_guardrail(finding) && finding.name == rule.command) {
                    Some(refused) => Condition::new(&name, Some(refused.passed), refused.problem.as_str())
                        .needing(format!("{needed}; it {}", as_clause(&refused.problem))),
                    None => {
                        Condition::new(&name, None, "it was not executed to its end in this iteration").needing(needed)
                    }
                }
            }
        }
    };
    rules.into_iter().map(judge).collect()
}

fn is_guardrail(finding: &Finding) -> bool {
    finding.kind == CheckKind::Guardrail
}

/// How a check went before anybody had worked, as the end of a sentence.
fn before(view: &RunView, check: &Check) -> &'static str {
    let same = |first: &&Check| first.report.spec.id == check.report.spec.id;
    match view.baseline.iter().find(same).map(|first| first.report.ending.passed()) {
        Some(true) => "; it passed before the first iteration",
        Some(false) => "; it failed before the first iteration too",
        None => "",
    }
}

/// A check with a receipt.
fn executed(name: String, check: &Check, view: &RunView) -> Condition {
    let report = &check.report;
    let on = match &check.tree {
        Some(TreePrint::Seen { .. }) => format!(" on the tree {}", words::tree_of(check)),
        _ => String::new(),
    };
    let needed = format!(
        "`{}` would have had to exit 0{on}; it {} in iteration {} (log {}){}",
        report.spec.command,
        report.ending.problem(),
        check.iteration,
        report.log,
        before(view, check)
    );
    let detail = format!("{} · {}", words::check_end(check), words::receipt(check, view.settings()));
    let receipt = Some(json::receipt(check, view.settings()));
    Condition { receipt, ..Condition::new(&name, Some(report.ending.passed()), detail).needing(needed) }
}

/// What the settings want to see in the agent's own tool runs.
fn evidence_of(view: &RunView, attempt: &AttemptView) -> Vec<Condition> {
    let Some(agent) = &attempt.agent else { return Vec::new() };
    let policy = view.machine.policy();
    let found = evidence::judge_with(&policy.criteria, &agent.seen.tools, &agent.seen.errors, &policy.verify.commands);
    let judge = |finding: evidence::Finding| {
        let name = format!("evidence of the agent's tool runs: {}", finding.criterion.as_str());
        let detail = if finding.passed { "nothing against it".to_owned() } else { finding.reason.clone() };
        let wanted = match finding.criterion {
            Criterion::NoErrors => "no error would have had to be left in the agent's own tool runs".to_owned(),
            kind => format!("{} would have had to be seen passing in the agent's own tool runs", kind.as_str()),
        };
        let needed = format!("{wanted}: {}", as_clause(&finding.reason));
        Condition::new(&name, Some(finding.passed), detail).needing(needed)
    };
    found.into_iter().map(judge).collect()
}

/// Every other check that was made, of whatever kind.
fn others(view: &RunView, attempt: &AttemptView) -> Vec<Condition> {
    let known = |kind: CheckKind| matches!(kind, CheckKind::Guardrail | CheckKind::Evidence);
    let name = |kind: CheckKind, name: &str| format!("{} \"{name}\"", kind.as_str());
    let commands = attempt.counted().filter(|check| !known(check.kind));
    let commands = commands.map(|check| executed(name(check.kind, &check.report.spec.command), check, view));
    let findings = attempt.findings.iter().filter(|finding| !known(finding.kind));
    let findings = findings.map(|finding: &Finding| {
        let name = name(finding.kind, &finding.name);
        let detail = if finding.passed { "passed".to_owned() } else { finding.problem.clone() };
        let wanted = match finding.kind {
            CheckKind::Protected => "the protected files would have had to be as they were at the start".to_owned(),
            CheckKind::CleanTree => "everything would have had to be committed".to_owned(),
            _ => format!("{name} would have had to pass in iteration {}", attempt.iteration),
        };
        let needed = format!("{wanted}: {}", finding.problem.trim_end_matches('.'));
        Condition::new(&name, Some(finding.passed), detail).needing(needed)
    });
    commands.chain(findings).collect()
}

fn tree_stood_still(attempt: &AttemptView) -> Condition {
    const NAME: &str = "the files stood still while the checks ran";
    const NEEDED: &str = "the files would have had to stand still while the checks ran";
    match (attempt.tree_moved(), attempt.look_after.as_ref()) {
        (None, _) => {
            Condition::new(NAME, None, "looked at only when a claim stands and every guardrail passed").needing(NEEDED)
        }
        (Some(true), after) => {
            let trees = format!("tree {} before and {} after", words::tree(checked_tree(attempt)), words::tree(after));
            Condition::new(NAME, Some(false), "they changed, so no check speaks for them")
                .needing(format!("{NEEDED}; they went on changing: {trees}"))
        }
        // The verdict takes a tree that nobody saw as it was checked, so nothing else was needed.
        (Some(false), print) => match unseen(checked_tree(attempt)).or(unseen(print)) {
            Some(why) => Condition::new(NAME, None, format!("they cannot be seen: {why}")),
            None => Condition::new(NAME, Some(true), format!("tree {} before and after", words::tree(print))),
        },
    }
}

/// The tree as it was when the checks that count began.
fn checked_tree(attempt: &AttemptView) -> Option<&TreePrint> {
    attempt.counted().last().and_then(|check| check.tree.as_ref())
}

/// Why a tree was not seen.
fn unseen(print: Option<&TreePrint>) -> Option<&str> {
    match print {
        Some(TreePrint::Unknown { why, .. }) => Some(why),
        _ => None,
    }
}

/// A sentence as the end of another one.
fn as_clause(sentence: &str) -> String {
    let trimmed = sentence.trim_end_matches('.');
    let mut chars = trimmed.chars();
    let Some(first) = chars.next() else { return "no reason was told".to_owned() };
    // A word in capitals is a name.
    let second_is_small = chars.clone().next().is_none_or(|second| !second.is_uppercase());
    if second_is_small { first.to_lowercase().chain(chars).collect() } else { trimmed.to_owned() }
}
