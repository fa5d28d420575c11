//! Which runs are alive. Each names the process that carries it in its own folder, and whoever owns
//! the work tree in its lock; a process is known by more than its number.

use super::state::State;
use crate::project::Project;
use ralph_core::id::RunId;
use ralph_core::run::RunRow;
use ralph_host::child_runs;
use ralph_host::identity::Identity;
use ralph_host::lock::{self, Owner};

/// Who works at this moment.
pub struct Live<'a> {
    project: &'a Project,
    owner: Option<Owner>,
}

impl<'a> Live<'a> {
    /// Looks.
    pub fn look(project: &'a Project) -> Live<'a> {
        Live { project, owner: lock::owner(&project.locks, project.work_tree()) }
    }

    /// The living owner of the work tree.
    pub fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    /// The living process that carries this run.
    pub fn process(&self, run: &RunId) -> Option<Identity> {
        let owner = self.owner.as_ref().filter(|owner| owner.run.as_ref() == Some(run));
        owner.map(|owner| owner.identity.clone()).or_else(|| child_runs::process_of(&self.project.run_folder(run)))
    }

    /// All runs of this project that live.
    pub fn runs(&self) -> Vec<RunId> {
        let mut runs = child_runs::carried(&self.project.state);
        runs.retain(|run| self.process(run).is_some());
        runs
    }

    /// The state of a run.
    pub fn state(&self, row: &RunRow) -> State {
        State::of(row, self.process(&row.run).is_some())
    }
}
