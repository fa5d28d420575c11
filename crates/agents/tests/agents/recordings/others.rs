//! The other programs that ran against a scripted model.

use super::{CannotRun, Expected, Limited, Other, Recording, Silent, Transient, exit, recordings, signal};
use crate::hear;
use ralph_core::agent_event::{AgentEvent, TodoStatus, Voice};
use ralph_core::observation::{Ending, ToolResult};

#[rustfmt::skip]
pub(super) const CODEX: &[Recording] = recordings![ "codex":
    // name              ending         stderr   failure                                                                                        claimed cost  tokens       tools      errors
    "success"            exit(0)        "" => None,                                                                                             true,  None, (8500, 240), [6, 6, 0], 0;
    "tool_error"         exit(0)        "" => None,                                                                                             true,  None, (6100, 156), [2, 2, 2], 0;
    "thinking"           exit(0)        "" => None,                                                                                             true,  None, (3700, 72),  [1, 1, 0], 0;
    "hooks_act"          exit(0)        "" => None,                                                                                             true,  None, (7300, 198), [2, 2, 0], 0;
    // What the sandbox refused is not in the stream.
    "read_only_default"  exit(0)        "" => None,                                                                                             true,  None, (8500, 240), [5, 5, 0], 0;
    "drop"               exit(0)        "" => None,                                                                                             true,  None, (2500, 30),  [0, 0, 0], 0;
    "max_tokens"         exit(0)        "" => None,                                                                                             false, None, (1200, 42),  [0, 0, 0], 0;
    "empty"              exit(0)        "Warning: no last agent message" => Some((Silent, "empty answer")),                                      false, None, (1200, 0),   [0, 0, 0], 0;
    "e400_billing"       exit(1)        "" => Some((CannotRun, "Your credit balance is too low to access")),                                    false, None, (0, 0),      [0, 0, 0], 1;
    "e400_toolong"       exit(1)        "" => Some((Other, "prompt is too long: 250000 tokens > 200000 maximum")),                              false, None, (0, 0),      [0, 0, 0], 1;
    "e401"               exit(1)        "" => Some((CannotRun, "; to log in: run `codex login`, or export CODEX_API_KEY")),                                              false, None, (0, 0),      [0, 0, 0], 1;
    "no_auth"            exit(1)        "" => Some((CannotRun, "Missing environment variable: `MOCK_API_KEY`.; set it where ralph is started or in `agent.env`")),                   false, None, (0, 0),      [0, 0, 0], 1;
    "e429_forever"       exit(1)        "" => Some((Limited, "last status: 429 Too Many Requests")),                                            false, None, (0, 0),      [0, 0, 0], 1;
    "usage_limit"        exit(1)        "" => Some((Limited, "hit your usage limit")),                                                          false, None, (0, 0),      [0, 0, 0], 1;
    "no_network"         signal(9)      "" => Some((Transient, "waiting for network (Connection failed: error sending request)")),              false, None, (0, 0),      [0, 0, 0], 0;
    "e500_forever"       exit(1)        "" => Some((Transient, "currently experiencing high demand")),                                          false, None, (0, 0),      [0, 0, 0], 1;
    "e529_forever"       exit(1)        "" => Some((Transient, "unexpected status 529")),                                                       false, None, (0, 0),      [0, 0, 0], 1;
    "sigterm_tool"       signal(15)     "" => Some((Other, "killed by SIGTERM (exit code 143)")),                                               false, None, (0, 0),      [1, 0, 0], 0;
    "sigterm_tool"       exit(0)        "" => Some((Other, "ended without a result")),                                                          false, None, (0, 0),      [1, 0, 0], 0;
];

