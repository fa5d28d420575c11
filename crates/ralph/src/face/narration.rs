//! What a run says of itself to people: each notice in its words. Nothing here prints; nothing that
//! came from an agent, a check or a file goes out as it is.

use super::paint::Paint;
use super::render::{Marks, amounts};
use crate::look::words;
use crate::suggest::Suggest;
use ralph_core::claim::Claim;
use ralph_core::notice::{Notice, ResumeKind, VerdictWord};
use ralph_core::observation::LineCounts;
use ralph_core::outcome::{Outcome, StopReason};
use ralph_core::policy::{LoopKind, Policy};
use ralph_core::text;
use ralph_core::time::Millis;

/// Lines of a failed check's output that are unfolded, and how long they may be.
const UNFOLDED_LINES: usize = 5;
const UNFOLDED_CHARS: usize = 160;

/// A voice for one end.
#[derive(Debug, Clone, Copy)]
pub struct Narration {
    /// Its brush.
    pub paint: Paint,
    /// Emoji or words.
    pub marks: Marks,
}

impl Narration {
    /// Which run this is, and what it may do.
    pub fn header(self, project: &str, run: &str, policy: &Policy) -> Vec<String> {
        let head = format!(
            "{} {} · project {} · run {run} · agent {} · task {}",
            self.paint.bold("ralph"),
            env!("CARGO_PKG_VERSION"),
            text::for_terminal(project),
            text::for_terminal(&policy.agent.command),
            policy.task
        );
        let mut limits = vec![words::passes(policy)];
        limits.extend((!policy.limits.wall.is_off()).then(|| policy.limits.wall.to_string()));
        limits.extend(
            (policy.limits.max_cost_usd > 0.0).then(|| format!("${}", text::money(policy.limits.max_cost_usd))),
        );
        limits.extend((policy.limits.max_tokens > 0).then(|| format!("{} tokens", policy.limits.max_tokens)));
        if let Some(supervision) = &policy.supervision {
            let folder = text::for_terminal(&supervision.task_folder);
            return vec![head, self.paint.dim(&format!("limits: {} · until DONE in {folder}", limits.join(", ")))];
        }
        let checks: Vec<&str> = policy.guardrails.iter().map(|guardrail| guardrail.command.as_str()).collect();
        let checks = if checks.is_empty() {
            "none, so a claim will be believed unverified".to_owned()
        } else {
            checks.join(", ")
        };
        let limits = format!("limits: {} · checks: {}", limits.join(", "), text::for_terminal(&checks));
        vec![head, self.paint.dim(&limits)]
    }

    /// How a check went. A failure is unfolded: its first lines, and where the rest is.
    pub fn check(self, notice: &Notice) -> Vec<String> {
        let Notice::CheckFinished { kind, name, passed, problem, duration, log, fail_action, output, .. } = notice
        else {
            return Vec::new();
        };
        let (kind, name) = (kind.as_str(), text::for_terminal(name));
        if *passed {
            return vec![format!("  {} {kind} {name} passed ({duration})", self.paint.green(self.marks.passed()))];
        }
        let action = fail_action.map_or(String::new(), |action| {
            format!(" · {action} to the next prompt").replace("REPLACE to", "REPLACE for")
        });
        let (mark, problem) = (self.paint.red(self.marks.failed()), self.paint.red(problem));
        let mut lines = vec![format!("  {mark} {kind} {name} {problem} ({duration}){action}")];
        let clean = text::for_terminal(output);
        let shown = clean.lines().filter(|line| !line.trim().is_empty()).take(UNFOLDED_LINES);
        lines.extend(shown.map(|line| self.paint.dim(&format!("      {}", text::cut(line, UNFOLDED_CHARS, "...")))));
        lines.extend(log.as_ref().map(|log| self.paint.dim(&format!("      all of it: {log}"))));
        lines
    }

    /// How a task of version control went. A commit is known by the subject of its message.
    pub fn scm(self, notice: &Notice) -> Vec<String> {
        let Notice::ScmFinished { task, passed, detail, duration, .. } = notice else { return Vec::new() };
        let (task, detail) = (text::for_terminal(task), text::for_terminal(detail.lines().next().unwrap_or_default()));
        let line = match (*passed, detail.is_empty()) {
            (true, true) => format!("  {} scm {task} ({duration})", self.paint.green(self.marks.passed())),
            (true, false) => format!("  {} scm {task}: {detail} ({duration})", self.paint.green(self.marks.passed())),
            (false, _) => {
                let (mark, detail) = (self.paint.red(self.marks.failed()), self.paint.red(&detail));
                format!("  {mark} scm {task} {detail} ({duration})")
            }
        };
        vec![line]
    }

