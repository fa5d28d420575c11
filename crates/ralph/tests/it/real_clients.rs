//! Real agent programs below ralph, with a scripted model server in the provider's place.
//!
//! One module a client. They run last and apart from the others (`cargo xtask test`), because an
//! iteration costs seconds of the client's own; the slow clients are tried by `cargo xtask clients` only.

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
        self.ralph(arguments).arg("--json").stdout_any()
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

/// How OpenAI, and whoever speaks its protocols, refuses a key.
fn openai_refuses_the_key() -> Refusal {
    let error =
        json!({ "message": "Incorrect API key provided.", "type": "invalid_request_error", "code": "invalid_api_key" });
    Reply::refusal(401, json!({ "error": error }))
}
