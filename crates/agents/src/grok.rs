//! Grok Build: the wire format of Anthropic's messages, in a stream like Claude Code's.
//!
//! Measured with 1.0.41. It does not read standard input, but takes the prompt from a file, which standard input is as
//! well. What a tool printed is an object in a string, with the exit code of a command. A command that takes longer
//! than a quarter of a minute goes on in the background, and sub-agents speak with the main agent's voice.

use crate::advice::Help;
use crate::claude::flavour::{Flavour, USUAL};
use crate::claude::line::Block;
use crate::command::{Arguments, delivery};
use crate::complaint::{Complaint, ErrorObject};
use crate::dialect::{Asked, CommandLine, Delivery, Dialect, Prints, Told};
use crate::json::{List, Loose, Raw, fields, read};
use crate::login::{Login, Unseen, file};
use crate::todo::{self, Todo};
use crate::tool::{self, Went};
use ralph_core::agent_event::AgentEvent;
use ralph_core::policy::AgentPolicy;

const FLAVOUR: Flavour = Flavour {
    unknown: "grok message type",
    sentence: |sentence| Complaint::new(&bare(sentence)),
    sub_agents: &["spawn_subagent", "workflow"],
    cost_may_be_unknown: true,
    tool_ended,
    ..USUAL
};

const FORMAT: &[&str] = &["--output-format"];
const STREAM: &str = "streaming-messages-json";

pub(crate) const DIALECT: Dialect = Dialect {
    name: "grok",
    help: Help { install: "install it with `npm install -g @xai-official/grok`", login: "grok login" },
    login: Some(Login {
        measured: "1.0",
        variables: &["XAI_API_KEY", "GROK_CODE_XAI_API_KEY", "GROK_AUTH_PROVIDER_COMMAND", "GROK_DEPLOYMENT_KEY"],
        files: &[file("GROK_HOME", ".grok", "auth.json")],
        // Its `config.toml` can name models with keys of their own.
        unseen: Unseen::Anywhere,
    }),
    session_markers: &["GROK_AGENT", "GROK_SESSION_ID"],
    command,
    prints: Prints::Stream { asked_by: Asked::Value(FORMAT, &[STREAM]), read: |help| FLAVOUR.reader("grok", help) },
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    args.option(FORMAT, if agent.stream { STREAM } else { "plain" });
    args.flag(&["--always-approve", "--yolo", "--permission-mode"]);
    args.setting(&["-m", "--model"], &agent.model);
    match delivery(agent) {
        Delivery::Stdin => {
            args.last("--prompt-file");
            args.last("/dev/stdin");
        }
        Delivery::File => args.last("--prompt-file"),
        Delivery::LastArg => args.last("-p"),
    }
    // The program must not change between two iterations, and nobody reads a line for a dashboard, for which it asks
    // the model once more.
    args.command(agent, &[("GROK_DISABLE_AUTOUPDATER", "1"), ("GROK_TURN_SUMMARY", "false")])
}

fields! {
    /// What a tool came to. Each kind of tool has its own fields.
    struct Output<'a> {
        kind = "type", exit_code, timed_out, output_for_prompt, text, summary,
        /// Bytes of a command, words of a sub-agent.
        output,
        file: Loose<File<'a>> = "FileContent",
        edits: Loose<File<'a>> = "EditsApplied",
        todos: Loose<Todos<'a>> = "TodosUpdated",
        missing = "FileNotFound",
    }

    struct File<'a> {
        content, tool_output_for_prompt,
    }

    struct Todos<'a> {
        summary_for_prompt,
        todos: List<Todo<'a>>,
    }
}