#[rustfmt::skip]
pub(super) const GEMINI: &[Recording] = recordings![ "gemini":
    "success"            exit(0)        "" => None,                                                                                             true,  None, (8500, 240), [5, 5, 0], 0;
    "tool_error"         exit(0)        "" => None,                                                                                             true,  None, (6100, 156), [3, 3, 2], 0;
    // Its last message answers NO MORE TURNS.
    "hooks_act"          exit(0)        "" => None,                                                                                             false, None, (8500, 240), [3, 3, 1], 0;
    "drop"               exit(0)        "" => None,                                                                                             true,  None, (3700, 72),  [0, 0, 0], 0;
    "e429_once"          exit(0)        "" => None,                                                                                             true,  None, (2500, 30),  [0, 0, 0], 0;
    // It exits with 0 here as well.
    "empty"              exit(0)        "" => Some((Other, "The model returned an empty response")),                                            false, None, (4800, 0),   [0, 0, 0], 1;
    // 145 is what is left of 401.
    "e401"               exit(145)      "" => Some((CannotRun, "invalid x-api-key; to log in: ")),                                               false, None, (0, 0),      [0, 0, 0], 1;
    "e429_forever"       exit(1)        "" => Some((Other, "exited with code 1")),                                                              false, None, (0, 0),      [0, 0, 0], 0;
    "sigterm_stream"     exit(0)        "" => Some((Other, "ended without a result")),                                                          false, None, (0, 0),      [1, 1, 0], 0;
    "sigterm_group"      exit(0)        "" => Some((Other, "ended without a result")),                                                          false, None, (0, 0),      [1, 0, 0], 0;
];

#[rustfmt::skip]
pub(super) const OPENCODE: &[Recording] = recordings![ "opencode":
    "success"            exit(0)        "" => None,                                                                                             true,  Some(0.027600000000000003), (8500, 240), [5, 5, 0], 0;
    "tool_error"         exit(0)        "" => None,                                                                                             true,  Some(0.01914), (6100, 156), [3, 3, 3], 0;
    "drop"               exit(0)        "" => None,                                                                                             true,  Some(0.00645), (2500, 30),  [0, 0, 0], 0;
    "e529_once"          exit(0)        "" => None,                                                                                             true,  Some(0.00645), (2500, 30),  [0, 0, 0], 0;
    "empty"              exit(0)        "" => Some((Silent, "empty answer")),                                                                    false, Some(0.0036),  (1200, 0),   [0, 0, 0], 0;
    "e401"               exit(1)        "" => Some((CannotRun, "invalid x-api-key; to log in: ")),                                               false, None,          (0, 0),      [0, 0, 0], 1;
    "e429_forever"       exit(1)        "" => Some((Limited, "Rate limited, slow down")),                                                       false, None,          (0, 0),      [0, 0, 0], 1;
    // A question that nobody answered; it exits with 0 here as well.
    "no_auto"            exit(0)        "" => Some((Other, "rejected permission to use this specific tool call.; nobody is there to be asked, so `--auto` is needed")), false, Some(0.00846), (2400, 84), [2, 2, 1], 0;
    "sigterm_tool"       signal(15)     "" => Some((Other, "killed by SIGTERM (exit code 143)")),                                               false, None,          (0, 0),      [0, 0, 0], 0;
];

#[rustfmt::skip]
pub(super) const QWEN: &[Recording] = recordings![ "qwen":
    "success"            exit(0)        "" => None,                                                                                             true,  None, (8500, 240), [6, 6, 0], 0;
    "hooks_act"          exit(0)        "" => None,                                                                                             true,  None, (7300, 198), [3, 3, 1], 0;
    "empty"              exit(1)        "" => Some((Other, "Model stream ended with empty response text")),                                     false, None, (6000, 0),   [0, 0, 0], 1;
    "no_auth"            exit(1)        "" => Some((CannotRun, "before running in non-interactive mode.; to log in: ")),                                                   false, None, (0, 0),      [0, 0, 0], 1;
    "e401"               exit(1)        "" => Some((CannotRun, "[API Error: 401 invalid x-api-key]; to log in: ")),                              false, None, (0, 0),      [0, 0, 0], 1;
    "sigterm_tool"       signal(15)     "" => Some((Other, "killed by SIGTERM (exit code 143)")),                                               false, None, (1200, 42),  [1, 0, 0], 0;
];

