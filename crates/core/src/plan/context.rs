//! How full an agent's context window is, by the size of its transcript, and what is said about it: a hook tells the
//! agent in time to finish, write down and stop.

use serde::{Deserialize, Serialize};
use std::num::{NonZeroU32, NonZeroU64};

/// By what a transcript's size becomes a share of the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Gauge {
    /// Tokens that the window holds.
    pub window: NonZeroU64,
    /// Bytes of transcript that are taken for one token.
    pub chars_per_token: NonZeroU32,
    /// Percentages at which something is said.
    pub thresholds: Vec<u32>,
}

impl Default for Gauge {
    fn default() -> Gauge {
        Gauge {
            window: NonZeroU64::MIN.saturating_add(199_999),
            chars_per_token: NonZeroU32::MIN.saturating_add(3),
            thresholds: vec![50, 60, 70, 80, 90],
        }
    }
}

/// For which loop an alert is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// One that has `tasks.json` and `progress.txt` for what is left.
    ForPlan,
    ForOthers,
}

/// What is said about a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    pub severity: Severity,
    /// The highest threshold that was crossed; the caller remembers it.
    pub threshold: u32,
    pub text: String,
}

/// How urgent an alert is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Notice,
    Warning,
    Critical,
}

impl Severity {
    fn of(threshold: u32) -> Severity {
        match threshold {
            ..70 => Severity::Notice,
            70..90 => Severity::Warning,
            90.. => Severity::Critical,
        }
    }

    /// The word that an alert begins with.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Notice => "NOTICE",
            Severity::Warning => "WARNING",
            Severity::Critical => "CRITICAL",
        }
    }
}

impl Gauge {
    /// The size of the window as the client states it (`CLAUDE_CONTEXT_WINDOW`), if that is a number of tokens.
    pub fn with_window_of(mut self, client: Option<&str>) -> Gauge {
        self.window = client.and_then(|size| size.trim().parse().ok()).unwrap_or(self.window);
        self
    }

    /// What is to be said about a transcript of this size. `told` is the highest threshold that was reported in this
    /// session, or 0: each is reported once, and a jump over several reports the highest only.
    pub fn alert(&self, transcript_bytes: u64, told: u32, advice: Advice) -> Option<Alert> {
        let whole = u128::from(self.window.get()) * u128::from(self.chars_per_token.get());
        let percent = (u128::from(transcript_bytes) * 100).checked_div(whole)?;
        let crossed = |threshold: &&u32| **threshold > told && u128::from(**threshold) <= percent;
        let threshold = *self.thresholds.iter().filter(crossed).max()?;
        let severity = Severity::of(threshold);
        let text = format!(
            "{}: Context window is at ~{percent}% usage (crossed {threshold}% threshold). {}",
            severity.as_str(),
            what_to_do(severity, advice)
        );
        Some(Alert { severity, threshold, text })
    }
}

