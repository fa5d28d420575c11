//! Runs as they are stored. Where what is stored of one is damaged, its journal is folded instead.

use ralph_core::event::{Entry, Event};
use ralph_core::id::RunId;
use ralph_core::run::{Run, RunRow};
use ralph_store::{Damage, DamagedRow, Store, StoreError, Which};

/// Runs, as far as they can be shown.
#[derive(Debug, Default)]
pub struct Listing {
    /// Newest first.
    pub runs: Vec<RunRow>,
    /// Those about which nothing can be believed, newest first.
    pub damaged: Vec<DamagedRow>,
}

impl Listing {
    pub fn newest(store: &Store, which: Which<'_>, most: usize) -> Result<Listing, StoreError> {
        let mut listing = Listing::default();
        for stored in store.newest(which, most)? {
            let damaged = match stored {
                Ok(row) => {
                    listing.runs.push(row);
                    continue;
                }
                Err(damaged) => damaged,
            };
            match damaged.run().map(|run| folded(store, &run)) {
                Some(Ok(row)) => listing.runs.push(row),
                Some(Err(error)) => {
                    let why = error.of_one_stream().ok_or(error)?;
                    listing.damaged.push(DamagedRow { why, ..damaged });
                }
                None => listing.damaged.push(damaged),
            }
        }
        Ok(listing)
    }
}

pub fn row(store: &Store, run: &RunId) -> Result<Option<RunRow>, StoreError> {
    match store.row(run)? {
        Some(Err(_)) => folded(store, run).map(Some),
        Some(Ok(row)) => Ok(Some(row)),
        None => Ok(None),
    }
}

/// One run, if the index knows it. It may be of another project, and then the whole table is not searched for it.
pub fn indexed(store: &Store, run: &RunId) -> Result<Option<RunRow>, StoreError> {
    Ok(Listing::newest(store, Which::Named(std::slice::from_ref(run)), 1)?.runs.pop())
}

/// What is damaged of all runs. Reads everything.
pub fn damage(store: &Store) -> Result<Damage, StoreError> {
    store.damage::<RunRow, Event>(|entries| {
        let begins = entries.first().is_some_and(|first| Run::begin(first).is_ok());
        (!begins).then(|| NO_START.to_owned())
    })
}

const NO_START: &str = "its journal does not begin with its start";

fn folded(store: &Store, run: &RunId) -> Result<RunRow, StoreError> {
    let entries: Vec<Entry> = store.entries(run)?;
    let damaged = |_| StoreError::Damaged { stream: run.into(), seq: 1, why: NO_START.to_owned() };
    Run::fold(None, &entries).map(|machine| machine.row()).map_err(damaged)
}
