//! How things are shown to one reader.

use crate::{Paint, Suggest, Zone};

/// What the reader's place decides. A language will stand here too.
#[derive(Debug, Clone, Default)]
pub struct Style {
    /// Colours and marks.
    pub paint: Paint,
    /// The time zone.
    pub zone: Zone,
    /// How commands are typed.
    pub suggest: Suggest,
}