    /// How an iteration was judged; `last` is the last iteration there can be.
    pub fn iteration_finished(self, notice: &Notice, last: u32) -> Vec<String> {
        let Notice::IterationFinished { iteration, claim, verdict, reasons, cost_usd, leaked, duration, .. } = notice
        else {
            return Vec::new();
        };
        let said = match claim {
            Claim::None => "",
            Claim::Complete => " · claimed complete",
            Claim::Blocked { .. } => " · claimed blocked",
            Claim::Wait => " · asked to wait",
        };
        let paint = self.paint;
        let verdict = match verdict {
            VerdictWord::Stop if reasons.is_empty() => paint.green("accepted"),
            VerdictWord::Stop if matches!(claim, Claim::Blocked { .. }) => paint.yellow("stops"),
            VerdictWord::Stop => paint.yellow("not accepted"),
            VerdictWord::Continue if said.is_empty() => "goes on".to_owned(),
            VerdictWord::Continue => paint.yellow("not accepted, goes on"),
            VerdictWord::Retry | VerdictWord::Wait => paint.yellow("will be repeated, not counted"),
        };
        let cost = cost_usd.map_or(String::new(), |cost| format!(" · ${cost:.2}"));
        let leaked = if *leaked > 0 { format!(" · {leaked} leaked") } else { String::new() };
        let mut lines = vec![format!("iteration {iteration}/{last}{said} · {verdict} · {duration}{cost}{leaked}")];
        lines.extend(reasons.iter().map(|reason| paint.dim(&format!("  - {}", text::for_terminal(reason)))));
        lines
    }

    /// How an attempt of a supervised agent went.
    pub fn attempt_finished(self, notice: &Notice) -> Vec<String> {
        let Notice::IterationFinished { reasons, leaked, duration, .. } = notice else { return Vec::new() };
        let leaked = if *leaked > 0 { format!(" · {leaked} leaked") } else { String::new() };
        let line = reasons.first().map(|line| format!("{} ({duration}){leaked}", text::for_terminal(line)));
        let more = reasons.iter().skip(1).map(|reason| self.paint.dim(&format!("  {}", text::for_terminal(reason))));
        line.into_iter().chain(more).collect()
    }

    /// How a run ended: the word, the sentence, the facts and what to type next.
    pub fn end(self, run: &RunOf<'_>, outcome: &Outcome, took: Millis, suggest: &Suggest) -> String {
        let paint = self.paint;
        let RunOf { run, kind } = run;
        let verified = match (outcome.reason, outcome.verified) {
            // Nobody promised more than that the file is there.
            (StopReason::Complete, _) if *kind == LoopKind::Supervise => format!("{} · DONE", paint.green("complete")),
            (reason, _) if *kind == LoopKind::Supervise => paint.red(reason.as_str()),
            (StopReason::Complete, true) => format!("{} · verified", paint.green("complete")),
            (StopReason::Complete, false) => format!("{} · claimed, not verified", paint.yellow("complete")),
            (StopReason::Error, true) => format!("{} · verified, version control failed", paint.red("error")),
            (reason, _) => format!("{} · not verified", paint.red(reason.as_str())),
        };
        let mut facts = vec![format!("run {run}"), text::count(outcome.iterations.into(), kind.step())];
        facts.push(took.to_string());
        // What nobody stated is not zero.
        let spent = outcome.tokens.total() > 0;
        facts
            .extend(outcome.cost_usd.map(|cost| format!("${cost:.2}")).or(spent.then(|| "no price stated".to_owned())));
        facts.extend(spent.then(|| amounts::tokens(outcome.tokens)));
        let mut block = format!(
            "\n{}\n  {}\n  {}\n",
            paint.bold(&verified),
            words::one_line(&outcome.message),
            paint.dim(&facts.join(" · "))
        );
        for (index, command) in outcome.next.iter().enumerate() {
            let lead = if index == 0 { "next: " } else { "      " };
            block.push_str(&format!("  {lead}{}\n", paint.cyan(&suggest.line(command))));
        }
        block
    }
}

/// A run and what kind it is.
pub struct RunOf<'a> {
    /// The run.
    pub run: &'a str,
    /// Its front door.
    pub kind: LoopKind,
}

/// Where a run goes on.
pub fn resumed(kind: ResumeKind, step: &str) -> String {
    let words = match kind {
        ResumeKind::NextIteration(n) => format!("continuing with {step} {n}"),
        ResumeKind::SameIteration(n) => {
            format!("continuing with {step} {n} from its beginning: it was not finished")
        }
        ResumeKind::Checks(n) => format!("continuing with the checks of iteration {n}: its agent had finished"),
        ResumeKind::AtALimit => "nothing can be done within the limits".to_owned(),
    };
    format!("resumed · {words}")
}

/// What was in an agent's stream and not understood; `None` if that is nothing.
pub fn not_understood(lines: LineCounts) -> Option<String> {
    let LineCounts { noise, unknown, too_long, suspect_usage } = lines;
    let counts = [
        (unknown, "unknown event", ""),
        (noise, "line", " not understood"),
        (too_long, "line", " too long to be read"),
        (suspect_usage, "usage figure", " that cannot be true"),
    ];
    let told: Vec<String> = counts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, word, what)| text::count(number, word) + what)
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_there_was_is_counted() {
        let lines = |unknown, noise, too_long, suspect_usage| LineCounts { noise, unknown, too_long, suspect_usage };
        for (counts, words) in [
            (lines(0, 0, 0, 0), None),
            (lines(3, 2, 0, 0), Some("3 unknown events, 2 lines not understood")),
            (lines(1, 1, 0, 0), Some("1 unknown event, 1 line not understood")),
            (lines(0, 0, 1, 2), Some("1 line too long to be read, 2 usage figures that cannot be true")),
        ] {
            assert_eq!(not_understood(counts).as_deref(), words);
        }
    }
}
