//! Committing: the last part of checking. All guardrails passed, so the agent is asked for a message
//! and the tasks of version control are executed, on exactly the tree that was checked.
//!
//! Whatever goes wrong here is told and changes no verdict: the work is as good as the checks say. But a run
//! whose last iteration could not be committed ends as an error, and can be resumed for that alone.

use super::checking::{Checking, Stage};
use super::stopping::Ending;
use super::{Continuation, Phase, Run};
use crate::effect::{Effect, Launch, Purpose};
use crate::notice::Notice;
use crate::observation::Observation;
use crate::outcome::{StopReason, exit};
use crate::scm::{self, Pending, ScmReport, ScmSpec};
use crate::text;
use crate::time::Millis;
use crate::verdict::Stability;

/// How the question for a message is called where tasks are shown.
const QUESTION: &str = "commit message";

/// How far version control is.
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// Begins with version control if everything allows it, else judges the iteration.
    pub(super) fn commit_or_conclude(&mut self, mut checking: Box<Checking>) -> Vec<Effect> {
        let allowed = checking.seen.ended_well() && checking.all_passed() && checking.violations.is_empty();
        if !allowed || self.policy.scm.tasks.is_empty() {
            return self.conclude(&checking, Stability::Still);
        }
        if self.policy.scm.commits() && !self.has_committed(&checking.committing) {
            checking.stage = Stage::LookAtPending;
        } else {
            checking.committing.skips_commit = true;
            checking.stage = Stage::Tasks;
        }
        self.go_on_checking(checking)
    }

    pub(super) fn on_scm_looked(&mut self, pending: Pending) -> Vec<Effect> {
        let Some(mut checking) = self.checking_at(Stage::LookAtPending) else { return Vec::new() };
        if self.policy.scm.would_commit(pending) {
            checking.committing.leaves_out = self.policy.scm.leaves_out(pending);
            checking.stage = Stage::Message;
            return self.go_on_checking(checking);
        }
        checking.committing.skips_commit = true;
        checking.stage = Stage::Tasks;
        let why = match pending {
            Pending::Seen { untracked: true, .. } => {
                "nothing to commit but new files; `add -A` before `commit` in scm.tasks would take them in"
            }
            _ => "nothing to commit",
        };
        let mut effects = vec![self.tell_task("commit", Ok(why.to_owned()), None, Millis::ZERO)];
        effects.extend(self.go_on_checking(checking));
        effects
    }

    /// The question to the agent.
    pub(super) fn ask_for_message(&mut self, checking: Box<Checking>) -> Vec<Effect> {
        self.phase = Phase::Checking(checking);
        let limits = &self.policy.limits;
        let (cost_left, tokens_left) = self.budget_left();
        let launch = Launch {
            agent: self.agent_now().clone(),
            purpose: Purpose::CommitMessage,
            iteration: self.iteration,
            attempt: self.attempt,
            prompt: scm::MESSAGE_PROMPT.to_owned(),
            timeout: limits.iteration,
            idle: limits.idle,
            linger: limits.linger,
            cost_left,
            tokens_left,
        };
        let started = Notice::ScmStarted { iteration: self.iteration, task: QUESTION.to_owned() };
        vec![Effect::Tell(started), Effect::Launch(Box::new(launch))]
    }

    /// The agent's answer. Without a message there is no commit, and what follows a commit is left out.
    pub(super) fn on_message(&mut self, mut checking: Box<Checking>, seen: &Observation) -> Vec<Effect> {
        self.add_usage(seen);
        checking.committing_cost(seen);
        if let Some(end) = self.stop_between(&checking) {
            return end;
        }
        let answer = match (&seen.failure, seen.messages.last()) {
            (Some(failure), _) => Err(failure.message.clone()),
            (None, Some(answer)) => scm::message(answer).ok_or_else(|| "the agent gave no message".to_owned()),
            (None, None) => Err("the agent gave no message".to_owned()),
        };
        match answer {
            Ok(message) => {
                checking.committing.message = Some(message);
                checking.stage = Stage::LookAtAsked;
                self.go_on_checking(checking)
            }
            Err(problem) => {
                let problem = format!("{problem}; nothing was committed");
                let mut effects = vec![self.tell_task(QUESTION, Err(problem), None, seen.process.duration)];
                effects.extend(self.conclude(&checking, Stability::Still));
                effects
            }
        }
    }

    fn has_committed(&self, committing: &Committing) -> bool {
        let task = |index: &usize| self.policy.scm.tasks.get(*index);
        committing.done.iter().filter_map(task).any(|task| scm::is_commit(task))
    }

    /// The first task that is left.
    fn task_now(&self, committing: &Committing) -> Option<ScmSpec> {
        let message = committing.message.clone().unwrap_or_default();
        (0..self.policy.scm.tasks.len())
            .filter_map(|index| self.policy.scm.spec(index, &message))
            .find(|spec| !committing.done.contains(&spec.index) && !committing.skips(&spec.task))
    }

    /// Executes the next task that is left, or judges the iteration.
    pub(super) fn next_task(&mut self, checking: Box<Checking>) -> Vec<Effect> {
        match self.task_now(&checking.committing) {
            Some(spec) => {
                self.phase = Phase::Checking(checking);
                let started = Notice::ScmStarted { iteration: self.iteration, task: spec.task.clone() };
                vec![Effect::Tell(started), Effect::Scm(spec)]
            }
            None => self.conclude(&checking, Stability::Still),
        }
    }

    pub(super) fn on_scm_ended(&mut self, report: &ScmReport) -> Vec<Effect> {
        let Some(mut checking) = self.checking_at(Stage::Tasks) else { return Vec::new() };
        if self.task_now(&checking.committing).is_none_or(|spec| spec.index != report.spec.index) {
            return Vec::new();
        }
        let detail = if report.nothing {
            Ok("nothing to commit".to_owned())
        } else if report.ending.passed() {
            let message = scm::is_commit(&report.spec.task).then(|| checking.committing.message.clone()).flatten();
            Ok(message.unwrap_or_default())
        } else {
            let why = report.why();
            let colon = if why.is_empty() { "" } else { ": " };
            let advice = if report.advice.is_empty() { String::new() } else { format!("; {}", report.advice) };
            Err(format!("{}{colon}{}{advice}", report.ending.problem(), text::cut(&why, 300, "...")))
        };
        let mut effects = vec![self.tell_task(&report.spec.task, detail, report.ending.code(), report.duration)];
        if report.ending.passed() && scm::is_commit(&report.spec.task) && checking.committing.leaves_out {
            let text = "new files are not part of the commit, so it is not all that was checked; put `add -A` before \
                        `commit` in scm.tasks";
            effects.push(Effect::Tell(Notice::Note { text: text.to_owned() }));
        }
        // One that failed, or was ended in the middle, is tried again if the run goes on from here.
        if report.went_well() {
            checking.committing.done.push(report.spec.index);
        }
        if let Some(end) = self.stop_between(&checking) {
            effects.extend(end);
            return effects;
        }
        // What follows a failed task was meant for its success: nothing is pushed that was not committed.
        effects.extend(if report.went_well() {
            self.go_on_checking(checking)
        } else {
            self.conclude(&checking, Stability::Still)
        });
        effects
    }

    /// Ends a run whose work is complete but whose version control failed: it can go on with that.
    pub(super) fn end_uncommitted(
        &mut self,
        checking: &Checking,
        work: &str,
        failure: &str,
        verified: bool,
    ) -> Vec<Effect> {
        let mut checking = checking.clone();
        checking.committing.left_over = true;
        let committing = &checking.committing;
        let committed = committing.skips_commit || !self.policy.scm.commits() || self.has_committed(committing);
        let but = if committed { "not all of version control was done" } else { "not committed" };
        let message = format!("the work is {work}, but {but}: {failure}");
        let ending = Ending { reason: StopReason::Error, code: exit::USED_UP, message, verified };
        self.end(ending, Continuation::Checks(Box::new(checking)))
    }

    fn checking_at(&self, stage: Stage) -> Option<Box<Checking>> {
        match &self.phase {
            Phase::Checking(checking) if checking.stage == stage => Some(checking.clone()),
            _ => None,
        }
    }

    fn tell_task(
        &mut self,
        task: &str,
        how: Result<String, String>,
        exit_code: Option<i32>,
        duration: Millis,
    ) -> Effect {
        let passed = how.is_ok();
        // Whoever reads the end in the morning should not have to look for it.
        self.scm_failure =
            how.as_ref().err().map(|why| format!("scm {} in iteration {}: {why}", task.trim(), self.iteration));
        let (Ok(detail) | Err(detail)) = how;
        let task = task.trim().to_owned();
        Effect::Tell(Notice::ScmFinished { iteration: self.iteration, task, passed, detail, exit_code, duration })
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
