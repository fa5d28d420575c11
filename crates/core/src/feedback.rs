//! ralph's words about the last iteration for the next one: what was not accepted, the lines that tell
//! most, what was changed, and what has been tried before without success.
//!
//! Everything here is bounded, and what an agent or a tool said stands inside fences.

use crate::check::CheckReport;
use crate::claim::Claim;
use crate::guardrail::OutputPart;
use crate::history::{History, Lap, quoted};
use crate::memory::{fence, one_line};
use crate::text;
use crate::verdict::Judgement;
use std::fmt::Write as _;

/// The most characters of one reason: it may quote what an agent or a tool said.
const REASON_CHARS: usize = 1000;
/// Reasons that are told one by one.
const REASONS_TOLD: usize = 12;
/// Characters of one check's decisive lines.
const EXCERPT_CHARS: usize = 1500;
/// Checks whose decisive lines are shown; whoever repairs these sees the next ones.
const EXCERPTS_SHOWN: usize = 3;
/// Files that are named for a lap.
const FILES_NAMED: usize = 8;
/// Earlier laps that are listed; the newest say most.
const LAPS_LISTED: usize = 5;
/// So many equal failures ask for another way, not for one more try.
const TIMES_TO_TURN: usize = 3;

/// What feedback is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookback<'a> {
    pub(crate) iteration: u32,
    pub(crate) judgement: &'a Judgement,
    pub(crate) reports: &'a [CheckReport],
    /// All laps, of which the judged one is the last.
    pub(crate) history: &'a History,
}

/// ralph's words for the next prompt; empty if there is nothing to say.
pub(crate) fn feedback(on: Lookback<'_>) -> String {
    let Lookback { iteration, judgement, reports, .. } = on;
    let claimed = judgement.claim == Claim::Complete;
    if judgement.failing.is_empty() {
        return if !reports.is_empty() && !claimed {
            format!("Iteration {iteration} passed all checks, but did not claim completion.")
        } else {
            String::new()
        };
    }
    let mut parts = vec![verdict(iteration, judgement)];
    parts.extend(excerpts(reports));
    parts.extend(changes(on.history));
    parts.extend(earlier_laps(on.history));
    let claims = on.history.false_claims_in_row();
    if claims >= 2 {
        parts.push(format!(
            "Completion was claimed in {} in a row and held in none of them. Before you claim it again, run what fails yourself and see it pass.",
            text::count(claims.into(), "iteration")
        ));
    }
    parts.join("\n\n")
}

fn verdict(iteration: u32, judgement: &Judgement) -> String {
    let mut told = if judgement.claim == Claim::Complete {
        format!("Iteration {iteration} claimed completion. The claim was checked and is not accepted:")
    } else {
        format!("Iteration {iteration} was not accepted:")
    };
    for reason in judgement.reasons.iter().take(REASONS_TOLD) {
        let _ = write!(told, "\n- {}", text::cut(&one_line(&reason.to_string()), REASON_CHARS, "..."));
    }
    let more = judgement.reasons.len().saturating_sub(REASONS_TOLD);
    if more > 0 {
        let _ = write!(told, "\n- and {more} more");
    }
    told
}

/// The decisive lines of checks whose output the prompt does not show anyway.
fn excerpts<'a>(reports: &'a [CheckReport]) -> impl Iterator<Item = String> + 'a {
    let shown_elsewhere = |report: &CheckReport| {
        let whole = report.output_bytes <= report.output_head.len() as u64
            && fits(&report.output_head, report.spec.output_chars);
        report.spec.output == OutputPart::Decisive || whole
    };
    let cut = reports.iter().filter(move |report| report.refutes() && !shown_elsewhere(report));
    cut.filter(|report| !report.excerpt.is_empty()).take(EXCERPTS_SHOWN).map(|report| {
        let command = text::cut(&one_line(report.spec.name()), REASON_CHARS, "...");
        let lines = text::without_controls(&report.excerpt.within(EXCERPT_CHARS));
        format!("The decisive lines of \"{command}\":\n\n{}", fence(&lines))
    })
}

fn fits(output: &str, chars: usize) -> bool {
    output.chars().nth(chars).is_none()
}

fn changes(history: &History) -> Option<String> {
    let last = history.last()?;
    let iteration = last.iteration;
    if history.last_changed_nothing() {
        return Some(format!("Iteration {iteration} changed no file."));
    }
    (!last.changed.is_empty()).then(|| format!("Iteration {iteration} changed {}.", quoted(&last.changed, FILES_NAMED)))
}

/// What has been tried before and ended in the same way.
fn earlier_laps(history: &History) -> Option<String> {
    let alike = history.like_the_last();
    let (_, earlier) = alike.split_last().filter(|(_, earlier)| !earlier.is_empty())?;
    let numbers: Vec<String> = earlier.iter().map(|lap| lap.iteration.to_string()).collect();
    let newest = numbers.get(numbers.len().saturating_sub(LAPS_LISTED)..).unwrap_or_default().join(", ");
    let which = if earlier.len() == 1 { "iteration" } else { "iterations" };
    let before = if earlier.len() > LAPS_LISTED { "among others in" } else { "in" };
    let mut told = format!(
        "It has failed in the same way {} now, before this {before} {which} {newest}.",
        text::count(alike.len() as u64, "time")
    );
    let listed = earlier.iter().rev().take(LAPS_LISTED).rev();
    let with_files: Vec<&&Lap> = listed.filter(|lap| !lap.changed.is_empty()).collect();
    if !with_files.is_empty() {
        told.push_str(" What was tried there did not help:");
        for lap in with_files {
            let files = quoted(&lap.changed, FILES_NAMED);
            let _ = write!(told, "\n- iteration {} changed {files}", lap.iteration);
        }
    }
    if alike.len() >= TIMES_TO_TURN {
        told.push_str(
            "\n\nDo not try more of the same. Reproduce the failure by itself first, question what the earlier \
             iterations took for granted, and look for the cause in another place than they did. If only a person can \
             remove it, say that you are blocked and why.",
        );
    }
    Some(told)
}

/// What a run that leads nowhere keeps failing at, as the end of a sentence; empty if nothing fails.
pub(crate) fn common_cause(judgement: &Judgement, reports: &[CheckReport]) -> String {
    let Some(first) = judgement.failing.first() else { return String::new() };
    let failed = reports.iter().find(|report| report.refutes() && first.starts_with(report.spec.name()));
    let line = failed.and_then(|report| report.excerpt.first_error());
    let line = line.map_or(String::new(), |line| format!(" ({})", text::cut(&one_line(line), CAUSE_CHARS, "...")));
    let more = match judgement.failing.len() - 1 {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{first}{line}{more}")
}

/// Characters of an error in the sentence with which a run ends.
const CAUSE_CHARS: usize = 160;
