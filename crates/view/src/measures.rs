//! What is measured from iteration to iteration: time, what was spent so far, and failing checks.

use crate::run_view::AttemptView;
use crate::words::{self, amounts};
use ralph_core::observation::Tokens;

pub struct Plot {
    pub title: &'static str,
    pub bars: Vec<Bar>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub label: String,
    /// How long it is; `None` if nobody knows.
    pub value: Option<f64>,
    pub shown: String,
}

pub fn time(attempts: &[AttemptView]) -> Plot {
    plot("Time per iteration", attempts, |attempt| {
        let span = attempt.duration();
        (span.map(|span| amount(span.0)), span.map_or("not seen".to_owned(), |span| span.to_string()))
    })
}

/// Money so far; tokens so far where no agent states money; `None` where none states anything.
pub fn spent(attempts: &[AttemptView]) -> Option<Plot> {
    let unless = |stated: bool| if stated { "" } else { " (this one not stated)" };
    if attempts.iter().any(|attempt| attempt.cost_usd().is_some()) {
        let mut sum = 0.0;
        return Some(plot("Cost so far", attempts, |attempt| {
            let cost = attempt.cost_usd();
            sum += cost.unwrap_or(0.0);
            (Some(sum), format!("{}{}", words::money(sum), unless(cost.is_some())))
        }));
    }
    attempts.iter().any(|attempt| attempt.tokens().is_some()).then(|| {
        let mut sum = 0_u64;
        plot("Tokens so far", attempts, |attempt| {
            let tokens = attempt.tokens();
            sum = sum.saturating_add(tokens.map_or(0, Tokens::total));
            (Some(amount(sum)), format!("{}{}", amounts::count(sum), unless(tokens.is_some())))
        })
    })
}

pub fn failing(attempts: &[AttemptView]) -> Option<Plot> {
    attempts.iter().any(|attempt| attempt.tally() != (0, 0)).then(|| {
        plot("Failing checks per iteration", attempts, |attempt| match attempt.tally() {
            (0, 0) => (None, "not checked".to_owned()),
            (_, failed) => (Some(amount(failed as u64)), failed.to_string()),
        })
    })
}

/// One bar for each iteration: its length, and the same in words.
fn plot(title: &'static str, attempts: &[AttemptView], bar: impl FnMut(&AttemptView) -> (Option<f64>, String)) -> Plot {
    let measured = attempts.iter().map(bar).zip(attempts);
    let bars = measured.map(|((value, shown), attempt)| Bar { label: short_number(attempt), value, shown });
    Plot { title, bars: bars.collect() }
}

#[allow(clippy::cast_precision_loss, reason = "it becomes the length of a bar")]
fn amount(number: u64) -> f64 {
    number as f64
}

/// `3`, and `3.2` for its second try.
fn short_number(attempt: &AttemptView) -> String {
    match attempt.attempt {
        0 | 1 => attempt.iteration.to_string(),
        try_no => format!("{}.{try_no}", attempt.iteration),
    }
}
