//! The ordinary course of a run, as ralph tells it on stderr unless it is asked to be quiet: the only
//! lines there that a test need not state. Whatever is out of the ordinary is not in this list: notes,
//! warnings, errors and hints, an agent that failed, an iteration that is repeated, a wait, processes
//! that leaked, signals. In one place, so that another wording is one change.

use crate::expectation::matches_line;

/// Whole lines; `[..]` is anything.
const ORDINARY: [&str; 29] = [
    "ralph [..] · project [..] · run [..] · agent [..] · task [..]",
    "limits: [..] · checks: [..]",
    "judges: # [..] and # [..] are pinned (ralph judges)",
    "limits: [..] · until DONE in [..]",
    "note: \"[..]\" is watched once, to learn what it is made of",
    "resumed · [..]",
    "cancelling run [..]",
    "iteration #/#",
    "iteration #/# · attempt #",
    "Starting agent (attempt #/#)",
    "plan: # stories, # done, about # iterations needed (# allowed)",
    "iteration #/# · implement [..]: [..]",
    "iteration #/# · review [..] (# of #): [..]",
    "iteration #/# · review-fix [..]: [..]",
    "iteration #/# · commit what is left",
    "  ✓ [..] (#/# done)",
    "  ✗ [..]: changes requested (#/# done)",
    "Attempt #: Agent succeeded[..]",
    "  ✓ [..] ([..])",
    "  ✗ guardrail [..] failed with exit code [..]",
    "      [..]",
    "iteration #/#[..] · accepted · [..]",
    "iteration #/# · goes on · [..]",
    "iteration #/#[..] · not accepted[..]",
    "iteration #/# · said it was done · rejected[..]",
    "iteration #/# · claimed blocked · stops · [..]",
    "  - [..]",
    // Companions of a line that must be stated.
    "Finishing this [..], then stopping. Ctrl-C again to stop now.",
    "  ✗ agent: stopped by ralph",
];

/// Whether a line of stderr belongs to the ordinary course of a run.
pub fn is_ordinary(line: &str) -> bool {
    let line = without_numbers(&without_colour(line));
    !line.ends_with(" leaked") && ORDINARY.iter().any(|shape| matches_line(shape, &line))
}

/// The line with `#` for every number.
fn without_numbers(line: &str) -> String {
    let mut plain = line.replace(|digit: char| digit.is_ascii_digit(), "#");
    while plain.contains("##") {
        plain = plain.replace("##", "#");
    }
    plain
}

/// Whether a command with these arguments tells the course of a run.
pub fn is_told_by<'a>(arguments: impl Iterator<Item = &'a str>) -> bool {
    let mut tells = false;
    for argument in arguments {
        match argument {
            "run" | "resume" | "supervise" | "demo" | "cancel" => tells = true,
            "-q" | "--quiet" | "--json" => return false,
            _ => {}
        }
    }
    tells
}

/// The line without the sequences that colour it or clear it.
pub fn without_colour(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = sequence.split_once(|end: char| end.is_ascii_alphabetic()).map_or("", |(_, behind)| behind);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ordinary_needs_no_statement() {
        for (line, ordinary) in [
            ("iteration 1/10", true),
            ("iteration 1/10 · attempt 2", true),
            ("iteration 1/10 · will be repeated, not counted · 12ms", false),
            ("iteration 1/10 · said it was done · accepted · 12ms", true),
            ("iteration 1/10 · said it was done · accepted · 12ms · 1 leaked", false),
            ("  ✓ guardrail true passed (3ms)", true),
            ("  ✗ agent: exited with code 3", false),
            ("note: anything", false),
        ] {
            assert_eq!(is_ordinary(line), ordinary, "{line}");
        }
    }

    #[test]
    fn a_quiet_command_tells_nothing() {
        for (arguments, tells) in
            [("-C x run -p y", true), ("run -p y --json", false), ("resume -q", false), ("status", false)]
        {
            assert_eq!(is_told_by(arguments.split(' ')), tells, "{arguments}");
        }
    }

    #[test]
    fn sequences_of_a_terminal_are_no_words() {
        assert_eq!(without_colour("\r\u{1b}[K\u{1b}[1;33mnote:\u{1b}[0m x"), "\rnote: x");
    }
}
