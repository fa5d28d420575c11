//! What this machine lets a process do to isolate itself, found out by trying. A process that has
//! tried stays in what it made, so this is for a child that does nothing else.

use serde::{Deserialize, Serialize};

/// What a child could do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// Whether it got namespaces of its own for users, mounts and the network; else what the system said.
    pub namespaces: Result<(), String>,
    /// The version of Landlock; else what the system said.
    pub landlock: Result<i64, String>,
    /// Whether its keeper could give it a control group of its own.
    pub control_group: bool,
}

/// Tries everything.
#[cfg(target_os = "linux")]
pub fn measure() -> Isolation {
    use super::{cgroup, sys};
    let said = |error: std::io::Error| error.to_string();
    Isolation {
        landlock: sys::landlock_version().map_err(said),
        control_group: cgroup::is_inside_one(),
        namespaces: sys::enter_namespaces().map_err(said),
    }
}

/// Nothing of this is there elsewhere.
#[cfg(not(target_os = "linux"))]
pub fn measure() -> Isolation {
    let absent = || "only Linux has it".to_owned();
    Isolation { namespaces: Err(absent()), landlock: Err(absent()), control_group: false }
}
