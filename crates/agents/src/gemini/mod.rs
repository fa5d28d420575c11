//! Gemini CLI, measured with 0.61.0: its command line. [`reader`] reads its stream.

mod reader;

use crate::advice::Help;
use crate::command::{Arguments, delivery};
use crate::dialect::{Asked, CommandLine, Delivery, Dialect, Prints};
use crate::login::{Login, Unseen, file};
use crate::stream;
use ralph_core::policy::AgentPolicy;
use reader::Deltas;

const FORMAT: &[&str] = &["-o", "--output-format"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "gemini",
    help: Help {
        install: "install it with `npm install -g @google/gemini-cli`",
        login: "run `gemini` once and log in, or export GEMINI_API_KEY",
    },
    login: Some(Login {
        measured: "0.61",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"],
        files: &[file("", ".gemini", "oauth_creds.json"), file("", ".gemini", ".env")],
        unseen: Unseen::Anywhere,
    }),
    session_markers: &["GEMINI_CLI"],
    command,
    prints: Prints::Stream {
        asked_by: Asked::Value(FORMAT, &["stream-json"]),
        read: |help| stream::reader::<Deltas>("gemini", help),
    },
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    args.option(FORMAT, if agent.stream { "stream-json" } else { "text" });
    args.flag(&["--yolo", "-y", "--approval-mode"]);
    // A folder that nobody has declared as trusted takes away the right to act without asking.
    args.flag(&["--skip-trust"]);
    args.setting(&["-m", "--model"], &agent.model);
    if delivery(agent) != Delivery::Stdin {
        args.last("-p");
    }
    args.command(agent, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;
    use ralph_core::policy::PromptVia;

    #[test]
    fn flags_are_those_of_unattended_use_and_none_is_doubled() {
        for (flags, model, via, args) in [
            (&[][..], "", PromptVia::Auto, "-o stream-json --yolo --skip-trust"),
            (&[], "gemini-2.5-pro", PromptVia::Arg, "-o stream-json --yolo --skip-trust -m gemini-2.5-pro -p"),
            (&["--model=x", "-y", "-o text"], "y", PromptVia::Stdin, "--skip-trust -m y -y -o text"),
            (
                &["--approval-mode auto_edit"],
                "",
                PromptVia::Auto,
                "-o stream-json --skip-trust --approval-mode auto_edit",
            ),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), prompt_via: via, ..agent("gemini", flags) };
            assert_eq!(DIALECT.command(&agent).args.join(" "), args);
        }
        assert!(!DIALECT.prints_stream(&agent("gemini", &["-o json"])));
    }
}
