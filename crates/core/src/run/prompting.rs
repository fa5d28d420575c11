//! Prompting: reading the inputs, making the prompt, starting the agent. The caps are looked at
//! here, so that no agent ever starts beyond one.

use super::{Continuation, Phase, Run, RunStep};
use crate::activity::{Activity, Gather, Keep, Launch, LaunchLimits, Look, MarkerUse, PromptFile, Role};
use crate::event::Gathered;
use crate::machine::Step;
use crate::notice::Notice;
use crate::policy::PromptSource;
use crate::words::Cause;

impl Run {
    /// Reads the inputs of the current iteration's prompt, unless a cap forbids it.
    pub(super) fn gather(&mut self) -> RunStep {
        if let Some(end) = self.stop_at_cap(self.count.iteration(), Continuation::SameIteration) {
            return end;
        }
        self.phase = Phase::Prompting;
        self.count.begin_clock(self.now.elapsed);
        let policy = &self.policy;
        let wants_summary = self.count.judged() == 0 && policy.memory.enabled;
        let look = || Look { patience: policy.patience_for_memory(), pins: self.pins() };
        Step::start(Activity::Gather(Gather {
            prompt_file: match &policy.prompt {
                PromptSource::Text(_) => None,
                PromptSource::File(path) => Some(path.clone()),
            },
            summary_file: wants_summary.then(|| policy.memory.summary_file.clone()),
            feedback_file: policy.memory.feedback_file.clone(),
            before: self.looks_at_the_tree().then(look),
            keep_tree: self.keeps_tree(),
        }))
    }

    /// Ends the run if a cap forbids that an agent starts under this number.
    pub(super) fn stop_at_cap(&mut self, iteration: u32, continuation: Continuation) -> Option<RunStep> {
        let cause = self.cap_reached(iteration)?;
        Some(self.finish(cause, continuation))
    }

    pub(super) fn cap_reached(&self, iteration: u32) -> Option<Cause> {
        let limits = &self.policy.limits;
        if iteration > limits.max_iterations {
            return Some(Cause::Iterations(limits.max_iterations));
        }
        if !limits.wall.is_off() && self.now.elapsed >= limits.wall {
            return Some(Cause::WallTime(limits.wall));
        }
        self.spend.used_up(limits, &self.policy.task).map(Cause::Budget)
    }

    pub(super) fn on_gathered(&mut self, gathered: &Gathered) -> Option<RunStep> {
        if self.phase != Phase::Prompting {
            return None;
        }
        // Reading took its time too.
        if let Some(end) = self.stop_at_cap(self.count.iteration(), Continuation::SameIteration) {
            return Some(end);
        }
        // A template that is gone is used as it was last.
        if let Some(Err(problem)) = &gathered.base
            && self.plan().is_none()
        {
            // Nothing is burnt: the iteration has not begun and will have its number again.
            return Some(self.finish(Cause::NoPrompt(problem.clone()), Continuation::SameIteration));
        }
        self.brief.gather(&self.policy, gathered, self.count.judged() == 0);
        let noted = self.gather_for_kind(gathered);
        self.phase = Phase::Working;
        self.last.begin();
        let chosen = self.choose_agent();
        let (role, keep, markers) = self.manner();
        let launch = self.launch(role, self.prompt(), keep, markers);
        let told = Notice::IterationStarted {
            iteration: launch.iteration,
            attempt: launch.attempt,
            agent: launch.agent.command.clone(),
            prompt: launch.prompt.clone(),
            turn: self.plan_turn().map(Box::new),
        };
        let told = chosen.then(noted).then(Step::telling([told])).then(Step::acting(self.acts_at_start()));
        Some(told.then(Step::start(Activity::Launch(Box::new(launch)))))
    }

    /// The file that shows a prompt of this iteration, in place of the oldest one that is kept.
    pub(super) fn prompt_file(&self, suffix: &str) -> PromptFile {
        let name = |iteration: u32| format!("prompt_{iteration:03}{suffix}.txt");
        let iteration = self.count.iteration();
        let instead_of = iteration.checked_sub(self.policy.history.prompts).map(name);
        PromptFile { name: name(iteration), instead_of }
    }

    /// An agent process under the run's limits.
    pub(super) fn launch(&self, role: Role, prompt: String, keep: Keep, markers: MarkerUse) -> Launch {
        let limits = &self.policy.limits;
        let (cost_left, tokens_left) = self.spend.left(limits);
        Launch {
            works: role == Role::Worker,
            role,
            agent: self.agent().clone(),
            iteration: self.count.iteration(),
            attempt: self.count.attempt(),
            prompt,
            keep,
            markers,
            hooks: self.hooks_of(role),
            limits: LaunchLimits {
                timeout: limits.iteration,
                idle: limits.idle,
                linger: limits.linger,
                cost_left,
                tokens_left,
            },
        }
    }
}
