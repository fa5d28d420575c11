//! Amp: a client of its own server, with a stream like Claude Code's.
//!
//! Its flags were measured, its stream is that of its documentation. `-x` must stand last: what
//! follows it is the prompt, and without one the prompt comes from standard input.

use crate::advice::Help;
use crate::claude::flavour::Flavour;
use crate::command::{Arguments, arguments};
use crate::complaint::Complaint;
use crate::dialect::{CommandLine, Dialect, Reader};
use crate::login::{Login, Unseen, file};
use ralph_core::policy::AgentPolicy;

/// The dialect of Amp.
pub(crate) struct Amp;

/// How to get it and how to log in.
const HELP: Help = Help { install: "install it with `npm install -g @sourcegraph/amp`", login: LOGIN.how };

/// How to tell from outside whether it is logged in and new enough.
const LOGIN: Login = Login {
    measured: "0.0.1790142911",
    variables: &["AMP_API_KEY"],
    files: &[file("XDG_DATA_HOME", ".local/share", "amp/secrets.json")],
    unseen: Unseen::MacKeychain,
    how: "run `amp login`, or export AMP_API_KEY",
};

const FLAVOUR: Flavour = Flavour {
    dialect: "amp",
    help: HELP,
    unknown: "amp message type",
    todo_tools: &["todo_write"],
    hides_description: true,
    sentence: Complaint::new,
    input_with_cache: false,
};

const STREAM: &[&str] = &["--stream-json", "--stream-json-thinking"];

impl Dialect for Amp {
    fn name(&self) -> &'static str {
        FLAVOUR.dialect
    }

    fn command(&self, agent: &AgentPolicy) -> CommandLine {
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

    fn prints_stream(&self, agent: &AgentPolicy) -> bool {
        agent.stream || arguments(&agent.flags).iter().any(|arg| STREAM.contains(&arg.as_str()))
    }

    fn stream(&self, help: Help) -> Option<Box<dyn Reader>> {
        Some(FLAVOUR.reader(help))
    }

    fn help(&self) -> Help {
        HELP
    }

    fn login(&self) -> Option<&'static Login> {
        Some(&LOGIN)
    }

    fn session_markers(&self) -> &'static [&'static str] {
        &["AMP_CURRENT_THREAD_ID", "AGENT_THREAD_ID"]
    }
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
            assert_eq!(Amp.command(&agent).args.join(" "), args);
        }
    }
}
