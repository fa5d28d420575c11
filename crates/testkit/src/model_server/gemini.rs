//! Gemini's `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use super::http::Frame;
use super::scenario::Answer;
use super::tools;

/// The answer as a stream: one part a chunk, the end in the last.
pub(super) fn stream(answer: &Answer, body: &Value) -> Vec<Frame> {
    let mut chunks: Vec<Value> = parts(answer, body).into_iter().map(|part| chunk(&[part])).collect();
    chunks.push(end(&[]));
    chunks.into_iter().map(Frame::data).collect()
}

/// The answer as one object.
pub(super) fn whole(answer: &Answer, body: &Value) -> Value {
    end(&parts(answer, body))
}

fn chunk(parts: &[Value]) -> Value {
    json!({ "candidates": [{ "index": 0, "content": { "role": "model", "parts": parts } }] })
}

fn end(parts: &[Value]) -> Value {
    let mut chunk = chunk(parts);
    chunk["candidates"][0]["finishReason"] = json!("STOP");
    chunk["usageMetadata"] = json!({ "promptTokenCount": 1200, "candidatesTokenCount": 40, "totalTokenCount": 1240 });
    chunk
}

fn parts(answer: &Answer, body: &Value) -> Vec<Value> {
    let mut parts = Vec::new();
    if !answer.thinking.is_empty() {
        parts.push(json!({ "text": answer.thinking, "thought": true }));
    }
    if !answer.text.is_empty() {
        parts.push(json!({ "text": answer.text }));
    }
    let calls = tools::calls(answer, body).into_iter();
    parts.extend(calls.map(|call| json!({ "functionCall": { "name": call.name, "args": call.input } })));
    parts
}
