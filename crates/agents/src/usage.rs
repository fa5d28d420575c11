//! Figures of tokens and money as programs state them, true or not.

use crate::dialect::Told;
use crate::json::Raw;
use ralph_core::agent_event::AgentEvent;
use ralph_core::observation::Tokens;

/// No process spends this much; a figure beyond it is an error of the client.
pub(crate) const MOST_USD: f64 = 1e9;
const MOST_TOKENS: f64 = 1e12;

/// Reads counts, and remembers whether one could not be true.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    pub(crate) suspect: bool,
}

impl Counter {
    /// A count of tokens; nothing if none is stated.
    pub(crate) fn count(&mut self, raw: Raw<'_>) -> u64 {
        match raw.number() {
            // In this range a float is exact and the conversion loses nothing.
            Some(count) if (0.0..MOST_TOKENS).contains(&count) => count as u64,
            None if raw.is_absent() => 0,
            _ => {
                self.suspect = true;
                0
            }
        }
    }

    /// Counts in their order: input, output, read from the cache, written to it.
    pub(crate) fn tokens(&mut self, counts: [Raw<'_>; 4]) -> Tokens {
        let [input, output, cache_read, cache_write] = counts.map(|count| self.count(count));
        Tokens { input, output, cache_read, cache_write }
    }

    pub(crate) fn money(&mut self, raw: Raw<'_>) -> f64 {
        match raw.number() {
            Some(usd) if (0.0..MOST_USD).contains(&usd) => usd,
            None if raw.is_absent() => 0.0,
            _ => {
                self.suspect = true;
                0.0
            }
        }
    }
}

/// Tokens of a client whose input is what was neither read from the cache nor written to it.
pub(crate) fn with_cache_beside(stated: Tokens) -> Tokens {
    Tokens { input: stated.input.saturating_add(stated.cache_read), ..stated }
}

/// Tokens of a client whose input is everything that was sent. A part that is larger than the whole stands beside it.
pub(crate) fn with_cache_inside(stated: Tokens) -> Tokens {
    match stated.input.checked_sub(stated.cache_write).filter(|input| *input >= stated.cache_read) {
        Some(input) => Tokens { input, ..stated },
        None => with_cache_beside(stated),
    }
}

pub(crate) fn tell(suspect: bool, out: &mut Told) {
    if suspect {
        out.push(AgentEvent::Unknown { what: "usage that cannot be true".to_owned() });
    }
}
