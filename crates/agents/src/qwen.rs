//! Qwen Code, measured with 0.24.4: Gemini CLI's flags, Claude Code's stream, and no money stated.

use crate::advice::Help;
use crate::claude::flavour::{Flavour, USUAL};
use crate::command::Arguments;
use crate::dialect::{Asked, CommandLine, Dialect, Prints};
use crate::login::{Login, Unseen, file};
use ralph_core::policy::AgentPolicy;

const FLAVOUR: Flavour =
    Flavour { unknown: "qwen message type", todo_tools: &["todo_write"], input_with_cache: true, ..USUAL };

const FORMAT: &[&str] = &["-o", "--output-format"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "qwen",
    help: Help {
        install: "install it with `npm install -g @qwen-code/qwen-code`",
        login: "run `qwen` once and log in, or export OPENAI_API_KEY",
    },
    login: Some(Login {
        measured: "0.24",
        variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
        files: &[file("", ".qwen", "oauth_creds.json"), file("", ".qwen", ".env")],
        unseen: Unseen::Anywhere,
    }),
    session_markers: &["QWEN_CODE"],
    command,
    prints: Prints::Stream {
        asked_by: Asked::Value(FORMAT, &["stream-json", "json"]),
        read: |help| FLAVOUR.reader("qwen", help),
    },
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    args.option(FORMAT, if agent.stream { "stream-json" } else { "text" });
    args.flag(&["--yolo", "-y", "--approval-mode"]);
    args.setting(&["-m", "--model"], &agent.model);
    // It says on standard error at every start that nobody watches over it.
    args.command(agent, &[("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;

    #[test]
    fn flags_are_those_of_unattended_use_and_none_is_doubled() {
        for (flags, model, stream, args) in [
            (&[][..], "", true, "-o stream-json --yolo"),
            (&[], "qwen3-coder", false, "-o text --yolo -m qwen3-coder"),
            (&["-m other", "-y"], "qwen3-coder", true, "-o stream-json -m qwen3-coder -y"),
            (&["--output-format json", "--approval-mode=plan"], "", true, "--output-format json --approval-mode=plan"),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), stream, ..agent("qwen", flags) };
            assert_eq!(DIALECT.command(&agent).args.join(" "), args);
            assert_eq!(DIALECT.prints_stream(&agent), stream);
        }
    }
}
