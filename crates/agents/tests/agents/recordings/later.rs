//! The programs that came later, measured in the same way.

use super::others::tools;
use super::{CannotRun, Expected, Limited, Other, Recording, Silent, Transient, exit, recordings, signal};
use crate::hear;
use ralph_core::agent_event::{AgentEvent, TodoStatus, Voice};

#[rustfmt::skip]
pub(super) const GROK: &[Recording] = recordings![ "grok":
    "success"        exit(0)     "" => None, true, None, (3600, 120), [2, 2, 0], 0;
    "tool_error"     exit(0)     "" => None, true, None, (3600, 120), [2, 2, 2], 0;
    // Two commands went on in the background: they have not ended.
    "tools"          exit(0)     "" => None, true, None, (8400, 280), [7, 5, 1], 0;
    // A sub-agent said that it was done, with the main agent's voice.
    "sub_agent"      exit(0)     "" => None, false, None, (3600, 120), [1, 1, 0], 0;
    "trivial"        exit(0)     "" => None, true, None, (1200, 40), [0, 0, 0], 0;
    "e429_once"      exit(0)     "" => None, true, None, (1200, 40), [0, 0, 0], 0;
    "drop"           exit(0)     "" => None, true, None, (1200, 40), [0, 0, 0], 0;
    "e401"           exit(1)     "" => Some((CannotRun, "Incorrect API key provided.")), false, None, (0, 0), [0, 0, 0], 1;
    "e403"           exit(1)     "" => Some((CannotRun, "Your account may not use this model.")), false, None, (0, 0), [0, 0, 0], 1;
    "e404"           exit(1)     "" => Some((CannotRun, "The model `scripted` does not exist.")), false, None, (0, 0), [0, 0, 0], 1;
    "e400"           exit(1)     "" => Some((Other, "prompt is too long")), false, None, (0, 0), [0, 0, 0], 1;
    "billing"        exit(1)     "" => Some((CannotRun, "You exceeded your current quota")), false, None, (0, 0), [0, 0, 0], 1;
    "e429_forever"   exit(1)     "" => Some((Limited, "Rate limited, slow down")), false, None, (0, 0), [0, 0, 0], 1;
    "no_auth"        exit(1)     "" => Some((CannotRun, "Not signed in.")), false, None, (0, 0), [0, 0, 0], 1;
    "sigterm_tool"   signal(15)  "" => Some((Other, "killed by SIGTERM (exit code 143)")), false, None, (0, 0), [0, 0, 0], 0;
];

#[rustfmt::skip]
pub(super) const CLINE: &[Recording] = recordings![ "cline":
    "success"        exit(0)     "" => None, true, None, (3600, 120), [2, 2, 0], 0;
    "tool_error"     exit(0)     "" => None, true, None, (3600, 120), [2, 2, 2], 0;
    // One call of two commands, one of which failed; another ran out of time.
    "tools"          exit(0)     "" => None, true, None, (7200, 240), [7, 7, 2], 0;
    // A sub-agent said that it was done; its tokens are not in the result.
    "sub_agent"      exit(0)     "" => None, false, None, (3600, 120), [1, 1, 0], 0;
    "thinking"       exit(0)     "" => None, false, None, (2400, 80), [1, 1, 0], 0;
    "trivial"        exit(0)     "" => None, true, None, (1200, 40), [0, 0, 0], 0;
    "drop"           exit(0)     "" => None, true, None, (1200, 40), [0, 0, 0], 0;
    "e401"           exit(1)     "" => Some((CannotRun, "Incorrect API key provided.; ")), false, None, (0, 0), [0, 0, 0], 1;
    "e400"           exit(1)     "" => Some((Other, "exceeds the model's context window")), false, None, (0, 0), [0, 0, 0], 1;
    "billing"        exit(1)     "" => Some((CannotRun, "You exceeded your current quota")), false, None, (0, 0), [0, 0, 0], 1;
    "e429_forever"   exit(1)     "" => Some((Limited, "Rate limited, slow down")), false, None, (0, 0), [0, 0, 0], 1;
    "refused"        exit(1)     "" => Some((Transient, "Cannot connect to API")), false, None, (0, 0), [0, 0, 0], 1;
    "empty"          exit(1)     "" => Some((Other, "Model returned empty response")), false, None, (3600, 120), [0, 0, 0], 1;
    // It exits with 0 here as well.
    "sigint_tool"    exit(0)     "" => Some((Other, "ended without a result")), false, None, (1200, 40), [1, 0, 0], 0;
];

