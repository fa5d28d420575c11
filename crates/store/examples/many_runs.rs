//! Fills a project's state folder with copies of its newest run: `many_runs FOLDER COUNT`.
#![allow(clippy::expect_used, reason = "a tool for measuring; whoever starts it reads what went wrong")]

use ralph_core::event::{Entry, Event};
use ralph_core::id::RunId;
use ralph_core::run::RunRow;
use ralph_store::{Durability, Store};
use std::path::PathBuf;

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().expect("the folder"));
    let count: usize = args.next().and_then(|count| count.parse().ok()).expect("how many");
    let mut store = Store::open(&folder).expect("a journal");
    let rows = store.runs().expect("its runs").runs;
    let newest = rows.first().expect("a run to copy").clone();
    let entries = store.entries(&newest.run).expect("its entries");
    for number in rows.len()..count {
        let run = RunId::parse(&format!("copy{number:05}")).expect("an id");
        let entries: Vec<Entry> = entries.iter().map(|entry| copy(entry, &run)).collect();
        store
            .append(&run, &entries, &RunRow { run: run.clone(), ..newest.clone() }, Durability::Written)
            .expect("room");
        let logs = folder.join("runs").join(run.as_str());
        let index = format!("{:010} {:010} {:020}\n", 1, 0, 0);
        std::fs::create_dir_all(&logs).and_then(|()| std::fs::write(logs.join("raw.index"), index)).expect("room");
    }
}

fn copy(entry: &Entry, run: &RunId) -> Entry {
    let mut entry = entry.clone();
    if let Event::Started(started) = &mut entry.event {
        started.run = run.clone();
    }
    entry
}
