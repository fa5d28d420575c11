//! Protecting: what follows when a pinned file is not as it was at the start.

use super::checking::{Checking, Stage};
use super::{Phase, Run};
use crate::check::{CheckKind, CheckSpec};
use crate::effect::Effect;
use crate::notice::Notice;
use crate::protect::{OnChange, PinnedChange};
use crate::text;

/// The most changes that one sentence names.
const NAMED: usize = 5;

impl Run {
    /// Takes what a look showed of the pinned files. `Some` if something is done about it first.
    pub(super) fn pinned_seen(&mut self, checking: &mut Box<Checking>) -> Option<Vec<Effect>> {
        let on_change = self.policy.protect.on_change;
        if on_change == OnChange::Allow {
            return None;
        }
        checking.violations.clone_from(&checking.pinned);
        let pins = self.pins();
        // What is still not as it was after it had been put back cannot be put back; programs never can.
        let can_be_undone = |change: &&PinnedChange| pins.holds(&change.path);
        let undone: Vec<PinnedChange> = checking.pinned.iter().filter(can_be_undone).cloned().collect();
        if on_change == OnChange::Fail || undone.is_empty() || checking.restored {
            return None;
        }
        checking.restored = true;
        checking.tree = None;
        checking.stage = Stage::Restore;
        self.phase = Phase::Checking(checking.clone());
        let text = format!("put back as it was at the start: {}", sentence(&undone));
        self.undone = Some(sentence(&undone));
        let paths = undone.into_iter().map(|change| change.path).collect();
        Some(vec![Effect::Tell(Notice::Note { text }), Effect::RestorePinned { paths }])
    }

    pub(super) fn on_pinned_restored(&mut self, problems: &[String]) -> Vec<Effect> {
        let Phase::Checking(checking) = &self.phase else { return Vec::new() };
        if checking.stage != Stage::Restore {
            return Vec::new();
        }
        let mut checking = checking.clone();
        checking.stage = Stage::LookBefore;
        let problem = |text: &String| Effect::Tell(Notice::Note { text: text.clone() });
        let mut effects: Vec<Effect> = problems.iter().map(problem).collect();
        effects.extend(self.go_on_checking(checking));
        effects
    }

    /// Tells how the protected files are, where there are any to speak of.
    pub(super) fn tell_protected(&mut self, checking: &Checking) -> Vec<Effect> {
        if self.policy.protect.on_change == OnChange::Allow {
            let told = sentence(&checking.pinned);
            if checking.pinned.is_empty() || self.allowed.as_ref() == Some(&told) {
                return Vec::new();
            }
            let text = format!("protected, and allowed to change: {told}");
            self.allowed = Some(told);
            return vec![Effect::Tell(Notice::Note { text })];
        }
        if checking.violations.is_empty() && self.policy.protect.paths.is_empty() {
            return Vec::new();
        }
        let problem = sentence(&checking.violations);
        let mut effects = vec![Effect::Tell(Notice::looked_at(self.iteration, CheckKind::Protected, "files", problem))];
        if !checking.violations.is_empty() && !std::mem::replace(&mut self.way_out_told, true) {
            // For people: what the agent has to do stands in its next prompt.
            let text = "if such a file is the work itself, begin a run with protect.scripts false, or protect.onChange \
                        restore or allow";
            effects.push(Effect::Tell(Notice::Note { text: text.to_owned() }));
        }
        effects
    }

    /// Why a guardrail is not executed: the agent wrote the script by which it would be judged.
    pub(super) fn changed_script(&self, checking: &Checking, spec: &CheckSpec) -> Option<String> {
        let pins = self.pins();
        let is_script = |change: &&PinnedChange| {
            pins.files.iter().any(|file| file.path == change.path && file.scripts_of.contains(&spec.index))
        };
        let change = checking.violations.iter().find(is_script)?;
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
