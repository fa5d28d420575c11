//! What a plan cost and how often its stories were sent back: figures that every face shows alike.

use serde::{Deserialize, Serialize};

/// What is known of one story.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoryFigures {
    pub id: String,
    pub title: String,
    /// It passes, and is approved unless reviews are skipped.
    pub done: bool,
    pub reviews: u32,
    /// Reviews that requested changes.
    pub sent_back: u32,
    /// Approved by ralph because the number of reviews reached the cap.
    pub auto_approved: bool,
    pub iterations: u32,
    /// In dollars, if the agents told it.
    pub cost: Option<f64>,
}

/// The figures of a whole plan.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    pub stories: usize,
    pub done: usize,
    pub reviews: u64,
    pub auto_approved: usize,
    /// Stories that were reviewed.
    pub reviewed: usize,
    /// Stories that were sent back at least once.
    pub reworked: usize,
    pub iterations: u64,
    /// The sum of what is known; nothing if no story has a cost.
    pub cost: Option<f64>,
}

impl Totals {
    pub fn of(stories: &[StoryFigures]) -> Totals {
        let mut totals = Totals { stories: stories.len(), ..Totals::default() };
        for story in stories {
            totals.done += usize::from(story.done);
            totals.reviews += u64::from(story.reviews);
            totals.auto_approved += usize::from(story.auto_approved);
            totals.reviewed += usize::from(story.reviews > 0);
            totals.reworked += usize::from(story.sent_back > 0);
            totals.iterations += u64::from(story.iterations);
            totals.cost = match (totals.cost, story.cost) {
                (Some(sum), Some(cost)) => Some(sum + cost),
                (sum, cost) => sum.or(cost),
            };
        }
        totals
    }

    /// How many of a hundred reviewed stories were sent back at least once; nothing if none was reviewed.
    pub fn rework_percent(&self) -> Option<usize> {
        (self.reworked * 100).checked_div(self.reviewed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(reviews: u32, sent_back: u32, cost: Option<f64>) -> StoryFigures {
        StoryFigures { reviews, sent_back, cost, iterations: 2, done: true, ..StoryFigures::default() }
    }

    #[test]
    fn the_rework_rate_counts_stories_that_were_sent_back_among_those_that_were_reviewed() {
        let stories = [story(1, 0, None), story(3, 2, Some(0.5)), story(0, 0, None), story(2, 1, Some(0.25))];
        let totals = Totals::of(&stories);
        assert_eq!((totals.reviews, totals.reviewed, totals.reworked, totals.iterations), (6, 3, 2, 8));
        assert_eq!(totals.rework_percent(), Some(66));
        assert_eq!(totals.cost, Some(0.75));
        assert_eq!(Totals::of(&[story(0, 0, None)]).rework_percent(), None);
        assert_eq!(Totals::of(&[story(0, 0, None)]).cost, None, "unknown is not nothing");
        assert_eq!(Totals::of(&[]).rework_percent(), None);
    }
}
