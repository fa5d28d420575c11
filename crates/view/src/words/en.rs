//! English: the sentences in which facts about runs are told to people.

use super::{money, short};
use crate::run_view::{AgentEnd, AttemptView, Check, InFlight, OnResume, RunView};
use crate::{Paint, Suggest, Zone, quoted};
use ralph_core::check::{Ground, TreePrint};
use ralph_core::claim::Claim;
use ralph_core::notice::{ResumeKind, VerdictWord};
use ralph_core::observation::Ending;
use ralph_core::policy::{LoopKind, Passes, Policy, PromptSource};
use ralph_core::run::RunRow;
use ralph_core::text;
use ralph_core::time::Millis;

/// What one agent process of a run is called.
pub fn step(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::Prompt | LoopKind::Plan => "iteration",
        LoopKind::Supervise => "start",
    }
}

pub fn tree(print: Option<&TreePrint>) -> String {
    match print {
        Some(TreePrint::Seen { tree, .. }) => short(tree).to_owned(),
        Some(TreePrint::Unknown { why, .. }) => format!("unknown ({why})"),
        None => "not looked at".to_owned(),
    }
}

/// How a check went, behind its name: `passed (1.2s)`.
pub fn check_end(check: &Check) -> String {
    let report = &check.report;
    let how = if report.passed() { "passed".to_owned() } else { report.problem() };
    format!("{how} ({})", report.duration)
}

/// The tree on which a check ran, and where else than in the project itself.
pub fn tree_of(check: &Check) -> String {
    let tree = tree(check.tree.as_ref());
    match (check.report.spec.ground, &check.tree) {
        (Ground::Project | Ground::Live, _) => tree,
        (Ground::Checkout, Some(TreePrint::Seen { head, .. })) => {
            format!("{tree}, in a clean checkout of {}", short(head))
        }
        (Ground::Checkout, _) => format!("{tree}, in a clean checkout"),
    }
}

/// What proves a check: its exit code, hashes of its output, of the tree that it ran on and of the settings
/// that ordered it, and the log.
pub fn receipt(check: &Check, settings: &str) -> String {
    let report = &check.report;
    let code = report.ending.code().map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
    let output = format!("output {} ({})", short(&report.output_hash), text::count(report.output_bytes, "byte"));
    format!("{code} · {output} · tree {} · settings {} · {}", tree_of(check), short(settings), report.log)
}

pub fn claim(claim: &Claim) -> &'static str {
    match claim {
        Claim::None => "no claim",
        Claim::Complete => "said it was done",
        Claim::Blocked { .. } => "claimed blocked",
        Claim::Wait => "asked to wait",
    }
}

pub fn rejected(failed: &[String]) -> String {
    if failed.is_empty() { "rejected".to_owned() } else { format!("rejected: {} failed", failed.join(", ")) }
}

/// What to type next, one command a line.
pub fn next(commands: &[String], paint: Paint, suggest: &Suggest) -> String {
    let lead = |index| if index == 0 { "next: " } else { "      " };
    let line =
        |(index, command): (usize, &String)| format!("  {}{}\n", lead(index), paint.cyan(&suggest.line(command)));
    commands.iter().enumerate().map(line).collect()
}

pub fn verdict(attempt: &AttemptView) -> &'static str {
    match &attempt.judged {
        None if attempt.agent.is_none() => "not finished",
        None => "not judged",
        Some(judged) => match judged.verdict {
            VerdictWord::Stop if judged.accepted => "accepted",
            VerdictWord::Stop => "not accepted",
            VerdictWord::Continue => "goes on",
            VerdictWord::Retry | VerdictWord::Wait => "repeated, not counted",
        },
    }
}

/// How an agent ended: what the system says, and what was made of it where that says more.
pub fn agent_end(agent: &AgentEnd) -> String {
    let process = &agent.seen.process;
    let facts = ending(&process.ending);
    let how = match &process.ending {
        _ if agent.well => facts,
        Ending::Exited { code } if !agent.how.contains(&format!("code {code}")) => format!("{facts}: {}", agent.how),
        _ => agent.how.clone(),
    };
    format!("{how} (after {})", process.duration)
}

/// The name of an iteration's program; where it lies says nothing about the iteration.
pub fn program(attempt: &AttemptView) -> &str {
    attempt.program.rsplit('/').next().unwrap_or_default()
}

pub fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Exited { code } => format!("exit code {code}"),
        Ending::Signalled { signal } => format!("killed by signal {signal}"),
        Ending::NotStarted { reason, .. } => format!("not started: {reason}"),
        Ending::TimedOut { limit } => format!("ended by ralph after {limit}"),
        Ending::Idle { limit } => format!("ended by ralph: idle for {limit}"),
        Ending::Lingered => "ended by ralph after its final result".to_owned(),
        Ending::Stopped => "stopped by ralph".to_owned(),
        Ending::KeeperLost => "unknown: the process that watched over it died".to_owned(),
    }
}

