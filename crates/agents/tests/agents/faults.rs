//! What goes wrong in streams, by the ids of the fault list.

use crate::{claude, hear};
use ralph_agents::{LineKind, Told};
use ralph_core::agent_event::{AgentEvent, TodoStatus, Voice};
use ralph_core::claim::Claim;
use ralph_core::observation::{Ending, FailureClass};

const DONE: Ending = Ending::Exited { code: 0 };
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"ok","total_cost_usd":0.5}"#;
const TRIVIAL: &[u8] = include_bytes!("../streams/claude/trivial.jsonl");
const SUCCESS: &[u8] = include_bytes!("../streams/claude/success.jsonl");

fn said(text: &str) -> String {
    format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
}

#[test]
fn b02_a_line_too_long_is_passed_over_and_the_stream_goes_on() {
    let mut heard = claude("");
    let mut told = Told::default();
    heard.reader.long_line(&said("<response>DONE</response>").as_bytes()[..40], &mut told);
    assert_eq!(heard.reader.line(RESULT.as_bytes(), &mut told), LineKind::Event);
    heard.events.append(&mut told);
    assert_eq!(heard.observation(&DONE).claim, Claim::None);
    assert_eq!(heard.failure(&DONE, ""), None);
}

#[test]
fn b02_a_line_of_sixteen_megabytes_is_read() {
    let line = said(&"0123456789abcde\\n".repeat(1 << 20));
    assert_eq!(claude(&line).text().len(), 16 << 20);
}

#[test]
fn b03_partial_json_at_the_end_is_noise_and_no_result() {
    for tail in ["{\"type\":", "{", "{\"type\":\"result\",\"result\":\"ok\"", "[{\"type\":\"result\"}"] {
        let heard = claude(&format!("{}\n{tail}", said("hi")));
        assert_eq!((heard.noise, heard.text().as_str()), (1, "hi"), "{tail}");
        assert_eq!(heard.failure(&DONE, "").unwrap().class, FailureClass::Other);
    }
}

