//! opencode, measured with 1.18.33: its command line. [`reader`] reads its stream. The prompt goes in by standard
//! input, for whose end it waits anyway.

mod reader;

use crate::advice::Help;
use crate::command::Arguments;
use crate::dialect::{Asked, CommandLine, Dialect, Prints};
use crate::login::{Login, PROVIDERS, Unseen, file};
use crate::stream;
use ralph_core::policy::AgentPolicy;
use reader::Steps;

const FORMAT: &[&str] = &["--format"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "opencode",
    help: Help {
        install: "install it with `npm install -g opencode-ai`",
        login: "run `opencode auth login`, or export the key of your provider",
    },
    login: Some(Login {
        measured: "1.18",
        variables: PROVIDERS,
        files: &[file("XDG_DATA_HOME", ".local/share", "opencode/auth.json")],
        unseen: Unseen::Anywhere,
    }),
    session_markers: &["OPENCODE", "OPENCODE_PID", "OPENCODE_CLIENT"],
    command,
    prints: Prints::Stream {
        asked_by: Asked::Value(FORMAT, &["json"]),
        read: |help| stream::reader::<Steps>("opencode", help),
    },
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    args.verb(&["run"]);
    args.option(FORMAT, if agent.stream { "json" } else { "default" });
    // Without it, a question is answered with no, the run stops there, and the exit code is 0.
    args.flag(&["--auto"]);
    args.setting(&["-m", "--model"], &agent.model);
    // The program must not change between two iterations.
    args.command(agent, &[("OPENCODE_DISABLE_AUTOUPDATE", "1")])
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
            assert_eq!(DIALECT.command(&agent).args.join(" "), args);
        }
        assert!(!DIALECT.prints_stream(&agent("opencode", &["--format=default"])));
    }
}
