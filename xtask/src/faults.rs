//! The table of faults: which tests show what happens when something goes wrong, and which faults
//! are still open. Made from the tests' names, so that it cannot name a test that is not there.

use crate::step::root;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// A fault, and why it is still open; empty if it is not.
type Fault = (&'static str, &'static str, &'static str);

const SANDBOX: &str = "needs limits on processes and memory, which come with isolation";

const FAULTS: &[Fault] = &[
    ("A01", "the agent hangs in silence", ""),
    ("A02", "busy, but without end", ""),
    ("A03", "final result, but no exit", ""),
    ("A04", "exit 0 without a result", ""),
    ("A05", "closes its output and works on", ""),
    ("A06", "a grandchild holds the pipe", ""),
    ("A07", "daemonised or own-session leftovers", ""),
    ("A08", "ignores polite signals", ""),
    ("A09", "is stopped", ""),
    ("A10", "fork bomb", SANDBOX),
    ("A11", "eats memory", SANDBOX),
    ("A12", "missing, not executable, wrong format", ""),
    ("A13", "waits on standard input", ""),
    ("A14", "dies at once every time", ""),
    ("A15", "killed by a signal", ""),
    ("A16", "exit codes", ""),
    ("A17", "kills its process group", ""),
    ("A18", "kills ralph or its keeper", ""),
    ("A19", "leaves its cgroup", "the tree and the marker find it; no test of its own yet"),
    ("A20", "starts a container", "containers are not below the agent; a clean-up command is not there yet"),
    ("A21", "an answer of the keeper is lost", ""),
    ("B01", "gigabytes without a newline", ""),
    ("B02", "an enormous line", ""),
    ("B03", "half an event at the end", ""),
    ("B04", "invalid UTF-8, NUL, lone surrogates", ""),
    ("B05", "a character cut in two", ""),
    ("B06", "noise between events", ""),
    ("B07", "unknown events and fields", ""),
    ("B08", "two objects on a line, CRLF, BOM, blank lines", ""),
    ("B09", "very many tiny lines", ""),
    ("B10", "a slow reader of our output", ""),
    ("B11", "a large prompt while the agent floods", ""),
    ("B12", "claims in the wrong places", ""),
    ("B13", "usage that cannot be true", ""),
    ("B14", "nobody reads our output", ""),
    ("D01", "no space left", ""),
    ("D02", "writes or syncs fail", ""),
    ("D03", "read-only file system", ""),
    ("D04", "no inodes left", ""),
    ("D05", "the agent fills the disk", "free space is not watched; a full disk ends the run as D01"),
    ("D06", "torn end of the journal", ""),
    ("D07", "a flipped bit", ""),
    ("D08", "a name that is not durable", "needs a power cut; tried by hand on a copied image"),
    ("D09", "another or a remote file system", "a file system without locks is refused; no test of its own"),
    ("D10", "no descriptors left", ""),
    ("D11", "one damaged run", ""),
    ("D12", "a damaged database", ""),
    ("D13", "a log that was cut off, damaged or lost", ""),
    ("D14", "a database that another process keeps locked", ""),
    ("D15", "no processes, threads or memory left", ""),
    ("E01", "killed at every system call", ""),
    ("E02", "abort before and after commits and merges", "commits are covered by E04; ralph does not merge yet"),
    ("E03", "crash during resume", ""),
    ("E04", "crash between commit and record", ""),
    ("E05", "the old tree lives on at resume", ""),
    ("E06", "reboot", ""),
    ("E07", "power cut", "tried by hand on a copied image; not yet a test"),
    ("E08", "a fault in ralph itself", ""),
    ("E09", "ralph is killed for memory", "as A18 with another sender; no test of its own"),
    ("E10", "another version resumes", "there is only one version"),
    ("E11", "the project was moved", ""),
    ("E12", "each end stays told apart", ""),
    ("E13", "a person edited the tree meanwhile", ""),
    ("E14", "the journal is gone", ""),
    ("F01", "two ralphs in one tree", ""),
    ("F02", "a lock left by a dead process", ""),
    ("F03", "its process number lives again", ""),
    ("F04", "the lock is deleted", ""),
    ("F05", "a descriptor reaches the agent", ""),
    ("F06", "equal temporary names", ""),
    ("F07", "two agents on one task", "there is no board yet"),
    ("F08", "two senders on the bus", ""),
    ("F09", "readers beside the writer", ""),
    ("F10", "a person runs git meanwhile", ""),
    ("G01", "the wall clock jumps", ""),
    ("G02", "suspended for hours", "the monotonic clock stands still then; needs a suspended machine"),
    ("G03", "Ctrl-Z and fg", ""),
    ("G04", "resets in words and zones", ""),
    ("G05", "extreme times", ""),
    ("H01", "interrupts: one, two, ten", ""),
    ("H02", "TERM, HUP, QUIT", ""),
    ("H03", "the terminal closes", ""),
    ("H04", "no terminal, dumb, tiny, resized", ""),
    ("H05", "signals ignored by the parent", ""),
    ("H06", "signals blocked by the parent", ""),
    ("H07", "a crash leaves the terminal raw", "ralph never sets a mode; the live line is one line"),
    ("H08", "signals during a start", "no test of its own yet"),
    ("L01", "a prompt too large for an argument", ""),
    ("L02", "odd and long names", ""),
    ("L03", "deep folders", ""),
    ("L04", "very many tasks and events", "there is no board yet"),
    ("L05", "other encodings", ""),
    ("L06", "cycles of tasks", "there is no board yet"),
    ("Q01", "very many iterations", ""),
    ("Q02", "zombies, and ralph as process 1", ""),
    ("Q03", "fifty agents at once", "one loop runs one agent"),
    ("Q04", "logs rotated while tailing", "ralph does not rotate logs"),
    ("Q05", "pruning while running", "ralph does not prune"),
];

/// The page. Fails if a fault has neither a test nor a reason to be open.
pub fn page() -> Result<String, String> {
    let tests = tests(&root().join("crates"));
    let mut page = "# Faults\n\nWhat can go wrong, and the tests that show what happens then. This page is made from the tests' names:\n\
                    `cargo xtask docs` writes it, and `cargo xtask test` fails if a fault has neither a test nor a reason to be open.\n\n\
                    | id | fault | tests |\n|---|---|---|\n"
        .to_owned();
    let mut missing = Vec::new();
    for (id, fault, open) in FAULTS {
        let found = tests.get(*id).map(Vec::as_slice).unwrap_or_default();
        if found.is_empty() && open.is_empty() {
            missing.push(*id);
        }
        let shown: Vec<String> = found.iter().map(|(place, name)| format!("`{name}` ({place})")).collect();
        let open = if found.is_empty() { format!("*open*: {open}") } else { String::new() };
        let _ = writeln!(page, "| {id} | {fault} | {}{open} |", shown.join("<br>"));
    }
    let others = tests.iter().filter(|(id, _)| FAULTS.iter().all(|(known, ..)| known != id));
    let others: Vec<String> = others.map(|(id, tests)| format!("{id} ({})", tests.len())).collect();
    let _ = writeln!(page, "\nOf other groups there are tests for: {}.", others.join(", "));
    if missing.is_empty() {
        Ok(page)
    } else {
        Err(format!("faults without a test or a reason: {}", missing.join(", ")))
    }
}

type Tests = BTreeMap<String, Vec<(String, String)>>;

/// Tests by the fault ids that their names begin with.
fn tests(crates: &Path) -> Tests {
    let mut tests = Tests::new();
    let mut folders = vec![crates.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let place = path.strip_prefix(crates).ok().and_then(|path| path.iter().next()).unwrap_or_default();
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                for name in test_names(&text) {
                    for id in ids(name) {
                        tests.entry(id).or_default().push((place.to_string_lossy().into_owned(), name.to_owned()));
                    }
                }
            }
        }
    }
    tests.values_mut().for_each(|found| found.sort());
    tests
}

/// Names of functions that stand behind a `#[test]`.
fn test_names(text: &str) -> impl Iterator<Item = &str> {
    text.split("#[test]").skip(1).filter_map(|rest| {
        let name = rest.split_once("fn ")?.1;
        name.split_once('(').map(|(name, _)| name)
    })
}

/// `d03_d04_a_disk` begins with two ids.
fn ids(name: &str) -> Vec<String> {
    let is_id = |word: &&str| {
        let mut letters = word.bytes();
        word.len() == 3 && letters.next().is_some_and(|b| b.is_ascii_lowercase()) && letters.all(|b| b.is_ascii_digit())
    };
    name.split('_').take_while(is_id).map(str::to_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_at_the_beginning_of_a_name() {
        assert_eq!(ids("d03_d04_a_disk_is_full"), ["D03", "D04"]);
        assert!(ids("an_a01_in_the_middle").is_empty());
    }

    #[test]
    fn every_fault_has_a_test_or_a_reason() {
        assert_eq!(page().err(), None);
    }
}
