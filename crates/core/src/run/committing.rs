//! Committing: the last part of checking. All guardrails passed, so the agent is asked for a message
//! and the tasks of version control are executed, on exactly the tree that was checked.
//!
//! Whatever goes wrong here is told and changes no verdict: the work is as good as the checks say. But a run
//! whose last iteration could not be committed ends as an error, and can be resumed for that alone.

use super::inspecting::{Inspect, Inspection, Moment};
use super::{Continuation, Run, RunStep};
use crate::activity::{Activity, AgentLog, Keep, MarkerUse, Role};
use crate::check::{CheckEnding, CheckReport, CheckSpec};
use crate::machine::Step;
use crate::notice::Notice;
use crate::observation::Observation;
use crate::scm::{self, Pending, ScmReport};
use crate::text;
use crate::time::Millis;
use crate::words::{Cause, Note, named};
use serde::{Deserialize, Serialize};

/// How the question for a message is called where tasks are shown.
const QUESTION: &str = "commit message";
/// How the question whether a commit holds all of the work is called there.
const WHOLE: &str = "whole commit";

/// How far version control is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Committing {
    /// What the commit is called, once the agent has said so.
    message: Option<String>,
    /// Nothing is to be committed, so that task is left out.
    skips_commit: bool,
    /// There are new files that the commit will not hold.
    leaves_out: bool,
    /// The places of tasks that went well, of all rounds: none of them is executed again, not even after a crash.
    done: Vec<usize>,
    /// The iteration was judged complete before, and only its tasks had failed.
    left_over: bool,
}

impl Run {
    /// Begins with version control if everything allows it.
    pub(super) fn begin_commit(&mut self, mut at: Box<Inspection>) -> RunStep {
        let allowed = at.seen.ended_well() && at.nothing_refutes() && at.violations.is_empty();
        if allowed && !self.policy.scm.tasks.is_empty() {
            if self.policy.scm.commits() && !self.has_committed(&at.committing) {
                at.first([Inspect::Pending]);
            } else {
                at.committing.skips_commit = true;
                self.queue_commands(&mut at);
            }
        }
        self.go_on(at)
    }

    pub(super) fn on_scm_looked(&mut self, pending: Pending) -> Option<RunStep> {
        let mut at = self.inspecting(|step| *step == Inspect::Pending)?;
        if self.policy.scm.would_commit(pending) {
            at.committing.leaves_out = self.policy.scm.leaves_out(pending);
            at.first([Inspect::Message]);
            return Some(self.go_on(at));
        }
        at.committing.skips_commit = true;
        self.queue_commands(&mut at);
        let why = match pending {
            Pending::Seen { untracked: true, .. } => {
                "nothing to commit but new files; `add -A` before `commit` in scm.tasks would take them in"
            }
            _ => "nothing to commit",
        };
        let told = self.tell_command("commit", Ok(why.to_owned()), None, Millis::ZERO);
        Some(told.then(self.go_on(at)))
    }

    /// The question to the agent.
    pub(super) fn ask_for_message(&mut self, at: Box<Inspection>) -> RunStep {
        let iteration = self.count.iteration();
        // What is asked for beside the work is answered by the last message alone.
        let prompt_file = Some(self.prompt_file("_commit"));
        let keep = Keep { prompt_file, log: AgentLog::CommitMessage, messages: 1, logs: 0 };
        let launch = self.launch(Role::Scribe, scm::MESSAGE_PROMPT.to_owned(), keep, MarkerUse::Ignored);
        let started = Notice::ScmStarted { iteration, task: QUESTION.to_owned() };
        Step::telling([started]).then(self.inspect_by(at, Activity::Launch(Box::new(launch))))
    }

