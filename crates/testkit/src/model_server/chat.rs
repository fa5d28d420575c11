//! OpenAI Chat Completions, which most programs can be pointed at.

use serde_json::{Value, json};

use super::http::Frame;
use super::scenario::Answer;
use super::tools;

/// The answer as a stream of chunks.
pub(super) fn stream(answer: &Answer, body: &Value) -> Vec<Frame> {
    let mut deltas = vec![json!({ "role": "assistant", "content": "" })];
    if !answer.thinking.is_empty() {
        deltas.push(json!({ "reasoning_content": answer.thinking }));
    }
    if !answer.text.is_empty() {
        deltas.push(json!({ "content": answer.text }));
    }
    let calls = calls(answer, body);
    for (index, call) in calls.iter().enumerate() {
        let mut call = call.clone();
        call["index"] = json!(index);
        deltas.push(json!({ "tool_calls": [call] }));
    }
    let chunk = |delta: &Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        object(body, "chat.completion.chunk", json!([choice]))
    };
    let mut frames: Vec<Frame> = deltas.iter().map(|delta| Frame::data(chunk(delta, Value::Null))).collect();
    frames.push(Frame::data(chunk(&json!({}), json!(finish_reason(&calls)))));
    let mut last = object(body, "chat.completion.chunk", json!([]));
    last["usage"] = usage();
    frames.extend([Frame::data(last), Frame::data("[DONE]")]);
    frames
}

/// The answer as one object.
pub(super) fn whole(answer: &Answer, body: &Value) -> Value {
    let calls = calls(answer, body);
    let mut message = json!({ "role": "assistant", "content": answer.text });
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish_reason(&calls) });
    let mut whole = object(body, "chat.completion", json!([choice]));
    whole["usage"] = usage();
    whole
}

fn object(body: &Value, kind: &str, choices: Value) -> Value {
    json!({ "id": "chatcmpl-scripted", "object": kind, "created": 0, "model": body["model"], "choices": choices })
}

fn usage() -> Value {
    json!({ "prompt_tokens": 1200, "completion_tokens": 40, "total_tokens": 1240 })
}

fn calls(answer: &Answer, body: &Value) -> Vec<Value> {
    let calls = tools::calls(answer, body).into_iter().enumerate();
    let call = calls.map(|(number, call)| {
        let function = json!({ "name": call.name, "arguments": call.input.to_string() });
        json!({ "id": tools::call_id(body, number), "type": "function", "function": function })
    });
    call.collect()
}

fn finish_reason(calls: &[Value]) -> &'static str {
    if calls.is_empty() { "stop" } else { "tool_calls" }
}
