//! Protecting: what follows when a pinned file is not as it was at the start.

use super::checking::{Checking, Stage};
use super::{Phase, Run};
use crate::check::{CheckKind, CheckSpec};
use crate::effect::Effect;
use crate::notice::Notice;
use crate::protect::{OnChange, PinnedChange};
use crate::text;
use crate::time::Millis;

/// The most changes that one sentence names.
const NAMED: usize = 5;

impl Run {
    /// Takes what a look showed of the pinned files. `Some` if something is done about it first.
    pub(super) fn pinned_seen(
        &mut self,
        checking: &mut Box<Checking>,
        changes: &[PinnedChange],
    ) -> Option<Vec<Effect>> {
        match self.policy.protect.on_change {
            OnChange::Fail => {
                checking.violations = changes.to_vec();
                None
            }
            OnChange::Allow => None,
            OnChange::Restore if changes.is_empty() || checking.restored => {
                // What is still not as it was after it had been put back cannot be put back.
                checking.violations = changes.to_vec();
                None
            }
            OnChange::Restore => {
                checking.restored = true;
                checking.tree = None;
                checking.stage = Stage::Restore;
                let paths = changes.iter().map(|change| change.path.clone()).collect();
                self.phase = Phase::Checking(checking.clone());
                let text = format!("put back as it was at the start: {}", sentence(changes));
                self.undone = Some(sentence(changes));
                Some(vec![Effect::Tell(Notice::Note { text }), Effect::RestorePinned { paths }])
            }
        }
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
    pub(super) fn tell_protected(&mut self, checking: &Checking, changes: &[PinnedChange]) -> Vec<Effect> {
        if self.policy.protect.on_change == OnChange::Allow {
            let told = sentence(changes);
            if changes.is_empty() || self.allowed.as_ref() == Some(&told) {
                return Vec::new();
            }
            let text = format!("protected, and allowed to change: {told}");
            self.allowed = Some(told);
            return vec![Effect::Tell(Notice::Note { text })];
        }
        if checking.violations.is_empty() && self.policy.protect.paths.is_empty() {
            return Vec::new();
        }
        let mut effects = vec![Effect::Tell(Notice::CheckFinished {
            iteration: self.iteration,
            kind: CheckKind::Protected,
            name: "files".to_owned(),
            passed: checking.violations.is_empty(),
            problem: sentence(&checking.violations),
            exit_code: None,
            duration: Millis::ZERO,
            log: None,
            fail_action: None,
            output: String::new(),
        })];
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
        let pinned = self.pinned.as_ref()?;
        let is_script = |change: &&PinnedChange| {
            pinned.iter().any(|file| file.path == change.path && file.scripts_of.contains(&spec.index))
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
