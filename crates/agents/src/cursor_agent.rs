//! Cursor's agent: messages and a result like Claude Code's, and tool calls of its own. Nothing was measured, because
//! no registry has it. It states neither tokens nor money, and after an error it prints no result.

use crate::advice::Help;
use crate::claude::flavour::{Flavour, USUAL};
use crate::claude::line::Line;
use crate::command::Arguments;
use crate::dialect::{Asked, CommandLine, Delivery, Dialect, Prints, Told};
use crate::json::{Loose, Raw, fields, read};
use crate::login::{Login, Unseen, file};
use crate::tool::{self, Input, Went};
use ralph_core::policy::AgentPolicy;

const FLAVOUR: Flavour = Flavour { unknown: "cursor-agent message type", other, ..USUAL };

const FORMAT: &[&str] = &["--output-format"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "cursor-agent",
    help: Help {
        install: "install it with `curl https://cursor.com/install -fsS | bash`",
        login: "cursor-agent login",
    },
    login: Some(Login {
        measured: "2025.8",
        variables: &["CURSOR_API_KEY"],
        files: &[file("XDG_CONFIG_HOME", ".config", "cursor/auth.json")],
        unseen: Unseen::Anywhere,
    }),
    session_markers: &["CURSOR_AGENT"],
    command,
    prints: Prints::Stream {
        asked_by: Asked::Value(FORMAT, &["stream-json", "json"]),
        read: |help| FLAVOUR.reader("cursor-agent", help),
    },
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    args.flag(&["-p", "--print"]);
    args.option(FORMAT, if agent.stream { "stream-json" } else { "text" });
    args.flag(&["--force", "-f", "--yolo", "--mode", "--plan"]);
    args.setting(&["--model", "-m"], &agent.model);
    args.command_by(agent, Delivery::LastArg, &[])
}

fields! {
    struct Call<'a> {
        shell: Loose<Tool<'a>> = "shellToolCall",
        write: Loose<Tool<'a>> = "writeToolCall",
        edit: Loose<Tool<'a>> = "editToolCall",
        read: Loose<Tool<'a>> = "readToolCall",
        delete: Loose<Tool<'a>> = "deleteToolCall",
        ls: Loose<Tool<'a>> = "lsToolCall",
        glob: Loose<Tool<'a>> = "globToolCall",
        grep: Loose<Tool<'a>> = "grepToolCall",
        /// Every other tool, by its name.
        function: Loose<Tool<'a>>,
    }

    struct Tool<'a> {
        args: Loose<Input<'a>>,
        name,
        result: Loose<Ended<'a>>,
    }

    /// How a tool ended: well, or in one of several ways that are no success.
    struct Ended<'a> {
        success: Loose<Output<'a>>,
        failure: Loose<Output<'a>>,
        error: Loose<Output<'a>>,
        rejected: Loose<Output<'a>>,
        is_background = "isBackground",
    }

    struct Output<'a> {
        exit_code = "exitCode", stdout, stderr, content, message, error, reason, error_message = "errorMessage",
    }
}

/// Takes what Claude Code does not print: calls of tools, and thinking piece by piece.
fn other(line: &Line<'_>, out: &mut Told) -> bool {
    match (line.kind.word(), line.subtype.word()) {
        ("thinking" | "interaction_query", _) => true,
        ("tool_call", subtype) => {
            let Loose(call): Loose<Call<'_>> = read(line.tool_call.json()).unwrap_or_default();
            let call = call.unwrap_or_default();
            let Some((name, tool)) = tool_of(&call) else { return true };
            match (subtype, &tool.result.0) {
                ("started", _) => out.tool_began(line.call_id.text(), name, tool.args.0.as_ref()),
                // It has not ended, so nothing is known about how it went.
                ("completed", Some(ended)) if ended.is_background.is_true() => {}
                ("completed", ended) => tool_ended(line.call_id.text(), ended.as_ref(), out),
                _ => {}
            }
            true
        }
        _ => false,
    }
}

fn tool_of<'c, 'a>(call: &'c Call<'a>) -> Option<(String, &'c Tool<'a>)> {
    let known = [
        ("shell", &call.shell),
        ("write", &call.write),
        ("edit", &call.edit),
        ("read", &call.read),
        ("delete", &call.delete),
        ("ls", &call.ls),
        ("glob", &call.glob),
        ("grep", &call.grep),
    ];
    let known = known.into_iter().find_map(|(name, Loose(tool))| Some((name.to_owned(), tool.as_ref()?)));
    known.or_else(|| call.function.0.as_ref().map(|tool| (tool.name.text_within(200), tool)))
}

fn tool_ended(id: String, ended: Option<&Ended<'_>>, out: &mut Told) {
    let nothing = Output::default();
    let ways = ended.map(|ended| [&ended.success, &ended.failure, &ended.error, &ended.rejected]);
    let output = ways.and_then(|ways| ways.into_iter().find_map(|Loose(output)| output.as_ref())).unwrap_or(&nothing);
    let succeeded = ended.is_some_and(|ended| ended.success.0.is_some());
    let went = match tool::exit_code(output.exit_code) {
        Some(code) if succeeded || code != 0 => Went::Exited(code),
        _ => Went::badly_if(!succeeded),
    };
    let said = [
        output.stdout, output.stderr, output.content, output.message, output.error, output.reason, output.error_message,
    ];
    let printed = said.into_iter().find(|said| said.size().chars > 0).unwrap_or_else(Raw::default);
    out.tool_ended(id, printed, went);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::agent;
    use ralph_core::agent_event::AgentEvent;

    #[test]
    fn flags_are_those_of_unattended_use_and_none_is_doubled() {
        for (flags, model, stream, args) in [
            (&[][..], "", true, "-p --output-format stream-json --force"),
            (&["--model x"], "gpt-5", false, "-p --output-format text --force --model gpt-5"),
            (&["--print", "--mode plan", "--output-format=json"], "", true, "--print --mode plan --output-format=json"),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), stream, ..agent("cursor-agent", flags) };
            let command = DIALECT.command(&agent);
            assert_eq!((command.args.join(" ").as_str(), command.delivery), (args, Delivery::LastArg));
        }
    }

    #[test]
    fn a_tool_went_well_only_if_its_success_is_stated() {
        for (result, went) in [
            (r#"{"success":{"exitCode":0,"stdout":"ok"}}"#, Some((false, Some(0)))),
            (r#"{"success":{"exitCode":3,"stdout":"oops"}}"#, Some((true, Some(3)))),
            (r#"{"failure":{"exitCode":3,"stderr":"oops"}}"#, Some((true, Some(3)))),
            (r#"{"failure":{"exitCode":0}}"#, Some((true, None))),
            (r#"{"rejected":{"reason":"no"}}"#, Some((true, None))),
            (r#"{"somethingNew":{}}"#, Some((true, None))),
            (r#"{"success":{"exitCode":0},"isBackground":true}"#, None),
        ] {
            let json = format!(
                r#"{{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{{"shellToolCall":{{"args":{{"command":"make"}},"result":{result}}}}}}}"#
            );
            let line = read::<Loose<Line<'_>>>(&json).unwrap().0.unwrap();
            let mut told = Told::default();
            assert!(other(&line, &mut told));
            let ended = told.pop().map(|event| match event {
                AgentEvent::ToolEnd { error, exit_code, .. } => (error, exit_code),
                other => panic!("{other:?}"),
            });
            assert_eq!(ended, went, "{result}");
        }
    }
}
