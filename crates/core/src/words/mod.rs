//! What ralph says, as types: every note, reason and cause is data with a code for programs, and its English
//! sentence stands here and nowhere else. Prompts, messages on the bus and rows need the sentence too, which is why
//! English lives in core; another language is another table over the same types.

mod cause;
mod note;
mod reason;

pub use cause::{Budget, Cause};
pub use note::{Note, Unstated};
pub use reason::Reason;

use crate::id::RunId;
use crate::text;

/// Files that a sentence names: a person wants examples.
const FILES_NAMED: usize = 5;

/// Some files, as the end of a sentence.
pub(crate) fn named(files: &[String]) -> String {
    let files = files.get(..FILES_NAMED).unwrap_or(files);
    if files.is_empty() { String::new() } else { format!(": {}", text::without_controls(&files.join(", "))) }
}

pub(crate) fn listed(runs: &[RunId]) -> String {
    runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(", ")
}
