//! Anthropic Messages, as Claude Code speaks it.

use serde_json::{Value, json};

use super::http::Frame;
use super::scenario::Answer;
use super::tools;

/// The answer as a stream of events.
pub(super) fn stream(answer: &Answer, body: &Value) -> Vec<Frame> {
    let blocks = blocks(answer, body);
    let mut message = message(body, json!([]));
    message["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({ "type": "message_start", "message": message })];
    for (index, block) in blocks.iter().enumerate() {
        let (empty, deltas) = pieces(block);
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": empty }));
        events.extend(
            deltas.into_iter().map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta })),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let stop = json!({ "stop_reason": stop_reason(&blocks), "stop_sequence": null });
    events.push(json!({ "type": "message_delta", "delta": stop, "usage": { "output_tokens": 40 } }));
    events.push(json!({ "type": "message_stop" }));
    events.iter().map(Frame::typed).collect()
}

/// The answer as one object.
pub(super) fn whole(answer: &Answer, body: &Value) -> Value {
    let blocks = blocks(answer, body);
    let mut message = message(body, json!(blocks));
    message["stop_reason"] = json!(stop_reason(&blocks));
    message
}

fn message(body: &Value, content: Value) -> Value {
    json!({
        "id": "msg_scripted", "type": "message", "role": "assistant", "model": body["model"], "content": content,
        "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 1200, "output_tokens": 40 },
    })
}

fn blocks(answer: &Answer, body: &Value) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !answer.thinking.is_empty() {
        blocks.push(json!({ "type": "thinking", "thinking": answer.thinking, "signature": "c2NyaXB0ZWQ=" }));
    }
    if !answer.text.is_empty() {
        blocks.push(json!({ "type": "text", "text": answer.text }));
    }
    for (number, call) in tools::calls(answer, body).into_iter().enumerate() {
        let id = format!("toolu_{}", tools::call_id(body, number));
        blocks.push(json!({ "type": "tool_use", "id": id, "name": call.name, "input": call.input }));
    }
    blocks
}

/// A block as it begins, and what is added to it.
fn pieces(block: &Value) -> (Value, Vec<Value>) {
    let mut empty = block.clone();
    let deltas = match block["type"].as_str() {
        Some("thinking") => {
            (empty["thinking"], empty["signature"]) = (json!(""), json!(""));
            vec![
                json!({ "type": "thinking_delta", "thinking": block["thinking"] }),
                json!({ "type": "signature_delta", "signature": block["signature"] }),
            ]
        }
        Some("text") => {
            empty["text"] = json!("");
            vec![json!({ "type": "text_delta", "text": block["text"] })]
        }
        _ => {
            empty["input"] = json!({});
            vec![json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })]
        }
    };
    (empty, deltas)
}

fn stop_reason(blocks: &[Value]) -> &'static str {
    if blocks.iter().any(|block| block["type"] == "tool_use") { "tool_use" } else { "end_turn" }
}
