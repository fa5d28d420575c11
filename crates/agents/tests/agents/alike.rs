//! What holds for every dialect with a stream, whatever its words are.

use crate::hear;
use ralph_agents::{by_name, names};
use ralph_core::agent_event::AgentEvent;
use ralph_core::claim::Claim;
use ralph_core::observation::{Ending, FailureClass, Tokens};

const DONE: Ending = Ending::Exited { code: 0 };
const CLAIM: &str = "<response>DONE</response>";

/// How a program says something and how it ends; `TEXT` stands for what is said.
struct Tongue {
    dialect: &'static str,
    said: &'static str,
    done: &'static str,
    /// Places where words stand that are not the main agent's own.
    elsewhere: &'static [&'static str],
    /// A recorded stream for mutations.
    recording: &'static [u8],
}

const TONGUES: &[Tongue] = &[
    Tongue {
        dialect: "claude",
        said: r#"{"type":"assistant","message":{"content":[{"type":"text","text":"TEXT"}]}}"#,
        done: r#"{"type":"result","subtype":"success","is_error":false,"result":"TEXT"}"#,
        elsewhere: &[],
        recording: include_bytes!("../streams/claude/success.jsonl"),
    },
    Tongue {
        dialect: "codex",
        said: r#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"TEXT"}}"#,
        done: r#"{"type":"turn.completed","usage":{"input_tokens":1}}"#,
        elsewhere: &[
            r#"{"type":"item.completed","item":{"id":"i","type":"reasoning","text":"TEXT"}}"#,
            r#"{"type":"item.completed","item":{"id":"i","type":"error","message":"TEXT"}}"#,
            r#"{"type":"item.started","item":{"id":"i","type":"agent_message","text":"TEXT"}}"#,
            r#"{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"echo TEXT","aggregated_output":"TEXT","exit_code":0}}"#,
            r#"{"type":"item.updated","item":{"id":"i","type":"todo_list","items":[{"text":"TEXT","completed":true}]}}"#,
            r#"{"type":"error","message":"TEXT"}"#,
        ],
        recording: include_bytes!("../streams/codex/success.jsonl"),
    },
    Tongue {
        dialect: "amp",
        said: r#"{"type":"assistant","message":{"content":[{"type":"text","text":"TEXT"}]}}"#,
        done: r#"{"type":"result","subtype":"success","result":"TEXT"}"#,
        elsewhere: &[
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"TEXT"}]}}"#,
            r#"{"type":"assistant","parent_tool_use_id":"t","message":{"content":[{"type":"text","text":"TEXT"}]}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"TEXT"}]}}"#,
        ],
        recording: include_bytes!("../streams/qwen/success.jsonl"),
    },
    Tongue {
        dialect: "opencode",
        said: r#"{"type":"text","part":{"type":"text","text":"TEXT"}}"#,
        done: r#"{"type":"step_finish","part":{"reason":"stop","cost":0.5}}"#,
        elsewhere: &[
            r#"{"type":"reasoning","part":{"type":"reasoning","text":"TEXT"}}"#,
            r#"{"type":"tool_use","part":{"tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"TEXT"},"output":"TEXT","metadata":{"exit":0}}}}"#,
            r#"{"type":"tool_use","part":{"tool":"task","callID":"c","state":{"status":"completed","output":"TEXT"}}}"#,
        ],
        recording: include_bytes!("../streams/opencode/success.jsonl"),
    },
    Tongue {
        dialect: "gemini",
        said: r#"{"type":"message","role":"assistant","content":"TEXT"}"#,
        done: r#"{"type":"result","status":"success","stats":{"input_tokens":1}}"#,
        elsewhere: &[
            r#"{"type":"message","role":"user","content":"TEXT"}"#,
            r#"{"type":"tool_result","tool_id":"t","status":"success","output":"TEXT"}"#,
            r#"{"type":"tool_use","tool_id":"t","tool_name":"write_todos","parameters":{"todos":[{"description":"TEXT"}]}}"#,
            r#"{"type":"error","severity":"warning","message":"TEXT"}"#,
        ],
        recording: include_bytes!("../streams/gemini/success.jsonl"),
    },
    Tongue {
        dialect: "qwen",
        said: r#"{"type":"assistant","message":{"content":[{"type":"text","text":"TEXT"}]}}"#,
        done: r#"{"type":"result","subtype":"success","is_error":false,"result":"TEXT"}"#,
        elsewhere: &[
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"TEXT"}]}}"#,
            r#"{"type":"stream_event","event":{"type":"goal_state","goal_state":{"goal":"TEXT"}}}"#,
        ],
        recording: include_bytes!("../streams/qwen/success.jsonl"),
    },
    Tongue {
        dialect: "copilot",
        said: r#"{"type":"assistant.message","data":{"content":"TEXT"}}"#,
        done: r#"{"type":"result","exitCode":0}"#,
        elsewhere: &[
            r#"{"type":"user.message","data":{"content":"TEXT","transformedContent":"TEXT"}}"#,
            r#"{"type":"assistant.message_delta","data":{"deltaContent":"TEXT"},"ephemeral":true}"#,
            r#"{"type":"assistant.reasoning","data":{"content":"TEXT"}}"#,
            r#"{"type":"assistant.message","data":{"content":"TEXT","parentToolCallId":"t"}}"#,
            r#"{"type":"tool.execution_complete","data":{"toolCallId":"t","success":true,"result":{"content":"TEXT"}}}"#,
        ],
        recording: include_bytes!("../streams/copilot/tool_error.jsonl"),
    },
    Tongue {
        dialect: "pi",
        said: r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"TEXT"}],"stopReason":"stop"}}"#,
        done: r#"{"type":"agent_end","messages":[{"role":"user","content":[{"type":"text","text":"<response>DONE</response>"}]}]}"#,
        elsewhere: &[
            r#"{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"TEXT"}]}}"#,
            r#"{"type":"message_end","message":{"role":"toolResult","content":[{"type":"text","text":"TEXT"}]}}"#,
            r#"{"type":"message_update","message":{"role":"assistant","content":[{"type":"text","text":"TEXT"}]}}"#,
            r#"{"type":"tool_execution_end","toolCallId":"t","result":{"content":[{"type":"text","text":"TEXT"}]}}"#,
        ],
        recording: include_bytes!("../streams/pi/trivial.jsonl"),
    },
    Tongue {
        dialect: "grok",
        said: r#"{"type":"assistant","message":{"content":[{"type":"text","text":"TEXT"}]}}"#,
        done: r#"{"type":"result","subtype":"success","is_error":false,"result":"TEXT"}"#,
        elsewhere: &[
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"{\"type\":\"Bash\",\"output_for_prompt\":\"TEXT\",\"exit_code\":0}"}]}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"TEXT"}]}}"#,
        ],
        recording: include_bytes!("../streams/grok/tools.jsonl"),
    },
    Tongue {
        dialect: "cline",
        said: r#"{"type":"agent_event","event":{"type":"content_end","contentType":"text","text":"TEXT"}}"#,
        done: r#"{"type":"run_result","finishReason":"completed","text":"TEXT","usage":{"inputTokens":1}}"#,
        elsewhere: &[
            r#"{"type":"agent_event","event":{"type":"content_end","contentType":"reasoning","reasoning":"TEXT"}}"#,
            r#"{"type":"agent_event","event":{"type":"content_start","contentType":"text","text":"TEXT","accumulated":"TEXT"}}"#,
            r#"{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolName":"run_commands","toolCallId":"t","output":[{"query":"TEXT","result":"TEXT","success":true}]}}"#,
            r#"{"type":"agent_event","event":{"type":"done","text":"TEXT"}}"#,
            r#"{"type":"agent_event","event":{"type":"notice","message":"TEXT"}}"#,
        ],
        recording: include_bytes!("../streams/cline/tools.jsonl"),
    },
    Tongue {
        dialect: "kimi",
        said: r#"{"role":"assistant","content":"TEXT"}"#,
        done: r#"{"role":"meta","type":"session.resume_hint","session_id":"s","content":"<response>DONE</response>"}"#,
        elsewhere: &[
            r#"{"role":"tool","tool_call_id":"t","content":"TEXT"}"#,
            r#"{"role":"assistant","tool_calls":[{"id":"t","function":{"name":"Bash","arguments":"{\"command\":\"echo TEXT\"}"}}]}"#,
            r#"{"role":"meta","type":"turn.step.retrying","error_message":"TEXT"}"#,
        ],
        recording: include_bytes!("../streams/kimi/tools.jsonl"),
    },
    Tongue {
        dialect: "cursor-agent",
        said: r#"{"type":"assistant","message":{"content":[{"type":"text","text":"TEXT"}]}}"#,
        done: r#"{"type":"result","subtype":"success","is_error":false,"result":"TEXT"}"#,
        elsewhere: &[
            r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"TEXT"}]}}"#,
            r#"{"type":"thinking","subtype":"delta","text":"TEXT"}"#,
            r#"{"type":"tool_call","subtype":"completed","call_id":"t","tool_call":{"shellToolCall":{"args":{"command":"TEXT"},"result":{"success":{"exitCode":0,"stdout":"TEXT"}}}}}"#,
        ],
        recording: include_bytes!("../streams/qwen/success.jsonl"),
    },
];

