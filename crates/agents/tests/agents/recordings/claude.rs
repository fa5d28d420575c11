//! Claude Code. `old_` are of an older client, whose result begins with its type and states less.

use super::{CannotRun, Expected, Limited, Other, Recording, Silent, Transient, exit, recordings, signal};
use crate::hear;
use ralph_core::agent_event::AgentEvent;
use ralph_core::observation::Ending;

#[rustfmt::skip]
pub(super) const RECORDINGS: &[Recording] = recordings![ "claude":
    // name              ending         stderr                                                                 failure                                             claimed cost                         tokens         tools      errors
    "trivial"            exit(0)        "" => None,                                                                                                                true,  Some(0.0087),                 (2500, 30),    [0, 0, 0], 0;
    "success"            exit(0)        "" => None,                                                                                                                true,  Some(0.036899999999999995),   (8500, 240),   [6, 6, 0], 0;
    "old_success"        exit(0)        "" => None,                                                                                                                true,  Some(0.04625),                (8500, 240),   [5, 5, 0], 0;
    "bare"               exit(0)        "" => None,                                                                                                                true,  Some(0.036899999999999995),   (8500, 240),   [6, 6, 0], 0;
    "thinking"           exit(0)        "" => None,                                                                                                                true,  Some(0.014339999999999999),   (3700, 72),    [1, 1, 0], 0;
    "partial"            exit(0)        "" => None,                                                                                                                true,  Some(0.014339999999999999),   (3700, 72),    [1, 1, 0], 0;
    "big_output"         exit(0)        "" => None,                                                                                                                true,  Some(0.014339999999999999),   (3700, 72),    [1, 1, 0], 0;
    "out_json"           exit(0)        "" => None,                                                                                                                true,  Some(0.014339999999999999),   (3700, 72),    [1, 1, 0], 0;
    "tool_error"         exit(0)        "" => None,                                                                                                                true,  Some(0.025619999999999997),   (6100, 156),   [3, 3, 3], 0;
    "tasks"              exit(0)        "" => None,                                                                                                                true,  Some(0.042539999999999994),   (9700, 282),   [2, 6, 5], 0;
    "no_skip_perm"       exit(0)        "" => None,                                                                                                                true,  Some(0.019979999999999998),   (4900, 114),   [2, 2, 2], 0;
    "hooks_log"          exit(0)        "" => None,                                                                                                                true,  Some(0.036899999999999995),   (8500, 240),   [6, 6, 0], 0;
    "hooks_events"       exit(0)        "" => None,                                                                                                                true,  Some(0.036899999999999995),   (8500, 240),   [6, 6, 0], 0;
    "hooks_act"          exit(0)        "" => None,                                                                                                                true,  Some(0.031259999999999996),   (7300, 198),   [3, 3, 1], 0;
    "old_hooks_act"      exit(0)        "" => None,                                                                                                                true,  Some(0.0392),                 (7300, 198),   [3, 3, 1], 0;
    "hooks_fail"         exit(0)        "" => None,                                                                                                                true,  Some(0.025619999999999997),   (6100, 156),   [3, 3, 3], 0;
    "hook_exit2"         exit(0)        "" => None,                                                                                                                true,  Some(0.014339999999999999),   (3700, 72),    [1, 1, 1], 0;
    // Its second turn answers DONE2, which takes the claim of the first one back.
    "bg_bash"            exit(0)        "" => None,                                                                                                                false, Some(0.016919999999999998),   (3600, 126),   [1, 1, 0], 0;
    "old_bg_bash_long"   exit(0)        "" => None,                                                                                                                true,  Some(0.014099999999999998),   (2400, 84),    [1, 1, 0], 0;
    "bg_bash_disabled"   exit(0)        "" => None,                                                                                                                true,  Some(0.011279999999999998),   (2400, 84),    [1, 1, 1], 0;
    // The client repairs these by itself.
    "e429_once"          exit(0)        "" => None,                                                                                                                true,  Some(0.0087),                 (2500, 30),    [0, 0, 0], 0;
    "drop"               exit(0)        "" => None,                                                                                                                true,  Some(0.013519999999999999),   (3700, 31),    [0, 0, 0], 0;
    "stream_error"       exit(0)        "" => None,                                                                                                                true,  Some(0.013519999999999999),   (3700, 31),    [0, 0, 0], 0;
    "empty_once"         exit(0)        "" => None,                                                                                                                true,  Some(0.013499999999999998),   (3700, 30),    [0, 0, 0], 0;
    "drop_forever"       exit(0)        "" => None,                                                                                                                false, Some(0.015279999999999998),   (3600, 44),    [0, 0, 0], 0;
    // It exits with 0 here as well.
    "empty"              exit(0)        "" => Some((Silent, "empty answer")),                                                                                       false, Some(0.0096),                 (2400, 0),     [0, 0, 0], 0;
    "e400_toolong"       exit(1)        "" => Some((Other, "Prompt is too long")),                                                                                 false, Some(0.0),                    (0, 0),        [0, 0, 0], 1;
    "e401"               exit(1)        "" => Some((CannotRun, "Invalid API key · Fix external API key; to log in: run `claude` once and log in, or export ANTHROPIC_API_KEY")),                                              false, Some(0.0),                    (0, 0),        [0, 0, 0], 1;
    "no_auth"            exit(1)        "" => Some((CannotRun, "Not logged in · Please run /login; to log in: run `claude` once and log in, or export ANTHROPIC_API_KEY")),                                                   false, Some(0.0),                    (0, 0),        [0, 0, 0], 1;
    "e404_model"         exit(1)        "[claude-code:unrecognized_model] {}" => Some((CannotRun, "selected model (nope-1)")),                                     false, Some(0.0),                    (0, 0),        [0, 0, 0], 1;
    "e429_forever"       exit(1)        "" => Some((Limited, "Rate limited, slow down")),                                                                          false, Some(0.0),                    (0, 0),        [0, 0, 0], 1;
    "usage_limit"        exit(1)        "" => Some((Limited, "exceed your account's rate limit")),                                                                 false, Some(0.0),                    (0, 0),        [0, 0, 0], 1;
    "sub_usage_limit"    exit(1)        "" => Some((Limited, "hit your 5-hour limit")),                                                                            false, Some(0.0),                    (0, 0),        [0, 0, 0], 1;
    "e500_forever"       exit(1)        "" => Some((Transient, "500 Internal server error")),                                                                      false, Some(0.0),                    (0, 0),        [0, 0, 0], 1;
    "e529_forever"       exit(1)        "" => Some((Transient, "529 Overloaded")),                                                                                 false, Some(0.0),                    (0, 0),        [0, 0, 0], 1;
    "refused"            exit(1)        "" => Some((Transient, "Connection refused")),                                                                             false, Some(0.0),                    (0, 0),        [0, 0, 0], 1;
    // `usage` is empty here; the use by model is not.
    "max_budget"         exit(1)        "" => Some((Other, "Reached maximum budget ($0.5)")),                                                                      false, Some(0.6000000000000001),     (100000, 10000), [1, 0, 0], 1;
    "max_turns"          exit(1)        "" => Some((Other, "Reached maximum number of turns (2)")),                                                                false, Some(0.011279999999999998),   (2400, 84),    [2, 2, 0], 1;
    "sigterm_tool"       exit(143)      "" => Some((Other, "exited with code 143 (128+15: SIGTERM)")),                                                             false, None,                         (1200, 1),     [1, 1, 1], 0;
    "sigterm_stream"     exit(143)      "" => Some((Other, "exited with code 143 (128+15: SIGTERM)")),                                                             false, None,                         (1200, 1),     [1, 1, 0], 0;
    "sigkill_tool"       signal(9)      "" => Some((Other, "killed by SIGKILL (exit code 137)")),                                                                  false, None,                         (1200, 1),     [1, 0, 0], 0;
    // The same stream as an interrupt leaves it: the client then exits with 0.
    "sigkill_tool"       exit(0)        "" => Some((Other, "ended without a result")),                                                                             false, None,                         (1200, 1),     [1, 0, 0], 0;
];

