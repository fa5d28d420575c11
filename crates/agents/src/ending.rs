//! How a process ended, as a failure in one sentence: the same for every dialect.

use crate::advice::{Cause, Help};
use crate::complaint::Complaint;
use ralph_core::observation::{Ending, Failure, FailureClass, StartFault};
use ralph_core::text;

/// Characters of standard error that a sentence quotes: one line of a message, not a stack trace.
const QUOTED: usize = 300;

/// The failure of a process that did not end by itself, whatever it had said until then.
pub(crate) fn ended_from_outside(ending: &Ending, help: Help) -> Option<Failure> {
    let other = |message: String| Some(Failure::new(FailureClass::Other, message));
    match ending {
        Ending::NotStarted { reason, fault } => {
            let sentence = format!("the agent could not be started: {reason}");
            let cause = match fault {
                StartFault::Program => Cause::Missing,
                StartFault::NotExecutable => Cause::NotExecutable,
                // The sentence itself says what helps.
                StartFault::Arguments => return Some(Failure::new(FailureClass::CannotRun, sentence)),
                // No other program would start either.
                StartFault::Folder | StartFault::Machine => return other(sentence),
            };
            Some(Failure::new(cause.class(), cause.advise(&sentence, help)))
        }
        Ending::TimedOut { limit } => other(format!("the agent ran longer than {limit} and was ended")),
        Ending::Idle { limit } => other(format!("the agent neither printed nor computed for {limit} and was ended")),
        Ending::Stopped => other("stopped by ralph".to_owned()),
        Ending::KeeperLost => other(
            "the process that watches over the agent died or did not answer, so how the agent ended is unknown"
                .to_owned(),
        ),
        Ending::Exited { .. } | Ending::Signalled { .. } | Ending::Lingered => None,
    }
}

/// A client that only repeated a refused request until its time was up failed for that reason.
pub(crate) fn blamed(failure: Failure, ending: &Ending, cause: Option<Failure>) -> Failure {
    let of_time = matches!(ending, Ending::TimedOut { .. } | Ending::Idle { .. });
    match cause.filter(|cause| matches!(cause.class, FailureClass::Transient | FailureClass::Limited)) {
        Some(cause) if of_time => {
            Failure { message: format!("{}; it last said: {}", failure.message, cause.message), ..cause }
        }
        _ => failure,
    }
}

pub(crate) fn ended_badly(ending: &Ending, stderr_tail: &str) -> Option<Failure> {
    let what = match *ending {
        Ending::Exited { code: 0 } | Ending::Lingered => return None,
        Ending::Exited { code } => match meaning(code) {
            Some(meaning) => format!("the agent exited with code {code} ({meaning})"),
            None => format!("the agent exited with code {code}"),
        },
        Ending::Signalled { signal } => {
            format!("the agent was killed by {} (exit code {})", signal_name(signal), 128i32.saturating_add(signal))
        }
        _ => return None,
    };
    let message = last_line(stderr_tail).map_or_else(|| what.clone(), |line| format!("{what}: {line}"));
    Some(Failure::new(FailureClass::Other, message))
}

/// What an exit code means by the conventions of shells.
fn meaning(code: i32) -> Option<String> {
    match code {
        124 => Some("a time limit of its own".to_owned()),
        126 => Some("found but not executable".to_owned()),
        127 => Some("command not found".to_owned()),
        129..=159 => Some(format!("128+{}: {}", code - 128, signal_name(code - 128))),
        _ => None,
    }
}

fn signal_name(signal: i32) -> String {
    /// By their numbers, as far as Linux and macOS share them.
    const NAMES: [&str; 16] = [
        "", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "", "SIGFPE", "SIGKILL", "", "SIGSEGV", "",
        "SIGPIPE", "SIGALRM", "SIGTERM",
    ];
    let (bus, sys) = if cfg!(target_os = "macos") { (10, 12) } else { (7, 31) };
    let name = match signal {
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        _ if signal == bus => "SIGBUS",
        _ if signal == sys => "SIGSYS",
        _ => usize::try_from(signal).ok().and_then(|signal| NAMES.get(signal)).copied().unwrap_or_default(),
    };
    if name.is_empty() { format!("signal {signal}") } else { name.to_owned() }
}

/// What the conventions of shells and loaders say about a program that could not run.
pub(crate) fn cause_of_code(ending: &Ending) -> Option<Cause> {
    match ending {
        Ending::Exited { code: 126 } => Some(Cause::NotExecutable),
        Ending::Exited { code: 127 } => Some(Cause::Missing),
        _ => None,
    }
}

/// Why a program would not start: the line that calls itself an error, else one that names a known cause, else the last
/// one that is no warning. Argument parsers print their usage around it, and some print nothing else.
pub(crate) fn reason_to_refuse(stderr: &str) -> Option<String> {
    let begins_with = |line: &str, word: &str| {
        let head = line.trim_start().get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
    };
    let is_an_error =
        |line: &&str| ["error", "unknown argument", "unknown option"].iter().any(|word| begins_with(line, word));
    let names_a_cause = |line: &&str| Complaint::new(line).class() != FailureClass::Other;
    let error = quote(stderr.lines().filter(is_an_error));
    if error.is_none() && stderr.lines().any(|line| line.contains("-h, --help")) {
        return Some("it printed its usage, as for an unknown option".to_owned());
    }
    error
        .or_else(|| quote(stderr.lines().filter(names_a_cause)))
        .or_else(|| quote(stderr.lines().rev().filter(|line| !begins_with(line, "warning"))))
        .or_else(|| last_line(stderr))
}

