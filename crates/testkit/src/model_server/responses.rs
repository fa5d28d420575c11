//! OpenAI Responses, as codex speaks it.

use serde_json::{Value, json};

use super::http::Frame;
use super::scenario::Answer;
use super::tools;

/// The answer as a stream of events. Clients that show text as it comes read the deltas; all of them
/// believe the finished items.
pub(super) fn stream(answer: &Answer, body: &Value) -> Vec<Frame> {
    let items = items(answer, body);
    let mut events = vec![json!({ "type": "response.created", "response": response(body, "in_progress", &[]) })];
    for (index, item) in items.iter().enumerate() {
        events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": begun(item) }));
        if item["type"] == "message" {
            let delta =
                json!({ "item_id": item["id"], "output_index": index, "content_index": 0, "delta": answer.text });
            events.push(with_type("response.output_text.delta", delta));
        }
        events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    events.push(json!({ "type": "response.completed", "response": response(body, "completed", &items) }));
    events.iter().map(Frame::typed).collect()
}

/// The answer as one object.
pub(super) fn whole(answer: &Answer, body: &Value) -> Value {
    response(body, "completed", &items(answer, body))
}

fn response(body: &Value, status: &str, output: &[Value]) -> Value {
    json!({
        "id": "resp_scripted", "object": "response", "model": body["model"], "status": status, "output": output,
        "usage": {
            "input_tokens": 1200, "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": 40, "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": 1240,
        },
    })
}

fn items(answer: &Answer, body: &Value) -> Vec<Value> {
    let mut items = Vec::new();
    if !answer.thinking.is_empty() {
        let summary = json!([{ "type": "summary_text", "text": answer.thinking }]);
        items.push(json!({ "type": "reasoning", "id": "rs_scripted", "summary": summary, "encrypted_content": null }));
    }
    if !answer.text.is_empty() {
        let content = json!([{ "type": "output_text", "text": answer.text, "annotations": [] }]);
        let message = json!({ "id": "msg_scripted", "role": "assistant", "status": "completed", "content": content });
        items.push(with_type("message", message));
    }
    for (number, call) in tools::calls(answer, body).into_iter().enumerate() {
        let id = tools::call_id(body, number);
        let arguments = call.input.to_string();
        let function = json!({ "id": format!("fc_{id}"), "call_id": id, "name": call.name, "arguments": arguments });
        items.push(with_type("function_call", function));
    }
    items
}

/// An item before anything of it was said.
fn begun(item: &Value) -> Value {
    let mut begun = item.clone();
    for (key, nothing) in [("content", json!([])), ("summary", json!([])), ("arguments", json!(""))] {
        if let Some(value) = begun.get_mut(key) {
            *value = nothing;
        }
    }
    begun
}

fn with_type(kind: &str, mut value: Value) -> Value {
    value["type"] = json!(kind);
    value
}