    /// The agent's answer. Without a message there is no commit, and what follows a commit is left out.
    pub(super) fn on_message(&mut self, mut at: Box<Inspection>, seen: &Observation) -> RunStep {
        self.spend.add(seen);
        at.add_cost(seen);
        if let Some(end) = self.stop_between(&at) {
            return end;
        }
        let answer = match (&seen.failure, seen.messages.last()) {
            (Some(failure), _) => Err(failure.message.clone()),
            (None, Some(answer)) => scm::message(answer).ok_or_else(|| "the agent gave no message".to_owned()),
            (None, None) => Err("the agent gave no message".to_owned()),
        };
        match answer {
            Ok(message) => {
                at.committing.message = Some(message);
                self.queue_commands(&mut at);
                at.first([Inspect::Look(Moment::AfterMessage)]);
                self.go_on(at)
            }
            Err(problem) => {
                let problem = format!("{problem}; nothing was committed");
                at.forget_the_rest();
                self.tell_command(QUESTION, Err(problem), None, seen.process.duration).then(self.go_on(at))
            }
        }
    }

    fn has_committed(&self, committing: &Committing) -> bool {
        let task = |index: &usize| self.policy.scm.tasks.get(*index);
        committing.done.iter().filter_map(task).any(|task| scm::is_commit(task))
    }

    /// Executes every command that is left. What a commit leaves out is looked for right behind it, before anything is
    /// pushed: also where nothing had to be committed any more, because the agent did that itself.
    fn queue_commands(&self, at: &mut Inspection) {
        let committing = &at.committing;
        let message = committing.message.clone().unwrap_or_default();
        let claims = self.is_said_done(at);
        let on_snapshots = self.integrity.has_snapshots() && !self.policy.verify.clean_checkout;
        let looks = claims && on_snapshots && self.pins().began.is_some();
        let mut left = Vec::new();
        for spec in (0..self.policy.scm.tasks.len()).filter_map(|index| self.policy.scm.spec(index, &message)) {
            let commits = scm::makes_commit(&spec.task);
            if !committing.done.contains(&spec.index) && !committing.skips(&spec.task) {
                left.push(Inspect::Scm(spec));
            }
            left.extend((looks && commits).then_some(Inspect::LeftOut));
        }
        at.first(left);
    }

    /// What the commit leaves out must not be what the work needs: the checks that speak for it are executed once more on
    /// a snapshot without that.
    pub(super) fn on_left_out_seen(&mut self, paths: &[String], problem: &str) -> Option<RunStep> {
        let mut at = self.inspecting(|step| *step == Inspect::LeftOut)?;
        if !problem.is_empty() {
            let why = format!("what the commit leaves out could not be seen: {problem}");
            return Some(self.commit_is_not_all(at, why, None, Millis::ZERO));
        }
        if paths.is_empty() {
            return Some(self.go_on(at));
        }
        let speak = at.reports.iter().filter(|report| report.supports()).map(|report| &report.spec);
        let checks: Vec<Inspect> = speak
            .map(|spec| {
                let (without, terms) = (paths.to_vec(), spec.terms.without_writing());
                CheckSpec { without, as_committed: true, terms, watched: false, ..spec.clone() }
            })
            .map(|spec| Inspect::CheckWithout(Box::new(spec)))
            .collect();
        if checks.is_empty() {
            return Some(self.go_on(at));
        }
        at.first(checks);
        Some(Run::note(Note::CheckedWithout { files: paths.to_vec() }).then(self.go_on(at)))
    }

    /// A check has run without what the commit leaves out.
    pub(super) fn on_checked_without(&mut self, mut at: Box<Inspection>, report: &CheckReport) -> RunStep {
        if report.ending == CheckEnding::Stopped {
            at.first([Inspect::CheckWithout(Box::new(report.spec.clone()))]);
            return self.stop_between(&at).unwrap_or_else(|| self.go_on(at));
        }
        let told = self.tell_executed(self.count.iteration(), report);
        if report.passed() && report.live.is_empty() {
            return told.then(self.stop_between(&at).unwrap_or_else(|| self.go_on(at)));
        }
        let (check, files) = (report.spec.name(), named(&report.spec.without));
        let why = match report.passed() {
            true => {
                format!("guardrail \"{check}\" could not be tried without what the commit leaves out: {}", report.live)
            }
            false => format!(
                "whoever checks out the commit does not get all that was checked, and guardrail \"{check}\" {} without \
                 it{files}; add what it needs by git add --force, as files of this repository that no attribute \
                 converts, and commit it",
                report.problem()
            ),
        };
        told.then(self.commit_is_not_all(at, why, report.ending.code(), report.duration))
    }

