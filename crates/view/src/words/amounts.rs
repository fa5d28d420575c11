//! Numbers as people read them at the end of an iteration.

use ralph_core::observation::Tokens;
use ralph_core::time::Millis;

/// `45s`, `6m7s`, `60m`: to the nearest second, and never in hours, so that iterations compare.
pub fn duration(span: Millis) -> String {
    let seconds = span.0.saturating_add(500) / 1000;
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, 0) => format!("{minutes}m"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}

/// `tokens: 1.2M in (850K cached) / 45K out`.
pub fn tokens(tokens: Tokens) -> String {
    format!("tokens: {}", in_and_out(tokens))
}

/// `1.2M in (850K cached) / 45K out`: what was sent anew, and what was read from the cache besides.
pub fn in_and_out(tokens: Tokens) -> String {
    let cached = if tokens.cache_read > 0 { format!(" ({} cached)", count(tokens.cache_read)) } else { String::new() };
    format!("{} in{cached} / {} out", count(tokens.fresh_input()), count(tokens.output))
}

/// `500`, `25K`, `1.2M`.
pub fn count(number: u64) -> String {
    match number {
        0..=999 => number.to_string(),
        // What would round to `1000K` is a million already.
        #[allow(clippy::cast_precision_loss, reason = "no decimal is shown")]
        1000..=999_499 => format!("{:.0}K", number as f64 / 1e3),
        #[allow(clippy::cast_precision_loss, reason = "one decimal is shown")]
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}
