//! What any face needs to show runs, as values made of values: entries make a [`run_view::RunView`], facts about living
//! processes a [`liveness::State`]; time zone and terminal come in by [`Style`]. What goes out is text and JSON.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod agent_lines;
pub mod attempt_page;
pub mod causes;
pub mod conditions;
pub mod explanation;
pub mod findings;
pub mod json;
pub mod judges;
pub mod liveness;
mod marks;
pub mod measures;
pub mod message;
pub mod missing;
pub mod narration;
mod paint;
pub mod pieces;
pub mod plan_status;
pub mod report;
pub mod run_page;
pub mod run_view;
#[cfg(test)]
mod sample;
pub mod status;
mod status_line;
mod style;
mod suggest;
pub mod table;
pub mod tree;
pub mod words;
mod zone;

pub use marks::{Mark, Marks};
pub use paint::{Paint, Tone};
pub use style::Style;
pub use suggest::{Suggest, quoted};
pub use zone::Zone;