    /// Nothing that was meant for a commit with all of the work follows.
    fn commit_is_not_all(&mut self, mut at: Box<Inspection>, why: String, code: Option<i32>, took: Millis) -> RunStep {
        at.forget_the_rest();
        let told = self.tell_command(WHOLE, Err(why), code, took);
        told.then(self.stop_between(&at).unwrap_or_else(|| self.go_on(at)))
    }

    pub(super) fn on_scm_ended(&mut self, report: &ScmReport) -> Option<RunStep> {
        let mut at = self.inspecting(|step| matches!(step, Inspect::Scm(spec) if spec.index == report.spec.index))?;
        let commits = scm::is_commit(&report.spec.task);
        // What git itself names as new is left out on purpose, and told.
        let hides_work =
            commits && report.ending.succeeded() && !at.committing.leaves_out && !report.left_out.is_empty();
        let detail = if report.nothing {
            Ok("nothing to commit".to_owned())
        } else if !report.uncompared.is_empty() {
            Err(format!("it could not be compared with what was checked: {}", report.uncompared))
        } else if !report.differs.is_empty() {
            let files = named(&report.differs);
            Err(format!(
                "the commit is not what was checked{files}: a hook or filter changed it; look at it by git show"
            ))
        } else if hides_work {
            let files = named(&report.left_out);
            Err(format!("the commit leaves out new work that git was told to ignore{files}: add it by git add --force"))
        } else if report.ending.succeeded() {
            Ok(commits.then(|| at.committing.message.clone()).flatten().unwrap_or_default())
        } else {
            let why = report.why();
            let colon = if why.is_empty() { "" } else { ": " };
            let advice = if report.advice.is_empty() { String::new() } else { format!("; {}", report.advice) };
            Err(format!("{}{colon}{}{advice}", report.ending.failure(), text::cut(&why, 300, "...")))
        };
        let mut told = self.tell_command(&report.spec.task, detail, report.ending.code(), report.duration);
        if report.ending.succeeded() && commits && (at.committing.leaves_out || !report.left_out.is_empty()) {
            told = told.then(Run::note(Note::NewFilesLeftOut { files: report.left_out.clone() }));
        }
        if report.went_well() && !hides_work {
            at.committing.done.push(report.spec.index);
        } else {
            // What follows a failed command was meant for its success: nothing is pushed that was not committed. It
            // is tried again if the run goes on from here.
            at.forget_the_rest();
        }
        Some(told.then(self.stop_between(&at).unwrap_or_else(|| self.go_on(at))))
    }

    /// Ends a run whose work is complete but whose version control failed: it can go on with that.
    pub(super) fn end_uncommitted(&mut self, at: &Inspection, work: Cause, failure: String) -> RunStep {
        let mut at = Box::new(at.clone());
        at.committing.left_over = true;
        let committing = &at.committing;
        let committed = committing.skips_commit || !self.policy.scm.commits() || self.has_committed(committing);
        self.finish(Cause::Uncommitted { work: Box::new(work), committed, failure }, Continuation::Inspection(at))
    }

    fn tell_command(
        &mut self,
        task: &str,
        how: Result<String, String>,
        exit_code: Option<i32>,
        duration: Millis,
    ) -> RunStep {
        let (passed, iteration) = (how.is_ok(), self.count.iteration());
        // Whoever reads the end in the morning should not have to look for it.
        self.scm_failure = how.as_ref().err().map(|why| format!("scm {} in iteration {iteration}: {why}", task.trim()));
        let (Ok(detail) | Err(detail)) = how;
        let task = task.trim().to_owned();
        Step::telling([Notice::ScmFinished { iteration, task, passed, detail, exit_code, duration }])
    }
}

impl Committing {
    /// The same, after a stop or a change of the tree: what was done stays done, the rest begins anew.
    pub(super) fn anew(self) -> Committing {
        Committing { done: self.done, left_over: self.left_over, ..Committing::default() }
    }

    /// Whether the iteration counts already, and is only gone through again for its tasks.
    pub(super) fn is_all_that_was_left(&self) -> bool {
        self.left_over
    }

    fn skips(&self, task: &str) -> bool {
        self.skips_commit && scm::is_commit(task)
    }
}
