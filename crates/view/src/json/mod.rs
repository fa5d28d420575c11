//! The objects that `--json` prints, named like the JSON lines. Fields are added, never changed.

pub mod lines;

use crate::Suggest;
use crate::liveness::State;
use crate::run_view::{AttemptView, Check, RunView};
use ralph_core::check::TreePrint;
use ralph_core::observation::{Observation, Tokens, ToolResult};
use ralph_core::outcome::{Outcome, Verification};
use ralph_core::plan::Mode;
use ralph_core::policy::{AgentPolicy, Policy};
use ralph_core::run::{PlanRow, RunRow};
use ralph_core::tests_changed::{TestChange, TestsChanged};
use ralph_core::text;
use ralph_core::time::{Millis, WallTime};
use ralph_core::words::Reason;
use serde_json::{Value, json};

pub const VERSION: u32 = 1;

/// An object as programs read it: one line, whatever it holds.
pub fn line(object: &Value) -> String {
    text::json_line(object.to_string()) + "\n"
}

/// Stands in place of the command of a check that agents must not see.
pub(crate) const HIDDEN: &str = "(hidden)";

/// A run at a glance: the contract of `ralph status --json`, with more fields behind it.
pub fn run(row: &RunRow, state: State, worked: Millis) -> Value {
    // A run that goes on after an end has the reason of that end until its first new step.
    let ended = state != State::Running;
    let mut object = json!({
        "run": row.run,
        "kind": row.kind.as_str(),
        "task": row.task,
        "state": if ended { "stopped" } else { "running" },
        "stop_reason": row.stop_reason.filter(|_| ended).map(|reason| reason.as_str()),
        "iteration": row.iteration,
        "max_iterations": row.max_iterations,
        "started_at": row.started_at.rfc3339(),
        "updated_at": row.updated_at.rfc3339(),
        "elapsed_ms": worked.0,
        "waits_until": row.waits_until.filter(|_| !ended).map(WallTime::rfc3339),
        "last_check": row.last_check.as_ref().map(|(name, passed)| json!({ "name": name, "passed": passed })),
        "message": row.message,
        "verified": row.verified(),
        "verification": row.verification.map(Verification::as_str),
        "exit_code": row.exit_code.filter(|_| ended),
        "agent": row.agent,
        "parent": row.parent,
        "cost_usd": row.cost_usd,
        "tokens": tokens_object(row.tokens),
    });
    extend(&mut object, tests_changed(row.tests_changed.as_ref().filter(|_| ended)));
    if let Some(plan) = &row.plan {
        extend(&mut object, json!({ "plan": plan_row(plan) }));
    }
    object
}

/// Existing tests that a run changed or deleted; `null` if nobody looked.
/// Where a plan stands, for lists.
fn plan_row(plan: &PlanRow) -> Value {
    let mode = plan.turn.as_ref().map(|(mode, _)| mode.map_or("closing", Mode::as_str));
    let story = plan.turn.as_ref().map(|(_, story)| story.as_str());
    json!({ "stories": plan.stories, "done": plan.done, "mode": mode, "story": story })
}

pub(crate) fn tests_changed(changed: Option<&TestsChanged>) -> Value {
    let named = |wanted: fn(&&TestChange) -> bool| {
        changed.map(|changed| changed.files.iter().filter(wanted).map(|file| &file.path).collect::<Vec<_>>())
    };
    json!({
        "tests_changed": named(|_| true),
        "tests_deleted": named(|file| file.deleted),
        "tests_changed_count": changed.map(|changed| changed.count),
    })
}

/// A run with everything that its journal tells.
pub fn whole(view: &RunView, state: State, worked: Millis, suggest: &Suggest) -> Value {
    let mut object = run(&view.machine.row(), state, worked);
    let more = json!({
        "v": VERSION,
        "root": view.started.root,
        "version": view.started.version,
        "policy": policy(view.machine.policy()),
        "iterations": view.attempts.iter().map(iteration).collect::<Vec<_>>(),
        "receipts": receipts(view),
        "notes": view.notes.iter().map(|(_, note)| note).collect::<Vec<_>>(),
        "outcome": view.outcome().map(|outcome| outcome_object(outcome, suggest)),
    });
    extend(&mut object, more);
    object
}

/// The rules of a run. Variables are named only: a value may be a secret. Agents may ask for this, so hidden checks are
/// covered.
pub fn policy(policy: &Policy) -> Value {
    let mut object = json!(policy);
    let mut cover = |pointer: String, agent: &AgentPolicy| {
        if let Some(env) = object.pointer_mut(&pointer) {
            *env = agent.env.keys().cloned().collect();
        }
    };
    cover("/agent/env".to_owned(), &policy.agent);
    policy.fallback.iter().enumerate().for_each(|(index, agent)| cover(format!("/fallback/{index}/env"), agent));
    for (index, _) in policy.guardrails.iter().enumerate().filter(|(_, rule)| rule.terms.hidden) {
        if let Some(command) = object.pointer_mut(&format!("/guardrails/{index}/command")) {
            *command = HIDDEN.into();
        }
    }
    object
}

