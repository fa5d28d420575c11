//! Which runs are alive. The lock of the work tree says it: its owner is a living process, known by
//! more than its number, and names the run that it carries.

use super::state::State;
use crate::place::Place;
use ralph_core::id::RunId;
use ralph_core::run::RunRow;
use ralph_host::identity;
use ralph_host::lock::{self, Owner};

/// Who works in the tree at this moment.
pub struct Live {
    owner: Option<Owner>,
}

impl Live {
    /// Looks.
    pub fn look(place: &Place) -> Live {
        Live { owner: lock::owner(&place.locks, place.work_tree()) }
    }

    /// The living process that carries this run and holds the lock.
    pub fn owner_of(&self, run: &RunId) -> Option<&Owner> {
        self.owner.as_ref().filter(|owner| owner.run.as_ref() == Some(run))
    }

    /// The living owner.
    pub fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    /// The state of a run. One that was started inside another works under its ancestor's lock, so
    /// only its processes say whether it lives.
    pub fn state(&self, row: &RunRow) -> State {
        let nested =
            || row.parent.is_some() && row.stop_reason.is_none() && !identity::marked_processes(&row.run).is_empty();
        State::of(row, self.owner_of(&row.run).is_some() || nested())
    }
}
