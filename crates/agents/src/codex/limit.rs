//! When a usage limit of Codex ends.
//!
//! The client says it in a sentence, in the zone of the machine: `try again at Jan 15th, 2027 7:59 AM`,
//! only the time if it is today, and in older versions a span. Where it says nothing, the session's
//! own file has the provider's last word on every window.

use crate::dialect::End;
use crate::json::{Loose, fields, read};
use ralph_core::time::LocalTime;

/// When the limit ends that this sentence is about, as seconds since the epoch.
pub(super) fn reset(sentence: &str, end: &End<'_>) -> Option<i64> {
    // A refusal for being too fast says nothing about windows that are not full.
    let least = if sentence.to_lowercase().contains("usage limit") { 0.0 } else { 100.0 };
    in_sentence(sentence, end).or_else(|| in_session_file(end, least))
}

/// Whether the sentence itself says when.
pub(super) fn is_stated(sentence: &str) -> bool {
    time_of_day(sentence).is_some() || span(sentence).is_some()
}

fn in_sentence(sentence: &str, end: &End<'_>) -> Option<i64> {
    let at = time_of_day(sentence).and_then(end.zone);
    at.or_else(|| span(sentence).map(|seconds| (end.now.0 / 1000).saturating_add(seconds)))
}

/// The words behind the last `try again at`, without the marks between them.
fn words_after<'a>(sentence: &'a str, phrase: &str) -> Option<Vec<&'a str>> {
    // Some plans are told in a sentence of its own: `Try again at`.
    let at = sentence.to_ascii_lowercase().rfind(phrase)? + phrase.len();
    let rest = sentence.get(at..)?;
    Some(rest.split_whitespace().map(|word| word.trim_matches(['.', ','])).collect())
}

fn time_of_day(sentence: &str) -> Option<LocalTime> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words = words_after(sentence, "try again at ")?;
    let (date, time, half) = match words.as_slice() {
        [month, day, year, time, half, ..] if MONTHS.contains(month) => {
            let month = MONTHS.iter().position(|name| name == month)? + 1;
            let day = day.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
            (Some((year.parse().ok()?, i8::try_from(month).ok()?, day)), time, half)
        }
        [time, half, ..] => (None, time, half),
        _ => return None,
    };
    let (hour, minute) = time.split_once(':')?;
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match *half {
        "AM" if (1..=12).contains(&hour) => hour % 12,
        "PM" if (1..=12).contains(&hour) => hour % 12 + 12,
        _ => return None,
    };
    (0..60).contains(&minute).then_some(LocalTime { date, hour, minute })
}

fn span(sentence: &str) -> Option<i64> {
    let words = words_after(sentence, "try again in ")?;
    let mut seconds: i64 = 0;
    for pair in words.chunks_exact(2) {
        let [number, unit] = pair else { break };
        let Ok(number) = number.parse::<i64>() else { break };
        let unit = match unit.trim_end_matches('s') {
            "day" => 86_400,
            "hour" => 3600,
            "minute" => 60,
            "second" => 1,
            _ => break,
        };
        seconds = number.checked_mul(unit).and_then(|span| seconds.checked_add(span))?;
    }
    (seconds > 0).then_some(seconds)
}

fields! {
    struct Entry<'a> {
        payload: Loose<Payload<'a>>,
    }

    struct Payload<'a> {
        rate_limits: Loose<Limits<'a>>,
    }

    struct Limits<'a> {
        primary: Loose<Window<'a>>,
        secondary: Loose<Window<'a>>,
    }

    #[derive(Clone, Copy)]
    struct Window<'a> {
        used_percent, resets_at, resets_in_seconds,
    }
}