#[rustfmt::skip]
pub(super) const KIMI: &[Recording] = recordings![ "kimi":
    "success"        exit(0)     "" => None, true, None, (0, 0), [2, 2, 0], 0;
    "tool_error"     exit(0)     "" => None, true, None, (0, 0), [2, 2, 2], 0;
    "tools"          exit(0)     "" => None, true, None, (0, 0), [7, 7, 0], 0;
    "sub_agent"      exit(0)     "" => None, false, None, (0, 0), [1, 1, 0], 0;
    "trivial"        exit(0)     "" => None, true, None, (0, 0), [0, 0, 0], 0;
    "e429_once"      exit(0)     "" => None, true, None, (0, 0), [0, 0, 0], 0;
    "drop"           exit(0)     "" => None, true, None, (0, 0), [0, 0, 0], 0;
    "e401"           exit(1)     "error: failed to run prompt: provider.auth_error: 401 Incorrect API key provided.\nSee log: x" => Some((CannotRun, "401 Incorrect API key provided.; ")), false, None, (0, 0), [0, 0, 0], 0;
    "e400"           exit(1)     "error: failed to run prompt: compaction.failed: APIContextOverflowError: 400 prompt is too long: 250000 tokens > 200000 maximum\nSee log: x" => Some((Other, "prompt is too long")), false, None, (0, 0), [0, 0, 0], 0;
    "billing"        exit(1)     "error: failed to run prompt: provider.api_error: 429 You exceeded your current quota, please check your plan and billing details.\nSee log: x" => Some((Limited, "You exceeded your current quota")), false, None, (0, 0), [0, 0, 0], 0;
    "e429_forever"   exit(1)     "error: failed to run prompt: provider.rate_limit: 429 Rate limited, slow down\nSee log: x" => Some((Limited, "429 Rate limited, slow down")), false, None, (0, 0), [0, 0, 0], 0;
    "no_auth"        exit(1)     "error: failed to run prompt: No model configured. Run `kimi` and use /login to sign in, then retry; or set default_model in config.toml.\nSee log: x" => Some((CannotRun, "No model configured.")), false, None, (0, 0), [0, 0, 0], 0;
    // It repeats its request for minutes.
    "empty"          signal(9)   "" => Some((Other, "The API returned an empty response")), false, None, (0, 0), [0, 0, 0], 0;
    "refused"        signal(9)   "" => Some((Transient, "Connection error.")), false, None, (0, 0), [0, 0, 0], 0;
    "sigterm_tool"   exit(143)   "" => Some((Other, "exited with code 143")), false, None, (0, 0), [1, 1, 0], 0;
];

#[rustfmt::skip]
pub(super) const AIDER: &[Recording] = recordings![ "aider" in ".txt":
    "success"        exit(0)     "" => None, false, None, (1200, 40), [0, 0, 0], 0;
    "trivial"        exit(0)     "" => None, true, None, (1200, 40), [0, 0, 0], 0;
    "edit"           exit(0)     "" => None, true, None, (1200, 40), [1, 1, 0], 0;
    "e429_once"      exit(0)     "" => None, true, None, (1200, 40), [0, 0, 0], 0;
    // It exits with 0 whatever happened.
    "e401"           exit(0)     "" => Some((CannotRun, "Incorrect API key provided.; ")), false, None, (0, 0), [0, 0, 0], 1;
    "e403"           exit(0)     "" => Some((Other, "Your account may not use this model.")), false, None, (0, 0), [0, 0, 0], 1;
    "e404"           exit(0)     "" => Some((CannotRun, "The model `scripted` does not exist.")), false, None, (0, 0), [0, 0, 0], 1;
    "e400"           exit(0)     "" => Some((Other, "prompt is too long")), false, None, (0, 0), [0, 0, 0], 1;
    "no_auth"        exit(0)     "" => Some((CannotRun, "the OPENAI_API_KEY environment variable; ")), false, None, (0, 0), [0, 0, 0], 1;
    "refused"        exit(0)     "" => Some((Transient, "Connection error.")), false, None, (0, 0), [0, 0, 0], 1;
    "e429_forever"   exit(0)     "" => Some((Limited, "Rate limited, slow down")), false, None, (0, 0), [0, 0, 0], 1;
    "empty"          exit(0)     "" => Some((Silent, "empty answer")), false, None, (1200, 40), [0, 0, 0], 0;
];

#[rustfmt::skip]
pub(super) const CN: &[Recording] = recordings![ "cn" in ".txt":
    "success"        exit(0)     "" => None, true, None, (0, 0), [0, 0, 0], 0;
    "e429_once"      exit(0)     "" => None, true, None, (0, 0), [0, 0, 0], 0;
    "drop"           exit(0)     "" => None, true, None, (0, 0), [0, 0, 0], 0;
    "empty"          exit(0)     "" => Some((Silent, "empty answer")), false, None, (0, 0), [0, 0, 0], 0;
    // It exits with 0 here as well.
    "sigterm_tool"   exit(0)     "" => Some((Silent, "empty answer")), false, None, (0, 0), [0, 0, 0], 0;
];

