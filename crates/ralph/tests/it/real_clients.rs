//! Real agent programs below ralph, with a scripted model server in the provider's place.
//!
//! One module a client. They run last and apart from the others (`cargo xtask test`), because an
//! iteration costs seconds of the client's own; the slow clients are tried by `cargo xtask clients` only.

/// Tests of a client: the trials by their names, each with what it takes beside the client. Those of a `slow` client
/// are left to `cargo xtask clients`.
macro_rules! trials_of {
    (slow $client:ident: $($trial:ident $(($($more:expr),*))?,)*) => {$(
        #[test]
        #[ignore = "slow: cargo xtask clients"]
        fn $trial() {
            trials::$trial($client $(, $($more),*)?);
        }
    )*};
    ($client:ident: $($trial:ident $(($($more:expr),*))?,)*) => {$(
        #[test]
        fn $trial() {
            trials::$trial($client $(, $($more),*)?);
        }
    )*};
}

/// The trials that go the same way with every client.
macro_rules! common_trials_of {
    ($($client:ident)+) => {
        trials_of! {
            $($client)+:
            a_task_with_tools,
            a_claim_in_a_tool_result_is_not_believed,
            a_stream_that_breaks_once,
            a_provider_that_falls_silent,
            an_interrupt_in_the_middle_of_a_tool,
        }
    };
}

/// What OpenAI, or whoever speaks its protocols, may refuse a client.
macro_rules! refusals_by_openai_of {
    ($($client:ident)+) => {
        trials_of! {
            $($client)+:
            a_refused_key(super::openai_refuses_the_key()),
            a_usage_limit(super::openai_limits_until),
            a_limit_without_a_reset(super::openai_limits()),
            an_overloaded_provider(super::openai_is_overloaded()),
        }
    };
}

mod aider;
mod claude;
mod cline;
mod cn;
mod codex;
mod copilot;
mod gemini;
mod grok;
mod kimi;
mod opencode;
mod pi;
mod qwen;
mod trials;

use crate::env;
use jiff::Timestamp;
use ralph_testkit::model_server::{ModelServer, Refusal, Reply};
use ralph_testkit::{Client, Invocation, TestEnv, client};
use serde_json::json;
use std::time::Duration;

const SIGINT: i32 = 2;

/// Clients retry before they give up, and the machine may be busy: hung is what takes longer than this.
const PATIENCE: Duration = Duration::from_secs(120);

/// A project with a real client as its agent, and the provider that the client talks to.
struct Stage {
    env: TestEnv,
    client: Client,
    model: ModelServer,
    variables: Vec<(&'static str, String)>,
}

impl Stage {
    /// `None` where the client is not installed and that is allowed.
    fn new(name: &str, replies: Vec<Reply>) -> Option<Stage> {
        let (env, client, model) = (env(), client(name)?, ModelServer::new(replies));
        env.settings(json!({ "agent": { "command": client.path } }));
        let temporary = env.root().join("tmp");
        std::fs::create_dir(&temporary).unwrap();
        // Clients litter the folder of temporary files.
        let variables = vec![("TMPDIR", temporary.display().to_string())];
        Some(Stage { env, client, model, variables })
    }

    /// Sets a variable for every run.
    fn with(mut self, name: &'static str, value: impl ToString) -> Stage {
        self.variables.push((name, value.to_string()));
        self
    }

    /// A run of ralph, told as JSON lines.
    fn json(&self, arguments: &[&str]) -> Invocation<'_> {
        self.ralph(arguments).arg("--json")
    }

    /// A run of ralph, told as to a person.
    fn ralph(&self, arguments: &[&str]) -> Invocation<'_> {
        let run = self.env.ralph(arguments).time_limit(PATIENCE);
        let run = run.env("PATH", self.client.search_path()).with_model(&self.model);
        self.variables.iter().fold(run, |run, (name, value)| run.env(name, value))
    }

    #[track_caller]
    fn nobody_is_left(&self) {
        assert!(self.env.processes().is_empty(), "{:?}", self.env.processes());
    }
}

/// How OpenAI, and whoever speaks its protocols, refuses a request.
fn openai(status: u16, kind: &str, code: &str, message: &str) -> Refusal {
    let refusal = Reply::refusal(status, json!({ "error": { "message": message, "type": kind, "code": code } }));
    // Some of its clients ask again and again for minutes, but as soon as they are told to.
    refusal.header("retry-after-ms", 10)
}

fn openai_refuses_the_key() -> Refusal {
    openai(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
}

/// In OpenAI's words, which say how long.
fn openai_limits_until(reset: i64) -> Refusal {
    let seconds = reset - Timestamp::now().as_second();
    let wait = format!("{}m{}s", seconds / 60, seconds % 60);
    let message =
        format!("Rate limit reached on requests per day (RPD): Limit 100, Used 100. Please try again in {wait}.");
    openai(429, "requests", "rate_limit_exceeded", &message)
}

fn openai_limits() -> Refusal {
    openai(429, "requests", "rate_limit_exceeded", "Rate limit reached for requests.")
}

fn openai_is_overloaded() -> Refusal {
    openai(503, "server_error", "overloaded", "The server is currently overloaded with other requests.")
}