#[rustfmt::skip]
pub(super) const COPILOT: &[Recording] = recordings![ "copilot":
    "success"            exit(0)        "" => None,                                                                                             true,  None, (0, 0),      [6, 6, 0], 0;
    "tool_error"         exit(0)        "" => None,                                                                                             true,  None, (0, 0),      [3, 3, 3], 0;
    "e429_once"          exit(0)        "" => None,                                                                                             true,  None, (0, 0),      [0, 0, 0], 0;
    "empty"              exit(1)        "" => Some((Other, "No response was returned.")),                                                       false, None, (0, 0),      [0, 0, 0], 1;
    // Stopped by a signal while it could not connect; its result says that all went well.
    "aborted"            exit(0)        "" => Some((Transient, "Connection refused (os error 111)")),                                           false, None, (0, 0),      [0, 0, 0], 0;
    "e401"               exit(1)        "" => Some((CannotRun, "Check your COPILOT_PROVIDER_API_KEY")),                                         false, None, (0, 0),      [0, 0, 0], 1;
    "sigterm_tool"       signal(15)     "" => Some((Other, "killed by SIGTERM (exit code 143)")),                                               false, None, (0, 0),      [1, 0, 0], 0;
];

#[rustfmt::skip]
pub(super) const PI: &[Recording] = recordings![ "pi":
    "trivial"            exit(0)        "" => None,                                                                                             true,  Some(0.00645), (2500, 30),  [0, 0, 0], 0;
    "success"            exit(0)        "" => None,                                                                                             true,  Some(0.027600000000000003), (8500, 240), [6, 6, 0], 0;
    "tool_error"         exit(0)        "" => None,                                                                                             true,  Some(0.01914), (6100, 156), [3, 3, 3], 0;
    // It exits with 0 whatever happened.
    "empty"              exit(0)        "" => Some((Silent, "empty answer")),                                                                    false, Some(0.0036),  (1200, 0),   [0, 0, 0], 0;
    "e401"               exit(0)        "" => Some((CannotRun, "401 invalid x-api-key; to log in: ")),                                           false, None,          (0, 0),      [0, 0, 0], 1;
    "sigterm_tool"       exit(143)      "" => Some((Other, "exited with code 143 (128+15: SIGTERM)")),                                          false, Some(0.00423), (1200, 42),  [1, 0, 0], 0;
];

/// Every tool of a recording: its name, shell line or file, and how it went with which exit code.
pub(super) fn tools(agent: &str, recording: &[u8]) -> Vec<String> {
    let heard = hear(agent, "", recording);
    let mut lines = Vec::new();
    for event in &heard.events {
        let AgentEvent::ToolStart { id, name, command, writes, .. } = event else { continue };
        let ended = heard.events.iter().find_map(|event| match event {
            AgentEvent::ToolEnd { id: ended, error, exit_code, .. } if ended == id => Some((*error, *exit_code)),
            _ => None,
        });
        let about = command.as_ref().or(writes.as_ref()).map_or("", String::as_str);
        let went = match ended {
            None => "unfinished".to_owned(),
            Some((error, None)) => if error { "failed" } else { "passed" }.to_owned(),
            Some((error, Some(code))) => format!("{} {code}", if error { "failed" } else { "passed" }),
        };
        lines.push(format!("{name}({about}) {went}"));
    }
    lines
}

