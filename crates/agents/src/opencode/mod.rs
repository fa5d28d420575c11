//! opencode: its command line. [`reader`] reads its stream.
//!
//! Measured with 1.18.33. With a prompt among the arguments it waits for standard input to end as
//! well, so the prompt goes in there.

mod reader;

use crate::advice::Help;
use crate::command::{Arguments, arguments, value_of};
use crate::dialect::{CommandLine, Dialect, Reader};
use crate::login::{Login, PROVIDERS, Unseen, file};
use crate::stream::{Speaker, StreamReader};
use ralph_core::policy::AgentPolicy;
use reader::Steps;

/// The dialect of opencode.
pub(crate) struct Opencode;

/// How to get it and how to log in.
const HELP: Help = Help { install: "install it with `npm install -g opencode-ai`", login: LOGIN.how };

/// How to tell from outside whether it is logged in and new enough.
const LOGIN: Login = Login {
    measured: "1.18",
    variables: PROVIDERS,
    files: &[file("XDG_DATA_HOME", ".local/share", "opencode/auth.json")],
    unseen: Unseen::Anywhere,
    how: "run `opencode auth login`, or export the key of your provider",
};

const FORMAT: &[&str] = &["--format"];

impl Dialect for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn command(&self, agent: &AgentPolicy) -> CommandLine {
        let mut args = Arguments::of(agent);
        args.verb(&["run"]);
        args.option(FORMAT, if agent.stream { "json" } else { "default" });
        // Without it, a question is answered with no, the run stops there, and the exit code is 0.
        args.flag(&["--auto"]);
        args.setting(&["-m", "--model"], &agent.model);
        // The program must not change between two iterations.
        args.command(agent, &[("OPENCODE_DISABLE_AUTOUPDATE", "1")])
    }

    fn prints_stream(&self, agent: &AgentPolicy) -> bool {
        value_of(&arguments(&agent.flags), FORMAT).map_or(agent.stream, |format| format == "json")
    }

    fn stream(&self, help: Help) -> Option<Box<dyn Reader>> {
        Some(Box::new(StreamReader::new(Speaker { dialect: self.name(), help }, Steps::new(help))))
    }

    fn help(&self) -> Help {
        HELP
    }

    fn login(&self) -> Option<&'static Login> {
        Some(&LOGIN)
    }

    fn session_markers(&self) -> &'static [&'static str] {
        &["OPENCODE", "OPENCODE_PID", "OPENCODE_CLIENT"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;

    #[test]
    fn flags_are_those_of_unattended_use_and_none_is_doubled() {
        for (flags, model, stream, args) in [
            (&[][..], "", true, "run --format json --auto"),
            (&["run", "--auto", "--agent plan"], "a/b", false, "run --format default -m a/b --auto --agent plan"),
            (&["--format=default", "-m x/y"], "", true, "run --auto --format=default -m x/y"),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), stream, ..agent("opencode", flags) };
            assert_eq!(Opencode.command(&agent).args.join(" "), args);
        }
        assert!(!Opencode.prints_stream(&agent("opencode", &["--format=default"])));
    }
}
