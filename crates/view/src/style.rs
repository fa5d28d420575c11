//! How things are shown to one reader.

use crate::{Paint, Suggest, Zone};

/// What the reader's place decides. A language will stand here too.
#[derive(Debug, Clone, Default)]
pub struct Style {
    pub paint: Paint,
    pub zone: Zone,
    pub suggest: Suggest,
}
