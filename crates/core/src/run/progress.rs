//! Progress: whether a run still gets anywhere. An iteration that comes to files and failures that were
//! there before is none, and what cannot be seen is not guessed.

use super::Run;
use super::inspecting::Inspection;
use crate::claim::Claim;
use crate::feedback::common_cause;
use crate::history::{FailurePrint, Lap};
use crate::verdict::Judgement;
use crate::words::Cause;

impl Run {
    /// Remembers how an iteration went. Why the run leads nowhere, once it has for too long.
    pub(super) fn note_lap(&mut self, at: &Inspection, judgement: &Judgement) -> Option<Cause> {
        let lap = Lap {
            iteration: self.count.iteration(),
            failure: FailurePrint::of(judgement, &at.reports),
            tree: at.tree.clone(),
            changed: at.files_changed().to_vec(),
            claimed: judgement.claim == Claim::Complete,
            heard_a_person: !self.brief.human().is_empty(),
        };
        self.history.add(lap);
        let failing = common_cause(judgement, &at.reports);
        let limits = &self.policy.limits;
        let reached = |most: u32, row: u32| most > 0 && row >= most;

        let idle = self.history.nothing_new_in_row();
        if reached(limits.stall_after, idle) {
            let untouched = self.history.left_the_files_alone();
            return Some(Cause::Stalled { iterations: idle, untouched, failing });
        }
        let same = self.history.same_failure_in_row();
        reached(limits.max_same_failures, same).then_some(Cause::SameFailure { iterations: same, failing })
    }
}
