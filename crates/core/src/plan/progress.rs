//! `progress.txt`: above the line `---` agents curate patterns, below it is a log that only grows.

use std::collections::HashMap;

/// What stands between the patterns and the log.
const SEPARATOR: &[u8] = b"---";

/// The text that must stand in the file: `None` if the agent took nothing away. What was there before and is gone is
/// put back where it stood; what the agent wrote is kept. `after` is `None` if there is no file.
pub fn repair(before: &[u8], after: Option<&[u8]>) -> Option<Vec<u8>> {
    let blank = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_whitespace);
    let Some(after) = after.filter(|after| !blank(after)) else {
        return (!blank(before)).then(|| before.to_vec());
    };
    let (before, after) = (lines(before), lines(after));
    let kept = separator(&before).and_then(|at| before.get(at..))?;
    if stands_in(kept, &after) {
        return None;
    }
    let head = separator(&after).unwrap_or_default();
    let (head, log) = after.split_at(head);
    // A file without the line has no head: all of it is text for the log, below the one that was there.
    let head =
        if separator(&after).is_none() { before.get(..before.len() - kept.len()).unwrap_or_default() } else { head };
    let same = kept.iter().zip(log).take_while(|(one, two)| bare(one) == bare(two)).count();
    let (first, kept) = kept.split_at(same);
    let log = log.get(same..).unwrap_or_default();
    let ends = kept.iter().rev().zip(log.iter().rev()).take_while(|(one, two)| bare(one) == bare(two)).count();
    let (gone, last) = kept.split_at(kept.len() - ends);
    let written = log.get(..log.len() - ends).unwrap_or_default();
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    for line in &before {
        *known.entry(bare(line)).or_default() += 1;
    }
    for line in first.iter().chain(last) {
        known.entry(bare(line)).and_modify(|count| *count = count.saturating_sub(1));
    }
    let new = written.iter().filter(|line| match known.get_mut(bare(line)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    let mut out = Vec::new();
    for line in head.iter().chain(first).chain(gone).chain(new).chain(last) {
        // A line from the end of a file may lack its line end.
        if !out.is_empty() && !out.ends_with(b"\n") {
            out.push(b'\n');
        }
        out.extend_from_slice(line);
    }
    Some(out)
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// A line without its end: an agent may have written other line ends.
fn bare(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}

fn separator(lines: &[&[u8]]) -> Option<usize> {
    lines.iter().position(|line| bare(line) == SEPARATOR)
}

/// Whether all lines are still there, in their order.
fn stands_in(kept: &[&[u8]], after: &[&[u8]]) -> bool {
    let mut after = after.iter();
    kept.iter().filter(|line| !bare(line).is_empty()).all(|line| after.any(|other| bare(other) == bare(line)))
}