/// The reset of the fullest window of those that are used at least that much, by the last entry that
/// names any. The first line of the file's end is usually half a line, which is no entry.
fn in_session_file(end: &End<'_>, least: f64) -> Option<i64> {
    let now = end.now.0 / 1000;
    let entries = String::from_utf8_lossy(end.side_file);
    let limits = entries.lines().rev().find_map(|line| {
        let Loose(entry): Loose<Entry<'_>> = read(line)?;
        entry?.payload.0?.rate_limits.0
    })?;
    let windows = [limits.primary.0, limits.secondary.0];
    let resets = windows.iter().flatten().filter_map(|window| {
        let at = window.resets_at.number().map(|at| at as i64);
        let at = at.or_else(|| window.resets_in_seconds.number().map(|span| now.saturating_add(span as i64)))?;
        let used = window.used_percent.number().unwrap_or_default();
        (at > now && used >= least).then_some((used, at))
    });
    resets.max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1))).map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::end_of;
    use ralph_core::observation::Ending;
    use ralph_core::time::WallTime;

    const NOW: WallTime = WallTime(1_800_000_000_000);

    #[test]
    fn g04_i02_times_in_words_are_read() {
        let at = |date, hour, minute| Some(LocalTime { date, hour, minute });
        for (sentence, expected) in [
            ("… or try again at Jan 15th, 2027 7:59 AM.", at(Some((2027, 1, 15)), 7, 59)),
            ("Try again later, or try again at Dec 1st, 2026 12:05 PM.", at(Some((2026, 12, 1)), 12, 5)),
            ("try again at 12:00\u{202f}AM.", at(None, 0, 0)),
            ("try again at 11:30 PM", at(None, 23, 30)),
            ("try again at 13:30 PM", None),
            ("try again at 7:75 AM", None),
            ("try again at noon", None),
            ("try again at Foo 15th, 2027 7:59 AM.", None),
            ("try again later.", None),
        ] {
            assert_eq!(time_of_day(sentence), expected, "{sentence}");
        }
        for (sentence, expected) in [
            ("try again in 2 days 3 hours 5 minutes.", Some(2 * 86_400 + 3 * 3600 + 300)),
            ("try again in 1 minute.", Some(60)),
            ("try again in 9223372036854775807 days", None),
            ("try again in a while", None),
            ("try again later", None),
        ] {
            assert_eq!(span(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn i02_the_session_file_knows_the_reset_that_the_sentence_does_not_state() {
        let ending = Ending::Exited { code: 1 };
        let entry = |limits: &str| {
            format!(r#"{{"type":"event_msg","payload":{{"type":"token_count","info":null,"rate_limits":{limits}}}}}"#)
        };
        let old = entry(r#"{"primary":{"used_percent":1,"resets_at":1800000001}}"#);
        let both = r#"{"primary":{"used_percent":40,"window_minutes":300,"resets_at":1800000060},"secondary":{"used_percent":100.0,"resets_at":1800009999}}"#;
        for (limits, expected) in [
            (both, Some(1_800_009_999)),
            (r#"{"primary":{"used_percent":100,"resets_in_seconds":90},"secondary":null}"#, Some(1_800_000_090)),
            (r#"{"primary":{"used_percent":100,"resets_at":1700000000}}"#, None),
            (r#"{"primary":{"used_percent":"full"}}"#, None),
            (r#"{"primary":{"used_percent":97,"resets_at":1800000060}}"#, Some(1_800_000_060)),
            ("null", Some(1_800_000_001)),
        ] {
            let file =
                format!("alf a line\"}}}}\n{old}\n{}\n{{\"type\":\"other\",\"payload\":7}}\n{{\"cut", entry(limits));
            let end = End { side_file: file.as_bytes(), now: NOW, ..end_of(&ending, "") };
            assert_eq!(reset("You’ve hit your usage limit.", &end), expected, "{limits}");
            let full = expected.filter(|_| limits.contains("100"));
            assert_eq!(reset("last status: 429 Too Many Requests", &end), full, "{limits}");
            let stated = End { zone: &|_| Some(5), ..end };
            assert_eq!(reset("try again at 7:59 AM.", &stated), Some(5), "the sentence comes first");
        }
        let end = End { now: NOW, ..end_of(&ending, "") };
        assert_eq!(reset("try again in 1 minute", &end), Some(1_800_000_060));
        assert_eq!(reset("try again later", &end), None);
    }
}
