//! Continue's `cn`, measured with 1.5.47: the last answer as plain text, and errors as one object on standard error.
//! `-p` must stand last: what follows it is a prompt. It exits with 0 for an empty answer and after a signal.

use crate::advice::Help;
use crate::command::Arguments;
use crate::complaint::Complaint;
use crate::dialect::{CommandLine, Dialect, End, Prints};
use crate::generic::TextReader;
use crate::json::{Loose, fields, read};
use crate::login::{Login, Unseen, file};
use crate::stream::failure_of_silence;
use ralph_core::observation::{Ending, Failure};
use ralph_core::policy::AgentPolicy;

const PRINT: &[&str] = &["-p", "--print"];

pub(crate) const DIALECT: Dialect = Dialect {
    name: "cn",
    help: Help { install: "install it with `npm install -g @continuedev/cli`", login: "cn login" },
    login: Some(Login {
        measured: "1.5",
        variables: &["CONTINUE_API_KEY", "ANTHROPIC_API_KEY"],
        files: &[
            file("CONTINUE_GLOBAL_DIR", ".continue", "auth.json"),
            file("CONTINUE_GLOBAL_DIR", ".continue", "config.yaml"),
        ],
        unseen: Unseen::Anywhere,
    }),
    session_markers: &[],
    command,
    prints: Prints::Text(|prompt, help| Box::new(TextReader::new(prompt, help).stating(stated))),
};

fn command(agent: &AgentPolicy) -> CommandLine {
    let mut args = Arguments::of(agent);
    args.flag(&["--auto", "--readonly"]);
    args.setting(&["--model"], &agent.model);
    if !args.users().iter().any(|arg| PRINT.contains(&arg.as_str())) {
        args.last("-p");
    }
    args.command(agent, &[])
}

fields! {
    /// What stands on standard error: `{"status":"error","message":"401 no such key"}`.
    struct Trouble<'a> {
        status, message,
    }
}

/// Why a process failed, as it states on standard error, or by what it would not begin.
fn stated(end: &End<'_>, help: Help) -> Option<Failure> {
    let failed = matches!(end.ending, Ending::Exited { code } if *code != 0);
    let stated = end.stderr_tail.lines().rev().filter(|_| failed).find_map(|line| {
        let Loose(trouble): Loose<Trouble<'_>> = read(line.trim())?;
        let trouble = trouble.filter(|trouble| trouble.status.is("error"))?;
        Some(Complaint::new(&trouble.message.text_within(2000)).failure(help, end))
    });
    stated.or_else(|| if failed && !end.heard { failure_of_silence(help, end) } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Reader as _;
    use crate::dialect::tests::{agent, end_of};
    use ralph_core::observation::FailureClass;

    #[test]
    fn the_flag_for_a_prompt_stands_last() {
        for (flags, model, args) in [
            (&[][..], "", "--auto -p"),
            (&["--rule x", "--readonly"], "a/b", "--model a/b --rule x --readonly -p"),
            (&["-p", "--model y"], "", "--auto -p --model y"),
        ] {
            let agent = AgentPolicy { model: model.to_owned(), ..agent("cn", flags) };
            assert_eq!(DIALECT.command(&agent).args.join(" "), args);
        }
    }

    #[test]
    fn i06_i07_i08_the_object_on_standard_error_is_the_failure() {
        use FailureClass::{CannotRun, Limited, Other, Transient};
        let error = |message: &str| format!("warning\n{{\"status\":\"error\",\"message\":\"{message}\"}}\n");
        for (stderr, code, class) in [
            (error("401 Incorrect API key provided."), 1, Some(CannotRun)),
            (error("429 Rate limited, slow down"), 1, Some(Limited)),
            (error("Connection error."), 1, Some(Transient)),
            (error("something else"), 1, Some(Other)),
            ("{\"status\":\"fine\",\"message\":\"401 no\"}".to_owned(), 1, Some(Other)),
            (error("401 Incorrect API key provided."), 0, None),
        ] {
            let ending = Ending::Exited { code };
            let reader = TextReader::new("", DIALECT.help).stating(stated);
            let failure = reader.failure(&End { heard: true, ..end_of(&ending, &stderr) });
            assert_eq!(failure.map(|failure| failure.class), class, "{stderr}");
        }
    }
}
