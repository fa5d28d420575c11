//! Lines as Claude Code prints them with `--output-format stream-json`.
//!
//! Written by hand, without a JSON library: the program must start fast. The order of the keys is the
//! client's own; in a `result` line `type` comes late, as in its newer versions, so that a reader
//! which matches prefixes is found out.

use crate::actions::{Agent, Stop};
use crate::text::{split_word, unescape};

const SESSION: &str = "00000000-0000-4000-8000-000000000000";

/// Does the action if it is one of these.
pub fn perform(agent: &mut Agent, action: &str, rest: &str) -> Result<bool, Stop> {
    let line = match action {
        "claude-init" => init(),
        "claude-text" => assistant(&format!(r#"{{"type":"text","text":{}}}"#, quote(rest)?)),
        "claude-thinking" => assistant(&format!(r#"{{"type":"thinking","thinking":{}}}"#, quote(rest)?)),
        "claude-tool" => tool(rest)?,
        "claude-tool-result" => tool_result(rest)?,
        "claude-limit" => limit(rest.trim()),
        "claude-result" => result(rest)?,
        _ => return Ok(false),
    };
    agent.out.line(line.as_bytes())?;
    Ok(true)
}

fn init() -> String {
    let cwd = std::env::current_dir().unwrap_or_default();
    format!(
        r#"{{"type":"system","subtype":"init","cwd":{},"session_id":"{SESSION}","tools":["Bash","Edit","Read","Write"],"mcp_servers":[],"model":"claude-opus-5-5","permissionMode":"bypassPermissions","claude_code_version":"2.1.325"}}"#,
        json(&cwd.to_string_lossy())
    )
}

fn assistant(block: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"msg_scripted","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":1200,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1,"service_tier":"standard"}}}},"parent_tool_use_id":null,"session_id":"{SESSION}"}}"#
    )
}

/// `NAME ID COMMAND`; a COMMAND that begins with `{` is the whole input as JSON.
fn tool(rest: &str) -> Result<String, Stop> {
    let (name, rest) = split_word(rest);
    let (id, command) = split_word(rest);
    let input = match command.strip_prefix('{') {
        Some(_) => command.to_owned(),
        None => format!(r#"{{"command":{},"description":"run a command"}}"#, quote(command)?),
    };
    Ok(assistant(&format!(r#"{{"type":"tool_use","id":{},"name":{},"input":{input}}}"#, json(id), json(name))))
}

/// `ID ok|error TEXT`.
fn tool_result(rest: &str) -> Result<String, Stop> {
    let (id, rest) = split_word(rest);
    let (outcome, text) = split_word(rest);
    let (id, text) = (json(id), quote(text)?);
    // The client itself orders the keys of a failed call differently.
    let (block, detail) = match outcome {
        "ok" => (
            format!(r#"{{"tool_use_id":{id},"type":"tool_result","content":{text},"is_error":false}}"#),
            format!(r#"{{"stdout":{text},"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}}"#),
        ),
        "error" => (format!(r#"{{"type":"tool_result","content":{text},"is_error":true,"tool_use_id":{id}}}"#), text),
        _ => return Err(Stop::Wrong(format!("claude-tool-result ID ok|error TEXT, not {outcome:?}"))),
    };
    Ok(format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{block}]}},"parent_tool_use_id":null,"session_id":"{SESSION}","tool_use_result":{detail}}}"#
    ))
}

/// A subscription's usage limit that ends at this second of the epoch.
fn limit(resets_at: &str) -> String {
    format!(
        r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{resets_at},"rateLimitType":"five_hour","overageStatus":"rejected","isUsingOverage":false}},"session_id":"{SESSION}"}}"#
    )
}

/// `TEXT [cost=0.05] [in=8000] [out=240] [turns=7] [error] [status=429]`: options stand at the end, in
/// any order, and their values go into the line as they are, so that a test can send nonsense.
fn result(rest: &str) -> Result<String, Stop> {
    let (mut text, mut error, mut status) = (rest, false, "null");
    let (mut cost, mut input, mut output, mut turns) = ("0.01", "8000", "240", "1");
    loop {
        let (before, word) = text.rsplit_once(' ').unwrap_or(("", text));
        match word.split_once('=') {
            Some(("cost", value)) => cost = value,
            Some(("in", value)) => input = value,
            Some(("out", value)) => output = value,
            Some(("turns", value)) => turns = value,
            Some(("status", value)) => status = value,
            None if word == "error" => error = true,
            _ => break,
        }
        text = before;
    }
    let reason = if error { "api_error" } else { "completed" };
    Ok(format!(
        r#"{{"duration_api_ms":364,"stop_reason":"end_turn","session_id":"{SESSION}","total_cost_usd":{cost},"usage":{{"input_tokens":{input},"cache_creation_input_tokens":0,"cache_read_input_tokens":500,"output_tokens":{output},"service_tier":"standard"}},"permission_denials":[],"terminal_reason":"{reason}","is_error":{error},"num_turns":{turns},"subtype":"success","api_error_status":{status},"result":{},"type":"result","duration_ms":1045}}"#,
        quote(text)?
    ))
}

/// The script's text, its escapes resolved, as a JSON string.
fn quote(text: &str) -> Result<String, Stop> {
    Ok(json(&String::from_utf8_lossy(&unescape(text)?)))
}

fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
