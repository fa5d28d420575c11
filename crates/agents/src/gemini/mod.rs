//! Gemini CLI: its command line. [`reader`] reads its stream.
//!
//! Measured with 0.61.0. A prompt on standard input needs no flag.

mod reader;

use crate::command::{Arguments, arguments, delivery, value_of};
use crate::dialect::{CommandLine, Delivery, Dialect, Reader};
use crate::stream::{Speaker, StreamReader};
use ralph_core::policy::AgentPolicy;
use reader::Deltas;

/// The dialect of Gemini CLI.
pub(crate) struct Gemini;

/// How to get it and log in.
const HINT: &str = "install it with `npm install -g @google/gemini-cli`, then run `gemini` once and log in";

const FORMAT: &[&str] = &["-o", "--output-format"];

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn command(&self, agent: &AgentPolicy) -> CommandLine {
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

    fn prints_stream(&self, agent: &AgentPolicy) -> bool {
        value_of(&arguments(&agent.flags), FORMAT).map_or(agent.stream, |format| format == "stream-json")
    }

    fn stream(&self, hint: &'static str) -> Option<Box<dyn Reader>> {
        Some(Box::new(StreamReader::new(Speaker { dialect: self.name(), hint }, Deltas::new(hint))))
    }

    fn hint(&self) -> &'static str {
        HINT
    }

    fn session_markers(&self) -> &'static [&'static str] {
        &["GEMINI_CLI"]
    }
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
            assert_eq!(Gemini.command(&agent).args.join(" "), args);
        }
        assert!(!Gemini.prints_stream(&agent("gemini", &["-o json"])));
    }
}
