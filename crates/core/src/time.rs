//! Points and spans of time, as values that come in from outside.
//!
//! Core never asks what time it is. A [`WallTime`] is for people and for resets that a provider
//! states; every limit is counted in [`Millis`] of the monotonic clock, so that a jump of the wall
//! clock neither ends a run early nor lets it run on.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Milliseconds since the Unix epoch, by the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WallTime(pub i64);

impl WallTime {
    /// RFC 3339 in UTC, to the millisecond; the bare number for a moment that no calendar has.
    pub fn rfc3339(self) -> String {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => format!("{at:.3}"),
            Err(_) => self.0.to_string(),
        }
    }

    /// Reads RFC 3339 with any offset, and what [`WallTime::rfc3339`] writes.
    pub fn parse(text: &str) -> Option<WallTime> {
        match text.parse::<jiff::Timestamp>() {
            Ok(at) => Some(WallTime(at.as_millisecond())),
            Err(_) => text.parse().ok().map(WallTime),
        }
    }
}

/// A time as a clock on the wall shows it, without its zone. Some programs state resets like this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// Year, month and day from 1; `None` means today.
    pub date: Option<(i16, i8, i8)>,
    pub hour: i8,
    pub minute: i8,
}

/// A span of time in milliseconds, by the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// No time at all; as a limit, "off".
    pub const ZERO: Millis = Millis(0);

    /// A span of whole seconds.
    pub const fn from_secs(seconds: u64) -> Millis {
        Millis(seconds * 1000)
    }

    /// Whether this limit is switched off.
    pub const fn is_off(self) -> bool {
        self.0 == 0
    }

    /// This span as the standard library's type.
    pub const fn duration(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }

    /// Both spans together.
    pub const fn plus(self, more: Millis) -> Millis {
        Millis(self.0.saturating_add(more.0))
    }

    /// Twice this span in one unit, as a person would type it: whole hours from an hour on, then minutes.
    pub fn doubled(self) -> String {
        match self.0.saturating_mul(2) {
            ms if ms % 3_600_000 == 0 || ms > 86_400_000 => format!("{}h", ms.div_ceil(3_600_000)),
            ms if ms % 60_000 == 0 || ms > 3_600_000 => format!("{}m", ms.div_ceil(60_000)),
            ms if ms % 1000 == 0 => format!("{}s", ms / 1000),
            ms => format!("{ms}ms"),
        }
    }

    /// What is left of this span after `spent`.
    pub const fn minus(self, spent: Millis) -> Millis {
        Millis(self.0.saturating_sub(spent.0))
    }
}

impl From<std::time::Duration> for Millis {
    fn from(duration: std::time::Duration) -> Millis {
        Millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Reads like `850ms`, `42s`, `6m07s`, `1h02m`.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1000;
        match seconds {
            0 => write!(f, "{}ms", self.0),
            1..=9 => write!(f, "{}.{}s", seconds, self.0 % 1000 / 100),
            10..=59 => write!(f, "{seconds}s"),
            60..=3599 => write!(f, "{}m{:02}s", seconds / 60, seconds % 60),
            _ => write!(f, "{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        }
    }
}

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration: write it like 250ms, 90s, 15m, 1h30m, or 0 for none")]
pub struct NotADuration(pub String);

/// Reads `250ms`, `90s`, `15m`, `1h30m` and `0`; a bare number other than 0 has no unit and is refused.
impl std::str::FromStr for Millis {
    type Err = NotADuration;

    fn from_str(text: &str) -> Result<Millis, NotADuration> {
        let refuse = || NotADuration(text.to_owned());
        let trimmed = text.trim();
        if trimmed == "0" {
            return Ok(Millis::ZERO);
        }
        let mut rest = trimmed;
        let mut total: u64 = 0;
        // Units may only shrink, so that `5s1h` and `1s1s` are typing errors and not sums.
        let mut smallest_so_far = u64::MAX;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(refuse)?;
            let number: u64 = rest.get(..digits).and_then(|n| n.parse().ok()).ok_or_else(refuse)?;
            let tail = rest.get(digits..).unwrap_or_default();
            let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
            let unit = match tail.get(..letters).unwrap_or_default() {
                "ms" => 1,
                "s" => 1000,
                "m" => 60_000,
                "h" => 3_600_000,
                "d" => 86_400_000,
                _ => return Err(refuse()),
            };
            if unit >= smallest_so_far {
                return Err(refuse());
            }
            smallest_so_far = unit;
            total = number.checked_mul(unit).and_then(|n| total.checked_add(n)).ok_or_else(refuse)?;
            rest = tail.get(letters..).unwrap_or_default();
        }
        if trimmed.is_empty() { Err(refuse()) } else { Ok(Millis(total)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_write_them() {
        for (text, millis) in [
            ("250ms", 250),
            ("90s", 90_000),
            ("15m", 900_000),
            ("1h30m", 5_400_000),
            ("0", 0),
            ("1d", 86_400_000),
            ("0s", 0),
        ] {
            assert_eq!(text.parse(), Ok(Millis(millis)), "{text}");
        }
        for text in ["", "5", "-3s", "1.5h", "5s1h", "1s1s", "s", "9999999999999999999h", "5 s", "10x"] {
            assert!(text.parse::<Millis>().is_err(), "{text}");
        }
    }

    #[test]
    fn g05_moments_survive_as_text() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_794_732_301_123, "2026-11-15T08:45:01.123Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (i64::MAX, "9223372036854775807"),
        ] {
            assert_eq!(WallTime(millis).rfc3339(), text);
            assert_eq!(WallTime::parse(text), Some(WallTime(millis)));
        }
        assert_eq!(WallTime::parse("2026-11-15T09:45:01+01:00"), Some(WallTime(1_794_732_301_000)));
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-11-15T08:45"] {
            assert_eq!(WallTime::parse(text), None, "{text}");
        }
    }

    #[test]
    fn durations_show_what_matters() {
        for (millis, text) in
            [(0, "0ms"), (850, "850ms"), (1200, "1.2s"), (42_000, "42s"), (367_000, "6m07s"), (3_720_000, "1h02m")]
        {
            assert_eq!(Millis(millis).to_string(), text);
        }
    }
}
