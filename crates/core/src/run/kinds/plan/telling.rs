//! What agents, hooks and people are told of the turn that begins.

use super::super::super::{PlanRow, Run, RunStep};
use super::notes;
use crate::activity::Act;
use crate::inbox;
use crate::notice::PlanTurn;
use crate::plan::choice::Budget;
use crate::plan::hooks::HookSnapshot;
use crate::plan::marker::{Isolation, Marker, StoryState};
use crate::plan::template::{self, Composed, Told, Values};
use crate::plan::{self, Content, Mode, ReviewStatus, Story};
use crate::words::Note;

/// The tree of a repository without commits, as git knows it.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/// Characters of a commit's name in a prompt.
const SHORT: usize = 12;

impl Run {
    /// What the iteration that runs is for.
    pub(in super::super::super) fn plan_turn(&self) -> Option<PlanTurn> {
        let (state, policy) = self.of_plan()?;
        let turn = state.turn.as_ref()?;
        let story = turn.before.story(turn.story.as_str());
        Some(PlanTurn {
            mode: (!turn.closes).then_some(turn.mode),
            story: turn.story.clone(),
            title: story.map_or(String::new(), |story| story.title.clone()),
            reviews: story.map_or(0, |story| story.count),
            cap: policy.rules.cap.get(),
        })
    }

    pub(in super::super::super) fn plan_row(&self) -> Option<PlanRow> {
        let (state, policy) = self.of_plan()?;
        let budget = Budget::of(state.plan.as_ref()?, policy.rules);
        let turn = state.turn.as_ref().map(|turn| ((!turn.closes).then_some(turn.mode), turn.story.clone()));
        Some(PlanRow { stories: budget.stories, done: budget.done, turn })
    }

    /// Takes what was read for the prompt: a template that is gone is used as it was last.
    pub(in super::super::super) fn gather_plan(
        &mut self,
        base: Option<&str>,
        tree: Option<&Result<String, String>>,
    ) -> RunStep {
        self.planned(|state| {
            if let Some(base) = base {
                state.template = Some(Content::new(base));
            }
            state.tree = tree.and_then(|tree| tree.as_ref().ok()).cloned().or(state.tree.take());
        });
        let unkept = tree.and_then(|tree| tree.as_ref().err()).map(|why| Note::ReviewUnkept { why: why.clone() });
        let Some(composed) = self.composed() else { return notes(unkept) };
        let dir = self.policy.plan().map_or(String::new(), |plan| plan.dir.clone());
        let unknown = self.planned(|state| {
            let known = std::mem::take(&mut state.told_unknown);
            let new: Vec<String> = composed.unknown.into_iter().filter(|name| !known.contains(name)).collect();
            state.told_unknown = known.into_iter().chain(new.iter().cloned()).collect();
            new
        });
        let unknown = unknown
            .iter()
            .map(|name| Note::PlanTemplate { dir: dir.clone(), problem: template::unknown_variable(name) });
        notes(unkept.into_iter().chain(unknown))
    }

    /// Whether the work tree is kept as it stands: a review changes no code.
    pub(in super::super::super) fn keeps_tree(&self) -> bool {
        self.of_plan()
            .and_then(|(state, _)| state.turn.as_ref())
            .is_some_and(|turn| turn.mode == Mode::Review && !turn.closes)
            && !self.no_repository
    }

    /// The exact prompt of a plan's iteration.
    pub(in super::super::super) fn plan_prompt(&self) -> String {
        let Some((state, _)) = self.of_plan() else { return String::new() };
        let mut text = match &state.turn {
            Some(turn) if turn.closes => template::closing(&state.closing),
            _ => self.composed().map_or(String::new(), |composed| composed.text),
        };
        let human = self.brief.human();
        if !human.is_empty() {
            text.push_str(&format!("\n## From people\n\n{}\n", human.trim_end()));
        }
        if !self.inbox.open().is_empty() {
            text.push_str(&format!("\n{}\n", inbox::section(self.inbox.open()).trim_end()));
        }
        text
    }

