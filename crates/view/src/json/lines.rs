//! The JSON lines of a run: a contract, so it is a file of its own. Additive only.

use super::{VERSION, extend, outcome_object, tokens_object};
use crate::Suggest;
use ralph_core::agent_event::AgentEvent;
use ralph_core::notice::{Notice, PlanTurn, ResumeKind};
use ralph_core::plan::Mode;
use ralph_core::plan::choice::Budget;
use ralph_core::text;
use ralph_core::time::WallTime;
use ralph_core::words::Reason;
use serde::Serialize;
use serde_json::{Value, json};

/// A notice as its line; `None` if it has none.
pub fn notice_line(at: WallTime, run: &str, notice: &Notice, suggest: &Suggest) -> Option<String> {
    let (kind, fields) = match notice {
        Notice::RunStarted { policy, resumed, .. } => (
            "run.started",
            json!({
                "task": policy.task.as_str(),
                "kind": policy.kind.name().as_str(),
                "agent": policy.agent.command,
                "max_iterations": policy.last_iteration(resumed.map_or(1, ResumeKind::iteration)),
                "resumed": resumed.is_some(),
            }),
        ),
        Notice::Pinned { files, programs } => ("judges.pinned", json!({ "files": files, "programs": programs })),
        Notice::PlanStarted { budget, allowed } => {
            ("plan.started", with(plan_object(budget), json!({ "allowed": allowed })))
        }
        Notice::PlanJudged { iteration, turn, decision, undone, budget } => {
            let object = json!({ "iteration": iteration, "undone": undone, "plan": plan_object(budget) });
            let decision = serde_json::to_value(decision).unwrap_or_default();
            ("plan.judged", with(with(object, turn_object(turn)), decision))
        }
        Notice::IterationStarted { iteration, attempt, agent, turn, .. } => {
            let object = json!({ "iteration": iteration, "attempt": attempt, "agent": agent });
            ("iteration.started", with(object, turn.as_deref().map_or(Value::Null, turn_object)))
        }
        Notice::CheckFinished { iteration, kind, name, passed, exit_code, duration, log, problem, .. } => (
            "check.finished",
            json!({
                "iteration": iteration,
                "check": kind.as_str(),
                "name": name,
                "passed": passed,
                "exit_code": exit_code,
                "duration_ms": duration.0,
                "log": log,
                "problem": problem,
            }),
        ),
        Notice::ScmFinished { iteration, task, passed, detail, exit_code, duration } => (
            "scm.finished",
            json!({
                "iteration": iteration,
                "task": task,
                "passed": passed,
                "detail": detail,
                "exit_code": exit_code,
                "duration_ms": duration.0,
            }),
        ),
        Notice::IterationFinished { iteration, claim, verdict, reasons, cost_usd, tokens, leaked, duration } => (
            "iteration.finished",
            json!({
                "iteration": iteration,
                "claim": claim.as_str(),
                "verdict": verdict.as_str(),
                "reasons": super::sentences(reasons),
                "reason_codes": reasons.iter().map(Reason::code).collect::<Vec<_>>(),
                "cost_usd": cost_usd,
                "tokens": tokens_object(*tokens),
                "leaked": leaked,
                "duration_ms": duration.0,
            }),
        ),
        Notice::Waiting { iteration, until, why } => {
            ("run.waiting", json!({ "iteration": iteration, "until": until.rfc3339(), "why": why }))
        }
        Notice::Note(note) => ("note", json!({ "text": note.to_string(), "code": note.code() })),
        Notice::RunFinished { outcome, elapsed } => {
            ("run.finished", with(outcome_object(outcome, suggest), json!({ "elapsed_ms": elapsed.0 })))
        }
        Notice::AgentEnded { .. }
        | Notice::CheckStarted { .. }
        | Notice::ScmStarted { .. }
        | Notice::Stopping { .. } => return None,
    };
    Some(line(kind, at, run, fields))
}

/// An object with the fields of another one.
fn with(mut object: Value, more: Value) -> Value {
    extend(&mut object, more);
    object
}

/// Where a plan stands.
fn plan_object(budget: &Budget) -> Value {
    let Budget { stories, done, not_begun, awaiting_review, changes_requested, needed } = budget;
    json!({
        "stories": stories,
        "done": done,
        "not_begun": not_begun,
        "awaiting_review": awaiting_review,
        "changes_requested": changes_requested,
        "needed": needed,
    })
}

fn turn_object(turn: &PlanTurn) -> Value {
    let mode = turn.mode.map_or("closing", Mode::as_str);
    json!({ "mode": mode, "story": turn.story, "title": turn.title, "reviews": turn.reviews, "review_cap": turn.cap })
}

pub fn agent_line(at: WallTime, run: &str, iteration: u32, event: &AgentEvent) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        v: u32,
        r#type: &'a str,
        at: String,
        run: &'a str,
        iteration: u32,
        event: &'a AgentEvent,
    }
    // Typed, because there may be a hundred thousand of these.
    let typed = Line { v: VERSION, r#type: "agent.event", at: at.rfc3339(), run, iteration, event };
    text::json_line(serde_json::to_string(&typed).unwrap_or_default()) + "\n"
}

pub fn skipped_line(at: WallTime, run: &str, count: u64) -> String {
    line("output.skipped", at, run, json!({ "count": count }))
}

fn line(kind: &str, at: WallTime, run: &str, fields: Value) -> String {
    let mut object = json!({ "v": VERSION, "type": kind, "at": at.rfc3339(), "run": run });
    extend(&mut object, fields);
    super::line(&object)
}
