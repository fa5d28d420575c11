//! When a limit ends, in the words of a client or a provider: a span (`Please retry in 41.5s`), a moment
//! (`resets at 2026-11-15T10:00:00Z`) or a time of day (`try again at Jan 15th, 2027 7:59 AM`).

use crate::dialect::End;
use ralph_core::time::{LocalTime, WallTime};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reset {
    /// In so many seconds from when it was said.
    In(i64),
    At(i64),
    Clock(Clock),
}

/// A time of day, with as much of the date as was stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    year: Option<i16>,
    day: Option<(i8, i8)>,
    hour: i8,
    minute: i8,
    /// Of Greenwich; otherwise of the zone in which this machine states times.
    utc: bool,
}

const DAY: i64 = 86_400;
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// What stands before a span. `retrying in` is none of them: that is the client's own next try.
const BEFORE_A_SPAN: [&str; 12] = [
    "try again in ", "retry in ", "retry after ", "try again after ", "reset after ", "resets after ", "reset in ",
    "resets in ", "available in ", "available again in ", "please wait ", "wait for ",
];
/// What stands before a header's value: a number of seconds, or a date.
const BEFORE_A_HEADER: [&str; 5] = ["retry-after: ", "retry-after:", "retry-after ", "retry-after=", "retry_after: "];
const BEFORE_A_MOMENT: [&str; 8] = [
    "try again at ", "retry at ", "resets at ", "reset at ", "resets on ", "available at ", "available again at ",
    "resets ",
];

/// The reset that a sentence states. The last one counts: earlier ones are of retries.
pub(crate) fn stated(sentence: &str) -> Option<Reset> {
    let said = sentence.to_ascii_lowercase();
    let behind = |phrase: &&str| said.rfind(*phrase).and_then(|at| said.get(at + phrase.len()..));
    let header = || BEFORE_A_HEADER.iter().filter_map(behind).find_map(|rest| header(rest.split(['\n', ';']).next()?));
    let span = || BEFORE_A_SPAN.iter().filter_map(behind).find_map(span).map(Reset::In);
    let moment = || BEFORE_A_MOMENT.iter().filter_map(behind).find_map(moment);
    span().or_else(header).or_else(moment)
}

/// The reset that the value of a `retry-after` header states.
pub(crate) fn header(value: &str) -> Option<Reset> {
    let value = value.trim().to_ascii_lowercase();
    let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, behind) = value.split_at_checked(digits)?;
    let has_unit = behind.trim_start().starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, ':' | '-'));
    match number.parse::<f64>() {
        Ok(seconds) if !has_unit && !behind.starts_with('.') => from_now(seconds),
        _ => span(&value).map(Reset::In).or_else(|| moment(&value)),
    }
}

pub(crate) fn from_now(seconds: f64) -> Option<Reset> {
    // Nobody waits for a year, and no provider says so.
    (0.0..366.0 * DAY as f64).contains(&seconds).then(|| Reset::In((seconds.ceil() as i64).max(1)))
}

/// The reset at a number since the epoch: milliseconds if it would be thousands of years away in seconds.
pub(crate) fn epoch(number: f64) -> Option<Reset> {
    let seconds = if number > 1e12 { number / 1000.0 } else { number };
    (0.0..1e12).contains(&seconds).then_some(Reset::At(seconds as i64))
}

impl Reset {
    /// Seconds since the epoch, for a process that ended like that.
    pub(crate) fn seconds(self, end: &End<'_>) -> Option<i64> {
        let now = end.now.0 / 1000;
        match self {
            Reset::In(span) => Some(now.saturating_add(span)),
            Reset::At(moment) => Some(moment),
            Reset::Clock(clock) => clock.seconds(end, now),
        }
    }
}

impl Clock {
    fn seconds(self, end: &End<'_>, now: i64) -> Option<i64> {
        let today = end.now.rfc3339();
        let this_year: i16 = today.get(..4)?.parse().ok()?;
        let at = |year: i16, day: Option<(i8, i8)>| {
            let Clock { hour, minute, .. } = self;
            if !self.utc {
                return (end.zone)(LocalTime { date: day.map(|(month, day)| (year, month, day)), hour, minute });
            }
            let date = day.map_or_else(
                || today.get(..10).map(str::to_owned),
                |(month, day)| Some(format!("{year:04}-{month:02}-{day:02}")),
            )?;
            WallTime::parse(&format!("{date}T{hour:02}:{minute:02}:00Z")).map(|at| at.0 / 1000)
        };
        // What passed a short time ago has passed; what passed long ago is meant for the next day or year.
        let is_over = |at: &i64| *at < now.saturating_sub(3600);
        match (self.year, self.day) {
            (Some(year), day) => at(year, day),
            (None, Some(day)) => at(this_year, Some(day))
                .filter(|at| *at > now.saturating_sub(DAY))
                .or_else(|| at(this_year.saturating_add(1), Some(day))),
            (None, None) => at(this_year, None).map(|at| if is_over(&at) { at.saturating_add(DAY) } else { at }),
        }
    }
}

