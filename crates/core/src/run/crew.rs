//! Who works: the agent itself, or a fallback while it is refused.

use crate::policy::{AgentPolicy, Policy};
use crate::time::WallTime;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An agent that cannot run at all is not asked again.
const NEVER: WallTime = WallTime(i64::MAX);

/// The agents of a run, by their order of preference: 0 for the agent itself, then the fallbacks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Crew {
    working: usize,
    /// Until when each of them is refused; those that never were have no entry.
    refused: BTreeMap<usize, WallTime>,
    waits_in_row: u32,
    /// Those of them that no limit explains.
    transient_in_row: u32,
}

impl Crew {
    /// Who works now.
    pub(super) fn agent<'a>(&self, policy: &'a Policy) -> &'a AgentPolicy {
        let fallback = self.working.checked_sub(1).and_then(|index| policy.fallback.get(index));
        fallback.unwrap_or(&policy.agent)
    }

    pub(super) const fn is_fallback(&self) -> bool {
        self.working > 0
    }

    /// Takes the most preferred agent that may work. `Some` if that is another one than before: whether it is
    /// one that worked earlier.
    pub(super) fn choose(&mut self, policy: &Policy, now: WallTime) -> Option<bool> {
        // If all are refused, the wait was for this one, or its clock says otherwise than ours.
        let chosen = self.free(policy, now).unwrap_or(self.working);
        let before = std::mem::replace(&mut self.working, chosen);
        (chosen != before).then_some(chosen < before)
    }

    /// The first agent in the order of preference that is not refused at this moment.
    fn free(&self, policy: &Policy, now: WallTime) -> Option<usize> {
        (0..=policy.fallback.len()).find(|index| self.refused.get(index).is_none_or(|until| *until <= now))
    }

    /// Whether another one may work now.
    pub(super) fn has_another(&self, policy: &Policy, now: WallTime) -> bool {
        self.free(policy, now).is_some_and(|free| free != self.working)
    }

    pub(super) fn refuse_until(&mut self, until: WallTime) {
        self.refused.insert(self.working, until);
    }

    pub(super) fn refuse_for_good(&mut self) {
        self.refuse_until(NEVER);
    }

    /// When the first of them may work again.
    pub(super) fn soonest(&self) -> WallTime {
        self.refused.values().min().copied().unwrap_or(NEVER)
    }

    /// The agent itself is another one now.
    pub(super) fn renew_first(&mut self) {
        self.refused.remove(&0);
    }

    pub(super) fn count_limit(&mut self) {
        self.waits_in_row += 1;
        self.transient_in_row = 0;
    }

    /// Counts a failure that no limit explains, and says the how many-th in a row it is.
    pub(super) fn count_transient(&mut self) -> u32 {
        self.waits_in_row += 1;
        self.transient_in_row += 1;
        self.transient_in_row
    }

    pub(super) const fn waits_in_row(&self) -> u32 {
        self.waits_in_row
    }

    /// An agent worked.
    pub(super) fn end_row(&mut self) {
        self.waits_in_row = 0;
        self.transient_in_row = 0;
    }

    /// Somebody wants more: every row begins anew, and everybody may be asked again.
    pub(super) fn begin_anew(&mut self) {
        self.end_row();
        self.refused.clear();
    }
}
