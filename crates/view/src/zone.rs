//! Moments as a clock on the reader's wall shows them.

use jiff::Zoned;
use jiff::tz::TimeZone;
use ralph_core::time::WallTime;

/// A time zone; UTC unless somebody says which.
#[derive(Debug, Clone)]
pub struct Zone(pub TimeZone);

impl Default for Zone {
    fn default() -> Zone {
        Zone(TimeZone::UTC)
    }
}

impl Zone {
    /// The moment here; `None` for one that no calendar has.
    fn zoned(&self, at: WallTime) -> Option<Zoned> {
        jiff::Timestamp::from_millisecond(at.0).ok().map(|at| at.to_zoned(self.0.clone()))
    }

    /// The day on which a moment falls here.
    pub fn date(&self, at: WallTime) -> jiff::civil::Date {
        self.zoned(at).map(|at| at.date()).unwrap_or_default()
    }

    /// `YYYY-MM-DD HH:MM:SS`.
    pub fn local(&self, at: WallTime) -> String {
        self.zoned(at).map_or_else(|| at.0.to_string(), |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string())
    }

    /// `HH:MM:SS`.
    pub fn of_day(&self, at: WallTime) -> String {
        self.zoned(at).map_or_else(|| "??:??:??".to_owned(), |at| at.strftime("%H:%M:%S").to_string())
    }

    /// `HH:MM`, with the date if it is not today's.
    pub fn short(&self, at: WallTime, now: WallTime) -> String {
        match (self.zoned(at), self.zoned(now)) {
            (Some(at), Some(now)) if at.date() == now.date() => at.strftime("%H:%M").to_string(),
            (Some(at), _) => at.strftime("%b %d %H:%M").to_string(),
            (None, _) => "?".to_owned(),
        }
    }
}