#[test]
fn every_tool_is_told_with_its_own_end() {
    for (agent, recording, expected) in [
        (
            "grok",
            &include_bytes!("../../streams/grok/tools.jsonl")[..],
            &[
                "todo_write() passed",
                "write(new.txt) passed",
                "read_file() passed",
                "search_replace(new.txt) passed",
                "read_file() failed",
                "run_terminal_command(sleep 20; echo slept) unfinished",
                "run_terminal_command() unfinished",
            ][..],
        ),
        (
            "grok",
            include_bytes!("../../streams/grok/tool_error.jsonl"),
            &["run_terminal_command(echo oops; exit 3) failed 3", "run_terminal_command(cat /no/such/file) failed 1"],
        ),
        (
            "cline",
            include_bytes!("../../streams/cline/tools.jsonl"),
            &[
                "editor(/home/dev/project/new.txt) passed",
                "read_files() passed",
                "editor(/none/x.txt) passed",
                "run_commands(true) passed 0",
                "run_commands(exit 4) failed 4",
                "run_commands(sleep 35; echo slept) failed",
                "ask_question() passed",
            ],
        ),
        // Nothing states that a command went well, so commands are no evidence.
        ("kimi", include_bytes!("../../streams/kimi/tool_error.jsonl"), &["Bash() failed 3", "Bash() failed 1"]),
        ("aider", include_bytes!("../../streams/aider/edit.txt"), &["edit(made.txt) passed"]),
    ] {
        assert_eq!(tools(agent, recording), expected, "{agent}");
    }
}

#[test]
fn todo_lists_are_told_as_they_were_taken() {
    let grok = include_bytes!("../../streams/grok/tools.jsonl");
    let kimi = include_bytes!("../../streams/kimi/tools.jsonl");
    for (agent, recording) in [("grok", &grok[..]), ("kimi", kimi)] {
        let lists = hear(agent, "", recording).events.into_iter().filter_map(|event| match event {
            AgentEvent::Todo { items } => Some(items),
            _ => None,
        });
        let lists: Vec<Vec<_>> =
            lists.map(|items| items.into_iter().map(|item| (item.content, item.status)).collect()).collect();
        let expected = [("first".to_owned(), TodoStatus::InProgress), ("second".to_owned(), TodoStatus::Pending)];
        assert_eq!(lists, [expected], "{agent}");
    }
    let refused = r#"{"role":"assistant","tool_calls":[{"id":"t","function":{"name":"TodoList","arguments":"{\"todos\":[{\"title\":\"a\"}]}"}}]}
{"role":"tool","tool_call_id":"t","content":"Invalid arguments"}"#;
    assert_eq!(hear("kimi", "", refused.as_bytes()).count(|event| matches!(event, AgentEvent::Todo { .. })), 0);
}

#[test]
fn words_of_sub_agents_are_not_the_main_agents() {
    for agent in ["grok", "cline"] {
        let recording = match agent {
            "grok" => &include_bytes!("../../streams/grok/sub_agent.jsonl")[..],
            _ => include_bytes!("../../streams/cline/sub_agent.jsonl"),
        };
        let heard = hear(agent, "", recording);
        let said = |wanted: Voice| {
            heard.count(|event| matches!(event, AgentEvent::Text { text, voice, .. } if *voice == wanted && text.starts_with("sub says")))
        };
        assert_eq!((said(Voice::Sub), said(Voice::Main)), (1, 0), "{agent}");
        let answers =
            heard.count(|event| matches!(event, AgentEvent::Result { text, .. } if text == "The sub-agent spoke."));
        assert_eq!(answers, 1, "{agent}: the main agent's own words are in the result");
    }
}

#[test]
fn a_program_of_plain_text_that_refuses_its_flags_cannot_run() {
    for (agent, stderr) in [
        ("aider", "usage: aider [-h] [--model MODEL]\naider: error: unrecognized arguments: --no-such-flag\n"),
        ("cn", "error: unknown option '--no-such-flag'\n"),
    ] {
        let failure = hear(agent, "", b"").failure(&exit(2), stderr).unwrap();
        assert_eq!(failure.class, CannotRun, "{agent}: {}", failure.message);
        assert!(failure.message.contains("; take the flag out of `agent.flags`"), "{}", failure.message);
    }
}
