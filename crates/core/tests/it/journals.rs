//! Journals of real runs, one for each kind and end: they fold to the same row, notices and end as when they
//! were recorded, and cut anywhere they fold too. `cargo xtask record` records them anew.

use crate::sim::goes_on_after_every_entry;
use ralph_core::event::{Entry, Event};
use ralph_core::machine::Next;
use ralph_core::notice::Notice;
use ralph_core::run::{Run, RunStep};
use std::fmt::Write as _;
use std::path::Path;

/// The names and entries of all recorded journals.
#[allow(clippy::disallowed_methods, reason = "recorded journals are files")]
fn journals() -> Vec<(String, Vec<Entry>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journals");
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"));
        let entries = text.lines().map(parse).collect();
        (name, entries)
    };
    let mut found: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| read(&entry.unwrap().path())).collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert!(!found.is_empty(), "there are no recorded journals");
    found
}

/// What faces are told; of the rules of the run, nothing.
fn words(step: RunStep) -> String {
    step.tell.into_iter().fold(String::new(), |mut told, notice| {
        let _ = match notice {
            Notice::RunStarted { run, resumed, .. } => writeln!(told, "    RunStarted {{ {run:?}, {resumed:?} }}"),
            Notice::Note(note) => writeln!(told, "    Note {{ text: {:?} }}", note.to_string()),
            Notice::IterationFinished {
                iteration, claim, verdict, reasons, cost_usd, tokens, leaked, duration,
            } => writeln!(told, "    IterationFinished {{ iteration: {iteration:?}, claim: {claim:?}, verdict: {verdict:?}, reasons: {:?}, cost_usd: {cost_usd:?}, tokens: {tokens:?}, leaked: {leaked:?}, duration: {duration:?} }}", reasons.iter().map(ToString::to_string).collect::<Vec<_>>()),
            notice => writeln!(told, "    {notice:?}"),
        };
        told
    })
}

#[test]
fn every_recorded_journal_folds_as_it_did() {
    for (name, entries) in journals() {
        let mut told = String::new();
        let run = Run::replay(&entries, |entry, step| {
            let _ = write!(told, "{}\n{}", entry.seq, words(step));
        });
        let run = run.unwrap_or_else(|error| panic!("{name}: {error}"));
        let _ = write!(told, "\n{:#?}\n{:#?}", run.row(), run.outcome());
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("journal-{name}"), told);
        });
    }
}

#[test]
fn every_recorded_journal_folds_wherever_it_is_cut_and_goes_on() {
    for (name, entries) in journals() {
        for end in 1..=entries.len() {
            let cut = &entries[..end];
            let mut run = Run::replay(cut, |_, _| {}).unwrap_or_else(|error| panic!("{name} cut at {end}: {error}"));
            let last = cut.last().unwrap();
            let complete = run.is_complete();
            let event = Event::Resumed(Box::default());
            let step = run.step(&Entry { seq: last.seq + 1, event, ..last.clone() });
            assert_eq!(step.next == Next::GoesOn, complete, "{name} cut at {end}: {step:?}");
        }
    }
}

#[test]
fn every_recorded_run_that_is_written_and_read_back_behind_any_entry_goes_on_equally() {
    for (_, entries) in journals() {
        goes_on_after_every_entry(&entries);
    }
}
