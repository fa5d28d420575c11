//! A run on one page: its rules, a line for each iteration, and how it ended.

use crate::liveness::State;
use crate::run_view::{AttemptView, RunView};
use crate::words::{self, amounts};
use crate::{Paint, Style};
use ralph_core::plan::Mode;
use ralph_core::policy::LoopKind;
use ralph_core::run::RunRow;
use ralph_core::text;
use ralph_core::time::Millis;
use std::fmt::Write as _;

/// The page for people. `worked` is the time that the run was worked on.
pub fn for_people(view: &RunView, row: &RunRow, state: State, worked: Millis, style: &Style) -> String {
    let paint = style.paint;
    let mut text = header(view, row, state, style);
    for attempt in &view.attempts {
        text.push_str(&attempt_lines(attempt, row.kind, paint));
    }
    if view.attempts.is_empty() {
        text.push_str("  no agent was started\n");
    }
    for (at, note) in &view.notes {
        let at = paint.dim(&style.zone.local(*at));
        let _ = writeln!(text, "  {} {} {at}", paint.yellow("note:"), words::one_line(note));
    }
    text + &end(view, row, state, worked, style)
}

fn header(view: &RunView, row: &RunRow, state: State, style: &Style) -> String {
    let paint = style.paint;
    let policy = view.machine.policy();
    let mut agent = policy.agent.command.clone();
    if !policy.agent.model.is_empty() {
        let _ = write!(agent, " ({})", policy.agent.model);
    }
    let checks: Vec<&str> = policy.guardrails.iter().map(|rule| rule.shown()).collect();
    let checks = if checks.is_empty() { "none".to_owned() } else { checks.join(", ") };
    let limits = ("limits", vec![words::limits(policy)]);
    let mut facts = vec![("task", vec![row.task.to_string()])];
    match policy.supervision() {
        Some(supervision) => {
            facts.extend([("command", vec![words::command(policy)]), limits]);
            facts.push(("folder", vec![supervision.task_folder.clone()]));
        }
        None => {
            facts.extend([("prompt", words::prompt(&policy.prompt)), ("agent", vec![agent]), limits]);
            facts.push(("checks", vec![checks]));
            let settings = format!("{} · ralph {}", words::short(&policy.config_hash), view.started.version);
            facts.push(("settings", vec![settings]));
        }
    }
    facts.push(("began", vec![format!("{} in {}", style.zone.local(row.started_at), view.started.root)]));
    facts.extend(row.parent.as_ref().map(|parent| ("inside", vec![format!("run {parent}")])));
    let state = state.heading(row, paint);
    let mut head = format!("{} · {state}\n", paint.bold(&format!("run {}", row.run)));
    for (name, lines) in facts {
        for (index, line) in lines.iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            let _ = writeln!(head, "  {}  {}", paint.dim(&format!("{name:8}")), text::for_terminal(line));
        }
    }
    head + "\n"
}

/// One line for an iteration, and one more for each reason why it was not accepted.
fn attempt_lines(attempt: &AttemptView, kind: LoopKind, paint: Paint) -> String {
    let reasons = attempt.judged.as_ref().map(|judged| judged.reasons.as_slice()).unwrap_or_default();
    if let (LoopKind::Supervise, [line, more @ ..]) = (kind, reasons) {
        let span = attempt.duration().map_or(String::new(), |span| format!(" ({span})"));
        let more = more.iter().map(|reason| format!("      {}\n", paint.dim(&words::one_line(&reason.to_string()))));
        return format!("  {}{span}\n", words::one_line(&line.to_string())) + &more.collect::<String>();
    }
    let mut parts = vec![format!("{:>3}", attempt.iteration)];
    parts.extend((attempt.attempt > 1).then(|| format!("attempt {}", attempt.attempt)));
    parts.extend(attempt.turn.as_ref().map(|turn| {
        let mode = turn.mode.map_or("commit", Mode::as_str);
        format!("{mode} {}", turn.story)
    }));
    parts.extend(attempt.duration().map(|span| span.to_string()));
    parts.extend(attempt.judged.as_ref().map(|judged| words::claim(&judged.claim).to_owned()));
    let checks = attempt.counted().map(|check| {
        format!("{} {}", paint.check(check.report.passed()), text::for_terminal(check.report.spec.name()))
    });
    let findings = attempt
        .findings
        .iter()
        .map(|finding| format!("{} {}", paint.check(finding.passed), words::one_line(&finding.name)));
    parts.extend(checks.chain(findings));
    parts.extend(attempt.cost_usd().map(words::money));
    parts.extend(
        attempt.judged.as_ref().filter(|judged| judged.leaked > 0).map(|judged| format!("{} leaked", judged.leaked)),
    );
    let verdict = words::verdict(attempt);
    parts.push(if verdict == "accepted" { paint.green(verdict) } else { verdict.to_owned() });
    let mut lines = parts.join(" · ") + "\n";
    for reason in reasons {
        let _ = writeln!(lines, "{}", paint.dim(&format!("      - {}", words::one_line(&reason.to_string()))));
    }
    lines
}

fn end(view: &RunView, row: &RunRow, state: State, worked: Millis, style: &Style) -> String {
    let paint = style.paint;
    let doing = view.in_flight().map(|doing| words::in_flight(doing, row.iteration, &style.zone));
    let (message, next) = match (state, view.outcome()) {
        (State::Running, _) => {
            let doing = doing.map_or("goes on".to_owned(), |doing| format!("now: {doing}"));
            (doing, vec![format!("ralph logs {} --follow", row.run)])
        }
        (_, Some(outcome)) => (outcome.message.clone(), outcome.next.clone()),
        (_, None) => {
            let message = format!("crashed; in flight: {}", doing.unwrap_or_else(|| "nothing".to_owned()));
            (message, vec![format!("ralph resume {}", row.run)])
        }
    };
    let mut facts = vec![text::count(view.judged().into(), words::step(row.kind)), format!("{worked} of work")];
    facts.extend(row.cost_usd.map(words::money));
    facts.extend((row.tokens.total() > 0).then(|| amounts::tokens(row.tokens)));
    let word = state.heading(row, paint);
    let tests =
        view.outcome().filter(|_| state != State::Running).and_then(|outcome| outcome.tests_changed.as_ref()?.words());
    let tests = tests.map_or(String::new(), |words| format!("  {}\n", paint.yellow(&words::one_line(&words))));
    let facts = paint.dim(&facts.join(" · "));
    let block = format!("\n{word}\n  {}\n{tests}  {facts}\n", words::one_line(&message));
    // Not this command again.
    let mut next: Vec<String> =
        next.into_iter().filter(|command| *command != format!("ralph show {}", row.run)).collect();
    if next.is_empty() {
        next.push(format!("ralph explain {}", row.run));
    }
    block + &words::next(&next, paint, &style.suggest)
}
