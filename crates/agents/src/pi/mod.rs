//! pi, measured with 0.73.1: its command line. [`reader`] reads its stream. It needs no flag to act without asking.

mod reader;

use crate::advice::Help;
use crate::command::{Arguments, value_of};
use crate::dialect::{Asked, CommandLine, Dialect, Prints};
use crate::login::{Login, PROVIDERS, Unseen, file};
use crate::stream;
use ralph_core::policy::AgentPolicy;
use reader::Turns;

const FORMAT: &[&str] = &["--mode"];
const PROVIDER: &[&str] = &["--provider"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "pi",
    help: Help {
        install: "install it with `npm install -g @mariozechner/pi-coding-agent`",
        login: "run `pi` once and type /login, or export the key of your provider",
    },
    login: Some(Login {
        measured: "0.73",
        variables: PROVIDERS,
        files: &[file("PI_CODING_AGENT_DIR", ".pi/agent", "auth.json")],
        // Its `models.json` can name providers that need no key.
        unseen: Unseen::Anywhere,
    }),
    session_markers: &["PI_CODING_AGENT"],
    command,
    prints: Prints::Stream {
        asked_by: Asked::Value(FORMAT, &["json"]),
        read: |help| stream::reader::<Turns>("pi", help),
    },
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    args.flag(&["-p", "--print"]);
    args.option(FORMAT, if agent.stream { "json" } else { "text" });
    match agent.model.split_once('/').filter(|_| value_of(args.users(), PROVIDER).is_none()) {
        Some((provider, model)) => {
            args.setting(PROVIDER, provider);
            args.setting(&["--model"], model);
        }
        None => args.setting(&["--model"], &agent.model),
    }
    args.command(agent, &[("PI_SKIP_VERSION_CHECK", "1")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;

    #[test]
    fn flags_are_those_of_unattended_use_and_none_is_doubled() {
        for (flags, model, stream, args) in [
            (&[][..], "", true, "-p --mode json"),
            (&[], "sonnet", false, "-p --mode text --model sonnet"),
            (&["--model x"], "openrouter/a/b", true, "-p --mode json --provider openrouter --model a/b"),
            (&["--provider openrouter"], "a/b", true, "-p --mode json --model a/b --provider openrouter"),
            (&["--print", "--mode=text"], "", true, "--print --mode=text"),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), stream, ..agent("pi", flags) };
            assert_eq!(DIALECT.command(&agent).args.join(" "), args);
        }
    }
}