#[test]
fn b04_invalid_utf8_nul_and_lone_surrogates_are_read_around() {
    let cases: &[(&[u8], &str)] = &[
        (br#"{"type":"assistant","message":{"content":[{"type":"text","text":"a\ud800b"}]}}"#, "a\u{fffd}b"),
        (
            b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\xfeb\"}]}}",
            "a\u{fffd}\u{fffd}b",
        ),
        (b"\0{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\0b\"}]}}", "a\0b"),
        (br#"{"type":"assistant","message":{"content":[{"type":"text","text":"\u0000\ud83c\udf89"}]}}"#, "\0🎉"),
    ];
    for (line, text) in cases {
        let heard = hear("claude", "", line);
        assert_eq!((heard.text().as_str(), heard.noise), (*text, 0));
    }
}

#[test]
fn b06_noise_between_the_lines_is_counted() {
    let noise = "npm warn deprecated\n\u{1b}[31m{\"type\":\"result\"}\u{1b}[0m\n42\n\"text\"\nnull\n[]\n[1]";
    let heard = claude(&format!("{noise}\n{}\n{RESULT}", said("hi")));
    assert_eq!((heard.noise, heard.text().as_str()), (6, "hi"), "what stands between colours is no noise");
    assert_eq!(heard.failure(&DONE, ""), None);
}

#[test]
fn b07_unknown_types_new_fields_and_changed_types_never_fail_a_run() {
    let stream = [
        r#"{"type":"future"}"#,
        r#"{"type":7}"#,
        r#"{}"#,
        r#"{"type":"system","subtype":"future"}"#,
        r#"{"type":"system","subtype":"init","session_id":["a"],"message":"text","content":{}}"#,
        r#"{"type":"assistant","message":"text"}"#,
        r#"{"type":"assistant","message":{"content":"a string","new":{"deep":[[[{}]]]}}}"#,
        r#"{"type":"assistant","message":{"content":[7,null,"x",[],{"type":"future"},{"type":"text","text":7}]}}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":1,"name":"Bash","input":[]}]}}"#,
        r#"{"type":"user","message":{"content":{"type":"tool_result"}}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":1,"content":7,"is_error":"no"}]}}"#,
        r#"{"type":"rate_limit_event","rate_limit_info":"soon"}"#,
        r#"{"type":"result","subtype":"success","result":"ok","usage":[1],"total_cost_usd":null,"is_error":0}"#,
    ];
    let heard = claude(&stream.join("\n"));
    assert_eq!((heard.noise, heard.observation(&DONE).lines.unknown), (0, 4), "{:#?}", heard.events);
    assert_eq!(heard.text(), "a string|7");
    assert_eq!(heard.failure(&DONE, ""), None);
}

#[test]
fn b07_a_word_that_a_tool_is_still_at_work_is_known_and_has_nothing_to_tell() {
    let beat = r#"{"type":"tool_progress","tool_use_id":"t","tool_name":"Bash","parent_tool_use_id":null,"elapsed_time_seconds":30,"heartbeat":true}"#;
    let heard = claude(beat);
    assert_eq!((heard.noise, heard.events.len()), (0, 0), "{:#?}", heard.events);
}

#[test]
fn b08_two_objects_on_a_line_crlf_bom_blank_lines_are_accepted() {
    let stream = format!("\u{feff}{}{}\r\n\r\n  \n{} {RESULT}\r\n", said("a"), said("b"), said("c"));
    let heard = claude(&stream);
    assert_eq!((heard.text().as_str(), heard.noise), ("a|b|c", 0));
    assert!(heard.reader.has_result());
    let broken = claude(&format!("{}{{\"type\":", said("a")));
    assert_eq!((broken.text().as_str(), broken.noise), ("a", 0));
}

#[test]
fn b12_claims_in_tool_results_thinking_prompt_or_subagents_are_no_text() {
    let claim = "<response>DONE</response>";
    let places = [
        r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"CLAIM"}]}}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"echo 'CLAIM'"}}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"CLAIM"}]},"tool_use_result":"CLAIM"}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"CLAIM"}]}]}}"#,
        r#"{"type":"user","message":{"content":"CLAIM"}}"#,
        r#"{"type":"user","isSynthetic":true,"message":{"content":[{"type":"text","text":"CLAIM"}]}}"#,
        r#"{"type":"assistant","parent_tool_use_id":"t","message":{"content":[{"type":"text","text":"CLAIM"}]}}"#,
        r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"CLAIM"}]}}"#,
        r#"{"type":"system","subtype":"task_notification","summary":"CLAIM"}"#,
        r#"{"type":"system","subtype":"hook_response","stdout":"CLAIM"}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"CLAIM"}}}"#,
        r#"CLAIM"#,
    ];
    for place in places {
        let heard = claude(&format!("{}\n{RESULT}", place.replace("CLAIM", claim)));
        assert_eq!(heard.observation(&DONE).claim, Claim::None, "{place}");
        assert_eq!(heard.text(), "", "{place}");
    }
    assert_eq!(claude(&format!("{}\n{RESULT}", said(claim))).observation(&DONE).claim, Claim::Complete);
    let echoed = hear(
        "generic",
        &format!("Do it.\nThen print {claim}\n"),
        format!("Do it.\nThen print {claim}\nok\n").as_bytes(),
    );
    assert_eq!((echoed.text().as_str(), echoed.observation(&DONE).claim), ("ok\n", Claim::None));
}

#[test]
fn sub_agents_are_seen_but_prove_nothing() {
    let stream = [
        r#"{"type":"assistant","parent_tool_use_id":"t","message":{"content":[{"type":"text","text":"mine"},{"type":"tool_use","id":"s","name":"Bash","input":{"command":"npm test"}}]}}"#,
        r#"{"type":"user","parent_tool_use_id":"t","message":{"content":[{"type":"tool_result","tool_use_id":"s","content":"ok"}]}}"#,
    ];
    let heard = claude(&stream.join("\n"));
    let expected = [
        AgentEvent::Text { text: "mine".to_owned(), voice: Voice::Sub, delta: false },
        AgentEvent::Progress { text: "sub-agent: Bash(npm test)".to_owned() },
    ];
    assert_eq!(heard.events, expected);
}