/// The dialects of programs that print plain text.
const PLAIN: [&str; 3] = ["aider", "cn", "generic"];

impl Tongue {
    fn says(&self, text: &str) -> String {
        self.said.replace("TEXT", text)
    }

    fn ends(&self, text: &str) -> String {
        self.done.replace("TEXT", text)
    }

    fn hear(&self, stream: &str) -> crate::Heard {
        hear(self.dialect, "", stream.as_bytes())
    }
}

#[test]
fn every_dialect_with_a_stream_is_tried_here() {
    let tried: Vec<&str> = TONGUES.iter().map(|tongue| tongue.dialect).chain(PLAIN).collect();
    assert_eq!(names().collect::<Vec<_>>(), tried);
}

#[test]
fn b03_half_an_event_at_the_end_is_noise_and_ends_no_turn() {
    for tongue in TONGUES {
        let whole = format!("{}\n{}", tongue.says("hi"), tongue.ends("hi"));
        let heard = tongue.hear(&whole);
        assert_eq!((heard.failure(&DONE, ""), heard.reader.has_result()), (None, true), "{}", tongue.dialect);
        let cut = tongue.hear(&whole[..whole.len() - 1]);
        assert_eq!((cut.noise, cut.reader.has_result()), (1, false), "{}", tongue.dialect);
        assert_eq!(cut.failure(&DONE, "").unwrap().message, "the agent ended without a result", "{}", tongue.dialect);
    }
}

