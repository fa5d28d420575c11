//! Kimi Code, measured with 2.1.0: its command line. [`reader`] reads its stream. It takes the prompt only as the value
//! of `-p`, which must stand last; with it it never asks, and refuses the flags that say so.

mod reader;

use crate::advice::Help;
use crate::command::Arguments;
use crate::dialect::{Asked, CommandLine, Delivery, Dialect, Prints};
use crate::login::{Login, Unseen, file};
use crate::stream;
use ralph_core::policy::AgentPolicy;
use reader::Messages;

const FORMAT: &[&str] = &["--output-format"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "kimi",
    help: Help { install: "install it with `npm install -g @moonshot-ai/kimi-code`", login: "kimi login" },
    login: Some(Login {
        measured: "2.1",
        variables: &["KIMI_MODEL_API_KEY", "KIMI_API_KEY"],
        files: &[file("KIMI_CODE_HOME", ".kimi-code", "config.toml")],
        unseen: Unseen::Anywhere,
    }),
    session_markers: &[],
    command,
    prints: Prints::Stream {
        asked_by: Asked::Value(FORMAT, &["stream-json"]),
        read: |help| stream::reader::<Messages>("kimi", help),
    },
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    args.option(FORMAT, if agent.stream { "stream-json" } else { "text" });
    args.setting(&["-m", "--model"], &agent.model);
    args.last("-p");
    // The program must not change between two iterations.
    args.command_by(agent, Delivery::LastArg, &[("KIMI_CODE_NO_AUTO_UPDATE", "1")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;

    #[test]
    fn the_prompt_follows_the_last_flag_and_none_is_doubled() {
        for (flags, model, stream, args) in [
            (&[][..], "", true, "--output-format stream-json -p"),
            (&["--add-dir ../x"], "k2", false, "--output-format text -m k2 --add-dir ../x -p"),
            (&["--model=other", "--output-format text"], "k2", true, "-m k2 --output-format text -p"),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), stream, ..agent("kimi", flags) };
            let command = DIALECT.command(&agent);
            assert_eq!((command.args.join(" ").as_str(), command.delivery), (args, Delivery::LastArg));
        }
    }
}
