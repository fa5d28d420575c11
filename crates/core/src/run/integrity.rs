//! That by which agents are judged, as it was at the start, and what was told about it.

use super::{Run, RunStep};
use crate::id::CheckId;
use crate::judges::{Known, Unknown};
use crate::protect::{Change, PinnedChange, Pins};
use crate::trust::Untrusted;
use crate::words::Note;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What must be as it was, and what was told about it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Integrity {
    /// The files whose state counts, once they were looked at.
    pins: Option<Arc<Pins>>,
    /// What checks are made of, once that was read.
    known: Option<Arc<Known>>,
    /// What is not known of the checks, and what was made during the run.
    unknown: Vec<Unknown>,
    /// What was not known of them when the run began.
    #[serde(default)]
    unknown_first: Vec<Unknown>,
    /// Checks that were asked for during the run, so that nobody learned what they are made of.
    #[serde(default)]
    added: Vec<Unknown>,
    /// Why checks run on the live tree; empty if each gets a snapshot.
    live: String,
    /// What judges and was changed by an agent of an earlier run.
    untrusted: Vec<Untrusted>,
    /// What of that was not put back, one part of a sentence each.
    doubted: Vec<String>,
    /// Why nobody can believe the rules with which the run goes on, one part of a sentence each.
    #[serde(default)]
    doubted_rules: Vec<String>,
    /// Which checks passed before the first iteration, if that was wanted.
    baseline: Option<BTreeMap<CheckId, bool>>,
    way_out_told: bool,
    blind_told: bool,
    /// Changes of protected files that were told and allowed.
    allowed: Option<String>,
}

impl Integrity {
    pub(super) fn pins(&self) -> Arc<Pins> {
        self.pins.clone().unwrap_or_default()
    }

    pub(super) const fn is_pinned(&self) -> bool {
        self.pins.is_some()
    }

    pub(super) fn known(&self) -> Option<Arc<Known>> {
        self.known.clone()
    }

    /// The runners that a check calls and whose report says that tests ran.
    pub(super) fn runners(&self, check: &CheckId) -> Vec<String> {
        let all = self.known.iter().flat_map(|known| &known.runners);
        all.filter(|runner| runner.check == *check).map(|runner| runner.name.clone()).collect()
    }

    pub(super) fn learn(&mut self, known: Known, live: String) {
        (self.known, self.live) = (Some(Arc::new(known)), live);
    }

    /// What was learned and not pinned yet may have changed since.
    pub(super) fn forget_unpinned(&mut self) {
        if self.pins.is_none() {
            self.known = None;
        }
    }

    /// Other checks are asked for than those whose judges are known.
    pub(super) fn forget_all(&mut self) {
        (self.pins, self.known) = (None, None);
        self.unknown.clear();
        self.added.clear();
    }

    /// Whether checks run on the live tree.
    pub(super) fn is_live(&self) -> bool {
        !self.live.is_empty()
    }

    /// Whether each check gets a snapshot of its own, as far as anybody asked.
    pub(super) fn has_snapshots(&self) -> bool {
        self.known.is_some() && !self.is_live()
    }

    /// What was put back as a person accepted it, with all its parts, counts again, as long as it stays so.
    pub(super) fn see_put_back(&mut self, changes: &[PinnedChange]) {
        let Some(pins) = &self.pins else { return };
        let is_back = |path: &str| {
            let changed = pins.files.iter().filter(|file| file.path == path && file.is_untrusted()).count()
                + usize::from(pins.git.accepted.contains_key(path));
            let back = changes.iter().filter(|change| change.how == Change::PutBack && change.path == path).count();
            changed > 0 && changed == back
        };
        let doubted = self.untrusted.iter().filter(|untrusted| !is_back(&untrusted.path));
        self.doubted = doubted.map(Untrusted::words).collect();
    }

    /// What checks use and nobody knows, because it was made during the run.
    pub(super) fn see_made(&mut self, changes: &[PinnedChange]) {
        let Some(pins) = &self.pins else { return };
        let made = pins.made(changes, !self.has_snapshots());
        self.unknown = self.unknown_first.iter().cloned().chain(made).chain(self.added.iter().cloned()).collect();
    }

    /// Checks were added that were not learned when the others were.
    pub(super) fn see_added(&mut self, added: Vec<Unknown>) {
        self.unknown.retain(|unknown| !self.added.contains(unknown));
        self.unknown.extend(added.iter().cloned());
        self.added = added;
    }

    pub(super) fn pin(&mut self, pins: Pins, unknown: Vec<Unknown>, untrusted: Vec<Untrusted>) {
        self.unknown.clone_from(&unknown);
        self.unknown_first = unknown;
        self.pins = Some(Arc::new(pins));
        self.doubted = untrusted.iter().map(Untrusted::words).collect();
        self.untrusted = untrusted;
    }

    /// What is not known of the checks.
    pub(super) fn unknown(&self) -> &[Unknown] {
        &self.unknown
    }

    /// What judges and no person stands behind, one part of a sentence each.
    pub(super) fn untrusted(&self) -> &[String] {
        &self.doubted
    }

    /// Why the rules themselves are not believed, one part of a sentence each.
    pub(super) fn doubted_rules(&self) -> &[String] {
        &self.doubted_rules
    }

    pub(super) fn doubt_rules(&mut self, doubts: Vec<String>) {
        self.doubted_rules = doubts;
    }

    pub(super) const fn baseline(&self) -> Option<&BTreeMap<CheckId, bool>> {
        self.baseline.as_ref()
    }

    pub(super) fn begin_with(&mut self, baseline: BTreeMap<CheckId, bool>) {
        self.baseline = Some(baseline);
    }

    /// Whether this is the first time to tell how a file can be taken out of protection.
    pub(super) fn tells_way_out(&mut self) -> bool {
        !std::mem::replace(&mut self.way_out_told, true)
    }

    /// Whether this is the first time to tell that the tree cannot be seen.
    pub(super) fn tells_blindness(&mut self) -> bool {
        !std::mem::replace(&mut self.blind_told, true)
    }

    /// Whether these allowed changes were not told yet.
    pub(super) fn tells_allowed(&mut self, changes: &str) -> bool {
        self.allowed.replace(changes.to_owned()).as_deref() != Some(changes)
    }
}

impl Run {
    pub(super) fn on_settings_edited(&mut self, file: &str) -> RunStep {
        Run::note(Note::SettingsEdited { file: file.to_owned() })
    }
}