#[test]
fn a_failed_command_is_no_success_whatever_the_program_calls_it() {
    for (agent, recording, expected) in [
        (
            "codex",
            &include_bytes!("../../streams/codex/tool_error.jsonl")[..],
            &[
                "Bash(/bin/bash -lc 'echo oops >&2; exit 3') failed 3",
                "Bash(/bin/bash -lc 'cat /home/dev/project/does-not-exist.txt') failed 1",
            ][..],
        ),
        // Its shell tells no exit code and calls everything a success, so it must not count as evidence.
        (
            "gemini",
            include_bytes!("../../streams/gemini/tool_error.jsonl"),
            &["run_shell_command() passed", "read_file() failed", "NoSuchTool() failed"],
        ),
        (
            "opencode",
            include_bytes!("../../streams/opencode/tool_error.jsonl"),
            &["bash(echo oops >&2; exit 3) failed 3", "read() failed", "invalid() failed"],
        ),
        (
            "copilot",
            include_bytes!("../../streams/copilot/tool_error.jsonl"),
            &["bash(echo oops >&2; exit 3) failed 3", "view() failed", "NoSuchTool() failed"],
        ),
        (
            "pi",
            include_bytes!("../../streams/pi/tool_error.jsonl"),
            &["bash(echo oops >&2; exit 3) failed 3", "read() failed", "NoSuchTool() failed"],
        ),
        (
            "qwen",
            include_bytes!("../../streams/qwen/hooks_act.jsonl"),
            &[
                "run_shell_command(echo FORBIDDEN > /home/dev/project/forbidden.txt) failed",
                "run_shell_command(echo allowed) passed",
                "run_shell_command(echo continued > /home/dev/project/continued.txt) passed 0",
            ],
        ),
    ] {
        assert_eq!(tools(agent, recording), expected, "{agent}");
    }
}

#[test]
fn every_program_tells_which_file_it_wrote_and_how_its_answer_ends() {
    for (agent, recording) in [
        ("codex", &include_bytes!("../../streams/codex/success.jsonl")[..]),
        ("gemini", include_bytes!("../../streams/gemini/success.jsonl")),
        ("opencode", include_bytes!("../../streams/opencode/success.jsonl")),
        ("qwen", include_bytes!("../../streams/qwen/success.jsonl")),
        ("copilot", include_bytes!("../../streams/copilot/success.jsonl")),
        ("pi", include_bytes!("../../streams/pi/success.jsonl")),
    ] {
        let heard = hear(agent, "", recording);
        let observation = heard.observation(&exit(0));
        assert_eq!(observation.files, ["/home/dev/project/hello.txt"], "{agent}");
        assert!(observation.tools.iter().all(|tool| tool.result == ToolResult::Passed), "{agent}");
        assert!(observation.last_text.ends_with("All finished.\n<response>DONE</response>"), "{agent}");
        assert_eq!(
            heard.text(),
            "I will look around.|Two at once.|All finished.\n<response>DONE</response>",
            "{agent}"
        );
        let result = heard.events.iter().find_map(|event| match event {
            AgentEvent::Result { text, .. } => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(result, Some("All finished.\n<response>DONE</response>"), "{agent}");
        assert_eq!(heard.failure(&Ending::Lingered, ""), None, "{agent}");
        assert!(heard.failure(&exit(1), "").is_some(), "{agent}: the exit code must agree");
    }
}

#[test]
fn todo_lists_are_lists_and_no_tools() {
    for (agent, recording) in [
        ("gemini", &include_bytes!("../../streams/gemini/success.jsonl")[..]),
        ("opencode", include_bytes!("../../streams/opencode/success.jsonl")),
    ] {
        let heard = hear(agent, "", recording);
        let lists: Vec<_> = heard
            .events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Todo { items } => {
                    Some(items.iter().map(|item| (item.content.as_str(), item.status)).collect::<Vec<_>>())
                }
                _ => None,
            })
            .collect();
        let expected = [
            ("first step", TodoStatus::Completed),
            ("second step", TodoStatus::InProgress),
            ("third step", TodoStatus::Pending),
        ];
        assert_eq!(lists, [expected.to_vec()], "{agent}");
    }
}

#[test]
fn b12_thinking_is_shown_and_is_no_answer() {
    let heard = hear("codex", "", include_bytes!("../../streams/codex/thinking.jsonl"));
    let thought = AgentEvent::Text { text: "Let me think about it.".to_owned(), voice: Voice::Thinking, delta: false };
    assert!(heard.events.contains(&thought), "{:?}", heard.events);
    assert!(!heard.observation(&exit(0)).last_text.contains("Let me think"));
}

