//! Looking back at runs: what `status`, `show`, `logs`, `explain`, `report` and `cancel` share. Nothing here
//! changes a run; what is told comes from the journal, folded by the same machine that decided.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod attempt_view;
pub mod case;
pub mod causes;
pub mod check_log;
pub mod conditions;
pub mod damage;
pub mod forest;
pub mod heartbeat;
pub mod json;
pub mod live;
pub mod log_text;
pub mod page;
pub mod pick;
pub mod report;
pub mod runs;
#[cfg(test)]
pub mod sample;
pub mod state;
pub mod story;
pub mod table;
pub mod words;
