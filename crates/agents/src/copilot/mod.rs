//! GitHub Copilot CLI: its command line. [`reader`] reads its stream.
//!
//! Measured with 1.0.102. A prompt on standard input needs no flag.

mod reader;

use crate::advice::Help;
use crate::command::{Arguments, arguments, delivery, value_of};
use crate::dialect::{CommandLine, Delivery, Dialect, Reader};
use crate::login::{Login, Unseen};
use crate::stream::{Speaker, StreamReader};
use ralph_core::policy::AgentPolicy;
use reader::Events;

/// The dialect of GitHub Copilot CLI.
pub(crate) struct Copilot;

/// How to get it and how to log in.
const HELP: Help = Help { install: "install it with `npm install -g @github/copilot`", login: LOGIN.how };

/// How to tell from outside whether it is logged in and new enough.
const LOGIN: Login = Login {
    measured: "1.0",
    variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"],
    files: &[],
    unseen: Unseen::Anywhere,
    how: "run `copilot` once and type /login, or export COPILOT_GITHUB_TOKEN",
};

const FORMAT: &[&str] = &["--output-format"];

impl Dialect for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn command(&self, agent: &AgentPolicy) -> CommandLine {
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

    fn prints_stream(&self, agent: &AgentPolicy) -> bool {
        value_of(&arguments(&agent.flags), FORMAT).map_or(agent.stream, |format| format == "json")
    }

    fn stream(&self, help: Help) -> Option<Box<dyn Reader>> {
        Some(Box::new(StreamReader::new(Speaker { dialect: self.name(), help }, Events::new(help))))
    }

    fn help(&self) -> Help {
        HELP
    }

    fn login(&self) -> Option<&'static Login> {
        Some(&LOGIN)
    }

    fn session_markers(&self) -> &'static [&'static str] {
        &["COPILOT_CLI"]
    }
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
            assert_eq!(Copilot.command(&agent).args.join(" "), args);
        }
    }
}
