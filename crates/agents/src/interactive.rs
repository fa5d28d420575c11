//! Agents on a person's terminal: how a conversation is begun with a first message. Nothing here is for unattended use.

use crate::command::Arguments;
use crate::dialect::{CommandLine, Delivery, for_agent};
use ralph_core::policy::AgentPolicy;

/// How one program is told its first message.
struct Talk {
    dialect: &'static str,
    /// The flag before the message; none if it is the last argument.
    message: Option<&'static str>,
    model: &'static [&'static str],
    /// What people have among their flags for unattended use, and what would end the conversation before it begins.
    headless: &'static [&'static str],
}

const MODEL: &[&str] = &["-m", "--model"];

/// Programs of which more is known than that they take a message as their last argument.
const TALKS: &[Talk] = &[
    Talk { dialect: "claude", message: None, model: &["--model"], headless: &["-p", "--print", "--verbose"] },
    Talk { dialect: "codex", message: None, model: MODEL, headless: &["exec", "e", "--json"] },
    Talk { dialect: "gemini", message: Some("-i"), model: MODEL, headless: &["-p", "--prompt"] },
    Talk { dialect: "qwen", message: Some("-i"), model: MODEL, headless: &["-p", "--prompt"] },
    Talk { dialect: "copilot", message: Some("-i"), model: &["--model"], headless: &["-p", "--prompt"] },
    Talk { dialect: "opencode", message: Some("--prompt"), model: MODEL, headless: &["run"] },
    Talk { dialect: "pi", message: None, model: &["--model"], headless: &["-p", "--print"] },
    Talk { dialect: "cursor-agent", message: None, model: MODEL, headless: &["-p", "--print"] },
    Talk { dialect: "cn", message: None, model: &["--model"], headless: &["-p", "--print"] },
    Talk { dialect: "grok", message: None, model: MODEL, headless: &["-p"] },
    Talk { dialect: "kimi", message: None, model: MODEL, headless: &["-p", "--print"] },
    Talk { dialect: "cline", message: None, model: MODEL, headless: &["--json"] },
];

/// The command line that begins a conversation with this message. Everything is in it; standard input is the person's.
pub fn interactive(agent: &AgentPolicy, message: &str) -> CommandLine {
    let name = for_agent(agent).name;
    let talk = TALKS.iter().find(|talk| talk.dialect == name);
    let mut args = Arguments::of(agent);
    if let Some(talk) = talk {
        args.drop_flags(talk.headless);
        args.setting(talk.model, &agent.model);
        talk.message.into_iter().for_each(|flag| args.last(flag));
    }
    args.last(message);
    args.command_by(agent, Delivery::LastArg, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;

    #[test]
    fn a_conversation_begins_with_the_message_and_asks_for_no_stream() {
        for (program, flags, model, args) in [
            ("claude", &["-p", "--verbose", "--settings x"][..], "opus", "--model opus --settings x Plan it"),
            ("/opt/codex", &["exec", "--json"], "", "Plan it"),
            ("gemini", &[], "pro", "-m pro -i Plan it"),
            ("opencode", &["run"], "", "--prompt Plan it"),
            ("my-agent", &["--quiet"], "m", "--quiet Plan it"),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), ..agent(program, flags) };
            let line = interactive(&agent, "Plan it");
            assert_eq!((line.program.as_str(), line.args.join(" ").as_str()), (program, args));
            assert!(line.env_remove.iter().any(|name| name == "CLAUDECODE"));
        }
    }
}
