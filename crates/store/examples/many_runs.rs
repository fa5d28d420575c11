//! Makes a project's state folder large. `many_runs FOLDER COUNT` fills it up with copies of its newest run;
//! `many_runs FOLDER COUNT NAME` adds a copy of it that has so many iterations.
#![allow(clippy::expect_used, reason = "a tool for measuring; whoever starts it reads what went wrong")]

use ralph_core::event::{Entry, Event};
use ralph_core::id::RunId;
use ralph_core::run::{Run, RunRow};
use ralph_core::stream::StreamKind;
use ralph_core::time::Millis;
use ralph_store::{Durability, Store, Which};
use std::path::{Path, PathBuf};

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().expect("the folder"));
    let count: usize = args.next().and_then(|count| count.parse().ok()).expect("how many");
    let mut store = Store::open(&folder).expect("a journal");
    let newest = store.newest::<RunRow>(Which::All, 1).expect("its runs").remove(0).expect("a run to copy");
    let entries: Vec<Entry> = store.entries(&newest.run).expect("its entries");
    if let Some(name) = args.next() {
        let run = RunId::parse(&name).expect("an id");
        longer(&mut store, renamed(&entries, &run), count);
        return leave_log(&folder, &run);
    }
    for number in store.count(StreamKind::Run).expect("its runs")..count {
        let run = RunId::parse(&format!("copy{number:05}")).expect("an id");
        let row = RunRow { run: run.clone(), ..newest.clone() };
        store.append(&renamed(&entries, &run), &row, &[], Durability::Written).expect("room");
        leave_log(&folder, &run);
    }
}

/// What every run leaves in the state folder.
fn leave_log(folder: &Path, run: &RunId) {
    let logs = folder.join("runs").join(run.as_str());
    let index = format!("{:010} {:010} {:020}\n", 1, 0, 0);
    std::fs::create_dir_all(&logs).and_then(|()| std::fs::write(logs.join("raw.index"), index)).expect("room");
}

/// The same entries of another run.
fn renamed(entries: &[Entry], run: &RunId) -> Vec<Entry> {
    let mut entries = entries.to_vec();
    for entry in &mut entries {
        if let Event::Started(started) = &mut entry.event {
            started.run = run.clone();
        }
    }
    entries
}

/// Writes a run whose second iteration is repeated until it has begun so many.
fn longer(store: &mut Store, mut entries: Vec<Entry>, iterations: usize) {
    if let Some(Event::Started(started)) = entries.first_mut().map(|entry| &mut entry.event) {
        let limits = &mut started.policy.limits;
        (limits.max_iterations, limits.stall_after, limits.max_same_failures) = (1_000_000, 0, 0);
    }
    let (first, rest) = entries.split_first().expect("a start");
    let (mut machine, _) = Run::begin(first).expect("a start");
    let (mut batch, mut proofs) = (vec![first.clone()], Vec::new());
    let mut second: Vec<Event> = Vec::new();
    let mut rest = rest.iter().map(|entry| entry.event.clone());
    let mut next = 0;
    while (machine.iteration() as usize) < iterations {
        let event = match machine.iteration() {
            0..=2 => rest.next().expect("three iterations to copy"),
            _ => {
                next += 1;
                second.get((next - 1) % second.len()).expect("one").clone()
            }
        };
        let (seq, at) = (machine.seq() + 1, first.at);
        let entry = Entry { seq, at, elapsed: Millis(seq), event };
        if machine.iteration() == 2 {
            second.push(entry.event.clone());
        }
        proofs.extend(machine.step(&entry).receipts);
        batch.push(entry);
        if batch.len() > 1000 {
            store.append(&batch, &machine.row(), &proofs, Durability::Written).expect("room");
            batch.clear();
            proofs.clear();
        }
    }
    store.append(&batch, &machine.row(), &proofs, Durability::Written).expect("room");
}
