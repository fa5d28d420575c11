//! Protecting: what follows when a pinned file is not as it was at the start.

use super::inspecting::{Inspect, Inspection, Moment};
use super::{Run, RunStep};
use crate::check::{CheckKind, CheckSpec};
use crate::judges::Why;
use crate::machine::Step;
use crate::protect::{OnChange, Pinned, PinnedChange};
use crate::text;
use crate::words::Note;

/// The most changes that one sentence names.
const NAMED: usize = 5;

impl Run {
    /// Takes what a look showed of the pinned files. `Some` if something is done about it first.
    pub(super) fn pinned_seen(&mut self, at: &mut Box<Inspection>) -> Option<RunStep> {
        let on_change = self.policy.protect.on_change;
        if on_change == OnChange::Allow {
            return None;
        }
        at.violations.clone_from(&at.pinned);
        let pins = self.pins();
        // What is still not as it was after it had been put back cannot be put back; programs never can.
        let restorable = pins.restorable();
        let can_be_undone = |change: &&PinnedChange| restorable.contains(change.path.as_str());
        let undone: Vec<PinnedChange> = at.pinned.iter().filter(can_be_undone).cloned().collect();
        if on_change == OnChange::Fail || undone.is_empty() || at.restored {
            return None;
        }
        at.restored = true;
        at.tree = None;
        let told = sentence(&undone);
        self.brief.undo(told.clone());
        let paths = undone.into_iter().map(|change| change.path).collect();
        at.first([Inspect::Restore(paths), Inspect::Look(Moment::BeforeChecks)]);
        Some(Run::note(Note::PutBack { changes: told }).then(self.go_on(at.clone())))
    }

    pub(super) fn on_pinned_restored(&mut self, problems: &[String]) -> Option<RunStep> {
        let at = self.inspecting(|step| matches!(step, Inspect::Restore(_)))?;
        let told = problems
            .iter()
            .fold(Step::default(), |told: RunStep, text| told.then(Run::note(Note::Machine { text: text.clone() })));
        Some(told.then(self.go_on(at)))
    }

    /// Tells how the protected files are, where there are any to speak of.
    pub(super) fn tell_protected(&mut self, at: &Inspection) -> RunStep {
        if self.policy.protect.on_change == OnChange::Allow {
            let told = sentence(&at.pinned);
            if at.pinned.is_empty() || !self.integrity.tells_allowed(&told) {
                return Step::default();
            }
            return Run::note(Note::ChangeAllowed { changes: told });
        }
        if at.violations.is_empty() && self.policy.protect.paths.is_empty() {
            return Step::default();
        }
        let told = self.tell_looked_at(CheckKind::Protected, "files", sentence(&at.violations));
        if at.violations.is_empty() || !self.integrity.tells_way_out() {
            return told;
        }
        // For people: what the agent has to do stands in its next prompt.
        let pins = self.pins();
        let is_named = |change: &&PinnedChange| {
            let by_name = |file: &Pinned| matches!(file.why, Why::Named { .. } | Why::Watched);
            pins.files.iter().any(|file| file.path == change.path && by_name(file))
        };
        let mut files: Vec<String> = at.violations.iter().filter(is_named).map(|change| change.path.clone()).collect();
        let is_all = files.len() == at.violations.len();
        files.truncate(NAMED);
        let told = if is_all { told } else { told.then(Run::note(Note::WayOutOfProtection)) };
        if files.is_empty() { told } else { told.then(Run::note(Note::DeclareWork { files })) }
    }

    /// Why a guardrail is not executed: the agent wrote the script by which it would be judged.
    pub(super) fn changed_script(&self, at: &Inspection, spec: &CheckSpec) -> Option<String> {
        // On a snapshot it gets the script as it was.
        if !self.integrity.is_live() {
            return None;
        }
        let pins = self.pins();
        let is_script = |change: &&PinnedChange| {
            pins.files.iter().any(|file| file.path == change.path && file.of.contains(&spec.id))
        };
        let change = at.violations.iter().find(is_script)?;
        Some(format!("its script {}, so it was not executed", change.words()))
    }
}

/// Some changes as one sentence.
pub(super) fn sentence(changes: &[PinnedChange]) -> String {
    let mut words: Vec<String> = changes.iter().take(NAMED).map(PinnedChange::words).collect();
    let more = changes.len().saturating_sub(NAMED);
    words.extend((more > 0).then(|| format!("and {} more", text::count(more as u64, "file"))));
    words.join(", ")
}
