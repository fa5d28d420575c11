//! Which runs are alive. Each names the process that carries it in its own folder, and whoever owns
//! the work tree in its lock; a process is known by more than its number. What an agent prints is a sign of life too.

use crate::project::Project;
use ralph_core::id::RunId;
use ralph_core::run::RunRow;
use ralph_core::time::{Millis, WallTime};
use ralph_host::identity::Identity;
use ralph_host::lock::{self, Owner};
use ralph_host::{child_runs, raw_log};
use ralph_view::liveness::State;
use ralph_view::words::between;
use std::time::UNIX_EPOCH;

pub struct Live<'a> {
    project: &'a Project,
    owner: Option<Owner>,
}

impl<'a> Live<'a> {
    pub fn look(project: &'a Project) -> Live<'a> {
        Live { project, owner: lock::owner(&project.locks, project.work_tree()) }
    }

    pub fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    pub fn process(&self, run: &RunId) -> Option<Identity> {
        let owner = self.owner.as_ref().filter(|owner| owner.run.as_ref() == Some(run));
        owner.map(|owner| owner.identity.clone()).or_else(|| child_runs::process_of(&self.project.run_folder(run)))
    }

    pub fn runs(&self) -> Vec<RunId> {
        let mut runs = child_runs::carried(&self.project.state);
        runs.retain(|run| self.process(run).is_some());
        runs
    }

    pub fn state(&self, row: &RunRow) -> State {
        State::of(row, self.process(&row.run).is_some())
    }
}

/// How long the agent of a run that crashed went on printing after the last entry of the journal: who crashes often
/// enough would else outrun every limit of time.
pub fn unseen(row: &RunRow, project: &Project) -> Millis {
    last_output(project, row).map_or(Millis::ZERO, |at| between(row.updated_at, at))
}

pub fn last_output(project: &Project, row: &RunRow) -> Option<WallTime> {
    let written = raw_log::last_output(&project.run_folder(&row.run))?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(written.as_millis()).ok().map(WallTime)
}
