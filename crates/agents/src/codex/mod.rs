//! Codex, measured with 0.166.0: its command line. [`reader`] reads its stream, [`limit`] finds when a limit ends. A
//! dash names standard input as the prompt: with one among the arguments it waits for standard input to end as well.

mod limit;
mod line;
mod reader;

use crate::advice::Help;
use crate::command::{Arguments, delivery};
use crate::dialect::{Asked, CommandLine, Delivery, Dialect, Prints};
use crate::login::{Login, Unseen, file};
use crate::stream;
use ralph_core::policy::AgentPolicy;
use reader::Items;

/// The ways to say what it may do by itself; `--full-auto` is one of older versions.
const AUTONOMY: &[&str] =
    &["--dangerously-bypass-approvals-and-sandbox", "--yolo", "-s", "--sandbox", "--approve-for-me", "--full-auto"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "codex",
    help: Help {
        install: "install it with `npm install -g @openai/codex`",
        login: "run `codex login`, or export CODEX_API_KEY",
    },
    login: Some(Login {
        measured: "0.166",
        variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        files: &[file("CODEX_HOME", ".codex", "auth.json")],
        // `cli_auth_credentials_store` can name the system's keyring.
        unseen: Unseen::Anywhere,
    }),
    // The variables about its sandbox stay: what runs inside is inside, whoever started it.
    session_markers: &["CODEX_THREAD_ID", "CODEX_CI"],
    command,
    prints: Prints::Stream { asked_by: Asked::Flag(&["--json"]), read: |help| stream::reader::<Items>("codex", help) },
};

fn command(agent: &AgentPolicy) -> CommandLine {
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
        args.set(&["-c"], "features.plugins=false");
    }
    args.setting(&["-m", "--model"], &agent.model);
    if delivery(agent) == Delivery::Stdin {
        args.last("-");
    }
    args.command(agent, &[])
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
            assert_eq!(DIALECT.command(&agent).args.join(" "), args);
        }
        let agent = AgentPolicy { prompt_via: PromptVia::Arg, ..agent("codex", &[]) };
        assert_eq!(DIALECT.command(&agent).args.join(" "), format!("exec --json {OWN}"));
    }
}
