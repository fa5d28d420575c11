//! What is known of the newest iteration: how its agent ended, and what it needed to be complete.

use crate::check::TreePrint;
use crate::observation::Observation;
use crate::verdict::Condition;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The newest iteration, as far as it is known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Last {
    /// How its agent ended; `None` before that.
    seen: Option<Arc<Observation>>,
    /// What it needed, once it was judged.
    judged: Option<Vec<Condition>>,
    /// The last check that was told, of any iteration and kind, and whether it passed.
    check: Option<(String, bool)>,
    /// The hash of the tree when it was looked at last, in any iteration; `None` if it could not be seen.
    tree: Option<String>,
}

impl Last {
    /// An agent begins.
    pub(super) fn begin(&mut self) {
        self.seen = None;
        self.judged = None;
    }

    pub(super) fn end(&mut self, seen: &Arc<Observation>) {
        self.seen = Some(Arc::clone(seen));
    }

    pub(super) fn judge(&mut self, conditions: Vec<Condition>) {
        self.judged = Some(conditions);
    }

    pub(super) fn tell_check(&mut self, name: &str, passed: bool) {
        self.check = Some((name.to_owned(), passed));
    }

    pub(super) fn see_tree(&mut self, print: &TreePrint) {
        self.tree = print.hash().map(str::to_owned);
    }

    pub(super) fn seen(&self) -> Option<&Observation> {
        self.seen.as_deref()
    }

    pub(super) fn judged(&self) -> Option<&[Condition]> {
        self.judged.as_deref()
    }

    pub(super) fn check(&self) -> Option<&(String, bool)> {
        self.check.as_ref()
    }

    pub(super) fn tree(&self) -> Option<&str> {
        self.tree.as_deref()
    }
}
