//! How far a run is: its numbers, and failures in a row.

use crate::time::Millis;
use serde::{Deserialize, Serialize};

/// The numbers of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Count {
    /// The iteration that is being worked on, or was last.
    iteration: u32,
    /// Repeats of that number, from 1.
    attempt: u32,
    /// When that began, as time that the run was worked on.
    began: Millis,
    judged: u32,
    failures_in_row: u32,
}

impl Count {
    pub(super) const fn iteration(&self) -> u32 {
        self.iteration
    }

    pub(super) const fn attempt(&self) -> u32 {
        self.attempt
    }

    pub(super) const fn judged(&self) -> u32 {
        self.judged
    }

    pub(super) const fn failures_in_row(&self) -> u32 {
        self.failures_in_row
    }

    /// The number that is not taken yet.
    pub(super) const fn next(&self) -> u32 {
        self.iteration.saturating_add(1)
    }

    pub(super) fn begin_next(&mut self) {
        self.iteration = self.next();
        self.attempt = 1;
    }

    pub(super) fn begin_again(&mut self) {
        self.attempt += 1;
    }

    /// Whether an earlier process worked on this already.
    pub(super) const fn continues(&self) -> bool {
        self.iteration > 1 || self.attempt > 1
    }

    pub(super) fn begin_clock(&mut self, now: Millis) {
        self.began = now;
    }

    /// How long the iteration has taken.
    pub(super) fn spent(&self, now: Millis) -> Millis {
        now.minus(self.began)
    }

    /// The iteration was judged.
    pub(super) fn judge(&mut self, ended_well: bool, counts: bool) {
        self.judged += u32::from(counts);
        self.failures_in_row = if ended_well { 0 } else { self.failures_in_row + 1 };
    }

    pub(super) fn begin_rows_anew(&mut self) {
        self.failures_in_row = 0;
    }
}