/// The last line that says something: where crashing programs put the reason.
fn last_line(stderr: &str) -> Option<String> {
    quote(stderr.lines().rev())
}

fn quote<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let line = lines.find(|line| !line.trim().is_empty())?;
    Some(text::cut(text::without_controls(line).trim(), QUOTED, "..."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_core::time::Millis;

    const HELP: Help = Help { install: "install it", login: "log in" };

    #[test]
    fn a15_a16_exit_codes_and_signals_read_as_the_table_says() {
        let exited = |code| Ending::Exited { code };
        let signalled = |signal| Ending::Signalled { signal };
        for (ending, stderr, message) in [
            (exited(0), "noise", None),
            (exited(1), "", Some("the agent exited with code 1")),
            (exited(1), "at x\n\u{1b}[31mboom\u{1b}[0m\n\n", Some("the agent exited with code 1: boom")),
            (exited(2), "", Some("the agent exited with code 2")),
            (exited(124), "", Some("the agent exited with code 124 (a time limit of its own)")),
            (exited(127), "", Some("the agent exited with code 127 (command not found)")),
            (exited(137), "", Some("the agent exited with code 137 (128+9: SIGKILL)")),
            (exited(143), "", Some("the agent exited with code 143 (128+15: SIGTERM)")),
            (exited(255), "", Some("the agent exited with code 255")),
            (signalled(11), "", Some("the agent was killed by SIGSEGV (exit code 139)")),
            (signalled(64), "", Some("the agent was killed by signal 64 (exit code 192)")),
            (Ending::Lingered, "", None),
        ] {
            assert_eq!(ended_from_outside(&ending, HELP), None);
            let failure = ended_badly(&ending, stderr);
            assert_eq!(failure.as_ref().map(|failure| failure.message.as_str()), message);
            assert!(failure.is_none_or(|failure| failure.class == FailureClass::Other));
        }
    }

    #[test]
    fn the_reason_is_the_error_among_warnings_and_usage() {
        for (stderr, reason) in [
            (
                "WARNING: no aliases\nerror: unexpected argument '--x' found\n\n  tip: y",
                "error: unexpected argument '--x' found",
            ),
            (
                "Usage: gemini [options]\n\n  -m, --model\n\nUnknown argument: no-such-flag\n",
                "Unknown argument: no-such-flag",
            ),
            ("WARNING: no aliases\nNo prompt provided via stdin.\n", "No prompt provided via stdin."),
            ("Warning: only this\n", "Warning: only this"),
            ("No API key found for it.\n\nUse /login. See:\n  /docs/models.md\n", "No API key found for it."),
            ("YOLO mode is enabled.\nPlease set an Auth method\n", "Please set an Auth method"),
            (
                "opencode run [message..]\n\nOptions:\n  -h, --help  show help\n  --auto  approve",
                "it printed its usage, as for an unknown option",
            ),
        ] {
            assert_eq!(reason_to_refuse(stderr).as_deref(), Some(reason));
        }
        assert_eq!(reason_to_refuse(" \n"), None);
    }

    #[test]
    fn what_ralph_or_the_system_did_is_said_as_such() {
        let limit = Millis::from_secs(90);
        for (ending, class, message) in [
            (
                Ending::NotStarted { reason: "no file `x`".to_owned(), fault: StartFault::Program },
                FailureClass::CannotRun,
                "the agent could not be started: no file `x`; install it",
            ),
            (
                Ending::NotStarted { reason: "the folder /p is gone".to_owned(), fault: StartFault::Folder },
                FailureClass::Other,
                "the agent could not be started: the folder /p is gone",
            ),
            (
                Ending::NotStarted { reason: "no processes are left".to_owned(), fault: StartFault::Machine },
                FailureClass::Other,
                "the agent could not be started: no processes are left",
            ),
            (
                Ending::NotStarted { reason: "x is not executable".to_owned(), fault: StartFault::NotExecutable },
                FailureClass::CannotRun,
                "the agent could not be started: x is not executable; make it executable with `chmod +x`, or install it",
            ),
            (Ending::TimedOut { limit }, FailureClass::Other, "the agent ran longer than 1m30s and was ended"),
            (
                Ending::Idle { limit },
                FailureClass::Other,
                "the agent neither printed nor computed for 1m30s and was ended",
            ),
            (Ending::Stopped, FailureClass::Other, "stopped by ralph"),
            (
                Ending::KeeperLost,
                FailureClass::Other,
                "the process that watches over the agent died or did not answer, so how the agent ended is unknown",
            ),
        ] {
            assert_eq!(ended_from_outside(&ending, HELP), Some(Failure::new(class, message)));
        }
    }
}
