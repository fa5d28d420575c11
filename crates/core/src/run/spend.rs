//! Money and tokens, of the run and of all runs of its task, against their budgets.

use crate::event::Spent;
use crate::id::TaskName;
use crate::observation::{Observation, Tokens};
use crate::policy::Limits;
use crate::text;
use crate::words::{Budget, Unstated};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// What a run and its task have used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Spend {
    cost_usd: Option<f64>,
    tokens: Tokens,
    /// What other runs of the same task used.
    task: Spent,
    /// It was told that a budget cannot be kept, because the agent does not state what it uses.
    price_missed: bool,
}

impl Spend {
    /// Nothing yet, beside what other runs of the task used.
    pub(super) fn beside(task: Spent) -> Spend {
        Spend { task, ..Spend::default() }
    }

    pub(super) fn others_used(&mut self, task: Spent) {
        self.task = task;
    }

    pub(super) const fn cost_usd(&self) -> Option<f64> {
        self.cost_usd
    }

    pub(super) const fn tokens(&self) -> Tokens {
        self.tokens
    }

    pub(super) fn add(&mut self, seen: &Observation) {
        self.tokens = self.tokens.plus(seen.tokens);
        if let Some(cost) = seen.cost_usd {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost);
        }
    }

    fn of_run(&self) -> (f64, u64) {
        (self.cost_usd.unwrap_or(0.0), self.tokens.total())
    }

    fn of_task(&self) -> (f64, u64) {
        let (cost, tokens) = self.of_run();
        (self.task.cost_usd + cost, self.task.tokens.saturating_add(tokens))
    }

    /// Which budget is used up.
    pub(super) fn used_up(&self, limits: &Limits, task: &TaskName) -> Option<Budget> {
        let ((cost, tokens), (task_cost, task_tokens)) = (self.of_run(), self.of_task());
        let task = || task.clone();
        if limits.max_cost_usd > 0.0 && cost >= limits.max_cost_usd {
            return Some(Budget::Cost { limit: limits.max_cost_usd, spent: cost });
        }
        if limits.max_tokens > 0 && tokens >= limits.max_tokens {
            return Some(Budget::Tokens { limit: limits.max_tokens, spent: tokens });
        }
        if limits.task_cost_usd > 0.0 && task_cost >= limits.task_cost_usd {
            return Some(Budget::TaskCost { task: task(), limit: limits.task_cost_usd, spent: task_cost });
        }
        (limits.task_tokens > 0 && task_tokens >= limits.task_tokens).then(|| Budget::TaskTokens {
            task: task(),
            limit: limits.task_tokens,
            spent: task_tokens,
        })
    }

    /// Whether it is the task's budget that is used up, which no flag of `resume` raises.
    pub(super) fn task_used_up(&self, limits: &Limits) -> bool {
        let (cost, tokens) = self.of_task();
        (limits.task_cost_usd > 0.0 && cost >= limits.task_cost_usd)
            || (limits.task_tokens > 0 && tokens >= limits.task_tokens)
    }

    /// Money and tokens that an agent may use until the nearest budget; zero where there is none.
    pub(super) fn left(&self, limits: &Limits) -> (f64, u64) {
        let ((cost, tokens), (task_cost, task_tokens)) = (self.of_run(), self.of_task());
        let of_run = (limits.max_cost_usd > 0.0).then_some(limits.max_cost_usd - cost);
        let of_task = (limits.task_cost_usd > 0.0).then_some(limits.task_cost_usd - task_cost);
        let cost_left = of_run.into_iter().chain(of_task).reduce(f64::min).unwrap_or(0.0);
        let of_run = (limits.max_tokens > 0).then(|| limits.max_tokens.saturating_sub(tokens));
        let of_task = (limits.task_tokens > 0).then(|| limits.task_tokens.saturating_sub(task_tokens));
        (cost_left, of_run.into_iter().chain(of_task).min().unwrap_or(0))
    }

    /// The flags that raise the budgets that are used up.
    pub(super) fn raised(&self, limits: &Limits) -> String {
        let (cost, tokens) = self.of_run();
        let mut flags = String::new();
        if limits.max_cost_usd > 0.0 && cost >= limits.max_cost_usd {
            let _ = write!(flags, " --max-cost {}", text::money(cost * 2.0));
        }
        if limits.max_tokens > 0 && tokens >= limits.max_tokens {
            let _ = write!(flags, " --max-tokens {}", tokens.saturating_mul(2));
        }
        flags
    }

    /// What an agent does not state that a budget needs, once.
    pub(super) fn missing_price(&mut self, seen: &Observation, limits: &Limits) -> Option<Unstated> {
        if !seen.ended_well() || self.price_missed {
            return None;
        }
        let no_price = seen.cost_usd.is_none() && (limits.max_cost_usd > 0.0 || limits.task_cost_usd > 0.0);
        let no_tokens = seen.tokens.total() == 0;
        let missing = match (no_price, no_tokens) {
            (true, false) => Unstated::Price,
            (true, true) => Unstated::Both,
            (false, true) if limits.max_tokens > 0 || limits.task_tokens > 0 => Unstated::Tokens,
            (false, _) => return None,
        };
        self.price_missed = true;
        Some(missing)
    }
}
