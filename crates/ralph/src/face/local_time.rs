//! Moments by the clock on the wall, as the person before the screen reads them.

use ralph_core::time::WallTime;

/// A moment in the machine's time zone; `None` for one that no calendar has.
pub fn zoned(at: WallTime) -> Option<jiff::Zoned> {
    jiff::Timestamp::from_millisecond(at.0).ok().map(|at| at.to_zoned(jiff::tz::TimeZone::system()))
}

/// `HH:MM:SS`.
pub fn of_day(at: WallTime) -> String {
    zoned(at).map_or_else(|| "??:??:??".to_owned(), |at| at.strftime("%H:%M:%S").to_string())
}

/// `HH:MM`, with the date if it is not today's.
pub fn short(at: WallTime, now: WallTime) -> String {
    match (zoned(at), zoned(now)) {
        (Some(at), Some(now)) if at.date() == now.date() => at.strftime("%H:%M").to_string(),
        (Some(at), _) => at.strftime("%b %d %H:%M").to_string(),
        (None, _) => "?".to_owned(),
    }
}