#[test]
fn a_client_that_refuses_to_start_cannot_run() {
    let cannot_run = |stderr: &str, ending: &Ending| hear("claude", "", b"").failure(ending, stderr).unwrap();
    for (stderr, reason) in [
        ("error: unknown option '--no-such-flag'\n", "unknown option '--no-such-flag'"),
        ("--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons\n", "root/sudo"),
        ("Error: Input must be provided either through stdin or as a prompt argument when using --print\n", "stdin"),
    ] {
        let failure = cannot_run(stderr, &exit(1));
        assert_eq!(failure.class, CannotRun);
        assert!(failure.message.contains(reason), "{}", failure.message);
    }
    assert_eq!(cannot_run("", &exit(1)).class, Other);
    assert_eq!(cannot_run("Segmentation fault", &exit(139)).class, Other);
}

#[test]
fn i02_a_limit_carries_its_reset() {
    let heard = hear("claude", "", include_bytes!("../../streams/claude/sub_usage_limit.jsonl"));
    let failure = heard.failure(&exit(1), "").unwrap();
    assert_eq!((failure.class, failure.resets_at), (Limited, Some(1_799_999_999)));
    let limit = AgentEvent::Limit { scope: "five_hour".to_owned(), rejected: true, resets_at: Some(1_799_999_999) };
    assert!(heard.events.contains(&limit), "{:?}", heard.events);
}