#[test]
fn i02_the_reset_of_a_limit_is_found_in_words_or_beside_the_stream() {
    let stream = include_str!("../../streams/codex/usage_limit.jsonl");
    let heard = hear("codex", "", stream.as_bytes());
    let failure = heard.failure(&exit(1), "").unwrap();
    // 15 January 2027, 7:59 in the zone of this place.
    assert_eq!((failure.class, failure.resets_at), (Limited, Some(1_799_999_940)));
    assert_eq!(heard.reader.side_file(), None);

    let vague = stream.replace("try again at Jan 15th, 2027 7:59 AM.", "try again later.");
    let heard = hear("codex", "", vague.as_bytes());
    let file = heard.reader.side_file().unwrap();
    assert_eq!((file.variable, file.below_home, file.folder), ("CODEX_HOME", ".codex", "sessions"));
    assert_eq!(file.suffix, "-01a1dcb5-42ab-7131-9b78-1d83f49b3760.jsonl");
    assert_eq!(heard.failure(&exit(1), "").unwrap().resets_at, None);
    let rollout = br#"{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":100.0,"resets_at":1799999999}}}}"#;
    assert_eq!(heard.failure_with(&exit(1), "", rollout).unwrap().resets_at, Some(1_799_999_999));
}

#[test]
fn i01_a_spent_quota_is_a_limit_by_the_rest_of_its_status() {
    let result = r#"{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: It is gone.]\nPlease wait"}}"#;
    for (code, class) in [(173, Limited), (145, CannotRun), (244, Transient), (1, Other)] {
        let failure = hear("gemini", "", result.as_bytes()).failure(&exit(code), "").unwrap();
        assert_eq!(failure.class, class, "{code}");
    }
}

#[test]
fn i01_a_refusal_is_told_as_a_limit() {
    let quota = r#"{"type":"result","status":"error","error":{"message":"[API Error: You have exhausted your daily quota on this model.]"}}"#;
    let rate = r#"{"type":"session.error","data":{"errorType":"rate_limit","message":"Slow down.","statusCode":429}}"#;
    let busy =
        r#"{"type":"message_end","message":{"role":"assistant","stopReason":"error","errorMessage":"429 slow down"}}"#;
    let busy = format!("{busy}\n{{\"type\":\"agent_end\"}}");
    for (agent, stream, scope) in [
        ("codex", include_str!("../../streams/codex/usage_limit.jsonl"), "usage"),
        ("opencode", include_str!("../../streams/opencode/e429_forever.jsonl"), "rate_limit_error"),
        ("gemini", quota, "usage"),
        ("copilot", rate, "rate_limit"),
        ("pi", &busy, "usage"),
    ] {
        let heard = hear(agent, "", stream.as_bytes());
        let limit = AgentEvent::Limit { scope: scope.to_owned(), rejected: true, resets_at: None };
        assert!(heard.events.contains(&limit), "{agent}: {:?}", heard.events);
        assert_eq!(heard.failure(&exit(1), "").unwrap().class, Limited, "{agent}");
    }
}

#[test]
fn i02_spans_until_a_reset_are_counted_from_now() {
    let now = 1_790_000_000;
    let quota = r#"{"type":"result","status":"error","error":{"message":"You have exhausted your capacity. Your quota will reset after 2h15m3s."}}"#;
    let failure = hear("gemini", "", quota.as_bytes()).failure(&exit(173), "").unwrap();
    assert_eq!((failure.class, failure.resets_at), (Limited, Some(now + 8103)));
    let refused = include_str!("../../streams/opencode/e429_forever.jsonl");
    for (header, resets_at) in
        [("\"1\"", Some(now + 1)), ("\"Wed, 21 Oct 2026 07:28:00 GMT\"", Some(1_792_567_680)), ("null", None)]
    {
        let stream = refused.replace("\"retry-after\":\"1\"", &format!("\"retry-after\":{header}"));
        let failure = hear("opencode", "", stream.as_bytes()).failure(&exit(1), "").unwrap();
        assert_eq!((failure.class, failure.resets_at), (Limited, resets_at), "{header}");
    }
}

