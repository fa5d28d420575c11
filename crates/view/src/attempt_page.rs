//! One iteration in full: what the agent was told, did and claimed, and every check's receipt.

use crate::json::{self, VERSION, extend};
use crate::run_view::{AttemptView, RunView};
use crate::words::{self, amounts};
use crate::{Paint, Style};
use ralph_core::observation::{Marker, Observation, ToolResult};
use ralph_core::text;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Tools shown one by one; an agent may have used hundreds, and `--json` has them all.
const TOOLS: usize = 40;
const LINES: usize = 12;

pub fn as_json(view: &RunView, attempt: &AttemptView) -> Value {
    let mut object = json!({ "v": VERSION, "run": view.started.run });
    extend(&mut object, json::iteration(attempt));
    let more = json!({
        "prompt": attempt.prompt,
        "receipts": attempt.checks.iter().map(|check| json::receipt(check, view.settings())).collect::<Vec<_>>(),
        "observation": attempt.agent.as_ref().map(|agent| json::observation(&agent.seen)),
    });
    extend(&mut object, more);
    object
}

pub fn for_people(view: &RunView, attempt: &AttemptView, style: &Style) -> String {
    let paint = style.paint;
    let run = &view.started.run;
    let max = view.machine.policy().last_iteration(attempt.iteration);
    let again = if attempt.attempt > 1 { format!(" · attempt {}", attempt.attempt) } else { String::new() };
    let head = format!("run {run} · iteration {}/{max}{again}", attempt.iteration);
    let mut page = format!("{} · {} · {}\n", paint.bold(&head), style.zone.local(attempt.at), words::verdict(attempt));
    for earlier in
        view.attempts.iter().filter(|other| other.iteration == attempt.iteration && other.attempt < attempt.attempt)
    {
        let how = earlier.agent.as_ref().map_or("its end was not seen", |agent| agent.how.as_str());
        let _ = writeln!(page, "{}", paint.dim(&format!("  attempt {}: {}", earlier.attempt, text::for_terminal(how))));
    }
    let size = text::count(attempt.prompt.chars().count() as u64, "character");
    section(&mut page, paint, &format!("prompt ({size}; all of it: ralph show {run}/{} --prompt)", attempt.iteration));
    block(&mut page, &first_lines(&attempt.prompt));
    section(&mut page, paint, "agent");
    match &attempt.agent {
        None => block(&mut page, "its end was not seen: it runs, or ralph ended before it"),
        Some(agent) => {
            block(&mut page, &words::agent_end(agent));
            observation(&mut page, &agent.seen, paint);
        }
    }
    checks(&mut page, attempt, view.settings(), paint);
    scm(&mut page, attempt, paint);
    if let Some(judged) = &attempt.judged {
        section(&mut page, paint, &format!("verdict: {}, {}", words::claim(&judged.claim), words::verdict(attempt)));
        judged.reasons.iter().for_each(|reason| block(&mut page, &format!("- {reason}")));
    }
    page
}

fn observation(page: &mut String, seen: &Observation, paint: Paint) {
    let process = &seen.process;
    let mut facts = vec![format!("{} printed", text::count(process.bytes, "byte"))];
    facts.extend(seen.cost_usd.map(words::money));
    facts.extend((seen.tokens.total() > 0).then(|| amounts::tokens(seen.tokens)));
    block(page, &facts.join(" · "));
    let marker = match &seen.marker {
        Marker::Absent => String::new(),
        Marker::Present => " · DONE file".to_owned(),
        Marker::WrongKind(kind) => format!(" · DONE is a {kind}"),
    };
    block(page, &format!("{}{marker}", words::claim(&seen.claim)));
    if process.leaked_count > 0 {
        section(page, paint, &format!("left behind and ended: {}", process.leaked_count));
        process.leaked.iter().for_each(|leaked| block(page, &leaked.command));
    }
    if !seen.tools.is_empty() {
        section(page, paint, &text::count(seen.tools.len() as u64, "tool"));
        let skipped = seen.tools.len().saturating_sub(TOOLS);
        if skipped > 0 {
            block(page, &format!("... {skipped} earlier"));
        }
        for tool in seen.tools.iter().skip(skipped) {
            let mark = match tool.result {
                ToolResult::Passed => paint.check(true),
                ToolResult::Failed | ToolResult::CouldNotRun => paint.check(false),
                ToolResult::Unfinished => paint.yellow("?"),
            };
            let command = text::for_terminal(tool.command.as_deref().unwrap_or_default());
            let command = text::cut(&command.replace('\n', " "), 120, "...");
            let _ = writeln!(page, "  {}", format!("{mark} {} {command}", text::for_terminal(&tool.name)).trim_end());
        }
    }
    for (name, list) in [("errors", &seen.errors), ("files written", &seen.files)] {
        if !list.is_empty() {
            section(page, paint, name);
            list.iter().for_each(|line| block(page, line));
        }
    }
    if !seen.last_text.trim().is_empty() {
        section(page, paint, "last words");
        let lines: Vec<&str> = seen.last_text.trim_end().lines().collect();
        block(page, &lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n"));
    }
}

fn checks(page: &mut String, attempt: &AttemptView, settings: &str, paint: Paint) {
    if !attempt.checks.is_empty() || !attempt.findings.is_empty() {
        section(page, paint, "checks");
    }
    for check in &attempt.checks {
        let report = &check.report;
        let mark = paint.check(report.passed());
        let _ = writeln!(page, "  {mark} {} {}", text::for_terminal(report.spec.name()), words::check_end(check));
        let _ = writeln!(page, "    {}", paint.dim(&text::for_terminal(&words::receipt(check, settings))));
        if let Some(why) = check.set_aside {
            let _ = writeln!(page, "    {}", paint.yellow(&format!("does not count: {why}")));
        }
    }
    for finding in &attempt.findings {
        let mark = paint.check(finding.passed);
        let line = format!("{}: {} {}", finding.kind.as_str(), finding.name, finding.problem);
        let _ = writeln!(page, "  {mark} {}", words::one_line(&line).trim_end());
    }
}

fn scm(page: &mut String, attempt: &AttemptView, paint: Paint) {
    if !attempt.scm.is_empty() {
        section(page, paint, "version control");
    }
    for task in &attempt.scm {
        let mark = paint.check(task.passed);
        let line = format!("{mark} {} {}", text::for_terminal(&task.name), text::for_terminal(&task.detail));
        let _ = writeln!(page, "  {}", line.replace('\n', " ").trim_end());
    }
}

fn section(page: &mut String, paint: Paint, name: &str) {
    let _ = writeln!(page, "\n{}", paint.bold(name));
}

/// Text that came from somewhere else, indented.
fn block(page: &mut String, text: &str) {
    for line in text::for_terminal(text).lines() {
        let _ = writeln!(page, "  {line}");
    }
}

fn first_lines(prompt: &str) -> String {
    let mut lines: Vec<&str> = prompt.lines().take(LINES).collect();
    let cut = prompt.lines().nth(LINES).is_some();
    lines.extend(cut.then_some("..."));
    lines.join("\n")
}
