//! `ralph show`: a run, or one of its iterations, as the journal tells it.

use crate::cli::Global;
use crate::error::CommandError;
use crate::face::json_lines::VERSION;
use crate::face::paint::Paint;
use crate::face::render::amounts;
use crate::look::live::Live;
use crate::look::pick::{self, Wanted};
use crate::look::state::State;
use crate::look::story::{AttemptView, Story};
use crate::look::words;
use crate::look::{attempt_view, json, page};
use crate::project::Project;
use crate::suggest::Suggest;
use clap::Args;
use ralph_core::event::Entry;
use ralph_core::outcome::exit;
use ralph_core::policy::LoopKind;
use ralph_core::run::RunRow;
use ralph_core::text;
use ralph_host::clock::Clock;
use serde_json::json;
use std::fmt::Write as _;
use std::io::IsTerminal;

/// Show a run, or one of its iterations.
///
/// Everything comes from the journal, folded again: the prompt, what the agent did and claimed, and
/// the receipt of every check that ralph executed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ralph show                      the newest run\n  ralph show 7f3a9k2m\n  ralph show 7f3a9k2m/3           its third iteration\n  ralph show 7f3a9k2m/3 --prompt  the exact prompt of that iteration\n  ralph show --json | jq .receipts"
)]
pub struct ShowArgs {
    /// The run by its id or the beginning of it, and the iteration behind a slash; the newest run if left out
    #[arg(value_name = "RUN[/ITERATION]")]
    target: Option<Wanted>,
    /// Print only the exact prompt of the iteration; of the newest one if none is named
    #[arg(long)]
    prompt: bool,
}

/// Runs the command.
pub fn run(global: &Global, args: &ShowArgs) -> Result<u8, CommandError> {
    let project = Project::find(global.directory.as_deref())?;
    let store = pick::store(&project)?;
    let (typed, iteration) =
        args.target.as_ref().map_or((None, None), |wanted| (wanted.run.as_deref(), wanted.iteration));
    let row = pick::run(&store, typed, &project)?;
    let entries = store.entries(&row.run)?;
    let wanted = match (iteration, args.prompt) {
        (None, true) => Some(newest(&entries, &row)?),
        (named, _) => named,
    };
    let story = Story::of(&entries, wanted).map_err(|error| pick::unreadable(&row.run, &error))?;
    let state = Live::look(&project).state(&row);
    let text = match wanted {
        None if global.json => {
            format!("{}\n", json::whole(&story, state, story.worked(state, Clock::start().now()), &project.suggest()))
        }
        None => whole(&story, &row, state, &project.suggest(), page::paint(global)),
        Some(number) => {
            let attempt = find(&story, &row, Some(number))?;
            match (args.prompt, global.json) {
                (true, false) => exact_prompt(&attempt.prompt),
                (true, true) => {
                    format!(
                        "{}\n",
                        json!({ "v": VERSION, "run": row.run, "iteration": number, "prompt": attempt.prompt })
                    )
                }
                (false, true) => format!("{}\n", attempt_view::as_json(&story, attempt)),
                (false, false) => attempt_view::for_people(&story, attempt, page::paint(global)),
            }
        }
    };
    page::print(&text)?;
    Ok(exit::OK)
}

/// The newest iteration that was begun. The run itself may be further: its next prompt could not be made.
fn newest(entries: &[Entry], row: &RunRow) -> Result<u32, CommandError> {
    let story = Story::of(entries, None).map_err(|error| pick::unreadable(&row.run, &error))?;
    Ok(find(&story, row, None)?.iteration)
}

/// The newest process of an iteration, or of all.
pub fn find<'s, 'a>(
    story: &'s Story<'a>,
    row: &RunRow,
    number: Option<u32>,
) -> Result<&'s AttemptView<'a>, CommandError> {
    story.attempt(number).ok_or_else(|| match (story.attempts.last(), number) {
        (Some(last), Some(number)) => {
            CommandError::usage(format!("run {} has no iteration {number}: it has 1 to {}", row.run, last.iteration))
                .hint(format!("list them: ralph show {}", row.run))
        }
        _ => CommandError::usage(format!("run {} has not begun an iteration", row.run))
            .hint(format!("why: ralph explain {}", row.run)),
    })
}

/// A terminal is spared what would drive it; everything else gets the very bytes.
fn exact_prompt(prompt: &str) -> String {
    if std::io::stdout().is_terminal() { text::for_terminal(prompt) } else { prompt.to_owned() }
}

