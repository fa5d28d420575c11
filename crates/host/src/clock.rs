//! The only place that reads the clock and the random source. The wall clock may jump; every limit counts in
//! [`Clock::elapsed`], which cannot, and which stands still while the machine is suspended.

use jiff::civil;
use jiff::tz::TimeZone;
use ralph_core::time::{LocalTime, Millis, WallTime};
use std::hash::{BuildHasher as _, Hasher as _};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The time of one run: the wall clock, and how long the run has been worked on.
#[derive(Debug, Clone)]
pub struct Clock {
    started: Instant,
    before: Millis,
}

impl Clock {
    /// A clock whose elapsed time is zero now.
    pub fn start() -> Clock {
        Clock::after(Millis::ZERO)
    }

    /// A clock that goes on where an earlier process of the same run stopped.
    pub fn after(before: Millis) -> Clock {
        Clock { started: Instant::now(), before }
    }

    pub fn now(&self) -> WallTime {
        wall_time(SystemTime::now())
    }

    /// Time since the start, with the time before it. It never goes back.
    pub fn elapsed(&self) -> Millis {
        Millis(self.before.0.saturating_add(Millis::from(self.started.elapsed()).0))
    }
}

/// A point of the system's time as milliseconds; a clock set before 1970 is negative, not an error.
fn wall_time(at: SystemTime) -> WallTime {
    let millis = |span: std::time::Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    WallTime(match at.duration_since(UNIX_EPOCH) {
        Ok(after) => millis(after),
        Err(before) => -millis(before.duration()),
    })
}

/// Seconds since the epoch of a local time on this machine; `None` if there is no such time.
pub fn epoch_seconds(local: LocalTime) -> Option<i64> {
    // A clock that is set beyond what a calendar holds knows no local time either.
    let now = jiff::Timestamp::from_millisecond(wall_time(SystemTime::now()).0).ok()?;
    epoch_seconds_in(&TimeZone::system(), now, local)
}

fn epoch_seconds_in(zone: &TimeZone, now: jiff::Timestamp, local: LocalTime) -> Option<i64> {
    let time = civil::Time::new(local.hour, local.minute, 0, 0).ok()?;
    let at = |date: civil::Date| zone.to_zoned(date.to_datetime(time)).ok().map(|at| at.timestamp());
    let today = now.to_zoned(zone.clone()).date();
    let found = match local.date {
        Some((year, month, day)) => at(civil::Date::new(year, month, day).ok()?)?,
        // Programs leave the date out only if it is today; what has passed by now has passed.
        None => at(today)?,
    };
    Some(found.as_second())
}

/// 64 random bits for ids and jitter.
pub fn random_bits() -> u64 {
    // A sandbox may refuse the call. The standard library's hash keys are random enough for ids.
    kernel_bits().unwrap_or_else(|| std::collections::hash_map::RandomState::new().build_hasher().finish())
}

#[cfg(target_os = "linux")]
fn kernel_bits() -> Option<u64> {
    let mut bytes = [0; 8];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).ok()?;
    (filled == bytes.len()).then(|| u64::from_ne_bytes(bytes))
}

#[cfg(not(target_os = "linux"))]
fn kernel_bits() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn g01_elapsed_time_never_goes_back_and_goes_on_after_a_resume() {
        let clock = Clock::after(Millis::from_secs(90));
        let mut last = clock.elapsed();
        assert!(last >= Millis::from_secs(90));
        for _ in 0..1000 {
            let now = clock.elapsed();
            assert!(now >= last);
            last = now;
        }
        assert!(Clock::start().elapsed() < Millis::from_secs(90));
        assert_eq!(Clock::after(Millis(u64::MAX)).elapsed(), Millis(u64::MAX));
    }

    #[test]
    fn g04_a_time_without_a_zone_is_one_of_this_place() {
        let now: jiff::Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        for (date, hour, minute, expected) in [
            (Some((2027, 1, 15)), 7, 59, Some("2027-01-15T06:59:00Z")),
            (None, 13, 30, Some("2026-11-15T12:30:00Z")),
            (None, 13, 0, Some("2026-11-15T12:00:00Z")),
            (None, 0, 5, Some("2026-11-14T23:05:00Z")),
            (Some((2027, 2, 30)), 7, 59, None),
            (None, 24, 0, None),
        ] {
            let seconds = epoch_seconds_in(&zone, now, LocalTime { date, hour, minute });
            let expected = expected.map(|at| at.parse::<jiff::Timestamp>().unwrap().as_second());
            assert_eq!(seconds, expected, "{date:?} {hour}:{minute}");
        }
    }

    #[test]
    fn g05_no_year_overflows() {
        assert_eq!(wall_time(UNIX_EPOCH + Duration::from_secs(2)), WallTime(2000));
        assert_eq!(wall_time(UNIX_EPOCH - Duration::from_secs(2)), WallTime(-2000));
        let year_9999 = UNIX_EPOCH + Duration::from_secs(253_402_300_799);
        assert_eq!(wall_time(year_9999), WallTime(253_402_300_799_000));
        assert!(Clock::start().now() > WallTime(1_700_000_000_000));
    }

    #[test]
    fn random_bits_do_not_repeat() {
        let drawn: std::collections::HashSet<u64> = (0..1000).map(|_| random_bits()).collect();
        assert_eq!(drawn.len(), 1000);
    }
}
