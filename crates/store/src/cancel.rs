//! Cancelling from another process. The wish stands in a table of its own, which the owner of the
//! run looks at, so that it is neither lost when nobody listens nor written into a journal that has
//! one writer.

use crate::{Durability, Store, StoreError};
use ralph_core::id::RunId;
use ralph_core::time::WallTime;

impl Store {
    /// Asks the owner of a run to cancel it. The wish survives a power cut, and asking twice changes
    /// nothing.
    pub fn request_cancel(&mut self, run: &RunId, at: WallTime) -> Result<(), StoreError> {
        self.ensure(Durability::Synced)
            .and_then(|()| {
                self.conn
                    .prepare_cached("INSERT INTO cancels VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
                    .execute((run.as_str(), at.0))
            })
            .map(drop)
            .map_err(|error| self.failed_to_write(error))
    }

    /// Whether somebody wants the run cancelled. Cheap enough to be asked several times a second: as
    /// long as nobody wrote, no file is read.
    pub fn cancel_requested(&self, run: &RunId) -> Result<bool, StoreError> {
        self.conn
            .prepare_cached("SELECT 1 FROM cancels WHERE run = ?1")
            .and_then(|mut select| select.exists([run.as_str()]))
            .map_err(StoreError::sqlite(&self.path, "read"))
    }

    /// Forgets the wish, once it was followed or the run goes on.
    pub fn clear_cancel(&mut self, run: &RunId) -> Result<(), StoreError> {
        // Nearly always there is none, and then nothing is written.
        if !self.cancel_requested(run)? {
            return Ok(());
        }
        self.ensure(Durability::Written)
            .and_then(|()| self.conn.prepare_cached("DELETE FROM cancels WHERE run = ?1")?.execute([run.as_str()]))
            .map(drop)
            .map_err(|error| self.failed_to_write(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{id, noted, row};

    #[test]
    fn a_wish_to_cancel_reaches_the_owner_and_stays_until_it_is_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let mut owner = Store::open(dir.path()).unwrap();
        owner.append(&run, &[noted(1, "x")], &row(&run, 1), Durability::Synced).unwrap();
        assert!(!owner.cancel_requested(&run).unwrap());

        let mut other = Store::open(dir.path()).unwrap();
        other.request_cancel(&run, WallTime(5)).unwrap();
        other.request_cancel(&run, WallTime(6)).unwrap();
        drop(other);
        assert!(owner.cancel_requested(&run).unwrap());
        assert!(!owner.cancel_requested(&id("r2")).unwrap());
        owner.append(&run, &[noted(2, "x")], &row(&run, 1), Durability::Written).unwrap();
        drop(owner);

        let mut owner = Store::open(dir.path()).unwrap();
        assert!(owner.cancel_requested(&run).unwrap());
        owner.clear_cancel(&run).unwrap();
        owner.clear_cancel(&run).unwrap();
        assert!(!owner.cancel_requested(&run).unwrap());
    }

    #[test]
    fn a_lock_that_another_process_keeps_is_told_as_such_and_does_no_harm() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        let other = Store::open(dir.path()).unwrap();
        other.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        store.conn.busy_timeout(std::time::Duration::ZERO).unwrap();
        let error = store.request_cancel(&id("r1"), WallTime(5)).unwrap_err();
        assert!(matches!(error, StoreError::Busy { .. }) && error.class() == crate::Class::Machine, "{error:?}");
        other.conn.execute_batch("COMMIT").unwrap();
        store.append(&id("r1"), &[noted(1, "x")], &row(&id("r1"), 1), Durability::Written).unwrap();
    }
}
