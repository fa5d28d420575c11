//! The entries that are not yet in the store, and the store as the carrier needs it.

use ralph_core::event::Entry;
use ralph_core::machine::{Machine, StepOf};
use ralph_core::receipt::Receipt;
use ralph_core::request::Request;
use ralph_core::stream::Row;
use ralph_core::time::{Millis, WallTime};
use ralph_store::{Durability, Store, StoreError};
use serde::Serialize;

/// Entries behind which the machine itself is kept, so that at most so many are ever folded to go on.
const SNAPSHOT_EVERY: u64 = 500;

/// What is written in one transaction.
pub struct Batch<'a, M: Machine> {
    pub entries: &'a [Entry<M::Event>],
    /// What the entries prove.
    pub receipts: &'a [Receipt],
    /// As the entries have made it; its row is written with them.
    pub machine: &'a M,
    pub extent: Extent,
    pub durability: Durability,
}

/// How much of a machine is kept with its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Row,
    /// The machine itself too, so that nothing before it has to be folded again.
    Snapshot,
}

/// What remembers a machine's entries.
pub trait Remembers<M: Machine> {
    /// Keeps all of it or nothing.
    fn append(&mut self, batch: Batch<'_, M>) -> Result<(), StoreError>;
    /// Whether somebody left a request to cancel the machine.
    fn wants_cancel(&mut self, machine: &M) -> Result<bool, StoreError>;
    /// Calls it again after another process kept it locked.
    fn again<T>(&mut self, call: &mut dyn FnMut(&mut Self) -> Result<T, StoreError>) -> Result<T, StoreError>;
}

impl<M: Machine<Event: Serialize, Row: Row> + Serialize> Remembers<M> for Store {
    fn append(&mut self, batch: Batch<'_, M>) -> Result<(), StoreError> {
        let Batch { entries, receipts, machine, extent, durability } = batch;
        let snapshot = (extent == Extent::Snapshot).then_some(machine);
        self.append_with(entries, &machine.row(), receipts, snapshot, durability)
    }

    fn wants_cancel(&mut self, machine: &M) -> Result<bool, StoreError> {
        let asked = self.asked(machine.row().stream())?;
        Ok(asked.iter().any(|asked| asked.request == Request::Cancel))
    }

    fn again<T>(&mut self, call: &mut dyn FnMut(&mut Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        Store::again(self, call)
    }
}

/// A machine with the entries that are not yet in the store.
pub(crate) struct Journal<M: Machine> {
    pub(crate) machine: M,
    pending: Vec<Entry<M::Event>>,
    receipts: Vec<Receipt>,
    /// Some of them must survive a power cut.
    sync: bool,
    /// The entry with which the machine itself is kept next. A long journal is beyond it when a process goes on with
    /// it: whatever kept its snapshot from being used, such as a new version of ralph, costs a whole fold once.
    snapshot_at: u64,
    /// Time that was worked on the machine before this process.
    elapsed_before: Millis,
    /// Whether this process has written anything.
    pub(crate) has_begun: bool,
}

impl<M: Machine> Journal<M> {
    /// `unseen` is how long it was worked on beyond what the machine knows.
    pub(crate) fn new(machine: M, pending: Vec<Entry<M::Event>>, unseen: Millis) -> Journal<M> {
        let elapsed_before = machine.elapsed().plus(unseen);
        Journal {
            machine,
            pending,
            receipts: Vec::new(),
            sync: true,
            snapshot_at: SNAPSHOT_EVERY,
            elapsed_before,
            has_begun: false,
        }
    }

    /// Turns an event into an entry and asks the machine. The entry is in the store before anything of the step is
    /// done that could not be repeated.
    pub(crate) fn take(&mut self, event: M::Event, at: WallTime, elapsed: Millis) -> StepOf<M> {
        let seq = self.machine.seq() + 1;
        let entry = Entry { seq, at, elapsed: self.elapsed_before.plus(elapsed), event };
        let mut step = self.machine.step(&entry);
        self.pending.push(entry);
        self.receipts.append(&mut step.receipts);
        self.sync |= step.durable;
        step
    }

    /// Writes what is pending, in one transaction.
    pub(crate) fn write(&mut self, store: &mut impl Remembers<M>) -> Result<(), StoreError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let durability = if self.sync { Durability::Synced } else { Durability::Written };
        let extent = if self.machine.seq() >= self.snapshot_at { Extent::Snapshot } else { Extent::Row };
        let (machine, entries, receipts) = (&self.machine, self.pending.as_slice(), self.receipts.as_slice());
        store.append(Batch { entries, receipts, machine, extent, durability })?;
        if extent == Extent::Snapshot {
            self.snapshot_at = self.machine.seq() + SNAPSHOT_EVERY;
        }
        self.pending.clear();
        self.receipts.clear();
        self.sync = false;
        self.has_begun = true;
        Ok(())
    }
}
