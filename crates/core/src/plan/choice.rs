//! What the next iteration does, and how many are needed.

use super::{Mode, Plan, ReviewStatus, Rules, Story, StoryId};
use serde::{Deserialize, Serialize};

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    Work {
        mode: Mode,
        story: StoryId,
    },
    /// Every story is done; whether the plan is complete depends on its verify commands.
    Complete,
    /// There is no story.
    Empty,
    /// Open stories whose dependencies can never be met, each with what it waits for.
    Stuck(Vec<(StoryId, Vec<String>)>),
}

/// Chosen by ralph: findings of a review first, then reviews, then the most urgent story whose dependencies are met;
/// equally urgent ones in the order of the file.
pub fn next(plan: &Plan, rules: Rules) -> Next {
    if plan.stories().is_empty() {
        return Next::Empty;
    }
    let work = |mode, story: &Story| Next::Work { mode, story: story.id.clone() };
    let open = || plan.stories().iter().filter(|story| !story.is_done(rules.skip_review));
    let in_state = |status| most_urgent(open().filter(move |story| story.status == Some(status)));
    if !rules.skip_review {
        if let Some(story) = in_state(ReviewStatus::ChangesRequested) {
            return work(Mode::ReviewFix, story);
        }
        if let Some(story) = in_state(ReviewStatus::NeedsReview) {
            return work(Mode::Review, story);
        }
    }
    let startable = |story: &&Story| rules.skip_review || (story.status.is_none() && !story.passes);
    let ready = open().filter(startable).filter(|story| unmet(plan, story, rules).next().is_none());
    match most_urgent(ready) {
        Some(story) => work(Mode::Implement, story),
        None if open().next().is_none() => Next::Complete,
        None => Next::Stuck(
            open().map(|story| (story.id.clone(), unmet(plan, story, rules).map(str::to_owned).collect())).collect(),
        ),
    }
}

/// Dependencies of a story that are not done.
pub fn unmet<'p>(plan: &'p Plan, story: &'p Story, rules: Rules) -> impl Iterator<Item = &'p str> {
    let done = move |id: &&str| plan.story(id).is_some_and(|needed| needed.is_done(rules.skip_review));
    story.depends_on.iter().map(String::as_str).filter(move |id| !done(id))
}

fn most_urgent<'p>(stories: impl Iterator<Item = &'p Story>) -> Option<&'p Story> {
    stories.min_by(|one, two| one.priority.total_cmp(&two.priority))
}

/// The stories of a plan by state, and what is left to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub stories: usize,
    pub done: usize,
    /// Open stories, by what they wait for.
    pub not_begun: usize,
    pub awaiting_review: usize,
    pub changes_requested: usize,
    /// Iterations that a plan without surprises takes.
    pub needed: usize,
}

impl Budget {
    pub fn of(plan: &Plan, rules: Rules) -> Budget {
        let stories = plan.stories();
        let open = || stories.iter().filter(|story| !story.is_done(rules.skip_review));
        let in_state = |status| open().filter(|story| story.status == Some(status)).count();
        let (awaiting, changes) = (in_state(ReviewStatus::NeedsReview), in_state(ReviewStatus::ChangesRequested));
        let not_begun = open().count() - awaiting - changes;
        // Not begun: implement, review, and as often as not a rework; rework: fix and review.
        let needed = if rules.skip_review { open().count() } else { 3 * not_begun + 2 * changes + awaiting };
        Budget {
            stories: stories.len(),
            done: stories.len() - open().count(),
            not_begun,
            awaiting_review: awaiting,
            changes_requested: changes,
            needed,
        }
    }

    /// The line that a run begins with.
    pub fn start_line(&self, allowed: u32) -> String {
        let Budget { stories, done, needed, .. } = self;
        format!("plan: {stories} stories, {done} done, about {needed} iterations needed ({allowed} allowed)")
    }

    /// Why the run will probably not get to the end.
    pub fn warning(&self, allowed: u32) -> Option<String> {
        (usize::try_from(allowed).unwrap_or(usize::MAX) < self.needed).then(|| {
            let needed = self.needed;
            format!("the plan needs about {needed} iterations and {allowed} are allowed; raise it with -m {needed}")
        })
    }
}