#[test]
fn b02_b04_b08_long_lines_bad_bytes_and_two_objects_on_a_line_are_read() {
    for tongue in TONGUES {
        let long = "x".repeat(400 << 10);
        let heard =
            tongue.hear(&format!("\u{feff}{} {}\r\n\n{}", tongue.says("a"), tongue.says(&long), tongue.ends(&long)));
        assert_eq!((heard.text(), heard.noise), (format!("a|{long}"), 0), "{}", tongue.dialect);
        assert_eq!(heard.failure(&DONE, ""), None);
        let mut bytes = tongue.says("a_b").into_bytes();
        let at = bytes.windows(3).position(|piece| piece == b"a_b").unwrap();
        bytes[at + 1] = 0xff;
        assert_eq!(hear(tongue.dialect, "", &bytes).text(), "a\u{fffd}b", "{}", tongue.dialect);
    }
}

#[test]
fn b06_plain_text_is_noise_and_the_failure_says_which_setting_to_look_at() {
    for tongue in TONGUES {
        for (ending, prefix) in [(DONE, ""), (Ending::Exited { code: 1 }, "the agent exited with code 1; ")] {
            let heard = tongue.hear("Hello, I am an agent.\nAll done.\n");
            let failure = heard.failure(&ending, "").unwrap();
            let start = format!("{prefix}the output is not what the dialect `{}` expects", tongue.dialect);
            assert!(failure.message.starts_with(&start), "{}", failure.message);
            for piece in ["`Hello, I am an agent.`", "`agent.dialect`", "`agent.format`"] {
                assert!(failure.message.contains(piece), "{}", failure.message);
            }
            assert_eq!((heard.noise, heard.text().as_str(), failure.class), (2, "", FailureClass::Other));
        }
        // Another program's stream is valid JSON, but nothing in it is known.
        let failure = tongue.hear(r#"{"type":"greeting","text":"hi"}"#).failure(&DONE, "").unwrap();
        assert!(failure.message.contains("is not what the dialect"), "{}", failure.message);
        let noisy = tongue.hear(&format!("npm warn\n{}\n{}", tongue.says("hi"), tongue.ends("hi")));
        assert_eq!((noisy.noise, noisy.failure(&DONE, "")), (1, None), "{}", tongue.dialect);
    }
}

#[test]
fn b07_unknown_types_and_changed_types_never_fail_a_run() {
    for tongue in TONGUES {
        let kinds: Vec<String> =
            tongue.elsewhere.iter().chain([&tongue.said, &tongue.done]).flat_map(|line| changed(line)).collect();
        let future = r#"{"type":"future","data":[{}]}"#;
        let stream = format!("{future}\n{}\n{}\n{}", kinds.join("\n"), tongue.says("hi"), tongue.ends("hi"));
        let heard = tongue.hear(&stream);
        assert_eq!((heard.noise, heard.failure(&DONE, "")), (0, None), "{}: {:#?}", tongue.dialect, heard.events);
        assert!(heard.observation(&DONE).lines.unknown >= 1, "{}", tongue.dialect);
    }
}

/// The line with each value of its objects replaced by values of other types.
fn changed(line: &str) -> Vec<String> {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let fields: Vec<String> = line.as_object().unwrap().keys().filter(|key| *key != "type").cloned().collect();
    let mut lines = Vec::new();
    for field in fields {
        for value in ["null", "7", "\"text\"", "[7,{}]", "{}", "{\"content\":{},\"error\":[],\"state\":{},\"type\":[]}"]
        {
            let mut other = line.clone();
            other[&field] = serde_json::from_str(value).unwrap();
            lines.push(other.to_string());
        }
    }
    lines
}

#[test]
fn b12_only_the_main_agents_own_words_claim() {
    for tongue in TONGUES {
        let done = tongue.ends("ok");
        for place in tongue.elsewhere {
            let heard = tongue.hear(&format!("{}\n{}\n{done}", place.replace("TEXT", CLAIM), tongue.says("ok")));
            assert_eq!(heard.observation(&DONE).claim, Claim::None, "{}: {place}", tongue.dialect);
            assert_eq!(heard.text(), "ok", "{}: {place}", tongue.dialect);
            // Where nothing else is said, it is no answer either.
            let alone = tongue.hear(&format!("{}\n{}", place.replace("TEXT", CLAIM), tongue.ends("")));
            assert_eq!(alone.failure(&DONE, "").unwrap().message, "empty answer", "{}: {place}", tongue.dialect);
        }
        let claimed = tongue.hear(&format!("{}\n{}", tongue.says(CLAIM), tongue.ends(CLAIM)));
        assert_eq!(claimed.observation(&DONE).claim, Claim::Complete, "{}", tongue.dialect);
    }
}

#[test]
fn b12_a_claim_in_pieces_is_found() {
    let piece = |text: &str| format!(r#"{{"type":"message","role":"assistant","content":"{text}","delta":true}}"#);
    let stream = ["All done.\\n<resp", "onse>DO", "NE</response>"].map(piece).join("\n");
    let heard = hear("gemini", "", format!("{stream}\n{}", TONGUES[4].done).as_bytes());
    assert_eq!(heard.text(), format!("All done.\n{CLAIM}"));
    assert_eq!(heard.observation(&DONE).claim, Claim::Complete);
    // Killed in the middle of a message, it has still said what it has said.
    assert_eq!(hear("gemini", "", piece("half").as_bytes()).text(), "half");
}

#[test]
fn i03_text_that_merely_mentions_a_limit_is_no_limit() {
    for tongue in TONGUES {
        for text in
            ["You’ve hit your usage limit, try again at 7:59 AM.", "HTTP 429 rate limit", "401 Unauthorized: log in"]
        {
            let said = tongue.says(text);
            assert_eq!(
                tongue.hear(&format!("{said}\n{}", tongue.ends(text))).failure(&DONE, text),
                None,
                "{}",
                tongue.dialect
            );
            let crashed = tongue.hear(&said).failure(&Ending::Exited { code: 1 }, "Error: 429").unwrap();
            assert_eq!(crashed.class, FailureClass::Other, "{}: {crashed:?}", tongue.dialect);
        }
    }
}

#[test]
fn b13_usage_that_cannot_be_true_is_counted() {
    for (dialect, line) in [
        ("codex", r#"{"type":"turn.completed","usage":{"input_tokens":-5,"output_tokens":3}}"#),
        (
            "opencode",
            r#"{"type":"step_finish","part":{"reason":"stop","tokens":{"input":"many","output":3},"cost":-1}}"#,
        ),
        ("gemini", r#"{"type":"result","status":"success","stats":{"input_tokens":1e30,"output_tokens":3}}"#),
        ("copilot", r#"{"type":"assistant.usage","data":{"inputTokens":{},"outputTokens":3}}"#),
        (
            "pi",
            r#"{"type":"message_end","message":{"role":"assistant","usage":{"input":true,"output":3,"cost":{"total":1e999}}}}"#,
        ),
        (
            "cline",
            r#"{"type":"agent_event","event":{"type":"usage","inputTokens":-1,"outputTokens":3,"totalCost":-1}}"#,
        ),
    ] {
        let observation = hear(dialect, "", line.as_bytes()).observation(&DONE);
        assert_eq!((observation.tokens.input, observation.tokens.output), (0, 3), "{dialect}");
        assert_eq!((observation.cost_usd, observation.lines.unknown), (None, 1), "{dialect}");
    }
}

#[test]
fn what_was_spent_is_known_before_the_end() {
    for (dialect, recording) in [
        ("opencode", &include_bytes!("../streams/opencode/success.jsonl")[..]),
        ("pi", include_bytes!("../streams/pi/success.jsonl")),
    ] {
        let heard = hear(dialect, "", recording);
        let first = heard.events.iter().find_map(|event| match event {
            AgentEvent::Spent { cost_usd, tokens } => Some((*cost_usd, tokens.map(|tokens| tokens.total()))),
            _ => None,
        });
        assert_eq!(first, Some((Some(0.00423), Some(1242))), "{dialect}");
    }
}

#[test]
fn no_mutation_of_a_stream_panics_or_invents_a_result() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 33) as usize % below
    };
    for tongue in TONGUES {
        let lines: Vec<&[u8]> = tongue.recording.split_inclusive(|&byte| byte == b'\n').collect();
        for count in 0..lines.len() - 1 {
            let heard = hear(tongue.dialect, "", &lines[..count].concat());
            assert!(heard.failure(&DONE, "").is_some(), "{} after {count} lines", tongue.dialect);
        }
        for _ in 0..100 {
            let mut bytes = tongue.recording.to_vec();
            for _ in 0..1 + random(8) {
                let at = random(bytes.len());
                match random(4) {
                    0 => bytes[at] = random(256) as u8,
                    1 => bytes[at] ^= 1 << random(8),
                    2 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, b"\"\\{}[],:\n\0"[random(10)]),
                }
            }
            let heard = hear(tongue.dialect, "say <b>\nagain", &bytes);
            heard.failure(&DONE, "");
            heard.reader.side_file();
            heard.observation(&DONE);
        }
    }
}

#[test]
fn markers_of_every_program_are_removed_for_every_other() {
    let agent = |name: &str| by_name(name).unwrap();
    let markers: Vec<&str> = names().flat_map(|name| agent(name).session_markers.iter().copied()).collect();
    for expected in
        ["CLAUDECODE", "GEMINI_CLI", "QWEN_CODE", "OPENCODE", "CODEX_THREAD_ID", "COPILOT_CLI", "GROK_AGENT"]
    {
        assert!(markers.contains(&expected), "{expected}");
    }
    assert!(markers.iter().all(|name| !name.contains("SANDBOX") && !name.contains("HOME") && !name.contains("KEY")));
}

#[test]
fn b06_b08_terminal_sequences_around_objects_lose_nothing_and_mentions_are_no_events() {
    for tongue in TONGUES {
        let (said, done) = (tongue.says("hi"), tongue.ends("hi"));
        let plain = tongue.hear(&format!("{said}\n{done}"));
        for between in [
            "\u{1b}[0m", "\u{1b}[31", "\u{1b}]0;x\u{7}", "\u{1b}]0;half", "\u{9b}0m", "\u{1b}(B", "\u{1b}[200~",
            "\r\u{1b}[K", "⠋ busy\r",
        ] {
            let heard = tongue.hear(&format!("{between}{said}{between}\n{between}{done}{between}"));
            assert_eq!((&heard.events, heard.noise), (&plain.events, 0), "{}: {between:?}", tongue.dialect);
            // On one line, but not glued to words.
            if !between.contains("busy") {
                let heard = tongue.hear(&format!("{between}{said}{between}{done}{between}"));
                assert_eq!((&heard.events, heard.noise), (&plain.events, 0), "{}: {between:?}", tongue.dialect);
            }
        }
        let claim = tongue.says(CLAIM);
        for before in ["log: ", "data: ", "[12:00] ", "\u{1b}[31mDEBUG \u{1b}[0m", "> ", "\u{1b}]0;"] {
            let behind = if before.ends_with(';') { "\u{7}" } else { "" };
            let heard = tongue.hear(&format!("{before}{claim}{behind}\n{said}\n{done}"));
            assert_eq!(heard.observation(&DONE).claim, Claim::None, "{}: {before:?}", tongue.dialect);
            assert_eq!(heard.text(), "hi", "{}: {before:?}", tongue.dialect);
        }
        // Half a line that is written over by a whole one.
        let half = &claim[..claim.len() / 2];
        assert_eq!(tongue.hear(&format!("{half}\r{said}\n{done}")).text(), "hi", "{}", tongue.dialect);
        // What looks like a sequence inside a string stays there.
        let inside = tongue.hear(&format!("{}\n{done}", tongue.says("a\u{1b}[31mb")));
        assert_eq!(inside.text(), "a\u{1b}[31mb", "{}", tongue.dialect);
    }
}

#[test]
fn tokens_mean_the_same_in_every_dialect() {
    // A program that reads 1000 anew and 500 from the cache, writes 200 to the cache and says 40.
    let expected = Tokens { input: 1500, output: 40, cache_read: 500, cache_write: 200 };
    let anthropic = r#""usage":{"input_tokens":1000,"output_tokens":40,"cache_read_input_tokens":500,"cache_creation_input_tokens":200}"#;
    let claude = format!(r#"{{"type":"result","result":"ok",{anthropic}}}"#);
    let message = format!(r#"{{"type":"assistant","message":{{"id":"m","content":[],{anthropic}}}}}"#);
    let by_model = r#"{"type":"result","result":"ok","model_usage_since_last_result":{"m":{"inputTokens":1000,"outputTokens":40,"cacheReadInputTokens":500,"cacheCreationInputTokens":200}}}"#;
    for (dialect, line, expected) in [
        ("claude", claude.as_str(), expected),
        ("claude", &message, expected),
        ("claude", by_model, expected),
        ("amp", &claude, expected),
        (
            "codex",
            r#"{"type":"turn.completed","usage":{"input_tokens":1700,"cached_input_tokens":500,"cache_write_input_tokens":200,"output_tokens":40}}"#,
            expected,
        ),
        (
            "opencode",
            r#"{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1000,"output":30,"reasoning":10,"cache":{"read":500,"write":200}}}}"#,
            expected,
        ),
        (
            "opencode",
            r#"{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":1000,"output":40,"cache":{"read":500,"write":200}}}}"#,
            expected,
        ),
        (
            "pi",
            r#"{"type":"message_end","message":{"role":"assistant","usage":{"input":1000,"output":40,"cacheRead":500,"cacheWrite":200}}}"#,
            expected,
        ),
        (
            "copilot",
            r#"{"type":"assistant.usage","data":{"inputTokens":1700,"outputTokens":40,"cacheReadTokens":500,"cacheWriteTokens":200}}"#,
            expected,
        ),
        (
            "gemini",
            r#"{"type":"result","status":"success","stats":{"input_tokens":1500,"output_tokens":40,"cached":500}}"#,
            Tokens { cache_write: 0, ..expected },
        ),
        (
            "qwen",
            r#"{"type":"result","result":"ok","usage":{"input_tokens":1500,"output_tokens":40,"cache_read_input_tokens":500}}"#,
            Tokens { cache_write: 0, ..expected },
        ),
    ] {
        let tokens = hear(dialect, "", line.as_bytes()).observation(&DONE).tokens;
        assert_eq!(tokens, expected, "{dialect}: {line}");
        assert_eq!(tokens.total(), 1540 + tokens.cache_write, "{dialect}");
    }
}

#[test]
fn a_refused_list_replaces_nothing_and_the_error_of_a_tool_is_shown() {
    let list = r#"{"todos":[{"content":"a","description":"a","status":"pending"}]}"#;
    // The call, its good end, its refusal, and the end of the turn.
    let anthropic = |tool: &str| {
        [
            format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"t","name":"{tool}","input":{list}}}]}}}}"#),
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}"#.to_owned(),
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"no such tool","is_error":true}]}}"#.to_owned(),
            r#"{"type":"result","result":"ok"}"#.to_owned(),
        ]
    };
    let gemini = [
        format!(r#"{{"type":"tool_use","tool_id":"t","tool_name":"write_todos","parameters":{list}}}"#),
        r#"{"type":"tool_result","tool_id":"t","status":"success","output":"ok"}"#.to_owned(),
        r#"{"type":"tool_result","tool_id":"t","status":"error","output":"","error":{"type":"x","message":"no such tool"}}"#.to_owned(),
        r#"{"type":"result","status":"success"}"#.to_owned(),
    ];
    let copilot = [
        format!(r#"{{"type":"tool.execution_start","data":{{"toolCallId":"t","toolName":"update_todo","arguments":{list}}}}}"#),
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"t","success":true,"result":{"content":"ok"}}}"#.to_owned(),
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"t","success":false,"error":{"message":"no such tool","code":"failure"}}}"#.to_owned(),
        r#"{"type":"result","exitCode":0}"#.to_owned(),
    ];
    for (dialect, [call, well, badly, end]) in [
        ("claude", anthropic("TodoWrite")),
        ("qwen", anthropic("todo_write")),
        ("amp", anthropic("todo_write")),
        ("gemini", gemini),
        ("copilot", copilot),
    ] {
        let shown = |lines: &[&String]| {
            let stream = lines.iter().map(|line| line.as_str()).collect::<Vec<_>>().join("\n");
            let heard = hear(dialect, "", stream.as_bytes());
            let lists = heard.count(|event| matches!(event, AgentEvent::Todo { .. }));
            let error = heard.events.iter().find_map(|event| match event {
                AgentEvent::ToolEnd { output, error: true, .. } => Some(output.clone()),
                _ => None,
            });
            (lists, error)
        };
        assert_eq!(shown(&[&call, &well, &end]), (1, None), "{dialect}");
        assert_eq!(shown(&[&call, &badly, &end]), (0, Some("no such tool".to_owned())), "{dialect}");
        assert_eq!(shown(&[&call, &end]), (1, None), "{dialect}: its end was not told");
        assert_eq!(shown(&[&call]), (1, None), "{dialect}: the stream broke off");
    }
    let refused = [
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"TaskCreate","input":{"subject":"first"}}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"no"}]},"tool_use_result":{"success":false}}"#,
    ];
    assert_eq!(
        hear("claude", "", refused.join("\n").as_bytes()).count(|event| matches!(event, AgentEvent::Todo { .. })),
        0
    );
}