fn tool_ended(block: &Block<'_>, out: &mut Told) {
    let (id, content) = (block.tool_use_id.text(), block.content.text());
    let Some(Loose(Some(output))) = read::<Loose<Output<'_>>>(&content) else {
        return out.tool_ended(id, block.content, Went::badly_if(block.is_error.is_true()));
    };
    if output.kind.is("BackgroundTaskStarted") {
        // It has not ended, so nothing is known about how it went.
        return out.push(AgentEvent::Progress { text: output.summary.text_within(500) });
    }
    out.extend(output.todos.0.as_ref().and_then(|list| todo::event(&list.todos)));
    let code = tool::exit_code(output.exit_code).filter(|_| output.kind.is("Bash"));
    let failed = block.is_error.is_true() || output.timed_out.is_true();
    let went = code.filter(|code| *code != 0 || !failed).map_or(Went::badly_if(failed), Went::Exited);
    out.tool_ended(id, printed(&output).unwrap_or(block.content), went);
}

fn printed<'a>(output: &Output<'a>) -> Option<Raw<'a>> {
    let of_file = |file: &Loose<File<'a>>| file.0.as_ref().map(|file| [file.content, file.tool_output_for_prompt]);
    let files = [of_file(&output.file), of_file(&output.edits)].into_iter().flatten().flatten();
    let todos = output.todos.0.as_ref().map(|list| list.summary_for_prompt);
    let plain = [output.output_for_prompt, output.text, output.output, output.missing, output.summary];
    plain.into_iter().chain(files).chain(todos).find(|said| said.json().starts_with(b"\""))
}

/// The sentence of an error without what the client wraps around it: `Internal error: {"message":"…","http_status":403}`.
/// What follows an empty line is about the client's settings.
fn bare(sentence: &str) -> String {
    let inner = sentence.strip_prefix("Internal error: ").unwrap_or(sentence);
    let Loose(object): Loose<ErrorObject<'_>> = read(inner).unwrap_or_default();
    let quoted: Option<Raw<'_>> = read(inner);
    let plain = object.map(|error| error.message).or(quoted).map(Raw::text).filter(|text| !text.is_empty());
    let plain = plain.unwrap_or_else(|| inner.to_owned());
    plain.split("\n\n").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;
    use ralph_core::observation::FailureClass;
    use ralph_core::policy::PromptVia;

    #[test]
    fn flags_are_those_of_unattended_use_and_the_prompt_follows_the_last() {
        let stdin = "--prompt-file /dev/stdin";
        for (flags, model, stream, args) in [
            (&[][..], "", true, "--output-format streaming-messages-json --always-approve"),
            (&["--yolo", "-m other"], "grok-4", false, "--output-format plain -m grok-4 --yolo"),
            (
                &["--output-format=json", "--permission-mode plan"],
                "",
                true,
                "--output-format=json --permission-mode plan",
            ),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), stream, ..agent("grok", flags) };
            assert_eq!(DIALECT.command(&agent).args.join(" "), format!("{args} {stdin}"));
        }
        for (prompt_via, last) in [(PromptVia::File, "--prompt-file"), (PromptVia::Arg, "-p")] {
            let agent = AgentPolicy { prompt_via, ..agent("grok", &[]) };
            assert_eq!(DIALECT.command(&agent).args.last().map(String::as_str), Some(last));
        }
    }

    #[test]
    fn an_error_is_read_without_its_wrapping() {
        use FailureClass::{CannotRun, Limited, Other};
        for (sentence, plain, class) in [
            (
                r#"Internal error: "Unauthorized (401) from x: no\n\n  Model: y""#,
                "Unauthorized (401) from x: no",
                CannotRun,
            ),
            (
                r#"Internal error: {"message":"API error (status 403 Forbidden): no","http_status":403}"#,
                "API error (status 403 Forbidden): no",
                CannotRun,
            ),
            ("rate_limit_error: Slow down", "rate_limit_error: Slow down", Limited),
            (
                "Not signed in. To authenticate, run:\n  grok login",
                "Not signed in. To authenticate, run:\n  grok login",
                CannotRun,
            ),
            ("Internal error: {}", "{}", Other),
        ] {
            assert_eq!((bare(sentence).as_str(), (FLAVOUR.sentence)(sentence).class()), (plain, class));
        }
    }
}