/// One iteration, with the fields of `iteration.finished` and its checks.
pub fn iteration(attempt: &AttemptView) -> Value {
    let judged = attempt.judged.as_ref();
    let seen = attempt.agent.as_ref().map(|agent| &agent.seen);
    json!({
        "iteration": attempt.iteration,
        "attempt": attempt.attempt,
        "started_at": attempt.at.rfc3339(),
        "claim": judged.map(|judged| judged.claim.as_str()),
        "verdict": judged.map(|judged| judged.verdict.as_str()),
        "reasons": sentences(judged.map(|judged| judged.reasons.as_slice()).unwrap_or_default()),
        "cost_usd": attempt.cost_usd(),
        "tokens": tokens_object(attempt.tokens().unwrap_or_default()),
        "leaked": seen.map_or(0, |seen| seen.process.leaked_count),
        "duration_ms": judged.map(|judged| judged.duration.0),
        "agent": attempt.agent.as_ref().map(|agent| json!({
            "well": agent.well,
            "how": agent.how,
            "ending": agent.seen.process.ending,
            "duration_ms": agent.seen.process.duration.0,
            "bytes": agent.seen.process.bytes,
        })),
        "program": attempt.program,
        "checks": checks(attempt),
        "scm": attempt.scm.iter().map(|task| json!({
            "task": task.name,
            "passed": task.passed,
            "detail": task.detail,
            "exit_code": task.exit_code,
            "duration_ms": task.duration.0,
        })).collect::<Vec<_>>(),
    })
}

pub fn observation(seen: &Observation) -> Value {
    let result = |result| match result {
        ToolResult::Passed => "passed",
        ToolResult::Failed => "failed",
        ToolResult::Unfinished => "unfinished",
        ToolResult::CouldNotRun => "could-not-run",
    };
    let tools = seen.tools.iter();
    let tools = tools.map(|tool| json!({ "name": tool.name, "command": tool.command, "result": result(tool.result) }));
    json!({
        "claim": seen.claim.as_str(),
        "marker": seen.marker,
        "failure": seen.failure,
        "tools": tools.collect::<Vec<_>>(),
        "errors": seen.errors,
        "files": seen.files,
        "last_text": seen.last_text,
        "leaked": seen.process.leaked,
        "children": seen.process.children,
        "stderr_tail": seen.process.stderr_tail,
        "lines": seen.lines,
    })
}

fn checks(attempt: &AttemptView) -> Vec<Value> {
    let commands = attempt.counted().map(|check| {
        let report = &check.report;
        json!({
            "check": check.kind.as_str(),
            "name": report.spec.name(),
            "passed": report.passed(),
            "exit_code": report.ending.code(),
            "duration_ms": report.duration.0,
            "log": report.log,
            "problem": if report.passed() { String::new() } else { report.problem() },
        })
    });
    let findings = attempt.findings.iter().map(|finding| {
        json!({
            "check": finding.kind.as_str(),
            "name": finding.name,
            "passed": finding.passed,
            "exit_code": null,
            "duration_ms": finding.duration.0,
            "log": finding.log,
            "problem": finding.problem,
        })
    });
    commands.chain(findings).collect()
}

/// The receipts of all checks of a run, in the order in which they ended.
pub fn receipts(view: &RunView) -> Vec<Value> {
    view.executed().map(|check| receipt(check, view.settings())).collect()
}

pub fn receipt(check: &Check, settings: &str) -> Value {
    let report = &check.report;
    let (tree, head) = match &check.tree {
        Some(TreePrint::Seen { tree, head }) => (Some(tree), Some(head)),
        _ => (None, None),
    };
    json!({
        "iteration": check.iteration,
        "attempt": check.attempt,
        "at": check.at.rfc3339(),
        "check": check.kind.as_str(),
        "command": report.spec.name(),
        "passed": report.passed(),
        "exit_code": report.ending.code(),
        "ending": report.ending,
        "empty": report.empty,
        "duration_ms": report.duration.0,
        "output_hash": report.output_hash,
        "output_bytes": report.output_bytes,
        "tree": tree,
        "head": head,
        "ground": report.spec.ground,
        "config_hash": settings,
        "log": report.log,
        "leaked": report.leaked,
        "counts": check.set_aside.is_none(),
        "set_aside": check.set_aside,
    })
}

pub fn outcome_object(outcome: &Outcome, suggest: &Suggest) -> Value {
    let mut object = json!({
        "stop_reason": outcome.reason.as_str(),
        "message": outcome.message,
        "verified": outcome.verified(),
        "verification": outcome.verification.map(Verification::as_str),
        "iterations": outcome.iterations,
        "exit_code": outcome.exit_code,
        "cost_usd": outcome.cost_usd,
        "tokens": tokens_object(outcome.tokens),
        "next": outcome.next.iter().map(|line| suggest.line(line)).collect::<Vec<_>>(),
    });
    extend(&mut object, tests_changed(outcome.tests_changed.as_ref()));
    object
}

pub fn extend(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

pub fn tokens_object(tokens: Tokens) -> Value {
    json!({ "input": tokens.input, "output": tokens.output, "cache_read": tokens.cache_read, "cache_write": tokens.cache_write })
}

pub(crate) fn sentences(reasons: &[Reason]) -> Vec<String> {
    reasons.iter().map(ToString::to_string).collect()
}