#[test]
fn i07_a_client_that_waits_for_the_network_until_its_time_is_up_failed_for_that_reason() {
    let limit = ralph_core::time::Millis::from_secs(90);
    let stream = include_str!("../../streams/codex/no_network.jsonl");
    for ending in [Ending::TimedOut { limit }, Ending::Idle { limit }] {
        let failure = hear("codex", "", stream.as_bytes()).failure(&ending, "").unwrap();
        assert_eq!(failure.class, Transient);
        assert!(failure.message.contains("1m30s and was ended; it last said: Reconnecting..."), "{}", failure.message);
        // Once it works again, running out of time is what it is.
        let item = r#"{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"on it"}}"#;
        let went_on = hear("codex", "", format!("{stream}{item}").as_bytes()).failure(&ending, "").unwrap();
        assert_eq!(went_on.class, Other);
    }
    assert_eq!(hear("codex", "", stream.as_bytes()).failure(&Ending::Stopped, "").unwrap().class, Other);
}

#[test]
fn i06_i10_a_program_that_refuses_to_start_says_why_and_what_to_do() {
    for (agent, code, stderr, class, pieces) in [
        (
            "codex",
            2,
            "WARNING: proceeding, even though\nerror: unexpected argument '--full-auto' found\n\n  tip: to pass\n",
            CannotRun,
            &["unexpected argument '--full-auto' found", "take the flag out of `agent.flags`", "@openai/codex"][..],
        ),
        (
            "codex",
            1,
            "Error loading config.toml: `wire_api = \"chat\"` is no longer supported.\n",
            CannotRun,
            &["no longer supported"],
        ),
        (
            "gemini",
            1,
            "Usage: gemini\n\nUnknown argument: no-such-flag\n",
            CannotRun,
            &["Unknown argument: no-such-flag"],
        ),
        (
            "gemini",
            41,
            "Please set an Auth method in your settings.json\n",
            CannotRun,
            &["Auth method", "; to log in: "],
        ),
        (
            "gemini",
            41,
            "YOLO mode is enabled. All tool calls will be automatically approved.\nInvalid auth method selected.\n",
            CannotRun,
            &["refused to start: Invalid auth method selected.; to log in: run `gemini` once"],
        ),
        (
            "opencode",
            1,
            "opencode run [message..]\n\nOptions:\n  -h, --help  show help\n",
            CannotRun,
            &["it printed its usage", "`agent.flags`", "opencode-ai"],
        ),
        ("amp", 1, "Error: API request for getUserInfo failed: 404\n", CannotRun, &["getUserInfo failed: 404"]),
        (
            "amp",
            1,
            "Error: Couldn't connect to the Amp server at http://127.0.0.1:9.\n\nStart it, then try again.\n",
            Transient,
            &["connect to the Amp server"],
        ),
        ("amp", 1, "Error: connect ECONNREFUSED 127.0.0.1:443\n", Transient, &["ECONNREFUSED"]),
        ("copilot", 1, "Error: 429 Too Many Requests\n", Limited, &["429 Too Many Requests"]),
        ("pi", 139, "Segmentation fault\n", Other, &["exited with code 139"]),
    ] {
        let failure = hear(agent, "", b"").failure(&exit(code), stderr).unwrap();
        assert_eq!(failure.class, class, "{agent}: {failure:?}");
        for piece in pieces {
            assert!(failure.message.contains(piece), "{agent}: {}", failure.message);
        }
    }
}