/// A span in seconds: `41.5s`, `2m30s`, `1h2m3.5s`, `1 day 2 hours`, `5 min`; rounded up.
fn span(text: &str) -> Option<i64> {
    let (mut rest, mut seconds, mut any) = (text, 0.0, false);
    loop {
        let joined = rest.trim_start_matches([' ', ',', '~']);
        rest = joined.strip_prefix("and ").filter(|_| any).unwrap_or(joined);
        rest = rest.strip_prefix("about ").filter(|_| !any).unwrap_or(rest);
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, behind) = rest.split_at_checked(digits)?;
        let Ok(number) = number.parse::<f64>() else { break };
        let behind = behind.trim_start_matches([' ', '\u{a0}', '-']);
        let letters = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at_checked(letters)?;
        seconds += number
            * match unit {
                "ms" | "msec" | "millisecond" | "milliseconds" => 0.001,
                "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
                "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
                "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
                "d" | "day" | "days" => DAY as f64,
                _ => break,
            };
        any = true;
        rest = behind;
    }
    if any {
        from_now(seconds).and_then(|reset| if let Reset::In(span) = reset { Some(span) } else { None })
    } else {
        None
    }
}

/// A moment: a number since the epoch, a date with a time, or a time of day.
fn moment(text: &str) -> Option<Reset> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c == '(')
        .map(|word| word.trim_matches(['.', ',', ')', ']', '"', '\'']))
        .filter(|word| !word.is_empty() && *word != "at" && *word != "on")
        .take(8)
        .collect();
    let first = *words.first()?;
    if first.len() >= 10 && first.bytes().all(|byte| byte.is_ascii_digit()) {
        return epoch(first.parse().ok()?);
    }
    if let Some(at) = WallTime::parse(&first.to_ascii_uppercase()).filter(|_| first.contains('-')) {
        return Some(Reset::At(at.0 / 1000));
    }
    let mut clock = Clock { year: None, day: None, hour: -1, minute: 0, utc: false };
    let mut rest = words.iter().copied().peekable();
    while let Some(word) = rest.next() {
        let number = word.trim_end_matches("st").trim_end_matches("nd").trim_end_matches("rd").trim_end_matches("th");
        let month = MONTHS.iter().position(|name| word.len() >= 3 && word.starts_with(name) && !word.contains(':'));
        match (month, number.parse::<i16>()) {
            _ if matches!(word, "utc" | "gmt" | "z") => clock.utc = true,
            (Some(month), _) => clock.day = Some((i8::try_from(month + 1).ok()?, clock.day.map_or(0, |(_, day)| day))),
            // The hour of `3 pm`, not a day.
            (None, Ok(_)) if matches!(rest.peek(), Some(&("am" | "pm"))) => {
                (clock.hour, clock.minute) = time(word, rest.next())?
            }
            (None, Ok(year)) if year > 1999 => clock.year = Some(year),
            (None, Ok(day @ 1..=31)) if clock.hour < 0 => {
                clock.day = Some((clock.day.map_or(0, |(month, _)| month), i8::try_from(day).ok()?));
            }
            _ if date(word).is_some() => {
                let (year, month, day) = date(word)?;
                (clock.year, clock.day) = (Some(year), Some((month, day)));
            }
            _ if clock.hour < 0 => match time(word, rest.peek().copied()) {
                Some(time) => (clock.hour, clock.minute) = time,
                None if matches!(word, "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | "today") => {}
                None => break,
            },
            _ => {}
        }
    }
    let is_date = clock.day.is_none_or(|(month, day)| month > 0 && day > 0);
    (clock.hour >= 0 && is_date && (clock.year.is_none() || clock.day.is_some())).then_some(Reset::Clock(clock))
}

fn date(word: &str) -> Option<(i16, i8, i8)> {
    let (year, rest) = word.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    Some((year.parse().ok()?, month.parse().ok()?, day.parse().ok()?))
}

