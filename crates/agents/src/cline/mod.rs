//! Cline's command line program, measured with 3.0.65. [`reader`] reads its stream. The prompt follows two dashes, so
//! that it cannot be taken for a flag. It asks for nothing unless it is told to.

mod reader;

use crate::advice::Help;
use crate::command::Arguments;
use crate::dialect::{Asked, CommandLine, Delivery, Dialect, Prints};
use crate::login::{Login, Unseen, file};
use crate::stream;
use ralph_core::policy::AgentPolicy;
use reader::Events;

const STREAM: &[&str] = &["--json"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "cline",
    help: Help { install: "install it with `npm install -g cline`", login: "cline auth" },
    login: Some(Login {
        measured: "3.0",
        variables: &[],
        files: &[file("", ".cline/data", "settings/providers.json"), file("", ".cline/data", "secrets.json")],
        unseen: Unseen::Anywhere,
    }),
    session_markers: &["CLINE_CONNECTOR_CLI_LAUNCH"],
    command,
    prints: Prints::Stream { asked_by: Asked::Flag(STREAM), read: |help| stream::reader::<Events>("cline", help) },
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    if agent.stream {
        args.flag(STREAM);
    }
    args.option(&["--auto-approve"], "true");
    args.setting(&["-m", "--model"], &agent.model);
    args.last("--");
    args.command_by(agent, Delivery::LastArg, &[])
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
            let command = DIALECT.command(&agent);
            assert_eq!((command.args.join(" ").as_str(), command.delivery), (args, Delivery::LastArg));
        }
    }
}
