//! The buses of a run: what it says there, and what it hears.

use ralph_core::bus::{Kind, Message};
use ralph_core::effect::{BusName, Post};
use ralph_core::event::Event;
use ralph_core::id::{MessageId, RunId, TaskName};
use ralph_core::inbox::{Heard, Request};
use ralph_core::time::WallTime;
use ralph_host::bus::{Bus, Durability, Follower};
use std::path::PathBuf;

/// Where the buses are, and whose they are.
#[derive(Debug, Clone)]
pub struct BusNames {
    /// The task's bus.
    pub task_bus: PathBuf,
    /// The project's bus.
    pub project_bus: PathBuf,
    /// The project, as messages name it.
    pub project: String,
    /// The task.
    pub task: TaskName,
    /// The run.
    pub run: RunId,
}