    fn composed(&self) -> Option<Composed> {
        let (state, policy) = self.of_plan()?;
        let turn = state.turn.as_ref().filter(|turn| !turn.closes)?;
        let story = turn.before.story(turn.story.as_str())?;
        let range = self.diff_range(story);
        let values = Values {
            iteration: self.count.iteration(),
            max_iterations: self.policy.last_iteration(self.count.iteration()),
            review_cap: policy.rules.cap.get(),
            review_count: story.count,
            skip_review: policy.rules.skip_review,
            diff_range: &range,
        };
        let ran: Vec<template::Ran<'_>> = state
            .ran
            .iter()
            .map(|ran| template::Ran {
                command: &ran.command,
                passed: ran.passed,
                ending: &ran.ending,
                log: &ran.log,
                excerpt: &ran.excerpt,
            })
            .collect();
        let task = match turn.mode {
            Mode::Implement => template::Task::Implement { notes: &story.notes },
            Mode::Review => template::Task::Review,
            Mode::ReviewFix => template::Task::ReviewFix { notes: &story.notes, feedback: &story.feedback },
        };
        let told = Told {
            story: template::Story {
                id: story.id.as_str(),
                title: &story.title,
                description: &story.description,
                criteria: &story.criteria,
            },
            task,
            undone: &state.undone,
            ran: &ran,
        };
        let text = state.template.as_ref().map(Content::text).unwrap_or_default();
        Some(template::compose(&text, &values, &told))
    }

    /// The whole change of a story, as git takes it; empty if nobody knows where it began.
    fn diff_range(&self, story: &Story) -> String {
        let Some((state, _)) = self.of_plan() else { return String::new() };
        match state.bases.get(&story.id).map(String::as_str) {
            None => String::new(),
            Some("") => format!("{EMPTY_TREE}..HEAD"),
            Some(base) => format!("{}..HEAD", base.get(..SHORT).unwrap_or(base)),
        }
    }

    /// What stands in files while an agent works: for prompts and eyes, and for its hooks.
    pub(in super::super::super) fn plan_start(&self) -> Vec<Act> {
        let Some((state, policy)) = self.of_plan() else { return Vec::new() };
        let Some(turn) = &state.turn else { return Vec::new() };
        let before = turn.before.stories().iter().map(|story| {
            let review_status = story.status.map(ReviewStatus::as_str).map(str::to_owned);
            (story.id.to_string(), StoryState { passes: story.passes, review_status, review_count: story.count })
        });
        let marker = Marker {
            timestamp: self.now.at.rfc3339(),
            pid: 0,
            max_iterations: self.policy.last_iteration(self.count.iteration()),
            mode: Isolation::Direct,
            skip_review: policy.rules.skip_review,
            review_cap: policy.rules.cap.get(),
            iteration_mode: turn.mode.to_string(),
            before: before.collect(),
            backend: "none".to_owned(),
            run: self.about.id.to_string(),
            story: turn.story.to_string(),
        };
        let snapshot = HookSnapshot {
            dir: policy.dir.clone(),
            rules: policy.rules,
            turn: plan::Turn { mode: turn.mode, story: turn.story.clone(), ended_well: true },
            tasks: turn.before.text().to_owned(),
            max_stop_blocks: policy.max_stop_blocks,
            context: policy.context.clone(),
            dirty: state.began.clone(),
        };
        vec![Act::WriteActive(Box::new(marker)), Act::WriteHookSnapshot(Box::new(snapshot))]
    }

    /// What the last checks answered, for the next prompt.
    pub(in super::super::super) fn remember_ran(&mut self, reports: &[crate::check::CheckReport]) {
        let ran = reports.iter().map(super::Ran::of).collect();
        self.planned(|state| state.ran = ran);
    }
}
