//! What the last iteration needed to be complete: each condition with the fact that met or missed it, and what would
//! have had to be true instead. The verdict itself is core's.

use crate::run_view::{AttemptView, Check, Finding, RunView};
use crate::{json, words};
use ralph_core::check::{CheckKind, Ground, TreePrint};
use ralph_core::claim::Claim;
use ralph_core::evidence::Criterion;
use ralph_core::id::CheckId;
use ralph_core::observation::Marker;
use ralph_core::verdict::{self, About};
use serde_json::{Value, json};

pub struct Condition {
    pub name: String,
    /// Whether it was so; `None` if nobody got as far as to look.
    pub met: Option<bool>,
    pub detail: String,
    /// What would have had to be true, as a sentence without its full stop; empty if it was met.
    pub needed: String,
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

/// The conditions of the last iteration, as core judged them; none if there was none.
pub fn of(view: &RunView) -> Vec<Condition> {
    let Some(attempt) = view.attempt(None) else { return Vec::new() };
    let mut all = view.machine.conditions();
    all.sort_by_key(|condition| place(&condition.about));
    all.iter().map(|condition| rendered(view, attempt, condition)).collect()
}

/// People read first what the agent did, then what was executed, then what was only looked at.
fn place(about: &About) -> u8 {
    match about {
        About::Done | About::AgentEnded => 0,
        About::Claimed | About::PlanDone => 1,
        About::Requests => 2,
        About::Check(_) => 3,
        About::Evidence(_) => 4,
        About::Protected => 5,
        About::Committed => 6,
        About::TreeStill => 7,
    }
}

fn rendered(view: &RunView, attempt: &AttemptView, condition: &verdict::Condition) -> Condition {
    let met = match condition.state {
        verdict::State::Met => Some(true),
        verdict::State::Unmet(_) => Some(false),
        verdict::State::Unseen => None,
    };
    let why = json::sentences(condition.reasons()).join("; ");
    match &condition.about {
        About::Done => done(view, attempt, met),
        About::AgentEnded => ended_well(attempt, met),
        About::Claimed => claimed(view, attempt, met),
        About::Requests => acknowledged(view, met),
        About::Check(id) => check(view, attempt, id, met),
        About::Evidence(criterion) => evidence_of(*criterion, met, &why),
        About::Protected => looked_at(
            attempt,
            CheckKind::Protected,
            met,
            "the protected files would have had to be as they were at the start",
        ),
        About::Committed => looked_at(attempt, CheckKind::CleanTree, met, "everything would have had to be committed"),
        About::TreeStill => tree_stood_still(attempt, met),
        About::PlanDone => plan_done(view, met, &why),
    }
}

/// A plan needs no claim: its stories say it.
fn plan_done(view: &RunView, met: Option<bool>, why: &str) -> Condition {
    let detail = if met == Some(true) { "all of them are".to_owned() } else { why.to_owned() };
    let skips = view.machine.policy().plan().is_some_and(|plan| plan.rules.skip_review);
    let name = if skips { "every story passes" } else { "every story passes and is approved" };
    Condition::new(name, met, detail).needing("the open stories would have had to be done".to_owned())
}

/// A supervised agent needs nothing but its file.
fn done(view: &RunView, attempt: &AttemptView, met: Option<bool>) -> Condition {
    let detail = match attempt.agent.as_ref().map(|agent| &agent.seen.marker) {
        _ if met == Some(true) => "it is there".to_owned(),
        None => "the end of the last start was not seen".to_owned(),
        Some(Marker::WrongKind(kind)) => format!("DONE is a {kind}, not a file"),
        Some(Marker::Present | Marker::Absent) => format!("it was not there after start {}", attempt.iteration),
    };
    let folder = view.machine.policy().supervision().map_or("", |supervision| supervision.task_folder.as_str());
    Condition::new("the file DONE stands in the task folder", met, detail)
        .needing(format!("the agent, or somebody else, would have had to write {folder}/DONE"))
}

fn acknowledged(view: &RunView, met: Option<bool>) -> Condition {
    let needed = "each request would have had to be acknowledged: its id in an <ack> tag, or `ralph bus post --type ACK \
                  --parent ID TEXT`";
    Condition::new("every request is acknowledged", met, view.machine.open_requests().words()).needing(needed)
}

fn ended_well(attempt: &AttemptView, met: Option<bool>) -> Condition {
    const NAME: &str = "the agent ended well";
    let iteration = attempt.iteration;
    match &attempt.agent {
        None => Condition::new(NAME, met, "its end was not seen")
            .needing(format!("the agent of iteration {iteration} would have had to come to its end")),
        Some(agent) => {
            let how = words::agent_end(agent);
            Condition::new(NAME, met, how.as_str())
                .needing(format!("the agent would have had to end without a failure; iteration {iteration}: {how}"))
        }
    }
}

fn claimed(view: &RunView, attempt: &AttemptView, met: Option<bool>) -> Condition {
    const NAME: &str = "the agent claimed completion";
    let policy = view.machine.policy();
    let response = &policy.completion.response;
    let claim = format!(
        "the agent would have had to claim completion: <response>{response}</response> in its own text, or a file DONE in \
         .ralph/tasks/{}",
        policy.task
    );
    let Some(agent) = &attempt.agent else {
        return Condition::new(NAME, met, "its end was not seen").needing(claim);
    };
    let said = match (&agent.seen.claim, &agent.seen.marker) {
        (Claim::Blocked { reason }, _) => format!("it said that it is blocked: {reason}"),
        (Claim::Wait, _) => "it asked to wait".to_owned(),
        (_, Marker::WrongKind(kind)) => format!("DONE in the task folder is a {kind}, not a file"),
        (Claim::Complete, _) => "it said so in its own text".to_owned(),
        (Claim::None, Marker::Present) => "it wrote the DONE file".to_owned(),
        (Claim::None, Marker::Absent) => {
            let detail = format!("its text has no <response>{response}</response> and there is no DONE file");
            return Condition::new(NAME, met, detail).needing(claim);
        }
    };
    let says_done = matches!(
        (&agent.seen.claim, &agent.seen.marker),
        (Claim::Complete, Marker::Absent | Marker::Present) | (Claim::None, Marker::Present)
    );
    if says_done && !agent.well {
        let needed = "the agent that claimed completion would have had to end without a failure";
        return Condition::new(NAME, met, format!("{said}, but it did not end well: no claim counts")).needing(needed);
    }
    let needed = format!("{claim}; instead {said}");
    Condition::new(NAME, met, said).needing(needed)
}

fn check(view: &RunView, attempt: &AttemptView, id: &CheckId, met: Option<bool>) -> Condition {
    if let Some(check) = attempt.counted().find(|check| check.report.spec.id == *id) {
        let spec = &check.report.spec;
        return executed(format!("{} \"{}\"", called(spec.source), spec.name()), check, view, met);
    }
    let specs = view.machine.policy().checks(attempt.iteration, Ground::Project);
    let spec = specs.into_iter().find(|spec| spec.id == *id);
    let kind = spec.as_ref().map_or(CheckKind::Guardrail, |spec| spec.source);
    let command = spec.map_or(id.to_string(), |spec| spec.name().to_owned());
    let name = format!("{} \"{command}\"", called(kind));
    let needed = format!("`{command}` would have had to run to its end in iteration {} and exit 0", attempt.iteration);
    // A check that would prove nothing is not executed, and has not passed.
    let refused = |finding: &&Finding| finding.kind == kind && finding.name == command;
    match attempt.findings.iter().find(refused) {
        Some(refused) => Condition::new(&name, met, refused.problem.as_str())
            .needing(format!("{needed}; it {}", as_clause(&refused.problem))),
        None => Condition::new(&name, met, "it was not executed to its end in this iteration").needing(needed),
    }
}

/// What people call a check of this kind.
const fn called(kind: CheckKind) -> &'static str {
    if matches!(kind, CheckKind::Verify) { "verify command" } else { "guardrail" }
}

