//! What hooks know of a run: a read-only copy in the run's folder, written before each agent. No hook writes anything
//! that the gate believes.

use super::context::Gauge;
use super::sight::Dirty;
use super::{Rules, Turn};
use serde::{Deserialize, Serialize};

/// The name of the file in the run's folder.
pub const FILE: &str = "hook-snapshot.json";

/// What stands in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookSnapshot {
    /// The plan's folder, as seen from the project's root.
    pub dir: String,
    pub rules: Rules,
    /// The iteration that runs.
    pub turn: Turn,
    /// `tasks.json` as it stood before the iteration.
    pub tasks: String,
    /// How often the stop hook sends one agent process back to work.
    pub max_stop_blocks: u32,
    pub context: Gauge,
    /// What was not committed when the run began: whoever left it, no agent has to commit it.
    pub dirty: Vec<Dirty>,
}
