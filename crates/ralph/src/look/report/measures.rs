//! What is measured from iteration to iteration: time, what was spent so far, and failing checks.

use super::super::case::Case;
use super::super::story::AttemptView;
use super::super::words;
use super::content::section;
use super::plot::{Bar, Plot};
use super::{Block, Piece, Section};
use crate::face::render::amounts;
use ralph_core::observation::Tokens;

/// The plots; none if there was no iteration.
pub fn plots(case: &Case<'_>) -> Section {
    let attempts = case.story.attempts.as_slice();
    if attempts.is_empty() {
        return section("Plots", Vec::new());
    }
    let time = plot("Time per iteration", attempts, |attempt| {
        let span = attempt.duration();
        (span.map(|span| amount(span.0)), span.map_or("not seen".to_owned(), |span| span.to_string()))
    });
    let mut blocks = vec![time, spent(attempts)];
    if attempts.iter().any(|attempt| attempt.tally() != (0, 0)) {
        blocks.push(plot("Failing checks per iteration", attempts, |attempt| match attempt.tally() {
            (0, 0) => (None, "not checked".to_owned()),
            (_, failed) => (Some(amount(failed as u64)), failed.to_string()),
        }));
    }
    section("Plots", blocks)
}

/// One bar for each iteration: its length, and the same in words.
fn plot(
    title: &str,
    attempts: &[AttemptView<'_>],
    bar: impl FnMut(&AttemptView<'_>) -> (Option<f64>, String),
) -> Block {
    let measured = attempts.iter().map(bar).zip(attempts);
    let bars = measured.map(|((value, shown), attempt)| Bar { label: short_number(attempt), value, shown });
    Block::Plot(Plot { title: title.to_owned(), bars: bars.collect() })
}

/// Money so far; tokens so far where no agent states money; a sentence where none states anything.
fn spent(attempts: &[AttemptView<'_>]) -> Block {
    let unless = |stated: bool| if stated { "" } else { " (this one not stated)" };
    if attempts.iter().any(|attempt| attempt.cost_usd().is_some()) {
        let mut sum = 0.0;
        return plot("Cost so far", attempts, |attempt| {
            let cost = attempt.cost_usd();
            sum += cost.unwrap_or(0.0);
            (Some(sum), format!("{}{}", words::money(sum), unless(cost.is_some())))
        });
    }
    if attempts.iter().any(|attempt| attempt.tokens().is_some()) {
        let mut sum = 0_u64;
        return plot("Tokens so far", attempts, |attempt| {
            let tokens = attempt.tokens();
            sum = sum.saturating_add(tokens.map_or(0, Tokens::total));
            (Some(amount(sum)), format!("{}{}", amounts::count(sum), unless(tokens.is_some())))
        });
    }
    Block::Line(vec![Piece::plain("Neither cost nor tokens were stated.")])
}

#[allow(clippy::cast_precision_loss, reason = "it becomes the length of a bar")]
fn amount(number: u64) -> f64 {
    number as f64
}

/// `3`, and `3.2` for its second try.
fn short_number(attempt: &AttemptView<'_>) -> String {
    match attempt.attempt {
        0 | 1 => attempt.iteration.to_string(),
        try_no => format!("{}.{try_no}", attempt.iteration),
    }
}