fn whole(story: &Story<'_>, row: &RunRow, state: State, suggest: &Suggest, paint: Paint) -> String {
    let mut text = header(story, row, state, paint);
    for attempt in &story.attempts {
        text.push_str(&chapter_lines(attempt, row.kind, paint));
    }
    if story.attempts.is_empty() {
        text.push_str("  no agent was started\n");
    }
    for (at, note) in &story.notes {
        let _ =
            writeln!(text, "  {} {} {}", paint.yellow("note:"), words::one_line(note), paint.dim(&words::local(*at)));
    }
    text + &end(story, row, state, suggest, paint)
}

fn header(story: &Story<'_>, row: &RunRow, state: State, paint: Paint) -> String {
    let policy = story.machine.policy();
    let mut agent = policy.agent.command.clone();
    if !policy.agent.model.is_empty() {
        let _ = write!(agent, " ({})", policy.agent.model);
    }
    let checks: Vec<&str> = policy.guardrails.iter().map(|rule| rule.command.as_str()).collect();
    let checks = if checks.is_empty() { "none".to_owned() } else { checks.join(", ") };
    let limits = ("limits", vec![words::limits(policy)]);
    let mut facts = vec![("task", vec![row.task.to_string()])];
    match &policy.supervision {
        Some(supervision) => {
            facts.extend([("command", vec![words::command(policy)]), limits]);
            facts.push(("folder", vec![supervision.task_folder.clone()]));
        }
        None => {
            facts.extend([("prompt", words::prompt(&policy.prompt)), ("agent", vec![agent]), limits]);
            facts.push(("checks", vec![checks]));
            let settings = format!("{} · ralph {}", words::short(&policy.config_hash), story.started.version);
            facts.push(("settings", vec![settings]));
        }
    }
    facts.push(("began", vec![format!("{} in {}", words::local(row.started_at), story.started.root)]));
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
fn chapter_lines(attempt: &AttemptView<'_>, kind: LoopKind, paint: Paint) -> String {
    let reasons = attempt.judged.as_ref().map(|judged| judged.reasons.as_slice()).unwrap_or_default();
    if let (LoopKind::Supervise, [line, more @ ..]) = (kind, reasons) {
        let span = attempt.duration().map_or(String::new(), |span| format!(" ({span})"));
        let more = more.iter().map(|reason| format!("      {}\n", paint.dim(&words::one_line(reason))));
        return format!("  {}{span}\n", words::one_line(line)) + &more.collect::<String>();
    }
    let mut parts = vec![format!("{:>3}", attempt.iteration)];
    parts.extend((attempt.attempt > 1).then(|| format!("attempt {}", attempt.attempt)));
    parts.extend(attempt.duration().map(|span| span.to_string()));
    parts.extend(attempt.judged.as_ref().map(|judged| words::claim(&judged.claim).to_owned()));
    let checks = attempt.counted().map(|check| {
        format!("{} {}", paint.check(check.report.ending.passed()), text::for_terminal(&check.report.spec.command))
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
        let _ = writeln!(lines, "{}", paint.dim(&format!("      - {}", words::one_line(reason))));
    }
    lines
}

fn end(story: &Story<'_>, row: &RunRow, state: State, suggest: &Suggest, paint: Paint) -> String {
    let (message, next) = match (state, story.outcome()) {
        (State::Running, _) => {
            let doing = story.in_flight.as_ref().map(|doing| words::in_flight(doing, row.iteration));
            let doing = doing.map_or("goes on".to_owned(), |doing| format!("now: {doing}"));
            (doing, vec![format!("ralph logs {} --follow", row.run)])
        }
        (_, Some(outcome)) => (outcome.message.clone(), outcome.next.clone()),
        (_, None) => {
            let doing = story.in_flight.as_ref().map(|doing| words::in_flight(doing, row.iteration));
            let message = format!("crashed; in flight: {}", doing.unwrap_or_else(|| "nothing".to_owned()));
            (message, vec![format!("ralph resume {}", row.run)])
        }
    };
    let mut facts = vec![
        text::count(story.judged().into(), row.kind.step()),
        format!("{} of work", story.worked(state, Clock::start().now())),
    ];
    facts.extend(row.cost_usd.map(words::money));
    facts.extend((row.tokens.total() > 0).then(|| amounts::tokens(row.tokens)));
    let word = state.heading(row, paint);
    let mut block = format!("\n{word}\n  {}\n  {}\n", words::one_line(&message), paint.dim(&facts.join(" · ")));
    // Not this command again.
    let mut next: Vec<String> =
        next.into_iter().filter(|command| *command != format!("ralph show {}", row.run)).collect();
    if next.is_empty() {
        next.push(format!("ralph explain {}", row.run));
    }
    for (index, command) in next.iter().enumerate() {
        let lead = if index == 0 { "next: " } else { "      " };
        let _ = writeln!(block, "  {lead}{}", paint.cyan(&suggest.line(command)));
    }
    block
}
