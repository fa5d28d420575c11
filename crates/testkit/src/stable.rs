//! Output without what differs from run to run: the one place that knows what that is.
//!
//! A snapshot compares everything else to the letter. What is replaced keeps its shape (`[TIME]`,
//! `[TOOK]`), so that a value that is missing is still seen.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::environment::TestEnv;

/// Patterns in their order, each with what stands there afterwards.
static FILTERS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let filters = [
        // Escape sequences become readable.
        (r"\x1b", r"\e"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[TIME]"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?( UTC)?", "[TIME]"),
        (r"\b\d\d:\d\d(:\d\d)?( UTC)?\b", "[CLOCK]"),
        (r"\bm[0-9a-hjkmnp-tv-z]{12}\b", "[MESSAGE]"),
        (r"\b[0-9a-f]{64}\b", "[HASH]"),
        (r"\b[0-9a-f]{40}\b", "[COMMIT]"),
        (r"\b[0-9a-f]{8}\b", "[SHORT]"),
        (r#""(duration_ms|elapsed_ms|waited_ms|age_ms|resets_at|bytes|pid)": ?\d+"#, r#""$1":"[N]""#),
        (r"\b\d+(\.\d+)?(ms|s)\b", "[TOOK]"),
        (r"\b\d+m\d\ds\b", "[TOOK]"),
        (r"\b\d+ bytes printed", "[N] bytes printed"),
        // A plot of durations, and columns that are as wide as the longest of them.
        (r"^( *[\d.]+) [█▏▎▍▌▋▊▉#]* ?\[TOOK\]$", "$1 [BAR] [TOOK]"),
        (r#"y="[\d.]+" (width="[\d.]+") height="[\d.]+"(><title>iteration \d+: \[TOOK\])"#, "$1$2"),
        (r"(\S) {2,}", "$1  "),
    ];
    filters.into_iter().map(|(pattern, to)| (Regex::new(&format!("(?m){pattern}")).unwrap(), to)).collect()
});

impl TestEnv {
    /// The text without folders, run ids, times, durations, hashes and process ids of this one time.
    pub fn stable(&self, runs: &[String], text: &str) -> String {
        let binaries = [(self.agent_path(), "[AGENT]"), (self.ralph_path(), "[RALPH]")];
        let mut text = self.normalise(text);
        for (path, name) in binaries {
            text = text.replace(&*path.to_string_lossy(), name);
        }
        for (number, run) in runs.iter().enumerate() {
            text = text.replace(run, &format!("[RUN{}]", number + 1));
        }
        FILTERS.iter().fold(text, |text, (pattern, to)| match pattern.replace_all(&text, *to) {
            Cow::Borrowed(_) => text,
            Cow::Owned(changed) => changed,
        })
    }
}