#[test]
fn b13_usage_that_cannot_be_true_is_counted_and_the_largest_total_holds() {
    let result = |cost: &str, tokens: &str| {
        format!(r#"{{"type":"result","result":"ok","total_cost_usd":{cost},"usage":{{"input_tokens":{tokens}}}}}"#)
    };
    let stream = [
        result("0.5", "10"),
        result("-3", "-4"),
        result("\"free\"", "\"many\""),
        result("1e400", "1e30"),
        result("0.2", "0"),
    ];
    let observation = claude(&stream.join("\n")).observation(&DONE);
    assert_eq!((observation.cost_usd, observation.tokens.input), (Some(0.5), 10));
    assert_eq!((observation.lines.suspect_usage, observation.lines.unknown), (3, 3));
}

#[test]
fn i03_text_that_merely_mentions_a_limit_is_no_limit() {
    for text in
        ["You've hit your 5-hour limit · resets 7am", "API Error: 429 rate limit", "Not logged in · Please run /login"]
    {
        let result = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{text}"}}"#);
        assert_eq!(claude(&format!("{}\n{result}", said(text))).failure(&DONE, text), None);
        // In the place of an error, but without a word on the cause.
        let error =
            format!(r#"{{"type":"result","subtype":"error_during_execution","is_error":true,"result":"so: {text}"}}"#);
        let failure = claude(&format!("{}\n{error}", said(text))).failure(&Ending::Exited { code: 1 }, text).unwrap();
        assert_eq!(failure.class, FailureClass::Other);
    }
    let landed = format!("{}\n{RESULT}", r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}}"#);
    assert_eq!(claude(&landed).failure(&DONE, ""), None);
}

#[test]
fn i01_a_stream_that_breaks_off_after_a_refusal_is_limited() {
    let refusal = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1799999999000}}"#;
    let failure = claude(refusal).failure(&Ending::Exited { code: 1 }, "").unwrap();
    assert_eq!((failure.class, failure.resets_at), (FailureClass::Limited, Some(1_799_999_999)));
    // The model answered afterwards, so whatever ended the process was something else.
    let answered = claude(&format!("{refusal}\n{}", said("hi"))).failure(&Ending::Exited { code: 1 }, "").unwrap();
    assert_eq!(answered.class, FailureClass::Other);
    let warned = claude(
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","rateLimitType":"seven_day"}}"#,
    );
    assert_eq!(warned.events, [AgentEvent::Limit { scope: "seven_day".to_owned(), rejected: false, resets_at: None }]);
}

#[test]
fn todo_lists_are_no_tools() {
    let stream = [
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"a","status":"completed"},{"subject":"b","status":"in_progress","priority":"high"},{"status":"pending"},{"content":"c","status":"later"}]}}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"Todos have been modified"}]}}"#,
    ];
    let heard = claude(&stream.join("\n"));
    let [AgentEvent::Todo { items }] = heard.events.as_slice() else { panic!("{:?}", heard.events) };
    let items: Vec<_> =
        items.iter().map(|item| (item.content.as_str(), item.status, item.priority.as_deref())).collect();
    let expected = [
        ("a", TodoStatus::Completed, None),
        ("b", TodoStatus::InProgress, Some("high")),
        ("c", TodoStatus::Pending, None),
    ];
    assert_eq!(items, expected);
}

#[test]
fn no_mutation_of_a_stream_panics_or_invents_a_result() {
    for cut in 0..=TRIVIAL.len() {
        // Up to the last brace there is no result yet.
        let heard = hear("claude", "", &TRIVIAL[..cut]);
        assert_eq!(heard.failure(&DONE, "").is_none(), cut + 1 >= TRIVIAL.len(), "cut at {cut}");
    }
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 33) as usize % below
    };
    for _ in 0..500 {
        let mut bytes = SUCCESS.to_vec();
        for _ in 0..1 + random(8) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] = random(256) as u8,
                1 => bytes[at] ^= 1 << random(8),
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"\"\\{}[],:\n\0"[random(10)]),
            }
        }
        for dialect in ["claude", "generic"] {
            let heard = hear(dialect, "say <b>\nagain", &bytes);
            heard.failure(&DONE, "");
            heard.observation(&DONE);
        }
    }
}

