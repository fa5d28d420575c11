//! Qwen Code: a descendant of Gemini CLI by its flags, and of Claude Code by its stream.
//!
//! Measured with 0.24.4. It states no money.

use crate::advice::Help;
use crate::claude::flavour::Flavour;
use crate::command::{Arguments, arguments, value_of};
use crate::complaint::Complaint;
use crate::dialect::{CommandLine, Dialect, Reader};
use crate::login::{Login, Unseen, file};
use ralph_core::policy::AgentPolicy;

/// The dialect of Qwen Code.
pub(crate) struct Qwen;

/// How to get it and how to log in.
const HELP: Help = Help { install: "install it with `npm install -g @qwen-code/qwen-code`", login: LOGIN.how };

/// How to tell from outside whether it is logged in and new enough.
const LOGIN: Login = Login {
    measured: "0.24",
    variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
    files: &[file("", ".qwen", "oauth_creds.json"), file("", ".qwen", ".env")],
    unseen: Unseen::Anywhere,
    how: "run `qwen` once and log in, or export OPENAI_API_KEY",
};

const FLAVOUR: Flavour = Flavour {
    dialect: "qwen",
    help: HELP,
    unknown: "qwen message type",
    todo_tools: &["todo_write"],
    hides_description: false,
    sentence: Complaint::new,
    input_with_cache: true,
};

const FORMAT: &[&str] = &["-o", "--output-format"];

impl Dialect for Qwen {
    fn name(&self) -> &'static str {
        FLAVOUR.dialect
    }

    fn command(&self, agent: &AgentPolicy) -> CommandLine {
        let mut args = Arguments::of(agent);
        args.option(FORMAT, if agent.stream { "stream-json" } else { "text" });
        args.flag(&["--yolo", "-y", "--approval-mode"]);
        args.setting(&["-m", "--model"], &agent.model);
        // It says on standard error at every start that nobody watches over it.
        args.command(agent, &[("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1")])
    }

    fn prints_stream(&self, agent: &AgentPolicy) -> bool {
        value_of(&arguments(&agent.flags), FORMAT).map_or(agent.stream, |format| format.ends_with("json"))
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
        &["QWEN_CODE"]
    }
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
            assert_eq!(Qwen.command(&agent).args.join(" "), args);
            assert_eq!(Qwen.prints_stream(&agent), stream);
        }
    }
}
