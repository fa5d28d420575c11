//! Amp: a client of its own server, with a stream like Claude Code's. Its flags were measured, its stream is
//! documented. `-x` must stand last: what follows it is the prompt, and without one the prompt comes from standard
//! input.

use crate::advice::Help;
use crate::claude::flavour::{Flavour, USUAL};
use crate::command::Arguments;
use crate::dialect::{Asked, CommandLine, Dialect, Prints};
use crate::login::{Login, Unseen, file};
use ralph_core::policy::AgentPolicy;

const FLAVOUR: Flavour =
    Flavour { unknown: "amp message type", todo_tools: &["todo_write"], hides_description: true, ..USUAL };

const STREAM: &[&str] = &["--stream-json", "--stream-json-thinking"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "amp",
    help: Help {
        install: "install it with `npm install -g @sourcegraph/amp`",
        login: "run `amp login`, or export AMP_API_KEY",
    },
    login: Some(Login {
        measured: "0.0.1790142911",
        variables: &["AMP_API_KEY"],
        files: &[file("XDG_DATA_HOME", ".local/share", "amp/secrets.json")],
        unseen: Unseen::MacKeychain,
    }),
    session_markers: &["AMP_CURRENT_THREAD_ID", "AGENT_THREAD_ID"],
    command,
    prints: Prints::Stream { asked_by: Asked::Flag(STREAM), read: |help| FLAVOUR.reader("amp", help) },
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    if agent.stream {
        args.flag(STREAM);
    }
    args.flag(&["--dangerously-allow-all"]);
    // It offers no models by name, but modes that choose one.
    args.setting(&["-m", "--mode"], &agent.model);
    args.last("-x");
    args.command(agent, &[("AMP_SKIP_UPDATE_CHECK", "1")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;

    #[test]
    fn flags_are_those_of_unattended_use_and_the_prompt_follows_the_last() {
        for (flags, model, stream, args) in [
            (&[][..], "", true, "--stream-json --dangerously-allow-all -x"),
            (&["--no-ide"], "high", false, "--dangerously-allow-all -m high --no-ide -x"),
            (
                &["--mode low", "--stream-json-thinking"],
                "high",
                true,
                "--dangerously-allow-all -m high --stream-json-thinking -x",
            ),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), stream, ..agent("amp", flags) };
            assert_eq!(DIALECT.command(&agent).args.join(" "), args);
        }
    }
}
