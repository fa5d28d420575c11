//! The turn of a run that ended before anybody judged it.

use super::{Content, Mode, Plan, StoryId};
use serde::{Deserialize, Serialize};

/// What an agent was there for whose edits nobody judged, because its run crashed or was stopped. Whoever works on the
/// plan next judges them by its mode: they are no person's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unjudged {
    pub mode: Mode,
    pub story: StoryId,
    /// It was only there to commit what was left.
    pub closes: bool,
    /// Everything as it stood before it.
    pub before: Plan,
    pub prd: Option<Content>,
    pub template: Option<Content>,
    pub progress: Option<Content>,
}