/// The command that a supervisor starts, as a shell would need it.
pub fn command(policy: &Policy) -> String {
    let words = std::iter::once(&policy.agent.command).chain(&policy.agent.flags);
    words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

pub fn passes(policy: &Policy) -> String {
    match policy.passes {
        Passes::Loop => text::count(policy.limits.max_iterations.into(), step(policy.kind.name())),
        Passes::Single => "a single pass".to_owned(),
    }
}

pub fn limits(policy: &Policy) -> String {
    let limits = &policy.limits;
    let mut parts = vec![passes(policy)];
    parts.extend((!limits.wall.is_off()).then(|| format!("{} in all", limits.wall)));
    parts
        .extend((!limits.iteration.is_off()).then(|| format!("{} per {}", limits.iteration, step(policy.kind.name()))));
    parts.extend((!limits.idle.is_off()).then(|| format!("{} idle", limits.idle)));
    parts.extend((limits.max_cost_usd > 0.0).then(|| money(limits.max_cost_usd)));
    parts.extend((limits.max_tokens > 0).then(|| format!("{} tokens", limits.max_tokens)));
    parts.join(", ")
}

pub fn used(policy: &Policy, row: &RunRow, judged: u32, elapsed: Millis) -> Vec<String> {
    let limits = &policy.limits;
    let mut parts = vec![format!("iterations {judged}/{}", policy.last_iteration(judged))];
    parts.push(match limits.wall.is_off() {
        true => format!("time {elapsed}, no limit"),
        false => format!("time {elapsed} of {}", limits.wall),
    });
    let cost = row.cost_usd.map_or("cost not stated".to_owned(), |cost| format!("cost {}", money(cost)));
    parts.push(if limits.max_cost_usd > 0.0 { format!("{cost} of {}", money(limits.max_cost_usd)) } else { cost });
    if row.tokens.total() > 0 || limits.max_tokens > 0 {
        let of = if limits.max_tokens > 0 { format!(" of {}", limits.max_tokens) } else { String::new() };
        parts.push(format!("tokens {}{of}", row.tokens.total()));
    }
    parts
}

/// Where the prompt comes from: its first lines, or the file.
pub fn prompt(source: &PromptSource) -> Vec<String> {
    /// Enough to recognise it.
    const LINES: usize = 3;
    match source {
        PromptSource::File(path) => vec![format!("read from {} before every iteration", text::for_terminal(path))],
        PromptSource::Text(prompt) => {
            let clean = text::for_terminal(prompt);
            let mut lines: Vec<String> = clean.lines().take(LINES).map(|line| text::cut(line, 100, "...")).collect();
            let more = clean.lines().count().saturating_sub(LINES);
            lines.extend((more > 0).then(|| format!("... {} more", text::count(more as u64, "line"))));
            lines
        }
    }
}

pub fn in_flight(in_flight: &InFlight, iteration: u32, zone: &Zone) -> String {
    match in_flight {
        InFlight::Prompt => format!("reading the inputs of the prompt of iteration {iteration}"),
        InFlight::Agent => format!("the agent of iteration {iteration}"),
        InFlight::Tree => "looking at the files".to_owned(),
        InFlight::Check(spec) => {
            let when = match iteration {
                0 => "before the first iteration".to_owned(),
                iteration => format!("of iteration {iteration}"),
            };
            format!("guardrail \"{}\" {when}", text::for_terminal(spec.name()))
        }
        InFlight::Rest => format!("pausing after start {iteration}"),
        InFlight::Children => "waiting for child runs".to_owned(),
        InFlight::Fact => "telling the project that the task is complete".to_owned(),
        InFlight::Scm(spec) => format!("scm task {} of iteration {iteration}", text::for_terminal(&spec.task)),
        InFlight::Wait(until) => format!("waiting until {} to repeat iteration {iteration}", zone.local(*until)),
    }
}

pub fn on_resume(view: &RunView) -> String {
    match view.on_resume() {
        OnResume::Nothing => "nothing is left to resume".to_owned(),
        OnResume::EndsAtOnce(message) => format!("would end at once unless a limit is raised: {message}"),
        OnResume::GoesOn(ResumeKind::NextIteration(n)) => format!("continues with iteration {n}"),
        OnResume::GoesOn(ResumeKind::SameIteration(n)) => {
            let agent = view.attempt(Some(n)).and_then(|attempt| attempt.agent.as_ref());
            let why = match agent.filter(|agent| agent.seen.process.ending != Ending::Stopped) {
                Some(agent) => format!("failed: {}", agent.how),
                None => "did not come to its own end".to_owned(),
            };
            format!("begins iteration {n} again: its agent {why}")
        }
        OnResume::GoesOn(ResumeKind::AtALimit) => "can do nothing within the limits".to_owned(),
        OnResume::GoesOn(ResumeKind::Checks(n)) => {
            format!("continues with the checks of iteration {n}: its agent had finished")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_prompt_is_cut_and_says_so() {
        let shown = prompt(&PromptSource::Text("a\n\u{1b}[2Jb\nc\nd\ne".to_owned()));
        assert_eq!(shown, ["a", "b", "c", "... 2 lines more"]);
    }
}
