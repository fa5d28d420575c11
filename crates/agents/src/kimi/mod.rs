//! Kimi Code: its command line. [`reader`] reads its stream.
//!
//! Measured with 2.1.0. With `-p` it never asks, and refuses the flags that say so. It takes the prompt only as the
//! value of `-p`, which must therefore stand last.

mod reader;

use crate::advice::Help;
use crate::command::{Arguments, arguments, value_of};
use crate::dialect::{CommandLine, Delivery, Dialect, Reader};
use crate::login::{Login, Unseen, file};
use crate::stream::{Speaker, StreamReader};
use ralph_core::policy::AgentPolicy;
use reader::Messages;

/// The dialect of Kimi Code.
pub(crate) struct Kimi;

/// How to get it and how to log in.
const HELP: Help = Help { install: "install it with `npm install -g @moonshot-ai/kimi-code`", login: LOGIN.how };

/// How to tell from outside whether it is logged in and new enough.
const LOGIN: Login = Login {
    measured: "2.1",
    variables: &["KIMI_MODEL_API_KEY", "KIMI_API_KEY"],
    files: &[file("KIMI_CODE_HOME", ".kimi-code", "config.toml")],
    unseen: Unseen::Anywhere,
    how: "kimi login",
};

const FORMAT: &[&str] = &["--output-format"];

impl Dialect for Kimi {
    fn name(&self) -> &'static str {
        "kimi"
    }

    fn command(&self, agent: &AgentPolicy) -> CommandLine {
        let mut args = Arguments::of(agent);
        args.option(FORMAT, if agent.stream { "stream-json" } else { "text" });
        args.setting(&["-m", "--model"], &agent.model);
        args.last("-p");
        // The program must not change between two iterations.
        args.command_by(agent, Delivery::LastArg, &[("KIMI_CODE_NO_AUTO_UPDATE", "1")])
    }

    fn prints_stream(&self, agent: &AgentPolicy) -> bool {
        value_of(&arguments(&agent.flags), FORMAT).map_or(agent.stream, |format| format == "stream-json")
    }

    fn stream(&self, help: Help) -> Option<Box<dyn Reader>> {
        Some(Box::new(StreamReader::new(Speaker { dialect: self.name(), help }, Messages::new(help))))
    }

    fn help(&self) -> Help {
        HELP
    }

    fn login(&self) -> Option<&'static Login> {
        Some(&LOGIN)
    }
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
            let command = Kimi.command(&agent);
            assert_eq!((command.args.join(" ").as_str(), command.delivery), (args, Delivery::LastArg));
        }
    }
}
