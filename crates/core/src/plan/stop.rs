//! The stop hook: the same law as after the iteration, told to the agent while it can still act on it. It is never
//! the gate.

use super::judge::{Decision, judge};
use super::story::{STATUS, Story};
use super::words::{Problem, Rule, Violation, joined};
use super::{Mode, Plan, ReviewStatus, Rules, Seen, StoryId, Turn};

/// What a hook knows.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub file: Seen<'a>,
    /// The plan before the iteration, and the iteration; absent if nobody recorded them.
    pub turn: Option<(&'a Plan, Mode, &'a StoryId)>,
    pub rules: Rules,
    /// Files with uncommitted changes; empty too where git cannot tell.
    pub uncommitted: &'a [String],
}

/// Why an agent may not stop yet; `None` if it may.
pub fn reason(asked: &Asked<'_>) -> Option<String> {
    let sentences = match Plan::seen(asked.file) {
        Err(problems) => problems.iter().map(Problem::words).collect(),
        Ok(plan) => broken(asked, &plan),
    };
    if !sentences.is_empty() {
        return Some(joined(&sentences));
    }
    (!asked.uncommitted.is_empty()).then(|| uncommitted(asked.uncommitted))
}

fn broken(asked: &Asked<'_>, plan: &Plan) -> Vec<String> {
    let known = asked.turn.map(|(before, ..)| before);
    let mut sentences: Vec<_> = plan.broken_invariants(asked.rules, known).iter().map(Problem::words).collect();
    let Some((before, mode, story)) = asked.turn else { return sentences };
    let turn = Turn { mode, story: story.clone(), ended_well: true };
    let judged = judge(before, asked.file, &turn, asked.rules);
    let submitted = submitted(before, plan);
    // One sentence for several submissions says more than one for each.
    let several = mode == Mode::Implement && !asked.rules.skip_review && submitted.len() > 1;
    if several {
        sentences.push(format!(
            "Implement iterations may submit at most one story for review. Found {} stories transitioning \
             reviewStatus null -> 'needs_review'.",
            submitted.len()
        ));
    }
    let told = |violation: &&Violation| {
        let is_submission = violation.change.field == STATUS
            && matches!(violation.rule, Rule::ReviewField { .. })
            && submitted.iter().any(|id| violation.change.story.as_deref() == Some(id.as_str()));
        !(several && is_submission)
    };
    sentences.extend(judged.violations.iter().filter(told).map(Violation::words));
    if mode == Mode::Review && judged.decision == Decision::None && sentences.is_empty() {
        sentences.push(undecided(story));
    }
    sentences
}

/// Stories that were not begun and now await review.
fn submitted<'p>(before: &Plan, plan: &'p Plan) -> Vec<&'p StoryId> {
    let awaits = |story: &&Story| story.status == Some(ReviewStatus::NeedsReview);
    let not_begun = |story: &&Story| before.story(story.id.as_str()).is_some_and(|was| was.status.is_none());
    plan.stories().iter().filter(awaits).filter(not_begun).map(|story| &story.id).collect()
}

fn undecided(story: &StoryId) -> String {
    format!(
        "This iteration reviews story {story} and has decided nothing. Add 1 to reviewCount, and set either \
         reviewStatus 'approved' with passes=true, or reviewStatus 'changes_requested' with a reviewFeedback that says \
         what must be changed."
    )
}

fn uncommitted(files: &[String]) -> String {
    format!(
        "There are uncommitted changes{}. Before you stop: (1) add to progress.txt what was accomplished and what was \
         learned; (2) consider whether a lasting pattern belongs in CLAUDE.md or .claude/rules/; (3) commit ALL changes, \
         including progress.txt and tasks.json.",
        crate::words::named(files)
    )
}
