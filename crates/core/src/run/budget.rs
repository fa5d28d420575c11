//! Budgets: money and tokens, of the run and of all runs of its task.

use super::Run;
use crate::effect::Effect;
use crate::notice::Notice;
use crate::observation::Observation;
use crate::text;

impl Run {
    /// Which budget is used up, as a sentence.
    pub(super) fn budget_reached(&self) -> Option<String> {
        let limits = &self.policy.limits;
        let (cost, tokens) = (self.cost_usd.unwrap_or(0.0), self.tokens.total());
        let (task_cost, task_tokens) = (self.task_spent.cost_usd + cost, self.task_spent.tokens.saturating_add(tokens));
        let task = &self.policy.task;
        if limits.max_cost_usd > 0.0 && cost >= limits.max_cost_usd {
            let (budget, cost) = (text::money(limits.max_cost_usd), text::money(cost));
            return Some(format!("the budget of ${budget} is used up (${cost} spent)"));
        }
        if limits.max_tokens > 0 && tokens >= limits.max_tokens {
            return Some(format!("the budget of {} tokens is used up ({tokens} spent)", limits.max_tokens));
        }
        if limits.task_cost_usd > 0.0 && task_cost >= limits.task_cost_usd {
            let (budget, cost) = (text::money(limits.task_cost_usd), text::money(task_cost));
            return Some(format!("the budget of ${budget} for task {task} is used up (${cost} spent by all its runs)"));
        }
        (limits.task_tokens > 0 && task_tokens >= limits.task_tokens).then(|| {
            let budget = limits.task_tokens;
            format!("the budget of {budget} tokens for task {task} is used up ({task_tokens} spent by all its runs)")
        })
    }

    /// Whether it is the task's budget that is used up, which no flag of `resume` raises.
    pub(super) fn task_budget_reached(&self) -> bool {
        let limits = &self.policy.limits;
        let cost = self.task_spent.cost_usd + self.cost_usd.unwrap_or(0.0);
        let tokens = self.task_spent.tokens.saturating_add(self.tokens.total());
        (limits.task_cost_usd > 0.0 && cost >= limits.task_cost_usd)
            || (limits.task_tokens > 0 && tokens >= limits.task_tokens)
    }

    /// Money and tokens that an agent may use until the nearest budget; zero where there is none.
    pub(super) fn budget_left(&self) -> (f64, u64) {
        let limits = &self.policy.limits;
        let (cost, tokens) = (self.cost_usd.unwrap_or(0.0), self.tokens.total());
        let of_run = (limits.max_cost_usd > 0.0).then_some(limits.max_cost_usd - cost);
        let of_task = (limits.task_cost_usd > 0.0).then_some(limits.task_cost_usd - self.task_spent.cost_usd - cost);
        let cost_left = of_run.into_iter().chain(of_task).reduce(f64::min).unwrap_or(0.0);
        let of_run = (limits.max_tokens > 0).then(|| limits.max_tokens.saturating_sub(tokens));
        let of_task = (limits.task_tokens > 0)
            .then(|| limits.task_tokens.saturating_sub(self.task_spent.tokens).saturating_sub(tokens));
        (cost_left, of_run.into_iter().chain(of_task).min().unwrap_or(0))
    }

    /// Says once that a budget cannot be kept with an agent that does not state what it uses.
    pub(super) fn tell_missing_price(&mut self, seen: &Observation) -> Option<Effect> {
        if !seen.ended_well() || self.price_missed {
            return None;
        }
        let limits = &self.policy.limits;
        let no_price = seen.cost_usd.is_none() && (limits.max_cost_usd > 0.0 || limits.task_cost_usd > 0.0);
        let no_tokens = seen.tokens.total() == 0;
        let what = match (no_price, no_tokens) {
            (true, false) => "no price, so the budget of money cannot end this run; --max-tokens can",
            (true, true) => "neither price nor tokens, so no budget can end this run; --max-wall-time can",
            (false, true) if limits.max_tokens > 0 || limits.task_tokens > 0 => {
                "no tokens, so the budget of tokens cannot end this run; --max-wall-time can"
            }
            (false, _) => return None,
        };
        self.price_missed = true;
        let text = format!("{} states {what}", self.agent_now().command);
        Some(Effect::Tell(Notice::Note { text }))
    }
}
