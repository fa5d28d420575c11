//! When a usage limit of Codex ends, where its sentence does not say so: the session's own file has the provider's last
//! word on every window.

use crate::dialect::End;
use crate::json::{Loose, fields, read};

/// When the limit ends that this sentence is about, as seconds since the epoch.
pub(super) fn reset(sentence: &str, end: &End<'_>) -> Option<i64> {
    // A refusal for being too fast says nothing about windows that are not full.
    let least = if sentence.to_lowercase().contains("usage limit") { 0.0 } else { 100.0 };
    in_session_file(end, least)
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
        }
        assert_eq!(reset("try again later", &End { now: NOW, ..end_of(&ending, "") }), None);
    }
}
