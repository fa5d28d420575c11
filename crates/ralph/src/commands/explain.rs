//! `ralph explain`: why a run ended, with the evidence.

use crate::cli::Global;
use crate::error::CommandError;
use crate::face::json_lines::VERSION;
use crate::face::paint::Paint;
use crate::look::conditions::{self, Condition};
use crate::look::live::Live;
use crate::look::state::State;
use crate::look::story::Story;
use crate::look::words;
use crate::look::{page, pick};
use crate::place::Place;
use clap::Args;
use ralph_core::outcome::{StopReason, exit};
use ralph_core::run::RunRow;
use ralph_core::time::Millis;
use ralph_host::clock::Clock;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Say why a run ended, with the evidence.
///
/// Every condition that `complete` needed is listed with the receipt that met or missed it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph explain\n  ralph explain 7f3a9k2m\n  ralph explain --json | jq '.conditions[] | select(.met == false)'"
)]
pub struct ExplainArgs {
    /// The run by its id or the beginning of it; the newest if left out
    run: Option<String>,
}

/// Runs the command.
pub fn run(global: &Global, args: &ExplainArgs) -> Result<u8, CommandError> {
    let place = Place::find(global.directory.as_deref())?;
    let store = pick::store(&place)?;
    let row = pick::run(&store, args.run.as_deref(), &place)?;
    let entries = store.entries(&row.run)?;
    let story = Story::of(&entries, None).map_err(|error| pick::unreadable(&row.run, &error))?;
    let state = Live::look(&place).state(&row);
    let worked = story.worked(state, Clock::start().now());
    let case = Case { conditions: conditions::of(&story), story, row, state, worked };
    if global.json {
        page::print_json(&case.for_programs())?;
    } else {
        page::print(&case.for_people(page::paint(global)))?;
    }
    Ok(exit::OK)
}

/// Everything that there is to say.
struct Case<'a> {
    story: Story<'a>,
    row: RunRow,
    state: State,
    conditions: Vec<Condition>,
    /// Time that it was worked on, until now if it runs.
    worked: Millis,
}

impl Case<'_> {
    fn is_complete(&self) -> bool {
        self.state == State::Ended(StopReason::Complete)
    }

    /// Why it is where it is, in one sentence.
    fn message(&self) -> String {
        match (self.state, self.story.outcome()) {
            (State::Running, _) => "it is running; nothing has ended yet".to_owned(),
            (_, Some(outcome)) => outcome.message.clone(),
            (_, None) => "its ralph ended without a word: killed, or the machine went down".to_owned(),
        }
    }

    /// What was being done when the journal ends.
    fn in_flight(&self) -> Option<String> {
        self.story.in_flight.as_ref().map(|doing| words::in_flight(doing, self.row.iteration))
    }

    /// What resuming would do, where there is something to resume.
    fn on_resume(&self) -> Option<String> {
        (self.state != State::Running && !self.is_complete()).then(|| words::on_resume(&self.story.on_resume()))
    }

    /// What had to be so for `complete` and was not; where nothing was wrong, what nobody got to see.
    fn missing(&self) -> Vec<&str> {
        if self.is_complete() || self.state == State::Running {
            return Vec::new();
        }
        let with = |met| self.conditions.iter().filter(move |condition| condition.met == met);
        let wrong = if with(Some(false)).next().is_some() { with(Some(false)) } else { with(None) };
        wrong.map(|condition| condition.name.as_str()).collect()
    }

    /// What to type next; not this command again.
    fn next(&self) -> Vec<String> {
        let run = &self.row.run;
        let next = match (self.state, self.story.outcome()) {
            (State::Running, _) => vec![format!("ralph logs {run} --follow"), format!("ralph cancel {run}")],
            (_, Some(outcome)) => outcome.next.clone(),
            (_, None) => vec![format!("ralph resume {run}")],
        };
        let mut next: Vec<String> =
            next.into_iter().filter(|command| *command != format!("ralph explain {run}")).collect();
        let show = format!("ralph show {run}");
        if !next.contains(&show) {
            next.push(show);
        }
        next
    }

    fn for_people(&self, paint: Paint) -> String {
        let Case { story, row, state, .. } = self;
        let word = state.heading(row.verified, paint);
        let mut page = format!("{} · {word}\n", paint.bold(&format!("run {}", row.run)));
        let _ = writeln!(page, "  {}", words::one_line(&self.message()));
        if let Some(doing) = self.in_flight() {
            let lead = if *state == State::Running { "now" } else { "in flight" };
            let _ = writeln!(page, "  {lead}: {doing}");
        }
        page.push_str(&self.conditions_for_people(paint));
        let used = words::used(story.machine.policy(), row, story.judged(), self.worked);
        let _ = writeln!(page, "\nlimits: {}", used.join(" · "));
        if let Some(what) = self.on_resume() {
            let _ = writeln!(page, "resume: {}", words::one_line(&what));
        }
        for (index, command) in self.next().iter().enumerate() {
            let lead = if index == 0 { "next:  " } else { "       " };
            let _ = writeln!(page, "{lead} {}", paint.cyan(command));
        }
        page
    }

    fn conditions_for_people(&self, paint: Paint) -> String {
        let Some(chapter) = self.story.chapter(None) else { return "\nno iteration was begun\n".to_owned() };
        let head = format!("iteration {}: what complete needs", chapter.iteration);
        let mut page = format!("\n{}\n", paint.bold(&head));
        for Condition { name, met, detail, .. } in &self.conditions {
            let mark = match met {
                Some(met) => words::mark(*met, paint),
                None => paint.yellow("?"),
            };
            let detail = paint.dim(&words::one_line(detail));
            let _ = writeln!(page, "  {mark} {}: {detail}", words::one_line(name));
        }
        if self.story.machine.policy().guardrails.is_empty() {
            let sentence = "no guardrail is configured, so nothing but the agent's word could stand behind a claim";
            let _ = writeln!(page, "  {} {sentence}", paint.yellow("!"));
        }
        let missing = self.missing();
        if !missing.is_empty() {
            let missing = words::one_line(&missing.join("; "));
            let _ = writeln!(page, "missing for complete: {missing}");
        }
        page
    }

    fn for_programs(&self) -> Value {
        let Case { story, row, state, conditions, .. } = self;
        let limits = &story.machine.policy().limits;
        let ended = *state != State::Running;
        json!({
            "v": VERSION,
            "run": row.run,
            "state": if ended { "stopped" } else { "running" },
            "stop_reason": row.stop_reason.filter(|_| ended).map(|reason| reason.as_str()),
            "message": self.message(),
            "verified": row.verified,
            "exit_code": row.exit_code.filter(|_| ended),
            "iteration": row.iteration,
            "conditions": conditions.iter().map(condition_object).collect::<Vec<_>>(),
            "missing": self.missing(),
            "limits": {
                "iterations": story.judged(),
                "max_iterations": limits.max_iterations,
                "elapsed_ms": self.worked.0,
                "max_wall_time_ms": limits.wall.0,
                "cost_usd": row.cost_usd,
                "max_cost_usd": limits.max_cost_usd,
                "tokens": row.tokens.total(),
                "max_tokens": limits.max_tokens,
            },
            "in_flight": self.in_flight(),
            "on_resume": self.on_resume(),
            "next": self.next(),
        })
    }
}

fn condition_object(condition: &Condition) -> Value {
    let mut object = json!({ "name": condition.name, "met": condition.met, "detail": condition.detail });
    if let (Value::Object(object), Some(receipt)) = (&mut object, &condition.receipt) {
        object.insert("receipt".to_owned(), receipt.clone());
    }
    object
}
