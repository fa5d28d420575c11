//! Plans: stories that are implemented, reviewed and approved one by one, and the texts around them.

pub mod archive;
pub mod context;
pub mod import;
pub mod marker;
pub mod skill;
pub mod stats;
pub mod template;