#[test]
fn i06_a_program_that_asks_for_a_login_cannot_run() {
    let session = r#"{"type":"session","version":3,"id":"01a1dde3"}"#;
    let no_key =
        "No API key found for the selected model.\n\nUse /login to log into a provider. See:\n  docs/models.md\n";
    let asked = "No API key found. Starting login flow...\nWhen prompted, paste your code here: ";
    let no_code = "Login failed: That code looks incomplete. Copy the full code from the browser and try again.\n";
    for (agent, stdout, stderr, piece) in [
        ("pi", session, no_key, "No API key found for the selected model.; to log in: run `pi` once and type /login"),
        ("amp", asked, no_code, "Login failed"),
    ] {
        let failure = hear(agent, "", stdout.as_bytes()).failure(&exit(1), stderr).unwrap();
        assert_eq!(failure.class, CannotRun, "{agent}: {failure:?}");
        assert!(failure.message.contains(piece), "{agent}: {}", failure.message);
    }
    let begun = format!("{session}\n{{\"type\":\"agent_start\"}}");
    assert_eq!(hear("pi", "", begun.as_bytes()).failure(&exit(1), no_key).unwrap().class, Other);
}

#[test]
fn sub_agents_of_copilot_are_seen_but_prove_nothing() {
    let stream = [
        r#"{"type":"assistant.message","data":{"content":"<response>DONE</response>","parentToolCallId":"t"}}"#,
        r#"{"type":"tool.execution_start","data":{"toolCallId":"s","toolName":"bash","arguments":{"command":"npm test"},"parentToolCallId":"t"}}"#,
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"s","success":true,"parentToolCallId":"t"}}"#,
        r#"{"type":"assistant.usage","data":{"inputTokens":5,"outputTokens":2},"ephemeral":true}"#,
        r#"{"type":"assistant.message","data":{"content":"ok"}}"#,
        r#"{"type":"result","exitCode":0}"#,
    ];
    let heard = hear("copilot", "", stream.join("\n").as_bytes());
    let observation = heard.observation(&exit(0));
    assert_eq!((heard.text().as_str(), observation.tools.len()), ("ok", 0));
    assert_eq!((observation.claim, observation.tokens.total()), (ralph_core::claim::Claim::None, 7));
}

#[test]
fn a_retry_of_pi_begins_another_turn() {
    let failed = include_str!("../../streams/pi/e401.jsonl");
    let trivial = include_str!("../../streams/pi/trivial.jsonl");
    let whole = format!("{failed}{trivial}");
    let heard = hear("pi", "", whole.as_bytes());
    assert_eq!(heard.failure(&exit(0), ""), None);
    let begun = format!("{failed}{{\"type\":\"agent_start\"}}\n");
    assert!(!hear("pi", "", begun.as_bytes()).reader.has_result());
}

#[test]
fn an_error_that_pi_gets_over_by_itself_is_none() {
    let failed = include_str!("../../streams/pi/e401.jsonl");
    let trivial = include_str!("../../streams/pi/trivial.jsonl");
    let retry = "{\"type\":\"auto_retry_start\",\"attempt\":1,\"errorMessage\":\"terminated\"}\n";
    let errors = |stream: String| {
        let heard = hear("pi", "", stream.as_bytes());
        heard.events.iter().filter(|event| matches!(event, AgentEvent::Error { .. })).count()
    };
    assert_eq!(errors(format!("{failed}{retry}{trivial}")), 0);
    assert_eq!(errors(format!("{failed}{retry}{failed}")), 1, "the last one is told");
    assert_eq!(errors(failed.to_owned()), 1);
}

#[test]
fn a_stream_that_broke_off_is_the_networks_fault() {
    let qwen = |error: &str| {
        let result = serde_json::json!({
            "type": "result", "subtype": "error_during_execution", "is_error": true, "error": { "message": error },
        });
        hear("qwen", "", result.to_string().as_bytes()).failure(&exit(1), "").unwrap().class
    };
    for error in [
        "[API Error: terminated (cause: Response does not match the HTTP/1.1 protocol (Invalid EOF state))]",
        "terminated",
        "[API Error: Premature close]",
        "TypeError: fetch failed (cause: UND_ERR_SOCKET other side closed)",
        "[API Error: socket hang up]",
        "error decoding response body: unexpected EOF during chunk size line",
        "peer closed connection without sending complete message body (incomplete chunked read)",
    ] {
        assert_eq!(qwen(error), Transient, "{error}");
    }
    assert_eq!(qwen("the sub-agent was terminated after 40 turns"), Other);
}