/// How a check went before anybody had worked, as the end of a sentence.
fn before(view: &RunView, check: &Check) -> &'static str {
    let same = |first: &&Check| first.report.spec.id == check.report.spec.id;
    match view.baseline.iter().find(same).map(|first| first.report.passed()) {
        Some(true) => "; it passed before the first iteration",
        Some(false) => "; it failed before the first iteration too",
        None => "",
    }
}

fn executed(name: String, check: &Check, view: &RunView, met: Option<bool>) -> Condition {
    let report = &check.report;
    let on = match check.tree {
        Some(TreePrint::Seen { .. }) => format!(" on the tree {}", words::tree_of(check)),
        _ => String::new(),
    };
    let needed = format!(
        "`{}` would have had to exit 0{on}; it {} in iteration {} (log {}){}",
        report.spec.name(),
        report.problem(),
        check.iteration,
        report.log,
        before(view, check)
    );
    let settings = view.settings();
    let detail = format!("{} · {}", words::check_end(check), words::receipt(check, settings));
    let receipt = Some(json::receipt(check, settings));
    Condition { receipt, ..Condition::new(&name, met, detail).needing(needed) }
}

/// What the settings want to see in the agent's own tool runs.
fn evidence_of(criterion: Criterion, met: Option<bool>, why: &str) -> Condition {
    let name = format!("evidence of the agent's tool runs: {}", criterion.as_str());
    let detail = if met == Some(true) { "nothing against it" } else { why };
    let wanted = match criterion {
        Criterion::NoErrors => "no error would have had to be left in the agent's own tool runs".to_owned(),
        kind => format!("{} would have had to be seen passing in the agent's own tool runs", kind.as_str()),
    };
    Condition::new(&name, met, detail).needing(format!("{wanted}: {}", as_clause(why)))
}