#[test]
fn a_list_that_is_written_piece_by_piece_is_told_as_a_whole() {
    let call = |id: &str, name: &str, input: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}}}}"#
        )
    };
    let end = |id: &str, error: bool, content: &str, result: &str| {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{content}","is_error":{error}}}]}},"tool_use_result":{result}}}"#
        )
    };
    let stream = [
        call("a", "TaskCreate", r#"{"subject":"first","description":"long"}"#),
        end("a", false, "Task created", r#"{"task":{"id":"7","subject":"first"}}"#),
        call("b", "TaskCreate", r#"{"subject":"second"}"#),
        end("b", false, "Task #8 created successfully: second", "7"),
        call("c", "TaskUpdate", r#"{"taskId":"7","status":"completed"}"#),
        end("c", false, "Updated task #7 status", r#"{"success":true}"#),
        call("d", "TaskUpdate", r#"{"taskId":"8","status":"in_progress","subject":"the second"}"#),
        end("d", false, "ok", "null"),
        call("e", "TaskUpdate", r#"{"taskId":"8","status":"completed"}"#),
        end("e", true, "no such tool", "null"),
        call("f", "TaskUpdate", r#"{"taskId":"7","status":"deleted"}"#),
        end("f", false, "ok", "null"),
        call("g", "TaskUpdate", r#"{"taskId":"99","status":"completed"}"#),
        end("g", false, "ok", "null"),
    ];
    let heard = claude(&stream.join("\n"));
    let told: Vec<String> = heard
        .events
        .iter()
        .map(|event| match event {
            AgentEvent::Todo { items } => {
                items.iter().map(|item| format!("{}:{:?}", item.content, item.status)).collect::<Vec<_>>().join(" ")
            }
            AgentEvent::ToolEnd { id, error: true, .. } => format!("{id} failed"),
            other => format!("{other:?}"),
        })
        .collect();
    let expected = [
        "first:Pending", "first:Pending second:Pending", "first:Completed second:Pending",
        "first:Completed the second:InProgress", "e failed", "the second:InProgress",
    ];
    assert_eq!(told, expected);
}

#[test]
fn codex_lists_and_changes_of_several_files() {
    let stream = [
        r#"{"type":"item.started","item":{"id":"l","type":"todo_list","items":[{"text":"a","completed":false}]}}"#,
        r#"{"type":"item.updated","item":{"id":"l","type":"todo_list","items":[{"text":"a","completed":true}]}}"#,
        // Older clients tell of a change only when it is made.
        r#"{"type":"item.completed","item":{"id":"f","type":"file_change","changes":[{"path":"a.rs","kind":"add"},{"path":"b.rs","kind":"update"}],"status":"completed"}}"#,
        r#"{"type":"item.started","item":{"id":"m","type":"mcp_tool_call","server":"docs","tool":"find","status":"in_progress"}}"#,
        r#"{"type":"item.completed","item":{"id":"m","type":"mcp_tool_call","server":"docs","tool":"find","status":"failed"}}"#,
        r#"{"type":"item.completed","item":{"id":"x","type":"hologram"}}"#,
    ];
    let heard = hear("codex", "", stream.join("\n").as_bytes());
    let statuses: Vec<_> = heard
        .events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Todo { items } => Some(items[0].status),
            _ => None,
        })
        .collect();
    assert_eq!(statuses, [TodoStatus::Pending, TodoStatus::Completed]);
    let observation = heard.observation(&DONE);
    assert_eq!(observation.files, ["a.rs", "b.rs"]);
    let tools: Vec<_> = observation.tools.iter().map(|tool| (tool.name.as_str(), tool.result)).collect();
    let passed = ralph_core::observation::ToolResult::Passed;
    let failed = ralph_core::observation::ToolResult::Failed;
    assert_eq!(tools, [("file_change", passed), ("file_change", passed), ("docs.find", failed)]);
    let unknown = AgentEvent::Unknown { what: "unknown codex item type: hologram".to_owned() };
    assert_eq!(heard.events.last(), Some(&unknown));
}
