//! Closing: the run is complete, and only formalities are left: child runs are waited for, the claim is looked at
//! again, and everybody who should know is told, once.

use super::kinds::Children;
use super::{Continuation, Phase, Run, RunStep};
use crate::activity::{Activity, BusName, Leftover, Post};
use crate::bus::{Kind, TASK_BUS};
use crate::machine::Step;
use crate::observation::Markers;
use crate::outcome::Outcome;
use crate::tests_changed::TestsChanged;
use crate::text;
use crate::words::{Cause, Note, listed};
use serde::{Deserialize, Serialize};

/// What still stands between completion and the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Closing {
    /// Child runs are waited for.
    Children,
    /// The claim is looked at again, because waiting took its time.
    Look(Children),
    /// The completion fact is posted.
    Fact(Children),
    /// The end is decided, and it is looked which existing tests changed.
    Tests(Box<Ending>),
}

/// An end that is decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Ending {
    pub(super) outcome: Outcome,
    pub(super) then: Continuation,
    /// What people wrote that is used up with it.
    pub(super) seen_human: String,
}

impl Run {
    /// Begins to close.
    pub(super) fn close(&mut self) -> RunStep {
        self.phase = Phase::Closing(Closing::Children);
        Step::start(Activity::AwaitChildren { span: self.policy.limits.child_wait, then: Leftover::Leave })
    }

    /// No child lives any more, or they were waited for long enough.
    pub(super) fn close_with(&mut self, children: Children) -> RunStep {
        let timed_out = !children.left.is_empty() && self.wish.cause().is_none();
        let warning = timed_out.then(|| {
            let (span, left) = (self.policy.limits.child_wait, listed(&children.left));
            self.post(Kind::WARNING, format!("timeout waiting for children after {span}: {left}"))
        });
        self.phase = Phase::Closing(Closing::Look(children));
        Step::acting(warning).then(Step::start(Activity::LookAtMarkers))
    }

    pub(super) fn looks_while_closing(&self) -> bool {
        matches!(self.phase, Phase::Closing(Closing::Look(_)))
    }

    pub(super) fn close_by_markers(&mut self, markers: &Markers) -> Option<RunStep> {
        let Phase::Closing(Closing::Look(children)) = &self.phase else { return None };
        let children = children.clone();
        let post = |run: &mut Run| run.post_fact(children, &markers.done_stamp);
        Some(self.judge_done(&markers.done, post).unwrap_or_else(|| self.done_taken_back()))
    }

    /// Both buses are told, once, whatever happens in between. The fact belongs to the DONE file: whoever
    /// supervises a task that is done already finds the same file, and the project has heard of it.
    fn post_fact(&mut self, children: Children, done_stamp: &str) -> RunStep {
        let post = |bus, key, kind, body| Post { bus, key, kind, parents: Vec::new(), body };
        let folder = self.policy.supervision().map_or("", |supervision| supervision.task_folder.as_str());
        let posts = vec![
            post(BusName::Task, format!("{} complete", self.about.id), Kind::INFO, children.words()),
            post(BusName::Project, format!("{folder} {done_stamp}"), Kind::FACT, self.completion_fact(&children)),
        ];
        self.phase = Phase::Closing(Closing::Fact(children));
        Step::start(Activity::PostSafely(posts))
    }

    fn completion_fact(&self, children: &Children) -> String {
        let Some(supervision) = self.policy.supervision() else { return String::new() };
        let (id, folder) = (&self.about.id, &supervision.task_folder);
        let mut body = format!(
            "task {} of {} completed\n\nruns: {}\nlast run: {id} (start {})\ntime: {}\nend: {}\n",
            self.policy.task,
            supervision.project,
            self.count.judged(),
            self.count.iteration(),
            self.now.elapsed,
            children.words()
        );
        for fact in self.inbox.facts() {
            body.push_str(&format!("fact: {}\n", text::without_controls(&fact.replace('\n', " "))));
        }
        body.push_str(&format!("\ntask folder: {folder}\nbus: {folder}/{TASK_BUS}\nmore: ralph show {id}"));
        body
    }

    /// Looks which existing tests changed, if they were recorded and an agent has worked since; then the run ends.
    pub(super) fn close_as(&mut self, mut ending: Ending) -> RunStep {
        match self.pins().tests.clone().filter(|_| self.count.iteration() > 0) {
            Some(record) if record.count > 0 => {
                self.phase = Phase::Closing(Closing::Tests(Box::new(ending)));
                Step::start(Activity::CompareTests { record, patience: self.policy.tree_patience() })
            }
            recorded => {
                ending.outcome.tests_changed = recorded.map(|_| TestsChanged::default());
                self.end(ending)
            }
        }
    }

    /// The end that is decided, if only the last look stands before it.
    pub(super) fn ending(&self) -> Option<Ending> {
        match &self.phase {
            Phase::Closing(Closing::Tests(ending)) => Some((**ending).clone()),
            _ => None,
        }
    }

    pub(super) fn on_tests_compared(&mut self, changed: &Result<TestsChanged, String>) -> Option<RunStep> {
        let mut ending = self.ending()?;
        let told = match changed {
            Ok(changed) => {
                ending.outcome.tests_changed = Some(changed.clone());
                Step::default()
            }
            Err(why) => Run::note(Note::TestsUnseen { why: why.clone() }),
        };
        Some(told.then(self.end(ending)))
    }

    pub(super) fn on_posted(&mut self, problem: Option<&str>) -> Option<RunStep> {
        let Phase::Closing(Closing::Fact(children)) = &self.phase else { return None };
        let message = children.words();
        let told = problem.map(|problem| Run::note(Note::FactUnposted { problem: problem.to_owned() }));
        Some(told.unwrap_or_default().then(self.finish(Cause::Done(message), Continuation::Nothing)))
    }
}
