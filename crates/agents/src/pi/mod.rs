//! pi: its command line. [`reader`] reads its stream.
//!
//! Measured with 0.73.1. It asks for nothing while it works, so it needs no flag for that.

mod reader;

use crate::advice::Help;
use crate::command::{Arguments, arguments, value_of};
use crate::dialect::{CommandLine, Dialect, Reader};
use crate::login::{Login, PROVIDERS, Unseen, file};
use crate::stream::{Speaker, StreamReader};
use ralph_core::policy::AgentPolicy;
use reader::Turns;

/// The dialect of pi.
pub(crate) struct Pi;

/// How to get it and how to log in.
const HELP: Help = Help { install: "install it with `npm install -g @mariozechner/pi-coding-agent`", login: LOGIN.how };

/// How to tell from outside whether it is logged in and new enough.
const LOGIN: Login = Login {
    measured: "0.73",
    variables: PROVIDERS,
    files: &[file("PI_CODING_AGENT_DIR", ".pi/agent", "auth.json")],
    // Its `models.json` can name providers that need no key.
    unseen: Unseen::Anywhere,
    how: "run `pi` once and type /login, or export the key of your provider",
};

const FORMAT: &[&str] = &["--mode"];
const PROVIDER: &[&str] = &["--provider"];

impl Dialect for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn command(&self, agent: &AgentPolicy) -> CommandLine {
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

    fn prints_stream(&self, agent: &AgentPolicy) -> bool {
        value_of(&arguments(&agent.flags), FORMAT).map_or(agent.stream, |mode| mode == "json")
    }

    fn stream(&self, help: Help) -> Option<Box<dyn Reader>> {
        Some(Box::new(StreamReader::new(Speaker { dialect: self.name(), help }, Turns::new(help))))
    }

    fn help(&self) -> Help {
        HELP
    }

    fn login(&self) -> Option<&'static Login> {
        Some(&LOGIN)
    }

    fn session_markers(&self) -> &'static [&'static str] {
        &["PI_CODING_AGENT"]
    }
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
            assert_eq!(Pi.command(&agent).args.join(" "), args);
        }
    }
}
