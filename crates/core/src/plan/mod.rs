//! The law of plans: what `tasks.json` may hold, what an iteration may do to it, and what became of it.
//!
//! Pure functions over texts, for three callers: the loop applies them after every iteration against the plan of its
//! fold, commands apply them to the file of a person, and hooks apply the same functions earlier. Nothing here opens
//! a file, and nobody else decides which edit of a plan counts.
//!
//! ```text
//! bytes ─ Plan::seen ─► Plan ─ choice::next ─► mode and story ─ agent ─► bytes ─ judge ─► Plan, violations, decision
//! ```

mod acts;
pub mod archive;
pub mod choice;
pub mod context;
mod document;
mod graph;
pub mod hooks;
pub mod import;
mod judge;
pub mod marker;
mod policy;
pub mod progress;
mod reading;
mod sight;
pub mod skill;
pub mod stats;
pub mod stop;
mod story;
pub mod template;
#[cfg(test)]
mod tests;
mod unjudged;
mod words;

pub use document::Syntax;
pub use hooks::HookSnapshot;
pub use judge::{Decision, Judgement, Split, judge};
pub use policy::{BranchUse, DIR, PRD, PROGRESS, PlanChanges, PlanPolicy, TASKS, TEMPLATE, VerifyCommand};
pub use reading::{MOST_BYTES, Plan, Seen};
pub use sight::{Content, Dirty, GitSeen, PlanSeen, Sight, newly_dirty};
pub use story::{ReviewStatus, Story, StoryId};
pub use unjudged::Unjudged;
pub use words::{Change, Fault, Problem, ReviewFault, Rule, Violation};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;

/// What a review's feedback begins with when the cap, not the reviewer, approved.
pub const AUTO_APPROVED: &str = "[AUTO-APPROVED AT CAP]";

/// What an iteration is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    Implement,
    Review,
    ReviewFix,
}

impl Mode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Mode::Implement => "implement",
            Mode::Review => "review",
            Mode::ReviewFix => "review-fix",
        }
    }

    /// At the beginning of a sentence.
    const fn title(self) -> &'static str {
        match self {
            Mode::Implement => "Implement",
            Mode::Review => "Review",
            Mode::ReviewFix => "Review-fix",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The rules of a run, which `resume` may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rules {
    /// The review that is the last of a story.
    pub cap: NonZeroU32,
    /// Implementers set `passes` themselves.
    pub skip_review: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        // Five reviews that did not settle a story are a case for a person.
        Rules { cap: NonZeroU32::MIN.saturating_add(4), skip_review: false }
    }
}

/// The iteration that is judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub mode: Mode,
    pub story: StoryId,
    /// The agent ended by itself and without a failure: only then it decided something.
    pub ended_well: bool,
}
