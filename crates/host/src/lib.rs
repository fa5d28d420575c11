//! ralph acts: everything that touches the machine. Nothing here decides what a run does next.
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_macros, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing
    )
)]

pub mod aside;
pub mod bus;
pub mod checkout;
pub mod checks;
pub mod child_runs;
pub mod clock;
pub mod folder_watch;
pub mod footprint;
pub mod git;
pub mod hook_state;
pub mod identity;
pub mod kept_tree;
pub mod lines;
pub mod lock;
pub mod look;
pub mod made;
pub mod marker;
mod own_output;
pub mod pins;
mod plain_file;
pub mod plan_files;
pub mod plan_git;
pub mod probe;
pub mod process;
pub mod programs;
pub mod raw_log;
pub mod scm;
pub mod side_file;
pub mod signals;
pub mod snapshot;
pub mod spool;
pub mod state_dir;
pub mod stores;
pub mod temp;
pub mod tree;
pub mod trim;
pub mod trust;
pub mod views;
pub mod watch;
pub mod watching;
