//! What a process spent, from results that count in different ways: `total_cost_usd` over all results and earlier
//! processes of a resumed session, `usage` for one result, the use by model for this process, which older clients do
//! not state. The usage of single messages is a guess, which counts until a result says better.

use super::line::{Line, Message, ModelUsage, Usage};
use crate::json::Raw;
use crate::usage::{self, Counter, MOST_USD};
use ralph_core::observation::Tokens;

#[derive(Debug, Default)]
pub(super) struct Account {
    input_with_cache: bool,
    /// The largest total seen: money spent does not come back.
    cost: f64,
    /// What the session had cost before this process; known with the first result.
    earlier: Option<f64>,
    tokens: Tokens,
    /// What messages since the last result stated, each once, and the newest of them.
    guessed: Tokens,
    message: String,
}

#[derive(Debug, PartialEq)]
pub(super) struct Spent {
    /// Money of this process so far. What cannot be true is passed on as it stands, to be counted.
    pub(super) cost_usd: Option<f64>,
    pub(super) tokens: Option<Tokens>,
    /// Whether a count of tokens could not be true; it was left out.
    pub(super) suspect: bool,
}

impl Account {
    pub(super) fn new(input_with_cache: bool) -> Account {
        Account { input_with_cache, ..Account::default() }
    }

    /// Takes a message, whose parts repeat its figures; returns the tokens so far if it states any.
    pub(super) fn guess(&mut self, message: &Message<'_>) -> Option<Tokens> {
        let usage = message.usage.0.as_ref()?;
        if message.id.is(&self.message) {
            return None;
        }
        self.message = message.id.text_within(200);
        self.guessed = self.guessed.plus(self.of_result(&mut Counter::default(), usage));
        Some(self.tokens.plus(self.guessed))
    }

    pub(super) fn take(&mut self, line: &Line<'_>) -> Spent {
        let models = &line.model_usage_since_last_result.0;
        let mut counter = Counter::default();
        let by_model = models.iter().fold(Tokens::default(), |sum, usage| sum.plus(self.of_model(&mut counter, usage)));
        let stated = line.usage.0.as_ref().map(|usage| self.of_result(&mut counter, usage));
        let any = stated.is_some() || !models.is_empty();
        let counted = by_model.max(stated.unwrap_or_default());
        let guessed = std::mem::take(&mut self.guessed);
        self.tokens = self.tokens.plus(if counted.total() == 0 { guessed } else { counted });

        Spent {
            cost_usd: self.cost(line.total_cost_usd, models),
            tokens: any.then_some(self.tokens),
            suspect: counter.suspect,
        }
    }

    fn of_result(&self, counter: &mut Counter, usage: &Usage<'_>) -> Tokens {
        let [read, written] = [usage.cache_read_input_tokens, usage.cache_creation_input_tokens];
        self.tokens_of(counter.tokens([usage.input_tokens, usage.output_tokens, read, written]))
    }

    fn of_model(&self, counter: &mut Counter, usage: &ModelUsage<'_>) -> Tokens {
        let [read, written] = [usage.cache_read_input_tokens, usage.cache_creation_input_tokens];
        self.tokens_of(counter.tokens([usage.input_tokens, usage.output_tokens, read, written]))
    }

    fn tokens_of(&self, stated: Tokens) -> Tokens {
        if self.input_with_cache { usage::with_cache_inside(stated) } else { usage::with_cache_beside(stated) }
    }