#[test]
fn what_a_tool_printed_and_its_error_are_shown_once() {
    for (output, error, shown) in [
        (r#""File not found.""#, r#"{"message":"File not found: a.txt"}"#, "File not found: a.txt\nFile not found."),
        (r#""no: it is gone""#, r#"{"message":"it is gone"}"#, "no: it is gone"),
        (r#""gone""#, r#"{"message":"it is gone"}"#, "it is gone"),
        ("null", r#"{"message":"it is gone"}"#, "it is gone"),
        (r#""""#, r#""it is gone""#, "it is gone"),
        (r#""half of it""#, r#"{"message":"it broke"}"#, "it broke\nhalf of it"),
    ] {
        let line =
            format!(r#"{{"type":"tool_result","tool_id":"t","status":"error","output":{output},"error":{error}}}"#);
        let heard = hear("gemini", "", line.as_bytes());
        let [AgentEvent::ToolEnd { output, lines, error: true, .. }] = heard.events.as_slice() else {
            panic!("{:?}", heard.events)
        };
        assert_eq!((output.as_str(), *lines), (shown, shown.lines().count() as u64));
    }
    for (dialect, line) in [
        (
            "codex",
            r#"{"type":"item.completed","item":{"id":"t","type":"mcp_tool_call","server":"s","tool":"x","status":"failed","error":{"message":"it is gone"}}}"#,
        ),
        (
            "opencode",
            r#"{"type":"tool_use","part":{"tool":"read","callID":"t","state":{"status":"error","error":"it is gone"}}}"#,
        ),
        (
            "claude",
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","error":{"message":"it is gone"}}]}}"#,
        ),
    ] {
        let heard = hear(dialect, "", line.as_bytes());
        let Some(AgentEvent::ToolEnd { output, error, .. }) = heard.events.last() else { panic!("{:?}", heard.events) };
        assert_eq!((output.as_str(), *error), ("it is gone", true), "{dialect}");
    }
}