fn looked_at(attempt: &AttemptView, kind: CheckKind, met: Option<bool>, wanted: &str) -> Condition {
    let finding = attempt.findings.iter().find(|finding| finding.kind == kind);
    let (name, problem) = finding.map_or(("", ""), |finding| (finding.name.as_str(), finding.problem.as_str()));
    let detail = if met == Some(true) { "passed" } else { problem };
    Condition::new(&format!("{} \"{name}\"", kind.as_str()), met, detail)
        .needing(format!("{wanted}: {}", problem.trim_end_matches('.')))
}

fn tree_stood_still(attempt: &AttemptView, met: Option<bool>) -> Condition {
    const NAME: &str = "the files stood still while the checks ran";
    const NEEDED: &str = "the files would have had to stand still while the checks ran";
    let (before, after) = (checked_tree(attempt), attempt.look_after.as_ref());
    match met {
        Some(true) => Condition::new(NAME, met, format!("tree {} before and after", words::tree(after))),
        Some(false) => {
            let trees = format!("tree {} before and {} after", words::tree(before), words::tree(after));
            Condition::new(NAME, met, "they changed, so no check speaks for them")
                .needing(format!("{NEEDED}; they went on changing: {trees}"))
        }
        // The verdict takes a tree that nobody can see as it was checked, so nothing else was needed.
        None => match after.and(unseen(before).or(unseen(after))) {
            Some(why) => Condition::new(NAME, met, format!("they cannot be seen: {why}")),
            None => Condition::new(NAME, met, "looked at only when a claim stands and every guardrail passed")
                .needing(NEEDED),
        },
    }
}

/// The tree as it was when the checks that count began.
fn checked_tree(attempt: &AttemptView) -> Option<&TreePrint> {
    attempt.counted().last().and_then(|check| check.tree.as_ref())
}

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
