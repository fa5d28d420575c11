//! Prompting: reading the inputs, making the prompt, starting the agent. The caps are looked at
//! here, so that no agent ever starts beyond one.

use super::{Continuation, Phase, Run};
use crate::effect::{Effect, Launch, Purpose};
use crate::event::Gathered;
use crate::notice::Notice;
use crate::outcome::StopReason;
use crate::prompt::{self, Ingredients};
use crate::text;

impl Run {
    /// Begins the next iteration, unless a cap forbids it.
    pub(super) fn next_iteration(&mut self) -> Vec<Effect> {
        if self.supervises() {
            return self.look_at_markers();
        }
        // The number is taken only when it is used, so that an end at a cap is the end of the iteration before.
        let next = self.iteration.saturating_add(1);
        if let Some(end) = self.stop_at_cap(next, Continuation::NextIteration) {
            return end;
        }
        if let Some(first) = self.look_first() {
            return first;
        }
        self.iteration = next;
        self.attempt = 1;
        self.gather()
    }

    /// Reads the inputs of the current iteration's prompt, unless a cap forbids it.
    pub(super) fn gather(&mut self) -> Vec<Effect> {
        if let Some(end) = self.stop_at_cap(self.iteration, Continuation::SameIteration) {
            return end;
        }
        self.phase = Phase::Prompting;
        self.iteration_began = self.elapsed;
        let summary = self.judged == 0 && self.policy.memory.enabled;
        vec![Effect::Gather { summary, remember_tree: self.policy.looks_at_the_tree() }]
    }

    /// Ends the run if a cap forbids that an agent starts under this number.
    fn stop_at_cap(&mut self, iteration: u32, continuation: Continuation) -> Option<Vec<Effect>> {
        let (reason, message) = self.cap_reached(iteration)?;
        Some(self.finish(reason, message, continuation))
    }

    fn cap_reached(&self, iteration: u32) -> Option<(StopReason, String)> {
        let limits = &self.policy.limits;
        if iteration > limits.max_iterations {
            let message = format!(
                "{} used up, and the task is not complete",
                text::count(limits.max_iterations.into(), "iteration")
            );
            return Some((StopReason::MaxIterations, message));
        }
        if !limits.wall.is_off() && self.elapsed >= limits.wall {
            return Some((StopReason::MaxWallTime, format!("the wall time of {} is used up", limits.wall)));
        }
        self.budget_reached().map(|message| (StopReason::Budget, message))
    }

    pub(super) fn on_gathered(&mut self, gathered: &Gathered) -> Vec<Effect> {
        if self.phase != Phase::Prompting {
            return Vec::new();
        }
        // Reading took its time too.
        if let Some(end) = self.stop_at_cap(self.iteration, Continuation::SameIteration) {
            return end;
        }
        match &gathered.base {
            Some(Ok(base)) => self.base.clone_from(base),
            Some(Err(problem)) => {
                // Nothing is burnt: the iteration has not begun and will have its number again.
                let problem = problem.clone();
                return self.finish_with_code(
                    StopReason::Error,
                    crate::outcome::exit::USAGE,
                    problem,
                    Continuation::SameIteration,
                );
            }
            None => {}
        }
        if self.judged == 0 && !gathered.summary.is_empty() {
            self.memory.inherit(&gathered.summary);
        }
        self.human.clone_from(&gathered.human);
        self.phase = Phase::Working;
        let mut effects = self.choose_agent();
        let launch = self.launch();
        effects.push(Effect::Tell(Notice::IterationStarted {
            iteration: self.iteration,
            attempt: self.attempt,
            agent: launch.agent.command.clone(),
            prompt: launch.prompt.clone(),
        }));
        effects.extend(self.post_start());
        effects.push(Effect::Launch(Box::new(launch)));
        effects
    }

    fn launch(&self) -> Launch {
        let (purpose, prompt) = match self.policy.supervision {
            Some(_) => (Purpose::Supervised, self.supervised_prompt()),
            None => (Purpose::Work, self.prompt()),
        };
        let limits = &self.policy.limits;
        let (cost_left, tokens_left) = self.budget_left();
        Launch {
            agent: self.agent_now().clone(),
            purpose,
            iteration: self.iteration,
            attempt: self.attempt,
            prompt,
            timeout: limits.iteration,
            idle: limits.idle,
            linger: limits.linger,
            cost_left,
            tokens_left,
        }
    }

    fn prompt(&self) -> String {
        let policy = &self.policy;
        let remembers = policy.memory.enabled;
        let summary = if remembers && !self.memory.is_empty() {
            self.memory.summary(&self.base, policy.memory.max_chars)
        } else {
            String::new()
        };
        prompt::compose(
            policy,
            &Ingredients {
                iteration: self.iteration,
                base: &self.base,
                failures: &self.guardrail_failures,
                summary: &summary,
                feedback: if remembers { &self.feedback } else { "" },
                human: &self.human,
                messages: &self.messages,
                requests: self.inbox.open(),
            },
        )
    }
}
