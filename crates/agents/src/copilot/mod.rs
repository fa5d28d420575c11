//! GitHub Copilot CLI, measured with 1.0.102: its command line. [`reader`] reads its stream.

mod reader;

use crate::advice::Help;
use crate::command::{Arguments, delivery};
use crate::dialect::{Asked, CommandLine, Delivery, Dialect, Prints};
use crate::login::{Login, Unseen};
use crate::stream;
use ralph_core::policy::AgentPolicy;
use reader::Events;

const FORMAT: &[&str] = &["--output-format"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "copilot",
    help: Help {
        install: "install it with `npm install -g @github/copilot`",
        login: "run `copilot` once and type /login, or export COPILOT_GITHUB_TOKEN",
    },
    login: Some(Login {
        measured: "1.0",
        variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"],
        files: &[],
        unseen: Unseen::Anywhere,
    }),
    session_markers: &["COPILOT_CLI"],
    command,
    prints: Prints::Stream {
        asked_by: Asked::Value(FORMAT, &["json"]),
        read: |help| stream::reader::<Events>("copilot", help),
    },
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    if agent.stream {
        args.option(FORMAT, "json");
    }
    args.flag(&["--allow-all", "--yolo", "--allow-all-tools", "--allow-tool"]);
    args.setting(&["--model"], &agent.model);
    if delivery(agent) != Delivery::Stdin {
        args.last("-p");
    }
    // The program must not change between two iterations.
    args.command(agent, &[("COPILOT_AUTO_UPDATE", "false")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;
    use ralph_core::policy::PromptVia;

    #[test]
    fn flags_are_those_of_unattended_use_and_none_is_doubled() {
        for (flags, model, via, args) in [
            (&[][..], "", PromptVia::Auto, "--output-format json --allow-all"),
            (&["--yolo"], "gpt-5", PromptVia::Arg, "--output-format json --model gpt-5 --yolo -p"),
            (
                &["--model a", "--allow-tool=shell", "--output-format text"],
                "b",
                PromptVia::Auto,
                "--model b --allow-tool=shell --output-format text",
            ),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), prompt_via: via, ..agent("copilot", flags) };
            assert_eq!(DIALECT.command(&agent).args.join(" "), args);
        }
    }
}