/// `7:59 am`, `7:59am`, `7am`, `14:30`, `07:28:00`.
fn time(word: &str, next: Option<&str>) -> Option<(i8, i8)> {
    let (digits, glued) = match word.strip_suffix("am").or_else(|| word.strip_suffix("pm")) {
        Some(digits) => (digits, word.get(digits.len()..)),
        None => (word, None),
    };
    let half = glued.or(next).filter(|half| matches!(*half, "am" | "pm"));
    let (hour, minute) = match digits.split_once(':') {
        Some((hour, rest)) => (hour, rest.split(':').next().unwrap_or_default()),
        None if half.is_some() => (digits, "0"),
        None => return None,
    };
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        Some("am") if (1..=12).contains(&hour) => hour % 12,
        Some("pm") if (1..=12).contains(&hour) => hour % 12 + 12,
        None if (0..24).contains(&hour) => hour,
        _ => return None,
    };
    (0..60).contains(&minute).then_some((hour, minute))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::end_of;
    use ralph_core::observation::Ending;

    /// 15 January 2027, 8:00 in Greenwich.
    const NOW: i64 = 1_800_000_000;

    fn resets(sentence: &str) -> Option<i64> {
        let zone = |at: LocalTime| {
            // An hour east of Greenwich.
            let date = at.date.map_or("2027-01-15".to_owned(), |(y, m, d)| format!("{y:04}-{m:02}-{d:02}"));
            WallTime::parse(&format!("{date}T{:02}:{:02}:00+01:00", at.hour, at.minute)).map(|at| at.0 / 1000)
        };
        let ending = Ending::Exited { code: 1 };
        let end = End { now: WallTime(NOW * 1000), zone: &zone, ..end_of(&ending, "") };
        stated(sentence).and_then(|reset| reset.seconds(&end))
    }

    #[test]
    fn i02_spans_count_from_now() {
        for (sentence, span) in [
            ("Please retry in 41.5s.", 42),
            ("Please retry in 41.523174127s.", 42),
            ("Please retry in 1h2m3.5s.", 3724),
            ("Rate limit reached. Please try again in 2m30s. Visit https://x/account/rate-limits", 150),
            ("try again in 7.66s", 8),
            ("Please try again in 20ms.", 1),
            ("try again in 1 day 2 hours 3 minutes.", 93_780),
            ("Try again in 5 minutes and 30 seconds", 330),
            ("Please wait 30 seconds before", 30),
            ("quota will reset after 2h15m3s.", 8103),
            ("retry after 60 seconds", 60),
            ("429 Too Many Requests, Retry-After: 120", 120),
            ("retry-after: 7", 7),
            ("Retry-After: 120, url: http://x", 120),
            ("retry-after: 41s", 41),
            ("resets in 45 min", 2700),
            ("Retrying in 0.2 seconds, try again in 90s", 90),
        ] {
            assert_eq!(resets(sentence), Some(NOW + span), "{sentence}");
        }
        for sentence in [
            "", "try again later", "try again in a few minutes", "Retrying in 5 seconds", "please wait and retry",
            "try again in 99999999999 days", "try again in 1.2.3s", "retry-after: soon",
        ] {
            assert_eq!(resets(sentence), None, "{sentence}");
        }
    }

    #[test]
    fn g04_i02_moments_are_read_in_the_zone_that_they_are_stated_in() {
        let hour = 3600;
        for (sentence, at) in [
            ("or try again at Jan 15th, 2027 9:59 AM.", NOW + 59 * 60),
            ("try again at Jan 15th, 2027 9:59\u{202f}AM.", NOW + 59 * 60),
            ("Try again later, or try again at Jan 16th, 2027 12:00 PM.", NOW + 27 * hour),
            ("try again at 9:59 AM.", NOW + 59 * 60),
            ("You've hit your 5-hour limit · resets Jan 15, 2027, 9:59am (UTC)", NOW + 2 * hour - 60),
            ("You've hit your limit · resets 11am (Europe/Berlin)", NOW + 2 * hour),
            ("You've hit your limit · resets 3am (Europe/Berlin)", NOW + 18 * hour),
            ("limit · resets Jan 20, 9am (UTC)", NOW + 5 * DAY + hour),
            ("limit · resets Jan 2, 8am (UTC)", NOW + (365 - 13) * DAY),
            ("resets at 3 PM UTC", NOW + 7 * hour),
            ("resets at 14:30 UTC", NOW + 6 * hour + 30 * 60),
            ("resets at 2027-01-15T10:00:00Z.", NOW + 2 * hour),
            ("reset at 2027-01-15 10:00:00 UTC", NOW + 2 * hour),
            ("resets at 1800003600", NOW + hour),
            ("resets at 1800003600000", NOW + hour),
            ("Retry-After: Fri, 15 Jan 2027 09:00:00 GMT", NOW + hour),
        ] {
            assert_eq!(resets(sentence), Some(at), "{sentence}");
        }
        for sentence in
            ["try again at noon", "resets soon", "resets at 25:00", "try again at 13:00 PM", "resets the branch"]
        {
            assert_eq!(resets(sentence), None, "{sentence}");
        }
    }
}