fn what_to_do(severity: Severity, advice: Advice) -> &'static str {
    match (severity, advice) {
        (Severity::Notice, Advice::ForPlan) => {
            "Mind the space that is left, and finish your current story within it. Add follow-up work to tasks.json as \
             new stories: a later iteration takes them up."
        }
        (Severity::Notice, Advice::ForOthers) => {
            "Mind the space that is left, and finish what you are doing within it. Leave follow-up work for the next \
             iteration."
        }
        (Severity::Warning, Advice::ForPlan) => {
            "Finish your current story and commit soon. Begin nothing else. Add what remains to tasks.json as new \
             stories, and write what you found out into progress.txt, so that the next iteration knows all of it."
        }
        (Severity::Warning, Advice::ForOthers) => {
            "Finish what you are doing and commit soon. Begin nothing else. Write down what remains and what you found \
             out, so that the next iteration knows all of it."
        }
        (Severity::Critical, Advice::ForPlan) => {
            "Stop working now and begin NOTHING new. Instead: (1) add what remains to tasks.json as new stories, (2) \
             write details, findings and how to go on into progress.txt, (3) commit all changes, (4) stop. The next \
             iteration goes on from there."
        }
        (Severity::Critical, Advice::ForOthers) => {
            "Stop working now and begin NOTHING new. Instead: (1) write down what remains, your findings and how to go \
             on, (2) commit all changes, (3) stop. The next iteration goes on from there."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Table {
        sessions: Vec<Session>,
    }

    #[derive(Deserialize)]
    struct Session {
        window: NonZeroU64,
        sizes: Vec<(u64, Option<String>)>,
    }

    #[test]
    fn each_threshold_is_told_once_and_a_jump_tells_the_highest_only() {
        let table: Table = serde_json::from_str(include_str!("../../tests/cases/context_monitor.json"))
            .unwrap_or_else(|_| Table { sessions: Vec::new() });
        assert_eq!(table.sessions.len(), 2);
        for session in table.sessions {
            let gauge = Gauge { window: session.window, ..Gauge::default() };
            let mut told = 0;
            for (size, expected) in session.sizes {
                let alert = gauge.alert(size, told, Advice::ForPlan);
                let seen = alert.as_ref().map(|alert| format!("{} {}", alert.severity.as_str(), alert.threshold));
                assert_eq!(seen, expected, "{size}");
                told = alert.map_or(told, |alert| alert.threshold);
            }
        }
    }

    #[test]
    fn an_alert_names_share_and_threshold_and_speaks_of_files_that_the_loop_has() {
        let gauge = Gauge::default();
        for bytes in [415_000, 570_000, 730_000] {
            let plan = gauge.alert(bytes, 0, Advice::ForPlan).map(|alert| alert.text).unwrap_or_default();
            let other = gauge.alert(bytes, 0, Advice::ForOthers).map(|alert| alert.text).unwrap_or_default();
            assert!(plan.contains("tasks.json"), "{plan}");
            assert!(!other.contains("tasks.json") && !other.contains("progress.txt"), "{other}");
            let both = plan.split_once(". ").map(|(head, _)| head);
            assert_eq!(both, other.split_once(". ").map(|(head, _)| head));
            assert!(other.len() > both.map_or(0, str::len) + 50, "it says what to do: {other}");
        }
        let text = gauge.alert(571_999, 60, Advice::ForOthers).map(|alert| alert.text).unwrap_or_default();
        assert!(text.starts_with("WARNING: Context window is at ~71% usage (crossed 70% threshold). Finish"), "{text}");
    }

    #[test]
    fn the_window_is_the_clients_if_it_states_one() {
        let default = Gauge::default();
        assert_eq!((default.window.get(), default.chars_per_token.get()), (200_000, 4));
        for (client, window) in [
            (None, 200_000),
            (Some("1000000"), 1_000_000),
            (Some(" 100 "), 100),
            (Some("0"), 200_000),
            (Some("x"), 200_000),
        ] {
            assert_eq!(Gauge::default().with_window_of(client).window.get(), window, "{client:?}");
        }
    }

    #[test]
    fn any_thresholds_and_sizes_are_taken() {
        let gauge = |thresholds: &[u32]| Gauge { thresholds: thresholds.to_vec(), ..Gauge::default() };
        let told = |thresholds: &[u32], bytes| gauge(thresholds).alert(bytes, 0, Advice::ForPlan).map(|a| a.threshold);
        assert_eq!(told(&[], u64::MAX), None);
        assert_eq!(told(&[90, 10, 50], 500_000), Some(50), "in any order");
        assert_eq!(told(&[95, 200], u64::MAX), Some(200));
        assert_eq!(told(&[50], 0), None);
        let tiny = Gauge { window: NonZeroU64::MAX, chars_per_token: NonZeroU32::MAX, thresholds: vec![1] };
        assert_eq!(tiny.alert(u64::MAX, 0, Advice::ForOthers), None);
    }
}
