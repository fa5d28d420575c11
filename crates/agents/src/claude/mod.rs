//! Claude Code: its command line. [`reader`] reads its stream, in the shapes of [`line`].
//!
//! Measured with 2.1.325 and 2.1.197. The prompt goes in by standard input, which has no length
//! limit and cannot be taken for a flag.

mod account;
mod line;
mod reader;
mod tool;
mod trouble;
mod turn;

use crate::command::{arguments, delivery, environment, holds, value_of, without};
use crate::dialect::{CommandLine, Delivery, Dialect, Reader};
use crate::generic::TextReader;
use ralph_core::policy::AgentPolicy;
use reader::StreamReader;

/// The dialect of Claude Code.
pub(crate) struct Claude;

/// How to get it and log in.
const HINT: &str = "install it with `npm install -g @anthropic-ai/claude-code`, then run `claude` once and log in";

/// What unattended use needs; the user's own values win.
const ENVIRONMENT: &[(&str, &str)] = &[
    // A command left in the background keeps the process alive after its result.
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    // The program must not change between two iterations.
    ("DISABLE_AUTOUPDATER", "1"),
    // Without it root is refused the right to act without asking, and containers are root.
    ("IS_SANDBOX", "1"),
];

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn command(&self, agent: &AgentPolicy) -> CommandLine {
        let mut users = arguments(&agent.flags);
        let mut args = Vec::new();
        if !holds(&users, &["-p", "--print"]) {
            args.push("-p");
        }
        if !holds(&users, &["--output-format"]) {
            args.extend(["--output-format", if agent.stream { "stream-json" } else { "text" }]);
        }
        // The stream is refused without it; with the other formats it would change their shape.
        if prints_stream(agent, &users) && !holds(&users, &["--verbose"]) {
            args.push("--verbose");
        }
        if !holds(&users, &["--dangerously-skip-permissions", "--permission-mode"]) {
            args.push("--dangerously-skip-permissions");
        }
        if !agent.model.is_empty() {
            // The named setting is a later word than one among the flags: it can come from the command line.
            users = without(users, "--model");
            args.extend(["--model", &agent.model]);
        }
        let (env, env_remove) = environment(agent, ENVIRONMENT);
        CommandLine {
            program: agent.command.clone(),
            args: args.into_iter().map(str::to_owned).chain(users).collect(),
            env,
            env_remove,
            delivery: delivery(agent, Delivery::Stdin),
        }
    }

    fn reader(&self, agent: &AgentPolicy, prompt: &str) -> Box<dyn Reader> {
        let users = arguments(&agent.flags);
        match value_of(&users, "--output-format") {
            // One object, or with --verbose an array of the whole stream.
            Some("json") => Box::new(StreamReader::default()),
            _ if prints_stream(agent, &users) => Box::new(StreamReader::default()),
            _ => Box::new(TextReader::new(prompt, HINT)),
        }
    }

    fn hint(&self) -> &'static str {
        HINT
    }

    fn session_markers(&self) -> &'static [&'static str] {
        // With the first, a nested start is refused since 2.1.39.
        &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"]
    }
}

fn prints_stream(agent: &AgentPolicy, users: &[String]) -> bool {
    value_of(users, "--output-format").map_or(agent.stream, |format| format == "stream-json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::LineKind;
    use crate::dialect::tests::agent;

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
            let command = Claude.command(&agent);
            assert_eq!(command.args.join(" "), args);
            assert_eq!((command.program.as_str(), command.delivery), ("/opt/claude", Delivery::Stdin));
        }
    }

    #[test]
    fn the_environment_is_set_by_default_only() {
        let mut agent = agent("claude", &[]);
        agent.env.insert("IS_SANDBOX".to_owned(), "0".to_owned());
        agent.env_remove.push("DISABLE_AUTOUPDATER".to_owned());
        let command = Claude.command(&agent);
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
            assert_eq!(Claude.reader(&agent, "").line(b"plain text", &mut Vec::new()), kind, "{flags:?}");
        }
    }
}
