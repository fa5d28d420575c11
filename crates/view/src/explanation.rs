//! Why a run is where it is: its view, what stands for and against it, and what to type next.

use crate::conditions::{self, Condition};
use crate::json::{VERSION, extend, tests_changed};
use crate::liveness::State;
use crate::run_view::RunView;
use crate::{Style, causes, words};
use ralph_core::outcome::{StopReason, Verification};
use ralph_core::run::RunRow;
use ralph_core::time::{Millis, WallTime};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub struct Explanation {
    pub view: RunView,
    pub row: RunRow,
    pub state: State,
    pub conditions: Vec<Condition>,
    /// Time that it was worked on, until now if it runs.
    pub worked: Millis,
}

impl Explanation {
    pub fn of(mut view: RunView, row: RunRow, state: State, now: WallTime) -> Explanation {
        if state == State::Running && row.waits_until.is_some() {
            view.goes_on_waiting(now);
        }
        Explanation { conditions: conditions::of(&view), worked: view.worked(state, now), view, row, state }
    }

    fn is_complete(&self) -> bool {
        self.state == State::Ended(StopReason::Complete)
    }

    /// Why it is where it is, in one sentence.
    pub fn message(&self) -> String {
        match (self.state, self.view.outcome()) {
            (State::Running, _) => "it is running; nothing has ended yet".to_owned(),
            (_, Some(outcome)) => outcome.message.clone(),
            (_, None) => "its ralph ended without a word: killed, or the machine went down".to_owned(),
        }
    }

    pub fn causes(&self) -> Vec<String> {
        causes::of(&self.view, self.state, self.worked)
    }

    /// Which existing tests it changed, if it has ended and changed any.
    pub fn tests_changed(&self) -> Option<String> {
        let outcome = self.view.outcome().filter(|_| self.state != State::Running);
        outcome?.tests_changed.as_ref()?.words()
    }

    pub fn in_flight(&self, style: &Style) -> Option<String> {
        self.view.in_flight().map(|doing| words::in_flight(doing, self.row.iteration, &style.zone))
    }

    /// What resuming would do, where there is something to resume.
    pub fn on_resume(&self) -> Option<String> {
        (self.state != State::Running && !self.is_complete()).then(|| words::on_resume(&self.view))
    }

    /// What had to be so for `complete`, and was not or was never looked at.
    pub fn missing(&self) -> Vec<&Condition> {
        if self.is_complete() || self.state == State::Running {
            return Vec::new();
        }
        self.conditions.iter().filter(|condition| !condition.needed.is_empty()).collect()
    }

    /// What to type next, without the command that asks.
    pub fn next(&self, asking: &str, style: &Style) -> Vec<String> {
        let run = &self.row.run;
        let next = match (self.state, self.view.outcome()) {
            (State::Running, _) => vec![format!("ralph logs {run} --follow"), format!("ralph cancel {run}")],
            (_, Some(outcome)) => outcome.next.clone(),
            (_, None) => vec![format!("ralph resume {run}")],
        };
        let asking = format!("ralph {asking} {run}");
        let mut next: Vec<String> = next.into_iter().filter(|command| *command != asking).collect();
        let show = format!("ralph show {run}");
        if !next.contains(&show) {
            next.push(show);
        }
        next.iter().map(|line| style.suggest.line(line)).collect()
    }
}

pub fn for_people(case: &Explanation, style: &Style) -> String {
    let Explanation { view, row, state, .. } = case;
    let paint = style.paint;
    let word = state.heading(row, paint);
    let mut page = format!("{} · {word}\n", paint.bold(&format!("run {}", row.run)));
    let _ = writeln!(page, "  {}", words::one_line(&case.message()));
    for sentence in view.machine.doubts() {
        let _ = writeln!(page, "  - {}", words::one_line(&sentence));
    }
    for sentence in case.causes().into_iter().chain(case.tests_changed()) {
        let _ = writeln!(page, "  - {}", words::one_line(&sentence));
    }
    if let Some(doing) = case.in_flight(style) {
        let lead = if *state == State::Running { "now" } else { "in flight" };
        let _ = writeln!(page, "  {lead}: {doing}");
    }
    page.push_str(&conditions(case, paint));
    let used = words::used(view.machine.policy(), row, view.judged(), case.worked);
    let _ = writeln!(page, "\nlimits: {}", used.join(" · "));
    if let Some(what) = case.on_resume() {
        let _ = writeln!(page, "resume: {}", words::one_line(&what));
    }
    for (index, command) in case.next("explain", style).iter().enumerate() {
        let lead = if index == 0 { "next:  " } else { "       " };
        let _ = writeln!(page, "{lead} {}", paint.cyan(command));
    }
    page
}

fn conditions(case: &Explanation, paint: crate::Paint) -> String {
    let Some(attempt) = case.view.attempt(None) else { return "\nno agent was started\n".to_owned() };
    let policy = case.view.machine.policy();
    let head = format!("{} {}: what complete needs", words::step(policy.kind.name()), attempt.iteration);
    let mut page = format!("\n{}\n", paint.bold(&head));
    for Condition { name, met, detail, .. } in &case.conditions {
        let mark = match met {
            Some(met) => paint.check(*met),
            None => paint.yellow("?"),
        };
        let detail = paint.dim(&words::one_line(detail));
        let _ = writeln!(page, "  {mark} {}: {detail}", words::one_line(name));
    }
    if policy.guardrails.is_empty() && policy.supervision().is_none() {
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

/// The object for programs; `asking` is the command that it answers.
pub fn for_programs(case: &Explanation, asking: &str, style: &Style) -> Value {
    let Explanation { view, row, state, conditions, .. } = case;
    let limits = &view.machine.policy().limits;
    let ended = *state != State::Running;
    let mut object = json!({
        "v": VERSION,
        "run": row.run,
        "state": if ended { "stopped" } else { "running" },
        "stop_reason": row.stop_reason.filter(|_| ended).map(|reason| reason.as_str()),
        "message": case.message(),
        "grounds": case.causes(),
        "verified": row.verified(),
        "verification": row.verification.map(Verification::as_str),
        "doubts": view.machine.doubts(),
        "exit_code": row.exit_code.filter(|_| ended),
        "iteration": row.iteration,
        "config_hash": view.machine.policy().config_hash,
        "conditions": conditions.iter().map(Condition::as_json).collect::<Vec<_>>(),
        "missing": case.missing().iter().map(|condition| &condition.name).collect::<Vec<_>>(),
        "limits": {
            "iterations": view.judged(),
            "max_iterations": limits.max_iterations,
            "elapsed_ms": case.worked.0,
            "max_wall_time_ms": limits.wall.0,
            "cost_usd": row.cost_usd,
            "max_cost_usd": limits.max_cost_usd,
            "tokens": row.tokens.total(),
            "max_tokens": limits.max_tokens,
        },
        "in_flight": case.in_flight(style),
        "on_resume": case.on_resume(),
        "next": case.next(asking, style),
    });
    extend(&mut object, tests_changed(row.tests_changed.as_ref().filter(|_| ended)));
    object
}
