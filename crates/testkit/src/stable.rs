//! Output without what differs from run to run: the one place that knows what that is.
//!
//! A snapshot compares everything else to the letter. What is replaced keeps its shape (`[TIME]`,
//! `[TOOK]`), so that a value that is missing is still seen.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Value, json};

use crate::environment::TestEnv;

/// The id of a message on a bus.
const MESSAGE: &str = r"\bm[0-9a-hjkmnp-tv-z]{12}\b";

/// Patterns in their order, each with what stands there afterwards.
static FILTERS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let filters = [
        // Escape sequences become readable.
        (r"\x1b", r"\e"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[TIME]"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?( UTC)?", "[TIME]"),
        (r"\b\d\d:\d\d(:\d\d)?( UTC)?\b", "[CLOCK]"),
        (MESSAGE, "[MESSAGE]"),
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

/// What is told apart by number in a journal: hashes, commits and messages.
static NUMBERED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [r"\b[0-9a-f]{64}\b", r"\b[0-9a-f]{40}\b", MESSAGE].map(|pattern| Regex::new(pattern).unwrap()).into()
});

/// When every recorded journal begins: 2027-01-15 08:00:00 UTC.
const BEGIN_MS: u64 = 1_800_000_000_000;
/// From each entry to the next.
const PACE_MS: u64 = 10;

impl TestEnv {
    /// A journal as it can be kept: one entry a line, every value of its own kind, and nothing of this machine or
    /// this moment. Hashes and ids are numbered, so that equal ones stay equal.
    pub fn stable_journal(&self, runs: &[String], entries: Vec<Value>) -> String {
        let mut text = String::new();
        for (number, mut entry) in (0..).zip(entries) {
            settle(&mut entry);
            let fields = entry.as_object_mut().expect("an entry is an object");
            fields.insert("at".to_owned(), json!(BEGIN_MS + PACE_MS * number));
            fields.insert("elapsed".to_owned(), json!(PACE_MS * number));
            text += &format!("{entry}\n");
        }
        for (path, name) in [(self.agent_path(), "/bin/agent"), (self.root(), "/scratch")] {
            text = text.replace(&*path.to_string_lossy(), name);
        }
        for (number, run) in runs.iter().enumerate() {
            text = text.replace(run, &format!("run{}", number + 1));
        }
        NUMBERED.iter().fold(text, |text, pattern| {
            let mut seen: Vec<String> = Vec::new();
            let number = |found: &Captures<'_>| {
                let (found, known) = (&found[0], seen.iter().position(|earlier| *earlier == found[0]));
                let number = known.unwrap_or_else(|| {
                    seen.push(found.to_owned());
                    seen.len() - 1
                });
                let first = if found.starts_with('m') { "m" } else { "" };
                format!("{first}{:0width$}", number + 1, width = found.len() - first.len())
            };
            pattern.replace_all(&text, number).into_owned()
        })
    }

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

/// Values that depend on the machine or the moment, by their keys.
fn settle(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(settle),
        Value::Object(fields) => {
            for (key, value) in fields {
                match key.as_str() {
                    "duration" if value.is_u64() => *value = json!(5),
                    "bytes" if value.is_u64() => *value = json!(100),
                    "at" if value.is_u64() => *value = json!(BEGIN_MS),
                    "resets_at" if value.is_u64() => *value = json!(BEGIN_MS / 1000),
                    // Of programs: where they are, and what tells them apart.
                    "file" if value.is_string() => *value = json!("/bin/program"),
                    "stamp" => *value = json!([0, 0, 0, 0, 0]),
                    "folders" => *value = json!([[0, 1], [0, 2]]),
                    "done_stamp" => *value = json!("1"),
                    _ => settle(value),
                }
            }
        }
        _ => {}
    }
}
