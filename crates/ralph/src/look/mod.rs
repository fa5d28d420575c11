//! Looking back at runs: what `status`, `show`, `logs`, `explain` and `cancel` share. Nothing here
//! changes a run; what is told comes from the journal, folded by the same machine that decided.

pub mod chapter;
pub mod conditions;
pub mod json;
pub mod live;
pub mod log_text;
pub mod page;
pub mod pick;
pub mod story;
pub mod words;
