//! What ralph itself does to a plan, outside an agent's turn.

use super::document::quoted;
use super::judge::without_prefix;
use super::story::{FEEDBACK, PASSES, STATUS};
use super::{Plan, ReviewStatus, Rules, StoryId};

impl Plan {
    /// Takes an approval back because verify commands are red: the story is reworked with `red` as feedback, above
    /// what the reviewer wrote. `None` if there is no such story.
    pub fn withdraw(&self, story: &StoryId, red: &str) -> Option<Plan> {
        let (_, told) = without_prefix(&self.story(story.as_str())?.feedback);
        let feedback = if told.trim().is_empty() { red.to_owned() } else { format!("{red}\n\n{told}") };
        let status = quoted(ReviewStatus::ChangesRequested.as_str());
        let fields = vec![(STATUS, status), (PASSES, "false".to_owned()), (FEEDBACK, quoted(&feedback))];
        self.with(&[(story.as_str(), fields)])
    }

    /// Under skip-review: a story does not pass while verify commands are red. `None` if there is no such story.
    pub fn reopen(&self, story: &StoryId) -> Option<Plan> {
        self.with(&[(story.as_str(), vec![(PASSES, "false".to_owned())])])
    }

    /// The plan under other rules than before: where reviews count again, stories that pass unapproved, or are
    /// approved and do not pass, await one. Returns which.
    pub fn under(&self, rules: Rules) -> (Plan, Vec<StoryId>) {
        let unapproved = |story: &&super::Story| !rules.skip_review && story.passes != story.is_approved();
        let stories: Vec<_> = self.stories().iter().filter(unapproved).map(|story| story.id.clone()).collect();
        let status = quoted(ReviewStatus::NeedsReview.as_str());
        let fields = || vec![(STATUS, status.clone()), (PASSES, "false".to_owned()), (FEEDBACK, quoted(""))];
        let edits: Vec<_> = stories.iter().map(|id| (id.as_str(), fields())).collect();
        match self.with(&edits) {
            Some(plan) if !stories.is_empty() => (plan, stories),
            _ => (self.clone(), Vec::new()),
        }
    }
}