    fn cost(&mut self, total: Raw<'_>, models: &[ModelUsage<'_>]) -> Option<f64> {
        if total.is_absent() {
            return None;
        }
        let Some(total) = total.number() else { return Some(f64::NAN) };
        if !(0.0..MOST_USD).contains(&total) {
            return Some(total);
        }
        let earlier = *self.earlier.get_or_insert_with(|| {
            let here: f64 = models.iter().filter_map(|usage| usage.cost_usd.number()).sum();
            // Without a figure of this process alone the whole total counts: too much is safe.
            // Sums of decimal fractions differ in their last digits.
            if here > 0.0 && total - here > 1e-9 { total - here } else { 0.0 }
        });
        self.cost = self.cost.max(total - earlier);
        Some(self.cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Loose, read};

    fn take(account: &mut Account, json: &str) -> Spent {
        account.take(&read::<Loose<Line<'_>>>(json).unwrap().0.unwrap())
    }

    #[test]
    fn the_results_of_one_process_add_up() {
        let mut account = Account::default();
        let first = take(&mut account, r#"{"total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":1}}"#);
        let second =
            take(&mut account, r#"{"total_cost_usd":0.03,"usage":{"input_tokens":5,"cache_read_input_tokens":2}}"#);
        let tokens = |input, output, cache_read| Some(Tokens { input, output, cache_read, cache_write: 0 });
        assert_eq!(first, Spent { cost_usd: Some(0.01), tokens: tokens(10, 1, 0), suspect: false });
        assert_eq!(second, Spent { cost_usd: Some(0.03), tokens: tokens(17, 1, 2), suspect: false });
        assert_eq!(take(&mut account, "{}"), Spent { cost_usd: None, tokens: None, suspect: false });
    }

    #[test]
    fn messages_count_once_and_until_the_result_says_better() {
        let mut account = Account::default();
        let guess = |account: &mut Account, id: &str, input: &str| {
            let json = format!(r#"{{"id":"{id}","usage":{{"input_tokens":{input},"output_tokens":1}}}}"#);
            let tokens = account.guess(&read::<Loose<Message<'_>>>(&json).unwrap().0.unwrap());
            tokens.map(|tokens| (tokens.input, tokens.output))
        };
        assert_eq!(guess(&mut account, "a", "10"), Some((10, 1)));
        assert_eq!(guess(&mut account, "a", "10"), None, "another part of the same message");
        assert_eq!(guess(&mut account, "b", "20"), Some((30, 2)));
        let result = take(&mut account, r#"{"usage":{"input_tokens":30,"output_tokens":50}}"#);
        assert_eq!(result.tokens, Some(Tokens { input: 30, output: 50, ..Tokens::default() }));
        assert_eq!(guess(&mut account, "c", "\"x\""), Some((30, 51)), "what is no number is left out");
        assert_eq!(account.guess(&Message::default()), None);
    }

    #[test]
    fn a_resumed_session_costs_only_what_this_process_adds() {
        let mut account = Account::default();
        let models = r#""model_usage_since_last_result":{"m":{"inputTokens":4,"costUSD":0.2}}"#;
        let first = take(&mut account, &format!(r#"{{"total_cost_usd":1.2,{models}}}"#));
        assert!((first.cost_usd.unwrap() - 0.2).abs() < 1e-9);
        let second = take(&mut account, &format!(r#"{{"total_cost_usd":1.4,{models}}}"#));
        assert!((second.cost_usd.unwrap() - 0.4).abs() < 1e-9);
        assert_eq!(second.tokens.unwrap().input, 8);
    }

    #[test]
    fn b13_usage_that_cannot_be_true_is_passed_on_or_left_out() {
        let mut account = Account::default();
        take(&mut account, r#"{"total_cost_usd":0.5,"usage":{"input_tokens":7}}"#);
        for (cost, passed_on) in [
            ("-1", -1.0),
            ("1e999", f64::INFINITY),
            ("2e9", 2e9),
            ("\"0.5\"", f64::NAN),
            ("[]", f64::NAN),
            ("0.1", 0.5),
        ] {
            let spent = take(&mut account, &format!(r#"{{"total_cost_usd":{cost}}}"#)).cost_usd.unwrap();
            assert!(spent == passed_on || (spent.is_nan() && passed_on.is_nan()), "{cost}: {spent}");
        }
        for tokens in ["-1", "1e30", "\"7\"", "true", "{}"] {
            let spent = take(&mut account, &format!(r#"{{"usage":{{"input_tokens":{tokens},"output_tokens":0}}}}"#));
            assert!(spent.suspect && spent.tokens.unwrap().input == 7, "{tokens}");
        }
        assert_eq!(account.take(&Line::default()).cost_usd, None);
    }
}
