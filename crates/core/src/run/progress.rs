//! Progress: whether a run still gets anywhere. An iteration that comes to files and failures that were
//! there before is none, and what cannot be seen is not guessed.

use super::Run;
use super::checking::Checking;
use crate::attempts::{Attempt, FailurePrint};
use crate::claim::Claim;
use crate::feedback::common_cause;
use crate::text;
use crate::verdict::Judgement;

impl Run {
    /// Remembers how an iteration went. Why the run leads nowhere, once it has for too long.
    pub(super) fn note_attempt(&mut self, checking: &Checking, judgement: &Judgement) -> Option<String> {
        let changed = if checking.edited.is_empty() { &checking.seen.files } else { &checking.edited };
        let attempt = Attempt {
            iteration: self.iteration,
            failure: FailurePrint::of(judgement, &checking.reports),
            tree: checking.tree.clone(),
            changed: changed.clone(),
            claimed: judgement.claim == Claim::Complete,
        };
        self.attempts.add(attempt, !self.human.is_empty());
        let cause = common_cause(judgement, &checking.reports);
        let limits = &self.policy.limits;
        let reached = |most: u32, row: u32| most > 0 && row >= most;

        let idle = self.attempts.nothing_new_in_row();
        if reached(limits.stall_after, idle) {
            let what = if self.attempts.left_the_files_alone() { "nothing changed" } else { "nothing new came up" };
            let still = if cause.is_empty() { String::new() } else { format!("; still failing: {cause}") };
            return Some(format!("{what} in {}{still}", text::count(idle.into(), "iteration")));
        }
        let same = self.attempts.same_failure_in_row();
        reached(limits.max_same_failures, same).then(|| {
            format!(
                "the same failure in {} in a row, whatever was changed: {cause}",
                text::count(same.into(), "iteration")
            )
        })
    }
}
