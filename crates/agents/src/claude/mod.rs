//! Claude Code, measured with 2.1.325 and 2.1.197: its command line. [`messages`] reads its stream. The prompt goes in
//! by standard input, which has no length limit and cannot be taken for a flag.

mod account;
pub(crate) mod flavour;
pub(crate) mod line;
mod messages;
mod tasks;
mod trouble;
mod turn;

use crate::advice::Help;
use crate::command::{Arguments, value_of};
use crate::dialect::{Asked, CommandLine, Dialect, Prints};
use crate::login::{Login, Unseen, file};
use flavour::{Flavour, USUAL};
use ralph_core::policy::AgentPolicy;

/// What unattended use needs; the user's own values win.
const ENVIRONMENT: &[(&str, &str)] = &[
    // A command left in the background keeps the process alive after its result.
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    // The program must not change between two iterations.
    ("DISABLE_AUTOUPDATER", "1"),
    // Without it root is refused the right to act without asking, and containers are root.
    ("IS_SANDBOX", "1"),
];

const FLAVOUR: Flavour = Flavour { todo_tools: &["TodoWrite"], sentence: trouble::known_sentence, ..USUAL };

const FORMAT: &[&str] = &["--output-format"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "claude",
    help: Help {
        install: "install it with `npm install -g @anthropic-ai/claude-code`",
        login: "run `claude` once and log in, or export ANTHROPIC_API_KEY",
    },
    login: Some(Login {
        measured: "2.1",
        variables: &[
            "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
        ],
        files: &[file("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json")],
        unseen: Unseen::MacKeychain,
    }),
    // With the first, a nested start is refused since 2.1.39.
    session_markers: &[
        "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_CHILD_SESSION",
    ],
    command,
    prints: Prints::Stream {
        asked_by: Asked::Value(FORMAT, &["stream-json", "json"]),
        read: |help| FLAVOUR.reader("claude", help),
    },
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    args.flag(&["-p", "--print"]);
    let usual = if agent.stream { "stream-json" } else { "text" };
    args.option(FORMAT, usual);
    // The stream is refused without it; with the other formats it would change their shape.
    if value_of(args.users(), FORMAT).unwrap_or(usual) == "stream-json" {
        args.flag(&["--verbose"]);
    }
    args.flag(&["--dangerously-skip-permissions", "--permission-mode"]);
    args.setting(&["--model"], &agent.model);
    args.command(agent, ENVIRONMENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;
    use crate::dialect::{Delivery, LineKind, Told};

    const STREAM: &str = "-p --output-format stream-json --verbose --dangerously-skip-permissions";

    #[test]
    fn flags_are_those_of_unattended_use_and_none_is_doubled() {
        for (flags, model, stream, args) in [
            (&[][..], "", true, STREAM.to_owned()),
            (&[], "opus", true, format!("{STREAM} --model opus")),
            (&["--model opus", "--no-auto-compact"], "", true, format!("{STREAM} --model opus --no-auto-compact")),
            (&["--model opus", "--debug"], "haiku", true, format!("{STREAM} --model haiku --debug")),
            (&[], "", false, "-p --output-format text --dangerously-skip-permissions".to_owned()),
            (
                &["--print", "--verbose", "--permission-mode", "plan"],
                "",
                true,
                "--output-format stream-json --print --verbose --permission-mode plan".to_owned(),
            ),
            (&["--output-format=json"], "", true, "-p --dangerously-skip-permissions --output-format=json".to_owned()),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), stream, ..agent("/opt/claude", flags) };
            let command = DIALECT.command(&agent);
            assert_eq!(command.args.join(" "), args);
            assert_eq!((command.program.as_str(), command.delivery), ("/opt/claude", Delivery::Stdin));
        }
    }

    #[test]
    fn the_environment_is_set_by_default_only() {
        let mut agent = agent("claude", &[]);
        agent.env.insert("IS_SANDBOX".to_owned(), "0".to_owned());
        agent.env_remove.push("DISABLE_AUTOUPDATER".to_owned());
        let command = DIALECT.command(&agent);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(command.env, [pair("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"), pair("IS_SANDBOX", "0")]);
        assert!(
            ["CLAUDECODE", "DISABLE_AUTOUPDATER"]
                .iter()
                .all(|&name| command.env_remove.iter().any(|gone| gone == name))
        );
    }

    #[test]
    fn the_reader_fits_what_was_asked_for() {
        for (flags, stream, kind) in [
            (&[][..], true, LineKind::Noise),
            (&[], false, LineKind::Event),
            (&["--output-format text"], true, LineKind::Event),
            (&["--output-format json"], true, LineKind::Noise),
            (&["--output-format=stream-json"], false, LineKind::Noise),
        ] {
            let agent = AgentPolicy { stream, ..agent("claude", flags) };
            assert_eq!(DIALECT.reader(&agent, "").line(b"plain text", &mut Told::default()), kind, "{flags:?}");
        }
    }
}
