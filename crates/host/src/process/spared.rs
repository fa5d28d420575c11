//! Who is spared when everything that a run started is ended: the runs inside it, with all that is below them.

use super::tree::Table;
use crate::child_runs;
use crate::identity::Identity;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The child runs of a run that may live on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spared {
    /// The run's folder, where its child runs register; `None` for what can have none.
    folder: Option<PathBuf>,
    /// Those that lived before something was started that can have no child runs: a check, git, a task of version
    /// control. Whoever registers later is not spared.
    before: Option<Vec<Identity>>,
}

impl Spared {
    /// The child runs that register in this folder.
    pub(crate) fn of_run(run_folder: &Path) -> Spared {
        Spared { folder: Some(run_folder.to_owned()), before: None }
    }

    /// The child runs of what has such a folder, and nobody where there is none.
    pub(super) fn of(folder: Option<PathBuf>) -> Spared {
        Spared { folder, before: None }
    }

    /// Something is started next, which may start child runs or not.
    pub(super) fn begin(&mut self, starts_runs: bool) {
        self.before = (!starts_runs).then(|| self.carriers().collect());
    }

    /// Their processes. Who is a child is read after the table, so that none registers unseen between the two.
    pub(super) fn among(&self, table: &Table) -> HashSet<i32> {
        let counts = |identity: &Identity| self.before.as_ref().is_none_or(|before| before.contains(identity));
        table.with_below(self.carriers().filter(counts).map(|identity| identity.pid).collect())
    }

    /// Their processes now.
    pub(crate) fn pids(&self) -> HashSet<i32> {
        self.among(&Table::read())
    }

    fn carriers(&self) -> impl Iterator<Item = Identity> {
        let runs = self.folder.as_deref().map(child_runs::spared_below).unwrap_or_default();
        runs.into_iter().map(|child| child.identity)
    }
}
