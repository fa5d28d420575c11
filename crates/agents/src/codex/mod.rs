//! Codex: its command line. [`reader`] reads its stream, [`limit`] finds when a limit ends.
//!
//! Measured with 0.166.0. The prompt goes in by standard input, named by a dash: with a prompt among
//! the arguments the program waits for standard input to end as well.

mod limit;
mod line;
mod reader;

use crate::advice::Help;
use crate::command::{Arguments, arguments, delivery};
use crate::dialect::{CommandLine, Delivery, Dialect, Reader};
use crate::login::{Login, Unseen, file};
use crate::stream::{Speaker, StreamReader};
use ralph_core::policy::AgentPolicy;
use reader::Items;

/// The dialect of Codex.
pub(crate) struct Codex;

/// How to get it and how to log in.
const HELP: Help = Help { install: "install it with `npm install -g @openai/codex`", login: LOGIN.how };

/// How to tell from outside whether it is logged in and new enough.
const LOGIN: Login = Login {
    measured: "0.166",
    variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
    files: &[file("CODEX_HOME", ".codex", "auth.json")],
    // `cli_auth_credentials_store` can name the system's keyring.
    unseen: Unseen::Anywhere,
    how: "run `codex login`, or export CODEX_API_KEY",
};

/// The ways to say what it may do by itself; `--full-auto` is one of older versions.
const AUTONOMY: &[&str] =
    &["--dangerously-bypass-approvals-and-sandbox", "--yolo", "-s", "--sandbox", "--approve-for-me", "--full-auto"];

impl Dialect for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn command(&self, agent: &AgentPolicy) -> CommandLine {
        let mut args = Arguments::of(agent);
        args.verb(&["exec", "e"]);
        if agent.stream {
            args.flag(&["--json", "--experimental-json"]);
        }
        // Without a word on it, the sandbox is read-only and a refused change leaves no trace in the stream.
        args.flag(AUTONOMY);
        args.flag(&["--skip-git-repo-check"]);
        // With plugins, every process waits seconds at its end for an update of their list.
        if !args.users().iter().any(|arg| arg.contains("plugins")) {
            args.config("-c", "features.plugins=false");
        }
        args.setting(&["-m", "--model"], &agent.model);
        if delivery(agent) == Delivery::Stdin {
            args.last("-");
        }
        args.command(agent, &[])
    }

    fn prints_stream(&self, agent: &AgentPolicy) -> bool {
        agent.stream || arguments(&agent.flags).iter().any(|arg| arg == "--json")
    }

    fn stream(&self, help: Help) -> Option<Box<dyn Reader>> {
        Some(Box::new(StreamReader::new(Speaker { dialect: self.name(), help }, Items::new(help))))
    }

    fn help(&self) -> Help {
        HELP
    }

    fn login(&self) -> Option<&'static Login> {
        Some(&LOGIN)
    }

    fn session_markers(&self) -> &'static [&'static str] {
        // The variables about its sandbox stay: what runs inside is inside, whoever started it.
        &["CODEX_THREAD_ID", "CODEX_CI"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;
    use ralph_core::policy::PromptVia;

    const OWN: &str = "--dangerously-bypass-approvals-and-sandbox --skip-git-repo-check -c features.plugins=false";

    #[test]
    fn flags_are_those_of_unattended_use_and_none_is_doubled() {
        for (flags, model, stream, args) in [
            (&[][..], "", true, format!("exec --json {OWN} -")),
            (&[], "gpt-5.5", true, format!("exec --json {OWN} -m gpt-5.5 -")),
            (&["-m o3", "--oss"], "gpt-5.5", false, format!("exec {OWN} -m gpt-5.5 --oss -")),
            (
                &["e", "--json", "-s workspace-write", "--enable plugins"],
                "",
                true,
                "exec --skip-git-repo-check --json -s workspace-write --enable plugins -".to_owned(),
            ),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), stream, ..agent("codex", flags) };
            assert_eq!(Codex.command(&agent).args.join(" "), args);
        }
        let agent = AgentPolicy { prompt_via: PromptVia::Arg, ..agent("codex", &[]) };
        assert_eq!(Codex.command(&agent).args.join(" "), format!("exec --json {OWN}"));
    }
}