#[test]
fn a_result_is_final_until_another_turn_begins() {
    let stream = include_str!("../../streams/claude/bg_bash.jsonl");
    let lines: Vec<&str> = stream.lines().collect();
    let results: Vec<bool> = (1..=lines.len())
        .map(|count| hear("claude", "", lines[..count].join("\n").as_bytes()).reader.has_result())
        .collect();
    // The first result, three lines about the background command, a second turn.
    assert_eq!(results.iter().map(|&result| if result { '+' } else { '-' }).collect::<String>(), "------++++--+");
    let cut = hear("claude", "", lines[..lines.len() - 1].join("\n").as_bytes());
    assert!(cut.failure(&exit(0), "").is_some());
    let whole = hear("claude", "", stream.as_bytes());
    assert_eq!(whole.failure(&Ending::Lingered, ""), None);
    assert!(whole.failure(&exit(1), "").is_some());
}

#[test]
fn tools_are_evidence_with_their_commands_and_files() {
    let heard = hear("claude", "", include_bytes!("../../streams/claude/tool_error.jsonl"));
    let AgentEvent::ToolEnd { output, lines, chars, error, exit_code, .. } =
        heard.events.iter().find(|event| matches!(event, AgentEvent::ToolEnd { .. })).unwrap()
    else {
        panic!("{:?}", heard.events)
    };
    assert_eq!((output.as_str(), *lines, *chars, *error, *exit_code), ("Exit code 3\noops", 2, 16, true, Some(3)));

    let observation = hear("claude", "", include_bytes!("../../streams/claude/success.jsonl")).observation(&exit(0));
    assert_eq!(observation.files, ["/home/dev/project/hello.txt"]);
    let commands: Vec<_> = observation.tools.iter().filter_map(|tool| tool.command.as_deref()).collect();
    let expected = ["echo hello from tool && git log --oneline | head -1", "echo todo unsupported", "echo A", "echo B"];
    assert_eq!(commands, expected);

    let background = hear("claude", "", include_bytes!("../../streams/claude/bg_bash.jsonl")).observation(&exit(0));
    assert!(background.tools.iter().all(|tool| tool.command.is_none()), "a command in the background proves nothing");
}
