//! The words for facts about runs: amounts, alike in every language, and English sentences in `en`.

pub mod amounts;
mod en;

pub use en::*;

use ralph_core::text;
use ralph_core::time::{Millis, WallTime};

pub fn money(amount: f64) -> String {
    format!("${}", text::money(amount))
}

/// The span between two moments; a clock that was set back makes it zero.
pub fn between(from: WallTime, to: WallTime) -> Millis {
    Millis(u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0))
}

/// An age in its largest unit: `4s`, `3m`, `2h`, `5d`.
pub fn age(span: Millis) -> String {
    match span.0 / 1000 {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds @ 3600..86_400 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

/// The beginning of a hash: enough to compare by eye.
pub fn short(hash: &str) -> &str {
    text::prefix(hash, 8)
}

/// Text that may have several lines on one, without what would drive a terminal.
pub fn one_line(text: &str) -> String {
    text::for_terminal(text).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_their_largest_unit() {
        for (seconds, words) in [(0, "0s"), (59, "59s"), (61, "1m"), (7300, "2h"), (200_000, "2d")] {
            assert_eq!(age(Millis::from_secs(seconds)), words);
        }
        assert_eq!(between(WallTime(5000), WallTime(2000)), Millis::ZERO, "a clock that was set back");
    }
}
