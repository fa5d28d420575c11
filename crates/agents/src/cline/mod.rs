//! Cline's command line program: how it is started. [`reader`] reads its stream.
//!
//! Measured with 3.0.65. The prompt is its argument; without the two dashes one that begins with a dash would be taken
//! for a flag. It asks for nothing unless it is told to.

mod reader;

use crate::advice::Help;
use crate::command::{Arguments, arguments};
use crate::dialect::{CommandLine, Delivery, Dialect, Reader};
use crate::login::{Login, Unseen, file};
use crate::stream::{Speaker, StreamReader};
use ralph_core::policy::AgentPolicy;
use reader::Events;

/// The dialect of Cline.
pub(crate) struct Cline;

/// How to get it and how to log in.
const HELP: Help = Help { install: "install it with `npm install -g cline`", login: LOGIN.how };

/// How to tell from outside whether it is logged in and new enough.
const LOGIN: Login = Login {
    measured: "3.0",
    variables: &[],
    files: &[file("", ".cline/data", "settings/providers.json"), file("", ".cline/data", "secrets.json")],
    unseen: Unseen::Anywhere,
    how: "cline auth",
};

const STREAM: &str = "--json";

impl Dialect for Cline {
    fn name(&self) -> &'static str {
        "cline"
    }

    fn command(&self, agent: &AgentPolicy) -> CommandLine {
        let mut args = Arguments::of(agent);
        if agent.stream {
            args.flag(&[STREAM]);
        }
        args.option(&["--auto-approve"], "true");
        args.setting(&["-m", "--model"], &agent.model);
        args.last("--");
        args.command_by(agent, Delivery::LastArg, &[])
    }

    fn prints_stream(&self, agent: &AgentPolicy) -> bool {
        agent.stream || arguments(&agent.flags).iter().any(|arg| arg == STREAM)
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
        &["CLINE_CONNECTOR_CLI_LAUNCH"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;

    #[test]
    fn the_prompt_follows_two_dashes_and_no_flag_is_doubled() {
        for (flags, model, stream, args) in [
            (&[][..], "", true, "--json --auto-approve true --"),
            (&["-P openrouter"], "k2", false, "--auto-approve true -m k2 -P openrouter --"),
            (&["--json", "--auto-approve=false", "-m x"], "k2", true, "-m k2 --json --auto-approve=false --"),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), stream, ..agent("cline", flags) };
            let command = Cline.command(&agent);
            assert_eq!((command.args.join(" ").as_str(), command.delivery), (args, Delivery::LastArg));
        }
    }
}
