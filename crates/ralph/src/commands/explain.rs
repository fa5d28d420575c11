//! `ralph explain`: why a run ended, with the evidence.

use crate::cli::Global;
use crate::error::CommandError;
use crate::face::json_lines::VERSION;
use crate::face::paint::Paint;
use crate::look::case::Case;
use crate::look::conditions::Condition;
use crate::look::state::State;
use crate::look::words;
use crate::look::{page, pick};
use crate::project::Project;
use clap::Args;
use ralph_core::outcome::exit;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Say why a run ended, with the evidence.
///
/// Every condition that `complete` needed is listed with the receipt that met or missed it, and for
/// each that was missed what would have had to be true instead.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph explain\n  ralph explain 7f3a9k2m\n  ralph explain --json | jq '.conditions[] | select(.met == false) | .needed'"
)]
pub struct ExplainArgs {
    /// The run by its id or the beginning of it; the newest if left out
    run: Option<String>,
}

/// Runs the command.
pub fn run(global: &Global, args: &ExplainArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let store = pick::store(&project)?;
    let row = pick::run(&store, args.run.as_deref(), &project)?;
    let entries = store.entries(&row.run)?;
    let case = Case::of(&entries, row, &project)?;
    if global.json {
        page::print_json(&for_programs(&case))?;
    } else {
        page::print(&for_people(&case, page::paint(global)))?;
    }
    Ok(exit::OK)
}

fn for_people(case: &Case<'_>, paint: Paint) -> String {
    let Case { story, row, state, .. } = case;
    let word = state.heading(row, paint);
    let mut page = format!("{} · {word}\n", paint.bold(&format!("run {}", row.run)));
    let _ = writeln!(page, "  {}", words::one_line(&case.message()));
    for sentence in case.causes() {
        let _ = writeln!(page, "  - {}", words::one_line(&sentence));
    }
    if let Some(doing) = case.in_flight() {
        let lead = if *state == State::Running { "now" } else { "in flight" };
        let _ = writeln!(page, "  {lead}: {doing}");
    }
    page.push_str(&conditions(case, paint));
    let used = words::used(story.machine.policy(), row, story.judged(), case.worked);
    let _ = writeln!(page, "\nlimits: {}", used.join(" · "));
    if let Some(what) = case.on_resume() {
        let _ = writeln!(page, "resume: {}", words::one_line(&what));
    }
    for (index, command) in case.next("explain").iter().enumerate() {
        let lead = if index == 0 { "next:  " } else { "       " };
        let _ = writeln!(page, "{lead} {}", paint.cyan(command));
    }
    page
}

fn conditions(case: &Case<'_>, paint: Paint) -> String {
    let Some(attempt) = case.story.attempt(None) else { return "\nno agent was started\n".to_owned() };
    let policy = case.story.machine.policy();
    let head = format!("{} {}: what complete needs", policy.kind.step(), attempt.iteration);
    let mut page = format!("\n{}\n", paint.bold(&head));
    for Condition { name, met, detail, .. } in &case.conditions {
        let mark = match met {
            Some(met) => paint.check(*met),
            None => paint.yellow("?"),
        };
        let detail = paint.dim(&words::one_line(detail));
        let _ = writeln!(page, "  {mark} {}: {detail}", words::one_line(name));
    }
    if policy.guardrails.is_empty() && policy.supervision.is_none() {
        let sentence = "no guardrail is configured, so nothing but the agent's word could stand behind a claim";
        let _ = writeln!(page, "  {} {sentence}", paint.yellow("!"));
    }
    let missing = case.missing();
    if !missing.is_empty() {
        let _ = writeln!(page, "\n{}", paint.bold("to be complete"));
    }
    for condition in missing {
        let _ = writeln!(page, "  - {}", words::one_line(&condition.needed));
    }
    page
}

fn for_programs(case: &Case<'_>) -> Value {
    let Case { story, row, state, conditions, .. } = case;
    let limits = &story.machine.policy().limits;
    let ended = *state != State::Running;
    json!({
        "v": VERSION,
        "run": row.run,
        "state": if ended { "stopped" } else { "running" },
        "stop_reason": row.stop_reason.filter(|_| ended).map(|reason| reason.as_str()),
        "message": case.message(),
        "grounds": case.causes(),
        "verified": row.verified,
        "exit_code": row.exit_code.filter(|_| ended),
        "iteration": row.iteration,
        "config_hash": story.machine.policy().config_hash,
        "conditions": conditions.iter().map(Condition::as_json).collect::<Vec<_>>(),
        "missing": case.missing().iter().map(|condition| &condition.name).collect::<Vec<_>>(),
        "limits": {
            "iterations": story.judged(),
            "max_iterations": limits.max_iterations,
            "elapsed_ms": case.worked.0,
            "max_wall_time_ms": limits.wall.0,
            "cost_usd": row.cost_usd,
            "max_cost_usd": limits.max_cost_usd,
            "tokens": row.tokens.total(),
            "max_tokens": limits.max_tokens,
        },
        "in_flight": case.in_flight(),
        "on_resume": case.on_resume(),
        "next": case.next("explain"),
    })
}
